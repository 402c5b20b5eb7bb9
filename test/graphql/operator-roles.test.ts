import {
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
import { encodeId } from '../../server/graphql/access.ts';
import { buildSchema } from '../../server/graphql/schema.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

/**
 * The roles of operators: support sees and explains, finance handles money and papers, owners do everything. The matrix
 * runs every mutation and reads every field for operators as each of them; it is written here a second time, so that the
 * server's table changes only together with it.
 */

const schema = buildSchema();

/** What less than an owner may do. Everything else is for owners alone. */
const ofSupport = ['addAccountNote', 'addStatusUpdate', 'announce', 'beginAccountView', 'endAnnouncement', 'revokeKey'];
const ofFinance = [
  ...ofSupport,
  'closeModelMismatch',
  'closeMonth',
  'closeTransferReview',
  'createBookPaperDownload',
  'createBooksDownload',
  'createCodes',
  'creditTransfer',
  'endGrant',
  'giveGrant',
  'importVendorUsage',
  'matchTransfer',
  'openAccount',
  'payRefund',
  'recordTransfer',
  'refundOrder',
  'refundTransfer',
  'retryInvoice',
  'revokeCodes',
  'saveBonusSteps',
  'saveJournalAccounts',
  'savePlan',
  'saveTopUp',
  'setAccountLimits',
  'setAccountStatus',
  'setBookTaxes',
  'setExchangeRate',
  'undoRefund',
  'undoTransferMatch',
  'undoVendorImport',
];

/** What support cannot read, and what finance cannot. */
const hiddenFromFinance = ['noticeChannels', 'noticeSettings', 'settings'];
const hiddenFromSupport = [
  ...hiddenFromFinance,
  'bookTaxes',
  'closedMonths',
  'exchangeRates',
  'journalAccounts',
  'margins',
  'nextMonthToClose',
  'revenue',
  'vendorBills',
  'vendorComparison',
  'vendorFiles',
];

const roles = ['owner', 'finance', 'support'] as const;
type Role = (typeof roles)[number];

let plane: ControlPlane;
const operators = {} as Record<Role, Browser>;
let customer: Browser;

beforeAll(async () => {
  plane = await createControlPlane();
  customer = await createPerson(plane, 'customer@example.com', '203.0.113.9');
  for (const [at, role] of roles.entries()) {
    operators[role] = await createPerson(plane, `${role}@example.com`, `203.0.113.${at + 1}`);
    await appoint(role, role);
  }
});
afterAll(() => plane.close());

/** As if they had set up one-time codes and signed in with one. */
const appoint = (who: Role, role: Role | null) =>
  plane.database.pool.query(
    `UPDATE app_user SET two_factor_enabled = true, operator = $2, operator_role = $3 WHERE email = $1`,
    [`${who}@example.com`, role === 'owner', role === 'owner' ? null : role],
  );

const fieldsOf = (name: string) => {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`no type ${name}`);
  return Object.values(type.getFields());
};

const ruleOf = ({ extensions }: { extensions: object }): string =>
  JSON.stringify((extensions as { pothosOptions?: { authScopes?: unknown } }).pothosOptions?.authScopes) ?? '';

/** Every mutation whose rule names operators. */
const mutations = fieldsOf('Mutation').filter((field) => /[oO]perator":true/.test(ruleOf(field)));

const scalars: Record<string, string> = {
  ID: '"x"',
  Int: '1',
  Boolean: 'true',
  UsdAmount: '"1"',
  VndAmount: '"1"',
  DateTime: '"2030-01-01T00:00:00Z"',
};

/** A literal of a type, with the least that must be there. */
function literal(type: GraphQLInputType): string {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return `[${literal(nullable.ofType)}]`;
  if (isInputObjectType(nullable)) {
    const members = Object.values(nullable.getFields()).filter((member) => isNonNullType(member.type));
    return `{ ${members.map((member) => `${member.name}: ${literal(member.type)}`).join(', ')} }`;
  }
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name ?? '';
  return scalars[(nullable as { name: string }).name] ?? '"x"';
}

const argumentsOf = (field: { args: readonly { name: string; type: GraphQLInputType }[] }): string => {
  const list = field.args.filter(({ type }) => isNonNullType(type));
  return list.length === 0 ? '' : `(${list.map(({ name, type }) => `${name}: ${literal(type)}`).join(', ')})`;
};

const selectionOf = (type: GraphQLNamedType): string => {
  if (isScalarType(type) || isEnumType(type)) return '';
  return isUnionType(type) ? '{ __typename ... on Error { code } }' : '{ __typename }';
};

const codesOf = ({ errors }: { errors: { extensions: Record<string, unknown> }[] }) =>
  errors.map(({ extensions }) => extensions['code']);

describe('every mutation for operators', () => {
  it('is one of those that this file knows, or for owners', () => {
    const names = new Set(mutations.map(({ name }) => name));
    expect(ofFinance.filter((name) => !names.has(name))).toEqual([]);
    expect(names.size).toBeGreaterThan(50);
  });

  it.each(roles)('is refused to %s exactly where the role does not allow it', async (role) => {
    const allowed = role === 'owner' ? null : role === 'finance' ? ofFinance : ofSupport;
    const wrong: string[] = [];
    for (const field of mutations) {
      const document = `mutation { ${field.name}${argumentsOf(field)} ${selectionOf(getNamedType(field.type))} }`;
      const answer = await operators[role].send(document);
      const refused = codesOf(answer).includes('OPERATOR_ROLE');
      const isOwn = field.name === 'setAccountLimits';
      if (codesOf(answer).includes('FORBIDDEN')) wrong.push(`${field.name}: forbidden`);
      else if (!isOwn && refused !== (allowed !== null && !allowed.includes(field.name)))
        wrong.push(`${field.name}: ${refused ? 'refused' : 'done'} ${answer.text}`);
      if (role === 'owner') await appoint('owner', 'owner');
    }
    expect(wrong).toEqual([]);
  });

  it('is told of to each role as what it may do', async () => {
    const ask = async (role: Role) =>
      (await operators[role].send('{ operator { role allowedMutations } }')).data?.['operator'];
    expect(await ask('support')).toEqual({ role: 'SUPPORT', allowedMutations: ofSupport.toSorted() });
    expect(await ask('finance')).toEqual({ role: 'FINANCE', allowedMutations: ofFinance.toSorted() });
    expect(await ask('owner')).toMatchObject({
      role: 'OWNER',
      allowedMutations: [...mutations.map(({ name }) => name), 'eraseAccount'].toSorted(),
    });
  });
});

it.each(roles)('%s reads what the role is for, and nothing more', async (role) => {
  const hidden = role === 'owner' ? [] : role === 'finance' ? hiddenFromFinance : hiddenFromSupport;
  const refused: string[] = [];
  for (const field of fieldsOf('Operator')) {
    const document = `{ operator { ${field.name}${argumentsOf(field)} ${selectionOf(getNamedType(field.type))} } }`;
    if (codesOf(await operators[role].send(document)).includes('OPERATOR_ROLE')) refused.push(field.name);
  }
  expect(refused.toSorted()).toEqual(hidden.toSorted());
});

describe('an account of somebody else', () => {
  const limit = `mutation ($input: AccountLimitsInput!) { setAccountLimits(input: $input) {
    __typename ... on Account { limits { spend { day } } } ... on Error { code } } }`;
  const accountIdOf = async (email: string) => {
    const { rows } = await plane.database.pool.query('SELECT id FROM account WHERE email = $1', [email]);
    return encodeId('Account', rows[0].id);
  };

  it('is limited by who handles money, and not by support', async () => {
    const input = { accountId: await accountIdOf('customer@example.com'), spend: { day: '3' } };
    const as = async (browser: Browser) => (await browser.send(limit, { variables: { input } })).data;
    expect(await as(operators.support)).toMatchObject({ setAccountLimits: { code: 'NOT_FOUND' } });
    expect(await as(operators.finance)).toMatchObject({ setAccountLimits: { limits: { spend: { day: '3' } } } });
    const { rows } = await plane.database.pool.query(
      `SELECT actor LIKE 'user:%' AS person FROM audit_entry e JOIN account a ON e.subject = 'account:' || a.id
       WHERE e.action = 'account.limits' AND a.email = 'customer@example.com'`,
    );
    expect(rows).toEqual([{ person: true }]);
    const own = { accountId: await accountIdOf('support@example.com'), spend: { day: '4' } };
    expect((await operators.support.send(limit, { variables: { input: own } })).data).toMatchObject({
      setAccountLimits: { limits: { spend: { day: '4' } } },
    });
  });

  it('is erased by owners of the service alone', async () => {
    const input = { accountId: await accountIdOf('customer@example.com'), email: 'customer@example.com' };
    const erase = `mutation ($input: EraseAccountInput!) { eraseAccount(input: $input) { __typename ... on Error { code } } }`;
    for (const role of ['support', 'finance'] as const) {
      expect((await operators[role].send(erase, { variables: { input } })).data).toMatchObject({
        eraseAccount: { code: 'NOT_FOUND' },
      });
    }
    expect((await customer.send('{ me { user { email } } }')).data).toMatchObject({
      me: { user: { email: 'customer@example.com' } },
    });
  });
});

describe('a role', () => {
  const set = `mutation ($email: String!, $operator: Boolean!, $role: OperatorRole) {
    setOperator(input: { email: $email, operator: $operator, role: $role }) {
      __typename ... on User { operator operatorRole } ... on Error { code } } }`;
  const change = async (email: string, operator: boolean, role?: string) =>
    (await operators.owner.send(set, { variables: { email, operator, role } })).data?.['setOperator'];

  it('counts from the next request on, in sessions and in the tokens that the person made', async () => {
    const { data } = await operators.finance.send(
      `mutation { createAccessToken(input: { name: "t", scopes: [OPERATOR] }) { ... on CreatedAccessToken { secret } } }`,
    );
    const { secret } = (data as { createAccessToken: { secret: string } }).createAccessToken;
    const headers = { authorization: `Bearer ${secret}` };
    const books = '{ operator { bookTaxes { __typename } } }';
    expect(codesOf(await plane.send(books, { headers }))).toEqual([]);
    expect(codesOf(await plane.send('{ operator { settings { group } } }', { headers }))).toEqual(['OPERATOR_ROLE']);
    expect(await change('finance@example.com', true, 'SUPPORT')).toMatchObject({ operatorRole: 'SUPPORT' });
    expect(codesOf(await plane.send(books, { headers }))).toEqual(['OPERATOR_ROLE']);
    expect(codesOf(await operators.finance.send(books))).toEqual(['OPERATOR_ROLE']);
    expect(await change('finance@example.com', false)).toMatchObject({ operator: false, operatorRole: null });
    expect(codesOf(await plane.send('{ operator { plans { planId } } }', { headers }))).toEqual(['FORBIDDEN']);
    expect(await change('finance@example.com', true, 'FINANCE')).toMatchObject({ operatorRole: 'FINANCE' });
  });

  it('of the last owner stays: they are neither demoted nor removed', async () => {
    for (const [operator, role] of [
      [true, 'SUPPORT'],
      [true, 'FINANCE'],
      [false, undefined],
    ] as const)
      expect(await change('owner@example.com', operator, role)).toMatchObject({ code: 'LAST_OPERATOR' });
    expect(await change('finance@example.com', true, 'OWNER')).toMatchObject({ operatorRole: 'OWNER' });
    expect(await change('finance@example.com', true, 'FINANCE')).toMatchObject({ operatorRole: 'FINANCE' });
  });

  it('below an owner’s is nothing to the previous version, whose revocation leaves none behind', async () => {
    const { pool } = plane.database;
    const read = async () =>
      (await pool.query(`SELECT operator, operator_role FROM app_user WHERE email = 'support@example.com'`)).rows[0];
    expect(await read()).toEqual({ operator: false, operator_role: 'support' });
    // What the previous version writes.
    await pool.query(`UPDATE app_user SET operator = true WHERE email = 'support@example.com'`);
    await pool.query(`UPDATE app_user SET operator = false WHERE email = 'support@example.com'`);
    expect(await read()).toEqual({ operator: false, operator_role: null });
    await appoint('support', 'support');
  });
});
