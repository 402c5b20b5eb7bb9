/** The operator's page of one model: prices and routes. */

import type { PlansAnswer, UpstreamsAnswer } from '@steyg/sdk';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { collect } from '../../all.ts';
import { Button } from '../../components/button.tsx';
import { DateField } from '../../components/date-field.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { useFailureToast } from '../../components/failure-toast.ts';
import { Checkbox, SelectField, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { ModelForm } from '../../components/model-form.tsx';
import { Badge, Card, Figure, Fold, Folds, Page } from '../../components/page.tsx';
import {
  type DraftedPrices,
  draftOfPrices,
  emptyPrices,
  PRICE_INPUTS,
  type PriceDraft,
  PriceFields,
  pricesOf,
  routeCostsOf,
} from '../../components/price-fields.tsx';
import { RouteTestButton } from '../../components/route-test.tsx';
import { Banner, Empty, Loaded, LoadingSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { usePlans } from '../../components/usd.tsx';
import { useAsk, useChange } from '../../data.tsx';
import { useProblems } from '../../explain.ts';
import { usePart } from '../../hooks.ts';
import { hoursText } from '../../hours.ts';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { parseUsd, planPair, vndAt } from '../../money.ts';
import { pages } from '../../pages.ts';
import {
  type AllPrices,
  addSold,
  type ClockPrices,
  type PricesByLength,
  previewOf,
  soldBelowCost,
  type TierPrices,
} from '../../preview.ts';
import { kinds } from '../../price-draft.ts';
import { currentPrice } from '../../prices.ts';
import { daysAgo } from '../../usage.ts';
import { type CatalogRow, EntryState } from './catalog.tsx';

const catalogKey = ['operator', 'catalog'];

export default function ModelPage() {
  const { t } = useOperatorLanguage();
  const modelId = usePart('modelId');
  const catalog = useAsk({
    key: catalogKey,
    ask: (steyg, signal) => steyg.console.operator.catalog({}, { signal }),
  });
  const entry = catalog.data?.find((each) => each.modelId === modelId);
  return (
    <Page
      title={entry?.displayName ?? modelId}
      lead={<Link href={pages.operatorCatalog}>{t.nav.operatorCatalog}</Link>}
    >
      <Loaded query={catalog} skeleton={<LoadingSkeleton height="20rem" />}>
        {() => (entry === undefined ? <Empty title={t.models.noMatch} /> : <Details entry={entry} />)}
      </Loaded>
    </Page>
  );
}

function Details({ entry }: { entry: CatalogRow }) {
  const { t, format } = useOperatorLanguage();
  const say = useSay();
  const upstreams = useAsk({
    key: ['operator', 'upstreams'],
    ask: (steyg, signal) => steyg.console.operator.upstreams({}, { signal }),
  });
  return (
    <>
      <div className="row-line">
        <p>
          <code>{entry.modelId}</code> <EntryState entry={entry} />
        </p>
        <Switch entry={entry} />
      </div>
      <Facts entry={entry} />
      <PriceCard entry={entry} />
      <Loaded query={upstreams}>{(list) => <RoutesCard entry={entry} upstreams={list} />}</Loaded>
      <Folds>
        <Fold
          title={t.operator.details}
          state={fill(t.operator.detailsState, {
            family: entry.family,
            context: format.number(entry.contextWindow),
            output: format.number(entry.maxOutputTokens),
          })}
        >
          <ModelForm entry={entry} onSaved={() => say(t.common.saved)} />
        </Fold>
      </Folds>
    </>
  );
}

/** What it costs and where it runs: what people open the page for. */
function Facts({ entry }: { entry: CatalogRow }) {
  const { t, format } = useOperatorLanguage();
  const price = currentPrice(entry.priceVersions)?.prices ?? null;
  const routes = entry.routes.filter(({ enabled }) => enabled).map(({ upstream }) => upstream.upstreamId);
  return (
    <dl className="figures">
      <Figure label={t.models.input} value={price === null ? '–' : format.usdExact(price.input)} note={t.models.unit} />
      <Figure
        label={t.models.output}
        value={price === null ? '–' : format.usdExact(price.output)}
        note={t.models.unit}
      />
      <Figure label={t.operator.routes} value={routes.length === 0 ? '–' : format.list(routes)} />
    </dl>
  );
}

function Switch({ entry }: { entry: CatalogRow }) {
  const { t } = useOperatorLanguage();
  const failure = useFailureToast();
  const [asking, setAsking] = useState(false);
  const change = useChange({
    change: (steyg, enabled: boolean) => steyg.console.operator.setModelEnabled({ modelId: entry.modelId, enabled }),
    refresh: [catalogKey, ['models']],
  });
  return (
    <>
      <Button
        takes="setModelEnabled"
        look={entry.enabled ? 'danger' : 'primary'}
        busy={change.isPending}
        onClick={() => (entry.enabled ? setAsking(true) : change.mutate(true, failure))}
      >
        {entry.enabled ? t.operator.switchOff : t.operator.switchOn}
      </Button>
      {asking ? (
        <Confirm
          title={fill(t.operator.switchOffWhat, { name: entry.displayName })}
          action={t.operator.switchOff}
          busy={change.isPending}
          onClose={() => setAsking(false)}
          onConfirm={() => change.mutate(false, { ...failure, onSettled: () => setAsking(false) })}
        >
          <p>{t.operator.switchOffText}</p>
        </Confirm>
      ) : null}
    </>
  );
}

// ------------------------------------------------------------------------------------------------ prices

function PriceCard({ entry }: { entry: CatalogRow }) {
  const { t, format, locale } = useOperatorLanguage();
  const say = useSay();
  const current = currentPrice(entry.priceVersions);
  const currentPrices = current === null ? null : { ...current.prices, maxPromptTokens: current.maxPromptTokens };
  const [draft, setDraft] = useState<PriceDraft>(() => draftOfPrices(currentPrices));
  const [validFrom, setValidFrom] = useState('');
  const prices = pricesOf(draft);
  const changed = prices !== null && (currentPrices === null || !samePrices(prices, currentPrices));
  const set = useChange({
    change: (steyg, { maxPromptTokens, ...drafted }: DraftedPrices) =>
      steyg.console.operator.savePrices({
        input: {
          modelId: entry.modelId,
          prices: drafted,
          maxPromptTokens,
          validFrom: validFrom === '' ? null : new Date(validFrom).toISOString(),
        },
      }),
    refresh: [catalogKey, ['models']],
    done: () => {
      say(t.operator.pricesSet);
      setValidFrom('');
    },
  });
  const { fields, rest } = useProblems(set.error, [...PRICE_INPUTS, 'validFrom']);
  return (
    <Card title={t.operator.prices}>
      <p className="hint">{t.models.unit}</p>
      <Form
        label={t.operator.prices}
        onSubmit={() => {
          if (prices !== null && changed) set.mutate(prices);
        }}
        error={rest}
        actions={
          <Button takes="savePrices" type="submit" look="primary" busy={set.isPending} disabled={!changed}>
            {t.operator.setPrices}
          </Button>
        }
      >
        <PriceFields draft={draft} onChange={setDraft} fields={fields} />
        <DateField
          label={t.operator.validFrom}
          hint={t.operator.validFromHint}
          withTime
          value={validFrom}
          onChange={setValidFrom}
          error={fields['validFrom']}
        />
        {changed ? <PreviewCard entry={entry} before={currentPrices} after={prices} /> : null}
      </Form>
      <details>
        <summary>{fill(t.operator.history, { n: entry.priceVersions.length })}</summary>
        <Table
          caption={t.operator.historyTitle}
          rows={entry.priceVersions.toSorted((a, b) => (a.validFrom < b.validFrom ? 1 : -1))}
          rowKey={({ id }) => id}
          columns={[
            {
              head: t.operator.validFrom,
              names: true,
              cell: ({ id, validFrom: from }) => (
                <>
                  {format.dateTime(from)} {id === current?.id ? <Badge>{t.operator.counts}</Badge> : null}
                  {new Date(from) > new Date() ? <Badge tone="warn">{t.operator.later}</Badge> : null}
                </>
              ),
            },
            { head: t.models.input, figure: true, cell: (version) => format.usdExact(version.prices.input) },
            { head: t.models.cacheHit, figure: true, cell: (version) => format.usdExact(version.prices.cacheHit) },
            { head: t.models.output, figure: true, cell: (version) => format.usdExact(version.prices.output) },
            {
              head: t.models.cacheWrite5m,
              figure: true,
              cell: (version) => format.usdExact(version.prices.cacheWrite5m),
            },
            {
              head: t.models.cacheWrite1h,
              figure: true,
              cell: (version) => format.usdExact(version.prices.cacheWrite1h),
            },
            {
              head: t.operator.tiers,
              cell: ({ prices: { tiers, clock }, maxPromptTokens }) =>
                [
                  ...(clock?.windows ?? []).map((window) =>
                    fill(t.operator.windowLine, {
                      hours: hoursText(window, clock?.timeZone ?? '', locale),
                      prices: [window.input, window.cacheHit, window.output]
                        .map((price) => format.usdExact(price))
                        .join(' / '),
                    }),
                  ),
                  ...tiers.map(({ abovePromptTokens, input, cacheHit, output }) =>
                    fill(t.operator.tierLine, {
                      n: format.number(abovePromptTokens),
                      prices: [input, cacheHit, output].map((price) => format.usdExact(price)).join(' / '),
                    }),
                  ),
                  ...(maxPromptTokens === null
                    ? []
                    : [fill(t.operator.maxPromptLine, { n: format.number(maxPromptTokens) })]),
                ].join('; ') || '–',
            },
          ]}
        />
      </details>
    </Card>
  );
}

function samePrices(a: DraftedPrices, b: PricesByLength & { maxPromptTokens: number | null }): boolean {
  const theirs = b.tiers ?? [];
  return (
    sameSet(a, b) &&
    a.maxPromptTokens === b.maxPromptTokens &&
    (['search', 'image', 'minute'] as const).every((unit) => sameAmount(a.perUnit[unit], b.perUnit?.[unit] ?? null)) &&
    sameTiers(a.tiers, theirs) &&
    sameClock(a.clock, b.clock ?? null)
  );
}

function sameTiers(a: readonly TierPrices[], b: readonly TierPrices[]): boolean {
  return (
    a.length === b.length &&
    a.every((tier) => b.some((other) => other.abovePromptTokens === tier.abovePromptTokens && sameSet(tier, other)))
  );
}

function sameClock(a: ClockPrices | null, b: ClockPrices | null): boolean {
  if (a === null || b === null) return a === b;
  const sorted = (list: readonly string[] | null | undefined) => [...new Set(list ?? [])].sort().join();
  return (
    a.timeZone === b.timeZone &&
    sorted(a.exceptDates) === sorted(b.exceptDates) &&
    a.windows.length === b.windows.length &&
    a.windows.every((window, index) => {
      const other = b.windows[index];
      return (
        other !== undefined &&
        sorted(window.weekdays) === sorted(other.weekdays) &&
        sorted(window.hours) === sorted(other.hours) &&
        sameSet(window, other) &&
        sameTiers(window.tiers ?? [], other.tiers ?? [])
      );
    })
  );
}

function sameAmount(a: string | null, b: string | null): boolean {
  return a === null || b === null ? a === b : parseUsd(a) === parseUsd(b);
}

function sameSet(a: AllPrices, b: AllPrices): boolean {
  return kinds.every((kind) => parseUsd(a[kind] ?? a.input) === parseUsd(b[kind] ?? b.input));
}

const soldDays = 30;

/** The effect of the change on recent sales. */
function PreviewCard({
  entry,
  before,
  after,
}: {
  entry: CatalogRow;
  before: PricesByLength | null;
  after: PricesByLength;
}) {
  const { t } = useOperatorLanguage();
  const from = useMemo(() => daysAgo(soldDays - 1), []);
  const sold = useAsk({
    key: ['operator', 'sold', entry.modelId, from],
    ask: async (steyg, signal) =>
      addSold(
        await collect(
          steyg.console.books.revenue(
            { from: from.toISOString(), model: entry.modelId, period: 'MONTH', first: 1_000 },
            { signal },
          ),
        ),
      ),
  });
  const plans = usePlans();
  return (
    <section className="preview" aria-label={t.operator.preview} aria-live="polite">
      <h3>{t.operator.preview}</h3>
      <Loaded query={sold} skeleton={<LoadingSkeleton lines={3} />}>
        {(sums) => <PreviewTable sums={sums} before={before} after={after} plans={plans.data ?? []} />}
      </Loaded>
      {entry.routes
        .filter(({ enabled, costs }) => enabled && costs !== null)
        .map((route) => {
          const below = route.costs === null ? [] : soldBelowCost(after, route.costs);
          return below.length === 0 ? null : (
            <Banner key={route.id} tone="warn">
              {fill(t.operator.belowCost, {
                upstream: route.upstream.upstreamId,
                kinds: below.map((kind) => t.models[kind]).join(', '),
              })}
            </Banner>
          );
        })}
      <p className="hint">{t.operator.previewHint}</p>
    </section>
  );
}

function PreviewTable({
  sums,
  before,
  after,
  plans,
}: {
  sums: ReturnType<typeof addSold>;
  before: PricesByLength | null;
  after: PricesByLength;
  plans: NonNullable<PlansAnswer>;
}) {
  const { t, format } = useOperatorLanguage();
  const preview = previewOf(before ?? after, after, sums);
  const pair = planPair(plans);
  const vnd = (price: string) =>
    pair === null
      ? t.models.noPlan
      : [pair.starter, pair.best].map((plan) => format.vnd(vndAt(price, plan))).join(' → ');
  const steps = (count: bigint | null) => (count === null ? t.models.free : format.number(count));
  const margin = (amount: string | null) => (amount === null ? t.operator.unknown : format.usd(amount));
  const none = '–';
  const rows = [
    [t.models.steps, before === null ? none : steps(preview.stepsBefore), steps(preview.stepsAfter)],
    [
      t.operator.stepCost,
      before === null ? none : format.usdExact(preview.stepBefore),
      format.usdExact(preview.stepAfter),
    ],
    [t.models.outputVnd, before === null ? none : vnd(before.output), vnd(after.output)],
    [fill(t.operator.sold, { days: soldDays }), format.usd(sums.cost), format.usd(preview.soldAfter)],
    [fill(t.operator.marginOf, { days: soldDays }), margin(preview.marginBefore), margin(preview.marginAfter)],
  ] as const;
  return (
    <Table
      caption={t.operator.preview}
      rows={rows}
      rowKey={([name]) => name}
      columns={[
        { head: t.operator.what, names: true, cell: ([name]) => name },
        { head: t.operator.now, figure: true, cell: ([, now]) => now },
        { head: t.operator.afterwards, figure: true, cell: ([, , then]) => then },
      ]}
    />
  );
}

// ------------------------------------------------------------------------------------------------ routes

interface RouteDraft {
  id: string | null;
  upstreamId: string;
  upstreamModel: string;
  priority: string;
  weight: string;
  enabled: boolean;
  costs: PriceDraft;
}

function RoutesCard({ entry, upstreams }: { entry: CatalogRow; upstreams: NonNullable<UpstreamsAnswer> }) {
  const { t, format } = useOperatorLanguage();
  const say = useSay();
  const [drafts, setDrafts] = useState<RouteDraft[]>(() =>
    entry.routes.map(({ id, upstream, upstreamModel, priority, weight, enabled, costs }) => ({
      id,
      upstreamId: upstream.upstreamId,
      upstreamModel,
      priority: String(priority),
      weight: String(weight),
      enabled,
      costs: draftOfPrices(costs),
    })),
  );
  const save = useChange({
    change: (steyg, routes: readonly RouteDraft[]) =>
      steyg.console.operator.setRoutes({
        modelId: entry.modelId,
        routes: routes.map(({ upstreamId, upstreamModel, priority, weight, enabled, costs }) => ({
          upstreamId,
          upstreamModel: upstreamModel.trim(),
          priority: Math.floor(Number(priority)),
          weight: Math.floor(Number(weight)),
          enabled,
          costs: routeCostsOf(costs),
        })),
      }),
    refresh: [catalogKey, ['operator', 'upstreams'], ['models']],
    done: ({ routes }) => {
      say(t.common.saved);
      // New routes have ids now, and can be tested.
      setDrafts((shown) =>
        shown.map((draft) => ({
          ...draft,
          id:
            routes.find(
              ({ upstream, upstreamModel }) =>
                upstream.upstreamId === draft.upstreamId && upstreamModel === draft.upstreamModel.trim(),
            )?.id ?? null,
        })),
      );
    },
  });
  const set = (index: number, values: Partial<RouteDraft>) =>
    setDrafts(drafts.map((draft, at) => (at === index ? { ...draft, ...values } : draft)));
  const orderOf = ({ priority, weight, costs }: RouteDraft) =>
    fill(t.operator.routeState, {
      priority,
      weight,
      cost:
        pricesOf(costs) === null
          ? t.operator.routeCostNone
          : fill(t.operator.routeCost, { input: format.usdExact(costs.input), output: format.usdExact(costs.output) }),
    });
  const options = upstreams.map(({ upstreamId }) => ({ value: upstreamId, label: upstreamId }));
  const protocolOf = (id: string) => upstreams.find(({ upstreamId }) => upstreamId === id)?.protocol;
  return (
    <Card
      title={t.operator.routes}
      actions={
        <Button
          small
          disabled={upstreams.length === 0}
          onClick={() =>
            setDrafts([
              ...drafts,
              {
                id: null,
                upstreamId: upstreams[0]?.upstreamId ?? '',
                upstreamModel: entry.modelId,
                priority: '0',
                weight: '1',
                enabled: true,
                costs: emptyPrices,
              },
            ])
          }
        >
          {t.operator.addRoute}
        </Button>
      }
    >
      <p className="hint">{t.operator.routesHint}</p>
      {drafts.length === 0 ? <Empty title={t.operator.noRoutes}>{t.operator.noRoutesText}</Empty> : null}
      <Form
        label={t.operator.routes}
        onSubmit={() => save.mutate(drafts)}
        error={save.error}
        actions={
          <Button takes="setRoutes" type="submit" look="primary" busy={save.isPending}>
            {t.operator.saveRoutes}
          </Button>
        }
      >
        {drafts.map((draft, index) => (
          <fieldset key={index} className="route">
            <legend>{fill(t.operator.routeNumber, { n: index + 1 })}</legend>
            <div className="fields">
              <SelectField
                label={t.operator.upstream}
                hint={t.protocols[protocolOf(draft.upstreamId) ?? 'MESSAGES']}
                value={draft.upstreamId}
                options={options}
                onChange={(upstreamId) => set(index, { upstreamId, id: null })}
              />
              <TextField
                label={t.operator.upstreamModel}
                required
                value={draft.upstreamModel}
                onChange={(upstreamModel) => set(index, { upstreamModel })}
              />
            </div>
            <Fold inForm title={t.operator.routeOrder} state={orderOf(draft)}>
              <div className="fields">
                <TextField
                  label={t.operator.priority}
                  hint={t.operator.priorityHint}
                  type="number"
                  min={0}
                  max={1_000}
                  required
                  value={draft.priority}
                  onChange={(priority) => set(index, { priority })}
                />
                <TextField
                  label={t.operator.weight}
                  hint={t.operator.weightHint}
                  type="number"
                  min={1}
                  max={1_000}
                  required
                  value={draft.weight}
                  onChange={(weight) => set(index, { weight })}
                />
              </div>
              <h4>{t.operator.costs}</h4>
              <p className="hint">{t.operator.costsHint}</p>
              <PriceFields draft={draft.costs} onChange={(costs) => set(index, { costs })} required={false} />
            </Fold>
            <div className="row-line">
              <Checkbox
                label={t.operator.routeEnabled}
                checked={draft.enabled}
                onChange={(enabled) => set(index, { enabled })}
              />
              <div className="row-actions wrap">
                {draft.id === null ? null : <RouteTestButton id={draft.id} name={draft.upstreamId} />}
                <Button
                  small
                  look="danger"
                  aria-label={fill(t.operator.removeRoute, { n: index + 1 })}
                  onClick={() => setDrafts(drafts.filter((_draft, at) => at !== index))}
                >
                  {t.common.remove}
                </Button>
              </div>
            </div>
          </fieldset>
        ))}
      </Form>
    </Card>
  );
}
