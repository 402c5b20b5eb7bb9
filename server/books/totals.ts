import type { ClientBase } from 'pg';

/**
 * Everything before a moment, by account and kind of budget, as it is known now. A month is the difference of two of these,
 * so every line of it adds up, and what becomes known later is a line of the next month.
 *
 * VND follow each purchase's own rate: its price times the part of its budget, cut to whole VND; what cutting leaves goes
 * with the last of the budget. `net` is the same of the price without the VAT of the day of the sale.
 */

/** Whose budget, and how it came: `own` and `probe` are the operator's use, however it was given. */
export const budgetKinds = ['bought', 'trial', 'bonus', 'given', 'own', 'probe'] as const;
export type BudgetKind = (typeof budgetKinds)[number];

/** What moves a budget. `opening` + added - used - expired - refunded - undone = `closing`. */
export const movements = ['added', 'used', 'expired', 'refunded', 'undone'] as const;

export type Moved = Record<(typeof movements)[number], bigint>;

/** Whole VND at the bank and owed. */
export const cashMovements = ['received', 'sold', 'undone', 'credited', 'sent'] as const;
export type CashMoved = Record<(typeof cashMovements)[number], bigint>;

/** Of what is owed back at the end: what it is. */
export const owedParts = ['surplus', 'partPayments', 'withoutOrder', 'unassigned', 'toSend'] as const;
export type OwedParts = Record<(typeof owedParts)[number], bigint>;

/** Credit notes for budget that was used: they take back income. VND with and without VAT. */
export interface Allowed {
  gross: bigint;
  net: bigint;
}

export interface AccountTotals {
  /** Null: money that nobody has been found for. */
  accountId: string | null;
  /** Pico-USD. */
  budgets: Record<BudgetKind, Moved>;
  /** Of bought budget. */
  vnd: Moved;
  netVnd: Moved;
  allowed: Allowed;
  cash: CashMoved;
}

const zone = 'Asia/Ho_Chi_Minh';

/** The operator's own accounts are those that an operator owns. Probes measure uptime. */
export const parties = `SELECT a.id, CASE WHEN a.kind = 'probe' THEN 'probe'
    WHEN EXISTS (SELECT FROM member m JOIN app_user u ON u.id = m.user_id
                 WHERE m.account_id = a.id AND m.role = 'owner' AND (u.operator OR u.operator_role IS NOT NULL)) THEN 'own'
    ELSE 'customer' END AS party FROM account a`;

/** What a grant is in the books; `g` is the grant and `p` its account's party. */
export const kindOf = (
  kind: string,
): string => `CASE WHEN ${kind} = 'purchase' THEN 'bought' WHEN p.party <> 'customer' THEN p.party
  WHEN ${kind} IN ('trial', 'bonus') THEN ${kind} ELSE 'given' END`;

/** The VAT in a price of that moment, by the operator's rules. */
export const vatOf = (price: string, at: string): string =>
  `coalesce((SELECT round(${price}::numeric * r.sales_vat / (10000 + r.sales_vat)) FROM tax_rule r
    WHERE r.valid_from <= (${at} AT TIME ZONE '${zone}')::date ORDER BY r.valid_from DESC, r.created_at DESC, r.id DESC LIMIT 1), 0)`;

/** The VAT in a part of an order's price, rounded up to whole VND. */
export const withVat = (vnd: string): string =>
  `div(${vnd} * ${vatOf('o.price_vnd', 'o.paid_at')} + o.price_vnd - 1, o.price_vnd)`;

/** Refunds, and each that was undone once more below zero, at the moment of its undo. */
const refundMoves = `(SELECT r.*, r.created_at AS at, 1 AS sign FROM refund r
  UNION ALL SELECT r.*, u.undone_at, -1 FROM refund r JOIN refund_undone u ON u.refund_id = r.id)`;

/** Of a purchase: its VND for a part of its budget. */
const part = (price: string, of: string): string => `div(${price} * ${of}, amount)`;

/** Movements of VND of one price (`price` or `net`). The last of a budget takes what cutting has left. */
const vndOf = (price: string, refunded: string): string => {
  // What cutting has left may have gone back with a refund, while another was undone.
  const used = `least(${part(price, 'used')}, ${price} - ${part(price, 'expired')} - ${refunded})`;
  const expired = part(price, 'expired');
  const rest = `CASE WHEN used + expired + refunded = amount THEN ${price} - ${used} - ${expired} - ${refunded} ELSE 0 END`;
  return `${price} AS ${price}_added, ${used} + CASE WHEN expired = 0 THEN ${rest} ELSE 0 END AS ${price}_used,
    ${expired} + CASE WHEN expired > 0 THEN ${rest} ELSE 0 END AS ${price}_expired, ${refunded} AS ${price}_refunded`;
};

/** `$1`: the moment. */
const budgetsBefore = `
WITH p AS (${parties}
), refunded AS (
  SELECT account_id, grant_id, sum(budget) AS budget, sum(gross) AS gross, sum(net) AS net FROM (
    SELECT r.holder_id AS account_id, r.grant_id, sign * r.budget AS budget, sign * r.unused_vnd AS gross,
           sign * (r.unused_vnd - ${withVat('r.unused_vnd')}) AS net
    FROM ${refundMoves} AS r JOIN purchase_order o ON o.id = r.order_id WHERE r.budget > 0 AND r.at < $1
    UNION ALL SELECT holder_id, bonus_grant_id, sign * bonus, 0, 0 FROM ${refundMoves} AS r WHERE bonus > 0 AND at < $1) AS each
  GROUP BY 1, 2
), moved AS (
  SELECT account_id, grant_id, sum(amount) FILTER (WHERE kind = 'charge') AS used, sum(amount) FILTER (WHERE kind = 'expire') AS ended
  FROM (SELECT account_id, grant_id, kind, amount FROM posting WHERE created_at < $1
        UNION ALL SELECT account_id, grant_id, 'charge', amount FROM archived_charge) AS posted
  GROUP BY 1, 2
), sale AS (
  -- A gift that waits is sold and has no grant yet.
  SELECT coalesce(g.account_id, o.account_id) AS account_id, g.id AS grant_id, coalesce(o.budget, g.amount)::numeric AS amount,
         coalesce(o.price_vnd, 0)::numeric AS price, coalesce(o.price_vnd - ${vatOf('o.price_vnd', 'o.paid_at')}, 0) AS net,
         coalesce(o.paid_at, g.created_at) AS at
  FROM (SELECT * FROM "grant" WHERE kind = 'purchase') AS g
  FULL JOIN (SELECT * FROM purchase_order WHERE status = 'paid') AS o ON g.source_ref = 'order:' || o.id
), bought AS (
  SELECT s.*, coalesce(m.used, 0) AS used, coalesce(m.ended, 0) - coalesce(r.budget, 0) AS expired,
         coalesce(r.budget, 0) AS refunded, coalesce(r.gross, 0) AS refunded_gross, coalesce(r.net, 0) AS refunded_net
  FROM sale s LEFT JOIN moved m USING (account_id, grant_id) LEFT JOIN refunded r USING (account_id, grant_id)
  -- What moved before the moment was there.
  WHERE s.at < $1 OR m.grant_id IS NOT NULL
), line AS (
  SELECT account_id, 'bought' AS kind, amount AS added, used, expired, refunded, 0::numeric AS undone,
         ${vndOf('price', 'refunded_gross')}, 0::numeric AS price_undone, ${vndOf('net', 'refunded_net')}, 0::numeric AS net_undone
  FROM bought
  UNION ALL
  SELECT coalesce(holder_id, account_id), 'bought', budget, 0, 0, 0, CASE WHEN undone_at < $1 THEN budget ELSE 0 END,
         price, 0, 0, 0, CASE WHEN undone_at < $1 THEN price ELSE 0 END, net, 0, 0, 0, CASE WHEN undone_at < $1 THEN net ELSE 0 END
  FROM (SELECT *, price_vnd::numeric AS price, price_vnd - ${vatOf('price_vnd', 'paid_at')} AS net FROM sale_undone WHERE paid_at < $1) AS u
  UNION ALL
  SELECT g.account_id, ${kindOf('g.kind')}, g.amount, coalesce(m.used, 0), coalesce(m.ended, 0) - coalesce(r.budget, 0),
         coalesce(r.budget, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
  FROM "grant" g JOIN p ON p.id = g.account_id LEFT JOIN moved m ON m.account_id = g.account_id AND m.grant_id = g.id
  LEFT JOIN refunded r ON r.account_id = g.account_id AND r.grant_id = g.id
  WHERE g.kind <> 'purchase' AND g.source_ref NOT LIKE 'undone:%' AND (g.created_at < $1 OR m.grant_id IS NOT NULL)
  UNION ALL
  SELECT u.account_id, ${kindOf('u.kind')}, u.amount, 0, 0, 0, CASE WHEN u.undone_at < $1 THEN u.amount ELSE 0 END,
         0, 0, 0, 0, 0, 0, 0, 0, 0, 0
  FROM grant_undone u JOIN p ON p.id = u.account_id WHERE u.kind = 'bonus' AND u.granted_at < $1
)
SELECT account_id AS "accountId", kind, ${movements.map((name) => `sum(${name})::text AS ${name}`).join(', ')},
       ${['price', 'net'].flatMap((price) => movements.map((name) => `sum(${price}_${name})::bigint::text AS ${price}_${name}`)).join(', ')}
FROM line GROUP BY 1, 2`;

/** Money that came in and is a customer's, as far as anybody knows: not what was reported twice, went elsewhere or was closed. */
const received = `
  SELECT t.id, t.amount_vnd, t.booked_at, coalesce(o.account_id, r.account_id) AS account_id, m.order_id, o.id IS NULL AS unassigned
  FROM bank_transfer t LEFT JOIN transfer_match m ON m.transfer_id = t.id LEFT JOIN purchase_order o ON o.id = m.order_id
  LEFT JOIN transfer_review v ON v.transfer_id = t.id
  LEFT JOIN LATERAL (SELECT transfer_id, account_id FROM refund r WHERE transfer_id = t.id
                     AND NOT EXISTS (SELECT FROM refund_undone u WHERE u.refund_id = r.id) LIMIT 1) AS r ON true
  WHERE t.direction = 'in' AND t.amount_vnd > 0
    AND (m.order_id IS NOT NULL OR r.transfer_id IS NOT NULL
         OR (v.closed_at IS NULL AND v.reason NOT IN ('repeated', 'other_account')))`;

/** Orders that were paid at the moment. */
const soldBefore = `
  SELECT id AS order_id, account_id, price_vnd, paid_at, NULL::timestamptz AS undone_at FROM purchase_order WHERE status = 'paid'
  UNION ALL SELECT order_id, account_id, price_vnd, paid_at, undone_at FROM sale_undone`;

const cashBefore = `
WITH flow AS (
  SELECT account_id, 'received' AS kind, amount_vnd AS vnd FROM (${received}) AS t WHERE booked_at < $1
  UNION ALL SELECT account_id, 'sold', price_vnd FROM (${soldBefore}) AS s WHERE paid_at < $1
  UNION ALL SELECT account_id, 'undone', price_vnd FROM (${soldBefore}) AS s WHERE undone_at < $1
  UNION ALL SELECT account_id, 'credited', sign * amount_vnd FROM ${refundMoves} AS r WHERE kind = 'purchase' AND at < $1
  UNION ALL SELECT r.account_id, 'sent', t.amount_vnd FROM refund_payment x JOIN refund r ON r.id = x.refund_id
            JOIN bank_transfer t ON t.id = x.transfer_id WHERE t.booked_at < $1
)
SELECT account_id AS "accountId", kind, sum(vnd)::text AS vnd FROM flow GROUP BY 1, 2`;

const allowedBefore = `
SELECT r.account_id AS "accountId", sum(sign * r.used_vnd)::text AS gross,
       sum(sign * (r.used_vnd - ${withVat('r.used_vnd')}))::bigint::text AS net
FROM ${refundMoves} AS r JOIN purchase_order o ON o.id = r.order_id WHERE r.kind = 'purchase' AND r.at < $1 GROUP BY 1`;

/** What is owed back, order by order and transfer by transfer: beside the flows, by another way. */
const owedBefore = `
WITH got AS (SELECT * FROM (${received}) AS t WHERE booked_at < $1
), sent AS (
  SELECT r.kind, r.order_id, r.transfer_id, t.amount_vnd AS vnd FROM refund_payment x JOIN refund r ON r.id = x.refund_id
  JOIN bank_transfer t ON t.id = x.transfer_id WHERE t.booked_at < $1
), paid AS (
  SELECT order_id, sum(price_vnd) AS price FROM (${soldBefore}) AS s WHERE paid_at < $1 AND coalesce(undone_at, 'infinity') >= $1 GROUP BY 1
), of_order AS (
  SELECT order_id, coalesce(g.vnd, 0) - coalesce(p.price, 0) - coalesce(s.vnd, 0) AS vnd, p.price IS NOT NULL AS is_paid
  FROM (SELECT order_id, sum(amount_vnd) AS vnd FROM got WHERE order_id IS NOT NULL GROUP BY 1) AS g
  FULL JOIN paid p USING (order_id)
  FULL JOIN (SELECT coalesce(m.order_id, sent.order_id) AS order_id, sum(vnd) AS vnd FROM sent
             LEFT JOIN transfer_match m ON m.transfer_id = sent.transfer_id
             WHERE kind <> 'purchase' AND coalesce(m.order_id, sent.order_id) IS NOT NULL GROUP BY 1) AS s USING (order_id)
)
SELECT coalesce(sum(vnd) FILTER (WHERE is_paid), 0)::text AS surplus,
       coalesce(sum(vnd) FILTER (WHERE NOT is_paid AND o.status IN ('pending', 'partial', 'paid')), 0)::text AS "partPayments",
       coalesce(sum(vnd) FILTER (WHERE NOT is_paid AND o.status NOT IN ('pending', 'partial', 'paid')), 0)::text AS "withoutOrder",
       ((SELECT coalesce(sum(amount_vnd), 0) FROM got WHERE unassigned)
        - (SELECT coalesce(sum(vnd), 0) FROM sent LEFT JOIN transfer_match m ON m.transfer_id = sent.transfer_id
           WHERE kind <> 'purchase' AND coalesce(m.order_id, sent.order_id) IS NULL))::text AS unassigned,
       ((SELECT coalesce(sum(sign * amount_vnd), 0) FROM ${refundMoves} AS r WHERE kind = 'purchase' AND at < $1)
        - (SELECT coalesce(sum(vnd), 0) FROM sent WHERE kind = 'purchase'))::text AS "toSend"
FROM of_order x JOIN purchase_order o ON o.id = x.order_id`;

/**
 * What is left of every grant now, and what left it since: the balance of the moment by another way than the movements
 * before it. Undone purchases count as what they were while they were.
 */
const leftAt = `
WITH p AS (${parties}
), since AS (
  SELECT account_id, grant_id, sum(amount) AS amount FROM posting WHERE created_at >= $1 GROUP BY 1, 2
)
SELECT kind, sum(amount)::text AS amount FROM (
  SELECT ${kindOf('g.kind')} AS kind, g.amount - g.spent - g.expired + coalesce(s.amount, 0) AS amount
  FROM "grant" g JOIN p ON p.id = g.account_id LEFT JOIN since s ON s.account_id = g.account_id AND s.grant_id = g.id
  LEFT JOIN purchase_order o ON g.kind = 'purchase' AND o.status = 'paid' AND g.source_ref = 'order:' || o.id
  WHERE g.source_ref NOT LIKE 'undone:%'
    AND (coalesce(o.paid_at, g.created_at) < $1 OR g.spent + g.expired > coalesce(s.amount, 0))
  UNION ALL
  SELECT 'bought', o.budget FROM purchase_order o WHERE o.status = 'paid' AND o.paid_at < $1 AND NOT EXISTS (
    SELECT FROM "grant" g WHERE g.kind = 'purchase' AND g.account_id = coalesce(o.receiver_id, o.account_id) AND g.source_ref = 'order:' || o.id)
  UNION ALL SELECT 'bought', budget FROM sale_undone WHERE paid_at < $1 AND undone_at >= $1
  UNION ALL SELECT ${kindOf('u.kind')}, u.amount FROM grant_undone u JOIN p ON p.id = u.account_id
            WHERE u.kind = 'bonus' AND u.granted_at < $1 AND u.undone_at >= $1
) AS open GROUP BY 1`;

const noMoved = (): Moved => ({ added: 0n, used: 0n, expired: 0n, refunded: 0n, undone: 0n });

export const noTotals = (accountId: string | null): AccountTotals => ({
  accountId,
  budgets: Object.fromEntries(budgetKinds.map((kind) => [kind, noMoved()])) as AccountTotals['budgets'],
  vnd: noMoved(),
  netVnd: noMoved(),
  allowed: { gross: 0n, net: 0n },
  cash: { received: 0n, sold: 0n, undone: 0n, credited: 0n, sent: 0n },
});

/** Everything before a moment, by account. All of it must be one snapshot (`REPEATABLE READ`). */
export async function readAccountTotals(client: ClientBase, before: Date): Promise<Map<string | null, AccountTotals>> {
  const totals = new Map<string | null, AccountTotals>();
  const of = (accountId: string | null): AccountTotals => {
    const known = totals.get(accountId) ?? noTotals(accountId);
    totals.set(accountId, known);
    return known;
  };
  const { rows: lines } = await client.query<Record<string, string> & { accountId: string; kind: BudgetKind }>(
    budgetsBefore,
    [before],
  );
  for (const line of lines) {
    const account = of(line.accountId);
    for (const name of movements) {
      account.budgets[line.kind][name] += BigInt(line[name] ?? '0');
      account.vnd[name] += BigInt(line[`price_${name}`] ?? '0');
      account.netVnd[name] += BigInt(line[`net_${name}`] ?? '0');
    }
  }
  const { rows: flows } = await client.query<{ accountId: string | null; kind: keyof CashMoved; vnd: string }>(
    cashBefore,
    [before],
  );
  for (const { accountId, kind, vnd } of flows) of(accountId).cash[kind] += BigInt(vnd);
  const { rows: allowed } = await client.query<{ accountId: string; gross: string; net: string }>(allowedBefore, [
    before,
  ]);
  for (const { accountId, gross, net } of allowed) of(accountId).allowed = { gross: BigInt(gross), net: BigInt(net) };
  return totals;
}

/** What is owed back at a moment, by what it is. */
export async function readOwedParts(client: ClientBase, before: Date): Promise<OwedParts> {
  const { rows } = await client.query<Record<keyof OwedParts, string>>(owedBefore, [before]);
  const [row] = rows;
  if (row === undefined) throw new Error('what is owed was read and gave no row');
  return Object.fromEntries(owedParts.map((name) => [name, BigInt(row[name])])) as OwedParts;
}

/** What was left of each kind of budget at a moment, by the grants' own figures. */
export async function readLeft(client: ClientBase, before: Date): Promise<Record<BudgetKind, bigint>> {
  const { rows } = await client.query<{ kind: BudgetKind; amount: string }>(leftAt, [before]);
  const left = Object.fromEntries(budgetKinds.map((kind) => [kind, 0n])) as Record<BudgetKind, bigint>;
  for (const { kind, amount } of rows) left[kind] = BigInt(amount);
  return left;
}

/** The sum over accounts. */
export function sumTotals(accounts: Iterable<AccountTotals>): AccountTotals {
  const sum = noTotals(null);
  for (const account of accounts) addTotals(sum, account, 1n);
  return sum;
}

/** `a - b`. */
export function subtractTotals(a: AccountTotals, b: AccountTotals): AccountTotals {
  const difference = noTotals(a.accountId);
  addTotals(difference, a, 1n);
  addTotals(difference, b, -1n);
  return difference;
}

function addTotals(sum: AccountTotals, other: AccountTotals, sign: bigint): void {
  const add = <Names extends string>(to: Record<Names, bigint>, from: Record<Names, bigint>): void => {
    for (const name of Object.keys(to) as Names[]) to[name] += sign * from[name];
  };
  for (const kind of budgetKinds) add(sum.budgets[kind], other.budgets[kind]);
  add(sum.vnd, other.vnd);
  add(sum.netVnd, other.netVnd);
  add(sum.allowed as never, other.allowed as never);
  add(sum.cash, other.cash);
}

/** What is left after the movements. */
export const leftOf = (moved: Moved): bigint =>
  moved.added - moved.used - moved.expired - moved.refunded - moved.undone;

/** What is owed back after the movements. */
export const owedOf = (cash: CashMoved): bigint => cash.received - cash.sold + cash.undone + cash.credited - cash.sent;

/** Totals as text, and back. */
export function totalsToJson(totals: AccountTotals): string {
  return JSON.stringify(totals, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

export function totalsFromJson(stored: unknown): AccountTotals {
  const read = <Shape>(value: Shape): Shape =>
    (typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value).map(([name, each]) => [name, name === 'accountId' ? each : read(each)]),
        )
      : BigInt(value as string)) as Shape;
  return { ...noTotals(null), ...(read(stored) as AccountTotals) };
}
