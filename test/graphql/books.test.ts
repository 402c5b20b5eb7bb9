import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// The books as operators use them: a vendor's file, its comparison, a month's close, the file for an accountant.

let plane: ControlPlane;
let operator: Browser;
let customer: Browser;

beforeAll(async () => {
  plane = await createControlPlane();
  customer = await createPerson(plane, 'customer@example.com', '203.0.113.2');
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.1');
  const { pool } = plane.database;
  await pool.query(`UPDATE app_user SET operator = true WHERE email = 'operator@example.com'`);
  await pool.query(
    `INSERT INTO upstream (id, protocol, base_url) VALUES ('vendor', 'messages', 'https://vendor.example')`,
  );
});
afterAll(() => plane.close());

const importing = `mutation ($csv: String!, $upstream: String!) {
  importVendorUsage(input: { csv: $csv, upstream: $upstream }) {
    __typename ... on VendorUsageImported { file { rows from to } } ... on InputError { problems { path message } } ... on Error { code }
  }
}`;
const take = (csv: string, upstream = 'vendor') => operator.send(importing, { variables: { csv, upstream } });
const closing = `mutation ($month: String!, $timeZone: String) {
  closeMonth(input: { month: $month, timeZone: $timeZone }) {
    __typename ... on ClosedMonth { month timeZone digest statement { margin bought { used } cash { received } } closedBy } ... on Error { code message }
  }
}`;
const close = (month: string, timeZone = 'UTC') => operator.send(closing, { variables: { month, timeZone } });
const compare = (args: string) =>
  operator.send(
    `{ operator { vendorComparison(${args}) { nodes { upstream day model differs vendor { input output cost } ledger { input } } pageInfo { hasNextPage endCursor } compared differing } } }`,
  );
const download = 'mutation { createBooksDownload { ... on Download { url } } }';
const codes = ({ errors }: Answer) => errors.map(({ extensions }) => extensions['code']);

describe('without a second factor', () => {
  it('an operator sees the books, and neither takes a file in nor closes a month', async () => {
    expect(codes(await take('day,model,input\n2026-10-05,m,5'))).toEqual(['SECOND_FACTOR_REQUIRED']);
    expect(codes(await close('2026-09'))).toEqual(['SECOND_FACTOR_REQUIRED']);
    expect((await operator.send('{ operator { closedMonths { month } } }')).data).toEqual({
      operator: { closedMonths: [] },
    });
    const { rows } = await plane.database.pool.query('SELECT FROM vendor_usage UNION ALL SELECT FROM closed_month');
    expect(rows).toEqual([]);
    await plane.database.pool.query(`UPDATE app_user SET two_factor_enabled = true WHERE operator`);
  });
});

describe('a vendor’s file', () => {
  it('is taken in and compared by day and model, in pages, and stands in the audit log', async () => {
    const csv = 'day,model,input,output,cost_usd\n2026-10-05,a,50000,1,0.5\n2026-10-05,b,10,1,\n2026-10-06,a,70000,1,';
    expect((await take(csv)).data).toEqual({
      importVendorUsage: { __typename: 'VendorUsageImported', file: { rows: 3, from: '2026-10-05', to: '2026-10-06' } },
    });
    const days = 'from: "2026-10-01", to: "2026-10-31"';
    const row = (day: string, model: string, input: string, differs: boolean, cost: string | null = null) => ({
      upstream: 'vendor',
      day,
      model,
      differs,
      vendor: { input, output: '1', cost },
      ledger: null,
    });
    const rows = [
      row('2026-10-06', 'a', '70000', true),
      row('2026-10-05', 'a', '50000', true, '0.5'),
      row('2026-10-05', 'b', '10', false),
    ];
    const page = { compared: 3, differing: 2 };
    const pageOf = async (args: string) =>
      ((await compare(args)).data as { operator: { vendorComparison: object } }).operator.vendorComparison;
    const end = (endCursor: string | null, hasNextPage = false) => ({ pageInfo: { endCursor, hasNextPage } });
    expect(await pageOf(days)).toEqual({ ...page, nodes: rows, ...end(String(rows.length)) });
    expect(await pageOf(`${days}, first: 2`)).toEqual({ ...page, nodes: rows.slice(0, 2), ...end('2', true) });
    expect(await pageOf(`${days}, first: 2, after: "2"`)).toEqual({
      ...page,
      nodes: rows.slice(2),
      ...end(String(rows.length)),
    });
    expect(await pageOf(`${days}, differing: true`)).toEqual({ ...page, nodes: rows.slice(0, 2), ...end('2') });
    expect(await pageOf(`${days}, upstream: "other"`)).toEqual({ nodes: [], ...end(null), compared: 0, differing: 0 });
    const { rows: audit } = await plane.database.pool.query(
      `SELECT actor LIKE 'user:%' AS person, subject FROM audit_entry WHERE action = 'books.import'`,
    );
    expect(audit).toEqual([{ person: true, subject: 'upstream:vendor' }]);
  });

  it.each([
    ['that is too large', 'x'.repeat(80_001), '80000'],
    ['without usage', 'day,model,input', 'no usage'],
    ['that cannot be read', 'day,model,input\n2026-10-05,m,x', 'Line 2'],
    ['that takes back more than it has', 'day,model,input\n2026-10-05,m,-5', 'taken back'],
  ])('%s is refused as a problem of the file', async (_, csv, words) => {
    const { data } = await take(csv);
    expect(data).toMatchObject({
      importVendorUsage: { code: 'BAD_INPUT', problems: [{ path: ['input', 'csv'] }] },
    });
    expect(JSON.stringify(data)).toContain(words);
  });

  it('of no upstream is refused', async () => {
    expect((await take('day,model,input\n2026-10-05,m,5', 'nobody')).data).toMatchObject({
      importVendorUsage: { code: 'NOT_FOUND' },
    });
  });

  it.each([
    ['no days', 'from: "2026-10-32", to: "2026-11-01"'],
    ['days in the wrong order', 'from: "2026-10-02", to: "2026-10-01"'],
    ['more days than are read at once', 'from: "2026-01-01", to: "2026-10-01"'],
    ['no cursor', 'from: "2026-10-01", to: "2026-10-01", after: "x"'],
    ['too many rows', 'from: "2026-10-01", to: "2026-10-01", first: 1001'],
  ])('is not compared for %s', async (_, args) => {
    expect(codes(await compare(args))).toEqual(['BAD_INPUT']);
  });
});

describe('a month', () => {
  /** Whatever month it is, the present one is not over. */
  const [present = '', last = '', before = ''] = [0, 1, 2].map((ago) => {
    const now = new Date();
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago)).toISOString().slice(0, 7);
  });

  it('is closed once, in its order, when it is over, and stands in the audit log', async () => {
    expect((await close(before)).data).toMatchObject({
      closeMonth: {
        __typename: 'ClosedMonth',
        month: before,
        timeZone: 'UTC',
        digest: expect.any(String),
        statement: { bought: { used: '0' }, cash: { received: '0' } },
      },
    });
    const refusals: [string, string, string][] = [
      [before, 'CONFLICT', 'was closed on'],
      [present, 'CONFLICT', `the next is ${last}`],
      ['2026-13', 'BAD_INPUT', 'such as 2026-10'],
    ];
    for (const [month, code, words] of refusals) {
      const { data } = await close(month);
      expect(data).toMatchObject({ closeMonth: { code, message: expect.stringContaining(words) } });
    }
    expect((await close(last, 'Asia/Ho_Chi_Minh')).data).toMatchObject({ closeMonth: { timeZone: 'UTC' } });
    expect((await close(present)).data).toMatchObject({
      closeMonth: { code: 'CONFLICT', message: `${present} is not over yet.` },
    });
    const { data } = await operator.send('{ operator { closedMonths { month closedBy } } }');
    expect(data).toMatchObject({ operator: { closedMonths: [{ month: last }, { month: before }] } });
    const { rows } = await plane.database.pool.query(
      `SELECT subject FROM audit_entry WHERE action = 'books.close' AND actor LIKE 'user:%' ORDER BY subject`,
    );
    expect(rows).toEqual([{ subject: `month:${before}` }, { subject: `month:${last}` }]);
  });

  it('goes to an accountant as CSV by a link that needs no session', async () => {
    const { data } = await operator.send(download);
    const { url } = (data as { createBooksDownload: { url: string } }).createBooksDownload;
    const { pathname, search } = new URL(url);
    const reply = await plane.app.inject({ method: 'GET', url: pathname + search });
    expect(reply.headers).toMatchObject({ 'content-type': 'text/csv; charset=utf-8', 'cache-control': 'no-store' });
    expect([...new Set(reply.body.split('\r\n').map((line) => line.split(',')[0]))]).toEqual([
      'month',
      before,
      last,
      '',
    ]);
    const forged = await plane.app.inject({ method: 'GET', url: `${pathname}?grant=x.y` });
    expect(forged.statusCode).toBe(403);
  });
});

describe('what an operator sets for the books', () => {
  const rate = (period: string, value: string) =>
    operator.send(
      `mutation ($input: SetExchangeRateInput!) { setExchangeRate(input: $input) { __typename ... on ExchangeRate { rate setBy } ... on Error { code } } }`,
      { variables: { input: { period, rate: value, source: 'a bank' } } },
    );
  const taxes = (salesVat: number, validFrom = '2026-10-01') =>
    operator.send(
      `mutation ($input: SetBookTaxesInput!) { setBookTaxes(input: $input) { __typename ... on BookTaxes { salesVat note } ... on Error { code } } }`,
      { variables: { input: { validFrom, salesVat, foreignVat: 500, foreignIncome: 500, foreignNet: true } } },
    );
  const accounts = (role: string, number: string) =>
    operator.send(
      `mutation ($accounts: [JournalAccountInput!]!) { saveJournalAccounts(accounts: $accounts) {
         __typename ... on JournalAccountsSaved { accounts { role number } } ... on InputError { problems { path } } } }`,
      { variables: { accounts: [{ role, number }] } },
    );

  it('are exchange rates with their source, taxes and numbers of accounts', async () => {
    expect((await rate('2031-10', '26120.5')).data).toEqual({
      setExchangeRate: { __typename: 'ExchangeRate', rate: '26120.5', setBy: expect.stringContaining('user:') },
    });
    expect((await taxes(1_000)).data).toEqual({ setBookTaxes: { __typename: 'BookTaxes', salesVat: 1_000, note: '' } });
    expect((await accounts('BANK', '1121')).data).toMatchObject({
      saveJournalAccounts: { accounts: expect.arrayContaining([{ role: 'BANK', number: '1121' }]) },
    });
    const { data } = await operator.send(
      '{ operator { exchangeRates(month: "2031-10") { period rate source } bookTaxes { validFrom salesVat } journalAccounts { role number } } }',
    );
    expect(data).toMatchObject({
      operator: {
        exchangeRates: [{ period: '2031-10', rate: '26120.5', source: 'a bank' }],
        bookTaxes: [{ validFrom: '2026-10-01', salesVat: 1_000 }],
        journalAccounts: expect.arrayContaining([{ role: 'BANK', number: '1121' }]),
      },
    });
  });

  it('are refused at the field that is wrong', async () => {
    expect((await rate('2026-13', '26120')).data).toMatchObject({ setExchangeRate: { code: 'BAD_INPUT' } });
    expect((await rate('2031-10', '26.12')).data).toMatchObject({ setExchangeRate: { code: 'BAD_INPUT' } });
    expect((await taxes(5_001)).data).toMatchObject({ setBookTaxes: { code: 'BAD_INPUT' } });
    expect((await taxes(1_000, '2026-02-30')).data).toMatchObject({ setBookTaxes: { code: 'BAD_INPUT' } });
    expect(codes(await accounts('NOTHING', '1'))).toEqual(['BAD_USER_INPUT']);
    expect((await accounts('BANK', 'a b')).data).toMatchObject({
      saveJournalAccounts: { problems: [{ path: ['accounts', '0', 'number'] }] },
    });
  });
});

it('customers see and do nothing of it', async () => {
  for (const query of [
    '{ operator { closedMonths { month } } }',
    '{ operator { vendorComparison(from: "2026-10-01", to: "2026-10-02") { compared } } }',
    'mutation { importVendorUsage(input: { upstream: "vendor", csv: "x" }) { __typename } }',
    'mutation { closeMonth(input: { month: "2026-10" }) { __typename } }',
    '{ operator { bookTaxes { salesVat } } }',
    'mutation { saveJournalAccounts(accounts: []) { __typename } }',
    download,
  ])
    expect(codes(await customer.send(query))).toEqual(['FORBIDDEN']);
});
