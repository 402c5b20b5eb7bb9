import { array, assert, integer, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdSize } from '../../server/billing/rules/hold-size.ts';
import { unitPrices } from '../../server/core/price.ts';
import { mediaTokens } from '../../server/metering/estimate.ts';
import { scanBody } from '../../server/wire/body.ts';
import { contentRules } from '../../server/wire/content.ts';
import { scanJson } from '../../server/wire/json.ts';

/** How a request for embeddings is measured: no input can have more tokens than are held for it. */

const window = 8_192;
const perToken = 20_000n;
const price = {
  id: 'p',
  ...unitPrices({ input: perToken, cacheHit: 0n, cacheWrite5m: null, cacheWrite1h: null, output: 0n }),
};

/** `more`: white space of the body, which is no part of any input. */
function sizeOf(input: unknown, more = 0) {
  const raw = Buffer.from(JSON.stringify({ model: 'm', input, encoding_format: 'base64' }, null, more));
  const scan = scanBody(raw, 'chat-completions', 'embed');
  if (!scan.ok) throw new Error(scan.problem.message);
  const { facts } = scan;
  const request = { ...facts, mediaTokens: mediaTokens(facts), contextRuns: 1 };
  return { facts, size: holdSize(request, { contextWindow: window, maxOutputTokens: 1_000 }, { ...price, tiers: [] }) };
}

/** The most tokens that any vocabulary of bytes can make of an input, with a mark before and after it. */
const worst = (one: string | number[]): number =>
  Math.min((typeof one === 'string' ? Buffer.byteLength(one) : one.length) + 2, window);

const text = oneof(
  string({ minLength: 1 }),
  string({ unit: 'binary', minLength: 1 }),
  string({ unit: 'grapheme', minLength: 1 }),
);
const tokens = array(integer({ min: 0, max: 300_000 }), { minLength: 1, maxLength: 50 });

describe('any shape of input', () => {
  const shapes = oneof(
    text.map((one) => ({ input: one as unknown, inputs: [one] as (string | number[])[] })),
    array(text, { minLength: 1 }).map((list) => ({ input: list as unknown, inputs: list as (string | number[])[] })),
    tokens.map((list) => ({ input: list as unknown, inputs: [list] as (string | number[])[] })),
    array(tokens, { minLength: 1 }).map((lists) => ({
      input: lists as unknown,
      inputs: lists as (string | number[])[],
    })),
  );

  test('is counted input by input, and held for at least what it can cost', () => {
    assert(
      property(shapes, integer({ min: 0, max: 3 }), ({ input, inputs }, blanks) => {
        const { facts, size } = sizeOf(input, blanks);
        expect(facts.inputs).toBe(inputs.length);
        const most = inputs.reduce((sum, one) => sum + worst(one), 0);
        expect(size.target).toBeGreaterThanOrEqual(BigInt(most) * perToken);
        expect(size.bound).toBe(size.target);
        expect(size.floor).toBeLessThanOrEqual(size.target);
        // Never more than all inputs can hold together, whatever their spelling.
        expect(size.target).toBeLessThanOrEqual(BigInt(inputs.length * window) * perToken);
      }),
    );
  });

  test('lists of tokens are counted exactly, marks aside', () => {
    assert(
      property(array(tokens, { minLength: 1 }), integer({ min: 0, max: 3 }), (lists, blanks) => {
        const counted = lists.reduce((sum, list) => sum + list.length + 2, 0);
        expect(sizeOf(lists, blanks).facts).toMatchObject({ countedTokens: counted, textBytes: 0 });
      }),
    );
  });
});

test('an input longer than the window is held for the window', () => {
  const { size } = sizeOf(['x'.repeat(100_000), 'y']);
  expect(size.target).toBe(BigInt(2 * window) * perToken);
});

test('what surrounds the input costs nothing', () => {
  const plain = scanBody(Buffer.from('{"model":"m","input":"x"}'), 'chat-completions', 'embed');
  const long = scanBody(
    Buffer.from(`{"model":"m","user":"${'u'.repeat(9_000)}","input":"x"}`),
    'chat-completions',
    'embed',
  );
  expect([plain, long].map((scan) => scan.ok && scan.facts.textBytes)).toEqual([3, 3]);
});

test('a list of tokens makes nothing of each of them: a hundred thousand would hold up every other request', () => {
  const input = Array.from({ length: 200_000 }, (_, index) => index);
  const raw = Buffer.from(JSON.stringify({ model: 'm', input }));
  const { shape } = contentRules('embeddings');
  const root = scanJson(raw, shape, { maxDepth: 8, maxValues: 400_000, refuseDuplicates: true });
  expect(root.members.get('input')?.items).toHaveLength(0);
  expect(sizeOf(input).facts).toMatchObject({ inputs: 1, countedTokens: 200_002 });
});

test.each([
  ['numbers behind texts', ['a', 1]],
  ['numbers before texts', [1, 'a']],
  ['numbers among lists', [[1], 2, [3]]],
  ['words that are no numbers', [1, true]],
  ['an empty list', []],
  ['a number alone', 5],
])('%s are refused', (_, input) => {
  const raw = Buffer.from(JSON.stringify({ model: 'm', input }));
  expect(scanBody(raw, 'chat-completions', 'embed')).toMatchObject({ ok: false });
});
