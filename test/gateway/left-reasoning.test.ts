import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, protocols, send, settled, until } from './support.ts';

/** Leaving a stream while the model reasons out of sight does not make the reasoning free, and costs no guess upwards. */

let app: TestApp;
let vendor: Server;
let answering: ServerResponse | null = null;
let hungUp = false;

beforeAll(async () => {
  vendor = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      answering = response;
      hungUp = false;
      response.once('close', () => {
        hungUp = !response.writableFinished;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    });
  });
  await new Promise<void>((resolve) => {
    vendor.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  app = await startApp({
    leftMs: 30_000,
    catalog: () => nativeCatalog({ onDisconnect: 'abort', more: '    reasoningTokensPerSecond: 50' })(url),
  });
});
afterAll(async () => {
  await app.close();
  vendor.closeAllConnections();
  vendor.close();
});

/** Sends a streamed request and leaves it after so long a silence. */
async function leaveAfter(ms: number, usd = '100') {
  const customer = await app.customer({ usd });
  const leave = new AbortController();
  answering = null;
  const running = send(app, protocols.chat, {
    secret: customer.secret,
    more: { model: 'only-chat', stream: true, max_completion_tokens: 20_000 },
    signal: leave.signal,
  }).catch(() => null);
  await until(() => answering !== null);
  await delay(ms);
  leave.abort();
  await running;
  return customer;
}

it('the vendor’s own figure is waited for and charged', async () => {
  const customer = await leaveAfter(2_000);
  await delay(500);
  expect(hungUp).toBe(false);
  const usage = { prompt_tokens: 9, completion_tokens: 5_000, total_tokens: 5_009 };
  const choice = { index: 0, delta: { content: 'two words' }, finish_reason: 'stop' };
  answering?.end(
    `data: ${JSON.stringify({ model: 'sim-medium', choices: [choice] })}\n\ndata: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`,
  );
  expect(await settled(app, customer)).toMatchObject([
    { outcome: 'client_closed', usage_source: 'reported', output: 5_000n },
  ]);
});

it('where it is not learnt, the stated speed is charged, marked as an estimate', async () => {
  const customer = await leaveAfter(3_000);
  // An upstream that fails before it is noticed has failed a client that waits.
  await delay(500);
  answering?.destroy();
  const [row] = await settled(app, customer);
  expect(row).toMatchObject({ outcome: 'client_closed', usage_source: 'estimated' });
  // Fifty a second, less the second of grace; a slow machine may notice later.
  expect(Number(row?.['output'])).toBeGreaterThanOrEqual(50);
  expect(row?.['charged']).toBe(row?.['cost']);
});

it('the silence after it was left is not charged', async () => {
  const began = performance.now();
  const customer = await leaveAfter(2_000);
  const waitedMs = performance.now() - began;
  // Drained for the vendor's figure, which never comes.
  await delay(6_000);
  expect(hungUp).toBe(false);
  answering?.destroy();
  const [row] = await settled(app, customer);
  expect(row).toMatchObject({ outcome: 'client_closed', usage_source: 'estimated' });
  // Fifty a second of what the client waited, and not three hundred more.
  expect(Number(row?.['output'])).toBeLessThanOrEqual((waitedMs / 1_000) * 50);
  expect(Number(row?.['output'])).toBeGreaterThan(0);
});
