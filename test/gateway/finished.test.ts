import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, protocols, reader, send, settled, until } from './support.ts';

/** Between the end of an answer and its account: reasoning that is not shown is known from the account alone. */

let app: TestApp;
let vendor: Server;
let answering: ServerResponse | null = null;
let vendorClosed = false;

beforeAll(async () => {
  vendor = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      answering = response;
      response.once('close', () => {
        vendorClosed = !response.writableFinished;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const choice = { index: 0, delta: { content: 'two words' }, finish_reason: 'stop' };
      response.write(`data: ${JSON.stringify({ model: 'sim-medium', choices: [choice] })}\n\n`);
    });
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  app = await startApp({ catalog: () => nativeCatalog({ onDisconnect: 'abort' })(url) });
});
afterAll(async () => {
  await app.close();
  vendor.close();
});

it('a client that has the whole answer and leaves before its account is charged by the account', async () => {
  const customer = await app.customer();
  const response = await send(app, protocols.chat, {
    secret: customer.secret,
    more: { model: 'only-chat', stream: true },
  });
  const events = reader(response);
  await events.until(/"stop"/);
  await events.cancel();
  await until(() => app.logged.some((line) => line.includes('"status":499')));
  expect(vendorClosed).toBe(false);
  const usage = { prompt_tokens: 9, completion_tokens: 5_000, total_tokens: 5_009 };
  answering?.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
  expect(await settled(app, customer)).toMatchObject([
    { outcome: 'client_closed', usage_source: 'reported', output: 5_000n },
  ]);
});
