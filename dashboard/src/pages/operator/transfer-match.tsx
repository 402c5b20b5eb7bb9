import type { ElementOf, FindOrdersToMatchAnswer, ListAccountsAnswer, ListBankTransfersAnswer } from '@steyg/sdk';
import { useDeferredValue, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Choice, SelectField, TextField } from '../../components/field.tsx';
import { Moment } from '../../components/moment.tsx';
import { Badge, FactList } from '../../components/page.tsx';
import { Empty, FailureNotice, Loaded, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { usePlans } from '../../components/usd.tsx';
import { useAsk, useChange } from '../../data.tsx';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { addUsd, parseUsd, printUsd } from '../../money.ts';
import { OrderBadge } from '../top-up.tsx';

/**
 * The dialog that gives a lost transfer to its order, or credits an account where there is none: first the choice, with
 * proposals, then what will happen.
 */

export type WaitingTransfer = ElementOf<ListBankTransfersAnswer>;
type MatchableOrder = ElementOf<FindOrdersToMatchAnswer>;
type CreditedAccount = ElementOf<ListAccountsAnswer>;

type Step =
  | { what: 'choose' }
  | { what: 'order'; order: MatchableOrder }
  | { what: 'account'; account: CreditedAccount };

export function MatchDialog({ transfer, onClose }: { transfer: WaitingTransfer; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const [way, setWay] = useState<'order' | 'account'>('order');
  const [step, setStep] = useState<Step>({ what: 'choose' });
  const back = () => setStep({ what: 'choose' });
  return (
    <Dialog title={t.operator.match} onClose={onClose} wide>
      {step.what === 'choose' ? (
        <>
          <TransferFacts transfer={transfer} />
          <Choice
            label={t.operator.matchWay}
            value={way}
            options={[
              { value: 'order', label: t.operator.toOrder },
              { value: 'account', label: t.operator.toAccount },
            ]}
            onChange={(value) => setWay(value as 'order' | 'account')}
          />
          {way === 'order' ? (
            <OrderChoice transfer={transfer} onChoose={(order) => setStep({ what: 'order', order })} />
          ) : (
            <AccountChoice onChoose={(account) => setStep({ what: 'account', account })} />
          )}
        </>
      ) : null}
      {step.what === 'order' ? (
        <ConfirmMatch transfer={transfer} order={step.order} onBack={back} onClose={onClose} />
      ) : null}
      {step.what === 'account' ? (
        <ConfirmCredit transfer={transfer} account={step.account} onBack={back} onClose={onClose} />
      ) : null}
    </Dialog>
  );
}

function TransferFacts({ transfer }: { transfer: WaitingTransfer }) {
  const { t, format } = useOperatorLanguage();
  return (
    <FactList
      rows={[
        [t.order.amount, format.vnd(transfer.amountVnd)],
        [t.operator.memoText, transfer.memo === '' ? '–' : transfer.memo],
        [t.order.booked, <Moment key="at" at={transfer.bookedAt} />],
        [t.order.reference, transfer.bankReference ?? '–'],
      ]}
    />
  );
}

/** Proposals first; a search replaces them. */
function OrderChoice({ transfer, onChoose }: { transfer: WaitingTransfer; onChoose: (order: MatchableOrder) => void }) {
  const { t, format } = useOperatorLanguage();
  const [text, setText] = useState('');
  const search = useDeferredValue(text.trim());
  const proposals = useAsk({
    key: ['operator', 'proposals', transfer.id],
    ask: (steyg, signal) => steyg.console.operator.transferProposals({ transferId: transfer.id }, { signal }),
  });
  const orders = useAsk({
    key: ['operator', 'orders-to-match', search],
    ask: (steyg, signal) =>
      steyg.console.operator.findOrdersToMatch(
        search === '' ? { status: 'PENDING', first: 25 } : { search, first: 25 },
        { signal },
      ),
  });
  const proposed = proposals.data?.__typename === 'BankTransfer' ? proposals.data.proposals : [];
  const reasonOf = (id: string) => {
    const found = proposed.find(({ order }) => order.id === id);
    if (found === undefined) return null;
    if (found.reason === 'SAME_AMOUNT') return t.operator.fits;
    return fill(t.operator.nearMemo, { n: String(found.differences) });
  };
  return (
    <>
      <TextField label={t.operator.findOrder} hint={t.operator.findOrderHint} value={text} onChange={setText} />
      <Loaded query={orders} skeleton={<TableSkeleton />}>
        {({ edges }) => {
          const found = edges.map(({ node }) => node);
          const listed =
            search === ''
              ? [
                  ...proposed.map(({ order }) => order),
                  ...found.filter(({ id }) => !proposed.some(({ order }) => order.id === id)),
                ]
              : found;
          if (listed.length === 0) return <Empty title={t.operator.noOrders} />;
          return (
            <Table
              caption={t.nav.operatorOrders}
              rows={listed}
              rowKey={({ id }) => id}
              bounded
              columns={[
                {
                  head: t.order.memo,
                  names: true,
                  cell: ({ id, memo }) => (
                    <>
                      <code>{memo}</code> {reasonOf(id) === null ? null : <Badge tone="good">{reasonOf(id)}</Badge>}
                    </>
                  ),
                },
                {
                  head: t.operator.account,
                  cell: ({ account }) => (
                    <>
                      {account.name}
                      <span className="note">{account.email}</span>
                    </>
                  ),
                },
                {
                  head: t.order.price,
                  figure: true,
                  cell: ({ priceVnd, planName }) => (
                    <>
                      {format.vnd(priceVnd)}
                      <span className="note">{planName}</span>
                    </>
                  ),
                },
                {
                  head: t.order.made,
                  cell: ({ createdAt, status }) => (
                    <>
                      <Moment at={createdAt} />
                      <br />
                      <OrderBadge status={status} />
                    </>
                  ),
                },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (order) => (
                    <div className="row-actions">
                      <Button
                        small
                        aria-label={fill(t.operator.matchWith, { memo: order.memo })}
                        onClick={() => onChoose(order)}
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
    </>
  );
}

function AccountChoice({ onChoose }: { onChoose: (account: CreditedAccount) => void }) {
  const { t } = useOperatorLanguage();
  const [text, setText] = useState('');
  const search = useDeferredValue(text.trim());
  const accounts = useAsk({
    key: ['operator', 'accounts-to-credit', search],
    ask: (steyg, signal) =>
      steyg.console.operator.listAccounts({ first: 10, search: search === '' ? null : search }, { signal }),
  });
  return (
    <>
      <TextField label={t.operator.findAccount} hint={t.operator.searchHint} value={text} onChange={setText} />
      <Loaded query={accounts} skeleton={<TableSkeleton />}>
        {({ edges }) =>
          edges.length === 0 ? (
            <Empty title={t.operator.noAccounts} />
          ) : (
            <Table
              caption={t.nav.operatorAccounts}
              rows={edges.map(({ node }) => node)}
              rowKey={({ id }) => id}
              bounded
              columns={[
                { head: t.operator.account, names: true, cell: ({ name }) => name },
                { head: t.signIn.email, cell: ({ email }) => email },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (account) => (
                    <div className="row-actions">
                      <Button
                        small
                        aria-label={fill(t.operator.creditThis, { name: account.name })}
                        onClick={() => onChoose(account)}
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
    </>
  );
}

/** Transfer and order side by side, and what a match will do. */
function ConfirmMatch({
  transfer,
  order,
  onBack,
  onClose,
}: {
  transfer: WaitingTransfer;
  order: MatchableOrder;
  onBack: () => void;
  onClose: () => void;
}) {
  const { t, format } = useOperatorLanguage();
  const say = useSay();
  const match = useChange({
    change: (steyg, orderId: string) => steyg.console.operator.matchTransfer({ transferId: transfer.id, orderId }),
    refresh: [['operator']],
    done: () => {
      say(t.operator.matchedNow);
      onClose();
    },
  });
  const sum = BigInt(order.receivedVnd) + BigInt(transfer.amountVnd);
  const price = BigInt(order.priceVnd);
  const vnd = (amount: bigint) => format.vnd(String(amount));
  const granted = { name: order.account.name, budget: format.usd(addUsd([order.budget, order.bonus ?? '0'])) };
  const outcome =
    sum < price
      ? fill(t.operator.willBePartial, { missing: vnd(price - sum) })
      : sum === price
        ? fill(t.operator.willBePaid, granted)
        : `${fill(t.operator.willBePaid, granted)} ${fill(t.operator.willBeOverpaid, { surplus: vnd(sum - price) })}`;
  return (
    <>
      <div className="columns even">
        <section>
          <h3>{t.operator.theTransfer}</h3>
          <TransferFacts transfer={transfer} />
        </section>
        <section>
          <h3>{t.operator.theOrder}</h3>
          <FactList
            rows={[
              [t.order.price, format.vnd(order.priceVnd)],
              [t.order.memo, <code key="memo">{order.memo}</code>],
              [t.order.made, <Moment key="at" at={order.createdAt} />],
              [t.operator.account, `${order.account.name} · ${order.account.email}`],
              [t.order.plan, order.planName],
              [t.order.status, <OrderBadge key="status" status={order.status} />],
            ]}
          />
        </section>
      </div>
      <p>
        <strong>{outcome}</strong> {t.operator.undoHint}
      </p>
      {match.error === null ? null : <FailureNotice error={match.error} />}
      <div className="actions">
        <Button onClick={onBack}>{t.common.back}</Button>
        <Button look="primary" busy={match.isPending} onClick={() => match.mutate(order.id)}>
          {fill(t.operator.matchWith, { memo: order.memo })}
        </Button>
      </div>
    </>
  );
}

const picoPerCent = 10_000_000_000n;

/** The account beside the transfer, the plan whose price of a USD counts, and what it buys. */
function ConfirmCredit({
  transfer,
  account,
  onBack,
  onClose,
}: {
  transfer: WaitingTransfer;
  account: CreditedAccount;
  onBack: () => void;
  onClose: () => void;
}) {
  const { t, format } = useOperatorLanguage();
  const say = useSay();
  const [chosen, setChosen] = useState('');
  const plans = usePlans();
  const credit = useChange({
    change: (steyg, planId: string) =>
      steyg.console.operator.creditTransfer({ transferId: transfer.id, accountId: account.id, planId }),
    refresh: [['operator']],
    done: () => {
      say(t.operator.creditedNow);
      onClose();
    },
  });
  return (
    <Loaded query={plans}>
      {(list) => {
        const plan = list.find(({ planId }) => planId === chosen) ?? list[0];
        if (plan === undefined) return <Empty title={t.topUp.noPlans} />;
        const bought = (BigInt(transfer.amountVnd) * parseUsd(plan.budget)) / BigInt(plan.priceVnd);
        const budget = printUsd(bought - (bought % picoPerCent));
        return (
          <>
            <div className="columns even">
              <section>
                <h3>{t.operator.theTransfer}</h3>
                <TransferFacts transfer={transfer} />
              </section>
              <section>
                <h3>{t.operator.account}</h3>
                <FactList
                  rows={[
                    [t.operator.account, account.name],
                    [t.signIn.email, account.email],
                  ]}
                />
                <SelectField
                  label={t.operator.creditPlan}
                  hint={t.operator.creditPlanHint}
                  value={plan.planId}
                  onChange={setChosen}
                  options={list.map(({ planId, name, vndPerUsd }) => ({
                    value: planId,
                    label: `${name}: ${fill(t.topUp.perUsd, { vnd: format.vnd(vndPerUsd) })}`,
                  }))}
                />
              </section>
            </div>
            <p>
              <strong>{fill(t.operator.willCredit, { name: account.name, budget: format.usdExact(budget) })}</strong>{' '}
              {t.operator.undoHint}
            </p>
            {credit.error === null ? null : <FailureNotice error={credit.error} />}
            <div className="actions">
              <Button onClick={onBack}>{t.common.back}</Button>
              <Button look="primary" busy={credit.isPending} onClick={() => credit.mutate(plan.planId)}>
                {fill(t.operator.creditThis, { name: account.name })}
              </Button>
            </div>
          </>
        );
      }}
    </Loaded>
  );
}

/** Takes a match back, after saying what that does. */
export function UndoDialog({ transfer, onClose }: { transfer: WaitingTransfer; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const undo = useChange({
    change: (steyg, transferId: string) => steyg.console.operator.undoTransferMatch({ transferId }),
    refresh: [['operator']],
    done: () => {
      say(t.operator.undone);
      onClose();
    },
  });
  return (
    <Dialog title={t.operator.undoMatch} onClose={onClose}>
      <TransferFacts transfer={transfer} />
      <p>{t.operator.undoText}</p>
      {undo.error === null ? null : <FailureNotice error={undo.error} />}
      <div className="actions">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button look="danger" busy={undo.isPending} onClick={() => undo.mutate(transfer.id)}>
          {t.operator.undoMatch}
        </Button>
      </div>
    </Dialog>
  );
}
