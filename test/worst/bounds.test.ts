import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProjects } from '../../server/accounts/projects.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { parseUsd } from '../../server/core/money.ts';
import { memberTables } from '../../server/wire/members.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { sharedContents } from '../support/pdf-files.ts';
import { bodyOf, costOf, type Door, doors, post, told, worstCatalog } from './support.ts';
import { createWorstVendor, type Plan, type WorstVendor } from './vendor.ts';

/**
 * The worst vendor bills the most that it can for any request. Whatever is sent to it, at once, over two processes: an account's
 * operator loses at most one request, a limit is passed by at most one request, and the invariants hold.
 */

let vendor: WorstVendor;
let apps: [TestApp, TestApp];
beforeAll(async () => {
  vendor = await createWorstVendor();
  const first = await startApp({ catalog: worstCatalog(vendor.url) });
  apps = [first, await startApp({ beside: first })];
});
afterAll(async () => {
  await apps[1].close();
  await apps[0].close();
  await vendor.close();
});

interface Ask {
  door: Door;
  body: (text: string) => Record<string, unknown>;
  /** Another model than that of the door. */
  model?: string;
  plan?: Omit<Plan, 'id'>;
  /** Milliseconds after which the client leaves. */
  leaveMs?: number;
}

let requests = 0;

/** Sends all at once, to both processes in turn, and waits until everything is settled. */
async function attack(
  { secret, accountId }: Customer,
  asks: readonly Ask[],
): Promise<{ served: number; ids: string[] }> {
  let served = 0;
  const ids = await Promise.all(
    asks.map(async ({ door, model, body, plan = {}, leaveMs }, index) => {
      requests += 1;
      const id = `b${requests}`;
      const app = apps[index % 2] ?? apps[0];
      const signal = leaveMs === undefined ? undefined : AbortSignal.timeout(leaveMs);
      try {
        const text = told({ id, chunk: 2_000, ...plan });
        const response = await post(app, {
          door,
          secret,
          body: { ...body(text), ...(model === undefined ? {} : { model }) },
          ...(signal === undefined ? {} : { signal }),
        });
        if (response.status === 200) served += 1;
        await response.text();
      } catch {}
      return id;
    }),
  );
  while (vendor.running > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await apps[0].ledger(accountId);
  return { served, ids };
}

/** What the account's requests came to, beside what the vendor bills for them. */
async function books(accountId: string, ids: readonly string[]) {
  const rows = await apps[0].ledger(accountId);
  const sum = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n);
  const most = (values: readonly bigint[]) => values.reduce((a, b) => (a > b ? a : b), 0n);
  const costs = rows.map((row) => row['cost'] as bigint);
  const charges = rows.map((row) => row['charged'] as bigint);
  const bills = ids.flatMap((id) => vendor.bills.get(id) ?? []).map(costOf);
  return {
    cost: sum(costs),
    charged: sum(charges),
    largest: most([...costs, ...bills]),
    largestCharge: most(charges),
    billed: sum(bills),
    /** Less was charged than it came to, although something was left. */
    free: rows.filter(
      (row) => (row['charged'] as bigint) < (row['cost'] as bigint) && (row['free_after'] as bigint) > 0n,
    ),
  };
}

const times = (count: number, ask: Ask): Ask[] => Array.from({ length: count }, () => ask);
const address = 'https://files.example/large.pdf';
const document: Record<Door, unknown> = {
  messages: { type: 'document', source: { type: 'url', url: address } },
  chat: { type: 'file', file: { file_data: address, filename: 'a.pdf' } },
  responses: { type: 'input_file', file_url: address },
};
const withParts = (door: Door, parts: readonly unknown[], more: Record<string, unknown> = {}): Ask => ({
  door,
  body: (text) => ({ ...bodyOf(door, { model: door, text, parts, cap: 16 }), ...more }),
});

describe('what was lost before there was a bound', () => {
  it.each([
    ...doors.map((door) => [`${door}: documents by address`, withParts(door, [document[door]])] as const),
    ...doors.map(
      (door) => [`${door}: the same, streamed`, withParts(door, [document[door]], { stream: true })] as const,
    ),
    [
      'chat: videos',
      withParts('chat', [{ type: 'video_url', video_url: { url: 'https://files.example/a.mp4' } }]),
    ] as const,
    [
      'chat: two caps',
      {
        door: 'chat',
        body: (text: string) => ({ ...bodyOf('chat', { model: 'chat', text, cap: 1 }), max_tokens: 32_000 }),
      },
    ] as const,
  ])('%s, sixty at once on 1 USD, and again after a top-up', async (_name, ask: Ask) => {
    const customer = await apps[0].customer({ usd: '1' });
    const first = await attack(customer, times(60, ask));
    const lost = await books(customer.accountId, first.ids);
    expect(lost.cost - lost.charged).toBeLessThanOrEqual(lost.largest);
    expect(lost.billed - lost.charged).toBeLessThanOrEqual(lost.largest);
    await apps[0].accounts.giveGrant({
      accountId: customer.accountId,
      amount: 10n ** 12n,
      expiresAt: null,
      actor: 'test',
    });
    const second = await attack(customer, times(60, ask));
    const again = await books(customer.accountId, [...first.ids, ...second.ids]);
    expect(again.cost - again.charged).toBeLessThanOrEqual(2n * again.largest);
  });

  it.each([false, true])('PDFs whose pages share their contents, sixty at once, streamed: %s', async (stream) => {
    const customer = await apps[0].customer({ usd: '1' });
    const data = sharedContents(60, 988_000).toString('base64');
    const part = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
    const { ids } = await attack(
      customer,
      times(60, { ...withParts('messages', [part], { stream }), model: 'reader' }),
    );
    const lost = await books(customer.accountId, ids);
    expect(lost.billed - lost.charged).toBeLessThanOrEqual(lost.largest);
  });

  it('PDFs that are measured, each byte of their text a token and each page the largest picture', async () => {
    const customer = await apps[0].customer({ usd: '1' });
    const data = sharedContents(3, 1_000).toString('base64');
    const part = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
    const input = 3 * (1_000 + 4_784);
    const ask: Ask = { ...withParts('messages', [part]), model: 'reader', plan: { input } };
    const { ids, served } = await attack(customer, times(60, ask));
    const lost = await books(customer.accountId, ids);
    expect(served).toBeGreaterThan(1);
    // Nothing is above the bound, and more than one fits into what is free.
    expect(lost.cost).toBe(lost.billed);
    expect(lost.billed - lost.charged).toBeLessThanOrEqual(lost.largest);
  });

  it('sixty streams of digits, a token a byte', async () => {
    const customer = await apps[0].customer({ usd: '10' });
    const digits = '7'.repeat(60_000);
    const ask: Ask = {
      door: 'chat',
      body: (text) => ({ ...bodyOf('chat', { model: 'chat', text: `${text} ${digits}`, cap: 16 }), stream: true }),
    };
    const { ids } = await attack(customer, times(60, ask));
    const { cost, charged, largest } = await books(customer.accountId, ids);
    expect(cost - charged).toBeLessThanOrEqual(largest);
  });

  it('a project’s budget that its customer sets is no cap on what is charged', async () => {
    const customer = await apps[0].customer({ usd: '1000' });
    const projects = createProjects({ pool: apps[0].pool });
    const made = await projects.create({
      accountId: customer.accountId,
      name: 'cheap',
      limits: { month: 70_000_000_000n, lifetime: null },
      actor: 'test',
    });
    if (made.kind !== 'created') throw new Error(made.kind);
    const key = await apps[0].keys.create({ accountId: customer.accountId, projectId: made.project.id, actor: 'test' });
    if (key.kind !== 'created') throw new Error(key.kind);
    const { ids } = await attack(
      { ...customer, secret: key.secret },
      times(30, withParts('messages', [document.messages])),
    );
    const { free, charged, cost, largestCharge } = await books(customer.accountId, ids);
    expect(free).toEqual([]);
    expect(charged).toBe(cost);
    expect(charged).toBeLessThanOrEqual(70_000_000_000n + largestCharge);
  });

  it.each(['key', 'account', 'burn'] as const)('a limit of the %s is passed by one request at most', async (of) => {
    const limit = 700_000_000_000n;
    const customer = await apps[0].customer({
      usd: '100',
      terms:
        of === 'key'
          ? { limits: { day: limit, week: null, month: null, lifetime: null } }
          : of === 'burn'
            ? { burnLimit: { amount: limit, minutes: 60 } }
            : {},
    });
    if (of === 'account')
      await apps[0].accounts.setLimits({
        accountId: customer.accountId,
        limits: { day: limit, week: null, month: null, lifetime: null },
        actor: 'test',
      });
    const { ids } = await attack(customer, times(60, withParts('messages', [document.messages])));
    const { charged, largestCharge, free } = await books(customer.accountId, ids);
    expect(charged).toBeLessThanOrEqual(limit + largestCharge);
    expect(free).toEqual([]);
  });
});

describe('searches that pass at the vendor’s public price', () => {
  const searching = (door: 'messages' | 'responses', more: Record<string, unknown>): Ask => ({
    door,
    body: (text) => ({
      ...bodyOf(door, { model: door === 'messages' ? 'searcher' : 'asker', text, cap: 16 }),
      ...more,
    }),
  });
  const fetching = { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 900 };
  const offered: [string, Ask][] = [
    ['messages', searching('messages', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] })],
    ['messages, fetches with a number', searching('messages', { tools: [fetching] })],
    ['responses', searching('responses', { tools: [{ type: 'web_search' }] })],
    ['responses, with a number', searching('responses', { tools: [{ type: 'web_search' }], max_tool_calls: 900 })],
  ];

  it.each(offered)('%s: the bill is never above the bound, and all of it is charged', async (_name, ask) => {
    const { secret, accountId } = await apps[0].customer({ usd: '1000' });
    for (const stream of [false, true]) {
      requests += 1;
      const id = `b${requests}`;
      const asked = { door: ask.door, secret, body: { ...ask.body(told({ id })), stream } };
      const estimated = (await (await post(apps[0], { ...asked, path: '/estimate' })).json()) as { most_usd: string };
      const response = await post(apps[0], asked);
      expect([response.status, response.headers.get('x-steyg-dropped-tools')]).toEqual([200, null]);
      await response.text();
      const bill = vendor.bills.get(id);
      if (bill === undefined) throw new Error('the vendor was not asked');
      expect(costOf(bill)).toBeLessThanOrEqual(picoOf(estimated.most_usd));
      expect(bill.input).toBeGreaterThan(1_000_000);
      const row = (await apps[0].ledger(accountId)).find(
        (entry) => entry['request_id'] === response.headers.get('request-id'),
      );
      expect(row).toMatchObject({ cost: costOf(bill), charged: costOf(bill), usage_source: 'reported' });
    }
  });

  it.each(offered)('%s: thirty at once on 1 USD lose one request at most', async (_name, ask) => {
    const customer = await apps[0].customer({ usd: '1' });
    const { ids } = await attack(customer, times(30, ask));
    const lost = await books(customer.accountId, ids);
    expect(lost.billed - lost.charged).toBeLessThanOrEqual(lost.largest);
    expect(lost.free).toEqual([]);
  });
});

/** An amount of USD, as answers have it. */
function picoOf(usd: string): bigint {
  const pico = parseUsd(usd);
  if (pico === null) throw new Error(`no amount: ${usd}`);
  return pico;
}

/** Values that a member may have, and parts of every type that stands in a table. */
const values = fc.constantFrom<unknown>(
  1,
  16,
  32_000,
  true,
  'auto',
  [],
  {},
  { type: 'enabled', budget_tokens: 1_024 },
  [{ type: 'web_search' }],
);
const protocolOf = { messages: 'messages', chat: 'chat-completions', responses: 'responses' } as const;
const partOf = (type: string): Record<string, unknown> => ({
  type,
  text: 'words',
  [type]: { url: address, file_id: 'file-1', file_data: address, data: 'QUJD', format: 'wav', filename: 'a.pdf' },
  source: { type: 'url', url: address },
  file_url: address,
  image_url: type.startsWith('input') ? address : { url: address },
});
const asks = fc.constantFrom(...doors).chain((door) =>
  fc
    .record({
      // Natively, or translated.
      model: fc.oneof({ weight: 2, arbitrary: fc.constant(door) }, fc.constantFrom(...doors)),
      members: fc.oneof(
        fc.constant<Record<string, unknown>>({}),
        fc.dictionary(fc.constantFrom(...Object.keys(memberTables[protocolOf[door]].members)), values, { maxKeys: 2 }),
      ),
      parts: fc.array(
        fc.oneof(
          fc.constant(document[door]),
          fc.constantFrom(...Object.keys(memberTables[protocolOf[door]].parts), 'unheard_of').map(partOf),
        ),
        { maxLength: 2 },
      ),
      text: fc.constantFrom('', '7'.repeat(3_000), 'word '.repeat(2_000)),
      cap: fc.constantFrom(undefined, 16, 2_000, 32_000),
      stream: fc.boolean(),
      leaveMs: fc.option(fc.integer({ min: 5, max: 300 }), { nil: undefined, freq: 3 }),
    })
    .map(
      ({ model, members, parts, text, cap, stream, leaveMs }): Ask => ({
        door,
        ...(leaveMs === undefined ? {} : { leaveMs }),
        body: (plan) => {
          const { model: _model, messages: _messages, input: _input, stream: _stream, ...more } = members;
          return {
            ...bodyOf(door, { model, text: `${plan} ${text}`, parts, ...(cap === undefined ? {} : { cap }) }),
            ...more,
            stream,
          };
        },
      }),
    ),
);

/** Every period and owner of a limit. */
const limited = fc.option(
  fc.record({
    of: fc.constantFrom('day', 'week', 'month', 'lifetime', 'burn', 'account', 'member', 'project'),
    amount: fc.constantFrom(5_000_000_000n, 300_000_000_000n),
  }),
  { nil: null },
);
const unlimited = { day: null, week: null, month: null, lifetime: null };

/** A customer with so much money and, if any, a limit of some kind. */
async function customerWith(usd: string, limit: { of: string; amount: bigint } | null): Promise<Customer> {
  if (limit === null) return apps[0].customer({ usd });
  const { of, amount } = limit;
  if (of === 'burn') return apps[0].customer({ usd, terms: { burnLimit: { amount, minutes: 60 } } });
  if (of in unlimited) return apps[0].customer({ usd, terms: { limits: { ...unlimited, [of]: amount } } });
  const customer = await apps[0].customer({ usd });
  const { accountId, keyId } = customer;
  if (of === 'account') {
    await apps[0].accounts.setLimits({ accountId, limits: { ...unlimited, week: amount }, actor: 'test' });
  } else if (of === 'member') {
    const userId = randomUUID();
    await apps[0].pool.query('UPDATE api_key SET created_by = $2 WHERE id = $1', [keyId, userId]);
    const set = await apps[0].accounts.setMemberLimit({ accountId, userId, month: amount, actor: 'test' });
    if (set.kind !== 'changed') throw new Error(set.kind);
  } else {
    const limits = { month: amount, lifetime: null };
    const made = await apps[0].accounts.projects.create({ accountId, name: 'one', limits, actor: 'test' });
    if (made.kind !== 'created') throw new Error(made.kind);
    await apps[0].keys.change({ accountId, id: keyId, projectId: made.project.id, actor: 'test' });
  }
  return customer;
}

it('any requests at once: one request is lost at most, limits are passed by one at most, and the books hold', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(asks, { minLength: 4, maxLength: 10 }),
      fc.constantFrom('0.02', '0.3', '1', '3'),
      limited,
      async (all, usd, limit) => {
        const customer = await customerWith(usd, limit);
        const { ids } = await attack(customer, [...all, ...all]);
        const { cost, charged, largest, largestCharge, free } = await books(customer.accountId, ids);
        expect(cost - charged).toBeLessThanOrEqual(largest);
        expect(free).toEqual([]);
        expect(charged).toBeLessThanOrEqual(limit === null ? charged : limit.amount + largestCharge);
        expect(await checkInvariants(apps[0].pool, { accounts: [customer.accountId] })).toEqual([]);
      },
    ),
    { numRuns: Number(process.env['WORST_RUNS'] ?? 10), endOnFailure: true },
  );
});

it('no request is charged more than the most that its estimate says, whatever its vendor bills', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(asks, { minLength: 4, maxLength: 10 }), async (all) => {
      // More than any of them can come to: none is refused for want of budget.
      const { secret, accountId } = await apps[0].customer({ usd: '1000' });
      const most = new Map<string, bigint>();
      for (const { door, body } of all) {
        requests += 1;
        // Ten windows and answers of a hundred thousand tokens for whatever it is.
        const plan = { id: `b${requests}`, chunk: 2_000, input: 2_000_000, output: 4_000, searches: 200 };
        const asked = { door, secret, body: body(told(plan)) };
        const estimated = (await (await post(apps[0], { ...asked, path: '/estimate' })).json()) as Record<
          string,
          string
        >;
        const response = await post(apps[0], asked);
        await response.text();
        const id = response.headers.get('request-id');
        if (response.status !== 200 || id === null) continue;
        most.set(id, picoOf(estimated['most_usd'] ?? ''));
      }
      for (const row of await apps[0].ledger(accountId)) {
        const bound = most.get(row['request_id'] as string);
        if (bound === undefined) continue;
        compared += 1;
        expect(row['charged']).toBeLessThanOrEqual(bound);
      }
    }),
    { numRuns: Number(process.env['WORST_RUNS'] ?? 6), endOnFailure: true },
  );
  expect(compared).toBeGreaterThan(5);
});
