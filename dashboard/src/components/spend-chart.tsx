/** What an account spent, stacked by model: by day, and on its first day by the hour. */

import { useMemo } from 'react';
import { useAsk } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { daysAgo, seriesOf, startsBetween, type UsageRow } from '../usage.ts';
import { Chart, ChartSkeleton, seriesColors } from './chart.tsx';
import { Empty, Loaded } from './states.tsx';

/** How many days the chart shows: `daysAgo(spendDays - 1)` is the first. */
export const spendDays = 30;

/** Whether everything was spent today, and more than a single bar is to be seen only by the hour. */
export function isFirstDay(rows: readonly UsageRow[]): boolean {
  const today = daysAgo(0).getTime();
  return rows.length > 0 && rows.every(({ start }) => start !== null && new Date(start).getTime() >= today);
}

/** The first day by the hour. */
export function FirstDayChart({ accountId }: { accountId: string }) {
  const { t } = useLanguage();
  const from = useMemo(() => daysAgo(0), []);
  const usage = useAsk({
    key: ['usage', accountId, 'first-day', from],
    ask: (steyg, signal) =>
      steyg.console.ledger.usage(
        { accountId, from: from.toISOString(), period: 'HOUR', by: ['MODEL'], most: 20, first: 1_000 },
        { signal },
      ),
    every: 30_000,
  });
  return (
    <Loaded query={usage} skeleton={<ChartSkeleton tall />}>
      {({ nodes }) => <SpendChart rows={nodes} from={from} period="HOUR" label={t.overview.spendByHour} />}
    </Loaded>
  );
}

export function SpendChart({
  rows,
  from,
  period = 'DAY',
  label,
}: {
  rows: readonly UsageRow[];
  from: Date;
  period?: 'DAY' | 'HOUR';
  label?: string;
}) {
  const { t, format } = useLanguage();
  const starts = useMemo(() => startsBetween(from, new Date(), period), [from, period]);
  const series = useMemo(
    () =>
      seriesOf({
        rows,
        starts,
        nameOf: ({ model }) => model ?? '',
        valueOf: ({ charged }) => Number(charged),
        most: seriesColors,
        rest: t.common.others,
      }),
    [rows, starts, t],
  );
  const formatValue = useMemo(() => (value: number) => format.usd(String(value)), [format]);
  if (series.length === 0) return <Empty title={t.overview.noSpend} />;
  return (
    <Chart
      label={label ?? fill(t.overview.spendByDay, { days: spendDays })}
      starts={starts}
      series={series}
      period={period}
      formatValue={formatValue}
      tall
    />
  );
}
