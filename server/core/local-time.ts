/** Days, weeks and months of a time zone. */

/**
 * The key of a time zone in caches: the same for each spelling of its IANA name, which is compared without regard to
 * upper and lower case. It bounds a cache by the list of zones.
 */
export function zoneKey(timeZone: string): string {
  return timeZone.toLowerCase();
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The moment (milliseconds) at which the next day, week (from Monday) or month begins in a time zone. */
export function nextStart(period: 'day' | 'week' | 'month', nowMs: number, timeZone: string): number {
  const local = new Date(localMs(nowMs, timeZone));
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  // Sunday is 0: the next Monday is 1 to 7 days away.
  const daysToMonday = (8 - local.getUTCDay()) % 7 || 7;
  const next = {
    day: () => Date.UTC(year, month, day + 1),
    week: () => Date.UTC(year, month, day + daysToMonday),
    month: () => Date.UTC(year, month + 1, 1),
  }[period]();
  // The offset at that midnight may differ from that of its first guess by a change of summer time.
  const guess = next - (localMs(next, timeZone) - next);
  return next - (localMs(guess, timeZone) - guess);
}

/** The first day of the day, week (from Monday) or month that runs in a time zone, e.g. `2026-11-23`. */
export function firstDayOf(period: 'day' | 'week' | 'month', nowMs: number, timeZone: string): string {
  const local = new Date(localMs(nowMs, timeZone));
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  // Sunday is 0: the last Monday is 0 to 6 days ago.
  const daysSinceMonday = (local.getUTCDay() + 6) % 7;
  const first = {
    day: () => Date.UTC(year, month, day),
    week: () => Date.UTC(year, month, day - daysSinceMonday),
    month: () => Date.UTC(year, month, 1),
  }[period]();
  return new Date(first).toISOString().slice(0, 10);
}

/** What a clock on the wall shows, as milliseconds of a moment in UTC that shows the same. */
function localMs(ms: number, timeZone: string): number {
  const key = zoneKey(timeZone);
  let format = formats.get(key);
  if (format === undefined) {
    const numeric = 'numeric';
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
    formats.set(key, format);
  }
  const shown = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
