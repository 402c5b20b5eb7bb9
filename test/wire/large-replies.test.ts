import { array, assert, asyncProperty, constantFrom, double, integer, oneof, record, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { closeJson, readSkeleton } from '../../server/wire/large-reply.ts';
import { UnreadableReply } from '../../server/wire/protocol.ts';
import { exchangeWith } from './fixtures.ts';

/** Answers that come in pieces: the client and the account get what one whole read would have given. */

const noPause = async (): Promise<void> => undefined;

/** Texts around the length at which strings are cut, with escapes and characters of several bytes at every place. */
const text = oneof(
  string({ unit: 'binary', maxLength: 40 }),
  record({
    unit: constantFrom('x', '\\', '"', 'ä', '\u2028', '\ud83d\ude00', '\n', '\u0001', 'a\\"b', '\ud800'),
    length: integer({ min: 0, max: 1_100 }),
    tail: string({ unit: 'binary', maxLength: 5 }),
  }).map(({ unit, length, tail }) => unit.repeat(length) + tail),
);

const answers: Record<Protocol, (texts: string[], model: string) => unknown> = {
  messages: (texts, model) => ({
    content: texts.map((one) => ({ type: 'text', text: one })),
    model,
    usage: { input_tokens: 10, output_tokens: 5 },
  }),
  'chat-completions': (texts, model) => ({
    choices: texts.map((content, index) => ({ index, message: { role: 'assistant', content } })),
    model,
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }),
  responses: (texts, model) => ({
    output: texts.map((one) => ({ type: 'message', content: [{ type: 'output_text', text: one }] })),
    model,
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  }),
};
const protocols = Object.keys(answers) as Protocol[];

function split(bytes: Buffer, lengths: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (let next = 0; from < bytes.length; next += 1) {
    const length = lengths[next % lengths.length] ?? 1;
    pieces.push(bytes.subarray(from, from + length));
    from += length;
  }
  return pieces;
}

describe.each(protocols)('a whole answer of %s that comes in pieces', (protocol) => {
  it('reaches the client and the account as one that came at once does', async () => {
    await assert(
      asyncProperty(
        array(text, { maxLength: 4 }),
        constantFrom('up-1', 'other'),
        array(integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 5 }),
        constantFrom(undefined, 1),
        async (texts, model, lengths, indent) => {
          const body = Buffer.from(JSON.stringify(answers[protocol](texts, model), null, indent));
          const exchange = exchangeWith(protocol, {}, { upstreamModel: 'up-1' });
          const whole = exchange.reply(body);
          const { pieces, account } = await exchange.replyInPieces(split(body, lengths), noPause);
          expect(Buffer.concat(pieces).equals(whole.body)).toBe(true);
          expect(account).toEqual(whole.account);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each(['{"content":[],"choices":[],"output":[],"text":"', '<html>', '{"a":"', '{}', '{"a":"b"'])(
    'is refused when it is not what the protocol promises: %s…',
    async (start) => {
      const pieces = split(Buffer.from(start + (start.endsWith('"') ? 'x'.repeat(5_000) : '')), [700]);
      await expect(
        exchangeWith(protocol, {}, { upstreamModel: 'up-1' }).replyInPieces(pieces, noPause),
      ).rejects.toThrow(UnreadableReply);
    },
  );
});

describe('lists of numbers', () => {
  const vector = record({
    number: double({ noNaN: true, noDefaultInfinity: true }),
    length: integer({ min: 0, max: 900 }),
  });

  it('are cut to a document that reads as before, with every place where it was', async () => {
    await assert(
      asyncProperty(
        array(vector, { maxLength: 4 }),
        array(integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 5 }),
        constantFrom(undefined, 1),
        async (vectors, lengths, indent) => {
          const data = vectors.map(({ number, length }, index) => ({
            index,
            embedding: Array.from({ length }, (_, at) => (at % 7 === 0 ? null : [number, at % 3][at % 2])),
            nested: [[], [[index]], {}],
          }));
          const body = Buffer.from(JSON.stringify({ data, model: 'up-1', usage: { prompt_tokens: 3 } }, null, indent));
          const { bytes, cutBytesIn, originOf } = await readSkeleton(split(body, lengths), noPause);
          const skeleton = JSON.parse(bytes.toString());
          expect(skeleton).toMatchObject({ model: 'up-1', usage: { prompt_tokens: 3 } });
          expect(skeleton.data.map(({ index, nested }: (typeof data)[0]) => ({ index, nested }))).toEqual(
            data.map(({ index, nested }) => ({ index, nested })),
          );
          // Only what was cut is missing, and strings alone count as text.
          for (const item of skeleton.data) {
            const all = data[item.index]?.embedding.map((each) => JSON.stringify(each)) ?? [];
            expect(all).toEqual(expect.arrayContaining(item.embedding.map((each: unknown) => JSON.stringify(each))));
          }
          expect(cutBytesIn(0, bytes.length)).toBe(0);
          expect(originOf(bytes.indexOf('"up-1"'))).toBe(body.indexOf('"up-1"'));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('leave little of an answer that has vectors, however long they are', async () => {
    const embedding = Array.from({ length: 3_072 }, (_, at) => at / 7);
    const data = Array.from({ length: 100 }, (_, index) => ({ object: 'embedding', index, embedding }));
    const body = Buffer.from(JSON.stringify({ data, model: 'up-1' }));
    const { bytes } = await readSkeleton(split(body, [65_536]), noPause);
    expect(bytes.length).toBeLessThan(body.length / 50);
  });
});

describe('an answer that stops in the middle', () => {
  it('is JSON, and holds nothing that did not arrive', async () => {
    const answer = array(text, { minLength: 1, maxLength: 4 });
    await assert(
      asyncProperty(
        constantFrom(...protocols),
        answer,
        double({ min: 0, max: 1, noNaN: true }),
        async (protocol, texts, share) => {
          const whole = JSON.stringify(answers[protocol](texts, 'm'));
          const bytes = Buffer.from(whole);
          const arrived = bytes.subarray(0, 1 + Math.floor(share * (bytes.length - 1)));
          const closed = (await closeJson(arrived, noPause)).toString();
          expect(JSON.parse(closed)).toBeTypeOf('object');
          expect(Buffer.byteLength(closed)).toBeLessThanOrEqual(arrived.length + 20);
        },
      ),
    );
  });

  it.each(protocols)('is counted by its text as far as it came, whoever reads it: %s', async (protocol) => {
    const bytes = Buffer.from(JSON.stringify(answers[protocol](['x'.repeat(5_000), 'y'.repeat(5_000)], 'm')));
    for (const client of protocols) {
      const exchange = exchangeWith(client, {}, {}, protocol);
      let before = 0;
      for (const share of [0.01, 0.2, 0.5, 0.9]) {
        const length = Math.floor(bytes.length * share);
        const { outputBytes, usage } = await exchange.countArrived([bytes.subarray(0, length)], noPause);
        expect(usage).toBeNull();
        expect(outputBytes).toBeGreaterThanOrEqual(before);
        expect(outputBytes).toBeLessThanOrEqual(length);
        before = outputBytes;
      }
      expect(before).toBeGreaterThan(8_000);
    }
  });

  it('is not charged for pictures and echoes as if they were text', async () => {
    const exchange = exchangeWith('responses', {}, {}, 'responses');
    const answer = {
      instructions: 'i'.repeat(50_000),
      output: [
        { type: 'image_generation_call', status: 'completed', result: 'A'.repeat(90_000) },
        { type: 'message', content: [{ type: 'output_text', text: 'x'.repeat(5_000) }] },
        { type: 'image_generation_call', status: 'completed', result: 'B'.repeat(90_000) },
      ],
    };
    const bytes = Buffer.from(JSON.stringify(answer)).subarray(0, -1_000);
    const { outputBytes } = await exchange.countArrived([bytes.subarray(0, 70_000), bytes.subarray(70_000)], noPause);
    expect(outputBytes).toBeGreaterThanOrEqual(5_000);
    expect(outputBytes).toBeLessThan(5_100);
  });
});
