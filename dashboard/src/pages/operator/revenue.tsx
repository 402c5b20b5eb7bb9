/** The operator's page of revenue, cost and margin. */

import type { RevenueAnswer } from '@steyg/sdk';
import { useMemo } from 'react';
import { collect } from '../../all.ts';
import { Chart, seriesColors } from '../../components/chart.tsx';
import { Choice } from '../../components/field.tsx';
import { Card, Figure, Page } from '../../components/page.tsx';
import { RangeFilter } from '../../components/range-filter.tsx';
import { Empty, Loaded, LoadingSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { Usd } from '../../components/usd.tsx';
import { useAsk } from '../../data.tsx';
import { useReportAddress } from '../../hooks.ts';
import { useOperatorLanguage } from '../../language/language.tsx';
import { addUsd } from '../../money.ts';
import type { Range } from '../../range.ts';
import { columnSum, seriesOf, startsBetween, timeZone } from '../../usage.ts';

type Row = NonNullable<RevenueAnswer>['rows'][number];

const measures = ['charged', 'upstreamCost', 'margin'] as const;
type Measure = (typeof measures)[number];

/** Revenue, cost and margin. */
export default function Revenue() {
  const { t } = useOperatorLanguage();
  const { search, range, set } = useReportAddress();
  const measure = measures.find((each) => each === search.get('measure')) ?? 'charged';
  const revenue = useAsk({
    key: ['operator', 'revenue', range.from, range.to],
    ask: (steyg, signal) =>
      collect(
        steyg.console.operator.revenue(
          {
            from: range.from.toISOString(),
            ...(range.to === null ? {} : { to: range.to.toISOString() }),
            period: range.period,
            timeZone: timeZone(),
            first: 1_000,
          },
          { signal },
        ),
      ),
    every: 60_000,
  });
  return (
    <Page title={t.nav.operatorRevenue} lead={t.operator.revenueLead}>
      <div className="filters">
        <RangeFilter range={range} onChange={set} />
      </div>
      <Loaded query={revenue} skeleton={<LoadingSkeleton height="20rem" />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.activity.empty}>{t.operator.noRevenue}</Empty>
          ) : (
            <>
              <Sums rows={rows} />
              <Card
                title={t.activity.chart}
                actions={
                  <Choice
                    label={t.activity.measure}
                    value={measure}
                    options={measures.map((value) => ({ value, label: t.operator.measures[value] }))}
                    onChange={(value) => set({ measure: value === 'charged' ? '' : value })}
                  />
                }
              >
                <RevenueChart rows={rows} range={range} measure={measure} />
              </Card>
              <ByModel rows={rows} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Sums({ rows }: { rows: readonly Row[] }) {
  const { t, format } = useOperatorLanguage();
  const sum = (read: (row: Row) => string) => addUsd(rows.map(read));
  const charged = sum((row) => row.charged);
  const margin = sum((row) => row.margin);
  const share = Number(charged) === 0 ? null : Number(margin) / Number(charged);
  return (
    <dl className="figures">
      <Figure label={t.operator.measures.charged} value={<Usd amount={charged} />} />
      <Figure label={t.operator.measures.upstreamCost} value={<Usd amount={sum((row) => row.upstreamCost)} />} />
      <Figure
        label={t.operator.measures.margin}
        value={<Usd amount={margin} />}
        note={share === null ? undefined : format.percent(share)}
        {...(Number(margin) < 0 ? { tone: 'bad' as const } : {})}
      />
      <Figure label={t.operator.shortfall} value={<Usd amount={sum((row) => row.shortfall)} />} />
      <Figure
        label={t.activity.measures.requests}
        value={format.number(columnSum(rows, ({ requests }) => requests))}
        note={`${t.activity.failures}: ${format.number(columnSum(rows, ({ failures }) => failures))}`}
      />
    </dl>
  );
}

function RevenueChart({ rows, range, measure }: { rows: readonly Row[]; range: Range; measure: Measure }) {
  const { t, format } = useOperatorLanguage();
  const starts = useMemo(() => startsBetween(range.from, range.to ?? new Date(), range.period), [range]);
  const series = useMemo(
    () =>
      seriesOf({
        rows,
        starts,
        nameOf: ({ model }) => model ?? '',
        // A loss has no bar; the table shows it.
        valueOf: (row) => Math.max(0, Number(row[measure])),
        most: seriesColors,
        rest: t.common.others,
      }),
    [rows, starts, measure, t],
  );
  const formatValue = useMemo(() => (value: number) => format.usd(String(value)), [format]);
  const formatStart = useMemo(
    () => (start: Date) =>
      range.period === 'HOUR'
        ? format.dateTime(start)
        : range.period === 'DAY'
          ? format.day(start)
          : format.month(start),
    [range, format],
  );
  return (
    <Chart
      label={t.operator.measures[measure]}
      starts={starts}
      series={series}
      formatStart={formatStart}
      formatValue={formatValue}
    />
  );
}

function ByModel({ rows }: { rows: readonly Row[] }) {
  const { t, format } = useOperatorLanguage();
  const groups = [...Map.groupBy(rows, ({ model }) => model ?? '')].map(([model, group]) => ({ model, group }));
  const usd = (group: readonly Row[], read: (row: Row) => string) => format.usd(addUsd(group.map(read)));
  return (
    <Table
      caption={t.operator.byModel}
      rows={groups}
      rowKey={({ model }) => model}
      columns={[
        { head: t.models.model, names: true, cell: ({ model }) => <code>{model}</code> },
        {
          head: t.activity.measures.requests,
          figure: true,
          cell: ({ group }) => format.number(columnSum(group, ({ requests }) => requests)),
        },
        {
          head: t.activity.failures,
          figure: true,
          cell: ({ group }) => format.number(columnSum(group, ({ failures }) => failures)),
        },
        { head: t.operator.measures.charged, figure: true, cell: ({ group }) => usd(group, (row) => row.charged) },
        {
          head: t.operator.measures.upstreamCost,
          figure: true,
          cell: ({ group }) => usd(group, (row) => row.upstreamCost),
        },
        { head: t.operator.measures.margin, figure: true, cell: ({ group }) => usd(group, (row) => row.margin) },
        { head: t.operator.shortfall, figure: true, cell: ({ group }) => usd(group, (row) => row.shortfall) },
      ]}
    />
  );
}
