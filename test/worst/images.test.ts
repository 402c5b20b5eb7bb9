import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { assert, asyncProperty, constantFrom, integer, record } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';

/**
 * A vendor of images that bills a picture as soon as it has the whole request, whoever still listens. Who leaves at whatever moment
 * pays for it, nobody pays more than was billed, and no bill is above the bound.
 */

interface Bill {
  text: number;
  sent: number;
  made: number;
}

const prices = { text: 5_000_000n, sent: 8_000_000n, made: 30_000_000n };
const costOf = ({ text, sent, made }: Bill): bigint =>
  BigInt(text) * prices.text + BigInt(sent) * prices.sent + BigInt(made) * prices.made;

const bills = new Map<string, Bill>();
/** Requests that are worked on. */
const works = new Set<Promise<void>>();

const usageOf = ({ text, sent, made }: Bill) => ({
  input_tokens: text + sent,
  input_tokens_details: { text_tokens: text, image_tokens: sent },
  output_tokens: made,
  total_tokens: text + sent + made,
});

/** The picture of every answer, large enough to come in many pieces. */
const picture = Buffer.alloc(600_000).toString('base64');

/** `vendor:{"id","workMs","made","streams","n"}` in the prompt says what it does. */
const vendor = createServer((request, response) => {
  const work = async (): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const raw = Buffer.concat(pieces).toString('latin1');
    const [, planText = '{}'] = /vendor:(\{.*?\})/.exec(raw.replaceAll('\\"', '"')) ?? [];
    const plan = JSON.parse(planText) as { id: string; workMs: number; made: number; streams: boolean; n: number };
    const pictures = raw.match(/filename=/g)?.length ?? 0;
    const bill: Bill = { text: 20, sent: pictures * 1_450, made: plan.made * plan.n };
    bills.set(plan.id, bill);
    await delay(plan.workMs);
    if (response.destroyed) return;
    if (request.url?.endsWith('/responses') === true) {
      const answer = {
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        model: 'mind',
        output: Array.from({ length: plan.n }, (_, index) => ({
          id: `ig_${index}`,
          type: 'image_generation_call',
          status: 'completed',
          result: picture,
        })),
        usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
        tool_usage: { image_gen: usageOf(bill) },
      };
      const data = { type: 'response.completed', sequence_number: 0, response: answer };
      response.writeHead(200, { 'content-type': plan.streams ? 'text/event-stream' : 'application/json' });
      response.end(
        plan.streams ? `event: response.completed\ndata: ${JSON.stringify(data)}\n\n` : JSON.stringify(answer),
      );
      return;
    }
    if (!plan.streams) {
      response.writeHead(200, { 'content-type': 'application/json' });
      const data = Array.from({ length: plan.n }, () => `{"b64_json":"${picture}"}`).join(',');
      response.end(`{"created":1,"data":[${data}],"usage":${JSON.stringify(usageOf(bill))}}`);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (type: string, more: string) =>
      response.write(
        `event: image_generation.${type}\ndata: {"type":"image_generation.${type}","b64_json":"${picture}"${more}}\n\n`,
      );
    event('partial_image', ',"partial_image_index":0');
    await delay(plan.workMs);
    event('completed', `,"usage":${JSON.stringify(usageOf(bill))}`);
    response.end();
  };
  const working = work().catch(() => undefined);
  works.add(working);
  void working.then(() => works.delete(working));
});

let app: TestApp;
beforeAll(async () => {
  vendor.listen(0, '127.0.0.1');
  await new Promise((resolve) => vendor.once('listening', resolve));
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`;
  app = await startApp({
    catalog: () => `upstreams:
  - { id: vendor, protocol: chat-completions, profile: openai-gpt5, baseUrl: "${url}" }
  - { id: minds, protocol: responses, profile: openai-gpt5, baseUrl: "${url}" }
models:
  - { id: painter, displayName: P, family: worst, kind: image, contextWindow: 100000, maxOutputTokens: 14000, prices: { input: "5", cacheHit: "1.25", output: "10", images: { tokens: { input: "8", cacheHit: "2", output: "30" } } }, routes: [{ upstream: vendor, model: vendors }, { upstream: minds, model: vendors, priority: 9 }] }
  - { id: mind, displayName: M, family: worst, contextWindow: 100000, maxOutputTokens: 1000, allow: [image_generation], prices: { input: "1", cacheHit: "0.1", output: "1" }, routes: [{ upstream: minds, model: mind }] }`,
  });
});
afterAll(async () => {
  await app.close();
  vendor.closeAllConnections();
  await new Promise((resolve) => vendor.close(resolve));
});

interface Ask {
  streams: boolean;
  /** Bytes of a picture that is sent; 0: none. */
  bytes: number;
  made: number;
  n: number;
  workMs: number;
  /** When the client leaves: so long after it began, or after the vendor had everything. */
  leavesAfterMs: number;
  from: 'the beginning' | 'the vendor has it';
}

let requests = 0;

/** Sends one request and leaves. */
async function leave(secret: string, ask: Ask): Promise<string> {
  requests += 1;
  const id = `r${requests}`;
  const { streams, bytes, made, workMs } = ask;
  const n = streams ? 1 : ask.n;
  const prompt = `vendor:${JSON.stringify({ id, workMs, made, streams, n })}`;
  const leaving = new AbortController();
  const form = new FormData();
  form.set('model', 'painter');
  form.set('prompt', prompt);
  form.set('n', String(n));
  if (streams) form.set('stream', 'true');
  form.append('image[]', new Blob([new Uint8Array(bytes)], { type: 'image/png' }), 'a.png');
  const json = { model: 'painter', prompt, n, ...(streams ? { stream: true, partial_images: 1 } : {}) };
  const answer = fetch(`${app.baseUrl}/v1/images/${bytes === 0 ? 'generations' : 'edits'}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      ...(bytes === 0 ? { 'content-type': 'application/json' } : {}),
    },
    body: bytes === 0 ? JSON.stringify(json) : form,
    signal: leaving.signal,
  });
  const read = answer.then(async (response) => void (await response.arrayBuffer())).catch(() => undefined);
  if (ask.from === 'the vendor has it') while (!bills.has(id)) await Promise.race([read, delay(1)]);
  await Promise.race([read, delay(ask.leavesAfterMs)]);
  leaving.abort();
  await read;
  return id;
}

async function settledRows(accountId: string): Promise<Record<string, unknown>[]> {
  await Promise.all(works);
  return app.ledger(accountId);
}

const asks = record({
  streams: constantFrom(true, false),
  bytes: constantFrom(0, 1_000, 70_000, 3_000_000),
  made: integer({ min: 196, max: 13_342 }),
  n: integer({ min: 1, max: 3 }),
  workMs: integer({ min: 0, max: 80 }),
  leavesAfterMs: integer({ min: 0, max: 150 }),
  from: constantFrom('the beginning' as const, 'the vendor has it' as const),
});

describe('leaving', () => {
  it('costs what the vendor bills, at whatever moment of whatever request', { timeout: 120_000 }, async () => {
    await assert(
      asyncProperty(asks, async (ask) => {
        const customer = await app.customer({ usd: '50' });
        const id = await leave(customer.secret, ask);
        let rows = await settledRows(customer.accountId);
        // What the server had read when its client left may reach the vendor a little later.
        while (rows.length === 0 && bills.has(id)) rows = await settledRows(customer.accountId);
        const bill = bills.get(id);
        const billed = bill === undefined ? 0n : costOf(bill);
        const charged = rows.reduce((sum, row) => sum + (row['charged'] as bigint), 0n);
        expect({ charged, rows: rows.map((row) => [row['outcome'], row['usage_source']]) }).toMatchObject({
          charged: billed,
        });
      }),
      { numRuns: 150, endOnFailure: true },
    );
  });

  it('costs it where many leave at once while large bodies are on their way', { timeout: 120_000 }, async () => {
    const customer = await app.customer({ usd: '900' });
    const all = Array.from({ length: 60 }, (_, index) => ({
      streams: index % 2 === 0,
      bytes: [1_000, 70_000, 600_000, 2_500_000][index % 4] ?? 0,
      made: 1_000 + index,
      n: 1,
      workMs: index % 7,
      leavesAfterMs: index % 3 === 0 ? index % 5 : 300 + index * 50,
      from: index % 3 === 0 ? ('the vendor has it' as const) : ('the beginning' as const),
    }));
    const ids = await Promise.all(all.map((ask) => leave(customer.secret, ask)));
    const billed = (): Bill[] => ids.flatMap((id) => bills.get(id) ?? []);
    let rows = await settledRows(customer.accountId);
    const paid = () => rows.filter((row) => row['charged'] !== 0n);
    while (rows.length < billed().length) rows = await settledRows(customer.accountId);
    const sorted = (costs: bigint[]): string[] => costs.map(String).sort();
    expect(sorted(paid().map((row) => row['charged'] as bigint))).toEqual(sorted(billed().map(costOf)));
    expect(billed().length).toBeGreaterThan(10);
  });
});

describe('a tool', () => {
  const use = record({
    streams: constantFrom(true, false),
    made: integer({ min: 196, max: 40_000 }),
    n: integer({ min: 1, max: 5 }),
    uses: constantFrom(undefined, 1, 5, 400),
    leaves: constantFrom(true, false),
  });

  it('costs what the vendor counts, and never more than its bound', { timeout: 120_000 }, async () => {
    await assert(
      asyncProperty(use, async ({ streams, made, n, uses, leaves }) => {
        const customer = await app.customer({ usd: '60' });
        requests += 1;
        const id = `r${requests}`;
        const leaving = new AbortController();
        const read = fetch(`${app.baseUrl}/v1/responses`, {
          method: 'POST',
          headers: { authorization: `Bearer ${customer.secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            model: 'mind',
            input: `vendor:${JSON.stringify({ id, workMs: 5, made, streams, n })}`,
            tools: [{ type: 'image_generation', model: 'vendors' }],
            stream: streams,
            ...(uses === undefined ? {} : { max_tool_calls: uses }),
          }),
          signal: leaving.signal,
        })
          .then(async (response) => void (await response.arrayBuffer()))
          .catch(() => undefined);
        while (!bills.has(id)) await Promise.race([read, delay(1)]);
        if (leaves) leaving.abort();
        await read;
        let rows = await settledRows(customer.accountId);
        while (rows.length === 0) rows = await settledRows(customer.accountId);
        const bill = bills.get(id) as Bill;
        // A use each, which the body says: 5 where the client does not, 16 at most.
        const most = Math.min(uses ?? 5, 16) * 14_000;
        expect(rows).toMatchObject([{ charged: costOf({ ...bill, made: Math.min(bill.made, most) }) }]);
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });
});
