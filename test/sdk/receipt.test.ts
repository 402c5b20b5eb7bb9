/** Receipts: costs recomputed from ledger entries. */

import { readFileSync } from 'node:fs';
import { verifyReceipt } from '@steyg/sdk';
import { anything, assert, constantFrom, nat, oneof, property, record } from 'fast-check';
import { buildSchema, isObjectType } from 'graphql';
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

/** Whether it matches; what is no receipt at all does not. Any other error is a fault. */
function doesMatch(entry: unknown): boolean {
  try {
    return verifyReceipt(entry as ReturnType<typeof receipt>).matches;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

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
        lines: 0n,
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

  describe('with runs of other models', () => {
    const small = Object.fromEntries(Object.entries(prices).map(([pool]) => [pool, '0.1'])) as typeof prices;
    const run = {
      model: 'small',
      usage: receipt({ output_tokens: 10 }, '0').usage,
      prices: small,
      amount_usd: '0.000001',
    };
    const entry = { ...receipt({ input_tokens: 1 }, '0.000005'), lines: [run, run] };

    it('costs its own tokens and theirs', () => {
      expect(verifyReceipt(entry)).toMatchObject({ matches: true, costPico: 5_000_000n, parts: { lines: 2_000_000n } });
    });

    it('is the same in the words of the control plane', () => {
      const line = (tokenPool: string, tokens: string, pricePerMillion: string, amount: string) => ({
        tokenPool,
        tokens,
        pricePerMillion,
        amount,
      });
      const lines = [{ model: 'small', receipt: [line('OUTPUT', '10', '0.1', '0.000001')], amount: '0.000001' }];
      const own = { receipt: [line('INPUT', '1', '3', '0.000003')], cost: '0.000004', charged: '0.000004' };
      expect(verifyReceipt({ ...own, lines })).toMatchObject({ matches: true, parts: { lines: 1_000_000n } });
    });

    it.each([
      ['one that is left out', { ...entry, lines: [run] }],
      ['an amount that its tokens do not make', { ...entry, lines: [run, { ...run, amount_usd: '0.000002' }] }],
      ['a member that no receipt has', { ...entry, lines: [run, { ...run, discount: '1' }] }],
    ])('does not match with %s', (_, forged) => {
      expect(verifyReceipt(forged).matches).toBe(false);
    });
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
    const line = (tokenPool: string, tokens: string, pricePerMillion: string, amount: string) => ({
      tokenPool,
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
        const others: Record<string, string> = {
          'Asia/Ho_Chi_Minh': 'UTC',
          '2026-11-20T03:00:00.000Z': '2026-11-20T03:00:00.001Z',
        };
        return [{ path: '', copy: others[String(plain)] ?? `${plain ?? ''}1` }];
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

  describe('that is forged', () => {
    const honest = receipt({ input_tokens: 2 }, '0.000006');
    const line = (tokenPool: string, tokens: unknown, amount: string, pricePerMillion = '3') => ({
      tokenPool,
      tokens,
      pricePerMillion,
      amount,
    });
    const lines = { receipt: [line('INPUT', '2', '0.000006')], cost: '0.000006', charged: '0.000006' };
    it.each<[string, unknown]>([
      ['a foreign list beside honest tokens', { ...honest, receipt: [line('INPUT', '2', '0.000006')] }],
      ['an empty list beside honest tokens', { ...honest, receipt: [] }],
      ['prices_usd before the honest prices', { prices_usd: { ...prices, input: '1' }, ...honest }],
      ['usageUsd before the honest tokens', { usageUsd: none, ...honest }],
      ['usage_usd after them', { ...honest, usage_usd: none }],
      [
        'a kind of token on two lines',
        { ...lines, receipt: [line('INPUT', 1, '0.000003'), line('INPUT', 1, '0.000003')] },
      ],
      [
        'the same under its two spellings',
        { ...lines, receipt: [line('cacheHit', 1, '0.000003'), line('CACHE_HIT', 1, '0.000003')] },
      ],
      ['a line with two kinds of token', { ...lines, receipt: [{ ...line('INPUT', 2, '0.000006'), pool: 'output' }] }],
      [
        'counts beside lines that say something else',
        { ...lines, usage: { input: 3, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 } },
      ],
      ['a fee that no receipt has', { ...honest, fee: '1' }],
      ['tokens of a kind that has no price', { ...honest, usage: { ...honest.usage, audio_tokens: 5 } }],
      ['members of a prototype', JSON.parse(`{"__proto__":${JSON.stringify(honest)},"cost":"0.000006"}`)],
      [
        'a unit on two lines',
        { ...receipt({}, '2'), units: [1, 1].map((count) => ({ unit: 'search', count, price: '1', amount: '1' })) },
      ],
    ])('by %s does not match', (_, entry) => {
      expect(doesMatch(entry)).toBe(false);
    });

    it.each<[string, unknown]>([
      ['null', null],
      ['undefined', undefined],
      ['a list', [honest]],
      ['a text', 'receipt'],
      ['tokens that are null', { ...honest, usage: null }],
      ['prices that are null', { ...honest, prices: null }],
      ['lines that are null', { ...lines, receipt: null }],
      ['lines that are no list', { ...lines, receipt: { 0: lines.receipt[0], length: 1 } }],
      ['a line that is null', { ...lines, receipt: [null] }],
      ['units that are null', { ...honest, units: null }],
      ['a cost that is null', { ...honest, cost_usd: null }],
      ['a cost in a list', { ...honest, cost_usd: ['0.000006'] }],
      ['a count in a list', { ...honest, usage: { ...none, input_tokens: ['2'] } }],
      ['a bound that is no count', { ...honest, tier: { above_prompt_tokens: 'x', up_to_prompt_tokens: null } }],
      ['a moment that is none', { ...honest, clock: { priced_at: 'soon', window: null } }],
      [
        'hours that are none',
        {
          ...honest,
          clock: {
            priced_at: '2026-11-20T03:00:00Z',
            window: { days: ['fri'], period: '25:00-26:00', time_zone: 'UTC' },
          },
        },
      ],
      [
        'days that are none',
        {
          ...honest,
          clock: {
            priced_at: '2026-11-20T03:00:00Z',
            window: { days: ['someday'], period: '00:00-24:00', time_zone: 'UTC' },
          },
        },
      ],
    ])('as %s throws a RangeError', (_, entry) => {
      expect(() => verifyReceipt(entry as typeof honest)).toThrow(RangeError);
    });

    it('takes counts beside lines that say the same', () => {
      const usage = { input: '2', cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
      expect(verifyReceipt({ ...lines, usage } as never)).toMatchObject({ matches: true });
    });

    /** Verifies by the rule once more: exactly the members of the data plane's entry, and arithmetic on digits. */
    function isTrue(entry: Record<string, unknown>): boolean {
      const { usage, prices: priced, cost_usd: cost, charged_usd: charged, ...more } = entry;
      const known = ['request_id', 'model'];
      if (!Object.keys(more).every((name) => known.includes(name) || more[name] === undefined)) return false;
      const pico = (text: unknown, places: number): bigint | null => {
        if (typeof text !== 'string' || !/^[0-9]+([.][0-9]+)?$/.test(text)) return null;
        const [whole = '', part = ''] = text.split('.');
        return part.length > places ? null : BigInt(whole + part + '0'.repeat(places - part.length));
      };
      const holder = (value: unknown, names: string[]): Record<string, unknown> | null =>
        typeof value === 'object' &&
        value !== null &&
        !Array.isArray(value) &&
        Object.entries(value).every(([name, member]) => names.includes(name) || member === undefined)
          ? (value as Record<string, unknown>)
          : null;
      const pools = Object.keys(prices);
      const tokens = holder(
        usage,
        pools.map((pool) => `${pool}_tokens`),
      );
      const each = holder(priced, pools);
      if (tokens === null || each === null) return false;
      let sum = 0n;
      for (const pool of pools) {
        const number = tokens[`${pool}_tokens`];
        const isNumber = typeof number === 'number' && Number.isSafeInteger(number) && number >= 0;
        const isDigits = typeof number === 'string' && /^[0-9]+$/.test(number);
        const price = pico(each[pool], 6);
        if (!(isNumber || isDigits) || price === null) return false;
        sum += BigInt(number) * price;
      }
      const [stated, taken] = [pico(cost, 12), pico(charged, 12)];
      return stated === sum && taken !== null && taken <= sum;
    }

    it('in any way matches only where an independent verifier says so', () => {
      const named = [
        'usage',
        'prices',
        'receipt',
        'cost_usd',
        'charged_usd',
        'usageUsd',
        'prices_usd',
        'fee',
        '__proto__',
        'model',
      ];
      const inner = ['input_tokens', 'output_tokens', 'input', 'cache_hit', 'audio', 'length', '0'];
      const odd = oneof(
        constantFrom<unknown>(
          null,
          undefined,
          '',
          '0',
          '3',
          '0.000006',
          0,
          2,
          -1,
          1.5,
          true,
          [],
          {},
          ['0'],
          honest.usage,
          prices,
        ),
        anything({ maxDepth: 1 }),
      );
      const forgery = record({
        at: constantFrom(...named),
        below: constantFrom(null, null, ...inner),
        value: odd,
        first: constantFrom(true, false),
      });
      let accepted = 0;
      assert(
        property(forgery, forgery, (one, two) => {
          let entry: Record<string, unknown> = { ...honest, request_id: 'r' };
          for (const { at, below, value, first } of [one, two]) {
            const inside = entry[at];
            const next =
              below === null || typeof inside !== 'object' || inside === null ? value : { ...inside, [below]: value };
            const added = Object.defineProperty({}, at, {
              value: next,
              enumerable: true,
              configurable: true,
              writable: true,
            });
            const rest = Object.fromEntries(Object.entries(entry).filter(([name]) => name !== at));
            const parts = first ? [added, rest] : [rest, added];
            entry = {};
            for (const part of parts)
              for (const [name, member] of Object.entries(part))
                Object.defineProperty(entry, name, {
                  value: member,
                  enumerable: true,
                  configurable: true,
                  writable: true,
                });
          }
          const matches = doesMatch(entry);
          expect(matches).toBe(isTrue(entry));
          if (matches) accepted += 1;
        }),
        { numRuns: 5_000 },
      );
      // The generator does not only make what is refused.
      expect(accepted).toBeGreaterThan(20);
    });

    it('has no member that the two planes do not have', () => {
      const rest = JSON.parse(readFileSync(new URL('../../sdk/openapi.json', import.meta.url), 'utf8')) as {
        components: { schemas: Record<string, { properties: object }> };
      };
      const type = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')).getType(
        'LedgerEntry',
      );
      const names = [
        ...Object.keys(rest.components.schemas['LedgerEntry']?.properties ?? {}),
        ...(isObjectType(type) ? Object.keys(type.getFields()) : []),
      ].filter(
        (name) =>
          !['usage', 'prices', 'receipt', 'lines', 'units', 'tier', 'clock', 'variant'].includes(name) &&
          !/^(?:cost|charged)/.test(name),
      );
      expect(names.length).toBeGreaterThan(20);
      const all = Object.fromEntries(names.map((name) => [name, 'x']));
      expect(verifyReceipt({ ...all, ...honest }).problems).toEqual([]);
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
