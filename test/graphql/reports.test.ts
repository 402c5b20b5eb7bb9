import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeId } from '../../server/graphql/access.ts';
import { addModel, admitted, ask, openLedger, settlement } from '../billing/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// Reports are connections like every other list, and go on answering in the form that they had before.

const models = ['ant', 'bee', 'cat', 'dog', 'eel'];

let plane: ControlPlane;
let operator: Browser;
let accountId: string;
/** Keys have room in advance: not every request has a hold of its own. */
let holds: number;

beforeAll(async () => {
  plane = await createControlPlane();
  const { pool } = plane.database;
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.1');
  await pool.query(`UPDATE app_user SET operator = true, two_factor_enabled = true`);
  await operator.send('mutation { createKey(input: {}) { __typename } }');
  const { rows } = await pool.query('SELECT id, account_id FROM api_key');
  const [{ id: keyId, account_id }] = rows;
  accountId = account_id;
  const { ledger, close } = await openLedger(plane.database.url);
  for (const model of models) {
    await addModel(pool, { id: model });
    const asked = ask({ accountId, keyId }, { model });
    const attribution = { session: null, user: null, tags: [`of=${model}`] };
    await ledger.settle(
      settlement(asked, await admitted(ledger, asked), { model, attribution, usageSource: 'estimated' }),
    );
    await admitted(ledger, ask({ accountId, keyId }, { model }));
  }
  await close();
  holds = (await pool.query('SELECT FROM hold WHERE NOT escrow')).rows.length;
  await pool.query(`INSERT INTO plan (id, name, price_vnd, budget) VALUES ('test', 'Test', 250000, 10)`);
  await pool.query(
    `INSERT INTO upstream (id, protocol, base_url) VALUES ('vendor', 'chat-completions', 'https://vendor.example')`,
  );
  const csv = `day,model,input\n${models.map((model) => `2026-10-05,${model},50000`).join('\n')}`;
  const taken = await operator.send(
    `mutation ($csv: String!) { importVendorUsage(input: { csv: $csv, upstream: "vendor" }) { __typename } }`,
    { variables: { csv } },
  );
  if (!taken.text.includes('"VendorUsageImported"')) throw new Error('the file was not taken in');
  for (const name of Object.keys(inserts)) for (const n of models.keys()) await insert(name, n);
});
afterAll(() => plane.close());

const batchId = '00000000-0000-7000-8000-000000000001';

/** Writes row `$1` of a list; two rows are of the same time. `$2`: the account. */
const inserts: Record<string, string> = {
  'account.notices': `INSERT INTO notice (id, account_id, kind, subject, facts, mail, created_at)
     SELECT gen_random_uuid(), $2, 'price_changed', n, '{}', 'none', at`,
  'operator.notices': `INSERT INTO notice (id, kind, subject, facts, mail, created_at)
     SELECT gen_random_uuid(), 'upstream_failing', n, '{}', 'none', at`,
  'account.operatorViews': `INSERT INTO audit_entry (id, actor, action, subject, after, created_at)
     SELECT gen_random_uuid(), 'test', 'account.view', 'account:' || $2,
            jsonb_build_object('until', at + make_interval(mins => n::int)), at`,
  'operator.codeBatches': `INSERT INTO code_batch (id, name, amount, count, uses, created_by, created_at)
     SELECT CASE n WHEN '0' THEN '${batchId}'::uuid ELSE gen_random_uuid() END, 'batch ' || n, 1, 9, 1, 'test', at`,
  'operator.codeRedemptions': `WITH code AS (
       INSERT INTO redemption_code (id, batch_id, hash, last4)
       VALUES (gen_random_uuid(), '${batchId}', sha256($1::text::bytea), lpad($1::text, 4, 'X')) RETURNING id)
     INSERT INTO redemption (code_id, account_id, redeemed_by, created_at) SELECT code.id, $2, 'test', at`,
  'operator.invoiceProblems': `WITH bought AS (
       INSERT INTO purchase_order (account_id, id, plan_id, plan_name, memo, price_vnd, budget, expires_at)
       VALUES ($2, gen_random_uuid(), 'test', 'Test', 'SYTEST' || $1::text, 250000, 10, now()) RETURNING id)
     INSERT INTO order_invoice (order_id, provider, state, problem, created_at)
     SELECT bought.id, 'test', 'failed', 'refused', at`,
};

/** Row `n` of a list. Later rows are of a later day, but for each second one. */
async function insert(name: string, n: number): Promise<void> {
  const from = { 'operator.codeRedemptions': ', code', 'operator.invoiceProblems': ', bought' }[name] ?? '';
  await plane.database.pool.query(
    `${inserts[name]} FROM (SELECT $1::text AS n, timestamptz '2026-09-15' + make_interval(days => $3) AS at,
                                   $2::uuid IS NOT NULL) AS given${from}`,
    [n, accountId, Math.floor(n / 2)],
  );
}

interface Page {
  nodes: object[];
  edges: { cursor: string; node: object }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
}

/** Root, field, arguments, element, its fields. */
const reports = [
  ['account', 'usage', 'by: [MODEL]', 'UsageRow', 'model requests'],
  ['account', 'attributedUsage', 'by: TAG', 'AttributedUsage', 'label requests'],
  ['operator', 'revenue', 'period: MONTH', 'RevenueRow', 'model requests'],
  ['operator', 'margins', 'by: [MODEL]', 'MarginRow', 'model requests'],
  ['operator', 'vendorComparison', 'from: "2026-10-01", to: "2026-10-31"', 'VendorComparison', 'model day'],
] as const;

/** Lists that are no reports. */
const lists = [
  ['operator', 'anomalies', 'days: 7', 'LedgerEntry', 'model requestId'],
  ['operator', 'holds', '', 'Hold', 'requestId amount'],
  ['account', 'notices', '', 'Notice', 'id kind'],
  ['operator', 'notices', '', 'Notice', 'id kind'],
  ['account', 'operatorViews', '', 'AccountView', 'at until'],
  ['operator', 'codeBatches', '', 'CodeBatch', 'id name'],
  ['operator', 'codeRedemptions', `batchId: "${encodeId('CodeBatch', batchId)}"`, 'CodeRedemption', 'last4 redeemedAt'],
  ['operator', 'invoiceProblems', '', 'OrderInvoice', 'problem order { id memo }'],
] as const;

type Listed = (typeof reports)[number] | (typeof lists)[number];

/** A page of a list. */
async function pageOf([root, field, args, type, row]: Listed, more: string): Promise<Page> {
  const given = args === '' && more === '' ? '' : `(${args}${more})`;
  const answer = await operator.send(
    `{ ${root} { ${field}${given} { ...Rows } } }
     fragment Rows on ${type}Connection {
       nodes { ${row} } edges { cursor node { ${row} } }
       pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
     }`,
  );
  expect(answer.errors).toEqual([]);
  return (answer.data as unknown as Record<string, Record<string, Page>>)[root]?.[field] as Page;
}

describe.each([...reports, ...lists].map((list) => [`${list[0]}.${list[1]}`, list] as const))('%s', (name, list) => {
  const page = (more: string) => pageOf(list, more);

  it('is read forward from cursor to cursor, whatever the length of a page', async () => {
    const all = await page('');
    expect(all.nodes).toHaveLength(name === 'operator.holds' ? holds : models.length);
    expect(all.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
    for (const first of [1, 2, 4, 5]) {
      const read: object[] = [];
      let after: string | null = null;
      do {
        const { nodes, edges, pageInfo } = await page(
          `, first: ${first}${after === null ? '' : `, after: "${after}"`}`,
        );
        expect(nodes.length).toBeLessThanOrEqual(first);
        expect(edges.map(({ node }) => node)).toEqual(nodes);
        expect(pageInfo).toMatchObject({
          hasPreviousPage: after !== null,
          startCursor: edges[0]?.cursor,
          endCursor: edges.at(-1)?.cursor,
        });
        read.push(...nodes);
        after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      } while (after !== null);
      expect(read).toEqual(all.nodes);
    }
  });

  it('goes on behind the cursor of any row', async () => {
    const { edges } = await page('');
    for (const [index, { cursor }] of edges.entries()) {
      const { nodes } = await page(`, after: "${cursor}"`);
      expect(nodes).toEqual(edges.slice(index + 1).map(({ node }) => node));
    }
  });

  it('refuses a made-up cursor', async () => {
    const answer = await operator.send(
      `{ ${list[0]} { ${list[1]}(${list[2]}, after: "x") { pageInfo { endCursor } } } }`,
    );
    expect(answer.errors[0]?.extensions).toMatchObject({ code: 'BAD_INPUT', problems: [{ path: ['after'] }] });
  });
});

it('a page goes on behind its row when others have come in before it', async () => {
  const growing = lists.filter(([root, field]) => `${root}.${field}` in inserts);
  expect(growing).toHaveLength(Object.keys(inserts).length);
  for (const list of growing) {
    const name = `${list[0]}.${list[1]}`;
    const all = await pageOf(list, '');
    const { pageInfo } = await pageOf(list, ', first: 2');
    await insert(name, name === 'operator.invoiceProblems' ? -9 : 9);
    expect(await pageOf(list, '')).toMatchObject({ nodes: [expect.anything(), ...all.nodes] });
    expect((await pageOf(list, `, after: "${pageInfo.endCursor}"`)).nodes).toEqual(all.nodes.slice(2));
  }
});

describe('a page of any list', () => {
  it('has its elements with cursors and without', async () => {
    for (const name of ['one', 'two', 'three'])
      await operator.send(`mutation { createKey(input: { name: "${name}" }) { __typename } }`);
    const answer = await operator.send(
      `{ account {
           keys(first: 2) { nodes { id name } edges { node { id name } } pageInfo { endCursor } }
           ledger(first: 3) { nodes { requestId model } edges { node { requestId model } } }
           bare: keys(first: 2) { nodes { id name } }
         } }`,
    );
    expect(answer.errors).toEqual([]);
    const { keys, ledger, bare } = (answer.data as unknown as { account: Record<string, Page> }).account;
    for (const [list, length] of [
      [keys, 2],
      [ledger, 3],
    ] as const) {
      expect(list?.nodes).toHaveLength(length);
      expect(list?.edges.map(({ node }) => node)).toEqual(list?.nodes);
    }
    expect(bare).toEqual({ nodes: keys?.nodes });
  });
});
