/** Streams of the SDK, fed in awkward chunks. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { AbortedError, InvalidAnswerError, Steyg, StreamError, StreamInterruptedError } from '@steyg/sdk';
import { describe, expect, it, vi } from 'vitest';
import { readEvents } from '../../sdk/src/internal/sse.ts';
import { asked, events, scripted } from './support.ts';

const say = 'Xin chào 👋';
const sse = (...list: object[]) =>
  list.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const usage = { input_tokens: 5, output_tokens: 1 };

const messagesStream = `: hello\n\n${sse(
  {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage },
  },
  { type: 'ping' },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Xin ch' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ào 👋' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
)}`;

const chunk = (choices: object[], more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`;
const chatStream = [
  chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
  ': keep-alive\n\n',
  chunk([{ index: 0, delta: { content: 'Xin ch' }, finish_reason: null }]),
  chunk([{ index: 0, delta: { content: 'ào 👋' }, finish_reason: null }]),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chunk([], { usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } }),
  'data: [DONE]\n\n',
].join('');

const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [] };
const responsesStream = sse(
  { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress' } },
  { type: 'response.output_text.delta', sequence_number: 1, output_index: 0, content_index: 0, delta: 'Xin ch' },
  { type: 'response.output_text.delta', sequence_number: 2, output_index: 0, content_index: 0, delta: 'ào 👋' },
  { type: 'response.completed', sequence_number: 3, response },
);

type Protocol = 'messages' | 'chat' | 'responses';
const whole: Record<Protocol, string> = { messages: messagesStream, chat: chatStream, responses: responsesStream };
const protocols = Object.keys(whole) as Protocol[];

function streamOf(protocol: Protocol, answer: Response | (() => Response)) {
  const { steyg, seen } = scripted([answer]);
  const stream =
    protocol === 'messages'
      ? steyg.messages.stream(asked.messages('hi'))
      : protocol === 'chat'
        ? steyg.chat.completions.stream(asked.chat('hi'))
        : steyg.responses.stream(asked.responses('hi'));
  return { stream, seen };
}

const bytes = (text: string) => new TextEncoder().encode(text);
const cutAt = (data: Uint8Array, at: number) => [data.slice(0, at), data.slice(at)];

describe.each(protocols)('a stream of %s', (protocol) => {
  it('means the same wherever it is cut, byte by byte', async () => {
    const data = bytes(whole[protocol]);
    for (let at = 0; at <= data.length; at += 1) {
      const { stream } = streamOf(protocol, events(cutAt(data, at)));
      expect(await stream.finalText()).toBe(say);
    }
    const { stream } = streamOf(protocol, events([...data].map((byte) => Uint8Array.of(byte))));
    expect(await stream.finalText()).toBe(say);
  });

  it.each([
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('may end its lines with %s', async (_, ending) => {
    const data = bytes(whole[protocol].replaceAll('\n', ending));
    for (let at = 0; at <= data.length; at += 7) {
      const { stream } = streamOf(protocol, events(cutAt(data, at)));
      expect(await stream.finalText()).toBe(say);
    }
  });

  it('can be iterated only once', async () => {
    const { stream } = streamOf(protocol, events([whole[protocol]]));
    await stream.finalMessage();
    expect(() => stream[Symbol.asyncIterator]()).toThrow('only once');
    expect(await stream.finalText()).toBe(say);
  });

  it('is an error when it ends before its last event, however cleanly', async () => {
    const parts = whole[protocol].split('\n\n').slice(0, -2);
    for (let kept = 0; kept <= parts.length; kept += 1) {
      const text = parts
        .slice(0, kept)
        .map((part) => `${part}\n\n`)
        .join('');
      for (const end of ['close', 'error'] as const) {
        const { stream } = streamOf(protocol, events([text], end));
        const failure = await stream.finalMessage().catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(StreamInterruptedError);
        expect(failure).toMatchObject({ requestId: 'req-1' });
      }
    }
  });

  it('says what went wrong in the middle of it, in the class of its status', async () => {
    const overloaded = { type: 'overloaded_error', message: 'Overloaded' };
    const failing = {
      messages: sse({ type: 'error', error: overloaded }),
      chat: `data: ${JSON.stringify({ error: overloaded })}\n\n`,
      responses: sse({ type: 'error', code: 'overloaded_error', message: 'Overloaded', sequence_number: 1 }),
    }[protocol];
    const begun = `${whole[protocol].split('\n\n').slice(0, 3).join('\n\n')}\n\n`;
    const { stream, seen } = streamOf(protocol, events([begun, failing]));
    const failure = await stream.finalMessage().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StreamError);
    expect(failure).toMatchObject({
      status: 529,
      code: 'overloaded_error',
      message: 'Overloaded',
      requestId: 'req-1',
    });
    expect(seen).toHaveLength(1);
  });

  it('is left with the loop: the request ends', async () => {
    let cancelled = false;
    const { stream } = streamOf(
      protocol,
      events([whole[protocol].slice(0, 400), whole[protocol].slice(400)], 'close', () => (cancelled = true)),
    );
    for await (const event of stream) if (event) break;
    expect(cancelled).toBe(true);
    await expect(stream.finalMessage()).rejects.toThrow(AbortedError);
  });

  it('is ended by abort, before and during the reading', async () => {
    const first = streamOf(protocol, events([whole[protocol]]));
    first.stream.abort();
    await expect(first.stream.finalText()).rejects.toThrow(AbortedError);

    const start = bytes(whole[protocol].slice(0, 90));
    const endless = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(start) });
    const second = streamOf(protocol, new Response(endless));
    setTimeout(() => second.stream.abort(), 5);
    await expect(second.stream.finalText()).rejects.toThrow(AbortedError);

    const silent = streamOf(protocol, new Response(new ReadableStream<Uint8Array>()));
    await silent.stream.response();
    silent.stream.abort();
    await expect(silent.stream.finalText()).rejects.toThrow(AbortedError);
  });
});

describe('a stream', () => {
  const last: Record<Protocol, (event: unknown) => boolean> = {
    messages: (event) => (event as { type: string }).type === 'message_stop',
    chat: (event) => (event as { usage?: object }).usage !== undefined,
    responses: (event) => (event as { type: string }).type === 'response.completed',
  };

  it.each(['messages', 'responses'] as const)('of %s that is left at its last event is whole', async (protocol) => {
    const { stream } = streamOf(protocol, events([whole[protocol]]));
    for await (const event of stream) if (last[protocol](event)) break;
    expect(await stream.finalText()).toBe(say);
    expect(await stream.finalMessage()).toMatchObject({ model: 'm' });
  });

  it('of chat completions that is left before [DONE] is not', async () => {
    const { stream } = streamOf('chat', events([whole.chat]));
    for await (const event of stream) if (last.chat(event)) break;
    await expect(stream.finalMessage()).rejects.toThrow(AbortedError);
  });

  it.each(protocols)('of %s that the server leaves open after its last event ends all the same', async (protocol) => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      let left = false;
      const open = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(bytes(whole[protocol])),
        cancel: () => void (left = true),
      });
      const { stream } = streamOf(protocol, () => new Response(open));
      const text = stream.finalText();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await text).toBe(say);
      expect(left).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each(protocols)('of %s with an event that is none is an error that does not repeat it', async (protocol) => {
    const parts = whole[protocol].split('\n\n');
    for (const bad of ['data: {"type":"secret words', 'data: null', 'data: "text"', 'data: 7']) {
      const { stream } = streamOf(protocol, events([[...parts.slice(0, 2), bad, ...parts.slice(2)].join('\n\n')]));
      const failure = await stream.finalMessage().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(InvalidAnswerError);
      expect(failure).toMatchObject({ status: 200, requestId: 'req-1' });
      expect(inspect(failure, { depth: 5, showHidden: true })).not.toContain('secret words');
    }
  });

  it.each(protocols)('of %s that is answered with a page is no stream', async (protocol) => {
    const page = new Response('<html>Please sign in to this network</html>', {
      headers: { 'content-type': 'text/html', 'request-id': 'req-1' },
    });
    const { stream, seen } = streamOf(protocol, page);
    await expect(stream.finalText()).rejects.toThrow(InvalidAnswerError);
    expect(seen).toHaveLength(1);
  });

  it('is read no faster than it is used', async () => {
    let pulled = 0;
    const piece = bytes(sse({ type: 'ping' }).repeat(10));
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(piece);
      },
    });
    const { stream } = streamOf('messages', new Response(endless));
    let used = 0;
    for await (const _ of stream) {
      used += 1;
      await new Promise((resolve) => setImmediate(resolve));
      expect(pulled).toBeLessThanOrEqual(Math.ceil(used / 10) + 2);
      if (used === 100) break;
    }
  });
});

describe('a completion put together', () => {
  const finalOf = (...chunks: object[]) =>
    scripted([
      events([...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), 'data: [DONE]\n\n']),
    ]).steyg.chat.completions.stream(asked.chat('hi'));
  const call = (tool: object) => ({ choices: [{ index: 0, delta: { tool_calls: [tool] } }] });

  it('stands what upstreams leave out', async () => {
    const stream = finalOf(
      { id: 'c', model: 'm' },
      { id: 'c', model: 'm', choices: [{ index: 0 }] },
      { id: 'c', model: 'm', choices: [{ delta: { content: 'a' } }] },
      { id: 'c', model: 'm', choices: [{ index: 0, delta: { content: 'b' }, finish_reason: 'stop' }], usage: null },
    );
    expect((await stream.finalMessage()).choices).toEqual([
      { index: 0, message: { role: 'assistant', content: 'ab', refusal: null }, finish_reason: 'stop' },
    ]);
    expect(await stream.finalText()).toBe('ab');
  });

  it('keeps several choices apart, and hands out the text of the first', async () => {
    const stream = finalOf(
      { choices: [{ index: 1, delta: { content: 'x' } }] },
      { choices: [{ index: 0, delta: { content: 'a' } }] },
      { choices: [{ index: 1, delta: { content: 'y' } }] },
    );
    const { choices } = await stream.finalMessage();
    expect(choices.map(({ message }) => message.content)).toEqual(['a', 'xy']);
    expect(await stream.finalText()).toBe('a');
  });

  it('tells tool calls apart by their ids where they have no index', async () => {
    const stream = finalOf(
      call({ id: '1', function: { name: 'a', arguments: '{' } }),
      call({ function: { arguments: '}' } }),
      call({ id: '2', function: { name: 'b', arguments: '{}' } }),
    );
    expect((await stream.finalMessage()).choices[0]?.message.tool_calls).toMatchObject([
      { id: '1', function: { name: 'a', arguments: '{}' } },
      { id: '2', function: { name: 'b', arguments: '{}' } },
    ]);
  });
});

describe('connections', () => {
  it('are used again after a stream that was read to its end', async () => {
    const sockets = new Set<unknown>();
    const server = createServer((request, reply) => {
      sockets.add(request.socket);
      request.resume().on('end', () => {
        reply.writeHead(200, { 'content-type': 'text/event-stream' });
        reply.write(whole.messages);
        setImmediate(() => reply.end());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
      const steyg = new Steyg({ baseUrl: address, apiKey: 'k' });
      for (let call = 0; call < 6; call += 1) {
        expect(await steyg.messages.stream(asked.messages('hi')).finalText()).toBe(say);
      }
      // The pool may open a second one while the first is being freed.
      expect(sockets.size).toBeLessThan(3);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('a response that failed', () => {
  it('is handed out and then thrown', async () => {
    const failed = { ...response, status: 'failed', error: { code: 'server_error', message: 'No luck' } };
    const { stream } = streamOf(
      'responses',
      events([sse({ type: 'response.failed', sequence_number: 0, response: failed })]),
    );
    const seen: unknown[] = [];
    const loop = async () => {
      for await (const event of stream) seen.push(event.type);
    };
    await expect(loop()).rejects.toMatchObject({
      name: 'StreamError',
      code: 'server_error',
      message: 'No luck',
      status: 500,
    });
    expect(seen).toEqual(['response.failed']);
  });
});

const block = (content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index: 0, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
  { type: 'content_block_stop', index: 0 },
];

const inputDelta = (partial_json: string) => ({ type: 'input_json_delta', partial_json });

describe('a message put together', () => {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage };
  const finalOf = (...between: object[]) =>
    streamOf(
      'messages',
      events([sse({ type: 'message_start', message }, ...between, { type: 'message_stop' })]),
    ).stream.finalMessage();

  it('keeps counters that a later event leaves out or empties', async () => {
    const later = {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: null, output_tokens: 9 },
    };
    expect(await finalOf(later)).toMatchObject({ usage: { input_tokens: 5, output_tokens: 9 } });
  });

  it('keeps the signature of thinking', async () => {
    const final = await finalOf(
      ...block(
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'Hm' },
        { type: 'signature_delta', signature: 's=' },
      ),
    );
    expect(final.content).toEqual([{ type: 'thinking', thinking: 'Hm', signature: 's=' }]);
  });

  it('takes input that came whole at the start, in pieces, empty, or cut off', async () => {
    const tool = { type: 'tool_use', id: 't', name: 'n', input: {} };
    expect((await finalOf(...block({ ...tool, input: { a: 1 } }))).content).toMatchObject([{ input: { a: 1 } }]);
    expect((await finalOf(...block(tool, inputDelta('{"a"'), inputDelta(':2}')))).content).toMatchObject([
      { input: { a: 2 } },
    ]);
    expect((await finalOf(...block(tool, inputDelta('')))).content).toMatchObject([{ input: {} }]);
    expect((await finalOf(...block(tool, inputDelta('{"a": "cut')))).content).toMatchObject([{ input: '{"a": "cut' }]);
  });

  it('passes over events and blocks of kinds that came later', async () => {
    const final = await finalOf({ type: 'something_new', index: 3 }, ...block({ type: 'new_block', x: 1 }));
    expect(final.content).toEqual([{ type: 'new_block', x: 1 }]);
  });
});

async function* pieces(text: string) {
  yield bytes(text);
}

const read = async (text: string) => {
  const list = [];
  for await (const event of readEvents(pieces(text))) list.push(event);
  return list;
};

describe('the reader of event streams', () => {
  it('joins data lines, takes one space, and ignores what it does not know', async () => {
    expect(await read('event:a\ndata:  x\ndata\ndata: y\nid: 1\nretry: 2\n: z\n\ndata: last\n\n')).toEqual([
      { type: 'a', data: ' x\n\ny' },
      { type: null, data: 'last' },
    ]);
  });

  it.each(['\n', '\r\n', '\r'])('reads the same wherever a stream of lines that end with %j is cut', async (ending) => {
    const text = 'event: a\ndata: 1\ndata: 2\n\n: comment\nevent: b\ndata: 3\n\n'.replaceAll('\n', ending);
    async function* cutText(at: number) {
      for (const piece of cutAt(bytes(text), at)) yield piece;
    }
    for (let at = 0; at <= text.length; at += 1) {
      const list = [];
      for await (const event of readEvents(cutText(at))) list.push(event);
      expect(list).toEqual([
        { type: 'a', data: '1\n2' },
        { type: 'b', data: '3' },
      ]);
    }
  });

  it('drops an event that never got its empty line', async () => {
    expect(await read('data: whole\n\ndata: half\n')).toEqual([{ type: null, data: 'whole' }]);
    expect(await read('\uFEFFdata: after a mark\r\r')).toEqual([{ type: null, data: 'after a mark' }]);
  });
});
