import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import type { WireExchange } from '../../server/wire/protocol.ts';
import { eventsOfWhole } from '../../server/wire/unstreamed.ts';
import { bytes, exchange, text } from './dialogue/support.ts';
import { exchangeWith } from './fixtures.ts';
import { meaningOf, streamedMeaning } from './recorded/meaning.ts';

/** An answer that comes whole although it was to be streamed says, as a stream, what it says whole. */

interface Shape {
  what: string;
  protocol: Protocol;
  response?: Record<string, unknown>;
}

const shapes = readFileSync(new URL('recorded/shapes.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Shape)
  .filter(({ response }) => response !== undefined);

const call = { name: 'f', arguments: '{"x":1}' };
const usage = { input_tokens: 30, output_tokens: 7 };
/** One with everything that a client reads, for each protocol. */
const full: Shape[] = [
  {
    what: 'text, thinking and two calls',
    protocol: 'messages',
    response: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'big-1',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 'sig' },
        { type: 'text', text: 'So', citations: null },
        { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
        { type: 'tool_use', id: 'b', name: 'g', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage,
    },
  },
  {
    what: 'text, reasoning and two calls',
    protocol: 'chat-completions',
    response: {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'big-1',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'So',
            reasoning_content: 'Hm',
            tool_calls: [
              { id: 'a', type: 'function', function: call },
              { id: 'b', type: 'function', function: { ...call, name: 'g' } },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 30, completion_tokens: 7, total_tokens: 37 },
    },
  },
  {
    what: 'text, reasoning and two calls',
    protocol: 'responses',
    response: {
      id: 'r',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'big-1',
      output: [
        { type: 'reasoning', id: 'x', summary: [{ type: 'summary_text', text: 'Hm' }] },
        {
          type: 'message',
          id: 'm',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'So', annotations: [] }],
        },
        { type: 'function_call', id: 'f1', call_id: 'a', ...call },
        { type: 'function_call', id: 'f2', call_id: 'b', ...call, name: 'g' },
      ],
      usage: { ...usage, total_tokens: 37 },
    },
  },
];

const clients: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];

function open(protocol: Protocol, client: Protocol, stream: boolean): Pick<WireExchange, 'reply' | 'stream'> {
  const sent = stream ? { stream: true } : {};
  if (client === protocol) return exchangeWith(client, sent);
  const { reply, stream: streamed } = exchange({ client, upstream: protocol }, sent);
  return { reply: (body) => reply(text(body)), stream: streamed };
}

function dataOf(out: string): unknown[] {
  return out
    .split('\n\n')
    .flatMap((block) => block.split('\n').filter((line) => line.startsWith('data: ')))
    .map((line) => line.slice(6))
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as unknown);
}

describe.each(clients)('for clients of %s', (client) => {
  test.each([...full, ...shapes])('$protocol: $what', ({ protocol, response }) => {
    const body = bytes(JSON.stringify(response));
    const whole = open(protocol, client, false).reply(body);
    const stream = open(protocol, client, true).stream();
    const events = eventsOfWhole(protocol, body);
    if (events === null) throw new Error('no events');
    let out = events.map((piece) => text(stream.write(piece.bytes))).join('') + text(stream.end());
    // A vendor's answer without a finish reason gets the terminator that the relay would add.
    if (stream.state === 'finished') out += text(stream.stop({ reason: 'budget' }));
    expect(stream.state).toBe('terminated');
    const said = streamedMeaning(client, dataOf(out));
    const meant = meaningOf(client, JSON.parse(text(whole.body)));
    // Natively an absent text may be null, which the pieces of a stream cannot be.
    expect({ ...said, reasoning: said.reasoning.replace('null', '') }).toEqual({
      ...meant,
      reasoning: meant.reasoning ?? '',
    });
    const { usage: pools, clamped, partial, model } = stream.account();
    const { account } = whole;
    expect({ pools, clamped, model }).toEqual({ pools: account.usage, clamped: account.clamped, model: account.model });
    expect(partial).toBe(account.partial);
  });
});

test.each(clients)('%s: what is no answer makes no events', (protocol) => {
  const bodies = [
    '',
    '[]',
    'null',
    '{}',
    '<h1>',
    '{"error":{"message":"no"}}',
    `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`,
  ];
  for (const body of bodies) expect(eventsOfWhole(protocol, bytes(body))).toBeNull();
});
