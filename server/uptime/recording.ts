import type { ClientBase, Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { uuidv7 } from '../runtime/http.ts';
import { decideIncident, type IncidentDecision, type OpenIncident } from './incidents.ts';
import type { ProbeResult } from './probe.ts';

/** Writes probes down, adds them up by hour and day, and opens, widens and ends incidents. */

/** A probe to record. `weight`: how many probes it stands for (1 unless said). */
export type RecordedProbe = ProbeResult & { weight?: number };

/** Who sent the probes: an agent, by its id, or the service itself (null). */
type Sender = string | null;

/**
 * Around a probe of an agent the service's own ones of the same way do not count: what customers can reach is measured
 * from outside.
 */
const outrankMinutes = 15;

/** The reason of probes that were due while the service was away. */
export const awayReason = 'service_away';

/** Probes that the incident rule looks at. */
const incidentWindow = '24 hours';

/** Records the service's own probes, one transaction for each model. Not idempotent. */
export async function recordOwn(pool: Pool, probes: readonly RecordedProbe[]): Promise<void> {
  for (const some of Map.groupBy(probes, ({ model }) => model).values())
    await repeatedTransaction(pool, (client) => recordProbes(client, some, null));
}

/** Records probes in the transaction of the caller. Models are locked in one order, so that no two writers wait for each other. */
export async function recordProbes(
  client: ClientBase,
  probes: readonly RecordedProbe[],
  sender: Sender,
): Promise<void> {
  const models = Map.groupBy(probes, ({ model }) => model);
  for (const model of [...models.keys()].sort())
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.uptime:' || $1, 0))`, [model]);
  for (const [model, some] of models) {
    const moments = some.map(({ startedAt }) => startedAt.getTime());
    const [first, last] = [new Date(Math.min(...moments)), new Date(Math.max(...moments))];
    await insertProbes(client, some, sender);
    const changed = await outrank(client, model, { first, last });
    await addUp(client, model, [...some.map(({ startedAt }) => startedAt), ...changed]);
    await noteMeasured(client, model, some);
    await applyIncidentRule(client, model, last);
  }
}

async function insertProbes(client: ClientBase, probes: readonly RecordedProbe[], sender: Sender): Promise<void> {
  const rows = probes.map(({ weight = 1, ...probe }) => ({ id: uuidv7(), ...probe, weight }));
  // Planned work is in no figure. What was announced after the fact, or without an end, excuses nothing.
  await client.query(
    `INSERT INTO probe_result (id, model, protocol, mode, started_at, outcome, reason, status, latency_ms,
                               time_to_first_byte_ms, weight, agent_id, maintenance)
     SELECT p.id, p.model, p.protocol, p.mode, p."startedAt", p.outcome, p.reason, p.status, p."latencyMs",
            p."timeToFirstByteMs", p.weight, $2::uuid,
            EXISTS (SELECT FROM announcement a WHERE a.kind = 'maintenance' AND a.created_at <= p."startedAt"
                    AND a.starts_at <= p."startedAt" AND a.ends_at > p."startedAt"
                    AND (cardinality(a.models) = 0 OR p.model = ANY (a.models)))
     FROM jsonb_to_recordset($1::jsonb) AS p (id uuid, model text, protocol text, mode text, "startedAt" timestamptz,
            outcome text, reason text, status int, "latencyMs" int, "timeToFirstByteMs" int, weight int)`,
    [JSON.stringify(rows), sender],
  );
}

/** Leaves the service's own probes out of the figures where an agent measured; returns the moments of what it left out. */
async function outrank(client: ClientBase, model: string, { first, last }: { first: Date; last: Date }) {
  const { rows } = await client.query<{ at: Date }>(
    `UPDATE probe_result own SET counted = false
     WHERE own.model = $1 AND own.agent_id IS NULL AND own.counted
       AND own.started_at BETWEEN $2::timestamptz - $4 * interval '1 minute' AND $3::timestamptz + $4 * interval '1 minute'
       AND EXISTS (SELECT FROM probe_result a
                   WHERE a.model = own.model AND a.protocol = own.protocol AND a.mode = own.mode
                     AND a.agent_id IS NOT NULL AND a.outcome <> 'no_data'
                     AND a.started_at BETWEEN own.started_at - $4 * interval '1 minute'
                                          AND own.started_at + $4 * interval '1 minute')
     RETURNING own.started_at AS at`,
    [model, first, last, outrankMinutes],
  );
  return rows.map(({ at }) => at);
}

/** Adds up the hours and days that these moments lie in, from the probes themselves: the same whatever came before. */
async function addUp(client: ClientBase, model: string, moments: readonly Date[]): Promise<void> {
  const hours = [...new Set(moments.map((moment) => moment.toISOString().slice(0, 13)))].map(
    (hour) => `${hour}:00:00Z`,
  );
  const sum = (outcome: string) =>
    `coalesce(sum(p.weight) FILTER (WHERE p.outcome = '${outcome}' AND p.counted AND NOT p.maintenance), 0)::int`;
  await client.query(
    `INSERT INTO uptime_hour AS t (model, protocol, mode, hour, up, down, no_data, maintenance, latency_ms)
     SELECT p.model, p.protocol, p.mode, h.hour, ${sum('up')}, ${sum('down')}, ${sum('no_data')},
            coalesce(sum(p.weight) FILTER (WHERE p.counted AND p.maintenance), 0)::int,
            coalesce(sum(p.latency_ms) FILTER (WHERE p.outcome = 'up' AND p.counted AND NOT p.maintenance), 0)
     FROM unnest($2::timestamptz[]) AS h (hour)
     JOIN probe_result p ON p.model = $1 AND p.started_at >= h.hour AND p.started_at < h.hour + interval '1 hour'
     GROUP BY p.model, p.protocol, p.mode, h.hour
     ON CONFLICT (model, protocol, mode, hour) DO UPDATE
     SET up = excluded.up, down = excluded.down, no_data = excluded.no_data, maintenance = excluded.maintenance,
         latency_ms = excluded.latency_ms`,
    [model, hours],
  );
  await client.query(
    `INSERT INTO uptime_day AS t (model, protocol, mode, day, up, down, no_data, maintenance, latency_ms)
     SELECT model, protocol, mode, (hour AT TIME ZONE 'UTC')::date, sum(up)::int, sum(down)::int, sum(no_data)::int,
            sum(maintenance)::int, sum(latency_ms)::bigint
     FROM uptime_hour WHERE model = $1 AND (hour AT TIME ZONE 'UTC')::date = ANY ($2::date[])
     GROUP BY model, protocol, mode, (hour AT TIME ZONE 'UTC')::date
     ON CONFLICT (model, protocol, mode, day) DO UPDATE
     SET up = excluded.up, down = excluded.down, no_data = excluded.no_data, maintenance = excluded.maintenance,
         latency_ms = excluded.latency_ms`,
    [model, [...new Set(hours.map((hour) => hour.slice(0, 10)))]],
  );
}

/** Keeps since when a model is measured, and when the last probe of it was sent. */
async function noteMeasured(client: ClientBase, model: string, probes: readonly RecordedProbe[]): Promise<void> {
  const moments = (some: readonly RecordedProbe[]) => some.map(({ startedAt }) => startedAt.getTime());
  const measured = moments(probes.filter(({ outcome }) => outcome !== 'no_data'));
  // An absence was noted afterwards: nothing was sent in it.
  const sent = moments(probes.filter(({ reason }) => reason !== awayReason));
  await client.query(
    `INSERT INTO model_probing AS m (model, measured_since, probed_at) VALUES ($1, $2, $3)
     ON CONFLICT (model) DO UPDATE SET measured_since = least(m.measured_since, excluded.measured_since),
                                       probed_at = greatest(m.probed_at, excluded.probed_at)`,
    [
      model,
      measured.length === 0 ? null : new Date(Math.min(...measured)),
      sent.length === 0 ? null : new Date(Math.max(...sent)),
    ],
  );
}

/**
 * Applies the incident rule as of the last of the recorded probes: rounds that an agent delivers late, in their order,
 * make the same incidents as rounds in time. Late rounds say nothing of an incident that began after them, and end none
 * that newer probes know to go on.
 */
async function applyIncidentRule(client: ClientBase, model: string, until: Date): Promise<void> {
  const { rows } = await client.query<OpenIncident & { id: string; startedAt: Date }>(
    'SELECT id, impact, affected, started_at AS "startedAt" FROM incident WHERE model = $1 AND ended_at IS NULL',
    [model],
  );
  const open = rows[0] ?? null;
  if (open !== null && open.startedAt > until) return;
  const decision = decideIncident(await readCounted(client, model, until), open);
  switch (decision.kind) {
    case 'open':
      return openIncident(client, model, { ...decision, until, isOver: !(await isFailing(client, model, null)) });
    case 'update':
      await client.query('UPDATE incident SET impact = $2, affected = $3 WHERE id = $1', [
        open?.id,
        decision.impact,
        decision.affected,
      ]);
      return;
    case 'end':
      if (await isFailing(client, model, open)) return;
      await client.query('UPDATE incident SET ended_at = greatest(started_at, $2::timestamptz) WHERE id = $1', [
        open?.id,
        decision.endedAt,
      ]);
      return;
    case 'none':
  }
}

/** Opens an incident; where the same time is on record already, found by another observer, it widens that one. */
async function openIncident(
  client: ClientBase,
  model: string,
  // `isOver`: the newest probes, later than `until`, do not fail.
  found: Extract<IncidentDecision, { kind: 'open' }> & { until: Date; isOver: boolean },
): Promise<void> {
  const { impact, affected, startedAt, cause = null, until, isOver } = found;
  const { rowCount } = await client.query(
    `UPDATE incident SET started_at = least(started_at, $2), impact = CASE WHEN $3 = 'major' THEN $3 ELSE impact END,
            affected = ARRAY (SELECT DISTINCT way FROM unnest(affected || $4::text[]) AS way ORDER BY way),
            ended_at = CASE WHEN $6 THEN ended_at END
     WHERE id = (SELECT id FROM incident WHERE model = $1 AND started_at <= $5 AND ended_at >= $2
                 ORDER BY started_at DESC LIMIT 1)`,
    [model, startedAt, impact, affected, until, isOver],
  );
  if (rowCount === 0)
    await client.query(
      'INSERT INTO incident (id, model, impact, affected, started_at, cause) VALUES ($1, $2, $3, $4, $5, $6)',
      [uuidv7(), model, impact, affected, startedAt, cause],
    );
}

/** Whether a model fails by its newest probes, whatever was recorded last. */
async function isFailing(client: ClientBase, model: string, open: OpenIncident | null): Promise<boolean> {
  const { rows } = await client.query<{ newest: Date | null }>(
    `SELECT max(started_at) AS newest FROM probe_result
     WHERE model = $1 AND counted AND NOT maintenance AND outcome <> 'no_data'`,
    [model],
  );
  const newest = rows[0]?.newest ?? null;
  if (newest === null) return false;
  const { kind } = decideIncident(await readCounted(client, model, newest), open);
  return kind === 'open' || kind === 'update';
}

/** The counted probes of a model that the incident rule looks at, as of a moment. */
async function readCounted(client: ClientBase, model: string, until: Date) {
  const { rows } = await client.query<
    Pick<ProbeResult, 'protocol' | 'mode' | 'startedAt' | 'outcome' | 'reason'> & { observer: string | null }
  >(
    `SELECT protocol, mode, started_at AS "startedAt", outcome, reason, agent_id AS observer FROM probe_result
     WHERE model = $1 AND counted AND NOT maintenance
       AND started_at > $3::timestamptz - $2::interval AND started_at <= $3
     ORDER BY started_at DESC LIMIT 5000`,
    [model, incidentWindow, until],
  );
  return rows;
}
