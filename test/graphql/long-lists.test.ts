import { readFileSync } from 'node:fs';
import { buildSchema, getNamedType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Crowd, fillEverything } from '../support/many.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** Lists at scale: with ten thousand of everything each is walked to its end, and nothing is left out or comes twice. */

const many = 10_000;

let plane: ControlPlane;
let owner: Browser;
let operator: Browser;
let crowd: Crowd;

beforeAll(async () => {
  plane = await createControlPlane();
  owner = await createPerson(plane, 'owner@example.com', '203.0.113.1');
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.2');
  await plane.database.pool.query(`UPDATE app_user SET operator = true WHERE email = 'operator@example.com'`);
  const { rows } = await plane.database.pool.query(`SELECT id FROM account WHERE email = 'owner@example.com'`);
  crowd = await fillEverything(plane.database.pool, rows[0].id as string, many);
});
afterAll(() => plane.close());

const global = (type: string, id: string): string => Buffer.from(`${type}:${id}`).toString('base64');

interface Walk {
  who: 'owner' | 'operator';
  /** The document around `LIST`, which becomes the field with its arguments. */
  document: (field: string) => string;
  args?: () => string;
  /** Fields by which elements are told apart. */
  node: string;
  pageLength?: number;
}

const account = (args?: () => string, node = 'id'): Walk => ({
  who: 'owner',
  document: (field) => `{ account { ${field} } }`,
  node,
  ...(args === undefined ? {} : { args }),
});
const business = (node: string, args?: () => string): Walk => ({
  who: 'operator',
  document: (field) => `{ operator { ${field} } }`,
  node,
  ...(args === undefined ? {} : { args }),
});

/** How each list of the schema is asked for. A new connection is missing here until it is walked too. */
const walks: Record<string, Walk> = {
  'Account.accessTokens': account(),
  'Account.attributedUsage': account(() => 'by: SESSION', 'label'),
  'Account.batches': account(),
  'Account.keys': account(),
  'Account.ledger': account(undefined, 'requestId'),
  'Account.notices': account(),
  'Account.operatorViews': account(undefined, 'at'),
  'Account.orders': account(),
  'Account.usage': { ...account(() => 'by: [MODEL, KEY]', 'model key { name }'), pageLength: 1_000 },
  'Operator.accounts': business('id'),
  'Operator.anomalies': business('requestId'),
  'Operator.auditLog': business('id'),
  'Operator.bankTransfers': business('id'),
  'Operator.codeBatches': business('id'),
  'Operator.codeRedemptions': business('account { id }', () => `batchId: "${global('CodeBatch', crowd.batchId)}"`),
  'Operator.holds': business('requestId'),
  'Operator.invoiceProblems': business('order { id }'),
  'Operator.margins': { ...business('model', () => 'by: [MODEL]'), pageLength: 1_000 },
  'Operator.modelMismatches': business('id'),
  'Operator.notices': business('id'),
  'Operator.orders': business('id'),
  'Operator.refunds': business('refundId'),
  'Operator.revenue': { ...business('start model'), pageLength: 1_000 },
  'Operator.shortfalls': business('requestId'),
  'Operator.timeline': business('at kind subject', () => `accountId: "${global('Account', crowd.accountId)}"`),
  'Operator.vendorComparison': {
    ...business('day model', () => `from: "${crowd.day}", to: "${crowd.day}"`),
    pageLength: 1_000,
  },
  'Operator.vendorFiles': business('fileId'),
  'Query.incidents': { who: 'owner', document: (field) => `{ ${field} }`, node: 'id' },
  'WebhookEndpoint.deliveries': {
    who: 'owner',
    document: (field) =>
      `{ node(id: "${global('WebhookEndpoint', crowd.endpointId)}") { ... on WebhookEndpoint { ${field} } } }`,
    node: 'id',
  },
};

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));
const connections = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => getNamedType(field.type).name.endsWith('Connection'))
      .map(({ name }) => `${type.name}.${name}`),
  );

interface Page {
  nodes: unknown[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/** The list somewhere in an answer. */
function pageIn(value: unknown): Page | null {
  if (typeof value !== 'object' || value === null) return null;
  if ('pageInfo' in value) return value as Page;
  return pageIn(Object.values(value)[0]);
}

it('every list of the schema that has pages is walked here', () => {
  expect(connections.length).toBeGreaterThan(20);
  expect(Object.keys(walks).sort()).toEqual([...connections].sort());
});

describe.each(Object.keys(walks))('%s', (name) => {
  it(`has ${many} elements to its end, each once`, async () => {
    const { who, document, args, node, pageLength = 100 } = walks[name] as Walk;
    const browser = who === 'owner' ? owner : operator;
    const seen: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const given = [`first: ${pageLength}`, args?.() ?? '', after === null ? '' : `after: ${JSON.stringify(after)}`];
      const field = `${name.split('.')[1]}(${given.filter((each) => each !== '').join(', ')})`;
      const selection = name === 'Account.keys' ? `${node} name spend { lifetime } maker { name }` : node;
      const answer = await browser.send(
        document(`${field} { nodes: edges { node { ${selection} } } pageInfo { hasNextPage endCursor } }`),
      );
      expect(answer.errors).toEqual([]);
      const page = pageIn(answer.data);
      if (page === null) throw new Error(`no list: ${answer.text}`);
      seen.push(...page.nodes.map((each) => JSON.stringify(each)));
      ({ hasNextPage: more, endCursor: after } = page.pageInfo);
      expect(page.nodes.length).toBe(more ? pageLength : page.nodes.length);
    }
    expect(seen.length).toBeGreaterThanOrEqual(many);
    expect(new Set(seen).size).toBe(seen.length);
  });
});
