import type { Pool } from 'pg';
import type { UnitPrices } from '../core/price.ts';
import type { Protocol } from '../core/protocol.ts';
import { createSeal } from '../shared/seal.ts';
import { singleFlight } from '../shared/single-flight.ts';
import { featuresOf } from './features.ts';
import type { RouteRecord, RouteSource, UpstreamRecord } from './route.ts';
import { placeOfKey, simulatorAddress } from './upstreams.ts';

/** All routes in memory, as one snapshot, with their upstreams' keys unsealed. */
export interface Upstreams extends RouteSource {
  /** Reads everything anew. Whoever waits sees every change that was committed before they called. */
  refresh: () => Promise<void>;
}

export interface UpstreamsParts {
  pool: Pool;
  /** 32 bytes: opens the upstreams' keys. */
  secretKey: Buffer;
  /** Where the built-in simulator listens, `http://host:port`; null: it does not run, so its routes are left out. */
  simulatorUrl: string | null;
  log: { warn(fields: object, text: string): void; error(fields: object, text: string): void };
  /** How old the snapshot may get when no notice of a change arrives. */
  maxAgeMs?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

interface UpstreamRow {
  id: string;
  protocol: Protocol;
  baseUrl: string;
  onDisconnect: 'abort' | 'drain';
  features: unknown;
  simulated: boolean;
}

interface KeyRow {
  id: string;
  upstreamId: string;
  sealed: Buffer;
}

interface RouteRow {
  id: string;
  model: string;
  upstreamId: string;
  upstreamModel: string;
  priority: number;
  weight: number;
  costInput: bigint | null;
  costCacheHit: bigint | null;
  costCacheWrite5m: bigint | null;
  costCacheWrite1h: bigint | null;
  costOutput: bigint | null;
}

const readUpstreams = `
  SELECT id, protocol, base_url AS "baseUrl", on_disconnect AS "onDisconnect", features, simulated
  FROM upstream WHERE enabled`;
const readKeys = `
  SELECT id, upstream_id AS "upstreamId", sealed FROM upstream_key WHERE enabled ORDER BY created_at, id`;
const readRoutes = `
  SELECT id, model_id AS model, upstream_id AS "upstreamId", upstream_model AS "upstreamModel", priority, weight,
         cost_input AS "costInput", cost_cache_hit AS "costCacheHit", cost_cache_write_5m AS "costCacheWrite5m",
         cost_cache_write_1h AS "costCacheWrite1h", cost_output AS "costOutput"
  FROM route WHERE enabled ORDER BY id`;

export function createUpstreams(parts: UpstreamsParts): Upstreams {
  const { pool, simulatorUrl, log, maxAgeMs = 10_000, now = () => performance.now() } = parts;
  const seal = createSeal({ secretKeys: [parts.secretKey] });
  let byModel: ReadonlyMap<string, readonly RouteRecord[]> = new Map();
  let loadedAt = Number.NEGATIVE_INFINITY;

  const keysOf = (upstreamId: string, rows: readonly KeyRow[]): UpstreamRecord['keys'] | null => {
    const own = rows.filter((row) => row.upstreamId === upstreamId);
    const keys = own.flatMap((row) => {
      const secret = seal.unseal(placeOfKey(row.id), row.sealed);
      if (secret === null) {
        log.error(
          { upstream: upstreamId },
          'a key of an upstream does not open: it was sealed with another SECRET_KEY',
        );
      }
      return secret === null ? [] : [{ id: row.id, secret }];
    });
    // An upstream whose keys are all lost must not be asked without one.
    return own.length > 0 && keys.length === 0 ? null : keys;
  };

  const toUpstream = (row: UpstreamRow, keyRows: readonly KeyRow[]): UpstreamRecord | null => {
    const keys = keysOf(row.id, keyRows);
    const baseUrl = row.simulated ? simulatorBase(row, simulatorUrl) : row.baseUrl;
    if (keys === null || baseUrl === null) return null;
    return {
      id: row.id,
      protocol: row.protocol,
      baseUrl,
      onDisconnect: row.onDisconnect,
      features: featuresOf(row.protocol, row.features),
      simulated: row.simulated,
      keys,
    };
  };

  const refresh = singleFlight(async () => {
    const startedAt = now();
    const [upstreams, keys, routes] = await Promise.all([
      pool.query<UpstreamRow>(readUpstreams),
      pool.query<KeyRow>(readKeys),
      pool.query<RouteRow>(readRoutes),
    ]);
    const known = new Map<string, UpstreamRecord>();
    for (const row of upstreams.rows) {
      const upstream = toUpstream(row, keys.rows);
      if (upstream !== null) known.set(row.id, upstream);
    }
    byModel = Map.groupBy(
      routes.rows.flatMap((row) => {
        const upstream = known.get(row.upstreamId);
        return upstream === undefined ? [] : [toRecord(row, upstream)];
      }),
      (route) => route.model,
    );
    loadedAt = startedAt;
  });

  return {
    routesOf(model) {
      if (now() - loadedAt > maxAgeMs) {
        // In the background: a notice of a change may have been lost, and the snapshot is still better than waiting.
        loadedAt = now();
        refresh().catch(() => log.warn({}, 'the routes could not be read; the last ones stay in use'));
      }
      return byModel.get(model) ?? [];
    },
    refresh,
  };
}

/** The simulator speaks every protocol at one address, which only this process knows. */
function simulatorBase({ protocol, baseUrl }: UpstreamRow, url: string | null): string | null {
  if (baseUrl !== simulatorAddress) throw new Error('an upstream is marked as simulated and has an address of its own');
  if (url === null) return null;
  return protocol === 'messages' ? url : `${url}/v1`;
}

function toRecord(row: RouteRow, upstream: UpstreamRecord): RouteRecord {
  const { id, model, upstreamModel, priority, weight } = row;
  return { id, model, upstream, upstreamModel, priority, weight, costs: toCosts(row) };
}

function toCosts(row: RouteRow): UnitPrices | null {
  const { costInput, costCacheHit, costCacheWrite5m, costCacheWrite1h, costOutput } = row;
  if (costInput === null || costCacheHit === null || costOutput === null) return null;
  return {
    input: costInput,
    cacheHit: costCacheHit,
    cacheWrite5m: costCacheWrite5m ?? costInput,
    cacheWrite1h: costCacheWrite1h ?? costInput,
    output: costOutput,
  };
}
