import { describe, expect, it } from 'vitest';
import { createFormat, masked } from '../../dashboard/src/format.ts';

// Figures and dates in each language's format.

const en = createFormat('en', 'Asia/Ho_Chi_Minh');
const vi = createFormat('vi', 'Asia/Ho_Chi_Minh');
/** Formats put no-break spaces where people put spaces. */
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ');

describe('amounts', () => {
  it.each([
    ['0', '$0.00', '0,00 USD'],
    ['5', '$5.00', '5,00 USD'],
    ['-5', '-$5.00', '-5,00 USD'],
    ['1234567.891', '$1,234,567.89', '1.234.567,89 USD'],
    ['0.3098', '$0.31', '0,31 USD'],
    ['0.529', '$0.529', '0,529 USD'],
    ['0.5', '$0.50', '0,50 USD'],
    ['0.03358', '$0.0336', '0,0336 USD'],
    ['0.000721', '$0.000721', '0,000721 USD'],
    ['0.0000055', '$0.0000055', '0,0000055 USD'],
    ['0.000000000001', '$0.000000000001', '0,000000000001 USD'],
  ])('%s USD', (amount, english, vietnamese) => {
    expect(plain(en.usd(amount))).toBe(english);
    expect(plain(vi.usd(amount))).toBe(vietnamese);
  });

  it.each([
    ['0', '$0.00', '0,00 USD'],
    ['4.9999975', '$5.00', '5,00 USD'],
    ['4.994', '$4.99', '4,99 USD'],
    ['0.0000003', '<$0.01', '<0,01 USD'],
    ['0.0099', '<$0.01', '<0,01 USD'],
    ['0.01', '$0.01', '0,01 USD'],
    ['-0.002', '>-$0.01', '>-0,01 USD'],
  ])('on a tile, %s USD has at most two decimals and takes no visible cent away', (amount, english, vietnamese) => {
    expect(plain(en.usdTile(amount))).toBe(english);
    expect(plain(vi.usdTile(amount))).toBe(vietnamese);
  });

  it('are exact where a receipt needs them', () => {
    expect(en.usdExact('14.582994500001')).toBe('$14.582994500001');
    expect(en.usdExact('9007199254740993.000000000001')).toBe('$9,007,199,254,740,993.000000000001');
  });

  it('in VND are whole, with the sign where each language has it', () => {
    expect(vi.vnd('199000')).toBe('199.000\u00a0₫');
    expect(en.vnd('199000')).toBe('₫199,000');
  });
});

describe('masked keys', () => {
  it('are one word for the line breaker: no line ends after the ellipsis', () => {
    expect(masked('lp7H', 'sk-steyg-14fQ')).toBe('sk-steyg-14fQ…\u2060lp7H');
  });
});

describe('dates', () => {
  const moment = '2026-11-05T12:03:09Z';

  it('of the calendar are the same in every zone', () => {
    for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      expect([createFormat('en', zone).monthOf('2026-11'), createFormat('vi', zone).monthOf('2026-11')]).toEqual([
        'November 2026',
        'Tháng 11/2026',
      ]);
      expect([createFormat('en', zone).dayOf('2027-01-01'), createFormat('vi', zone).dayOf('2027-01-01')]).toEqual([
        'Jan 1, 2027',
        '01/01/2027',
      ]);
    }
  });

  it('of what happened are never ahead, however far ahead the server’s clock is', () => {
    expect(en.ago('2026-11-05T12:03:12Z', new Date(moment))).toBe('now');
    expect(vi.ago('2026-11-05T12:03:12Z', new Date(moment))).toBe('bây giờ');
    expect(en.ago('2026-11-05T12:00:09Z', new Date(moment))).toBe('3 minutes ago');
  });

  it('are dd/mm/yyyy in Vietnamese, with a clock of 24 hours', () => {
    expect(vi.date(moment)).toBe('05/11/2026');
    expect(vi.dateTime(moment)).toBe('19:03 05/11/2026');
    expect(vi.day(moment)).toBe('5/11');
  });

  it('name the month in English', () => {
    expect(en.date(moment)).toBe('Nov 5, 2026');
    expect(plain(en.dateTime(moment))).toBe('Nov 5, 2026, 7:03 PM');
  });

  it('say seconds in a list, and the year only where it is not this one', () => {
    expect(plain(en.moment(moment, new Date('2026-12-30T00:00:00Z')))).toBe('Nov 5, 7:03:09 PM');
    expect(plain(en.moment(moment, new Date('2027-03-01T00:00:00Z')))).toBe('Nov 5, 2026, 7:03:09 PM');
    expect(vi.moment(moment, new Date('2026-12-30T00:00:00Z'))).toBe('19:03:09 5/11');
  });

  it('that are near are said in words, as they stand within a sentence', () => {
    const now = new Date(moment);
    const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000);
    expect([vi.relative(inDays(-1), now), vi.relative(inDays(2), now)]).toEqual(['hôm qua', 'ngày kia']);
    expect([en.relative(inDays(-1), now), en.relative(inDays(6.9), now)]).toEqual(['yesterday', 'in 7 days']);
    // A day less a moment is not yet a day; three days less a moment end on the third day from now.
    expect([vi.relative(inDays(2.999), now), vi.relative(inDays(0.999), now)]).toEqual([
      'sau 3 ngày nữa',
      'sau 23 giờ nữa',
    ]);
    expect([en.relative(inDays(-45), now), en.relative(inDays(-400), now)]).toEqual(['1 month ago', '1 year ago']);
  });

  it('are those of the reader’s zone', () => {
    expect(vi.date('2026-11-05T17:00:00Z')).toBe('06/11/2026');
    expect(createFormat('vi', 'UTC').date('2026-11-05T17:00:00Z')).toBe('05/11/2026');
  });
});
