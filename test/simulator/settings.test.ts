/** The simulator's settings: pace, chunks, seed, recording. */

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../server/simulator/simulator.ts';
import { fastSimulator } from './clients.ts';

let simulator: Simulator;
let anthropic: Anthropic;
let openai: OpenAI;
beforeAll(async () => {
  simulator = await fastSimulator();
  anthropic = new Anthropic({ apiKey: 'sk-test', baseURL: simulator.url, maxRetries: 0 });
  openai = new OpenAI({ apiKey: 'sk-test', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
});
afterAll(() => simulator.close());

const user = (content: string) => [{ role: 'user' as const, content }];
const TOOL_SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' }, unit: { enum: ['c', 'f'] }, days: { type: 'integer', minimum: 3 } },
  required: ['city'],
};
const TOOLS = [
  { name: 'weather', input_schema: TOOL_SCHEMA },
  { name: 'time', input_schema: { type: 'object' as const } },
];
const CHAT_TOOLS = TOOLS.map(({ name, input_schema }) => ({
  type: 'function' as const,
  function: { name, parameters: input_schema },
}));

const ask = (text: string, tool_choice: Anthropic.ToolChoice): Promise<Anthropic.Message> =>
  anthropic.messages.create({ model: 'm', max_tokens: 500, messages: user(text), tools: TOOLS, tool_choice });

const names = (message: Anthropic.Message): string[] =>
  message.content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []));

const chat = async (extra: object): Promise<(string | undefined)[]> => {
  const body = { model: 'm', messages: user('[[tool weather {}]] [[tool time {}]]'), tools: CHAT_TOOLS, ...extra };
  const completion = await openai.chat.completions.create(body);
  const calls = completion.choices[0]?.message.tool_calls ?? [];
  return calls.map((call) => (call.type === 'function' ? call.function.name : call.custom.name));
};

describe('tool choice', () => {
  it('calls a tool when it must, with an input that fits the schema', async () => {
    const message = await ask('no directive', { type: 'any' });
    expect(message.stop_reason).toBe('tool_use');
    expect(message.content).toMatchObject([
      { type: 'tool_use', name: 'weather', input: { city: expect.any(String), unit: 'c', days: 3 } },
    ]);
  });

  it('calls the named tool, with the scripted input when the script means that tool', async () => {
    expect(names(await ask('[[tool weather {}]]', { type: 'tool', name: 'time' }))).toEqual(['time']);
    const scripted = await ask('[[tool time {"a":1}]] [[tool weather {}]]', { type: 'tool', name: 'time' });
    expect(scripted.content).toMatchObject([{ name: 'time', input: { a: 1 } }]);
  });

  it('calls none when it must not', async () => {
    const message = await ask('[[tool weather {}]] [[say no]]', { type: 'none' });
    expect(message.content).toMatchObject([{ type: 'text', text: 'no' }]);
  });

  it('calls one at a time when parallel calls are off', async () => {
    const text = '[[tool weather {}]] [[tool time {}]]';
    expect(names(await ask(text, { type: 'auto' }))).toEqual(['weather', 'time']);
    expect(names(await ask(text, { type: 'auto', disable_parallel_tool_use: true }))).toEqual(['weather']);
  });

  it('means the same on chat completions', async () => {
    expect(await chat({ tool_choice: 'none' })).toEqual([]);
    expect(await chat({ tool_choice: { type: 'function', function: { name: 'time' } } })).toEqual(['time']);
    expect(await chat({ parallel_tool_calls: false })).toEqual(['weather']);
  });

  it('sends free text to custom tools', async () => {
    const tools = [{ type: 'custom' as const, name: 'patch' }];
    for (const stream of [false, true]) {
      const body = { model: 'm', input: 'x', tools, tool_choice: 'required' as const };
      const response = stream
        ? await openai.responses.stream(body).finalResponse()
        : await openai.responses.create(body);
      expect(response.output).toMatchObject([{ type: 'custom_tool_call', name: 'patch', input: 'simulated' }]);
    }
    const completion = await openai.chat.completions.create({
      model: 'm',
      messages: user('x'),
      tools: [{ type: 'custom', custom: { name: 'patch' } }],
      tool_choice: 'required',
    });
    expect(completion.choices[0]?.message.tool_calls).toMatchObject([
      { type: 'custom', custom: { input: 'simulated' } },
    ]);
  });
});

describe('stop sequences', () => {
  it('end a text before the first of them, and say which', async () => {
    const message = await anthropic.messages.create({
      model: 'm',
      max_tokens: 99,
      stop_sequences: ['DONE', 'w3'],
      messages: user('[[len 9]]'),
    });
    expect(message).toMatchObject({
      content: [{ text: 'w0 w1 w2 ' }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'w3',
    });
  });

  it('are a plain stop on chat completions, as a string or a list', async () => {
    for (const stop of ['w2', ['x', 'w2']]) {
      const completion = await openai.chat.completions.create({ model: 'm', stop, messages: user('[[len 9]]') });
      expect(completion.choices[0]).toMatchObject({ message: { content: 'w0 w1 ' }, finish_reason: 'stop' });
    }
  });

  it('count for nothing when the token limit comes first', async () => {
    const message = await anthropic.messages.create({
      model: 'm',
      max_tokens: 2,
      stop_sequences: ['w3'],
      messages: user('[[len 9]]'),
    });
    expect(message).toMatchObject({ stop_reason: 'max_tokens', stop_sequence: null });
  });
});

describe('structured output', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      tags: { type: 'array', items: { $ref: '#/$defs/tag' }, minItems: 2 },
      child: { $ref: '#' },
      when: { type: 'string', format: 'date' },
      maybe: { anyOf: [{ type: 'null' }, { type: 'string' }] },
    },
    required: ['name', 'tags', 'when', 'maybe'],
    $defs: { tag: { type: 'string', enum: ['red', 'blue'] } },
  };
  const expected = { name: 'Ana', tags: ['red', 'red'], when: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), maybe: null };

  it('is a JSON object when only JSON is asked for', async () => {
    const completion = await openai.chat.completions.create({
      model: 'm',
      response_format: { type: 'json_object' },
      messages: user('[[say Ana]]'),
    });
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({ answer: 'Ana' });
  });

  it('is what the script says when that is JSON already', async () => {
    const completion = await openai.chat.completions.create({
      model: 'm',
      response_format: { type: 'json_object' },
      messages: user('[[say {"a": 1.0}]]'),
    });
    expect(completion.choices[0]?.message.content).toBe('{"a": 1.0}');
  });

  it('fits the schema on all three protocols', async () => {
    const chat = await openai.chat.completions.create({
      model: 'm',
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
      messages: user('[[say Ana]]'),
    });
    const response = await openai.responses.create({
      model: 'm',
      text: { format: { type: 'json_schema', name: 'x', schema } },
      input: '[[say Ana]]',
    });
    const message = await anthropic.messages.create({
      model: 'm',
      max_tokens: 5_000,
      output_config: { format: { type: 'json_schema', schema } },
      messages: user('[[say Ana]]'),
    });
    const [block] = message.content;
    const texts = [chat.choices[0]?.message.content, response.output_text, block?.type === 'text' ? block.text : ''];
    for (const text of texts) expect(JSON.parse(text ?? '')).toMatchObject(expected);
  });
});

describe('several answers', () => {
  it('come side by side and are billed together', async () => {
    const one = await openai.chat.completions.create({ model: 'm', messages: user('[[len 5]]') });
    const three = await openai.chat.completions.create({ model: 'm', n: 3, messages: user('[[len 5]]') });
    expect(three.choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
    expect(three.usage).toMatchObject({ prompt_tokens: one.usage?.prompt_tokens, completion_tokens: 15 });

    const stream = await openai.chat.completions.create({
      model: 'm',
      n: 2,
      stream: true,
      messages: user('[[len 3]]'),
    });
    const pieces: string[] = [];
    for await (const chunk of stream) {
      for (const choice of chunk.choices)
        if (choice.delta.content) pieces.push(`${choice.index}:${choice.delta.content}`);
    }
    expect(pieces).toEqual(['0:w0', '1:w0', '0: w1', '1: w1', '0: w2', '1: w2']);
  });
});

const chunks = async (options?: { include_usage?: boolean }): Promise<OpenAI.ChatCompletionChunk[]> => {
  const all: OpenAI.ChatCompletionChunk[] = [];
  const body = { model: 'm', stream: true as const, messages: user('[[len 3]]') };
  const stream = await openai.chat.completions.create(
    options === undefined ? body : { ...body, stream_options: options },
  );
  for await (const chunk of stream) all.push(chunk);
  return all;
};

describe('the usage chunk of chat completions', () => {
  it('comes last and only when asked for; then every other chunk says null', async () => {
    const asked = await chunks({ include_usage: true });
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 3 } });
    expect(asked.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    for (const plain of [await chunks(), await chunks({ include_usage: false })]) {
      expect(plain.every((chunk) => !('usage' in chunk) && chunk.choices.length === 1)).toBe(true);
    }
  });
});

describe('the newer messages version', () => {
  const headers = { 'anthropic-version': '2026-10-21' };

  it('always carries the nullable members', async () => {
    const body = { model: 'm', max_tokens: 9, messages: user('ping') };
    const newer = await anthropic.messages.create(body, { headers });
    expect(newer).toMatchObject({ container: null, stop_details: null });
    const older = await anthropic.messages.create(body, { headers: { 'anthropic-version': '2023-06-01' } });
    expect(older).not.toHaveProperty('container');
  });

  it('refuses sampling settings, which the older one takes', async () => {
    const body = { model: 'm', max_tokens: 9, messages: user('ping'), temperature: 0.5 };
    await expect(anthropic.messages.create(body, { headers })).rejects.toMatchObject({ status: 400 });
    await expect(
      anthropic.messages.create(body, { headers: { 'anthropic-version': '2023-06-01' } }),
    ).resolves.toBeDefined();
  });
});

describe('a warm-up without output', () => {
  it('generates nothing on messages', async () => {
    const message = await anthropic.messages.create({ model: 'm', max_tokens: 0, messages: user('ping') });
    expect(message).toMatchObject({ content: [], stop_reason: 'max_tokens', usage: { output_tokens: 0 } });
  });
});
