/** What an account spent by day, stacked by model. */

import { useMemo } from 'react';
import { fill, useLanguage } from '../language/language.tsx';
import { seriesOf, startsBetween, type UsageRow } from '../usage.ts';
import { Chart, seriesColors } from './chart.tsx';
import { Empty } from './states.tsx';

/** How many days the chart shows: `daysAgo(spendDays - 1)` is the first. */
export const spendDays = 30;

export function SpendChart({ rows, from }: { rows: readonly UsageRow[]; from: Date }) {
  const { t, format } = useLanguage();
  const starts = useMemo(() => startsBetween(from, new Date(), 'DAY'), [from]);
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
      label={fill(t.overview.spendByDay, { days: spendDays })}
      starts={starts}
      series={series}
      period="DAY"
      formatValue={formatValue}
      tall
    />
  );
}
