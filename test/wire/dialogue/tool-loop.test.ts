import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Protocol } from '../../../server/core/protocol.ts';
import type { Simulator } from '../../../server/simulator/simulator.ts';
import { wireFor } from '../../../server/wire/wires.ts';
import { fastSimulator } from '../../simulator/clients.ts';
import { opened } from '../fixtures.ts';
import { bytes, contextWith, DIRECTIONS, factsOf } from './support.ts';

// A whole tool loop of a published client against an upstream of another protocol that checks its requests strictly:
// what the client sends back of the first answer must be a history that the upstream accepts.

let simulator: Simulator;
beforeAll(async () => {
  simulator = await fastSimulator();
});
afterAll(() => simulator.close());

const ORIGIN: Record<Protocol, string> = { messages: '', 'chat-completions': '/v1', responses: '/v1' };

function gateway(client: Protocol, upstream: Protocol): typeof fetch {
  return async (_input, init) => {
    const raw = bytes(init?.body as string);
    const facts = factsOf(client, raw);
    const context = { ...contextWith(), upstreamModel: 'sim-large' };
    const exchange = opened(wireFor(client, upstream).request(raw, facts, context));
    const answer = await fetch(simulator.url + ORIGIN[upstream] + exchange.path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        authorization: 'Bearer sk-test',
      },
      body: Buffer.from(exchange.body),
    });
    const body = new Uint8Array(await answer.arrayBuffer());
    if (!answer.ok) return new Response(body, { status: answer.status });
    if (!facts.stream) return jsonResponse(exchange.reply(body).body);
    const stream = exchange.stream();
    const out = Buffer.concat([stream.write(body), stream.end()]);
    if (stream.state !== 'terminated') throw new Error(`the stream is ${stream.state}`);
    return new Response(Uint8Array.from(out), { headers: { 'content-type': 'text/event-stream' } });
  };
}

function jsonResponse(body: Uint8Array): Response {
  return new Response(Uint8Array.from(body), { headers: { 'content-type': 'application/json' } });
}

const PROMPT = '[[think Hm]] [[tool look {"at":1.5}]] [[tool look {"at":"ü"}]]';
const SCHEMA = { type: 'object' as const, properties: { at: {} } };
const INPUTS = [{ at: 1.5 }, { at: 'ü' }];
const settings = { apiKey: 'sk-test', baseURL: 'http://gateway.test/v1', maxRetries: 0 };

/** Asks, carries the calls out, asks again; returns the inputs of the calls and the last answer's text. */
type Loop = (fetchLike: typeof fetch, streamed: boolean) => Promise<{ inputs: unknown[]; said: string }>;

const LOOPS: Record<Protocol, Loop> = {
  async messages(fetchLike, streamed) {
    const sdk = new Anthropic({ ...settings, baseURL: 'http://gateway.test', fetch: fetchLike });
    const tools = [{ name: 'look', input_schema: SCHEMA }];
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
    const ask = (messages: Anthropic.MessageParam[]) => {
      const body = { model: 'cat-1', max_tokens: 3000, messages, tools, thinking };
      return streamed ? sdk.messages.stream(body).finalMessage() : sdk.messages.create(body);
    };
    const question = { role: 'user' as const, content: PROMPT };
    const { content } = await ask([question]);
    const calls = content.filter((block) => block.type === 'tool_use');
    const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'seen' }));
    const last = await ask([question, { role: 'assistant', content }, { role: 'user', content: results }]);
    const said = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return { inputs: calls.map(({ input }) => input), said };
  },
  async 'chat-completions'(fetchLike, streamed) {
    const sdk = new OpenAI({ ...settings, fetch: fetchLike });
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: SCHEMA } }];
    const ask = (messages: OpenAI.ChatCompletionMessageParam[]) => {
      const body = { model: 'cat-1', messages, tools, reasoning_effort: 'high' as const };
      return streamed ? sdk.chat.completions.stream(body).finalChatCompletion() : sdk.chat.completions.create(body);
    };
    const question = { role: 'user' as const, content: PROMPT };
    const message = (await ask([question])).choices[0]?.message as OpenAI.ChatCompletionMessage;
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
    const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'seen' }));
    const last = await ask([question, message, ...results]);
    const inputs = calls.map((call) => JSON.parse(call.function.arguments));
    return { inputs, said: last.choices[0]?.message.content ?? '' };
  },
  async responses(fetchLike, streamed) {
    const sdk = new OpenAI({ ...settings, fetch: fetchLike });
    const tools = [{ type: 'function' as const, name: 'look', parameters: SCHEMA, strict: false }];
    const ask = (input: OpenAI.Responses.ResponseInput) => {
      const body = { model: 'cat-1', input, tools, reasoning: { effort: 'high' as const, summary: 'auto' as const } };
      return streamed ? sdk.responses.stream(body).finalResponse() : sdk.responses.create(body);
    };
    const question = { role: 'user' as const, content: PROMPT };
    const { output } = await ask([question]);
    const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
    const results = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'seen' }));
    const last = await ask([question, ...(output as OpenAI.Responses.ResponseInput), ...results]);
    return { inputs: calls.map((call) => JSON.parse(call.arguments)), said: last.output_text };
  },
};

describe.each(DIRECTIONS)('$client client, $upstream upstream', ({ client, upstream }) => {
  test.each([true, false])('41 50 55 56 a tool loop comes to its end (streamed: %s)', async (streamed) => {
    expect(await LOOPS[client](gateway(client, upstream), streamed)).toEqual({ inputs: INPUTS, said: 'tool done' });
  });
});
