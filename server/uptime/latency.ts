import type { Pool } from 'pg';

/** Percentiles of measured latency, from the raw probes. */

/** Whole milliseconds, of probes that were up. */
export interface Percentiles {
  p50: number;
  p95: number;
}

export interface ModelLatency {
  /** Until the whole small answer had arrived. */
  answer: Percentiles;
  /** Until the first byte of a stream; null without a measured stream. */
  firstByte: Percentiles | null;
}

/** Days of probes that count; raw probes are kept for longer. */
export const latencyDays = 7;

/** By model; models without a probe that was up are absent. */
export async function readLatencies(pool: Pool): Promise<Map<string, ModelLatency>> {
  const { rows } = await pool.query<{ model: string; answer: number[]; firstByte: number[] | null }>(
    `SELECT model, percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY latency_ms) AS answer,
            percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY time_to_first_byte_ms) AS "firstByte"
     FROM probe_result
     WHERE outcome = 'up' AND latency_ms IS NOT NULL AND started_at > now() - make_interval(days => $1)
     GROUP BY model`,
    [latencyDays],
  );
  const latencies = new Map<string, ModelLatency>();
  for (const row of rows) {
    const answer = percentiles(row.answer);
    if (answer !== null) latencies.set(row.model, { answer, firstByte: percentiles(row.firstByte) });
  }
  return latencies;
}

function percentiles(pair: readonly (number | null)[] | null): Percentiles | null {
  const [p50, p95] = pair ?? [];
  return p50 == null || p95 == null ? null : { p50, p95 };
}
