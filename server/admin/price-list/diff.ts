/** Compares the catalog with a public price list, model by model. Changes nothing. */

import type { ClientBase } from 'pg';
import type { Markup } from '../../catalog/markup.ts';
import { currentPrice, listModels } from '../../catalog/models.ts';
import { listRoutes, listUpstreams, type RouteCosts, type Upstream } from '../../catalog/upstreams.ts';
import { nameInList, type Vendor, type VendorId } from '../../catalog/vendors.ts';
import type { CatalogPrice } from '../../core/price.ts';
import { windowAt } from '../../core/price-clock.ts';
import { exportCatalog } from '../catalog-export.ts';
import { pricesText } from '../prices-text.ts';
import { costsOf, type UnknownPrice } from './catalog-of-list.ts';
import { type PriceText, pools, type Pool as TokenPool, type VendorPriceList } from './price-list.ts';
import { type ListedCosts, proposalOf } from './proposal.ts';

/** One route of one model beside the list. */
export interface DiffRow {
  model: string;
  upstream: string;
  upstreamModel: string;
  /** Null: the upstream belongs to no vendor that is known, so nothing is compared. */
  vendor: VendorId | null;
  /** Null: the list does not have the model, or not by tokens. */
  list: PriceText | null;
  /** What the operator says that the route costs; null: unknown. */
  cost: PriceText | null;
  /** What customers pay now; null: no price is in force. */
  price: PriceText | null;
  /** Share of the price that remains, in percent, by pool; null where cost or price is unknown or the price is 0. */
  margin: Record<TokenPool, string | null>;
  contextWindow: { ours: number; list: number | null };
  maxOutputTokens: { ours: number; list: number | null };
  /** `cost`: the list names other costs; `tiers`: other tiers; `pieces`: other costs by the piece; `loss`: a pool is sold below the list; `limits`; `not_listed`. */
  differs: readonly ('cost' | 'tiers' | 'pieces' | 'loss' | 'limits' | 'not_listed')[];
}

/** A model of the list that no route of the catalog leads to. */
export interface MissingModel {
  vendor: VendorId;
  /** The vendor's name of it. */
  name: string;
  prices: PriceText;
  /** Members of the list that may be prices and are not known: the prices shown may not be all. */
  unknown: readonly string[];
}

export interface CatalogDiff {
  rows: DiffRow[];
  /** Models sold by tokens, of vendors that the catalog has routes to. */
  missing: MissingModel[];
  faults: UnknownPrice[];
  /** A catalog file that would set the costs of the list (and with a markup the prices); it is applied by hand. */
  proposal: Record<string, unknown>;
}

export interface DiffOptions {
  list: VendorPriceList;
  vendors: readonly Vendor[];
  /** The vendor of an upstream that is not at a vendor's own address. */
  vendorOf: ReadonlyMap<string, VendorId>;
  /** Null: the proposal leaves prices as they are. */
  markup: Markup | null;
}

export async function diffCatalog(client: ClientBase, options: DiffOptions): Promise<CatalogDiff> {
  const { list, vendors, vendorOf, markup } = options;
  const upstreams = new Map((await listUpstreams(client)).map((upstream) => [upstream.id, upstream]));
  const routes = (await listRoutes(client)).filter(({ enabled }) => enabled);
  const { catalog } = await exportCatalog(client);
  const listed = new Map(
    vendors.map((vendor) => [
      vendor.id,
      new Map(list.models(nameInList(vendor.id, list.format)).map((model) => [model.name, model])),
    ]),
  );
  const diff: CatalogDiff = { rows: [], missing: [], faults: [], proposal: {} };
  const routed = new Map<VendorId, Set<string>>();
  const listedCosts: ListedCosts[] = [];

  for (const model of (await listModels(client)).filter(({ enabled }) => enabled)) {
    const price = await currentPrice(client, model.id);
    for (const route of routes.filter(({ modelId }) => modelId === model.id)) {
      const upstream = upstreams.get(route.upstreamId);
      if (upstream === undefined || upstream.baseUrl === 'simulator') continue;
      const vendor = vendorAt(upstream, vendors, vendorOf);
      const entry = vendor === null ? undefined : listed.get(vendor.id)?.get(route.upstreamModel);
      if (vendor !== null) routed.set(vendor.id, (routed.get(vendor.id) ?? new Set()).add(route.upstreamModel));
      diff.faults.push(...(entry?.faults ?? []).map((fault) => ({ model: model.id, ...fault })));
      const costs =
        vendor === null || entry === undefined || entry.prices === null ? null : costsOf(entry, entry.prices, vendor);
      const row: DiffRow = {
        model: model.id,
        upstream: route.upstreamId,
        upstreamModel: route.upstreamModel,
        vendor: vendor?.id ?? null,
        list: costs && pricesText(costs),
        cost: route.costs && pricesText(route.costs),
        price: price && pricesText(price),
        margin: marginOf(price, route.costs),
        contextWindow: { ours: model.contextWindow, list: entry?.contextWindow ?? null },
        maxOutputTokens: { ours: model.maxOutputTokens, list: entry?.maxOutputTokens ?? null },
        differs: [],
      };
      diff.rows.push({ ...row, differs: differences(row, price, route.costs, costs) });
      if (costs === null || (entry?.faults.length ?? 0) > 0) continue;
      listedCosts.push({ model: model.id, upstream: route.upstreamId, upstreamModel: route.upstreamModel, costs });
    }
  }
  for (const vendor of vendors) {
    const known = routed.get(vendor.id);
    if (known === undefined) continue;
    for (const entry of listed.get(vendor.id)?.values() ?? []) {
      // What the list retires or sells in another way is no gap.
      if (known.has(entry.name) || entry.prices === null || entry.kind === null || entry.deprecated) continue;
      const costs = costsOf(entry, entry.prices, vendor);
      const unknown = entry.faults.map(({ field }) => field);
      diff.missing.push({ vendor: vendor.id, name: entry.name, prices: pricesText(costs), unknown });
    }
  }
  const differing = diff.rows.filter(({ differs }) => differs.some((kind) => corrected.has(kind)));
  diff.proposal = proposalOf(catalog, {
    listed: listedCosts,
    models: new Set((markup === null ? differing : diff.rows).map(({ model }) => model)),
    markup,
  });
  return diff;
}

function vendorAt(
  upstream: Upstream,
  vendors: readonly Vendor[],
  vendorOf: ReadonlyMap<string, VendorId>,
): Vendor | null {
  const named = vendorOf.get(upstream.id);
  return (
    vendors.find(({ id, upstreams }) =>
      named === undefined ? upstreams.some(({ baseUrl }) => baseUrl === upstream.baseUrl) : id === named,
    ) ?? null
  );
}

/** What the proposal puts right. */
const corrected: ReadonlySet<DiffRow['differs'][number]> = new Set(['cost', 'tiers', 'pieces']);

type PoolPrices = Pick<CatalogPrice, TokenPool>;

/** A cache write without its own price costs as new context. */
function poolOf(prices: PoolPrices, pool: TokenPool): bigint {
  return prices[pool] ?? prices.input;
}

function marginOf(price: CatalogPrice | null, cost: RouteCosts | null): Record<TokenPool, string | null> {
  const margin = (pool: TokenPool): string | null => {
    const sold = price === null ? 0n : poolOf(price, pool);
    if (cost === null || sold === 0n) return null;
    return percent(sold - poolOf(cost, pool), sold);
  };
  return Object.fromEntries(pools.map((pool) => [pool, margin(pool)])) as Record<TokenPool, string | null>;
}

/** A fraction in percent with two decimals, rounded down, so that no margin looks better than it is. */
function percent(part: bigint, of: bigint): string {
  const scaledPart = part * 10_000n;
  const floor = scaledPart / of - (scaledPart % of < 0n ? 1n : 0n);
  const digits = (floor < 0n ? -floor : floor).toString().padStart(3, '0');
  return `${floor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function differences(
  row: DiffRow,
  price: CatalogPrice | null,
  cost: RouteCosts | null,
  costs: RouteCosts | null,
): DiffRow['differs'] {
  if (row.vendor === null) return [];
  if (costs === null) return ['not_listed'];
  const { tiers: listTiers = [], perUnit: listPieces = {}, clock: listHours, ...listed } = row.list ?? {};
  const {
    tiers: ownTiers = [],
    perUnit: ownPieces = {},
    clock: ownHours,
    variants: _variants,
    images: _images,
    ...own
  } = row.cost ?? {};
  // A list may have the dear hours as the ordinary ones, or no hours at all.
  const isSameCost =
    listHours !== undefined && ownHours !== undefined
      ? cost !== null && costAtSameHours(cost, costs)
      : JSON.stringify(own) === JSON.stringify(listed) && (listHours === undefined || ownHours !== undefined);
  const otherPiece = Object.entries(listPieces).some(([unit, price]) => ownPieces[unit] !== price);
  const otherLimit = ({ ours, list }: { ours: number; list: number | null }) => list !== null && list !== ours;
  return [
    ...(row.cost === null || !isSameCost ? (['cost'] as const) : []),
    ...(otherPiece ? (['pieces'] as const) : []),
    ...(JSON.stringify(ownTiers) === JSON.stringify(listTiers) ? [] : (['tiers'] as const)),
    ...(price !== null && isSoldBelow(price, costs) ? (['loss'] as const) : []),
    ...(otherLimit(row.contextWindow) || otherLimit(row.maxOutputTokens) ? (['limits'] as const) : []),
  ];
}

/** Every quarter of an hour of a week without special days. */
const quarters = Array.from({ length: 7 * 96 }, (_none, at) => Date.UTC(2000, 0, 3) + at * 900_000);

/** The five prices at a moment for a prompt of so many tokens, by pool. */
function setAt(prices: CatalogPrice | RouteCosts, atMs: number, prompt = 0): bigint[] {
  const set = (prices.clock === undefined ? undefined : windowAt(prices.clock, atMs)?.window) ?? prices;
  const tier: PoolPrices | undefined = set.tiers.findLast(({ abovePromptTokens }) => prompt > abovePromptTokens);
  return pools.map((pool) => poolOf(tier ?? set, pool));
}

function costAtSameHours(a: RouteCosts, b: RouteCosts): boolean {
  return quarters.every((atMs) => setAt(a, atMs).join() === setAt(b, atMs).join());
}

/** Whether a pool is sold below the list at some hour, for prompts of some length. A list without hours holds at all of them. */
function isSoldBelow(price: CatalogPrice, costs: RouteCosts): boolean {
  const moments = price.clock === undefined && costs.clock === undefined ? quarters.slice(0, 1) : quarters;
  const prompts = [0, ...[...price.tiers, ...costs.tiers].map(({ abovePromptTokens }) => abovePromptTokens + 1)];
  return moments.some((atMs) =>
    prompts.some((prompt) => {
      const listed = setAt(costs, atMs, prompt);
      return setAt(price, atMs, prompt).some((sold, at) => sold < (listed[at] ?? 0n));
    }),
  );
}

const titles: Record<TokenPool, string> = {
  input: 'input',
  cacheHit: 'cache hit',
  cacheWrite5m: 'write 5m',
  cacheWrite1h: 'write 1h',
  output: 'output',
};

/** The rows as text, a block for each route, and then the models that the catalog lacks. */
export function diffText({ rows, missing }: Pick<CatalogDiff, 'rows' | 'missing'>): string {
  if (rows.length === 0) return 'No model of the catalog has a route to a vendor.';
  const lacking = missing.map(
    ({ vendor, name, prices, unknown }) =>
      `  + ${vendor}: ${name}  input ${prices.input ?? '-'}, cache hit ${prices.cacheHit ?? '-'}, output ${prices.output ?? '-'}${
        unknown.length === 0 ? '' : `; not known: ${unknown.join(', ')}`
      }`,
  );
  const more = lacking.length === 0 ? [] : [['In the list, and not in the catalog:', ...lacking].join('\n')];
  return [...rows.map(blockOf), ...more].join('\n\n');
}

function blockOf(row: DiffRow): string {
  const limit = ({ ours, list }: { ours: number; list: number | null }) =>
    list === null || list === ours ? `${ours}` : `${ours} (list: ${list})`;
  const head = `${row.model}  ${row.upstream}/${row.upstreamModel}  context ${limit(row.contextWindow)}, output ${limit(row.maxOutputTokens)}`;
  if (row.vendor === null)
    return `${head}\n  no vendor is known for this upstream: --map ${row.upstream}=VENDOR names it`;
  const lines = [
    ['USD per 1M tokens', ...pools.map((pool) => titles[pool])],
    line('list price', row.list),
    ...tierLines(row.list),
    line('our cost', row.cost),
    ...tierLines(row.cost),
    line('our price', row.price),
    ...tierLines(row.price),
    ['margin', ...pools.map((pool) => (row.margin[pool] === null ? 'unknown' : `${row.margin[pool]} %`))],
  ];
  const notes: Record<string, string> = {
    cost: 'our cost is not the list price',
    tiers: 'our tiers are not those of the list',
    pieces: 'our costs by the piece are not those of the list',
    loss: 'sold below the list price',
    limits: 'other limits than the list',
    not_listed: 'the list does not have it by tokens',
  };
  const table = lines.map(
    (cells) => `  ${cells.map((cell, at) => (at === 0 ? cell.padEnd(22) : cell.padStart(11))).join('')}`,
  );
  return [head, ...table, ...row.differs.map((kind) => `  ! ${notes[kind]}`)].join('\n');
}

function line(title: string, prices: PriceText | null): string[] {
  return [title, ...pools.map((pool) => (prices === null ? 'unknown' : (prices[pool] ?? '-')))];
}

function tierLines(prices: PriceText | null): string[][] {
  return (prices?.tiers ?? []).map((tier) => [
    `  above ${tier.abovePromptTokens}`,
    ...pools.map((pool) => tier[pool] ?? '-'),
  ]);
}
