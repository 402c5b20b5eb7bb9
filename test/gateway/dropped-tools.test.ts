import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, protocols, send } from './support.ts';

/** A search at the vendor that is offered to a model of another vendor: left out, and the answer says so. */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
  customer = await app.customer();
});
afterAll(() => app.close());

const tools = {
  messages: [{ type: 'web_search_20250305', name: 'web_search' }],
  chat: [{ type: 'web_search' }],
  responses: [{ type: 'web_search' }],
};

it.each([
  ['messages', 'only-chat'],
  ['chat', 'only-messages'],
  ['responses', 'only-chat'],
] as const)('%s: an answer of %s names the tool that was left out, streamed or whole', async (name, model) => {
  for (const stream of [true, false]) {
    const more = { model, tools: tools[name], stream };
    const response = await send(app, protocols[name], { secret: customer.secret, more });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-steyg-dropped-tools')).toBe(tools[name][0]?.type);
    await response.text();
  }
});

it('an answer for which nothing was left out says nothing', async () => {
  const response = await send(app, protocols.chat, { secret: customer.secret, more: { model: 'only-messages' } });
  expect(response.headers.has('x-steyg-dropped-tools')).toBe(false);
});
