/** What a public price list says, in one shape for all formats. */

import type { ReasoningEffort } from '../../core/effort.ts';
import type { ModelKind } from '../../core/kind.ts';
import type { PerUnit, Weekday } from '../../core/price.ts';

/** List prices, pico-USD per token. Null: the list names none. */
export interface ListedPrices {
  input: bigint;
  cacheHit: bigint | null;
  cacheWrite5m: bigint | null;
  cacheWrite1h: bigint | null;
  output: bigint;
}

/** Prices for the whole request when its prompt has more tokens than `abovePromptTokens`. */
export interface ListedTier extends ListedPrices {
  abovePromptTokens: number;
}

/** Prices for hours of the week, in UTC. */
export interface ListedWindow extends ListedPrices {
  days: readonly Weekday[];
  hours: readonly string[];
}

/** A member of a list's entry that this version cannot take as a price. */
export interface ListFault {
  /** The member's path in the entry, e.g. `cost.cache_read_v2`. */
  field: string;
  message: string;
}

/** One model of one vendor. */
export interface ListedModel {
  /** The vendor's own name of the model. */
  name: string;
  displayName: string | null;
  family: string | null;
  contextWindow: number | null;
  maxOutputTokens: number | null;
  capabilities: readonly string[];
  efforts: readonly ReasoningEffort[];
  /** Null: the model is not sold by tokens (images, speech, …). */
  prices: ListedPrices | null;
  /** Rising. */
  tiers: readonly ListedTier[];
  /** Empty: the same prices at every hour. */
  windows: readonly ListedWindow[];
  /** What the list prices by the piece and is counted here. */
  perUnit: PerUnit;
  /** Prices of the list that a request here does not come to, e.g. `search_context_cost_per_query`. */
  others: readonly string[];
  /** Whether a price had more than 6 decimals for 1M tokens and was rounded to the nearest. */
  rounded: boolean;
  /** The vendor retires it. */
  deprecated: boolean;
  /** What it makes of its input; null: nothing that is sold here. */
  kind: ModelKind | null;
  faults: readonly ListFault[];
}

/** Who publishes the list, in its own shape. */
export type ListFormat = 'models.dev' | 'LiteLLM' | 'OpenRouter';

export interface VendorPriceList {
  format: ListFormat;
  /** The models of a vendor, by the list's name of the vendor. */
  models(vendor: string): readonly ListedModel[];
}

/** The five token pools with their names in a catalog file. */
export const pools = ['input', 'cacheHit', 'cacheWrite5m', 'cacheWrite1h', 'output'] as const;
export type Pool = (typeof pools)[number];

/** Whether a value holds a number, perhaps as text: such a member may be a price. */
export function holdsNumber(value: unknown, isNumber: (value: unknown) => boolean): boolean {
  if (isNumber(value)) return true;
  if (typeof value === 'string') return /^\s*-?[$€]?\d+(\.\d+)?(e-?\d+)?\s*%?\s*$/i.test(value);
  return typeof value === 'object' && value !== null && Object.values(value).some((one) => holdsNumber(one, isNumber));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Prices as text, USD per 1M tokens, with their tiers by prompt length. */
export interface PriceText extends Partial<Record<Pool, string>> {
  tiers?: readonly (Partial<Record<Pool, string>> & { abovePromptTokens: number })[];
  maxPromptTokens?: number;
  /** Prices by the clock, as `clockFacts` writes them. */
  clock?: object;
  /** Prices by the piece. */
  perUnit?: Record<string, string | null>;
  /** Prices of variants and of images, which lists do not name: they are not compared. */
  variants?: object;
  images?: object;
}
