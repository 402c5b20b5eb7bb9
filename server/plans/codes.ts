import { createHash, randomBytes } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { addGrant } from '../billing/grants.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { amount, checkInput, type InvalidInput, invalidInput, maxPico, shownText } from '../shared/input.ts';
import type { KeysetRange } from '../shared/keyset.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import { isErased } from './erased.ts';
import { findPlan } from './plans.ts';

/** Redemption codes: made by operators in batches, shown once, redeemed by accounts for budget. */

export interface CodeBatch {
  id: string;
  name: string;
  /** Pico-USD that each redemption gives. */
  amount: bigint;
  /** Days from the redemption until the budget expires; null: never. */
  validDays: number | null;
  /** The plan whose budget and validity were taken. */
  planId: string | null;
  count: number;
  /** Accounts that can redeem each code. */
  uses: number;
  expiresAt: Date | null;
  revokedAt: Date | null;
  createdAt: Date;
  /** Redemptions so far, of all codes together. */
  used: number;
}

/** An account that redeemed a code of a batch. */
export interface CodeRedemption {
  codeId: string;
  accountId: string;
  accountEmail: string;
  /** The last letters of the code. */
  last4: string;
  redeemedAt: Date;
}

export interface NewCodes {
  name: string;
  count: number;
  uses: number;
  /** Pico-USD; null: the plan's budget. */
  amount: bigint | null;
  validDays: number | null;
  planId: string | null;
  expiresAt: Date | null;
  actor: string;
}

export type CreateCodesOutcome =
  /** The codes are known now and never again. */
  { kind: 'created'; batch: CodeBatch; codes: string[] } | { kind: 'unknown_plan' } | InvalidInput<keyof NewCodes>;

export type RedeemOutcome =
  /** `again`: this account had redeemed it before, and got nothing more now. */
  | { kind: 'redeemed'; grantId: string; amount: bigint; again: boolean }
  /** Unknown, used up, expired or revoked: the caller is not told which. */
  | { kind: 'invalid_code' }
  | { kind: 'throttled'; retryAfterS: number };

/** Attempts are counted by `people/throttle.ts`. */
export interface Attempts {
  take(subject: string, limit: { attempts: number; windowS: number }): Promise<number | null>;
}

const maxCodes = 1_000;
const maxUses = 1_000_000;
const maxDays = 36_500;
const perPerson = { attempts: 10, windowS: 3_600 };
const perNetwork = { attempts: 60, windowS: 3_600 };

const wholeUpTo = (most: number) =>
  z.int(`must be a whole number from 1 to ${most}`).min(1, 'must be at least 1').max(most, `must be at most ${most}`);

const shape = z.object({
  name: shownText(100),
  count: wholeUpTo(maxCodes),
  uses: wholeUpTo(maxUses),
  amount: amount(maxPico).nullable(),
  validDays: wholeUpTo(maxDays).nullable(),
});

const columns = `b.id, b.name, b.amount, b.valid_days AS "validDays", b.plan_id AS "planId", b.count, b.uses,
  b.expires_at AS "expiresAt", b.revoked_at AS "revokedAt", b.created_at AS "createdAt",
  (SELECT coalesce(sum(used), 0)::int FROM redemption_code c WHERE c.batch_id = b.id) AS used`;

/** Crockford's alphabet: no letter that is read as another. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeLength = 20;

/** `pool` must read BIGINT as `bigint`. */
export function createCodes({ pool, throttle }: { pool: Pool; throttle: Attempts }) {
  return {
    /** Makes a batch. Only digests of its codes are kept. */
    async create(ask: NewCodes): Promise<CreateCodesOutcome> {
      const problem = checkInput(shape as z.ZodType<Pick<NewCodes, keyof z.infer<typeof shape>>>, ask);
      if (problem !== null) return problem;
      if ((ask.amount === null) === (ask.planId === null))
        return invalidInput('amount', 'either an amount or a plan must be given');
      if (ask.expiresAt !== null && ask.expiresAt.getTime() <= Date.now())
        return invalidInput('expiresAt', 'must be in the future');
      const codes = Array.from({ length: ask.count }, newCode);
      return repeatedTransaction(pool, async (client): Promise<CreateCodesOutcome> => {
        const plan = ask.planId === null ? null : await findPlan(client, ask.planId);
        if (ask.planId !== null && plan === null) return { kind: 'unknown_plan' };
        const id = uuidv7();
        const terms = { amount: plan?.budget ?? ask.amount, validDays: plan === null ? ask.validDays : plan.validDays };
        await client.query(
          `INSERT INTO code_batch (id, name, amount, valid_days, plan_id, count, uses, expires_at, created_by)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
          [id, ask.name, terms.amount, terms.validDays, ask.planId, ask.count, ask.uses, ask.expiresAt, ask.actor],
        );
        await client.query(
          `INSERT INTO redemption_code (id, batch_id, hash, last4)
           SELECT gen_random_uuid(), $1, hash, last4 FROM unnest($2::bytea[], $3::text[]) AS fresh (hash, last4)`,
          [id, codes.map(digest), codes.map((code) => code.slice(-4))],
        );
        const { name, count, uses, expiresAt, planId } = ask;
        await appendAudit(client, {
          actor: ask.actor,
          action: 'codes.create',
          subject: `codes:${id}`,
          after: { name, count, uses, expiresAt, planId, ...terms },
        });
        const batch = await findBatch(client, id);
        if (batch === null) throw new Error('a batch that was just written is missing');
        return { kind: 'created', batch, codes };
      });
    },

    /**
     * Gives an account the budget of a code, once: concurrent redemptions wait for the code's row. Attempts are limited by
     * person and by network.
     */
    async redeem(ask: { code: string; accountId: string; actor: string; network: string }): Promise<RedeemOutcome> {
      const waits = await Promise.all([
        throttle.take(`redeem:${ask.actor}`, perPerson),
        throttle.take(`redeem-network:${ask.network}`, perNetwork),
      ]);
      const retryAfterS = Math.max(...waits.map((wait) => wait ?? 0));
      if (retryAfterS > 0) return { kind: 'throttled', retryAfterS };
      const code = normalCode(ask.code);
      if (code === null) return { kind: 'invalid_code' };
      return repeatedTransaction(pool, (client) => redeem(client, { ...ask, code }));
    },

    /** Batches, the newest first. */
    async list({ limit, after }: KeysetRange): Promise<CodeBatch[]> {
      const { rows } = await pool.query<CodeBatch>(
        `SELECT ${columns} FROM code_batch b WHERE $2::timestamptz IS NULL OR (b.created_at, b.id) < ($2, $3::uuid)
         ORDER BY b.created_at DESC, b.id DESC LIMIT $1`,
        [limit, after?.at, after?.ids[0]],
      );
      return rows;
    },

    async hasBatch(batchId: string): Promise<boolean> {
      const { rows } = await pool.query('SELECT FROM code_batch WHERE id = $1', [batchId]);
      return rows.length > 0;
    },

    /** Who redeemed codes of a batch, the newest first. */
    async redemptions(batchId: string, { limit, after }: KeysetRange): Promise<CodeRedemption[]> {
      const { rows } = await pool.query<CodeRedemption>(
        `SELECT r.code_id AS "codeId", r.account_id AS "accountId", a.email AS "accountEmail", c.last4, r.created_at AS "redeemedAt"
         FROM redemption_code c JOIN redemption r ON r.code_id = c.id JOIN account a ON a.id = r.account_id
         WHERE c.batch_id = $1
           AND ($3::timestamptz IS NULL OR (r.created_at, r.code_id, r.account_id) < ($3, $4::uuid, $5::uuid))
         ORDER BY r.created_at DESC, r.code_id DESC, r.account_id DESC LIMIT $2`,
        [batchId, limit, after?.at, ...(after?.ids ?? [null, null])],
      );
      return rows;
    },

    /** Ends a batch: what was redeemed stays. Null: there is none that is open. */
    async revoke({ batchId, actor }: { batchId: string; actor: string }): Promise<CodeBatch | null> {
      if (!isUuid(batchId)) return null;
      return repeatedTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          'UPDATE code_batch SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL',
          [batchId],
        );
        if (rowCount === 0) return null;
        await appendAudit(client, { actor, action: 'codes.revoke', subject: `codes:${batchId}` });
        return findBatch(client, batchId);
      });
    },
  };
}

export type Codes = ReturnType<typeof createCodes>;

async function redeem(
  client: ClientBase,
  { code, accountId, actor }: { code: string; accountId: string; actor: string },
): Promise<RedeemOutcome> {
  const { rows } = await client.query<{
    id: string;
    amount: bigint;
    isOpen: boolean;
    expiresAt: Date | null;
  }>(
    `SELECT c.id, b.amount, c.used < b.uses AND b.revoked_at IS NULL AND coalesce(b.expires_at > now(), true) AS "isOpen",
            now() + make_interval(days => b.valid_days) AS "expiresAt"
     FROM redemption_code c JOIN code_batch b ON b.id = c.batch_id WHERE c.hash = $1 FOR UPDATE OF c`,
    [digest(code)],
  );
  const [found] = rows;
  if (found === undefined) return { kind: 'invalid_code' };
  const sourceRef = `code:${found.id}`;
  const { rows: before } = await client.query<{ id: string; amount: bigint }>(
    'SELECT id, amount FROM "grant" WHERE account_id = $1 AND source_ref = $2',
    [accountId, sourceRef],
  );
  if (before[0] !== undefined)
    return { kind: 'redeemed', grantId: before[0].id, amount: before[0].amount, again: true };
  if (!found.isOpen || (await isErased(client, accountId))) return { kind: 'invalid_code' };
  await client.query('INSERT INTO redemption (code_id, account_id, redeemed_by) VALUES ($1, $2, $3)', [
    found.id,
    accountId,
    actor,
  ]);
  await client.query('UPDATE redemption_code SET used = used + 1 WHERE id = $1', [found.id]);
  const { id: grantId } = await addGrant(client, {
    accountId,
    kind: 'code',
    amount: found.amount,
    expiresAt: found.expiresAt,
    sourceRef,
  });
  await appendAudit(client, {
    actor,
    action: 'code.redeem',
    subject: `account:${accountId}`,
    after: { codeId: found.id },
  });
  return { kind: 'redeemed', grantId, amount: found.amount, again: false };
}

async function findBatch(client: ClientBase, id: string): Promise<CodeBatch | null> {
  const { rows } = await client.query<CodeBatch>(`SELECT ${columns} FROM code_batch b WHERE b.id = $1`, [id]);
  return rows[0] ?? null;
}

/** 100 random bits in groups of five letters. */
function newCode(): string {
  const letters = [...randomBytes(codeLength)].map((byte) => alphabet[byte % 32]).join('');
  return letters.replace(/(.{5})(?=.)/g, '$1-');
}

/** A code as it was made, from what a person typed; null: it cannot be one. */
function normalCode(text: string): string | null {
  const letters = text
    .slice(0, 100)
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');
  return letters.length === codeLength ? letters.replace(/(.{5})(?=.)/g, '$1-') : null;
}

function digest(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}
