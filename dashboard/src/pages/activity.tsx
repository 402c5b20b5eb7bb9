/** The activity page: charts and lists of usage. */

import { GraphqlError, type LedgerFilter } from '@steyg/sdk';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { collect } from '../all.ts';
import { useAttributionTexts } from '../attribution-texts.ts';
import { AttributedUsageTable } from '../components/attributed-usage.tsx';
import { Button } from '../components/button.tsx';
import { Chart, ChartSkeleton, seriesColors } from '../components/chart.tsx';
import { EntryTable } from '../components/entries.tsx';
import { Choice, SelectField } from '../components/field.tsx';
import { LedgerDownload } from '../components/ledger-download.tsx';
import { Card, Figure, Page } from '../components/page.tsx';
import { RangeFilter } from '../components/range-filter.tsx';
import { Banner, Empty, Loaded, More } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { Usd } from '../components/usd.tsx';
import { useAsk, usePages } from '../data.tsx';
import { masked } from '../format.ts';
import { useReportAddress } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { addUsd } from '../money.ts';
import { pages } from '../pages.ts';
import type { Range } from '../range.ts';
import { useAccount } from '../session.tsx';
import { columnSum, seriesOf, startsBetween, timeZone, type UsageRow } from '../usage.ts';

const groups = ['model', 'key', 'project', 'outcome', 'none'] as const;
const measures = ['cost', 'requests', 'tokens'] as const;
type Group = (typeof groups)[number];
const splits = { model: ['MODEL'], key: ['KEY'], project: ['PROJECT'], outcome: ['OUTCOME'], none: [] } as const;
type Measure = (typeof measures)[number];

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

  const keys = useAsk({
    key: ['keys', accountId, true],
    ask: (steyg, signal) => steyg.console.keys.listKeys({ accountId, first: 100, deleted: true }, { signal }),
  });
  const models = useAsk({ key: ['models'], ask: (steyg, signal) => steyg.console.catalog.models({}, { signal }) });
  const usage = useAsk({
    key: ['usage', accountId, range.from, range.to, group, keyId, model, outcome],
    ask: (steyg, signal) =>
      collect(
        steyg.console.ledger.usage(
          {
            accountId,
            from: range.from.toISOString(),
            ...(range.to === null ? {} : { to: range.to.toISOString() }),
            period: range.period,
            by: [...splits[group]],
            ...(keyId === '' ? {} : { keyId }),
            ...(model === '' ? {} : { model }),
            ...(outcome === undefined ? {} : { outcomes: [outcome] }),
            timeZone: timeZone(),
            first: 1_000,
          },
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
  const keyNames = useMemo(
    () => new Map(keys.data?.edges.map(({ node }) => [node.id, `${node.name} ${masked(node.last4)}`])),
    [keys.data],
  );
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
        <SelectField
          label={t.activity.key}
          value={keyId}
          onChange={(key) => set({ key })}
          options={[
            { value: '', label: t.activity.allKeys },
            ...[...keyNames].map(([value, label]) => ({ value, label })),
          ]}
        />
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
                label: value === 'project' ? texts.byProject : t.activity.groups[value],
              }))}
              onChange={(value) => set({ group: value === 'model' ? '' : value })}
            />
          </div>
        }
      >
        <Loaded query={usage} skeleton={<ChartSkeleton />}>
          {(rows) => <Report rows={rows} range={range} group={group} measure={measure} keyNames={keyNames} />}
        </Loaded>
      </Card>
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

function Report({
  rows,
  range,
  group,
  measure,
  keyNames,
}: {
  rows: readonly UsageRow[];
  range: Range;
  group: Group;
  measure: Measure;
  keyNames: ReadonlyMap<string, string>;
}) {
  const { t, format } = useLanguage();
  const texts = useAttributionTexts();
  const groupName = group === 'project' ? texts.byProject : t.activity.groups[group];
  const starts = useMemo(() => startsBetween(range.from, range.to ?? new Date(), range.period), [range]);
  const nameOf = useMemo(
    () => (row: UsageRow) => {
      if (group === 'model') return row.model ?? '';
      if (group === 'project') return row.project?.name ?? texts.noProject;
      if (group === 'key') return keyNames.get(row.key?.id ?? '') ?? t.activity.unknownKey;
      return row.outcome === null ? t.common.total : t.outcomes[row.outcome];
    },
    [group, keyNames, t, texts],
  );
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
          rows={rows}
          nameOf={nameOf}
          head={group === 'project' ? texts.project : t.activity[group]}
          group={groupName}
        />
      )}
    </>
  );
}

/** The table behind the chart, over the whole time. */
function Sums({
  rows,
  nameOf,
  head,
  group: groupName,
}: {
  rows: readonly UsageRow[];
  nameOf: (row: UsageRow) => string;
  head: string;
  group: string;
}) {
  const { t, format } = useLanguage();
  const byName = Map.groupBy(rows, nameOf);
  const sums = [...byName].map(([name, group]) => ({
    name,
    group,
    charged: addUsd(group.map(({ charged }) => charged)),
  }));
  sums.sort((a, b) => Number(b.charged) - Number(a.charged));
  const pool = (group: readonly UsageRow[], read: (tokens: UsageRow['tokens']) => string) =>
    format.number(columnSum(group, ({ tokens }) => read(tokens)));
  return (
    <Table
      caption={fill(t.activity.sumsOf, { group: groupName })}
      rows={sums}
      rowKey={({ name }) => name}
      columns={[
        { head, names: true, cell: ({ name }) => name },
        {
          head: t.activity.measures.requests,
          figure: true,
          cell: ({ group }) => format.number(columnSum(group, ({ requests }) => requests)),
        },
        { head: t.models.input, figure: true, cell: ({ group }) => pool(group, ({ input }) => input) },
        { head: t.models.cacheHit, figure: true, cell: ({ group }) => pool(group, ({ cacheHit }) => cacheHit) },
        { head: t.models.output, figure: true, cell: ({ group }) => pool(group, ({ output }) => output) },
        { head: t.activity.charged, figure: true, cell: ({ charged }) => format.usd(charged) },
      ]}
    />
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
      <Loaded query={entries}>
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
  return <p className="muted">{fill(t.activity.archived, { months: data.map(({ month }) => month).join(', ') })}</p>;
}
