import { createHash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import { readVendorFile, type VendorDay, type VendorFormat } from './vendor-csv.ts';

/**
 * Vendors' files as they came: each is a version, none is ever lost. What counts of an upstream follows from its files in
 * their order, without those that were taken back: a file stands for its whole period, or (`add`) for its own days and
 * models alone. What an earlier file had and would be gone is named, and has to be confirmed.
 */

export interface VendorImport {
  upstream: string;
  /** The file's text. */
  text: string;
  actor: string;
  /** It adds to what is there: only its own days and models are replaced. */
  add?: boolean;
  /** What earlier files had of its period, and it has not, may go. */
  confirmed?: boolean;
}

/** A day and a model of an earlier file, and what becomes of it; null: gone. Tokens and pico-USD. */
export interface ReplacedDay {
  day: string;
  model: string;
  before: VendorDay;
  after: VendorDay | null;
}

export interface VendorImported {
  id: string;
  /** Counts the files of the upstream. */
  version: number;
  format: VendorFormat;
  /** Days and models that were written. */
  rows: number;
  from: string;
  to: string;
  replaced: ReplacedDay[];
  /** Days of its period without a line. */
  emptyDays: string[];
}

export type ImportStep =
  | { kind: 'imported'; imported: VendorImported }
  | { kind: 'empty' }
  /** The same file was imported before, and counts. */
  | { kind: 'known'; version: number }
  /** These would be gone; nothing was written. */
  | { kind: 'would_remove'; removed: ReplacedDay[] };

export interface VendorFileVersion {
  id: string;
  upstream: string;
  version: number;
  format: VendorFormat;
  from: string;
  to: string;
  rows: number;
  importedBy: string;
  importedAt: Date;
  undoneBy: string | null;
  undoneAt: Date | null;
}

const dayMs = 86_400_000;
const keyOf = ({ day, model }: Pick<VendorDay, 'day' | 'model'>): string => `${day} ${model}`;
const isSame = (a: VendorDay, b: VendorDay): boolean =>
  (['requests', 'input', 'cacheHit', 'cacheWrite', 'output', 'cost'] as const).every((name) => a[name] === b[name]);

/** Takes a file in. Throws `VendorFileError`, and then writes nothing. */
export async function importVendorUsage(pool: Pool, ask: VendorImport): Promise<ImportStep> {
  const { upstream, text, actor, add = false, confirmed = false } = ask;
  const { format, days } = readVendorFile(text);
  const known = days.map(({ day }) => day).sort();
  const [from, to] = [known[0], known.at(-1)];
  if (from === undefined || to === undefined) return { kind: 'empty' };
  const digest = createHash('sha256').update(text).digest();
  return repeatedTransaction(pool, async (client): Promise<ImportStep> => {
    await lockFiles(client, upstream);
    const { rows: last } = await client.query<{ version: number; isSame: boolean }>(
      `SELECT version, digest = $2 AND undone_at IS NULL AND adds = $3 AS "isSame" FROM vendor_file WHERE upstream = $1
       ORDER BY version DESC LIMIT 1`,
      [upstream, digest, add],
    );
    if (last[0]?.isSame === true) return { kind: 'known', version: last[0].version };
    const before = await readEffective(client, upstream);
    const id = uuidv7();
    const version = (last[0]?.version ?? 0) + 1;
    await client.query(
      `INSERT INTO vendor_file (id, upstream, version, format, digest, adds, first_day, last_day, imported_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [id, upstream, version, format, digest, add, from, to, actor],
    );
    await client.query(
      `INSERT INTO vendor_file_row (file_id, day, model, requests, input, cache_hit, cache_write, output, cost)
       SELECT $1, * FROM unnest($2::date[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[])`,
      [
        id,
        days.map(({ day }) => day),
        days.map(({ model }) => model),
        days.map(({ requests }) => requests),
        days.map(({ input }) => input),
        days.map(({ cacheHit }) => cacheHit),
        days.map(({ cacheWrite }) => cacheWrite),
        days.map(({ output }) => output),
        days.map(({ cost }) => cost),
      ],
    );
    const after = await readEffective(client, upstream);
    const replaced = compare(before, after);
    const removed = replaced.filter((each) => each.after === null);
    if (removed.length > 0 && !confirmed) throw new WouldRemove(removed);
    await writeEffective(client, upstream, after);
    const told = { format, from, to, rows: days.length, version, replaced: replaced.length, removed: removed.length };
    await appendAudit(client, { actor, action: 'books.import', subject: `upstream:${upstream}`, after: told });
    const has = new Set(known);
    const emptyDays: string[] = [];
    for (let at = Date.parse(from); at <= Date.parse(to); at += dayMs) {
      const day = new Date(at).toISOString().slice(0, 10);
      if (!has.has(day)) emptyDays.push(day);
    }
    return { kind: 'imported', imported: { id, version, format, rows: days.length, from, to, replaced, emptyDays } };
  }).catch((error: unknown): ImportStep => {
    if (error instanceof WouldRemove) return { kind: 'would_remove', removed: error.removed };
    throw error;
  });
}

/** Thrown to roll back. */
class WouldRemove extends Error {
  override name = 'WouldRemove';
  readonly removed: ReplacedDay[];
  constructor(removed: ReplacedDay[]) {
    super('an import would remove what an earlier file had');
    this.removed = removed;
  }
}

/** Takes a file back: what counts is what the others say. Null: there is none, or it was taken back before. */
export async function undoImport(
  pool: Pool,
  { fileId, actor }: { fileId: string; actor: string },
): Promise<{ upstream: string; version: number; changed: ReplacedDay[] } | null> {
  if (!isUuid(fileId)) return null;
  return repeatedTransaction(pool, async (client) => {
    const { rows: found } = await client.query<{ upstream: string }>('SELECT upstream FROM vendor_file WHERE id = $1', [
      fileId,
    ]);
    if (found[0] === undefined) return null;
    const { upstream } = found[0];
    await lockFiles(client, upstream);
    const before = await readEffective(client, upstream);
    const { rows } = await client.query<{ version: number }>(
      `UPDATE vendor_file SET undone_by = $2, undone_at = now() WHERE id = $1 AND undone_at IS NULL RETURNING version`,
      [fileId, actor],
    );
    if (rows[0] === undefined) return null;
    const after = await readEffective(client, upstream);
    await writeEffective(client, upstream, after);
    const { version } = rows[0];
    await appendAudit(client, {
      actor,
      action: 'books.undo_import',
      subject: `upstream:${upstream}`,
      after: { version },
    });
    return { upstream, version, changed: compare(before, after) };
  });
}

/** The files of an upstream, or of all; the newest first. */
export async function listVendorFiles(
  db: Pick<Pool, 'query'>,
  { upstream, limit }: { upstream: string | null; limit: number },
): Promise<VendorFileVersion[]> {
  const { rows } = await db.query<VendorFileVersion>(
    `SELECT id, upstream, version, format, to_char(first_day, 'YYYY-MM-DD') AS "from", to_char(last_day, 'YYYY-MM-DD') AS "to",
            (SELECT count(*)::int FROM vendor_file_row r WHERE r.file_id = f.id) AS rows, imported_by AS "importedBy",
            imported_at AS "importedAt", undone_by AS "undoneBy", undone_at AS "undoneAt"
     FROM vendor_file f WHERE $1::text IS NULL OR upstream = $1 ORDER BY imported_at DESC, id DESC LIMIT $2`,
    [upstream, limit],
  );
  return rows;
}

const lockFiles = (client: ClientBase, upstream: string) =>
  client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.vendor_file:' || $1, 0))`, [upstream]);

type Effective = Map<string, VendorDay & { format: VendorFormat; importedBy: string; importedAt: Date }>;

/** What the files of an upstream say together. */
async function readEffective(client: ClientBase, upstream: string): Promise<Effective> {
  const { rows } = await client.query<VendorDay & { format: VendorFormat; importedBy: string; importedAt: Date }>(
    // A day and a model: the last file that has it, unless a later one stands for the day as a whole and has it not.
    `SELECT to_char(r.day, 'YYYY-MM-DD') AS day, r.model, r.requests, r.input, r.cache_hit AS "cacheHit",
            r.cache_write AS "cacheWrite", r.output, r.cost, f.format, f.imported_by AS "importedBy", f.imported_at AS "importedAt"
     FROM vendor_file f JOIN vendor_file_row r ON r.file_id = f.id
     WHERE f.upstream = $1 AND f.undone_at IS NULL AND NOT EXISTS (
       SELECT FROM vendor_file later WHERE later.upstream = f.upstream AND later.undone_at IS NULL AND later.version > f.version
         AND r.day BETWEEN later.first_day AND later.last_day
         AND (NOT later.adds OR EXISTS (SELECT FROM vendor_file_row o WHERE o.file_id = later.id AND o.day = r.day AND o.model = r.model)))
     ORDER BY r.day, r.model`,
    [upstream],
  );
  return new Map(rows.map((row) => [keyOf(row), row]));
}

/** `vendor_usage` is what counts, for comparisons and for earlier versions of the server. A credit stands in the files alone. */
async function writeEffective(client: ClientBase, upstream: string, effective: Effective): Promise<void> {
  const rows = [...effective.values()];
  await client.query('DELETE FROM vendor_usage WHERE upstream = $1', [upstream]);
  const atLeastZero = (value: bigint | null): bigint | null => (value !== null && value < 0n ? 0n : value);
  await client.query(
    `INSERT INTO vendor_usage (upstream, day, model, requests, input, cache_hit, cache_write, output, cost, source, imported_by, imported_at)
     SELECT $1, * FROM unnest($2::date[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
       $10::text[], $11::text[], $12::timestamptz[])`,
    [
      upstream,
      rows.map(({ day }) => day),
      rows.map(({ model }) => model),
      rows.map(({ requests }) => atLeastZero(requests)),
      rows.map(({ input }) => atLeastZero(input)),
      rows.map(({ cacheHit }) => atLeastZero(cacheHit)),
      rows.map(({ cacheWrite }) => atLeastZero(cacheWrite)),
      rows.map(({ output }) => atLeastZero(output)),
      rows.map(({ cost }) => atLeastZero(cost)),
      rows.map(({ format }) => format),
      rows.map(({ importedBy }) => importedBy),
      rows.map(({ importedAt }) => importedAt),
    ],
  );
}

function compare(before: Effective, after: Effective): ReplacedDay[] {
  return [...before].flatMap(([key, old]) => {
    const next = after.get(key) ?? null;
    return next !== null && isSame(old, next) ? [] : [{ day: old.day, model: old.model, before: old, after: next }];
  });
}

/** Whole credits (pico-USD, below zero) of the files that count, by upstream: lines whose cost is negative. */
export async function readCredits(
  db: Pick<Pool, 'query'>,
  { from, to, upstream }: { from: string; to: string; upstream: string | null },
): Promise<Map<string, bigint>> {
  const { rows } = await db.query<{ upstream: string; credit: string }>(
    `SELECT f.upstream, sum(r.cost)::text AS credit FROM vendor_file f JOIN vendor_file_row r ON r.file_id = f.id
     WHERE f.undone_at IS NULL AND r.cost < 0 AND r.day BETWEEN $1 AND $2 AND ($3::text IS NULL OR f.upstream = $3)
       AND NOT EXISTS (
         SELECT FROM vendor_file later WHERE later.upstream = f.upstream AND later.undone_at IS NULL AND later.version > f.version
           AND r.day BETWEEN later.first_day AND later.last_day
           AND (NOT later.adds OR EXISTS (SELECT FROM vendor_file_row o WHERE o.file_id = later.id AND o.day = r.day AND o.model = r.model)))
     GROUP BY 1`,
    [from, to, upstream],
  );
  return new Map(rows.map(({ upstream: name, credit }) => [name, BigInt(credit)]));
}
