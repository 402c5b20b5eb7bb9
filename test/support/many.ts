/** An account, a business and a catalog that have grown: ten thousand rows of everything that is listed. */

import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';

const hex = (salt: string): string => `md5('${salt}' || n)::uuid`;
const hash = (salt: string): string => `sha256(('${salt}' || n)::bytea)`;
const ago = "date_trunc('milliseconds', now()) - n * interval '1 second'";
const requestId = `uuid_at(${ago})`;

export interface Crowd {
  accountId: string;
  /** Whose redemptions fill a list of their own, and whose deliveries do. */
  batchId: string;
  endpointId: string;
  /** The day that a vendor's bill is compared for. */
  day: string;
}

/** Rows of each table; each is one that the service could have written. */
function tables({ accountId, batchId, endpointId, day }: Crowd): [string, Record<string, string>][] {
  const own = `'${accountId}'::uuid`;
  const price = { price_input: '2', price_cache_hit: '1', price_cache_write_5m: '2', price_cache_write_1h: '2' };
  return [
    ['account', { id: hex('account'), name: "'Customer ' || n", email: "'c' || n || '@many.test'", created_at: ago }],
    [
      'api_key',
      {
        id: hex('key'),
        account_id: own,
        name: "'key ' || n",
        hash: hash('key'),
        prefix: "'sk-steyg-'",
        last4: "lpad(to_hex(n), 4, '0')",
        created_at: ago,
      },
    ],
    [
      'access_token',
      {
        id: hex('token'),
        account_id: own,
        name: "'token ' || n",
        hash: hash('token'),
        prefix: "'st'",
        last4: "'last'",
        scopes: "'{read}'",
        created_at: ago,
      },
    ],
    [
      'ledger_entry',
      {
        account_id: own,
        request_id: requestId,
        key_id: hex('key'),
        model: "'sim-small'",
        upstream: "'sim'",
        protocol: "'messages'",
        input: '2',
        cache_hit: '0',
        cache_write_5m: '0',
        cache_write_1h: '0',
        output: '3',
        ...price,
        price_output: '5',
        cost: '19',
        charged: '18',
        free_after: '0',
        latency_ms: 'n',
        outcome: "'completed'",
        usage_source: "'estimated'",
        stream: 'true',
        created_at: ago,
      },
    ],
    [
      'usage_hour',
      {
        account_id: own,
        hour: "date_trunc('hour', now(), 'UTC')",
        model: "'model-' || n",
        key_id: hex('key'),
        outcome: "'completed'",
        requests: '1',
        cost: 'n',
        charged: 'n',
      },
    ],
    [
      'margin_hour',
      {
        account_id: own,
        hour: "date_trunc('hour', now(), 'UTC')",
        model: "'model-' || n",
        upstream: "'sim'",
        requests: '1',
        cost: 'n',
        charged: 'n',
      },
    ],
    [
      'attribution_hour',
      {
        account_id: own,
        kind: "'session'",
        hour: "date_trunc('hour', now(), 'UTC')",
        label: "'session ' || n",
        model: "'sim-small'",
        key_id: hex('key'),
        requests: '1',
        first_at: ago,
        last_at: ago,
      },
    ],
    [
      'vendor_batch',
      {
        account_id: own,
        id: requestId,
        key_id: hex('key'),
        form: "'messages'",
        endpoint: "'/v1/messages'",
        upstream: "'sim'",
        vendor_id: "'batch-' || n",
        state: "'ended'",
        lines: '1',
        bound: '1',
        models: `'[{ "model": "sim-small", "upstreamModel": "x", "priceId": "x", "prices": { "input": 1, "cacheHit": 1, "cacheWrite5m": 1, "cacheWrite1h": 1, "output": 1 } }]'`,
        seen_at: ago,
        settled_at: ago,
        charged: '1',
        created_at: ago,
      },
    ],
    [
      'hold',
      {
        account_id: own,
        request_id: requestId,
        key_id: hex('key'),
        process_id: own,
        price_id: own,
        amount: '1',
        grant_ids: `ARRAY[${own}]`,
        grant_amounts: 'ARRAY[1]',
        held_at: ago,
      },
    ],
    [
      'audit_entry',
      {
        id: hex('audit'),
        actor: "'system'",
        action: "'account.view'",
        subject: `'account:${accountId}'`,
        after: `jsonb_build_object('until', now())`,
        created_at: ago,
      },
    ],
    [
      'bank_transfer',
      {
        id: hex('transfer'),
        provider: "'sepay'",
        provider_id: 'n::text',
        direction: "'in'",
        amount_vnd: '10000 + n',
        memo: "'paid ' || n",
        booked_at: ago,
        created_at: ago,
      },
    ],
    [
      'purchase_order',
      {
        id: hex('order'),
        account_id: own,
        plan_id: "'starter'",
        plan_name: "'Starter'",
        memo: "'STEYG' || n",
        price_vnd: '250000',
        budget: '10',
        expires_at: 'now()',
        created_at: ago,
      },
    ],
    ['order_invoice', { order_id: hex('order'), provider: "'sepay'", state: "'failed'", created_at: ago }],
    [
      'refund',
      {
        id: hex('refund'),
        number: 'n',
        memo: "'SYREFUND' || n",
        kind: "'payment'",
        transfer_id: hex('transfer'),
        amount_vnd: '1',
        reason: "'test'",
        created_by: "'test'",
        created_at: ago,
      },
    ],
    [
      'code_batch',
      {
        id: `CASE WHEN n = 1 THEN '${batchId}'::uuid ELSE ${hex('batch')} END`,
        name: "'batch ' || n",
        amount: '10',
        count: '1',
        uses: '1000000',
        created_by: "'test'",
        created_at: ago,
      },
    ],
    [
      'redemption_code',
      { id: hex('code'), batch_id: `'${batchId}'::uuid`, hash: hash('code'), last4: "'WXYZ'", used: '1' },
    ],
    ['redemption', { code_id: hex('code'), account_id: hex('account'), redeemed_by: "'test'", created_at: ago }],
    [
      'incident',
      {
        id: hex('incident'),
        model: "'sim-small'",
        impact: "'major'",
        affected: "'{messages/stream}'",
        started_at: ago,
        ended_at: 'now()',
      },
    ],
    [
      'model_mismatch',
      {
        id: hex('mismatch'),
        model: "'sim-small'",
        upstream: "'sim'",
        asked: "'theirs'",
        reported: "'other-' || n",
        count: '1',
        last_request_id: requestId,
        first_seen_at: ago,
        last_seen_at: ago,
      },
    ],
    ...[own, 'NULL::uuid'].map((accountId, at): [string, Record<string, string>] => [
      'notice',
      {
        id: hex(`notice ${at}`),
        account_id: accountId,
        kind: at === 0 ? "'balance_low'" : "'shortfall'",
        subject: 'n::text',
        facts: "'{}'",
        mail: "'none'",
        created_at: ago,
      },
    ]),
    [
      'webhook_delivery',
      {
        id: hex('delivery'),
        account_id: own,
        endpoint_id: `'${endpointId}'::uuid`,
        event_id: hex('event'),
        event: "'order.paid'",
        body: "'{}'",
        status: "'delivered'",
        created_at: ago,
      },
    ],
    [
      'vendor_file',
      {
        id: hex('file'),
        upstream: "'sim'",
        version: 'n',
        format: "'generic'",
        digest: hash('file'),
        adds: 'true',
        first_day: `'${day}'`,
        last_day: `'${day}'`,
        imported_by: "'test'",
        imported_at: ago,
      },
    ],
    [
      'vendor_usage',
      {
        upstream: "'sim'",
        day: `'${day}'`,
        model: "'model-' || n",
        input: '1',
        cache_hit: '0',
        cache_write: '0',
        output: '1',
        cost: '5',
        source: "'generic'",
        imported_by: "'test'",
      },
    ],
  ];
}

/** Adds so many rows to every table that is listed. */
export async function fillEverything(pool: Pool, accountId: string, many: number): Promise<Crowd> {
  const crowd = { accountId, batchId: randomUUID(), endpointId: randomUUID(), day: '2026-10-02' };
  const client = await pool.connect();
  try {
    // Written in one go, without the triggers that a single row passes. Conditions of the columns hold all the same.
    await client.query('BEGIN; SET LOCAL session_replication_role = replica');
    await client.query(
      `INSERT INTO webhook_endpoint (id, account_id, url, sealed) VALUES ($1, $2, 'https://example.com', '\\x00')`,
      [crowd.endpointId, accountId],
    );
    for (const [table, columns] of tables(crowd)) {
      await client.query(
        `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
         SELECT ${Object.values(columns).join(', ')} FROM generate_series(1, $1::int) AS n`,
        [many],
      );
    }
    await client.query('COMMIT; ANALYZE');
  } finally {
    client.release();
  }
  return crowd;
}
