import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';

/**
 * Batches of many lines in both forms, at a vendor whose connection breaks in the middle of the results, and which then is overloaded
 * for more readings than it would take to believe that lines were never answered.
 * `BATCH_LINES=10000` for what a customer sends on an ordinary night.
 */

const lines = Number(process.env['BATCH_LINES'] ?? 2_000);
/** Names of what was asked, by the form. */
const asked = { messages: [] as string[], openai: [] as string[] };
const overloadedReadings = 9;
/** How often results were read; the first time they break, and then they are refused for a while. */
const readings = { messages: 0, openai: 0 };

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => resolve(Buffer.concat(pieces).toString()));
  });
}
function send(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
async function sendLines(
  response: ServerResponse,
  form: keyof typeof asked,
  lineOf: (name: string) => unknown,
): Promise<void> {
  readings[form] += 1;
  const isBroken = readings[form] === 1;
  if (readings[form] > 1 && readings[form] <= overloadedReadings) {
    response.writeHead(529, { 'content-type': 'application/json' });
    return void response.end('{}');
  }
  response.writeHead(200, { 'content-type': 'application/x-jsonl' });
  const names = isBroken ? asked[form].slice(0, lines / 2) : asked[form];
  for (let at = 0; at < names.length; at += 500) {
    const text = names.slice(at, at + 500).map((name) => `${JSON.stringify(lineOf(name))}\n`);
    await new Promise((resolve) => response.write(text.join(''), resolve));
  }
  if (isBroken) response.destroy();
  else response.end();
}
const counts = { succeeded: lines, errored: 0, canceled: 0, expired: 0 };
const messageBatch = (ended: boolean) => ({
  id: 'msgbatch_many',
  processing_status: ended ? 'ended' : 'in_progress',
  request_counts: ended ? counts : {},
  ended_at: ended ? new Date().toISOString() : null,
});
const message = (custom_id: string) => ({
  custom_id,
  result: {
    type: 'succeeded',
    message: { type: 'message', model: 'vendor-claude', content: [], usage: { input_tokens: 10, output_tokens: 1 } },
  },
});
const completion = (custom_id: string) => ({
  custom_id,
  response: {
    status_code: 200,
    body: { model: 'vendor-gpt', choices: [], usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } },
  },
});

const vendor = createServer((request, response) => {
  response.on('error', () => undefined);
  void answer(request, response);
});
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request);
  const { method, url = '' } = request;
  if (url.endsWith('/results')) return sendLines(response, 'messages', message);
  if (url.endsWith('/content')) return sendLines(response, 'openai', completion);
  if (url === '/v1/messages/batches') {
    asked.messages = (JSON.parse(body) as { requests: { custom_id: string }[] }).requests.map(
      ({ custom_id }) => custom_id,
    );
    return send(response, messageBatch(false));
  }
  if (url.startsWith('/v1/messages/batches/')) return send(response, messageBatch(true));
  if (method === 'POST' && url === '/v1/files') {
    asked.openai = [...body.matchAll(/^{"custom_id":"([^"]+)"/gm)].map(([, name = '']) => name);
    return send(response, { id: 'file-many' });
  }
  const isNew = method === 'POST';
  send(response, {
    id: 'batch_many',
    status: isNew ? 'in_progress' : 'completed',
    output_file_id: isNew ? null : 'file-output',
    request_counts: { completed: isNew ? 0 : lines, failed: 0 },
    ...(isNew ? {} : { completed_at: Math.floor(Date.now() / 1_000) }),
  });
}

let app: TestApp;
beforeAll(async () => {
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  const at = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  const port = await freePort();
  app = await startApp({
    catalog: () => `upstreams:
  - { id: claude, protocol: messages, profile: anthropic, baseUrl: "${at}" }
  - { id: open, protocol: chat-completions, profile: openai-gpt5, baseUrl: "${at}/v1" }
models:
${['claude', 'gpt'].map((id) => `  - { id: ${id}, displayName: ${id}, family: tests, contextWindow: 200000, maxOutputTokens: 4000, prices: { input: "2", cacheHit: "0.2", output: "8" }, routes: [{ upstream: ${id === 'gpt' ? 'open' : id}, model: vendor-${id} }] }`).join('\n')}`,
    env: { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}`, BATCH_POLL_MS: '400' },
  });
});
afterAll(async () => {
  await app.close();
  vendor.closeAllConnections();
  await new Promise((resolve) => vendor.close(resolve));
});

const names = Array.from({ length: lines }, (_, index) => `line-${index}`);

async function allCharged(customer: Customer): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = await app.pool.query('SELECT settled_at FROM vendor_batch WHERE account_id = $1', [
        customer.accountId,
      ]);
      expect(rows[0].settled_at).not.toBeNull();
    },
    { timeout: 240_000, interval: 100 },
  );
  const { rows } = await app.pool.query(
    `SELECT count(*)::int AS n, sum(charged)::text AS charged, (SELECT sum(spent)::text FROM "grant" g WHERE g.account_id = $1) AS spent,
            (SELECT sum(held)::text FROM "grant" g WHERE g.account_id = $1) AS held
     FROM ledger_entry WHERE account_id = $1`,
    [customer.accountId],
  );
  // 10 x 1 and 4 USD a million, each.
  const all = String(lines * (10 * 1_000_000 + 4_000_000));
  expect(rows).toEqual([{ n: lines, charged: all, spent: all, held: '0' }]);
  expect(await checkInvariants(app.pool, { accounts: [customer.accountId] })).toEqual([]);
}

it('messages: many lines are charged once each, and read by their client', { timeout: 300_000 }, async () => {
  const customer = await app.customer({ usd: '1000' });
  const client = new Anthropic({ authToken: customer.secret, apiKey: null, baseURL: app.baseUrl, maxRetries: 0 });
  const { id } = await client.messages.batches.create({
    requests: names.map((custom_id) => ({
      custom_id,
      params: { model: 'claude', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] },
    })),
  });
  await allCharged(customer);
  expect(readings.messages).toBeGreaterThan(overloadedReadings);
  const seen = new Set<string>();
  for await (const { custom_id, result } of await client.messages.batches.results(id)) {
    if (result.type !== 'succeeded' || result.message.model !== 'claude') throw new Error('not as it was asked');
    seen.add(custom_id);
  }
  expect(seen.size).toBe(lines);
});

it('files: many lines are charged once each, and read by their client', { timeout: 300_000 }, async () => {
  const customer = await app.customer({ usd: '1000' });
  const client = new OpenAI({ apiKey: customer.secret, baseURL: `${app.baseUrl}/v1`, maxRetries: 0 });
  const text = names.map((custom_id) =>
    JSON.stringify({
      custom_id,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'gpt', max_completion_tokens: 5, messages: [{ role: 'user', content: 'hello' }] },
    }),
  );
  const file = await client.files.create({
    file: await toFile(Buffer.from(text.join('\n')), 'x.jsonl'),
    purpose: 'batch',
  });
  expect(asked.openai).toHaveLength(lines);
  const { id } = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  });
  await allCharged(customer);
  expect(readings.openai).toBeGreaterThan(overloadedReadings);
  const { output_file_id } = await client.batches.retrieve(id);
  const results = (await (await client.files.content(output_file_id ?? '')).text()).trim().split('\n');
  const read = results.map((line) => JSON.parse(line) as { custom_id: string; response: { body: { model: string } } });
  expect([
    new Set(read.map(({ custom_id }) => custom_id)).size,
    new Set(read.map(({ response }) => response.body.model)),
  ]).toEqual([lines, new Set(['gpt'])]);
});
