import type { ClientBase, Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { uuidv7 } from '../shared/uuid.ts';
import { decideIncident, type IncidentDecision, type OpenIncident } from './incidents.ts';
import type { ProbeResult } from './probes/probe.ts';
import { type AccountRequests, severalFail } from './state.ts';

/** Writes probes down, adds them up by hour and day, and opens, widens and ends incidents. */

/** A probe to record. `weight`: how many probes it stands for (1 unless said). */
export type RecordedProbe = ProbeResult & { weight?: number };

/** Who sent the probes: an agent, by its id, or the service itself (null). */
type Sender = string | null;

interface Span {
  first: Date;
  last: Date;
}

/** A probe that has come into the figures, or gone from them (`counted`). */
interface Flip {
  id: string;
  startedAt: Date;
  counted: boolean;
}

const flipColumns = 'c.id, c.started_at AS "startedAt", c.counted';

/**
 * Probes of one way that are so far apart tell of the same time: of two observers that agree the agent's counts, because
 * what customers can reach is measured from outside, and what one agent alone found down is looked for elsewhere.
 */
const togetherMinutes = 15;

/** The reason of probes that were due while the service was away. */
export const awayReason = 'service_away';

/** Days for which raw probes are kept; those of agents, and what they outranked, as long as hourly figures: they can be taken back. */
export const rawDays = 35;
export const hourDays = 100;
const dayMs = 86_400_000;

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
  for (const model of [...models.keys()].sort()) await lockModel(client, model);
  for (const [model, some] of models) {
    const moments = some.map(({ startedAt }) => startedAt.getTime());
    const span = { first: new Date(Math.min(...moments)), last: new Date(Math.max(...moments)) };
    const { last } = span;
    const isAgreed = sender !== null && (await customersAgree(client, model, span));
    await insertProbes(client, some, { sender, isAgreed });
    const changed = await chooseCounted(client, model, span);
    await addUp(client, model, [
      ...some.map(({ startedAt }) => startedAt),
      ...changed.map(({ startedAt }) => startedAt),
    ]);
    await noteMeasured(client, model, some, sender);
    await applyIncidentRule(client, model, last);
  }
}

async function lockModel(client: ClientBase, model: string): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.uptime:' || $1, 0))`, [model]);
}

async function insertProbes(
  client: ClientBase,
  probes: readonly RecordedProbe[],
  { sender, isAgreed }: { sender: Sender; isAgreed: boolean },
): Promise<void> {
  const rows = probes.map(({ weight = 1, ...probe }) => ({ id: uuidv7(), ...probe, weight }));
  // Planned work is in no figure. What was announced after the fact, or without an end, excuses nothing.
  await client.query(
    `INSERT INTO probe_result (id, model, protocol, mode, started_at, outcome, reason, status, latency_ms,
                               time_to_first_byte_ms, weight, agent_id, agreed, maintenance)
     SELECT p.id, p.model, p.protocol, p.mode, p."startedAt", p.outcome, p.reason, p.status, p."latencyMs",
            p."timeToFirstByteMs", p.weight, $2::uuid, p.outcome = 'down' AND $3,
            EXISTS (SELECT FROM announcement a WHERE a.kind = 'maintenance' AND a.created_at <= p."startedAt"
                    AND a.starts_at <= p."startedAt" AND a.ends_at > p."startedAt"
                    AND (cardinality(a.models) = 0 OR p.model = ANY (a.models)))
     FROM jsonb_to_recordset($1::jsonb) AS p (id uuid, model text, protocol text, mode text, "startedAt" timestamptz,
            outcome text, reason text, status int, "latencyMs" int, "timeToFirstByteMs" int, weight int)`,
    [JSON.stringify(rows), sender, isAgreed],
  );
}

/** Whether customers' own requests failed at the time of an agent's round. */
async function customersAgree(client: ClientBase, model: string, { first, last }: Span): Promise<boolean> {
  const { rows } = await client.query<AccountRequests>(
    `SELECT sum(succeeded)::int AS succeeded, sum(failed)::int AS failed FROM request_minute
     WHERE model = $1 AND minute BETWEEN $2::timestamptz - interval '5 minutes' AND $3::timestamptz + interval '5 minutes'
     GROUP BY account_id`,
    [model, first, last],
  );
  return severalFail(rows);
}

/** The probes of the same way and about the same time as `of`, by another table alias. */
const together = (other: string, of: string): string =>
  `${other}.model = ${of}.model AND ${other}.protocol = ${of}.protocol AND ${other}.mode = ${of}.mode
   AND ${other}.started_at BETWEEN ${of}.started_at - $4 * interval '1 minute' AND ${of}.started_at + $4 * interval '1 minute'`;

/**
 * What an agent found down: customers failed too, or another observer found the same, and not the contrary in between.
 * One agent, or whoever has its token, makes no model down.
 */
const isConfirmed = `p.agreed OR EXISTS (
  SELECT FROM probe_result o WHERE ${together('o', 'p')} AND o.agent_id IS DISTINCT FROM p.agent_id AND o.outcome = 'down'
    AND NOT EXISTS (SELECT FROM probe_result b WHERE ${together('b', 'p')} AND b.agent_id IS NOT DISTINCT FROM o.agent_id
                      AND b.outcome = 'up' AND b.started_at > least(o.started_at, p.started_at)
                      AND b.started_at < greatest(o.started_at, p.started_at)))`;

/**
 * The service's own probes give way to agents that found the same, to what is confirmed, and to two agents. An agent
 * alone does not hide what the service found down.
 */
const isOutranked = `CASE p.outcome
  WHEN 'down' THEN count(DISTINCT a.agent_id) FILTER (WHERE a.outcome = 'up') > 1 OR bool_or(a.outcome = 'down')
  ELSE count(a.agent_id) > 0 END`;

/**
 * Chooses the probes that are in the figures, from all that were found around these moments: the same whatever came
 * before. Returns those whose part in them changed.
 */
async function chooseCounted(client: ClientBase, model: string, { first, last }: Span): Promise<Flip[]> {
  const around = `p.model = $1 AND p.started_at BETWEEN $2::timestamptz - $4 * interval '1 minute'
                  AND $3::timestamptz + $4 * interval '1 minute'`;
  const change = (chosen: string): string =>
    `UPDATE probe_result c SET counted = v.chosen FROM (${chosen}) v WHERE c.id = v.id AND c.counted <> v.chosen
     RETURNING ${flipColumns}`;
  const parameters = [model, first, last, togetherMinutes];
  const ofAgents = await client.query<Flip>(
    change(`SELECT p.id, (${isConfirmed}) AS chosen FROM probe_result p
            WHERE ${around} AND p.agent_id IS NOT NULL AND p.outcome = 'down'`),
    parameters,
  );
  const own = await client.query<Flip>(
    change(`SELECT p.id, NOT coalesce((SELECT ${isOutranked} FROM probe_result a WHERE ${together('a', 'p')}
              AND a.agent_id IS NOT NULL AND a.counted AND a.outcome <> 'no_data'), false) AS chosen
            FROM probe_result p WHERE ${around} AND p.agent_id IS NULL`),
    parameters,
  );
  return [...ofAgents.rows, ...own.rows];
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
  await addUpDays(client, model, [...new Set(hours.map((hour) => hour.slice(0, 10)))]);
}

/** Adds up days again, from their hours. */
async function addUpDays(client: ClientBase, model: string, days: readonly string[]): Promise<void> {
  await client.query(
    `INSERT INTO uptime_day AS t (model, protocol, mode, day, up, down, no_data, maintenance, latency_ms)
     SELECT model, protocol, mode, (hour AT TIME ZONE 'UTC')::date, sum(up)::int, sum(down)::int, sum(no_data)::int,
            sum(maintenance)::int, sum(latency_ms)::bigint
     FROM uptime_hour WHERE model = $1 AND (hour AT TIME ZONE 'UTC')::date = ANY ($2::date[])
     GROUP BY model, protocol, mode, (hour AT TIME ZONE 'UTC')::date
     ON CONFLICT (model, protocol, mode, day) DO UPDATE
     SET up = excluded.up, down = excluded.down, no_data = excluded.no_data, maintenance = excluded.maintenance,
         latency_ms = excluded.latency_ms`,
    [model, days],
  );
}

/** What was taken back of an agent. */
export interface Withdrawn {
  results: number;
  /** Incidents that nothing else has found, and nobody has written about. */
  incidents: number;
}

/**
 * Takes back everything that an agent found: its probes go, those that they outranked count again, and the figures, the
 * beginning of the measuring and the incidents are what they are without it. In the transaction of the caller.
 */
export async function withdrawProbes(client: ClientBase, agentId: string): Promise<Withdrawn> {
  const { rows } = await client.query<Span & { model: string; results: number }>(
    `SELECT model, min(started_at) AS first, max(started_at) AS last, count(*)::int AS results
     FROM probe_result WHERE agent_id = $1 GROUP BY model ORDER BY model`,
    [agentId],
  );
  let incidents = 0;
  for (const { model } of rows) await lockModel(client, model);
  for (const { model, ...span } of rows) {
    await client.query(
      `WITH gone AS (DELETE FROM probe_result WHERE model = $1 AND agent_id = $2 RETURNING *, -1 AS sign)
       ${shiftHours('SELECT * FROM gone WHERE counted')}`,
      [model, agentId],
    );
    const flips = await chooseCounted(client, model, span);
    await client.query(
      shiftHours(`SELECT *, CASE WHEN counted THEN 1 ELSE -1 END AS sign FROM probe_result
                  WHERE model = $1 AND id = ANY ($2::uuid[])`),
      [model, flips.map(({ id }) => id)],
    );
    await addUpDays(client, model, daysOf(span));
    await measureAgain(client, model, span);
    incidents += await dropUnfounded(client, model, span);
  }
  return { results: rows.reduce((sum, { results }) => sum + results, 0), incidents };
}

/** Adds probes to the hours that they lie in, or takes them out (`sign` -1). */
function shiftHours(probes: string): string {
  const sum = (value: string, of: string) => `coalesce(sum(sign * ${value}) FILTER (WHERE ${of}), 0)`;
  const isFigure = (outcome: string) => `outcome = '${outcome}' AND NOT maintenance`;
  return `UPDATE uptime_hour t SET up = greatest(0, t.up + d.up), down = greatest(0, t.down + d.down),
            no_data = greatest(0, t.no_data + d.no_data), maintenance = greatest(0, t.maintenance + d.maintenance),
            latency_ms = greatest(0, t.latency_ms + d.latency_ms)
          FROM (SELECT protocol, mode, date_trunc('hour', started_at, 'UTC') AS hour,
                       ${sum('weight', isFigure('up'))} AS up, ${sum('weight', isFigure('down'))} AS down,
                       ${sum('weight', isFigure('no_data'))} AS no_data, ${sum('weight', 'maintenance')} AS maintenance,
                       ${sum('latency_ms', isFigure('up'))} AS latency_ms
                FROM (${probes}) p GROUP BY 1, 2, 3) d
          WHERE t.model = $1 AND t.protocol = d.protocol AND t.mode = d.mode AND t.hour = d.hour`;
}

/** The days that probes around a span lie in, and whose hours are all kept. */
function daysOf({ first, last }: Span): string[] {
  const aroundMs = togetherMinutes * 60_000;
  const from = Math.max(first.getTime() - aroundMs, Date.now() - (hourDays - 1) * dayMs);
  const days = new Set([new Date(last.getTime() + aroundMs).toISOString().slice(0, 10)]);
  for (let at = from; at < last.getTime() + aroundMs; at += dayMs) days.add(new Date(at).toISOString().slice(0, 10));
  return [...days];
}

/** Finds since when a model is measured, where an agent that is taken back said so: to the hour, where no probe is left of it. */
async function measureAgain(client: ClientBase, model: string, { first }: Span): Promise<void> {
  await client.query(
    `UPDATE model_probing SET measured_since = least(
       (SELECT min(started_at) FROM probe_result WHERE model = $1 AND outcome <> 'no_data'),
       (SELECT min(hour) FROM uptime_hour WHERE model = $1 AND up + down + maintenance > 0
          AND hour < now() - make_interval(days => $3)),
       (SELECT min(day) FROM uptime_day WHERE model = $1 AND up + down + maintenance > 0
          AND day < now() - make_interval(days => $3))::timestamptz)
     WHERE model = $1 AND measured_since >= $2`,
    [model, first, rawDays],
  );
}

/** Drops the incidents of a span that the probes which are left do not show; what a person wrote about stays. */
async function dropUnfounded(client: ClientBase, model: string, { first }: Span): Promise<number> {
  const { rows } = await client.query<{ id: string; startedAt: Date; until: Date }>(
    `SELECT id, started_at AS "startedAt", coalesce(ended_at, now()) + $3 * interval '1 minute' AS until FROM incident i
     WHERE model = $1 AND coalesce(ended_at, now()) >= $2
       AND NOT EXISTS (SELECT FROM status_update u WHERE u.incident_id = i.id)`,
    [model, first, togetherMinutes],
  );
  const unfounded: string[] = [];
  for (const { id, startedAt, until } of rows) {
    const probes = (await readCounted(client, model, until)).toReversed();
    const isFound = probes.some(
      ({ outcome, startedAt: at }, i) =>
        outcome === 'down' && at >= startedAt && decideIncident(probes.slice(0, i + 1), null).kind === 'open',
    );
    if (!isFound) unfounded.push(id);
  }
  await client.query('DELETE FROM incident WHERE id = ANY ($1::uuid[])', [unfounded]);
  return unfounded.length;
}

/** Keeps since when a model is measured, and when the service last probed it itself: agents do not take its turns. */
async function noteMeasured(
  client: ClientBase,
  model: string,
  probes: readonly RecordedProbe[],
  sender: Sender,
): Promise<void> {
  const moments = (some: readonly RecordedProbe[]) => some.map(({ startedAt }) => startedAt.getTime());
  const measured = moments(probes.filter(({ outcome }) => outcome !== 'no_data'));
  // An absence was noted afterwards: nothing was sent in it.
  const sent = sender === null ? moments(probes.filter(({ reason }) => reason !== awayReason)) : [];
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
