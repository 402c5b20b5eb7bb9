import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { exchangeWith } from './fixtures.ts';

/**
 * Events that repeat the one before but for a word are not read. A stream that comes byte by byte never has a whole
 * event to compare, so that every one is read: whatever it does, the same stream in any other pieces must do too.
 */

const word = fc.oneof(
  fc.constantFrom(
    'word',
    '',
    ' and',
    'ünï',
    '\\n',
    '\\"',
    '\\u0041',
    '\\ud83d\\ude00',
    '漢字',
    '{',
    '"',
    '\\',
    '\\x',
    '\\u12',
  ),
  fc.constantFrom('\u0001', '\t', '\\\\'),
);

const chat = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(fc.constantFrom('content', 'reasoning', 'reasoning_content'), word, fc.constantFrom('', ',"usage":null'))
      .map(([name, text, more]) => chunk(`"delta":{"${name}":"${text}"},"finish_reason":null`, more)),
  },
  word.map((text) => chunk(`"delta":{"content":"${text}"},"finish_reason":null`, `,"obfuscation":"${text}"`)),
  word.map((text) => chunk(`"delta":{"tool_calls":[{"index":0,"function":{"arguments":"${text}"}}]}`)),
  word.map((text) => chunk(`"delta":{"content":"${text}","reasoning":"${text}"}`)),
  word.map((text) => chunk(`"delta":{"content":"a"},"text":"${text}"`)),
  fc.nat(2).map((index) => chunk(`"delta":{"content":"a"}`).replace('"index":0', `"index":${index}`)),
  fc.constantFrom(
    chunk('"delta":{"role":"assistant","content":""}'),
    chunk('"delta":{},"finish_reason":"stop"'),
    chunk('"delta":{"content":"a"},"finish_reason":null').replace('"upstream"', '"other"'),
    chunk('"delta":{"content":"a"}', ',"usage":{"prompt_tokens":3,"completion_tokens":4}'),
    chunk('"delta":{"content":"a"}').replaceAll('\n', '\r\n'),
    chunk('"delta":{"content":"a"}').replaceAll('\n', '\r'),
    ': keep-alive\n\n',
    'event: ping\ndata: {}\n\n',
    'data: {"error":{"message":"no","type":"server_error"}}\n\n',
    'data: [DONE]\n\n',
  ),
);

function chunk(choice: string, more = ''): string {
  return `data: {"id":"c","model":"upstream","choices":[{"index":0,${choice}}]${more}}\n\n`;
}

const messages = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(fc.constantFrom('text', 'thinking', 'partial_json'), word)
      .map(([name, text]) =>
        named('content_block_delta', `"index":0,"delta":{"type":"${name}_delta","${name}":"${text}"}`),
      ),
  },
  word.map((text) => named('content_block_delta', `"index":1,"delta":{"text":"${text}"}`)),
  word.map((text) => named('content_block_delta', `"index":0,"delta":{"text":"a","thinking":"${text}"}`)),
  fc.constantFrom(
    named('message_start', '"message":{"model":"upstream","usage":{"input_tokens":3,"output_tokens":1}}'),
    named('content_block_start', '"index":0,"content_block":{"type":"text","text":""}'),
    named('content_block_stop', '"index":0'),
    named('message_delta', '"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}'),
    named('message_stop', ''),
    named('ping', ''),
    named('error', '"error":{"type":"api_error","message":"no"}'),
  ),
);

function named(type: string, members: string): string {
  return `event: ${type}\ndata: {"type":"${type}"${members === '' ? '' : `,${members}`}}\n\n`;
}

function relayed(protocol: Protocol, pieces: readonly Buffer[], includeUsage: boolean, catalogModel: string) {
  const stream = exchangeWith(
    protocol,
    { stream: true, ...(includeUsage ? { stream_options: { include_usage: true } } : {}) },
    { catalogModel, upstreamModel: 'upstream' },
  ).stream();
  const out = pieces.map((piece) => Buffer.from(stream.write(piece)));
  out.push(Buffer.from(stream.end()));
  return {
    text: Buffer.concat(out).toString('latin1'),
    state: stream.state,
    error: stream.error,
    account: stream.account(),
  };
}

function inPieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

const sizes = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 4 });

describe('events that repeat themselves', () => {
  test.each([
    ['chat-completions', chat],
    ['messages', messages],
  ] as const)('%s: come to what they come to when each is read', (protocol, event) => {
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1, maxLength: 30 }),
        sizes,
        fc.boolean(),
        fc.constantFrom('upstream', 'ours', 'a-much-longer-name-of-ours'),
        (events, pieceSizes, includeUsage, catalogModel) => {
          const bytes = Buffer.from(events.join(''));
          const read = relayed(protocol, inPieces(bytes, [1]), includeUsage, catalogModel);
          expect(relayed(protocol, [bytes], includeUsage, catalogModel)).toEqual(read);
          expect(relayed(protocol, inPieces(bytes, pieceSizes), includeUsage, catalogModel)).toEqual(read);
        },
      ),
      { numRuns: 300 },
    );
  });
});
