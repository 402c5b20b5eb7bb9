import type { ClientBase, Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { uuidv7 } from '../shared/uuid.ts';
import type { ProbeMode, ProbeProtocol } from './probes/probe.ts';
import { awayReason, type RecordedProbe, recordProbes } from './recording.ts';

/**
 * When the service itself was away. Every process says regularly that it is alive; a gap between two such times in which
 * none did is downtime, although nobody was there to measure it: probes that were due in it count as down.
 */

export interface Presence {
  /** Starts to say so. The first time may find that the service was away before. */
  start(): void;
  close(): void;
}

export interface PresenceDeps {
  pool: Pool;
  onFailure: (error: unknown) => void;
  /** How often a process says that it is alive. */
  beatMs?: number;
  /** Silence that makes an absence; a restart is shorter. */
  awayMs?: number;
}

const defaultBeatMs = 20_000;
const defaultAwayMs = 90_000;

export function createPresence({
  pool,
  onFailure,
  beatMs = defaultBeatMs,
  awayMs = defaultAwayMs,
}: PresenceDeps): Presence {
  let timer: NodeJS.Timeout | null = null;
  const beat = () => {
    noteAlive(pool, awayMs).catch(onFailure);
  };
  return {
    start() {
      if (timer !== null) return;
      beat();
      timer = setInterval(beat, beatMs).unref();
    },
    close() {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}

/** Notes that the service is alive now; after an absence, the probes that were due in it are recorded as down. */
export async function noteAlive(pool: Pool, awayMs: number = defaultAwayMs): Promise<void> {
  const { rowCount } = await pool.query(
    `UPDATE service_span SET last_seen_at = greatest(last_seen_at, now())
     WHERE id = (SELECT id FROM service_span ORDER BY last_seen_at DESC LIMIT 1)
       AND last_seen_at > now() - $1 * interval '1 millisecond'`,
    [awayMs],
  );
  if (rowCount !== 0) return;
  await repeatedTransaction(pool, async (client) => {
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.presence', 0))`);
    const { rows } = await client.query<{ from: Date | null; to: Date; isAway: boolean | null }>(
      `SELECT max(last_seen_at) AS from, now() AS to, max(last_seen_at) <= now() - $1 * interval '1 millisecond' AS "isAway"
       FROM service_span`,
      [awayMs],
    );
    const [span] = rows;
    if (span === undefined || span.isAway === false) return;
    await client.query('INSERT INTO service_span (id, started_at, last_seen_at) VALUES ($1, $2, $2)', [
      uuidv7(),
      span.to,
    ]);
    if (span.from !== null) await recordAway(client, { from: span.from, to: span.to });
  });
}

/** Longer absences are recorded by the hour: a row stands for the probes of one. */
const fineMs = 6 * 3_600_000;
const hourMs = 3_600_000;
/** Raw probes are kept for 35 days; an older absence has days without data. */
const oldestMs = 34 * 24 * hourMs;

async function recordAway(client: ClientBase, { from, to }: { from: Date; to: Date }): Promise<void> {
  // Only what was measured before: an absence says nothing about a way that nobody probed.
  const { rows: ways } = await client.query<{
    model: string;
    protocol: ProbeProtocol;
    mode: ProbeMode;
    everyMinutes: number;
  }>(
    `SELECT DISTINCT p.model, p.protocol, p.mode,
            coalesce(nullif(s.effective_minutes, 0), nullif(s.every_minutes, 0), 5) AS "everyMinutes"
     FROM probe_result p JOIN model m ON m.id = p.model AND m.enabled LEFT JOIN model_probing s ON s.model = p.model
     WHERE p.started_at > $1::timestamptz - interval '1 day' AND p.started_at <= $1 AND p.outcome <> 'no_data'`,
    [from],
  );
  const begins = Math.max(from.getTime(), to.getTime() - oldestMs);
  const missed = ways.flatMap(({ model, protocol, mode, everyMinutes }) =>
    momentsOf(begins, to.getTime(), everyMinutes * 60_000).map(
      ({ at, weight }): RecordedProbe => ({
        model,
        protocol,
        mode,
        startedAt: new Date(at),
        outcome: 'down',
        reason: awayReason,
        status: null,
        latencyMs: null,
        timeToFirstByteMs: null,
        weight,
      }),
    ),
  );
  await recordProbes(client, missed, null);
}

/** The probes that were due in an absence, as rows: one each, or one an hour. */
function momentsOf(from: number, to: number, everyMs: number): { at: number; weight: number }[] {
  const stepMs = to - from > fineMs ? Math.max(hourMs, everyMs) : everyMs;
  const weight = Math.max(1, Math.round(stepMs / everyMs));
  return Array.from({ length: Math.max(1, Math.round((to - from) / stepMs)) }, (_, i) => ({
    at: from + i * stepMs,
    weight,
  }));
}

export interface Absence {
  from: Date;
  to: Date;
}

/** The absences of so many days, the newest first. */
export async function listAbsences(pool: Pool, days: number): Promise<Absence[]> {
  const { rows } = await pool.query<Absence>(
    `SELECT "from", "to" FROM (
       SELECT lag(last_seen_at) OVER (ORDER BY last_seen_at) AS "from", started_at AS "to" FROM service_span
       WHERE last_seen_at > now() - make_interval(days => $1)) AS gaps
     WHERE "from" IS NOT NULL AND "to" > "from" ORDER BY "to" DESC LIMIT 50`,
    [days],
  );
  return rows;
}

/** Deletes spans after their retention. */
export async function pruneSpans(pool: Pool, days: number): Promise<void> {
  await pool.query('DELETE FROM service_span WHERE last_seen_at < now() - make_interval(days => $1)', [days]);
}
