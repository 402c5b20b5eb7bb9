import { zoneKey } from './local-time.ts';
import {
  type ClockChoice,
  type ClockedPrices,
  type FrozenPrice,
  fromStoredTiers,
  type PriceClock,
  type PriceTier,
  type PriceWindow,
  type StoredTier,
  type TieredPrices,
  toStoredTiers,
  type UnitPrices,
  type VersionPrice,
  type Weekday,
  weekdays,
} from './price.ts';

/** Chooses the set of prices that a clock with windows of the week has at a moment. */

const minutesADay = 1_440;
const minuteMs = 60_000;

/** A period of the day in minutes since midnight; `to` is excluded. Not after `from`: it ends on the next day. */
interface Period {
  from: number;
  to: number;
  text: string;
}

/** Reads `HH:MM-HH:MM`, to `24:00` at the latest. Null for everything else, and for a period of no length. */
export function parsePeriod(text: string): Period | null {
  const match = /^([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|(24):(00))$/.exec(text);
  if (match === null) return null;
  const from = Number(match[1]) * 60 + Number(match[2]);
  const to = Number(match[3] ?? match[5]) * 60 + Number(match[4] ?? match[6]);
  return from === to ? null : { from, to, text };
}

/** Whether this runtime knows the time zone by its IANA name. */
export function isTimeZone(name: string): boolean {
  // Offsets such as `+07:00` are taken by newer runtimes alone, and no vendor names its hours so.
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/.test(name) || name.length > 64) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The wall clock of a time zone. */
interface LocalTime {
  /** 0: Monday. */
  day: number;
  /** `YYYY-MM-DD`. */
  date: string;
  /** Since midnight. */
  minute: number;
}

const formats = new Map<string, { format: Intl.DateTimeFormat; minute: number; local: LocalTime }>();

/** The time zone's clock, which shows the same from one whole minute to the next. */
function localTime(timeZone: string, atMs: number): LocalTime {
  const minute = Math.floor(atMs / minuteMs);
  const key = zoneKey(timeZone);
  const known = formats.get(key);
  if (known?.minute === minute) return known.local;
  const format =
    known?.format ??
    new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  const parts = Object.fromEntries(format.formatToParts(minute * minuteMs).map(({ type, value }) => [type, value]));
  const date = `${parts['year']}-${parts['month']}-${parts['day']}`;
  const local = { day: dayOf(date), date, minute: Number(parts['hour']) * 60 + Number(parts['minute']) };
  formats.set(key, { format, minute, local });
  return local;
}

function dayOf(date: string): number {
  return (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7;
}

function dayBefore(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) - minutesADay * minuteMs).toISOString().slice(0, 10);
}

/** The window that counts at a moment, and its period of the day; null: the prices outside of all windows. */
export function windowAt(clock: PriceClock, atMs: number): { window: PriceWindow; period: string } | null {
  const now = localTime(clock.timeZone, atMs);
  const yesterday = dayBefore(now.date);
  const counts = (window: PriceWindow, date: string) =>
    window.days.includes(weekdays[dayOf(date)] as Weekday) && !clock.exceptDates.includes(date);
  for (const window of clock.windows) {
    for (const period of periodsOf(window)) {
      const isOvernight = period.to <= period.from;
      const fromToday =
        now.minute >= period.from && (isOvernight || now.minute < period.to) && counts(window, now.date);
      const fromYesterday = isOvernight && now.minute < period.to && counts(window, yesterday);
      if (fromToday || fromYesterday) return { window, period: period.text };
    }
  }
  return null;
}

const parsed = new WeakMap<PriceWindow, readonly Period[]>();

function periodsOf(window: PriceWindow): readonly Period[] {
  let periods = parsed.get(window);
  if (periods === undefined) {
    periods = window.hours.map(parsePeriod).filter((period) => period !== null);
    parsed.set(window, periods);
  }
  return periods;
}

/** Whether two periods of a clock share a minute of the week: which set of prices counts would be a matter of order. */
export function haveOverlap(windows: readonly Pick<PriceWindow, 'days' | 'hours'>[]): boolean {
  const spans = windows.flatMap(({ days, hours }) =>
    days.flatMap((day) =>
      hours.flatMap((text) => {
        const period = parsePeriod(text);
        if (period === null) return [];
        const start = weekdays.indexOf(day) * minutesADay + period.from;
        const length = (period.to - period.from + minutesADay) % minutesADay || minutesADay;
        return [{ start, end: start + length }];
      }),
    ),
  );
  const week = 7 * minutesADay;
  // A period of Sunday night reaches into the first minutes of the week.
  const unrolled = spans.flatMap(({ start, end }) =>
    end > week
      ? [
          { start, end: week },
          { start: 0, end: end - week },
        ]
      : [{ start, end }],
  );
  unrolled.sort((a, b) => a.start - b.start);
  return unrolled.some(({ start }, index) => index > 0 && start < (unrolled[index - 1]?.end ?? 0));
}

/** The prices at a moment, with their tiers by prompt length. */
export function pricesAtMoment(price: ClockedPrices, atMs: number): TieredPrices {
  const { clock, ...ordinary } = price;
  return clock === undefined ? ordinary : withWindow(ordinary, windowAt(clock, atMs)?.window ?? null);
}

/** Every set of prices that a moment can choose: the one outside of all windows first. */
export function pricesOfAllHours(price: ClockedPrices): TieredPrices[] {
  // Not copied where there is no clock: escrows ask for every request.
  if (price.clock === undefined) return [price as TieredPrices];
  const { clock, ...ordinary } = price;
  return [ordinary, ...clock.windows.map((window) => withWindow(ordinary, window))];
}

/**
 * The price of a request that is admitted at this moment. It stays the request's price, whatever the clock shows at its
 * end: a customer is charged what the clock showed when the request was accepted.
 */
export function frozenAt(price: VersionPrice, atMs: number): FrozenPrice {
  if (price.clock === undefined) return price as FrozenPrice;
  const { clock, ...ordinary } = price;
  const found = windowAt(clock, atMs);
  const window = found === null ? null : { days: found.window.days, period: found.period, timeZone: clock.timeZone };
  return { ...withWindow(ordinary, found?.window ?? null), id: price.id, byClock: { at: atMs, window } };
}

/** What is charged by the piece, and the longest prompt that has a price, do not depend on the clock. */
function withWindow<Ordinary extends TieredPrices>(ordinary: Ordinary, window: PriceWindow | null): Ordinary {
  if (window === null) return ordinary;
  const { tiers: _ordinaryTiers, ...others } = ordinary;
  const { input, cacheHit, cacheWrite5m, cacheWrite1h, output, tiers } = window;
  const prices = { input, cacheHit, cacheWrite5m, cacheWrite1h, output };
  return { ...others, ...prices, ...(tiers.length === 0 ? {} : { tiers }) } as Ordinary;
}

/** A window as ledger entries store it: `mon,tue,wed,thu,fri 09:00-12:00 Asia/Shanghai`. */
export function windowText({ days, period, timeZone }: NonNullable<ClockChoice['window']>): string {
  return `${days.join(',')} ${period} ${timeZone}`;
}

/** Reads the text of a stored window. Throws a `TypeError` for anything else. */
export function parseWindowText(text: string): NonNullable<ClockChoice['window']> {
  const [days = '', period = '', timeZone = '', ...rest] = text.split(' ');
  const known = days.split(',').map((day) => weekdays.find((each) => each === day));
  if (rest.length > 0 || timeZone === '' || parsePeriod(period) === null || known.includes(undefined))
    throw new TypeError('not a window of a price');
  return { days: known as Weekday[], period, timeZone };
}

/** A clock as the database stores it: prices as whole pico-USD per token. */
export interface StoredClock {
  timeZone: string;
  exceptDates: string[];
  windows: (Record<keyof UnitPrices, number> & { days: Weekday[]; hours: string[]; tiers: StoredTier[] })[];
}

export function toStoredClock({ timeZone, exceptDates, windows }: PriceClock): StoredClock {
  return {
    timeZone,
    exceptDates: [...exceptDates],
    windows: windows.map(({ days, hours, tiers, ...prices }) => ({
      days: [...days],
      hours: [...hours],
      ...storedPrices(prices),
      tiers: toStoredTiers(tiers),
    })),
  };
}

/** Throws for what no version of the server has written. */
export function fromStoredClock({ timeZone, exceptDates, windows }: StoredClock): PriceClock {
  return {
    timeZone,
    exceptDates,
    windows: windows.map(({ days, hours, tiers, ...prices }) => ({
      days,
      hours,
      input: BigInt(prices.input),
      cacheHit: BigInt(prices.cacheHit),
      cacheWrite5m: BigInt(prices.cacheWrite5m),
      cacheWrite1h: BigInt(prices.cacheWrite1h),
      output: BigInt(prices.output),
      tiers: fromStoredTiers(tiers),
    })),
  };
}

function storedPrices(prices: UnitPrices): Record<keyof UnitPrices, number> {
  const { input, cacheHit, cacheWrite5m, cacheWrite1h, output } = prices;
  return {
    input: Number(input),
    cacheHit: Number(cacheHit),
    cacheWrite5m: Number(cacheWrite5m),
    cacheWrite1h: Number(cacheWrite1h),
    output: Number(output),
  };
}

/** The bounds of a tier set: those of a window have to be those of the ordinary prices. */
export function sameBounds(a: readonly PriceTier[], b: readonly PriceTier[]): boolean {
  return a.length === b.length && a.every((tier, index) => tier.abovePromptTokens === b[index]?.abovePromptTokens);
}
