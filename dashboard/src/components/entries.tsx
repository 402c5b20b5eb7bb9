import type { ElementOf, ListEntriesAnswer } from '@steyg/sdk';
import { Link } from 'wouter';
import { useLanguage } from '../language/language.tsx';
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
    { head: t.activity.model, cell: ({ model }) => <code>{model}</code> },
    ...(brief
      ? []
      : [
          { head: t.activity.key, cell: ({ key }: Entry) => <Clipped text={key?.name ?? '–'} /> },
          { head: t.activity.protocol, cell: ({ protocol }: Entry) => t.protocols[protocol] },
        ]),
    {
      head: t.activity.tokens,
      figure: true,
      cell: ({ usage }) =>
        `${format.number(usage.input)} / ${format.number(usage.cacheHit)} / ${format.number(usage.output)}`,
    },
    { head: t.activity.cost, figure: true, cell: ({ charged }) => format.usd(charged) },
    { head: t.activity.latency, figure: true, cell: ({ latencyMs }) => format.milliseconds(latencyMs) },
    ...(brief
      ? []
      : [
          {
            head: t.activity.firstByte,
            figure: true,
            cell: ({ timeToFirstByteMs }: Entry) =>
              timeToFirstByteMs === null ? '–' : format.milliseconds(timeToFirstByteMs),
          },
        ]),
    { head: t.activity.outcome, cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  ];
  return <Table caption={caption} rows={entries} rowKey={({ requestId }) => requestId} columns={columns} />;
}
