/** The simulator's checks of conversations. */

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../server/simulator/simulator.ts';
import { fastSimulator } from './clients.ts';

let simulator: Simulator;
let strict: Simulator;
beforeAll(async () => {
  [simulator, strict] = await Promise.all([fastSimulator({ seed: 7 }), fastSimulator({ seed: 7, strict: true })]);
});
afterAll(() => Promise.all([simulator.close(), strict.close()]));

type Message = Anthropic.MessageParam;

function anthropic(target: Simulator): Anthropic {
  return new Anthropic({ apiKey: 'sk-test', baseURL: target.url, maxRetries: 0 });
}

function openai(target: Simulator): OpenAI {
  return new OpenAI({ apiKey: 'sk-test', baseURL: `${target.url}/v1`, maxRetries: 0 });
}

async function say(messages: Message[], target = simulator): Promise<string> {
  const message = await anthropic(target).messages.create({ model: 'sim-large', max_tokens: 100, messages });
  return message.content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('');
}

const CALL: Message = { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }] };
const RESULT = { type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'ok' };

describe('a tool loop', () => {
  it('ends with "tool done" once the result is there', async () => {
    const asked: Message = { role: 'user', content: '[[tool Bash {}]]' };
    expect(await say([asked])).toBe('<tool_use>');
    expect(await say([asked, CALL, { role: 'user', content: [RESULT] }])).toBe('tool done');
  });

  it('takes a reminder beside a result for no new question, and a directive there for one', async () => {
    const asked: Message = { role: 'user', content: '[[tool Bash {}]]' };
    const reminder = { type: 'text' as const, text: '<system-reminder>Be brief.</system-reminder>' };
    expect(await say([asked, CALL, { role: 'user', content: [RESULT, reminder] }])).toBe('tool done');
    const directive = { type: 'text' as const, text: '[[say onward]]' };
    expect(await say([asked, CALL, { role: 'user', content: [RESULT, directive] }])).toBe('onward');
  });

  it('starts again with the next question', async () => {
    const history: Message[] = [
      { role: 'user', content: '[[tool Bash {}]]' },
      CALL,
      { role: 'user', content: [RESULT] },
      { role: 'assistant', content: 'tool done' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'and' },
          { type: 'text', text: '[[say new]]' },
        ],
      },
    ];
    expect(await say(history, strict)).toBe('new');
  });

  it('ends likewise on chat completions and on responses', async () => {
    const chat = await openai(simulator).chat.completions.create({
      model: 'sim-large',
      messages: [
        { role: 'user', content: [{ type: 'text', text: '[[tool Bash {}]]' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'Bash', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
      ],
    });
    expect(chat.choices[0]?.message.content).toBe('tool done');
    const response = await openai(simulator).responses.create({
      model: 'sim-large',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: '[[tool Bash {}]]' }] },
        { type: 'function_call', call_id: 'call_1', name: 'Bash', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'ok' },
      ],
    });
    expect(response.output_text).toBe('tool done');
  });
});

const think = async (): Promise<Anthropic.ThinkingBlock> => {
  const messages: Message[] = [{ role: 'user', content: '[[think why not]] [[say so]]' }];
  const { content } = await anthropic(simulator).messages.create({ model: 'sim-large', max_tokens: 100, messages });
  const block = content[0];
  if (block?.type !== 'thinking') throw new Error('no thinking came');
  return block;
};

const answerAfter = (block: { type: 'thinking'; thinking: string; signature: string }): Promise<string> =>
  say([
    { role: 'user', content: 'why' },
    { role: 'assistant', content: [block, { type: 'text', text: 'so' }] },
    { role: 'user', content: '[[say further]]' },
  ]);

describe('signatures', () => {
  it('takes its own thinking back, also when it was streamed', async () => {
    expect(await answerAfter(await think())).toBe('further');
    const streamed = await anthropic(simulator)
      .messages.stream({ model: 'm', max_tokens: 99, messages: [{ role: 'user', content: '[[think why not]]' }] })
      .finalMessage();
    expect(streamed.content[0]).toEqual(await think());
  });

  it.each([
    ['another text', (block: Anthropic.ThinkingBlock) => ({ ...block, thinking: 'why yes' })],
    ['a made-up signature', (block: Anthropic.ThinkingBlock) => ({ ...block, signature: 'gw1.AAAA' })],
    ['an empty signature', (block: Anthropic.ThinkingBlock) => ({ ...block, signature: '' })],
  ])('refuses %s in the words of the vendor', async (_name, forge) => {
    await expect(answerAfter(forge(await think()))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('messages.1.content.0: Invalid signature in thinking block'),
    });
  });

  it('takes thinking without any signature', async () => {
    expect(await answerAfter({ type: 'thinking', thinking: 'x' } as Anthropic.ThinkingBlock)).toBe('further');
  });

  it('signs the thinking that it does not show', async () => {
    const message = await anthropic(simulator).messages.create({
      model: 'sim-large',
      max_tokens: 100,
      thinking: { type: 'adaptive', display: 'omitted' },
      messages: [{ role: 'user', content: '[[think a b c]]' }],
    });
    const [block] = message.content;
    expect(block).toMatchObject({ type: 'thinking', thinking: '', signature: expect.stringMatching(/^sim1\./) });
    expect(message.usage.output_tokens_details?.thinking_tokens).toBe(3);
  });

  it('takes its own encrypted reasoning back and no other', async () => {
    const first = await openai(simulator).responses.create({
      model: 'sim-large',
      input: '[[think deep]]',
      include: ['reasoning.encrypted_content'],
    });
    const item = first.output.find((one) => one.type === 'reasoning');
    if (item === undefined) throw new Error('no reasoning came');
    const again = (encrypted: string): Promise<OpenAI.Responses.Response> =>
      openai(simulator).responses.create({
        model: 'sim-large',
        input: [
          { ...item, encrypted_content: encrypted },
          { role: 'user', content: '[[say fine]]' },
        ],
      });
    expect((await again(item.encrypted_content ?? '')).output_text).toBe('fine');
    await expect(again('gAAAA.forged')).rejects.toMatchObject({ status: 400, code: 'invalid_encrypted_content' });
  });
});

const chat = (messages: OpenAI.ChatCompletionMessageParam[]): Promise<unknown> =>
  openai(strict).chat.completions.create({ model: 'sim-large', messages });

const respond = (input: OpenAI.Responses.ResponseInput): Promise<unknown> =>
  openai(strict).responses.create({ model: 'sim-large', input });

describe('a strict simulator', () => {
  const refusals: [name: string, messages: Message[], sentence: RegExp][] = [
    ['a result without a call', [{ role: 'user', content: [RESULT] }], /unexpected `tool_use_id` found/],
    [
      'a call without a result',
      [{ role: 'user', content: 'x' }, CALL, { role: 'user', content: 'well?' }],
      /`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1/,
    ],
    [
      'text before a result',
      [{ role: 'user', content: 'x' }, CALL, { role: 'user', content: [{ type: 'text', text: 'a' }, RESULT] }],
      /must come first/,
    ],
    ['empty text', [{ role: 'user', content: [{ type: 'text', text: '' }] }], /must be non-empty/],
    [
      'an id with a colon',
      [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'functions.Bash:0', name: 'Bash', input: {} }] },
      ],
      /tool_use\.id: String should match pattern/,
    ],
    [
      'five cache markers',
      [
        {
          role: 'user',
          content: Array.from({ length: 5 }, () => ({
            type: 'text' as const,
            text: 'x',
            cache_control: { type: 'ephemeral' as const },
          })),
        },
      ],
      /maximum of 4 blocks with cache_control may be provided\. Found 5/,
    ],
  ];

  it.each(refusals)('refuses %s, which a lenient one lets pass', async (_name, messages, sentence) => {
    await expect(say(messages, strict)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(sentence),
    });
    await expect(say(messages)).resolves.toEqual(expect.any(String));
  });

  it('refuses unpaired calls and results on chat completions', async () => {
    const call = { id: 'call_1', type: 'function' as const, function: { name: 'f', arguments: '{}' } };
    await expect(chat([{ role: 'tool', tool_call_id: 'call_1', content: 'x' }])).rejects.toThrow(/preceeding message/);
    await expect(
      chat([
        { role: 'assistant', tool_calls: [call] },
        { role: 'user', content: 'x' },
      ]),
    ).rejects.toThrow(/did not have response messages: call_1/);
    await expect(chat([{ role: 'assistant', tool_calls: [call] }])).rejects.toThrow(/did not have response/);
    await expect(
      chat([
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'x' },
      ]),
    ).resolves.toBeDefined();
  });

  it('refuses unpaired calls and results on responses', async () => {
    await expect(respond([{ type: 'function_call_output', call_id: 'a', output: '' }])).rejects.toThrow(
      /No tool call found/,
    );
    await expect(respond([{ type: 'function_call', call_id: 'a', name: 'f', arguments: '' }])).rejects.toThrow(
      /No tool output found/,
    );
  });
});
