import type { EntryAnswer } from '@steyg/sdk';
import { Link } from 'wouter';
import { CopyValue } from '../components/copy.tsx';
import { OutcomeBadge } from '../components/entries.tsx';
import { Badge, Card, Figure, Page } from '../components/page.tsx';
import { Loaded } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { useAsk } from '../data.tsx';
import { usePart } from '../hooks.ts';
import { useLanguage } from '../language/language.tsx';
import { addUsd, parseUsd } from '../money.ts';
import { pages } from '../pages.ts';
import { useAccount } from '../session.tsx';

/** One request to its last digit: what it cost can be computed again from what stands here. */
export default function EntryPage() {
  const { t } = useLanguage();
  const requestId = usePart('requestId');
  const { id: accountId } = useAccount();
  const entry = useAsk({
    key: ['entry', accountId, requestId],
    ask: (steyg, signal) => steyg.console.ledger.entry({ accountId, requestId }, { signal }),
  });
  return (
    <Page title={t.entry.title} lead={<Link href={pages.activity}>{t.entry.back}</Link>}>
      <Loaded query={entry}>{(found) => <Details entry={found} />}</Loaded>
    </Page>
  );
}

function Details({ entry }: { entry: NonNullable<EntryAnswer> }) {
  const { t, format } = useLanguage();
  const sum = addUsd(entry.receipt.map(({ amount }) => amount));
  const addsUp = parseUsd(sum) === parseUsd(entry.cost);
  const pools = t.entry.pools as Record<string, string>;
  return (
    <>
      <CopyValue label={t.common.requestId} text={entry.requestId} />
      <dl className="figures">
        <Figure label={t.activity.outcome} value={<OutcomeBadge outcome={entry.outcome} />} />
        <Figure label={t.activity.time} value={format.dateTime(entry.createdAt)} />
        <Figure label={t.activity.model} value={<code>{entry.model}</code>} />
        <Figure
          label={t.activity.protocol}
          value={t.protocols[entry.protocol]}
          note={entry.stream ? t.entry.streamed : t.entry.whole}
        />
        <Figure
          label={t.activity.key}
          value={entry.key?.name ?? '–'}
          note={entry.key === null ? undefined : `…${entry.key.last4}`}
        />
        <Figure label={t.activity.latency} value={format.milliseconds(entry.latencyMs)} />
        <Figure
          label={t.activity.firstByte}
          value={entry.timeToFirstByteMs === null ? '–' : format.milliseconds(entry.timeToFirstByteMs)}
        />
        <Figure label={t.entry.source} value={t.entry.sources[entry.usageSource]} />
      </dl>
      <Card
        title={t.entry.receipt}
        actions={<Badge tone={addsUp ? 'good' : 'bad'}>{addsUp ? t.entry.addsUp : t.entry.doesNotAddUp}</Badge>}
      >
        <Table
          caption={t.entry.receipt}
          rows={entry.receipt}
          rowKey={({ pool }) => pool}
          columns={[
            { head: t.entry.pool, names: true, cell: ({ pool }) => pools[pool] ?? pool },
            { head: t.entry.tokens, figure: true, cell: ({ tokens }) => format.number(tokens) },
            { head: t.entry.price, figure: true, cell: ({ pricePerMillion }) => format.usdExact(pricePerMillion) },
            { head: t.entry.amount, figure: true, cell: ({ amount }) => format.usdExact(amount) },
          ]}
        />
        <dl className="sums">
          <div>
            <dt>{t.activity.cost}</dt>
            <dd>{format.usdExact(entry.cost)}</dd>
          </div>
          <div>
            <dt>{t.activity.charged}</dt>
            <dd>{format.usdExact(entry.charged)}</dd>
          </div>
          <div>
            <dt>{t.entry.freeAfter}</dt>
            <dd>{format.usdExact(entry.freeAfter)}</dd>
          </div>
          {entry.upstream === null ? null : (
            <div>
              <dt>{t.entry.upstream}</dt>
              <dd>
                <code>{entry.upstream}</code>
                {entry.upstreamCost === null ? '' : ` · ${format.usdExact(entry.upstreamCost)}`}
              </dd>
            </div>
          )}
        </dl>
        <p className="hint">{t.entry.kept}</p>
      </Card>
    </>
  );
}
