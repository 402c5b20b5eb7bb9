import type { Pool } from 'pg';
import { pruneRounds } from './agents/agents.ts';
import { type Announcement, announcementWriters, currentAnnouncements, endedAnnouncements } from './announcements.ts';
import type { Impact, Way } from './incidents.ts';
import { listRecentRequests, listRequests, pruneRequests, type RequestTally } from './passive.ts';
import { type Absence, listAbsences, pruneSpans } from './presence.ts';
import { type ProbeMode, type ProbeProtocol, type ProbeResult, probeModes, probeProtocols } from './probes/probe.ts';
import { awayReason, hourDays, rawDays, recordOwn } from './recording.ts';
import { type State, stateOf, worstOf } from './state.ts';
import { type StatusUpdate, withUpdates } from './updates.ts';

/** The status of the service, from what probes found, and its history. */

export interface Incident {
  id: string;
  model: string;
  impact: Impact;
  affected: Way[];
  startedAt: Date;
  /** Null: ongoing. */
  endedAt: Date | null;
  /** `service`: the service itself was away or could not be reached; null: the model failed. */
  cause: 'service' | null;
  /** What a person said in its course, the oldest first. */
  updates: StatusUpdate[];
}

/** Probes of a period. Without `up` and `down` there is no figure: that is not the same as zero. */
export interface Tally {
  up: number;
  down: number;
  noData: number;
  /** Probes in announced maintenance, which count as neither. */
  maintenance: number;
  /** Sum over the probes that were up. */
  latencyMs: bigint;
}

/** The present state of a way to a model. */
export interface WayStatus {
  protocol: ProbeProtocol;
  mode: ProbeMode;
  /** Of the newest probe; `no_data` also when it is too old. */
  outcome: ProbeResult['outcome'];
  reason: string | null;
  latencyMs: number | null;
  timeToFirstByteMs: number | null;
  checkedAt: Date;
}

export interface Day extends Tally {
  /** `2026-11-21`, UTC. */
  date: string;
}

export interface ModelStatus {
  id: string;
  displayName: string;
  /** When the model was added to the catalog. */
  createdAt: Date;
  /** Every route of it ends at the built-in simulator. */
  simulated: boolean;
  state: State;
  /** When the first probe with data was sent; null: none was. */
  measuredSince: Date | null;
  /** Minutes between two rounds of probes, as the budget holds it; zero: it is not probed; null: not known yet. */
  everyMinutes: number | null;
  ways: WayStatus[];
  /** How customers' own requests of the last 24 hours ended. */
  requests: RequestTally[];
  last24Hours: Tally;
  /** Exactly as many as asked for, the oldest first, days without probes included. */
  days: Day[];
  /** The same days for each protocol that was measured in them. */
  protocols: ProtocolDays[];
}

export interface ProtocolDays {
  protocol: ProbeProtocol;
  days: Day[];
}

/** A machine that measures. */
export interface Observer {
  /** `service`: the service measures itself, through its public address. */
  kind: 'service' | 'agent';
  /** Empty for the service. */
  name: string;
  region: string;
  /** When its last probe was sent. */
  measuredAt: Date;
}

export interface StatusReport {
  generatedAt: Date;
  state: State;
  /** When the first probe with data was sent; null: none was. */
  measuredSince: Date | null;
  /** Who measured in the last two days. */
  observers: Observer[];
  /** When the service itself was not running, the newest first. */
  absences: Absence[];
  models: ModelStatus[];
  /** Ongoing ones first, then the newest. */
  incidents: Incident[];
  /** Those that are not over. */
  announcements: Announcement[];
  /** Recently ended ones, the latest end first. */
  pastAnnouncements: Announcement[];
}

const incidentColumns = `id, model, impact, affected, started_at AS "startedAt", ended_at AS "endedAt", cause`;

/** An older probe says nothing about the present, unless probes are sent less often: then one that is three paces old. */
const staleMinutes = 60;

/** `pool` must read BIGINT as `bigint` (the types of the money lane). */
export function createUptime({ pool }: { pool: Pool }) {
  /** Records the service's own probes. Not idempotent: a result that is passed twice counts twice. */
  const record = (results: readonly ProbeResult[]): Promise<void> => recordOwn(pool, results);

  /** Ends the incidents of models that left the catalog: they are no longer probed. */
  async function endAbandoned(): Promise<void> {
    await pool.query(
      `UPDATE incident SET ended_at = greatest(started_at, now())
       WHERE ended_at IS NULL AND NOT EXISTS (SELECT FROM model m WHERE m.id = incident.model AND m.enabled)`,
    );
  }

  /** The models that are offered to customers, and so are probed. */
  async function models(): Promise<string[]> {
    const { rows } = await pool.query<{ id: string }>('SELECT id FROM model WHERE enabled ORDER BY id');
    return rows.map(({ id }) => id);
  }

  /** The whole status report, in a fixed number of queries however many models there are. */
  async function report({ days = 90 }: { days?: number } = {}): Promise<StatusReport> {
    const [models, ways, tallies, lastDay, incidents, current, ended, requests, recent, observers, absences] =
      await Promise.all([
        listModels(pool),
        newestProbes(pool),
        dailyTallies(pool, days),
        last24Hours(pool),
        recentIncidents(pool, days),
        currentAnnouncements(pool),
        endedAnnouncements(pool, days),
        listRequests(pool),
        listRecentRequests(pool),
        listObservers(pool),
        listAbsences(pool, days),
      ]);
    const announced = await withUpdates(pool, [...current, ...ended]);
    const generatedAt = new Date();
    const open = new Map(
      incidents.filter(({ endedAt }) => endedAt === null).map((incident) => [incident.model, incident]),
    );
    const states = models.map(({ id, ...rest }): ModelStatus => {
      const { ways: itsWays, measured } = ways.get(id) ?? { ways: [], measured: false };
      return {
        id,
        ...rest,
        ways: itsWays,
        requests: requests.get(id) ?? [],
        state: stateOf({
          ways: itsWays,
          measured,
          incident: open.get(id)?.impact ?? null,
          requests: recent.get(id) ?? [],
        }),
        last24Hours: lastDay.get(id) ?? emptyTally(),
        ...daysOf(tallies.get(id) ?? new Map(), calendar(days, generatedAt)),
      };
    });
    const since = states.flatMap(({ measuredSince }) => (measuredSince === null ? [] : [measuredSince.getTime()]));
    return {
      generatedAt,
      state: worstOf(states),
      measuredSince: since.length === 0 ? null : new Date(Math.min(...since)),
      observers,
      absences,
      models: states,
      incidents,
      announcements: announced.slice(0, current.length),
      pastAnnouncements: announced.slice(current.length),
    };
  }

  /** A model's totals over time, of all ways together or of one: for charts. Empty buckets are left out. */
  async function series(input: {
    model: string;
    protocol?: ProbeProtocol;
    mode?: ProbeMode;
    from: Date;
    to: Date;
    by: 'hour' | 'day';
  }): Promise<(Tally & { at: Date })[]> {
    const [table, column] = input.by === 'hour' ? ['uptime_hour', 'hour'] : ['uptime_day', 'day'];
    const { rows } = await pool.query<Tally & { at: Date }>(
      `SELECT ${column}::timestamptz AS at, ${tallyColumns} FROM ${table}
       WHERE model = $1 AND ($2::text IS NULL OR protocol = $2) AND ($3::text IS NULL OR mode = $3)
         AND ${column} >= $4::timestamptz AND ${column} < $5::timestamptz
       GROUP BY ${column} ORDER BY ${column} LIMIT 5000`,
      [input.model, input.protocol ?? null, input.mode ?? null, input.from, input.to],
    );
    return rows;
  }

  /** Incidents, newest first. `before` is the id of the last one seen. */
  async function listIncidents(input: { model?: string; limit: number; before?: string }): Promise<Incident[]> {
    const { rows } = await pool.query<Omit<Incident, 'updates'>>(
      `SELECT ${incidentColumns} FROM incident
       WHERE ($1::text IS NULL OR model = $1) AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
      [input.model ?? null, input.before ?? null, input.limit],
    );
    return withUpdates(pool, rows);
  }

  /** Deletes raw probes and hourly figures after their retention; daily totals are kept for good. */
  async function prune(): Promise<void> {
    await pool.query(
      `DELETE FROM probe_result WHERE started_at < now() - make_interval(days => $1)
         AND (agent_id IS NULL AND counted OR started_at < now() - make_interval(days => $2))`,
      [rawDays, hourDays],
    );
    await pool.query(`DELETE FROM uptime_hour WHERE hour < now() - make_interval(days => $1)`, [hourDays]);
    await pruneRounds(pool);
    await pruneRequests(pool, hourDays);
    await pruneSpans(pool, hourDays);
  }

  return { record, endAbandoned, models, report, series, listIncidents, prune, ...announcementWriters(pool) };
}

export type Uptime = ReturnType<typeof createUptime>;

/** The share of probes that were up, cut (never rounded up) to five decimals; null without data. */
export function uptimeRatio({ up, down }: Pick<Tally, 'up' | 'down'>): number | null {
  return up + down === 0 ? null : Math.floor((up / (up + down)) * 100_000) / 100_000;
}

/** Mean time of the probes that were up; null without any. */
export function meanLatencyMs({ up, latencyMs }: Pick<Tally, 'up' | 'latencyMs'>): number | null {
  return up === 0 ? null : Math.round(Number(latencyMs) / up);
}

/** Adds up tallies, e.g. the days of a month. */
export function addTallies(tallies: readonly Tally[]): Tally {
  const sum = emptyTally();
  for (const { up, down, noData, maintenance, latencyMs } of tallies) {
    sum.up += up;
    sum.down += down;
    sum.noData += noData;
    sum.maintenance += maintenance;
    sum.latencyMs += latencyMs;
  }
  return sum;
}

function emptyTally(): Tally {
  return { up: 0, down: 0, noData: 0, maintenance: 0, latencyMs: 0n };
}

const tallyColumns = `sum(up)::int AS up, sum(down)::int AS down, sum(no_data)::int AS "noData", sum(maintenance)::int AS maintenance, sum(latency_ms)::bigint AS "latencyMs"`;

type ListedModel = Pick<
  ModelStatus,
  'id' | 'displayName' | 'createdAt' | 'simulated' | 'measuredSince' | 'everyMinutes'
>;

async function listModels(pool: Pool): Promise<ListedModel[]> {
  const { rows } = await pool.query<ListedModel>(
    `SELECT m.id, m.display_name AS "displayName", m.created_at AS "createdAt", coalesce(bool_and(u.simulated), false) AS simulated,
            p.measured_since AS "measuredSince", p.effective_minutes AS "everyMinutes"
     FROM model m LEFT JOIN model_probing p ON p.model = m.id LEFT JOIN route r ON r.model_id = m.id AND r.enabled LEFT JOIN upstream u ON u.id = r.upstream_id
     WHERE m.enabled GROUP BY m.id, p.model ORDER BY m.id`,
  );
  return rows;
}

interface MeasuredWays {
  ways: WayStatus[];
  /** Whether any recent probe of the model has data. */
  measured: boolean;
}

async function newestProbes(pool: Pool): Promise<Map<string, MeasuredWays>> {
  const { rows } = await pool.query<WayStatus & { model: string; fresh: boolean; measured: boolean | null }>(
    `SELECT m.id AS model, newest.*, newest."checkedAt" > l.earliest AS fresh,
            bool_or(known.at > l.earliest) OVER (PARTITION BY m.id) AS measured
     FROM model m LEFT JOIN model_probing s ON s.model = m.id
     CROSS JOIN LATERAL (SELECT now() - make_interval(mins => greatest($1, 3 * coalesce(s.effective_minutes, 0))) AS earliest) AS l
     CROSS JOIN unnest($2::text[]) AS protocols (protocol) CROSS JOIN unnest($3::text[]) AS modes (mode)
     CROSS JOIN LATERAL (
       SELECT protocol, mode, outcome, reason, latency_ms AS "latencyMs", time_to_first_byte_ms AS "timeToFirstByteMs",
              started_at AS "checkedAt"
       FROM probe_result p WHERE p.model = m.id AND p.protocol = protocols.protocol AND p.mode = modes.mode
         AND counted AND started_at > now() - interval '4 days' ORDER BY started_at DESC LIMIT 1) AS newest
     LEFT JOIN LATERAL (
       SELECT started_at AS at FROM probe_result p
       WHERE p.model = m.id AND p.protocol = protocols.protocol AND p.mode = modes.mode
         AND counted AND outcome <> 'no_data' AND started_at > l.earliest ORDER BY started_at DESC LIMIT 1) AS known ON true
     ORDER BY m.id, newest.protocol, newest.mode`,
    [staleMinutes, probeProtocols, probeModes],
  );
  const models = new Map<string, MeasuredWays>();
  for (const { model, fresh, measured, ...way } of rows) {
    const status: WayStatus = fresh ? way : { ...way, outcome: 'no_data', reason: 'stale' };
    models.set(model, { measured: measured === true, ways: [...(models.get(model)?.ways ?? []), status] });
  }
  return models;
}

/** Of one model: the totals of each protocol, by date. */
type DailyTallies = Map<ProbeProtocol, Map<string, Tally>>;

async function dailyTallies(pool: Pool, days: number): Promise<Map<string, DailyTallies>> {
  const { rows } = await pool.query<Tally & { model: string; protocol: ProbeProtocol; date: string }>(
    `SELECT model, protocol, to_char(day, 'YYYY-MM-DD') AS date, ${tallyColumns} FROM uptime_day
     WHERE day > (now() AT TIME ZONE 'UTC')::date - $1::int GROUP BY model, protocol, day`,
    [days],
  );
  const models = new Map<string, DailyTallies>();
  for (const { model, protocol, date, ...tally } of rows) {
    const protocols: DailyTallies = models.get(model) ?? new Map();
    const dates = protocols.get(protocol) ?? new Map<string, Tally>();
    models.set(model, protocols.set(protocol, dates.set(date, tally)));
  }
  return models;
}

function daysOf(tallies: DailyTallies, dates: readonly string[]): Pick<ModelStatus, 'days' | 'protocols'> {
  const protocols = probeProtocols.flatMap((protocol) => {
    const itsDates = tallies.get(protocol);
    if (itsDates === undefined) return [];
    return [{ protocol, days: dates.map((date) => ({ date, ...(itsDates.get(date) ?? emptyTally()) })) }];
  });
  const days = dates.map((date, at) => ({
    date,
    ...addTallies(protocols.flatMap((each) => each.days[at] ?? [])),
  }));
  return { days, protocols };
}

async function last24Hours(pool: Pool): Promise<Map<string, Tally>> {
  const { rows } = await pool.query<Tally & { model: string }>(
    `SELECT model, ${tallyColumns} FROM uptime_hour WHERE hour > now() - interval '24 hours' GROUP BY model`,
  );
  return new Map(rows.map(({ model, ...tally }) => [model, tally]));
}

/** Who measured lately: agents by their names, then the service itself. */
async function listObservers(pool: Pool): Promise<Observer[]> {
  const { rows } = await pool.query<Observer>(
    `SELECT 'agent' AS kind, name, region, measured_at AS "measuredAt" FROM probe_agent
     WHERE measured_at > now() - interval '2 days' AND revoked_at IS NULL
     UNION ALL
     SELECT 'service', '', '', at FROM (SELECT started_at AS at FROM probe_result
       WHERE agent_id IS NULL AND counted AND reason IS DISTINCT FROM $1 AND started_at > now() - interval '2 days'
       ORDER BY started_at DESC LIMIT 1) AS own
     ORDER BY kind, name, region`,
    [awayReason],
  );
  return rows;
}

async function recentIncidents(pool: Pool, days: number): Promise<Incident[]> {
  const { rows } = await pool.query<Omit<Incident, 'updates'>>(
    `SELECT ${incidentColumns} FROM incident
     WHERE ended_at IS NULL OR ended_at > now() - make_interval(days => $1)
     ORDER BY ended_at IS NULL DESC, started_at DESC, id LIMIT 100`,
    [days],
  );
  return withUpdates(pool, rows);
}

function calendar(days: number, until: Date): string[] {
  return Array.from({ length: days }, (_, i) =>
    new Date(until.getTime() - (days - 1 - i) * 86_400_000).toISOString().slice(0, 10),
  );
}
