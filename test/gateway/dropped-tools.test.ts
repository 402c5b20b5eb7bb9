import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { nativeCatalog, protocols, send, settled } from './support.ts';

/**
 * A search at the vendor that is offered to a model of another vendor is left out, and the answer says so; where the vendor
 * has it, it passes.
 */

let app: TestApp;
let customer: Customer;
beforeAll(async () => {
  app = await startApp({ catalog: nativeCatalog() });
  customer = await app.customer();
});
afterAll(() => app.close());

it.each([
  ['messages', 'only-chat', { type: 'web_search_20250305', name: 'web_search' }],
  ['messages', 'only-chat', { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }],
  ['chat', 'only-messages', { type: 'web_search' }],
  ['chat', 'only-messages', { type: 'openrouter:tool_search' }],
  ['responses', 'only-chat', { type: 'web_search' }],
  ['responses', 'only-chat', { type: 'tool_search' }],
  ['responses', 'only-chat', { type: 'tool_search', execution: 'client', parameters: { type: 'object' } }],
] as const)('%s: an answer of %s names the tool that was left out, streamed or whole', async (name, model, tool) => {
  for (const stream of [true, false]) {
    const response = await send(app, protocols[name], {
      secret: customer.secret,
      more: { model, tools: [tool], stream },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-steyg-dropped-tools')).toBe(tool.type);
    await response.text();
  }
});

it('a tool that an item of the input adds is named as well', async () => {
  const added = { type: 'additional_tools', role: 'developer', tools: [{ type: 'tool_search' }] };
  const more = { model: 'only-chat', input: [added, { role: 'user', content: 'ping' }] };
  const response = await send(app, protocols.responses, { secret: customer.secret, more });
  expect(response.headers.get('x-steyg-dropped-tools')).toBe('tool_search');
  expect(response.status).toBe(200);
});

it.each([
  ['messages', { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }],
  ['responses', { type: 'tool_search' }],
] as const)('%s: a search among the tools passes natively, and each of its rounds is charged', async (name, tool) => {
  const to = protocols[name];
  const payer = await app.customer({ usd: '100' });
  // Four times the context window: the model ran again with each set of tools that was found.
  const usage = { input_tokens: 800_000, output_tokens: 10 };
  const response = await send(app, to, {
    secret: payer.secret,
    text: `[[usage ${JSON.stringify(usage)}]]`,
    more: { model: to.only, tools: [tool] },
  });
  expect(response.status).toBe(200);
  expect(response.headers.has('x-steyg-dropped-tools')).toBe(false);
  await response.text();
  expect(await settled(app, payer)).toMatchObject([{ usage_source: 'reported', input: 800_000n }]);
});

it('an answer for which nothing was left out says nothing', async () => {
  const response = await send(app, protocols.chat, { secret: customer.secret, more: { model: 'only-messages' } });
  expect(response.headers.has('x-steyg-dropped-tools')).toBe(false);
});
