/** The operator's page of bank transfers. */

import type { ElementOf, ListBankTransfersAnswer } from '@steyg/sdk';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { DateField } from '../../components/date-field.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Choice, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Moment } from '../../components/moment.tsx';
import { Badge, Page } from '../../components/page.tsx';
import { Empty, Loaded, More, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useChange, usePages } from '../../data.tsx';
import { useProblems } from '../../explain.ts';
import { useSearchText } from '../../hooks.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { pages } from '../../pages.ts';
import { InvoiceProblems } from './invoice-problems.tsx';
import { PayRefundDialog, RefundsDialog, RefundsToSend, RefundTransferDialog } from './refunds.tsx';
import { MatchDialog, UndoDialog } from './transfer-match.tsx';

type Transfer = ElementOf<ListBankTransfersAnswer>;

const transfersKey = ['operator', 'transfers'];

export default function Transfers() {
  const { t, format } = useOperatorLanguage();
  const [text, setText] = useSearchText();
  // What was looked for may have been matched already.
  const [queue, setQueue] = useState(text === '');
  const search = useDeferredValue(text.trim());
  const [open, setOpen] = useState<
    { what: 'match' | 'close' | 'undo' | 'refund' | 'pay'; transfer: Transfer } | { what: 'record' | 'refunds' } | null
  >(null);
  const transfers = usePages({
    key: [...transfersKey, queue, search],
    ask: (steyg, after, signal) =>
      steyg.console.operator.listBankTransfers(
        { after, first: 25, queue, search: search === '' ? null : search },
        { signal },
      ),
    every: 15_000,
  });
  const close = () => setOpen(null);
  return (
    <Page
      title={t.nav.operatorTransfers}
      lead={t.operator.transfersLead}
      actions={
        <>
          <Button onClick={() => setOpen({ what: 'refunds' })}>{t.operator.refunds.all}</Button>
          <Button takes="recordTransfer" onClick={() => setOpen({ what: 'record' })}>
            {t.operator.record}
          </Button>
        </>
      }
    >
      <InvoiceProblems />
      <RefundsToSend />
      <Choice
        label={t.operator.which}
        value={queue ? 'queue' : 'all'}
        options={[
          { value: 'queue', label: t.operator.queue },
          { value: 'all', label: t.operator.allTransfers },
        ]}
        onChange={(value) => setQueue(value === 'queue')}
      />
      <div className="filters">
        <TextField
          label={t.common.search}
          hint={t.operator.transfersHint}
          type="search"
          value={text}
          onChange={setText}
        />
      </div>
      <Loaded query={transfers} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty
              title={search !== '' ? t.common.nothingFound : queue ? t.operator.queueEmpty : t.operator.noTransfers}
            />
          ) : (
            <Table
              caption={t.nav.operatorTransfers}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: t.operator.memoText,
                  names: true,
                  cell: ({ memo, bankReference, source }) => (
                    <>
                      {memo === '' ? '–' : memo}
                      <span className="note">
                        {t.operator.transferSources[source ?? 'OTHER']} {bankReference ?? ''}
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
                    transfer.matchedBy !== null && transfer.matchedBy !== 'matcher' ? (
                      <div className="row-actions wrap">
                        <Button takes="undoTransferMatch" small onClick={() => setOpen({ what: 'undo', transfer })}>
                          {t.operator.undoMatch}
                        </Button>
                      </div>
                    ) : transfer.review === null || transfer.review.closedAt !== null ? null : (
                      <div className="row-actions wrap">
                        {transfer.order === null && transfer.direction === 'IN' ? (
                          <Button
                            takes="matchTransfer"
                            small
                            look="primary"
                            onClick={() => setOpen({ what: 'match', transfer })}
                          >
                            {t.operator.match}
                          </Button>
                        ) : null}
                        <Button
                          takes="refundTransfer"
                          small
                          onClick={() => setOpen({ what: transfer.direction === 'OUT' ? 'pay' : 'refund', transfer })}
                        >
                          {transfer.direction === 'OUT' ? t.operator.refunds.pays : t.operator.refunds.refund}
                        </Button>
                        <Button takes="closeTransferReview" small onClick={() => setOpen({ what: 'close', transfer })}>
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
      {open?.what === 'undo' ? <UndoDialog transfer={open.transfer} onClose={close} /> : null}
      {open?.what === 'close' ? <CloseDialog transfer={open.transfer} onClose={close} /> : null}
      {open?.what === 'refund' ? <RefundTransferDialog transfer={open.transfer} onClose={close} /> : null}
      {open?.what === 'pay' ? <PayRefundDialog transfer={open.transfer} onClose={close} /> : null}
      {open?.what === 'refunds' ? <RefundsDialog onClose={close} /> : null}
      {open?.what === 'record' ? <RecordDialog onClose={close} /> : null}
    </Page>
  );
}

function State({ transfer }: { transfer: Transfer }) {
  const { t, format } = useOperatorLanguage();
  const { review, order, matchedBy, matchedByName } = transfer;
  return (
    <>
      {order === null ? null : (
        <>
          <Badge tone="usual">
            {matchedBy === 'matcher'
              ? t.operator.matchedByItself
              : fill(t.operator.matched, { by: matchedByName ?? matchedBy ?? '' })}
          </Badge>{' '}
          <Link href={`${pages.operatorOrders}?search=${encodeURIComponent(order.memo)}`}>
            <code>{order.memo}</code>
          </Link>
        </>
      )}
      {review === null ? null : (
        <>
          <Badge tone={review.closedAt === null ? 'warn' : 'plain'}>
            {t.operator.reasons[review.reason ?? 'OTHER']}
          </Badge>
          {review.surplusVnd === null ? null : (
            <span className="note">{fill(t.operator.surplus, { vnd: format.vnd(review.surplusVnd) })}</span>
          )}
          {/* The matcher's own note repeats the order by its id. */}
          {review.note === null || (order !== null && review.note.startsWith('matched to order ')) ? null : (
            <span className="note">{review.note}</span>
          )}
        </>
      )}
    </>
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
  const { t, format } = useOperatorLanguage();
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
  const { fields, rest } = useProblems(record.error, ['amountVnd', 'memo', 'bankReference', 'bookedAt']);
  const isAmount = /^[1-9]\d{0,14}$/.test(draft.amountVnd.trim());
  return (
    <Dialog title={t.operator.record} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (isAmount) record.mutate(draft);
        }}
        error={rest}
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
          hint={isAmount ? format.vnd(draft.amountVnd.trim()) : undefined}
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
        <DateField
          label={t.order.booked}
          withTime
          required
          value={draft.bookedAt}
          onChange={(bookedAt) => set({ bookedAt })}
          error={fields['bookedAt']}
        />
      </Form>
    </Dialog>
  );
}
