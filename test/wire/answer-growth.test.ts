import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { UnreadableReply, type WireExchange } from '../../server/wire/protocol.ts';
import { eventsOfWhole } from '../../server/wire/unstreamed.ts';
import { exchangeWith } from './fixtures.ts';
import { createWorkMeter, type WorkMeter } from './work-meter.ts';

/**
 * The work for a whole answer and for an error grows with its length, whatever the upstream puts into it, natively and
 * translated to every other protocol: an answer must not keep the process from everybody else.
 */

const protocols: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];

/** With twice as many values, what is added doubles where work grows in proportion; with their square it is four times as much. */
const maxGrowth = 2 ** 1.2;

const times = (count: number, make: (at: number) => string): string =>
  Array.from({ length: count }, (_none, at) => make(at)).join(',');

/** One JSON value of about `count` parts. */
const values: Record<string, (count: number) => string> = {
  'many numbers': (count) => `[${times(count, () => '7')}]`,
  'many lists': (count) => `[${times(count, () => '[]')}]`,
  'many objects': (count) => `[${times(count, () => '{}')}]`,
  'an object of many members': (count) => `{${times(count, (at) => `"m${at}":1`)}}`,
  'one member many times': (count) => `{${times(count, () => '"type":"text"')}}`,
  'lists within lists': (count) => `[${times(Math.ceil(count / 10), () => '['.repeat(10) + ']'.repeat(10))}]`,
  'objects within objects': (count) =>
    `[${times(Math.ceil(count / 10), () => `${'{"a":'.repeat(10)}1${'}'.repeat(10)}`)}]`,
  'a long text': (count) => `"${'a'.repeat(count * 8)}"`,
  'a text of escapes': (count) => `"${'\\u0041\\n'.repeat(count)}"`,
  'a text of brackets': (count) => JSON.stringify('{["'.repeat(count)),
  'a text of blanks': (count) => `"${' '.repeat(count * 8)}"`,
  'a long number': (count) => '1'.repeat(count),
  blanks: (count) => `${' \n'.repeat(count)}1${' \n'.repeat(count)}`,
};

/** Places of an answer where such a value may stand; `count` of the protocol's own parts, too. */
const places: Record<Protocol, Record<string, (value: string) => string>> = {
  messages: {
    'beside the content': (value) =>
      `{"type":"message","content":[{"type":"text","text":"a"}],"more":${value},"usage":{"input_tokens":1,"output_tokens":1}}`,
    'as content': (value) => `{"type":"message","content":${value}}`,
    'in a block': (value) => `{"type":"message","content":[{"type":"text","text":${value}}]}`,
    'as input of a call': (value) =>
      `{"type":"message","content":[{"type":"tool_use","id":"c","name":"f","input":{"a":${value}}}],"stop_reason":"tool_use"}`,
    'as usage': (value) => `{"type":"message","content":[{"type":"text","text":"a"}],"usage":${value}}`,
  },
  'chat-completions': {
    'beside the choices': (value) =>
      `{"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"more":${value}}`,
    'as choices': (value) => `{"choices":${value}}`,
    'as content': (value) =>
      `{"choices":[{"index":0,"message":{"role":"assistant","content":${value}},"finish_reason":"stop"}]}`,
    'as calls': (value) =>
      `{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":${value}},"finish_reason":"tool_calls"}]}`,
    'as arguments of a call': (value) =>
      `{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${JSON.stringify(value)}}}]},"finish_reason":"tool_calls"}]}`,
    'as log probabilities': (value) =>
      `{"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"logprobs":{"content":${value}},"finish_reason":"stop"}]}`,
  },
  responses: {
    'beside the output': (value) =>
      `{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}],"more":${value}}`,
    'as output': (value) => `{"status":"completed","output":${value}}`,
    'as content': (value) =>
      `{"status":"completed","output":[{"type":"message","role":"assistant","content":${value}}]}`,
    'as arguments of a call': (value) =>
      `{"status":"completed","output":[{"type":"function_call","call_id":"c","name":"f","arguments":${JSON.stringify(value)}}]}`,
    'as a summary': (value) => `{"status":"completed","output":[{"type":"reasoning","summary":${value}}]}`,
  },
};

/** The protocol's own parts in numbers. */
const parts: Record<Protocol, Record<string, (count: number) => string>> = {
  messages: {
    blocks: (count) => `{"type":"message","content":[${times(count, () => '{"type":"text","text":"a"}')}]}`,
    calls: (count) =>
      `{"type":"message","content":[${times(count, (at) => `{"type":"tool_use","id":"c${at}","name":"f","input":{}}`)}],"stop_reason":"tool_use"}`,
    'calls with one id': (count) =>
      `{"type":"message","content":[${times(count, () => '{"type":"tool_use","id":"c","name":"f","input":{}}')}],"stop_reason":"tool_use"}`,
  },
  'chat-completions': {
    choices: (count) =>
      `{"choices":[${times(count, (at) => `{"index":${at},"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}`)}]}`,
    calls: (count) =>
      `{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[${times(count, (at) => `{"id":"c${at}","type":"function","function":{"name":"f","arguments":"{}"}}`)}]},"finish_reason":"tool_calls"}]}`,
    'calls with one id': (count) =>
      `{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[${times(count, () => '{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}')}]},"finish_reason":"tool_calls"}]}`,
    'parts of content': (count) =>
      `{"choices":[{"index":0,"message":{"role":"assistant","content":[${times(count, () => '{"type":"text","text":"a"}')}]},"finish_reason":"stop"}]}`,
  },
  responses: {
    items: (count) =>
      `{"status":"completed","output":[${times(count, () => '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}')}]}`,
    calls: (count) =>
      `{"status":"completed","output":[${times(count, (at) => `{"type":"function_call","call_id":"c${at}","name":"f","arguments":"{}"}`)}]}`,
    parts: (count) =>
      `{"status":"completed","output":[{"type":"message","role":"assistant","content":[${times(count, () => '{"type":"output_text","text":"a"}')}]}]}`,
  },
};

/** Everything that is done with one answer without a pause; an answer that the protocol does not allow is a result, too. */
const stages: Record<string, (read: WireExchange, answer: Uint8Array) => void> = {
  'the answer': (read, answer) => {
    try {
      read.reply(answer);
    } catch (error) {
      if (!(error instanceof UnreadableReply)) throw error;
    }
  },
  'an error with it': (read, answer) =>
    void read.error(400, Buffer.from(`{"error":${Buffer.from(answer).toString()}}`)),
  'the answer as a stream': ({ upstream }, answer) => void eventsOfWhole(upstream, answer),
};

let meter: WorkMeter;
beforeAll(() => {
  meter = createWorkMeter();
});
afterAll(() => meter.close());

describe.each(protocols)('the work for an answer of an upstream of %s grows with its length:', (upstream) => {
  const ways = [
    ...Object.entries(parts[upstream]),
    ...Object.entries(places[upstream]).flatMap(([place, put]) =>
      Object.entries(values).map(([name, make]): [string, (count: number) => string] => [
        `${name} ${place}`,
        (count) => put(make(count)),
      ]),
    ),
  ];
  describe.each(protocols)('for clients of %s', (client) => {
    test.each(ways)('%s', (_name, make) => {
      const answers = [60, 120, 240].map((count) => Buffer.from(make(count)));
      for (const [stage, run] of Object.entries(stages)) {
        const read = exchangeWith(client, {}, {}, upstream);
        const [, one = 0, two = 0, four = 0] = [answers[0], ...answers].map((answer) =>
          // Once before it counts: what is made at a first use is no growth.
          meter.measure(() => run(read, answer ?? new Uint8Array(0))),
        );
        expect(four - two, `${stage}: ${one}, ${two}, ${four}`).toBeLessThanOrEqual(
          maxGrowth * Math.max(0, two - one) + 200,
        );
      }
    });
  });
});
