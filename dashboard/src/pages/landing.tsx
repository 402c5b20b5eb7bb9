import type { ServiceStateAnswer } from '@steyg/sdk';
import { type ComponentType, lazy, Suspense, useState } from 'react';
import { Link } from 'wouter';
import { Code } from '../components/copy.tsx';
import { Choice } from '../components/field.tsx';
import { Badge, Card } from '../components/page.tsx';
import { PriceTable } from '../components/price-table.tsx';
import { Empty, Loaded, LoadingSkeleton, TableSkeleton } from '../components/states.tsx';
import { usePlans } from '../components/usd.tsx';
import { useAsk, useOrigin } from '../data.tsx';
import { useTitle } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { planPair } from '../money.ts';
import { pages } from '../pages.ts';

/** The settings of all tools are loaded late: they are long, and below the fold. */
const LateTools = lazy(() => import('../components/tool-panel.tsx'));

/** The landing page: the service, its prices, the first steps. `Tools` is given where nothing can be loaded late. */
export default function Landing({ Tools = LateTools }: { Tools?: ComponentType }) {
  const { t } = useLanguage();
  useTitle(t.landing.title);
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  return (
    <div className="landing">
      <section className="hero">
        <div>
          <h1>{t.landing.headline}</h1>
          <p className="lead">{t.landing.lead}</p>
          <div className="actions">
            <Link className="button primary" href={pages.signUp}>
              {t.landing.begin}
            </Link>
            <a className="button" href="#prices">
              {t.landing.seePrices}
            </a>
          </div>
          <p className="hint">{t.landing.trial}</p>
          <Now />
        </div>
        <Example model={models.data?.at(-1)?.modelId ?? 'MODEL'} />
      </section>
      <section aria-labelledby="steps">
        <h2 id="steps">{t.landing.stepsTitle}</h2>
        <ol className="begin">
          {t.landing.steps.map(({ title, text }, index) => (
            <li key={title}>
              <span className="step-mark" aria-hidden="true">
                {index + 1}
              </span>
              <div>
                <h3>{title}</h3>
                <p>{text}</p>
              </div>
            </li>
          ))}
        </ol>
      </section>
      <section id="prices" aria-labelledby="prices-title">
        <h2 id="prices-title">{t.landing.prices}</h2>
        <p>
          {t.landing.pricesLead} {t.models.unit}
        </p>
        <Loaded query={models} skeleton={<TableSkeleton rows={6} />}>
          {(list) => (list.length === 0 ? <Empty title={t.models.empty} /> : <PriceTable models={list} />)}
        </Loaded>
        <p className="hint">
          {t.models.stepsHint} {t.models.pairHint}
        </p>
      </section>
      <Plans />
      <section aria-labelledby="tools">
        <h2 id="tools">{t.landing.toolsTitle}</h2>
        <p>{t.landing.toolsText}</p>
        <Card>
          <Suspense fallback={<LoadingSkeleton lines={6} />}>
            <Tools />
          </Suspense>
        </Card>
      </section>
      <section aria-labelledby="promises">
        <h2 id="promises">{t.landing.promisesTitle}</h2>
        <div className="promises">
          {t.landing.promises.map(({ title, text }) => (
            <article key={title}>
              <h3>{title}</h3>
              <p>{text}</p>
            </article>
          ))}
        </div>
      </section>
      <section className="last">
        <h2>{t.landing.last}</h2>
        <p>{t.landing.trial}</p>
        <div className="actions">
          <Link className="button primary" href={pages.signUp}>
            {t.landing.begin}
          </Link>
          <a className="button" href="/api/docs">
            {t.nav.reference}
          </a>
        </div>
      </section>
    </div>
  );
}

const protocols = ['CHAT_COMPLETIONS', 'MESSAGES'] as const;
type Shown = (typeof protocols)[number];

/** The same question over either protocol, to be pasted. */
function Example({ model }: { model: string }) {
  const { t } = useLanguage();
  const [protocol, setProtocol] = useState<Shown>('CHAT_COMPLETIONS');
  const origin = useOrigin();
  return (
    <div className="example">
      <Choice
        label={t.landing.example}
        value={protocol}
        options={protocols.map((value) => ({ value, label: t.protocols[value] }))}
        onChange={(value) => setProtocol(value as Shown)}
      />
      <Code
        text={curlOf(protocol, model, origin)}
        what={fill(t.landing.exampleOf, { protocol: t.protocols[protocol] })}
        title={t.landing.example}
      />
    </div>
  );
}

function curlOf(protocol: Shown, model: string, origin: string): string {
  const base = `${origin}/api/v1`;
  const lines = {
    CHAT_COMPLETIONS: [
      `curl ${base}/chat/completions \\`,
      '  -H "authorization: Bearer $STEYG_API_KEY" \\',
      '  -H "content-type: application/json" \\',
      "  -d '{",
      `    "model": "${model}",`,
      '    "messages": [',
      '      {"role": "user", "content": "Xin chào!"}',
      '    ]',
      "  }'",
    ],
    MESSAGES: [
      `curl ${base}/messages \\`,
      '  -H "authorization: Bearer $STEYG_API_KEY" \\',
      '  -H "anthropic-version: 2023-06-01" \\',
      '  -H "content-type: application/json" \\',
      "  -d '{",
      `    "model": "${model}", "max_tokens": 512,`,
      '    "messages": [',
      '      {"role": "user", "content": "Xin chào!"}',
      '    ]',
      "  }'",
    ],
  };
  return lines[protocol].join('\n');
}

type Status = NonNullable<ServiceStateAnswer>;

const tones = { UP: 'good', DEGRADED: 'warn', DOWN: 'bad', NO_DATA: 'none' } as const;
const measuredDays = 30;

/** The present state of the models; left out without an answer. */
function Now() {
  const { t } = useLanguage();
  const status = useAsk({
    key: ['status'],
    ask: (steyg, signal) => steyg.console.status.serviceState({}, { signal }),
    every: 60_000,
  });
  return (
    <p className="now">
      {status.data == null ? (
        <a href="/status">{t.nav.status}</a>
      ) : (
        <>
          <i className={`dot ${tones[status.data.state]}`} aria-hidden="true" />
          <a href="/status">
            <Measured status={status.data} />
          </a>
        </>
      )}
    </p>
  );
}

function Measured({ status }: { status: Status }) {
  const { t, format } = useLanguage();
  const sum = (read: (uptime: Status['models'][number]['last30Days']) => number) =>
    status.models.reduce((all, { last30Days }) => all + read(last30Days), 0);
  const up = sum((uptime) => uptime.up);
  const answered = up + sum((uptime) => uptime.down);
  const state = t.landing.states[status.state];
  if (answered === 0) return <>{state}</>;
  // Cut, never rounded up: 99.99 % must not read as 100 %.
  const share = Math.floor((up / answered) * 10_000) / 10_000;
  const uptime = format.percent(share, 2);
  const { measuredSince } = status;
  // A figure of 30 days only where measuring goes back so far.
  if (measuredSince !== null && Date.now() - Date.parse(measuredSince) < measuredDays * 86_400_000)
    return <>{fill(t.landing.measuredSince, { state, since: format.dateTime(measuredSince), uptime })}</>;
  return <>{fill(t.landing.measured, { state, days: String(measuredDays), uptime })}</>;
}

function Plans() {
  const { t, format } = useLanguage();
  const plans = usePlans();
  return (
    <section id="plans" aria-labelledby="plans-title">
      <h2 id="plans-title">{t.landing.plans}</h2>
      <Loaded query={plans} skeleton={<LoadingSkeleton lines={3} />}>
        {(list) => {
          const best = list.length > 1 ? planPair(list)?.best.planId : undefined;
          if (list.length === 0) return <Empty title={t.topUp.noPlans} />;
          return (
            <ul className="plans">
              {list.map(({ id, planId, name, priceVnd, budget, vndPerUsd, validDays }) => (
                <li key={id} className={planId === best ? 'card best' : 'card'}>
                  <h3>
                    {name} {planId === best ? <Badge tone="good">{t.topUp.bestPrice}</Badge> : null}
                  </h3>
                  <p className="price">{format.vnd(priceVnd)}</p>
                  <p>{fill(t.topUp.buys, { budget: format.usd(budget) })}</p>
                  <p className="hint">
                    {fill(t.topUp.perUsd, { vnd: format.vnd(vndPerUsd) })} ·{' '}
                    {validDays === null ? t.topUp.noEnd : fill(t.topUp.validDays, { days: format.number(validDays) })}
                  </p>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
      <p className="hint">
        {t.landing.payment} {t.landing.openText} <a href="/status">{t.nav.status}</a>
      </p>
    </section>
  );
}
