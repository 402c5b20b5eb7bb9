/** The operator's home: money of today and this month, and what waits for a person. */

import type { BusinessAnswer } from '@steyg/sdk';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { collect } from '../../all.ts';
import { Chart, ChartSkeleton, Spark } from '../../components/chart.tsx';
import { Moment } from '../../components/moment.tsx';
import { Card, Figure, Page } from '../../components/page.tsx';
import { Setup, useSetup } from '../../components/setup.tsx';
import { Empty, FiguresSkeleton, Loaded, LoadingSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { Fitted, Usd } from '../../components/usd.tsx';
import { useAsk } from '../../data.tsx';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { addUsd } from '../../money.ts';
import { pages } from '../../pages.ts';
import { useMay } from '../../session.tsx';
import { dayMs, startsBetween, timeZone } from '../../usage.ts';

type Business = NonNullable<BusinessAnswer>;

export default function OperatorHome() {
  const { t } = useOperatorLanguage();
  const business = useAsk({
    key: ['operator', 'business'],
    ask: (steyg, signal) => steyg.console.operator.business({ timeZone: timeZone() }, { signal }),
    every: 30_000,
  });
  const setup = useSetup();
  const may = useMay();
  // The steps are an owner's to take.
  const steps = may('saveSettings') ? <Setup items={setup.data ?? []} /> : null;
  return (
    <Page title={t.operator.homeTitle} lead={t.operator.homeLead}>
      <Loaded query={business} skeleton={<FiguresSkeleton figures={5} />}>
        {(figures) =>
          // Before the first money the next step is what matters, not figures of nothing; they do not move when it comes.
          figures.vndThisMonth === '0' && setup.isLoading ? (
            <LoadingSkeleton height="6rem" />
          ) : (
            <>
              {figures.vndThisMonth === '0' ? steps : null}
              <Waiting business={figures} />
              {may('giveGrant') ? <Money business={figures} /> : null}
              <Availability />
              {figures.vndThisMonth === '0' ? null : steps}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

/** The first moment of this month on the reader's clock. */
function monthStart(): Date {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), 1);
}

function Money({ business }: { business: Business }) {
  const { t, format } = useOperatorLanguage();
  const from = monthStart();
  const revenue = useAsk({
    key: ['operator', 'revenue-of-month', from.toISOString()],
    ask: (steyg, signal) =>
      collect(
        steyg.console.books.revenue({ from: from.toISOString(), timeZone: timeZone(), first: 1_000 }, { signal }),
      ),
    every: 60_000,
  });
  const sum = (read: (row: NonNullable<typeof revenue.data>[number]) => string) =>
    addUsd((revenue.data ?? []).map(read));
  const margin = sum((row) => row.margin ?? '0');
  const unknown = sum((row) => row.unknownCharged);
  // A margin over what is known says little while most of it is not: the note says of how much.
  const isAllUnknown = Number(unknown) > 0 && (revenue.data ?? []).every(({ margin }) => margin === null);
  return (
    <>
      <dl className="figures">
        <Figure label={t.operator.vndToday} value={<Fitted text={format.vnd(business.vndToday)} />} />
        <Figure label={t.operator.vndThisMonth} value={<Fitted text={format.vnd(business.vndThisMonth)} />} />
        <Figure label={t.operator.chargedThisMonth} value={<Usd amount={sum((row) => row.charged)} />} />
        <Figure
          label={t.operator.marginThisMonth}
          value={revenue.data === undefined ? '…' : isAllUnknown ? t.operator.unknown : <Usd amount={margin} />}
          note={
            <>
              {Number(unknown) > 0 ? fill(t.operator.costUnknownOf, { usd: format.usdTile(unknown) }) : null}
              <span className="note">
                {fill(t.operator.shortfallOf, { usd: format.usdTile(sum((row) => row.shortfall)) })}
              </span>
            </>
          }
          {...(Number(margin) < 0 ? { tone: 'bad' as const } : {})}
        />
        <Figure label={t.operator.newAccounts} value={format.number(business.newAccounts)} />
      </dl>
      <Card title={t.operator.marginByDay}>
        <Loaded query={revenue} skeleton={<ChartSkeleton />}>
          {(rows) => <MarginChart rows={rows} from={from} />}
        </Loaded>
      </Card>
    </>
  );
}

type RevenueRow = { start: string | null; margin: string | null; upstreamCost: string; unknownCharged: string };

/** What customers were charged by day: what vendors took of it, what is left, and what nobody knows the cost of. */
function MarginChart({ rows, from }: { rows: readonly RevenueRow[]; from: Date }) {
  const { t, format } = useOperatorLanguage();
  const month = from.getTime();
  const starts = useMemo(() => startsBetween(new Date(month), new Date(), 'DAY'), [month]);
  const series = useMemo(() => {
    const places = new Map(starts.map((start, at) => [start.getTime(), at]));
    const read = (label: string, of: (row: RevenueRow) => string | null) => {
      const values = starts.map(() => 0);
      for (const row of rows) {
        const at = row.start === null ? undefined : places.get(new Date(row.start).getTime());
        if (at !== undefined) values[at] = (values[at] ?? 0) + Number(of(row) ?? '0');
      }
      return { label, values };
    };
    return [
      read(t.operator.measures.margin, ({ margin }) => margin),
      read(t.operator.measures.upstreamCost, ({ upstreamCost }) => upstreamCost),
      read(t.operator.chargedUnknown, ({ unknownCharged }) => unknownCharged),
    ].filter(({ values }) => values.some((value) => value !== 0));
  }, [rows, starts, t]);
  const formatValue = useMemo(() => (value: number) => format.usd(String(value)), [format]);
  if (series.length === 0) return <Empty title={t.operator.noRevenue} />;
  return (
    <Chart label={t.operator.marginByDay} starts={starts} series={series} period="DAY" formatValue={formatValue} />
  );
}

/** Models on the home: those that fail most. */
const shownModels = 5;

/** How models did by the probes, the worst first; a day without probes is a gap, not a failure. */
function Availability() {
  const { t, format } = useOperatorLanguage();
  const status = useAsk({
    key: ['status'],
    ask: (steyg, signal) => steyg.console.status.serviceState({}, { signal }),
    every: 60_000,
  });
  return (
    <Card title={t.operator.availability} actions={<Link href={pages.operatorUptime}>{t.nav.operatorUptime}</Link>}>
      <Loaded query={status}>
        {({ models }) => {
          const measured = models
            .filter(({ last30Days }) => last30Days.ratio !== null)
            .toSorted((a, b) => (a.last30Days.ratio ?? 1) - (b.last30Days.ratio ?? 1))
            .slice(0, shownModels);
          return measured.length === 0 ? (
            <Empty title={t.operator.notMeasured} />
          ) : (
            <Table
              caption={t.operator.availability}
              rows={measured}
              rowKey={({ modelId }) => modelId}
              columns={[
                { head: t.activity.model, names: true, cell: ({ modelId }) => <code>{modelId}</code> },
                {
                  head: t.activity.trend,
                  cell: ({ modelId }) => <UptimeSpark modelId={modelId} />,
                },
                {
                  head: t.operator.answered,
                  figure: true,
                  cell: ({ last30Days }) => format.percent(last30Days.ratio ?? 0, 2),
                },
              ]}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}

const sparkDays = 30;

/** A model's days; one without a probe is a gap. */
function UptimeSpark({ modelId }: { modelId: string }) {
  const { t } = useOperatorLanguage();
  const today = Math.floor(Date.now() / dayMs);
  const { data } = useAsk({
    key: ['uptime', modelId, today],
    ask: (steyg, signal) => {
      const at = (day: number) => new Date(day * dayMs).toISOString();
      const range = { from: at(today - sparkDays + 1), to: at(today + 1) };
      return steyg.console.status.uptime({ modelId, period: 'DAY', ...range }, { signal });
    },
    every: 600_000,
  });
  const ratios = new Map((data ?? []).map(({ at, uptime }) => [Math.floor(Date.parse(at) / dayMs), uptime.ratio]));
  const days = Array.from({ length: sparkDays }, (_day, index) => ratios.get(today - sparkDays + 1 + index) ?? null);
  return <Spark label={`${t.operator.availability}: ${modelId}`} values={days} />;
}

function Waiting({ business }: { business: Business }) {
  const { t, format } = useOperatorLanguage();
  const { waitingTransfers, waitingSince, failingUpstreams, openIncidents, modelMismatches } = business;
  const count = (text: string, n: number) => fill(text, { n: format.number(n) });
  const items = [
    waitingTransfers === 0
      ? null
      : {
          href: pages.operatorTransfers,
          text: count(t.operator.waitingTransfers, waitingTransfers),
          detail:
            waitingSince === null ? null : (
              <>
                {t.operator.oldest} <Moment at={waitingSince} />
              </>
            ),
        },
    failingUpstreams.length === 0
      ? null
      : {
          href: pages.operatorUpstreams,
          text: count(t.operator.failingUpstreams, failingUpstreams.length),
          detail: format.list(failingUpstreams.map(({ upstreamId }) => upstreamId)),
        },
    openIncidents === 0
      ? null
      : { href: pages.operatorUptime, text: count(t.operator.openIncidents, openIncidents), detail: null },
    modelMismatches === 0
      ? null
      : { href: pages.operatorBooks, text: count(t.operator.openMismatches, modelMismatches), detail: null },
  ].filter((item) => item !== null);
  return (
    <Card title={t.operator.waiting}>
      {items.length === 0 ? (
        <p>{t.operator.nothingWaits}</p>
      ) : (
        <ul className="waiting-list">
          {items.map(({ href, text, detail }) => (
            <li key={href}>
              <Link href={href}>{text}</Link>
              {detail === null ? null : <span className="note">{detail}</span>}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
