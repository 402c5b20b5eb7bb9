/** The operator's list of orders. */

import type { ElementOf, OrderStatus, SearchOrdersAnswer } from '@steyg/sdk';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Moment } from '../../components/moment.tsx';
import { Page } from '../../components/page.tsx';
import { Empty, Loaded, More, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { usePages } from '../../data.tsx';
import { useSearchText } from '../../hooks.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { pages, pathTo } from '../../pages.ts';
import { OrderBadge } from '../top-up.tsx';
import { RefundOrderDialog } from './refunds.tsx';

const statuses = ['PENDING', 'PARTIAL', 'PAID', 'EXPIRED', 'CANCELLED'] as const;

export default function Orders() {
  const { t, format } = useOperatorLanguage();
  const [text, setText] = useSearchText();
  const [status, setStatus] = useState<OrderStatus | ''>('');
  const [refunding, setRefunding] = useState<ElementOf<SearchOrdersAnswer> | null>(null);
  const search = useDeferredValue(text.trim());
  const orders = usePages({
    key: ['operator', 'orders', search, status],
    ask: (steyg, after, signal) =>
      steyg.console.operator.searchOrders(
        { after, first: 25, search: search === '' ? null : search, status: status === '' ? null : status },
        { signal },
      ),
    every: 15_000,
  });
  return (
    <Page title={t.nav.operatorOrders} lead={t.operator.ordersLead}>
      <div className="filters">
        <TextField label={t.common.search} hint={t.operator.ordersHint} type="search" value={text} onChange={setText} />
        <SelectField
          label={t.order.status}
          value={status}
          onChange={(value) => setStatus(value as OrderStatus | '')}
          options={[
            { value: '', label: t.operator.anyStatus },
            ...statuses.map((value) => ({ value, label: t.order.statuses[value] })),
          ]}
        />
      </div>
      <Loaded query={orders} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.noOrders} />
          ) : (
            <Table
              caption={t.nav.operatorOrders}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: t.order.memo,
                  names: true,
                  cell: ({ memo: code, createdAt }) => (
                    <>
                      <code>{code}</code>
                      <span className="note">
                        <Moment at={createdAt} />
                      </span>
                    </>
                  ),
                },
                {
                  head: t.operator.account,
                  cell: ({ account: { id, name, email } }) => (
                    <>
                      <Link href={pathTo(pages.operatorAccount, { id })}>{name}</Link>
                      <span className="note">{email}</span>
                    </>
                  ),
                },
                {
                  head: t.order.plan,
                  cell: ({ planName, upgradedOrder, giftTo }) => (
                    <>
                      {upgradedOrder === null ? planName : fill(t.order.upgradeTo, { plan: planName })}
                      {giftTo === null ? null : (
                        <>
                          <br />
                          {fill(t.operator.giftFor, { receiver: giftTo })}
                        </>
                      )}
                    </>
                  ),
                },
                { head: t.order.price, figure: true, cell: ({ priceVnd }) => format.vnd(priceVnd) },
                {
                  head: t.order.received,
                  figure: true,
                  cell: ({ receivedVnd, payments }) => (
                    <>
                      {format.vnd(receivedVnd)}
                      {payments.map(({ bankReference, bookedAt }) => (
                        <span key={bookedAt} className="note">
                          {bankReference ?? '–'}, <Moment at={bookedAt} />
                        </span>
                      ))}
                    </>
                  ),
                },
                { head: t.order.budget, figure: true, cell: ({ budget }) => format.usd(budget) },
                {
                  head: t.order.status,
                  cell: ({ status: reached, creditNotes }) => (
                    <>
                      <OrderBadge status={reached} />
                      {creditNotes.map(({ number, amountVnd, undoneAt }) => (
                        <span key={number} className="note">
                          {t.operator.refunds.creditNote} {number}: {format.vnd(amountVnd)}
                          {undoneAt === null ? '' : ` (${t.operator.refunds.undoneState})`}
                        </span>
                      ))}
                    </>
                  ),
                },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (order) =>
                    order.status === 'PAID' ? (
                      <div className="row-actions">
                        <Button
                          takes="refundOrder"
                          small
                          aria-label={fill(t.operator.refunds.ofOrder, { memo: order.memo })}
                          onClick={() => setRefunding(order)}
                        >
                          {t.operator.refunds.refund}
                        </Button>
                      </div>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={orders} />
      {refunding === null ? null : <RefundOrderDialog order={refunding} onClose={() => setRefunding(null)} />}
    </Page>
  );
}
