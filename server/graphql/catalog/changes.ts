import type { CatalogOutcome } from '../../catalog/changes.ts';
import type { PerUnit, UnitPrices } from '../../core/price.ts';
import { decodeId } from '../access.ts';
import { builder } from '../builder.ts';
import { InputError, NotFoundError } from '../errors.ts';

/** Shared by the catalog's mutations: refusals, names in inputs, prices per million. */

export const changeErrors = [InputError, NotFoundError];

/**
 * Throws the refusal of a change. `below`: the argument that carries the input; `elsewhere`: the paths of members that
 * the arguments place or name differently.
 */
export function throwCatalogRefusal(
  outcome: CatalogOutcome,
  below: string[] = ['input'],
  elsewhere: Record<string, string[]> = {},
): void {
  if (outcome.kind === 'unknown') throw new NotFoundError(outcome.what);
  if (outcome.kind !== 'invalid') return;
  throw new InputError(
    outcome.problems.map(({ path, message }) => {
      const [member = ''] = path;
      const place = path.length === 1 && Object.hasOwn(elsewhere, member) ? elsewhere[member] : undefined;
      if (place === undefined) return { path: [...below, ...path], message };
      return { path: place, message: message.replace(`${member} `, `${place.at(-1)} `) };
    }),
  );
}

/** Operators may name a model or an upstream by its own id or by its global one. */
export const named = (type: string, id: string): string => decodeId(type, id) ?? id;

/** Missing members are left to the domain's defaults. */
export function given(input: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
}

export const price = (picoPerToken: bigint) => picoPerToken * 1_000_000n;
export const optionalPrice = (picoPerToken: bigint | null) => (picoPerToken === null ? null : price(picoPerToken));

/** Prices by the piece, of a model or of a route. */
export const UnitPricesType = builder.objectRef<PerUnit>('UnitPrices').implement({
  description: 'What is charged by the piece, in USD for one; null: it has no price.',
  authScopes: { public: true },
  fields: (t) => ({
    search: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'One search that the vendor makes.',
      resolve: ({ search }) => search ?? null,
    }),
    image: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'One image.',
      resolve: ({ image }) => image ?? null,
    }),
    minute: t.field({
      type: 'UsdAmount',
      nullable: true,
      description: 'One minute; begun ones count whole.',
      resolve: ({ minute }) => minute ?? null,
    }),
  }),
});

const UnitPricesInput = builder.inputType('UnitPricesInput', {
  description: 'What is charged by the piece, in USD for one as decimal strings; what is left out has no price.',
  fields: (t) => ({
    search: t.string({ description: 'One search that the vendor makes.' }),
    image: t.string({ description: 'One image.' }),
    minute: t.string({ description: 'One minute; begun ones count whole.' }),
  }),
});

const PriceTierInput = builder.inputType('PriceTierInput', {
  description: 'Prices for longer prompts, in USD per 1M tokens: the whole request is charged at them.',
  fields: (t) => ({
    abovePromptTokens: t.int({
      required: true,
      description: 'For prompts of more tokens than this, all pools together.',
    }),
    input: t.string({ required: true, description: 'New context.' }),
    cacheHit: t.string({ required: true, description: 'Context from the cache; lower than `input`.' }),
    cacheWrite5m: t.string({ description: 'Written to the five-minute cache; left out: as new context.' }),
    cacheWrite1h: t.string({ description: 'Written to the one-hour cache; left out: as new context.' }),
    output: t.string({ required: true, description: 'What the model writes.' }),
  }),
});

interface TierView extends UnitPrices {
  abovePromptTokens: number;
}

/** A tier as operators see it: of a model's price version or of a route's costs. */
export const PriceTierType = builder.objectRef<TierView>('PriceTier').implement({
  description: 'Prices for longer prompts, in USD per 1M tokens: the whole request is charged at them.',
  authScopes: { operator: true },
  fields: (t) => ({
    abovePromptTokens: t.exposeInt('abovePromptTokens', {
      description: 'For prompts of more tokens than this, all pools together.',
    }),
    input: t.field({ type: 'UsdAmount', description: 'New context.', resolve: (tier) => price(tier.input) }),
    cacheHit: t.field({
      type: 'UsdAmount',
      description: 'Context from the cache.',
      resolve: (tier) => price(tier.cacheHit),
    }),
    cacheWrite5m: t.field({
      type: 'UsdAmount',
      description: 'Written to the five-minute cache.',
      resolve: (tier) => price(tier.cacheWrite5m),
    }),
    cacheWrite1h: t.field({
      type: 'UsdAmount',
      description: 'Written to the one-hour cache.',
      resolve: (tier) => price(tier.cacheWrite1h),
    }),
    output: t.field({
      type: 'UsdAmount',
      description: 'What the model writes.',
      resolve: (tier) => price(tier.output),
    }),
  }),
});

export const PricesInput = builder.inputType('PricesInput', {
  description: 'Prices in USD per 1M tokens, as decimal strings with at most 6 decimals.',
  fields: (t) => ({
    input: t.string({ required: true, description: 'New context.' }),
    cacheHit: t.string({ required: true, description: 'Context from the cache; lower than `input`.' }),
    cacheWrite5m: t.string({ description: 'Written to the five-minute cache; left out: as new context.' }),
    cacheWrite1h: t.string({ description: 'Written to the one-hour cache; left out: as new context.' }),
    output: t.string({ required: true, description: 'What the model writes.' }),
    tiers: t.field({ type: [PriceTierInput], description: 'Other prices for longer prompts; left out: none.' }),
    perUnit: t.field({ type: UnitPricesInput, description: 'What is charged by the piece; left out: nothing.' }),
    maxPromptTokens: t.int({
      description:
        'The longest prompt that these prices are for. A request whose prompt may be longer, by its bytes, is refused; left out: whatever the upstream takes. Not for what a route costs.',
    }),
  }),
});
