/** Turns a vendor's part of a public price list into a catalog file. */

import { toolPrices } from '../../catalog/hosted-tools.ts';
import { type Markup, markedUp } from '../../catalog/markup.ts';
import { modelId } from '../../catalog/model.ts';
import { usdPerUnit } from '../../catalog/models.ts';
import type { RouteCosts } from '../../catalog/upstreams.ts';
import { nameInList, type Vendor } from '../../catalog/vendors.ts';
import type { PerUnit } from '../../core/price.ts';
import { pricesText } from '../prices-text.ts';
import type { ListedModel, ListedPrices, VendorPriceList } from './price-list.ts';

/** A member of the list that may be a price and is not known. */
export interface UnknownPrice {
  model: string;
  field: string;
  message: string;
}

export interface ImportedCatalog {
  /** The content of a catalog file. */
  catalog: Record<string, unknown>;
  models: string[];
  /** Models of the list that are not in the file, each with its reason. */
  leftOut: { model: string; reason: string }[];
  /** What the list says beyond the five prices, by model. */
  notes: { model: string; note: string }[];
  /** Members that may be prices and are not known: their models are left out. */
  faults: UnknownPrice[];
}

export interface ImportOptions {
  list: VendorPriceList;
  vendor: Vendor;
  markup: Markup;
  /** The vendor's names of the models; null: all that it sells by tokens and does not retire. */
  only: readonly string[] | null;
  source: { address: string; date: string };
}

/** The models of a list at the vendor's upstreams: costs are the list prices, prices have the markup. */
export function catalogOfList({ list, vendor, markup, only, source }: ImportOptions): ImportedCatalog {
  const listed = list.models(nameInList(vendor.id, list.format));
  const result: ImportedCatalog = { catalog: {}, models: [], leftOut: [], notes: [], faults: [] };
  const entries = listed.flatMap((model) => {
    if (only !== null && !only.includes(model.name)) return [];
    const reason = whyLeftOut(model, only !== null);
    if (reason !== null) {
      result.leftOut.push({ model: model.name, reason });
      return [];
    }
    if (model.faults.length > 0) {
      result.faults.push(...model.faults.map((fault) => ({ model: model.name, ...fault })));
      const named = model.faults.map(({ field, message }) => `${field} ${message}`).join(', ');
      result.leftOut.push({ model: model.name, reason: `its prices cannot be taken: ${named}` });
      return [];
    }
    return model.prices === null
      ? []
      : [toEntry(model, costsOf(model, model.prices, vendor), { vendor, markup, result })];
  });
  for (const name of only ?? []) {
    if (!listed.some((model) => model.name === name)) {
      result.leftOut.push({ model: name, reason: 'the list does not have it' });
    }
  }
  result.models = entries.map(({ id }) => id);
  result.catalog = {
    source,
    upstreams: vendor.upstreams.map(({ enabled: _enabled, onDisconnect: _default, ...upstream }) => ({
      ...upstream,
      apiKeyEnv: vendor.keyVariable,
    })),
    models: entries,
  };
  return result;
}

function whyLeftOut(model: ListedModel, isNamed: boolean): string | null {
  if (model.kind === null) return 'it does not write text alone, and makes no embeddings';
  if (model.prices === null && model.faults.length === 0) return 'it has no price by tokens';
  if (model.prices?.input === 0n && model.prices.output === 0n && !isNamed) return 'it is free; name it to have it';
  if (model.deprecated && !isNamed) return 'the vendor retires it; name it to have it';
  if (model.contextWindow === null || model.maxOutputTokens === null) return 'the list does not say its limits';
  if (!modelId.safeParse(idOf(model)).success) return 'its name cannot be an id';
  return null;
}

function idOf({ name }: ListedModel): string {
  return name.toLowerCase();
}

/**
 * List prices as costs. A hit in a cache without its own price costs as new context. models.dev has one price of
 * cache writes; Anthropic's hour costs twice the input: https://platform.claude.com/docs/en/about-claude/pricing
 */
export function costsOf(
  { kind, tiers, windows, perUnit }: ListedModel,
  prices: ListedPrices,
  { id }: Pick<Vendor, 'id'>,
): RouteCosts {
  const complete = ({ input, cacheHit, cacheWrite5m, cacheWrite1h, output }: ListedPrices) => ({
    input,
    // No vendor has a cache for what it embeds.
    cacheHit: cacheHit ?? (kind === 'embedding' ? 0n : input),
    cacheWrite5m,
    cacheWrite1h: cacheWrite1h ?? (id === 'anthropic' && cacheWrite5m !== null ? input * 2n : null),
    output,
  });
  const whole = (listed: ListedPrices) => {
    const { cacheWrite5m, cacheWrite1h, ...set } = complete(listed);
    return { ...set, cacheWrite5m: cacheWrite5m ?? set.input, cacheWrite1h: cacheWrite1h ?? set.input };
  };
  return {
    ...complete(prices),
    tiers: tiers.map((listed) => ({ abovePromptTokens: listed.abovePromptTokens, ...whole(listed) })),
    ...(Object.keys(perUnit).length === 0 ? {} : { perUnit }),
    ...(windows.length === 0
      ? {}
      : {
          clock: {
            timeZone: 'UTC',
            exceptDates: [],
            windows: windows.map((listed) => ({
              days: listed.days,
              hours: listed.hours,
              ...whole(listed),
              tiers: [],
            })),
          },
        }),
  };
}

/** What of the list's prices by the piece has a price where it is sold: the units that `priced` names. */
export function soldPieces(listed: PerUnit, priced: object): PerUnit {
  return Object.fromEntries(Object.entries(listed).filter(([unit]) => Object.hasOwn(priced, unit)));
}

/** Costs without what is charged by the piece. */
export function tokenCosts({ perUnit: _pieces, ...costs }: RouteCosts): RouteCosts {
  return costs;
}

function toEntry(
  listed: ListedModel,
  costs: RouteCosts,
  { vendor, markup, result }: { vendor: Vendor; markup: Markup; result: ImportedCatalog },
) {
  const { name, kind, contextWindow, maxOutputTokens, capabilities, efforts, rounded, others } = listed;
  const known = vendor.models.find(({ routes }) => routes.some(({ upstreamModel }) => upstreamModel === name))?.model;
  const note = (text: string) => result.notes.push({ model: name, note: text });
  if (others.length > 0) note(`the list also prices ${others.join(', ')}: not sold separately here`);
  const sold = soldPieces(costs.perUnit ?? {}, toolPrices(vendor.upstreams));
  const unsold = Object.entries(usdPerUnit(costs.perUnit ?? {})).filter(([unit]) => !Object.hasOwn(sold, unit));
  if (unsold.length > 0)
    note(
      `the list prices by the piece: ${unsold.map(([unit, usd]) => `${unit} ${usd} USD`).join(', ')}. It is in the costs and not imported as a price, because no tool of this vendor is known by it; to sell it, open it with allow and give it a price in perUnit`,
    );
  if (costs.clock !== undefined)
    note(
      'the list has prices by the clock, which know no public holidays: add them to exceptDates where the vendor has any',
    );
  if (rounded) note('prices of the list with more than 6 decimals are rounded to the nearest');
  if (listed.prices?.cacheHit === null && kind !== 'embedding')
    note('the list has no price of cache hits: they cost as new context');
  return {
    id: idOf(listed),
    displayName: listed.displayName ?? known?.displayName ?? name,
    family: known?.family ?? listed.family ?? vendor.id,
    ...(kind === 'embedding' ? { kind } : {}),
    contextWindow,
    maxOutputTokens,
    ...(capabilities.length === 0 ? {} : { capabilities }),
    ...(efforts.length === 0 && (known?.efforts ?? []).length === 0 ? {} : { efforts: known?.efforts ?? efforts }),
    prices: pricesText(markedUp({ ...tokenCosts(costs), perUnit: sold }, markup)),
    routes: vendor.upstreams.map(({ id }) => ({ upstream: id, model: name, costs: pricesText(costs) })),
  };
}
