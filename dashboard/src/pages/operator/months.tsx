/** Months of the books: the next one to close, and those that are closed, with every line. */

import { type NextMonthToCloseAnswer, orThrow } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { useFailureToast } from '../../components/failure-toast.ts';
import { TextField } from '../../components/field.tsx';
import { Moment } from '../../components/moment.tsx';
import { Card } from '../../components/page.tsx';
import { Banner, Empty, Loaded, LoadingSkeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useAsk, useChange, useSteyg } from '../../data.tsx';
import { useBookTexts } from '../../language/books.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';

const monthsKey = ['operator', 'closed-months'];
const nextKey = ['operator', 'next-month'];

type Preview = NonNullable<NextMonthToCloseAnswer>;
type Statement = Preview['statement'];

/** Before the first close an operator chooses the month and the time zone; later both are given. */
export function NextMonth() {
  const { t } = useOperatorLanguage();
  const [month, setMonth] = useState('');
  const [zone, setZone] = useState('Asia/Ho_Chi_Minh');
  const closed = useAsk({
    key: monthsKey,
    ask: (steyg, signal) => steyg.console.books.closedMonths({}, { signal }),
  });
  const isFirst = closed.data?.length === 0;
  const isMonth = /^\d{4}-(0[1-9]|1[0-2])$/.test(month);
  const isZone = zone === '' || isTimeZone(zone);
  const preview = useAsk({
    key: [...nextKey, isMonth ? month : '', isZone ? zone : ''],
    ask: (steyg, signal) =>
      steyg.console.books.nextMonthToClose(
        { ...(isMonth ? { month } : {}), ...(isZone && zone !== '' ? { timeZone: zone } : {}) },
        { signal },
      ),
    when: isZone,
  });
  return (
    <Card title={t.operator.bills.next}>
      <p className="hint">{t.operator.bills.nextHint}</p>
      {isFirst ? (
        <div className="fields">
          <TextField
            label={t.operator.bills.firstMonth}
            hint={t.operator.bills.firstMonthHint}
            placeholder="2026-10"
            value={month}
            onChange={setMonth}
            error={month === '' || isMonth ? undefined : t.operator.bills.monthProblem}
          />
          <TextField
            label={t.notices.timeZone}
            hint={t.operator.bills.timeZoneHint}
            value={zone}
            onChange={setZone}
            error={isZone ? undefined : t.operator.bills.timeZoneProblem}
          />
        </div>
      ) : null}
      <Loaded query={preview} skeleton={<LoadingSkeleton lines={4} />}>
        {(figures) => <CloseMonth preview={figures} />}
      </Loaded>
    </Card>
  );
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** A month at noon of its first day on the reader's clock, for formatting. */
const noonOf = (month: string): Date => new Date(`${month}-01T12:00:00`);

const budgetKinds = ['bought', 'trial', 'bonus', 'given', 'own', 'probe'] as const;
const movements = ['opening', 'added', 'used', 'expired', 'refunded', 'undone', 'closing'] as const;
const cashFlows = ['opening', 'received', 'sold', 'undone', 'credited', 'sent', 'closing'] as const;
const owed = ['surplus', 'partPayments', 'withoutOrder', 'unassigned', 'toSend'] as const;
const payers = ['bought', 'trial', 'bonus', 'given', 'shortfall', 'own', 'probe', 'unsplit'] as const;

/** Every line of a month. Each row of the first two tables adds up. */
export function MonthLines({ statement }: { statement: Statement }) {
  const { format } = useOperatorLanguage();
  const { months: words } = useBookTexts();
  const { cash, vendorCost, vnd } = statement;
  const rolls = [
    ...budgetKinds.map((kind) => ({ name: words.kinds[kind], line: statement[kind], text: format.usd })),
    { name: words.boughtVnd, line: statement.boughtVnd, text: format.vnd },
    { name: words.boughtNetVnd, line: statement.boughtNetVnd, text: format.vnd },
  ].filter(({ line }) => movements.some((name) => Number(line[name]) !== 0));
  const result: { name: string; amount: string }[] = [
    { name: words.usedOfBought, amount: format.usd(statement.bought.used) },
    ...(Number(statement.unknownOfBought) === 0
      ? []
      : [{ name: words.unknownOfBought, amount: format.usd(less(statement.unknownOfBought)) }]),
    ...payers
      .filter((payer) => payer === 'bought' || Number(vendorCost[payer]) !== 0)
      .map((payer) => ({ name: words.costs[payer], amount: format.usd(less(vendorCost[payer])) })),
    { name: words.margin, amount: format.usd(statement.margin) },
    { name: words.shortfall, amount: format.usd(statement.shortfall) },
    ...(vnd === null
      ? []
      : [
          { name: words.incomeVnd, amount: format.vnd(vnd.income) },
          { name: words.costVnd, amount: format.vnd(less(vnd.vendorCost)) },
          { name: words.foreignVat, amount: format.vnd(less(vnd.foreignVat)) },
          { name: words.foreignIncomeTax, amount: format.vnd(less(vnd.foreignIncomeTax)) },
          { name: words.resultVnd, amount: format.vnd(vnd.result) },
        ]),
  ];
  return (
    <>
      <Table
        caption={words.cash}
        rows={[...cashFlows, ...owed]}
        rowKey={(name) => name}
        columns={[
          { head: words.cash, names: true, cell: (name) => words.cashLines[name] },
          { head: 'VND', figure: true, cell: (name) => format.vnd(cash[name]) },
        ]}
      />
      <Table
        caption={words.budgets}
        rows={rolls}
        rowKey={({ name }) => name}
        columns={[
          { head: words.budgets, names: true, cell: ({ name }) => name },
          ...movements.map((movement) => ({
            head: words.movements[movement],
            figure: true,
            cell: ({ line, text }: (typeof rolls)[number]) => text(line[movement]),
          })),
        ]}
      />
      <Table
        caption={words.result}
        rows={result}
        rowKey={({ name }) => name}
        columns={[
          { head: words.result, names: true, cell: ({ name }) => name },
          { head: words.amount, figure: true, cell: ({ amount }) => amount },
        ]}
      />
      {vnd === null ? null : <p className="hint">{vnd.rates.join(' · ')}</p>}
      {statement.missingRates.length === 0 ? null : (
        <p className="hint">{fill(words.missingRates, { periods: statement.missingRates.join(', ') })}</p>
      )}
    </>
  );
}

/** The same amount with the other sign; nothing has none. */
const less = (amount: string): string =>
  Number(amount) === 0 ? amount : amount.startsWith('-') ? amount.slice(1) : `-${amount}`;

/** Whether nothing moved and nothing is left. */
const isEmptyMonth = ({ cash, vendorCost, ...statement }: Statement): boolean =>
  [...Object.values(cash), vendorCost.total, ...budgetKinds.flatMap((kind) => Object.values(statement[kind]))].every(
    (amount) => Number(amount) === 0,
  );

function CloseMonth({ preview }: { preview: Preview }) {
  const { t, format } = useOperatorLanguage();
  const { months: words } = useBookTexts();
  const failure = useFailureToast();
  const say = useSay();
  const [asking, setAsking] = useState(false);
  const { timeZone, isOver } = preview;
  const month = format.month(noonOf(preview.month));
  const isEmpty = isEmptyMonth(preview.statement);
  const close = useChange({
    change: (steyg, input: { month: string; timeZone: string }) => steyg.console.books.closeMonth(input),
    refresh: [monthsKey, nextKey],
    done: () => {
      setAsking(false);
      say(fill(t.operator.bills.closedNow, { month }));
    },
  });
  const figures = <MonthLines statement={preview.statement} />;
  return (
    <>
      <p>
        <strong>{month}</strong> · {timeZone} · {isOver ? t.operator.bills.isOver : t.operator.bills.notOver}
      </p>
      {preview.imbalances.map(({ row, computed, found }) => (
        <Banner key={row} tone="bad">
          {fill(words.imbalance, { row, computed, found })}
        </Banner>
      ))}
      {isEmpty ? <Empty title={fill(t.operator.bills.nothingIn, { month })} /> : figures}
      {isOver && preview.imbalances.length === 0 ? (
        <div className="actions">
          <Button takes="closeMonth" look={isEmpty ? 'plain' : 'primary'} onClick={() => setAsking(true)}>
            {fill(t.operator.bills.close, { month })}
          </Button>
        </div>
      ) : null}
      {asking ? (
        <Confirm
          title={fill(t.operator.bills.closeTitle, { month })}
          action={fill(t.operator.bills.close, { month })}
          busy={close.isPending}
          onConfirm={() => close.mutate({ month: preview.month, timeZone }, failure)}
          onClose={() => setAsking(false)}
        >
          <p>{t.operator.bills.frozen}</p>
          {figures}
          <p>{t.operator.bills.frozenLater}</p>
        </Confirm>
      ) : null}
    </>
  );
}

const papers = ['JOURNAL', 'PAPERS', 'ADVANCES'] as const;

/** The papers of a closed month for an adviser, as files. */
function MonthPapers({ month }: { month: string }) {
  const { locale } = useOperatorLanguage();
  const { months: words } = useBookTexts();
  const failure = useFailureToast();
  const steyg = useSteyg();
  const [busy, setBusy] = useState<string | null>(null);
  const download = async (paper: (typeof papers)[number]) => {
    setBusy(paper);
    try {
      const { url } = orThrow(await steyg.console.books.createBookPaperDownload({ input: { paper, month } }));
      startDownload(`${url}&lang=${locale}`, `${paper.toLowerCase()}-${month}.csv`);
    } catch (error) {
      failure.onError(error);
    }
    setBusy(null);
  };
  return (
    <div className="actions">
      {papers.map((paper) => (
        <Button key={paper} small busy={busy === paper} onClick={() => void download(paper)}>
          {words.papers[paper]}
        </Button>
      ))}
    </div>
  );
}

/** The link names the server's public address; the page may be open under another name. */
function startDownload(url: string, name: string): void {
  const { pathname, search } = new URL(url);
  const link = document.createElement('a');
  link.href = pathname + search;
  link.download = name;
  link.click();
}

export function ClosedMonths() {
  const { t, format } = useOperatorLanguage();
  const { months: words } = useBookTexts();
  const failure = useFailureToast();
  const steyg = useSteyg();
  const [busy, setBusy] = useState(false);
  const query = useAsk({
    key: monthsKey,
    ask: (client, signal) => client.console.books.closedMonths({}, { signal }),
  });
  type Row = NonNullable<typeof query.data>[number];
  const download = async () => {
    setBusy(true);
    try {
      const { url } = orThrow(await steyg.console.books.createBooksDownload({}));
      startDownload(url, 'closed-months.csv');
    } catch (error) {
      failure.onError(error);
    }
    setBusy(false);
  };
  const columns: Column<Row>[] = [
    {
      head: t.operator.bills.month,
      names: true,
      cell: ({ month, timeZone }) => (
        <>
          {format.month(noonOf(month))}
          <span className="note">{timeZone}</span>
        </>
      ),
    },
    {
      head: words.cashLines.received,
      figure: true,
      cell: ({ statement }) => (statement === null ? '–' : format.vnd(statement.cash.received)),
    },
    {
      head: words.cashLines.sold,
      figure: true,
      cell: ({ statement }) => (statement === null ? '–' : format.vnd(statement.cash.sold)),
    },
    {
      head: words.usedOfBought,
      figure: true,
      cell: ({ statement, earlier }) => format.usd(statement?.bought.used ?? earlier?.usedOfPurchases ?? '0'),
    },
    {
      head: words.vendorCost,
      figure: true,
      cell: ({ statement, earlier }) => format.usd(statement?.vendorCost.total ?? earlier?.upstreamCost ?? '0'),
    },
    {
      head: words.margin,
      figure: true,
      cell: ({ statement, earlier }) =>
        statement === null ? (
          <>
            {format.usd(earlier?.margin ?? '0')}
            <span className="note">{words.earlierMargin}</span>
          </>
        ) : (
          format.usd(statement.margin)
        ),
    },
    {
      head: words.digest,
      cell: ({ digest }) => (digest === null ? '–' : <code title={digest}>{digest.slice(0, 12)}</code>),
    },
    { head: t.operator.bills.closedAt, cell: ({ closedAt }) => <Moment at={closedAt} /> },
  ];
  return (
    <Card
      title={t.operator.bills.months}
      actions={
        <Button small busy={busy} disabled={(query.data ?? []).length === 0} onClick={() => void download()}>
          {t.operator.bills.download}
        </Button>
      }
    >
      <Loaded query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.bills.noMonths} />
          ) : (
            <>
              <Table caption={t.operator.bills.months} rows={rows} rowKey={({ month }) => month} columns={columns} />
              {rows.map(({ month, statement }) =>
                statement === null ? null : (
                  <details key={month}>
                    <summary>{fill(words.linesOf, { month: format.month(noonOf(month)) })}</summary>
                    <MonthPapers month={month} />
                    <MonthLines statement={statement} />
                  </details>
                ),
              )}
            </>
          )
        }
      </Loaded>
    </Card>
  );
}
