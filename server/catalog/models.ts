import type { ClientBase } from 'pg';
import { fromStoredImages, type ImagePrices, type StoredImagePrices, storedImages } from '../core/image-price.ts';
import { formatPrice, formatUsd } from '../core/money.ts';
import {
  type CatalogPrice,
  chargedUnits,
  fromStoredTiers,
  fromStoredUnits,
  type PerUnit,
  type PriceClock,
  type PriceTier,
  type PriceVariant,
  type StoredTier,
  toStoredTiers,
  toStoredUnits,
  type UnitPrices,
} from '../core/price.ts';
import { fromStoredClock, type StoredClock, toStoredClock } from '../core/price-clock.ts';
import { fromStoredVariants, type StoredVariant, toStoredVariants } from '../core/price-variants.ts';
import { type AuditFacts, appendAudit } from '../shared/audit.ts';
import { uuidv7 } from '../shared/uuid.ts';
import { toolPricesOf, withToolPrices } from './hosted-tools.ts';
import type { Model } from './model.ts';

/**
 * Stores models and their prices. Every function works in the caller's transaction, returns what changed and writes an
 * audit entry. A price is never rewritten: a change is a new version, and requests admitted at the old one are charged
 * at it.
 */

export type Change = 'created' | 'changed' | 'unchanged';

/** A price version. */
export interface PriceVersion extends CatalogPrice {
  id: string;
  validFrom: Date;
}

const modelColumns = `id, display_name AS "displayName", family, kind, context_window AS "contextWindow",
  max_output_tokens AS "maxOutputTokens", allow, capabilities, efforts,
  reasoning_tokens_per_second AS "reasoningTokensPerSecond",
  unknown_members AS "unknownMembers", enabled`;
const priceColumns = `id, input, cache_hit AS "cacheHit", cache_write_5m AS "cacheWrite5m",
  cache_write_1h AS "cacheWrite1h", output, tiers, clock, variants,
  per_unit AS "perUnit", images, max_prompt_tokens AS "maxPromptTokens", valid_from AS "validFrom"`;

/** All models, disabled ones too, by id. */
export async function listModels(client: ClientBase): Promise<Model[]> {
  const { rows } = await client.query<Model>(`SELECT ${modelColumns} FROM model ORDER BY id`);
  return rows;
}

/** Creates or changes a model. Its prices and routes stay. */
export async function saveModel(client: ClientBase, model: Model, actor: string): Promise<Change> {
  const { rows } = await client.query<Model>(`SELECT ${modelColumns} FROM model WHERE id = $1 FOR UPDATE`, [model.id]);
  const before = rows[0] ?? null;
  if (before !== null && JSON.stringify(modelFacts(before)) === JSON.stringify(modelFacts(model))) return 'unchanged';
  await client.query(
    `INSERT INTO model (id, display_name, family, context_window, max_output_tokens, allow, capabilities, efforts,
       enabled, reasoning_tokens_per_second, unknown_members, kind)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     ON CONFLICT (id) DO UPDATE SET display_name = excluded.display_name, family = excluded.family,
       context_window = excluded.context_window, max_output_tokens = excluded.max_output_tokens, allow = excluded.allow,
       capabilities = excluded.capabilities, efforts = excluded.efforts, enabled = excluded.enabled,
       reasoning_tokens_per_second = excluded.reasoning_tokens_per_second,
       unknown_members = excluded.unknown_members, kind = excluded.kind`,
    [
      model.id,
      model.displayName,
      model.family,
      model.contextWindow,
      model.maxOutputTokens,
      model.allow,
      model.capabilities,
      model.efforts,
      model.enabled,
      model.reasoningTokensPerSecond,
      model.unknownMembers,
      model.kind,
    ],
  );
  await appendAudit(client, {
    actor,
    action: before === null ? 'model.create' : 'model.change',
    subject: `model:${model.id}`,
    before: before && modelFacts(before),
    after: modelFacts(model),
  });
  return before === null ? 'created' : 'changed';
}

/**
 * The version that is valid now; null before the first one. By `clock_timestamp()`: a transaction that waited for
 * another must see the version that the other has written.
 */
export async function currentPrice(client: ClientBase, modelId: string): Promise<PriceVersion | null> {
  const { rows } = await client.query<
    Omit<PriceVersion, 'tiers' | 'perUnit' | 'clock' | 'images' | 'variants'> & {
      tiers: StoredTier[];
      clock: StoredClock | null;
      variants: StoredVariant[] | null;
      perUnit: Record<string, number>;
      images: StoredImagePrices | null;
    }
  >(
    `SELECT ${priceColumns} FROM price WHERE model_id = $1 AND valid_from <= clock_timestamp()
     ORDER BY valid_from DESC, created_at DESC, id DESC LIMIT 1`,
    [modelId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { tiers, clock, perUnit, images, variants, ...version } = row;
  return {
    ...version,
    tiers: fromStoredTiers(tiers),
    perUnit: fromStoredUnits(perUnit),
    ...(images === null ? {} : { images: fromStoredImages(images) }),
    ...(clock === null ? {} : { clock: fromStoredClock(clock) }),
    ...(variants === null ? {} : { variants: fromStoredVariants(variants) }),
  };
}

/**
 * Adds a price version, valid at once or from a future moment. Does nothing when the valid version has the same prices.
 * Versions that begin later stay. Prices of tools that are left out are the public ones of the vendors on the model's routes,
 * so that routes are saved first.
 */
export async function savePrices(
  client: ClientBase,
  ask: { modelId: string; prices: CatalogPrice; validFrom?: Date; actor: string },
): Promise<Change> {
  const { modelId, validFrom, actor } = ask;
  const prices = withToolPrices(ask.prices, await toolPricesOf(client, modelId));
  const before = await currentPrice(client, modelId);
  if (validFrom === undefined && before !== null && samePrices(before, prices)) return 'unchanged';
  // By `clock_timestamp()`, not the start of the transaction: of two overlapping changes, the last one written must
  // count. Truncated to the column's precision, which would round up into the future.
  await client.query(
    `INSERT INTO price (id, model_id, input, cache_hit, cache_write_5m, cache_write_1h, output, tiers,
       max_prompt_tokens, per_unit, valid_from, created_at, clock, images, variants)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10::jsonb, greatest($11::timestamptz, this.moment), this.moment,
            $12::jsonb, $13::jsonb, $14::jsonb
     FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS moment) AS this`,
    [
      uuidv7(),
      modelId,
      prices.input,
      prices.cacheHit,
      prices.cacheWrite5m,
      prices.cacheWrite1h,
      prices.output,
      JSON.stringify(toStoredTiers(prices.tiers)),
      prices.maxPromptTokens,
      JSON.stringify(toStoredUnits(prices.perUnit ?? {})),
      validFrom ?? null,
      prices.clock === undefined ? null : JSON.stringify(toStoredClock(prices.clock)),
      storedImages(prices.images),
      prices.variants === undefined ? null : JSON.stringify(toStoredVariants(prices.variants)),
    ],
  );
  await appendAudit(client, {
    actor,
    action: 'price.add',
    subject: `model:${modelId}`,
    before: before && priceFacts(before),
    after: { ...priceFacts(prices), ...(validFrom === undefined ? {} : { validFrom }) },
  });
  return before === null ? 'created' : 'changed';
}

function samePrices(a: CatalogPrice, b: CatalogPrice): boolean {
  return JSON.stringify(priceFacts(a)) === JSON.stringify(priceFacts(b));
}

function modelFacts(model: Model): AuditFacts {
  const { displayName, family, contextWindow, maxOutputTokens, allow, capabilities, efforts, enabled } = model;
  const { reasoningTokensPerSecond, unknownMembers, kind } = model;
  return {
    displayName,
    family,
    ...(kind === 'text' ? {} : { kind }),
    contextWindow,
    maxOutputTokens,
    allow,
    capabilities,
    efforts,
    reasoningTokensPerSecond,
    unknownMembers,
    enabled,
  };
}

/** USD per 1,000,000 tokens, as people know prices. Members that are not set are left out of the audit. */
function priceFacts(prices: CatalogPrice): AuditFacts {
  const { tiers, maxPromptTokens, perUnit = {}, images, clock, variants } = prices;
  return {
    input: formatPrice(prices.input),
    cacheHit: formatPrice(prices.cacheHit),
    cacheWrite5m: formatOptional(prices.cacheWrite5m),
    cacheWrite1h: formatOptional(prices.cacheWrite1h),
    output: formatPrice(prices.output),
    ...(tiers.length === 0 ? {} : { tiers: tiers.map(tierFacts) }),
    ...(clock === undefined ? {} : { clock: clockFacts(clock) }),
    ...(variants === undefined ? {} : { variants: variantFacts(variants) }),
    ...(maxPromptTokens === null ? {} : { maxPromptTokens }),
    ...(Object.keys(perUnit).length === 0 ? {} : { perUnit: usdPerUnit(perUnit) }),
    ...(images === undefined ? {} : { images: imageFacts(images) }),
  };
}

/** Prices of images as people write them. */
export function imageFacts({ tokens, each }: ImagePrices) {
  return {
    ...(tokens === undefined
      ? {}
      : {
          tokens: {
            input: formatPrice(tokens.input),
            cacheHit: formatPrice(tokens.cacheHit),
            output: formatPrice(tokens.output),
          },
        }),
    ...(each === undefined
      ? {}
      : {
          each: each.map(({ quality, size, upToPixels, price }) => ({
            ...(quality === undefined ? {} : { quality }),
            ...(size === undefined ? {} : { size }),
            ...(upToPixels === undefined ? {} : { upToPixels }),
            price: formatUsd(price),
          })),
        }),
  };
}

/** USD for one of each, in one order. */
export function usdPerUnit(perUnit: PerUnit): Record<string, string> {
  return Object.fromEntries(
    chargedUnits.flatMap((unit) => {
      const price = perUnit[unit];
      return price === undefined ? [] : [[unit, formatUsd(price)]];
    }),
  );
}

function tierFacts({ abovePromptTokens, ...prices }: PriceTier) {
  return { abovePromptTokens, ...fiveFacts(prices) };
}

/** A clock with prices as people know them, and as a catalog file writes them. */
export function clockFacts({ timeZone, exceptDates, windows }: PriceClock) {
  return {
    timeZone,
    ...(exceptDates.length === 0 ? {} : { exceptDates: [...exceptDates] }),
    windows: windows.map(({ days, hours, tiers, ...prices }) => ({
      days: [...days],
      hours: [...hours],
      ...fiveFacts(prices),
      ...(tiers.length === 0 ? {} : { tiers: tiers.map(tierFacts) }),
    })),
  };
}

/** Variants with prices as people know them, and as a catalog file writes them. */
export function variantFacts(variants: readonly PriceVariant[]) {
  return variants.map(({ name, tiers, ...prices }) => ({
    name,
    ...fiveFacts(prices),
    ...(tiers.length === 0 ? {} : { tiers: tiers.map(tierFacts) }),
  }));
}

function fiveFacts({ input, cacheHit, cacheWrite5m, cacheWrite1h, output }: UnitPrices) {
  return {
    input: formatPrice(input),
    cacheHit: formatPrice(cacheHit),
    cacheWrite5m: formatPrice(cacheWrite5m),
    cacheWrite1h: formatPrice(cacheWrite1h),
    output: formatPrice(output),
  };
}

function formatOptional(price: bigint | null): string | null {
  return price === null ? null : formatPrice(price);
}
