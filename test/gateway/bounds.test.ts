import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { errorOf, nativeCatalog, protocols, send, settled } from './support.ts';

/** Every request is bounded before it is sent: what a vendor reports at most, against money and limits, from the front door. */

let app: TestApp;
beforeAll(async () => {
  const prices = '{ input: "3", cacheHit: "0.3", output: "15", perUnit: { search: "0.01" } }';
  app = await startApp({ catalog: nativeCatalog({ prices, more: '    allow: [web_search]' }) });
});
afterAll(() => app.close());

const pico = (usd: number) => BigInt(Math.round(usd * 1e6)) * 1_000_000n;
const address = 'https://example.com/a.pdf';
const whole = { prompt_tokens: 190_000, completion_tokens: 10, total_tokens: 190_010 };
/** A request of chat completions with one part beside its text, whose vendor reports most of its window. */
const withPart = (part: object, more: object = {}) => ({
  model: 'only-chat',
  max_completion_tokens: 100,
  messages: [{ role: 'user', content: [{ type: 'text', text: `[[usage ${JSON.stringify(whole)}]] hi` }, part] }],
  ...more,
});
const parts: [string, object][] = [
  ['a file with an address', { type: 'file', file: { file_data: address } }],
  ['a video', { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }],
  ['a kind of part that is new', { type: 'hologram', hologram: { url: address } }],
];

async function sixty(customers: readonly Customer[], bodyOf: (index: number) => object): Promise<number[]> {
  return Promise.all(
    Array.from({ length: 60 }, async (_none, index) => {
      const { secret } = customers[index % customers.length] as Customer;
      const response = await send(app, protocols.chat, { secret, raw: JSON.stringify(bodyOf(index)) });
      await response.text();
      return response.status;
    }),
  );
}

async function sums(accountId: string): Promise<{ cost: bigint; charged: bigint }> {
  await app.quiet(accountId);
  const { rows } = await app.pool.query(
    'SELECT coalesce(sum(cost), 0)::bigint AS cost, coalesce(sum(charged), 0)::bigint AS charged FROM ledger_entry WHERE account_id = $1',
    [accountId],
  );
  expect(await checkInvariants(app.pool, { accounts: [accountId] })).toEqual([]);
  return rows[0];
}

const estimate = async (secret: string, path: string, body: object) => {
  const response = await fetch(`${app.baseUrl}${path}/estimate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, unknown>;
};
/** The window at the price of its input, and the answer. */
const bound = 200_000 * 3e-6 + 100 * 15e-6;

describe.each([false, true])('60 at once on 1 USD, streamed: %s', (stream) => {
  it.each(parts)('with %s cost no more than there is', async (_what, part) => {
    const customer = await app.customer({ usd: '1' });
    const told = await estimate(customer.secret, protocols.chat.path, withPart(part, { stream }));
    expect(Number(told['most_usd'])).toBeGreaterThanOrEqual(bound);
    expect(told['bound']).toContainEqual(expect.objectContaining({ tokens: 200_000, is_window: true }));
    const statuses = await sixty([customer], () => withPart(part, { stream }));
    expect(statuses.filter((status) => ![200, 429, 402].includes(status))).toEqual([]);
    const { cost, charged } = await sums(customer.accountId);
    expect(charged).toBe(cost);
    expect(cost).toBeLessThanOrEqual(pico(1));
    // One after the other they are served while the money lasts.
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
  });
});

it('what cannot be covered is refused with what it can cost at most, and why', async () => {
  const customer = await app.customer({ usd: '0.3' });
  const response = await send(app, protocols.chat, {
    secret: customer.secret,
    raw: JSON.stringify(withPart({ type: 'file', file: { file_data: address } })),
  });
  expect(response.status).toBe(402);
  const error = await errorOf(response, 'chat-completions');
  expect(Number(error['most_usd'])).toBeGreaterThanOrEqual(bound);
  expect(error.message).toContain("documents by address count as the model's whole window; send the document inline");
});

it('a budget that the customer sets never makes a request free', async () => {
  const customer = await app.customer({ usd: '1000' });
  const { accountId, keyId } = customer;
  const made = await app.accounts.projects.create({
    accountId,
    name: randomUUID(),
    limits: { month: pico(0.07), lifetime: null },
    actor: 'test',
  });
  if (made.kind !== 'created') throw new Error(made.kind);
  await app.keys.change({ accountId, id: keyId, projectId: made.project.id, actor: 'test' });
  const text = `[[usage ${JSON.stringify(whole)}]] ${'7'.repeat(190_000)}`;
  const body = { model: 'only-chat', max_completion_tokens: 100, messages: [{ role: 'user', content: text }] };
  for (let round = 1; round <= 3; round += 1) {
    await sixty([customer], () => body);
    const { cost, charged } = await sums(accountId);
    expect(charged).toBe(cost);
    // Each round lets one request pass the budget.
    expect(cost).toBeLessThanOrEqual(BigInt(round) * pico(0.07 + 0.6));
    const month = pico(0.07) + cost;
    await app.accounts.projects.change({
      accountId,
      id: made.project.id,
      limits: { month, lifetime: null },
      actor: 'test',
    });
  }
});

it.each(['key', 'account', 'burn'])('the limit of a %s is passed by one request at most', async (of) => {
  const customer = await app.customer({ usd: '1000' });
  const limit = pico(0.7).toString();
  if (of === 'key') await app.pool.query(`UPDATE api_key SET limit_day = ${limit} WHERE id = $1`, [customer.keyId]);
  if (of === 'burn')
    await app.pool.query(`UPDATE api_key SET burn_limit = ${limit}, burn_minutes = 60 WHERE id = $1`, [customer.keyId]);
  if (of === 'account')
    await app.pool.query(
      `INSERT INTO account_limit (account_id, limit_day, time_zone) VALUES ($1, ${limit}, 'UTC')
       ON CONFLICT (account_id) DO UPDATE SET limit_day = excluded.limit_day`,
      [customer.accountId],
    );
  await sixty([customer], (index) =>
    withPart({ type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }, { stream: index % 2 === 0 }),
  );
  const { cost, charged } = await sums(customer.accountId);
  expect(charged).toBe(cost);
  expect(charged).toBeLessThanOrEqual(pico(0.7) + pico(bound));
});

it('60 streams of digits, a token a byte, cost no more than the account has and one request', async () => {
  const customer = await app.customer({ usd: '10' });
  const usage = { prompt_tokens: 190_000, completion_tokens: 10, total_tokens: 190_010 };
  const text = `[[usage ${JSON.stringify(usage)}]] ${'7'.repeat(190_000)}`;
  await sixty([customer], () => ({
    model: 'only-chat',
    stream: true,
    max_completion_tokens: 100,
    messages: [{ role: 'user', content: text }],
  }));
  const { cost, charged } = await sums(customer.accountId);
  expect(charged).toBeGreaterThan(pico(5));
  expect(cost - charged).toBeLessThanOrEqual(pico(bound));
});

it('the largest of two caps counts, because nobody knows which one the upstream reads', async () => {
  const customer = await app.customer({ usd: '5' });
  const body = {
    model: 'only-chat',
    max_tokens: 32_000,
    max_completion_tokens: 1,
    messages: [{ role: 'user', content: 'hi' }],
  };
  expect(Number((await estimate(customer.secret, protocols.chat.path, body))['most_usd'])).toBeGreaterThanOrEqual(
    32_000 * 15e-6,
  );
});

it('searches count as often as the request allows, and bring the window each time', async () => {
  const customer = await app.customer({ usd: '100' });
  const body = (tool: object) => ({
    model: 'only-messages',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search', ...tool }],
  });
  const most = async (tool: object) => {
    const response = await fetch(`${app.baseUrl}/v1/messages/estimate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': customer.secret, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body(tool)),
    });
    return Number(((await response.json()) as Record<string, unknown>)['most_usd']);
  };
  expect(await most({ max_uses: 3 })).toBeCloseTo(4 * 0.6 + 3 * 0.01 + 10 * 15e-6, 6);
  expect(await most({})).toBeGreaterThan(16 * 0.6);
});

it('what a vendor reports above the bound is not charged, and marked', async () => {
  const customer = await app.customer({ usd: '100' });
  const text = '[[usage {"prompt_tokens":10,"completion_tokens":1e300,"total_tokens":10}]]';
  const response = await send(app, protocols.chat, {
    secret: customer.secret,
    raw: JSON.stringify({ model: 'only-chat', max_completion_tokens: 1, messages: [{ role: 'user', content: text }] }),
  });
  await response.text();
  expect(await settled(app, customer)).toMatchObject([
    { output: 1n, usage_source: 'clamped', cost: 10n * 3_000_000n + 15_000_000n },
  ]);
});

it.each([{ num_completions: 5 }, { use_beam_search: true }, { extra_body: { n: 5 } }])(
  'a member that multiplies the cost is refused: %j',
  async (member) => {
    const customer = await app.customer();
    const response = await send(app, protocols.chat, {
      secret: customer.secret,
      more: { model: 'only-chat', ...member },
    });
    expect(response.status).toBe(400);
    expect((await errorOf(response, 'chat-completions')).param).toBe(Object.keys(member)[0]);
  },
);
