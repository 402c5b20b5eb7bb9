/** The operator's page of the books: invariants and exceptions. */

import { useRef, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Code } from '../../components/copy.tsx';
import { useFailureToast } from '../../components/failure-toast.ts';
import { Moment } from '../../components/moment.tsx';
import { Card, Page } from '../../components/page.tsx';
import { Banner, Empty, FailureNotice, Loaded, More, TableSkeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useChange, usePages, useSteyg } from '../../data.tsx';
import { useNow } from '../../hooks.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { pages, pathTo } from '../../pages.ts';

const days = 30;
/** Each row loads its budget: larger pages exceed the server's limits. */
const accountsAtOnce = 25;

/** Whether the books balance, and their exceptions. */
export default function Books() {
  const { t } = useOperatorLanguage();
  return (
    <Page title={t.nav.operatorBooks} lead={t.operator.booksLead}>
      <AllInvariants />
      <Shortfalls />
      <Mismatches />
      <Anomalies />
      <Holds />
    </Page>
  );
}

interface Finding {
  accountId: string;
  name: string;
  invariant: string;
  rows: unknown;
}

type State =
  | { kind: 'idle' }
  | { kind: 'running' | 'done' | 'stopped'; checked: number; findings: Finding[] }
  | { kind: 'failed'; checked: number; findings: Finding[]; error: unknown };

/** One account after the other: each check is small, and the operator can stop. */
function AllInvariants() {
  const { t, format } = useOperatorLanguage();
  const steyg = useSteyg();
  const [state, setState] = useState<State>({ kind: 'idle' });
  const stop = useRef<AbortController>(null);
  const run = async () => {
    const controller = new AbortController();
    stop.current = controller;
    const { signal } = controller;
    let checked = 0;
    const findings: Finding[] = [];
    setState({ kind: 'running', checked, findings });
    try {
      for await (const { id, name } of steyg.console.operator.listAccounts({ first: accountsAtOnce }, { signal })) {
        const broken = await steyg.console.operator.invariants({ accountId: id }, { signal });
        findings.push(...broken.map(({ invariant, rows }) => ({ accountId: id, name, invariant, rows })));
        checked += 1;
        setState({ kind: 'running', checked, findings });
      }
      setState({ kind: 'done', checked, findings });
    } catch (error) {
      setState(signal.aborted ? { kind: 'stopped', checked, findings } : { kind: 'failed', checked, findings, error });
    }
  };
  return (
    <Card
      title={t.operator.invariants}
      actions={
        state.kind === 'running' ? (
          <Button small onClick={() => stop.current?.abort()}>
            {t.playground.stop}
          </Button>
        ) : (
          <Button small look="primary" onClick={() => void run()}>
            {t.operator.checkAll}
          </Button>
        )
      }
    >
      <p className="hint">{t.operator.invariantsHint}</p>
      {state.kind === 'idle' ? null : (
        <div role="status">
          <p>{fill(t.operator.checked, { n: format.number(state.checked) })}</p>
          {state.kind === 'done' && state.findings.length === 0 ? (
            <Banner tone="good" icon="check">
              {t.operator.sound}
            </Banner>
          ) : null}
          {state.findings.map(({ accountId, name, invariant, rows }) => (
            <Banner key={`${accountId}${invariant}`} tone="bad">
              <p>
                <Link href={pathTo(pages.operatorAccount, { id: accountId })}>{name}</Link>:{' '}
                {fill(t.operator.broken, { invariant })}
              </p>
              <Code text={JSON.stringify(rows, null, 2)} what={invariant} />
            </Banner>
          ))}
          {state.kind === 'failed' ? <FailureNotice error={state.error} retry={() => void run()} /> : null}
        </div>
      )}
    </Card>
  );
}

function AccountLink({ id, text }: { id: string; text: string }) {
  return <Link href={pathTo(pages.operatorAccount, { id })}>{text}</Link>;
}

/** When a request ended, which leads to its receipt. */
function Receipt({
  createdAt,
  requestId,
  operator,
}: {
  createdAt: string;
  requestId: string;
  operator: { account: { id: string } | null } | null;
}) {
  const moment = <Moment at={createdAt} />;
  const account = operator?.account ?? null;
  if (account === null) return moment;
  return <Link href={pathTo(pages.operatorRequest, { id: account.id, requestId })}>{moment}</Link>;
}

/** The account of a request; erased accounts have no name. */
function Customer({ account }: { account: { id: string; name: string } | null }) {
  return account === null ? '–' : <AccountLink id={account.id} text={account.name} />;
}

function Shortfalls() {
  const { t, format } = useOperatorLanguage();
  const query = usePages({
    key: ['operator', 'shortfalls'],
    ask: (steyg, after, signal) => steyg.console.books.shortfalls({ days, after, first: 50 }, { signal }),
  });
  type Row = NonNullable<typeof query.data>[number];
  const columns: Column<Row>[] = [
    { head: t.activity.time, names: true, cell: (row) => <Receipt {...row} /> },
    {
      head: t.operator.account,
      cell: ({ operator }) => <Customer account={operator?.account ?? null} />,
    },
    { head: t.activity.model, cell: ({ model }) => <code>{model}</code> },
    { head: t.activity.cost, figure: true, cell: ({ cost }) => format.usd(cost) },
    { head: t.activity.charged, figure: true, cell: ({ charged }) => format.usd(charged) },
    { head: t.operator.missing, figure: true, cell: ({ operator }) => format.usd(operator?.shortfall ?? '0') },
  ];
  return (
    <Card title={fill(t.operator.shortfalls, { days })}>
      <p className="hint">{t.operator.shortfallsHint}</p>
      <Loaded query={query} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.noShortfalls} />
          ) : (
            <Table caption={t.operator.shortfall} rows={rows} rowKey={({ requestId }) => requestId} columns={columns} />
          )
        }
      </Loaded>
      <More query={query} />
    </Card>
  );
}

const mismatchesKey = ['operator', 'mismatches'];

/** Models that upstreams ran in place of the requested ones. */
function Mismatches() {
  const { t, format } = useOperatorLanguage();
  const failure = useFailureToast();
  const query = usePages({
    key: mismatchesKey,
    ask: (steyg, after, signal) => steyg.console.operator.listModelMismatches({ after, first: 50 }, { signal }),
  });
  const close = useChange({
    change: (steyg, id: string) => steyg.console.operator.closeModelMismatch({ id }),
    refresh: [mismatchesKey],
  });
  const remarks = t.operator.reportedRemarks as Record<string, string>;
  return (
    <Card title={t.operator.mismatches}>
      <p className="hint">{t.operator.mismatchesHint}</p>
      <Loaded query={query} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.noMismatches} />
          ) : (
            <Table
              caption={t.operator.mismatches}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                { head: t.activity.model, names: true, cell: ({ model }) => <code>{model}</code> },
                { head: t.operator.upstream, cell: ({ upstream }) => upstream },
                { head: t.operator.asked, cell: ({ asked }) => <code>{asked}</code> },
                {
                  head: t.operator.reported,
                  cell: ({ reported }) => remarks[reported] ?? <code>{reported}</code>,
                },
                { head: t.operator.answers, figure: true, cell: ({ count }) => format.number(count) },
                { head: t.operator.firstSeen, cell: ({ firstSeenAt }) => <Moment at={firstSeenAt} /> },
                {
                  head: t.operator.lastSeen,
                  cell: ({ lastSeenAt, lastRequestId }) => (
                    <>
                      <Moment at={lastSeenAt} />
                      <span className="note">
                        <code>{lastRequestId}</code>
                      </span>
                    </>
                  ),
                },
                {
                  head: t.operator.state,
                  cell: ({ id, model, reported, closedAt }) =>
                    closedAt === null ? (
                      <Button
                        takes="closeModelMismatch"
                        small
                        busy={close.isPending && close.variables === id}
                        aria-label={fill(t.operator.closeMismatch, { model, reported: remarks[reported] ?? reported })}
                        onClick={() => close.mutate(id, failure)}
                      >
                        {t.common.close}
                      </Button>
                    ) : (
                      <>
                        {t.operator.closed} <Moment at={closedAt} />
                      </>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={query} />
    </Card>
  );
}

function Anomalies() {
  const { t, format } = useOperatorLanguage();
  const query = usePages({
    key: ['operator', 'anomalies'],
    ask: (steyg, after, signal) => steyg.console.operator.listAnomalies({ days, after, first: 50 }, { signal }),
  });
  return (
    <Card title={fill(t.operator.anomalies, { days })}>
      <p className="hint">{t.operator.anomaliesHint}</p>
      <Loaded query={query} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.noAnomalies} />
          ) : (
            <Table
              caption={fill(t.operator.anomalies, { days })}
              rows={rows}
              rowKey={({ requestId }) => requestId}
              columns={[
                { head: t.activity.time, names: true, cell: (row) => <Receipt {...row} /> },
                {
                  head: t.operator.account,
                  cell: ({ operator }) => <Customer account={operator?.account ?? null} />,
                },
                { head: t.activity.model, cell: ({ model }) => <code>{model}</code> },
                { head: t.operator.upstream, cell: ({ operator }) => operator?.upstream },
                { head: t.entry.source, cell: ({ usageSource }) => t.entry.sources[usageSource ?? 'OTHER'] },
                { head: t.activity.outcome, cell: ({ outcome }) => t.outcomes[outcome ?? 'OTHER'] },
                { head: t.activity.cost, figure: true, cell: ({ cost }) => format.usd(cost) },
              ]}
            />
          )
        }
      </Loaded>
      <More query={query} />
    </Card>
  );
}

function Holds() {
  const { t, format } = useOperatorLanguage();
  const now = useNow(5_000);
  const query = usePages({
    key: ['operator', 'holds'],
    ask: (steyg, after, signal) => steyg.console.operator.holds({ after, first: 50 }, { signal }),
    every: 5_000,
  });
  return (
    <Card title={t.operator.holds}>
      <p className="hint">{t.operator.holdsHint}</p>
      <Loaded query={query} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.noHolds} />
          ) : (
            <Table
              caption={t.operator.holds}
              rows={rows}
              rowKey={({ requestId }) => requestId}
              columns={[
                { head: t.operator.since, names: true, cell: ({ heldAt }) => format.ago(heldAt, now) },
                {
                  head: t.operator.account,
                  cell: ({ account }) => <Customer account={account} />,
                },
                { head: t.common.requestId, cell: ({ requestId }) => <code>{requestId}</code> },
                { head: t.operator.amount, figure: true, cell: ({ amount }) => format.usd(amount) },
              ]}
            />
          )
        }
      </Loaded>
      <More query={query} />
    </Card>
  );
}
