/** Usage by session, user or tag, as a separate list below the chart. */

import type { AttributedUsageAnswer, ElementOf } from '@steyg/sdk';
import { useState } from 'react';
import { Link } from 'wouter';
import { useAttributionTexts } from '../attribution-texts.ts';
import { usePages } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { useAccount } from '../session.tsx';
import { Choice } from './field.tsx';
import { Moment } from './moment.tsx';
import { Card } from './page.tsx';
import { Empty, Loaded, More, TableSkeleton } from './states.tsx';
import { Table } from './table.tsx';

const kinds = ['SESSION', 'USER', 'TAG'] as const;
const orders = ['COST', 'TIME'] as const;

type Row = ElementOf<AttributedUsageAnswer>;

export function AttributedUsageTable({
  from,
  to,
  model,
  addressOf,
}: {
  from: string;
  to: string | null;
  model: string;
  /** Where the list of requests shows only those of a session. */
  addressOf: (session: string) => string;
}) {
  const { t, format, count } = useLanguage();
  const texts = useAttributionTexts();
  const { id: accountId } = useAccount();
  const [by, setBy] = useState<(typeof kinds)[number]>('SESSION');
  const [order, setOrder] = useState<(typeof orders)[number]>('TIME');
  const usage = usePages<Row>({
    key: ['attributed-usage', accountId, from, to, model, by],
    order,
    ask: async (steyg, after, signal) => {
      const asked = { accountId, by, order, from, ...(to === null ? {} : { to }), ...(model === '' ? {} : { model }) };
      const page = await steyg.console.ledger.attributedUsage({ ...asked, after, first: 20 }, { signal });
      if (page === null) return null;
      return { edges: page.nodes.map((node) => ({ node })), pageInfo: page.pageInfo };
    },
    // Those used last are watched while they run.
    every: order === 'TIME' ? 2_000 : 15_000,
  });
  const chosen = <Value extends string>(list: readonly Value[], value: string): Value =>
    list.find((each) => each === value) ?? (list[0] as Value);
  return (
    <Card
      title={texts.title}
      actions={
        <div className="filters">
          <Choice
            label={texts.kind}
            value={by}
            options={kinds.map((value) => ({ value, label: texts.kinds[value] }))}
            onChange={(value) => setBy(chosen(kinds, value))}
          />
          <Choice
            label={texts.order}
            value={order}
            options={orders.map((value) => ({ value, label: texts.orders[value] }))}
            onChange={(value) => setOrder(chosen(orders, value))}
          />
        </div>
      }
    >
      <p className="hint">
        {texts.lead} <Link href={`${pages.settings}#stored`}>{texts.settings}</Link>
      </p>
      <Loaded query={usage} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={texts.empty}>{texts.emptyText}</Empty>
          ) : (
            <>
              <Table
                caption={texts.title}
                rows={rows}
                rowKey={({ label }) => label}
                columns={[
                  {
                    head: texts.kinds[by],
                    names: true,
                    slot: 'title',
                    cell: ({ label }) =>
                      by === 'SESSION' ? (
                        <Link href={addressOf(label)}>
                          <code>{label}</code>
                        </Link>
                      ) : (
                        <code>{label}</code>
                      ),
                  },
                  {
                    head: t.activity.measures.requests,
                    figure: true,
                    slot: 'start',
                    // Without its column's head a bare number says nothing.
                    cell: ({ requests }) => (
                      <>
                        <span className="in-columns">{format.number(Number(requests))}</span>
                        <span className="in-lines">{count(t.overview.requests, Number(requests))}</span>
                      </>
                    ),
                  },
                  {
                    head: t.activity.tokens,
                    figure: true,
                    slot: 'middle',
                    cell: ({ tokens }) => (
                      <span className="pools">
                        {`${format.number(tokens.input)} / ${format.number(tokens.cacheHit)} / ${format.number(tokens.output)}`}
                      </span>
                    ),
                  },
                  { head: t.activity.charged, figure: true, slot: 'side', cell: ({ charged }) => format.usd(charged) },
                  { head: texts.last, slot: 'end', cell: ({ lastAt }) => <Moment at={lastAt} /> },
                ]}
              />
              {rows.some(({ label }) => label.includes('~')) ? <p className="hint">{texts.digests}</p> : null}
            </>
          )
        }
      </Loaded>
      <More query={usage} />
    </Card>
  );
}
