/** Prices by the clock as people read them: days and hours of the week. */

import type { Locale } from './format.ts';

export const daysOfWeek = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;
export type DayOfWeek = (typeof daysOfWeek)[number];

/** `Mon–Fri 09:00–12:00, 14:00–18:00 (Asia/Shanghai)`. */
export function hoursText(
  { weekdays, hours }: { weekdays: readonly string[]; hours: readonly string[] },
  timeZone: string,
  locale: Locale,
): string {
  const periods = hours.map((period) => period.replace('-', '–')).join(', ');
  return `${daysText(weekdays, locale)} ${periods} (${timeZone})`;
}

/** Three and more days in a row are a range. */
function daysText(days: readonly string[], locale: Locale): string {
  const places = daysOfWeek.flatMap((day, place) => (days.includes(day) ? [place] : []));
  const runs: [number, number][] = [];
  for (const place of places) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === place - 1) last[1] = place;
    else runs.push([place, place]);
  }
  const texts = runs.flatMap(([first, last]) => {
    if (last - first > 1) return [`${dayName(first, locale)}–${dayName(last, locale)}`];
    return last === first ? [dayName(first, locale)] : [dayName(first, locale), dayName(last, locale)];
  });
  return texts.join(', ');
}

/** The short name of a day of the week; 0: Monday. */
export function dayName(place: number, locale: Locale): string {
  // 5 January 2026 is a Monday.
  return new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2026, 0, 5 + place));
}

/** Periods of the day as typed, `09:00-12:00, 14:00-18:00`; null: one of them is none. */
export function parseHours(text: string): string[] | null {
  const periods = text.split(/[\s,;]+/).filter((part) => part !== '');
  const isPeriod = (part: string) => /^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(part);
  return periods.length > 0 && periods.every(isPeriod) ? periods : null;
}

/** Dates as typed, `2027-01-01 2027-02-06`; null: one of them is none. */
export function parseDates(text: string): string[] | null {
  const dates = text.split(/[\s,;]+/).filter((part) => part !== '');
  const isDate = (part: string) => /^\d{4}-\d{2}-\d{2}$/.test(part) && !Number.isNaN(Date.parse(`${part}T00:00:00Z`));
  return dates.every(isDate) ? dates : null;
}

/** Whether this browser knows the time zone; the server asks again. */
export function isKnownZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
