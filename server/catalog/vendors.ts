/** The vendors that the service knows: addresses, models and list prices, from the example catalog files. */

import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { modelEntry, sourceEntry, upstreamEntry } from './file-entries.ts';
import type { Model } from './model.ts';
import type { Route, RouteCosts, Upstream } from './upstreams.ts';

export interface Vendor {
  id: VendorId;
  /** The name that people read. */
  name: string;
  /** Where the list prices are from, and the day on which they were read. */
  source: { address: string; date: string };
  /** The environment variable that usually has the key. */
  keyVariable: string;
  upstreams: readonly Upstream[];
  models: readonly VendorModel[];
}

export interface VendorModel {
  model: Model;
  /** The vendor's list prices. */
  costs: RouteCosts;
  routes: readonly Omit<Route, 'modelId'>[];
}

/** `models.dev` and `LiteLLM`: the vendor's name in those lists. `check`: what only a valid key may read. */
const known = {
  anthropic: { name: 'Anthropic', lists: { 'models.dev': 'anthropic', LiteLLM: 'anthropic' }, check: '/v1/models' },
  openai: { name: 'OpenAI', lists: { 'models.dev': 'openai', LiteLLM: 'openai' }, check: '/models' },
  google: { name: 'Google Gemini', lists: { 'models.dev': 'google', LiteLLM: 'gemini' }, check: '/models' },
  deepseek: { name: 'DeepSeek', lists: { 'models.dev': 'deepseek', LiteLLM: 'deepseek' }, check: '/models' },
  // Its list of models is public: https://openrouter.ai/docs/api/api-reference/api-keys/get-current-key
  openrouter: { name: 'OpenRouter', lists: { 'models.dev': 'openrouter', LiteLLM: 'openrouter' }, check: '/key' },
} as const;

export type VendorId = keyof typeof known;
export const vendorIds = Object.keys(known) as VendorId[];

/** The vendor's name in a public price list of that format. OpenRouter's list is of itself alone. */
export function nameInList(vendor: VendorId, format: 'models.dev' | 'LiteLLM' | 'OpenRouter'): string {
  return format === 'OpenRouter' ? vendor : known[vendor].lists[format];
}

/** The path below the address of the vendor's first upstream that answers 200 to a valid key and costs nothing. */
export function checkPath(vendor: VendorId): string {
  return known[vendor].check;
}

/** The catalog file of a vendor that comes with the service. */
export function exampleFile(vendor: VendorId): URL {
  return new URL(`examples/${vendor}.yaml`, import.meta.url);
}

const example = z.strictObject({
  source: sourceEntry,
  upstreams: z.array(upstreamEntry({ allowPrivate: false }).required({ apiKeyEnv: true })).min(1),
  models: z.array(modelEntry.required({ routes: true })).min(1),
});

/** Reads every vendor's example file. Throws when one is not as it must be: they are part of the program. */
export function readVendors(): Promise<Vendor[]> {
  return Promise.all(vendorIds.map(readVendor));
}

async function readVendor(id: VendorId): Promise<Vendor> {
  const { source, upstreams, models } = example.parse(parse(await readFile(exampleFile(id), 'utf8')));
  return {
    id,
    name: known[id].name,
    source,
    keyVariable: upstreams[0]?.apiKeyEnv ?? '',
    upstreams: upstreams.map(({ apiKeyEnv: _variable, apiKey: _key, ...upstream }) => upstream),
    models: models.map(({ prices: _prices, routes, ...model }) => {
      const costs = routes[0]?.costs;
      if (costs === undefined) throw new Error(`${id}: ${model.id} has no costs`);
      return {
        model,
        costs,
        routes: routes.map(({ upstream, model: upstreamModel, priority, weight, costs: own }) => ({
          upstreamId: upstream,
          upstreamModel,
          priority,
          weight,
          enabled: true,
          costs: own ?? null,
        })),
      };
    }),
  };
}
