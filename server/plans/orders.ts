/** Orders: a plan's name, price and budget, frozen, with the memo code that the payer writes into the transfer. */

import type { ClientBase, Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import { standing } from './bank/transfer-rows.ts';
import { isErased } from './erased.ts';
import { createMemo, findMemos } from './memo.ts';
import type { BankAccount, Order } from './order.ts';
import { recordOrderMail } from './order-mails.ts';
import type { OrderStatus } from './payment-decision.ts';
import { findPlan, type Plan } from './plans.ts';
import { vietQrPayload } from './qr/vietqr.ts';
import { bonusOf, type FreeAmount, freeTerms, readBonusSteps, readTopUp, type Terms, type TopUp } from './top-up.ts';

/** Payment instructions, complete for any banking app. */
export interface PaymentInstructions {
  bank: BankAccount;
  /** Whole VND: the missing amount. */
  amountVnd: bigint;
  memo: string;
  /** The text of the VietQR code; `qr-pictures.ts` draws it. */
  qrPayload: string;
}

/** An order to make. */
export interface NewOrder {
  accountId: string;
  /** The plan; with `amount` none. */
  planId?: string;
  /** An amount that the buyer names, instead of a plan. */
  amount?: FreeAmount;
  upgrades?: string;
  /** The id or normalised e-mail address of the account that gets the budget. */
  giftTo?: string;
  idempotencyKey?: string;
}

export type CreateOrderOutcome =
  | { kind: 'created'; order: Order }
  /** The idempotency key belongs to this earlier order. */
  | { kind: 'existing'; order: Order }
  /** The idempotency key belongs to a different order. */
  | { kind: 'idempotency_conflict' }
  | { kind: 'unknown_plan' }
  /** Free amounts are not offered, or not this one. */
  | { kind: 'not_offered'; topUp: TopUp | null }
  /** An upgrade is of an order of the buyer. */
  | { kind: 'gift_of_upgrade' }
  /** No bank account is configured. */
  | { kind: 'not_on_sale' }
  | { kind: 'too_many_open_orders'; limit: number }
  /** Too many orders without a payment within an hour. */
  | { kind: 'throttled'; retryAfterS: number }
  | { kind: 'unknown_order' }
  | { kind: 'not_upgradable'; reason: 'not_paid' | 'already_upgraded' | 'not_dearer' | 'refunded' };

export type CancelOrderOutcome =
  | { kind: 'cancelled'; order: Order }
  | { kind: 'unknown_order' }
  /** Money has arrived, or the order is final. */
  | { kind: 'not_cancellable'; status: OrderStatus };

export interface OrderLimits {
  /** How long an order waits for its money. A transfer between banks takes seconds, a weekend takes longer. */
  lifetimeMs: number;
  /** Unpaid orders of an account at a time: memo codes must not be used up. */
  open: number;
  /** Orders of an account within an hour that are not paid, cancelled ones included: each one sends a mail. */
  unpaidAnHour: number;
}

const defaultLimits: OrderLimits = { lifetimeMs: 3 * 24 * 3_600_000, open: 10, unpaidAnHour: 20 };

const orderColumns = `o.id, o.account_id AS "accountId", o.plan_id AS "planId", o.plan_name AS "planName", o.memo,
  o.price_vnd AS "priceVnd", o.budget, o.valid_days AS "validDays", o.status, o.upgrades, o.created_at AS "createdAt",
  o.expires_at AS "expiresAt", o.paid_at AS "paidAt", o.bonus, o.free_amount AS "freeAmount", o.gift_to AS "giftTo",
  coalesce((SELECT sum(t.amount_vnd) FROM transfer_match m JOIN bank_transfer t ON t.id = m.transfer_id
            WHERE m.order_id = o.id), 0)::bigint AS "receivedVnd"`;
const orderTables = 'purchase_order o';

/**
 * Orders of accounts. `pool` must read BIGINT as `bigint` (the types of the money lane). `bank` null: nothing is sold,
 * and earlier orders show no instructions. `bank` and `limits` are read for each order: operators change them.
 */
export function createOrders(deps: { pool: Pool; readonly bank: BankAccount | null; readonly limits?: OrderLimits }) {
  const { pool } = deps;

  /**
   * Orders a plan, a free amount, or with `upgrades` the difference between a paid order's plan and a dearer one. Price,
   * budget, bonus and validity are frozen now, regardless of later changes. With `giftTo` (an account's id or e-mail
   * address) the budget is for another account, of which nothing is looked up. The same `idempotencyKey` with the same
   * input gives the same order.
   */
  function create(input: NewOrder): Promise<CreateOrderOutcome> {
    const { accountId, upgrades = null, idempotencyKey = null, giftTo = null } = input;
    if (giftTo !== null && upgrades !== null) return Promise.resolve({ kind: 'gift_of_upgrade' });
    return repeatedTransaction(pool, async (client): Promise<CreateOrderOutcome> => {
      // Purchases of an account are serialised: the idempotency key, the limit and the upgrade are then simple reads.
      await lockPurchases(client, accountId);

      if (idempotencyKey !== null) {
        const known = await findByIdempotencyKey(client, accountId, idempotencyKey);
        if (known !== null)
          return isSameOrder(known, { ...input, upgrades, giftTo })
            ? { kind: 'existing', order: known }
            : { kind: 'idempotency_conflict' };
      }

      // A caller whose account is erased while they order.
      if (deps.bank === null || (await isErased(client, accountId))) return { kind: 'not_on_sale' };
      const offer = await findOffer(client, input);
      if ('kind' in offer) return offer;
      const { plan } = offer;

      const limits = deps.limits ?? defaultLimits;
      const open = await countOpen(client, accountId);
      if (open >= limits.open) return { kind: 'too_many_open_orders', limit: limits.open };
      const retryAfterS = await secondsToNextOrder(client, accountId, limits.unpaidAnHour);
      if (retryAfterS > 0) return { kind: 'throttled', retryAfterS };

      const terms = upgrades === null ? offer.terms : await upgradeTerms(client, { accountId, plan, upgrades });
      if ('kind' in terms) return terms;

      // The difference of an upgrade is no top-up.
      const bonus = upgrades === null ? bonusOf(terms, await readBonusSteps(client)) : 0n;
      const id = await insertOrder(client, {
        accountId,
        plan,
        terms,
        upgrades,
        idempotencyKey,
        lifetimeMs: limits.lifetimeMs,
        bonus,
        freeAmount: input.amount !== undefined,
        giftTo,
      });
      await recordOrderMail(client, { orderId: id, kind: 'made' });
      const order = await find(client, accountId, id);
      if (order === null) throw new Error('an order that was just written is missing');
      return { kind: 'created', order };
    }).catch((error: unknown) => {
      // An operator has revived another upgrade of the same order meanwhile, by matching money to it.
      if (violates(error, 'purchase_order_upgrade')) return { kind: 'not_upgradable', reason: 'already_upgraded' };
      throw error;
    });
  }

  /** Cancels an order without any payment. */
  async function cancel(input: { accountId: string; orderId: string }): Promise<CancelOrderOutcome> {
    if (!isUuid(input.orderId)) return { kind: 'unknown_order' };
    return repeatedTransaction(pool, async (client) => {
      const { rows } = await client.query<{ status: OrderStatus }>(
        'SELECT status FROM purchase_order WHERE id = $1 AND account_id = $2 FOR UPDATE',
        [input.orderId, input.accountId],
      );
      const [row] = rows;
      if (row === undefined) return { kind: 'unknown_order' };
      if (row.status !== 'pending' && row.status !== 'cancelled')
        return { kind: 'not_cancellable', status: row.status };
      await client.query(`UPDATE purchase_order SET status = 'cancelled' WHERE id = $1`, [input.orderId]);
      const order = await find(client, input.accountId, input.orderId);
      return order === null ? { kind: 'unknown_order' } : { kind: 'cancelled', order };
    });
  }

  /** Instructions for the missing amount; null once the order is paid or final. */
  function instructions(
    order: Pick<Order, 'memo' | 'priceVnd' | 'receivedVnd' | 'status'>,
  ): PaymentInstructions | null {
    const { bank } = deps;
    const amountVnd = order.priceVnd - order.receivedVnd;
    if (bank === null || (order.status !== 'pending' && order.status !== 'partial') || amountVnd <= 0n) return null;
    const qrPayload = vietQrPayload({
      bankBin: bank.bin,
      accountNumber: bank.account,
      amountVnd,
      memo: bank.isDemonstration === true ? `DEMO ${order.memo}` : order.memo,
    });
    return { bank, amountVnd, memo: order.memo, qrPayload };
  }

  return {
    /** The bank account of customers' payments; null: nothing is sold. */
    get bank() {
      return deps.bank;
    },
    create,
    cancel,
    expire: () => expireOrders(pool),
    instructions,
    ...orderReaders(pool),
    /** One order of an account; null for another account's as for a missing one. */
    find: (accountId: string, orderId: string) => find(pool, accountId, orderId),
  };
}

/**
 * Expires overdue orders and returns how many. A partial payment waits for a person: it is neither lost nor turned
 * into a plan that was not paid.
 */
function expireOrders(pool: Pool): Promise<number> {
  return repeatedTransaction(pool, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `UPDATE purchase_order SET status = 'expired'
       WHERE id IN (SELECT id FROM purchase_order WHERE status IN ('pending', 'partial') AND expires_at < now()
                    ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED)
       RETURNING id`,
    );
    await client.query(
      // A transfer that an operator had matched left the queue by that: it returns. A transfer that a person has
      // closed as short stays closed.
      `INSERT INTO transfer_review AS r (transfer_id, reason, order_id)
       SELECT transfer_id, 'short', order_id FROM transfer_match WHERE order_id = ANY ($1::uuid[]) ORDER BY transfer_id
       ON CONFLICT (transfer_id) DO UPDATE SET reason = excluded.reason, order_id = excluded.order_id,
         surplus_vnd = NULL, closed_at = NULL, closed_by = NULL, note = NULL WHERE r.reason <> 'short' OR r.closed_by = 'matcher'`,
      [rows.map(({ id }) => id)],
    );
    return rows.length;
  });
}

/** Lists and single orders. */
function orderReaders(pool: Pool) {
  /** An account's orders, newest first. `before` is the id of the last one seen. */
  async function list(input: { accountId: string; limit: number; before?: string }): Promise<Order[]> {
    const { rows } = await pool.query<Order>(
      `SELECT ${orderColumns} FROM ${orderTables}
       WHERE o.account_id = $1 AND ($2::uuid IS NULL OR o.id < $2) ORDER BY o.id DESC LIMIT $3`,
      [input.accountId, input.before ?? null, input.limit],
    );
    return rows;
  }

  /** Orders of all accounts, newest first, for operators. Memos are matched in payers' spellings. */
  async function search(input: {
    status?: OrderStatus;
    memo?: string;
    limit: number;
    before?: string;
  }): Promise<Order[]> {
    const memos = input.memo === undefined ? null : findMemos(input.memo);
    const { rows } = await pool.query<Order>(
      `SELECT ${orderColumns} FROM ${orderTables}
       WHERE ($1::text IS NULL OR o.status = $1) AND ($2::text[] IS NULL OR o.memo = ANY ($2))
         AND ($3::uuid IS NULL OR o.id < $3)
       ORDER BY o.id DESC LIMIT $4`,
      [input.status ?? null, memos, input.before ?? null, input.limit],
    );
    return rows;
  }

  /** One order of any account, for operators. */
  async function findAny(orderId: string): Promise<Order | null> {
    if (!isUuid(orderId)) return null;
    const { rows } = await pool.query<Order>(`SELECT ${orderColumns} FROM ${orderTables} WHERE o.id = $1`, [orderId]);
    return rows[0] ?? null;
  }

  return { list, search, findAny };
}

export type Orders = ReturnType<typeof createOrders>;

/** Whether the error is PostgreSQL's, of a write that violates this constraint or unique index. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof Error && (error as { constraint?: unknown }).constraint === constraint;
}

async function find(database: Pool | ClientBase, accountId: string, orderId: string): Promise<Order | null> {
  if (!isUuid(orderId)) return null;
  const { rows } = await database.query<Order>(
    `SELECT ${orderColumns} FROM ${orderTables} WHERE o.id = $1 AND o.account_id = $2`,
    [orderId, accountId],
  );
  return rows[0] ?? null;
}

async function findByIdempotencyKey(client: ClientBase, accountId: string, key: string): Promise<Order | null> {
  const { rows } = await client.query<Order>(
    `SELECT ${orderColumns} FROM ${orderTables} WHERE o.account_id = $1 AND o.idempotency_key = $2`,
    [accountId, key],
  );
  return rows[0] ?? null;
}

async function countOpen(client: ClientBase, accountId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM purchase_order
     WHERE account_id = $1 AND status = 'pending' AND expires_at > now()`,
    [accountId],
  );
  return rows[0]?.count ?? 0;
}

/** Seconds until an account may order again; 0: now. */
async function secondsToNextOrder(client: ClientBase, accountId: string, unpaidAnHour: number): Promise<number> {
  // The oldest of the newest orders up to the maximum: once it is an hour old, there is room for another.
  const { rows } = await client.query<{ seconds: number }>(
    `SELECT ceil(extract(epoch FROM created_at + interval '1 hour' - now()))::int AS seconds FROM purchase_order
     WHERE account_id = $1 AND created_at > now() - interval '1 hour' AND status IN ('pending', 'cancelled', 'expired')
     ORDER BY created_at DESC OFFSET $2 LIMIT 1`,
    [accountId, unpaidAnHour - 1],
  );
  return Math.max(0, rows[0]?.seconds ?? 0);
}

/** The plan of an order, and what it costs and gives without an upgrade. */
async function findOffer(
  client: ClientBase,
  { planId = '', amount }: Pick<NewOrder, 'planId' | 'amount'>,
): Promise<{ plan: Plan; terms: Terms } | Extract<CreateOrderOutcome, { kind: 'unknown_plan' | 'not_offered' }>> {
  if (amount === undefined) {
    const plan = await findPlan(client, planId);
    return plan === null || !plan.enabled ? { kind: 'unknown_plan' } : { plan, terms: plan };
  }
  const topUp = await readTopUp(client);
  const plan = topUp === null ? null : await findPlan(client, topUp.planId);
  if (topUp === null || plan === null) return { kind: 'not_offered', topUp: null };
  const terms = freeTerms(amount, plan);
  const isWithin = terms !== null && terms.priceVnd >= topUp.minVnd && terms.priceVnd <= topUp.maxVnd;
  return isWithin ? { plan, terms } : { kind: 'not_offered', topUp };
}

/** Whether an order is what this input asks for. */
function isSameOrder(
  known: Order,
  asked: Pick<NewOrder, 'planId' | 'amount'> & { upgrades: string | null; giftTo: string | null },
): boolean {
  const { planId, amount, upgrades, giftTo } = asked;
  if (known.upgrades !== upgrades || known.giftTo !== giftTo) return false;
  if (amount === undefined) return !known.freeAmount && known.planId === planId;
  return known.freeAmount && ('vnd' in amount ? known.priceVnd === amount.vnd : known.budget === amount.usd);
}

/**
 * The difference between a plan and what was paid and granted for an order, including the chain of orders that it
 * upgraded. Both differences must be positive: an upgrade is never a refund.
 */
async function upgradeTerms(
  client: ClientBase,
  input: { accountId: string; plan: Plan; upgrades: string },
): Promise<Terms | CreateOrderOutcome> {
  if (!isUuid(input.upgrades)) return { kind: 'unknown_order' };
  const { rows } = await client.query<{
    status: OrderStatus;
    priceVnd: bigint;
    budget: bigint;
    superseded: boolean;
    refunded: boolean;
  }>(
    `WITH RECURSIVE chain AS (
       SELECT id, upgrades, status, price_vnd, budget, 0 AS depth FROM purchase_order WHERE id = $1 AND account_id = $2
       UNION ALL
       SELECT o.id, o.upgrades, o.status, o.price_vnd, o.budget, depth + 1
       FROM purchase_order o JOIN chain ON o.id = chain.upgrades
     )
     SELECT (SELECT status FROM chain WHERE depth = 0) AS status, sum(price_vnd)::bigint AS "priceVnd",
            sum(budget)::bigint AS budget,
            EXISTS (SELECT 1 FROM purchase_order WHERE upgrades = $1 AND status IN ('pending', 'partial', 'paid')) AS superseded,
            EXISTS (SELECT FROM refund r WHERE order_id IN (SELECT id FROM chain) AND kind = 'purchase' AND ${standing}) AS refunded
     FROM chain HAVING count(*) > 0`,
    [input.upgrades, input.accountId],
  );
  const [base] = rows;
  if (base === undefined) return { kind: 'unknown_order' };
  if (base.status !== 'paid') return { kind: 'not_upgradable', reason: 'not_paid' };
  if (base.refunded) return { kind: 'not_upgradable', reason: 'refunded' };
  if (base.superseded) return { kind: 'not_upgradable', reason: 'already_upgraded' };
  const { plan } = input;
  if (plan.priceVnd <= base.priceVnd || plan.budget <= base.budget)
    return { kind: 'not_upgradable', reason: 'not_dearer' };
  return {
    priceVnd: plan.priceVnd - base.priceVnd,
    budget: plan.budget - base.budget,
    validDays: plan.validDays,
  };
}

/** Serialises the purchases of an account until the transaction ends. Taken before the lock of any of its orders. */
export async function lockPurchases(client: ClientBase, accountId: string): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.order:' || $1, 0))`, [accountId]);
}

/** Writes an order with these terms and a fresh memo code. */
export async function insertOrder(
  client: ClientBase,
  input: {
    accountId: string;
    plan: Plan;
    terms: Terms;
    upgrades: string | null;
    idempotencyKey: string | null;
    lifetimeMs: number;
    bonus?: bigint;
    freeAmount?: boolean;
    giftTo?: string | null;
  },
): Promise<string> {
  const { accountId, plan, terms, upgrades, idempotencyKey, lifetimeMs } = input;
  const id = uuidv7();
  // There are a thousand million codes: a second attempt is rare, a fifth means another fault.
  for (let attempt = 0; attempt < 5; attempt++) {
    const { rowCount } = await client.query(
      `INSERT INTO purchase_order (id, account_id, plan_id, plan_name, memo, price_vnd, budget, valid_days, upgrades,
                                   idempotency_key, expires_at, bonus, free_amount, gift_to)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + $11 * interval '1 millisecond', $12, $13, $14)
       ON CONFLICT (memo) DO NOTHING`,
      [
        id,
        accountId,
        plan.id,
        plan.name,
        createMemo(),
        terms.priceVnd,
        terms.budget,
        terms.validDays,
        upgrades,
        idempotencyKey,
        lifetimeMs,
        input.bonus ?? 0n,
        input.freeAmount ?? false,
        input.giftTo ?? null,
      ],
    );
    if (rowCount === 1) return id;
  }
  throw new Error('no free memo code was found');
}
