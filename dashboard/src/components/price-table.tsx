/** The price table of the catalog. */

import type { ModelsAnswer } from '@steyg/sdk';
import { hoursText } from '../hours.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { Badge } from './page.tsx';
import { Table } from './table.tsx';

type Model = NonNullable<ModelsAnswer>[number];

export type PricedPool = 'input' | 'cacheHit' | 'cacheWrite5m' | 'cacheWrite1h' | 'output';

/** Two amounts of VND: at the Starter plan's price of a USD, and at the best plan's. */
export function VndPair({
  prices,
  pool,
}: {
  prices: Pick<Model['prices'], 'vndAtStarter' | 'vndAtBest'>;
  pool: PricedPool;
}) {
  const { t, format } = useLanguage();
  const { vndAtStarter: first, vndAtBest: second } = prices;
  if (first === null || second === null) return <>{t.models.noPlan}</>;
  return (
    <span className="pair">
      {format.vnd(first[pool])} <span aria-hidden="true">→</span>
      <span className="sr-only">{t.models.to}</span> {format.vnd(second[pool])}
    </span>
  );
}

/** A price in USD, and below it in VND at the Starter plan's price of a USD, and those of longer prompts, of other tiers and of other hours. */
function PriceCell({ prices, pool }: { prices: Model['prices']; pool: PricedPool }) {
  const { t, format } = useLanguage();
  const { vndAtStarter, tiers, variants, clock } = prices;
  return (
    <>
      {format.usdExact(prices[pool])}
      {vndAtStarter === null ? null : <small className="tier-price in-vnd">{format.vnd(vndAtStarter[pool])}</small>}
      {tiers.map((tier) => (
        <small key={tier.abovePromptTokens} className="tier-price">
          {fill(t.models.aboveTokens, {
            n: format.number(tier.abovePromptTokens),
            price: format.usdExact(tier[pool]),
          })}
        </small>
      ))}
      {variants.map((variant) => (
        <small key={variant.name} className="tier-price">
          {`${variant.name}: ${format.usdExact(variant[pool])}`}
        </small>
      ))}
      {(clock?.windows ?? []).map((window) => (
        <small key={window.hours.join()} className="tier-price">
          {fill(t.models.atHours, { price: format.usdExact(window[pool]) })}
        </small>
      ))}
    </>
  );
}

/** What is charged by the piece, beside the tokens. */
export function PiecesHint({ models }: { models: readonly Model[] }) {
  const { t, format } = useLanguage();
  return models.map(({ id, displayName, prices: { perUnit } }) => {
    const pieces = (['search', 'image', 'minute'] as const).flatMap((unit) => {
      const price = perUnit[unit];
      return price === null ? [] : [fill(t.models.perUnit[unit], { price: format.usdExact(price) })];
    });
    if (pieces.length === 0) return null;
    return (
      <p key={id} className="hint">
        {fill(t.models.piecesOf, { model: displayName, pieces: format.list(pieces) })}
      </p>
    );
  });
}

/** Which hours have their own prices, and on which dates they do not count. */
export function HoursHint({ models }: { models: readonly Model[] }) {
  const { t, format, locale } = useLanguage();
  const clocked = models.flatMap(({ id, displayName, prices: { clock } }) =>
    clock === null ? [] : [{ id, displayName, clock }],
  );
  return clocked.map(({ id, displayName, clock: { timeZone, exceptDates, windows } }) => (
    <p key={id} className="hint">
      {fill(t.models.hoursOf, {
        model: displayName,
        hours: windows.map((window) => hoursText(window, timeZone, locale)).join('; '),
      })}
      {exceptDates.length === 0
        ? ''
        : ` ${fill(t.models.exceptDates, { dates: exceptDates.map(format.dayOf).join(', ') })}`}
    </p>
  ));
}

/** What every model costs. */
export function PriceTable({ models }: { models: readonly Model[] }) {
  const { t, format } = useLanguage();
  return (
    <>
      <Table
        caption={t.models.caption}
        rows={models}
        rowKey={({ id }) => id}
        columns={[
          {
            head: t.models.model,
            names: true,
            cell: ({ displayName, modelId, kind, simulated }) => (
              <>
                {displayName} {simulated ? <Badge tone="warn">{t.models.simulated}</Badge> : null}
                {kind === 'EMBEDDING' ? <Badge>{t.models.embedding}</Badge> : null}
                {kind === 'IMAGE' ? <Badge>{t.models.image}</Badge> : null}
                <br />
                <code>{modelId}</code>
              </>
            ),
          },
          ...(['input', 'cacheHit', 'cacheWrite5m', 'cacheWrite1h', 'output'] as const).map((pool) => ({
            head: t.models[pool],
            figure: true,
            cell: (model: Model) => <PriceCell prices={model.prices} pool={pool} />,
          })),
          { head: t.models.outputVnd, figure: true, cell: ({ prices }) => <VndPair prices={prices} pool="output" /> },
          {
            head: t.models.steps,
            figure: true,
            cell: ({ kind, agentStepsFor5Usd, markedAgentStepsFor5Usd }) => {
              if (kind !== 'TEXT') return '–';
              if (agentStepsFor5Usd === null) return t.models.free;
              const steps = format.number(agentStepsFor5Usd);
              if (markedAgentStepsFor5Usd === null || markedAgentStepsFor5Usd === agentStepsFor5Usd) return steps;
              const marked = fill(t.models.stepsMarked, { n: format.number(markedAgentStepsFor5Usd) });
              return (
                <>
                  {steps}
                  <small className="tier-price">{marked}</small>
                </>
              );
            },
          },
        ]}
      />
      {models.some(({ prices }) => prices.tiers.length > 0) ? <p className="hint">{t.models.tierHint}</p> : null}
      <HoursHint models={models} />
      <PiecesHint models={models} />
    </>
  );
}
