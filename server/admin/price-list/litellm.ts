/**
 * Reads LiteLLM's `model_prices_and_context_window.json`: models by name, prices in USD per token. The members are those
 * that its own test of the file lists (`tests/test_litellm/test_utils.py` in github.com/BerriAI/litellm).
 */

import { type ReasoningEffort, reasoningEfforts } from '../../core/effort.ts';
import type { ModelKind } from '../../core/kind.ts';
import { MAX_PERIODS, MAX_WINDOWS, type PerUnit, type Weekday, weekdays } from '../../core/price.ts';
import { haveOverlap, parsePeriod } from '../../core/price-clock.ts';
import { ListedNumber, wholeOf } from './decimal.ts';
import {
  holdsNumber,
  isObject,
  type ListedModel,
  type ListedPrices,
  type ListedWindow,
  type Pool,
  type VendorPriceList,
} from './price-list.ts';
import { createCollector } from './prices.ts';

const priced: Readonly<Record<string, Pool>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cacheHit',
  input_cost_per_token_cache_hit: 'cacheHit',
  cache_creation_input_token_cost: 'cacheWrite5m',
  cache_creation_input_token_cost_above_1hr: 'cacheWrite1h',
};

/** Prices of what is not sold separately here: other service tiers, media, searches, sessions, regions. */
const otherPrices: ReadonlySet<string> = new Set([
  'annotation_cost_per_page',
  'annotation_cost_per_page_batches',
  'cache_creation_input_audio_token_cost',
  'cache_read_input_audio_token_cost',
  'cache_read_input_image_token_cost',
  'citation_cost_per_token',
  'code_interpreter_cost_per_session',
  'computer_use_input_cost_per_1k_tokens',
  'computer_use_output_cost_per_1k_tokens',
  'file_search_cost_per_1k_calls',
  'file_search_cost_per_gb_per_day',
  'google_maps_grounding_cost_per_query',
  'guardrail_cost_per_unit',
  'input_cost_per_audio_per_second',
  'input_cost_per_audio_per_second_above_128k_tokens',
  'input_cost_per_audio_token',
  'input_cost_per_character',
  'input_cost_per_character_above_128k_tokens',
  'input_cost_per_image',
  'input_cost_per_image_above_128k_tokens',
  'input_cost_per_image_token',
  'input_cost_per_pixel',
  'input_cost_per_query',
  'input_cost_per_second',
  'input_cost_per_video_per_second',
  'input_cost_per_video_per_second_above_15s_interval',
  'input_cost_per_video_per_second_above_8s_interval',
  'input_cost_per_video_per_second_above_128k_tokens',
  'input_cost_per_video_token',
  'ocr_cost_per_credit',
  'ocr_cost_per_page',
  'output_cost_per_audio_token',
  'output_cost_per_character',
  'output_cost_per_character_above_128k_tokens',
  'output_cost_per_image_token',
  'output_cost_per_pixel',
  'output_cost_per_second',
  'output_cost_per_video_per_second',
  'output_cost_per_video_token',
  'provider_specific_entry',
  'regional_endpoint_uplift_multiplier',
  'regional_processing_uplift_multiplier_eu',
  'regional_processing_uplift_multiplier_us',
  'vector_store_cost_per_gb_per_day',
]);

/** The same prices when a request asks for another service tier or comes in a batch. */
const otherService = /_(flex|priority|batches|batch_requests)$/;

/** Numbers and texts that are no prices. */
const facts: ReadonlySet<string> = new Set([
  'comment',
  'default_reasoning_effort',
  'deprecation_date',
  'litellm_provider',
  'metadata',
  'output_vector_size',
  'prompt_cache_min_tokens',
  'rpd',
  'rpm',
  'source',
  'tool_use_system_prompt_tokens',
  'tpm',
]);

const tierSuffix = /_above_(\d{1,6})k_tokens$/;

export function isLiteLlm(list: Record<string, unknown>): boolean {
  return Object.values(list).some((model) => isObject(model) && typeof model['litellm_provider'] === 'string');
}

export function readLiteLlm(list: Record<string, unknown>): VendorPriceList {
  return {
    format: 'LiteLLM',
    models(vendor) {
      const found = new Map<string, ListedModel>();
      for (const [key, entry] of Object.entries(list)) {
        if (!isObject(entry) || entry['litellm_provider'] !== vendor || key === 'sample_spec') continue;
        const name = key.startsWith(`${vendor}/`) ? key.slice(vendor.length + 1) : key;
        const model = toModel(name, entry);
        const before = found.get(name);
        if (before === undefined) found.set(name, model);
        else if (!sameDeal(before, model)) found.set(name, contradicted(before, key));
      }
      return [...found.values()];
    },
  };
}

/** The list may name a model with and without the vendor before it. */
function sameDeal(a: ListedModel, b: ListedModel): boolean {
  const deal = ({ prices, tiers, windows, perUnit }: ListedModel) =>
    JSON.stringify([prices, tiers, windows, perUnit], (_name, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
  return deal(a) === deal(b);
}

function contradicted(model: ListedModel, key: string): ListedModel {
  return { ...model, faults: [...model.faults, { field: key, message: 'names the model again at other prices' }] };
}

function toModel(name: string, entry: Record<string, unknown>): ListedModel {
  const collector = createCollector(12);
  const notes = new Set<string>();
  const {
    output_cost_per_reasoning_token: reasoning,
    tiered_pricing: ranges,
    off_peak_pricing: offPeak,
    search_context_cost_per_query: searches,
    output_cost_per_image: image,
    ...members
  } = entry;
  const perUnit = takePieces();
  for (const [member, value] of Object.entries(members)) takeMember(member, value);
  if (Array.isArray(ranges)) takeRanges(ranges);
  else if (ranges !== undefined) collector.fault('tiered_pricing', 'is not known');
  if (reasoning !== undefined) collector.takeReasoning('output_cost_per_reasoning_token', reasoning);

  const offPeakSet = isObject(offPeak) ? takeOffPeak(offPeak) : null;
  if (offPeak !== undefined && offPeakSet === null) collector.fault('off_peak_pricing', 'has hours that are not known');
  const kind = kindOf(entry['mode']);
  // Embeddings write nothing, and most entries do not say so.
  if (kind === 'embedding' && (members['output_cost_per_token'] ?? null) === null) {
    collector.take('output', 'output_cost_per_token', new ListedNumber('0'));
  }
  const { prices, tiers, rounded, faults } = collector.result();
  if (offPeakSet !== null && tiers.length > 0)
    faults.push({ field: 'off_peak_pricing', message: 'stands beside prices by length, which it does not repeat' });
  const retires = typeof entry['deprecation_date'] === 'string' ? entry['deprecation_date'] : null;
  return {
    name,
    displayName: null,
    family: null,
    contextWindow: wholeOf(entry['max_input_tokens']),
    maxOutputTokens: kind === 'embedding' ? 1 : wholeOf(entry['max_output_tokens']),
    capabilities: capabilitiesOf(entry, prices),
    efforts: effortsOf(entry),
    prices,
    tiers,
    windows: prices === null ? [] : (offPeakSet ?? []).map((window) => ({ ...prices, ...window })),
    perUnit,
    others: [...notes],
    rounded,
    deprecated: retires !== null && retires <= new Date().toISOString().slice(0, 10),
    kind,
    faults,
  };

  /** A search costs what it costs at the largest context; an image as it stands. */
  function takePieces(): PerUnit {
    const sizes = isObject(searches) ? Object.entries(searches) : [];
    if (searches != null && !isObject(searches)) collector.fault('search_context_cost_per_query', 'is not known');
    const costs = sizes.map(([size, value]) => collector.readPiece(`search_context_cost_per_query.${size}`, value));
    const search = costs.reduce<bigint | null>(
      (most, cost) => (most === null || (cost ?? 0n) > most ? cost : most),
      null,
    );
    const drawn = image == null ? null : collector.readPiece('output_cost_per_image', image);
    return { ...(search === null ? {} : { search }), ...(drawn === null ? {} : { image: drawn }) };
  }

  /**
   * Hours that cost less than the others, in UTC: `windows` with `weekdays` from 1 (Monday), or `hours_utc` of every day.
   * https://docs.litellm.ai/docs/proxy/off_peak_pricing. Null: hours that a catalog cannot say.
   */
  function takeOffPeak(
    members: Record<string, unknown>,
  ): (Pick<ListedWindow, 'days' | 'hours'> & Partial<ListedPrices>)[] | null {
    const { windows: list, hours_utc: daily, ...rates } = members;
    const known = Object.entries(rates).flatMap(([member, value]) => {
      const pool = Object.hasOwn(priced, member) ? priced[member] : undefined;
      if (pool === undefined) collector.fault(`off_peak_pricing.${member}`, 'is not known');
      return pool === undefined ? [] : [[pool, `off_peak_pricing.${member}`, value] as const];
    });
    const set = collector.readSet(known);
    const given = Array.isArray(list) ? list : daily === undefined ? [] : [{ hours_utc: daily }];
    const windows = given.map((window: unknown) => {
      const { hours_utc: hours, weekdays: days } = isObject(window) ? window : {};
      const read = { days: daysOf(days), hours: periodsOf(hours) };
      return read.days === null || read.hours === null ? null : { ...set, days: read.days, hours: read.hours };
    });
    const complete = windows.filter((window) => window !== null);
    const isKnown = complete.length === given.length && given.length > 0 && given.length <= MAX_WINDOWS;
    return isKnown && !haveOverlap(complete) ? complete : null;
  }

  function takeMember(member: string, value: unknown): void {
    if (value === null || facts.has(member) || /^(supports|max|supported)_/.test(member)) return;
    const plain = member.replace(tierSuffix, '');
    const above = tierSuffix.exec(member)?.[1];
    const pool = Object.hasOwn(priced, plain) ? priced[plain] : undefined;
    if (pool !== undefined) {
      collector.take(pool, member, value, above === undefined ? null : Number(above) * 1_000);
    } else if (otherPrices.has(member) || isOtherService(member) || isMediaSize(member)) notes.add(member);
    else if (holdsNumber(value, isNumber)) collector.fault(member, 'is not known');
  }

  /** Ranges of prompt tokens, the first from 0: the set of a range is the tier above its start. */
  function takeRanges(list: readonly unknown[]): void {
    for (const [index, range] of list.entries()) {
      const path = `tiered_pricing[${index}]`;
      const { range: bounds, ...prices } = isObject(range) ? range : {};
      const from = Array.isArray(bounds) ? wholeOf(bounds[0]) : null;
      if (from === null) {
        collector.fault(`${path}.range`, 'is no range of prompt tokens');
        continue;
      }
      const above = from === 0 ? null : from;
      const { output_cost_per_reasoning_token: thinking, ...rest } = prices;
      for (const [member, value] of Object.entries(rest)) {
        const pool = Object.hasOwn(priced, member) ? priced[member] : undefined;
        if (pool !== undefined) collector.take(pool, `${path}.${member}`, value, above);
        else if (holdsNumber(value, isNumber)) collector.fault(`${path}.${member}`, 'is not known');
      }
      if (thinking !== undefined) {
        collector.takeReasoning(`${path}.output_cost_per_reasoning_token`, thinking, above);
      }
    }
  }
}

/** Numbers from 1, Monday, to 7; every day where none are named. */
function daysOf(value: unknown): Weekday[] | null {
  if (value === undefined || value === null) return [...weekdays];
  const days = (Array.isArray(value) ? value : []).map((day: unknown) => weekdays[(wholeOf(day) ?? 0) - 1]);
  return days.length === 0 || days.includes(undefined) ? null : weekdays.filter((day) => days.includes(day));
}

/** One period or several; one that ends when it begins is the whole day. */
function periodsOf(value: unknown): string[] | null {
  const texts = (Array.isArray(value) ? value : [value]).map((text: unknown) => {
    if (typeof text !== 'string') return null;
    const [from, to] = text.split('-');
    const period = from === to ? '00:00-24:00' : to === '00:00' ? `${from}-24:00` : text;
    return parsePeriod(period)?.text ?? null;
  });
  const periods = texts.filter((text) => text !== null);
  return periods.length === texts.length && texts.length <= MAX_PERIODS ? periods.sort() : null;
}

function capabilitiesOf(entry: Record<string, unknown>, prices: ListedPrices | null): string[] {
  return [
    ...(entry['supports_function_calling'] === true ? ['tools'] : []),
    ...(entry['supports_vision'] === true ? ['vision'] : []),
    ...(entry['supports_reasoning'] === true ? ['thinking'] : []),
    ...((prices?.cacheHit ?? null) === null ? [] : ['caching']),
  ];
}

function kindOf(mode: unknown): ModelKind | null {
  if (mode === 'chat' || mode === 'responses') return 'text';
  return mode === 'embedding' ? 'embedding' : null;
}

/** A known price under the name of another service tier, e.g. `input_cost_per_token_above_272k_tokens_priority`. */
function isOtherService(member: string): boolean {
  if (!otherService.test(member)) return false;
  const plain = member.replace(otherService, '').replace(tierSuffix, '');
  return (
    Object.hasOwn(priced, plain) ||
    otherPrices.has(plain) ||
    plain === 'output_cost_per_image' ||
    plain === 'search_context_cost_per_query'
  );
}

/** Pictures and films by size, e.g. `output_cost_per_image_2K`. */
function isMediaSize(member: string): boolean {
  return /^output_cost_per_(image_(\d+(\.\d+)?K?)|second_(\d+p|\d+k))$/.test(member);
}

function isNumber(value: unknown): boolean {
  return value instanceof ListedNumber;
}

function effortsOf(entry: Record<string, unknown>): ReasoningEffort[] {
  const levels = entry['reasoning_effort_levels'];
  return Array.isArray(levels) ? reasoningEfforts.filter((effort) => levels.includes(effort)) : [];
}
