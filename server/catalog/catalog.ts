import type { Pool } from 'pg';
import type { ReasoningEffort } from '../core/effort.ts';
import { fromStoredImages, type StoredImagePrices } from '../core/image-price.ts';
import type { ModelKind } from '../core/kind.ts';
import {
  fromStoredTiers,
  fromStoredUnits,
  type StoredTier,
  type TieredPrices,
  unitPrices,
  type VersionPrice,
} from '../core/price.ts';
import { fromStoredClock, pricesAtMoment, type StoredClock } from '../core/price-clock.ts';
import { fromStoredVariants, type StoredVariant } from '../core/price-variants.ts';
import { singleFlight } from '../shared/single-flight.ts';
import type { UnknownMembers } from './model.ts';
import { clientPrefix } from './model.ts';
import type { RouteRecord, UpstreamRecord } from './route.ts';
import { type OpenRoutes, type RouteRows, readRouteRows } from './routes.ts';

/**
 * The catalog in memory: models, prices and routes as one immutable snapshot, read by one statement and replaced as a
 * whole. It decides nothing about money: an admission reads the price again, in its own transaction. A new model is
 * never reported as unknown.
 */

/** A model that can be called, with the price that is valid now. */
export interface CatalogModel {
  id: string;
  displayName: string;
  family: string;
  kind: ModelKind;
  contextWindow: number;
  maxOutputTokens: number;
  /** Names of the gates that are open. */
  allow: ReadonlySet<string>;
  capabilities: readonly string[];
  /** Supported reasoning efforts; empty: not stated. */
  efforts: readonly ReasoningEffort[];
  /** As in `Model`. */
  reasoningTokensPerSecond: number | null;
  /** How requests with unknown top-level members are treated. */
  unknownMembers: UnknownMembers;
  createdAt: Date;
  price: CurrentPrice;
  /** Its routes, in no particular order; empty: it cannot run at the moment. */
  routes: readonly RouteRecord[];
}

/** The version that is valid now. */
export interface CurrentPrice extends VersionPrice {
  validFrom: Date;
}

/** A model of the catalog as an upstream runs it, with its price at this moment. */
export interface PricedModel {
  /** Catalog id. */
  model: string;
  upstream: string;
  /** Its name at the upstream. */
  upstreamModel: string;
  kind: ModelKind;
  contextWindow: number;
  maxOutputTokens: number;
  price: TieredPrices;
  /** What the operator pays there; null: not known. */
  costs: TieredPrices | null;
}

export interface Catalog {
  /**
   * Resolves a client's model name: the exact id, else without one leading `steyg/`, else that in lower case. Null: not
   * in the catalog, after the database was asked.
   */
  resolve(sent: string): Promise<CatalogModel | null>;
  /**
   * All models that can be called, by id; always read from the database, because the list is promised to be current.
   */
  list(): Promise<CatalogModel[]>;
  /** The models that run at these upstreams, by the snapshot: what they may run on their own for an answer. */
  pricedAt(upstreams: ReadonlySet<string>): PricedModel[];
  /** An upstream that a model of the catalog runs at; null: none does at the moment. */
  upstream(id: string): UpstreamRecord | null;
  /** Reloads the snapshot. The caller then sees every change that was committed before the call. */
  refresh: () => Promise<void>;
}

export interface CatalogParts {
  pool: Pool;
  /** The pool for queries that a request waits for. */
  asked?: Pick<Pool, 'query'>;
  /** Unseals the routes' upstream keys; without it models have no routes, which is enough for lists of names. */
  openRoutes?: OpenRoutes;
  /** Maximum age of the snapshot when no change notification arrives. */
  maxAgeMs?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

interface Row {
  id: string;
  displayName: string;
  family: string;
  kind: ModelKind;
  contextWindow: number;
  maxOutputTokens: number;
  allow: string[];
  capabilities: string[];
  efforts: ReasoningEffort[];
  reasoningTokensPerSecond: number | null;
  unknownMembers: UnknownMembers;
  createdAt: string;
  priceId: string;
  /** Prices are BIGINT, which JSON numbers do not hold exactly: decimal text. */
  input: string;
  cacheHit: string;
  cacheWrite5m: string | null;
  cacheWrite1h: string | null;
  output: string;
  tiers: StoredTier[];
  clock: StoredClock | null;
  variants: StoredVariant[] | null;
  perUnit: Record<string, number>;
  images: StoredImagePrices | null;
  maxPromptTokens: number | null;
  validFrom: string;
}

interface SnapshotRow extends RouteRows {
  models: Row[];
  readAt: Date;
}

/** The valid version and future ones, oldest first. */
const readModels = `
  SELECT m.id, m.display_name AS "displayName", m.family, m.kind, m.context_window AS "contextWindow",
         m.max_output_tokens AS "maxOutputTokens", m.allow, m.capabilities, m.efforts,
         m.reasoning_tokens_per_second AS "reasoningTokensPerSecond",
         m.unknown_members AS "unknownMembers", m.created_at AS "createdAt",
         p.id AS "priceId", p.input::text, p.cache_hit::text AS "cacheHit", p.cache_write_5m::text AS "cacheWrite5m",
         p.cache_write_1h::text AS "cacheWrite1h", p.output::text, p.tiers, p.clock, p.variants, p.per_unit AS "perUnit", p.images,
         p.max_prompt_tokens AS "maxPromptTokens", p.valid_from AS "validFrom"
  FROM model m JOIN price p ON p.model_id = m.id
  WHERE m.enabled AND (p.valid_from > now() OR p.id = (
    SELECT id FROM price WHERE model_id = m.id AND valid_from <= now()
    ORDER BY valid_from DESC, created_at DESC, id DESC LIMIT 1))
  ORDER BY m.id, p.valid_from, p.created_at, p.id`;

/** One statement reads one database snapshot, so models and routes always belong together. */
const readAll = `
  SELECT now() AS "readAt", (SELECT coalesce(json_agg(m), '[]') FROM (${readModels}) m) AS models, ${readRouteRows}`;

const readOne = 'SELECT FROM model WHERE id = ANY($1) AND enabled LIMIT 1';

/** A model at each of its prices, oldest first; at least one. They are shared by all requests. */
type Entry = readonly CatalogModel[];

export function createCatalog(parts: CatalogParts): Catalog {
  const { pool, asked = pool, openRoutes, maxAgeMs = 10_000, now = () => performance.now() } = parts;
  let snapshot: ReadonlyMap<string, Entry> = new Map();
  let loadedAt = Number.NEGATIVE_INFINITY;
  /** Offset of the database's clock from the monotonic clock. */
  let offsetMs = Date.now() - now();

  const refresh = singleFlight(async () => {
    const startedAt = now();
    const { rows } = await pool.query<SnapshotRow>({ name: 'catalog.read', text: readAll });
    const [row] = rows;
    if (row === undefined) throw new Error('the catalog was read and gave no row');
    snapshot = toSnapshot(row.models, openRoutes?.(row) ?? new Map());
    // `readAt` was taken at an unknown moment of the query: with the later local time, no price begins too early.
    offsetMs = row.readAt.getTime() - now();
    loadedAt = startedAt;
  });

  const current = (versions: Entry): CatalogModel | null => {
    const databaseNow = now() + offsetMs;
    return versions.findLast(({ price }) => price.validFrom.getTime() <= databaseNow) ?? null;
  };
  const find = (ids: readonly string[]): CatalogModel | null => {
    for (const id of ids) {
      const entry = snapshot.get(id);
      const model = entry === undefined ? null : current(entry);
      if (model !== null) return model;
    }
    return null;
  };

  return {
    async resolve(sent) {
      const ids = spellings(sent);
      const known = find(ids);
      if (known !== null) {
        if (now() - loadedAt > maxAgeMs) {
          // In the background: a change notification may have been lost, and the admission reads the price anyway.
          loadedAt = now();
          refresh().catch(() => {});
        }
        return known;
      }
      // Names that the database cannot hold are not looked up.
      const askable = ids.filter((id) => id.length <= 256 && id.isWellFormed() && !id.includes('\0'));
      if (askable.length === 0) return null;
      const { rowCount } = await asked.query({ name: 'catalog.find', text: readOne, values: [askable] });
      if (rowCount === 0) return null;
      await refresh();
      return find(ids);
    },
    async list() {
      await refresh();
      return [...snapshot.values()].map(current).filter((model) => model !== null);
    },
    pricedAt(upstreams) {
      const databaseNow = now() + offsetMs;
      const models = [...snapshot.values()].map(current).filter((model) => model !== null);
      return models.flatMap(({ id, kind, contextWindow, maxOutputTokens, price, routes }) =>
        routes
          .filter(({ upstream }) => upstreams.has(upstream.id))
          .map(({ upstream, upstreamModel, costs }) => ({
            model: id,
            upstream: upstream.id,
            upstreamModel,
            kind,
            contextWindow,
            maxOutputTokens,
            price: pricesAtMoment(price, databaseNow),
            costs: costs === null ? null : pricesAtMoment(costs, databaseNow),
          })),
      );
    },
    upstream(id) {
      for (const [model] of snapshot.values())
        for (const { upstream } of model?.routes ?? []) if (upstream.id === id) return upstream;
      return null;
    },
    refresh,
  };
}

/** Candidate ids of a client's name, in order of preference. */
function spellings(sent: string): string[] {
  const bare = sent.startsWith(clientPrefix) ? sent.slice(clientPrefix.length) : sent;
  // ASCII only: ids have no other letters, and capitals of other alphabets must not be folded into them.
  const lower = bare.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
  return [...new Set([sent, bare, lower])];
}

function toSnapshot(
  rows: readonly Row[],
  routes: ReadonlyMap<string, readonly RouteRecord[]>,
): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [id, versions] of Map.groupBy(rows, (row) => row.id)) {
    const [row] = versions;
    if (row === undefined) continue;
    const { displayName, family, contextWindow, maxOutputTokens, capabilities, efforts, reasoningTokensPerSecond } =
      row;
    const { unknownMembers } = row;
    const model = {
      id,
      displayName,
      family,
      kind: row.kind,
      contextWindow,
      maxOutputTokens,
      allow: new Set(row.allow),
      capabilities,
      efforts,
      reasoningTokensPerSecond,
      unknownMembers,
      createdAt: new Date(row.createdAt),
      routes: routes.get(id) ?? [],
    };
    entries.set(
      id,
      versions.map((version) => ({ ...model, price: toPrice(version) })),
    );
  }
  return entries;
}

function toPrice(row: Row): CurrentPrice {
  const { maxPromptTokens, clock } = row;
  return {
    id: row.priceId,
    ...unitPrices({
      input: BigInt(row.input),
      cacheHit: BigInt(row.cacheHit),
      cacheWrite5m: row.cacheWrite5m === null ? null : BigInt(row.cacheWrite5m),
      cacheWrite1h: row.cacheWrite1h === null ? null : BigInt(row.cacheWrite1h),
      output: BigInt(row.output),
      tiers: fromStoredTiers(row.tiers),
      perUnit: fromStoredUnits(row.perUnit),
      ...(row.images === null ? {} : { images: fromStoredImages(row.images) }),
      ...(row.variants === null ? {} : { variants: fromStoredVariants(row.variants) }),
    }),
    ...(clock === null ? {} : { clock: fromStoredClock(clock) }),
    ...(maxPromptTokens === null ? {} : { maxPromptTokens }),
    validFrom: new Date(row.validFrom),
  };
}
