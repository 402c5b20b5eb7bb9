import { array, assert, constantFrom, integer, property, record, subarray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pricesInput } from '../../server/catalog/price.ts';
import {
  type FrozenPrice,
  type PriceClock,
  type PriceWindow,
  type VersionPrice,
  type Weekday,
  weekdays,
} from '../../server/core/price.ts';
import {
  frozenAt,
  haveOverlap,
  isTimeZone,
  parsePeriod,
  parseWindowText,
  pricesAtMoment,
  pricesOfAllHours,
  windowAt,
  windowText,
} from '../../server/core/price-clock.ts';

/** Prices by the clock: which set of prices a moment chooses. */

const five = (n: bigint) => ({ input: n, cacheHit: n - 1n, cacheWrite5m: n, cacheWrite1h: n, output: n * 5n });
const workdays: Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri'];
const window = (days: readonly Weekday[], hours: readonly string[], n = 20n): PriceWindow => ({
  days,
  hours,
  ...five(n),
  tiers: [],
});
const clockIn = (timeZone: string, windows: PriceWindow[], exceptDates: string[] = []): PriceClock => ({
  timeZone,
  exceptDates,
  windows,
});
const priced = (clock: PriceClock): VersionPrice => ({ id: 'price', ...five(10n), clock });
const isPeak = (clock: PriceClock, moment: string) => windowAt(clock, Date.parse(moment)) !== null;

/** DeepSeek's peak hours. */
const peak = clockIn('Asia/Shanghai', [window(workdays, ['09:00-12:00', '14:00-18:00'])], ['2026-10-01']);

describe('the window of a moment', () => {
  it('begins and ends with its minute: to the millisecond, in its own time zone', () => {
    for (const [moment, expected] of [
      ['2026-11-23T00:59:59.999Z', false],
      ['2026-11-23T01:00:00.000Z', true],
      ['2026-11-23T03:59:59.999Z', true],
      ['2026-11-23T04:00:00.000Z', false],
      ['2026-11-23T05:59:59.999Z', false],
      ['2026-11-23T06:00:00.000Z', true],
      ['2026-11-23T10:00:00.000Z', false],
      // Saturday and Sunday have none, and Monday begins in its own time zone.
      ['2026-11-28T01:00:00.000Z', false],
      ['2026-11-29T07:00:00.000Z', false],
      ['2026-11-30T01:00:00.000Z', true],
      // A Thursday that is a public holiday.
      ['2026-10-01T01:00:00.000Z', false],
      ['2026-10-02T01:00:00.000Z', true],
    ] as const)
      expect([moment, isPeak(peak, moment)]).toEqual([moment, expected]);
  });

  it('over midnight belongs to the day on which it begins, at the end of the week, too', () => {
    const night = clockIn('Asia/Ho_Chi_Minh', [window(['sun'], ['22:00-06:00'])], ['2026-11-29']);
    // Sunday 22 November 22:00 in Vietnam is 15:00 UTC; Monday 06:00 is 23:00 UTC on Sunday.
    expect(isPeak(night, '2026-11-22T14:59:59Z')).toBe(false);
    expect(isPeak(night, '2026-11-22T15:00:00Z')).toBe(true);
    expect(isPeak(night, '2026-11-22T17:00:00Z')).toBe(true);
    expect(isPeak(night, '2026-11-22T22:59:59Z')).toBe(true);
    expect(isPeak(night, '2026-11-22T23:00:00Z')).toBe(false);
    // The window of an excepted Sunday does not begin, so Monday morning has none of it either.
    expect(isPeak(night, '2026-11-29T15:00:00Z')).toBe(false);
    expect(isPeak(night, '2026-11-29T20:00:00Z')).toBe(false);
  });

  it('follows what clocks show where summer time begins and ends', () => {
    const morning = clockIn('Europe/Berlin', [window(weekdays, ['02:00-03:00'])]);
    // On 29 March 2026 clocks go from 02:00 to 03:00: that day has no such hour.
    expect(isPeak(morning, '2026-03-29T00:59:59Z')).toBe(false);
    expect(isPeak(morning, '2026-03-29T01:00:00Z')).toBe(false);
    // On 25 October 2026 they show the hour twice.
    expect(isPeak(morning, '2026-10-25T00:30:00Z')).toBe(true);
    expect(isPeak(morning, '2026-10-25T01:30:00Z')).toBe(true);
    expect(isPeak(morning, '2026-10-25T02:00:00Z')).toBe(false);
  });

  it('is the one that a count of minutes since a Monday finds, for every week and every boundary', () => {
    const zones = { UTC: 0, 'Asia/Shanghai': 480, 'Asia/Ho_Chi_Minh': 420, 'Asia/Kolkata': 330, 'Etc/GMT+12': -720 };
    const mondayMs = Date.parse('2026-01-05T00:00:00Z');
    const minuteOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));
    const boundary = (minute: number) =>
      `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
    const period = record({ from: integer({ min: 0, max: 1439 }), length: integer({ min: 1, max: 1439 }) }).map(
      ({ from, length }) => `${boundary(from)}-${boundary((from + length) % 1440)}`,
    );
    const anyWindow = record({
      days: subarray([...weekdays], { minLength: 1 }),
      hours: array(period, { minLength: 1, maxLength: 2 }),
    });
    assert(
      property(
        array(anyWindow, { minLength: 1, maxLength: 3 }),
        constantFrom(...(Object.keys(zones) as (keyof typeof zones)[])),
        integer({ min: 0, max: 20 }),
        integer({ min: 0, max: 1_000_000 }),
        constantFrom(-1, 0, 1, 30_000),
        (given, timeZone, week, pick, offMs) => {
          const windows = given.map(({ days, hours }, index) => window(days, hours, BigInt(20 + index)));
          if (haveOverlap(windows)) return;
          // A boundary of one of the periods, and moments just before and after it.
          const edges = windows.flatMap(({ days, hours }) =>
            days.flatMap((day) => hours.flatMap((text) => text.split('-').map((at) => [day, at] as const))),
          );
          const [day, at] = edges[pick % edges.length] ?? ['mon', '00:00'];
          const localMinute = (week * 7 + weekdays.indexOf(day)) * 1440 + minuteOf(at);
          const atMs = mondayMs + (localMinute - zones[timeZone]) * 60_000 + offMs;

          const minute = Math.floor((atMs - mondayMs) / 60_000) + zones[timeZone];
          const expected = windows.find(({ days, hours }) =>
            days.some((name) =>
              hours.some((text) => {
                const [from, to] = text.split('-').map(minuteOf) as [number, number];
                const length = to > from ? to - from : to + 1440 - from;
                const since = minute - (weekdays.indexOf(name) * 1440 + from);
                return ((since % 10_080) + 10_080) % 10_080 < length;
              }),
            ),
          );
          expect(windowAt(clockIn(timeZone, windows), atMs)?.window).toBe(expected);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('a price with windows', () => {
  it('is frozen with the set of its moment, which windows were there and what does not depend on the clock', () => {
    const price: VersionPrice = {
      ...priced(peak),
      perUnit: { search: 7n },
      maxPromptTokens: 5,
      tiers: [{ abovePromptTokens: 3, ...five(30n) }],
      clock: {
        ...peak,
        windows: [{ ...window(workdays, ['09:00-12:00']), tiers: [{ abovePromptTokens: 3, ...five(60n) }] }],
      },
    };
    const at = Date.parse('2026-11-23T01:00:00Z');
    expect(frozenAt(price, at)).toEqual({
      id: 'price',
      ...five(20n),
      tiers: [{ abovePromptTokens: 3, ...five(60n) }],
      perUnit: { search: 7n },
      maxPromptTokens: 5,
      byClock: { at, window: { days: workdays, period: '09:00-12:00', timeZone: 'Asia/Shanghai' } },
    } satisfies FrozenPrice);
    const { clock: _clock, ...ordinary } = price;
    expect(frozenAt(price, at - 1)).toEqual({ ...ordinary, byClock: { at: at - 1, window: null } });
    expect(frozenAt(ordinary, at)).toBe(ordinary);
  });

  it('has no tiers of the ordinary prices in a window that has none', () => {
    const price = { ...priced(peak), tiers: [{ abovePromptTokens: 3, ...five(30n) }] };
    expect(pricesAtMoment(price, Date.parse('2026-11-23T01:00:00Z')).tiers).toBeUndefined();
    expect(pricesOfAllHours(price)).toHaveLength(2);
  });
});

describe('texts of a clock', () => {
  it('are periods of the day, to midnight or beyond it', () => {
    expect(parsePeriod('09:00-12:00')).toMatchObject({ from: 540, to: 720 });
    expect(parsePeriod('00:00-24:00')).toMatchObject({ from: 0, to: 1440 });
    expect(parsePeriod('22:30-06:15')).toMatchObject({ from: 1350, to: 375 });
    for (const text of ['9:00-12:00', '09:00-09:00', '09:00-24:01', '25:00-26:00', '09:00–12:00', ''])
      expect(parsePeriod(text)).toBe(null);
  });

  it('are time zones that this runtime knows by name', () => {
    expect(
      ['Asia/Shanghai', 'UTC', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'].filter((name) => !isTimeZone(name)),
    ).toEqual([]);
    expect(['Asia/Atlantis', '+07:00', '', 'GMT 7', 'Asia/Shanghai;'].filter(isTimeZone)).toEqual([]);
  });

  it('are stored windows that read back as they were', () => {
    const shown = { days: workdays, period: '09:00-12:00', timeZone: 'Asia/Shanghai' };
    expect(windowText(shown)).toBe('mon,tue,wed,thu,fri 09:00-12:00 Asia/Shanghai');
    expect(parseWindowText(windowText(shown))).toEqual(shown);
    for (const text of ['', 'mon 09:00-12:00', 'moon 09:00-12:00 UTC', 'mon 09-12 UTC', 'mon 09:00-12:00 UTC x'])
      expect(() => parseWindowText(text)).toThrow(TypeError);
  });
});

describe('prices with windows that an operator writes', () => {
  const set = { input: '1', cacheHit: '0.1', output: '2' };
  const dear = { input: '2', cacheHit: '0.2', output: '4' };
  const tier = (above: number, prices = set) => ({ abovePromptTokens: above, ...prices });
  const problems = (clock: object, more: object = {}) => {
    const { error } = pricesInput.safeParse({ ...set, ...more, clock });
    return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
  };
  const one = { days: ['mon'], hours: ['09:00-12:00'], ...dear };

  it('are taken in any order and kept in that of the week; a cache write without a price costs as new context', () => {
    const { clock } = pricesInput.parse({
      ...set,
      clock: {
        timeZone: 'Asia/Shanghai',
        exceptDates: ['2027-01-01', '2026-10-01', '2027-01-01'],
        windows: [{ days: ['fri', 'mon'], hours: ['14:00-18:00', '09:00-12:00'], ...dear }],
      },
    });
    expect(clock).toEqual({
      timeZone: 'Asia/Shanghai',
      exceptDates: ['2026-10-01', '2027-01-01'],
      windows: [
        {
          days: ['mon', 'fri'],
          hours: ['09:00-12:00', '14:00-18:00'],
          input: 2_000_000n,
          cacheHit: 200_000n,
          cacheWrite5m: 2_000_000n,
          cacheWrite1h: 2_000_000n,
          output: 4_000_000n,
          tiers: [],
        },
      ],
    });
    expect(pricesInput.parse({ ...set, clock: null })).not.toHaveProperty('clock');
  });

  it('are refused where two windows claim the same minute, over midnight and the end of the week, too', () => {
    const message = 'clock.windows: must not have a minute of the week in common';
    const two = (a: object, b: object) => ({
      timeZone: 'UTC',
      windows: [
        { ...one, ...a },
        { ...one, ...b },
      ],
    });
    expect(problems(two({}, { hours: ['11:59-12:30'] }))).toEqual([message]);
    expect(problems(two({}, { hours: ['12:00-12:30'] }))).toEqual([]);
    expect(problems(two({ hours: ['23:00-01:00'] }, { days: ['tue'], hours: ['00:30-02:00'] }))).toEqual([message]);
    expect(problems(two({ days: ['sun'], hours: ['23:00-01:00'] }, { hours: ['00:59-02:00'] }))).toEqual([message]);
    expect(problems(two({ days: ['sun'], hours: ['23:00-01:00'] }, { hours: ['01:00-02:00'] }))).toEqual([]);
  });

  it('are refused where a window does not price every length that the others price', () => {
    const message = 'clock.windows: must each have tiers with the same abovePromptTokens as the prices outside of them';
    const clock = (more: object) => ({ timeZone: 'UTC', windows: [{ ...one, ...more }] });
    expect(problems(clock({}), { tiers: [tier(10)] })).toEqual([message]);
    expect(problems(clock({ tiers: [tier(11)] }), { tiers: [tier(10)] })).toEqual([message]);
    expect(problems(clock({ tiers: [tier(10)] }))).toEqual([message]);
    expect(problems(clock({ tiers: [tier(10)] }), { tiers: [tier(10)] })).toEqual([]);
  });

  it('are refused with what is wrong, each at its place', () => {
    expect(problems({ timeZone: 'Mars/Base', windows: [] })).toEqual([
      'clock.timeZone: must be a time zone such as "Asia/Shanghai"',
      'clock.windows: must have a window',
    ]);
    expect(
      problems({
        timeZone: 'UTC',
        exceptDates: ['tomorrow'],
        windows: [{ ...one, days: ['someday'], hours: ['noon'] }],
      }),
    ).toEqual([
      'clock.exceptDates.0: must be a date such as "2027-01-01"',
      'clock.windows.0.days.0: must be mon, tue, wed, thu, fri, sat, sun',
      'clock.windows.0.hours.0: must be a period of the day such as "09:00-12:00", to "24:00" at most',
    ]);
    expect(problems({ timeZone: 'UTC', windows: [{ ...one, cacheHit: '2' }] })).toEqual([
      'clock.windows.0.cacheHit: must be lower than the input price (or both 0)',
    ]);
  });
});
