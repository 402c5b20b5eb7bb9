import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { dataEvents, exchangeWith, namedEvents } from './fixtures.ts';

/** Bytes pass whatever ends the lines of a stream, wherever it is cut, also where its end leaves open what the last CR ends. */

const model = 'up-1';
const streams: Record<Protocol, string> = {
  messages: namedEvents(
    { type: 'message_start', message: { model } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 1, output_tokens: 1 } },
    { type: 'message_stop' },
  ),
  'chat-completions': dataEvents(
    { model, choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] },
    '[DONE]',
  ),
  responses: namedEvents(
    { type: 'response.created', response: { model } },
    { type: 'response.completed', response: { model } },
  ),
};

/** What ends a line with a field, and what the empty line is. */
const endings: readonly (readonly [line: string, empty: string])[] = [
  ['\r', '\r'],
  ['\n', '\r'],
  ['\r\n', '\r'],
  ['\r\n', '\r\n'],
  ['\n', '\r\n'],
];

const protocols: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];

describe.each(protocols)('%s', (protocol) => {
  test.each(endings)('lines that end with %j and empty ones with %j gain and lose no byte', (line, empty) => {
    const sent = streams[protocol]
      .replaceAll('\n\n', '\0')
      .replaceAll('\n', line)
      .replaceAll('\0', line + empty);
    const bytes = Buffer.from(sent);
    for (let at = 0; at <= bytes.length; at += 1) {
      for (const more of [0, 1]) {
        const stream = exchangeWith(protocol, { stream: true, stream_options: { include_usage: true } }).stream();
        const chunks = [bytes.subarray(0, at), bytes.subarray(at, at + more), bytes.subarray(at + more)];
        const out = [...chunks.map((chunk) => stream.write(chunk)), stream.end()];
        expect(Buffer.concat(out.map((part) => Buffer.from(part))).toString(), `cut at ${at}`).toBe(sent);
        expect(stream.state).toBe('terminated');
      }
    }
  });
});
