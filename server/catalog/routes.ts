import { fromStoredImages, type StoredImagePrices } from '../core/image-price.ts';
import type { Log } from '../core/log.ts';
import { type ClockedPrices, fromStoredTiers, fromStoredUnits, type StoredTier, unitPrices } from '../core/price.ts';
import { fromStoredClock, type StoredClock } from '../core/price-clock.ts';
import { fromStoredVariants, type StoredVariant } from '../core/price-variants.ts';
import type { Protocol } from '../core/protocol.ts';
import { createSeal } from '../shared/seal.ts';
import { featuresOf } from './features.ts';
import { profileOf } from './profiles/profiles.ts';
import type { RouteRecord, UpstreamRecord } from './route.ts';
import { sealContextOf, simulatorAddress, simulatorBase } from './upstreams.ts';

/** Converts rows of routes, upstreams and sealed keys to callable routes, with their keys unsealed in memory. */

/** Returns the routes of each model, in no particular order. */
export type OpenRoutes = (rows: RouteRows) => ReadonlyMap<string, readonly RouteRecord[]>;

export interface OpenRoutesParts {
  /** 32 bytes: unseals the upstreams' keys. */
  secretKey: Buffer;
  /** Address of the built-in simulator, `http://host:port`; null: it does not run, so its routes are left out. */
  simulatorUrl: string | null;
  log: Pick<Log, 'error'>;
}

/** Rows of the catalog's statement. */
export interface RouteRows {
  upstreams: UpstreamRow[];
  upstreamKeys: KeyRow[];
  routes: RouteRow[];
}

interface UpstreamRow {
  id: string;
  protocol: Protocol;
  baseUrl: string;
  onDisconnect: 'abort' | 'drain';
  profile: string | null;
  features: unknown;
  simulated: boolean;
}

interface KeyRow {
  id: string;
  upstreamId: string;
  /** Base64. */
  sealed: string;
}

interface RouteRow {
  id: string;
  model: string;
  upstreamId: string;
  upstreamModel: string;
  priority: number;
  weight: number;
  /** Pico-USD per token as decimal text; null: not set. */
  costInput: string | null;
  costCacheHit: string | null;
  costCacheWrite5m: string | null;
  costCacheWrite1h: string | null;
  costOutput: string | null;
  costTiers: StoredTier[];
  costClock: StoredClock | null;
  costVariants: StoredVariant[] | null;
  costPerUnit: Record<string, number>;
  costImages: StoredImagePrices | null;
}

/** Columns of the catalog's statement: `RouteRows`. */
export const readRouteRows = `
  (SELECT coalesce(json_agg(u), '[]') FROM (
    SELECT id, protocol, base_url AS "baseUrl", on_disconnect AS "onDisconnect", profile, features, simulated
    FROM upstream WHERE enabled) u) AS upstreams,
  (SELECT coalesce(json_agg(k), '[]') FROM (
    SELECT id, upstream_id AS "upstreamId", encode(sealed, 'base64') AS sealed
    FROM upstream_key WHERE enabled ORDER BY created_at, id) k) AS "upstreamKeys",
  (SELECT coalesce(json_agg(r), '[]') FROM (
    SELECT id, model_id AS model, upstream_id AS "upstreamId", upstream_model AS "upstreamModel", priority, weight,
           cost_input::text AS "costInput", cost_cache_hit::text AS "costCacheHit",
           cost_cache_write_5m::text AS "costCacheWrite5m", cost_cache_write_1h::text AS "costCacheWrite1h",
           cost_output::text AS "costOutput", cost_tiers AS "costTiers", cost_clock AS "costClock",
           cost_per_unit AS "costPerUnit", cost_images AS "costImages",
           cost_variants AS "costVariants"
    FROM route WHERE enabled ORDER BY id) r) AS routes`;

export function createOpenRoutes({ secretKey, simulatorUrl, log }: OpenRoutesParts): OpenRoutes {
  const seal = createSeal({ secretKeys: [secretKey] });
  /** Keys that could not be unsealed; each is logged once, although the catalog is read for every list of models. */
  const reported = new Set<string>();

  const open = ({ id, upstreamId, sealed }: KeyRow): { id: string; secret: string } | null => {
    const secret = seal.unseal(sealContextOf(id), Buffer.from(sealed, 'base64'));
    if (secret !== null) return { id, secret };
    if (!reported.has(id)) {
      reported.add(id);
      log.error({ upstream: upstreamId }, 'a key of an upstream does not open: it was sealed with another SECRET_KEY');
    }
    return null;
  };

  const toUpstream = (row: UpstreamRow, keyRows: readonly KeyRow[]): UpstreamRecord | null => {
    const keys = keyRows.map(open).filter((key) => key !== null);
    const baseUrl = row.simulated ? simulatedBase(row, simulatorUrl) : row.baseUrl;
    // An upstream whose keys cannot be unsealed must not be called without one.
    if ((keyRows.length > 0 && keys.length === 0) || baseUrl === null) return null;
    return {
      id: row.id,
      protocol: row.protocol,
      baseUrl,
      onDisconnect: row.onDisconnect,
      profile: profileOf(row.profile)?.id ?? null,
      features: featuresOf(row.protocol, row.profile, row.features),
      simulated: row.simulated,
      keys,
    };
  };

  return function openRoutes({ upstreams, upstreamKeys, routes }) {
    const keysOf = Map.groupBy(upstreamKeys, (row) => row.upstreamId);
    const known = new Map<string, UpstreamRecord>();
    for (const row of upstreams) {
      const upstream = toUpstream(row, keysOf.get(row.id) ?? []);
      if (upstream !== null) known.set(row.id, upstream);
    }
    const records = routes.flatMap((row) => {
      const upstream = known.get(row.upstreamId);
      return upstream === undefined ? [] : [toRecord(row, upstream)];
    });
    return Map.groupBy(records, (route) => route.model);
  };
}

/** The simulator serves every protocol at one address, which differs per process. */
function simulatedBase({ protocol, baseUrl, profile }: UpstreamRow, url: string | null): string | null {
  if (baseUrl !== simulatorAddress) throw new Error('an upstream is marked as simulated and has an address of its own');
  return simulatorBase({ protocol, profile }, url);
}

function toRecord(row: RouteRow, upstream: UpstreamRecord): RouteRecord {
  const { id, model, upstreamModel, priority, weight } = row;
  return { id, model, upstream, upstreamModel, priority, weight, costs: toCosts(row) };
}

function toCosts(row: RouteRow): ClockedPrices | null {
  const { costInput, costCacheHit, costCacheWrite5m, costCacheWrite1h, costOutput } = row;
  if (costInput === null || costCacheHit === null || costOutput === null) return null;
  const prices = unitPrices({
    input: BigInt(costInput),
    cacheHit: BigInt(costCacheHit),
    cacheWrite5m: costCacheWrite5m === null ? null : BigInt(costCacheWrite5m),
    cacheWrite1h: costCacheWrite1h === null ? null : BigInt(costCacheWrite1h),
    output: BigInt(costOutput),
    tiers: fromStoredTiers(row.costTiers),
    perUnit: fromStoredUnits(row.costPerUnit),
    ...(row.costImages === null ? {} : { images: fromStoredImages(row.costImages) }),
    ...(row.costVariants === null ? {} : { variants: fromStoredVariants(row.costVariants) }),
  });
  return row.costClock === null ? prices : { ...prices, clock: fromStoredClock(row.costClock) };
}
