import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { account, before, grant, insertion, order, type Row, rows, type Statement, user } from './rows.ts';

// The rules that the database enforces by itself, whatever its callers do.

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Runs statements in a transaction that never happens, and returns the error of the last one, or null. */
async function attempt(...statements: (string | Statement)[]): Promise<Row | null> {
  const client = await database.pool.connect();
  try {
    await client.query('BEGIN');
    for (const statement of statements.slice(0, -1)) await client.query(statement as string);
    await client.query(statements.at(-1) as string);
    return null;
  } catch (error) {
    return error as Row;
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

function attemptRow(table: string, change: Row = {}): Promise<Row | null> {
  return attempt(...before(table), insertion(table, { ...rows[table]?.(), ...change }));
}

const pools = ['input', 'cache_hit', 'cache_write_5m', 'cache_write_1h', 'output'];
const prices = pools.map((pool) => `price_${pool}`);

function all(names: string[], value: bigint): Row {
  return Object.fromEntries(names.map((name) => [name, value]));
}

/** A tier as the database stores it. */
const tier = { abovePromptTokens: 5, input: 10, cacheHit: 1, cacheWrite5m: 10, cacheWrite1h: 10, output: 50 };

/** A clock as the database stores it, and one with a change of its only window. */
const clock = (change: object = {}, more: object = {}) =>
  JSON.stringify({
    timeZone: 'Asia/Shanghai',
    exceptDates: ['2027-01-01'],
    windows: [
      {
        days: ['mon'],
        hours: ['09:00-12:00', '22:00-06:00'],
        input: 10,
        cacheHit: 1,
        cacheWrite5m: 10,
        cacheWrite1h: 10,
        output: 50,
        tiers: [tier],
        ...change,
      },
    ],
    ...more,
  });

/** Variants as the database stores them; without changes, one. */
function variants(...changes: object[]): string {
  const { abovePromptTokens: _bound, ...set } = tier;
  const list = changes.length === 0 ? [{}] : changes;
  return JSON.stringify(list.map((change) => ({ name: 'flex', ...set, tiers: [tier], ...change })));
}

/** Units of an entry as the database stores them; without changes, three searches at 7 pico-USD. */
function units(...changes: object[]): string {
  const lines = changes.length === 0 ? [{}] : changes;
  return JSON.stringify(lines.map((change) => ({ unit: 'search', count: 3, price: 7, ...change })));
}

const runPools = { input: 1, cacheHit: 2, cacheWrite5m: 3, cacheWrite1h: 4, output: 5 };

/** Runs of other models of an entry as the database stores them; without changes, one of 55 pico-USD. */
function lines(...changes: object[]): string {
  const runs = changes.length === 0 ? [{}] : changes;
  return JSON.stringify(runs.map((change) => ({ model: 'other', tokens: runPools, prices: runPools, ...change })));
}

const huge = 9_000_000_000_000_000_000n;

// For each CHECK, rows that it alone has to stop.
const refused: [table: string, constraint: string, ...changes: Row[]][] = [
  ['account', 'account_status', { status: 'closed' }],
  ['account', 'account_kind', { kind: 'robot' }],
  ['account', 'account_attribution', { attribution: 'everything' }],
  ['account', 'account_time_zone', { time_zone: 'Asia/Nowhere' }, { time_zone: '' }],
  ['account_limit', 'account_limit_limits', { limit_week: 0n }, { limit_day: -1n }, { limit_lifetime: 0n }],
  [
    'account_limit',
    'account_limit_amounts',
    { held: -1n },
    { charged: 5n, day_charged: 5n },
    { charged: 5n, week_charged: 6n },
    { charged: 5n, month_charged: 6n },
    { charged: 5n, week_charged: -1n },
  ],
  ['member', 'member_role', { role: 'god' }],
  ['api_key', 'api_key_limits', { limit_day: 0n }, { limit_month: -1n }, { limit_lifetime: 0n, limit_day: 5n }],
  ['api_key', 'api_key_limit_week', { limit_week: 0n }],
  [
    'api_key',
    'api_key_burn',
    { burn_limit: 5n },
    { burn_minutes: 5 },
    { burn_limit: 0n, burn_minutes: 5 },
    { burn_limit: 5n, burn_minutes: 0 },
    { burn_limit: 5n, burn_minutes: 1_441 },
  ],
  ['shared_limit', 'shared_limit_kind', { kind: 'team' }],
  ['shared_limit', 'shared_limit_limits', { limit_month: 0n }, { limit_lifetime: -1n }],
  [
    'shared_limit',
    'shared_limit_amounts',
    { kind: 'project', held: -1n },
    { kind: 'project', month_charged: -1n },
    { kind: 'project', earlier_charged: -1n },
    { kind: 'project', charged: 1n, month_charged: 1n, earlier_charged: 1n },
  ],
  ['shared_limit_month', 'shared_limit_month_charged', { charged: 0n }],
  ['key_project', 'key_project_charged', { from_charged: -1n }, { to_charged: 0n }],
  ['api_key', 'api_key_personal', { personal: true }],
  ['api_key', 'api_key_hash', { hash: Buffer.alloc(31) }],
  ['api_key', 'api_key_requests_per_minute', { requests_per_minute: 0 }, { requests_per_minute: -1 }],
  ['api_key', 'api_key_pace', { tokens_per_minute: 0 }, { max_concurrent: 0 }, { max_concurrent: -1 }],
  ['account_limit', 'account_limit_pace', { requests_per_minute: 0 }, { tokens_per_minute: 0 }, { max_concurrent: 0 }],
  ['token_rate', 'token_rate_counts', { counts: [] }, { counts: Array.from({ length: 61 }, () => 0n) }],
  ['running_requests', 'running_requests_counts', { counts: [] }, { processes: [] }],
  ['request_rate', 'request_rate_counts', { counts: [] }, { counts: Array.from({ length: 61 }, () => 0) }],
  ['access_token', 'access_token_hash', { hash: Buffer.alloc(0) }],
  ['access_token', 'access_token_scopes', { scopes: ['read', 'everything'] }, { scopes: [null] }],
  [
    'key_spend',
    'key_spend_burn',
    { charged: 0n, month_charged: 0n, day_charged: 0n, burn_seconds: 1, burn_charged: [0n] },
  ],
  [
    'key_spend',
    'key_spend_amounts',
    { held: -1n },
    { day_charged: -1n },
    { day_charged: 3n },
    { month_charged: 4n },
    { charged: -1n, month_charged: -2n, day_charged: -3n },
  ],
  ['grant', 'grant_kind', { kind: 'gift' }],
  ['grant', 'grant_amount', { amount: 0n }],
  ['grant', 'grant_parts', { spent: -1n }, { held: -1n, spent: 1n }, { expired: -5n, held: 5n }],
  ['grant', 'grant_cap', { spent: 11n }, { spent: 4n, held: 4n, expired: 3n }],
  ['hold', 'hold_amount', { amount: -1n }],
  ['hold', 'hold_escrow_covered', { escrow: true, uncovered: true }],
  [
    'hold',
    'hold_parts',
    { grant_amounts: [5n] },
    { grant_ids: [grant, null] },
    { grant_amounts: [5n, null] },
    { grant_amounts: [6n, -1n] },
    { grant_ids: [] },
  ],
  [
    'ledger_entry',
    'ledger_pools',
    ...pools.flatMap((pool) => [
      { ...free(), [pool]: -1n },
      { ...free(), [pool]: 100_000_001n },
    ]),
  ],
  [
    'ledger_entry',
    'ledger_prices',
    ...prices.flatMap((price) => [
      { ...empty(), [price]: -1n },
      { ...empty(), [price]: 10_000_000_001n },
    ]),
  ],
  [
    'ledger_entry',
    'ledger_cost',
    { cost: 774n, charged: 774n },
    { cost: 772n, charged: 772n },
    { output: 12n },
    { price_cache_hit: 2n },
    { units: units() },
    { lines: lines() },
    { lines: '{}' },
    { lines: '[]' },
    { lines: '[1]' },
    { lines: lines({ model: '' }) },
    { lines: lines({ model: 1 }) },
    { lines: lines({ tokens: {} }) },
    { lines: lines({ tokens: { ...runPools, output: 100_000_001 } }) },
    { lines: lines({ tokens: { ...runPools, output: 1.5 } }) },
    { lines: lines({ prices: { ...runPools, output: -1 } }) },
    { lines: lines({ prices: { ...runPools, output: 10_000_000_001 } }) },
    { lines: lines(...Array.from({ length: 33 }, () => ({}))) },
  ],
  // The prompt of the row has 17 tokens.
  [
    'ledger_entry',
    'ledger_further',
    { tier_above: 17n },
    { tier_above: 0n },
    { tier_up_to: 16n },
    { tier_up_to: 0n },
    { price_window: 'mon 09:00-12:00 UTC' },
    { priced_at: '2026-11-23T01:00:00Z', price_window: 'moon 09:00-12:00 UTC' },
    { priced_at: '2026-11-23T01:00:00Z', price_window: '' },
    { units: '{}' },
    { units: '[]' },
    { units: '[1]' },
    { units: units({ unit: 'smile' }) },
    { units: units({ count: 0 }) },
    { units: units({ count: 100_001 }) },
    { units: units({ count: 1.5 }) },
    { units: units({ price: -1 }) },
    { units: units({ price: 10_000_000_000_001 }) },
    { units: units({}, {}) },
  ],
  ['ledger_entry', 'ledger_charge', { charged: 774n }, { charged: 772n }, { charged: -1n, free_after: 0n }],
  ['ledger_entry', 'ledger_free', { free_after: -1n }],
  ['ledger_entry', 'ledger_upstream_cost', { upstream_cost: -1n }],
  ['ledger_entry', 'ledger_outcome', { outcome: 'fine' }],
  ['ledger_entry', 'ledger_usage_source', { usage_source: 'guessed' }],
  ['ledger_entry', 'ledger_protocol', { protocol: 'smtp' }],
  ['ledger_entry', 'ledger_times', { latency_ms: -1 }, { time_to_first_byte_ms: -1 }],
  ['posting', 'posting_kind', { kind: 'gift', request_id: null }],
  ['posting', 'posting_amount', { amount: 0n }],
  ['posting', 'posting_request', { request_id: null }, { kind: 'expire' }],
  [
    'price',
    'price_bounds',
    { output: -1n },
    { output: 10_000_000_001n },
    { input: 10_000_000_001n },
    { cache_write_5m: -1n },
    { cache_write_1h: 10_000_000_001n },
    { cache_hit: -1n },
  ],
  ['price', 'price_cache_hit', { cache_hit: 10n }, { cache_hit: 11n }, { input: 0n, cache_hit: 1n }],
  [
    'price',
    'price_tiers',
    { tiers: '{}' },
    { tiers: '[1]' },
    { tiers: JSON.stringify([{ ...tier, cacheHit: 10 }]) },
    { tiers: JSON.stringify([{ ...tier, output: 10_000_000_001 }]) },
    { tiers: JSON.stringify([{ ...tier, output: -1 }]) },
    { tiers: JSON.stringify([{ ...tier, output: 1.5 }]) },
    { tiers: JSON.stringify([{ ...tier, output: '1' }]) },
    { tiers: JSON.stringify([{ ...tier, output: null }]) },
    { tiers: JSON.stringify([{ ...tier, other: 1 }]) },
    { tiers: JSON.stringify([{ ...tier, abovePromptTokens: 0 }]) },
    { tiers: JSON.stringify([tier, tier]) },
    { tiers: JSON.stringify([1, 2, 3, 4, 5].map((abovePromptTokens) => ({ ...tier, abovePromptTokens }))) },
  ],
  [
    'price',
    'price_clock',
    { clock: '[]' },
    { clock: '{}' },
    { clock: clock({}, { timeZone: "'; --" }) },
    { clock: clock({}, { exceptDates: ['soon'] }) },
    { clock: clock({}, { windows: [] }) },
    { clock: clock({}, { other: 1 }) },
    { clock: clock({ days: [] }) },
    { clock: clock({ days: ['someday'] }) },
    { clock: clock({ hours: ['9-12'] }) },
    { clock: clock({ hours: [] }) },
    { clock: clock({ tiers: [{ ...tier, cacheHit: 10 }] }) },
    { clock: clock({ tiers: null }) },
    { clock: clock({ cacheHit: 10 }) },
    { clock: clock({ output: 10_000_000_001 }) },
    { clock: clock({ output: '1' }) },
    { clock: clock({ output: null }) },
    { clock: clock({ other: 1 }) },
  ],
  [
    'price',
    'price_variants',
    { variants: '{}' },
    { variants: '[]' },
    { variants: variants({}, {}) },
    { variants: variants({ name: '' }) },
    { variants: variants({ name: 'Flex' }) },
    { variants: variants({ name: 'flex+' }) },
    { variants: variants({ name: 1 }) },
    { variants: variants({ tiers: null }) },
    { variants: variants({ tiers: [{ ...tier, cacheHit: 10 }] }) },
    { variants: variants({ cacheHit: 10 }) },
    { variants: variants({ output: 10_000_000_001 }) },
    { variants: variants({ output: '1' }) },
    { variants: variants({ other: 1 }) },
    { variants: variants(...Array.from({ length: 9 }, (_, index) => ({ name: `v${index}` }))) },
  ],
  ['price', 'price_max_prompt', { max_prompt_tokens: 0 }, { max_prompt_tokens: 100_000_001 }],
  [
    'price',
    'price_per_unit',
    { per_unit: '[]' },
    { per_unit: '{"smile": 1}' },
    { per_unit: '{"search": -1}' },
    { per_unit: '{"search": 0.5}' },
    { per_unit: '{"search": "1"}' },
    { per_unit: '{"search": null}' },
    { per_unit: '{"search": 10000000000001}' },
  ],
  [
    'price',
    'price_images',
    { images: '[]' },
    { images: '{}' },
    { images: '{"tokens": {"input": 1, "cacheHit": 0}}' },
    { images: '{"tokens": {"input": 1, "cacheHit": 0, "output": -1}}' },
    { images: '{"tokens": {"input": 1, "cacheHit": 0, "output": 10000000001}}' },
    { images: '{"tokens": {"input": "1", "cacheHit": 0, "output": 1}}' },
    { images: '{"each": []}' },
    { images: '{"each": [{"quality": "high"}]}' },
    { images: '{"each": [{"price": 0.5}]}' },
    { images: '{"each": [{"price": 10000000000001}]}' },
    { images: '{"each": [{"price": 1, "quality": 3}]}' },
    { images: '{"each": [{"price": 1, "upToPixels": 0}]}' },
  ],
  ['route', 'route_cost_images', { cost_images: '[]' }, { cost_images: '{"each": [{"price": 1}]}' }],
  ['route', 'route_cost_per_unit', { cost_per_unit: '[]' }, { cost_per_unit: '{"search": 1}' }],
  ['route', 'route_cost_variants', { cost_variants: '[]' }, { cost_variants: variants() }],
  [
    'ledger_entry',
    'ledger_variant',
    { variant: 'flex' },
    { variant_served: '' },
    { variant_asked: '' },
    { variant_asked: 'Flex' },
    { variant_asked: 'flex', variant: 'a b' },
    { variant_asked: 'flex', variant_served: 'a b' },
    { variant_asked: 'flex', variant_served: 'x'.repeat(65) },
  ],
  ['route', 'route_cost_clock', { cost_clock: '[]' }, { cost_clock: clock() }],
  ['route', 'route_cost_tiers', { cost_tiers: '[1]' }, { cost_tiers: JSON.stringify([tier]) }],
  ['model', 'model_sizes', { context_window: 0 }, { max_output_tokens: 0 }, { context_window: 100_000_001 }],
  ['model', 'model_efforts', { efforts: ['huge'] }, { efforts: ['low', 'High'] }],
  ['model', 'model_reasoning_speed', { reasoning_tokens_per_second: -1 }, { reasoning_tokens_per_second: 10_001 }],
  ['model', 'model_kind', { kind: 'rerank' }, { kind: '' }],
  ['model', 'model_unknown_members', { unknown_members: 'ask' }, { unknown_members: '' }],
  ['upstream', 'upstream_protocol', { protocol: 'smtp' }],
  ['upstream', 'upstream_disconnect', { on_disconnect: 'hope' }],
  ['upstream', 'upstream_country', { country: 'vn' }],
  ['route', 'route_weight', { weight: 0 }],
  [
    'route',
    'route_costs',
    ...pools.map((pool) => `cost_${pool}`).flatMap((cost) => [{ [cost]: -1n }, { [cost]: 10_000_000_001n }]),
  ],
  ['plan', 'plan_amounts', { price_vnd: 0n }, { budget: 0n }, { valid_days: 0 }],
  ['purchase_order', 'order_status', { status: 'lost' }],
  ['purchase_order', 'order_amounts', { price_vnd: 0n }, { budget: -1n }, { valid_days: -1 }],
  ['purchase_order', 'order_paid', { status: 'paid' }, { paid_at: '2026-11-21T00:00:00Z' }],
  ['purchase_order', 'order_bonus', { bonus: -1n }],
  ['purchase_order', 'order_receiver', { receiver_id: '00000000-0000-7000-8000-000000000001' }],
  ['bonus_step', 'bonus_step_bounds', { from_vnd: 0n }, { basis_points: 0 }, { basis_points: 10_001 }],
  ['top_up', 'top_up_single', { id: false }],
  ['top_up', 'top_up_bounds', { min_vnd: 0n }, { max_vnd: 0n }],
  ['code_batch', 'code_batch_bounds', { amount: 0n }, { count: 0 }, { uses: 0 }, { valid_days: 0 }],
  ['redemption_code', 'redemption_code_hash', { hash: Buffer.alloc(31) }],
  ['redemption_code', 'redemption_code_used', { used: -1 }],
  ['order_mail', 'order_mail_kind', { kind: 'gossip' }],
  ['order_mail', 'order_mail_state', { state: 'lost' }],
  ['order_mail', 'order_mail_tries', { tries: -1 }],
  ['order_invoice', 'order_invoice_state', { state: 'lost' }],
  ['order_invoice', 'order_invoice_tries', { tries: -1 }],
  ['order_invoice', 'order_invoice_file_state', { file_state: 'lost' }],
  ['order_invoice', 'order_invoice_file_tries', { file_tries: -1 }],
  ['order_invoice_file', 'order_invoice_file_size', { content: Buffer.alloc(0) }, { content: Buffer.alloc(1_000_001) }],
  ['order_invoice', 'order_invoice_issued', { state: 'issued' }, { state: 'issued', number: '1' }],
  ['seller', 'seller_single', { id: false }],
  ['bank_transfer', 'transfer_direction', { direction: 'sideways' }],
  ['bank_transfer', 'transfer_amount', { amount_vnd: -1n }],
  ['invitation', 'invitation_role', { role: 'owner' }],
  [
    'vendor_usage',
    'vendor_usage_figures',
    ...['requests', 'input', 'cache_hit', 'cache_write', 'output', 'cost'].map((name) => ({ [name]: -1n })),
  ],
  ['vendor_usage', 'vendor_usage_source', { source: 'hearsay' }],
  ['archived_month', 'archived_month_first_day', { month: '2020-01-02' }],
  ['archived_month', 'archived_month_range', { low: grant }, { high: grant }],
  ['archived_month', 'archived_month_counts', { entries: -1n }, { postings: -1n }],
  ['archived_month', 'archived_month_manifest', { manifest: Buffer.alloc(31) }],
  ['archived_sum', 'archived_sum_counts', { requests: 0n }, { upstream_cost: -1n }],
  ['archived_sum', 'archived_sum_cost', { cost: 117n }, { output: 5n }, { units_cost: 8n }],
  ['archived_sum', 'archived_sum_charge', { charged: 117n }, { charged: -1n }],
  ['archived_charge', 'archived_charge_counts', { postings: 0n }, { amount: 0n }],
  ['closed_month', 'closed_month_first_day', { month: '2026-10-02' }],
  ['closed_month', 'closed_month_in_order', { previous: '2026-08-01' }],
  ['closed_month', 'closed_month_margin', { margin: 4n }, { charged: 11n }],
  ['closed_month', 'closed_month_unused', { unused: -1n }],
  ['closed_month', 'closed_month_adds_up', { statement: '{}', digest: Buffer.alloc(32) }, { digest: Buffer.alloc(32) }],
  ['vendor_batch', 'vendor_batch_amounts', { lines: 0 }, { bound: -1n }, { errored: -1 }, { succeeded: 2, expired: 1 }],
  ['vendor_batch', 'vendor_batch_charged', { charged: -1n }, { charged: 10n ** 18n }],
  ['vendor_batch', 'vendor_batch_form', { form: 'poems' }],
  ['vendor_batch', 'vendor_batch_models', { models: '{}' }, { models: '[]' }],
  ['vendor_batch', 'vendor_batch_named', { state: 'in_progress' }, { state: 'ended', seen_at: '2026-11-23' }],
  [
    'vendor_batch',
    'vendor_batch_settled',
    { settled_at: '2026-11-23' },
    { state: 'ended', vendor_id: 'b', settled_at: '2026-11-23' },
  ],
  ['vendor_batch', 'vendor_batch_state', { state: 'lost', vendor_id: 'b' }],
  ['vendor_batch_file', 'vendor_batch_file_amounts', { bytes: -1n }, { lines: 0 }, { bound: -1n }],
  ['vendor_batch_file', 'vendor_batch_file_models', { models: '{}' }, { models: '[]' }],
  ['vendor_batch_line', 'vendor_batch_line_amounts', { digest: Buffer.alloc(1) }, { bound: -1n }, { output: -1 }],
  ['vendor_file', 'vendor_file_period', { last_day: '2026-09-30' }, { version: -1 }, { digest: Buffer.alloc(1) }],
  ['vendor_file', 'vendor_file_undone', { undone_by: 'test' }],
  ['sale_undone', 'sale_undone_amounts', { price_vnd: 0n }, { budget: 0n }],
  ['grant_undone', 'grant_undone_kind', { kind: 'trial' }, { amount: 0n }],
  ['paper_number', 'paper_number_series', { series: 'poems' }, { last: -1n }],
  ['refund', 'refund_kind', { kind: 'gift' }],
  ['refund', 'refund_amounts', { amount_vnd: 0n }, { bonus: -1n }, { unused_vnd: 1n }, { kind: 'purchase' }],
  ['refund', 'refund_of', { transfer_id: null }, { kind: 'surplus' }],
  [
    'refund',
    'refund_postings',
    { bonus: 1n },
    { kind: 'purchase', order_id: order, transfer_id: null, unused_vnd: 1n, budget: 1n },
  ],
  ['statement_digest', 'statement_digest_length', { digest: Buffer.alloc(31) }],
  ['exchange_rate', 'exchange_rate_bounds', { rate: 26_000n }, { period: '2026' }, { source: '' }],
  ['tax_rule', 'tax_rule_bounds', { sales_vat: -1 }, { foreign_vat: 5_001 }, { foreign_income: -1 }],
  ['journal_account', 'journal_account_number', { number: 'a b' }],
  ['throttle', 'throttle_count', { count: 0 }],
  ['machine_login', 'machine_login_hashes', { device_hash: randomBytes(8) }, { user_code_hash: randomBytes(33) }],
  ['machine_login', 'machine_login_machine', { machine: '' }, { machine: 'x'.repeat(101) }],
  ['machine_login', 'machine_login_interval', { interval_seconds: 0 }],
  [
    'machine_login',
    'machine_login_decision',
    { key_name: 'a' },
    { decision: 'maybe' },
    { decision: 'approved' },
    { decision: 'denied' },
    { limit_day: 5n },
  ],
  [
    'machine_login',
    'machine_login_limits',
    { decision: 'approved', user_id: user, account_id: account, key_name: 'a', limit_day: 0n },
  ],
  ['transfer_review', 'review_reason', { reason: 'mood' }],
  [
    'transfer_review',
    'review_surplus',
    { surplus_vnd: 1n },
    { reason: 'surplus' },
    { reason: 'surplus', surplus_vnd: 0n },
  ],
  ['transfer_review', 'review_closed', { closed_at: '2026-11-21T00:00:00Z' }, { closed_by: 'ada' }],
  ['probe_result', 'probe_outcome', { outcome: 'maybe' }],
  ['probe_result', 'probe_protocol', { protocol: 'smtp' }],
  ['probe_result', 'probe_mode', { mode: 'loud' }],
  ['probe_result', 'probe_times', { latency_ms: -1 }, { time_to_first_byte_ms: -1 }],
  ['uptime_hour', 'uptime_counts', { up: -1 }, { down: -1 }, { no_data: -1 }, { latency_ms: -1n }],
  ['uptime_day', 'uptime_counts', { up: -1 }, { down: -1 }, { no_data: -1 }, { latency_ms: -1n }],
  ['probe_result', 'probe_weight', { weight: 0 }, { weight: 1_001 }],
  ['uptime_hour', 'uptime_maintenance', { maintenance: -1 }],
  ['uptime_day', 'uptime_maintenance', { maintenance: -1 }],
  ['incident', 'incident_cause', { cause: 'weather' }],
  ['probe_agent', 'probe_agent_hash', { hash: Buffer.alloc(31) }],
  ['probe_round', 'probe_round_digest', { digest: Buffer.alloc(0) }],
  ['service_span', 'service_span_times', { last_seen_at: '2026-11-20T00:00:00Z' }],
  ['probe_settings', 'probe_settings_one', { id: 2 }],
  ['probe_settings', 'probe_settings_pace', { every_minutes: 0 }, { every_minutes: 1_441 }],
  ['probe_settings', 'probe_settings_budget', { monthly_budget: -1n }],
  ['model_probing', 'model_probing_pace', { every_minutes: -1 }, { effective_minutes: -1 }],
  ['model_probing', 'model_probing_budget', { monthly_budget: -1n }],
  ['status_update', 'status_update_subject', { incident_id: null }, { announcement_id: grant }],
  ['status_update', 'status_update_state', { state: 'hopeful' }],
  ['request_hour', 'request_counts', { succeeded: -1n }, { failed: -1n }],
  ['request_minute', 'request_counts', { succeeded: -1 }, { failed: -1 }],
  ['incident', 'incident_impact', { impact: 'none' }],
  ['incident', 'incident_times', { ended_at: '2026-11-20T00:00:00Z' }],
  ['announcement', 'announcement_kind', { kind: 'rumour' }],
  ['announcement', 'announcement_times', { ends_at: '2026-11-20T00:00:00Z' }],
  ['notice_settings', 'notice_threshold', { low_balance: -1n }],
  ['notice_settings', 'notice_burn', { burn_amount: -1n }, { burn_minutes: 0 }, { burn_minutes: 1_441 }],
  ['notice_settings', 'notice_key_percent', { key_percent: -1 }, { key_percent: 101 }],
  ['notice_settings', 'notice_quiet', { quiet_from: 5 }, { quiet_from: 1_440, quiet_to: 0 }, { quiet_to: 5 }],
  ['business_notice_settings', 'business_notice_one_row', { id: 2 }],
  ['business_notice_settings', 'business_notice_limits', { shortfall: -1n }, { margin_percent: 101 }],
  ['business_notice_settings', 'business_notice_bills', { bill_percent: 0 }, { bill_days: 46 }],
  ['business_notice_settings', 'business_notice_quiet', { quiet_from: 5 }, { quiet_from: 0, quiet_to: -1 }],
  ['app_user', 'app_user_operator_role', { operator_role: 'owner' }, { operator_role: '' }],
  ['bank_refusal', 'bank_refusal_reason', { reason: 'rude' }, { reason: '' }],
  ['operator_setting', 'operator_setting_name', { id: 'smtp_url' }, { id: '' }],
  ['notice_channel', 'notice_channel_kind', { kind: 'pigeon' }],
  ['notice_channel', 'notice_channel_locale', { locale: 'fr' }],
  ['notice_delivery', 'notice_delivery_status', { status: 'lost', next_attempt_at: null }],
  [
    'notice_delivery',
    'notice_delivery_due',
    { next_attempt_at: null },
    { status: 'sending', next_attempt_at: null },
    { status: 'delivered' },
    { status: 'unknown' },
  ],
  ['spend_sample', 'spend_sample_spent', { spent: -1n }],
  ['model_mismatch', 'mismatch_reported', { reported: 'what a customer wrote' }],
  ['model_mismatch', 'mismatch_count', { count: 0n }],
  ['model_mismatch', 'mismatch_times', { last_seen_at: '2026-11-20T00:00:00Z' }],
  ['model_mismatch', 'mismatch_closed', { closed_at: '2026-11-21T00:00:02Z' }],
  ['model_mismatch_mail', 'mismatch_mail_state', { state: 'lost' }],
  ['model_mismatch_mail', 'mismatch_mail_tries', { tries: -1 }],
  ['notice', 'notice_kind', { kind: 'gossip' }],
  ['notice', 'notice_mail', { mail: 'lost' }],
  ['notice', 'notice_one_reader', { user_id: '00000000-0000-4000-8000-000000000000' }],
  ['user_identity', 'user_identity_provider_check', { provider: 'another' }],
  [
    'user_identity',
    'user_identity_issuer_check',
    { issuer: 'id.example.com' },
    { issuer: `https://${'x'.repeat(1_024)}` },
  ],
  ['user_identity', 'user_identity_subject_check', { subject: '' }, { subject: 'x'.repeat(256) }],
  ['webhook_delivery', 'delivery_status', { status: 'lost', next_attempt_at: null }],
  ['webhook_delivery', 'delivery_due', { next_attempt_at: null }, { status: 'delivered' }],
];

/** A ledger entry whose tokens cost nothing, so that its pools can be anything. */
function free(): Row {
  return { ...all(prices, 0n), cost: 0n, charged: 0n };
}

/** A ledger entry without tokens, so that its prices can be anything. */
function empty(): Row {
  return { ...all(pools, 0n), cost: 0n, charged: 0n };
}

/** The most that one entry can cost; it still fits into a BIGINT. */
function dearest(): Row {
  const cost = 5n * 10n ** 18n;
  return { ...all(pools, 100_000_000n), ...all(prices, 10_000_000_000n), cost, charged: cost };
}

describe('CHECKs', () => {
  it.each(Object.keys(rows))('take a valid row of %s', async (table) => {
    expect(await attemptRow(table)).toBeNull();
  });

  it.each(
    refused.flatMap(([table, constraint, ...changes]) =>
      changes.map((change) => ({ constraint, table, change, shown: inspect(change, { breakLength: Infinity }) })),
    ),
  )('$constraint refuses $table $shown', async ({ constraint, table, change }) => {
    expect(await attemptRow(table, change)).toMatchObject({ code: '23514', constraint });
  });

  it('are all tried above', async () => {
    const { rows: constraints } = await database.pool.query<{ name: string }>(
      `SELECT relname || '.' || conname AS name FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
       WHERE contype = 'c' AND connamespace = 'public'::regnamespace`,
    );
    expect(refused.map(([table, constraint]) => `${table}.${constraint}`).sort()).toEqual(
      constraints.map(({ name }) => name).sort(),
    );
  });

  it('refuse what would overflow', async () => {
    expect(await attemptRow('grant', { amount: huge, spent: huge, held: huge })).toMatchObject({ code: '22003' });
  });

  it.each([
    ['api_key', { limit_day: null, limit_month: 5n }],
    ['ledger_entry', { upstream_cost: null, time_to_first_byte_ms: null }],
    ['ledger_entry', { charged: 1n, free_after: 0n }],
    ['ledger_entry', { units: units(), cost: 773n + 21n, charged: 773n + 21n }],
    ['ledger_entry', { lines: lines(), cost: 773n + 55n, charged: 773n + 55n }],
    ['ledger_entry', { lines: lines({}, {}), units: units(), cost: 773n + 110n + 21n, charged: 773n + 110n + 21n }],
    ['price', { per_unit: '{"search": 10000000000000, "image": 0}' }],
    ['ledger_entry', { tier_above: 16n, tier_up_to: 17n }],
    ['ledger_entry', { priced_at: '2026-11-23T01:00:00Z', price_window: 'mon,fri 22:00-06:00 Asia/Shanghai' }],
    ['ledger_entry', { priced_at: '2026-11-23T01:00:00Z' }],
    ['price', { clock: clock() }],
    ['price', { variants: variants({}, { name: 'fast+us' }) }],
    ['ledger_entry', { variant_asked: 'fast+us', variant_served: '', variant: null }],
    ['ledger_entry', { variant_asked: 'flex', variant_served: 'Flex:1', variant: 'flex' }],
    ['price', { tiers: JSON.stringify([tier, { ...tier, abovePromptTokens: 6, output: 10_000_000_000 }]) }],
    ['ledger_entry', dearest()],
    ['price', { input: 0n, cache_hit: 0n, cache_write_5m: null }],
    ['hold', { amount: 0n, grant_ids: [], grant_amounts: [] }],
    ['posting', { kind: 'expire', request_id: null }],
    ['purchase_order', { status: 'paid', paid_at: '2026-11-21T00:00:00Z', valid_days: null }],
  ] as [string, Row][])('let pass what is meant to: %s %o', async (table, change) => {
    expect(await attemptRow(table, change)).toBeNull();
  });

  it.each([
    ['api_key', 'models'],
    ['access_token', 'scopes'],
    ['hold', 'grant_ids'],
    ['hold', 'grant_amounts'],
    ['model', 'allow'],
    ['model', 'capabilities'],
    ['model', 'efforts'],
  ])('%s has no row without %s', async (table, column) => {
    expect(await attemptRow(table, { [column]: null })).toMatchObject({ code: '23502', column });
  });
});
