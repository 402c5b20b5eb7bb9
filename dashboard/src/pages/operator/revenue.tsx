/** The operator's page of revenue, cost and margin. */

import type { RevenueAnswer, Steyg } from '@steyg/sdk';
import { useMemo, useState } from 'react';
import { collect } from '../../all.ts';
import { Chart, seriesColors } from '../../components/chart.tsx';
import { Choice } from '../../components/field.tsx';
import { Card, Figure, Page } from '../../components/page.tsx';
import { RangeFilter } from '../../components/range-filter.tsx';
import { Empty, FiguresSkeleton, Loaded, LoadingSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { Usd } from '../../components/usd.tsx';
import { useAsk } from '../../data.tsx';
import { useReportAddress } from '../../hooks.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { addUsd } from '../../money.ts';
import type { Range } from '../../range.ts';
import { columnSum, seriesOf, startsBetween, timeZone } from '../../usage.ts';

type Row = NonNullable<RevenueAnswer>['nodes'][number];

const measures = ['charged', 'upstreamCost', 'margin'] as const;
type Measure = (typeof measures)[number];

/** A row's figure; an unknown margin counts as nothing, never as what was charged. */
const figureOf = (row: Row, measure: Measure): string => (measure === 'margin' ? (row.margin ?? '0') : row[measure]);

/** Revenue, cost and margin. */
export default function Revenue() {
  const { t } = useOperatorLanguage();
  const { search, range, set } = useReportAddress();
  const measure = measures.find((each) => each === search.get('measure')) ?? 'charged';
  const revenue = useAsk({
    key: ['operator', 'revenue', range.from, range.to],
    ask: (steyg, signal) =>
      collect(
        steyg.console.books.revenue(
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
      <Loaded query={revenue} skeleton={<FiguresSkeleton figures={5} />}>
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
              <Margins range={range} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

/** Whether the cost of any of it is known. */
const isKnownOf = (rows: readonly Row[]): boolean => rows.some(({ margin }) => margin !== null);

/** All figures are of the same rows, those of the tables: each says what it counts of what stands beside it. */
function Sums({ rows }: { rows: readonly Row[] }) {
  const { t, format } = useOperatorLanguage();
  const sum = (read: (row: Row) => string | null) => addUsd(rows.map((row) => read(row) ?? '0'));
  const number = (read: (row: Row) => string) => columnSum(rows, read);
  const margin = sum((row) => row.margin);
  const isKnown = isKnownOf(rows);
  const income = Number(sum((row) => row.bought)) - Number(sum((row) => row.unknownBought));
  const requests = number((row) => row.requests);
  const unknown = number((row) => row.unknownRequests);
  const notes = [
    ...(isKnown && income > 0 ? [format.percent(Number(margin) / income)] : []),
    ...(unknown === 0n
      ? []
      : [fill(t.operator.unknownRequests, { n: format.number(unknown), all: format.number(requests) })]),
  ];
  return (
    <dl className="figures">
      <Figure
        label={t.operator.measures.charged}
        value={<Usd amount={sum((row) => row.charged)} />}
        note={
          rows.some(({ bought }) => bought === null)
            ? t.operator.incomeArchived
            : fill(t.operator.incomeOf, { usd: format.usdTile(sum((row) => row.bought)) })
        }
      />
      <Figure
        label={t.operator.measures.upstreamCost}
        value={isKnown ? <Usd amount={sum((row) => row.upstreamCost)} /> : t.operator.unknown}
      />
      <Figure
        label={t.operator.measures.margin}
        value={isKnown ? <Usd amount={margin} /> : t.operator.unknown}
        note={notes.length === 0 ? undefined : notes.join(' · ')}
        {...(Number(margin) < 0 ? { tone: 'bad' as const } : {})}
      />
      <Figure label={t.operator.shortfall} value={<Usd amount={sum((row) => row.shortfall)} />} />
      <Figure
        label={t.activity.measures.requests}
        value={format.number(requests)}
        note={`${t.activity.failures}: ${format.number(number((row) => row.failures))}`}
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
        valueOf: (row) => Number(figureOf(row, measure)),
        most: seriesColors,
        rest: t.common.others,
      }),
    [rows, starts, measure, t],
  );
  const formatValue = useMemo(() => (value: number) => format.usd(String(value)), [format]);
  return (
    <Chart
      label={t.operator.measures[measure]}
      starts={starts}
      series={series}
      period={range.period}
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
        { head: t.operator.income, figure: true, cell: ({ group }) => usd(group, (row) => row.bought ?? '0') },
        {
          head: t.operator.measures.upstreamCost,
          figure: true,
          cell: ({ group }) => (isKnownOf(group) ? usd(group, (row) => row.upstreamCost) : t.operator.unknown),
        },
        {
          head: t.operator.measures.margin,
          figure: true,
          cell: ({ group }) => (isKnownOf(group) ? usd(group, (row) => row.margin ?? '0') : t.operator.unknown),
        },
        { head: t.operator.shortfall, figure: true, cell: ({ group }) => usd(group, (row) => row.shortfall) },
      ]}
    />
  );
}

type MarginAnswer = Awaited<ReturnType<Steyg['console']['books']['margins']>>;
type MarginRow = NonNullable<MarginAnswer>['nodes'][number];

const marginGroups = ['UPSTREAM', 'ACCOUNT', 'MODEL'] as const;
type MarginGroup = (typeof marginGroups)[number];

const nameOfMargin: Record<MarginGroup, (row: MarginRow) => string> = {
  UPSTREAM: ({ upstream }) => upstream ?? '–',
  ACCOUNT: ({ account }) => account?.name ?? '–',
  MODEL: ({ model }) => model ?? '–',
};

/** What is left, by upstream, account or model. Where routes do not say what they cost it is unknown, never everything. */
function Margins({ range }: { range: Range }) {
  const { t, format, count } = useOperatorLanguage();
  const [group, setGroup] = useState<MarginGroup>('UPSTREAM');
  const margins = useAsk({
    key: ['operator', 'margins', range.from, range.to, group],
    ask: (steyg, signal) =>
      collect(
        steyg.console.books.margins(
          {
            from: range.from.toISOString(),
            ...(range.to === null ? {} : { to: range.to.toISOString() }),
            by: [group],
            first: 1_000,
          },
          { signal },
        ),
      ),
  });
  return (
    <Card
      title={t.operator.margins}
      actions={
        <Choice
          label={t.operator.marginsBy}
          value={group}
          options={marginGroups.map((value) => ({ value, label: t.operator.marginGroups[value] }))}
          onChange={(value) => setGroup(marginGroups.find((each) => each === value) ?? 'UPSTREAM')}
        />
      }
    >
      <Loaded query={margins} skeleton={<LoadingSkeleton lines={3} />}>
        {(rows) => (
          <Table
            caption={t.operator.margins}
            rows={rows}
            rowKey={(row) => nameOfMargin[group](row)}
            columns={[
              { head: t.operator.marginGroups[group], names: true, cell: (row) => nameOfMargin[group](row) },
              { head: t.activity.measures.requests, figure: true, cell: ({ requests }) => format.number(requests) },
              { head: t.operator.measures.charged, figure: true, cell: ({ charged }) => format.usd(charged) },
              { head: t.operator.income, figure: true, cell: ({ bought }) => format.usd(bought ?? '0') },
              {
                head: t.operator.measures.upstreamCost,
                figure: true,
                cell: ({ upstreamCost }) => (upstreamCost === null ? t.operator.unknown : format.usd(upstreamCost)),
              },
              {
                head: t.operator.measures.margin,
                figure: true,
                cell: ({ margin }) => (margin === null ? t.operator.unknown : format.usd(margin)),
              },
              {
                head: t.operator.unknownCharged,
                figure: true,
                cell: ({ unknownRequests, unknownCharged }) => (
                  <>
                    {format.usd(unknownCharged)}
                    {unknownRequests === '0' ? null : (
                      <span className="note line">{count(t.overview.requests, Number(unknownRequests))}</span>
                    )}
                  </>
                ),
              },
              { head: t.operator.shortfall, figure: true, cell: ({ shortfall }) => format.usd(shortfall) },
            ]}
          />
        )}
      </Loaded>
      <p className="hint">{t.operator.marginsHint}</p>
    </Card>
  );
}
