/** The operator's page of bank transfers. */

import type { ElementOf, ListBankTransfersAnswer } from '@steyg/sdk';
import { useDeferredValue, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Choice, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Moment } from '../../components/moment.tsx';
import { Badge, Page } from '../../components/page.tsx';
import { Empty, FailureNotice, Loaded, More } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useAsk, useChange, usePages } from '../../data.tsx';
import { useExplain } from '../../explain.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { OrderBadge } from '../top-up.tsx';

type Transfer = ElementOf<ListBankTransfersAnswer>;

const transfersKey = ['operator', 'transfers'];

export default function Transfers() {
  const { t, format } = useOperatorLanguage();
  const [queue, setQueue] = useState(true);
  const [open, setOpen] = useState<{ what: 'match' | 'close'; transfer: Transfer } | { what: 'record' } | null>(null);
  const transfers = usePages({
    key: [...transfersKey, queue],
    ask: (steyg, after, signal) => steyg.console.operator.listBankTransfers({ after, first: 25, queue }, { signal }),
    every: 15_000,
  });
  const close = () => setOpen(null);
  return (
    <Page
      title={t.nav.operatorTransfers}
      lead={t.operator.transfersLead}
      actions={<Button onClick={() => setOpen({ what: 'record' })}>{t.operator.record}</Button>}
    >
      <Choice
        label={t.operator.which}
        value={queue ? 'queue' : 'all'}
        options={[
          { value: 'queue', label: t.operator.queue },
          { value: 'all', label: t.operator.allTransfers },
        ]}
        onChange={(value) => setQueue(value === 'queue')}
      />
      <Loaded query={transfers}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={queue ? t.operator.queueEmpty : t.operator.noTransfers} />
          ) : (
            <Table
              caption={t.nav.operatorTransfers}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: t.operator.memoText,
                  names: true,
                  cell: ({ memo, bankReference, provider }) => (
                    <>
                      {memo === '' ? '–' : memo}
                      <span className="note">
                        {provider} {bankReference ?? ''}
                      </span>
                    </>
                  ),
                },
                {
                  head: t.order.amount,
                  figure: true,
                  cell: ({ amountVnd, direction }) => `${direction === 'OUT' ? '−' : ''}${format.vnd(amountVnd)}`,
                },
                { head: t.order.booked, cell: ({ bookedAt }) => <Moment at={bookedAt} /> },
                { head: t.operator.state, cell: (transfer) => <State transfer={transfer} /> },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (transfer) =>
                    transfer.review === null || transfer.review.closedAt !== null ? null : (
                      <div className="row-actions wrap">
                        {transfer.orderId === null && transfer.direction === 'IN' ? (
                          <Button small look="primary" onClick={() => setOpen({ what: 'match', transfer })}>
                            {t.operator.match}
                          </Button>
                        ) : null}
                        <Button small onClick={() => setOpen({ what: 'close', transfer })}>
                          {t.operator.settleReview}
                        </Button>
                      </div>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={transfers} />
      {open?.what === 'match' ? <MatchDialog transfer={open.transfer} onClose={close} /> : null}
      {open?.what === 'close' ? <CloseDialog transfer={open.transfer} onClose={close} /> : null}
      {open?.what === 'record' ? <RecordDialog onClose={close} /> : null}
    </Page>
  );
}

function State({ transfer }: { transfer: Transfer }) {
  const { t, format } = useOperatorLanguage();
  const { review, orderId, matchedBy } = transfer;
  return (
    <>
      {orderId === null ? null : (
        <Badge tone="good">
          {fill(t.operator.matched, { by: matchedBy === 'matcher' ? t.operator.byItself : (matchedBy ?? '') })}
        </Badge>
      )}
      {review === null ? null : (
        <>
          <Badge tone={review.closedAt === null ? 'warn' : 'plain'}>{t.operator.reasons[review.reason]}</Badge>
          {review.surplusVnd === null ? null : (
            <span className="note">{fill(t.operator.surplus, { vnd: format.vnd(review.surplusVnd) })}</span>
          )}
          {review.note === null ? null : <span className="note">{review.note}</span>}
        </>
      )}
    </>
  );
}

/** Finds the order that a transfer pays: by its text first, else by a search. */
function MatchDialog({ transfer, onClose }: { transfer: Transfer; onClose: () => void }) {
  const { t, format } = useOperatorLanguage();
  const say = useSay();
  const [text, setText] = useState('');
  const memo = useDeferredValue(text.trim());
  const orders = useAsk({
    key: ['operator', 'orders-to-match', transfer.id, memo],
    ask: (steyg, signal) =>
      steyg.console.operator.searchOrders(memo === '' ? { status: 'PENDING', first: 50 } : { memo, first: 10 }, {
        signal,
      }),
  });
  const match = useChange({
    change: (steyg, orderId: string) => steyg.console.operator.matchTransfer({ transferId: transfer.id, orderId }),
    refresh: [['operator']],
    done: () => {
      say(t.operator.matchedNow);
      onClose();
    },
  });
  return (
    <Dialog title={t.operator.match} onClose={onClose} wide>
      <p>
        {format.vnd(transfer.amountVnd)} · {transfer.memo}
      </p>
      <TextField label={t.operator.findOrder} hint={t.operator.findOrderHint} value={text} onChange={setText} />
      {match.error === null ? null : <FailureNotice error={match.error} />}
      <Loaded query={orders}>
        {({ edges }) => {
          // Exact amounts come first.
          const fits = (price: string) => (price === transfer.amountVnd ? 0 : 1);
          const rows = edges.map(({ node }) => node).sort((a, b) => fits(a.priceVnd) - fits(b.priceVnd));
          if (rows.length === 0) return <Empty title={t.operator.noOrders} />;
          return (
            <Table
              caption={t.nav.operatorOrders}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                { head: t.order.memo, names: true, cell: (order) => <code>{order.memo}</code> },
                { head: t.order.plan, cell: ({ planName }) => planName },
                {
                  head: t.order.price,
                  figure: true,
                  cell: ({ priceVnd }) => (
                    <>
                      {format.vnd(priceVnd)}{' '}
                      {fits(priceVnd) === 0 ? <Badge tone="good">{t.operator.fits}</Badge> : null}
                    </>
                  ),
                },
                { head: t.order.made, cell: ({ createdAt }) => <Moment at={createdAt} /> },
                { head: t.order.status, cell: ({ status }) => <OrderBadge status={status} /> },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (order) => (
                    <div className="row-actions">
                      <Button
                        small
                        look="primary"
                        busy={match.isPending}
                        aria-label={fill(t.operator.matchWith, { memo: order.memo })}
                        onClick={() => match.mutate(order.id)}
                      >
                        {t.operator.choose}
                      </Button>
                    </div>
                  ),
                },
              ]}
            />
          );
        }}
      </Loaded>
    </Dialog>
  );
}

function CloseDialog({ transfer, onClose }: { transfer: Transfer; onClose: () => void }) {
  const { t, format } = useOperatorLanguage();
  const [note, setNote] = useState('');
  const settle = useChange({
    change: (steyg, input: string) =>
      steyg.console.operator.closeTransferReview({ transferId: transfer.id, note: input }),
    refresh: [transfersKey],
    done: onClose,
  });
  return (
    <Dialog title={t.operator.settleReview} onClose={onClose}>
      <p>
        {format.vnd(transfer.amountVnd)} · {transfer.memo}
      </p>
      <Form
        onSubmit={() => settle.mutate(note.trim())}
        error={settle.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={settle.isPending}>
              {t.operator.settleReview}
            </Button>
          </>
        }
      >
        <TextField
          label={t.operator.note}
          hint={t.operator.noteHint}
          required
          maxLength={500}
          value={note}
          onChange={setNote}
        />
      </Form>
    </Dialog>
  );
}

function RecordDialog({ onClose }: { onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const explain = useExplain();
  const say = useSay();
  const [draft, setDraft] = useState({ amountVnd: '', memo: '', bankReference: '', bookedAt: '' });
  const set = (values: Partial<typeof draft>) => setDraft({ ...draft, ...values });
  const record = useChange({
    change: (steyg, input: typeof draft) =>
      steyg.console.operator.recordTransfer({
        input: {
          amountVnd: input.amountVnd.trim(),
          memo: input.memo.trim(),
          bankReference: input.bankReference.trim(),
          bookedAt: new Date(input.bookedAt).toISOString(),
        },
      }),
    refresh: [['operator']],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  const { fields } = record.error === null ? { fields: {} as Record<string, string> } : explain(record.error);
  const isAmount = /^[1-9]\d{0,14}$/.test(draft.amountVnd.trim());
  return (
    <Dialog title={t.operator.record} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (isAmount) record.mutate(draft);
        }}
        error={Object.keys(fields).length > 0 ? null : record.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={record.isPending}>
              {t.operator.record}
            </Button>
          </>
        }
      >
        <p className="hint">{t.operator.recordHint}</p>
        <TextField
          label={t.operator.priceVnd}
          inputMode="numeric"
          required
          value={draft.amountVnd}
          onChange={(amountVnd) => set({ amountVnd })}
          error={fields['amountVnd'] ?? (draft.amountVnd === '' || isAmount ? undefined : t.problems.vnd)}
        />
        <TextField
          label={t.operator.memoText}
          required
          value={draft.memo}
          onChange={(memo) => set({ memo })}
          error={fields['memo']}
        />
        <TextField
          label={t.order.reference}
          required
          value={draft.bankReference}
          onChange={(bankReference) => set({ bankReference })}
          error={fields['bankReference']}
        />
        <TextField
          label={t.order.booked}
          type="datetime-local"
          required
          value={draft.bookedAt}
          onChange={(bookedAt) => set({ bookedAt })}
          error={fields['bookedAt']}
        />
      </Form>
    </Dialog>
  );
}
