/** The simulator's answers, over all protocols and published clients. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../server/simulator/simulator.ts';
import { CHAT_CLIENT, CLIENTS, fastSimulator, MESSAGES_CLIENTS, RESPONSES_CLIENT } from './clients.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await fastSimulator();
});
afterAll(() => simulator.close());

const STOPS: Record<string, { end: string; limit: string; tools: string }> = {
  '@anthropic-ai/sdk 1': { end: 'end_turn', limit: 'max_tokens', tools: 'tool_use' },
  '@anthropic-ai/sdk 0': { end: 'end_turn', limit: 'max_tokens', tools: 'tool_use' },
  'openai chat completions': { end: 'stop', limit: 'length', tools: 'tool_calls' },
  'openai responses': { end: 'completed', limit: 'max_output_tokens', tools: 'completed' },
};

const LIMIT_FIELDS: Record<string, string> = {
  '@anthropic-ai/sdk 1': 'max_tokens',
  '@anthropic-ai/sdk 0': 'max_tokens',
  'openai chat completions': 'max_completion_tokens',
  'openai responses': 'max_output_tokens',
};

const CASES = CLIENTS.flatMap((client) => [false, true].map((stream) => ({ client, stream, name: client.name })));

describe.each(CASES)('answers read by $name (streamed: $stream)', ({ client, stream, name }) => {
  const stops = STOPS[name] ?? { end: '', limit: '', tools: '' };
  const limited = (tokens: number): Record<string, unknown> => ({ [LIMIT_FIELDS[name] ?? '']: tokens });
  const ask = (text: string, extra: Record<string, unknown> = {}) => client.ask(simulator, { text, stream, extra });

  it('says exactly what it is told', async () => {
    const answer = await ask('[[say Xin chào, thế giới 👋🏽 "quoted"\nnext line]]');
    expect(answer).toMatchObject({
      text: 'Xin chào, thế giới 👋🏽 "quoted"\nnext line',
      stop: stops.end,
      thinking: null,
    });
  });

  it('says N words for [[len N]] and counts each as a token', async () => {
    const answer = await ask('[[len 40]]');
    expect(answer.text).toBe(Array.from({ length: 40 }, (_none, index) => `w${index}`).join(' '));
    expect(outputTokens(answer.usage)).toBe(40);
  });

  it('thinks first', async () => {
    const answer = await ask('[[think let me see]] [[say seen]]');
    expect(answer).toMatchObject({ thinking: 'let me see', text: 'seen' });
    expect(outputTokens(answer.usage)).toBe(4);
  });

  it('calls one tool, and several at once', async () => {
    const one = await ask('[[tool Bash {"command":"ls -la","deep":{"a":[1,2.5,null]}}]]');
    expect(one).toMatchObject({
      tools: [{ name: 'Bash', input: { command: 'ls -la', deep: { a: [1, 2.5, null] } } }],
      text: '',
      stop: stops.tools,
    });
    const two = await ask('[[say both]] [[tool A {}]] [[tool B {"x":"]]"}]]');
    expect(two.text).toBe('both');
    expect(two.tools.map(({ name, input }) => ({ name, input }))).toEqual([
      { name: 'A', input: {} },
      { name: 'B', input: { x: ']]' } },
    ]);
    expect(new Set(two.tools.map((tool) => tool.id)).size).toBe(2);
  });

  it('gives a call the id that is asked for', async () => {
    const answer = await ask('[[tool A {} functions.A:0]]');
    expect(answer.tools[0]?.id).toBe('functions.A:0');
  });

  it('stops at the token limit, in the middle of a text or of a thought', async () => {
    expect(await ask('[[len 40]]', limited(7))).toMatchObject({ text: 'w0 w1 w2 w3 w4 w5 w6', stop: stops.limit });
    const thought = await ask('[[think a b c d e f]] [[say never]]', limited(2));
    expect(thought).toMatchObject({ thinking: 'a b', text: '', stop: stops.limit });
    expect(outputTokens(thought.usage)).toBe(2);
  });

  it('does not call it a limit when the answer just fits', async () => {
    expect(await ask('[[len 5]]', limited(5))).toMatchObject({ text: 'w0 w1 w2 w3 w4', stop: stops.end });
  });

  it('answers a sign of life with pong and anything else with a sentence that calls itself simulated', async () => {
    for (const text of ['ping', 'Hi!', 'say pong', 'Reply with "pong".']) expect((await ask(text)).text).toBe('pong');
    expect((await ask('What is the capital of Vietnam?')).text).toMatch(/simulat/i);
  });

  it('reports the requested model under any name, unless told otherwise', async () => {
    expect((await ask('ping', { model: 'vendor/Some-Model' })).model).toBe('vendor/Some-Model');
    expect((await ask('[[model gpt-other]] ping')).model).toBe('gpt-other');
  });

  it('reports exactly the usage that is scripted', async () => {
    const usage = { input_tokens: 11, output_tokens: 22, prompt_tokens: 33, completion_tokens: 44, total_tokens: 55 };
    expect((await ask(`[[usage ${JSON.stringify(usage)}]]`)).usage).toMatchObject(usage);
  });
});

function outputTokens(usage: unknown): unknown {
  const reported = usage as { output_tokens?: number; completion_tokens?: number };
  return reported.output_tokens ?? reported.completion_tokens;
}

describe('usage that is not reported', () => {
  it.each([CHAT_CLIENT, RESPONSES_CLIENT])('$name gets none for [[nousage]], streamed or not', async (client) => {
    for (const stream of [false, true]) {
      const { usage, text } = await client.ask(simulator, { text: '[[nousage]] [[say x]]', stream });
      expect(usage ?? null).toBeNull();
      expect(text).toBe('x');
    }
  });

  it.each(MESSAGES_CLIENTS)('$name gets none for [[nousage]]', async (client) => {
    const { usage } = await client.ask(simulator, { text: '[[nousage]]', stream: false });
    expect(usage).toBeUndefined();
  });
});
