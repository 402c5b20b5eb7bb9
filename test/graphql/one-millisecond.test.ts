import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { addGrant } from '../../server/billing/grants.ts';
import { appendAudit } from '../../server/shared/audit.ts';
import { addModel } from '../catalog/support.ts';
import { type Answer, type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/** What was written one after the other is listed in that order, even when all of it has the same time. */

let plane: ControlPlane;
let operator: Browser;
let accountId: string;

beforeAll(async () => {
  plane = await createControlPlane();
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.1');
  const { pool } = plane.database;
  await pool.query(`UPDATE app_user SET operator = true, two_factor_enabled = true`);
  accountId = (await pool.query('SELECT id FROM account')).rows[0].id;
  await addModel(pool, 'tied', { input: '100' });
  await pool.query(
    `INSERT INTO upstream (id, protocol, base_url) VALUES ('tied', 'messages', 'https://vendor.example')`,
  );
  // From now on everything has the time of this moment.
  const { moment } = (await pool.query(`SELECT date_trunc('milliseconds', clock_timestamp())::text AS moment`)).rows[0];
  await pool.query(
    `CREATE FUNCTION tie() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         IF TG_TABLE_NAME = 'price' THEN NEW.valid_from := '${moment}'; END IF;
         NEW.created_at := '${moment}';
         RETURN NEW;
       END $$`,
  );
  for (const table of ['audit_entry', 'price', 'upstream_key', 'grant', 'access_token', 'api_key', 'invitation'])
    await pool.query(`CREATE TRIGGER tie BEFORE INSERT ON "${table}" FOR EACH ROW EXECUTE FUNCTION tie()`);
});
afterAll(() => plane.close());

const places = Array.from({ length: 8 }, (_, place) => String(place + 1));

async function send(document: string, variables: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const { data, errors } = await operator.send(document, { variables });
  expect(errors).toEqual([]);
  return data ?? {};
}

interface List {
  name: string;
  write: (place: string) => Promise<unknown>;
  ask: string;
  /** What the list is called by, from the answer's first field on. */
  rows: (answer: Answer['data']) => unknown;
  newestFirst: boolean;
}

const own = (field: string) => (answer: Answer['data']) =>
  (answer as { account: Record<string, unknown> }).account[field];
const nodes = (list: unknown): unknown => (list as { nodes: unknown }).nodes;

const lists: List[] = [
  {
    name: 'versions of a price',
    write: (input) =>
      send('mutation ($input: SavePricesInput!) { savePrices(input: $input) { __typename } }', {
        input: { modelId: 'tied', prices: { input, cacheHit: '0.1', output: '15' } },
      }),
    ask: '{ operator { models { modelId priceVersions { prices { place: input } } } } }',
    rows: (answer) =>
      (answer as { operator: { models: { modelId: string; priceVersions: { prices: unknown }[] }[] } }).operator.models
        .find(({ modelId }) => modelId === 'tied')
        ?.priceVersions.slice(0, places.length)
        .map(({ prices }) => prices),
    newestFirst: true,
  },
  {
    name: 'keys of an upstream',
    write: (place) =>
      send('mutation ($input: AddUpstreamKeyInput!) { addUpstreamKey(input: $input) { __typename } }', {
        input: { upstreamId: 'tied', secret: `sk-of-the-vendor-000${place}` },
      }),
    ask: '{ operator { upstreams { upstreamId keys { place: last4 } } } }',
    rows: (answer) =>
      (answer as { operator: { upstreams: { upstreamId: string; keys: unknown }[] } }).operator.upstreams.find(
        ({ upstreamId }) => upstreamId === 'tied',
      )?.keys,
    newestFirst: false,
  },
  {
    name: 'grants, in the order in which they are used',
    write: (place) =>
      addGrant(plane.database.pool, {
        accountId,
        kind: 'adjustment',
        amount: 1n,
        expiresAt: null,
        sourceRef: `adjustment:${place}`,
        reason: place,
      }),
    ask: '{ account { budget { grants { place: reason } } } }',
    rows: (answer) =>
      (own('budget')(answer) as { grants: { place: string | null }[] }).grants.filter(({ place }) => place !== null),
    newestFirst: false,
  },
  {
    name: 'access tokens',
    write: (name) =>
      send('mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { __typename } }', {
        input: { name, scopes: ['READ'] },
      }),
    ask: '{ account { accessTokens { nodes { place: name } } } }',
    rows: (answer) => nodes(own('accessTokens')(answer)),
    newestFirst: true,
  },
  {
    name: 'API keys',
    write: (name) => send('mutation ($name: String) { createKey(input: { name: $name }) { __typename } }', { name }),
    ask: '{ account { keys { nodes { place: name } } } }',
    rows: (answer) => nodes(own('keys')(answer)),
    newestFirst: true,
  },
  {
    name: 'invitations',
    write: (place) =>
      send('mutation ($input: InviteMemberInput!) { inviteMember(input: $input) { __typename } }', {
        input: { email: `${place}@example.com`, role: 'MEMBER' },
      }),
    ask: '{ account { invitations { place: email } } }',
    rows: own('invitations'),
    newestFirst: true,
  },
  {
    name: 'the audit log',
    write: async (subject) => {
      const client = await plane.database.pool.connect();
      await appendAudit(client, { actor: 'ties', action: 'model.change', subject });
      client.release();
    },
    ask: '{ operator { auditLog(actor: "ties") { nodes { place: subject } } } }',
    rows: (answer) => nodes((answer as { operator: { auditLog: unknown } }).operator.auditLog),
    newestFirst: true,
  },
];

describe('of one millisecond', () => {
  it.each(lists)('$name', async ({ write, ask, rows, newestFirst }) => {
    // The clock of this process stands still as well: the time within ids.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    for (const place of places) await write(place);
    vi.useRealTimers();
    const shown = (rows(await send(ask)) as { place: string }[]).map(({ place }) => /[1-8]/.exec(place)?.[0]);
    expect(shown).toEqual(newestFirst ? places.toReversed() : places);
  });
});

describe('the audit log', () => {
  it('lists a change behind the one that its transaction waited for', async () => {
    const { pool } = plane.database;
    await pool.query('DROP TRIGGER tie ON audit_entry');
    const [early, late] = [await pool.connect(), await pool.connect()];
    const append = (client: typeof early, subject: string) =>
      appendAudit(client, { actor: 'waiting', action: 'model.change', subject });
    await early.query('BEGIN');
    await early.query('SELECT now()');
    await pool.query('SELECT pg_sleep(0.002)');
    await append(late, 'first');
    await append(early, 'second');
    await early.query('COMMIT');
    for (const client of [early, late]) client.release();
    const { operator: answer } = (await send('{ operator { auditLog(actor: "waiting") { nodes { subject } } } }')) as {
      operator: { auditLog: { nodes: unknown } };
    };
    expect(answer.auditLog.nodes).toEqual([{ subject: 'second' }, { subject: 'first' }]);
  });
});
