/** The operator's page of vendors' bills, their comparison with the ledger, and closed months. */

import { type NextMonthToCloseAnswer, orThrow, type VendorBillsAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { DateField } from '../../components/date-field.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { useFailureToast } from '../../components/failure-toast.ts';
import { Checkbox, SelectField, TextField } from '../../components/field.tsx';
import { Moment } from '../../components/moment.tsx';
import { Badge, Card, Figure, Page } from '../../components/page.tsx';
import { Banner, Empty, FailureNotice, Loaded, LoadingSkeleton } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { Usd } from '../../components/usd.tsx';
import { useAsk, useChange, useSteyg } from '../../data.tsx';
import { useExplain } from '../../explain.ts';
import type { Format } from '../../format.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';

/** A day of UTC (`2026-11-23`) or a month (`2026-11`) at noon of its first day on the reader's clock, for formatting. */
const noonOf = (day: string): Date => new Date(`${day.length === 7 ? `${day}-01` : day}T12:00:00`);

/** From the first to the last day; a single one once. */
const daysText = (first: string, last: string, format: Format): string =>
  [...new Set([first, last])].map((day) => format.date(noonOf(day))).join(' – ');

const billsKey = ['operator', 'vendor-bills'];
const comparisonKey = ['operator', 'vendor-comparison'];
const monthsKey = ['operator', 'closed-months'];
const nextKey = ['operator', 'next-month'];

/** What vendors billed, beside what the ledger has; and the months that are closed. */
export default function Bills() {
  const { t } = useOperatorLanguage();
  const bills = useAsk({
    key: billsKey,
    ask: (steyg, signal) => steyg.console.operator.vendorBills({}, { signal }),
  });
  return (
    <Page title={t.nav.operatorBills} lead={t.operator.bills.lead}>
      <Card title={t.operator.bills.title}>
        <p className="hint">{t.operator.bills.hint}</p>
        <Loaded query={bills}>{(rows) => <Imports bills={rows ?? []} />}</Loaded>
      </Card>
      <Comparison upstreams={(bills.data ?? []).map(({ upstream }) => upstream)} />
      <NextMonth />
      <ClosedMonths />
    </Page>
  );
}

type VendorBill = NonNullable<VendorBillsAnswer>[number];

/** A GraphQL request is limited; larger files come in by the command line. */
const maxFileLength = 80_000;

function Imports({ bills }: { bills: readonly VendorBill[] }) {
  const { t } = useOperatorLanguage();
  const upstreams = useAsk({
    key: ['operator', 'upstreams'],
    ask: (steyg, signal) => steyg.console.operator.upstreams({}, { signal }),
  });
  return (
    <>
      {bills.length === 0 ? <Empty title={t.operator.bills.none} /> : <BillsTable bills={bills} />}
      <Loaded query={upstreams}>
        {(all) => <Import names={all.filter(({ simulated }) => !simulated).map(({ upstreamId }) => upstreamId)} />}
      </Loaded>
    </>
  );
}

/** Takes in a file of one of these upstreams' vendors. */
function Import({ names }: { names: readonly string[] }) {
  const { t, format } = useOperatorLanguage();
  const explain = useExplain();
  const [chosen, setChosen] = useState('');
  const upstream = names.includes(chosen) ? chosen : (names[0] ?? '');
  const [tooLarge, setTooLarge] = useState<string | null>(null);
  const take = useChange({
    change: (steyg, input: { upstream: string; csv: string }) => steyg.console.operator.importVendorUsage({ input }),
    refresh: [billsKey, comparisonKey],
  });
  const read = async (file: File) => {
    take.reset();
    const csv = await file.text();
    setTooLarge(csv.length > maxFileLength ? file.name : null);
    if (csv.length <= maxFileLength) take.mutate({ upstream, csv });
  };
  const problem = take.error === null ? null : explain(take.error).fields['csv'];
  return (
    <>
      {names.length === 0 ? null : (
        <div className="fields">
          <SelectField
            label={t.operator.upstream}
            value={upstream}
            options={names.map((value) => ({ value, label: value }))}
            onChange={setChosen}
          />
          <div className="field">
            <span className="hint">{t.operator.bills.fileHint}</span>
            {/* The browser's own control speaks the browser's language: the label is the button. */}
            <label className="button primary">
              {t.operator.bills.choose}
              <input
                type="file"
                className="sr-only"
                accept=".csv,text/csv"
                disabled={take.isPending}
                onChange={(event) => {
                  const [file] = event.target.files ?? [];
                  if (file !== undefined) void read(file);
                  // Allows the same file to be chosen again.
                  event.target.value = '';
                }}
              />
            </label>
          </div>
        </div>
      )}
      <div role="status">
        {tooLarge === null ? null : (
          <Banner tone="bad">
            {fill(t.operator.bills.tooLarge, { name: tooLarge, command: 'admin books import' })}
          </Banner>
        )}
        {take.data === undefined ? null : (
          <Banner tone="good" icon="check">
            {fill(t.operator.bills.imported, {
              n: format.number(take.data.rows),
              upstream: take.data.upstream,
              days: daysText(take.data.from, take.data.to, format),
            })}
          </Banner>
        )}
        {problem === undefined || problem === null ? null : <Banner tone="bad">{problem}</Banner>}
      </div>
      {take.error !== null && problem === undefined ? <FailureNotice error={take.error} /> : null}
    </>
  );
}

function BillsTable({ bills }: { bills: readonly VendorBill[] }) {
  const { t, format } = useOperatorLanguage();
  const columns: Column<VendorBill>[] = [
    { head: t.operator.upstream, names: true, cell: ({ upstream }) => upstream },
    {
      head: t.operator.bills.covered,
      cell: ({ firstDay, lastDay }) =>
        firstDay === null ? t.operator.bills.never : daysText(firstDay, lastDay ?? firstDay, format),
    },
    {
      head: t.operator.bills.importedAt,
      cell: ({ importedAt }) => (importedAt === null ? '–' : <Moment at={importedAt} />),
    },
    {
      head: t.operator.bills.missing,
      cell: ({ firstDay, missingDays }) =>
        firstDay === null ? (
          '–'
        ) : missingDays.length === 0 ? (
          <Badge tone="good">{t.operator.bills.complete}</Badge>
        ) : (
          <>
            <Badge tone="warn">{format.number(missingDays.length)}</Badge>{' '}
            <span className="note">
              {missingDays
                .slice(0, 5)
                .map((day) => format.day(noonOf(day)))
                .join(', ') + (missingDays.length > 5 ? ' …' : '')}
            </span>
          </>
        ),
    },
  ];
  return <Table caption={t.operator.bills.title} rows={bills} rowKey={({ upstream }) => upstream} columns={columns} />;
}

/** A day of UTC as the server writes it, so many days ago. */
const dayAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const rowsAtOnce = 100;

function Comparison({ upstreams }: { upstreams: readonly string[] }) {
  const { t, format } = useOperatorLanguage();
  const [from, setFrom] = useState(() => dayAgo(30));
  const [to, setTo] = useState(() => dayAgo(0));
  const [upstream, setUpstream] = useState('');
  const [differing, setDiffering] = useState(true);
  const [first, setFirst] = useState(rowsAtOnce);
  const query = useAsk({
    key: [...comparisonKey, from, to, upstream, differing, first],
    ask: (steyg, signal) =>
      steyg.console.operator.compareVendorUsage(
        { from, to, differing, first, ...(upstream === '' ? {} : { upstream }) },
        { signal },
      ),
    when: from !== '' && to !== '',
  });
  type Row = NonNullable<typeof query.data>['nodes'][number];
  const tokens = (side: Row['vendor']) =>
    side === null
      ? t.operator.bills.nothing
      : fill(t.operator.bills.tokens, {
          input: format.number(String(BigInt(side.input) + BigInt(side.cacheHit) + BigInt(side.cacheWrite))),
          output: format.number(side.output),
        });
  const cost = (side: Row['vendor']) => (side?.cost == null ? '–' : format.usd(side.cost));
  const columns: Column<Row>[] = [
    { head: t.operator.bills.day, names: true, cell: ({ day }) => format.date(noonOf(day)) },
    { head: t.operator.upstream, cell: (row) => row.upstream },
    { head: t.activity.model, cell: ({ model }) => <code>{model}</code> },
    { head: t.operator.bills.vendor, figure: true, cell: ({ vendor }) => tokens(vendor) },
    { head: t.operator.bills.ledger, figure: true, cell: ({ ledger }) => tokens(ledger) },
    { head: t.operator.bills.vendorCost, figure: true, cell: ({ vendor }) => cost(vendor) },
    { head: t.operator.bills.ledgerCost, figure: true, cell: ({ ledger }) => cost(ledger) },
    {
      head: t.operator.bills.apart,
      figure: true,
      cell: ({ apart, differs, estimated }) => (
        <>
          {differs ? <Badge tone="bad">{format.percent(apart)}</Badge> : format.percent(apart)}
          {estimated === '0' ? null : (
            <span className="note">{fill(t.operator.bills.estimated, { n: format.number(estimated) })}</span>
          )}
        </>
      ),
    },
  ];
  return (
    <Card title={t.operator.bills.comparison}>
      <p className="hint">{t.operator.bills.comparisonHint}</p>
      <div className="fields">
        <DateField label={t.operator.bills.from} value={from} onChange={setFrom} />
        <DateField label={t.operator.bills.to} value={to} onChange={setTo} />
        <SelectField
          label={t.operator.upstream}
          value={upstream}
          options={[
            { value: '', label: t.operator.bills.everyUpstream },
            ...upstreams.map((value) => ({ value, label: value })),
          ]}
          onChange={setUpstream}
        />
      </div>
      <Checkbox label={t.operator.bills.onlyDiffering} checked={differing} onChange={setDiffering} />
      <Loaded query={query} skeleton={<LoadingSkeleton lines={4} />}>
        {(page) => (
          <>
            <p role="status">
              {fill(t.operator.bills.compared, {
                n: format.number(page.compared),
                differing: format.number(page.differing),
              })}
            </p>
            {page.nodes.length === 0 ? (
              <Empty title={page.compared === 0 ? t.operator.bills.nothingToCompare : t.operator.bills.noneDiffers} />
            ) : (
              <Table
                caption={t.operator.bills.comparison}
                rows={page.nodes}
                rowKey={(row) => `${row.day} ${row.upstream} ${row.model}`}
                columns={columns}
                bounded
              />
            )}
            {page.pageInfo.hasNextPage ? (
              <div className="actions">
                <Button small onClick={() => setFirst(first + rowsAtOnce)}>
                  {t.common.more}
                </Button>
              </div>
            ) : null}
          </>
        )}
      </Loaded>
    </Card>
  );
}

type Preview = NonNullable<NextMonthToCloseAnswer>;

/** Before the first close an operator chooses the month and the time zone; later both are given. */
function NextMonth() {
  const { t } = useOperatorLanguage();
  const [month, setMonth] = useState('');
  const [zone, setZone] = useState('Asia/Ho_Chi_Minh');
  const closed = useAsk({
    key: monthsKey,
    ask: (steyg, signal) => steyg.console.operator.closedMonths({}, { signal }),
  });
  const isFirst = closed.data?.length === 0;
  const isMonth = /^\d{4}-(0[1-9]|1[0-2])$/.test(month);
  const isZone = zone === '' || isTimeZone(zone);
  const preview = useAsk({
    key: [...nextKey, isMonth ? month : '', isZone ? zone : ''],
    ask: (steyg, signal) =>
      steyg.console.operator.nextMonthToClose(
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

const usdFigures = [
  'used',
  'usedOfPurchases',
  'usedOfTrials',
  'usedOfGiven',
  'unused',
  'expired',
  'shortfall',
  'upstreamCost',
  'unknownCharged',
  'margin',
] as const;

function CloseMonth({ preview }: { preview: Preview }) {
  const { t, format } = useOperatorLanguage();
  const failure = useFailureToast();
  const say = useSay();
  const [asking, setAsking] = useState(false);
  const { timeZone, isOver } = preview;
  const month = format.month(noonOf(preview.month));
  const isEmpty = [preview.revenueVnd, ...usdFigures.map((name) => preview[name])].every(
    (amount) => Number(amount) === 0,
  );
  const close = useChange({
    change: (steyg, input: { month: string; timeZone: string }) => steyg.console.operator.closeMonth(input),
    refresh: [monthsKey, nextKey],
    done: () => {
      setAsking(false);
      say(fill(t.operator.bills.closedNow, { month }));
    },
  });
  const figures = (
    <dl className="figures">
      <Figure label={t.operator.bills.figures.revenueVnd} value={format.vnd(preview.revenueVnd)} />
      {usdFigures.map((name) => (
        <Figure
          key={name}
          label={t.operator.bills.figures[name]}
          value={<Usd amount={preview[name]} />}
          {...(name === 'margin' && Number(preview.margin) < 0 ? { tone: 'bad' as const } : {})}
        />
      ))}
    </dl>
  );
  return (
    <>
      <p>
        <strong>{month}</strong> · {timeZone} · {isOver ? t.operator.bills.isOver : t.operator.bills.notOver}
      </p>
      {isEmpty ? <Empty title={fill(t.operator.bills.nothingIn, { month })} /> : figures}
      {isOver ? (
        <div className="actions">
          <Button look={isEmpty ? 'plain' : 'primary'} onClick={() => setAsking(true)}>
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

function ClosedMonths() {
  const { t, format } = useOperatorLanguage();
  const failure = useFailureToast();
  const steyg = useSteyg();
  const [busy, setBusy] = useState(false);
  const query = useAsk({
    key: monthsKey,
    ask: (client, signal) => client.console.operator.closedMonths({}, { signal }),
  });
  type Row = NonNullable<typeof query.data>[number];
  const download = async () => {
    setBusy(true);
    try {
      const { url } = orThrow(await steyg.console.operator.createBooksDownload({}));
      // The link names the server's public address; the page may be open under another name.
      const { pathname, search } = new URL(url);
      const link = document.createElement('a');
      link.href = pathname + search;
      link.download = 'closed-months.csv';
      link.click();
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
    { head: t.operator.bills.figures.revenueVnd, figure: true, cell: ({ revenueVnd }) => format.vnd(revenueVnd) },
    ...usdFigures.map(
      (name): Column<Row> => ({
        head: t.operator.bills.figures[name],
        figure: true,
        cell: (row) => format.usd(row[name]),
      }),
    ),
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
            <Table caption={t.operator.bills.months} rows={rows} rowKey={({ month }) => month} columns={columns} />
          )
        }
      </Loaded>
    </Card>
  );
}
