/**
 * Tools that run at a vendor: which of them have a price at a model, and what becomes of a price that the operator leaves out.
 * A vendor's public price is written into the price version, so that an old receipt never depends on what a profile says today.
 */

import type { ClientBase } from 'pg';
import { type CatalogPrice, type ChargedUnit, chargedUnits, type PerUnit } from '../core/price.ts';
import type { Protocol } from '../core/protocol.ts';
import { type FeaturesInput, featuresOf } from './features.ts';
import type { HostedTool } from './profiles/profile.ts';
import { toolsAt } from './profiles/profiles.ts';
import type { UpstreamRecord } from './route.ts';

/** What of an upstream says which tools of its vendor are known. */
export interface ToolPlace {
  protocol: Protocol;
  profile: string | null;
  features: FeaturesInput;
}

/** The public prices of the tools at these places: the dearest where several have one. */
export function toolPrices(places: readonly ToolPlace[]): PerUnit {
  const prices: PerUnit = {};
  for (const { protocol, profile, features } of places) {
    if (!featuresOf(protocol, profile, features).hostedTools) continue;
    for (const { fee } of Object.values(toolsAt(profile, protocol))) {
      if (fee !== null && fee.price > (prices[fee.unit] ?? -1n)) prices[fee.unit] = fee.price;
    }
  }
  return prices;
}

/** The public prices of the tools on a model's routes, in the caller's transaction. */
export async function toolPricesOf(client: ClientBase, modelId: string): Promise<PerUnit> {
  const { rows } = await client.query<ToolPlace>(
    `SELECT u.protocol, u.profile, u.features FROM route r JOIN upstream u ON u.id = r.upstream_id
     WHERE r.model_id = $1 AND r.enabled ORDER BY u.id`,
    [modelId],
  );
  return toolPrices(rows);
}

/** Prices with the public ones for units that were left out. What was switched off (`without`) stays without a price. */
export function withToolPrices<Prices extends Pick<CatalogPrice, 'perUnit' | 'without'>>(
  { without = [], ...prices }: Prices,
  known: PerUnit,
): Omit<Prices, 'without'> {
  const perUnit: PerUnit = { ...prices.perUnit };
  for (const unit of chargedUnits) {
    const price = known[unit];
    if (price !== undefined && !without.includes(unit)) perUnit[unit] ??= price;
  }
  return Object.keys(perUnit).length === 0 ? prices : { ...prices, perUnit };
}

/** Units that have a public price and none here: a file that says the same has to switch them off. */
export function switchedOff({ perUnit = {} }: Pick<CatalogPrice, 'perUnit'>, known: PerUnit): ChargedUnit[] {
  return chargedUnits.filter((unit) => known[unit] !== undefined && perUnit[unit] === undefined);
}

/**
 * The tools that pass on a route by themselves, because their price is known: the vendor's own are free, or the model's price
 * version has a price for their unit. Those that the entry opens by name are not among them.
 */
export function openTools(
  { allow, price: { perUnit = {} } }: { allow: ReadonlySet<string>; price: Pick<CatalogPrice, 'perUnit'> },
  { profile, protocol, features }: Pick<UpstreamRecord, 'profile' | 'protocol' | 'features'>,
): ReadonlySet<string> {
  if (!features.hostedTools) return none;
  const isPriced = ({ fee }: HostedTool): boolean => fee === null || perUnit[fee.unit] !== undefined;
  const open = Object.entries(toolsAt(profile, protocol)).filter(([name, tool]) => !allow.has(name) && isPriced(tool));
  return open.length === 0 ? none : new Set(open.map(([name]) => name));
}

const none: ReadonlySet<string> = new Set();
