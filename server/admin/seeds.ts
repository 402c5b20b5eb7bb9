/** The seeds of an empty database, so that the first start has content. */

import { simulatorAddress, type Upstream } from '../catalog/upstreams.ts';
import { readVendors } from '../catalog/vendors.ts';
import { parsePrice } from '../core/money.ts';
import type { CatalogContent, ModelContent } from './catalog-content.ts';

const simulated: readonly Upstream[] = [
  {
    id: 'simulator-messages',
    protocol: 'messages',
    baseUrl: simulatorAddress,
    onDisconnect: 'abort',
    profile: null,
    recipient: null,
    country: null,
    features: { effort: true },
    enabled: true,
  },
  {
    id: 'simulator-chat',
    protocol: 'chat-completions',
    baseUrl: simulatorAddress,
    onDisconnect: 'abort',
    profile: null,
    recipient: null,
    country: null,
    features: { maxTokensField: 'max_completion_tokens', files: true, effort: true },
    enabled: true,
  },
];

/** `prices`: USD per 1M tokens of input, cache hit and output. The routes cost nothing. */
function simulatedModel(
  size: string,
  prices: readonly [string, string, string],
  maxOutputTokens: number,
): ModelContent {
  const id = `sim-${size.toLowerCase()}`;
  const [input, cacheHit, output] = prices.map(price) as [bigint, bigint, bigint];
  return {
    model: {
      id,
      displayName: `Simulated ${size}`,
      family: 'simulated',
      contextWindow: 200_000,
      maxOutputTokens,
      capabilities: ['tools', 'vision', 'thinking', 'caching'],
      efforts: [],
      reasoningTokensPerSecond: null,
      allow: [],
      kind: 'text',
      unknownMembers: 'pass',
      enabled: true,
    },
    prices: { input, cacheHit, cacheWrite5m: null, cacheWrite1h: null, output, tiers: [], maxPromptTokens: null },
    routes: simulated.map(({ id: upstreamId }) => ({
      upstreamId,
      upstreamModel: id,
      priority: 0,
      weight: 1,
      enabled: true,
      costs: null,
      line: null,
    })),
  };
}

/** The models of the built-in simulator, which need no key and cost nothing. */
export function simulatorSeed(): CatalogContent {
  return {
    upstreams: simulated.map((upstream) => ({ upstream, secret: null })),
    models: [
      simulatedModel('Large', ['3', '0.3', '15'], 64_000),
      simulatedModel('Medium', ['1', '0.1', '5'], 32_000),
      simulatedModel('Small', ['0.25', '0.025', '1.25'], 16_000),
    ],
    plans: [],
  };
}

/**
 * The vendors whose keys are configured, and their models, sold at cost: operators set their own prices. A model that
 * several of them have gets the routes of all. Null: there is no key.
 */
export async function vendorSeed(keyOf: (variable: string) => string | undefined): Promise<CatalogContent | null> {
  const present = (await readVendors()).filter(({ keyVariable }) => keyOf(keyVariable) !== undefined);
  if (present.length === 0) return null;
  const models = new Map<string, ModelContent>();
  for (const { model, costs, routes } of present.flatMap((vendor) => vendor.models)) {
    const before = models.get(model.id);
    const own = routes.map((route) => ({ ...route, line: null }));
    models.set(model.id, {
      model,
      prices: { ...costs, maxPromptTokens: null },
      ...before,
      routes: [...(before?.routes ?? []), ...own],
    });
  }
  return {
    upstreams: present.flatMap(({ upstreams, keyVariable }) =>
      upstreams.map((upstream) => ({ upstream, secret: keyOf(keyVariable) ?? null })),
    ),
    models: [...models.values()],
    plans: [],
  };
}

/** The environment variable of each vendor's key, e.g. `ANTHROPIC_API_KEY`, and the upstream that it belongs to. */
export async function vendorKeys(): Promise<{ vendor: string; keyVariable: string; upstreamId: string }[]> {
  const vendors = await readVendors();
  return vendors.map(({ id, keyVariable, upstreams }) => ({
    vendor: id,
    keyVariable,
    upstreamId: upstreams[0]?.id ?? '',
  }));
}

/** Example plans; an operator sets their own prices. */
export const planSeed: CatalogContent = {
  upstreams: [],
  models: [],
  plans: [
    { id: 'starter', name: 'Starter', priceVnd: 250_000n, budget: 10_000_000_000_000n, validDays: null, enabled: true },
    { id: 'pro', name: 'Pro', priceVnd: 1_200_000n, budget: 50_000_000_000_000n, validDays: null, enabled: true },
    { id: 'team', name: 'Team', priceVnd: 4_600_000n, budget: 200_000_000_000_000n, validDays: null, enabled: true },
  ],
};

function price(text: string): bigint {
  const value = parsePrice(text);
  if (value === null) throw new Error(`not a price: ${text}`);
  return value;
}
