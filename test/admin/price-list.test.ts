/** Public price lists: read exactly, in both formats, and refused where a member may be a price that is not known. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costsOf } from '../../server/admin/price-list/catalog-of-list.ts';
import { parseExactJson, scaled, wholeOf } from '../../server/admin/price-list/decimal.ts';
import { parsePriceList, readPriceList } from '../../server/admin/price-list/read.ts';
import { markedUp, parseMarkup } from '../../server/catalog/markup.ts';
import { readVendors } from '../../server/catalog/vendors.ts';
import { formatPrice } from '../../server/core/money.ts';
import { windowAt } from '../../server/core/price-clock.ts';

const fileOf = (name: string) => readFileSync(new URL(`price-list/${name}.json`, import.meta.url), 'utf8');
const lists = { 'models.dev': fileOf('models-dev'), LiteLLM: fileOf('litellm') };

type Json = Record<string, unknown>;

/** The list with one model's entry changed. */
function changed(format: keyof typeof lists, model: string, change: (entry: Json) => void): string {
  const list = JSON.parse(lists[format]) as Record<string, Json>;
  const vendor = list['openai'] as { models: Record<string, Json> } | undefined;
  change((format === 'LiteLLM' ? list[model] : vendor?.models[model]) ?? {});
  return JSON.stringify(list);
}

function read(text: string, vendor: string, name: string) {
  const found = parsePriceList(text)
    .models(vendor)
    .find((model) => model.name === name);
  if (found === undefined) throw new Error(`${name} is not in the list`);
  return found;
}

describe('numbers of a list', () => {
  test('are exact in every spelling: no digit is lost to a float', () => {
    const pico = fc.bigInt({ min: 0n, max: 10_000_000_000n });
    fc.assert(
      fc.property(pico, fc.integer({ min: 0, max: 12 }), (price, places) => {
        const digits = price.toString().padStart(places + 1, '0');
        const point = digits.length - places;
        const mantissa = places === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
        expect(scaled(`${mantissa}e-${12 - places}`, 12)).toEqual({ value: price, exact: true });
      }),
    );
  });

  test.each([
    ['2.5e-06', 12, 2_500_000n, true],
    ['0.1', 6, 100_000n, true],
    ['7.000000000000001e-07', 12, 700_000n, false],
    ['0.0000005', 6, 1n, false],
    ['0.00000049', 6, 0n, false],
    ['1e-400', 6, 0n, false],
  ])('%s is read with its rounding told', (text, power, value, exact) => {
    expect(scaled(text, power)).toEqual({ value, exact });
  });

  test.each(['-1', '1e999', 'NaN', '', '0x10', '1,5', '1e99999'])('%s is no price', (text) => {
    expect(scaled(text, 12)).toBeNull();
  });

  test('that a float cannot hold are kept by the reader of JSON', () => {
    const { big } = parseExactJson('{"big": 9007199254740993}') as Json;
    expect(big).toMatchObject({ text: '9007199254740993' });
    expect(wholeOf(big)).toBeNull();
  });
});

describe('a markup', () => {
  test('is exact, never missed, and never more than a pico-USD a token too much', () => {
    const price = fc.bigInt({ min: 0n, max: 5_000_000_000n });
    const thousandths = fc.bigInt({ min: 0n, max: 100_000n });
    fc.assert(
      fc.property(price, price, thousandths, (input, output, part) => {
        const markup = parseMarkup(`${part / 1_000n}.${String(part % 1_000n).padStart(3, '0')}%`);
        if (markup === null) throw new Error('not read');
        const costs = { input, cacheHit: input, cacheWrite5m: output, cacheWrite1h: null, output, tiers: [] };
        const sold = markedUp(costs, markup);
        for (const [cost, sale] of [
          [input, sold.input],
          [output, sold.output],
          [output, sold.cacheWrite5m ?? -1n],
        ] as const) {
          expect(sale * 100_000n).toBeGreaterThanOrEqual(cost * (100_000n + part));
          expect((sale - 1n) * 100_000n).toBeLessThan(cost * (100_000n + part));
        }
        expect(sold.cacheWrite1h).toBeNull();
        // The catalog refuses hits that are not cheaper than new context.
        expect(sold.cacheHit < sold.input || sold.input === 0n).toBe(true);
      }),
    );
  });

  test.each(['15', '0.15', '-5%', '15 percent', '1001%', '1e2%', '%'])('%s is refused', (text) => {
    expect(parseMarkup(text)).toBeNull();
  });
});

describe.each(Object.entries(lists))('%s', (format, text) => {
  test('is told by its shape', () => {
    expect(parsePriceList(text).format).toBe(format);
  });

  test('gives the five prices, the limits and what a model can do', () => {
    const haiku = read(text, 'anthropic', 'claude-haiku-4-5');
    expect(haiku).toMatchObject({
      contextWindow: 200_000,
      maxOutputTokens: 64_000,
      capabilities: ['tools', 'vision', 'thinking', 'caching'],
      prices: { input: 1_000_000n, cacheHit: 100_000n, cacheWrite5m: 1_250_000n, output: 5_000_000n },
      tiers: [],
      rounded: false,
      faults: [],
    });
  });

  test('gives tiers at their exact length', () => {
    const { prices, tiers, faults } = read(text, 'openai', 'gpt-5.4');
    expect(faults).toEqual([]);
    expect(prices).toMatchObject({ input: 2_500_000n, output: 15_000_000n });
    expect(tiers).toEqual([
      {
        abovePromptTokens: 272_000,
        input: 5_000_000n,
        cacheHit: 500_000n,
        cacheWrite5m: null,
        cacheWrite1h: null,
        output: 22_500_000n,
      },
    ]);
  });

  test('names the prices that are not sold here, and knows what writes no text', () => {
    const others = read(text, 'openai', 'gpt-5.4').others;
    expect(others.length).toBeGreaterThan(0);
    const image = format === 'LiteLLM' ? 'dall-e-3' : 'gpt-image-2';
    expect(read(text, 'openai', image)).toMatchObject({ kind: null });
  });

  test('knows what makes embeddings, which write nothing and have no cache', () => {
    const embedding = read(text, 'openai', 'text-embedding-3-small');
    expect(embedding).toMatchObject({
      kind: 'embedding',
      contextWindow: 8_191,
      maxOutputTokens: 1,
      prices: { input: 20_000n, output: 0n },
      faults: [],
    });
    expect(embedding.prices && costsOf(embedding, embedding.prices, { id: 'openai' })).toMatchObject({ cacheHit: 0n });
  });

  test('a member that holds a number and is not known is a fault with its name', () => {
    const name = fc.stringMatching(/^[a-z]{3,12}(_[a-z]{2,8}){0,3}$/).map((word) => `new_${word}`);
    const value = fc.oneof(
      fc.double({ min: 0, max: 1, noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: 0, max: 500 }),
      fc.constantFrom('0.5', '2e-06', '$3', '110%'),
      fc.constant({ peak: [{ rate: 2e-6 }] }),
      fc.constant([0.1, 0.2]),
    );
    fc.assert(
      fc.property(name, value, fc.boolean(), (member, price, isInside) => {
        const inside = isInside && format === 'models.dev';
        const other = changed(format as keyof typeof lists, 'gpt-5-mini', (entry) => {
          Object.assign(inside ? (entry['cost'] as Json) : entry, { [member]: price });
        });
        const { faults } = read(other, 'openai', 'gpt-5-mini');
        expect(faults.map(({ field }) => field)).toContain(inside ? `cost.${member}` : member);
      }),
    );
  });

  test('words, switches and nulls that are not known are no prices', () => {
    const other = changed(format as keyof typeof lists, 'gpt-5-mini', (entry) => {
      Object.assign(entry, { new_word: 'something', new_switch: true, new_null: null, new_words: ['a', 'b'] });
    });
    expect(read(other, 'openai', 'gpt-5-mini').faults).toEqual([]);
  });
});

describe('what a catalog cannot say is a fault', () => {
  const dev = (change: (cost: Json) => void) =>
    read(
      changed('models.dev', 'gpt-5-mini', (entry) => change(entry['cost'] as Json)),
      'openai',
      'gpt-5-mini',
    ).faults.map(({ field }) => field);
  const lite = (more: Json) =>
    read(
      changed('LiteLLM', 'gpt-5-mini', (entry) => Object.assign(entry, more)),
      'openai',
      'gpt-5-mini',
    ).faults.map(({ field }) => field);

  test('reasoning at another price than the output', () => {
    expect(dev((cost) => Object.assign(cost, { reasoning: 2 }))).toEqual([]);
    expect(dev((cost) => Object.assign(cost, { reasoning: 3 }))).toEqual(['cost.reasoning']);
    expect(lite({ output_cost_per_reasoning_token: 2e-6 })).toEqual([]);
    expect(lite({ output_cost_per_reasoning_token: 3e-6 })).toEqual(['output_cost_per_reasoning_token']);
  });

  test('a tier by something else than the prompt, and prices beyond every bound', () => {
    expect(
      dev((cost) => Object.assign(cost, { tiers: [{ tier: { type: 'hour', size: 9 }, input: 1, output: 2 }] })),
    ).toEqual(['cost.tiers[0].tier']);
    expect(dev((cost) => Object.assign(cost, { input: -1 }))).toContain('cost.input');
    expect(lite({ input_cost_per_token: 1 })).toContain('input_cost_per_token');
  });

  test('one model at two prices', () => {
    const list = JSON.parse(lists.LiteLLM) as Record<string, Json>;
    Object.assign(list['openai/gpt-5-mini'] ?? {}, { output_cost_per_token: 3e-6 });
    expect(read(JSON.stringify(list), 'openai', 'gpt-5-mini').faults).toMatchObject([{ field: 'openai/gpt-5-mini' }]);
  });
});

test('ranges of LiteLLM become tiers above their start', () => {
  const ranges = [
    { range: [0, 32_000], input_cost_per_token: 1e-6, output_cost_per_token: 5e-6, cache_read_input_token_cost: 1e-7 },
    { range: [32_000, 128_000], input_cost_per_token: 2e-6, output_cost_per_token: 8e-6 },
  ];
  const text = JSON.stringify({
    qwen: { litellm_provider: 'openai', mode: 'chat', max_input_tokens: 128_000, tiered_pricing: ranges },
  });
  const { prices, tiers, faults } = read(text, 'openai', 'qwen');
  expect(faults).toEqual([]);
  expect(formatPrice(prices?.input ?? 0n)).toBe('1');
  // A price that a range does not name stays.
  expect(tiers).toMatchObject([{ abovePromptTokens: 32_000, input: 2_000_000n, cacheHit: 100_000n }]);
});

test('the legacy member of models.dev counts only without the exact tiers', () => {
  const text = changed('models.dev', 'gpt-5.4', (entry) => {
    delete (entry['cost'] as Json)['tiers'];
  });
  expect(read(text, 'openai', 'gpt-5.4').tiers).toMatchObject([{ abovePromptTokens: 200_000, input: 5_000_000n }]);
});

test.each([
  ['no JSON', 'not json', /not JSON/],
  ['another JSON', '{"a": {"b": 1}}', /neither/],
  ['a list', '[]', /neither/],
])('%s is refused', (_what, text, message) => {
  expect(() => parsePriceList(text)).toThrow(message);
});

test('a file that is not there, and an address in the clear, are refused', async () => {
  await expect(readPriceList('/nowhere.json', { allowPlain: false })).rejects.toThrow(/ENOENT/);
  await expect(readPriceList('http://example.com/api.json', { allowPlain: false })).rejects.toThrow(/https/);
});

describe('a list from an address', () => {
  async function readFrom(answer: RequestListener, limits: { maxBytes?: number; timeoutMs?: number } = {}) {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      return await readPriceList(`http://127.0.0.1:${port}/list.json`, { allowPlain: true, ...limits });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  test.each([301, 302, 303, 307, 308])(
    'that redirects with %s is refused, and nothing else is asked',
    async (status) => {
      const asked: (string | undefined)[] = [];
      const reading = readFrom((request, response) => {
        asked.push(request.url);
        if (request.url === '/other.json') response.end(lists.LiteLLM);
        else response.writeHead(status, { location: '/other.json' }).end();
      });
      await expect(reading).rejects.toThrow(`redirects (${status}), which is not followed`);
      expect(asked).toEqual(['/list.json']);
    },
  );

  test('is read up to a size and a time', async () => {
    const size = Buffer.byteLength(lists.LiteLLM);
    const whole: RequestListener = (_request, response) => response.end(lists.LiteLLM);
    expect((await readFrom(whole, { maxBytes: size })).format).toBe('LiteLLM');
    await expect(readFrom(whole, { maxBytes: size - 1 })).rejects.toThrow('longer than');
    const stuck: RequestListener = (_request, response) => response.write('{');
    await expect(readFrom(stuck, { timeoutMs: 100 })).rejects.toThrow('did not send the list within 0.1 s');
  });

  test('and a file, too, has a greatest size', async () => {
    const path = new URL('price-list/litellm.json', import.meta.url).pathname;
    await expect(readPriceList(path, { allowPlain: false, maxBytes: 100 })).rejects.toThrow('longer than');
  });
});

describe('LiteLLM’s prices by the piece and by the clock', () => {
  const entry = (change: object) =>
    JSON.stringify({
      'deepseek/deepseek-flash': {
        litellm_provider: 'deepseek',
        mode: 'chat',
        input_cost_per_token: 3e-7,
        output_cost_per_token: 1.2e-6,
        cache_read_input_token_cost: 6e-9,
        max_input_tokens: 1_000_000,
        max_output_tokens: 393_216,
        ...change,
      },
    });
  const readOne = (change: object) => read(entry(change), 'deepseek', 'deepseek-flash');
  const rates = { input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7, cache_read_input_token_cost: 3e-9 };
  const windows = [
    { hours_utc: ['00:00-01:00', '04:00-06:00', '10:00-00:00'], weekdays: [1, 2, 3, 4, 5] },
    { hours_utc: '00:00-00:00', weekdays: [6, 7] },
  ];

  test('are read: a search at the largest context, an image as it stands', () => {
    const sizes = { search_context_size_low: 0.03, search_context_size_medium: 0.035, search_context_size_high: 0.05 };
    const { perUnit, others, faults } = readOne({ search_context_cost_per_query: sizes, output_cost_per_image: 0.04 });
    expect({ perUnit, others, faults }).toEqual({
      perUnit: { search: 50_000_000_000n, image: 40_000_000_000n },
      others: [],
      faults: [],
    });
    expect(readOne({ output_cost_per_image: 11 }).faults).toEqual([
      { field: 'output_cost_per_image', message: 'is no price from 0 to 10 USD for one' },
    ]);
  });

  test('are read: DeepSeek’s hours come to those of its example file, at every quarter of an hour', async () => {
    const listed = readOne({ off_peak_pricing: { ...rates, windows } });
    expect(listed.faults).toEqual([]);
    if (listed.prices === null) throw new Error('no prices');
    const costs = costsOf(listed, listed.prices, { id: 'deepseek' });
    const own = (await readVendors()).find(({ id }) => id === 'deepseek')?.models[0]?.costs;
    if (costs.clock === undefined || own?.clock === undefined) throw new Error('no hours');
    for (let at = Date.UTC(2026, 10, 23), end = at + 7 * 86_400_000; at < end; at += 900_000) {
      const [listedSet, ownSet] = [costs, own].map((each) => (each.clock && windowAt(each.clock, at)?.window) ?? each);
      expect([at, listedSet?.input, listedSet?.output]).toEqual([at, ownSet?.input, ownSet?.output]);
    }
  });

  test.each([
    { ...rates, windows: [{ hours_utc: 'night', weekdays: [1] }] },
    { ...rates, windows: [{ hours_utc: '00:00-01:00', weekdays: [0] }] },
    { ...rates, windows: [{ hours_utc: '00:00-01:00', weekdays: ['monday'] }] },
    { ...rates, windows: [windows[0], windows[0]] },
    { ...rates, windows: [] },
    { ...rates },
    { ...rates, hours_utc: '16:30-00:30', discount: 0.5 },
  ])('that a catalog cannot say are faults: %o', (off_peak_pricing) => {
    expect(readOne({ off_peak_pricing }).faults.map(({ field }) => field.split('.')[0])).toContain('off_peak_pricing');
  });

  test('stand beside no prices by length', () => {
    const { faults } = readOne({
      off_peak_pricing: { ...rates, hours_utc: '16:30-00:30' },
      input_cost_per_token_above_200k_tokens: 6e-7,
    });
    expect(faults.map(({ field }) => field)).toEqual(['off_peak_pricing']);
  });
});

describe('OpenRouter’s own list', () => {
  const text = fileOf('openrouter');
  const one = (name: string) => read(text, 'openrouter', name);
  const withPricing = (name: string, more: Json) => {
    const list = JSON.parse(text) as { data: { id: string; pricing: Json }[] };
    Object.assign(list.data.find(({ id }) => id === name)?.pricing ?? {}, more);
    return read(JSON.stringify(list), 'openrouter', name);
  };

  test('is told by its shape, gives prices, tiers, limits and what a model can do, and no other vendor’s', () => {
    const list = parsePriceList(text);
    expect([list.format, list.models('google')]).toEqual(['OpenRouter', []]);
    expect(one('google/gemini-3.1-pro-preview')).toMatchObject({
      displayName: 'Google: Gemini 3.1 Pro Preview',
      contextWindow: 1_048_576,
      maxOutputTokens: 65_536,
      capabilities: ['tools', 'vision', 'thinking', 'caching'],
      efforts: ['low', 'medium', 'high'],
      prices: { input: 2_000_000n, cacheHit: 200_000n, output: 12_000_000n },
      // `min_prompt_tokens` is the shortest prompt at these prices.
      tiers: [{ abovePromptTokens: 199_999, input: 4_000_000n, cacheHit: 400_000n, output: 18_000_000n }],
      perUnit: { search: 14_000_000_000n },
      faults: [],
    });
  });

  test('has what a cache keeps beside the price of new context, and never a write that is cheaper than it', () => {
    const { prices, tiers } = one('google/gemini-3.1-pro-preview');
    expect([prices?.cacheWrite5m, tiers[0]?.cacheWrite5m]).toEqual([2_375_000n, 4_375_000n]);
    // As it stands where it is dearer.
    expect(one('openai/gpt-5.6-luna').prices?.cacheWrite5m).toBe(125_000n);
    // A tier without a write of its own: an absolute price is kept, and never below the tier's new context.
    const above = (prompt: string) =>
      withPricing('openai/gpt-5.6-luna', { overrides: [{ min_prompt_tokens: 9, prompt }] }).tiers[0]?.cacheWrite5m;
    expect([above('0.00000011'), above('0.0000002')]).toEqual([125_000n, 200_000n]);
    expect(withPricing('openai/gpt-5.6-luna', { input_cache_write: '0' }).prices?.cacheWrite5m).toBeNull();
  });

  test('writes floats with their error, which are rounded and told', () => {
    expect(one('openai/gpt-5.6-luna')).toMatchObject({ prices: { output: 600_000n }, rounded: true, faults: [] });
  });

  test('has prices that depend on where a request is led, which are none', () => {
    expect(one('openrouter/pareto-code')).toMatchObject({ prices: null, faults: [] });
  });

  test.each([
    ['perplexity/sonar-pro-search', {}, ['pricing.request']],
    ['google/gemini-3.1-pro-preview', { internal_reasoning: '0.00002' }, ['pricing.internal_reasoning']],
    ['deepseek/deepseek-v4-flash-0731', { discount: 0.5 }, ['pricing.discount']],
    ['deepseek/deepseek-v4-flash-0731', { prompt: '-1' }, ['pricing.prompt']],
    ['deepseek/deepseek-v4-flash-0731', { overrides: { peak: '1' } }, ['pricing.overrides']],
    [
      'deepseek/deepseek-v4-flash-0731',
      { overrides: [{ utc_hours: '00:00-08:00', prompt: '0.1' }] },
      ['pricing.overrides[0].min_prompt_tokens'],
    ],
    [
      'deepseek/deepseek-v4-flash-0731',
      { overrides: [{ min_prompt_tokens: 9, max_prompt_tokens: 12, prompt: '0.000001' }] },
      ['pricing.overrides[0].max_prompt_tokens'],
    ],
  ])('%s with %o is not taken', (name, more, fields) => {
    expect(withPricing(name, more).faults.map(({ field }) => field)).toEqual(expect.arrayContaining(fields));
  });

  test('nothing is what the list says of what has no price of its own', () => {
    const none = {
      request: '0',
      discount: 0,
      internal_reasoning: '0',
      image: '0',
      web_search: '0',
      input_cache_read: '0',
    };
    expect(withPricing('deepseek/deepseek-v4-flash-0731', none)).toMatchObject({
      prices: { input: 140_000n, cacheHit: null },
      perUnit: {},
      others: [],
      faults: [],
    });
  });
});

test('LiteLLM’s cache writes for nothing are writes without a price: the same model twice is one deal', () => {
  const member = {
    litellm_provider: 'deepseek',
    mode: 'chat',
    input_cost_per_token: 2.8e-7,
    output_cost_per_token: 4.2e-7,
    cache_read_input_token_cost: 2.8e-8,
  };
  // As both entries stand in the list.
  const text = JSON.stringify({
    'deepseek-chat': member,
    'deepseek/deepseek-chat': {
      ...member,
      cache_creation_input_token_cost: 0,
      input_cost_per_token_cache_hit: 2.8e-8,
    },
  });
  expect(read(text, 'deepseek', 'deepseek-chat')).toMatchObject({ prices: { cacheWrite5m: null }, faults: [] });
});

test('context from a cache for nothing is context without a price of its own, in tiers, too', () => {
  // As `openrouter/minimax/minimax-m2.1` stands in LiteLLM's list of 2026-08-06, with a tier.
  const text = JSON.stringify({
    'openrouter/minimax/minimax-m2.1': {
      litellm_provider: 'openrouter',
      mode: 'chat',
      input_cost_per_token: 2.7e-7,
      output_cost_per_token: 1.2e-6,
      cache_read_input_token_cost: 0.0,
      input_cost_per_token_above_128k_tokens: 5e-7,
    },
  });
  const model = read(text, 'openrouter', 'minimax/minimax-m2.1');
  expect(model).toMatchObject({ prices: { cacheHit: null }, tiers: [{ cacheHit: null }], faults: [] });
  expect(model.prices && costsOf(model, model.prices, { id: 'openrouter' })).toMatchObject({
    cacheHit: 270_000n,
    tiers: [{ cacheHit: 500_000n }],
  });
});
