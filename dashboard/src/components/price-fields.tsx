import { useOperatorLanguage } from '../language/language.tsx';
import { isUsd } from '../money.ts';
import type { AllPrices } from '../preview.ts';
import { TextField } from './field.tsx';

/** Prices as typed; empty cache writes cost the same as new context. */
export interface PriceDraft {
  input: string;
  cacheHit: string;
  output: string;
  cacheWrite5m: string;
  cacheWrite1h: string;
}

export const emptyPrices: PriceDraft = { input: '', cacheHit: '', output: '', cacheWrite5m: '', cacheWrite1h: '' };

const kinds = ['input', 'cacheHit', 'output', 'cacheWrite5m', 'cacheWrite1h'] as const;
const optional: ReadonlySet<string> = new Set(['cacheWrite5m', 'cacheWrite1h']);

export function draftOfPrices(prices: AllPrices | null): PriceDraft {
  if (prices === null) return emptyPrices;
  return {
    input: prices.input,
    cacheHit: prices.cacheHit,
    output: prices.output,
    cacheWrite5m: prices.cacheWrite5m ?? '',
    cacheWrite1h: prices.cacheWrite1h ?? '',
  };
}

/** The prices of a draft; null while one of them is invalid. */
export function pricesOf(draft: PriceDraft): AllPrices | null {
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
          onChange={(value) => onChange({ ...draft, [kind]: value })}
          error={fields[kind] ?? (draft[kind] === '' || isUsd(draft[kind], 6) ? undefined : t.problems.price)}
        />
      ))}
    </div>
  );
}
