import { fill } from '../language/fill.ts';
import { useOperatorLanguage } from '../language/language.tsx';
import { isUsd } from '../money.ts';
import type { AllPrices, PricesByLength, TierPrices, UnitAmounts } from '../preview.ts';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';

/** One set of prices as typed; empty cache writes cost the same as new context. */
interface SetDraft {
  input: string;
  cacheHit: string;
  output: string;
  cacheWrite5m: string;
  cacheWrite1h: string;
}

/** What can be charged by the piece. */
const units = ['search', 'image', 'minute'] as const;
type Unit = (typeof units)[number];

interface TierDraft extends SetDraft {
  abovePromptTokens: string;
}

/** Prices of every prompt length as typed. */
export interface PriceDraft extends SetDraft {
  tiers: readonly TierDraft[];
  /** USD for one, empty: no price. */
  perUnit: Record<Unit, string>;
  /** Empty: whatever the upstream takes. */
  maxPromptTokens: string;
}

/** The prices of a draft. */
export interface DraftedPrices extends AllPrices {
  tiers: TierPrices[];
  perUnit: UnitAmounts;
  maxPromptTokens: number | null;
}

const emptySet: SetDraft = { input: '', cacheHit: '', output: '', cacheWrite5m: '', cacheWrite1h: '' };
export const emptyPrices: PriceDraft = {
  ...emptySet,
  tiers: [],
  perUnit: { search: '', image: '', minute: '' },
  maxPromptTokens: '',
};

const kinds = ['input', 'cacheHit', 'output', 'cacheWrite5m', 'cacheWrite1h'] as const;
const optional: ReadonlySet<string> = new Set(['cacheWrite5m', 'cacheWrite1h']);

export function draftOfPrices(prices: (PricesByLength & { maxPromptTokens?: number | null }) | null): PriceDraft {
  if (prices === null) return emptyPrices;
  return {
    ...draftOfSet(prices),
    tiers: (prices.tiers ?? []).map((tier) => ({
      ...draftOfSet(tier),
      abovePromptTokens: String(tier.abovePromptTokens),
    })),
    perUnit: {
      search: prices.perUnit?.search ?? '',
      image: prices.perUnit?.image ?? '',
      minute: prices.perUnit?.minute ?? '',
    },
    maxPromptTokens: prices.maxPromptTokens == null ? '' : String(prices.maxPromptTokens),
  };
}

function draftOfSet(prices: AllPrices): SetDraft {
  return {
    input: prices.input,
    cacheHit: prices.cacheHit,
    output: prices.output,
    cacheWrite5m: prices.cacheWrite5m ?? '',
    cacheWrite1h: prices.cacheWrite1h ?? '',
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
  if (!units.every((unit) => draft.perUnit[unit] === '' || isUsd(draft.perUnit[unit]))) return null;
  const one = (unit: Unit) => (draft.perUnit[unit] === '' ? null : draft.perUnit[unit].trim());
  const perUnit = { search: one('search'), image: one('image'), minute: one('minute') };
  return { ...prices, tiers, perUnit, maxPromptTokens: maxPromptTokens === '' ? null : Number(maxPromptTokens) };
}

/** What a route costs: as `pricesOf`, without the longest prompt, which only a model's own prices have. */
export function routeCostsOf(draft: PriceDraft): Omit<DraftedPrices, 'maxPromptTokens'> | null {
  const prices = pricesOf(draft);
  if (prices === null) return null;
  const { maxPromptTokens: _unused, ...costs } = prices;
  return costs;
}

const isCount = (text: string): boolean => /^[1-9][0-9]{0,8}$/.test(text.trim());

function setOf(draft: SetDraft): AllPrices | null {
  if (!kinds.every((kind) => (draft[kind] === '' ? optional.has(kind) : isUsd(draft[kind], 6)))) return null;
  const filled = (text: string) => (text === '' ? null : text.trim());
  return {
    input: draft.input.trim(),
    cacheHit: draft.cacheHit.trim(),
    output: draft.output.trim(),
    cacheWrite5m: filled(draft.cacheWrite5m),
    cacheWrite1h: filled(draft.cacheWrite1h),
  };
}

/** The editor of the prices of every prompt length. `required`: they are a model's; else what a route costs. */
export function PriceFields({
  draft,
  onChange,
  fields = {},
  required = true,
}: {
  draft: PriceDraft;
  onChange: (draft: PriceDraft) => void;
  fields?: Record<string, string>;
  required?: boolean;
}) {
  const { t } = useOperatorLanguage();
  const tierAt = (index: number, tier: TierDraft) =>
    onChange({ ...draft, tiers: draft.tiers.map((each, at) => (at === index ? tier : each)) });
  const countError = (text: string) => (text === '' || isCount(text) ? undefined : t.operator.tokenCount);
  return (
    <>
      <SetFields draft={draft} onChange={(set) => onChange({ ...draft, ...set })} fields={fields} required={required} />
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
            onClick={() => onChange({ ...draft, tiers: draft.tiers.filter((_tier, at) => at !== index) })}
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
    </>
  );
}

/** As the server allows. */
const maxTiers = 4;

function SetFields({
  draft,
  onChange,
  fields = {},
  required,
}: {
  draft: SetDraft;
  onChange: (draft: SetDraft) => void;
  fields?: Record<string, string>;
  required: boolean;
}) {
  const { t } = useOperatorLanguage();
  return (
    <div className="fields">
      {kinds.map((kind) => (
        <TextField
          key={kind}
          label={t.models[kind]}
          inputMode="decimal"
          required={required && !optional.has(kind)}
          placeholder={optional.has(kind) ? t.operator.asInput : ''}
          value={draft[kind]}
          onChange={(value) => onChange({ ...onlySet(draft), [kind]: value })}
          error={fields[kind] ?? (draft[kind] === '' || isUsd(draft[kind], 6) ? undefined : t.problems.price)}
        />
      ))}
    </div>
  );
}

/** A set without the other members of a draft, which must not overwrite newer ones. */
function onlySet({ input, cacheHit, output, cacheWrite5m, cacheWrite1h }: SetDraft): SetDraft {
  return { input, cacheHit, output, cacheWrite5m, cacheWrite1h };
}
