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
  ['responses', 'only-chat', { type: 'image_generation', output_format: 'png' }],
  ['responses', 'only-responses', { type: 'image_generation', output_format: 'png' }],
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

/** The tools that the upstream was sent, and what else it was sent about them. */
const sentTools = () => {
  const [request] = app.simulator.requests();
  const { tools, tool_choice } = JSON.parse(String(request?.body)) as { tools?: unknown; tool_choice?: unknown };
  return { tools, tool_choice };
};

const functions = {
  messages: { name: 'read', input_schema: { type: 'object' } },
  chat: { type: 'function', function: { name: 'read', parameters: { type: 'object' } } },
  responses: { type: 'function', name: 'read', parameters: { type: 'object' }, strict: false },
} as const;
const searches = {
  messages: { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
  chat: { type: 'web_search' },
  responses: { type: 'web_search', external_web_access: true },
} as const;
const names = ['messages', 'chat', 'responses'] as const;

it.each(names)(
  '%s: what has no price is left out natively, too, and the other tools stay as they came',
  async (name) => {
    const own = functions[name];
    for (const stream of [true, false])
      for (const tools of [
        [searches[name], own],
        [own, searches[name]],
      ]) {
        app.simulator.clearRequests();
        const more = { model: protocols[name].only, tools, stream };
        const response = await send(app, protocols[name], { secret: customer.secret, more });
        expect([response.status, response.headers.get('x-steyg-dropped-tools')]).toEqual([200, searches[name].type]);
        await response.text();
        expect(sentTools()).toEqual({ tools: [own] });
      }
  },
);

it.each([
  ['messages', { type: 'auto' }, undefined],
  ['chat', 'auto', null],
  ['responses', 'auto', undefined],
] as const)('%s: no empty list is left behind, nor a choice among nothing', async (name, tool_choice, left) => {
  app.simulator.clearRequests();
  const more = { model: protocols[name].only, tools: [searches[name]], tool_choice };
  const response = await send(app, protocols[name], { secret: customer.secret, more });
  expect(response.status).toBe(200);
  expect(sentTools()).toEqual({ tools: left, tool_choice: left });
});

it.each([
  ['messages', { type: 'tool', name: 'web_search' }, [searches.messages, functions.messages]],
  ['messages', { type: 'any' }, [searches.messages]],
  ['chat', 'required', [searches.chat]],
  ['responses', { type: 'web_search' }, [searches.responses, functions.responses]],
  ['responses', 'required', [searches.responses]],
  ['responses', { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] }, [searches.responses]],
] as const)('%s: a search that is demanded is refused: %j', async (name, tool_choice, tools) => {
  app.simulator.clearRequests();
  const more = { model: protocols[name].only, tools, tool_choice };
  const response = await send(app, protocols[name], { secret: customer.secret, more });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('its catalog entry has no price for it');
  expect(app.simulator.requests()).toEqual([]);
});

it('a search that an item of the input adds is left out of it', async () => {
  app.simulator.clearRequests();
  const added = { type: 'additional_tools', role: 'developer', tools: [searches.responses, functions.responses] };
  const more = { model: 'only-responses', input: [added, { role: 'user', content: 'ping' }] };
  const response = await send(app, protocols.responses, { secret: customer.secret, more });
  expect([response.status, response.headers.get('x-steyg-dropped-tools')]).toEqual([200, 'web_search']);
  const { input } = JSON.parse(String(app.simulator.requests()[0]?.body)) as { input: { tools?: unknown }[] };
  expect(input[0]?.tools).toEqual([functions.responses]);
});

it('a search where it cannot be taken out is refused', async () => {
  app.simulator.clearRequests();
  const group = { type: 'namespace', name: 'web', description: '', tools: [searches.responses] };
  const more = { model: 'only-responses', tools: [group] };
  const response = await send(app, protocols.responses, { secret: customer.secret, more });
  expect(response.status).toBe(400);
  expect(app.simulator.requests()).toEqual([]);
});

it('the tokens of a conversation that offers a search are counted without it', async () => {
  const { messages } = protocols;
  const body = { model: 'only-messages', messages: [{ role: 'user', content: 'ping' }], tools: [searches.messages] };
  const response = await fetch(`${app.baseUrl}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.secret}`, ...messages.headers },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
});

it('an answer for which nothing was left out says nothing', async () => {
  const response = await send(app, protocols.chat, { secret: customer.secret, more: { model: 'only-messages' } });
  expect(response.headers.has('x-steyg-dropped-tools')).toBe(false);
});
