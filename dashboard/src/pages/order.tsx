/** The page of an order: how to pay it, then its receipt. */

import type { OrderAnswer } from '@steyg/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../components/button.tsx';
import { Confirm } from '../components/dialog.tsx';
import { Files } from '../components/files.tsx';
import { Icon } from '../components/icon.tsx';
import { Card, Page } from '../components/page.tsx';
import { PayByTransfer } from '../components/pay-by-transfer.tsx';
import { Banner, FailureNotice, Loaded } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { useAsk, useChange } from '../data.tsx';
import { useNow, usePart } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { pages } from '../pages.ts';
import { useAbilities } from '../session.tsx';
import { OrderBadge } from './top-up.tsx';

type Order = NonNullable<OrderAnswer>;

const isOpen = ({ status }: Pick<Order, 'status'>) => status === 'PENDING' || status === 'PARTIAL';

/** The receipt's link works for an hour; an open page renews it. */
const renewMs = 30 * 60_000;

/** Payment instructions; the page turns to paid when the money arrives. */
export default function OrderPage() {
  const { t } = useLanguage();
  const id = usePart('id');
  const queries = useQueryClient();
  const order = useAsk({
    key: ['order', id],
    ask: (steyg, signal) => steyg.console.orders.order({ id }, { signal }),
    every: (data) => (data == null ? false : isOpen(data) ? 3_000 : renewMs),
  });
  const status = order.data?.status;
  useEffect(() => {
    // The purchased budget is visible with the payment.
    if (status !== 'PAID') return;
    void queries.invalidateQueries({ queryKey: ['budget'] });
    void queries.invalidateQueries({ queryKey: ['orders'] });
  }, [status, queries]);
  return (
    <Page title={t.order.title} lead={<Link href={pages.topUp}>{t.order.back}</Link>}>
      <Loaded query={order}>{(found) => <Details order={found} />}</Loaded>
    </Page>
  );
}

function Details({ order }: { order: Order }) {
  const { t, format } = useLanguage();
  const now = useNow();
  const surplus = BigInt(order.receivedVnd) - BigInt(order.priceVnd);
  return (
    <>
      <div role="status">
        {order.status === 'PAID' ? (
          <Banner tone="good" icon="check">
            <p>
              {fill(t.order.paid, {
                budget: format.usd(order.budget),
                time: order.paidAt === null ? '' : format.dateTime(order.paidAt),
              })}
            </p>
          </Banner>
        ) : null}
        {order.status === 'PENDING' ? (
          <p className="waiting-line">
            <span className="pulse" aria-hidden="true" />
            {fill(t.order.waiting, {
              end: format.dateTime(order.expiresAt),
              relative: format.relative(order.expiresAt, now),
            })}
          </p>
        ) : null}
        {order.status === 'PARTIAL' ? (
          <Banner tone="warn">
            {fill(t.order.partial, { received: format.vnd(order.receivedVnd), price: format.vnd(order.priceVnd) })}
          </Banner>
        ) : null}
        {order.status === 'PAID' && surplus > 0n ? (
          <Banner tone="warn">
            {fill(t.order.surplus, {
              received: format.vnd(order.receivedVnd),
              price: format.vnd(order.priceVnd),
              more: format.vnd(String(surplus)),
            })}
          </Banner>
        ) : null}
        {order.status === 'EXPIRED' ? <Banner tone="warn">{t.order.expired}</Banner> : null}
        {order.status === 'CANCELLED' ? <Banner>{t.order.cancelled}</Banner> : null}
      </div>
      <div className={order.payment === null ? 'columns' : 'columns paying'}>
        {order.payment === null ? null : <PayByTransfer payment={order.payment} />}
        <Summary order={order} />
        {order.status === 'PAID' ? <ReceiptCard order={order} /> : null}
      </div>
      {order.creditNotes.length === 0 ? null : <CreditNotes order={order} />}
    </>
  );
}

function Summary({ order }: { order: Order }) {
  const { t, format } = useLanguage();
  const { billing } = useAbilities();
  const [asking, setAsking] = useState(false);
  const cancel = useChange({
    change: (steyg, id: string) => steyg.console.orders.cancelOrder({ id }),
    refresh: [['order', order.id], ['orders']],
  });
  return (
    <Card
      title={order.upgradedOrder === null ? order.planName : fill(t.order.upgradeTo, { plan: order.planName })}
      actions={<OrderBadge status={order.status} />}
    >
      <dl className="sums">
        <div>
          <dt>{t.order.price}</dt>
          <dd>{format.vnd(order.priceVnd)}</dd>
        </div>
        <div>
          <dt>{t.order.received}</dt>
          <dd>{format.vnd(order.receivedVnd)}</dd>
        </div>
        <div>
          <dt>{t.order.budget}</dt>
          <dd>{format.usd(order.budget)}</dd>
        </div>
        {order.bonus === '0' ? null : (
          <div>
            <dt>{t.topUp.bonusOf}</dt>
            <dd>{format.usd(order.bonus)}</dd>
          </div>
        )}
        <div>
          <dt>{t.order.validity}</dt>
          <dd>
            {order.validDays === null
              ? t.topUp.noEnd
              : fill(t.topUp.validDays, { days: format.number(order.validDays) })}
          </dd>
        </div>
        <div>
          <dt>{t.order.made}</dt>
          <dd>{format.dateTime(order.createdAt)}</dd>
        </div>
      </dl>
      {order.giftTo === null ? null : <p>{fill(t.topUp.gift, { receiver: order.giftTo })}</p>}
      {cancel.error === null ? null : <FailureNotice error={cancel.error} />}
      {order.status === 'PENDING' && billing ? (
        <div className="actions">
          <Button look="danger" onClick={() => setAsking(true)}>
            {t.order.cancel}
          </Button>
        </div>
      ) : null}
      {asking ? (
        <Confirm
          title={t.order.cancel}
          action={t.order.cancel}
          busy={cancel.isPending}
          onClose={() => setAsking(false)}
          onConfirm={() => cancel.mutate(order.id, { onSettled: () => setAsking(false) })}
        >
          <p>{t.order.cancelText}</p>
        </Confirm>
      ) : null}
    </Card>
  );
}

/** What of the order goes back, with its papers. */
function CreditNotes({ order }: { order: Order }) {
  const { t, format, locale } = useLanguage();
  return (
    <Card title={t.order.creditNotes}>
      <Table
        caption={t.order.creditNotes}
        rows={order.creditNotes}
        rowKey={({ number }) => number}
        columns={[
          { head: t.order.number, names: true, cell: ({ number }) => number },
          { head: t.order.issued, cell: ({ issuedAt }) => format.dateTime(issuedAt) },
          { head: t.order.amount, figure: true, cell: ({ amountVnd }) => format.vnd(amountVnd) },
          {
            head: t.order.sentBack,
            figure: true,
            cell: ({ sentVnd, undoneAt }) => (undoneAt === null ? format.vnd(sentVnd) : t.order.cancelledNote),
          },
          {
            head: t.common.actions,
            silentHead: true,
            cell: ({ url, number }) => (
              <div className="row-actions">
                <Files url={`${url}&lang=${locale}`} what={`${t.order.creditNotes} ${number}`} />
              </div>
            ),
          },
        ]}
      />
    </Card>
  );
}

function ReceiptCard({ order }: { order: Order }) {
  const { t, format, locale } = useLanguage();
  return (
    <Card
      title={t.order.receipt}
      actions={
        order.receiptUrl === null ? null : (
          <>
            <a
              className="button small"
              href={`${order.receiptUrl}&lang=${locale}`}
              target="_blank"
              rel="noreferrer"
              aria-label={t.order.printNew}
            >
              {t.order.print} <Icon name="external" />
            </a>
            <Files url={`${order.receiptUrl}&lang=${locale}`} what={`${t.order.receipt} ${order.memo}`} />
          </>
        )
      }
    >
      <dl className="sums">
        <div>
          <dt>{t.order.number}</dt>
          <dd>
            <code>{order.memo}</code>
          </dd>
        </div>
        <div>
          <dt>{t.order.issued}</dt>
          <dd>{format.dateTime(order.paidAt ?? order.createdAt)}</dd>
        </div>
        <div>
          <dt>{t.nav.account}</dt>
          <dd>
            {order.account.name}, {order.account.email}
          </dd>
        </div>
      </dl>
      {order.invoice === null ? null : (
        <p>
          {t.order.invoice}: {t.order.invoiceStates[order.invoice.state ?? 'OTHER']}
          {order.invoice.number === null ? null : `, ${order.invoice.number}`}{' '}
          {order.invoice.url === null ? null : (
            <a href={order.invoice.url} target="_blank" rel="noreferrer">
              {t.order.invoice} <Icon name="external" />
            </a>
          )}{' '}
          {order.invoice.fileUrl === null ? null : <a href={order.invoice.fileUrl}>{t.order.invoiceFile}</a>}
        </p>
      )}
      <Table
        caption={t.order.payments}
        rows={order.payments}
        rowKey={(payment, index) => payment.bankReference ?? String(index)}
        columns={[
          { head: t.order.booked, names: true, cell: ({ bookedAt }) => format.dateTime(bookedAt) },
          { head: t.order.reference, cell: ({ bankReference }) => bankReference ?? '–' },
          { head: t.order.amount, figure: true, cell: ({ amountVnd }) => format.vnd(amountVnd) },
        ]}
      />
    </Card>
  );
}
