/**
 * Reads models.dev's `api.json`: vendors by id, each with its models; prices are USD per 1M tokens. The members are those
 * of `packages/core/src/schema.ts` in github.com/anomalyco/models.dev.
 */

import { type ReasoningEffort, reasoningEfforts } from '../../core/effort.ts';
import { ListedNumber, wholeOf } from './decimal.ts';
import { holdsNumber, isObject, type ListedModel, type Pool, type VendorPriceList } from './price-list.ts';
import { createCollector } from './prices.ts';

const priced: Readonly<Record<string, Pool>> = {
  input: 'input',
  output: 'output',
  cache_read: 'cacheHit',
  cache_write: 'cacheWrite5m',
};

/** Prices of what is not sold separately here. */
const others: ReadonlySet<string> = new Set(['input_audio', 'output_audio']);

/** Members that are no prices, whatever numbers they hold. */
const facts: ReadonlySet<string> = new Set([
  'id',
  'name',
  'family',
  'attachment',
  'reasoning',
  'reasoning_options',
  'tool_call',
  'interleaved',
  'structured_output',
  'temperature',
  'knowledge',
  'release_date',
  'last_updated',
  'modalities',
  'open_weights',
  'limit',
  'status',
  'provider',
]);

export function isModelsDev(list: Record<string, unknown>): boolean {
  return Object.values(list).some((vendor) => isObject(vendor) && isObject(vendor['models']));
}

export function readModelsDev(list: Record<string, unknown>): VendorPriceList {
  return {
    format: 'models.dev',
    models(vendor) {
      const entry = Object.hasOwn(list, vendor) ? list[vendor] : undefined;
      const models = isObject(entry) ? entry['models'] : undefined;
      if (!isObject(models)) return [];
      return Object.entries(models).flatMap(([name, model]) => (isObject(model) ? [toModel(name, model)] : []));
    },
  };
}

function toModel(name: string, entry: Record<string, unknown>): ListedModel {
  const collector = createCollector(6);
  const notes = new Set<string>();
  const { cost, experimental, limit, modalities } = entry;
  if (isObject(cost)) {
    takeCosts(cost, 'cost', null);
    takeTiers(cost);
  } else if (cost !== undefined) collector.fault('cost', 'is not known');
  if (isObject(experimental)) takeModes(experimental);
  for (const [member, value] of Object.entries(entry)) {
    if (member === 'cost' || member === 'experimental' || facts.has(member)) continue;
    if (holdsNumber(value, isNumber)) collector.fault(member, 'is not known');
  }
  const { prices, tiers, rounded, faults } = collector.result();
  const limits = isObject(limit) ? limit : {};
  const output = isObject(modalities) && Array.isArray(modalities['output']) ? modalities['output'] : ['text'];
  const writesText = output.length === 1 && output[0] === 'text';
  // The list calls vectors text; such models say what they are in their names, and charge nothing for them.
  const embeds = prices?.output === 0n && /embed/i.test(`${name} ${String(entry['family'])}`);
  const kind = embeds ? 'embedding' : writesText ? 'text' : null;
  return {
    name,
    displayName: textOf(entry['name']),
    family: textOf(entry['family']),
    contextWindow: wholeOf(limits['context']),
    maxOutputTokens: kind === 'embedding' ? 1 : wholeOf(limits['output']),
    capabilities: capabilitiesOf(entry, prices?.cacheHit ?? null),
    efforts: effortsOf(entry['reasoning_options']),
    prices,
    tiers,
    windows: [],
    // The list has no prices by the piece.
    perUnit: {},
    others: [...notes],
    rounded,
    deprecated: entry['status'] === 'deprecated',
    kind,
    faults,
  };

  function takeCosts(costs: Record<string, unknown>, path: string, above: number | null): void {
    for (const [member, value] of Object.entries(costs)) {
      const field = `${path}.${member}`;
      const pool = Object.hasOwn(priced, member) ? priced[member] : undefined;
      if (pool !== undefined) collector.take(pool, field, value, above);
      else if (others.has(member)) notes.add(field);
      else if (!structural.has(member)) collector.fault(field, 'is not known');
    }
    // After the output, which it is compared with.
    if (Object.hasOwn(costs, 'reasoning')) collector.takeReasoning(`${path}.reasoning`, costs['reasoning'], above);
  }

  /**
   * `tiers` carries the exact lengths. `context_over_200k` is their legacy form: it stands for one tier of any length from
   * 200,000, so it counts only where it stands alone.
   */
  function takeTiers(costs: Record<string, unknown>): void {
    const { tiers: list, context_over_200k: legacy } = costs;
    if (Array.isArray(list)) {
      for (const [index, tier] of list.entries()) {
        const path = `cost.tiers[${index}]`;
        const { tier: bound, ...prices } = isObject(tier) ? tier : {};
        const size = isObject(bound) && (bound['type'] ?? 'context') === 'context' ? wholeOf(bound['size']) : null;
        if (size === null) collector.fault(`${path}.tier`, 'is no length of a prompt');
        else takeCosts(prices, path, size);
      }
    } else if (list !== undefined) collector.fault('cost.tiers', 'is not known');
    else if (isObject(legacy)) takeCosts(legacy, 'cost.context_over_200k', 200_000);
    else if (legacy !== undefined) collector.fault('cost.context_over_200k', 'is not known');
  }

  /** Modes that a request must ask for, such as `fast`, have their own prices. */
  function takeModes(members: Record<string, unknown>): void {
    const { modes, ...rest } = members;
    for (const mode of Object.keys(isObject(modes) ? modes : {})) notes.add(`experimental.modes.${mode}`);
    for (const [member, value] of Object.entries(rest)) {
      if (holdsNumber(value, isNumber)) collector.fault(`experimental.${member}`, 'is not known');
    }
  }
}

/** Members of `cost` that are read elsewhere. */
const structural: ReadonlySet<string> = new Set(['tiers', 'context_over_200k', 'reasoning']);

function isNumber(value: unknown): boolean {
  return value instanceof ListedNumber;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function capabilitiesOf(entry: Record<string, unknown>, cacheHit: bigint | null): string[] {
  const { modalities } = entry;
  const inputs = isObject(modalities) && Array.isArray(modalities['input']) ? modalities['input'] : [];
  return [
    ...(entry['tool_call'] === true ? ['tools'] : []),
    ...(inputs.includes('image') ? ['vision'] : []),
    ...(entry['reasoning'] === true ? ['thinking'] : []),
    ...(cacheHit === null ? [] : ['caching']),
  ];
}

function effortsOf(options: unknown): ReasoningEffort[] {
  const values = (Array.isArray(options) ? options : []).flatMap((option: unknown) =>
    isObject(option) && option['type'] === 'effort' && Array.isArray(option['values']) ? option['values'] : [],
  );
  return reasoningEfforts.filter((effort) => values.includes(effort));
}
