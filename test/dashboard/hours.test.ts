import { describe, expect, test } from 'vitest';
import { hoursText, parseDates, parseHours } from '../../dashboard/src/hours.ts';
import { soldBelowCost } from '../../dashboard/src/preview.ts';
import { clockOf, draftOfClock } from '../../dashboard/src/price-draft.ts';

/** Prices by the clock in the dashboard: as read, as typed, and compared with costs. */

const set = (input: string) => ({ input, cacheHit: '0.1', output: '5', cacheWrite5m: null, cacheWrite1h: null });
const workdays = ['MON', 'TUE', 'WED', 'THU', 'FRI'];
const clock = (input: string, more: object = {}) => ({
  timeZone: 'Asia/Shanghai',
  exceptDates: ['2027-01-01'],
  windows: [{ ...set(input), weekdays: workdays, hours: ['09:00-12:00', '14:00-18:00'], tiers: [] }],
  ...more,
});

describe('hours of the week', () => {
  test('are read as days in a row and periods, in both languages', () => {
    const hours = { weekdays: [...workdays, 'SUN'], hours: ['09:00-12:00', '22:00-06:00'] };
    expect(hoursText(hours, 'Asia/Shanghai', 'en')).toBe('Mon–Fri, Sun 09:00–12:00, 22:00–06:00 (Asia/Shanghai)');
    expect(hoursText({ weekdays: ['MON', 'TUE'], hours: ['00:00-24:00'] }, 'UTC', 'vi')).toBe(
      'Thứ 2, Thứ 3 00:00–24:00 (UTC)',
    );
  });

  test('are typed with commas or spaces; anything else is no period and no date', () => {
    expect(parseHours('09:00-12:00, 14:00-24:00')).toEqual(['09:00-12:00', '14:00-24:00']);
    for (const text of ['', '9-12', '09:00', '09:00-25:00']) expect(parseHours(text)).toBe(null);
    expect(parseDates('2027-01-01 2027-02-06')).toEqual(['2027-01-01', '2027-02-06']);
    expect(parseDates('')).toEqual([]);
    expect(parseDates('2027-13-01')).toBe(null);
  });
});

describe('the editor', () => {
  test('gives back the clock that it was given, with its tiers at the lengths of the prices', () => {
    const tiers = [{ ...set('4'), abovePromptTokens: 1_000 }];
    const given = clock('2', { windows: [{ ...set('2'), weekdays: workdays, hours: ['09:00-12:00'], tiers }] });
    expect(clockOf(draftOfClock(given), [{ ...set('2'), abovePromptTokens: 1_000 }])).toEqual(given);
    expect(clockOf(draftOfClock(null), [])).toBe(null);
  });

  test('gives nothing while a window lacks a day, an hour, a price, or the set of a length', () => {
    const draft = draftOfClock(clock('2'));
    const [window] = draft.windows;
    for (const change of [{ weekdays: [] }, { hours: 'noon' }, { input: '' }])
      expect(clockOf({ ...draft, windows: [{ ...window!, ...change }] }, [])).toBe(undefined);
    expect(clockOf({ ...draft, timeZone: 'Mars/Base' }, [])).toBe(undefined);
    expect(clockOf({ ...draft, exceptDates: 'tomorrow' }, [])).toBe(undefined);
    expect(clockOf(draft, [{ ...set('2'), abovePromptTokens: 1_000 }])).toBe(undefined);
  });
});

describe('prices below cost', () => {
  test('are found at every hour: hours that both have are compared with each other', () => {
    const prices = { ...set('1'), clock: clock('2') };
    expect(soldBelowCost(prices, { ...set('1'), clock: clock('2') })).toEqual([]);
    expect(soldBelowCost(prices, { ...set('1'), clock: clock('3') })).toEqual([
      'input',
      'cacheWrite5m',
      'cacheWrite1h',
    ]);
    // Without the hours of the costs, the ordinary price is below what the hour costs.
    expect(soldBelowCost(set('1'), { ...set('1'), clock: clock('2') })).toContain('input');
    expect(soldBelowCost(prices, set('1.5'))).toContain('input');
  });
});
