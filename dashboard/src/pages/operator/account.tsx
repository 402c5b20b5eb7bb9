/** The operator's page of one account. */

import type { AccountForOperatorAnswer } from '@steyg/sdk';
import { useMemo, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { AccountLimitsForm } from '../../components/account-limits-card.tsx';
import { Button } from '../../components/button.tsx';
import { ChartSkeleton } from '../../components/chart.tsx';
import { Code, CopyValue } from '../../components/copy.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { EntryTable } from '../../components/entries.tsx';
import { useFailureToast } from '../../components/failure-toast.ts';
import { SelectField, TextArea, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { useLimitTexts } from '../../components/limit-fields.tsx';
import { type Grant, Lots } from '../../components/lots.tsx';
import { Moment } from '../../components/moment.tsx';
import { Badge, Card, Figure, Page } from '../../components/page.tsx';
import { SearchField, useSearch } from '../../components/search-field.tsx';
import { SpendChart, spendDays } from '../../components/spend-chart.tsx';
import { Banner, Empty, Loaded, More, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { Usd } from '../../components/usd.tsx';
import { useAsk, useChange, usePages } from '../../data.tsx';
import { useProblems } from '../../explain.ts';
import { usePart } from '../../hooks.ts';
import { actionText } from '../../language/actions.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { beginLook } from '../../looking.ts';
import { isUsd } from '../../money.ts';
import { pages } from '../../pages.ts';
import { useMay } from '../../session.tsx';
import { dayMs, daysAgo, timeZone } from '../../usage.ts';
import { OrderBadge } from '../top-up.tsx';
import { RefundOrderDialog } from './refunds.tsx';

type Account = NonNullable<AccountForOperatorAnswer>;

export default function AccountPage() {
  const { t } = useOperatorLanguage();
  const id = usePart('id');
  const account = useAsk({
    key: ['operator', 'account', id],
    ask: (steyg, signal) => steyg.console.operator.accountForOperator({ id }, { signal }),
    every: 30_000,
  });
  return (
    <Page
      title={account.data?.name ?? t.operator.account}
      lead={<Link href={pages.operatorAccounts}>{t.nav.operatorAccounts}</Link>}
    >
      <Loaded query={account}>{(found) => <Details account={found} />}</Loaded>
    </Page>
  );
}

function Details({ account }: { account: Account }) {
  const { t, format } = useOperatorLanguage();
  const [open, setOpen] = useState<'status' | 'grant' | 'look' | Grant | null>(null);
  const close = () => setOpen(null);
  const { budget } = account;
  return (
    <>
      <div className="row-line">
        <p>
          {account.email}{' '}
          <Badge tone={account.status === 'ACTIVE' ? 'usual' : 'bad'}>
            {t.operator.accountStatuses[account.status ?? 'OTHER']}
          </Badge>{' '}
          <span className="hint">
            {t.operator.opened}: {format.dateTime(account.createdAt)}
          </span>
        </p>
        <div className="actions">
          <Button takes="beginAccountView" onClick={() => setOpen('look')}>
            {t.operator.seeAs}
          </Button>
          <Button takes="giveGrant" onClick={() => setOpen('grant')}>
            {t.operator.give}
          </Button>
          <Button
            takes="setAccountStatus"
            look={account.status === 'ACTIVE' ? 'danger' : 'primary'}
            onClick={() => setOpen('status')}
          >
            {account.status === 'ACTIVE' ? t.operator.suspend : t.operator.resume}
          </Button>
        </div>
      </div>
      <dl className="figures">
        <Figure label={t.overview.free} value={<Usd amount={budget.free} />} />
        <Figure label={t.operator.held} value={<Usd amount={budget.held} />} />
        <Figure label={t.activity.charged} value={<Usd amount={budget.charged} />} />
        <Figure label={t.operator.expired} value={<Usd amount={budget.expired} />} />
        <Figure label={t.operator.granted} value={<Usd amount={budget.granted} />} />
      </dl>
      <p>
        <Link href={`${pages.operatorAudit}?subject=${encodeURIComponent(`account:${account.id}`)}`}>
          {t.operator.accountAudit}
        </Link>
      </p>
      <CopyValue label={t.operator.accountId} text={account.id} />
      <div className="columns">
        <Card title={t.operator.budget}>
          <Lots
            grants={budget.grants}
            actionOf={(grant) =>
              Number(grant.free) > 0 ? (
                <Button takes="endGrant" small onClick={() => setOpen(grant)}>
                  {fill(t.operator.takeBack, { amount: format.usd(grant.free) })}
                </Button>
              ) : null
            }
          />
        </Card>
        <Spend id={account.id} />
      </div>
      <FoundRequest id={account.id} />
      <div className="columns even">
        <Limits id={account.id} />
        <Invariants id={account.id} />
      </div>
      <Timeline id={account.id} />
      <div className="columns even">
        <Members id={account.id} email={account.email} />
        <Orders id={account.id} />
      </div>
      <Keys id={account.id} />
      <Entries id={account.id} />
      {open === 'grant' ? <GrantDialog account={account} onClose={close} /> : null}
      {open !== null && typeof open === 'object' ? (
        <TakeBackDialog account={account} grant={open} onClose={close} />
      ) : null}
      {open === 'look' ? <LookDialog account={account} onClose={close} /> : null}
      {open === 'status' ? <StatusDialog account={account} onClose={close} /> : null}
    </>
  );
}

/** What the customer spent by day, as they see it. */
function Spend({ id }: { id: string }) {
  const { t } = useOperatorLanguage();
  const from = useMemo(() => daysAgo(spendDays - 1), []);
  const usage = useAsk({
    key: ['operator', 'usage', id, from],
    ask: (steyg, signal) =>
      steyg.console.operator.accountUsage(
        { id, from: from.toISOString(), timeZone: timeZone(), first: 1_000 },
        { signal },
      ),
    every: 60_000,
  });
  return (
    <Card title={fill(t.overview.spendByDay, { days: spendDays })}>
      <Loaded query={usage} skeleton={<ChartSkeleton tall />}>
        {({ nodes }) => <SpendChart rows={nodes} from={from} />}
      </Loaded>
    </Card>
  );
}

/** The customer's own limits, which an operator changes when they ask for it. */
function Limits({ id }: { id: string }) {
  const { t } = useOperatorLanguage();
  const texts = useLimitTexts();
  const may = useMay();
  const limits = useAsk({
    key: ['operator', 'account-limits', id],
    ask: (steyg, signal) => steyg.console.operator.accountLimitsForOperator({ id }, { signal }),
  });
  return (
    <Card title={texts.account}>
      <p className="hint">{t.operator.limitsText}</p>
      <details>
        <summary>{t.operator.showLimits}</summary>
        <Loaded query={limits}>
          {(found) => <AccountLimitsForm key={id} accountId={id} limits={found} mayChange={may('setAccountLimits')} />}
        </Loaded>
      </details>
    </Card>
  );
}

/** Begins a look at the customer's pages. */
function LookDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const failure = useFailureToast();
  const begin = useChange({
    change: (steyg, accountId: string) => steyg.console.operator.beginAccountView({ accountId }),
    done: ({ grant }) => beginLook(grant),
  });
  return (
    <Confirm
      title={t.operator.seeAs}
      action={t.operator.seeAs}
      danger={false}
      busy={begin.isPending}
      onClose={onClose}
      onConfirm={() => begin.mutate(account.id, { ...failure, onSettled: onClose })}
    >
      <p>{fill(t.operator.seeAsText, { name: account.name })}</p>
    </Confirm>
  );
}

/** Kinds of grants and alerts in words; codes, names and actions stand for themselves. */
function subjectOf(t: ReturnType<typeof useOperatorLanguage>['t'], kind: string, subject: string): string | null {
  const words: Readonly<Record<string, string>> =
    kind === 'GRANTED' ? t.grants : kind === 'ALERTED' ? t.channels.kindNames : {};
  // A kind of its own says what the action was.
  if (kind === 'NOTED' || kind === 'SUSPENDED' || kind === 'RESUMED') return null;
  return words[subject.toUpperCase()] ?? subject;
}

/** What happened to the customer, newest first, and a note for the next operator. */
function Timeline({ id }: { id: string }) {
  const { t, format, locale } = useOperatorLanguage();
  const [text, setText] = useState('');
  const events = usePages({
    key: ['operator', 'timeline', id],
    ask: (steyg, after, signal) => steyg.console.operator.timeline({ accountId: id, after, first: 50 }, { signal }),
    every: 30_000,
  });
  const note = useChange({
    change: (steyg, words: string) => steyg.console.operator.addAccountNote({ accountId: id, text: words }),
    refresh: [['operator', 'timeline', id]],
    done: () => setText(''),
  });
  return (
    <Card title={t.operator.customerTimeline}>
      <Form
        onSubmit={() => note.mutate(text.trim())}
        error={note.error}
        actions={
          <Button type="submit" busy={note.isPending} disabled={text.trim() === ''}>
            {t.operator.addNote}
          </Button>
        }
      >
        <TextArea
          label={t.operator.accountNote}
          hint={t.operator.accountNoteHint}
          rows={2}
          maxLength={2_000}
          value={text}
          onChange={setText}
        />
      </Form>
      <Loaded query={events}>
        {(list) => (
          <ol className="timeline" tabIndex={0} aria-label={t.operator.customerTimeline}>
            {list.map(({ at, kind, subject, text: words, usd, vnd, actorName }, index) => (
              <li key={`${at} ${index}`}>
                <Moment at={at} />
                <div>
                  {kind === 'CHANGED' ? (
                    <strong>{actionText(subject, locale)}</strong>
                  ) : (
                    <>
                      <strong>{t.operator.timelineKinds[kind]}</strong> {subjectOf(t, kind, subject)}
                    </>
                  )}
                  {actorName === null ? null : <span className="hint"> · {actorName}</span>}
                  {words === null ? null : <p className={kind === 'NOTED' ? '' : 'hint'}>{words}</p>}
                </div>
                <span className="figure">
                  {[vnd === null ? '' : format.vnd(vnd), usd === null ? '' : format.usd(usd)]
                    .filter((each) => each !== '')
                    .join(' · ')}
                </span>
              </li>
            ))}
          </ol>
        )}
      </Loaded>
      <More query={events} />
    </Card>
  );
}

function StatusDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const failure = useFailureToast();
  // The question stays the same, also when the account behind it has changed already.
  const [suspends] = useState(account.status === 'ACTIVE');
  const [reason, setReason] = useState('');
  const change = useChange({
    change: (steyg, status: 'ACTIVE' | 'SUSPENDED') =>
      steyg.console.operator.setAccountStatus({
        accountId: account.id,
        status,
        reason: reason.trim() === '' ? null : reason.trim(),
      }),
    refresh: [['operator']],
    done: () => say(t.common.saved),
  });
  return (
    <Confirm
      title={fill(suspends ? t.operator.suspendWhat : t.operator.resumeWhat, { name: account.name })}
      action={suspends ? t.operator.suspend : t.operator.resume}
      danger={suspends}
      busy={change.isPending}
      onClose={onClose}
      onConfirm={() => change.mutate(suspends ? 'SUSPENDED' : 'ACTIVE', { ...failure, onSettled: onClose })}
    >
      <p>{fill(suspends ? t.operator.suspendText : t.operator.resumeText, { name: account.name })}</p>
      <TextField
        label={t.operator.reason}
        hint={t.operator.statusReasonHint}
        maxLength={500}
        value={reason}
        onChange={setReason}
      />
    </Confirm>
  );
}

const lifetimes = ['', '7', '30', '90', '365'] as const;

function GrantDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const [amount, setAmount] = useState('');
  const [days, setDays] = useState<string>('');
  const [reason, setReason] = useState('');
  // The expiry belongs to the dialog: a retry after a lost answer repeats the same grant.
  const [openedAt] = useState(() => Date.now());
  const give = useChange({
    change: (steyg, input: { amount: string; reason: string; expiresAt: string | null }, idempotencyKey) =>
      steyg.console.operator.giveGrant({ input: { ...input, accountId: account.id, idempotencyKey } }),
    refresh: [['operator']],
    done: () => {
      say(t.operator.given);
      onClose();
    },
  });
  const { fields, rest } = useProblems(give.error, ['amount', 'expiresAt', 'reason']);
  return (
    <Dialog title={fill(t.operator.giveTo, { name: account.name })} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (!isUsd(amount)) return;
          give.mutate({
            amount: amount.trim(),
            reason: reason.trim(),
            expiresAt: days === '' ? null : new Date(openedAt + Number(days) * dayMs).toISOString(),
          });
        }}
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={give.isPending}>
              {t.operator.give}
            </Button>
          </>
        }
      >
        <TextField
          label={t.operator.amount}
          inputMode="decimal"
          required
          value={amount}
          onChange={setAmount}
          error={fields['amount'] ?? (amount === '' || isUsd(amount) ? undefined : t.problems.usd)}
        />
        <SelectField
          label={t.order.validity}
          value={days}
          onChange={setDays}
          options={lifetimes.map((value) => ({
            value,
            label: value === '' ? t.topUp.noEnd : fill(t.topUp.validDays, { days: value }),
          }))}
          error={fields['expiresAt']}
        />
        <TextField
          label={t.operator.reason}
          hint={t.operator.reasonHint}
          required
          maxLength={200}
          value={reason}
          onChange={setReason}
          error={fields['reason']}
        />
      </Form>
    </Dialog>
  );
}

function TakeBackDialog({ account, grant, onClose }: { account: Account; grant: Grant; onClose: () => void }) {
  const { t, format } = useOperatorLanguage();
  const say = useSay();
  const [reason, setReason] = useState('');
  const end = useChange({
    change: (steyg, input: { grantId: string; reason: string }) =>
      steyg.console.operator.endGrant({ input: { ...input, accountId: account.id } }),
    refresh: [['operator']],
    done: ({ taken }) => {
      say(fill(t.operator.takenBack, { amount: format.usd(taken) }));
      onClose();
    },
  });
  const { fields, rest } = useProblems(end.error, ['reason']);
  return (
    <Dialog title={fill(t.operator.takeBackFrom, { name: account.name })} onClose={onClose}>
      <p>{t.operator.takeBackText}</p>
      <Form
        onSubmit={() => end.mutate({ grantId: grant.id, reason: reason.trim() })}
        error={rest}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="danger" busy={end.isPending}>
              {fill(t.operator.takeBack, { amount: format.usd(grant.free) })}
            </Button>
          </>
        }
      >
        <TextField
          label={t.operator.reason}
          hint={t.operator.takeBackReasonHint}
          required
          maxLength={200}
          value={reason}
          onChange={setReason}
          error={fields['reason']}
        />
      </Form>
    </Dialog>
  );
}

function Invariants({ id }: { id: string }) {
  const { t } = useOperatorLanguage();
  const [asked, setAsked] = useState(false);
  const broken = useAsk({
    key: ['operator', 'invariants', id],
    ask: (steyg, signal) => steyg.console.operator.invariants({ accountId: id }, { signal }),
    when: asked,
  });
  return (
    <Card
      title={t.operator.invariants}
      actions={
        <Button
          small
          busy={broken.isFetching}
          onClick={() => {
            setAsked(true);
            if (asked) void broken.refetch();
          }}
        >
          {t.operator.check}
        </Button>
      }
    >
      {asked ? (
        <Loaded query={broken}>
          {(list) =>
            list.length === 0 ? (
              <Banner tone="good" icon="check">
                {t.operator.sound}
              </Banner>
            ) : (
              <>
                {list.map(({ invariant, rows }) => (
                  <Banner key={invariant} tone="bad">
                    <p>{fill(t.operator.broken, { invariant })}</p>
                    <Code text={JSON.stringify(rows, null, 2)} what={invariant} />
                  </Banner>
                ))}
              </>
            )
          }
        </Loaded>
      ) : (
        <p className="hint">{t.operator.invariantsHint}</p>
      )}
    </Card>
  );
}

function Members({ id, email: ownEmail }: { id: string; email: string }) {
  const { t } = useOperatorLanguage();
  const members = useAsk({
    key: ['operator', 'members', id],
    ask: (steyg, signal) => steyg.console.operator.accountMembers({ id }, { signal }),
  });
  return (
    <Card title={t.members.title}>
      <Loaded query={members} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={fill(t.operator.noMembers, { email: ownEmail })} />
          ) : (
            <Table
              caption={t.members.title}
              rows={rows}
              rowKey={(member) => member.id}
              columns={[
                {
                  head: t.members.name,
                  names: true,
                  cell: ({ name, email }) => (
                    <>
                      {name}
                      <span className="note">{email}</span>
                    </>
                  ),
                },
                { head: t.members.role, cell: ({ role }) => t.members.roles[role ?? 'OTHER'] },
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

function Orders({ id }: { id: string }) {
  const { t, format } = useOperatorLanguage();
  const [refunding, setRefunding] = useState<{ id: string; memo: string } | null>(null);
  const orders = usePages({
    key: ['operator', 'orders', id],
    ask: (steyg, after, signal) => steyg.console.operator.accountOrders({ id, after, first: 20 }, { signal }),
  });
  return (
    <Card title={t.topUp.orders}>
      <Loaded query={orders} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.topUp.noOrders} />
          ) : (
            <Table
              caption={t.topUp.orders}
              rows={rows}
              rowKey={(order) => order.id}
              columns={[
                {
                  head: t.order.memo,
                  names: true,
                  cell: ({ memo, createdAt }) => (
                    <>
                      <code>{memo}</code>
                      <span className="note">
                        <Moment at={createdAt} />
                      </span>
                    </>
                  ),
                },
                { head: t.order.price, figure: true, cell: ({ priceVnd }) => format.vnd(priceVnd) },
                { head: t.order.status, cell: ({ status }) => <OrderBadge status={status} /> },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (order) =>
                    order.status === 'PAID' ? (
                      <Button
                        takes="refundOrder"
                        small
                        aria-label={fill(t.operator.refunds.ofOrder, { memo: order.memo })}
                        onClick={() => setRefunding(order)}
                      >
                        {t.operator.refunds.refund}
                      </Button>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={orders} />
      {refunding === null ? null : <RefundOrderDialog order={refunding} onClose={() => setRefunding(null)} />}
    </Card>
  );
}

function Keys({ id }: { id: string }) {
  const { t, format } = useOperatorLanguage();
  const search = useSearch();
  const keys = usePages({
    key: ['operator', 'keys', id, search.asked],
    ask: (steyg, after, signal) =>
      steyg.console.operator.accountKeys({ id, after, first: 20, search: search.asked }, { signal }),
  });
  const [revoking, setRevoking] = useState<{ id: string; name: string } | null>(null);
  return (
    <Card title={t.keys.title}>
      {search.text !== '' || keys.hasNextPage ? <SearchField search={search} hint={t.keys.findHint} /> : null}
      <Loaded query={keys} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={search.asked === null ? t.keys.empty : t.common.nothingFound} />
          ) : (
            <Table
              caption={t.keys.title}
              rows={rows}
              rowKey={(key) => key.id}
              columns={[
                { head: t.keys.name, names: true, cell: ({ name, last4 }) => `${name} …${last4}` },
                { head: t.keys.status, cell: ({ status }) => t.keys.statuses[status] },
                { head: t.keys.spent, figure: true, cell: ({ spend }) => format.usd(spend.lifetime) },
                {
                  head: t.keys.lastUsed,
                  cell: ({ lastUsedAt }) => (lastUsedAt === null ? t.keys.never : <Moment at={lastUsedAt} />),
                },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: ({ id: keyId, name, status }) =>
                    status === 'DELETED' ? null : (
                      <Button takes="revokeKey" small look="danger" onClick={() => setRevoking({ id: keyId, name })}>
                        {t.operator.revoke}
                      </Button>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={keys} />
      {revoking === null ? null : <RevokeDialog apiKey={revoking} onClose={() => setRevoking(null)} />}
    </Card>
  );
}

function RevokeDialog({ apiKey, onClose }: { apiKey: { id: string; name: string }; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const say = useSay();
  const [reason, setReason] = useState('');
  const revoke = useChange({
    change: (steyg, text: string) => steyg.console.operator.revokeKey({ id: apiKey.id, reason: text }),
    refresh: [['operator']],
    done: () => {
      say(t.common.saved);
      onClose();
    },
  });
  return (
    <Dialog title={fill(t.operator.revokeWhat, { name: apiKey.name })} onClose={onClose}>
      <p>{t.keys.deleteText}</p>
      <Form
        onSubmit={() => revoke.mutate(reason.trim())}
        error={revoke.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="danger" busy={revoke.isPending}>
              {t.operator.revoke}
            </Button>
          </>
        }
      >
        <TextField
          label={t.operator.reason}
          hint={t.operator.statusReasonHint}
          required
          maxLength={500}
          value={reason}
          onChange={setReason}
        />
      </Form>
    </Dialog>
  );
}

/** The request that the search led here for (`?request=`). */
function FoundRequest({ id }: { id: string }) {
  const { t } = useOperatorLanguage();
  const [search] = useSearchParams();
  const requestId = search.get('request') ?? '';
  const entry = useAsk({
    key: ['operator', 'entry', id, requestId],
    // No entry is an answer here, and must not read as something that is missing.
    ask: async (steyg, signal) => ({
      found: (await steyg.console.operator.accountEntry({ id, requestId }, { signal })) ?? null,
    }),
    when: requestId !== '',
  });
  if (requestId === '') return null;
  return (
    <Card title={t.entry.title}>
      <p>
        <code>{requestId}</code>
      </p>
      <Loaded query={entry}>
        {({ found }) =>
          found === null ? (
            <Empty title={t.common.nothingFound} />
          ) : (
            <EntryTable entries={[found]} caption={t.entry.title} accountId={id} />
          )
        }
      </Loaded>
    </Card>
  );
}

function Entries({ id }: { id: string }) {
  const { t } = useOperatorLanguage();
  const entries = usePages({
    key: ['operator', 'entries', id],
    ask: async (steyg, after, signal) => steyg.console.operator.accountEntries({ id, after, first: 20 }, { signal }),
  });
  return (
    <Card title={t.activity.requests}>
      <Loaded query={entries} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.overview.noRequests} />
          ) : (
            <EntryTable entries={rows} caption={t.activity.requests} accountId={id} />
          )
        }
      </Loaded>
      <More query={entries} />
    </Card>
  );
}
