import type { ElementOf, ListBankTransfersAnswer, ListRefundsAnswer } from '@steyg/sdk';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Checkbox, TextField } from '../../components/field.tsx';
import { Files } from '../../components/files.tsx';
import { Form } from '../../components/form.tsx';
import { Moment } from '../../components/moment.tsx';
import { Card, FactList } from '../../components/page.tsx';
import { Banner, Empty, Loaded, More, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useAsk, useChange, usePages } from '../../data.tsx';
import { useProblems } from '../../explain.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { pages } from '../../pages.ts';

/** Money that goes back: of purchases, of transfers, and the list of what the bank has not sent yet. */

type Transfer = ElementOf<ListBankTransfersAnswer>;
type Refund = NonNullable<ListRefundsAnswer>['nodes'][number];

const usd = /^\d{1,9}(\.\d{1,12})?$/;
const vnd = /^\d{1,15}$/;

/** What goes back of a purchase: first how much, with what it is in VND, then the confirmation. */
export function RefundOrderDialog({ order, onClose }: { order: { id: string; memo: string }; onClose: () => void }) {
  const { t, format } = useOperatorLanguage();
  const words = t.operator.refunds;
  const say = useSay();
  const [budget, setBudget] = useState('');
  const [used, setUsed] = useState('');
  const [note, setNote] = useState('');
  const [sure, setSure] = useState(false);
  const asked = useDeferredValue(budget.trim());
  const isUsd = asked === '' || usd.test(asked);
  const isVnd = used.trim() === '' || vnd.test(used.trim());
  const quote = useAsk({
    key: ['operator', 'refund-quote', order.id, isUsd ? asked : ''],
    ask: (steyg, signal) =>
      steyg.console.books.refundQuote(
        { orderId: order.id, ...(asked === '' || !isUsd ? {} : { budget: asked }) },
        { signal },
      ),
  });
  const refund = useChange({
    change: (steyg, input: { orderId: string; note: string; budget?: string; usedVnd?: string }) =>
      steyg.console.books.refundOrder({ input }),
    refresh: [['operator']],
    done: ({ creditNote: { number, amountVnd } }) => {
      say(fill(words.made, { number, vnd: format.vnd(amountVnd) }));
      onClose();
    },
  });
  const { fields, rest } = useProblems(refund.error, ['budget', 'usedVnd', 'note']);
  const change = (set: (value: string) => void) => (value: string) => {
    set(value);
    // What was confirmed were other figures.
    setSure(false);
  };
  return (
    <Dialog title={fill(words.ofOrder, { memo: order.memo })} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (!isUsd || !isVnd || !sure) return;
          refund.mutate({
            orderId: order.id,
            note: note.trim(),
            ...(asked === '' ? {} : { budget: asked }),
            ...(used.trim() === '' ? {} : { usedVnd: used.trim() }),
          });
        }}
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="danger" busy={refund.isPending} disabled={!sure}>
              {words.refund}
            </Button>
          </>
        }
      >
        <TextField
          label={words.budget}
          hint={words.budgetHint}
          inputMode="decimal"
          value={budget}
          onChange={change(setBudget)}
          error={fields['budget'] ?? (isUsd ? undefined : t.problems.usd)}
        />
        <TextField
          label={words.usedVnd}
          hint={words.usedVndHint}
          inputMode="numeric"
          value={used}
          onChange={change(setUsed)}
          error={fields['usedVnd'] ?? (isVnd ? undefined : t.problems.vnd)}
        />
        <TextField
          label={words.reason}
          required
          maxLength={300}
          value={note}
          onChange={setNote}
          error={fields['note']}
        />
        <Loaded query={quote}>
          {(found) =>
            found === null ? (
              <Banner tone="bad">{words.tooMuch}</Banner>
            ) : (
              <>
                <FactList
                  rows={[
                    [words.unused, format.usdExact(found.free)],
                    [words.takenBack, format.usdExact(found.budget)],
                    [words.unusedVnd, format.vnd(found.unusedVnd)],
                    [words.mostUsedVnd, format.vnd(found.mostUsedVnd)],
                    [
                      words.total,
                      <strong key="total">
                        {format.vnd(String(BigInt(found.unusedVnd) + BigInt(isVnd ? used.trim() || '0' : '0')))}
                      </strong>,
                    ],
                  ]}
                />
                <Checkbox label={words.sure} checked={sure} onChange={setSure} />
              </>
            )
          }
        </Loaded>
      </Form>
    </Dialog>
  );
}

/** What of a transfer goes back: its surplus, or all of one that bought nothing. */
export function RefundTransferDialog({ transfer, onClose }: { transfer: Transfer; onClose: () => void }) {
  const { t, format } = useOperatorLanguage();
  const words = t.operator.refunds;
  const say = useSay();
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  const isVnd = amount.trim() === '' || vnd.test(amount.trim());
  const refund = useChange({
    change: (steyg, input: { transferId: string; note: string; amountVnd?: string }) =>
      steyg.console.books.refundTransfer({ input }),
    refresh: [['operator']],
    done: ({ creditNote: { number, amountVnd } }) => {
      say(fill(words.made, { number, vnd: format.vnd(amountVnd) }));
      onClose();
    },
  });
  const { fields, rest } = useProblems(refund.error, ['amountVnd', 'note']);
  const whole = transfer.review?.surplusVnd ?? transfer.amountVnd;
  return (
    <Dialog title={words.ofTransfer} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (!isVnd) return;
          refund.mutate({
            transferId: transfer.id,
            note: note.trim(),
            ...(amount.trim() === '' ? {} : { amountVnd: amount.trim() }),
          });
        }}
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="danger" busy={refund.isPending}>
              {words.refund}
            </Button>
          </>
        }
      >
        <p>
          {format.vnd(transfer.amountVnd)} · {transfer.memo === '' ? '–' : transfer.memo}
        </p>
        <TextField
          label={words.amountVnd}
          hint={fill(words.amountVndHint, { vnd: format.vnd(whole) })}
          inputMode="numeric"
          value={amount}
          onChange={setAmount}
          error={fields['amountVnd'] ?? (isVnd ? undefined : t.problems.vnd)}
        />
        <TextField
          label={words.reason}
          required
          maxLength={300}
          value={note}
          onChange={setNote}
          error={fields['note']}
        />
        <p>{words.transferText}</p>
      </Form>
    </Dialog>
  );
}

const openRefundsKey = ['operator', 'refunds'];

function useOpenRefunds() {
  return usePages({
    key: openRefundsKey,
    ask: (steyg, after, signal) => steyg.console.books.listRefunds({ open: true, after, first: 50 }, { signal }),
  });
}

const leftOf = ({ creditNote: { amountVnd, sentVnd } }: Refund): string => String(BigInt(amountVnd) - BigInt(sentVnd));

/** What the bank has not sent yet, with the text that the transfer needs. Nothing is shown while nothing waits. */
export function RefundsToSend() {
  const { t, format } = useOperatorLanguage();
  const words = t.operator.refunds;
  const refunds = useOpenRefunds();
  const { data = [] } = refunds;
  const [undoing, setUndoing] = useState<Refund | null>(null);
  if (data.length === 0) return null;
  return (
    <Card title={words.toSend}>
      <p className="hint">{words.toSendHint}</p>
      <Table
        caption={words.toSend}
        rows={data}
        rowKey={({ refundId }) => refundId}
        columns={[
          { head: words.creditNote, names: true, cell: ({ creditNote }) => creditNote.number },
          {
            head: t.operator.account,
            cell: ({ account, order }) => (
              <>
                {account?.name ?? '–'}
                {order === null ? null : (
                  <span className="note">
                    <Link href={`${pages.operatorOrders}?search=${encodeURIComponent(order.memo)}`}>
                      <code>{order.memo}</code>
                    </Link>
                  </span>
                )}
              </>
            ),
          },
          { head: words.left, figure: true, cell: (refund) => format.vnd(leftOf(refund)) },
          { head: t.operator.memoText, cell: ({ memo }) => <code>{memo}</code> },
          {
            head: t.operator.since,
            cell: ({ creditNote, note }) => (
              <>
                <Moment at={creditNote.issuedAt} />
                <span className="note">{note}</span>
              </>
            ),
          },
          {
            head: t.common.actions,
            silentHead: true,
            cell: (refund) => <RefundActions refund={refund} onUndo={setUndoing} />,
          },
        ]}
      />
      <More query={refunds} />
      {undoing === null ? null : <UndoRefundDialog refund={undoing} onClose={() => setUndoing(null)} />}
    </Card>
  );
}

function RefundActions({
  refund: {
    creditNote: { url, number, undoneAt },
  },
  refund,
  onUndo,
}: {
  refund: Refund;
  onUndo: (refund: Refund) => void;
}) {
  const words = useOperatorLanguage().t.operator.refunds;
  return (
    <div className="row-actions">
      <Files url={url} what={`${words.creditNote} ${number}`} />
      {undoneAt === null ? (
        <Button takes="undoRefund" small aria-label={fill(words.undoWhat, { number })} onClick={() => onUndo(refund)}>
          {words.undo}
        </Button>
      ) : null}
    </div>
  );
}

/** Every refund, the newest first: also those that were sent or undone. */
export function RefundsDialog({ onClose }: { onClose: () => void }) {
  const { t, format } = useOperatorLanguage();
  const words = t.operator.refunds;
  const [undoing, setUndoing] = useState<Refund | null>(null);
  const refunds = usePages({
    key: ['operator', 'all-refunds'],
    ask: (steyg, after, signal) => steyg.console.books.listRefunds({ first: 25, after }, { signal }),
  });
  // One dialog at a time.
  if (undoing !== null) return <UndoRefundDialog refund={undoing} onClose={() => setUndoing(null)} />;
  return (
    <Dialog title={words.all} onClose={onClose} wide>
      <Loaded query={refunds} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={words.none} />
          ) : (
            <Table
              caption={words.all}
              rows={rows}
              rowKey={({ refundId }) => refundId}
              bounded
              columns={[
                { head: words.creditNote, names: true, cell: ({ creditNote }) => creditNote.number },
                { head: t.operator.account, cell: ({ account }) => account?.name ?? '–' },
                {
                  head: t.order.amount,
                  figure: true,
                  cell: ({ creditNote: { amountVnd, undoneAt } }) =>
                    undoneAt === null ? format.vnd(amountVnd) : <s>{format.vnd(amountVnd)}</s>,
                },
                {
                  head: t.operator.state,
                  cell: ({ creditNote: { undoneAt, sentVnd, amountVnd, issuedAt }, undoneNote, note }) => (
                    <>
                      {undoneAt !== null
                        ? words.undoneState
                        : sentVnd === amountVnd
                          ? words.sentState
                          : words.toSendState}
                      <span className="note">
                        <Moment at={undoneAt ?? issuedAt} /> · {undoneNote ?? note}
                      </span>
                    </>
                  ),
                },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (refund) => <RefundActions refund={refund} onUndo={setUndoing} />,
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={refunds} />
      <div className="actions">
        <Button onClick={onClose}>{t.common.close}</Button>
      </div>
    </Dialog>
  );
}

/** Undoes a refund that was a mistake, after saying what that does. */
function UndoRefundDialog({ refund, onClose }: { refund: Refund; onClose: () => void }) {
  const { t, format } = useOperatorLanguage();
  const words = t.operator.refunds;
  const say = useSay();
  const [note, setNote] = useState('');
  const undo = useChange({
    change: (steyg, input: { refundId: string; note: string }) => steyg.console.books.undoRefund({ input }),
    refresh: [['operator']],
    done: ({ creditNote }) => {
      say(fill(words.undone, { number: creditNote.number }));
      onClose();
    },
  });
  const { fields, rest } = useProblems(undo.error, ['note']);
  const facts: [string, string][] = [
    [t.operator.account, refund.account?.name ?? '–'],
    [t.order.amount, format.vnd(refund.creditNote.amountVnd)],
    [words.sentState, format.vnd(refund.creditNote.sentVnd)],
    [words.givenBack, format.usdExact(refund.creditNote.budget)],
  ];
  return (
    <Dialog title={fill(words.undoWhat, { number: refund.creditNote.number })} onClose={onClose}>
      <Form
        onSubmit={() => undo.mutate({ refundId: refund.refundId, note: note.trim() })}
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="danger" busy={undo.isPending}>
              {words.undo}
            </Button>
          </>
        }
      >
        <FactList rows={facts} />
        <p>{words.undoText}</p>
        <TextField
          label={words.reason}
          required
          maxLength={300}
          value={note}
          onChange={setNote}
          error={fields['note']}
        />
      </Form>
    </Dialog>
  );
}

/** Says which refund an outgoing transfer pays, where its text does not name one. */
export function PayRefundDialog({ transfer, onClose }: { transfer: Transfer; onClose: () => void }) {
  const { t, format } = useOperatorLanguage();
  const words = t.operator.refunds;
  const say = useSay();
  const refunds = useOpenRefunds();
  const pay = useChange({
    change: (steyg, refundId: string) => steyg.console.books.payRefund({ refundId, transferId: transfer.id }),
    refresh: [['operator']],
    done: ({ creditNote }) => {
      say(fill(words.paid, { number: creditNote.number }));
      onClose();
    },
  });
  return (
    <Dialog title={words.pays} onClose={onClose} wide>
      <Form onSubmit={() => undefined} error={pay.error} actions={<Button onClick={onClose}>{t.common.cancel}</Button>}>
        <p>
          {format.vnd(transfer.amountVnd)} · {transfer.memo === '' ? '–' : transfer.memo}
        </p>
        <Loaded query={refunds} skeleton={<TableSkeleton />}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title={words.nothingToSend} />
            ) : (
              <Table
                caption={words.toSend}
                rows={rows}
                rowKey={({ refundId }) => refundId}
                bounded
                columns={[
                  { head: words.creditNote, names: true, cell: ({ creditNote }) => creditNote.number },
                  { head: t.operator.account, cell: ({ account }) => account?.name ?? '–' },
                  { head: words.left, figure: true, cell: (refund) => format.vnd(leftOf(refund)) },
                  {
                    head: t.common.actions,
                    silentHead: true,
                    cell: ({ refundId, creditNote }) => (
                      <div className="row-actions">
                        <Button
                          small
                          busy={pay.isPending && pay.variables === refundId}
                          aria-label={fill(words.paysThis, { number: creditNote.number })}
                          onClick={() => pay.mutate(refundId)}
                        >
                          {t.operator.choose}
                        </Button>
                      </div>
                    ),
                  },
                ]}
              />
            )
          }
        </Loaded>
        <More query={refunds} />
      </Form>
    </Dialog>
  );
}
