/** The fields of the limits that keys and accounts set themselves. */

import { fill, useLanguage } from '../language/language.tsx';
import { type LimitTexts, limitTexts, type SpendPeriod } from '../language/limits.ts';
import { isUsd } from '../money.ts';
import type { InputProblems } from '../problems.ts';
import { TextArea, TextField } from './field.tsx';
import { Fold } from './page.tsx';
import { AboutVnd } from './usd.tsx';

export const periods = ['day', 'week', 'month', 'lifetime'] as const;
export const paces = ['requestsPerMinute', 'tokensPerMinute', 'maxConcurrent'] as const;

type Pace = (typeof paces)[number];

/** The inputs that show their problem, by the names that the server gives them. */
export const LIMIT_INPUTS = [...paces, 'burnLimit', 'addresses'] as const;

/** Limits as they are typed: empty, none. */
export interface LimitDraft {
  spend: Record<SpendPeriod, string>;
  /** Null: the form has no burn limit. */
  burn: { amount: string; minutes: string } | null;
  pace: Record<Pace, string>;
  addresses: string;
}

interface Limits extends Record<Pace, number | null> {
  spend: Record<SpendPeriod, string | null>;
  burnLimit: { amount: string; minutes: number } | null;
  addresses: readonly string[];
}

export function useLimitTexts(): LimitTexts {
  return limitTexts[useLanguage().locale];
}

export function limitDraft({ spend, burnLimit, addresses, ...pace }: Limits): LimitDraft {
  const shown = (value: string | number | null) => (value === null ? '' : String(value));
  return {
    spend: {
      day: shown(spend.day),
      week: shown(spend.week),
      month: shown(spend.month),
      lifetime: shown(spend.lifetime),
    },
    burn: { amount: burnLimit?.amount ?? '', minutes: shown(burnLimit?.minutes ?? null) },
    pace: {
      requestsPerMinute: shown(pace.requestsPerMinute),
      tokensPerMinute: shown(pace.tokensPerMinute),
      maxConcurrent: shown(pace.maxConcurrent),
    },
    addresses: addresses.join('\n'),
  };
}

/** The limits that are set, each as a few words; none, an empty list. */
export function useLimitLines(): (limits: Limits) => string[] {
  const { format } = useLanguage();
  const texts = useLimitTexts();
  return ({ spend, burnLimit, addresses, ...pace }) => [
    ...periods.flatMap((period) => {
      const limit = spend[period];
      return limit === null ? [] : [fill(texts.of[period], { usd: format.usd(limit) })];
    }),
    ...(burnLimit === null
      ? []
      : [fill(texts.burnOf, { usd: format.usd(burnLimit.amount), n: format.number(burnLimit.minutes) })]),
    ...paces.flatMap((each) => {
      const limit = pace[each];
      return limit === null ? [] : [fill(texts.paceOf[each], { n: format.number(limit) })];
    }),
    ...addresses,
  ];
}

export const noLimits: Limits = {
  spend: { day: null, week: null, month: null, lifetime: null },
  burnLimit: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  maxConcurrent: null,
  addresses: [],
};

const isWhole = (text: string): boolean => text.trim() === '' || /^[1-9]\d{0,9}$/.test(text.trim());
const isAmount = (text: string): boolean => text.trim() === '' || isUsd(text);

/** The limits of a draft; null: something in it is not usable. */
export function typedLimits({ spend, burn, pace, addresses }: LimitDraft): Limits | null {
  const isUsable =
    Object.values(spend).every(isAmount) &&
    Object.values(pace).every(isWhole) &&
    (burn === null || (isAmount(burn.amount) && isWhole(burn.minutes) && areTogether(burn)));
  if (!isUsable) return null;
  const amount = (text: string) => (text.trim() === '' ? null : text.trim());
  const whole = (text: string) => (text.trim() === '' ? null : Number(text));
  const minutes = whole(burn?.minutes ?? '');
  return {
    spend: {
      day: amount(spend.day),
      week: amount(spend.week),
      month: amount(spend.month),
      lifetime: amount(spend.lifetime),
    },
    burnLimit: burn === null || minutes === null ? null : { amount: burn.amount.trim(), minutes },
    requestsPerMinute: whole(pace.requestsPerMinute),
    tokensPerMinute: whole(pace.tokensPerMinute),
    maxConcurrent: whole(pace.maxConcurrent),
    addresses: addresses.split(/[\s,]+/).filter((line) => line !== ''),
  };
}

const areTogether = ({ amount, minutes }: { amount: string; minutes: string }): boolean =>
  (amount.trim() === '') === (minutes.trim() === '');

export function LimitFields({
  draft,
  onChange,
  fields,
  disabled = false,
}: {
  draft: LimitDraft;
  onChange: (draft: LimitDraft) => void;
  /** The server's problems by input. */
  fields: InputProblems<(typeof LIMIT_INPUTS)[number]>;
  disabled?: boolean;
}) {
  const { t, format } = useLanguage();
  const texts = useLimitTexts();
  const lines = useLimitLines();
  const { burn } = draft;
  const typed = typedLimits(draft);
  const more = typed === null ? null : lines({ ...typed, spend: noLimits.spend });
  const wholeProblem = (text: string, problem?: string) => (isWhole(text) ? problem : texts.whole);
  return (
    <>
      <fieldset className="group">
        <legend>{t.keys.limits}</legend>
        <p className="hint">{texts.spendHint}</p>
        <div className="fields">
          {periods.map((period) => (
            <TextField
              key={period}
              label={texts.periods[period]}
              inputMode="decimal"
              placeholder={t.keys.noLimit}
              disabled={disabled}
              hint={draft.spend[period].trim() === '' ? undefined : <AboutVnd usd={draft.spend[period]} />}
              value={draft.spend[period]}
              onChange={(value) => onChange({ ...draft, spend: { ...draft.spend, [period]: value } })}
              error={isAmount(draft.spend[period]) ? undefined : t.problems.usd}
            />
          ))}
        </div>
      </fieldset>
      <Fold inForm title={texts.more} state={more === null || more.length === 0 ? t.notices.unset : format.list(more)}>
        {burn === null ? null : (
          <fieldset className="group">
            <legend>{texts.burn}</legend>
            <p className="hint">{texts.burnHint}</p>
            <div className="fields">
              <TextField
                label={texts.burnAmount}
                inputMode="decimal"
                placeholder={t.keys.noLimit}
                hint={burn.amount.trim() === '' ? undefined : <AboutVnd usd={burn.amount} />}
                value={burn.amount}
                onChange={(amount) => onChange({ ...draft, burn: { ...burn, amount } })}
                error={isAmount(burn.amount) ? fields['burnLimit'] : t.problems.usd}
              />
              <TextField
                label={texts.burnMinutes}
                inputMode="numeric"
                value={burn.minutes}
                onChange={(minutes) => onChange({ ...draft, burn: { ...burn, minutes } })}
                error={areTogether(burn) ? wholeProblem(burn.minutes) : texts.both}
              />
            </div>
          </fieldset>
        )}
        <fieldset className="group">
          <legend>{texts.pace}</legend>
          <p className="hint">{texts.paceHint}</p>
          <div className="fields">
            {paces.map((pace) => (
              <TextField
                key={pace}
                label={texts[pace]}
                inputMode="numeric"
                disabled={disabled}
                value={draft.pace[pace]}
                onChange={(value) => onChange({ ...draft, pace: { ...draft.pace, [pace]: value } })}
                error={wholeProblem(draft.pace[pace], fields[pace])}
              />
            ))}
          </div>
        </fieldset>
        <TextArea
          label={texts.addresses}
          hint={texts.addressesHint}
          rows={2}
          disabled={disabled}
          value={draft.addresses}
          onChange={(addresses) => onChange({ ...draft, addresses })}
          error={fields['addresses']}
        />
      </Fold>
    </>
  );
}
