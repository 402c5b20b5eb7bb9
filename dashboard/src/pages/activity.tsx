/** The activity page: charts and lists of usage. */

import { GraphqlError, type LedgerFilter, type Steyg } from '@steyg/sdk';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { collect } from '../all.ts';
import { useAttributionTexts } from '../attribution-texts.ts';
import { AttributedUsageTable } from '../components/attributed-usage.tsx';
import { Button } from '../components/button.tsx';
import { Chart, ChartSkeleton, seriesColors } from '../components/chart.tsx';
import { EntryTable } from '../components/entries.tsx';
import { FailuresCard, failureReasons } from '../components/failures-card.tsx';
import { Choice, SelectField } from '../components/field.tsx';
import { KeyField, useKeyName } from '../components/key-field.tsx';
import { LedgerDownload } from '../components/ledger-download.tsx';
import { Card, Figure, Page } from '../components/page.tsx';
import { RangeFilter } from '../components/range-filter.tsx';
import { ResponseTimes } from '../components/response-times.tsx';
import { Banner, Empty, Loaded, More, TableSkeleton } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { Usd } from '../components/usd.tsx';
import { useAsk, usePages } from '../data.tsx';
import { useReportAddress } from '../hooks.ts';
import type { AttributionTexts } from '../language/attribution.ts';
import { fill, useLanguage } from '../language/language.tsx';
import type { Texts } from '../language/texts.ts';
import { addUsd } from '../money.ts';
import { pages } from '../pages.ts';
import type { Range } from '../range.ts';
import { useAccount } from '../session.tsx';
import { columnSum, seriesOf, startsBetween, timeZone, type UsageRow } from '../usage.ts';

const groups = ['model', 'key', 'project', 'maker', 'outcome', 'none'] as const;
const measures = ['cost', 'requests', 'tokens', 'failures'] as const;
type Group = (typeof groups)[number];
const splits = {
  model: ['MODEL'],
  key: ['KEY'],
  project: ['PROJECT'],
  maker: ['MAKER'],
  outcome: ['OUTCOME'],
  none: [],
} as const;
type Measure = (typeof measures)[number];
/** Which usage a report is of. */
type Asked = Parameters<Steyg['console']['ledger']['usage']>[0] & { accountId: string };

const outcomes = [
  'COMPLETED',
  'BUDGET_STOPPED',
  'CLIENT_CLOSED',
  'UPSTREAM_ERROR',
  'UPSTREAM_CUT',
  'TIMEOUT',
  'SHUTDOWN',
] as const;

const fields = ['TIME', 'COST', 'TOKENS', 'LATENCY'] as const;
type Order = { field: (typeof fields)[number]; direction: 'ASC' | 'DESC' };

const oneOf = <T extends string>(list: readonly T[], text: string | null): T | undefined =>
  list.find((each) => each === text);

/** Totals and lists of usage, by time, model, key and outcome. */
export default function Activity() {
  const { t } = useLanguage();
  const { id: accountId } = useAccount();
  const { search, range, set } = useReportAddress();
  const group = oneOf(groups, search.get('group')) ?? 'model';
  const measure = oneOf(measures, search.get('measure')) ?? 'cost';
  const keyId = search.get('key') ?? '';
  const model = search.get('model') ?? '';
  const outcome = oneOf(outcomes, search.get('outcome'));
  const session = search.get('session') ?? '';
  const texts = useAttributionTexts();
  const order: Order = {
    field: oneOf(fields, search.get('sort')) ?? 'TIME',
    direction: search.get('way') === 'ASC' ? 'ASC' : 'DESC',
  };

  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  const asked = {
    accountId,
    from: range.from.toISOString(),
    ...(range.to === null ? {} : { to: range.to.toISOString() }),
    ...(keyId === '' ? {} : { keyId }),
    ...(model === '' ? {} : { model }),
    ...(outcome === undefined ? {} : { outcomes: [outcome] }),
    by: [...splits[group]],
  };
  const usage = useAsk({
    key: ['usage', accountId, range.from, range.to, group, keyId, model, outcome],
    ask: (steyg, signal) =>
      collect(
        steyg.console.ledger.usage(
          { ...asked, period: range.period, most: maxGroups, timeZone: timeZone(), first: 1_000 },
          { signal },
        ),
      ),
    every: 60_000,
  });
  const filter = {
    from: range.from.toISOString(),
    to: range.to?.toISOString() ?? null,
    keyId: keyId === '' ? null : keyId,
    model: model === '' ? null : model,
    outcome: outcome ?? null,
    ...(session === '' ? {} : { session }),
  };
  const modelIds = [
    ...new Set([...(models.data?.map(({ modelId }) => modelId) ?? []), ...(model === '' ? [] : [model])]),
  ];

  return (
    <Page
      title={t.activity.title}
      lead={t.activity.lead}
      actions={
        <LedgerDownload
          filter={filter}
          expected={usage.data === undefined ? null : Number(columnSum(usage.data, ({ requests }) => requests))}
        />
      }
    >
      <div className="filters">
        <RangeFilter range={range} onChange={set} />
      </div>
      <div className="filters">
        <KeyField value={keyId} onChange={(key) => set({ key })} />
        <SelectField
          label={t.activity.model}
          value={model}
          onChange={(id) => set({ model: id })}
          options={[{ value: '', label: t.activity.allModels }, ...modelIds.map((id) => ({ value: id, label: id }))]}
        />
        <SelectField
          label={t.activity.outcome}
          value={outcome ?? ''}
          onChange={(name) => set({ outcome: name })}
          options={[
            { value: '', label: t.activity.allOutcomes },
            ...outcomes.map((name) => ({ value: name, label: t.outcomes[name] })),
          ]}
        />
      </div>
      <Card
        title={t.activity.chart}
        actions={
          <div className="filters">
            <Choice
              label={t.activity.measure}
              value={measure}
              options={measures.map((value) => ({ value, label: t.activity.measures[value] }))}
              onChange={(value) => set({ measure: value === 'cost' ? '' : value })}
            />
            <Choice
              label={t.activity.group}
              value={group}
              options={groups.map((value) => ({
                value,
                label: nameOfGroup(value, t, texts),
              }))}
              onChange={(value) => set({ group: value === 'model' ? '' : value })}
            />
          </div>
        }
      >
        <Loaded query={usage} skeleton={<ChartSkeleton />}>
          {(rows) => <Report rows={rows} range={range} group={group} measure={measure} asked={asked} />}
        </Loaded>
      </Card>
      {outcome === undefined ? (
        <FailuresCard
          subject={[accountId, keyId, model]}
          range={range}
          rows={(steyg, failed, signal) =>
            collect(
              steyg.console.ledger.usage(
                { ...asked, ...failed, by: ['OUTCOME'], outcomes: [...failureReasons], first: 1_000 },
                { signal },
              ),
            )
          }
        />
      ) : null}
      {range.period === 'MONTH' ? null : (
        <ResponseTimes accountId={accountId} range={range} keyId={keyId} model={model} />
      )}
      <AttributedUsageTable
        from={filter.from}
        to={filter.to}
        model={model}
        addressOf={(chosen) => {
          const address = new URLSearchParams(search);
          address.set('session', chosen);
          return `${pages.activity}?${address}`;
        }}
      />
      {session === '' ? null : (
        <Banner
          tone="info"
          action={
            <Button small onClick={() => set({ session: '' })}>
              {texts.allSessions}
            </Button>
          }
        >
          {fill(texts.onlySession, { session })}
        </Banner>
      )}
      <Entries
        accountId={accountId}
        filter={filter}
        order={order}
        onOrder={({ field, direction }) =>
          set({ sort: field === 'TIME' ? '' : field, way: direction === 'DESC' ? '' : direction })
        }
      />
    </Page>
  );
}

const tokensOf = ({ tokens }: Pick<UsageRow, 'tokens'>): bigint => columnSum(Object.values(tokens), (each) => each);

/** Groups of the chart, those that were charged most: it draws fewer, and chooses them by what it measures. */
const maxGroups = 20;

function nameOfGroup(group: Group, { activity }: Texts, texts: AttributionTexts): string {
  if (group === 'project') return texts.byProject;
  return group === 'maker' ? texts.byMaker : activity.groups[group];
}

/** The people who made keys, by their member's id: a number tells those of one name apart. */
function makersOf(rows: readonly UsageRow[], forgotten: string): ReadonlyMap<string, string> {
  const people = new Map(
    rows.flatMap(({ maker }) => (maker === null ? [] : [[maker.memberId, maker.name ?? forgotten]])),
  );
  const seen = new Map<string, number>();
  const names = new Map<string, string>();
  for (const [id, name] of [...people].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    names.set(id, times === 1 ? name : `${name} (${times})`);
  }
  return names;
}

/** What the group of a row is called. */
function useGroupName(group: Group, rows: readonly UsageRow[]): (row: UsageRow) => string {
  const { t } = useLanguage();
  const texts = useAttributionTexts();
  const keyName = useKeyName();
  return useMemo(() => {
    const makers = makersOf(rows, texts.forgotten);
    return (row) => {
      if (row.isRest) return t.common.others;
      if (group === 'model') return row.model ?? '';
      if (group === 'project') return row.project?.name ?? texts.noProject;
      if (group === 'maker') return makers.get(row.maker?.memberId ?? '') ?? texts.noMaker;
      if (group === 'key') return row.key === null ? t.common.others : keyName(row.key);
      return row.outcome === null ? t.common.total : t.outcomes[row.outcome];
    };
  }, [group, rows, t, texts, keyName]);
}

function Report({
  rows,
  range,
  group,
  measure,
  asked,
}: {
  rows: readonly UsageRow[];
  range: Range;
  group: Group;
  measure: Measure;
  asked: Asked;
}) {
  const { t, format } = useLanguage();
  const texts = useAttributionTexts();
  const groupName = nameOfGroup(group, t, texts);
  const starts = useMemo(() => startsBetween(range.from, range.to ?? new Date(), range.period), [range]);
  const nameOf = useGroupName(group, rows);
  const series = useMemo(
    () =>
      seriesOf({
        rows,
        starts,
        nameOf,
        valueOf: (row) =>
          measure === 'cost'
            ? Number(row.charged)
            : measure === 'requests'
              ? Number(row.requests)
              : measure === 'failures'
                ? Number(row.failures)
                : Number(tokensOf(row)),
        most: seriesColors,
        rest: t.common.others,
      }),
    [rows, starts, nameOf, measure, t],
  );
  const formatValue = useMemo(
    () => (value: number) => (measure === 'cost' ? format.usd(String(value)) : format.compact(value)),
    [measure, format],
  );
  if (rows.length === 0) return <Empty title={t.activity.empty} />;
  return (
    <>
      <dl className="figures">
        <Figure label={t.activity.charged} value={<Usd amount={addUsd(rows.map(({ charged }) => charged))} />} />
        <Figure
          label={t.activity.measures.requests}
          value={format.number(columnSum(rows, ({ requests }) => requests))}
        />
        <Figure label={t.activity.failures} value={format.number(columnSum(rows, ({ failures }) => failures))} />
        <Figure label={t.activity.measures.tokens} value={format.number(columnSum(rows, tokensOf))} />
      </dl>
      <Chart
        label={fill(t.activity.chartOf, { measure: t.activity.measures[measure], group: groupName })}
        starts={starts}
        series={series}
        period={range.period}
        formatValue={formatValue}
      />
      {group === 'none' ? null : (
        <Sums
          asked={asked}
          group={group}
          head={group === 'project' ? texts.project : group === 'maker' ? texts.maker : t.activity[group]}
          groupName={groupName}
        />
      )}
    </>
  );
}

const none: readonly UsageRow[] = [];

/** The table behind the chart, over the whole time: every group, those that were charged most first. */
function Sums({ asked, group, head, groupName }: { asked: Asked; group: Group; head: string; groupName: string }) {
  const { t, format } = useLanguage();
  const sums = usePages<UsageRow>({
    key: ['usage', asked.accountId, 'sums', asked],
    ask: async (steyg, after, signal) => {
      const page = await steyg.console.ledger.usage({ ...asked, after, order: 'COST', first: 50 }, { signal });
      return page === null ? null : { nodes: page.nodes, pageInfo: page.pageInfo };
    },
    every: 60_000,
  });
  const nameOf = useGroupName(group, sums.data ?? none);
  return (
    <Loaded query={sums} skeleton={<TableSkeleton />}>
      {(rows) => (
        <>
          <Table
            caption={fill(t.activity.sumsOf, { group: groupName })}
            rows={rows}
            rowKey={(row) => row.model ?? row.key?.id ?? row.project?.id ?? row.maker?.memberId ?? row.outcome ?? ''}
            columns={[
              { head, names: true, cell: nameOf },
              {
                head: t.activity.measures.requests,
                figure: true,
                cell: ({ requests }) => format.number(BigInt(requests)),
              },
              { head: t.activity.failures, figure: true, cell: ({ failures }) => format.number(BigInt(failures)) },
              { head: t.models.input, figure: true, cell: ({ tokens }) => format.number(BigInt(tokens.input)) },
              { head: t.models.cacheHit, figure: true, cell: ({ tokens }) => format.number(BigInt(tokens.cacheHit)) },
              { head: t.models.output, figure: true, cell: ({ tokens }) => format.number(BigInt(tokens.output)) },
              { head: t.activity.charged, figure: true, cell: ({ charged }) => format.usd(charged) },
            ]}
          />
          <More query={sums} />
        </>
      )}
    </Loaded>
  );
}

function Entries({
  accountId,
  filter,
  order,
  onOrder,
}: {
  accountId: string;
  filter: LedgerFilter;
  order: Order;
  onOrder: (order: Order) => void;
}) {
  const { t } = useLanguage();
  const entries = usePages({
    key: ['entries', accountId, filter],
    order: `${order.field} ${order.direction}`,
    ask: (steyg, after, signal) =>
      steyg.console.ledger.listEntries({ accountId, after, filter, orderBy: order, first: 50 }, { signal }),
  });
  const sort = (by: string) => {
    const field = oneOf(fields, by) ?? 'TIME';
    onOrder({ field, direction: field === order.field && order.direction === 'DESC' ? 'ASC' : 'DESC' });
  };
  // The server sorts by other columns than time only up to a number of requests.
  const isTooMany =
    order.field !== 'TIME' && entries.error instanceof GraphqlError && entries.error.code === 'BAD_INPUT';
  if (isTooMany) {
    return (
      <Card title={t.activity.requests}>
        <Banner
          tone="warn"
          action={
            <Button small onClick={() => onOrder({ field: 'TIME', direction: 'DESC' })}>
              {t.activity.sortByTime}
            </Button>
          }
        >
          {t.activity.tooManyToSort}
        </Banner>
      </Card>
    );
  }
  return (
    <Card title={t.activity.requests}>
      <Loaded query={entries} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty
              title={t.activity.empty}
              action={
                <Link className="button small" href={pages.start}>
                  {t.overview.setUp}
                </Link>
              }
            >
              {t.activity.emptyText}
            </Empty>
          ) : (
            <EntryTable
              entries={rows}
              caption={t.activity.requests}
              sorting={{ by: order.field, ascending: order.direction === 'ASC', onSort: sort }}
            />
          )
        }
      </Loaded>
      <More query={entries} />
      <Archived accountId={accountId} filter={filter} />
    </Card>
  );
}

/** Names the months of the range whose requests cannot be listed; nothing while there are none. */
function Archived({ accountId, filter: { from, to } }: { accountId: string; filter: LedgerFilter }) {
  const { t } = useLanguage();
  const { data } = useAsk({
    key: ['archivedMonths', accountId, from, to],
    ask: (steyg, signal) =>
      steyg.console.ledger.archivedMonths({ accountId, from: from ?? null, to: to ?? null }, { signal }),
  });
  if (data === undefined || data === null || data.length === 0) return null;
  const isInFile = data.every(({ inDownloads }) => inDownloads);
  return (
    <p className="muted">
      {fill(t.activity.archived, { months: data.map(({ month }) => month).join(', ') })}
      {isInFile ? ` ${t.activity.archivedInFile}` : ''}
    </p>
  );
}
