import { assert, nat, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { affordableTokens, extension, holdSize, type RequestSize } from '../../server/billing/rules/hold-size.ts';
import { cost, entryPrice, type FrozenPrice, type UnitPrices, unitPrices } from '../../server/core/price.ts';
import { price, usd } from '../billing/support.ts';

/** Costs, and the sizes of holds that follow from prices. */

const prices = (more: Partial<UnitPrices> = {}): UnitPrices => ({
  ...unitPrices({
    input: price('3'),
    cacheHit: price('0.3'),
    cacheWrite5m: null,
    cacheWrite1h: null,
    output: price('15'),
  }),
  ...more,
});
const size = { contextWindow: 200_000, maxOutputTokens: 32_000 };
const request = (more: Partial<RequestSize> = {}): RequestSize => ({
  textBytes: 300,
  mediaTokens: 0,
  cacheWrite: 'none',
  maxTokens: 100,
  answers: 1,
  stream: true,
  contextRuns: 1,
  ...more,
});

describe('a cost', () => {
  test('is tokens times price, to the last pico-USD', () => {
    const step = { input: 30_000, cacheHit: 150_000, cacheWrite5m: 0, cacheWrite1h: 0, output: 4_000 };
    expect(cost(step, prices())).toBe(usd('0.195'));
    expect(usd('5') / cost(step, prices())).toBe(25n);
    const odd = { input: 1, cacheHit: 1, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
    expect(cost(odd, prices({ input: price('0.0375'), cacheHit: price('0.000001') }))).toBe(37_501n);
  });

  test('prices each pool by itself', () => {
    const each = { input: 1, cacheHit: 10, cacheWrite5m: 100, cacheWrite1h: 1_000, output: 10_000 };
    const unit = { input: 1n, cacheHit: 2n, cacheWrite5m: 3n, cacheWrite1h: 4n, output: 5n };
    expect(cost(each, unit)).toBe(1n + 20n + 300n + 4_000n + 50_000n);
  });

  test('of a cache write without a price is the input price', () => {
    const write = { input: 0, cacheHit: 0, cacheWrite5m: 7, cacheWrite1h: 5, output: 0 };
    expect(cost(write, prices())).toBe(12n * price('3'));
    const catalog = { input: 4n, cacheHit: 1n, cacheWrite5m: 5n, cacheWrite1h: null, output: 9n };
    expect(unitPrices(catalog)).toMatchObject({ cacheWrite5m: 5n, cacheWrite1h: 4n });
  });

  test('is never made up for what is no count', () => {
    const pools = { input: 1.5, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
    expect(() => cost(pools, prices())).toThrow(RangeError);
  });

  test('of the largest pools at the dearest prices fits a column', () => {
    const most = { input: 1e8, cacheHit: 1e8, cacheWrite5m: 1e8, cacheWrite1h: 1e8, output: 1e8 };
    const dear = price('10000');
    const unit = { input: dear, cacheHit: dear, cacheWrite5m: dear, cacheWrite1h: dear, output: dear };
    expect(cost(most, unit)).toBeLessThan(2n ** 63n);
  });
});

const input = (tokens: number): bigint => BigInt(tokens) * price('3');
const hit = (tokens: number): bigint => BigInt(tokens) * price('0.3');
const output = (tokens: number): bigint => BigInt(tokens) * price('15');

describe('the size of a hold', () => {
  test.each<[string, Partial<RequestSize>, number, bigint, bigint]>([
    ['a third of its bytes, and the answer it allows', {}, 100, input(100) + output(100), hit(100) + output(16)],
    ['bytes rounded up', { textBytes: 301 }, 101, input(101) + output(100), hit(101) + output(16)],
    ['media as they are bounded', { mediaTokens: 1_600 }, 1_700, input(1_700) + output(100), hit(1_700) + output(16)],
    [
      'never more than the context window',
      { textBytes: 9e9 },
      200_000,
      input(200_000) + output(100),
      hit(200_000) + output(16),
    ],
    ['no cap: 4,096 tokens of an answer', { maxTokens: null }, 100, input(100) + output(4_096), hit(100) + output(16)],
    ['a huge cap: the same', { maxTokens: 1e12 }, 100, input(100) + output(4_096), hit(100) + output(16)],
    ['a cap below 16', { maxTokens: 5 }, 100, input(100) + output(5), hit(100) + output(5)],
    ['no answer at all', { maxTokens: 0 }, 100, input(100), hit(100)],
    ['several answers', { answers: 3 }, 100, input(100) + output(300), hit(100) + output(16)],
    ['nothing', { textBytes: 0, maxTokens: 0 }, 0, 0n, 0n],
  ])('%s', (_what, more, tokens, target, floor) => {
    expect(holdSize(request(more), size, prices())).toMatchObject({ estimatedInputTokens: tokens, target, floor });
  });

  test.each<[RequestSize['cacheWrite'], string]>([
    ['none', '3'],
    ['5m', '3.75'],
    ['1h', '6'],
  ])('a context that writes the cache (%s) is held at the dearest price that applies', (cacheWrite, dearest) => {
    const dear = prices({ cacheWrite5m: price('3.75'), cacheWrite1h: price('6') });
    const { target } = holdSize(request({ cacheWrite, maxTokens: 0 }), size, dear);
    expect(target).toBe(100n * price(dearest));
  });

  test('a write that is cheaper than input does not make the hold smaller', () => {
    const cheap = prices({ cacheWrite5m: price('1'), cacheWrite1h: price('2') });
    expect(holdSize(request({ cacheWrite: '1h', maxTokens: 0 }), size, cheap).target).toBe(input(100));
  });

  test.each([null, 50, 1e12])('a model with short answers is held for no more than it can give (%s)', (maxTokens) => {
    const short = { contextWindow: 8_000, maxOutputTokens: 10 };
    expect(holdSize(request({ maxTokens }), short, prices())).toMatchObject({
      target: input(100) + output(10),
      floor: hit(100) + output(10),
    });
  });

  test.each([
    { searches: undefined, held: 1n, covered: 1n },
    { searches: 0, held: 0n, covered: 0n },
    { searches: 16, held: 4n, covered: 16n },
  ])(
    'searches with a price: one where it is not known, at first no more than four ($searches)',
    ({ searches, held, covered }) => {
      const known = searches === undefined ? {} : { searches };
      const plain = holdSize(request(), size, prices());
      const priced = holdSize(request(known), size, { ...prices(), perUnit: { search: 1_000n } });
      expect(priced.target - plain.target).toBe(held * 1_000n);
      expect(priced.bound - plain.bound).toBe(covered * 1_000n);
      expect(holdSize(request(known), size, prices())).toEqual(plain);
    },
  );

  test('an extension is the next 4,096 tokens', () => {
    expect(extension(prices())).toBe(output(4_096));
  });

  test.each([
    [hit(100) + output(7), 7],
    [hit(100) + output(8) - 1n, 7],
    [hit(100), 0],
    [hit(100) - 1n, 0],
  ])('what %d pico-USD can pay for', (amount, tokens) => {
    expect(affordableTokens(amount, holdSize(request(), size, prices()))).toBe(tokens);
  });

  test('a free model has no longest answer', () => {
    const free = { input: 0n, cacheHit: 0n, cacheWrite5m: 0n, cacheWrite1h: 0n, output: 0n };
    expect(affordableTokens(0n, holdSize(request(), size, free))).toBeNull();
  });
});

describe('prices by prompt length', () => {
  const long = { ...prices({ input: price('6'), output: price('22.5') }), abovePromptTokens: 1_000 };
  const longest = { ...prices({ input: price('5'), output: price('40') }), abovePromptTokens: 5_000 };
  const tiered: FrozenPrice = { id: 'p', ...prices(), tiers: [long, longest] };
  const prompt = (tokens: number) => ({ input: 1, cacheHit: tokens - 4, cacheWrite5m: 2, cacheWrite1h: 1, output: 9 });

  test.each([
    [1_000, '3', { above: null, upTo: 1_000 }],
    [1_001, '6', { above: 1_000, upTo: 5_000 }],
    [5_000, '6', { above: 1_000, upTo: 5_000 }],
    [5_001, '5', { above: 5_000, upTo: null }],
  ])('%d tokens of all pools of the prompt: input at %s', (tokens, text, range) => {
    const { input: unit, tier } = entryPrice(tiered, prompt(tokens));
    expect({ unit, tier }).toEqual({ unit: price(text), tier: range });
  });

  test('an entry at the only set of prices keeps no tier', () => {
    expect(entryPrice({ id: 'p', ...prices() }, prompt(9_999)).tier).toBeUndefined();
  });

  test.each([
    // Bytes, the output price and the input price that are held: the dearest of each that so many tokens can reach.
    [1_000, '15', '3'],
    [1_001, '22.5', '6'],
    [5_001, '40', '6'],
  ])('a text of %d bytes is held at %s for output and %s for input', (textBytes, out, into) => {
    const { target, bound, estimatedInputTokens } = holdSize(request({ textBytes, maxTokens: 10 }), size, tiered);
    expect(target).toBe(BigInt(estimatedInputTokens) * price(into) + 10n * price(out));
    expect(bound).toBe(BigInt(textBytes) * price(into) + 10n * price(out));
  });

  test('tools of the vendor can make any prompt long', () => {
    const { target } = holdSize(request({ contextRuns: 16, maxTokens: 10 }), size, tiered);
    expect(target).toBe(100n * price('6') + 10n * price('40'));
  });

  test('a hold covers the cost of every prompt of so many bytes, whatever the pools', () => {
    assert(
      property(nat(8_000), nat(8_000), nat(8_000), nat(8_000), nat(300), (input, hit, fiveMinutes, oneHour, out) => {
        const pools = { input, cacheHit: hit, cacheWrite5m: fiveMinutes, cacheWrite1h: oneHour, output: out };
        const textBytes = input + hit + fiveMinutes + oneHour;
        const { bound } = holdSize(request({ textBytes, maxTokens: out, cacheWrite: '1h' }), size, tiered);
        expect(cost(pools, entryPrice(tiered, pools))).toBeLessThanOrEqual(bound);
      }),
    );
  });
});
