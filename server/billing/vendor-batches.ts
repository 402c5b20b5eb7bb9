import type { ClientBase, Pool } from 'pg';
import type { PicoUsd } from '../core/money.ts';
import {
  type FrozenPrice,
  fromStoredTiers,
  fromStoredUnits,
  type StoredTier,
  toStoredTiers,
  toStoredUnits,
} from '../core/price.ts';
import { transaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import type { Part } from './rules/budget.ts';

/**
 * Batches that a vendor answers later: what is kept of them, which is nothing that was asked or answered. Their money is held,
 * charged and given back by the ledger alone; these rows say what belongs to which batch.
 */

export const batchForms = ['messages', 'openai'] as const;
/** Whose words a batch is asked for in. */
export type BatchForm = (typeof batchForms)[number];

export type BatchState = 'preparing' | 'in_progress' | 'canceling' | 'ended' | 'failed';

/** Lines by how they ended, as the vendor says. */
export interface BatchCounts {
  succeeded: number;
  errored: number;
  canceled: number;
  expired: number;
}

/** A model of a batch, at prices that are frozen for it. */
export interface BatchModel {
  /** Catalog id. */
  model: string;
  /** Its name at the vendor. */
  upstreamModel: string;
  price: FrozenPrice;
}

export interface VendorBatch extends BatchCounts {
  accountId: string;
  id: string;
  keyId: string;
  form: BatchForm;
  /** What answers its lines, such as `/v1/messages`. */
  endpoint: string;
  upstream: string;
  upstreamKey: string | null;
  vendorId: string | null;
  state: BatchState;
  lines: number;
  bound: PicoUsd;
  models: readonly BatchModel[];
  createdAt: Date;
  expiresAt: Date | null;
  cancelAt: Date | null;
  endedAt: Date | null;
  seenAt: Date | null;
  settledAt: Date | null;
  attempts: number;
  /** The file of its lines; null: they came with the request. */
  inputFile: string | null;
  /** The vendor's name of that file. */
  inputId: string | null;
  outputId: string | null;
  errorId: string | null;
  /** Seconds since 1970 by the vendor's state. */
  times: Readonly<Record<string, number>> | null;
  /** What its lines came to; null: it is not settled, or was settled by a version that did not count. */
  charged: PicoUsd | null;
  /** Its account has been erased since. */
  erased: boolean;
}

/** A batch as its account's holder sees it. */
export interface HeldBatch extends VendorBatch {
  /** What is held for it now. */
  held: PicoUsd;
}

/** What decides the most that a line can come to. */
export interface BatchLine {
  /** SHA-256 of the batch's (or its file's) id and the line's name. */
  digest: Buffer;
  /** Place in the batch's models. */
  model: number;
  bound: PicoUsd;
  /** Tokens. */
  input: number;
  output: number;
  searches: number;
  /** Input tokens, for an answer without usage. */
  estimated: number;
  longWrites: boolean;
}

export interface NewBatch {
  accountId: string;
  id: string;
  keyId: string;
  form: BatchForm;
  endpoint: string;
  upstream: string;
  upstreamKey: string | null;
  lines: number;
  bound: PicoUsd;
  models: readonly BatchModel[];
  inputFile: string | null;
}

/** A file with the lines of batches, at its vendor. */
export interface NewBatchFile
  extends Pick<
    NewBatch,
    'accountId' | 'id' | 'keyId' | 'endpoint' | 'upstream' | 'upstreamKey' | 'lines' | 'bound' | 'models'
  > {
  vendorId: string;
  bytes: number;
}

export interface BatchFile extends NewBatchFile {
  createdAt: Date;
}

/** A batch that holds money. */
export interface BatchHolding extends Pick<VendorBatch, 'id' | 'form' | 'createdAt' | 'expiresAt'> {
  held: PicoUsd;
}

/** What a vendor says of a batch. */
export interface BatchReport {
  vendorId: string;
  state: Exclude<BatchState, 'preparing'>;
  counts: BatchCounts;
  expiresAt: Date | null;
  cancelAt: Date | null;
  endedAt: Date | null;
  outputId: string | null;
  errorId: string | null;
  times: Readonly<Record<string, number>> | null;
}

/** Whose batches: those of an account, or of a project of it. */
export interface BatchScope {
  accountId: string;
  projectId: string | null;
}

/** A page of a list, newest first: what follows `after`, or what comes before `before`. */
export interface BatchPage extends BatchScope {
  form: BatchForm | null;
  after: string | null;
  before: string | null;
  limit: number;
}

/** A batch that was never sent counts as failed after this time, longer than any vendor takes to accept one. */
const sendingMinutes = 30;
const linesAtOnce = 5_000;

export type VendorBatches = ReturnType<typeof createVendorBatches>;

export function createVendorBatches({ pool }: { pool: Pool }) {
  const one = async (sql: string, values: unknown[]): Promise<VendorBatch | null> => {
    const { rows } = await pool.query<BatchRow>(sql, values);
    return rows[0] === undefined ? null : toBatch(rows[0]);
  };

  return {
    /** A batch before anything is held for it or sent. */
    insert(batch: NewBatch, lines: readonly BatchLine[]): Promise<void> {
      return transaction(pool, async (client) => {
        await client.query(
          `INSERT INTO vendor_batch (account_id, id, key_id, form, endpoint, upstream, upstream_key, lines, bound, models, input_file, poll_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() + interval '${sendingMinutes} minutes')`,
          [
            batch.accountId,
            batch.id,
            batch.keyId,
            batch.form,
            batch.endpoint,
            batch.upstream,
            batch.upstreamKey,
            batch.lines,
            batch.bound,
            JSON.stringify(batch.models.map(toStoredModel)),
            batch.inputFile,
          ],
        );
        await insertLines(client, batch.accountId, batch.inputFile ?? batch.id, lines);
      });
    },

    insertFile(file: NewBatchFile, lines: readonly BatchLine[]): Promise<BatchFile> {
      return transaction(pool, async (client) => {
        const { rows } = await client.query<{ createdAt: Date }>(
          `INSERT INTO vendor_batch_file (account_id, id, key_id, endpoint, upstream, upstream_key, vendor_id, bytes, lines, bound, models)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING created_at AS "createdAt"`,
          [
            file.accountId,
            file.id,
            file.keyId,
            file.endpoint,
            file.upstream,
            file.upstreamKey,
            file.vendorId,
            file.bytes,
            file.lines,
            file.bound,
            JSON.stringify(file.models.map(toStoredModel)),
          ],
        );
        await insertLines(client, file.accountId, file.id, lines);
        return { ...file, createdAt: rows[0]?.createdAt ?? new Date() };
      });
    },

    async findFile({ accountId, projectId }: BatchScope, id: string): Promise<BatchFile | null> {
      const { rows } = await pool.query<FileRow>(
        `SELECT ${fileColumns} FROM vendor_batch_file b WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL AND ${inProject('$3')}`,
        [accountId, id, projectId],
      );
      return rows[0] === undefined ? null : toFile(rows[0]);
    },

    /** One more than the limit where there are more, newest first. */
    async listFiles({ accountId, projectId, after, limit }: Omit<BatchPage, 'form' | 'before'>): Promise<BatchFile[]> {
      const { rows } = await pool.query<FileRow>(
        `SELECT ${fileColumns} FROM vendor_batch_file b WHERE account_id = $1 AND deleted_at IS NULL AND ${inProject('$2')}
           AND ($3::uuid IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`,
        [accountId, projectId, after, limit + 1],
      );
      return rows.map(toFile);
    },

    /** Whether a batch of it runs. */
    async isFileNeeded({ accountId, id }: Pick<BatchFile, 'accountId' | 'id'>): Promise<boolean> {
      const { rowCount } = await pool.query(`SELECT WHERE ${isNeeded}`, [accountId, id]);
      return rowCount === 1;
    },

    /** False: a batch of it runs, and needs it. */
    async removeFile({ accountId, id }: Pick<BatchFile, 'accountId' | 'id'>): Promise<boolean> {
      const { rowCount } = await pool.query(
        `UPDATE vendor_batch_file SET deleted_at = now() WHERE account_id = $1 AND id = $2 AND NOT ${isNeeded}`,
        [accountId, id],
      );
      return rowCount === 1;
    },

    /** Forgets a batch that was refused: nothing is held for it, and no vendor has it. */
    async drop({ accountId, id }: Pick<VendorBatch, 'accountId' | 'id'>): Promise<void> {
      await pool.query(
        `WITH gone AS (DELETE FROM vendor_batch WHERE account_id = $1 AND id = $2 AND state = 'preparing' RETURNING id)
         DELETE FROM vendor_batch_line WHERE account_id = $1 AND source_id IN (SELECT id FROM gone)`,
        [accountId, id],
      );
    },

    /** What the vendor says now. Its end is seen once: the moment stays. */
    async report(
      { accountId, id }: Pick<VendorBatch, 'accountId' | 'id'>,
      report: BatchReport,
      pollMs: number,
    ): Promise<VendorBatch | null> {
      const { counts } = report;
      return one(
        `UPDATE vendor_batch b SET vendor_id = $3, state = $4, succeeded = $5, errored = $6, canceled = $7, expired = $8,
                expires_at = coalesce($9, expires_at), cancel_at = coalesce(cancel_at, $10), ended_at = coalesce(ended_at, $11),
                seen_at = CASE WHEN $4 IN ('ended', 'failed') THEN coalesce(seen_at, now()) ELSE seen_at END,
                output_id = coalesce($12, output_id), error_id = coalesce($13, error_id), times = coalesce($14, times),
                poll_at = now() + $15 * interval '1 millisecond'
         WHERE account_id = $1 AND id = $2 AND state NOT IN ('ended', 'failed') RETURNING ${columns}`,
        [
          accountId,
          id,
          report.vendorId,
          report.state,
          counts.succeeded,
          counts.errored,
          counts.canceled,
          counts.expired,
          report.expiresAt,
          report.cancelAt,
          report.endedAt,
          report.outputId,
          report.errorId,
          report.times === null ? null : JSON.stringify(report.times),
          pollMs,
        ],
      );
    },

    /** Says in the audit log who has the vendor asked to stop a batch, and how far it was. */
    noteCancel: ({ accountId, id, state, keyId }: VendorBatch, actor: string): Promise<void> =>
      transaction(pool, (client) =>
        appendAudit(client, {
          actor,
          action: 'batch.cancel',
          subject: `batch:${id}`,
          before: { accountId, keyId, state },
          after: { accountId, keyId, state: 'canceling' },
        }),
      ),

    /** A batch as it is now. */
    again: ({ accountId, id }: Pick<VendorBatch, 'accountId' | 'id'>) =>
      one(`SELECT ${columns} FROM vendor_batch b WHERE account_id = $1 AND id = $2`, [accountId, id]),

    find: ({ accountId, projectId }: BatchScope, form: BatchForm, id: string) =>
      one(
        `SELECT ${columns} FROM vendor_batch b
         WHERE account_id = $1 AND id = $2 AND form = $3 AND deleted_at IS NULL AND vendor_id IS NOT NULL AND ${inProject('$4')}`,
        [accountId, id, form, projectId],
      ),

    /** One more than the limit where there are more, newest first; before a batch the nearest ones. */
    async list({ accountId, projectId, form, after, before, limit }: BatchPage): Promise<VendorBatch[]> {
      const { rows } = await pool.query<BatchRow>(
        `SELECT ${columns} FROM vendor_batch b
         WHERE account_id = $1 AND ($2::text IS NULL OR form = $2) AND deleted_at IS NULL AND vendor_id IS NOT NULL AND ${inProject('$3')}
           AND ($4::uuid IS NULL OR id < $4) AND ($5::uuid IS NULL OR id > $5)
         ORDER BY id ${before === null ? 'DESC' : 'ASC'} LIMIT $6`,
        [accountId, form, projectId, after, before, limit + 1],
      );
      return rows.map(toBatch);
    },

    /** Batches of both forms as their account's holder sees them, also those that no vendor has confirmed; newest first, before an id. */
    async listHeld(accountId: string, { limit, before }: { limit: number; before?: string }): Promise<HeldBatch[]> {
      const { rows } = await pool.query<HeldRow>(
        `SELECT ${columns}, ${heldColumn} FROM vendor_batch b
         WHERE account_id = $1 AND deleted_at IS NULL AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
        [accountId, before ?? null, limit],
      );
      return rows.map(toHeld);
    },

    async findHeld(accountId: string, id: string): Promise<HeldBatch | null> {
      const { rows } = await pool.query<HeldRow>(
        `SELECT ${columns}, ${heldColumn} FROM vendor_batch b WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL`,
        [accountId, id],
      );
      return rows[0] === undefined ? null : toHeld(rows[0]);
    },

    /** Hides a batch that is settled. */
    async remove({ accountId, id }: Pick<VendorBatch, 'accountId' | 'id'>): Promise<void> {
      await pool.query(
        'UPDATE vendor_batch SET deleted_at = now() WHERE account_id = $1 AND id = $2 AND settled_at IS NOT NULL',
        [accountId, id],
      );
    },

    /** Takes batches whose vendor is to be asked now; another process gets them only after the lease. */
    async takeDue(limit: number, leaseMs: number): Promise<VendorBatch[]> {
      const { rows } = await pool.query<BatchRow>(
        `UPDATE vendor_batch b SET poll_at = now() + $2 * interval '1 millisecond'
         WHERE (account_id, id) IN (SELECT account_id, id FROM vendor_batch WHERE settled_at IS NULL AND poll_at <= now()
                                    ORDER BY poll_at LIMIT $1 FOR UPDATE SKIP LOCKED)
         RETURNING ${columns}`,
        [limit, leaseMs],
      );
      return rows.map(toBatch);
    },

    /** When the vendor is asked again; `unanswered`: its results were read to the end, and lines were missing. */
    async putOff(
      { accountId, id }: Pick<VendorBatch, 'accountId' | 'id'>,
      ms: number,
      unanswered: boolean,
    ): Promise<void> {
      await pool.query(
        `UPDATE vendor_batch SET poll_at = now() + $3 * interval '1 millisecond', attempts = attempts + $4
         WHERE account_id = $1 AND id = $2`,
        [accountId, id, ms, unanswered ? 1 : 0],
      );
    },

    /** The lines of these digests. */
    async linesOf(
      { accountId, id, inputFile }: Pick<VendorBatch, 'accountId' | 'id' | 'inputFile'>,
      digests: readonly Buffer[],
    ): Promise<BatchLine[]> {
      const { rows } = await pool.query<LineRow>(
        `SELECT ${lineColumns} FROM vendor_batch_line WHERE account_id = $1 AND source_id = $2 AND digest = ANY ($3::bytea[])`,
        [accountId, inputFile ?? id, digests],
      );
      return rows.map(toLine);
    },

    /** Lines in the order of their digests, after one of them; null: from the first. */
    async linesAfter(
      { accountId, id, inputFile }: Pick<VendorBatch, 'accountId' | 'id' | 'inputFile'>,
      after: Buffer | null,
      limit: number,
    ): Promise<BatchLine[]> {
      const { rows } = await pool.query<LineRow>(
        `SELECT ${lineColumns} FROM vendor_batch_line
         WHERE account_id = $1 AND source_id = $2 AND ($3::bytea IS NULL OR digest > $3) ORDER BY digest LIMIT $4`,
        [accountId, inputFile ?? id, after, limit],
      );
      return rows.map(toLine);
    },

    /** What is still held for a batch, by grant; empty: nothing. */
    async heldParts({ accountId, id }: Pick<VendorBatch, 'accountId' | 'id'>): Promise<Part[]> {
      const { rows } = await pool.query<{ grantId: string; amount: string }>(
        `SELECT part.grant_id AS "grantId", part.amount::text
         FROM hold, unnest(grant_ids, grant_amounts) AS part (grant_id, amount) WHERE account_id = $1 AND request_id = $2`,
        [accountId, id],
      );
      return rows.map(({ grantId, amount }) => ({ grantId, amount: BigInt(amount) }));
    },

    /** What batches hold of an account, the largest hold first; empty: nothing. */
    async holding(accountId: string): Promise<BatchHolding[]> {
      const { rows } = await pool.query<Omit<BatchHolding, 'held'> & { held: string }>(
        `SELECT b.id, b.form, b.created_at AS "createdAt", b.expires_at AS "expiresAt", h.amount::text AS held
         FROM hold h JOIN vendor_batch b ON b.account_id = h.account_id AND b.id = h.request_id
         WHERE h.account_id = $1 AND h.amount > 0 ORDER BY h.amount DESC, b.id`,
        [accountId],
      );
      return rows.map(({ held, ...row }) => ({ ...row, held: BigInt(held) }));
    },

    /** Which of these requests have an entry. */
    async entered(accountId: string, requestIds: readonly string[]): Promise<Set<string>> {
      const { rows } = await pool.query<{ id: string }>(
        'SELECT request_id AS id FROM ledger_entry WHERE account_id = $1 AND request_id = ANY ($2::uuid[])',
        [accountId, requestIds],
      );
      return new Set(rows.map(({ id }) => id));
    },

    /** What these requests came to, together. */
    async chargedOf(accountId: string, requestIds: readonly string[]): Promise<PicoUsd> {
      const { rows } = await pool.query<{ charged: string }>(
        'SELECT coalesce(sum(charged), 0)::text AS charged FROM ledger_entry WHERE account_id = $1 AND request_id = ANY ($2::uuid[])',
        [accountId, requestIds],
      );
      return BigInt(rows[0]?.charged ?? 0);
    },

    /** Every line has its entry, and nothing is held. `failed`: the vendor never ran it. */
    async close(
      { accountId, id }: Pick<VendorBatch, 'accountId' | 'id'>,
      { charged, failed }: { charged: PicoUsd; failed: boolean },
    ): Promise<void> {
      await pool.query(
        `UPDATE vendor_batch SET settled_at = coalesce(settled_at, now()), charged = coalesce(charged, $4),
                state = CASE WHEN $3 THEN 'failed' ELSE state END
         WHERE account_id = $1 AND id = $2`,
        [accountId, id, failed, charged],
      );
    },
  };
}

async function insertLines(
  client: ClientBase,
  accountId: string,
  sourceId: string,
  lines: readonly BatchLine[],
): Promise<void> {
  for (let at = 0; at < lines.length; at += linesAtOnce) {
    const some = lines.slice(at, at + linesAtOnce);
    await client.query(
      `INSERT INTO vendor_batch_line (account_id, source_id, digest, model, bound, input, output, searches, estimated, long_writes)
       SELECT $1, $2, * FROM unnest($3::bytea[], $4::smallint[], $5::bigint[], $6::int[], $7::int[], $8::int[], $9::int[], $10::boolean[])`,
      [
        accountId,
        sourceId,
        some.map(({ digest }) => digest),
        some.map(({ model }) => model),
        some.map(({ bound }) => bound),
        some.map(({ input }) => input),
        some.map(({ output }) => output),
        some.map(({ searches }) => searches),
        some.map(({ estimated }) => estimated),
        some.map(({ longWrites }) => longWrites),
      ],
    );
  }
}

/** What is kept of a model: whole pico-USD, which JSON numbers hold exactly up to the bounds of prices. */
interface StoredModel {
  model: string;
  upstreamModel: string;
  priceId: string;
  prices: Record<'input' | 'cacheHit' | 'cacheWrite5m' | 'cacheWrite1h' | 'output', number>;
  tiers?: StoredTier[];
  perUnit?: Record<string, number>;
  byClock?: FrozenPrice['byClock'];
  variant?: FrozenPrice['variant'];
}

function toStoredModel({ model, upstreamModel, price }: BatchModel): StoredModel {
  return {
    model,
    upstreamModel,
    priceId: price.id,
    prices: {
      input: Number(price.input),
      cacheHit: Number(price.cacheHit),
      cacheWrite5m: Number(price.cacheWrite5m),
      cacheWrite1h: Number(price.cacheWrite1h),
      output: Number(price.output),
    },
    ...(price.tiers === undefined ? {} : { tiers: toStoredTiers(price.tiers) }),
    ...(price.perUnit === undefined ? {} : { perUnit: toStoredUnits(price.perUnit) }),
    ...(price.byClock === undefined ? {} : { byClock: price.byClock }),
    ...(price.variant === undefined ? {} : { variant: price.variant }),
  };
}

function fromStoredModel({
  model,
  upstreamModel,
  priceId,
  prices,
  tiers,
  perUnit,
  byClock,
  variant,
}: StoredModel): BatchModel {
  return {
    model,
    upstreamModel,
    price: {
      id: priceId,
      input: BigInt(prices.input),
      cacheHit: BigInt(prices.cacheHit),
      cacheWrite5m: BigInt(prices.cacheWrite5m),
      cacheWrite1h: BigInt(prices.cacheWrite1h),
      output: BigInt(prices.output),
      ...(tiers === undefined ? {} : { tiers: fromStoredTiers(tiers) }),
      ...(perUnit === undefined ? {} : { perUnit: fromStoredUnits(perUnit) }),
      ...(byClock === undefined ? {} : { byClock }),
      ...(variant === undefined ? {} : { variant }),
    },
  };
}

const columns = `b.account_id AS "accountId", b.id, b.key_id AS "keyId", b.form, b.endpoint, b.upstream, b.upstream_key AS "upstreamKey",
  b.vendor_id AS "vendorId", b.state, b.lines, b.bound::text, b.models, b.succeeded, b.errored, b.canceled, b.expired,
  b.created_at AS "createdAt", b.expires_at AS "expiresAt", b.cancel_at AS "cancelAt", b.ended_at AS "endedAt", b.seen_at AS "seenAt",
  b.settled_at AS "settledAt", b.attempts, b.input_file AS "inputFile", b.output_id AS "outputId", b.error_id AS "errorId", b.times,
  b.charged::text,
  (SELECT f.vendor_id FROM vendor_batch_file f WHERE f.account_id = b.account_id AND f.id = b.input_file) AS "inputId",
  (SELECT a.erased_at IS NOT NULL FROM account a WHERE a.id = b.account_id) AS erased`;

const inProject = (parameter: string): string =>
  `(${parameter}::uuid IS NULL OR EXISTS (SELECT FROM api_key k WHERE k.id = b.key_id AND k.project_id = ${parameter}))`;

/** Whether a batch that is not settled has the file; `$1`: its account, `$2`: its id. */
const isNeeded = 'EXISTS (SELECT FROM vendor_batch WHERE account_id = $1 AND input_file = $2 AND settled_at IS NULL)';

const heldColumn = `coalesce((SELECT h.amount FROM hold h WHERE h.account_id = b.account_id AND h.request_id = b.id), 0)::text AS held`;

type BatchRow = Omit<VendorBatch, 'bound' | 'charged' | 'models'> & {
  bound: string;
  charged: string | null;
  models: StoredModel[];
};
type HeldRow = BatchRow & { held: string };

function toBatch({ bound, charged, models, ...row }: BatchRow): VendorBatch {
  return {
    ...row,
    bound: BigInt(bound),
    charged: charged === null ? null : BigInt(charged),
    models: models.map(fromStoredModel),
  };
}

function toHeld({ held, ...row }: HeldRow): HeldBatch {
  return { ...toBatch(row), held: BigInt(held) };
}

const fileColumns = `b.account_id AS "accountId", b.id, b.key_id AS "keyId", b.endpoint, b.upstream, b.upstream_key AS "upstreamKey",
  b.vendor_id AS "vendorId", b.bytes::text, b.lines, b.bound::text, b.models, b.created_at AS "createdAt"`;

type FileRow = Omit<BatchFile, 'bytes' | 'bound' | 'models'> & { bytes: string; bound: string; models: StoredModel[] };

function toFile({ bytes, bound, models, ...row }: FileRow): BatchFile {
  return { ...row, bytes: Number(bytes), bound: BigInt(bound), models: models.map(fromStoredModel) };
}

const lineColumns = `digest, model, bound::text, input, output, searches, estimated, long_writes AS "longWrites"`;

type LineRow = Omit<BatchLine, 'bound'> & { bound: string };

function toLine({ bound, ...row }: LineRow): BatchLine {
  return { ...row, bound: BigInt(bound) };
}
