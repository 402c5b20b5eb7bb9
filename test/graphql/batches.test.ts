import Anthropic from '@anthropic-ai/sdk';
import { isFailure, orThrow } from '@steyg/sdk';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createRetention } from '../../server/accounts/retention.ts';
import { createPerson, type Person } from '../browser/people.ts';
import { startApp, type TestApp } from '../support/app.ts';

/** Batches in the control plane: their progress, what they hold and came to, and stopping one. */

const prices = '{ input: "2", cacheHit: "0.2", output: "8" }';
const entry = (id: string): string =>
  `  - { id: ${id}, displayName: ${id}, family: tests, contextWindow: 200000, maxOutputTokens: 4000, prices: ${prices}, routes: [{ upstream: ${id}, model: vendor-${id} }] }`;
const catalog = (simulatorUrl: string): string => `upstreams:
  - { id: claude, protocol: messages, profile: anthropic, baseUrl: "${simulatorUrl}", apiKey: vendor-key }
  - { id: gpt, protocol: chat-completions, profile: openai-gpt5, baseUrl: "${simulatorUrl}/v1", apiKey: vendor-key }
models:
${[entry('claude'), entry('gpt')].join('\n')}`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ catalog, simulator: { holdBatches: true }, env: { BATCH_POLL_MS: '300' } });
});
afterAll(() => app.close());

async function withKey(): Promise<{ person: Person; secret: string; keyId: string }> {
  const person = await createPerson(app);
  const { key, secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'nightly' } }));
  return { person, secret, keyId: key.id };
}
const messages = (secret: string, names: readonly string[]) =>
  new Anthropic({ authToken: secret, apiKey: null, baseURL: app.baseUrl, maxRetries: 0 }).messages.batches.create({
    requests: names.map((custom_id) => ({
      custom_id,
      params: {
        model: 'claude',
        max_tokens: 10,
        messages: [{ role: 'user', content: '[[usage {"input_tokens":10,"output_tokens":1}]]' }],
      },
    })),
  });
async function files(secret: string, names: readonly string[]) {
  const client = new OpenAI({ apiKey: secret, baseURL: `${app.baseUrl}/v1`, maxRetries: 0 });
  const lines = names.map((custom_id) =>
    JSON.stringify({
      custom_id,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'gpt', max_completion_tokens: 10, messages: [{ role: 'user', content: 'hello' }] },
    }),
  );
  const file = await client.files.create({
    file: await toFile(Buffer.from(lines.join('\n')), 'x.jsonl'),
    purpose: 'batch',
  });
  return client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  });
}

const listed = async ({ steyg }: Person, first = 10) => {
  const page = await steyg.console.ledger.listBatches({ first });
  return page?.edges.map(({ node }) => node) ?? [];
};
const settled = (person: Person) =>
  vi.waitFor(async () => expect((await listed(person)).every(({ settledAt }) => settledAt !== null)).toBe(true), {
    timeout: 60_000,
    interval: 50,
  });

it('a batch of each form is listed with its progress, what it holds, and to the pico-USD what it came to', async () => {
  const { person, secret, keyId } = await withKey();
  const anthropic = await messages(secret, ['a', 'b', 'c']);
  const openai = await files(secret, ['a', 'b']);
  const [second, first] = await listed(person);
  expect(first).toMatchObject({
    name: anthropic.id,
    form: 'MESSAGES',
    endpoint: '/v1/messages',
    state: 'IN_PROGRESS',
    models: ['claude'],
    key: { id: keyId, name: 'nightly' },
    lines: 3,
    succeeded: 0,
    charged: null,
    settledAt: null,
  });
  expect(second).toMatchObject({ name: openai.id, form: 'OPENAI', endpoint: '/v1/chat/completions', lines: 2 });
  expect(first?.held).toBe(first?.bound);
  expect(Number(first?.held)).toBeGreaterThan(0);
  await app.simulator.batches.run();
  await settled(person);
  const [, done] = await listed(person);
  // 3 x (10 x 1 + 1 x 4) USD a million.
  expect(done).toMatchObject({ state: 'ENDED', succeeded: 3, held: '0', charged: '0.000042' });
  expect(await person.steyg.console.ledger.findBatch({ id: done?.id ?? '' })).toMatchObject({ name: anthropic.id });
  const { rows } = await app.pool.query(
    `SELECT sum(b.charged)::text AS batches, (SELECT sum(spent)::text FROM "grant" g WHERE g.account_id = b.account_id) AS spent
     FROM vendor_batch b WHERE b.key_id = $1 GROUP BY b.account_id`,
    [Buffer.from(keyId, 'base64').toString().split(':')[1]],
  );
  expect(rows[0].batches).toBe(rows[0].spent);
});

it('pages are walked in order, each batch once', async () => {
  const { person, secret } = await withKey();
  const names: string[] = [];
  for (const name of ['a', 'b', 'c']) names.unshift((await messages(secret, [name])).id);
  const walked: string[] = [];
  for await (const { name } of person.steyg.console.ledger.listBatches({ first: 2 })) walked.push(name);
  expect(walked).toEqual(names);
  await app.simulator.batches.run();
  await settled(person);
});

it('a batch is canceled once, its money is free again, and one that has ended stays as it is', async () => {
  const { person, secret } = await withKey();
  await messages(secret, ['a', 'b']);
  const id = (await listed(person))[0]?.id ?? '';
  const canceled = orThrow(await person.steyg.console.ledger.cancelBatch({ id }));
  expect(canceled).toMatchObject({ state: expect.stringMatching(/CANCELING|ENDED/), cancelAt: expect.anything() });
  await app.simulator.batches.run();
  await settled(person);
  const [ended] = await listed(person);
  expect(ended).toMatchObject({ state: 'ENDED', canceled: 2, held: '0', charged: '0' });
  expect(orThrow(await person.steyg.console.ledger.cancelBatch({ id }))).toMatchObject({ state: 'ENDED', canceled: 2 });
  // One entry of who did it: the second call changed nothing.
  const batch = Buffer.from(id, 'base64').toString().split('/')[1];
  const { rows } = await app.pool.query('SELECT actor, action, before, after FROM audit_entry WHERE subject = $1', [
    `batch:${batch}`,
  ]);
  expect(rows).toEqual([
    {
      actor: expect.stringMatching(/^(user|token):/),
      action: 'batch.cancel',
      before: expect.objectContaining({ state: 'in_progress' }),
      after: expect.objectContaining({ state: 'canceling' }),
    },
  ]);
});

it('lines go with the end of what can be read: 30 days after the settlement, and not those of a file', async () => {
  const { person, secret, keyId } = await withKey();
  await messages(secret, ['a', 'b']);
  await messages(secret, ['c']);
  await files(secret, ['d']);
  await app.simulator.batches.run();
  await settled(person);
  const key = Buffer.from(keyId, 'base64').toString().split(':')[1];
  const aged = (days: number) =>
    app.pool.query(
      `UPDATE vendor_batch SET settled_at = now() - make_interval(days => $2) WHERE key_id = $1 AND (form = 'openai' OR lines = 2)`,
      [key, days],
    );
  const left = async () => {
    const { rows } = await app.pool.query(
      `SELECT b.form, b.lines, (SELECT count(*)::int FROM vendor_batch_line l WHERE l.source_id = coalesce(b.input_file, b.id)) AS kept
       FROM vendor_batch b WHERE key_id = $1 ORDER BY form, lines`,
      [key],
    );
    return rows;
  };
  const kept = [
    { form: 'messages', lines: 1, kept: 1 },
    { form: 'messages', lines: 2, kept: 2 },
    { form: 'openai', lines: 1, kept: 1 },
  ];
  const retention = createRetention({
    pool: app.pool,
    days: { sessionDays: 30, auditDays: 365, attributionDays: 400 },
  });
  await aged(29);
  await retention.apply();
  expect(await left()).toEqual(kept);
  await aged(31);
  expect((await retention.apply()).batchLines).toBe(2);
  expect(await left()).toEqual(kept.map((row) => (row.lines === 2 ? { ...row, kept: 0 } : row)));
  expect(await listed(person)).toHaveLength(3);
});

it('nobody else sees or cancels it, and a token that only reads does not cancel it', async () => {
  const [{ person, secret }, stranger] = [await withKey(), await createPerson(app)];
  await messages(secret, ['a']);
  const id = (await listed(person))[0]?.id ?? '';
  expect(await stranger.steyg.console.ledger.findBatch({ id })).toBeNull();
  const theirs = await stranger.steyg.console.ledger.cancelBatch({ id });
  const none = await stranger.steyg.console.ledger.cancelBatch({
    id: Buffer.from(`Batch:${crypto.randomUUID()}/${crypto.randomUUID()}`).toString('base64'),
  });
  expect([isFailure(theirs), theirs]).toEqual([true, none]);
  expect(await listed(stranger)).toEqual([]);
  expect((await listed(person))[0]).toMatchObject({ state: 'IN_PROGRESS' });
  await app.simulator.batches.run();
  await settled(person);
});
