/** Valid rows of every table, for tests of the database's rules. */

import { randomBytes, randomUUID } from 'node:crypto';

export type Row = Record<string, unknown>;

const account = randomUUID();
const user = randomUUID();
export const grant = randomUUID();
const order = randomUUID();
const transfer = randomUUID();
const batch = randomUUID();
const code = randomUUID();
const endpoint = randomUUID();
const mismatch = randomUUID();
const notice = randomUUID();
const channel = randomUUID();

export interface Statement {
  text: string;
  values: unknown[];
}

/** One valid row of each table, in an order in which they can be inserted. */
export const rows: Record<string, () => Row> = {
  app_user: () => ({ id: user, name: 'Ada', email: 'ada@example.com' }),
  account: () => ({ id: account, name: 'Ada', email: 'ada@example.com' }),
  member: () => ({ account_id: account, user_id: user, role: 'owner' }),
  project: () => ({ id: randomUUID(), account_id: account, name: randomUUID() }),
  api_key: () => ({
    id: randomUUID(),
    account_id: account,
    name: 'one',
    hash: randomBytes(32),
    prefix: 'sk',
    last4: 'last',
  }),
  access_token: () => ({
    id: randomUUID(),
    account_id: account,
    name: 'one',
    hash: randomBytes(32),
    prefix: 'st',
    last4: 'last',
    scopes: ['read', 'operator'],
  }),
  request_rate: () => ({ subject: randomUUID(), second: 1n, counts: Array.from({ length: 62 }, () => 0) }),
  token_rate: () => ({ subject: randomUUID(), second: 1n, counts: Array.from({ length: 62 }, () => 0n) }),
  running_requests: () => ({ subject: randomUUID(), processes: [randomUUID()], counts: [1] }),
  key_spend: () => ({
    account_id: account,
    key_id: randomUUID(),
    day: '2026-11-21',
    month: '2026-11-01',
    charged: 3n,
    month_charged: 2n,
    day_charged: 1n,
  }),
  account_limit: () => ({ account_id: account }),
  shared_limit: () => ({ account_id: account, subject_id: randomUUID(), kind: 'member' }),
  shared_limit_month: () => ({ account_id: account, subject_id: randomUUID(), month: '2026-11-01', charged: 1n }),
  key_project: () => ({ account_id: account, key_id: randomUUID(), project_id: randomUUID(), from_charged: 1n }),
  grant: () => ({ account_id: account, id: grant, kind: 'trial', amount: 10n, source_ref: `trial:${account}` }),
  hold: () => ({
    account_id: account,
    request_id: randomUUID(),
    key_id: randomUUID(),
    process_id: randomUUID(),
    price_id: randomUUID(),
    amount: 5n,
    grant_ids: [grant, randomUUID()],
    grant_amounts: [2n, 3n],
  }),
  ledger_entry: () => ({
    account_id: account,
    request_id: randomUUID(),
    key_id: randomUUID(),
    model: 'big-1',
    upstream: 'somewhere',
    protocol: 'messages',
    input: 2n,
    cache_hit: 3n,
    cache_write_5m: 5n,
    cache_write_1h: 7n,
    output: 11n,
    price_input: 10n,
    price_cache_hit: 1n,
    price_cache_write_5m: 12n,
    price_cache_write_1h: 20n,
    price_output: 50n,
    cost: 2n * 10n + 3n * 1n + 5n * 12n + 7n * 20n + 11n * 50n,
    charged: 2n * 10n + 3n * 1n + 5n * 12n + 7n * 20n + 11n * 50n,
    free_after: 4n,
    latency_ms: 12,
    outcome: 'completed',
    usage_source: 'reported',
    stream: true,
  }),
  attribution: () => ({
    account_id: account,
    request_id: randomUUID(),
    session: '~digest',
    end_user: '~digest',
    tags: ['team=~digest'],
  }),
  attribution_hour: () => ({
    account_id: account,
    kind: 'session',
    hour: '2026-11-22T21:00:00Z',
    label: '~digest',
    model: 'big-1',
    key_id: randomUUID(),
    first_at: '2026-11-22T21:00:00Z',
    last_at: '2026-11-22T21:00:00Z',
  }),
  posting: () => ({ account_id: account, grant_id: grant, kind: 'charge', amount: 1n, request_id: randomUUID() }),
  model: () => ({
    id: 'big-1',
    display_name: 'Big',
    family: 'big',
    context_window: 200_000,
    max_output_tokens: 32_000,
  }),
  price: () => ({ id: randomUUID(), model_id: 'big-1', input: 10n, cache_hit: 1n, output: 50n }),
  upstream: () => ({ id: 'somewhere', protocol: 'messages', base_url: 'https://example.com' }),
  route: () => ({ id: randomUUID(), model_id: 'big-1', upstream_id: 'somewhere', upstream_model: 'theirs' }),
  plan: () => ({ id: 'starter', name: 'Starter', price_vnd: 250_000n, budget: 10n }),
  purchase_order: () => ({
    id: order,
    account_id: account,
    plan_id: 'starter',
    plan_name: 'Starter',
    memo: 'STEYG1',
    price_vnd: 250_000n,
    budget: 10n,
    expires_at: '2026-12-01T00:00:00Z',
  }),
  bonus_step: () => ({ from_vnd: 1_000_000n, basis_points: 500 }),
  top_up: () => ({ plan_id: 'starter', min_vnd: 1n, max_vnd: 2n }),
  code_batch: () => ({ id: batch, name: 'Launch', amount: 10n, count: 1, uses: 1, created_by: 'test' }),
  redemption_code: () => ({ id: code, batch_id: batch, hash: randomBytes(32), last4: 'WXYZ' }),
  redemption: () => ({ code_id: code, account_id: account, redeemed_by: 'test' }),
  order_mail: () => ({ id: randomUUID(), order_id: order, kind: 'made' }),
  order_invoice: () => ({ order_id: order, provider: 'sepay' }),
  bank_transfer: () => ({
    id: transfer,
    provider: 'sepay',
    provider_id: '1',
    direction: 'in',
    amount_vnd: 250_000n,
    memo: 'STEYG1',
    booked_at: '2026-11-21T00:00:00Z',
  }),
  transfer_match: () => ({ transfer_id: transfer, order_id: order, matched_by: 'matcher' }),
  audit_entry: () => ({ id: randomUUID(), actor: 'system', action: 'test', subject: 'model:big-1' }),
  transfer_review: () => ({ transfer_id: transfer, reason: 'late' }),
  probe_result: () => ({
    id: randomUUID(),
    model: 'big-1',
    protocol: 'messages',
    mode: 'stream',
    started_at: '2026-11-21T00:00:00Z',
    outcome: 'up',
    latency_ms: 5,
  }),
  uptime_hour: () => ({ model: 'big-1', protocol: 'messages', mode: 'stream', hour: '2026-11-21T00:00:00Z' }),
  uptime_day: () => ({ model: 'big-1', protocol: 'messages', mode: 'stream', day: '2026-11-21' }),
  incident: () => ({ id: randomUUID(), model: 'big-1', impact: 'major', started_at: '2026-11-21T00:00:00Z' }),
  probe_agent: () => ({
    id: randomUUID(),
    name: 'hanoi-1',
    region: 'Hanoi',
    hash: Buffer.alloc(32),
    last4: 'abcd',
    created_by: 'ada',
  }),
  probe_round: () => ({
    agent_id: randomUUID(),
    id: randomUUID(),
    started_at: '2026-11-21T00:00:00Z',
    digest: Buffer.alloc(32),
  }),
  service_span: () => ({
    id: randomUUID(),
    started_at: '2026-11-21T00:00:00Z',
    last_seen_at: '2026-11-21T00:00:01Z',
  }),
  seller: () => ({
    name: '',
    tax_code: '',
    address: '',
    support_email: '',
    support_phone: '',
    terms_url: '',
    privacy_url: '',
    refund_url: '',
  }),
  probe_settings: () => ({ id: 1 }),
  model_probing: () => ({ model: 'big-1' }),
  status_update: () => ({
    id: randomUUID(),
    incident_id: randomUUID(),
    state: 'investigating',
    body: 'We are looking.',
    created_by: 'ada',
  }),
  request_hour: () => ({ model: 'big-1', protocol: 'messages', hour: '2026-11-21T00:00:00Z' }),
  announcement: () => ({
    id: randomUUID(),
    kind: 'info',
    title: 'Soon',
    body: 'More soon.',
    starts_at: '2026-11-21T00:00:00Z',
    created_by: 'ada',
  }),
  notice_settings: () => ({ account_id: account, low_balance: 5n }),
  notice: () => ({
    id: notice,
    account_id: account,
    kind: 'balance_low',
    subject: 'account',
    facts: '{}',
    mail: 'due',
  }),
  model_mismatch: () => ({
    id: mismatch,
    model: 'big-1',
    upstream: 'somewhere',
    asked: 'theirs',
    reported: 'another',
    count: 1n,
    last_request_id: randomUUID(),
    first_seen_at: '2026-11-21T00:00:00Z',
    last_seen_at: '2026-11-21T00:00:01Z',
  }),
  model_mismatch_mail: () => ({ mismatch_id: mismatch, user_id: user, state: 'due' }),
  business_notice_settings: () => ({ id: 1 }),
  notice_channel: () => ({ id: channel, kind: 'slack', name: 'ops', sealed: randomBytes(8) }),
  notice_delivery: () => ({
    id: randomUUID(),
    notice_id: notice,
    target: 'mail',
    status: 'pending',
    next_attempt_at: new Date(),
  }),
  notice_cause: () => ({ kind: 'price_changed', subject: 'x' }),
  spend_sample: () => ({ account_id: account, minute: new Date(), spent: 0n }),
  webhook_endpoint: () => ({ id: endpoint, account_id: account, url: 'https://example.com', sealed: randomBytes(8) }),
  webhook_delivery: () => ({
    id: randomUUID(),
    account_id: account,
    endpoint_id: endpoint,
    event_id: randomUUID(),
    event: 'order.paid',
    body: '{}',
    next_attempt_at: '2026-11-21T00:00:00Z',
  }),
  invitation: () => ({
    id: randomUUID(),
    account_id: account,
    email: 'bea@example.com',
    role: 'viewer',
    hash: randomBytes(32),
    expires_at: '2026-12-01T00:00:00Z',
  }),
  vendor_usage: () => ({
    upstream: 'by-messages',
    day: '2026-10-31',
    model: 'big-1',
    input: 1n,
    cache_hit: 0n,
    cache_write: 0n,
    output: 1n,
    source: 'generic',
    imported_by: 'command-line',
  }),
  closed_month: () => ({
    month: '2026-10-01',
    time_zone: 'UTC',
    revenue_vnd: 0n,
    charged: 10n,
    charged_paid: 5n,
    trial_cost: 5n,
    expired: 0n,
    shortfall: 0n,
    upstream_cost: 6n,
    unknown_charged: 1n,
    unused: 7n,
    margin: 3n,
    totals: '{}',
    closed_by: 'command-line',
  }),
  throttle: () => ({
    subject: randomBytes(32),
    count: 1,
    since: '2026-11-21T00:00:00Z',
    until: '2026-11-21T00:01:00Z',
  }),
};

/** The statement that inserts a row. */
export function insertion(table: string, row: Row): Statement {
  const columns = Object.keys(row);
  const parameters = columns.map((_, index) => `$${index + 1}`);
  return {
    text: `INSERT INTO "${table}" (${columns.join(', ')}) VALUES (${parameters.join(', ')})`,
    values: Object.values(row),
  };
}

/** All rows that come before `table`, so that its references hold. */
export function before(table: string): Statement[] {
  const names = Object.keys(rows);
  return names.slice(0, names.indexOf(table)).map((name) => insertion(name, (rows[name] as () => Row)()));
}
