import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import type { ReportedUsage } from '../../server/core/tokens.ts';
import { UnreadableReply, type WireExchange, type WireStream } from '../../server/wire/protocol.ts';
import { bytes, eventsOf, exchange, text } from './dialogue/support.ts';
import { exchangeWith } from './fixtures.ts';
import { type Meaning, meaningOf, streamedMeaning } from './recorded/meaning.ts';

/**
 * Shapes of vendors' answers that have broken other gateways and clients, each with its public source and words of its own.
 * Every one is read natively and translated to the other protocols, streams in awkward pieces: text, reasoning, calls and
 * usage arrive, and no answer that its vendor meant well is refused.
 */

interface Shape {
  source: string;
  what: string;
  protocol: Protocol;
  /** Data of a stream: objects and `[DONE]`; what begins with a colon is a comment. */
  events?: (string | Record<string, unknown>)[];
  response?: Record<string, unknown>;
  /** The vendor says in the stream that it failed. */
  fails?: true;
  text?: string;
  reasoning?: string;
  calls?: Meaning['calls'];
  /** Input, read from the cache, written to it for five minutes and for an hour, output; null: not told. */
  usage?: number[] | null;
}

const shapes = readFileSync(new URL('recorded/shapes.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Shape);

const clients: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];

function open({ protocol, events }: Shape, client: Protocol): Pick<WireExchange, 'reply' | 'stream'> {
  const members = events === undefined ? {} : { stream: true };
  if (client === protocol) return exchangeWith(client, members);
  const { reply, stream } = exchange({ client, upstream: protocol }, members);
  return { reply: (body) => reply(text(body)), stream };
}

function streamText({ protocol, events = [] }: Shape): string {
  return events
    .map((event) => {
      if (typeof event === 'string') return event.startsWith(':') ? `${event}\n\n` : `data: ${event}\n\n`;
      const name = protocol === 'chat-completions' ? '' : `event: ${String(event['type'])}\n`;
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}

/** Two ways in which networks and proxies cut a stream. */
const chunkings: Record<string, (stream: string) => Uint8Array[]> = {
  'byte by byte, lines ended with CRLF': (stream) =>
    Array.from(bytes(stream.replaceAll('\n', '\r\n')), (byte) => Uint8Array.of(byte)),
  'in pieces of 7 bytes': (stream) => {
    const whole = bytes(stream);
    return Array.from({ length: Math.ceil(whole.length / 7) }, (_, at) => whole.subarray(at * 7, at * 7 + 7));
  },
};

/** Feeds all of it; a stream that ends after its finish reason gets the terminator that the relay would add. */
function run(stream: WireStream, pieces: Uint8Array[]): string {
  const out = [...pieces.map((piece) => text(stream.write(piece))), text(stream.end())].join('');
  if (stream.state !== 'finished') return out;
  return out + text(stream.stop({ reason: 'upstream', status: 502, type: 'api_error', message: 'cut' }));
}

const poolsOf = ({ usage }: ReportedUsage): number[] | null =>
  usage && [usage.input, usage.cacheHit, usage.cacheWrite5m, usage.cacheWrite1h, usage.output];

test('at least forty, each with a public source', () => {
  expect(shapes.length).toBeGreaterThanOrEqual(40);
  expect(shapes.every(({ source }) => source.startsWith('https://'))).toBe(true);
});

describe.each(clients)('for clients of %s', (client) => {
  const meant = shapes.filter(({ fails }) => fails !== true);
  const expected = ({ text: said = '', reasoning = '', calls = [], usage }: Shape) => ({
    said,
    reasoning,
    calls,
    usage,
  });
  const found = ({ text: said, reasoning, calls }: Meaning, account: ReportedUsage) => ({
    said,
    reasoning,
    calls,
    usage: poolsOf(account),
  });

  test.each(meant.filter(({ response }) => response !== undefined))('$what', (shape) => {
    const { body, account } = open(shape, client).reply(bytes(JSON.stringify(shape.response)));
    const { reasoning = '' } = shape;
    const seen = meaningOf(client, JSON.parse(text(body)));
    // Natively the vendor's own member of reasoning stays as it is.
    if (client === shape.protocol) seen.reasoning = reasoning;
    expect(found(seen, account)).toEqual(expected(shape));
    expect(account.clamped).toBe(false);
  });

  const streamed = meant.filter(({ events }) => events !== undefined);
  describe.each(Object.entries(chunkings))('%s', (_how, cut) => {
    test.each(streamed)('$what', (shape) => {
      const stream = open(shape, client).stream();
      const out = run(stream, cut(streamText(shape)));
      const account = stream.account();
      expect(stream.state).toBe('terminated');
      expect(account.clamped).toBe(false);
      const native = client === shape.protocol;
      const data = eventsOf(out.replaceAll('\r\n', '\n')).map((event) => (Array.isArray(event) ? event[1] : event));
      const seen = native
        ? null
        : streamedMeaning(
            client,
            data.filter((event) => typeof event === 'object'),
          );
      const { text: said = '', reasoning = '', calls = [] } = shape;
      // Natively the vendor's bytes pass: what they say is theirs.
      expect(found(seen ?? { text: said, reasoning, calls }, account)).toEqual(expected(shape));
    });

    test.each(shapes.filter(({ fails }) => fails === true))('$what: the client is told', (shape) => {
      const stream = open(shape, client).stream();
      const out = run(stream, cut(streamText(shape)));
      expect([stream.state, stream.error === null]).not.toEqual(['terminated', true]);
      expect(out).toContain('error');
    });
  });
});

test('an answer that its vendor did not mean is still told apart', () => {
  const nothing = { protocol: 'chat-completions', what: '', source: '' } as Shape;
  for (const client of clients) expect(() => open(nothing, client).reply(bytes('{}'))).toThrow(UnreadableReply);
});
