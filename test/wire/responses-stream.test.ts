import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WireContext } from '../../server/wire/protocol.ts';
import { cut, exchangeWith, namedEvents, relayed } from './fixtures.ts';

/** Native streams of the Responses protocol: bytes pass as they are, the usage is read. */

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 5,
  model: 'up-1',
  status: 'in_progress',
  output: [],
  tools: [],
};
const usage = { input_tokens: 100, input_tokens_details: { cached_tokens: 60 }, output_tokens: 7, total_tokens: 107 };
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Grüße', annotations: [] }],
};

const begin = [
  { type: 'response.created', response },
  { type: 'response.in_progress', response },
];
const openMessage = [
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] },
  },
  {
    type: 'response.content_part.added',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    part: { type: 'output_text', text: '' },
  },
  { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Grü' },
  { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'ße"\n' },
];
const closeMessage = [{ type: 'response.output_item.done', output_index: 0, item: message }];
const openCall = [
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'read', arguments: '', status: 'in_progress' },
  },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{"a":' },
];
const completed = {
  type: 'response.completed',
  response: { ...response, status: 'completed', output: [message], usage },
};

const numbered = (...events: Record<string, unknown>[]) =>
  namedEvents(...events.map(({ type, ...rest }, sequence_number) => ({ type, sequence_number, ...rest })));
const whole = numbered(...begin, ...openMessage, ...closeMessage, completed);

function open(context: Partial<WireContext> = {}) {
  return exchangeWith('responses', { stream: true }, context).stream();
}

function opened(...events: Record<string, unknown>[]) {
  const stream = open();
  stream.write(Buffer.from(numbered(...events)));
  return stream;
}

/** The events of event-stream text, by their data. */
function eventsOf(bytes: Uint8Array): Record<string, unknown>[] {
  return [
    ...Buffer.from(bytes)
      .toString()
      .matchAll(/^data: (.*)$/gm),
  ].map(([, data]) => JSON.parse(data ?? '') as Record<string, unknown>);
}

const failure = { reason: 'upstream', status: 502, type: 'api_error', message: 'Gone.' } as const;

describe('bytes', () => {
  test('pass untouched, and an untouched chunk is handed out as itself', () => {
    const stream = open();
    const chunk = Buffer.from(whole);
    expect(stream.write(chunk)).toBe(chunk);
    expect(stream.state).toBe('terminated');
    expect(stream.account()).toEqual({
      usage: { input: 40, cacheHit: 60, cacheWrite5m: 0, cacheWrite1h: 0, output: 7 },
      finish: 'completed',
      clamped: false,
      partial: false,
      outputBytes: Buffer.byteLength('Grüße\\"\\n'),
      outputPieces: 2,
      model: 'up-1',
    });
  });

  test("only the response's model changes where the upstream has another id for it", () => {
    expect(relayed(open({ upstreamModel: 'up-1' }), [whole])).toBe(
      whole.replaceAll('"model":"up-1"', '"model":"big-1"'),
    );
  });

  test('where chunks are cut changes neither output nor account', () => {
    const texts = [
      whole,
      whole.replaceAll('\n', '\r\n'),
      numbered(...begin, ...openMessage, ...openCall),
      `${numbered(...begin)}data: {"bro`,
    ].map((text) => Buffer.from(text));
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.boolean(),
        (bytes, places, budget) => {
          const [one, other] = [open(), open()];
          expect(relayed(other, cut(bytes, places))).toBe(relayed(one, [bytes]));
          expect(other.account()).toEqual(one.account());
          const end = budget ? ({ reason: 'budget' } as const) : failure;
          expect(Buffer.from(other.stop(end)).toString()).toBe(Buffer.from(one.stop(end)).toString());
        },
      ),
    );
  });

  test('the last event may be large, because it repeats the answer', () => {
    const long = 'x'.repeat(2_000_000);
    const stream = opened(...begin, { ...completed, response: { ...completed.response, output: [long] } });
    expect(stream.account().usage).toMatchObject({ output: 7 });
  });

  test.each(['response.completed', 'response.incomplete'])('%s ends it', (type) => {
    const stream = opened(...begin, { ...completed, type });
    expect(stream.state).toBe('terminated');
    expect(stream.write(Buffer.from(numbered(...begin)))).toHaveLength(0);
  });
});

const failed = (code: string) => ({
  type: 'response.failed',
  response: { ...response, status: 'failed', error: { code, message: 'org-a1b2c3d4 broke' } },
});

describe('errors in the stream', () => {
  test("a failed response passes less the operator's identifiers", () => {
    const stream = open();
    const out = relayed(stream, [numbered(...begin, failed('server_error'))]);
    expect(stream).toMatchObject({ state: 'failed', error: { status: 500, type: 'server_error' } });
    expect(out).toBe(numbered(...begin, failed('server_error')).replace('org-a1b2c3d4', 'org-redacted'));
  });

  test('one about the operator becomes a failed response with another reason', () => {
    const stream = open();
    const events = eventsOf(Buffer.from(relayed(stream, [numbered(...begin, failed('rate_limit_exceeded'))])));
    expect(stream.error?.status).toBe(429);
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { id: 'resp_1', status: 'failed', error: { code: 'server_error' } },
    });
    expect(JSON.stringify(events)).not.toContain('a1b2c3d4');
  });

  test.each([
    [{ type: 'error', code: 'server_error', message: 'x', param: null }, 500],
    [{ type: 'error', error: { type: 'invalid_request_error', message: 'x' } }, 400],
  ])('held back before anything else: %j', (event, status) => {
    const stream = open();
    expect(relayed(stream, [namedEvents(event)])).toBe('');
    expect(stream).toMatchObject({ state: 'waiting', error: { status, message: 'x' } });
  });
});

describe('the end', () => {
  test('a cut stream fails the response, with what was complete', () => {
    const stream = opened(...begin, ...openMessage, ...closeMessage, ...openCall);
    expect(eventsOf(stream.stop(failure))).toEqual([
      {
        type: 'response.failed',
        sequence_number: 9,
        response: {
          ...response,
          status: 'failed',
          error: { code: 'server_error', message: 'Gone.' },
          output: [message],
          usage: null,
        },
        request_id: 'req-of-ours',
      },
    ]);
    expect(stream.state).toBe('failed');
  });

  test('before the response exists it is a bare error event', () => {
    expect(eventsOf(open().stop(failure))).toEqual([
      {
        type: 'error',
        code: 'server_error',
        message: 'Gone.',
        param: null,
        sequence_number: 0,
        request_id: 'req-of-ours',
      },
    ]);
  });

  test('the budget ends it as the token limit would: what is open is closed with its text so far', () => {
    const stream = opened(...begin, ...openMessage, ...openCall);
    const pools = { input: 40, cacheHit: 60, cacheWrite5m: 0, cacheWrite1h: 0, output: 3 };
    const part = { type: 'output_text', annotations: [], text: 'Grüße"\n' };
    const closedMessage = { id: 'msg_1', type: 'message', role: 'assistant', status: 'incomplete', content: [part] };
    const closedCall = {
      id: 'fc_1',
      type: 'function_call',
      call_id: 'c',
      name: 'read',
      arguments: '{"a":',
      status: 'incomplete',
    };
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    expect(eventsOf(stream.stop({ reason: 'budget', usage: pools }))).toEqual([
      { type: 'response.output_text.done', sequence_number: 8, ...place, text: 'Grüße"\n', logprobs: [] },
      { type: 'response.content_part.done', sequence_number: 9, ...place, part },
      { type: 'response.output_item.done', sequence_number: 10, output_index: 0, item: closedMessage },
      { type: 'response.output_item.done', sequence_number: 11, output_index: 1, item: closedCall },
      {
        type: 'response.incomplete',
        sequence_number: 12,
        response: {
          ...response,
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          error: null,
          output: [closedMessage, closedCall],
          usage: {
            input_tokens: 100,
            input_tokens_details: { cached_tokens: 60, cache_write_tokens: 0 },
            output_tokens: 3,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: 103,
          },
        },
      },
    ]);
    expect(stream.account().partial).toBe(true);
  });

  test('what has been closed stays closed', () => {
    const events = eventsOf(opened(...begin, ...openMessage, ...closeMessage, ...openCall).stop({ reason: 'budget' }));
    expect(events.map(({ type, output_index }) => [type, output_index])).toEqual([
      ['response.output_item.done', 1],
      ['response.incomplete', undefined],
    ]);
    expect(events.at(-1)).toMatchObject({ response: { output: [message, { id: 'fc_1', status: 'incomplete' }] } });
  });

  test('text that was cut between two halves of a surrogate pair is closed all the same', () => {
    const stream = open();
    const half = numbered(...begin, ...openMessage.slice(0, 3)).replace('Grü', '\\ud83d');
    stream.write(Buffer.from(half));
    stream.write(Buffer.from(numbered(openMessage[3] ?? {}).replace('ße\\"\\n', '\\ude00')));
    expect(JSON.stringify(eventsOf(stream.stop({ reason: 'budget' })))).toContain('😀');
  });

  test('a stream that the budget ends before it has begun is a stream all the same', () => {
    expect(eventsOf(open().stop({ reason: 'budget' })).map(({ type }) => type)).toEqual([
      'response.created',
      'response.incomplete',
    ]);
  });

  test('a sign of life is a comment', () => {
    expect(Buffer.from(open().keepAlive).toString()).toMatch(/^: .*\n\n$/);
  });
});
