import { Link } from 'wouter';
import { Code } from '../components/copy.tsx';
import { PriceTable } from '../components/price-table.tsx';
import { Empty, Loaded, Skeleton } from '../components/states.tsx';
import { useAsk } from '../data.tsx';
import { useTitle } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';

/** What the service is, what it costs, and how to begin. */
export default function Landing() {
  const { t, format } = useLanguage();
  useTitle(t.landing.title);
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  const plans = useAsk({ key: ['plans'], ask: (steyg, signal) => steyg.console.orders.plans({}, { signal }) });
  const model = models.data?.at(-1)?.modelId ?? 'MODEL';
  const example = [
    `curl ${location.origin}/api/v1/chat/completions \\`,
    `  -H "authorization: Bearer $STEYG_API_KEY" \\`,
    `  -H "content-type: application/json" \\`,
    `  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Xin chào!"}]}'`,
  ].join('\n');
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
        </div>
        <Code text={example} what={t.landing.example} title={t.landing.example} />
      </section>
      <section aria-label={t.landing.promisesTitle} className="promises">
        {t.landing.promises.map(({ title, text }) => (
          <article key={title}>
            <h2>{title}</h2>
            <p>{text}</p>
          </article>
        ))}
      </section>
      <section id="prices">
        <h2>{t.landing.prices}</h2>
        <p>{t.models.unit}</p>
        <Loaded query={models} skeleton={<Skeleton lines={6} />}>
          {(list) => (list.length === 0 ? <Empty title={t.models.empty} /> : <PriceTable models={list} />)}
        </Loaded>
        <p className="hint">{t.models.stepsHint}</p>
        <p className="hint">{t.models.pairHint}</p>
      </section>
      <section id="plans">
        <h2>{t.landing.plans}</h2>
        <Loaded query={plans} skeleton={<Skeleton lines={3} />}>
          {(list) =>
            list.length === 0 ? (
              <Empty title={t.topUp.noPlans} />
            ) : (
              <ul className="plans">
                {list.map(({ id, name, priceVnd, budget, vndPerUsd, validDays }) => (
                  <li key={id} className="card">
                    <h3>{name}</h3>
                    <p className="price">{format.vnd(priceVnd)}</p>
                    <p>{fill(t.topUp.buys, { budget: format.usd(budget) })}</p>
                    <p className="hint">{fill(t.topUp.perUsd, { vnd: format.vnd(vndPerUsd) })}</p>
                    <p className="hint">
                      {validDays === null ? t.topUp.noEnd : fill(t.topUp.validDays, { days: format.number(validDays) })}
                    </p>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
        <p className="hint">{t.landing.payment}</p>
      </section>
      <section>
        <h2>{t.landing.openTitle}</h2>
        <p>
          {t.landing.openText} <a href="/status">{t.nav.status}</a> · <a href="/api/docs">{t.nav.reference}</a>
        </p>
      </section>
    </div>
  );
}
