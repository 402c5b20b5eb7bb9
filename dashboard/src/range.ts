import { daysAgo, type Period } from './usage.ts';

/** The ranges of reports. */
export const rangeNames = ['day', 'week', 'month', 'quarter', 'custom'] as const;
export type RangeName = (typeof rangeNames)[number];

export interface Range {
  name: RangeName;
  from: Date;
  /** Null: until now. */
  to: Date | null;
  period: Period;
}

const days: Record<Exclude<RangeName, 'custom'>, number> = { day: 1, week: 7, month: 30, quarter: 90 };

/** Reads a range from an address: `range`, and for a custom one `from` and `to` as local days. */
export function readRange(search: URLSearchParams, now: Date = new Date()): Range {
  const given = search.get('range');
  const name = rangeNames.find((each) => each === given) ?? 'month';
  if (name === 'custom') {
    const from = localDay(search.get('from')) ?? daysAgo(29, now);
    const last = localDay(search.get('to')) ?? daysAgo(0, now);
    const to = new Date(last.getFullYear(), last.getMonth(), last.getDate() + 1);
    const span = to.getTime() - from.getTime();
    return { name, from, to, period: span <= 3 * 86_400_000 ? 'HOUR' : span <= 100 * 86_400_000 ? 'DAY' : 'MONTH' };
  }
  if (name === 'day') {
    const from = new Date(now.getFullYear(), now.getMonth(), now.getDate(), now.getHours() - 23);
    return { name, from, to: null, period: 'HOUR' };
  }
  return { name, from: daysAgo(days[name] - 1, now), to: null, period: 'DAY' };
}

function localDay(text: string | null): Date | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text ?? '');
  if (match === null) return null;
  const day = new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  return Number.isNaN(day.getTime()) ? null : day;
}
