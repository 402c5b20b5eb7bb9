import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import { uuidv7 } from '../runtime/http.ts';
import { type AuditFacts, appendAudit } from '../shared/audit.ts';
import { checkInput, type InvalidInput, invalidInput, shownText } from '../shared/input.ts';
import { textProblem } from '../shared/plain-text.ts';
import { isUuid } from '../shared/uuid.ts';
import { decideIncident, type Impact, type OpenIncident, type Way } from './incidents.ts';
import { type ProbeMode, type ProbeProtocol, type ProbeResult, probeProtocols } from './probe.ts';

/** Probes on record, their totals, the incidents they make, and the operator's announcements. */

export interface Incident {
  id: string;
  model: string;
  impact: Impact;
  affected: Way[];
  startedAt: Date;
  /** Null: ongoing. */
  endedAt: Date | null;
}

export interface Announcement {
  id: string;
  kind: 'info' | 'maintenance' | 'incident';
  title: string;
  titleVi: string | null;
  body: string;
  bodyVi: string | null;
  /** Catalog ids; empty: the whole service. */
  models: string[];
  startsAt: Date;
  endsAt: Date | null;
  createdBy: string;
  createdAt: Date;
}

export type NewAnnouncement = Omit<Announcement, 'id' | 'createdBy' | 'createdAt'>;

export type AnnounceOutcome = { kind: 'announced'; announcement: Announcement } | InvalidInput<keyof NewAnnouncement>;

/** Probes of a period. Without `up` and `down` there is no figure: that is not the same as zero. */
export interface Tally {
  up: number;
  down: number;
  noData: number;
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

export type State = 'up' | 'degraded' | 'down' | 'no_data';

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
  ways: WayStatus[];
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

export interface StatusReport {
  generatedAt: Date;
  state: State;
  models: ModelStatus[];
  /** Ongoing ones first, then the newest. */
  incidents: Incident[];
  /** Those that are not over. */
  announcements: Announcement[];
  /** Recently ended ones, the latest end first. */
  pastAnnouncements: Announcement[];
}

const incidentColumns = `id, model, impact, affected, started_at AS "startedAt", ended_at AS "endedAt"`;
const announcementColumns = `id, kind, title, title_vi AS "titleVi", body, body_vi AS "bodyVi", models,
  starts_at AS "startsAt", ends_at AS "endsAt", created_by AS "createdBy", created_at AS "createdAt"`;

/** Probes that the incident rule looks at. */
const incidentWindow = '24 hours';
/** Retention of raw probes; daily totals are kept for good. */
const rawDays = 35;
const hourDays = 100;
/** An older probe says nothing about the present. */
const staleMinutes = 60;

/** `pool` must read BIGINT as `bigint` (the types of the money lane). */
export function createUptime({ pool }: { pool: Pool }) {
  /**
   * Records probes, adds them up, and opens, widens or ends incidents, one transaction for each model. Not idempotent:
   * a result that is passed twice counts twice.
   */
  async function record(results: readonly ProbeResult[]): Promise<void> {
    for (const [model, probes] of Map.groupBy(results, ({ model }) => model)) {
      await repeatedTransaction(pool, async (client) => {
        await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.uptime:' || $1, 0))`, [model]);
        for (const probe of probes) await insertProbe(client, probe);
        await applyIncidentRule(client, model);
      });
    }
  }

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
    const [models, ways, tallies, lastDay, incidents, announcements, pastAnnouncements] = await Promise.all([
      listModels(pool),
      newestProbes(pool),
      dailyTallies(pool, days),
      last24Hours(pool),
      recentIncidents(pool, days),
      currentAnnouncements(pool),
      endedAnnouncements(pool, days),
    ]);
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
        state: stateOf(open.get(id) ?? null, measured),
        last24Hours: lastDay.get(id) ?? emptyTally(),
        ...daysOf(tallies.get(id) ?? new Map(), calendar(days, generatedAt)),
      };
    });
    return { generatedAt, state: worst(states), models: states, incidents, announcements, pastAnnouncements };
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
    const { rows } = await pool.query<Incident>(
      `SELECT ${incidentColumns} FROM incident
       WHERE ($1::text IS NULL OR model = $1) AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
      [input.model ?? null, input.before ?? null, input.limit],
    );
    return rows;
  }

  /** Deletes raw probes and hourly figures after their retention. */
  async function prune(): Promise<void> {
    await pool.query(`DELETE FROM probe_result WHERE started_at < now() - make_interval(days => $1)`, [rawDays]);
    await pool.query(`DELETE FROM uptime_hour WHERE hour < now() - make_interval(days => $1)`, [hourDays]);
  }

  return { record, endAbandoned, models, report, series, listIncidents, prune, ...announcementWriters(pool) };
}

/** Operators' announcements. Every change is audited. */
function announcementWriters(pool: Pool) {
  /** Publishes an announcement. Texts are plain: they are shown as they are. */
  async function announce(input: NewAnnouncement & { actor: string }): Promise<AnnounceOutcome> {
    const problem = checkInput(announcementShape, input);
    if (problem !== null) return problem;
    return repeatedTransaction(pool, async (client): Promise<AnnounceOutcome> => {
      const { rows: unknown } = await client.query<{ id: string }>(
        'SELECT id FROM unnest($1::text[]) AS named (id) WHERE NOT EXISTS (SELECT FROM model WHERE model.id = named.id) LIMIT 1',
        [input.models],
      );
      if (unknown.length > 0) return invalidInput('models', 'must be catalog ids');
      const { rows } = await client.query<Announcement>(
        `INSERT INTO announcement (id, kind, title, title_vi, body, body_vi, models, starts_at, ends_at, created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING ${announcementColumns}`,
        [
          uuidv7(),
          input.kind,
          input.title,
          input.titleVi,
          input.body,
          input.bodyVi,
          input.models,
          input.startsAt,
          input.endsAt,
          input.actor,
        ],
      );
      const [announcement] = rows;
      if (announcement === undefined) throw new Error('an announcement that was just written is missing');
      await appendAudit(client, {
        actor: input.actor,
        action: 'announcement.create',
        subject: `announcement:${announcement.id}`,
        after: facts(announcement),
      });
      return { kind: 'announced', announcement };
    });
  }

  /** Ends an announcement now; null when there is none that could still be ended. */
  async function endAnnouncement(input: { id: string; actor: string }): Promise<Announcement | null> {
    if (!isUuid(input.id)) return null;
    return repeatedTransaction(pool, async (client) => {
      // An announcement that has not begun is cancelled.
      const { rows } = await client.query<Announcement>(
        `UPDATE announcement SET ends_at = greatest(starts_at, now())
         WHERE id = $1 AND ${notOver} RETURNING ${announcementColumns}`,
        [input.id],
      );
      const [announcement] = rows;
      if (announcement === undefined) return null;
      await appendAudit(client, {
        actor: input.actor,
        action: 'announcement.end',
        subject: `announcement:${input.id}`,
        after: facts(announcement),
      });
      return announcement;
    });
  }

  return { announce, endAnnouncement };
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
  for (const { up, down, noData, latencyMs } of tallies) {
    sum.up += up;
    sum.down += down;
    sum.noData += noData;
    sum.latencyMs += latencyMs;
  }
  return sum;
}

function emptyTally(): Tally {
  return { up: 0, down: 0, noData: 0, latencyMs: 0n };
}

const tallyColumns = `sum(up)::int AS up, sum(down)::int AS down, sum(no_data)::int AS "noData", sum(latency_ms)::bigint AS "latencyMs"`;

async function insertProbe(client: ClientBase, probe: ProbeResult): Promise<void> {
  const { model, protocol, mode, startedAt, outcome, reason, status, latencyMs, timeToFirstByteMs } = probe;
  await client.query(
    `INSERT INTO probe_result (id, model, protocol, mode, started_at, outcome, reason, status, latency_ms, time_to_first_byte_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [uuidv7(), model, protocol, mode, startedAt, outcome, reason, status, latencyMs, timeToFirstByteMs],
  );
  const counts = ['up', 'down', 'no_data'].map((name) => (name === outcome ? 1 : 0));
  const latency = outcome === 'up' ? (latencyMs ?? 0) : 0;
  for (const [table, column, unit] of [
    ['uptime_hour', 'hour', 'hour'],
    ['uptime_day', 'day', 'day'],
  ])
    await client.query(
      `INSERT INTO ${table} AS t (model, protocol, mode, ${column}, up, down, no_data, latency_ms)
       VALUES ($1, $2, $3, date_trunc('${unit}', $4::timestamptz, 'UTC') ${unit === 'day' ? `AT TIME ZONE 'UTC'` : ''}, $5, $6, $7, $8)
       ON CONFLICT (model, protocol, mode, ${column}) DO UPDATE
       SET up = t.up + excluded.up, down = t.down + excluded.down, no_data = t.no_data + excluded.no_data,
           latency_ms = t.latency_ms + excluded.latency_ms`,
      [model, protocol, mode, startedAt, ...counts, latency],
    );
}

async function applyIncidentRule(client: ClientBase, model: string): Promise<void> {
  const { rows: probes } = await client.query<Pick<ProbeResult, 'protocol' | 'mode' | 'startedAt' | 'outcome'>>(
    `SELECT protocol, mode, started_at AS "startedAt", outcome FROM probe_result
     WHERE model = $1 AND started_at > now() - $2::interval ORDER BY started_at DESC LIMIT 5000`,
    [model, incidentWindow],
  );
  const { rows } = await client.query<OpenIncident & { id: string }>(
    'SELECT id, impact, affected FROM incident WHERE model = $1 AND ended_at IS NULL',
    [model],
  );
  const open = rows[0] ?? null;
  const decision = decideIncident(probes, open);
  switch (decision.kind) {
    case 'open':
      await client.query('INSERT INTO incident (id, model, impact, affected, started_at) VALUES ($1, $2, $3, $4, $5)', [
        uuidv7(),
        model,
        decision.impact,
        decision.affected,
        decision.startedAt,
      ]);
      return;
    case 'update':
      await client.query('UPDATE incident SET impact = $2, affected = $3 WHERE id = $1', [
        open?.id,
        decision.impact,
        decision.affected,
      ]);
      return;
    case 'end':
      await client.query('UPDATE incident SET ended_at = greatest(started_at, $2::timestamptz) WHERE id = $1', [
        open?.id,
        decision.endedAt,
      ]);
      return;
    case 'none':
  }
}

type ListedModel = Pick<ModelStatus, 'id' | 'displayName' | 'createdAt' | 'simulated'>;

async function listModels(pool: Pool): Promise<ListedModel[]> {
  const { rows } = await pool.query<ListedModel>(
    `SELECT m.id, m.display_name AS "displayName", m.created_at AS "createdAt", coalesce(bool_and(u.simulated), false) AS simulated
     FROM model m LEFT JOIN route r ON r.model_id = m.id AND r.enabled LEFT JOIN upstream u ON u.id = r.upstream_id
     WHERE m.enabled GROUP BY m.id ORDER BY m.id`,
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
    `SELECT DISTINCT ON (model, protocol, mode) model, protocol, mode, outcome, reason, latency_ms AS "latencyMs",
            time_to_first_byte_ms AS "timeToFirstByteMs", started_at AS "checkedAt", started_at > earliest AS fresh,
            max(started_at) FILTER (WHERE outcome <> 'no_data') OVER (PARTITION BY model) > earliest AS measured
     FROM probe_result, (SELECT now() - make_interval(mins => $1) AS earliest) AS limits
     WHERE started_at > now() - interval '2 days'
     ORDER BY model, protocol, mode, started_at DESC`,
    [staleMinutes],
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

async function recentIncidents(pool: Pool, days: number): Promise<Incident[]> {
  const { rows } = await pool.query<Incident>(
    `SELECT ${incidentColumns} FROM incident
     WHERE ended_at IS NULL OR ended_at > now() - make_interval(days => $1)
     ORDER BY ended_at IS NULL DESC, started_at DESC, id LIMIT 100`,
    [days],
  );
  return rows;
}

/** A cancelled announcement ends at its beginning. */
const notOver = '(ends_at IS NULL OR ends_at > greatest(now(), starts_at))';

async function currentAnnouncements(pool: Pool): Promise<Announcement[]> {
  const { rows } = await pool.query<Announcement>(
    `SELECT ${announcementColumns} FROM announcement WHERE ${notOver} ORDER BY starts_at DESC, id LIMIT 50`,
  );
  return rows;
}

async function endedAnnouncements(pool: Pool, days: number): Promise<Announcement[]> {
  const { rows } = await pool.query<Announcement>(
    `SELECT ${announcementColumns} FROM announcement
     WHERE ends_at <= now() AND ends_at > starts_at AND ends_at > now() - make_interval(days => $1)
     ORDER BY ends_at DESC, id LIMIT 50`,
    [days],
  );
  return rows;
}

function stateOf(incident: Incident | null, measured: boolean): State {
  if (incident !== null) return incident.impact === 'major' ? 'down' : 'degraded';
  return measured ? 'up' : 'no_data';
}

/** The service's state follows its models': down only when all with data are down. */
function worst(models: readonly ModelStatus[]): State {
  const measured = models.map(({ state }) => state).filter((state) => state !== 'no_data');
  if (measured.length === 0) return 'no_data';
  if (measured.every((state) => state === 'down')) return 'down';
  return measured.every((state) => state === 'up') ? 'up' : 'degraded';
}

function calendar(days: number, until: Date): string[] {
  return Array.from({ length: days }, (_, i) =>
    new Date(until.getTime() - (days - 1 - i) * 86_400_000).toISOString().slice(0, 10),
  );
}

const maxBodyCharacters = 5_000;

/** Line breaks are allowed, and no other invisible character. */
const bodyText = z.string().superRefine((text, context) => {
  const message = textProblem(text.replaceAll('\n', ' ').trim(), maxBodyCharacters);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

const announcementShape: z.ZodType<NewAnnouncement> = z
  .object({
    kind: z.enum(['info', 'maintenance', 'incident']),
    title: shownText(200),
    titleVi: shownText(200).nullable(),
    body: bodyText,
    bodyVi: bodyText.nullable(),
    models: z
      .array(z.string())
      .refine(
        (models) => models.length <= 500 && models.every((model) => textProblem(model, 256) === null),
        'must be catalog ids',
      ),
    startsAt: z.date(),
    endsAt: z.date().nullable(),
    actor: z.string(),
  })
  .refine(({ startsAt, endsAt }) => endsAt === null || endsAt > startsAt, {
    path: ['endsAt'],
    message: 'must be after the beginning',
    // Reported together with the other problems.
    when: () => true,
  });

function facts({ kind, title, body, models, startsAt, endsAt }: Announcement): AuditFacts {
  return { kind, title, body, models, startsAt, endsAt };
}
