import type { ModelKind } from '../core/kind.ts';
import { MAX_PRICE, parseUsd } from '../core/money.ts';
import { MAX_TIERS, type PriceTier } from '../core/price.ts';
import type { ProfileId } from '../core/profile.ts';
import type { Protocol } from '../core/protocol.ts';
import { checkBaseUrl } from '../shared/private-addresses.ts';
import { isSecret } from './file-entries.ts';
import { type Model, modelShape } from './model.ts';
import { vendorProfiles } from './profiles/profiles.ts';
import type { KeyTest, RouteTester } from './test-route.ts';
import { addressSentences, type RouteCosts, upstreamModelInput } from './upstreams.ts';
import type { Vendor } from './vendors.ts';

/** What a vendor is, found from its address and a key: the protocol, the models, and what may be proposed of each. */

export interface FoundVendor {
  /** An id that the upstream may have here. */
  upstreamId: string;
  protocol: Protocol;
  /** As an upstream has it: with `/v1` or without, by its protocol. */
  baseUrl: string;
  /** The profile that its address or its list speaks for; null: none. */
  profile: ProfileId | null;
  models: readonly FoundModel[];
}

/** A model that the vendor lists, and what is proposed for it. */
export interface FoundModel {
  upstreamModel: string;
  model: Model;
  /** Whether the limits are stated by the vendor or known, and not only cautious. */
  hasLimits: boolean;
  /** From the vendor's list, else the list price that is known; null: neither says it. */
  costs: RouteCosts | null;
}

export type Discovery =
  | { kind: 'found'; vendor: FoundVendor }
  | { kind: 'refused'; member: 'baseUrl' | 'secret'; message: string };

export interface DiscoveryParts {
  routeTester: Pick<RouteTester, 'read'>;
  allowPrivate: boolean;
  list: () => Promise<readonly Vendor[]>;
}

const maxModels = 2_000;
/** Where the vendor states none: few enough that a hold for a request without a limit stays small. */
const cautious = { contextWindow: 32_768, maxOutputTokens: 8_192 };

/**
 * Asks an address for its models. `secret` null: it takes none. The key goes only to the host of that address, and
 * nowhere else a redirect may name.
 */
export async function discoverVendor(
  { routeTester, allowPrivate, list }: DiscoveryParts,
  { baseUrl, secret }: { baseUrl: string; secret: string | null },
): Promise<Discovery> {
  const problem = checkBaseUrl(baseUrl, allowPrivate);
  if (problem !== null) return { kind: 'refused', member: 'baseUrl', message: addressSentences[problem] };
  if (secret !== null && !isSecret(secret))
    return { kind: 'refused', member: 'secret', message: 'must be visible ASCII characters' };
  const known = await list();
  const failures: { status: number | null; problem: string | null }[] = [];
  for (const place of placesOf(baseUrl)) {
    const { body, ...answer } = await routeTester.read({ ...place, secret });
    const entries = answer.ok ? entriesOf(body, place.protocol) : null;
    if (entries === null) failures.push(answer);
    else return { kind: 'found', vendor: foundAt(place, entries, known) };
  }
  const refusal = failures.find(({ status }) => status === 401 || status === 403);
  if (refusal !== undefined) {
    return {
      kind: 'refused',
      member: 'secret',
      message:
        secret === null ? 'is missing: the vendor asks for one' : `does not work. ${refusal.problem ?? ''}`.trim(),
    };
  }
  const said = failures.find(({ status }) => status !== null && status !== 404 && status !== 200) ?? failures[0];
  const why = said?.status === 200 || said?.status === 404 ? 'No list of models is there.' : (said?.problem ?? '');
  return { kind: 'refused', member: 'baseUrl', message: `does not answer as a vendor does. ${why}`.trim() };
}

type Place = Pick<KeyTest, 'protocol' | 'baseUrl' | 'path'>;

/** Where the list may be. People paste the address of an endpoint as often as the base address. */
function placesOf(text: string): Place[] {
  const base = text
    .replace(/\/+$/, '')
    .replace(/\/(chat\/completions|messages|responses|models|embeddings)$/, '')
    .replace(/\/+$/, '');
  // Gemini's ends in `/v1beta/openai`.
  const isVersioned = /\/v\d\w*(\/openai)?$/.test(base);
  const chat = (baseUrl: string): Place => ({ protocol: 'chat-completions', baseUrl, path: '/models' });
  const messages: Place = {
    protocol: 'messages',
    baseUrl: base.replace(/\/v1$/, ''),
    // At most 1000 a page: https://platform.claude.com/docs/en/api/models/list
    path: '/v1/models?limit=1000',
  };
  const chats = isVersioned ? [chat(base)] : [chat(`${base}/v1`), chat(base)];
  const host = new URL(base).host;
  const speaksMessages = /(^|\.)anthropic\.com$/.test(host) || /\/anthropic(\/v1)?$/.test(base);
  return speaksMessages ? [messages, ...chats] : [...chats, messages];
}

type Entry = Record<string, unknown>;

/** The models of a list in the shape of that protocol; null: it is none. */
function entriesOf(body: unknown, protocol: Protocol): Entry[] | null {
  // Together answers with the array alone: https://docs.together.ai/reference/models-1
  const list = Array.isArray(body) ? body : isEntry(body) ? body['data'] : null;
  if (!Array.isArray(list)) return null;
  const entries = list.filter(isEntry).filter(({ id }) => typeof id === 'string');
  // Both vendors list at the same path, and tell their entries apart: `type: model` is of messages alone,
  // https://platform.claude.com/docs/en/api/models
  const isOfMessages = entries.some(({ type, object }) => type === 'model' && object === undefined);
  if (entries.length === 0 || isOfMessages !== (protocol === 'messages')) return null;
  return entries.slice(0, maxModels);
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function foundAt({ protocol, baseUrl }: Place, entries: readonly Entry[], known: readonly Vendor[]): FoundVendor {
  const profile = profileAt(baseUrl, protocol, entries);
  return {
    upstreamId: upstreamIdOf(baseUrl, profile),
    protocol,
    baseUrl,
    profile,
    models: entries.flatMap((entry) => proposalOf(entry, known) ?? []),
  };
}

/** How servers that run anywhere name themselves in their lists. */
const owners: Readonly<Record<string, ProfileId>> = {
  // https://github.com/modal-labs/modal-examples/issues/843
  vllm: 'vllm',
  // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
  llamacpp: 'llama.cpp',
  // https://github.com/ollama/ollama/blob/main/docs/openai.md
  library: 'ollama',
};

function profileAt(baseUrl: string, protocol: Protocol, entries: readonly Entry[]): ProfileId | null {
  const { host } = new URL(baseUrl);
  for (const profile of Object.values(vendorProfiles)) {
    const endpoint = profile.protocols[protocol];
    if (endpoint?.baseUrl != null && new URL(endpoint.baseUrl).host === host) return profile.id;
  }
  if (host.endsWith('.openai.azure.com') && protocol !== 'messages') return 'azure';
  const named = entries[0]?.['owned_by'];
  const owner = typeof named === 'string' ? named.toLowerCase() : '';
  return Object.hasOwn(owners, owner) && protocol === 'chat-completions' ? (owners[owner] ?? null) : null;
}

/** `api.groq.com` is `groq`; what has no such name is called by its whole host. */
function upstreamIdOf(baseUrl: string, profile: ProfileId | null): string {
  const { hostname } = new URL(baseUrl);
  const labels = hostname.replace(/^(api|www)\./, '').split('.');
  const isNumeric = /^[\d.]+$|:/.test(hostname);
  const name = isNumeric || labels.length < 2 ? (profile ?? hostname) : (labels.at(-2) ?? hostname);
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return plain === '' ? 'vendor' : plain;
}

/** What may be proposed for a model of a list; null: its name cannot be one here. */
function proposalOf(entry: Entry, vendors: readonly Vendor[]): FoundModel | null {
  const upstreamModel = String(entry['id']);
  if (!upstreamModelInput.safeParse(upstreamModel).success) return null;
  // https://ai.google.dev/gemini-api/docs/openai: its list says `models/gemini-…`, its requests take both.
  const plain = upstreamModel.replace(/^models\//, '').toLowerCase();
  const last = plain.split('/').at(-1) ?? plain;
  const models = vendors.flatMap((vendor) => vendor.models);
  const twin =
    models.find(({ routes }) => routes.some((route) => route.upstreamModel === upstreamModel)) ??
    models.find(({ model }) => model.id === plain || model.id === last);
  const costs = costsOf(entry) ?? twin?.costs ?? null;
  if (twin !== undefined) return { upstreamModel, model: twin.model, hasLimits: true, costs };
  const modelId = modelShape.id.safeParse(plain);
  if (!modelId.success) return null;
  const limits = limitsOf(entry);
  const displayName = modelShape.displayName.safeParse(entry['display_name'] ?? entry['name']);
  const kind: ModelKind = /embed/.test(last) ? 'embedding' : /^(?:chat)?gpt-image-/.test(last) ? 'image' : 'text';
  return {
    upstreamModel,
    model: {
      id: modelId.data,
      displayName: displayName.success ? displayName.data : last.slice(0, 100),
      family: (/^[a-z]+/.exec(last)?.[0] ?? 'other').slice(0, 60),
      kind,
      contextWindow: limits.contextWindow ?? cautious.contextWindow,
      maxOutputTokens: Math.min(
        limits.maxOutputTokens ?? cautious.maxOutputTokens,
        limits.contextWindow ?? cautious.contextWindow,
      ),
      allow: [],
      capabilities: [],
      efforts: [],
      reasoningTokensPerSecond: null,
      unknownMembers: 'pass',
      enabled: true,
    },
    hasLimits: limits.contextWindow !== null,
    costs,
  };
}

/**
 * The members that vendors state limits in: Groq `context_window`, `max_completion_tokens`
 * (https://github.com/sigoden/aichat/pull/1498), vLLM `max_model_len`
 * (https://github.com/modal-labs/modal-examples/issues/843), OpenRouter `context_length` and
 * `top_provider.max_completion_tokens` (https://openrouter.ai/docs/api-reference/list-available-models), Mistral
 * `max_context_length` (https://docs.mistral.ai/api/), Anthropic `max_input_tokens`, `max_tokens`
 * (https://platform.claude.com/docs/en/api/models).
 */
function limitsOf(entry: Entry): { contextWindow: number | null; maxOutputTokens: number | null } {
  const top = isEntry(entry['top_provider']) ? entry['top_provider'] : {};
  const first = (values: unknown[]) => values.map(tokensOf).find((value) => value !== null) ?? null;
  return {
    contextWindow: first([
      entry['context_window'],
      entry['context_length'],
      entry['max_model_len'],
      entry['max_context_length'],
      entry['max_input_tokens'],
    ]),
    maxOutputTokens: first([
      entry['max_completion_tokens'],
      top['max_completion_tokens'],
      entry['max_output_tokens'],
      entry['max_tokens'],
    ]),
  };
}

function tokensOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 100_000_000 ? value : null;
}

/**
 * What OpenRouter's list says, in USD for one token as text, with the sets of longer prompts
 * (https://openrouter.ai/docs/api-reference/list-available-models). Null: nothing that is exact in pico-USD, or prices that pools and
 * tiers cannot say.
 */
function costsOf({ pricing }: Entry): RouteCosts | null {
  if (!isEntry(pricing)) return null;
  const { overrides = [], ...base } = pricing;
  const set = setOf(base);
  if (set === null || !Array.isArray(overrides) || overrides.length > MAX_TIERS) return null;
  const tiers: PriceTier[] = [];
  for (const override of overrides as unknown[]) {
    const { min_prompt_tokens: from, ...other } = isEntry(override) ? override : {};
    const abovePromptTokens = (tokensOf(from) ?? 0) - 1;
    // Reasoning goes with the answer, whose price this is.
    const longer = setOf({ ...base, internal_reasoning: null, ...other });
    if (longer === null || abovePromptTokens < Math.max(1, (tiers.at(-1)?.abovePromptTokens ?? 0) + 1)) return null;
    const { input, cacheWrite5m, cacheWrite1h } = longer;
    tiers.push({
      ...longer,
      abovePromptTokens,
      cacheWrite5m: cacheWrite5m ?? input,
      cacheWrite1h: cacheWrite1h ?? input,
    });
  }
  return { ...set, tiers };
}

/** One set of prices. Zero is written for what has no price of its own. */
function setOf(prices: Entry): Omit<RouteCosts, 'tiers'> | null {
  const { prompt, completion, request, internal_reasoning: reasoning } = prices;
  const [input, output] = [picoOf(prompt), picoOf(completion)];
  if (input === null || output === null) return null;
  const isNone = (price: unknown) => price == null || picoOf(price) === 0n;
  if (!isNone(request) || !(isNone(reasoning) || picoOf(reasoning) === output)) return null;
  /** Less than new context is what the keeping adds to it, as `admin/price-list` has it. */
  const writeOf = (value: unknown) => {
    const write = picoOf(value) ?? 0n;
    return write === 0n ? null : write < input ? input + write : write;
  };
  const hit = prices['input_cache_read'];
  return {
    input,
    cacheHit: isNone(hit) ? input : (picoOf(hit) ?? input),
    cacheWrite5m: writeOf(prices['input_cache_write']),
    cacheWrite1h: writeOf(prices['input_cache_write_1h']),
    output,
  };
}

function picoOf(value: unknown): bigint | null {
  const pico = typeof value === 'string' ? parseUsd(value) : null;
  return pico === null || pico > MAX_PRICE ? null : pico;
}
