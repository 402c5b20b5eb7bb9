import Anthropic, { BadRequestError, NotFoundError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';

/** `/v1/messages/batches`: one hold for all, a charge a line at half price, once, whatever happens in between. */

const catalog = (simulatorUrl: string): string => `upstreams:
  - { id: claude, protocol: messages, profile: anthropic, baseUrl: "${simulatorUrl}", apiKey: vendor-key }
  - { id: claude-two, protocol: messages, profile: anthropic, baseUrl: "${simulatorUrl}" }
  - { id: plain, protocol: messages, baseUrl: "${simulatorUrl}" }
models:
${entry('big', 'claude', '{ input: "3", cacheHit: "0.3", cacheWrite5m: "3.75", cacheWrite1h: "6", output: "15" }')}
${entry('odd', 'claude', '{ input: "0.000003", cacheHit: "0.000001", output: "0.000005" }')}
${entry('elsewhere', 'claude-two', '{ input: "3", cacheHit: "0.3", output: "15" }')}
${entry('unbatched', 'plain', '{ input: "3", cacheHit: "0.3", output: "15" }')}`;

function entry(id: string, upstream: string, prices: string): string {
  return `  - { id: ${id}, displayName: ${id}, family: tests, contextWindow: 200000, maxOutputTokens: 4000, prices: ${prices}, routes: [{ upstream: ${upstream}, model: vendor-${id} }] }`;
}

let app: TestApp;
beforeAll(async () => {
  const port = await freePort();
  app = await startApp({
    catalog,
    simulator: { holdBatches: true },
    env: { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}`, BATCH_POLL_MS: '400' },
  });
});
afterAll(() => app.close());

const clientOf = ({ secret }: Customer) =>
  new Anthropic({ authToken: secret, apiKey: null, baseURL: app.baseUrl, maxRetries: 0 });
const ask = (custom_id: string, text: string, model = 'big') => ({
  custom_id,
  params: { model, max_tokens: 100, messages: [{ role: 'user' as const, content: `${text} ${'word '.repeat(400)}` }] },
});
const used = (input: number, output: number, more = '') =>
  `[[usage {"input_tokens":${input},"output_tokens":${output}${more}}]]`;

const held = async ({ accountId }: Customer): Promise<bigint> => {
  const { rows } = await app.pool.query(
    'SELECT coalesce(sum(held), 0)::text AS held FROM "grant" WHERE account_id = $1',
    [accountId],
  );
  return BigInt(rows[0].held);
};
const settledRow = async ({ accountId }: Customer) =>
  vi.waitFor(
    async () => {
      const { rows } = await app.pool.query(
        'SELECT count(*)::int AS open FROM vendor_batch WHERE account_id = $1 AND settled_at IS NULL',
        [accountId],
      );
      expect(rows[0].open).toBe(0);
    },
    { timeout: 60_000, interval: 50 },
  );
const noneBroken = async ({ accountId }: Customer) =>
  expect(await checkInvariants(app.pool, { accounts: [accountId] })).toEqual([]);

describe("Anthropic's library", () => {
  it('runs a batch to its end and reads the results, each line charged at half price', async () => {
    const customer = await app.customer();
    const client = clientOf(customer);
    const made = await client.messages.batches.create({
      requests: [
        ask('one', used(1_000, 50, ',"cache_read_input_tokens":500')),
        ask('two', used(10, 3), 'odd'),
        ask('failing', '[[status 400]]'),
      ],
    });
    expect(made).toMatchObject({
      type: 'message_batch',
      processing_status: 'in_progress',
      request_counts: { processing: 3, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
      results_url: null,
    });
    expect(made.id).toMatch(/^msgbatch_[0-9a-f]{32}$/);
    expect(await held(customer)).toBeGreaterThan(0n);
    const sent = app.simulator.batches.names.at(-1);
    expect(made.id).not.toContain(sent);
    await app.simulator.batches.run();
    await vi.waitFor(
      async () => expect((await client.messages.batches.retrieve(made.id)).processing_status).toBe('ended'),
      {
        timeout: 20_000,
      },
    );
    const results = new Map<string, Anthropic.Messages.MessageBatchResult>();
    for await (const { custom_id, result } of await client.messages.batches.results(made.id))
      results.set(custom_id, result);
    expect(results.get('one')).toMatchObject({
      type: 'succeeded',
      message: { model: 'big', usage: { input_tokens: 1_000 } },
    });
    expect(results.get('two')).toMatchObject({ type: 'succeeded', message: { model: 'odd' } });
    expect(results.get('failing')).toMatchObject({ type: 'errored' });

    await settledRow(customer);
    const entries = await app.ledger(customer.accountId);
    const [big] = entries.filter(({ model, outcome }) => model === 'big' && outcome === 'completed');
    // 1000 x 1.50 + 500 x 0.15 + 50 x 7.50 USD a million.
    expect(big).toMatchObject({
      cost: 1_950_000_000n,
      charged: 1_950_000_000n,
      price_input: 1_500_000n,
      price_cache_write_5m: 1_875_000n,
    });
    const [odd] = entries.filter(({ model }) => model === 'odd');
    // Half of 3 and of 5, rounded up.
    expect(odd).toMatchObject({ price_input: 2n, price_output: 3n, price_cache_hit: 1n, cost: 29n });
    expect(entries.find(({ outcome }) => outcome === 'upstream_error')).toMatchObject({
      cost: 0n,
      usage_source: 'none',
    });
    expect(entries).toHaveLength(3);
    expect(await held(customer)).toBe(0n);
    await noneBroken(customer);
  });
});

const post = (customer: Customer, body: unknown, path = '') =>
  fetch(`${app.baseUrl}/v1/messages/batches${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${customer.secret}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const rowsOf = async ({ accountId }: Customer): Promise<number> =>
  (await app.pool.query('SELECT count(*)::int AS n FROM vendor_batch WHERE account_id = $1', [accountId])).rows[0].n;
const charges = async (customer: Customer): Promise<string[]> =>
  (await app.ledger(customer.accountId)).map(({ outcome, charged }) => `${String(outcome)} ${String(charged)}`).sort();
const ended = (client: Anthropic, id: string) =>
  vi.waitFor(async () => expect((await client.messages.batches.retrieve(id)).processing_status).toBe('ended'), {
    timeout: 20_000,
  });

describe('refused as a whole, with nothing held, kept or sent', () => {
  const good = ask('a', 'x');
  const cases: [string, unknown, number, RegExp][] = [
    ['no requests', { requests: [] }, 400, /at least one request/],
    ['another member beside the requests', { requests: [good], more: 1 }, 400, /requests/],
    ['a body that ends early', '{"requests":[{"custom_id":"a"', 400, /ends too early/],
    ['a text that does not end', '{"requests":[{"custom_id":"a', 400, /does not end/],
    ['what is no object', { requests: [7] }, 400, /each must be an object/],
    ['a name with other characters', { requests: [{ ...good, custom_id: 'a b' }] }, 400, /requests\.0: custom_id/],
    ['a name twice', { requests: [good, good] }, 400, /requests\.1: custom_id: must be unique/],
    ['a further member of a request', { requests: [{ ...good, url: '/v1/messages' }] }, 400, /Extra inputs/],
    ['a stream', { requests: [{ ...good, params: { ...good.params, stream: true } }] }, 400, /requests\.0: stream/],
    [
      'a speed',
      { requests: [{ ...good, params: { ...good.params, service_tier: 'priority' } }] },
      400,
      /requests\.0: .*service_tier/,
    ],
    [
      'an answer of no tokens',
      { requests: [{ ...good, params: { ...good.params, max_tokens: 0 } }] },
      400,
      /max_tokens/,
    ],
    [
      'an unknown model',
      { requests: [ask('a', 'x', 'nobody')] },
      400,
      /requests\.0: Requested model nobody is not available/,
    ],
    [
      'a vendor without batches',
      { requests: [ask('a', 'x', 'unbatched')] },
      400,
      /the vendor of unbatched has no batches/,
    ],
    [
      'two vendors',
      { requests: [good, ask('b', 'x', 'elsewhere')] },
      400,
      /requests\.1: model: elsewhere does not run where/,
    ],
    [
      'a file of the vendor',
      { requests: [{ ...good, params: { ...good.params, container: 'c' } }] },
      400,
      /requests\.0: .*container/,
    ],
  ];
  it.each(cases)('%s', async (_what, body, status, message) => {
    const customer = await app.customer();
    const before = app.simulator.batches.names.length;
    const answer = await post(customer, body);
    expect(answer.status).toBe(status);
    const { error, type } = (await answer.json()) as { type: string; error: { message: string; type: string } };
    expect([type, error.type]).toEqual(['error', 'invalid_request_error']);
    expect(error.message).toMatch(message);
    expect(await held(customer)).toBe(0n);
    expect(await rowsOf(customer)).toBe(0);
    expect(app.simulator.batches.names).toHaveLength(before);
  });

  it('a budget below the bounds of all lines together, with the figures', async () => {
    const customer = await app.customer({ usd: '0.01' });
    const answer = await post(customer, { requests: Array.from({ length: 20 }, (_, index) => ask(`r${index}`, 'x')) });
    expect(answer.status).toBe(402);
    const { error } = (await answer.json()) as { error: Record<string, string> };
    expect(error).toMatchObject({ type: 'billing_error', balance_usd: '0.01', held_usd: '0' });
    expect(Number(error['required_usd'])).toBeGreaterThan(0.01);
    expect(await rowsOf(customer)).toBe(0);
    expect((await post(customer, { requests: [ask('one', 'x')] })).status).toBe(200);
    await app.simulator.batches.run();
    await settledRow(customer);
    await noneBroken(customer);
  });

  it("a limit of the key, and a model that is not the key's", async () => {
    const limited = await app.customer({
      terms: { limits: { day: 1_000_000_000n, week: null, month: null, lifetime: null } },
    });
    const answer = await post(limited, { requests: [ask('a', 'x')] });
    expect([answer.status, await held(limited)]).toEqual([402, 0n]);
    const narrow = await app.customer({ terms: { models: ['odd'] } });
    expect((await post(narrow, { requests: [ask('a', 'x')] })).status).toBe(403);
    expect(await rowsOf(narrow)).toBe(0);
  });
});

describe('settled', () => {
  it('without its client ever asking again, also after its key was deleted and its account suspended', async () => {
    const customer = await app.customer();
    await clientOf(customer).messages.batches.create({ requests: [ask('a', used(1_000, 10)), ask('b', used(0, 10))] });
    await app.pool.query(`UPDATE api_key SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL`, [
      customer.keyId,
    ]);
    await app.pool.query(`UPDATE account SET status = 'suspended' WHERE id = $1`, [customer.accountId]);
    await app.simulator.batches.run();
    await settledRow(customer);
    expect(await charges(customer)).toEqual(['completed 1575000000', 'completed 75000000']);
    expect(await held(customer)).toBe(0n);
    await noneBroken(customer);
  });

  it('once: a line that the vendor answers twice, and a batch whose results are read again', async () => {
    const customer = await app.customer();
    await clientOf(customer).messages.batches.create({
      requests: [ask('twice-1', used(1_000, 10)), ask('b', used(0, 10))],
    });
    await app.simulator.batches.run();
    await settledRow(customer);
    await app.pool.query('UPDATE vendor_batch SET settled_at = NULL, poll_at = now() WHERE account_id = $1', [
      customer.accountId,
    ]);
    await settledRow(customer);
    expect(await charges(customer)).toEqual(['completed 1575000000', 'completed 75000000']);
    await noneBroken(customer);
  });

  it('never above its bound, whatever the vendor says, and at nothing where it says nothing', async () => {
    const customer = await app.customer();
    await clientOf(customer).messages.batches.create({
      requests: [ask('absurd', used(90_000_000, 9_000_000)), ask('lost-1', 'x')],
    });
    const bound = await held(customer);
    await app.simulator.batches.run();
    await settledRow(customer);
    const entries = await app.ledger(customer.accountId);
    expect(entries.map(({ usage_source }) => String(usage_source)).sort()).toEqual(['clamped', 'none']);
    const [absurd] = entries.filter(({ usage_source }) => usage_source === 'clamped');
    expect(absurd?.['output']).toBe(100n);
    expect((absurd?.['charged'] as bigint) < bound).toBe(true);
    await noneBroken(customer);
  });

  it('what was canceled or has expired costs nothing, and what was answered before is charged', async () => {
    const customer = await app.customer();
    const client = clientOf(customer);
    const canceled = await client.messages.batches.create({ requests: [ask('a', 'x'), ask('b', 'x')] });
    expect((await client.messages.batches.cancel(canceled.id)).cancel_initiated_at).not.toBeNull();
    await ended(client, canceled.id);
    expect((await client.messages.batches.retrieve(canceled.id)).request_counts.canceled).toBe(2);
    const expired = await client.messages.batches.create({ requests: [ask('a', 'x')] });
    app.simulator.batches.expire();
    await ended(client, expired.id);
    await settledRow(customer);
    expect(await charges(customer)).toEqual(['client_closed 0', 'client_closed 0', 'timeout 0']);
    expect(await held(customer)).toBe(0n);
    await noneBroken(customer);
  });

  it('from what it holds, where its account was erased meanwhile', async () => {
    const customer = await app.customer();
    await clientOf(customer).messages.batches.create({ requests: [ask('a', used(1_000, 10))] });
    await app.pool.query('UPDATE account SET erased_at = now() WHERE id = $1', [customer.accountId]);
    await app.pool.query('UPDATE "grant" SET expires_at = now() WHERE account_id = $1', [customer.accountId]);
    const name = app.simulator.batches.names.at(-1) ?? '';
    await settledRow(customer);
    expect(await charges(customer)).toEqual(['client_closed 0']);
    expect(await held(customer)).toBe(0n);
    // The vendor was asked to stop, and to forget it.
    await vi.waitFor(() => expect(app.simulator.batches.names).not.toContain(name), { timeout: 20_000 });
    await noneBroken(customer);
  });
});

it('money stays held, and is shown as held, while no process lives that accepted it', async () => {
  const customer = await app.customer({ usd: '5' });
  await clientOf(customer).messages.batches.create({ requests: [ask('a', used(1_000, 10))] });
  const { rows } = await app.pool.query(`SELECT process_id, escrow FROM hold WHERE account_id = $1`, [
    customer.accountId,
  ]);
  expect(rows).toEqual([{ process_id: '00000000-0000-7000-8000-00000000ba7c', escrow: true }]);
  const usage = (await (
    await fetch(`${app.baseUrl}/v1/usage`, { headers: { authorization: `Bearer ${customer.secret}` } })
  ).json()) as {
    balance: { held_usd: string; free_usd: string };
  };
  expect(Number(usage.balance.held_usd)).toBeGreaterThan(0);
  expect(Number(usage.balance.held_usd) + Number(usage.balance.free_usd)).toBeCloseTo(5);
  await noneBroken(customer);
  await app.simulator.batches.run();
  await settledRow(customer);
});

describe('a request that only the end of a batch could make room for', () => {
  it('is told which batch holds the money and what to do, and not to come back in a second', async () => {
    const batch = { requests: [ask('a', used(1_000, 10))] };
    const rich = await app.customer();
    await post(rich, batch);
    const heldUsd = String(Number(await held(rich)) / 1e12);
    const customer = await app.customer({ usd: String(Number(heldUsd) + 0.0003) });
    const made = await clientOf(customer).messages.batches.create(batch);
    const chat = (path: string, content: string) =>
      fetch(`${app.baseUrl}/v1/chat/completions${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${customer.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'big', max_tokens: 600, messages: [{ role: 'user', content }] }),
      });
    const answers = [
      await post(customer, batch),
      await chat('', 'a'.repeat(1_000)),
      await chat('/estimate', 'a'.repeat(1_000)),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([429, 'false']);
      const { error } = (await answer.json()) as { error: Record<string, string> };
      expect(error).toMatchObject({ held_by_batches_usd: heldUsd, batches: [made.id] });
      expect(error['message']).toContain(made.id);
      expect(error['message']).toMatch(/[Cc]ancel a batch or wait for its end, or top up at http/);
      expect(Number(answer.headers.get('retry-after'))).toBe(59);
      const hours = (Date.parse(String(error['batches_end_at'])) - Date.now()) / 3_600_000;
      expect(hours).toBeGreaterThan(23);
      expect(hours).toBeLessThanOrEqual(24);
    }
    // What is free still works, and so does everything once the batch has ended.
    expect((await chat('', 'ping')).status).toBe(200);
    await app.simulator.batches.run();
    await settledRow(customer);
    expect((await chat('', 'a'.repeat(1_000))).status).toBe(200);
  });

  it('is told to come back soon where running requests hold enough of it', async () => {
    const customer = await app.customer({ usd: '0.012' });
    await post(customer, { requests: [ask('a', 'x')] });
    const leave = new AbortController();
    const send = (content: string, more: object, signal: AbortSignal | null = null) =>
      fetch(`${app.baseUrl}/v1/messages`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${customer.secret}`,
          'content-type': 'application/json',
          'anthropic-version': '2023-06-01',
        },
        body: JSON.stringify({ model: 'big', max_tokens: 600, messages: [{ role: 'user', content }], ...more }),
        signal,
      });
    const running = await send('[[hang 1]]', { stream: true }, leave.signal);
    expect(running.status).toBe(200);
    const answer = await send('ping', {});
    const { error } = (await answer.json()) as { error: { message: string } };
    expect([answer.status, answer.headers.get('retry-after'), error.message]).toEqual([
      429,
      '1',
      expect.stringMatching(/reserved by requests/),
    ]);
    leave.abort();
    await app.simulator.batches.run();
    await settledRow(customer);
  });
});

describe('nobody else', () => {
  it('reads, lists, cancels or deletes it', async () => {
    const [owner, stranger] = [await app.customer(), await app.customer()];
    const { id } = await clientOf(owner).messages.batches.create({ requests: [ask('a', 'x')] });
    const client = clientOf(stranger);
    const unknown = `msgbatch_${'0'.repeat(12)}7${'0'.repeat(19)}`;
    for (const call of ['retrieve', 'cancel', 'delete'] as const) {
      const [theirs, none] = await Promise.all(
        [id, unknown].map((name) => client.messages.batches[call](name).catch((error: unknown) => error)),
      );
      expect(theirs).toBeInstanceOf(NotFoundError);
      expect((theirs as NotFoundError).message.replace(/req_\w+|[0-9a-f-]{36}/g, '')).toBe(
        (none as NotFoundError).message.replace(/req_\w+|[0-9a-f-]{36}/g, ''),
      );
    }
    await expect(client.messages.batches.results(id)).rejects.toBeInstanceOf(NotFoundError);
    expect((await client.messages.batches.list()).data).toEqual([]);
    expect((await clientOf(owner).messages.batches.retrieve(id)).processing_status).toBe('in_progress');
    await app.simulator.batches.run();
    await settledRow(owner);
  });
});

it('lists by pages in both directions, newest first, and forgets what is deleted', async () => {
  const customer = await app.customer();
  const client = clientOf(customer);
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    ids.unshift((await client.messages.batches.create({ requests: [ask(name, 'x')] })).id);
  const listed: string[] = [];
  for await (const { id } of client.messages.batches.list({ limit: 2 })) listed.push(id);
  expect(listed).toEqual(ids);
  const before = await client.messages.batches.list({ limit: 2, before_id: ids[3] as string });
  expect([before.data.map(({ id }) => id), before.has_more]).toEqual([[ids[1], ids[2]], true]);
  const [newest = ''] = ids;
  await expect(client.messages.batches.delete(newest)).rejects.toBeInstanceOf(BadRequestError);
  await expect(client.messages.batches.list({ limit: 0 })).rejects.toBeInstanceOf(BadRequestError);
  await app.simulator.batches.run();
  app.simulator.batches.failsToDelete = true;
  await expect(client.messages.batches.delete(newest)).rejects.toMatchObject({ status: 503 });
  app.simulator.batches.failsToDelete = false;
  expect(await client.messages.batches.retrieve(newest)).toMatchObject({ id: newest });
  expect(await client.messages.batches.delete(newest)).toEqual({ id: newest, type: 'message_batch_deleted' });
  await expect(client.messages.batches.retrieve(newest)).rejects.toBeInstanceOf(NotFoundError);
  expect((await client.messages.batches.list()).data.map(({ id }) => id)).toEqual(ids.slice(1));
  await settledRow(customer);
  expect(await app.ledger(customer.accountId)).toHaveLength(5);
});

it('keeps nothing of what was asked, answered or named', async () => {
  const customer = await app.customer();
  await clientOf(customer).messages.batches.create({
    requests: [ask('canary-name', 'canary-prompt [[say canary-answer]]')],
  });
  await app.simulator.batches.run();
  await settledRow(customer);
  const { rows } = await app.pool.query(
    `SELECT b::text AS batch, (SELECT string_agg(l::text, ' ') FROM vendor_batch_line l WHERE l.source_id = b.id) AS lines
     FROM vendor_batch b WHERE account_id = $1`,
    [customer.accountId],
  );
  expect(JSON.stringify(rows)).not.toMatch(/canary/);
  expect(app.logged.join('')).not.toMatch(/canary/);
});
