import { readFile } from 'node:fs/promises';
import { type GraphQLEnumType, getNamedType, isEnumType, isObjectType, Kind, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSchema } from '../../server/graphql/schema.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// Enums in place of strings: rows of another version are answered, older members of inputs go on working.

const schema = buildSchema();

/** Enums of answers whose values this process computes, or that cannot get another one. */
const computed = new Set([
  'EffortSupport',
  'KeyStatus',
  'ModelCapability',
  'OnDisconnect',
  'SearchHitKind',
  'ServiceState',
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
  it('is each that is answered but those that are computed', () => {
    expect(open.length).toBeGreaterThan(30);
    expect(open.filter((type) => type.getValue('OTHER') === undefined).map(({ name }) => name)).toEqual([]);
    const closed = [...computed].filter((name) => (schema.getType(name) as GraphQLEnumType).getValue('OTHER'));
    expect(closed).toEqual([]);
  });

  it.each(open.map((type) => [type.name, type] as const))(
    '%s: a value of another version is OTHER, which cannot be sent',
    (_name, type) => {
      for (const value of ['from another version', '', 'OTHER', 7]) expect(type.coerceOutputValue(value)).toBe('OTHER');
      for (const { name, value } of type.getValues()) expect(type.coerceOutputValue(value)).toBe(name);
      expect(() => type.coerceInputValue('OTHER')).toThrow('answers only');
      expect(() => type.coerceInputLiteral({ kind: Kind.ENUM, value: 'OTHER' })).toThrow('answers only');
    },
  );
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
           all: auditLog(subject: "thing:1") { nodes { action auditAction } }
           some: auditLog(subject: "thing:1", actions: [PRICE_ADD, KEY_ROTATE]) { nodes { auditAction } }
           none: auditLog(subject: "thing:1", actions: []) { nodes { auditAction } }
         } }`,
    );
    expect(found).toEqual({
      operator: {
        all: {
          nodes: [
            { action: 'probe-agent.create', auditAction: 'PROBE_AGENT_CREATE' },
            { action: 'moon.land', auditAction: 'OTHER' },
            { action: 'price.add', auditAction: 'PRICE_ADD' },
          ],
        },
        some: { nodes: [{ auditAction: 'PRICE_ADD' }] },
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
    expect(await data(operator, '{ operator { upstreams { upstreamId ownFeatures { systemRole } } } }')).toEqual({
      operator: { upstreams: [{ upstreamId: 'newer', ownFeatures: { systemRole: 'OTHER' } }] },
    });
  });

  it('cannot be asked for or written', async () => {
    const written = await operator.send('{ operator { accounts(status: OTHER) { nodes { id } } } }');
    expect(written.errors[0]?.extensions['code']).toBe('BAD_USER_INPUT');
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

describe('a member of an input that is an enum', () => {
  /** Sends a mutation with each of two inputs, the newer and the older form, and reads what came of it. */
  async function inBothForms(
    browser: Browser,
    { mutation, result, forms }: { mutation: string; result: string; forms: [newer: object, older: object] },
  ): Promise<unknown[]> {
    const type = `${mutation.slice(0, 1).toUpperCase()}${mutation.slice(1)}Input`;
    const known = {
      createNoticeChannel: 'CreateNoticeChannelInput',
      updateNoticeChannel: 'UpdateNoticeChannelInput',
    };
    const answers: unknown[] = [];
    for (const input of forms) {
      const answer = await data(
        browser,
        `mutation ($input: ${known[mutation as keyof typeof known] ?? type}!) {
           ${mutation}(input: $input) { __typename ... on InputError { problems { path message } } ${result} }
         }`,
        { input },
      );
      answers.push(answer[mutation]);
    }
    return answers;
  }

  it('says what an upstream can, and what becomes of a model’s requests, as the older one does', async () => {
    const upstream = { upstreamId: 'vendor', protocol: 'CHAT_COMPLETIONS', baseUrl: 'https://api.vendor.example/v1' };
    const own = {
      maxTokensField: 'MAX_COMPLETION_TOKENS',
      systemRole: 'HOIST',
      toolChoice: 'AUTO',
      cachedTokens: 'BESIDE',
    };
    const saved = { __typename: 'Upstream', ownFeatures: { ...own, files: true } };
    expect(
      await inBothForms(operator, {
        mutation: 'saveUpstream',
        result: '... on Upstream { ownFeatures { maxTokensField systemRole toolChoice cachedTokens files } }',
        forms: [
          { ...upstream, secret: 'sk-vendor-key-1234', ownFeatures: { ...own, files: true } },
          {
            ...upstream,
            features: {
              maxTokensField: 'max_completion_tokens',
              systemRole: 'hoist',
              toolChoice: 'auto',
              cachedTokens: 'beside',
              files: true,
            },
          },
        ],
      }),
    ).toEqual([saved, saved]);

    const model = { modelId: 'm', displayName: 'M', family: 'm', contextWindow: 1_000, maxOutputTokens: 100 };
    const entry = {
      __typename: 'CatalogEntry',
      reasoningEfforts: ['LOW', 'XHIGH'],
      efforts: ['low', 'xhigh'],
      onUnknownMembers: 'REFUSE',
      unknownMembers: 'refuse',
      capabilities: ['tools', 'poetry'],
      modelCapabilities: ['TOOLS'],
    };
    expect(
      await inBothForms(operator, {
        mutation: 'saveModel',
        result:
          '... on CatalogEntry { reasoningEfforts efforts onUnknownMembers unknownMembers capabilities modelCapabilities }',
        forms: [
          {
            ...model,
            capabilities: ['tools', 'poetry'],
            reasoningEfforts: ['LOW', 'XHIGH'],
            onUnknownMembers: 'REFUSE',
          },
          { ...model, capabilities: ['tools', 'poetry'], efforts: ['low', 'xhigh'], unknownMembers: 'refuse' },
        ],
      }),
    ).toEqual([entry, entry]);
  });

  it('says on which days prices count, as the older one does, and is needed', async () => {
    const prices = { input: '3', cacheHit: '0.3', output: '15' };
    const window = { ...prices, input: '6', hours: ['09:00-12:00'] };
    const forms = (days: object) => ({
      modelId: 'm',
      prices: { ...prices, clock: { timeZone: 'Asia/Shanghai', windows: [{ ...window, ...days }] } },
    });
    const [newer, older, none] = [
      ...(await inBothForms(operator, {
        mutation: 'savePrices',
        result: '... on CatalogEntry { prices { clock { windows { weekdays days } } } }',
        forms: [forms({ weekdays: ['MON', 'SUN'] }), forms({ days: ['mon', 'sun'] })],
      })),
      (
        await inBothForms(operator, {
          mutation: 'savePrices',
          result: '',
          forms: [forms({}), forms({ weekdays: [] })],
        })
      )[0],
    ] as { prices: { clock: object }[]; __typename: string }[];
    const clock = { windows: [{ weekdays: ['MON', 'SUN'], days: ['mon', 'sun'] }] };
    expect(newer?.prices[0]).toEqual({ clock });
    expect(older?.prices).toEqual(expect.arrayContaining([{ clock }]));
    expect(none?.__typename).toBe('InputError');
  });

  it('names a language, and the events of a webhook, as the older one does', async () => {
    const profile = { __typename: 'User', language: 'VI', locale: 'vi' };
    expect(
      await inBothForms(owner, {
        mutation: 'updateProfile',
        result: '... on User { language locale }',
        forms: [{ language: 'VI' }, { locale: 'vi' }],
      }),
    ).toEqual([profile, profile]);

    const channel = {
      kind: 'TELEGRAM',
      name: 't',
      target: '12345',
      secret: '123456789:AAExampleTokenOfABotThatIsPlayed_0000',
    };
    const made = { __typename: 'CreatedNoticeChannel', channel: { language: 'VI' } };
    expect(
      await inBothForms(owner, {
        mutation: 'createNoticeChannel',
        result: '... on CreatedNoticeChannel { channel { language } }',
        forms: [
          { ...channel, language: 'VI' },
          { ...channel, locale: 'vi' },
        ],
      }),
    ).toEqual([made, made]);

    const endpoint = { url: 'https://hooks.example.com/x' };
    const heard = {
      __typename: 'WebhookEndpointWithSecret',
      endpoint: { webhookEvents: ['ORDER_PAID', 'SPEND_BURN_RATE'], events: ['order.paid', 'spend.burn_rate'] },
    };
    expect(
      await inBothForms(owner, {
        mutation: 'createWebhookEndpoint',
        result: '... on WebhookEndpointWithSecret { endpoint { webhookEvents events } }',
        forms: [
          { ...endpoint, webhookEvents: ['ORDER_PAID', 'SPEND_BURN_RATE'] },
          { ...endpoint, events: ['order.paid', 'spend.burn_rate'] },
        ],
      }),
    ).toEqual([heard, heard]);
    const { webhookEventNames, webhookEvents } = await data(
      owner,
      '{ webhookEventNames { name webhookEvent } webhookEvents }',
    );
    expect(webhookEventNames).toContainEqual({ name: 'sign_in.new', webhookEvent: 'SIGN_IN_NEW' });
    expect((webhookEventNames as unknown as { name: string }[]).map(({ name }) => name)).toEqual(webhookEvents);
  });
});

describe('operations of the version before', () => {
  it('are still valid, each of them', async () => {
    const text = await readFile(new URL('support/previous-operations.graphql', import.meta.url), 'utf8');
    const document = parse(text);
    expect(document.definitions.length).toBeGreaterThan(250);
    expect(validate(schema, document, undefined, { maxErrors: 1_000 }).map(({ message }) => message)).toEqual([]);
  });
});
