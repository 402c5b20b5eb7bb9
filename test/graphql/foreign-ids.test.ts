import { randomUUID } from 'node:crypto';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isUnionType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../server/database/lane.ts';
import { encodeId } from '../../server/graphql/access.ts';
import { buildSchema } from '../../server/graphql/schema.ts';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { savePlan } from '../../server/plans/plans.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { addModel, admitted, ask, openLedger, settlement } from '../billing/support.ts';
import { transfer } from '../plans/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/**
 * A sweep over every field of the schema that takes an id: an object of another account must be answered, byte for
 * byte, like one that does not exist, and nothing of it may change. The fields come from the schema, so that a new one
 * is swept on the day it is added.
 */

const schema = buildSchema();

interface SweptField {
  /** `Mutation.deleteKey`, or `Account.ledger` for a field below one's own account. */
  name: string;
  field: GraphQLField<unknown, unknown>;
}

/** Types whose fields are reached from a root without any id. */
const roots: Record<string, (selection: string) => string> = {
  Query: (selection) => `query ($id: ID!) { ${selection} }`,
  Mutation: (selection) => `mutation ($id: ID!) { ${selection} }`,
  Subscription: (selection) => `subscription ($id: ID!) { ${selection} }`,
  Account: (selection) => `query ($id: ID!) { account { ${selection} } }`,
  Operator: (selection) => `query ($id: ID!) { operator { ${selection} } }`,
};

function takesId(type: GraphQLInputType): boolean {
  const named = getNamedType(type);
  return (
    named.name === 'ID' || (isInputObjectType(named) && Object.values(named.getFields()).some((f) => takesId(f.type)))
  );
}

const sweptFields: SweptField[] = Object.keys(roots).flatMap((typeName) => {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) return [];
  return Object.values(type.getFields())
    .filter((field) => field.args.some((argument) => takesId(argument.type)))
    .map((field) => ({ name: `${typeName}.${field.name}`, field }));
});

/** A literal of a type: every id in it is the variable `$id`, everything else is what must be there, kept small. */
function literal(type: GraphQLInputType): string {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return `[${literal(nullable.ofType)}]`;
  if (isInputObjectType(nullable)) {
    const members = Object.values(nullable.getFields()).filter((f) => isNonNullType(f.type) || takesId(f.type));
    return `{ ${members.map((member) => `${member.name}: ${literal(member.type)}`).join(', ')} }`;
  }
  if (isEnumType(nullable)) return nullable.getValues().at(-1)?.name ?? '';
  if (!isScalarType(nullable)) throw new Error('no literal for this type');
  return scalarLiterals[nullable.name] ?? `"x"`;
}

const scalarLiterals: Record<string, string> = {
  ID: '$id',
  Int: '1',
  Boolean: 'true',
  UsdAmount: '"1"',
  VndAmount: '"1"',
  DateTime: '"2030-01-01T00:00:00Z"',
};

function selectionOf(type: GraphQLNamedType): string {
  if (isScalarType(type) || isEnumType(type)) return '';
  const sentences = isUnionType(type) ? ' ... on Error { code message }' : '';
  const page = isObjectType(type) && 'edges' in type.getFields() ? ' edges { cursor }' : '';
  return `{ __typename${sentences}${page} }`;
}

function documentOf({ name, field }: SweptField): string {
  const given = field.args.filter(
    (argument: GraphQLArgument) => isNonNullType(argument.type) || takesId(argument.type),
  );
  const list = given.map((argument) => `${argument.name}: ${argumentLiteral(name, argument)}`).join(', ');
  const [owner = ''] = name.split('.');
  return roots[owner]?.(`${field.name}(${list}) ${selectionOf(getNamedType(field.type))}`) ?? '';
}

/** Where a text is not any text. */
function argumentLiteral(name: string, argument: GraphQLArgument): string {
  // Something has been asked since.
  if (name === 'Account.latency' && argument.name === 'from') return JSON.stringify(new Date(Date.now() - 86_400_000));
  if (name === 'Mutation.createOrder') return '{ planId: "starter", accountId: $id }';
  return literal(argument.type);
}

/** Everything that a person has an id of, by type. */
type Belongings = Record<string, string>;

let plane: ControlPlane;
let alice: Browser;
let bob: Browser;
let bobs: Belongings;

beforeAll(async () => {
  plane = await createControlPlane();
  const { pool } = plane.database;
  await addModel(pool, { id: 'big' });
  await transaction(pool, (client) =>
    savePlan(client, {
      plan: { id: 'starter', name: 'Starter', priceVnd: 250_000n, budget: 10n ** 13n, validDays: null, enabled: true },
      actor: 'test',
    }),
  );
  alice = await createPerson(plane, 'alice@example.com', '203.0.113.1');
  bob = await createPerson(plane, 'bob@example.com', '203.0.113.2');
  bobs = await belongingsOf(bob, 'bob@example.com');
});
afterAll(() => plane.close());

async function send(browser: Browser, document: string, variables: Record<string, unknown> = {}) {
  const answer = await browser.send(document, { variables });
  expect(answer.errors).toEqual([]);
  return answer.data as Record<string, Record<string, string>>;
}

async function belongingsOf(browser: Browser, email: string): Promise<Belongings> {
  const { pool } = plane.database;
  const { rows } = await pool.query(
    `SELECT u.id AS "userId", m.account_id AS "accountId",
            (SELECT id FROM user_session s WHERE s.user_id = u.id ORDER BY created_at LIMIT 1) AS "sessionId"
       FROM app_user u JOIN member m ON m.user_id = u.id WHERE u.email = $1`,
    [email],
  );
  const { userId, accountId, sessionId } = rows[0];
  const { rows: second } = await pool.query(
    `INSERT INTO app_user (name, email, email_verified) VALUES ('Second', $1, true) RETURNING id`,
    [`second-${email}`],
  );
  await pool.query(`INSERT INTO member (account_id, user_id, role) VALUES ($1, $2, 'viewer')`, [
    accountId,
    second[0].id,
  ]);

  const { rows: passkey } = await pool.query(
    `INSERT INTO user_passkey (user_id, credential_id, public_key, counter, device_type, backed_up)
     VALUES ($1, $2, '', 0, 'singleDevice', false) RETURNING id`,
    [userId, `passkey of ${email}`],
  );
  const { rows: identity } = await pool.query(
    `INSERT INTO user_identity (user_id, provider, issuer, subject) VALUES ($1, 'oidc', 'https://id.example', $2) RETURNING id`,
    [userId, `subject of ${email}`],
  );
  const key = await send(browser, 'mutation { createKey(input: {}) { ... on NewApiKey { key { id } } } }');
  const makeToken = () =>
    send(
      browser,
      `mutation { createAccessToken(input: { name: "t", scopes: [READ] }) { ... on CreatedAccessToken { accessToken { id } } } }`,
    );
  const [token, secondToken] = [await makeToken(), await makeToken()];
  const invitation = await send(
    browser,
    `mutation { inviteMember(input: { email: "guest@example.com", role: VIEWER }) { ... on Invitation { id } } }`,
  );
  const buy = `mutation { createOrder(input: { planId: "starter" }) { ... on Order { id memo } } }`;
  const order = await send(browser, buy);
  const paid = await send(browser, buy);
  const memo = paid['createOrder']?.['memo'] ?? '';
  await createTransfers({ pool, accountNumbers: null }).receive(transfer({ memo, amountVnd: 250_000n }));
  const endpoint = await send(
    browser,
    `mutation { createWebhookEndpoint(input: { url: "https://hooks.example.com/x" }) { ... on WebhookEndpointWithSecret { endpoint { id } } } }`,
  );
  const endpointId = (endpoint['createWebhookEndpoint'] as unknown as { endpoint: { id: string } }).endpoint.id;
  const delivery = await send(
    browser,
    `mutation ($id: ID!) { sendTestWebhook(id: $id) { ... on WebhookDelivery { id } } }`,
    { id: endpointId },
  );
  const channel = await send(
    browser,
    `mutation { createNoticeChannel(input: { kind: TELEGRAM, name: "t", target: "12345", secret: "123456789:AAExampleTokenOfABotThatIsPlayed_0000" }) { ... on CreatedNoticeChannel { channel { id } } } }`,
  );
  const project = await send(browser, 'mutation { createProject(input: { name: "p" }) { ... on Project { id } } }');
  const batchId = uuidv7();
  await pool.query(
    `INSERT INTO vendor_batch (account_id, id, key_id, form, endpoint, upstream, vendor_id, state, lines, bound, models)
     VALUES ($1, $2, $1, 'messages', '/v1/messages', 'sim', 'x', 'in_progress', 1, 0, '[{ "model": "big", "upstreamModel": "x", "priceId": "x", "prices": { "input": 1, "cacheHit": 1, "cacheWrite5m": 1, "cacheWrite1h": 1, "output": 1 } }]')`,
    [accountId, batchId],
  );
  const keyId = (key['createKey'] as unknown as { key: { id: string } }).key.id;
  return {
    Account: encodeId('Account', accountId),
    User: encodeId('User', userId),
    ApiKey: keyId,
    Project: project['createProject']?.['id'] ?? '',
    AccessToken: (token['createAccessToken'] as unknown as { accessToken: { id: string } }).accessToken.id,
    SecondAccessToken: (secondToken['createAccessToken'] as unknown as { accessToken: { id: string } }).accessToken.id,
    Session: sessionId,
    Passkey: passkey[0].id,
    Identity: identity[0].id,
    Member: encodeId('Member', `${accountId}/${second[0].id}`),
    Invitation: invitation['inviteMember']?.['id'] ?? '',
    Order: order['createOrder']?.['id'] ?? '',
    PaidOrder: paid['createOrder']?.['id'] ?? '',
    NoticeChannel: (channel['createNoticeChannel'] as unknown as { channel: { id: string } }).channel.id,
    WebhookEndpoint: endpointId,
    WebhookDelivery: delivery['sendTestWebhook']?.['id'] ?? '',
    Batch: encodeId('Batch', `${accountId}/${batchId}`),
    LedgerEntry: encodeId('LedgerEntry', `${accountId}/${await finishRequest(accountId, keyId)}`),
  };
}

async function finishRequest(accountId: string, keyId: string): Promise<string> {
  const ledger = await openLedger(plane.database.url);
  try {
    const asked = ask({ accountId, keyId: Buffer.from(keyId, 'base64').toString().slice('ApiKey:'.length) });
    await ledger.ledger.settle(settlement(asked, await admitted(ledger.ledger, asked)));
    return asked.requestId;
  } finally {
    await ledger.close();
  }
}

/** Further ids of a kind: some mutations use theirs up. */
const sameKind: Record<string, string> = { PaidOrder: 'Order', SecondAccessToken: 'AccessToken' };

/** The same kind of id, of nothing. */
function missing(type: string): string {
  if (type === 'Session' || type === 'Passkey' || type === 'Identity') return randomUUID();
  if (type === 'Member') return encodeId(type, `${randomUUID()}/${randomUUID()}`);
  if (type === 'LedgerEntry' || type === 'Batch') return encodeId(type, `${randomUUID()}/${uuidv7()}`);
  return encodeId(sameKind[type] ?? type, randomUUID());
}

async function answerTo(browser: Browser, swept: SweptField, id: string): Promise<string> {
  const headers = swept.name.startsWith('Subscription.') ? { accept: 'text/event-stream' } : {};
  const answer = await browser.raw(documentOf(swept), { variables: { id }, headers });
  // The id of the request is another one for each.
  return `${answer.status}\n${answer.text.replace(/"requestId":"[^"]+"/g, '"requestId":""')}`;
}

/** Every row that belongs to an account or its people. */
async function stateOf(accountId: string): Promise<string> {
  const { rows: tables } = await plane.database.pool.query(
    `SELECT table_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name = 'account_id' ORDER BY 1`,
  );
  const states: string[] = [];
  for (const { name } of tables) {
    const { rows } = await plane.database.pool.query(
      `SELECT md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '')) AS state FROM "${name}" t WHERE account_id = $1`,
      [accountId],
    );
    states.push(`${name} ${rows[0].state}`);
  }
  const people = await plane.database.pool.query(
    `SELECT u.*, s.id AS session FROM app_user u LEFT JOIN user_session s ON s.user_id = u.id
      WHERE u.id IN (SELECT user_id FROM member WHERE account_id = $1) ORDER BY u.id, s.id`,
    [accountId],
  );
  return [...states, JSON.stringify(people.rows)].join('\n');
}

describe('an id of another account', () => {
  it.each(sweptFields.map((swept) => [swept.name, swept] as const))(
    'in %s says nothing and does nothing',
    async (_name, swept) => {
      const accountId = Buffer.from(bobs['Account'] ?? '', 'base64')
        .toString()
        .slice('Account:'.length);
      const before = await stateOf(accountId);
      for (const [type, id] of Object.entries(bobs)) {
        const foreign = await answerTo(alice, swept, id);
        const none = await answerTo(alice, swept, missing(type));
        expect({ type, answer: foreign }).toEqual({ type, answer: none });
        expect(foreign).not.toContain('"INTERNAL"');
        if (type !== subjects[swept.name]) continue;
        // The bare id inside a global one is understood in some places.
        const bare = Buffer.from(id, 'base64').toString().split(':')[1] ?? '';
        expect(await answerTo(alice, swept, bare)).toBe(
          await answerTo(alice, swept, bare.replaceAll(/[0-9a-f]/g, '0')),
        );
      }
      expect(await stateOf(accountId)).toBe(before);
    },
  );

  it('sweeps every field that takes one', () => {
    expect(sweptFields.length).toBeGreaterThanOrEqual(35);
  });
});

/** Fields that only operators reach: the sweep sees them refused, which is the same for every id. */
const operatorFields = new Set([
  'Mutation.addAccountNote',
  'Mutation.beginAccountView',
  'Mutation.revokeKey',
  'Operator.refundQuote',
  'Operator.timeline',
  'Operator.timeline',
  'Operator.account',
  'Operator.invariants',
  'Operator.codeRedemptions',
  'Operator.codeRedemptions',
  'Operator.margins',
  'Mutation.addStatusUpdate',
  'Mutation.closeModelMismatch',
  'Mutation.closeTransferReview',
  'Mutation.creditTransfer',
  'Mutation.createBusinessChannel',
  'Mutation.deleteBusinessChannel',
  'Mutation.testBusinessChannel',
  'Mutation.updateBusinessChannel',
  'Mutation.deleteUpstreamKey',
  'Mutation.endAnnouncement',
  'Mutation.endGrant',
  'Mutation.giveGrant',
  'Mutation.matchTransfer',
  'Mutation.payRefund',
  'Mutation.refundOrder',
  'Mutation.refundTransfer',
  'Mutation.retryInvoice',
  'Mutation.revokeCodes',
  'Mutation.revokeProbeAgent',
  'Mutation.setAccountStatus',
  'Mutation.testRoute',
  'Mutation.undoTransferMatch',
]);

/** What each of the others is about. One that is missing here fails: the sweep must not pass because nothing is found. */
const subjects: Record<string, string> = {
  'Mutation.setAccountLimits': 'Account',
  'Mutation.setAttributionMode': 'Account',
  'Account.ledger': 'ApiKey',
  'Account.usage': 'ApiKey',
  'Account.latency': 'ApiKey',
  'Mutation.approveMachineLogin': 'Account',
  'Mutation.cancelBatch': 'Batch',
  'Mutation.cancelOrder': 'Order',
  'Mutation.createAccessToken': 'Account',
  'Mutation.createAccountExport': 'Account',
  'Mutation.eraseAccount': 'Account',
  'Mutation.redeemCode': 'Account',
  'Mutation.createKey': 'Account',
  'Mutation.createLedgerDownload': 'Account',
  'Mutation.createNoticeChannel': 'Account',
  'Mutation.createOrder': 'Account',
  'Mutation.createProject': 'Account',
  'Mutation.createWebhookEndpoint': 'Account',
  'Mutation.deleteKey': 'ApiKey',
  'Mutation.deleteNoticeChannel': 'NoticeChannel',
  'Mutation.deleteWebhookEndpoint': 'WebhookEndpoint',
  'Mutation.inviteMember': 'Account',
  'Mutation.removeIdentity': 'Identity',
  'Mutation.removeMember': 'Member',
  'Mutation.removePasskey': 'Passkey',
  'Mutation.renamePasskey': 'Passkey',
  'Mutation.replayWebhookDelivery': 'WebhookDelivery',
  'Mutation.revokeAccessToken': 'AccessToken',
  'Mutation.revokeInvitation': 'Invitation',
  'Mutation.revokeSession': 'Session',
  'Mutation.rotateKey': 'ApiKey',
  'Mutation.rotateWebhookSecret': 'WebhookEndpoint',
  'Mutation.setCompany': 'Account',
  'Mutation.sendTestWebhook': 'WebhookEndpoint',
  'Mutation.setMemberBudget': 'Member',
  'Mutation.setMemberRole': 'Member',
  'Mutation.testNoticeChannel': 'NoticeChannel',
  'Mutation.updateKey': 'ApiKey',
  'Mutation.updateProject': 'Project',
  'Mutation.updateNoticeChannel': 'NoticeChannel',
  'Mutation.updateNoticeSettings': 'Account',
  'Mutation.updateWebhookEndpoint': 'WebhookEndpoint',
  'Query.account': 'Account',
  'Query.estimate': 'ApiKey',
  'Query.node': 'LedgerEntry',
  'Query.order': 'Order',
  'Query.receipt': 'PaidOrder',
};

function harm({ name }: SweptField): number {
  return (/delete|remove|revoke|cancel/.test(name) ? 1 : 0) + (/Session/.test(name) ? 1 : 0);
}

describe('an id of one’s own', () => {
  const own = sweptFields.filter(({ name }) => !operatorFields.has(name) && !name.startsWith('Subscription.'));
  // Mutations that end things come last, and the one that ends the caller's session at the very end.
  const gentleFirst = own.toSorted((a, b) => harm(a) - harm(b));

  it.each(gentleFirst.map((swept) => [swept.name, swept] as const))(
    'in %s is answered otherwise',
    async (name, swept) => {
      const type = subjects[name] ?? '';
      expect(Object.keys(bobs)).toContain(type);
      expect(await answerTo(bob, swept, bobs[type] ?? '')).not.toBe(await answerTo(bob, swept, missing(type)));
    },
  );
});
