/** What was archived is said to be archived, wherever single requests are asked for: never "there is nothing". */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertion, rows } from '../database/rows.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

let plane: ControlPlane;
let owner: Browser;
let operator: Browser;
/** A request that came while a month was open that is archived now. */
const requestId = '016f7a00-0000-7000-8000-000000000000';
const archived = { month: '2020-01', from: '2020-01-01T00:00:00.000Z', to: '2020-02-01T00:00:00.000Z' };
const sentence = /requests of 2020-01 were archived on \d{4}-\d{2}-\d{2}/;

beforeAll(async () => {
  plane = await createControlPlane();
  owner = await createPerson(plane, 'owner@example.com', '203.0.113.1');
  operator = await createPerson(plane, 'operator@example.com', '203.0.113.2');
  const { pool } = plane.database;
  await pool.query(
    `UPDATE app_user SET operator = true, two_factor_enabled = true WHERE email = 'operator@example.com'`,
  );
  await pool.query(insertion('archived_month', (rows['archived_month'] as () => Record<string, unknown>)()));
});
afterAll(() => plane.close());

describe('a request of an archived month', () => {
  it('is refused with a sentence by its id, and one of another month is not there', async () => {
    const query = 'query ($id: String!) { account { ledgerEntry(requestId: $id) { model } } }';
    const { errors } = await owner.send(query, { variables: { id: requestId } });
    expect(errors?.[0]?.message).toMatch(sentence);
    const other = await owner.send(query, { variables: { id: requestId.replace('016f', '015f') } });
    expect(other).toMatchObject({ data: { account: { ledgerEntry: null } } });
  });

  it('is found by the operator’s search', async () => {
    const { data } = await operator.send(
      'query ($text: String!) { operator { search(text: $text) { kind title detail accountId } } }',
      {
        variables: { text: requestId },
      },
    );
    expect(data).toEqual({
      operator: {
        search: [{ kind: 'REQUEST', title: requestId, detail: expect.stringMatching(sentence), accountId: null }],
      },
    });
  });
});

describe('a list of requests', () => {
  it('says which months of its range are archived', async () => {
    const query =
      'query ($from: DateTime, $to: DateTime) { account { archivedMonths(from: $from, to: $to) { month from to } } }';
    const months = async (variables: Record<string, string>) =>
      ((await owner.send(query, { variables })).data as { account: { archivedMonths: unknown[] } }).account
        .archivedMonths;
    expect(await months({})).toEqual([archived]);
    expect(await months({ from: '2020-01-31T23:59:59Z', to: '2021-01-01T00:00:00Z' })).toEqual([archived]);
    expect(await months({ from: '2020-02-01T00:00:00Z' })).toEqual([]);
    expect(await months({ to: '2020-01-01T00:00:00Z' })).toEqual([]);
  });

  it('as CSV says it in the name of its file', async () => {
    const link = async (filter: string) => {
      const { data } = await owner.send(
        `mutation { createLedgerDownload(input: { filter: ${filter} }) { ... on Download { url } } }`,
      );
      const { url } = (data as { createLedgerDownload: { url: string } }).createLedgerDownload;
      return plane.app.inject({ method: 'GET', url: url.replace(/^http:\/\/[^/]+/, '') });
    };
    expect((await link('{}')).headers['content-disposition']).toBe('attachment; filename="ledger-without-2020-01.csv"');
    expect((await link('{ from: "2020-02-01T00:00:00Z" }')).headers['content-disposition']).toBe(
      'attachment; filename="ledger.csv"',
    );
  });

  it('in the export of an account has a line for each archived month', async () => {
    const { data } = await owner.send('mutation { createAccountExport { ... on Download { url } } }');
    const { url } = (data as { createAccountExport: { url: string } }).createAccountExport;
    const reply = await plane.app.inject({ method: 'GET', url: url.replace(/^http:\/\/[^/]+/, '') });
    const lines = reply.body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ type }) => type === 'archived_month')).toMatchObject([{ month: '2020-01' }]);
  });
});

describe('the books', () => {
  it('compare no archived month with a vendor’s file, as if the ledger were empty', async () => {
    const { errors } = await operator.send(
      '{ operator { vendorComparison(from: "2020-01-30", to: "2020-02-02") { compared } } }',
    );
    expect(errors?.[0]?.message).toMatch(sentence);
    const later = await operator.send(
      '{ operator { vendorComparison(from: "2020-02-01", to: "2020-02-02") { compared } } }',
    );
    expect(later.data).toEqual({ operator: { vendorComparison: { compared: 0 } } });
  });

  it('do not begin with a month whose charges are archived', async () => {
    const close = (month: string) =>
      operator.send(
        `mutation { closeMonth(input: { month: "${month}", timeZone: "UTC" }) { __typename ... on Error { message } } }`,
      );
    expect((await close('2020-01')).data).toMatchObject({
      closeMonth: { message: expect.stringMatching(sentence) },
    });
    expect((await close('2020-02')).data).toMatchObject({ closeMonth: { __typename: 'ClosedMonth' } });
  });
});
