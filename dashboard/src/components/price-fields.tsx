import { fill } from '../language/fill.ts';
import { useOperatorLanguage } from '../language/language.tsx';
import { isUsd } from '../money.ts';
import type { AllPrices, ImageAmounts, PricesByLength, TierPrices, UnitAmounts, VariantPrices } from '../preview.ts';
import {
  type ClockDraft,
  clockOf,
  type DraftedClock,
  draftOfClock,
  draftOfSet,
  emptySet,
  kinds,
  noClock,
  type SetDraft,
  setOf,
} from '../price-draft.ts';
import type { InputProblems } from '../problems.ts';
import { Button } from './button.tsx';
import { ClockFields } from './clock-fields.tsx';
import { TextField } from './field.tsx';
import { Fold } from './page.tsx';
import { SetFields } from './price-set-fields.tsx';

/** What can be charged by the piece. */
const units = ['search', 'image', 'minute'] as const;
type Unit = (typeof units)[number];

interface TierDraft extends SetDraft {
  abovePromptTokens: string;
}

/** Prices of every prompt length and hour as typed. */
export interface PriceDraft extends SetDraft {
  tiers: readonly TierDraft[];
  clock: ClockDraft;
  /** USD for one, empty: no price. */
  perUnit: Record<Unit, string>;
  /** As they are: a catalog file changes them. */
  images: ImageAmounts | null;
  /** As they are, likewise. */
  variants: VariantPrices[];
  /** Empty: whatever the upstream takes. */
  maxPromptTokens: string;
}

/** The prices of a draft. */
export interface DraftedPrices extends AllPrices {
  tiers: TierPrices[];
  perUnit: UnitAmounts;
  images: ImageAmounts | null;
  variants: VariantPrices[];
  clock: DraftedClock | null;
  maxPromptTokens: number | null;
}

export const emptyPrices: PriceDraft = {
  ...emptySet,
  tiers: [],
  clock: noClock,
  perUnit: { search: '', image: '', minute: '' },
  images: null,
  variants: [],
  maxPromptTokens: '',
};

export function draftOfPrices(prices: (PricesByLength & { maxPromptTokens?: number | null }) | null): PriceDraft {
  if (prices === null) return emptyPrices;
  const tiers = (prices.tiers ?? []).map((tier) => ({
    ...draftOfSet(tier),
    abovePromptTokens: String(tier.abovePromptTokens),
  }));
  return {
    ...draftOfSet(prices),
    tiers,
    clock: draftOfClock(prices.clock ?? null),
    perUnit: {
      search: prices.perUnit?.search ?? '',
      image: prices.perUnit?.image ?? '',
      minute: prices.perUnit?.minute ?? '',
    },
    images: prices.images ?? null,
    variants: (prices.variants ?? []).map(variantOf),
    maxPromptTokens: prices.maxPromptTokens == null ? '' : String(prices.maxPromptTokens),
  };
}

/** Answers carry names of types, which inputs do not have. */
function variantOf({ name, tiers, ...prices }: VariantPrices): VariantPrices {
  const five = (set: AllPrices) => setOf(draftOfSet(set)) ?? set;
  return {
    name,
    ...five(prices),
    tiers: (tiers ?? []).map((tier) => ({ ...five(tier), abovePromptTokens: tier.abovePromptTokens })),
  };
}

/** The prices of a draft; null while one of them is invalid. */
export function pricesOf(draft: PriceDraft): DraftedPrices | null {
  const prices = setOf(draft);
  const { maxPromptTokens } = draft;
  if (prices === null || !(maxPromptTokens === '' || isCount(maxPromptTokens))) return null;
  const tiers: TierPrices[] = [];
  for (const tier of draft.tiers) {
    const set = setOf(tier);
    if (set === null || !isCount(tier.abovePromptTokens)) return null;
    tiers.push({ ...set, abovePromptTokens: Number(tier.abovePromptTokens) });
  }
  const clock = clockOf(draft.clock, tiers);
  if (clock === undefined) return null;
  if (!units.every((unit) => draft.perUnit[unit] === '' || isUsd(draft.perUnit[unit]))) return null;
  const one = (unit: Unit) => (draft.perUnit[unit] === '' ? null : draft.perUnit[unit].trim());
  const perUnit = { search: one('search'), image: one('image'), minute: one('minute') };
  const { images, variants } = draft;
  return {
    ...prices,
    tiers,
    perUnit,
    images,
    variants,
    clock,
    maxPromptTokens: maxPromptTokens === '' ? null : Number(maxPromptTokens),
  };
}

/** What a route costs: as `pricesOf`, without the longest prompt, which only a model's own prices have. */
export function routeCostsOf(draft: PriceDraft): Omit<DraftedPrices, 'maxPromptTokens'> | null {
  const prices = pricesOf(draft);
  if (prices === null) return null;
  const { maxPromptTokens: _unused, ...costs } = prices;
  return costs;
}

const isCount = (text: string): boolean => /^[1-9][0-9]{0,8}$/.test(text.trim());

/** The inputs that show their problem, by the names that the server gives them. */
export const PRICE_INPUTS = [...kinds, 'maxPromptTokens'] as const;

/** The editor of the prices of every prompt length. `required`: they are a model's; else what a route costs. */
export function PriceFields({
  draft,
  onChange,
  fields = {},
  required = true,
}: {
  draft: PriceDraft;
  onChange: (draft: PriceDraft) => void;
  fields?: InputProblems<(typeof PRICE_INPUTS)[number]>;
  required?: boolean;
}) {
  const { t, format, count } = useOperatorLanguage();
  const tierAt = (index: number, tier: TierDraft) =>
    onChange({ ...draft, tiers: draft.tiers.map((each, at) => (at === index ? tier : each)) });
  const dropTier = (index: number) => {
    const without = <Item,>(list: readonly Item[]) => list.filter((_item, at) => at !== index);
    const windows = draft.clock.windows.map((window) => ({ ...window, tiers: without(window.tiers) }));
    onChange({ ...draft, tiers: without(draft.tiers), clock: { ...draft.clock, windows } });
  };
  const pieces = units.filter((unit) => draft.perUnit[unit] !== '').length;
  const set = [
    ...(draft.tiers.length === 0 ? [] : [count(t.operator.tierCount, draft.tiers.length)]),
    ...(draft.clock.windows.length === 0 ? [] : [count(t.operator.windowCount, draft.clock.windows.length)]),
    ...(pieces === 0 ? [] : [count(t.operator.pieceCount, pieces)]),
    ...(isCount(draft.maxPromptTokens)
      ? [fill(t.operator.maxPromptLine, { n: format.number(Number(draft.maxPromptTokens)) })]
      : []),
  ];
  const countError = (text: string) => (text === '' || isCount(text) ? undefined : t.operator.tokenCount);
  return (
    <>
      <SetFields draft={draft} onChange={(set) => onChange({ ...draft, ...set })} fields={fields} required={required} />
      <Fold inForm title={t.operator.morePrices} state={set.length === 0 ? t.operator.morePricesNone : set.join(' · ')}>
        {draft.tiers.map((tier, index) => (
          <fieldset key={index} className="tier">
            <legend>{fill(t.operator.tierNumber, { n: index + 1 })}</legend>
            <TextField
              label={t.operator.abovePromptTokens}
              hint={t.operator.abovePromptTokensHint}
              inputMode="numeric"
              required
              value={tier.abovePromptTokens}
              onChange={(abovePromptTokens) => tierAt(index, { ...tier, abovePromptTokens })}
              error={countError(tier.abovePromptTokens)}
            />
            <SetFields draft={tier} onChange={(set) => tierAt(index, { ...tier, ...set })} required />
            <Button
              small
              look="danger"
              aria-label={fill(t.operator.removeTier, { n: index + 1 })}
              onClick={() => dropTier(index)}
            >
              {t.common.remove}
            </Button>
          </fieldset>
        ))}
        {draft.tiers.length < maxTiers ? (
          <Button
            small
            onClick={() => onChange({ ...draft, tiers: [...draft.tiers, { ...emptySet, abovePromptTokens: '' }] })}
          >
            {t.operator.addTier}
          </Button>
        ) : null}
        <ClockFields
          draft={draft.clock}
          bounds={draft.tiers.map(({ abovePromptTokens }) => abovePromptTokens)}
          onChange={(clock) => onChange({ ...draft, clock })}
        />
        <div className="fields">
          {units.map((unit) => (
            <TextField
              key={unit}
              label={t.operator.perUnit[unit]}
              inputMode="decimal"
              value={draft.perUnit[unit]}
              onChange={(value) => onChange({ ...draft, perUnit: { ...draft.perUnit, [unit]: value } })}
              error={draft.perUnit[unit] === '' || isUsd(draft.perUnit[unit]) ? undefined : t.problems.price}
            />
          ))}
        </div>
        {required ? (
          <TextField
            label={t.operator.maxPromptTokens}
            hint={t.operator.maxPromptTokensHint}
            inputMode="numeric"
            value={draft.maxPromptTokens}
            onChange={(maxPromptTokens) => onChange({ ...draft, maxPromptTokens })}
            error={fields['maxPromptTokens'] ?? countError(draft.maxPromptTokens)}
          />
        ) : null}
      </Fold>
    </>
  );
}

/** As the server allows. */
const maxTiers = 4;
