/** Writes the catalog of the database as a catalog file, without keys. */

import type { ClientBase } from 'pg';
import { switchedOff, toolPrices } from '../catalog/hosted-tools.ts';
import { currentPrice, listModels, usdPerUnit } from '../catalog/models.ts';
import { listRoutes, listUpstreams, type RouteCosts, type Upstream } from '../catalog/upstreams.ts';
import { formatUsd } from '../core/money.ts';
import type { CatalogPrice } from '../core/price.ts';
import { listPlans } from '../plans/plans.ts';
import { pricesText } from './prices-text.ts';

export interface ExportedCatalog {
  /** The content of an exported catalog file. */
  catalog: Record<string, unknown>;
  /** Models without a current price: they cannot be called, and a file cannot express that. */
  unpriced: string[];
}

/**
 * The catalog of the database in the shape of the catalog file, without keys. Applying it changes nothing, except that
 * `--prune` switches off models that have no price yet. Entries that are off are marked; members with their default are
 * left out.
 */
export async function exportCatalog(client: ClientBase): Promise<ExportedCatalog> {
  const [upstreams, models, plans] = [
    await listUpstreams(client),
    await listModels(client),
    await listPlans(client, { all: true }),
  ];
  const routes = Map.groupBy(
    (await listRoutes(client)).filter(({ enabled }) => enabled),
    ({ modelId }) => modelId,
  );
  const placesOf = (modelId: string) => {
    const ids = new Set((routes.get(modelId) ?? []).map(({ upstreamId }) => upstreamId));
    return upstreams.filter(({ id }) => ids.has(id));
  };
  const priced = await inOrder(models, async (model) => ({ model, price: await currentPrice(client, model.id) }));
  const catalog = {
    upstreams: upstreams.map(({ enabled, profile, recipient, country, features, ...upstream }) => ({
      ...upstream,
      ...(profile === null ? {} : { profile }),
      ...(recipient === null ? {} : { recipient }),
      ...(country === null ? {} : { country }),
      ...(Object.keys(features).length === 0 ? {} : { features }),
      ...onlyOff(enabled),
    })),
    models: priced.flatMap(
      ({
        model: { enabled, allow, capabilities, efforts, reasoningTokensPerSecond, unknownMembers, kind, ...model },
        price,
      }) =>
        price === null
          ? []
          : [
              {
                ...model,
                prices: textOf(price, placesOf(model.id)),
                ...(allow.length === 0 ? {} : { allow }),
                ...(capabilities.length === 0 ? {} : { capabilities }),
                ...(efforts.length === 0 ? {} : { efforts }),
                ...(reasoningTokensPerSecond === null ? {} : { reasoningTokensPerSecond }),
                ...(unknownMembers === 'pass' ? {} : { unknownMembers }),
                ...(kind === 'text' ? {} : { kind }),
                routes: (routes.get(model.id) ?? []).map(({ upstreamId, upstreamModel, priority, weight, costs }) => ({
                  upstream: upstreamId,
                  model: upstreamModel,
                  priority,
                  weight,
                  ...(costs === null
                    ? {}
                    : {
                        costs: textOf(
                          costs,
                          upstreams.filter(({ id }) => id === upstreamId),
                        ),
                      }),
                })),
                ...onlyOff(enabled),
              },
            ],
    ),
    plans: plans.map(({ id, name, priceVnd, budget, validDays, enabled }) => ({
      id,
      name,
      priceVnd: Number(priceVnd),
      budgetUsd: formatUsd(budget),
      ...(validDays === null ? {} : { validDays }),
      ...onlyOff(enabled),
    })),
  };
  return { catalog, unpriced: priced.filter(({ price }) => price === null).map(({ model }) => model.id) };
}

/** Prices or costs; a tool without a price at a vendor that has a public one is switched off, or the file would bring it. */
function textOf(prices: CatalogPrice | RouteCosts, places: readonly Upstream[]) {
  const off = switchedOff(prices, toolPrices(places));
  if (off.length === 0) return pricesText(prices);
  const none = Object.fromEntries(off.map((unit) => [unit, null]));
  return { ...pricesText(prices), perUnit: { ...usdPerUnit(prices.perUnit ?? {}), ...none } };
}

/** Sequential: a connection runs one query at a time. */
async function inOrder<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

function onlyOff(enabled: boolean): { enabled?: false } {
  return enabled ? {} : { enabled: false };
}
