import type { FeaturesInput } from '../catalog/features.ts';
import { simulatorAddress, type Upstream } from '../catalog/upstreams.ts';
import type { ReasoningEffort } from '../core/effort.ts';
import { parsePrice } from '../core/money.ts';
import type { CatalogPrice } from '../core/price.ts';
import type { ProfileId } from '../core/profile.ts';
import type { CatalogContent, ModelContent } from './catalog-content.ts';

/** The seeds of an empty database, so that the first start has content. */

/** USD per 1M tokens: input, cache hit, output, and where the vendor has them, five-minute and one-hour cache writes. */
type PriceRow = readonly [string, string, string] | readonly [string, string, string, string, string];

interface SeedModel {
  id: string;
  displayName: string;
  family: string;
  contextWindow: number;
  maxOutputTokens: number;
  capabilities: readonly string[];
  /** Left out: unknown. */
  efforts?: readonly ReasoningEffort[];
  prices: PriceRow;
  /** The upstream's own model names, by upstream id. */
  at: Readonly<Record<string, string>>;
}

interface SeedUpstream {
  id: string;
  protocol: Upstream['protocol'];
  baseUrl: string;
  profile: ProfileId | null;
  features: FeaturesInput;
  /** The environment variable of the key; null: none is needed. */
  keyVariable: string | null;
  /** Lower is tried first. */
  priority: number;
}

const simulated: readonly SeedUpstream[] = [
  {
    id: 'simulator-messages',
    protocol: 'messages',
    baseUrl: simulatorAddress,
    profile: null,
    features: { effort: true },
    keyVariable: null,
    priority: 0,
  },
  {
    id: 'simulator-chat',
    protocol: 'chat-completions',
    baseUrl: simulatorAddress,
    profile: null,
    features: { maxTokensField: 'max_completion_tokens', files: true, effort: true },
    keyVariable: null,
    priority: 0,
  },
];

const everything = ['tools', 'vision', 'thinking', 'caching'];

function simulatedModel(size: string, prices: PriceRow, maxOutputTokens: number): SeedModel {
  const id = `sim-${size.toLowerCase()}`;
  return {
    id,
    displayName: `Simulated ${size}`,
    family: 'simulated',
    contextWindow: 200_000,
    maxOutputTokens,
    capabilities: everything,
    prices,
    at: { 'simulator-messages': id, 'simulator-chat': id },
  };
}

const simulatedModels: readonly SeedModel[] = [
  simulatedModel('Large', ['3', '0.3', '15'], 64_000),
  simulatedModel('Medium', ['1', '0.1', '5'], 32_000),
  simulatedModel('Small', ['0.25', '0.025', '1.25'], 16_000),
];

/** The models of the built-in simulator, which need no key and cost nothing. */
export function simulatorSeed(): CatalogContent {
  return toContent(simulated, simulatedModels, () => null);
}

const vendors: readonly SeedUpstream[] = [
  {
    id: 'anthropic',
    protocol: 'messages',
    baseUrl: 'https://api.anthropic.com',
    profile: 'anthropic',
    features: {},
    keyVariable: 'ANTHROPIC_API_KEY',
    priority: 0,
  },
  {
    id: 'openai',
    protocol: 'chat-completions',
    baseUrl: 'https://api.openai.com/v1',
    profile: 'openai-gpt5',
    features: {},
    keyVariable: 'OPENAI_API_KEY',
    priority: 0,
  },
  {
    id: 'deepseek',
    protocol: 'chat-completions',
    baseUrl: 'https://api.deepseek.com/v1',
    profile: 'deepseek',
    features: {},
    keyVariable: 'DEEPSEEK_API_KEY',
    priority: 0,
  },
  {
    id: 'deepseek-messages',
    protocol: 'messages',
    baseUrl: 'https://api.deepseek.com/anthropic',
    profile: 'deepseek',
    features: {},
    keyVariable: 'DEEPSEEK_API_KEY',
    priority: 0,
  },
  {
    id: 'openrouter',
    protocol: 'chat-completions',
    baseUrl: 'https://openrouter.ai/api/v1',
    profile: 'openrouter',
    features: {},
    keyVariable: 'OPENROUTER_API_KEY',
    priority: 1,
  },
];

/** The effort levels that the vendors' models accept; they refuse other words. */
const claudeEfforts: readonly ReasoningEffort[] = ['none', 'low', 'medium', 'high', 'xhigh', 'max'];
const gptEfforts: readonly ReasoningEffort[] = ['minimal', 'low', 'medium', 'high'];
/** It takes a budget of reasoning tokens instead. */
const noEfforts: readonly ReasoningEffort[] = ['none'];

// The vendors' list prices of November 2026. Models whose price depends on the length of the prompt are left out: a price
// here is one number. DeepSeek's are those of its peak hours, so that no hour costs more than it brings.
const vendorModels: readonly SeedModel[] = [
  {
    id: 'claude-opus-5-5',
    displayName: 'Claude Opus 5.5',
    family: 'claude',
    contextWindow: 1_000_000,
    maxOutputTokens: 128_000,
    capabilities: everything,
    efforts: claudeEfforts,
    prices: ['4', '0.2', '20', '5', '8'],
    at: { anthropic: 'claude-opus-5-5' },
  },
  {
    id: 'claude-sonnet-5-5',
    displayName: 'Claude Sonnet 5.5',
    family: 'claude',
    contextWindow: 1_000_000,
    maxOutputTokens: 128_000,
    capabilities: everything,
    efforts: claudeEfforts,
    prices: ['2', '0.1', '10', '2.5', '4'],
    at: { anthropic: 'claude-sonnet-5-5' },
  },
  {
    id: 'claude-haiku-4-5',
    displayName: 'Claude Haiku 4.5',
    family: 'claude',
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    capabilities: everything,
    efforts: noEfforts,
    prices: ['1', '0.1', '5', '1.25', '2'],
    at: { anthropic: 'claude-haiku-4-5', openrouter: 'anthropic/claude-haiku-4.5' },
  },
  {
    id: 'gpt-5',
    displayName: 'GPT-5',
    family: 'gpt',
    contextWindow: 400_000,
    maxOutputTokens: 128_000,
    capabilities: everything,
    efforts: gptEfforts,
    prices: ['1.25', '0.125', '10'],
    at: { openai: 'gpt-5', openrouter: 'openai/gpt-5' },
  },
  {
    id: 'gpt-5-mini',
    displayName: 'GPT-5 mini',
    family: 'gpt',
    contextWindow: 400_000,
    maxOutputTokens: 128_000,
    capabilities: everything,
    efforts: gptEfforts,
    prices: ['0.25', '0.025', '2'],
    at: { openai: 'gpt-5-mini', openrouter: 'openai/gpt-5-mini' },
  },
  {
    id: 'gpt-5-nano',
    displayName: 'GPT-5 nano',
    family: 'gpt',
    contextWindow: 400_000,
    maxOutputTokens: 128_000,
    capabilities: everything,
    efforts: gptEfforts,
    prices: ['0.05', '0.005', '0.4'],
    at: { openai: 'gpt-5-nano', openrouter: 'openai/gpt-5-nano' },
  },
  {
    id: 'deepseek-flash',
    displayName: 'DeepSeek Flash',
    family: 'deepseek',
    contextWindow: 1_000_000,
    maxOutputTokens: 384_000,
    capabilities: everything,
    prices: ['0.3', '0.006', '1.2'],
    at: { deepseek: 'deepseek-flash', 'deepseek-messages': 'deepseek-flash' },
  },
  {
    id: 'deepseek-v4-pro',
    displayName: 'DeepSeek V4 Pro',
    family: 'deepseek',
    contextWindow: 1_000_000,
    maxOutputTokens: 384_000,
    capabilities: ['tools', 'thinking', 'caching'],
    prices: ['1.32', '0.044', '3.96'],
    at: { deepseek: 'deepseek-v4-pro', 'deepseek-messages': 'deepseek-v4-pro' },
  },
];

/**
 * The vendors whose keys are configured, and their models, sold at cost: operators set prices of their own. Null: there
 * is no key.
 */
export function vendorSeed(keyOf: (variable: string) => string | undefined): CatalogContent | null {
  const present = vendors.filter(({ keyVariable }) => keyVariable !== null && keyOf(keyVariable) !== undefined);
  if (present.length === 0) return null;
  const here = new Set(present.map(({ id }) => id));
  const models = vendorModels.filter(({ at }) => Object.keys(at).some((id) => here.has(id)));
  return toContent(present, models, (variable) => keyOf(variable) ?? null);
}

/** Example plans; an operator sets prices of their own. */
export const planSeed: CatalogContent = {
  upstreams: [],
  models: [],
  plans: [
    { id: 'starter', name: 'Starter', priceVnd: 250_000n, budget: 10_000_000_000_000n, validDays: null, enabled: true },
    { id: 'pro', name: 'Pro', priceVnd: 1_200_000n, budget: 50_000_000_000_000n, validDays: null, enabled: true },
    { id: 'team', name: 'Team', priceVnd: 4_600_000n, budget: 200_000_000_000_000n, validDays: null, enabled: true },
  ],
};

function toContent(
  upstreams: readonly SeedUpstream[],
  models: readonly SeedModel[],
  secretOf: (variable: string) => string | null,
): CatalogContent {
  return {
    upstreams: upstreams.map(({ id, protocol, baseUrl, profile, features, keyVariable }) => ({
      upstream: { id, protocol, baseUrl, onDisconnect: 'abort', profile, features, enabled: true },
      secret: keyVariable === null ? null : secretOf(keyVariable),
    })),
    models: models.map((model) => toModel(model, upstreams)),
    plans: [],
  };
}

function toModel(
  { prices, at, capabilities, efforts = [], ...model }: SeedModel,
  upstreams: readonly SeedUpstream[],
): ModelContent {
  return {
    model: {
      ...model,
      capabilities: [...capabilities],
      efforts: [...efforts],
      reasoningTokensPerSecond: null,
      allow: [],
      unknownMembers: 'pass',
      enabled: true,
    },
    prices: toPrices(prices),
    routes: upstreams.flatMap(({ id: upstreamId, priority, keyVariable }) => {
      const upstreamModel = at[upstreamId];
      if (upstreamModel === undefined) return [];
      // The simulator costs nothing; a vendor costs its list price.
      const costs = keyVariable === null ? null : toPrices(prices);
      return [{ upstreamId, upstreamModel, priority, weight: 1, enabled: true, costs, line: null }];
    }),
  };
}

function toPrices([input, cacheHit, output, cacheWrite5m, cacheWrite1h]: PriceRow): CatalogPrice {
  return {
    input: price(input),
    cacheHit: price(cacheHit),
    cacheWrite5m: cacheWrite5m === undefined ? null : price(cacheWrite5m),
    cacheWrite1h: cacheWrite1h === undefined ? null : price(cacheWrite1h),
    output: price(output),
    tiers: [],
    maxPromptTokens: null,
  };
}

function price(text: string): bigint {
  const value = parsePrice(text);
  if (value === null) throw new Error(`not a price: ${text}`);
  return value;
}
