import type { ElementOf, ListEntriesAnswer } from '@steyg/sdk';
import { useRef } from 'react';
import { Link } from 'wouter';
import { fill, useLanguage } from '../language/language.tsx';
import { pages, pathTo } from '../pages.ts';
import { Moment } from './moment.tsx';
import { Badge, Clipped } from './page.tsx';
import { type Column, Table } from './table.tsx';

export type Entry = ElementOf<ListEntriesAnswer>;

const tones: Partial<Record<Entry['outcome'], 'good' | 'warn' | 'bad'>> = {
  COMPLETED: 'good',
  BUDGET_STOPPED: 'warn',
  CLIENT_CLOSED: 'warn',
  SHUTDOWN: 'warn',
};

export function OutcomeBadge({ outcome }: { outcome: Entry['outcome'] }) {
  const { t } = useLanguage();
  return <Badge tone={tones[outcome] ?? 'bad'}>{t.outcomes[outcome]}</Badge>;
}

/** Finished requests. */
export function EntryTable({
  entries,
  caption,
  brief = false,
  linked = true,
}: {
  entries: readonly Entry[];
  caption: string;
  brief?: boolean;
  /** Whether the receipt can be opened: it is shown in the account whose it is. */
  linked?: boolean;
}) {
  const { t, format } = useLanguage();
  const columns: Column<Entry>[] = [
    {
      head: t.activity.time,
      names: true,
      cell: ({ createdAt, requestId }) => {
        const time = <Moment at={createdAt} />;
        return linked ? <Link href={pathTo(pages.entry, { requestId })}>{time}</Link> : time;
      },
    },
    {
      head: t.activity.model,
      cell: ({ model, protocol }) => (
        <>
          <code className="line">{model}</code>
          {brief ? null : <span className="note line">{t.protocols[protocol]}</span>}
        </>
      ),
    },
    ...(brief ? [] : [{ head: t.activity.key, cell: ({ key }: Entry) => <Clipped text={key?.name ?? '–'} /> }]),
    {
      head: t.activity.tokens,
      figure: true,
      cell: ({ usage }) =>
        `${format.number(usage.input)} / ${format.number(usage.cacheHit)} / ${format.number(usage.output)}`,
    },
    { head: t.activity.cost, figure: true, cell: ({ charged }) => format.usd(charged) },
    {
      head: t.activity.latency,
      figure: true,
      cell: ({ latencyMs, timeToFirstByteMs }) => (
        <>
          {format.milliseconds(latencyMs)}
          {brief || timeToFirstByteMs === null ? null : (
            <span className="note line">
              {fill(t.activity.firstByteAfter, { time: format.milliseconds(timeToFirstByteMs) })}
            </span>
          )}
        </>
      ),
    },
    { head: t.activity.outcome, cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  ];
  const arrived = useArrivals(entries);
  return (
    <Table
      caption={caption}
      rows={entries}
      rowKey={({ requestId }) => requestId}
      rowClass={({ requestId }) => (arrived(requestId) ? 'arrived' : '')}
      columns={columns}
    />
  );
}

/** Tells what is newer than all that was there when the list was first shown: it came while somebody looked. */
function useArrivals(entries: readonly Entry[]): (requestId: string) => boolean {
  const newest = useRef<string | null>(null);
  // Request ids sort by time.
  newest.current ??= entries.reduce<string>((last, { requestId }) => (requestId > last ? requestId : last), '');
  const before = newest.current;
  return (requestId) => requestId > before;
}
