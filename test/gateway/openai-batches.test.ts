import OpenAI, { BadRequestError, NotFoundError, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';

/** `/v1/files` and `/v1/batches`: lines travel to the vendor's file and back, and each is charged once at half price. */

const catalog = (simulatorUrl: string): string => `upstreams:
  - { id: open, protocol: chat-completions, profile: openai-gpt5, baseUrl: "${simulatorUrl}/v1", apiKey: vendor-key }
  - { id: open-responses, protocol: responses, profile: openai-gpt5, baseUrl: "${simulatorUrl}/v1", apiKey: vendor-key }
  - { id: plain, protocol: chat-completions, baseUrl: "${simulatorUrl}/v1" }
models:
${entry('chat', 'open', '{ input: "2", cacheHit: "0.2", output: "8", variants: [{ name: batch, times: "0.25" }] }')}
${entry('other', 'open', '{ input: "2", cacheHit: "0.2", output: "8" }')}
${entry('respond', 'open-responses', '{ input: "2", cacheHit: "0.2", output: "8" }')}
${entry('embed', 'open', '{ input: "1", cacheHit: "0", output: "0" }', 'kind: embedding, ')}
${entry('unbatched', 'plain', '{ input: "2", cacheHit: "0.2", output: "8" }')}`;

function entry(id: string, upstream: string, prices: string, more = ''): string {
  return `  - { id: ${id}, displayName: ${id}, family: tests, ${more}contextWindow: 200000, maxOutputTokens: 4000, prices: ${prices}, routes: [{ upstream: ${upstream}, model: vendor-${id} }] }`;
}

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog, simulator: { holdBatches: true }, env: { BATCH_POLL_MS: '400' } });
});
afterAll(() => app.close());

const clientOf = ({ secret }: Customer) => new OpenAI({ apiKey: secret, baseURL: `${app.baseUrl}/v1`, maxRetries: 0 });
const chat = (custom_id: string, text: string, more: object = {}) => ({
  custom_id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: {
    model: 'chat',
    max_completion_tokens: 100,
    messages: [{ role: 'user', content: `${text} ${'word '.repeat(400)}` }],
    ...more,
  },
});
const used = (prompt: number, completion: number) =>
  `[[usage {"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion}}]]`;
const fileOf = (lines: readonly unknown[]) =>
  toFile(Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')), 'mine.jsonl');
const upload = async (client: OpenAI, lines: readonly unknown[]) =>
  client.files.create({ file: await fileOf(lines), purpose: 'batch' });
const begin = async (
  client: OpenAI,
  lines: readonly unknown[],
  endpoint: '/v1/chat/completions' | '/v1/responses' | '/v1/embeddings' = '/v1/chat/completions',
) => client.batches.create({ input_file_id: (await upload(client, lines)).id, endpoint, completion_window: '24h' });

const held = async ({ accountId }: Customer): Promise<bigint> => {
  const { rows } = await app.pool.query(
    'SELECT coalesce(sum(held), 0)::text AS held FROM "grant" WHERE account_id = $1',
    [accountId],
  );
  return BigInt(rows[0].held);
};
const settled = async ({ accountId }: Customer) =>
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
const charges = async (customer: Customer): Promise<string[]> =>
  (await app.ledger(customer.accountId)).map(({ outcome, charged }) => `${String(outcome)} ${String(charged)}`).sort();
const sound = async (customer: Customer) => {
  expect(await held(customer)).toBe(0n);
  expect(await checkInvariants(app.pool, { accounts: [customer.accountId] })).toEqual([]);
};

describe("OpenAI's library", () => {
  it('uploads, runs, and reads the results, at the prices of the variant', async () => {
    const customer = await app.customer();
    const client = clientOf(customer);
    const file = await upload(client, [
      chat('one', used(1_000, 50)),
      chat('two', used(0, 1)),
      chat('bad', '[[status 400]]'),
    ]);
    expect(file).toMatchObject({ object: 'file', purpose: 'batch', status: 'processed' });
    expect(await client.files.retrieve(file.id)).toEqual(file);
    const made = await client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    expect(made).toMatchObject({
      object: 'batch',
      status: 'validating',
      input_file_id: file.id,
      request_counts: { total: 3 },
    });
    expect(await held(customer)).toBeGreaterThan(0n);
    await app.simulator.batches.run();
    const ended = await vi.waitFor(
      async () => {
        const now = await client.batches.retrieve(made.id);
        expect(now.status).toBe('completed');
        return now;
      },
      { timeout: 20_000 },
    );
    expect(ended.request_counts).toEqual({ total: 3, completed: 2, failed: 1 });
    const lines = async (id: string | undefined) =>
      (await (await client.files.content(id ?? '')).text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    const output = await lines(ended.output_file_id);
    expect(new Set(output.map(({ custom_id, response }) => `${custom_id} ${response.body.model}`))).toEqual(
      new Set(['one chat', 'two chat']),
    );
    expect(await lines(ended.error_file_id)).toMatchObject([{ custom_id: 'bad', response: { status_code: 400 } }]);
    await settled(customer);
    // A quarter of 2 and of 8 USD a million: 1000 x 0.5 + 50 x 2, and 2.
    expect(await charges(customer)).toEqual(['completed 2000000', 'completed 600000000', 'upstream_error 0']);
    const [first] = await app.ledger(customer.accountId);
    expect(first).toMatchObject({ variant: 'batch', variant_asked: 'batch' });
    await sound(customer);
  });

  it.each([
    ['responses', '/v1/responses', { model: 'respond', max_output_tokens: 50, input: 'hello' }],
    ['embeddings', '/v1/embeddings', { model: 'embed', input: ['a', 'b'] }],
  ] as const)('runs %s', async (_what, url, body) => {
    const customer = await app.customer();
    const client = clientOf(customer);
    const { id } = await begin(client, [{ custom_id: 'x', method: 'POST', url, body }], url);
    await app.simulator.batches.run();
    await settled(customer);
    const { output_file_id } = await client.batches.retrieve(id);
    expect(JSON.parse(await (await client.files.content(output_file_id ?? '')).text())).toMatchObject({
      custom_id: 'x',
      response: { body: { model: body.model } },
    });
    const [one] = await app.ledger(customer.accountId);
    expect(one).toMatchObject({ outcome: 'completed', usage_source: 'reported' });
    await sound(customer);
  });
});

describe('files are refused by the line, and nothing of them is kept', () => {
  const good = chat('a', 'x');
  const cases: [string, unknown[], RegExp][] = [
    ['no lines', [], /at least one line/],
    ['a name twice', [good, good], /line 2: custom_id: must be unique/],
    [
      'another address',
      [good, { ...good, custom_id: 'b', url: '/v1/responses' }],
      /line 2: url: must be \/v1\/chat\/completions/,
    ],
    ['an address that no batch has', [{ ...good, url: '/v1/moderations' }], /line 1: url: must be one of/],
    ['a stream', [chat('a', 'x', { stream: true })], /line 1: stream/],
    ['an unknown model', [chat('a', 'x', { model: 'nobody' })], /line 1: Requested model nobody is not available/],
    ['a vendor without batches', [chat('a', 'x', { model: 'unbatched' })], /the vendor of unbatched has no batches/],
    [
      'a file by its id',
      [chat('a', 'x', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-x' } }] }] })],
      /line 1: .*file/,
    ],
    ['a further member', [{ ...good, priority: 1 }], /line 1: has other members/],
    ['another method', [{ ...good, method: 'GET' }], /line 1: method: must be POST/],
  ];
  it.each(cases)('%s', async (_what, lines, message) => {
    const customer = await app.customer();
    const error = await upload(clientOf(customer), lines).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BadRequestError);
    expect((error as BadRequestError).message).toMatch(message);
    expect((await clientOf(customer).files.list()).data).toEqual([]);
  });

  it('another purpose, another file of the form, and a body that is no form', async () => {
    const client = clientOf(await app.customer());
    await expect(client.files.create({ file: await fileOf([good]), purpose: 'assistants' })).rejects.toThrow(/purpose/);
    const answer = await fetch(`${app.baseUrl}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.apiKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(415);
    const broken = await fetch(`${app.baseUrl}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.apiKey}`, 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x\r\ncontent-disposition: form-data; name="file"\r\n\r\nnothing',
    });
    expect([broken.status, ((await broken.json()) as { error: { message: string } }).error.message]).toEqual([
      400,
      expect.stringMatching(/form ends too early|line 1/),
    ]);
  });
});

describe('a batch', () => {
  it('is refused as a whole where its bounds are not free, with the figures', async () => {
    const customer = await app.customer({ usd: '0.001' });
    const client = clientOf(customer);
    const file = await upload(
      client,
      Array.from({ length: 20 }, (_, index) => chat(`r${index}`, 'x')),
    );
    const error = await client.batches
      .create({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' })
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      status: 402,
      code: 'insufficient_quota',
      error: { balance_usd: '0.001', held_usd: '0' },
    });
    expect((await client.batches.list()).data).toEqual([]);
    await sound(customer);
  });

  it('is refused with another endpoint, window, metadata, or a file that is not there', async () => {
    const client = clientOf(await app.customer());
    const { id } = await upload(client, [chat('a', 'x')]);
    const base = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
    await expect(client.batches.create({ ...base, endpoint: '/v1/responses' })).rejects.toThrow(/endpoint/);
    await expect(client.batches.create({ ...base, completion_window: '1h' as '24h' })).rejects.toThrow(
      /completion_window/,
    );
    await expect(client.batches.create({ ...base, metadata: { a: 'b' } })).rejects.toThrow(/metadata/);
    await expect(client.batches.create({ ...base, input_file_id: 'file-nope' })).rejects.toThrow(/no file/);
  });

  it('is refused where prices have changed since its file was uploaded', async () => {
    const customer = await app.customer();
    const client = clientOf(customer);
    const { id } = await upload(client, [chat('a', 'x', { model: 'other' })]);
    await app.pool.query(
      `INSERT INTO price (id, model_id, input, cache_hit, output, valid_from)
       SELECT gen_random_uuid(), model_id, input * 2, cache_hit, output, now() FROM price WHERE model_id = 'other'`,
    );
    const create = client.batches.create({
      input_file_id: id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    await expect(create).rejects.toThrow(/prices have changed/);
    await sound(customer);
  });

  it('costs nothing for lines that were canceled or have expired, and once what is answered twice', async () => {
    const customer = await app.customer();
    const client = clientOf(customer);
    const canceled = await begin(client, [chat('a', 'x'), chat('b', 'x')]);
    expect((await client.batches.cancel(canceled.id)).status).toMatch(/cancel/);
    await settled(customer);
    expect((await client.batches.retrieve(canceled.id)).status).toBe('cancelled');
    const expired = await begin(client, [chat('a', 'x')]);
    app.simulator.batches.expire();
    await settled(customer);
    expect((await client.batches.retrieve(expired.id)).status).toBe('expired');
    await begin(client, [chat('twice-1', used(1_000, 0)), chat('lost-1', 'x')]);
    await app.simulator.batches.run();
    await settled(customer);
    expect(await charges(customer)).toEqual([
      'client_closed 0',
      'client_closed 0',
      'completed 500000000',
      'timeout 0',
      'upstream_error 0',
    ]);
    await sound(customer);
  });

  it('frees its money where its vendor refuses the lines', async () => {
    const customer = await app.customer();
    const client = clientOf(customer);
    const { id } = await begin(client, [chat('a', 'x'), chat('b', 'x', { model: 'other' })]);
    await settled(customer);
    expect((await client.batches.retrieve(id)).status).toBe('failed');
    expect(await app.ledger(customer.accountId)).toEqual([]);
    await sound(customer);
  });
});

it('nobody else reads, lists, cancels or deletes its files and batches', async () => {
  const [owner, stranger] = [await app.customer(), await app.customer()];
  const [mine, theirs] = [clientOf(owner), clientOf(stranger)];
  const batch = await begin(mine, [chat('a', 'x')]);
  await app.simulator.batches.run();
  await settled(owner);
  const { output_file_id: output = '' } = await mine.batches.retrieve(batch.id);
  for (const id of [batch.input_file_id, output]) {
    await expect(theirs.files.retrieve(id)).rejects.toBeInstanceOf(NotFoundError);
    await expect(theirs.files.content(id)).rejects.toBeInstanceOf(NotFoundError);
    await expect(theirs.files.delete(id)).rejects.toBeInstanceOf(NotFoundError);
  }
  await expect(theirs.batches.retrieve(batch.id)).rejects.toBeInstanceOf(NotFoundError);
  await expect(theirs.batches.cancel(batch.id)).rejects.toBeInstanceOf(NotFoundError);
  await expect(
    theirs.batches.create({
      input_file_id: batch.input_file_id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    }),
  ).rejects.toBeInstanceOf(BadRequestError);
  expect([(await theirs.files.list()).data, (await theirs.batches.list()).data]).toEqual([[], []]);
  expect(await mine.files.delete(batch.input_file_id)).toMatchObject({ deleted: true });
  await expect(mine.files.retrieve(batch.input_file_id)).rejects.toBeInstanceOf(NotFoundError);
});

it('a file is deleted when its vendor says so, and is there until then', async () => {
  const customer = await app.customer();
  const client = clientOf(customer);
  const { id, input_file_id: input } = await begin(client, [chat('a', 'x')]);
  await app.simulator.batches.run();
  await settled(customer);
  const { output_file_id: output = '' } = await client.batches.retrieve(id);
  app.simulator.batches.failsToDelete = true;
  for (const name of [input, output]) {
    const failure = await client.files.delete(name).catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 503 });
    expect(await client.files.retrieve(name)).toMatchObject({ id: name });
  }
  app.simulator.batches.failsToDelete = false;
  const before = app.simulator.batches.names.length;
  for (const name of [input, output])
    expect(await client.files.delete(name)).toMatchObject({ id: name, deleted: true });
  expect(app.simulator.batches.names).toHaveLength(before - 2);
  await expect(client.files.retrieve(input)).rejects.toBeInstanceOf(NotFoundError);
});

it('lists no uploaded lines among the files of another purpose', async () => {
  const client = clientOf(await app.customer());
  const { id } = await upload(client, [chat('a', 'x')]);
  expect((await client.files.list({ purpose: 'batch_output' })).data).toEqual([]);
  expect((await client.files.list({ purpose: 'batch' })).data).toMatchObject([{ id }]);
});

it('lists by pages', async () => {
  const client = clientOf(await app.customer());
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) ids.unshift((await begin(client, [chat(name, 'x')])).id);
  const listed: string[] = [];
  for await (const { id } of client.batches.list({ limit: 2 })) listed.push(id);
  expect(listed).toEqual(ids);
  const files: string[] = [];
  for await (const { id } of client.files.list({ limit: 2 })) files.push(id);
  expect(files).toHaveLength(3);
  await app.simulator.batches.run();
});
