/** Receipts: costs recomputed from ledger entries. */

import { verifyReceipt } from '@steyg/sdk';
import { assert, nat, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';

const none = {
  input_tokens: 0,
  cache_hit_tokens: 0,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  output_tokens: 0,
};
const prices = { input: '3', cache_hit: '0.3', cache_write_5m: '3.75', cache_write_1h: '6', output: '15' };
const receipt = (usage: Partial<typeof none>, cost: string, charged = cost, priced = prices) => ({
  usage: { ...none, ...usage },
  prices: priced,
  cost_usd: cost,
  charged_usd: charged,
});

describe('a receipt', () => {
  it('is the worked example: 150,000 cache hits, 30,000 input and 4,000 output tokens for 0.195 USD', () => {
    const entry = receipt({ cache_hit_tokens: 150_000, input_tokens: 30_000, output_tokens: 4_000 }, '0.195');
    expect(verifyReceipt(entry)).toEqual({
      matches: true,
      costUsd: '0.195',
      costPico: 195_000_000_000n,
      statedPico: 195_000_000_000n,
      parts: {
        input: 90_000_000_000n,
        cacheHit: 45_000_000_000n,
        cacheWrite5m: 0n,
        cacheWrite1h: 0n,
        output: 60_000_000_000n,
        units: 0n,
      },
      problems: [],
    });
  });

  it('is exact where floating-point numbers are not', () => {
    const small = { ...prices, input: '0.0375' };
    expect(verifyReceipt(receipt({ input_tokens: 1 }, '0.0000000375', '0', small))).toMatchObject({ matches: true });
    const huge = receipt({ output_tokens: 100_000_000 }, '999999.9999', '0', { ...prices, output: '9999.999999' });
    expect(verifyReceipt(huge)).toMatchObject({ matches: true, costUsd: '999999.9999' });
    const sum = { ...prices, input: '0.1', output: '0.2' };
    expect(
      verifyReceipt(receipt({ input_tokens: 1_000_000, output_tokens: 1_000_000 }, '0.3', '0.3', sum)).matches,
    ).toBe(true);
  });

  it.each([
    ['one pico-USD more', receipt({ input_tokens: 1 }, '0.000003000001')],
    ['one pico-USD less', receipt({ input_tokens: 1 }, '0.000002999999')],
    ['a cost for nothing', receipt({}, '0.000000000001')],
    ['more charged than it cost', receipt({ input_tokens: 1 }, '0.000003', '0.000003000001')],
  ])('with %s does not match, and says why', (_, entry) => {
    const { matches, problems } = verifyReceipt(entry);
    expect(matches).toBe(false);
    expect(problems[0]).toMatch(/USD/);
  });

  it('may be charged less than it cost: the budget ended', () => {
    expect(verifyReceipt(receipt({ input_tokens: 1 }, '0.000003', '0')).matches).toBe(true);
  });

  it.each(['', '-1', '1e-3', '1.', '.5', ' 1', '1,5', 'NaN', '0.0000000000001'])('has no amount %j', (cost) => {
    expect(() => verifyReceipt(receipt({}, cost, '0'))).toThrow(RangeError);
  });

  it.each([-1, 1.5, Number.NaN])('has no count %d', (input_tokens) => {
    expect(() => verifyReceipt(receipt({ input_tokens }, '0'))).toThrow(RangeError);
  });

  it.each(['', ' 1', '1.0', '0x1', 'many', 2 ** 53, true, null, undefined, {}])('has no count %j', (input_tokens) => {
    const usage = { input_tokens } as unknown as Partial<typeof none>;
    expect(() => verifyReceipt(receipt(usage, '0'))).toThrow(RangeError);
  });

  it('in lines is recomputed line by line', () => {
    const line = (pool: string, tokens: string, pricePerMillion: string, amount: string) => ({
      pool,
      tokens,
      pricePerMillion,
      amount,
    });
    const lines = [line('input', '2', '3', '0.000006'), line('cacheWrite1h', '1', '6', '0.000006')];
    const entry = { receipt: lines, cost: '0.000012', charged: '0' };
    expect(verifyReceipt(entry)).toMatchObject({
      matches: true,
      parts: { input: 6_000_000n, cacheWrite1h: 6_000_000n },
    });
    const swapped = [line('input', '2', '3', '0.000007'), line('cacheWrite1h', '1', '6', '0.000005')];
    expect(verifyReceipt({ ...entry, receipt: swapped }).problems).toHaveLength(2);
    expect(() => verifyReceipt({ ...entry, receipt: [line('extras', '1', '1', '0')] })).toThrow(RangeError);
  });

  it('has what was charged by the piece, line by line', () => {
    const units = [{ unit: 'search', count: 3, price_usd: '0.01', amount_usd: '0.03' }];
    const entry = { ...receipt({ input_tokens: 1 }, '0.030003'), units };
    expect(verifyReceipt(entry)).toMatchObject({ matches: true, parts: { units: 30_000_000_000n } });
    expect(verifyReceipt({ ...entry, units: [] }).matches).toBe(false);
    const dearer = units.map((line) => ({ ...line, amount_usd: '0.04' }));
    expect(verifyReceipt({ ...entry, units: dearer }).problems).toEqual([
      'search is stated as 0.04 USD and comes to 0.03 USD.',
    ]);
  });

  describe('in two styles of names', () => {
    /** The members of a receipt that have an older name, each with everything that leads to it. */
    const older = {
      ...receipt({ input_tokens: 1, cache_write_1h_tokens: 2 }, '0.030015'),
      units: [{ unit: 'search', count: 3, price_usd: '0.01', amount_usd: '0.03' }],
      tier: { above_prompt_tokens: null, up_to_prompt_tokens: 200_000 },
      clock: {
        priced_at: '2026-11-20T03:00:00.000Z',
        window: { days: ['fri'], period: '09:00-12:00', time_zone: 'Asia/Ho_Chi_Minh' },
      },
    };
    const camelName = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    type Plain = string | number | null;
    const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null;
    /** The same value with other members, at any depth. */
    const renamed = (value: unknown, names: (name: string) => string[]): unknown => {
      if (Array.isArray(value)) return value.map((item) => renamed(item, names));
      if (!isHolder(value)) return value;
      return Object.fromEntries(
        Object.entries(value).flatMap(([name, member]) =>
          names(name).map((own) => [own, renamed(member, names)] as const),
        ),
      );
    };
    /** Every copy in which one plain value is another one. */
    const alterations = (value: unknown): { path: string; copy: unknown }[] => {
      if (!isHolder(value)) {
        const plain = value as Plain;
        return [{ path: '', copy: plain === 'Asia/Ho_Chi_Minh' ? 'UTC' : `${plain ?? ''}1` }];
      }
      return Object.entries(value).flatMap(([name, member]) =>
        alterations(member).map(({ path, copy }) => {
          const holder: unknown = Array.isArray(value) ? [...(value as unknown[])] : { ...value };
          (holder as Record<string, unknown>)[name] = copy;
          return { path: `${name}.${path}`, copy: holder };
        }),
      );
    };
    const both = renamed(older, (name) => [...new Set([name, camelName(name)])]) as typeof older;
    const camel = renamed(older, (name) => [camelName(name)]) as typeof older;

    it('is the same receipt', () => {
      for (const entry of [older, both, camel]) {
        expect(verifyReceipt(entry)).toMatchObject({ matches: true, costUsd: '0.030015', problems: [] });
      }
      const { charged_usd, ...uncharged } = older;
      expect(verifyReceipt({ ...uncharged, charged: charged_usd } as never).matches).toBe(true);
      // A value that is absent under one of its names is taken from the other.
      expect(verifyReceipt({ ...both, cost_usd: undefined as never }).matches).toBe(true);
    });

    it('never matches where one of two names says something else', () => {
      const altered = alterations(both).filter(({ path }) => /_[a-z\d]|[a-z][A-Z\d]/.test(path));
      expect(altered).toHaveLength(32);
      for (const { path, copy } of altered) {
        expect([path, verifyReceipt(copy as typeof older).problems]).toEqual([
          path,
          expect.arrayContaining([expect.stringMatching(/ is stated as .+ and as .+\.$/)]),
        ]);
      }
    });
  });

  it('of any tokens and prices matches its own recomputation and no other', () => {
    const tokens = nat(100_000_000);
    const price = nat(10_000_000_000).map(
      (micro) => `${Math.floor(micro / 1e6)}.${String(micro % 1e6).padStart(6, '0')}`,
    );
    const entry = record({
      usage: record({
        input_tokens: tokens,
        cache_hit_tokens: tokens,
        cache_write_5m_tokens: tokens,
        cache_write_1h_tokens: tokens,
        output_tokens: tokens,
      }),
      prices: record({
        input: price,
        cache_hit: price,
        cache_write_5m: price,
        cache_write_1h: price,
        output: price,
      }),
    });
    assert(
      property(entry, ({ usage, prices: priced }) => {
        const { costUsd, costPico } = verifyReceipt({ usage, prices: priced, cost_usd: '0', charged_usd: '0' });
        const again = verifyReceipt({ usage, prices: priced, cost_usd: costUsd, charged_usd: costUsd });
        expect(again).toMatchObject({ matches: true, statedPico: costPico });
        const pools = Object.keys(usage) as (keyof typeof usage)[];
        const naive = pools.reduce((sum, pool) => {
          const name = pool.replace('_tokens', '') as keyof typeof priced;
          return sum + BigInt(usage[pool]) * BigInt(priced[name].replace('.', ''));
        }, 0n);
        expect(costPico).toBe(naive);
      }),
      { numRuns: 200 },
    );
  });
});
