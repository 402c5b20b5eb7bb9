/** The operator's page of vendors' bills, their comparison with the ledger, and closed months. */

import type { BillCause, VendorBillsAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { DateField } from '../../components/date-field.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { Checkbox, SelectField } from '../../components/field.tsx';
import { Moment } from '../../components/moment.tsx';
import { Badge, Card, Page } from '../../components/page.tsx';
import {
  Banner,
  Empty,
  FailureNotice,
  Loaded,
  LoadingSkeleton,
  More,
  TableSkeleton,
} from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useAsk, useChange, usePages } from '../../data.tsx';
import { useExplain } from '../../explain.ts';
import type { Format } from '../../format.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { BookSettings } from './book-settings.tsx';
import { ClosedMonths, NextMonth } from './months.tsx';

/** A day of UTC (`2026-11-23`) or a month (`2026-11`) at noon of its first day on the reader's clock, for formatting. */
const noonOf = (day: string): Date => new Date(`${day.length === 7 ? `${day}-01` : day}T12:00:00`);

/** From the first to the last day; a single one once. */
const daysText = (first: string, last: string, format: Format): string =>
  [...new Set([first, last])].map((day) => format.date(noonOf(day))).join(' – ');

const billsKey = ['operator', 'vendor-bills'];
const comparisonKey = ['operator', 'vendor-comparison'];
const filesKey = ['operator', 'vendor-files'];

/** What vendors billed, beside what the ledger has; and the months that are closed. */
export default function Bills() {
  const { t } = useOperatorLanguage();
  const bills = useAsk({
    key: billsKey,
    ask: (steyg, signal) => steyg.console.books.vendorBills({}, { signal }),
  });
  return (
    <Page title={t.nav.operatorBills} lead={t.operator.bills.lead}>
      <Card title={t.operator.bills.title}>
        <p className="hint">{t.operator.bills.hint}</p>
        <Loaded query={bills} skeleton={<TableSkeleton />}>
          {(rows) => <Imports bills={rows ?? []} />}
        </Loaded>
        <ImportedFiles />
      </Card>
      <Comparison upstreams={(bills.data ?? []).map(({ upstream }) => upstream)} />
      <NextMonth />
      <ClosedMonths />
      <BookSettings />
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
    change: (steyg, input: { upstream: string; csv: string; confirmed?: boolean }) =>
      steyg.console.books.importVendorUsage({ input }),
    refresh: [billsKey, comparisonKey, filesKey],
  });
  const read = async (file: File) => {
    take.reset();
    const csv = await file.text();
    setTooLarge(csv.length > maxFileLength ? file.name : null);
    if (csv.length <= maxFileLength) take.mutate({ upstream, csv });
  };
  const problems = take.error === null ? {} : explain(take.error).fields;
  const problem = problems['csv'];
  // What earlier files have, and this one has not.
  const removal = problems['confirmed'];
  const refused = take.variables;
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
              n: format.number(take.data.file.rows),
              upstream: take.data.file.upstream,
              days: daysText(take.data.file.from, take.data.file.to, format),
            })}{' '}
            {take.data.replaced === 0
              ? null
              : fill(t.operator.bills.replaced, { n: format.number(take.data.replaced) })}{' '}
            {take.data.emptyDays.length === 0
              ? null
              : fill(t.operator.bills.emptyDays, {
                  days: take.data.emptyDays.map((day) => format.day(noonOf(day))).join(', '),
                })}
          </Banner>
        )}
        {problem === undefined ? null : <Banner tone="bad">{problem}</Banner>}
        {removal === undefined || refused === undefined ? null : (
          <Banner tone="warn">
            <p>
              {t.operator.bills.wouldRemove} {removal}
            </p>
            <Button takes="importVendorUsage" small onClick={() => take.mutate({ ...refused, confirmed: true })}>
              {t.operator.bills.importAnyway}
            </Button>
          </Banner>
        )}
      </div>
      {take.error !== null && problem === undefined && removal === undefined ? (
        <FailureNotice error={take.error} />
      ) : null}
    </>
  );
}

/** Files as they were imported: each is a version, and the latest ones can be taken back. */
function ImportedFiles() {
  const { t, format } = useOperatorLanguage();
  const words = t.operator.bills;
  const [asking, setAsking] = useState<string | null>(null);
  const files = usePages({
    key: filesKey,
    ask: (steyg, after, signal) => steyg.console.books.listVendorFiles({ after, first: 50 }, { signal }),
  });
  const undo = useChange({
    change: (steyg, fileId: string) => steyg.console.books.undoVendorImport({ fileId }),
    refresh: [billsKey, comparisonKey, filesKey],
  });
  const { data = [] } = files;
  if (data.length === 0) return null;
  return (
    <details>
      <summary>{fill(words.files, { n: `${format.number(data.length)}${files.hasNextPage ? '+' : ''}` })}</summary>
      <Table
        caption={words.filesTable}
        rows={data}
        rowKey={({ fileId }) => fileId}
        columns={[
          {
            head: t.operator.upstream,
            names: true,
            cell: ({ upstream, version }) => fill(words.version, { upstream, n: format.number(version) }),
          },
          { head: words.covered, cell: ({ from, to }) => daysText(from, to, format) },
          { head: words.rows, figure: true, cell: ({ rows }) => format.number(rows) },
          { head: words.importedAt, cell: ({ importedAt }) => <Moment at={importedAt} /> },
          {
            head: t.common.actions,
            silentHead: true,
            cell: ({ fileId, undoneAt, upstream, version }) =>
              undoneAt === null ? (
                <div className="row-actions">
                  <Button
                    takes="undoVendorImport"
                    small
                    aria-label={`${words.undoFile}: ${fill(words.version, { upstream, n: format.number(version) })}`}
                    onClick={() => setAsking(fileId)}
                  >
                    {words.undoFile}
                  </Button>
                </div>
              ) : (
                <Badge tone="plain">{words.undoneFile}</Badge>
              ),
          },
        ]}
      />
      <More query={files} />
      {undo.error === null ? null : <FailureNotice error={undo.error} />}
      {asking === null ? null : (
        <Confirm
          title={words.undoFile}
          action={words.undoFile}
          busy={undo.isPending}
          onClose={() => setAsking(null)}
          onConfirm={() => undo.mutate(asking, { onSettled: () => setAsking(null) })}
        >
          <p>{words.undoFileText}</p>
        </Confirm>
      )}
    </details>
  );
}

interface Behind {
  upstream: string;
  day: string;
  model: string;
  cause: BillCause;
}

/** The requests behind a cause, by their ids. */
function RequestsBehind({ behind, onClose }: { behind: Behind; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const { upstream, day, model, cause } = behind;
  const query = useAsk({
    key: [...comparisonKey, 'requests', upstream, day, model, cause],
    ask: async (steyg, signal) => {
      const asked = { cause, from: day, to: day, upstream, first: 1_000 };
      // All pages: a day of one upstream has as many rows as models.
      for await (const row of steyg.console.books.differingRequests(asked, { signal }))
        if (row.model === model) return row.requests;
      return [];
    },
  });
  return (
    <Dialog title={`${t.operator.bills.causes[cause]}: ${model}`} onClose={onClose}>
      <Loaded query={query}>
        {(ids) =>
          ids.length === 0 ? (
            <Empty title={t.operator.bills.noRequests} />
          ) : (
            <ul>
              {ids.map((id) => (
                <li key={id}>
                  <code>{id}</code>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Dialog>
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
          <Badge tone="usual">{t.operator.bills.complete}</Badge>
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
  const [behind, setBehind] = useState<Behind | null>(null);
  const query = useAsk({
    key: [...comparisonKey, from, to, upstream, differing, first],
    ask: (steyg, signal) =>
      steyg.console.books.vendorComparison(
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
    {
      head: t.operator.bills.cause,
      cell: ({ causes, ...row }) =>
        causes.length === 0 ? (
          '–'
        ) : (
          <div className="row-actions wrap">
            {causes.map((cause) => (
              <Button
                key={cause}
                small
                aria-label={`${t.operator.bills.causes[cause]}: ${row.day} ${row.model}`}
                onClick={() => setBehind({ ...row, cause })}
              >
                {t.operator.bills.causes[cause]}
              </Button>
            ))}
          </div>
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
            {page.totals.map(({ upstream: name, vendor, ledger, credits, unknown }) => (
              <p key={name}>
                {fill(t.operator.bills.totals, {
                  upstream: name,
                  vendor: cost(vendor),
                  back: format.usd(credits),
                  ledger: cost(ledger),
                })}{' '}
                {unknown === '0' ? null : fill(t.operator.bills.unknownCosts, { n: format.number(unknown) })}
              </p>
            ))}
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
      {behind === null ? null : <RequestsBehind behind={behind} onClose={() => setBehind(null)} />}
    </Card>
  );
}
