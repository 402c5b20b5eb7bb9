/** The overview of an account: budget, spending, first steps. */

import { useMemo } from 'react';
import { Link } from 'wouter';
import { ChartSkeleton } from '../components/chart.tsx';
import { EntryTable } from '../components/entries.tsx';
import { Lots } from '../components/lots.tsx';
import { Card, Figure, Page } from '../components/page.tsx';
import { FirstDayChart, isFirstDay, SpendChart, spendDays } from '../components/spend-chart.tsx';
import { Empty, FiguresSkeleton, Loaded, LoadingSkeleton, TableSkeleton } from '../components/states.tsx';
import { AboutVnd, Usd, usePlans } from '../components/usd.tsx';
import { useAsk } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { addUsd, agentStep, stepsFor } from '../money.ts';
import { pages } from '../pages.ts';
import { useAccount } from '../session.tsx';
import { burnOf, columnSum, daysAgo, timeZone, type UsageRow } from '../usage.ts';

/** Long enough to even out a weekend, short enough to follow a change of habits. */
const burnDays = 7;

export default function Overview() {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const from = useMemo(() => daysAgo(spendDays - 1), []);
  const budget = useAsk({
    key: ['budget', accountId],
    ask: (steyg, signal) => steyg.console.ledger.budget({ accountId }, { signal }),
    every: 10_000,
  });
  const usage = useAsk({
    key: ['usage', accountId, 'overview', from],
    ask: (steyg, signal) =>
      steyg.console.ledger.usage(
        {
          accountId,
          from: from.toISOString(),
          period: 'DAY',
          by: ['MODEL'],
          most: 20,
          timeZone: timeZone(),
          first: 1_000,
        },
        { signal },
      ),
    every: 30_000,
  });
  // What stands above the fold comes at once: parts that come one by one would move those below them.
  const above = [budget, usage, useRecent(accountId), useSavings(accountId), usePlans()];
  const actions = (
    <>
      <Link className="button" href={pages.start}>
        {t.overview.setUp}
      </Link>
      <Link className="button primary" href={pages.topUp}>
        {t.nav.topUp}
      </Link>
    </>
  );
  if (above.some(({ isLoading }) => isLoading)) {
    return (
      <Page title={t.overview.title} actions={actions}>
        <LoadingSkeleton height="100vh" />
      </Page>
    );
  }
  return (
    <Page title={t.overview.title} actions={actions}>
      <Welcome accountId={accountId} />
      <Loaded query={budget} skeleton={<FiguresSkeleton />}>
        {(sums) => <Figures sums={sums} rows={usage.data?.nodes ?? null} />}
      </Loaded>
      <CacheSavings accountId={accountId} />
      <div className="columns level">
        <Card title={t.overview.lots}>
          <Loaded query={budget}>
            {({ grants, free }) => (
              <>
                <Lots grants={grants} />
                <Enough free={free} />
              </>
            )}
          </Loaded>
        </Card>
        <Card
          title={
            isFirstDay(usage.data?.nodes ?? [])
              ? t.overview.spendByHour
              : fill(t.overview.spendByDay, { days: spendDays })
          }
        >
          <Loaded query={usage} skeleton={<ChartSkeleton tall />}>
            {({ nodes }) =>
              isFirstDay(nodes) ? <FirstDayChart accountId={accountId} /> : <SpendChart rows={nodes} from={from} />
            }
          </Loaded>
        </Card>
      </div>
      <Recent accountId={accountId} />
    </Page>
  );
}

/** Prompt tokens of an agent step, which decide the prices that it is charged at. */
const agentStepPrompt = Number(agentStep.cacheHit + agentStep.input);

/** Further models are listed with the plans. */
const maxModels = 4;

/** The rest of the budget in agent steps. Hidden when it is empty, or before the catalog is loaded. */
function Enough({ free }: { free: string }) {
  const { t, format } = useLanguage();
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  const steps = (models.data ?? []).slice(0, maxModels).flatMap(({ id, displayName, prices }) => {
    const counts = [prices, ...(prices.clock?.windows ?? [])].flatMap((hours) => {
      const set = hours.tiers.findLast(({ abovePromptTokens }) => agentStepPrompt > abovePromptTokens) ?? hours;
      const count = stepsFor(free, set);
      return count === null ? [] : [count];
    });
    // At the dearest hours.
    const [first, ...others] = counts;
    const count = first === undefined ? 0n : others.reduce((least, each) => (each < least ? each : least), first);
    return count <= 0n ? [] : [{ id, displayName, count }];
  });
  if (steps.length === 0) return null;
  return (
    <div className="enough">
      <h3>{t.overview.enough}</h3>
      <dl className="sums">
        {steps.map(({ id, displayName, count }) => (
          <div key={id}>
            <dt>{displayName}</dt>
            <dd>{fill(t.overview.steps, { n: format.number(count) })}</dd>
          </div>
        ))}
      </dl>
      <details>
        <summary>{t.models.whatStep}</summary>
        <p className="hint">{t.models.stepsHint}</p>
      </details>
    </div>
  );
}

type Rows = readonly Pick<UsageRow, 'charged' | 'start' | 'model' | 'requests'>[];

/** Unknown figures are hidden: a zero would be wrong. */
const unknown = '–';

/** `rows` is null while the spending is not loaded. */
function Figures({ sums, rows }: { sums: { free: string; held: string }; rows: Rows | null }) {
  const { t, format } = useLanguage();
  return (
    <dl className="figures">
      <Figure
        label={t.overview.free}
        value={<Usd amount={sums.free} />}
        note={
          <>
            <AboutVnd usd={sums.free} />
            {Number(sums.held) > 0 ? fill(t.overview.held, { held: format.usd(sums.held) }) : null}
          </>
        }
        {...(Number(sums.free) <= 0 ? { tone: 'bad' as const } : {})}
      />
      {rows === null ? (
        [t.overview.today, t.overview.days7, t.overview.days30, t.overview.burn].map((label) => (
          <Figure key={label} label={label} value={unknown} />
        ))
      ) : (
        <Spent free={sums.free} rows={rows} />
      )}
    </dl>
  );
}

/** Less than this is not worth a sentence. */
const leastSavings = 0.01;

function useSavings(accountId: string) {
  const from = useMemo(() => {
    const now = new Date();
    return new Date(now.getFullYear(), now.getMonth(), 1).toISOString();
  }, []);
  return useAsk({
    key: ['cache-savings', accountId, from],
    ask: (steyg, signal) => steyg.console.ledger.cacheSavings({ accountId, from }, { signal }),
    every: 600_000,
  });
}

/** What caching saved in this calendar month; nothing while it is unknown or less than a cent. */
function CacheSavings({ accountId }: { accountId: string }) {
  const { t, format } = useLanguage();
  const { data } = useSavings(accountId);
  if (data == null || Number(data) < leastSavings) return null;
  return <p className="saved">{fill(t.overview.saved, { usd: format.usdTile(data) })}</p>;
}

function Spent({ free, rows }: { free: string; rows: Rows }) {
  const { t, count } = useLanguage();
  const since = (days: number) => {
    const start = daysAgo(days - 1).getTime();
    return rows.filter((row) => row.start !== null && new Date(row.start).getTime() >= start);
  };
  const spent = (days: number) => <Usd amount={addUsd(since(days).map(({ charged }) => charged))} />;
  const burn = burnOf(since(burnDays), burnDays, free);
  const { daysLeft } = burn;
  return (
    <>
      <Figure label={t.overview.today} value={spent(1)} />
      <Figure label={t.overview.days7} value={spent(7)} />
      <Figure
        label={t.overview.days30}
        value={spent(30)}
        note={count(
          t.overview.requests,
          columnSum(rows, ({ requests }) => requests),
        )}
      />
      <Figure
        label={t.overview.burn}
        value={<Usd amount={burn.perDay} />}
        note={
          daysLeft === null
            ? t.overview.noBurn
            : daysLeft > 365
              ? t.overview.yearLeft
              : count(t.overview.daysLeft, Math.floor(daysLeft))
        }
        {...(daysLeft !== null && daysLeft < 3 ? { tone: 'warn' as const } : {})}
      />
    </>
  );
}

function useRecent(accountId: string) {
  return useAsk({
    key: ['entries', accountId, 'recent'],
    ask: (steyg, signal) => steyg.console.ledger.listEntries({ accountId, first: 8 }, { signal }),
    every: 3_000,
  });
}

/** For an account without requests: the figures below would all be zero. */
function Welcome({ accountId }: { accountId: string }) {
  const { t } = useLanguage();
  const { data } = useRecent(accountId);
  if (data == null || data.edges.length > 0) return null;
  return (
    <section className="welcome" aria-labelledby="welcome">
      <div>
        <h2 id="welcome">{t.overview.welcome}</h2>
        <p>{t.overview.welcomeText}</p>
      </div>
      <Link className="button primary" href={pages.start}>
        {t.overview.welcomeAction}
      </Link>
    </section>
  );
}

function Recent({ accountId }: { accountId: string }) {
  const { t } = useLanguage();
  const entries = useRecent(accountId);
  return (
    <Card
      title={t.overview.recent}
      actions={
        <span className="live">
          {entries.isError || entries.isPaused ? null : (
            <>
              <span className="pulse" aria-hidden="true" />
              {t.overview.live} ·{' '}
            </>
          )}
          <Link href={pages.activity}>{t.overview.all}</Link>
        </span>
      }
    >
      <Loaded query={entries} skeleton={<TableSkeleton />}>
        {({ edges }) =>
          edges.length === 0 ? (
            <Empty title={t.overview.noRequests} />
          ) : (
            <EntryTable entries={edges.map(({ node }) => node)} caption={t.overview.recent} brief />
          )
        }
      </Loaded>
    </Card>
  );
}
