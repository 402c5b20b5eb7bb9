import type { UsageAnswer } from '@steyg/sdk';
import type { Series } from './components/chart.tsx';
import { addUsd, parseUsd, printUsd } from './money.ts';

/** Turns usage reports into the data of charts and sentences. */

export type UsageRow = NonNullable<UsageAnswer>['nodes'][number];

export const dayMs = 86_400_000;

/** The reader's own zone: their days begin at their midnight. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}

export type Period = 'HOUR' | 'DAY' | 'MONTH';

/** Midnight, so many days before today. */
export function daysAgo(days: number, now: Date = new Date()): Date {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  midnight.setDate(midnight.getDate() - days);
  return midnight;
}

/** Every start of a period between two moments, including those without requests. */
export function startsBetween(from: Date, to: Date, period: Period): Date[] {
  const starts: Date[] = [];
  for (let at = beginning(from, period); at.getTime() < to.getTime() && starts.length < 3_000; at = next(at, period)) {
    starts.push(at);
  }
  return starts;
}

function beginning(moment: Date, period: Period): Date {
  const day = new Date(moment.getFullYear(), moment.getMonth(), period === 'MONTH' ? 1 : moment.getDate());
  if (period === 'HOUR') day.setHours(moment.getHours());
  return day;
}

/** By the calendar, not by milliseconds: a day can have 23 hours, and a month is no number of days. */
function next(start: Date, period: Period): Date {
  if (period === 'HOUR') return new Date(start.getTime() + 3_600_000);
  const [months, days] = period === 'MONTH' ? [1, 0] : [0, 1];
  return new Date(start.getFullYear(), start.getMonth() + months, start.getDate() + days);
}

/** One series for each name, the dearest first; small ones are merged into that which is called `rest`. */
export function seriesOf<Row extends { start: string | null }>(options: {
  rows: readonly Row[];
  starts: readonly Date[];
  nameOf: (row: Row) => string;
  valueOf: (row: Row) => number;
  most: number;
  rest: string;
}): Series[] {
  const { rows, starts, nameOf, valueOf, most, rest } = options;
  const places = new Map(starts.map((start, index) => [start.getTime(), index]));
  const sums = new Map<string, number[]>();
  for (const row of rows) {
    const at = row.start === null ? undefined : places.get(new Date(row.start).getTime());
    if (at === undefined) continue;
    const name = nameOf(row);
    const values = sums.get(name) ?? starts.map(() => 0);
    values[at] = (values[at] ?? 0) + valueOf(row);
    sums.set(name, values);
  }
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
  const others = sums.get(rest);
  sums.delete(rest);
  const sorted = [...sums].sort(([, a], [, b]) => total(b) - total(a)).map(([label, values]) => ({ label, values }));
  if (others === undefined && sorted.length <= most) return sorted;
  const small = [...sorted.slice(most - 1).map(({ values }) => values), ...(others === undefined ? [] : [others])];
  const together = starts.map((_start, at) => small.reduce((sum, values) => sum + (values[at] ?? 0), 0));
  return [...sorted.slice(0, most - 1), { label: rest, values: together }];
}

/** How fast a budget is used up, from the charges of some days. */
export interface Burn {
  /** USD a day. */
  perDay: string;
  /** Days until nothing is free; null while nothing is spent. */
  daysLeft: number | null;
}

export function burnOf(rows: readonly Pick<UsageRow, 'charged'>[], days: number, free: string): Burn {
  const perDay = parseUsd(addUsd(rows.map(({ charged }) => charged))) / BigInt(days);
  const left = parseUsd(free);
  return { perDay: printUsd(perDay), daysLeft: perDay === 0n ? null : Number((left * 10n) / perDay) / 10 };
}

/** The sum of a column of counts. */
export function columnSum<Row>(rows: readonly Row[], read: (row: Row) => string | number | bigint): bigint {
  return rows.reduce((sum, row) => sum + BigInt(read(row)), 0n);
}
