/** Sparklines in lists: what each key or project spent by day, from one report for the whole list. */

import { useMemo } from 'react';
import { collect } from '../all.ts';
import { useAsk } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { addUsd } from '../money.ts';
import { daysAgo, startsBetween, timeZone, type UsageRow } from '../usage.ts';
import { Spark } from './chart.tsx';
import { spendDays } from './spend-chart.tsx';

/** Those that were charged most have a line each; the server splits by no more. */
const mostTrends = 50;

const groups = {
  key: { by: 'KEY', idOf: ({ key }: UsageRow) => key?.id },
  project: { by: 'PROJECT', idOf: ({ project }: UsageRow) => project?.id },
} as const;

/**
 * The days of each key or project by its id. While there are no more of them than the report splits by, one without a
 * row spent nothing; beyond, nothing is known of it, and it gets no line.
 */
export function useTrends(accountId: string, group: keyof typeof groups) {
  const from = useMemo(() => daysAgo(spendDays - 1), []);
  const { by, idOf } = groups[group];
  const usage = useAsk({
    key: ['usage', accountId, 'trends', group, from],
    ask: (steyg, signal) =>
      collect(
        steyg.console.ledger.usage(
          {
            accountId,
            from: from.toISOString(),
            period: 'DAY',
            by: [by],
            most: mostTrends,
            timeZone: timeZone(),
            first: 1_000,
          },
          { signal },
        ),
      ),
    every: 300_000,
  });
  return useMemo(() => {
    if (usage.data === undefined) return null;
    const rows = new Map<string, UsageRow[]>();
    for (const row of usage.data) {
      const id = idOf(row);
      if (id !== undefined) rows.set(id, [...(rows.get(id) ?? []), row]);
    }
    return { starts: startsBetween(from, new Date(), 'DAY'), rows, isAll: !usage.data.some(({ isRest }) => isRest) };
  }, [usage.data, from, idOf]);
}

export function Trend({ of, id, name }: { of: ReturnType<typeof useTrends>; id: string; name: string }) {
  const { t, format } = useLanguage();
  const rows = of?.rows.get(id) ?? (of?.isAll === true ? [] : null);
  if (of === null || rows === null) return null;
  const days = new Map(rows.map(({ start, charged }) => [start === null ? 0 : new Date(start).getTime(), charged]));
  const usd = format.usd(addUsd(rows.map(({ charged }) => charged)));
  return (
    <Spark
      label={fill(t.activity.trendOf, { name, usd })}
      values={of.starts.map((start) => Number(days.get(start.getTime()) ?? 0))}
    />
  );
}
