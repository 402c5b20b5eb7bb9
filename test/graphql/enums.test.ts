import { type GraphQLEnumType, getNamedType, isEnumType, isInputObjectType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSchema } from '../../server/graphql/schema.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// Enums in place of strings: rows of another version are answered.

const schema = buildSchema();

/** Enums of answers whose values this process computes, or that cannot get another one. */
const computed = new Set([
  'BillCause',
  'EffortSupport',
  'JournalAccountRole',
  'KeyStatus',
  'ModelCapability',
  'OnDisconnect',
  'SearchHitKind',
  'ServiceState',
  'SettingGroup',
  'SettingKind',
  'SettingSource',
  'SetupStep',
  'TimelineKind',
  'TokenPool',
  'TransferProposalReason',
  'Weekday',
]);

const answered = new Set(
  Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !type.name.startsWith('__')
      ? Object.values(type.getFields()).flatMap((field) => {
          const named = getNamedType(field.type);
          return isEnumType(named) ? [named] : [];
        })
      : [],
  ),
);
const open = [...answered].filter(({ name }) => !computed.has(name));

/** Every enum that an argument or an input's field takes. */
const sent = new Set(
  Object.values(schema.getTypeMap()).flatMap((type) => {
    const takes = isInputObjectType(type)
      ? Object.values(type.getFields())
      : isObjectType(type)
        ? Object.values(type.getFields()).flatMap(({ args }) => args)
        : [];
    return takes.map((each) => getNamedType(each.type)).filter((named) => isEnumType(named));
  }),
);

describe('an enum that is sent', () => {
  it('has no value that only answers have', () => {
    expect(sent.size).toBeGreaterThan(20);
    expect([...sent].filter((type) => type.getValue('OTHER') !== undefined).map(({ name }) => name)).toEqual([]);
  });

  it('has every other value of the one that is answered', () => {
    for (const type of sent) {
      if (!type.name.endsWith('Input')) continue;
      const twin = schema.getType(type.name.replace(/Input$/, '')) as GraphQLEnumType;
      expect(type.getValues().map(({ name, value }) => [name, value])).toEqual(
        twin
          .getValues()
          .filter(({ name }) => name !== 'OTHER')
          .map(({ name, value }) => [name, value]),
      );
    }
  });
});

describe('an enum that is read from rows', () => {
  it('is each that is answered but those that are computed', () => {
    expect(open.length).toBeGreaterThan(30);
    expect(open.filter((type) => type.getValue('OTHER') === undefined).map(({ name }) => name)).toEqual([]);
    const closed = [...computed].filter((name) => (schema.getType(name) as GraphQLEnumType).getValue('OTHER'));
    expect(closed).toEqual([]);
  });

  it.each(open.map((type) => [type.name, type] as const))('%s: a value of another version is OTHER', (_name, type) => {
    for (const value of ['from another version', '', 'OTHER', 7]) expect(type.coerceOutputValue(value)).toBe('OTHER');
    for (const { name, value } of type.getValues()) expect(type.coerceOutputValue(value)).toBe(name);
  });
});

let plane: ControlPlane;
let owner: Browser;
let operator: Browser;

beforeAll(async () => {
  plane = await createControlPlane();
  owner = await createPerson(plane, 'owner@example.com', '203.0.113.1');
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.2');
  await plane.database.pool.query(
    `UPDATE app_user SET operator = true, two_factor_enabled = true WHERE email = 'operator@example.com'`,
  );
});
afterAll(() => plane.close());

async function data(browser: Browser, query: string, variables: object = {}): Promise<Record<string, never>> {
  const answer = await browser.send(query, { variables: { ...variables } });
  expect(answer.errors).toEqual([]);
  return answer.data as Record<string, never>;
}

describe('a row of another version', () => {
  it('is in its page, beside the others', async () => {
    const { pool } = plane.database;
    await pool.query(
      `INSERT INTO audit_entry (id, actor, action, subject, created_at)
       SELECT gen_random_uuid(), 'system', action, 'thing:1', now() + place * interval '1 second'
       FROM unnest(ARRAY['price.add', 'moon.land', 'probe-agent.create']) WITH ORDINALITY AS entry (action, place)`,
    );
    const found = await data(
      operator,
      `{ operator {
           all: auditLog(subject: "thing:1") { nodes { action } }
           some: auditLog(subject: "thing:1", actions: ["price.add", "key.rotate"]) { nodes { action } }
           none: auditLog(subject: "thing:1", actions: []) { nodes { action } }
         } }`,
    );
    expect(found).toEqual({
      operator: {
        all: {
          nodes: [
            { action: 'probe-agent.create' },
            { action: 'moon.land' },
            { action: 'price.add' },
          ],
        },
        some: { nodes: [{ action: 'price.add' }] },
        none: { nodes: [] },
      },
    });
  });

  it('of money, and of an upstream, is answered', async () => {
    const { pool } = plane.database;
    const { rows } = await pool.query(
      `SELECT conname FROM pg_constraint WHERE conrelid = '"grant"'::regclass AND contype = 'c' AND pg_get_constraintdef(oid) LIKE '%kind%'`,
    );
    // As a migration of the next version does before its rows are written.
    for (const { conname } of rows) await pool.query(`ALTER TABLE "grant" DROP CONSTRAINT "${conname}"`);
    await pool.query(
      `UPDATE "grant" SET kind = 'prize' WHERE account_id = (SELECT id FROM account WHERE email = 'owner@example.com')`,
    );
    await pool.query(
      `INSERT INTO upstream (id, protocol, base_url, features) VALUES ('newer', 'messages', 'https://newer.example', '{"systemRole": "sing"}')`,
    );
    expect(await data(owner, '{ account { budget { grants { kind } } } }')).toEqual({
      account: { budget: { grants: [{ kind: 'OTHER' }] } },
    });
    expect(await data(operator, '{ operator { upstreams { upstreamId features { systemRole } } } }')).toEqual({
      operator: { upstreams: [{ upstreamId: 'newer', features: { systemRole: 'OTHER' } }] },
    });
  });

  it('cannot be asked for or written', async () => {
    const written = await operator.send('{ operator { accounts(status: OTHER) { nodes { id } } } }');
    expect(written.errors[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
    const sent = await operator.send(
      'query ($status: AccountStatusInput) { operator { accounts(status: $status) { nodes { id } } } }',
      {
        variables: { status: 'OTHER' },
      },
    );
    expect(sent.errors[0]).toMatchObject({
      message: expect.stringContaining('$status'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });
});
