import { randomUUID } from 'node:crypto';
import type { ClientBase } from 'pg';
import { z } from 'zod';
import { fromStoredImages, type ImagePrices, type StoredImagePrices, storedImages } from '../core/image-price.ts';
import {
  type ChargedUnit,
  fromStoredTiers,
  fromStoredUnits,
  type PerUnit,
  type PriceClock,
  type PriceTier,
  type PriceVariant,
  type StoredTier,
  toStoredTiers,
  toStoredUnits,
} from '../core/price.ts';
import { fromStoredClock, type StoredClock, toStoredClock } from '../core/price-clock.ts';
import { fromStoredVariants, type StoredVariant, toStoredVariants } from '../core/price-variants.ts';
import { type ProfileId, profileIds } from '../core/profile.ts';
import type { Protocol } from '../core/protocol.ts';
import { type AuditFacts, appendAudit } from '../shared/audit.ts';
import { shownText } from '../shared/input.ts';
import { textProblem } from '../shared/plain-text.ts';
import { type AddressProblem, checkBaseUrl } from '../shared/private-addresses.ts';
import type { Seal } from '../shared/seal.ts';
import { uuidv7 } from '../shared/uuid.ts';
import { type FeaturesInput, featuresInput } from './features.ts';
import { toolPrices, withToolPrices } from './hosted-tools.ts';
import { type Change, clockFacts, imageFacts, usdPerUnit, variantFacts } from './models.ts';
import { profileOf } from './profiles/profiles.ts';

/**
 * Stores upstreams, their keys and the routes to them. Every function works in the caller's transaction, returns what
 * changed and writes an audit entry; none of them returns a key.
 */

/** The base address that stands for this process's own simulator. */
export const simulatorAddress = 'simulator';

/** The simulator's address for an upstream, under which it plays the upstream's vendor; null: it does not run. */
export function simulatorBase(
  { protocol, profile }: { protocol: Protocol; profile: string | null },
  url: string | null,
): string | null {
  if (url === null) return null;
  const vendor = profileOf(profile);
  const base = vendor === null ? url : `${url}/as/${vendor.id}`;
  return protocol === 'messages' ? base : `${base}/v1`;
}

const protocols = ['messages', 'chat-completions', 'responses'] as const satisfies readonly Protocol[];

const id = z
  .string('must be text')
  .regex(
    /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/,
    'must be 1 to 64 lower-case letters, digits and . _ - between them',
  );

export const addressSentences: Record<AddressProblem, string> = {
  not_a_url: 'must be an address such as https://api.example.com',
  not_https: 'must begin with https:// (http:// needs ALLOW_PRIVATE_UPSTREAMS=1)',
  has_credentials: 'must not carry a user name or a password',
  has_query: 'must not carry a query or a fragment',
  unusual_form:
    'must be written plainly: no dot at the end, an IPv4 address as four decimal numbers, port 443 or above 1023',
  private_address: 'must not be a private or loopback address (needs ALLOW_PRIVATE_UPSTREAMS=1)',
};

/** Validation of an upstream. `allowPrivate` lifts the rules about https and private addresses. */
export function upstreamInput({ allowPrivate }: { allowPrivate: boolean }) {
  const baseUrl = z.string('must be text').transform((text, context) => {
    if (text === simulatorAddress) return text;
    const problem = checkBaseUrl(text, allowPrivate);
    if (problem !== null) {
      context.addIssue({ code: 'custom', message: addressSentences[problem], input: text });
      return z.NEVER;
    }
    return text.replace(/\/+$/, '');
  });
  return z.strictObject({
    id: id.describe('The name that routes refer to.'),
    protocol: z
      .enum(protocols, `must be one of ${protocols.join(', ')}`)
      .describe('The wire protocol of the upstream. Clients of the other protocols are translated.'),
    baseUrl: baseUrl.describe(
      'Its address: without `/v1` for messages, with `/v1` for the others. `simulator` is the built-in one.',
    ),
    onDisconnect: z
      .enum(['abort', 'drain'], 'must be abort or drain')
      .default('abort')
      .describe(
        'When a client leaves: end the request at the upstream once its cost is known, or read every one on for up to 30 seconds.',
      ),
    profile: z
      .enum(profileIds, `must be one of ${profileIds.join(', ')}`)
      .nullish()
      .transform((name) => name ?? null)
      .describe('The vendor, whose features, error wordings and ways of counting are known.'),
    recipient: shownText(100)
      .nullish()
      .transform((name) => name ?? null)
      .describe('Who receives the requests, for `/docs/data-flow`. Left out: as the vendor’s profile says.'),
    country: z
      .string('must be text')
      .regex(/^[A-Z]{2}$/, 'must be two letters of ISO 3166, such as VN')
      .nullish()
      .transform((code) => code ?? null)
      .describe('In which country, as ISO 3166. Left out: as the vendor’s profile says.'),
    features: featuresInput.default({}).describe('What differs from the vendor, or from the usual upstream.'),
    enabled: z.boolean('must be true or false').default(true).describe('`false`: no request goes there.'),
  });
}

/** Why an upstream cannot be of that profile; null when it can. */
export function profileProblem({ profile, protocol }: Pick<Upstream, 'profile' | 'protocol'>): string | null {
  const known = profileOf(profile);
  if (known === null || known.protocols[protocol] !== undefined) return null;
  return `is a vendor that speaks ${Object.keys(known.protocols).join(' and ')}, not ${protocol}`;
}

export interface Upstream {
  id: string;
  protocol: Protocol;
  /** Without a trailing slash; or `simulator`. */
  baseUrl: string;
  onDisconnect: 'abort' | 'drain';
  /** The vendor; null: none of those with a profile. */
  profile: ProfileId | null;
  /** Who receives the requests, and in which country; null: as the profile says. */
  recipient: string | null;
  country: string | null;
  features: FeaturesInput;
  enabled: boolean;
}

/** Prices are pico-USD per token. */
export interface Route {
  modelId: string;
  upstreamId: string;
  upstreamModel: string;
  priority: number;
  weight: number;
  enabled: boolean;
  costs: RouteCosts | null;
}

export interface RouteCosts {
  input: bigint;
  cacheHit: bigint;
  cacheWrite5m: bigint | null;
  cacheWrite1h: bigint | null;
  output: bigint;
  /** Other costs for longer prompts, rising; empty: none. */
  tiers: readonly PriceTier[];
  perUnit?: PerUnit;
  images?: ImagePrices;
  /** As in `TieredPrices`. */
  variants?: readonly PriceVariant[];
  /** As in `CatalogPrice`. */
  without?: readonly ChargedUnit[];
  /** Left out: the same costs at every hour. */
  clock?: PriceClock;
}

export const upstreamModelInput = z.string('must be text').superRefine((text, context) => {
  const problem = textProblem(text, 256);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

const upstreamColumns = `id, protocol, base_url AS "baseUrl", on_disconnect AS "onDisconnect", profile, recipient, country,
  features, enabled`;

export async function listUpstreams(client: ClientBase): Promise<Upstream[]> {
  const { rows } = await client.query<Upstream>(`SELECT ${upstreamColumns} FROM upstream ORDER BY id`);
  return rows;
}

/** Creates or changes an upstream. Its keys and routes stay. */
export async function saveUpstream(client: ClientBase, upstream: Upstream, actor: string): Promise<Change> {
  // A weak lock, which does not block writes of routes: such a writer has locked the model, and applying a catalog file
  // locks models after upstreams.
  const { rows } = await client.query<Upstream>(
    `SELECT ${upstreamColumns} FROM upstream WHERE id = $1 FOR NO KEY UPDATE`,
    [upstream.id],
  );
  const before = rows[0] ?? null;
  if (before !== null && sameFacts(upstreamFacts(before), upstreamFacts(upstream))) return 'unchanged';
  await client.query(
    `INSERT INTO upstream (id, protocol, base_url, on_disconnect, profile, features, simulated, enabled, recipient, country)
     VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10)
     ON CONFLICT (id) DO UPDATE SET protocol = excluded.protocol, base_url = excluded.base_url,
       on_disconnect = excluded.on_disconnect, profile = excluded.profile, features = excluded.features,
       simulated = excluded.simulated, enabled = excluded.enabled, recipient = excluded.recipient,
       country = excluded.country`,
    [
      upstream.id,
      upstream.protocol,
      upstream.baseUrl,
      upstream.onDisconnect,
      upstream.profile,
      JSON.stringify(upstream.features),
      upstream.baseUrl === simulatorAddress,
      upstream.enabled,
      upstream.recipient,
      upstream.country,
    ],
  );
  await appendAudit(client, {
    actor,
    action: before === null ? 'upstream.create' : 'upstream.change',
    subject: `upstream:${upstream.id}`,
    before: before && upstreamFacts(before),
    after: upstreamFacts(upstream),
  });
  return before === null ? 'created' : 'changed';
}

const shortestShown = 12;

/**
 * Makes `secret` the only key of an upstream. Does nothing when the upstream has this key already, so that further keys
 * that were added elsewhere stay.
 */
export async function saveUpstreamKey(
  client: ClientBase,
  seal: Seal,
  { upstreamId, secret, actor }: { upstreamId: string; secret: string; actor: string },
): Promise<Change> {
  const { rows } = await client.query<{ id: string; sealed: Buffer; enabled: boolean; last4: string }>(
    // Locked in the order of their ids, as `reseal` locks all secrets.
    `SELECT id, sealed, enabled, last4 FROM (SELECT * FROM upstream_key WHERE upstream_id = $1 ORDER BY id FOR UPDATE) AS locked
     ORDER BY created_at, id`,
    [upstreamId],
  );
  const known = rows.find((row) => row.enabled && seal.unseal(sealContextOf(row.id), row.sealed) === secret);
  if (known !== undefined) {
    if (!seal.isCurrent(known.sealed)) {
      const sealed = seal.seal(sealContextOf(known.id), secret);
      await client.query('UPDATE upstream_key SET sealed = $2 WHERE id = $1', [known.id, sealed]);
    }
    return 'unchanged';
  }

  await client.query('DELETE FROM upstream_key WHERE upstream_id = $1', [upstreamId]);
  await insertKey(client, seal, { upstreamId, secret });
  await appendAudit(client, {
    actor,
    action: 'upstream.set_key',
    subject: `upstream:${upstreamId}`,
    before: { keys: rows.map((row) => row.last4) },
    after: { keys: [endOf(secret)] },
  });
  return rows.length === 0 ? 'created' : 'changed';
}

/** Adds a further key to an upstream: requests are spread over all keys. */
export async function addUpstreamKey(
  client: ClientBase,
  seal: Seal,
  { upstreamId, secret, actor }: { upstreamId: string; secret: string; actor: string },
): Promise<string> {
  const keyId = await insertKey(client, seal, { upstreamId, secret });
  await appendAudit(client, {
    actor,
    action: 'upstream.add_key',
    subject: `upstream:${upstreamId}`,
    after: { keyId, last4: endOf(secret) },
  });
  return keyId;
}

/** Last characters of a key, for identification; empty for a short key, of which they would be too much. */
function endOf(secret: string): string {
  return secret.length < shortestShown ? '' : secret.slice(-4);
}

async function insertKey(
  client: ClientBase,
  seal: Seal,
  { upstreamId, secret }: { upstreamId: string; secret: string },
): Promise<string> {
  const keyId = uuidv7();
  await client.query('INSERT INTO upstream_key (id, upstream_id, sealed, last4) VALUES ($1, $2, $3, $4)', [
    keyId,
    upstreamId,
    seal.seal(sealContextOf(keyId), secret),
    endOf(secret),
  ]);
  return keyId;
}

/** Deletes one key of an upstream. False: no such key. */
export async function deleteUpstreamKey(
  client: ClientBase,
  { upstreamId, keyId, actor }: { upstreamId: string; keyId: string; actor: string },
): Promise<boolean> {
  const { rows } = await client.query<{ last4: string }>(
    'DELETE FROM upstream_key WHERE id::text = $1 AND upstream_id = $2 RETURNING last4',
    [keyId, upstreamId],
  );
  const [deleted] = rows;
  if (deleted === undefined) return false;
  await appendAudit(client, {
    actor,
    action: 'upstream.delete_key',
    subject: `upstream:${upstreamId}`,
    before: { keyId, last4: deleted.last4 },
  });
  return true;
}

/** The context that a sealed key is bound to: it opens nowhere else. */
export function sealContextOf(keyId: string) {
  return { table: 'upstream_key', rowId: keyId, column: 'sealed' };
}

interface RouteRow {
  modelId: string;
  upstreamId: string;
  upstreamModel: string;
  priority: number;
  weight: number;
  enabled: boolean;
  costInput: bigint | null;
  costCacheHit: bigint | null;
  costCacheWrite5m: bigint | null;
  costCacheWrite1h: bigint | null;
  costOutput: bigint | null;
  costTiers: StoredTier[];
  costPerUnit: Record<string, number>;
  costImages: StoredImagePrices | null;
  costClock: StoredClock | null;
  costVariants: StoredVariant[] | null;
}

const routeColumns = `model_id AS "modelId", upstream_id AS "upstreamId", upstream_model AS "upstreamModel", priority,
  weight, enabled, cost_input AS "costInput", cost_cache_hit AS "costCacheHit", cost_cache_write_5m AS "costCacheWrite5m",
  cost_cache_write_1h AS "costCacheWrite1h", cost_output AS "costOutput",
  cost_tiers AS "costTiers", cost_per_unit AS "costPerUnit", cost_clock AS "costClock", cost_images AS "costImages",
  cost_variants AS "costVariants"`;

function toRoute(row: RouteRow): Route {
  const { costInput, costCacheHit, costCacheWrite5m, costCacheWrite1h, costOutput, costTiers, ...others } = row;
  const { costPerUnit, costImages, costClock, costVariants, ...route } = others;
  // The first three are either all present or all absent.
  const costs =
    costInput === null || costCacheHit === null || costOutput === null
      ? null
      : {
          input: costInput,
          cacheHit: costCacheHit,
          cacheWrite5m: costCacheWrite5m,
          cacheWrite1h: costCacheWrite1h,
          output: costOutput,
          tiers: fromStoredTiers(costTiers),
          perUnit: fromStoredUnits(costPerUnit),
          ...(costImages === null ? {} : { images: fromStoredImages(costImages) }),
          ...(costClock === null ? {} : { clock: fromStoredClock(costClock) }),
          ...(costVariants === null ? {} : { variants: fromStoredVariants(costVariants) }),
        };
  return { ...route, costs };
}

/** Routes of all models, or of one, in the order in which they are tried. */
export async function listRoutes(client: ClientBase, modelId: string | null = null): Promise<Route[]> {
  const { rows } = await client.query<RouteRow>(
    `SELECT ${routeColumns} FROM route WHERE $1::text IS NULL OR model_id = $1
     ORDER BY model_id, priority, upstream_id, upstream_model`,
    [modelId],
  );
  return rows.map(toRoute);
}

/**
 * Replaces the routes of a model: others are switched off and not deleted, because ledger entries refer to them. Costs of tools
 * that are left out are the vendor's public prices.
 */
export async function saveRoutes(
  client: ClientBase,
  { modelId, routes, actor }: { modelId: string; routes: readonly Omit<Route, 'modelId'>[]; actor: string },
): Promise<Change> {
  const before = await listRoutes(client, modelId);
  const nameOf = (route: Omit<Route, 'modelId'>) => JSON.stringify([route.upstreamId, route.upstreamModel]);
  const places = new Map((await listUpstreams(client)).map((upstream) => [upstream.id, upstream]));
  const wanted = new Map(
    routes.map((route) => {
      const place = places.get(route.upstreamId);
      const known = place === undefined ? {} : toolPrices([place]);
      const costs = route.costs === null ? null : withToolPrices(route.costs, known);
      return [nameOf(route), { ...route, costs, modelId }];
    }),
  );
  const known = new Map(before.map((route) => [nameOf(route), route]));
  const left = before.filter((route) => route.enabled && !wanted.has(nameOf(route)));
  const changed = [...wanted].filter(([name, route]) => {
    const old = known.get(name);
    return old === undefined || !sameFacts(routeFacts(old), routeFacts(route));
  });
  if (left.length === 0 && changed.length === 0) return 'unchanged';

  for (const route of left) {
    await client.query(
      'UPDATE route SET enabled = false WHERE model_id = $1 AND upstream_id = $2 AND upstream_model = $3',
      [modelId, route.upstreamId, route.upstreamModel],
    );
  }
  for (const [, route] of changed) await writeRoute(client, route);
  const on = (list: readonly Route[]) => list.filter((route) => route.enabled).map(routeFacts);
  await appendAudit(client, {
    actor,
    action: 'route.change',
    subject: `model:${modelId}`,
    before: { routes: on(before) },
    after: { routes: on(await listRoutes(client, modelId)) },
  });
  return before.length === 0 ? 'created' : 'changed';
}

async function writeRoute(client: ClientBase, route: Route): Promise<void> {
  const { costs } = route;
  await client.query(
    `INSERT INTO route (id, model_id, upstream_id, upstream_model, priority, weight, enabled,
       cost_input, cost_cache_hit, cost_cache_write_5m, cost_cache_write_1h, cost_output, cost_tiers, cost_per_unit,
       cost_clock, cost_images, cost_variants)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::jsonb, $14::jsonb, $15::jsonb, $16::jsonb, $17::jsonb)
     ON CONFLICT (model_id, upstream_id, upstream_model) DO UPDATE SET priority = excluded.priority,
       weight = excluded.weight, enabled = excluded.enabled, cost_input = excluded.cost_input,
       cost_cache_hit = excluded.cost_cache_hit, cost_cache_write_5m = excluded.cost_cache_write_5m,
       cost_cache_write_1h = excluded.cost_cache_write_1h, cost_output = excluded.cost_output,
       cost_tiers = excluded.cost_tiers, cost_per_unit = excluded.cost_per_unit, cost_clock = excluded.cost_clock,
       cost_images = excluded.cost_images, cost_variants = excluded.cost_variants`,
    [
      randomUUID(),
      route.modelId,
      route.upstreamId,
      route.upstreamModel,
      route.priority,
      route.weight,
      route.enabled,
      costs?.input ?? null,
      costs?.cacheHit ?? null,
      costs?.cacheWrite5m ?? null,
      costs?.cacheWrite1h ?? null,
      costs?.output ?? null,
      JSON.stringify(toStoredTiers(costs?.tiers ?? [])),
      JSON.stringify(toStoredUnits(costs?.perUnit ?? {})),
      costs?.clock === undefined ? null : JSON.stringify(toStoredClock(costs.clock)),
      storedImages(costs?.images),
      costs?.variants === undefined ? null : JSON.stringify(toStoredVariants(costs.variants)),
    ],
  );
}

function upstreamFacts(upstream: Upstream): AuditFacts {
  const { protocol, baseUrl, onDisconnect, profile, recipient, country, features, enabled } = upstream;
  const given = Object.entries(features).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const sorted = given.sort(([a], [b]) => (a < b ? -1 : 1));
  const flow = { ...(recipient === null ? {} : { recipient }), ...(country === null ? {} : { country }) };
  return { protocol, baseUrl, onDisconnect, profile, ...flow, features: Object.fromEntries(sorted), enabled };
}

function routeFacts({ upstreamId, upstreamModel, priority, weight, enabled, costs }: Route): AuditFacts {
  return { upstreamId, upstreamModel, priority, weight, enabled, costs: costs && costFacts(costs) };
}

function costFacts({ tiers, perUnit = {}, images, clock, variants, ...costs }: RouteCosts): AuditFacts {
  return {
    ...costs,
    ...(Object.keys(perUnit).length === 0 ? {} : { perUnit: usdPerUnit(perUnit) }),
    ...(images === undefined ? {} : { images: imageFacts(images) }),
    ...(tiers.length === 0 ? {} : { tiers: tiers.map((tier) => ({ ...tier })) }),
    ...(clock === undefined ? {} : { clock: clockFacts(clock) }),
    ...(variants === undefined ? {} : { variants: variantFacts(variants) }),
  };
}

/** Facts are built in one member order, so that equal facts have equal JSON. */
function sameFacts(a: AuditFacts, b: AuditFacts): boolean {
  return textOf(a) === textOf(b);
}

function textOf(facts: AuditFacts): string {
  return JSON.stringify(facts, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}
