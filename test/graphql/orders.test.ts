/** Orders over GraphQL: receipts, subscriptions, QR codes. */

import { createHash } from 'node:crypto';
import { Steyg } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readBalance } from '../../server/billing/reads/usage.ts';
import { transaction } from '../../server/database/lane.ts';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { savePlan } from '../../server/plans/plans.ts';
import { transfer } from '../plans/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

let plane: ControlPlane;
let an: Browser;
let binh: Browser;
const oneUsd = 10n ** 12n;

beforeAll(async () => {
  plane = await createControlPlane({ identifyAgainMs: 20 });
  await transaction(plane.database.pool, async (client) => {
    const plan = { validDays: null, enabled: true, actor: 'system' };
    const save = (id: string, priceVnd: bigint, budget: bigint, enabled = true) =>
      savePlan(client, { plan: { ...plan, id, name: id, priceVnd, budget, enabled }, actor: 'system' });
    await save('starter', 250_000n, 10n * oneUsd);
    await save('pro', 1_000_000n, 50n * oneUsd);
    await save('secret', 1n, oneUsd, false);
  });
  an = await createPerson(plane, 'an@example.com', '203.0.113.1');
  binh = await createPerson(plane, 'binh@example.com', '203.0.113.2');
});
afterAll(() => plane.close());

const createOrder = `mutation ($input: CreateOrderInput!) {
  createOrder(input: $input) {
    __typename
    ... on Order {
      id memo status priceVnd budget receivedVnd expiresAt
      payment { amountVnd memo qrPayload qrSvg qrPng bank { bin account name } }
      payments { amountVnd }
    }
    ... on Error { code message }
  }
}`;

interface OrderView {
  __typename: string;
  id: string;
  memo: string;
  code?: string;
  [name: string]: unknown;
}

async function buy(browser: Browser, input: object = { planId: 'starter' }): Promise<OrderView> {
  const { data, errors } = await browser.send(createOrder, { variables: { input } });
  expect(errors).toEqual([]);
  return data?.['createOrder'] as OrderView;
}

const pay = (memo: string, amountVnd = 250_000n) =>
  createTransfers({ pool: plane.database.pool, accountNumbers: null }).receive(transfer({ memo, amountVnd }));

const uuidOf = (id: string) => Buffer.from(id, 'base64').toString().split(':')[1] ?? '';

async function operator(email: string): Promise<Browser> {
  const browser = await createPerson(plane, email);
  await plane.database.pool.query('UPDATE app_user SET operator = true WHERE email = $1', [email]);
  return browser;
}

describe('plans', () => {
  it('are public, with what one USD costs, and without those not on sale', async () => {
    const { data } = await plane.send('{ plans { planId priceVnd budget vndPerUsd validDays onSale } }');
    expect(data?.['plans']).toEqual([
      { planId: 'starter', priceVnd: '250000', budget: '10', vndPerUsd: '25000', validDays: null, onSale: true },
      { planId: 'pro', priceVnd: '1000000', budget: '50', vndPerUsd: '20000', validDays: null, onSale: true },
    ]);
  });

  it('are changed by operators with a second factor alone', async () => {
    const save = `mutation { savePlan(input: { planId: "x", name: "X", priceVnd: "1", budget: "1" }) { __typename } }`;
    for (const browser of [an, await operator('op-plans@example.com')]) {
      const { data, errors } = await browser.send(save);
      expect(data?.['savePlan'] ?? null).toBeNull();
      expect(['FORBIDDEN', 'SECOND_FACTOR_REQUIRED']).toContain(errors[0]?.extensions['code']);
    }
    expect((await plane.send('{ plans { planId } }')).data?.['plans']).toHaveLength(2);
  });
});

describe('an order', () => {
  it('says how to pay it', async () => {
    const order = await buy(an);
    expect(order).toMatchObject({
      __typename: 'Order',
      status: 'PENDING',
      priceVnd: '250000',
      budget: '10',
      payments: [],
    });
    expect(order['payment']).toMatchObject({ amountVnd: '250000', memo: order.memo, bank: { bin: '970436' } });
    const payment = order['payment'] as Record<string, string>;
    expect(payment['qrPayload']).toContain(order.memo);
    expect(payment['qrPng']).toMatch(/^data:image\/png;base64,iVBOR/);
  });

  it('that is paid makes budget free at once, and has a receipt', async () => {
    const order = await buy(an);
    const accountId =
      Buffer.from(await accountOf(an), 'base64')
        .toString()
        .split(':')[1] ?? '';
    const before = await readBalance(plane.database.pool, accountId);
    const receiptOf = `query ($id: ID!) { order(id: $id) { memo paidAt priceVnd budget receiptUrl account { email } payments { amountVnd } } }`;
    expect((await an.send(receiptOf, { variables: { id: order.id } })).data?.['order']).toMatchObject({
      paidAt: null,
      receiptUrl: null,
    });
    await pay(order.memo);
    const after = await readBalance(plane.database.pool, accountId);
    expect(after.free - before.free).toBe(10n * oneUsd);
    expect((await an.send(receiptOf, { variables: { id: order.id } })).data?.['order']).toEqual({
      memo: order.memo,
      paidAt: expect.any(String),
      priceVnd: '250000',
      budget: '10',
      receiptUrl: expect.stringContaining('/receipt'),
      account: { email: 'an@example.com' },
      payments: [{ amountVnd: '250000' }],
    });
    expect((await binh.send(receiptOf, { variables: { id: order.id } })).data?.['order']).toBeNull();
  });

  it('that a company pays names both parties on its receipt, and only its own account may say which', async () => {
    const order = await buy(an);
    await pay(order.memo);
    const accountId = await accountOf(an);
    const save = `mutation ($input: SetCompanyInput!) { setCompany(input: $input) {
      __typename ... on Account { company { name taxCode } } ... on InputError { problems { path } } } }`;
    const company = { name: 'CÔNG TY <ABC>', taxCode: '0312345673', address: 'Quận 1' };
    const saved = await an.send(save, { variables: { input: { accountId, company } } });
    expect(saved.data?.['setCompany']).toMatchObject({ company: { name: company.name, taxCode: company.taxCode } });
    const foreign = await binh.send(save, { variables: { input: { accountId, company } } });
    expect(foreign.data?.['setCompany']).toMatchObject({ __typename: 'NotAllowedError' });
    const wrong = await an.send(save, { variables: { input: { accountId, company: { ...company, taxCode: 'MST' } } } });
    expect(wrong.data?.['setCompany']).toMatchObject({ problems: [{ path: ['input', 'company', 'taxCode'] }] });
    await plane.database.pool.query(
      `INSERT INTO seller (name, tax_code, address, support_email, support_phone, terms_url, privacy_url, refund_url)
       VALUES ('STEYG JSC', '0398765432', 'Hà Nội', 'help@steyg.example', '', '', '', '')`,
    );
    const { data } = await an.send('query ($id: ID!) { order(id: $id) { receiptUrl } }', {
      variables: { id: order.id },
    });
    const receipt = data?.['order'] as { receiptUrl: string } | undefined;
    const url = (receipt?.receiptUrl ?? '').replace(/^http:\/\/[^/]+/, '');
    const { body } = await plane.app.inject({ method: 'GET', url: `${url}&lang=vi` });
    for (const text of [
      'CÔNG TY &#60;ABC&#62;',
      'Mã số thuế: 0312345673',
      'Quận 1',
      'STEYG JSC',
      'Mã số thuế: 0398765432',
      'help@steyg.example',
    ])
      expect(body).toContain(text);
    // Another company afterwards changes no receipt of before.
    const kept = await buy(an);
    await pay(kept.memo);
    await an.send(save, { variables: { input: { accountId, company: { ...company, name: 'CÔNG TY KHÁC' } } } });
    const second = await an.send('query ($id: ID!) { order(id: $id) { receiptUrl } }', { variables: { id: kept.id } });
    const address = (second.data?.['order'] as { receiptUrl: string } | undefined)?.receiptUrl ?? '';
    const later = await plane.app.inject({ method: 'GET', url: address.replace(/^http:\/\/[^/]+/, '') });
    expect(later.body).toContain('CÔNG TY &#60;ABC&#62;');
    expect(later.body).not.toContain('CÔNG TY KHÁC');
    await plane.database.pool.query('DELETE FROM seller');
    await an.send(save, { variables: { input: { accountId, company: null } } });
  });

  it('that is paid has a receipt to print, behind a link that shows nothing else', async () => {
    const link = async (browser: Browser, id: string): Promise<string | null> => {
      const { data } = await browser.send('query ($id: ID!) { order(id: $id) { receiptUrl } }', { variables: { id } });
      return (data?.['order'] as { receiptUrl: string | null } | null)?.receiptUrl ?? null;
    };
    const open = (url: string, headers = {}) =>
      plane.app.inject({ method: 'GET', url: url.replace(/^http:\/\/[^/]+/, ''), headers });
    const [order, other] = [await buy(an), await buy(an)];
    expect(await link(an, order.id)).toBeNull();
    await pay(order.memo, 100_000n);
    expect(await link(an, order.id)).toBeNull();
    await pay(order.memo, 151_000n);
    expect(await link(binh, order.id)).toBeNull();
    const url = (await link(an, order.id)) ?? '';
    await plane.database.pool.query(
      `UPDATE account SET name = '<script>alert(1)</script>' WHERE email = 'an@example.com'`,
    );

    const english = await open(url);
    expect(english.statusCode).toBe(200);
    expect(english.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(english.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    for (const text of ['Receipt', order.memo, '₫250,000', '₫251,000', '₫1,000', '10 USD', 'an@example.com'])
      expect(english.body).toContain(text);
    // User-defined texts are escaped, and the page requests nothing but the face of this server, and tells nobody where it stands.
    expect(english.body).toContain('&#60;script&#62;alert(1)');
    expect(english.body).toContain('STEYG &#60;TEST&#62;');
    expect(english.body).not.toMatch(/<script>alert|\ssrc=|@import|<link/);
    const requested = [...english.body.matchAll(/url\(([^)]*)\)/g)].map(([, address = '']) => address);
    expect(requested.filter((address) => !/^\/fonts\/be-vietnam-pro-[\w.]+\/[a-z0-9-]+\.woff2$/.test(address))).toEqual(
      [],
    );
    expect(english.body).toContain('@media print');

    const vietnamese = await open(`${url}&lang=vi`);
    for (const text of ['lang="vi"', 'Biên nhận', '250.000', 'giờ Việt Nam']) expect(vietnamese.body).toContain(text);
    expect((await open(url, { 'accept-language': 'vi-VN,vi;q=0.9' })).body).toContain('lang="vi"');

    // The policy lets in exactly the style and the script that stand in the page.
    const policy = String(english.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    for (const tag of ['style', 'script']) {
      const text = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(english.body)?.[1] ?? '';
      expect(policy).toContain(`${tag}-src 'sha256-${createHash('sha256').update(text).digest('base64')}'`);
    }

    // A grant speaks for one receipt, for an hour, and for nothing else.
    const grant = new URL(url).searchParams.get('grant') ?? '';
    const [payload = '', signature = ''] = grant.split('.');
    const forged = Buffer.from(payload, 'base64url').toString().replace(uuidOf(order.id), uuidOf(other.id));
    expect(forged).toContain(uuidOf(other.id));
    for (const stray of [
      '/downloads/receipt',
      '/downloads/receipt?grant=',
      `/downloads/receipt?grant=${Buffer.from(forged).toString('base64url')}.${signature}`,
      `/downloads/receipt?grant=${payload}`,
      `/downloads/receipt?grant=${grant}&grant=${grant}`,
      `/downloads/ledger.csv?grant=${grant}`,
    ])
      expect((await open(stray)).statusCode).toBe(403);
    vi.useFakeTimers({ now: Date.now() + 61 * 60_000, toFake: ['Date'] });
    const late = await open(url);
    vi.useRealTimers();
    expect(late.statusCode).toBe(403);
  });

  it('is the same for the same idempotency key, and refused for other arguments', async () => {
    const [one, two] = [
      await buy(an, { planId: 'pro', idempotencyKey: 'k' }),
      await buy(an, { planId: 'pro', idempotencyKey: 'k' }),
    ];
    expect(two.id).toBe(one.id);
    expect(await buy(an, { planId: 'starter', idempotencyKey: 'k' })).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it.each([
    ['an unknown plan', { planId: 'nothing' }, 'NOT_FOUND'],
    ['a plan not on sale', { planId: 'secret' }, 'NOT_FOUND'],
    ['text that no id is', { planId: '\u0007x' }, 'NOT_FOUND'],
    ['an upgrade of nothing', { planId: 'pro', upgrades: 'x' }, 'NOT_FOUND'],
    ['an empty idempotency key', { planId: 'pro', idempotencyKey: '' }, 'BAD_INPUT'],
  ])('of %s is refused', async (_, input, code) => {
    const { data, errors } = await an.send(createOrder, { variables: { input } });
    expect((data?.['createOrder'] as OrderView | undefined)?.code ?? errors[0]?.extensions['code']).toBe(code);
  });

  it('of another account answers byte for byte like one that does not exist', async () => {
    const order = await buy(an);
    const missing = Buffer.from('Order:00000000-0000-7000-8000-000000000000').toString('base64');
    for (const document of [
      'query ($id: ID!) { order(id: $id) { memo } }',
      'query ($id: ID!) { node(id: $id) { id } }',
      'mutation ($id: ID!) { cancelOrder(id: $id) { __typename ... on Error { code message } } }',
      'mutation ($id: ID!) { createOrder(input: { planId: "pro", upgrades: $id }) { __typename ... on Error { code message } } }',
    ]) {
      const [foreign, none] = await Promise.all([
        binh.send(document, { variables: { id: order.id } }),
        binh.send(document, { variables: { id: missing } }),
      ]);
      expect(foreign.text).toBe(none.text);
    }
    const { data } = await an.send('query ($id: ID!) { order(id: $id) { status } }', { variables: { id: order.id } });
    expect(data?.['order']).toEqual({ status: 'PENDING' });
  });

  it('is listed page by page', async () => {
    const id = await accountOf(an);
    const list = `query ($id: ID!, $after: String) { node(id: $id) { ... on Account { orders(first: 2, after: $after) {
      edges { node { id memo payments { amountVnd } } } pageInfo { hasNextPage endCursor } } } } }`;
    const seen: string[] = [];
    let after: string | null = null;
    for (;;) {
      const { data, errors } = await an.send(list, { variables: { id, after } });
      expect(errors).toEqual([]);
      const orders = (data as { node: { orders: Page } }).node.orders;
      seen.push(...orders.edges.map(({ node }) => node.memo));
      if (!orders.pageInfo.hasNextPage) break;
      after = orders.pageInfo.endCursor;
    }
    expect(seen.length).toBeGreaterThan(3);
    expect(new Set(seen).size).toBe(seen.length);
    const garbage = await an.send(list, { variables: { id, after: 'not a cursor' } });
    expect(garbage.errors[0]?.extensions['code']).toBe('BAD_INPUT');
  });

  it('can be watched: it is pushed as it is, and again when money arrives', async () => {
    const order = await buy(binh);
    const response = await watch(binh, order.id);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const states: unknown[] = [];
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const line = event.split('\n').find((part) => part.startsWith('data:') && part.includes('orderStatus'));
        if (line === undefined) continue;
        const { data } = JSON.parse(line.slice(5)) as { data: { orderStatus: { status: string } } };
        states.push(data.orderStatus);
        if (data.orderStatus.status === 'PENDING') await pay(order.memo, 100_000n);
        if (data.orderStatus.status === 'PARTIAL') await pay(order.memo, 150_000n);
      }
    }
    expect(states).toEqual([
      { status: 'PENDING', receivedVnd: '0' },
      { status: 'PARTIAL', receivedVnd: '100000' },
      { status: 'PAID', receivedVnd: '250000' },
    ]);
  });
});

it('at most four things can be watched at once, and a client that leaves makes room', async () => {
  const order = await buy(binh);
  const leaving = Array.from({ length: 4 }, () => new AbortController());
  const open = await Promise.all(leaving.map(({ signal }) => watch(binh, order.id, signal)));
  for (const response of open) expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(await (await watch(binh, order.id)).text()).toContain('TOO_MANY_SUBSCRIPTIONS');
  leaving[0]?.abort();
  for (;;) {
    const next = new AbortController();
    leaving.push(next);
    const reader = (await watch(binh, order.id, next.signal)).body?.getReader();
    const first = await reader?.read();
    if (
      !Buffer.from(first?.value ?? [])
        .toString()
        .includes('TOO_MANY')
    )
      break;
  }
  for (const controller of leaving) controller.abort();
});

describe('a subscription ends without being completed, so that its client subscribes and is identified again,', () => {
  const changes: [string, (person: { browser: Browser; email: string; accountId: string }) => Promise<unknown>][] = [
    ['when its person signs out', ({ browser }) => browser.send('mutation { signOut { __typename } }')],
    [
      'when its person gets another role',
      ({ accountId }) =>
        plane.database.pool.query(`UPDATE member SET role = 'viewer' WHERE account_id = $1`, [accountId]),
    ],
    [
      'when its person leaves the account',
      ({ accountId }) => plane.database.pool.query('DELETE FROM member WHERE account_id = $1', [accountId]),
    ],
    [
      'when its account is suspended',
      ({ accountId }) =>
        plane.database.pool.query(`UPDATE account SET status = 'suspended' WHERE id = $1`, [accountId]),
    ],
    [
      'when its session expires',
      ({ email }) =>
        plane.database.pool.query(
          `UPDATE user_session SET expires_at = now() WHERE user_id = (SELECT id FROM app_user WHERE email = $1)`,
          [email],
        ),
    ],
  ];
  it.each(changes)('%s', async (when, change) => {
    const email = `${crypto.randomUUID()}@example.com`;
    const browser = await createPerson(plane, email, `203.0.113.${20 + changes.findIndex(([each]) => each === when)}`);
    const accountId =
      Buffer.from(await accountOf(browser), 'base64')
        .toString()
        .split(':')[1] ?? '';
    const order = await buy(browser);
    const response = await watch(browser, order.id);
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('PENDING')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    await change({ browser, email, accountId });
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read())
      text += Buffer.from(read.value).toString();
    expect(text).not.toContain('event: complete');
  });

  const budgets = 'subscription { budgetChanged { free } }';
  const tokenOf = async (browser: Browser): Promise<{ secret: string; id: string }> => {
    const { data } = await browser.send(
      `mutation { createAccessToken(input: { name: "watch", scopes: [READ] }) { ... on CreatedAccessToken { secret accessToken { id } } } }`,
    );
    const { createAccessToken } = data as { createAccessToken: { secret: string; accessToken: { id: string } } };
    return { secret: createAccessToken.secret, id: createAccessToken.accessToken.id };
  };

  it('when its access token is deleted; the next one is refused', async () => {
    const { secret, id } = await tokenOf(an);
    const subscribe = () => subscribeWith({ authorization: `Bearer ${secret}` }, budgets);
    const response = await subscribe();
    const text = response.text();
    await an.send('mutation ($id: ID!) { revokeAccessToken(id: $id) { __typename } }', {
      variables: { id },
    });
    expect(await text).not.toContain('event: complete');
    expect((await subscribe()).status).toBe(401);
  });

  it('which the SDK does by itself', async () => {
    const browser = await createPerson(plane, 'sdk@example.com', '203.0.113.40');
    const accountId =
      Buffer.from(await accountOf(browser), 'base64')
        .toString()
        .split(':')[1] ?? '';
    const { secret } = await tokenOf(browser);
    address ??= await plane.app.listen({ port: 0, host: '127.0.0.1' });
    const steyg = new Steyg({ baseUrl: `${address}/api`, accessToken: secret });
    let told = 0;
    for await (const event of steyg.subscribe<{ budgetChanged: { free: string } }>(budgets)) {
      expect(event.budgetChanged.free).toMatch(/^[0-9.]+$/);
      told += 1;
      // Its token may read on: the second stream begins with the budget as it is.
      if (told === 2) break;
      await plane.database.pool.query(`UPDATE account SET status = 'suspended' WHERE id = $1`, [accountId]);
    }
    expect(told).toBe(2);
  });
});

let address: string | undefined;

/** Watches an order as a browser would: the same cookies, server-sent events. */
function watch(browser: Browser, id: string, signal?: AbortSignal): Promise<Response> {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const query = 'subscription ($id: ID!) { orderStatus(id: $id) { status receivedVnd } }';
  return subscribeWith({ cookie }, query, { id }, signal);
}

async function subscribeWith(
  headers: Record<string, string>,
  query: string,
  variables: object = {},
  signal?: AbortSignal,
): Promise<Response> {
  address ??= await plane.app.listen({ port: 0, host: '127.0.0.1' });
  return fetch(`${address}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ query, variables }),
    ...(signal === undefined ? {} : { signal }),
  });
}

interface Page {
  edges: { node: { id: string; memo: string } }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

async function accountOf(browser: Browser): Promise<string> {
  const { data } = await browser.send('{ me { accounts { id } } }');
  return (data as { me: { accounts: { id: string }[] } }).me.accounts[0]?.id ?? '';
}
