import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSseReader, sseEvent } from '../../server/wire/streams/sse.ts';
import { cut } from './fixtures.ts';

/** The reader of server-sent events, however they are cut. */

interface Seen {
  type: string | null;
  data: string | null;
  raw: string;
}

/** Everything a reader reports: events, oversized bytes in order, what was left. */
function readAll(chunks: readonly Uint8Array[], maxEventBytes = 1_000_000) {
  const events: Seen[] = [];
  let oversized = '';
  const reader = createSseReader({
    maxEventBytes,
    sink: {
      event({ bytes, start, end, type, data }) {
        events.push({ type, data: data?.toString() ?? null, raw: bytes.toString('latin1', start, end) });
      },
      oversized(bytes, start, end, last) {
        oversized += bytes.toString('latin1', start, end);
        if (last) oversized += '|';
      },
    },
  });
  for (const chunk of chunks) reader.write(chunk);
  const rest = reader.end();
  return { events, oversized, rest: rest === null ? null : rest.bytes.toString('latin1', rest.start, rest.end) };
}

const read = (text: string, maxEventBytes?: number) => readAll([Buffer.from(text)], maxEventBytes);
const data = (text: string) => read(text).events.map((event) => event.data);

describe('events', () => {
  test.each(['\n', '\r\n', '\r'])('lines end with %j', (end) => {
    const text = ['event: a', 'data: 1', '', ': comment', '', 'data: 2', '', ''].join(end);
    const { events, rest } = read(text);
    // A lone CR at the very end could still be half of a CRLF, so its event is only known when the stream ends.
    const complete = end === '\r' ? 2 : 3;
    expect(events.map(({ type, data }) => [type, data])).toEqual(
      [
        ['a', '1'],
        [null, null],
        [null, '2'],
      ].slice(0, complete),
    );
    expect(rest).toBe(end === '\r' ? 'data: 2\r\r' : null);
  });

  test('data lines are joined, one space is dropped, other fields are skipped', () => {
    expect(data('id: 7\ndata:a\ndata:  b\ndata\nretry: 5\n\n')).toEqual(['a\n b\n']);
    expect(data('data: x\n\n')).toEqual(['x']);
    expect(data('datas: x\n\n')).toEqual([null]);
    expect(data('data:\n\n')).toEqual(['']);
    expect(data('xdata: x\n\n')).toEqual([null]);
  });

  test('a byte order mark belongs to the bytes, not to the first field', () => {
    expect(data('\ufeffdata: x\n\n\ufeffdata: y\n\n')).toEqual(['x', null]);
    expect(Buffer.from(read('\ufeffdata: x\n\n').events[0]?.raw ?? '', 'latin1').toString()).toBe('\ufeffdata: x\n\n');
  });

  test('every byte belongs to exactly one event', () => {
    const text = '\n\n: a\n\nevent: x\ndata: 1\n\n\r\n\r\ndata: 2\r\n\r\n\ndata: cut';
    const { events, rest } = read(text);
    expect(events.map(({ raw }) => raw).join('') + rest).toBe(text);
  });

  test('an event that stands in one chunk is a range of that very chunk', () => {
    const chunk = Buffer.from('data: 1\n\ndata: 2\n\n');
    const buffers: Buffer[] = [];
    const reader = createSseReader({
      maxEventBytes: 100,
      sink: { event: ({ bytes }) => buffers.push(bytes), oversized: () => expect.unreachable() },
    });
    reader.write(chunk);
    expect(buffers).toEqual([chunk, chunk]);
    expect(buffers[0]).toBe(chunk);
  });

  test('bytes that were handed out are never written to again', () => {
    const handed: { bytes: Buffer; copy: string }[] = [];
    const reader = createSseReader({
      maxEventBytes: 1000,
      sink: {
        event: ({ bytes, start, end }) =>
          handed.push({ bytes: bytes.subarray(start, end), copy: bytes.toString('latin1', start, end) }),
        oversized: () => expect.unreachable(),
      },
    });
    for (const byte of Buffer.from('data: one\n\ndata: two\n\ndata: three\n\n')) reader.write(Buffer.from([byte]));
    expect(handed.map(({ bytes }) => bytes.toString())).toEqual(handed.map(({ copy }) => copy));
    expect(handed).toHaveLength(3);
  });
});

describe('chunks', () => {
  const line = fc.oneof(
    fc.constantFrom('data: {"a":"é\\n"}', 'data', 'event: ping', ': comment', '', '', 'data: 💥💥', 'id: 1'),
    fc.string({ maxLength: 5 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, '')}`),
  );
  const stream = fc
    .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 25 })
    .map((lines) => Buffer.from(lines.map(([text, end]) => text + end).join('')));

  test('where they are cut changes nothing', () => {
    fc.assert(
      fc.property(
        stream,
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.constantFrom(8, 20, 1000),
        (bytes, places, limit) => {
          expect(readAll(cut(bytes, places), limit)).toEqual(readAll([bytes], limit));
          expect(readAll(cut(bytes, [...bytes.keys()]), limit)).toEqual(readAll([bytes], limit));
        },
      ),
    );
  });
});

describe('an event larger than the limit', () => {
  const big = `data: ${'x'.repeat(100)}\n\n`;
  test('passes unread, and the next one is read again', () => {
    expect(read(`data: 1\n\n${big}data: 2\n\n`, 50)).toEqual({
      events: [
        { type: null, data: '1', raw: 'data: 1\n\n' },
        { type: null, data: '2', raw: 'data: 2\n\n' },
      ],
      oversized: `${big}|`,
      rest: null,
    });
  });

  test('counts as the start, however it was cut', () => {
    const bytes = Buffer.from(`${big}\ufeffdata: 1\n\n`);
    for (const chunks of [[bytes], cut(bytes, [...bytes.keys()])]) {
      expect(readAll(chunks, 50).events.map((event) => event.data)).toEqual([null]);
    }
  });

  test('is handed out before it has ended', () => {
    let seen = '';
    const reader = createSseReader({
      maxEventBytes: 50,
      sink: {
        event: () => expect.unreachable(),
        oversized: (bytes, start, end) => (seen += bytes.toString('latin1', start, end)),
      },
    });
    reader.write(Buffer.from(big.slice(0, 40)));
    expect([seen, reader.inOversized]).toEqual(['', false]);
    reader.write(Buffer.from(big.slice(40, 70)));
    expect([seen, reader.inOversized]).toEqual([big.slice(0, 70), true]);
    reader.write(Buffer.from(big.slice(70)));
    expect([seen, reader.inOversized]).toEqual([big, false]);
  });
});

test('what is written can be read', () => {
  expect(read(sseEvent('x', '{"a":1}') + sseEvent(null, '[DONE]')).events).toMatchObject([
    { type: 'x', data: '{"a":1}' },
    { type: null, data: '[DONE]' },
  ]);
});
