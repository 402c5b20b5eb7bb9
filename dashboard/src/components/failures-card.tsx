/** Failed requests by reason over time, of an account or of all customers. */

import type { Steyg } from '@steyg/sdk';
import { type ReactNode, useMemo } from 'react';
import { useAsk } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import type { Range } from '../range.ts';
import { columnSum, seriesOf, startsBetween, timeZone, type UsageRow } from '../usage.ts';
import { Chart, ChartSkeleton, seriesColors } from './chart.tsx';
import { Card, Figure } from './page.tsx';
import { Empty, Loaded } from './states.tsx';

/** The outcomes that reports count as failures. */
export const failureReasons = ['UPSTREAM_ERROR', 'UPSTREAM_CUT', 'TIMEOUT', 'SHUTDOWN'] as const;

interface Asked {
  from: string;
  to: string | null;
  period: Range['period'];
  timeZone: string;
}

type Row = Pick<UsageRow, 'start' | 'outcome' | 'failures'>;

/** `rows`: reads them for a range. `subject`: whose they are, and which of them. */
export function FailuresCard({
  subject,
  range,
  actions = null,
  rows,
}: {
  subject: readonly unknown[];
  range: Range;
  actions?: ReactNode;
  rows: (steyg: Steyg, asked: Asked, signal: AbortSignal) => Promise<readonly Row[]>;
}) {
  const { t } = useLanguage();
  const failures = useAsk({
    key: ['usage', 'failures', ...subject, range.from, range.to],
    ask: (steyg, signal) =>
      rows(
        steyg,
        {
          from: range.from.toISOString(),
          to: range.to?.toISOString() ?? null,
          period: range.period,
          timeZone: timeZone(),
        },
        signal,
      ),
    every: 60_000,
  });
  return (
    <Card title={t.activity.errors} actions={actions}>
      <Loaded query={failures} skeleton={<ChartSkeleton />}>
        {(found) => <Reasons rows={found} range={range} />}
      </Loaded>
    </Card>
  );
}

function Reasons({ rows, range }: { rows: readonly Row[]; range: Range }) {
  const { t, format } = useLanguage();
  const starts = useMemo(() => startsBetween(range.from, range.to ?? new Date(), range.period), [range]);
  const series = useMemo(
    () =>
      seriesOf({
        rows,
        starts,
        nameOf: ({ outcome }) => (outcome === null ? t.common.others : t.outcomes[outcome]),
        valueOf: ({ failures }) => Number(failures),
        most: seriesColors,
        rest: t.common.others,
      }),
    [rows, starts, t],
  );
  if (rows.length === 0) return <Empty title={t.activity.noErrors} />;
  return (
    <>
      <dl className="figures">
        {failureReasons
          .map((reason) => ({ reason, of: rows.filter(({ outcome }) => outcome === reason) }))
          .filter(({ of }) => of.length > 0)
          .map(({ reason, of }) => (
            <Figure
              key={reason}
              label={t.outcomes[reason]}
              value={format.number(columnSum(of, ({ failures }) => failures))}
            />
          ))}
      </dl>
      <Chart
        label={t.activity.errors}
        starts={starts}
        series={series}
        period={range.period}
        formatValue={format.compact}
      />
    </>
  );
}
