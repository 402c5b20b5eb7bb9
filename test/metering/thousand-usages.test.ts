import { describe, expect, it } from 'vitest';
import { pricesInput } from '../../server/catalog/price.ts';
import { entryCost, entryPrice, unitLines, unitPrices } from '../../server/core/price.ts';
import {
  createMessagesUsage,
  readChatUsage,
  readResponsesUsage,
  reportedAs,
  type UsageReading,
} from '../../server/wire/usage.ts';
import { type Family, type Figures, families, variations } from './usages.ts';

/** What vendors report, as five pools and as a cost: nothing is off by a pico-USD. */

const pools = ['input', 'cacheHit', 'cacheWrite5m', 'cacheWrite1h', 'output'] as const;

/** The figures as a family can tell them: what it does not tell is new context, or nothing. */
function toldBy({ tells }: Family, figures: Figures): Figures {
  const told = { ...figures };
  for (const part of ['cacheHit', 'cacheWrite5m', 'cacheWrite1h'] as const) {
    if (tells.includes(part)) continue;
    told.input += told[part];
    told[part] = 0;
  }
  if (!tells.includes('reasoning')) told.reasoning = 0;
  if (!tells.includes('searches')) told.searches = 0;
  told.reasoning = Math.min(told.reasoning, told.output);
  return told;
}

/** A decimal as a whole number of its smallest parts, by its digits alone. */
function scaled(text: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** The cost by hand: tokens times USD per 1,000,000 of them, in pico-USD. */
function costByHand({ prices, above, search = '0' }: Family, figures: Figures): bigint {
  const prompt = figures.input + figures.cacheHit + figures.cacheWrite5m + figures.cacheWrite1h;
  const set = above !== undefined && prompt > above.tokens ? above.prices : prices;
  const tokens = pools.map((pool, index) => BigInt(figures[pool]) * scaled(set[index] ?? '', 6));
  return tokens.reduce((total, part) => total + part, BigInt(figures.searches) * scaled(search, 12));
}

function read({ protocol }: Family, objects: object[]): UsageReading | null {
  if (protocol === 'messages') {
    const usage = createMessagesUsage();
    for (const object of objects) usage.add(object);
    return usage.read();
  }
  return (protocol === 'responses' ? readResponsesUsage : readChatUsage)(objects.at(-1));
}

const setOf = ([input, cacheHit, cacheWrite5m, cacheWrite1h, output]: Family['prices']) => ({
  input,
  cacheHit,
  cacheWrite5m,
  cacheWrite1h,
  output,
});

/** What the gateway makes of the objects, at prices as a catalog file has them. */
function charged(family: Family, objects: object[]) {
  const { asked = '5m', prices, above, search } = family;
  const { usage, clamped, searches } = reportedAs(read(family, objects), asked);
  if (usage === null) throw new Error('no usage was read');
  const price = unitPrices(
    pricesInput.parse({
      ...setOf(prices),
      tiers: above === undefined ? [] : [{ abovePromptTokens: above.tokens, ...setOf(above.prices) }],
      perUnit: search === undefined ? {} : { search },
    }),
  );
  const units = searches === undefined ? [] : unitLines({ search: searches }, price.perUnit);
  const cost = entryCost({ usage, price: entryPrice({ id: 'p', ...price }, usage), units });
  return { ...usage, searches: searches ?? 0, clamped, cost };
}

function expected(family: Family, figures: Figures) {
  const { reasoning: _reasoning, ...rest } = figures;
  return { ...rest, clamped: false, cost: costByHand(family, figures) };
}

const nothing: Figures = {
  input: 0,
  cacheHit: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  searches: 0,
};

describe.each(families.map((family) => ({ family, name: family.name })))('$name', ({ family }) => {
  it.each(variations.map((figures) => ({ figures: toldBy(family, figures), shown: JSON.stringify(figures) })))(
    '$shown',
    ({ figures }) => {
      expect(charged(family, family.report(figures))).toEqual(expected(family, figures));
    },
  );

  it.each((family.recorded ?? []).map((answer) => ({ ...answer, name: answer.source })))(
    'as recorded at $name',
    ({ objects, figures }) => {
      expect(charged(family, objects)).toEqual(expected(family, { ...nothing, ...figures }));
    },
  );
});

it('has more than a thousand usages, each family with its source', () => {
  const recorded = families.reduce((count, family) => count + (family.recorded?.length ?? 0), 0);
  expect(families.length * variations.length + recorded).toBeGreaterThan(1_000);
  for (const { source } of families) expect(source).toMatch(/^https:\/\//);
});
