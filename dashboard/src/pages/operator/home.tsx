/** The operator's home: money of today and this month, and what waits for a person. */

import type { BusinessAnswer } from '@steyg/sdk';
import { Link } from 'wouter';
import { collect } from '../../all.ts';
import { Moment } from '../../components/moment.tsx';
import { Card, Figure, Page } from '../../components/page.tsx';
import { Setup, useSetup } from '../../components/setup.tsx';
import { Loaded, LoadingSkeleton } from '../../components/states.tsx';
import { Usd } from '../../components/usd.tsx';
import { useAsk } from '../../data.tsx';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { addUsd } from '../../money.ts';
import { pages } from '../../pages.ts';
import { useMay } from '../../session.tsx';
import { timeZone } from '../../usage.ts';

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
      <Loaded query={business} skeleton={<LoadingSkeleton height="6rem" />}>
        {(figures) =>
          // Before the first money the next step is what matters, not figures of nothing; they do not move when it comes.
          figures.vndThisMonth === '0' && setup.isLoading ? (
            <LoadingSkeleton height="6rem" />
          ) : (
            <>
              {figures.vndThisMonth === '0' ? steps : null}
              <Waiting business={figures} />
              {may('giveGrant') ? <Money business={figures} /> : null}
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
      collect(steyg.console.books.revenue({ from: from.toISOString(), first: 1_000 }, { signal })),
    every: 60_000,
  });
  const sum = (read: (row: NonNullable<typeof revenue.data>[number]) => string) =>
    addUsd((revenue.data ?? []).map(read));
  const margin = sum((row) => row.margin ?? '0');
  const unknown = sum((row) => row.unknownCharged);
  // A margin over what is known says little while most of it is not: the note says of how much.
  const isAllUnknown = Number(unknown) > 0 && (revenue.data ?? []).every(({ margin }) => margin === null);
  return (
    <dl className="figures">
      <Figure label={t.operator.vndToday} value={format.vnd(business.vndToday)} />
      <Figure label={t.operator.vndThisMonth} value={format.vnd(business.vndThisMonth)} />
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
  );
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
