import type { ClientBase, Pool } from 'pg';
import type { Log } from '../core/log.ts';
import { transaction } from '../database/lane.ts';
import { describeError } from '../runtime/http.ts';
import { appendAudit } from '../shared/audit.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';

/**
 * Records upstreams that answer with another model than the requested one. A mismatch is one row per route and reported
 * name; every operator gets a mail when it is new or reappears after it was closed.
 *
 * Answers never wait for the recording. A process counts in memory and flushes periodically; counts that the database
 * does not take stay in memory, and are lost when the process is killed. Log and metric have them either way.
 */

/** One answer that reported another model. */
export interface MismatchSighting {
  requestId: string;
  /** Catalog id. */
  model: string;
  upstream: string;
  /** Requested name at the upstream. */
  asked: string;
  /** Reported name, unvalidated. */
  reported: string;
}

export interface ModelMismatch {
  id: string;
  model: string;
  upstream: string;
  asked: string;
  /** A name, `(no name)` or `(other names)`. */
  reported: string;
  count: bigint;
  lastRequestId: string;
  firstSeenAt: Date;
  lastSeenAt: Date;
  /** Null: open. */
  closedAt: Date | null;
  /** As in the audit log. */
  closedBy: string | null;
}

export type CloseMismatchOutcome =
  | { kind: 'closed'; mismatch: ModelMismatch }
  | { kind: 'unknown' }
  | { kind: 'closed_before' };

export interface ModelMismatches {
  /** Counts a sighting; never throws and never waits. */
  note(sighting: MismatchSighting): void;
  /** Writes the counts to the database. Rejects when the database does not take them; the counts are kept. */
  flush(): Promise<void>;
  /** Open mismatches first, then by last sighting, newest first. */
  list(input: { open: boolean | null; limit: number }): Promise<ModelMismatch[]>;
  /** Closes a mismatch. Later sightings open it again. */
  closeMismatch(input: { id: string; actor: string }): Promise<CloseMismatchOutcome>;
  /** Flushes the rest, if the database takes it, and stops counting. */
  close(): Promise<void>;
}

/** Stored in place of a text that cannot be a model's name. */
export const noName = '(no name)';
/**
 * Stored for further names of a route that reports ever new ones: they must not fill the table or cause a mail each.
 */
export const otherNames = '(other names)';
/** Maximum names recorded per route; further ones are counted as `otherNames`. */
export const maxNames = 20;

const flushAfterMs = 1_000;
const maxRetryMs = 60_000;

/**
 * The name in a form that may be stored. A vendor's text could contain a customer's text or a secret: text that does
 * not look like a name is replaced as a whole, instead of being cut. So is a single word: names of models contain a
 * digit or a separator, and plain words may be content.
 */
export function storableName(reported: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,99}$/.test(reported)) return noName;
  if (/^[A-Za-z]+$/.test(reported)) return noName;
  return reported.split(/[^A-Za-z0-9]/).some(isKeyLike) ? noName : reported;
}

/** Keys, ids and digests are long runs; words in names are shorter, and those with digits much shorter. */
function isKeyLike(run: string): boolean {
  return run.length > 24 || (run.length > 16 && /\d/.test(run));
}

/** Sightings of one route and name since the last flush. */
interface Count {
  model: string;
  upstream: string;
  asked: string;
  reported: string;
  count: number;
  lastRequestId: string;
  /** Monotonic milliseconds. */
  firstAt: number;
  lastAt: number;
}

type Place = Pick<Count, 'model' | 'upstream' | 'asked'>;

export function createModelMismatches(deps: {
  /** Must read BIGINT as `bigint`. */
  pool: Pool;
  log: Pick<Log, 'warn'>;
  /** Interval of flushes. */
  gatherMs?: number;
}): ModelMismatches {
  const { pool, log, gatherMs = flushAfterMs } = deps;
  let counts = new Map<string, Count>();
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  let waitMs = gatherMs;
  let closed = false;

  const add = (next: Count): void => {
    const key = keyOf(next);
    const known = counts.get(key);
    if (known === undefined && next.reported !== otherNames && namesOfRoute(counts, next) >= maxNames) {
      add({ ...next, reported: otherNames });
      return;
    }
    counts.set(key, known === undefined ? next : merge(known, next));
  };

  const schedule = (): void => {
    if (closed || counts.size === 0) return;
    timer ??= setTimeout(() => {
      timer = null;
      flush().catch((error: unknown) => {
        log.warn(describeError(error), 'mismatches of models could not be written down; trying again');
      });
    }, waitMs).unref();
  };

  const write = async (): Promise<void> => {
    const taken = counts;
    if (taken.size === 0) return;
    counts = new Map();
    try {
      await transaction(pool, (client) => writeCounts(client, [...taken.values()]));
      waitMs = gatherMs;
    } catch (error) {
      for (const count of taken.values()) add(count);
      waitMs = Math.min(maxRetryMs, waitMs * 2);
      throw error;
    } finally {
      schedule();
    }
  };

  /** One at a time: two flushes of the same rows would only wait for each other. */
  const flush = (): Promise<void> => {
    writing = writing.catch(() => undefined).then(write);
    return writing;
  };

  return {
    note({ requestId, model, upstream, asked, reported }) {
      if (closed) return;
      const at = performance.now();
      add({
        model,
        upstream,
        asked,
        reported: storableName(reported),
        count: 1,
        lastRequestId: requestId,
        firstAt: at,
        lastAt: at,
      });
      schedule();
    },
    flush,
    async list({ open, limit }) {
      const { rows } = await pool.query<ModelMismatch>(
        `SELECT ${columns} FROM model_mismatch WHERE $1::boolean IS NULL OR $1 = (closed_at IS NULL)
          ORDER BY closed_at IS NOT NULL, last_seen_at DESC, id LIMIT $2`,
        [open, limit],
      );
      return rows;
    },
    closeMismatch: ({ id, actor }) =>
      isUuid(id)
        ? transaction(pool, (client) => closeOne(client, id, actor))
        : Promise.resolve<CloseMismatchOutcome>({ kind: 'unknown' }),
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await flush().catch((error: unknown) => {
        log.warn({ ...describeError(error), mismatches: counts.size }, 'mismatches of models were not written down');
      });
    },
  };
}

const columns = `id, model, upstream, asked, reported, count, last_request_id AS "lastRequestId",
  first_seen_at AS "firstSeenAt", last_seen_at AS "lastSeenAt", closed_at AS "closedAt", closed_by AS "closedBy"`;

function keyOf({ model, upstream, asked, reported }: Count): string {
  return JSON.stringify([model, upstream, asked, reported]);
}

function isAt(one: Place, other: Place): boolean {
  return one.model === other.model && one.upstream === other.upstream && one.asked === other.asked;
}

function namesOfRoute(counts: ReadonlyMap<string, Count>, place: Place): number {
  let names = 0;
  for (const count of counts.values()) if (isAt(count, place) && count.reported !== otherNames) names += 1;
  return names;
}

function merge(one: Count, other: Count): Count {
  const last = one.lastAt > other.lastAt ? one : other;
  return {
    ...last,
    count: one.count + other.count,
    firstAt: Math.min(one.firstAt, other.firstAt),
  };
}

/**
 * Serialises writers of all processes, so that the bound on names holds. Mismatches are rare, so waiting is acceptable.
 */
const writersLock = 7_305_119;

async function writeCounts(client: ClientBase, counts: readonly Count[]): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [writersLock]);
  const databaseTime = await readClock(client);
  for (const count of counts) {
    const seen = {
      reported: await boundedName(client, count),
      firstAt: databaseTime(count.firstAt),
      lastAt: databaseTime(count.lastAt),
    };
    const id = await writeCount(client, { ...count, ...seen });
    if (id !== null) await oweMails(client, id);
  }
}

/**
 * Turns this process's monotonic milliseconds into moments of the database, because clocks of processes differ. Too
 * early by the query's duration, never too late: a sighting from before a closing must not open it again.
 */
async function readClock(client: ClientBase): Promise<(monotonicMs: number) => Date> {
  const { rows } = await client.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  const behindMs = (rows[0]?.now.getTime() ?? Number.NaN) - performance.now();
  return (monotonicMs) => new Date(Math.floor(monotonicMs + behindMs));
}

/** The name, or `otherNames` when the route has reported too many names already. */
async function boundedName(client: ClientBase, count: Count): Promise<string> {
  const { rows } = await client.query<{ names: bigint; known: boolean | null }>(
    `SELECT count(*) FILTER (WHERE reported <> $5) AS names, bool_or(reported = $4) AS known FROM model_mismatch
      WHERE model = $1 AND upstream = $2 AND asked = $3`,
    [count.model, count.upstream, count.asked, count.reported, otherNames],
  );
  const [row] = rows;
  return row !== undefined && row.known !== true && row.names >= BigInt(maxNames) ? otherNames : count.reported;
}

/** The row's id when it is new or open again, else null. */
async function writeCount(
  client: ClientBase,
  count: Omit<Count, 'firstAt' | 'lastAt'> & { firstAt: Date; lastAt: Date },
): Promise<string | null> {
  const place = [count.model, count.upstream, count.asked, count.reported];
  const { rows: before } = await client.query<{ id: string; reopens: boolean }>(
    `SELECT id, coalesce(closed_at < $5, false) AS reopens FROM model_mismatch
      WHERE model = $1 AND upstream = $2 AND asked = $3 AND reported = $4 FOR UPDATE`,
    [...place, count.lastAt],
  );
  const [known] = before;
  if (known === undefined) {
    const id = uuidv7();
    await client.query(
      `INSERT INTO model_mismatch
         (id, model, upstream, asked, reported, count, last_request_id, first_seen_at, last_seen_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [id, ...place, count.count, count.lastRequestId, count.firstAt, count.lastAt],
    );
    return id;
  }
  await client.query(
    `UPDATE model_mismatch
        SET count = count + $2, last_request_id = $3, last_seen_at = greatest(last_seen_at, $4),
            closed_at = CASE WHEN $5 THEN NULL ELSE closed_at END, closed_by = CASE WHEN $5 THEN NULL ELSE closed_by END
      WHERE id = $1`,
    [known.id, count.count, count.lastRequestId, count.lastAt, known.reopens],
  );
  return known.reopens ? known.id : null;
}

/** Enqueues one mail per operator, unless one is due already. */
async function oweMails(client: ClientBase, mismatchId: string): Promise<void> {
  await client.query(
    `INSERT INTO model_mismatch_mail (mismatch_id, user_id, state)
     SELECT $1, id, 'due' FROM app_user WHERE operator
     ON CONFLICT (mismatch_id, user_id) DO UPDATE SET state = 'due', tries = 0`,
    [mismatchId],
  );
}

async function closeOne(client: ClientBase, id: string, actor: string): Promise<CloseMismatchOutcome> {
  const { rows } = await client.query<ModelMismatch>(`SELECT ${columns} FROM model_mismatch WHERE id = $1 FOR UPDATE`, [
    id,
  ]);
  const [before] = rows;
  if (before === undefined) return { kind: 'unknown' };
  if (before.closedAt !== null) return { kind: 'closed_before' };
  // `clock_timestamp()`, not the start of the transaction: it may have waited for a writer.
  const { rows: after } = await client.query<ModelMismatch>(
    `UPDATE model_mismatch SET closed_at = clock_timestamp(), closed_by = $2 WHERE id = $1 RETURNING ${columns}`,
    [id, actor],
  );
  // Mails that are still due are dropped: the mismatch is dealt with.
  await client.query(`DELETE FROM model_mismatch_mail WHERE mismatch_id = $1 AND state = 'due'`, [id]);
  const [mismatch] = after;
  if (mismatch === undefined) throw new Error('a locked row is gone');
  const { model, upstream, asked, reported, count } = before;
  await appendAudit(client, {
    actor,
    action: 'model_mismatch.close',
    subject: `model_mismatch:${id}`,
    before: { model, upstream, asked, reported, count },
    after: { closedBy: actor },
  });
  return { kind: 'closed', mismatch };
}
