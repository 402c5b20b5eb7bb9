import { type Markup, markedUp } from '../../catalog/markup.ts';
import type { RouteCosts } from '../../catalog/upstreams.ts';
import { dearer, type PerUnit, pricesAt, unitPrices } from '../../core/price.ts';
import { pricesOfAllHours } from '../../core/price-clock.ts';
import { pricesText } from '../prices-text.ts';
import { soldPieces, tokenCosts } from './catalog-of-list.ts';
import { type PriceText, pools } from './price-list.ts';

/** The catalog file that would take over a price list: costs of routes, and prices where a markup is asked for. Changes nothing. */

/** What a list says that a route of the catalog costs. */
export interface ListedCosts {
  model: string;
  upstream: string;
  upstreamModel: string;
  costs: RouteCosts;
}

interface Entry {
  id: string;
  prices: PriceText;
  routes: { upstream: string; model: string; costs?: PriceText }[];
}

/** `catalog` is the exported one. Its entries of `models` are proposed as far as they have a listed route. `markup` is null: prices stay. */
export function proposalOf(
  catalog: Record<string, unknown>,
  { listed, models, markup }: { listed: readonly ListedCosts[]; models: ReadonlySet<string>; markup: Markup | null },
): Record<string, unknown> {
  const entries = (catalog['models'] as Entry[]).flatMap((entry) => {
    const ofModel = models.has(entry.id) ? listed.filter(({ model }) => model === entry.id) : [];
    if (ofModel.length === 0) return [];
    const routes = entry.routes.map((route) => {
      const found = ofModel.find(
        ({ upstream, upstreamModel }) => upstream === route.upstream && upstreamModel === route.model,
      );
      return found === undefined
        ? route
        : { ...route, costs: { ...unlistedOf(route.costs), ...pricesText(found.costs) } };
    });
    if (markup === null) return [{ ...entry, routes }];
    const sold = soldText(entry.prices, dearestOf(ofModel.map(({ costs }) => costs)), markup);
    return [{ ...entry, prices: { ...unlistedOf(entry.prices), ...sold }, routes }];
  });
  return { models: entries };
}

/** Costs with the markup; of the pieces those that are sold, beside which the others stay as they are. */
function soldText({ perUnit: own = {} }: PriceText, costs: RouteCosts, markup: Markup) {
  const sold = Object.fromEntries(Object.entries(own).filter(([, price]) => price !== null));
  const pieces = soldPieces(costs.perUnit ?? {}, sold);
  const { perUnit, ...text } = pricesText(markedUp({ ...tokenCosts(costs), perUnit: pieces }, markup));
  return perUnit === undefined ? text : { ...text, perUnit: { ...own, ...perUnit } };
}

/** What a list names: all else stays as it is. */
const listedMembers: ReadonlySet<string> = new Set([...pools, 'tiers']);

function unlistedOf(text: PriceText = {}): PriceText {
  return Object.fromEntries(Object.entries(text).filter(([member]) => !listedMembers.has(member)));
}

/**
 * What a model costs at most, pool by pool, whichever of its routes answers at whatever hour: a price that is made from it is
 * below the cost of none. Routes of one cost keep their hours.
 */
function dearestOf(routes: readonly RouteCosts[]): RouteCosts {
  const [first] = routes as [RouteCosts, ...RouteCosts[]];
  if (routes.every((costs) => JSON.stringify(pricesText(costs)) === JSON.stringify(pricesText(first)))) return first;
  const sets = routes.flatMap(({ clock, ...costs }) =>
    pricesOfAllHours({ ...unitPrices(costs), ...(clock === undefined ? {} : { clock }) }),
  );
  const bounds = [...new Set(sets.flatMap(({ tiers = [] }) => tiers.map((tier) => tier.abovePromptTokens)))];
  const dearestAt = (prompt: number) => sets.map((set) => pricesAt(set, prompt)).reduce(dearer);
  return {
    ...dearestAt(0),
    tiers: bounds.sort((a, b) => a - b).map((bound) => ({ ...dearestAt(bound + 1), abovePromptTokens: bound })),
    perUnit: routes.map(({ perUnit = {} }) => perUnit).reduce(dearerPieces),
  };
}

function dearerPieces(a: PerUnit, b: PerUnit): PerUnit {
  const units = Object.keys({ ...a, ...b }) as (keyof PerUnit)[];
  return Object.fromEntries(units.map((unit) => [unit, (a[unit] ?? 0n) > (b[unit] ?? 0n) ? a[unit] : (b[unit] ?? 0n)]));
}
