/** The operator's list of orders. */

import type { OrderStatus } from '@steyg/sdk';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { SelectField, TextField } from '../../components/field.tsx';
import { Moment } from '../../components/moment.tsx';
import { Page } from '../../components/page.tsx';
import { Empty, Loaded, More } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { usePages } from '../../data.tsx';
import { useSearchText } from '../../hooks.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { pages, pathTo } from '../../pages.ts';
import { OrderBadge } from '../top-up.tsx';

const statuses = ['PENDING', 'PARTIAL', 'PAID', 'EXPIRED', 'CANCELLED'] as const;

export default function Orders() {
  const { t, format } = useOperatorLanguage();
  const [text, setText] = useSearchText();
  const [status, setStatus] = useState<OrderStatus | ''>('');
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
      <Loaded query={orders}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.noOrders} />
          ) : (
            <Table
              caption={t.nav.operatorOrders}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                { head: t.order.memo, names: true, cell: (order) => <code>{order.memo}</code> },
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
                { head: t.order.made, cell: ({ createdAt }) => <Moment at={createdAt} /> },
                { head: t.order.status, cell: (order) => <OrderBadge status={order.status} /> },
              ]}
            />
          )
        }
      </Loaded>
      <More query={orders} />
    </Page>
  );
}
