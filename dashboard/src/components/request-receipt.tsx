import type { EntryAnswer } from '@steyg/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAttributionTexts } from '../attribution-texts.ts';
import { masked } from '../format.ts';
import { hoursText } from '../hours.ts';
import { fill, useLanguage } from '../language/language.tsx';
import type { Texts } from '../language/texts.ts';
import { addUsd, missingUsd, parseUsd } from '../money.ts';
import { pages } from '../pages.ts';
import { columnSum } from '../usage.ts';
import { CopyValue } from './copy.tsx';
import { OutcomeBadge } from './entries.tsx';
import { Badge, Card, Figure } from './page.tsx';
import { Banner } from './states.tsx';
import { Table } from './table.tsx';
import { Usd } from './usd.tsx';

/** The receipt of one request, for its customer and for operators. `elsewhere`: its sessions are not among the reader's own. */
export function RequestReceipt({ entry, elsewhere = false }: { entry: NonNullable<EntryAnswer>; elsewhere?: boolean }) {
  const { t, format, locale } = useLanguage();
  const texts = useAttributionTexts();
  const noted = entry.attribution;
  const sum = addUsd([...entry.receipt, ...entry.units, ...entry.lines].map(({ amount }) => amount));
  const addsUp = parseUsd(sum) === parseUsd(entry.cost);
  const missing = missingUsd(entry);
  return (
    <>
      {missing === null ? null : (
        <Banner tone="warn">
          {fill(t.entry.inPart, {
            charged: format.usdExact(entry.charged),
            cost: format.usdExact(entry.cost),
            missing: format.usdExact(missing),
          })}
        </Banner>
      )}
      <dl className="figures">
        <Figure label={t.activity.charged} value={<Usd amount={entry.charged} />} />
        <Figure label={t.entry.tokens} value={format.number(columnSum(entry.receipt, ({ tokens }) => tokens))} />
        <Figure label={t.activity.latency} value={format.milliseconds(entry.latencyMs)} />
        <Figure
          label={t.activity.firstByte}
          value={entry.timeToFirstByteMs === null ? '–' : format.milliseconds(entry.timeToFirstByteMs)}
        />
      </dl>
      <Card>
        <dl className="sums">
          <Fact name={t.activity.outcome}>
            <OutcomeBadge outcome={entry.outcome} />
          </Fact>
          <Fact name={t.activity.time}>
            {format.date(entry.createdAt)} {format.time(entry.createdAt)}
          </Fact>
          <Fact name={t.activity.model}>
            <code>{entry.model}</code>
          </Fact>
          <Fact name={t.activity.protocol}>
            {t.protocols[entry.protocol ?? 'OTHER']}, {entry.stream ? t.entry.streamed : t.entry.whole}
          </Fact>
          <Fact name={t.activity.key}>
            {entry.key === null ? (
              '–'
            ) : (
              <>
                {entry.key.name} <code>{masked(entry.key.last4)}</code>
              </>
            )}
          </Fact>
          {noted?.session == null ? null : (
            <Fact name={texts.session}>
              {elsewhere ? (
                <code>{noted.session}</code>
              ) : (
                <Link href={`${pages.activity}?session=${encodeURIComponent(noted.session)}`}>
                  <code>{noted.session}</code>
                </Link>
              )}
            </Fact>
          )}
          {noted?.user == null ? null : (
            <Fact name={texts.user}>
              <code>{noted.user}</code>
            </Fact>
          )}
          {noted === null || noted.tags.length === 0 ? null : (
            <Fact name={texts.tags}>
              {noted.tags.map((tag) => (
                <code key={tag} className="row">
                  {tag}
                </code>
              ))}
            </Fact>
          )}
          <Fact name={t.entry.source}>{t.entry.sources[entry.usageSource ?? 'OTHER']}</Fact>
        </dl>
        <CopyValue label={t.common.requestId} text={entry.requestId} />
      </Card>
      <Card
        title={t.entry.receipt}
        actions={<Badge tone={addsUp ? 'usual' : 'bad'}>{addsUp ? t.entry.addsUp : t.entry.doesNotAddUp}</Badge>}
      >
        <Table
          caption={t.entry.receipt}
          rows={entry.receipt}
          rowKey={({ tokenPool }) => tokenPool}
          columns={[
            { head: t.entry.pool, names: true, cell: ({ tokenPool }) => t.entry.pools[tokenPool] },
            { head: t.entry.tokens, figure: true, cell: ({ tokens }) => format.number(tokens) },
            { head: t.entry.price, figure: true, cell: ({ pricePerMillion }) => format.usdExact(pricePerMillion) },
            { head: t.entry.amount, figure: true, cell: ({ amount }) => format.usdExact(amount) },
          ]}
        />
        <dl className="sums">
          {entry.units.map(({ chargedUnit, count, price, amount }) => (
            <Fact key={chargedUnit} name={t.entry.units[chargedUnit ?? 'OTHER']}>
              {`${format.number(count)} × ${format.usdExact(price)} = ${format.usdExact(amount)}`}
            </Fact>
          ))}
          {entry.lines.map(({ model, receipt, amount }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of an entry never change
            <Fact key={index} name={fill(t.entry.otherModel, { model })}>
              {`${receipt
                .filter(({ tokens }) => BigInt(tokens) > 0n)
                .map(
                  ({ tokenPool, tokens, pricePerMillion }) =>
                    `${t.entry.pools[tokenPool]} ${format.number(tokens)} × ${format.usdExact(pricePerMillion)}`,
                )
                .join(' + ')} = ${format.usdExact(amount)}`}
            </Fact>
          ))}
          {entry.tier === null ? null : <Fact name={t.entry.tier}>{tierText(entry.tier, t, format.number)}</Fact>}
          {entry.variant === null ? null : (
            <Fact name={t.entry.variant}>
              {fill(t.entry.variants, {
                asked: entry.variant.asked,
                served: entry.variant.served === null ? t.entry.notSaid : entry.variant.served || t.entry.ordinary,
                charged: entry.variant.counted ?? t.entry.ordinary,
              })}
            </Fact>
          )}
          {entry.clock === null ? null : (
            <Fact name={t.entry.clock}>
              {entry.clock.window === null
                ? t.entry.otherHours
                : hoursText(
                    { ...entry.clock.window, hours: [entry.clock.window.period] },
                    entry.clock.window.timeZone,
                    locale,
                  )}
              {` · ${fill(t.entry.pricedAt, { time: format.dateTime(entry.clock.pricedAt) })}`}
            </Fact>
          )}
          <Fact name={t.activity.cost}>
            <Exact amount={entry.cost} />
          </Fact>
          <Fact name={t.activity.charged}>
            <Exact amount={entry.charged} />
          </Fact>
          <Fact name={t.entry.freeAfter}>
            <Exact amount={entry.freeAfter} />
          </Fact>
          {entry.operator === null || entry.operator.upstream === null ? null : (
            <Fact name={t.entry.upstream}>
              <code>{entry.operator.upstream}</code>
              {` · ${entry.operator.upstreamCost === null ? t.entry.unknownCost : format.usdExact(entry.operator.upstreamCost)}`}
              {entry.operator.margin === null ? '' : ` · ${t.entry.margin} ${format.usdExact(entry.operator.margin)}`}
            </Fact>
          )}
        </dl>
        <p className="hint">{t.entry.kept}</p>
      </Card>
    </>
  );
}

/** The prompt lengths that the prices of the receipt are for. */
function tierText(
  { abovePromptTokens, upToPromptTokens }: NonNullable<NonNullable<EntryAnswer>['tier']>,
  t: Texts,
  number: (value: number) => string,
): string {
  if (abovePromptTokens === null) return fill(t.entry.tierUpTo, { n: number(upToPromptTokens ?? 0) });
  if (upToPromptTokens === null) return fill(t.entry.tierAbove, { n: number(abovePromptTokens) });
  return fill(t.entry.tierBetween, { n: number(abovePromptTokens), m: number(upToPromptTokens) });
}

/** To the last digit, in one line. */
function Exact({ amount }: { amount: string }) {
  const { format } = useLanguage();
  return <span className="usd">{format.usdExact(amount)}</span>;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
