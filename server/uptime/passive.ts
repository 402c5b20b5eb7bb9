import type { Pool } from 'pg';
import type { Outcome } from '../core/outcome.ts';
import type { Protocol } from '../core/protocol.ts';
import type { AccountRequests } from './state.ts';

/**
 * How customers' own requests end, by model, protocol and hour: counts alone. They stand beside what probes measure.
 * Requests that the client ended, that a budget stopped, or that the vendor refused as bad say nothing about the model.
 */

export interface RequestEnd {
  accountId: string;
  model: string;
  protocol: Protocol;
  outcome: Outcome;
  /** The vendor refused the request itself. */
  refused: boolean;
}

export interface RequestEnds {
  note(end: RequestEnd): void;
  /** Writes down what was counted, and from then on does so regularly. */
  start(): void;
  close(): Promise<void>;
}

const flushMs = 5_000;
const verdicts: Readonly<Record<Outcome, 'succeeded' | 'failed' | null>> = {
  completed: 'succeeded',
  upstream_error: 'failed',
  upstream_cut: 'failed',
  timeout: 'failed',
  shutdown: 'failed',
  budget_stopped: null,
  client_closed: null,
};

/** Counts of a process are lost when it is killed, of at most five seconds: they are figures, and no money. */
export function createRequestEnds({
  pool,
  onFailure,
}: {
  pool: Pool;
  onFailure: (error: unknown) => void;
}): RequestEnds {
  let counts = new Map<
    string,
    { account: string; model: string; protocol: string; minute: string; good: number; bad: number }
  >();
  let timer: NodeJS.Timeout | null = null;

  async function flush(): Promise<void> {
    if (counts.size === 0) return;
    const rows = [...counts.values()];
    counts = new Map();
    // What probes send is measured separately.
    await pool.query(
      `WITH counts AS MATERIALIZED (
         SELECT c.* FROM jsonb_to_recordset($1::jsonb) AS c (account uuid, model text, protocol text, minute timestamptz, good int, bad int)
         JOIN account a ON a.id = c.account AND a.kind = 'customer'),
       minutes AS (
         INSERT INTO request_minute AS r (model, minute, account_id, succeeded, failed)
         SELECT model, minute, account, sum(good), sum(bad) FROM counts GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
         ON CONFLICT (model, minute, account_id) DO UPDATE
         SET succeeded = r.succeeded + excluded.succeeded, failed = r.failed + excluded.failed)
       INSERT INTO request_hour AS r (model, protocol, hour, succeeded, failed)
       SELECT model, protocol, date_trunc('hour', minute, 'UTC'), sum(good), sum(bad)
       FROM counts GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
       ON CONFLICT (model, protocol, hour) DO UPDATE
       SET succeeded = r.succeeded + excluded.succeeded, failed = r.failed + excluded.failed`,
      [JSON.stringify(rows)],
    );
  }

  return {
    note({ accountId, model, protocol, outcome, refused }) {
      const verdict = refused ? null : verdicts[outcome];
      if (verdict === null) return;
      const minute = `${new Date().toISOString().slice(0, 16)}:00Z`;
      const id = `${accountId} ${protocol} ${minute} ${model}`;
      const count = counts.get(id) ?? { account: accountId, model, protocol, minute, good: 0, bad: 0 };
      count[verdict === 'succeeded' ? 'good' : 'bad'] += 1;
      counts.set(id, count);
    },
    start() {
      timer ??= setInterval(() => void flush().catch(onFailure), flushMs).unref();
    },
    async close() {
      if (timer !== null) clearInterval(timer);
      await flush().catch(onFailure);
    },
  };
}

/** Customers' requests of the last 24 hours by one protocol. */
export interface RequestTally {
  protocol: Protocol;
  succeeded: number;
  failed: number;
}

export async function listRequests(pool: Pool): Promise<Map<string, RequestTally[]>> {
  const { rows } = await pool.query<RequestTally & { model: string }>(
    `SELECT model, protocol, sum(succeeded)::float8 AS succeeded, sum(failed)::float8 AS failed FROM request_hour
     WHERE hour > now() - interval '24 hours' GROUP BY model, protocol ORDER BY model, protocol`,
  );
  const models = new Map<string, RequestTally[]>();
  for (const { model, ...tally } of rows) models.set(model, [...(models.get(model) ?? []), tally]);
  return models;
}

/** The present is so long: enough requests to judge by, and an outage is seen while it lasts. */
const presentMinutes = 5;

/** Customers' requests of the last minutes by model, one entry an account. */
export async function listRecentRequests(pool: Pool): Promise<Map<string, AccountRequests[]>> {
  const { rows } = await pool.query<AccountRequests & { model: string }>(
    `SELECT model, sum(succeeded)::int AS succeeded, sum(failed)::int AS failed FROM request_minute
     WHERE minute > now() - make_interval(mins => $1) GROUP BY model, account_id ORDER BY model, account_id`,
    [presentMinutes],
  );
  const models = new Map<string, AccountRequests[]>();
  for (const { model, ...ends } of rows) models.set(model, [...(models.get(model) ?? []), ends]);
  return models;
}

/** Deletes counts after their retention; those of minutes name accounts, and are kept for an hour. */
export async function pruneRequests(pool: Pool, days: number): Promise<void> {
  await pool.query(`DELETE FROM request_minute WHERE minute < now() - interval '1 hour'`);
  await pool.query('DELETE FROM request_hour WHERE hour < now() - make_interval(days => $1)', [days]);
}

/** Fewer requests say too little to be shown in public, and too much about who sent them. */
const fewestShown = 20;

/** The share of customers' requests that succeeded, cut to four decimals; null while there are few. */
export function requestRatio(tallies: readonly Pick<RequestTally, 'succeeded' | 'failed'>[]): number | null {
  const succeeded = tallies.reduce((sum, each) => sum + each.succeeded, 0);
  const all = tallies.reduce((sum, each) => sum + each.failed, succeeded);
  return all < fewestShown ? null : Math.floor((succeeded / all) * 10_000) / 10_000;
}
