import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addModel, admitted, ask, openLedger, settlement } from '../billing/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// Reports are connections like every other list, and go on answering in the form that they had before.

const models = ['ant', 'bee', 'cat', 'dog', 'eel'];

let plane: ControlPlane;
let operator: Browser;
/** Keys have room in advance: not every request has a hold of its own. */
let holds: number;

beforeAll(async () => {
  plane = await createControlPlane();
  const { pool } = plane.database;
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.1');
  await pool.query(`UPDATE app_user SET operator = true, two_factor_enabled = true`);
  await operator.send('mutation { createKey(input: {}) { __typename } }');
  const { rows } = await pool.query('SELECT id, account_id FROM api_key');
  const [{ id: keyId, account_id: accountId }] = rows;
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
  await pool.query(
    `INSERT INTO upstream (id, protocol, base_url) VALUES ('vendor', 'chat-completions', 'https://vendor.example')`,
  );
  const csv = `day,model,input\n${models.map((model) => `2026-10-05,${model},50000`).join('\n')}`;
  const taken = await operator.send(
    `mutation ($csv: String!) { importVendorUsage(input: { csv: $csv, upstream: "vendor" }) { __typename } }`,
    { variables: { csv } },
  );
  if (!taken.text.includes('"VendorUsageImported"')) throw new Error('the file was not taken in');
});
afterAll(() => plane.close());

interface Page {
  nodes: object[];
  edges: { cursor: string; node: object }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  rows: object[];
  next: string | null;
}

/** Root, field, arguments, element, its fields. */
const reports = [
  ['account', 'usage', 'by: [MODEL]', 'UsageRow', 'model requests'],
  ['account', 'attributedUsage', 'by: TAG', 'AttributedUsage', 'label requests'],
  ['operator', 'revenue', 'period: MONTH', 'RevenueRow', 'model requests'],
  ['operator', 'margins', 'by: [MODEL]', 'MarginRow', 'model requests'],
  ['operator', 'vendorComparison', 'from: "2026-10-01", to: "2026-10-31"', 'VendorComparison', 'model day'],
] as const;

/** Lists that were no pages before, and have another name. */
const lists = [
  ['operator', 'anomalyPage', 'days: 7', 'Anomaly', 'model requestId'],
  ['operator', 'holdPage', '', 'Hold', 'requestId amount'],
] as const;

type Listed = (typeof reports)[number] | (typeof lists)[number];

/** A page of a list, of a report also in the form that it had before. */
async function pageOf([root, field, args, type, row]: Listed, more: string): Promise<Page> {
  const given = args === '' && more === '' ? '' : `(${args}${more})`;
  const before = reports.some(([, name]) => name === field) ? `rows { ${row} } next` : '';
  const answer = await operator.send(
    `{ ${root} { ${field}${given} { ...Rows ${before} } } }
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
    expect(all.nodes).toHaveLength(name === 'operator.holdPage' ? holds : models.length);
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

describe.each(reports.map((list) => [`${list[0]}.${list[1]}`, list] as const))(
  '%s, as it was read before',
  (_name, list) => {
    it('has rows, and the cursor of the next ones', async () => {
      const all = await pageOf(list, '');
      expect(all).toMatchObject({ rows: all.nodes, next: null });
      const first = await pageOf(list, ', first: 2');
      expect(first).toMatchObject({ rows: first.nodes, next: first.pageInfo.endCursor });
      expect((await pageOf(list, `, after: "${first.next}"`)).rows).toEqual(all.rows.slice(2));
    });
  },
);

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
