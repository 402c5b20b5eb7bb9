import { type DayOfWeek, daysOfWeek, isKnownZone, parseDates, parseHours } from './hours.ts';
import { isUsd } from './money.ts';
import type { AllPrices, ClockPrices, TierPrices } from './preview.ts';

/** Sets of prices and prices by the clock as typed, and what they come to. */

/** One set of prices as typed; empty cache writes cost the same as new context. */
export interface SetDraft {
  input: string;
  cacheHit: string;
  output: string;
  cacheWrite5m: string;
  cacheWrite1h: string;
}

export const emptySet: SetDraft = { input: '', cacheHit: '', output: '', cacheWrite5m: '', cacheWrite1h: '' };

export const kinds = ['input', 'cacheHit', 'output', 'cacheWrite5m', 'cacheWrite1h'] as const;
export const optional: ReadonlySet<string> = new Set(['cacheWrite5m', 'cacheWrite1h']);

export function draftOfSet({ input, cacheHit, output, cacheWrite5m, cacheWrite1h }: AllPrices): SetDraft {
  // A cache write that costs what new context does follows it when that changes.
  const own = (price: string | null) => (price === null || price === input ? '' : price);
  return { input, cacheHit, output, cacheWrite5m: own(cacheWrite5m), cacheWrite1h: own(cacheWrite1h) };
}

/** The prices of a set; null while one of them is invalid. */
export function setOf(draft: SetDraft): AllPrices | null {
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

/** Prices for hours of the week as typed. */
export interface WindowDraft extends SetDraft {
  weekdays: readonly DayOfWeek[];
  hours: string;
  /** A set for each of the draft's tiers, at the same lengths. */
  tiers: readonly SetDraft[];
}

export interface ClockDraft {
  timeZone: string;
  exceptDates: string;
  /** Empty: the same prices at every hour. */
  windows: readonly WindowDraft[];
}

/** The clock of a draft. */
export interface DraftedClock extends ClockPrices {
  exceptDates: string[];
  windows: (AllPrices & { weekdays: DayOfWeek[]; hours: string[]; tiers: TierPrices[] })[];
}

export const noClock: ClockDraft = { timeZone: '', exceptDates: '', windows: [] };

/** The sets of a window's tiers are in the order of the prices' own, which have the same lengths. */
export function draftOfClock(clock: ClockPrices | null): ClockDraft {
  if (clock === null) return noClock;
  return {
    timeZone: clock.timeZone,
    exceptDates: (clock.exceptDates ?? []).join(' '),
    windows: clock.windows.map((window) => ({
      ...draftOfSet(window),
      weekdays: daysOfWeek.filter((day) => window.weekdays.includes(day)),
      hours: window.hours.join(', '),
      tiers: (window.tiers ?? []).map(draftOfSet),
    })),
  };
}

/** The clock of a draft; null: none, undefined: it is invalid. */
export function clockOf(
  { timeZone, exceptDates, windows }: ClockDraft,
  tiers: readonly TierPrices[],
): DraftedClock | null | undefined {
  if (windows.length === 0) return null;
  const dates = parseDates(exceptDates);
  if (dates === null || !isKnownZone(timeZone.trim())) return undefined;
  const drafted: DraftedClock['windows'] = [];
  for (const window of windows) {
    const [set, hours] = [setOf(window), parseHours(window.hours)];
    const sets = tiers.flatMap(({ abovePromptTokens }, index) => {
      const tier = setOf(window.tiers[index] ?? emptySet);
      return tier === null ? [] : [{ ...tier, abovePromptTokens }];
    });
    if (set === null || hours === null || window.weekdays.length === 0 || sets.length < tiers.length) return undefined;
    drafted.push({ ...set, weekdays: [...window.weekdays], hours, tiers: sets });
  }
  return { timeZone: timeZone.trim(), exceptDates: dates, windows: drafted };
}
