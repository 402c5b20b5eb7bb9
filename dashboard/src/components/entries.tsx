/** The list of finished requests. */

import type { ElementOf, ListEntriesAnswer } from '@steyg/sdk';
import { useRef } from 'react';
import { Link } from 'wouter';
import { fill, useLanguage } from '../language/language.tsx';
import { missingUsd } from '../money.ts';
import { pages, pathTo } from '../pages.ts';
import { Moment } from './moment.tsx';
import { Badge, type Tone } from './page.tsx';
import { type Column, type Sorting, Table } from './table.tsx';

export type LedgerRow = ElementOf<ListEntriesAnswer>;

const tones: Partial<Record<NonNullable<LedgerRow['outcome']>, Tone>> = {
  COMPLETED: 'usual',
  BUDGET_STOPPED: 'warn',
  CLIENT_CLOSED: 'warn',
  SHUTDOWN: 'warn',
};

export function OutcomeBadge({ outcome }: { outcome: LedgerRow['outcome'] }) {
  const { t } = useLanguage();
  return (
    <Badge tone={(outcome === null ? undefined : tones[outcome]) ?? 'bad'}>{t.outcomes[outcome ?? 'OTHER']}</Badge>
  );
}

/** Finished requests. */
export function EntryTable({
  entries,
  caption,
  brief = false,
  accountId,
  sorting,
}: {
  entries: readonly LedgerRow[];
  caption: string;
  brief?: boolean;
  /** Of a customer, whose receipts operators open; left out: the reader's own. */
  accountId?: string;
  /** By one of the fields that the ledger can be sorted by. */
  sorting?: Sorting;
}) {
  const { t, format } = useLanguage();
  const columns: Column<LedgerRow>[] = [
    {
      head: t.activity.time,
      names: true,
      slot: 'start',
      sortsBy: 'TIME',
      cell: ({ createdAt, requestId }) => {
        const path =
          accountId === undefined
            ? pathTo(pages.entry, { requestId })
            : pathTo(pages.operatorRequest, { id: accountId, requestId });
        return (
          <Link href={path}>
            <Moment at={createdAt} />
          </Link>
        );
      },
    },
    {
      head: t.activity.model,
      slot: 'title',
      cell: ({ model, protocol, key }) => (
        <>
          <code>{model}</code>
          {brief ? null : (
            <span className="note one-line" title={key?.name}>
              {t.protocols[protocol ?? 'OTHER']} · {key?.name ?? '–'}
            </span>
          )}
        </>
      ),
    },
    {
      head: t.activity.tokens,
      figure: true,
      slot: 'middle',
      sortsBy: 'TOKENS',
      // Breaks between the pools rather than within a number.
      cell: ({ usage }) => (
        <span className="pools">
          {`${format.number(usage.input)} / ${format.number(usage.cacheHit)} / ${format.number(usage.output)}`}
        </span>
      ),
    },
    {
      head: t.activity.cost,
      figure: true,
      slot: 'side',
      sortsBy: 'COST',
      cell: ({ charged, cost }) => (
        <>
          {format.usd(charged)}
          {missingUsd({ charged, cost }) === null ? null : (
            <span className="note line">{fill(t.activity.chargedOf, { cost: format.usd(cost) })}</span>
          )}
        </>
      ),
    },
    {
      head: t.activity.latency,
      figure: true,
      slot: 'end',
      sortsBy: 'LATENCY',
      cell: ({ latencyMs, timeToFirstByteMs }) => (
        <>
          {format.milliseconds(latencyMs)}
          {/* Of an answer in one piece both are the same. */}
          {brief || timeToFirstByteMs === null || timeToFirstByteMs >= latencyMs ? null : (
            <span className="note line">
              {fill(t.activity.firstByteAfter, { time: format.milliseconds(timeToFirstByteMs) })}
            </span>
          )}
        </>
      ),
    },
    { head: t.activity.outcome, slot: 'mark', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  ];
  const arrived = useArrivals(entries);
  return (
    <Table
      caption={caption}
      rows={entries}
      rowKey={({ requestId }) => requestId}
      // In a list with another order, an entry that comes into view is not new.
      rowClass={({ requestId, outcome }) =>
        `${outcome === 'COMPLETED' ? 'fine' : ''} ${sorting === undefined && arrived(requestId) ? 'arrived' : ''}`.trim()
      }
      columns={columns}
      sorting={sorting}
    />
  );
}

/** Marks entries that arrived after the list was first shown. */
function useArrivals(entries: readonly LedgerRow[]): (requestId: string) => boolean {
  const newest = useRef<string | null>(null);
  // Request ids sort by time.
  newest.current ??= entries.reduce<string>((last, { requestId }) => (requestId > last ? requestId : last), '');
  const before = newest.current;
  return (requestId) => requestId > before;
}
