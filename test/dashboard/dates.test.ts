import { assert, date, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateOf, dayValue, printDate, readDate, weeksOf } from '../../dashboard/src/dates.ts';

// Dates as people type them in the language of the page.

const minutes = date({ min: new Date(1970, 0, 2), max: new Date(2199, 11, 30), noInvalidDate: true })
  // A local time that a change of the clock skips cannot be typed.
  .map((at) => `${dayValue(at)}T${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`);

describe.each(['en', 'vi'] as const)('dates in %s', (locale) => {
  it('are read back as they were written, with and without a time', () => {
    assert(
      property(minutes, (value) => {
        expect(readDate(printDate(value, locale, true), locale, true)).toBe(value);
        const day = value.slice(0, 10);
        expect(readDate(printDate(day, locale, false), locale, false)).toBe(day);
        // What HTML's fields and scripts write is understood in every language.
        expect(readDate(value, locale, true)).toBe(value);
        expect(readDate(day, locale, false)).toBe(day);
      }),
    );
  });

  it('have whole weeks around a month, and every day of it once', () => {
    assert(
      property(minutes, (value) => {
        const month = dateOf(value) ?? new Date();
        const days = weeksOf(month, locale).flat();
        expect(days.length % 7).toBe(0);
        expect(days[0]?.getDay()).toBe(locale === 'vi' ? 1 : 0);
        const own = days.filter((day) => day.getMonth() === month.getMonth()).map((day) => day.getDate());
        expect(own).toEqual(own.map((_, index) => index + 1));
        expect(own.length).toBe(new Date(month.getFullYear(), month.getMonth() + 1, 0).getDate());
      }),
    );
  });

  it('that no calendar has are refused, and so is what is no date', () => {
    for (const text of ['31/02/2026', '2026-02-31', '32/1/2026', 'soon', '', '23', '11/2026', 'Foo 3, 2026'])
      expect(readDate(text, locale, false)).toBeNull();
    for (const text of ['2026-11-23 25:00', '2026-11-23 10:61', '2026-11-23 noon', '2026-11-23 13:00 PM'])
      expect(readDate(text, locale, true)).toBeNull();
    expect(readDate('2026-11-23 10:00', locale, false)).toBeNull();
  });
});

describe('a day and a month in figures', () => {
  it('have the order of the language', () => {
    expect(readDate('3/4/2026', 'vi', false)).toBe('2026-04-03');
    expect(readDate('3/4/2026', 'en', false)).toBe('2026-03-04');
  });

  it('are written as readers of the language write them', () => {
    expect(printDate('2026-11-03T14:05', 'vi', true)).toBe('03/11/2026 14:05');
    expect(printDate('2026-11-03T14:05', 'en', true)).toBe('Nov 3, 2026, 2:05 PM');
    expect(readDate('3 November 2026 2 pm', 'en', true)).toBe('2026-11-03T14:00');
    expect(readDate('3/11/2026 2:05 CH', 'vi', true)).toBe('2026-11-03T14:05');
  });
});
