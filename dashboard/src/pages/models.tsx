/** The page of the catalog's models and prices. */

import type { ModelsAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Link } from 'wouter';
import { TextField } from '../components/field.tsx';
import { Badge, Card, Page } from '../components/page.tsx';
import { HoursHint, PiecesHint, type PricedPool, PriceTable, VndPair } from '../components/price-table.tsx';
import { Banner, Empty, Loaded, TableSkeleton } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { useAsk } from '../data.tsx';
import { hoursText } from '../hours.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';

type Model = NonNullable<ModelsAnswer>[number];

export default function Models() {
  const { t } = useLanguage();
  const [text, setText] = useState('');
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  const matches = ({ modelId, displayName, family, capabilities }: Model) =>
    [modelId, displayName, family, ...capabilities].some((each) =>
      each.toLowerCase().includes(text.trim().toLowerCase()),
    );
  return (
    <Page title={t.models.title} lead={t.models.lead}>
      <Loaded query={models} skeleton={<TableSkeleton />}>
        {(all) => {
          const shown = all.filter(matches);
          if (all.length === 0) return <Empty title={t.models.empty} />;
          return (
            <>
              {all.some(({ simulated }) => simulated) ? <Banner>{t.models.simulatedHint}</Banner> : null}
              {all.length > 6 ? (
                <div className="filters">
                  <TextField label={t.common.search} type="search" value={text} onChange={setText} />
                </div>
              ) : null}
              {shown.length === 0 ? (
                <Empty title={t.models.noMatch} />
              ) : (
                <>
                  <PriceTable models={shown} />
                  <p className="hint">
                    {t.models.stepsHint} {t.models.pairHint}
                  </p>
                  <div className="columns even">
                    {shown.map((model) => (
                      <Details key={model.id} model={model} />
                    ))}
                  </div>
                </>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

const pools: readonly PricedPool[] = ['input', 'cacheHit', 'cacheWrite5m', 'cacheWrite1h', 'output'];

function Details({ model }: { model: Model }) {
  const { t, format, locale } = useLanguage();
  const { prices } = model;
  return (
    <Card
      title={model.displayName}
      actions={
        model.kind === 'TEXT' ? (
          <Link href={`${pages.playground}?model=${encodeURIComponent(model.modelId)}`}>{t.models.try}</Link>
        ) : null
      }
    >
      <dl className="sums">
        <div>
          <dt>{t.models.model}</dt>
          <dd>
            <code>{model.modelId}</code> {model.simulated ? <Badge tone="warn">{t.models.simulated}</Badge> : null}
          </dd>
        </div>
        <div>
          <dt>{t.models.context}</dt>
          <dd>{fill(t.models.tokens, { n: format.number(model.contextWindow) })}</dd>
        </div>
        <div>
          <dt>{t.models.maxOutput}</dt>
          <dd>{fill(t.models.tokens, { n: format.number(model.maxOutputTokens) })}</dd>
        </div>
        <div>
          <dt>{t.models.protocols}</dt>
          <dd>{format.list(model.protocols.map((protocol) => t.protocols[protocol]))}</dd>
        </div>
        <div>
          <dt>{t.models.capabilities}</dt>
          <dd>
            {model.capabilities.length === 0
              ? '–'
              : format.list(model.capabilities.map((name) => nameOf(t.models.capabilityNames, name)))}
          </dd>
        </div>
      </dl>
      <details>
        <summary>{t.models.pricesVnd}</summary>
        <Table
          caption={`${t.models.caption}: ${model.displayName}`}
          rows={pools}
          rowKey={(pool) => pool}
          columns={[
            { head: t.entry.pool, names: true, cell: (pool) => t.models[pool] },
            { head: 'USD', figure: true, cell: (pool) => format.usdExact(prices[pool]) },
            { head: 'VND', figure: true, cell: (pool) => <VndPair prices={prices} pool={pool} /> },
          ]}
        />
        {prices.tiers.map((tier) => (
          <Table
            key={tier.abovePromptTokens}
            caption={fill(t.models.longPrompts, { n: format.number(tier.abovePromptTokens) })}
            rows={pools}
            rowKey={(pool) => pool}
            columns={[
              {
                head: fill(t.models.longPrompts, { n: format.number(tier.abovePromptTokens) }),
                names: true,
                cell: (pool) => t.models[pool],
              },
              { head: 'USD', figure: true, cell: (pool) => format.usdExact(tier[pool]) },
              { head: 'VND', figure: true, cell: (pool) => <VndPair prices={tier} pool={pool} /> },
            ]}
          />
        ))}
        {(prices.clock?.windows ?? []).flatMap((window) =>
          [
            { set: window, above: 0 },
            ...window.tiers.map((tier) => ({ set: tier, above: tier.abovePromptTokens })),
          ].map(({ set, above }) => {
            const hours = hoursText(window, prices.clock?.timeZone ?? '', locale);
            const head = above === 0 ? hours : `${hours}: ${fill(t.models.longPrompts, { n: format.number(above) })}`;
            return (
              <Table
                key={head}
                caption={head}
                rows={pools}
                rowKey={(pool) => pool}
                columns={[
                  { head, names: true, cell: (pool) => t.models[pool] },
                  { head: 'USD', figure: true, cell: (pool) => format.usdExact(set[pool]) },
                  { head: 'VND', figure: true, cell: (pool) => <VndPair prices={set} pool={pool} /> },
                ]}
              />
            );
          }),
        )}
        <HoursHint models={[model]} />
        <PiecesHint models={[model]} />
        {prices.clock === null ? null : <p className="hint">{t.models.hoursHint}</p>}
        {prices.tiers.length === 0 ? null : <p className="hint">{t.models.longPromptsHint}</p>}
        <p className="hint">{fill(t.models.since, { date: format.date(model.pricedSince) })}</p>
      </details>
    </Card>
  );
}

/** Names of capabilities are chosen by operators; known ones are translated. */
function nameOf(names: Record<string, string>, capability: string): string {
  return (Object.hasOwn(names, capability) ? names[capability] : undefined) ?? capability;
}
