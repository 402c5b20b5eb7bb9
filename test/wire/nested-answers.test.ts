import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { UnreadableReply } from '../../server/wire/protocol.ts';
import { eventsOfWhole } from '../../server/wire/unstreamed.ts';
import { exchangeWith } from './fixtures.ts';

/**
 * What an upstream nests deeper than anything is read is given to no parser: one takes thirty times as long for it as for
 * other JSON, half a second for the largest event, in one piece.
 */

const protocols: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];
const directions = protocols.flatMap((client) => protocols.map((upstream) => ({ client, upstream })));

const openings: Record<Protocol, string> = {
  messages: 'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":1}}}\n\n',
  'chat-completions': 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}\n\n',
  responses:
    'event: response.created\ndata: {"type":"response.created","response":{"status":"in_progress","output":[]}}\n\n',
};

const depth = 500_000;
const shapes: Record<string, string> = {
  lists: `${'['.repeat(depth)}${']'.repeat(depth)}`,
  objects: `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  'lists that never end': '['.repeat(2 * depth),
  'lists in a member': `{"type":"message","content":${'['.repeat(depth)}${']'.repeat(depth)}}`,
};

/** The bytes of the longest text that is parsed meanwhile. */
function longestParsed(run: () => void): number {
  const parse = vi.spyOn(JSON, 'parse');
  run();
  return Math.max(0, ...parse.mock.calls.map(([text]) => text.length));
}
afterEach(() => vi.restoreAllMocks());

/** Events and answers up to this size are parsed as they are. */
const smallBytes = 65_536;

describe.each(directions)('$client on $upstream', ({ client, upstream }) => {
  test.each(Object.entries(shapes))('an event of nested %s is not parsed', (_name, json) => {
    const stream = exchangeWith(client, { stream: true }, {}, upstream).stream();
    const bytes = Buffer.from(`${openings[upstream]}data: ${json}\n\n`);
    const longest = longestParsed(() => {
      for (let at = 0; at < bytes.length; at += 16_384) stream.write(bytes.subarray(at, at + 16_384));
    });
    expect(longest).toBeLessThan(smallBytes);
    expect(stream.state === 'failed').toBe(client !== upstream);
  });

  test.each(Object.entries(shapes))('a whole answer of nested %s is not parsed', (_name, json) => {
    const exchange = exchangeWith(client, {}, {}, upstream);
    let refused = 0;
    const longest = longestParsed(() => {
      try {
        exchange.reply(Buffer.from(json));
      } catch (error) {
        if (!(error instanceof UnreadableReply)) throw error;
        refused += 1;
      }
    });
    expect([longest < smallBytes, refused]).toEqual([true, 1]);
    expect(longestParsed(() => void eventsOfWhole(upstream, Buffer.from(json)))).toBeLessThan(smallBytes);
  });
});
