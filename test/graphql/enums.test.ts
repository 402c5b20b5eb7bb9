import { getNamedType, getNullableType, isEnumType, isListType, isNonNullType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSchema } from '../../server/graphql/schema.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// Enums in place of strings: rows of another version are answered.

const schema = buildSchema();

/** Enums of answers whose values this process computes, or that cannot get another one. */
const computed = new Set([
  'EstimateBoundKind',
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
  'SettingsFinding',
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

describe('an enum that is read from rows', () => {
  const fields = Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !type.name.startsWith('__')
      ? Object.values(type.getFields()).flatMap((field) => {
          const named = getNamedType(field.type);
          return isEnumType(named) && !computed.has(named.name)
            ? [{ name: `${type.name}.${field.name}`, field, named }]
            : [];
        })
      : [],
  );
  /** What this version itself knows of a vendor, before anything is stored. */
  const own = new Set(['FoundModel.kind', 'FoundVendor.protocol', 'VendorEndpoint.protocol']);

  it('is null where this version does not know the value, and lists leave it out', () => {
    expect(fields.length).toBeGreaterThan(50);
    const needed = fields.filter(({ field }) => isNonNullType(field.type) && !isListType(getNullableType(field.type)));
    expect(new Set(needed.map(({ name }) => name))).toEqual(own);
  });

  it('says so where it is described', () => {
    expect(open.length).toBeGreaterThan(30);
    const silent = open.filter(({ description }) => description?.includes('Null in an answer') !== true);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('has one name, in answers and where it is sent', () => {
    const values = Object.values(schema.getTypeMap()).filter((type) => isEnumType(type));
    const sets = values.map((type) =>
      type
        .getValues()
        .map(({ name }) => name)
        .sort()
        .join(),
    );
    const twins = values.filter((_type, place) => sets.indexOf(sets[place] ?? '') !== place);
    expect(twins).toEqual([]);
    expect(values.filter((type) => type.getValue('OTHER') !== undefined)).toEqual([]);
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
          nodes: [{ action: 'probe-agent.create' }, { action: 'moon.land' }, { action: 'price.add' }],
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
      account: { budget: { grants: [{ kind: null }] } },
    });
    expect(await data(operator, '{ operator { upstreams { upstreamId features { systemRole } } } }')).toEqual({
      operator: { upstreams: [{ upstreamId: 'newer', features: { systemRole: null } }] },
    });
  });

  it('cannot be asked for or written', async () => {
    const written = await operator.send('{ operator { accounts(status: OTHER) { nodes { id } } } }');
    expect(written.errors[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
    const sent = await operator.send(
      'query ($status: AccountStatus) { operator { accounts(status: $status) { nodes { id } } } }',
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
