/** SePay's listing: transfers that the webhook lost are found once. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { reconcile } from '../../server/plans/bank/reconciliation.ts';
import { createSepay } from '../../server/plans/bank/sepay.ts';
import { createSepayListing } from '../../server/plans/bank/sepay-listing.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { bank, createAccount, createDomain, createPlans, order, purchases, sepayFields } from './support.ts';

let database: TestDatabase;
let server: Server;
let baseUrl: string;
let answer: { status: number; body: unknown };
let asked: { url: string; authorization: string | undefined }[];

beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
  server = createServer((request, response) => {
    asked.push({ url: request.url ?? '', authorization: request.headers.authorization });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/userapi`;
});
afterAll(async () => {
  server.close();
  await database.drop();
});
beforeEach(() => {
  asked = [];
});

const source = () => createSepayListing({ token: 'token', accountNumber: bank.account, baseUrl });

/** A transaction as the list shows it, of the movement that the webhook tells of in `fields`. */
const listed = (fields: ReturnType<typeof sepayFields>, changes: object = {}) => ({
  id: String(fields.id),
  bank_brand_name: fields.gateway,
  account_number: fields.accountNumber,
  transaction_date: fields.transactionDate,
  amount_out: '0.00',
  amount_in: `${fields.transferAmount}.00`,
  accumulated: '19077000.00',
  transaction_content: fields.content,
  reference_number: fields.referenceCode,
  code: null,
  sub_account: null,
  bank_account_id: '19',
  ...changes,
});

describe('the list of transactions', () => {
  it('is asked for from a moment on, in Vietnam’s time, with the token', async () => {
    answer = { status: 200, body: { status: 200, transactions: [] } };
    await source().listSince(new Date('2026-11-21T09:05:00Z'));
    const url = new URL(asked[0]?.url ?? '', baseUrl);
    expect(url.pathname).toBe('/userapi/transactions/list');
    expect(url.searchParams.get('transaction_date_min')).toBe('2026-11-21 16:05:00');
    expect(url.searchParams.get('account_number')).toBe(bank.account);
    expect(asked[0]?.authorization).toBe('Bearer token');
  });

  it('pays what the webhook lost, and recognises what it told', async () => {
    const { transfers } = createDomain(database.pool);
    const accountId = await createAccount(database.pool);
    const [told, lost] = [await order(database.pool, accountId), await order(database.pool, accountId)];
    const [toldFields, lostFields] = [sepayFields(told), sepayFields(lost)];
    const webhook = createSepay({ secret: 'x' }).parse(Buffer.from(JSON.stringify(toldFields)), new Date());
    for (const transfer of webhook ?? []) await transfers.receive(transfer);
    expect(await purchases(database.pool, accountId)).toHaveLength(1);
    answer = {
      status: 200,
      body: {
        transactions: [
          listed(toldFields),
          listed(lostFields),
          listed(sepayFields(lost), { amount_in: '0.00', amount_out: '5000.00' }),
        ],
      },
    };
    const run = () => reconcile({ source: source(), transfers, windowMs: 3_600_000 });
    expect(await run()).toEqual({ duplicate: 1, paid: 1, partial: 0, refund: 0, review: 1 });
    expect(await run()).toEqual({ duplicate: 3, paid: 0, partial: 0, refund: 0, review: 0 });
    expect(await purchases(database.pool, accountId)).toHaveLength(2);
  });

  it('recognises what the webhook told without an id, whichever of them is first', async () => {
    const { orders, transfers } = createDomain(database.pool);
    const accountId = await createAccount(database.pool);
    for (const listedFirst of [false, true]) {
      const half = await order(database.pool, accountId);
      const fields = { ...sepayFields(half), transferAmount: 125_000 };
      const [told] =
        createSepay({ secret: 'x' }).parse(Buffer.from(JSON.stringify({ ...fields, id: null })), new Date()) ?? [];
      if (told === undefined) throw new Error('not understood');
      answer = { status: 200, body: { transactions: [listed(fields)] } };
      const ways = [
        () => transfers.receive(told),
        () => reconcile({ source: source(), transfers, windowMs: 3_600_000 }),
      ];
      for (const take of listedFirst ? ways.reverse() : ways) await take();
      const { receivedVnd, status } = (await orders.find(accountId, half.id)) ?? {};
      expect({ receivedVnd, status }).toEqual({ receivedVnd: 125_000n, status: 'partial' });
    }
    expect(await purchases(database.pool, accountId)).toEqual([]);
  });

  it.each<[string, number, unknown]>([
    ['a refusal', 401, {}],
    ['too many questions', 429, {}],
    ['another shape', 200, { data: [] }],
    [
      'part of a dong',
      200,
      { transactions: [listed(sepayFields({ memo: 'x', priceVnd: 1n }), { amount_in: '1.50' })] },
    ],
    [
      'a negative amount',
      200,
      { transactions: [listed(sepayFields({ memo: 'x', priceVnd: 1n }), { amount_in: '-1.00' })] },
    ],
  ])('with %s is an error, and nothing is taken', async (_, status, body) => {
    answer = { status, body };
    await expect(source().listSince(new Date())).rejects.toThrow(/answered|invalid|Invalid/);
  });
});
