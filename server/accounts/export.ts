import type { Pool } from 'pg';
import { listArchivedMonths } from '../billing/archive/archived-months.ts';
import { readAttributions } from '../billing/reads/attributed-usage.ts';
import { readLedger } from '../billing/reads/usage.ts';
import { formatPrice, formatUsd } from '../core/money.ts';
import { cost, type UnitPrices } from '../core/price.ts';

/**
 * The export of an account: everything that is stored about it and is its holder's, as lines of JSON, a record each with
 * its `type`. No secret is in it. Amounts are exact decimal strings, and written nowhere as numbers.
 */

/** Amounts of pico-USD as decimal USD, exact: a product, because a quotient would be rounded. */
const usd = (column: string): string => `trim_scale(${column} * 0.000000000001)::text`;

/** One query for each kind of record, with the account's id. Columns are named one by one, so that no secret joins. */
const records: readonly (readonly [type: string, text: string])[] = [
  ['account', 'SELECT id, name, email, status, attribution, created_at FROM account WHERE id = $1'],
  ['company', 'SELECT name, tax_code, address FROM account_company WHERE account_id = $1'],
  [
    'member',
    `SELECT u.id, u.name, u.email, u.locale, m.role, m.created_at FROM member m JOIN app_user u ON u.id = m.user_id
     WHERE m.account_id = $1 ORDER BY m.created_at, u.id`,
  ],
  [
    'invitation',
    `SELECT email, role, created_at, expires_at, accepted_at, revoked_at FROM invitation WHERE account_id = $1
     ORDER BY created_at, id`,
  ],
  [
    'key',
    `SELECT id, name, prefix, last4, models, ${usd('limit_day')} AS limit_day_usd, ${usd('limit_month')} AS limit_month_usd,
            ${usd('limit_lifetime')} AS limit_lifetime_usd, requests_per_minute, created_at, expires_at, deleted_at,
            created_by, personal, project_id
     FROM api_key WHERE account_id = $1 ORDER BY created_at, id`,
  ],
  ['project', 'SELECT id, name, created_at, archived_at FROM project WHERE account_id = $1 ORDER BY created_at, id'],
  [
    'access_token',
    `SELECT id, name, prefix, last4, scopes, created_at, expires_at, last_used_at, deleted_at FROM access_token
     WHERE account_id = $1 ORDER BY created_at, id`,
  ],
  [
    'notice_settings',
    `SELECT ${usd('low_balance')} AS low_balance_usd, mail FROM notice_settings WHERE account_id = $1`,
  ],
  ['notice_channel', 'SELECT kind, name, target, kinds, enabled, created_at FROM notice_channel WHERE account_id = $1'],
  [
    'webhook_endpoint',
    'SELECT url, description, events, enabled, created_at, deleted_at FROM webhook_endpoint WHERE account_id = $1',
  ],
  [
    'order',
    `SELECT id, memo, plan_id, plan_name, price_vnd::text, ${usd('budget')} AS budget_usd, ${usd('bonus')} AS bonus_usd,
            valid_days, status, free_amount, gift_to, created_at, expires_at, paid_at,
            (SELECT company FROM order_parties p WHERE p.order_id = o.id) AS company
     FROM purchase_order o WHERE account_id = $1 ORDER BY id`,
  ],
  [
    'payment',
    `SELECT m.order_id, t.amount_vnd::text, t.booked_at, t.bank_reference, t.memo FROM transfer_match m
     JOIN bank_transfer t ON t.id = m.transfer_id JOIN purchase_order o ON o.id = m.order_id
     WHERE o.account_id = $1 ORDER BY t.booked_at, t.id`,
  ],
  [
    'invoice',
    `SELECT i.order_id, i.state, i.number, i.url, i.issued_at,
            (SELECT convert_from(f.content, 'UTF8') FROM order_invoice_file f
              WHERE f.order_id = i.order_id AND f.reference_no = i.reference_no) AS xml
     FROM order_invoice i JOIN purchase_order o ON o.id = i.order_id WHERE o.account_id = $1 ORDER BY i.created_at, i.order_id`,
  ],
  [
    'grant',
    `SELECT id, kind, ${usd('amount')} AS amount_usd, ${usd('spent')} AS spent_usd, ${usd('expired')} AS expired_usd,
            ${usd('held')} AS held_usd, expires_at, reason, created_at FROM "grant" WHERE account_id = $1 ORDER BY created_at, id`,
  ],
  [
    'batch',
    `SELECT id, form, endpoint, state, key_id, lines, succeeded, errored, canceled, expired, ${usd('bound')} AS bound_usd,
            ${usd('charged')} AS charged_usd, created_at, expires_at, ended_at, settled_at
     FROM vendor_batch WHERE account_id = $1 ORDER BY id`,
  ],
  [
    'batch_file',
    'SELECT id, endpoint, key_id, bytes::text, lines, created_at, deleted_at FROM vendor_batch_file WHERE account_id = $1 ORDER BY id',
  ],
  [
    'notice',
    'SELECT kind, subject, facts, created_at, cleared_at FROM notice WHERE account_id = $1 ORDER BY created_at, id',
  ],
];

/** Entries of the ledger per query: a slow reader holds a page, never a connection. */
const pageSize = 250;

/** The lines of an export, in pieces. `nextTurn` lets other work go first. */
export async function* exportAccount(
  pool: Pool,
  accountId: string,
  nextTurn: () => Promise<void>,
): AsyncGenerator<string> {
  yield lineOf('export', { account_id: accountId, format: 1, created_at: new Date() });
  for (const [type, text] of records) {
    await nextTurn();
    const { rows } = await pool.query<Record<string, unknown>>(text, [accountId]);
    if (rows.length > 0) yield rows.map((row) => lineOf(type, row)).join('');
  }
  for (const { month, archivedAt } of await listArchivedMonths(pool))
    yield lineOf('archived_month', { month, archived_at: archivedAt, note: 'entries of the ledger are in an archive' });
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readLedger>> = await readLedger(pool, { accountId, limit: pageSize, after });
    const ids = page.items.map(({ requestId }) => requestId);
    const noted = await readAttributions(pool, accountId, ids);
    await nextTurn();
    if (page.items.length > 0)
      yield page.items
        .map(
          ({ prices, cost: came, charged, requestId, createdAt, keyId, model, protocol, usage, outcome, ...entry }) =>
            lineOf('ledger_entry', {
              request_id: requestId,
              created_at: createdAt,
              key_id: keyId,
              model,
              protocol,
              usage,
              prices: pricesOf(prices),
              ...(entry.variant === null ? {} : { variant: entry.variant }),
              // With the pools they make up the cost.
              ...(entry.units.length === 0
                ? {}
                : {
                    units: entry.units.map(({ unit, count, price }) => ({ unit, count, price_usd: formatUsd(price) })),
                  }),
              ...(entry.lines.length === 0
                ? {}
                : {
                    lines: entry.lines.map((line) => ({
                      model: line.model,
                      usage: line.usage,
                      prices: pricesOf(line.price),
                      cost_usd: formatUsd(cost(line.usage, line.price)),
                    })),
                  }),
              cost_usd: formatUsd(came),
              charged_usd: formatUsd(charged),
              outcome,
              usage_source: entry.usageSource,
              latency_ms: entry.latencyMs,
              ...noted.get(requestId),
            }),
        )
        .join('');
    after = page.next;
  } while (after !== null);
}

function pricesOf({ input, cacheHit, cacheWrite5m, cacheWrite1h, output }: UnitPrices): Record<string, string> {
  const pools = { input, cacheHit, cacheWrite5m, cacheWrite1h, output };
  return Object.fromEntries(Object.entries(pools).map(([pool, price]) => [pool, formatPrice(price)]));
}

function lineOf(type: string, record: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify({ type, ...record })}\n`;
}
