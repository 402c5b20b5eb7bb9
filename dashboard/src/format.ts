/** Formats of figures, dates and masked secrets in each language. Pure: the same input gives the same text anywhere. */

export type Locale = 'en' | 'vi';

export interface Format {
  /** An amount for people: two decimals, and below one as many as make three digits. */
  usd(amount: string): string;
  /** An amount on a tile: two decimals, and `<$0.01` for what is not zero but below one cent. */
  usdTile(amount: string): string;
  /** An amount to its last digit. */
  usdExact(amount: string): string;
  /** Whole VND. */
  vnd(amount: string): string;
  number(value: number | bigint | string): string;
  /** A large number in few characters, e.g. on the axis of a chart. */
  compact(value: number): string;
  percent(ratio: number, decimals?: number): string;
  date(moment: string | Date): string;
  dateTime(moment: string | Date): string;
  /** For recent events: the year is shown only where it is not this one. */
  moment(moment: string | Date, now?: Date): string;
  /** To the second. */
  time(moment: string | Date): string;
  /** A day on the axis of a chart. */
  day(moment: string | Date): string;
  month(moment: string | Date): string;
  /** The start of a bar of a chart, as exactly as its period asks for. */
  start(moment: Date, period: 'HOUR' | 'DAY' | 'MONTH'): string;
  /** A month of the calendar, as `2026-11`. */
  monthOf(month: string): string;
  /** A day of the calendar, as `2026-11-21`. */
  dayOf(day: string): string;
  /** How long ago or how far ahead, in the largest unit that fits. */
  relative(moment: string | Date, now: Date): string;
  /**
   * How long ago an event happened. A server's clock may be ahead of the reader's: past events are never shown as
   * future.
   */
  ago(moment: string | Date, now: Date): string;
  milliseconds(value: number): string;
  list(items: readonly string[]): string;
}

const tags: Record<Locale, string> = { en: 'en-US', vi: 'vi-VN' };

const spans: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

/** `timeZone` is the reader's unless a test says otherwise. */
export function createFormat(locale: Locale, timeZone?: string): Format {
  const tag = tags[locale];
  const zone = timeZone === undefined ? {} : { timeZone };
  const numbers = (options: Intl.NumberFormatOptions) => {
    const format = new Intl.NumberFormat(tag, options);
    // Strings are formatted without a float; the types accept only literal ones.
    return (value: number | bigint | string) => format.format(value as number);
  };
  const dates = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(tag, { ...zone, ...options });
    return (moment: string | Date) => format.format(new Date(moment));
  };
  // Vietnamese readers write "5 USD"; the default sign of their locale, "US$", is hardly used there.
  const usd = {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: locale === 'vi' ? 'code' : 'symbol',
  } as const;
  const plainUsd = numbers({ ...usd, minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const tenthsUsd = numbers({ ...usd, minimumFractionDigits: 2, maximumFractionDigits: 3 });
  const centsUsd = numbers({ ...usd, minimumFractionDigits: 2, maximumFractionDigits: 4 });
  const smallUsd = numbers({ ...usd, maximumSignificantDigits: 3 });
  const day: Intl.DateTimeFormatOptions = { day: 'numeric', month: locale === 'vi' ? 'numeric' : 'short' };
  // dd/mm/yyyy, as Vietnamese forms have it.
  const fullDay: Intl.DateTimeFormatOptions = {
    ...(locale === 'vi' ? { day: '2-digit', month: '2-digit' } : day),
    year: 'numeric',
  };
  const clock: Intl.DateTimeFormatOptions = { hour: locale === 'vi' ? '2-digit' : 'numeric', minute: '2-digit' };
  const date = dates(fullDay);
  const month = dates({ month: 'long', year: 'numeric' });
  const dateTime = dates({ ...fullDay, ...clock });
  // Rows of lists are seconds apart.
  const exact: Intl.DateTimeFormatOptions = { ...clock, second: '2-digit' };
  const lately = dates({ ...day, ...exact });
  const longAgo = dates({ ...fullDay, ...exact });
  // Months and days of the calendar are the same in every zone.
  const calendarMonth = new Intl.DateTimeFormat(tag, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const calendarDate = new Intl.DateTimeFormat(tag, { ...fullDay, timeZone: 'UTC' });
  const inWords = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' });
  const inNumbers = new Intl.RelativeTimeFormat(tag, { numeric: 'always' });
  const calendarDay = new Intl.DateTimeFormat('en-CA', { ...zone, year: 'numeric', month: '2-digit', day: '2-digit' });
  const dayNumber = (moment: Date) => Date.parse(calendarDay.format(moment)) / 86_400_000;
  const seconds = numbers({ maximumFractionDigits: 1 });
  const whole = numbers({ maximumFractionDigits: 0 });
  const lists = new Intl.ListFormat(tag);

  const relative = (moment: string | Date, now: Date): string => {
    const ms = new Date(moment).getTime() - now.getTime();
    const [unit, length] = spans.find(([, span]) => Math.abs(ms) >= span) ?? ['second', 1_000];
    // "Tomorrow" is a calendar day, not a period of 24 hours; neither is "last month".
    const count = unit === 'day' ? dayNumber(new Date(moment)) - dayNumber(now) : Math.trunc(ms / length);
    const words = unit === 'month' || unit === 'year' ? inNumbers : inWords;
    // "Hôm qua" is capital even in the middle of a sentence.
    return words.format(count, unit).toLocaleLowerCase(tag);
  };

  return {
    usd(amount) {
      const size = Math.abs(Number(amount));
      if (size === 0 || size >= 1) return plainUsd(amount);
      if (size >= 0.1) return tenthsUsd(amount);
      return size >= 0.01 ? centsUsd(amount) : smallUsd(amount);
    },
    usdTile(amount) {
      const size = Math.abs(Number(amount));
      if (size === 0 || size >= 0.01) return plainUsd(amount);
      return Number(amount) < 0 ? `>${plainUsd('-0.01')}` : `<${plainUsd('0.01')}`;
    },
    usdExact: numbers({ ...usd, minimumFractionDigits: 2, maximumFractionDigits: 12 }),
    vnd: numbers({ style: 'currency', currency: 'VND', maximumFractionDigits: 0 }),
    number: numbers({ maximumFractionDigits: 2 }),
    compact: numbers({ notation: 'compact', maximumFractionDigits: 1 }),
    percent: (ratio, decimals = 1) =>
      new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: decimals }).format(ratio),
    date,
    dateTime,
    moment: (moment, now = new Date()) =>
      // A line may break before the time, within neither it nor the day.
      (new Date(moment).getFullYear() === now.getFullYear() ? lately(moment) : longAgo(moment)).replaceAll(
        / (?=[AP]M$|\d+,)/g,
        '\u00a0',
      ),
    time: dates({ timeStyle: 'medium' }),
    day: dates(day),
    month,
    start: (moment, period) => (period === 'HOUR' ? dateTime : period === 'DAY' ? dates(day) : month)(moment),
    monthOf: (text) =>
      // As Vietnamese forms have it; the locale's own form is `tháng 11, 2026`.
      locale === 'vi'
        ? `Tháng ${Number(text.slice(5))}/${text.slice(0, 4)}`
        : calendarMonth.format(new Date(`${text}-01T00:00:00Z`)),
    dayOf: (text) => calendarDate.format(new Date(`${text}T00:00:00Z`)),
    relative,
    ago: (moment, now) => relative(new Date(Math.min(new Date(moment).getTime(), now.getTime())), now),
    milliseconds: (value) => (value >= 10_000 ? `${seconds(value / 1_000)} s` : `${whole(value)} ms`),
    list: (items) => lists.format(items),
  };
}

/** A secret by its last characters. The word joiner keeps a line from breaking after the ellipsis. */
export function masked(last4: string, prefix = ''): string {
  return `${prefix}…\u2060${last4}`;
}
