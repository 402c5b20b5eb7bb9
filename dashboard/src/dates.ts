import type { Locale } from './format.ts';

/**
 * Dates as people type them, in the language of the page: the browser's own fields speak the browser's language.
 * Values are local times in the format of HTML's fields, `2026-11-23` or `2026-11-23T14:30`.
 */

const tags: Record<Locale, string> = { en: 'en-US', vi: 'vi-VN' };
const two = (n: number) => String(n).padStart(2, '0');

const monthNames = Array.from({ length: 12 }, (_, month) =>
  new Date(2026, month, 1).toLocaleDateString('en-US', { month: 'long' }).toLowerCase(),
);

/** The value of a local day. */
export function dayValue(day: Date): string {
  return `${String(day.getFullYear()).padStart(4, '0')}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** The local moment of a value, or null for an empty one. */
export function dateOf(value: string): Date | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}))?$/.exec(value);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = match.slice(1).map((part) => Number(part ?? 0));
  return new Date(year, month - 1, day, hour, minute);
}

/** A value as the page writes it: `23/11/2026 14:30` in Vietnamese, `Nov 23, 2026, 2:30 PM` in English. */
export function printDate(value: string, locale: Locale, withTime: boolean): string {
  const date = dateOf(value);
  if (date === null) return '';
  const day =
    locale === 'vi'
      ? `${two(date.getDate())}/${two(date.getMonth() + 1)}/${date.getFullYear()}`
      : date.toLocaleDateString(tags.en, { month: 'short', day: 'numeric', year: 'numeric' });
  if (!withTime) return day;
  // Some versions of ICU put a narrow space before AM and PM, which nobody types.
  const time =
    locale === 'vi'
      ? `${two(date.getHours())}:${two(date.getMinutes())}`
      : date.toLocaleTimeString(tags.en, { hour: 'numeric', minute: '2-digit' }).replaceAll(/\s/g, ' ');
  return locale === 'vi' ? `${day} ${time}` : `${day}, ${time}`;
}

/**
 * Reads what a person typed: the page's own format, ISO 8601, day and month in the order of the language, and English
 * names of months. Null for anything else, also for days that no calendar has.
 */
export function readDate(text: string, locale: Locale, withTime: boolean): string | null {
  const [, dayText = '', timeText = ''] =
    /^(.*?\d{4}(?:-\d{1,2}-\d{1,2})?)(?:[T,\s]+(\d.*))?$/i.exec(text.trim().replaceAll(/\s+/g, ' ')) ?? [];
  const parts = readDay(dayText, locale);
  if (parts === null) return null;
  const [year, month, day] = parts;
  const date = new Date(year, month - 1, day);
  if (date.getFullYear() !== year || date.getMonth() !== month - 1 || date.getDate() !== day) return null;
  if (!withTime) return timeText === '' ? dayValue(date) : null;
  const time = timeText === '' ? '00:00' : readTime(timeText);
  return time === null ? null : `${dayValue(date)}T${time}`;
}

function readDay(text: string, locale: Locale): [year: number, month: number, day: number] | null {
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text);
  if (iso !== null) return [Number(iso[1]), Number(iso[2]), Number(iso[3])];
  const plain = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})$/.exec(text);
  if (plain !== null) {
    const [first, second] = [Number(plain[1]), Number(plain[2])];
    return locale === 'vi' ? [Number(plain[3]), second, first] : [Number(plain[3]), first, second];
  }
  const named =
    /^(?<name>[a-z]{3,9})\.? (?<day>\d{1,2}),? (?<year>\d{4})$/i.exec(text) ??
    /^(?<day>\d{1,2}) (?<name>[a-z]{3,9})\.?,? (?<year>\d{4})$/i.exec(text);
  const { name = '', day, year } = named?.groups ?? {};
  const month = monthNames.findIndex((each) => name !== '' && each.startsWith(name.toLowerCase()));
  return month < 0 ? null : [Number(year), month + 1, Number(day)];
}

function readTime(text: string): string | null {
  const match = /^(\d{1,2})(?::(\d{2}))?(?::\d{2})? ?(am|pm|sa|ch)?$/i.exec(text);
  if (match === null || (match[2] === undefined && match[3] === undefined)) return null;
  const [minute, half] = [Number(match[2] ?? 0), match[3]?.toLowerCase()];
  let hour = Number(match[1]);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + (half === 'pm' || half === 'ch' ? 12 : 0);
  }
  return hour > 23 || minute > 59 ? null : `${two(hour)}:${two(minute)}`;
}

/** The weeks that show a month, each of seven days. Weeks begin on Monday in Vietnam, on Sunday in English. */
export function weeksOf(month: Date, locale: Locale): Date[][] {
  const first = new Date(month.getFullYear(), month.getMonth(), 1);
  const lead = locale === 'vi' ? (first.getDay() + 6) % 7 : first.getDay();
  const length = new Date(month.getFullYear(), month.getMonth() + 1, 0).getDate();
  return Array.from({ length: Math.ceil((lead + length) / 7) }, (_, week) =>
    Array.from({ length: 7 }, (__, day) => new Date(first.getFullYear(), first.getMonth(), 1 - lead + week * 7 + day)),
  );
}

/** Names for a calendar in a language. */
export function calendarNames(locale: Locale) {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const { format: print } = new Intl.DateTimeFormat(tags[locale], options);
    return (day: Date) => print(day);
  };
  return {
    month: format({ month: 'long', year: 'numeric' }),
    weekday: format({ weekday: 'short' }),
    day: format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
  };
}
