/**
 * Reads OpenRouter's own list, the answer of `https://openrouter.ai/api/v1/models`: models of all vendors at OpenRouter's
 * prices, USD for one token as text (https://openrouter.ai/docs/api-reference/list-available-models).
 */

import { type ReasoningEffort, reasoningEfforts } from '../../core/effort.ts';
import { ListedNumber, scaled, wholeOf } from './decimal.ts';
import { holdsNumber, isObject, type ListedModel, type Pool, type VendorPriceList } from './price-list.ts';
import { createCollector } from './prices.ts';

const priced: Readonly<Record<string, Pool>> = {
  prompt: 'input',
  completion: 'output',
  input_cache_read: 'cacheHit',
  input_cache_write: 'cacheWrite5m',
  input_cache_write_1h: 'cacheWrite1h',
};

/** Prices of what is not sold separately here. */
const otherPrices: ReadonlySet<string> = new Set([
  'audio',
  'audio_output',
  'image',
  'image_output',
  'input_audio_cache',
]);

export function isOpenRouter(list: Record<string, unknown>): boolean {
  const { data } = list;
  return Array.isArray(data) && data.some((model) => isObject(model) && isObject(model['pricing']));
}

export function readOpenRouter(list: Record<string, unknown>): VendorPriceList {
  const entries = Array.isArray(list['data']) ? list['data'] : [];
  return {
    format: 'OpenRouter',
    models: (vendor) =>
      vendor === 'openrouter'
        ? entries.flatMap((entry: unknown) =>
            isObject(entry) && typeof entry['id'] === 'string' ? [toModel(entry['id'], entry)] : [],
          )
        : [],
  };
}

function toModel(name: string, entry: Record<string, unknown>): ListedModel {
  const collector = createCollector(12);
  const notes = new Set<string>();
  const { pricing, top_provider: top, architecture } = entry;
  const prices = isObject(pricing) && !isRouter(pricing) ? pricing : {};
  const { overrides, internal_reasoning: reasoning, web_search: search, ...members } = prices;
  takeMembers(members, 'pricing', null);
  if (isPrice(reasoning)) collector.takeReasoning('pricing.internal_reasoning', reasoning);
  const piece = !isPrice(search) ? null : collector.readPiece('pricing.web_search', search);
  if (Array.isArray(overrides)) takeOverrides(overrides);
  else if (overrides !== undefined) collector.fault('pricing.overrides', 'is not known');
  const result = collector.result();
  const ends = entry['expiration_date'];
  return {
    name,
    displayName: typeof entry['name'] === 'string' ? entry['name'].trim() : null,
    family: null,
    contextWindow: wholeOf(entry['context_length']),
    maxOutputTokens: isObject(top) ? wholeOf(top['max_completion_tokens']) : null,
    capabilities: capabilitiesOf(entry, result.prices?.cacheHit ?? null),
    efforts: effortsOf(entry['reasoning']),
    prices: result.prices,
    tiers: result.tiers,
    windows: [],
    perUnit: piece === null ? {} : { search: piece },
    others: [...notes],
    rounded: result.rounded,
    deprecated: typeof ends === 'string' && ends <= new Date().toISOString().slice(0, 10),
    kind: wordsOf(architecture, 'output_modalities').join() === 'text' ? 'text' : null,
    faults: result.faults,
  };

  function takeMembers(given: Record<string, unknown>, path: string, above: number | null): void {
    for (const [member, value] of Object.entries(given)) {
      const field = `${path}.${member}`;
      if (!isPrice(value) && member !== 'prompt' && member !== 'completion') continue;
      const pool = Object.hasOwn(priced, member) ? priced[member] : undefined;
      if (pool !== undefined) collector.take(pool, field, value, above);
      else if (otherPrices.has(member)) notes.add(field);
      else if (holdsNumber(value, isNumber)) collector.fault(field, 'is not known');
    }
  }

  /** Prices of prompts from so many tokens; under another condition nothing is known. */
  function takeOverrides(given: readonly unknown[]): void {
    for (const [index, override] of given.entries()) {
      const path = `pricing.overrides[${index}]`;
      const { min_prompt_tokens: from, internal_reasoning: thinking, ...rest } = isObject(override) ? override : {};
      const least = wholeOf(from);
      if (least === null || least < 2) {
        collector.fault(`${path}.min_prompt_tokens`, 'is no length of a prompt');
        continue;
      }
      takeMembers(rest, path, least - 1);
      if (isPrice(thinking)) collector.takeReasoning(`${path}.internal_reasoning`, thinking, least - 1);
    }
  }
}

/** `-1`: the price is that of the model which the request is led to. */
function isRouter({ prompt, completion }: Record<string, unknown>): boolean {
  return prompt === '-1' && completion === '-1';
}

/** Zero stands for what has no price of its own: it costs as new context or as the answer, and a fee is none. */
function isPrice(value: unknown): boolean {
  const text = value instanceof ListedNumber ? value.text : value;
  const read = typeof text === 'string' ? scaled(text, 0) : null;
  return value != null && !(read?.value === 0n && read.exact);
}

function isNumber(value: unknown): boolean {
  return value instanceof ListedNumber;
}

function wordsOf(holder: unknown, member: string): unknown[] {
  const words = isObject(holder) ? holder[member] : undefined;
  return Array.isArray(words) ? words : [];
}

function capabilitiesOf(entry: Record<string, unknown>, cacheHit: bigint | null): string[] {
  const members = wordsOf(entry, 'supported_parameters');
  return [
    ...(members.includes('tools') ? ['tools'] : []),
    ...(wordsOf(entry['architecture'], 'input_modalities').includes('image') ? ['vision'] : []),
    ...(members.includes('reasoning') ? ['thinking'] : []),
    ...(cacheHit === null ? [] : ['caching']),
  ];
}

function effortsOf(reasoning: unknown): ReasoningEffort[] {
  const efforts = wordsOf(reasoning, 'supported_efforts');
  return reasoningEfforts.filter((effort) => efforts.includes(effort));
}
