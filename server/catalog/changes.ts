import type { Pool, PoolClient } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import type { Seal } from '../shared/seal.ts';
import { isSecret } from './file-entries.ts';
import { modelId, modelShape } from './model.ts';
import { currentPrice, listModels, saveModel, savePrices } from './models.ts';
import { costsInput, pricesInput } from './price.ts';
import {
  addUpstreamKey,
  deleteUpstreamKey,
  listUpstreams,
  profileProblem,
  saveRoutes,
  saveUpstream,
  saveUpstreamKey,
  type Upstream,
  upstreamInput,
  upstreamModelInput,
} from './upstreams.ts';

/**
 * Single changes of the catalog by operators: the same checks and functions as the catalog file, one transaction with
 * its audit entry. Input is unvalidated.
 */

export type CatalogChange = { kind: 'saved'; change: 'created' | 'changed' | 'unchanged' };

export type CatalogProblem =
  | { kind: 'invalid'; problems: { path: string[]; message: string }[] }
  | { kind: 'unknown'; what: 'model' | 'upstream' | 'key' };

export type CatalogOutcome = CatalogChange | CatalogProblem;

export interface CatalogChanges {
  saveModel(input: unknown, actor: string): Promise<CatalogOutcome>;
  switchModel(ask: { modelId: string; enabled: boolean }, actor: string): Promise<CatalogOutcome>;
  /** Adds a price version, valid at once or from a future moment. */
  setPrices(ask: { modelId: string; prices: unknown; validFrom: Date | null }, actor: string): Promise<CatalogOutcome>;
  /** A new base address drops the upstream's keys, which have to be given again. A profile left out stays as it was. */
  saveUpstream(input: unknown, secret: string | null, actor: string): Promise<CatalogOutcome>;
  switchUpstream(ask: { upstreamId: string; enabled: boolean }, actor: string): Promise<CatalogOutcome>;
  addKey(ask: { upstreamId: string; secret: string }, actor: string): Promise<CatalogOutcome>;
  deleteKey(ask: { upstreamId: string; keyId: string }, actor: string): Promise<CatalogOutcome>;
  /** Replaces all routes of a model: routes that are not named are switched off. */
  saveRoutes(ask: { modelId: string; routes: unknown }, actor: string): Promise<CatalogOutcome>;
}

const model = z.strictObject(modelShape);

const routes = z
  .array(
    z.strictObject({
      upstreamId: z.string('must be text'),
      upstreamModel: upstreamModelInput,
      priority: z.int('must be a whole number').min(0, 'must be at least 0').max(1_000, 'must be at most 1000'),
      weight: z.int('must be a whole number').min(1, 'must be at least 1').max(1_000, 'must be at most 1000'),
      enabled: z.boolean(),
      costs: costsInput.nullable(),
    }),
  )
  .max(100, 'must be at most 100');

export function createCatalogChanges(options: { pool: Pool; seal: Seal; allowPrivate: boolean }): CatalogChanges {
  const { pool, seal, allowPrivate } = options;
  const upstream = upstreamInput({ allowPrivate });
  const change = (work: (client: PoolClient) => Promise<CatalogOutcome>) => repeatedTransaction(pool, work);

  return {
    async saveModel(input, actor) {
      const parsed = model.safeParse(input);
      if (!parsed.success) return invalid(parsed.error);
      return change(async (client) => saved(await saveModel(client, parsed.data, actor)));
    },

    switchModel: ({ modelId: id, enabled }, actor) =>
      change(async (client) => {
        const known = (await listModels(client)).find((one) => one.id === id);
        if (known === undefined) return unknown('model');
        return saved(await saveModel(client, { ...known, enabled }, actor));
      }),

    async setPrices({ modelId: id, prices, validFrom }, actor) {
      const parsed = pricesInput.safeParse(prices);
      if (!parsed.success) return invalid(parsed.error);
      if (!modelId.safeParse(id).success) return unknown('model');
      if (validFrom !== null && validFrom.getTime() <= Date.now()) {
        return problem(['validFrom'], 'must be in the future, or left out');
      }
      return change(async (client) => {
        if (!(await listModels(client)).some((one) => one.id === id)) return unknown('model');
        const ask = { modelId: id, prices: parsed.data, actor, ...(validFrom === null ? {} : { validFrom }) };
        return saved(await savePrices(client, ask));
      });
    },

    async saveUpstream(input, secret, actor) {
      const parsed = upstream.safeParse(input);
      if (!parsed.success) return invalid(parsed.error);
      const mistaken = profileProblem(parsed.data);
      if (mistaken !== null) return problem(['profile'], mistaken);
      const keepsProfile = !Object.hasOwn(Object(input), 'profile');
      if (secret !== null && !isSecret(secret)) return problem(['secret'], 'must be visible ASCII characters');
      return change(async (client) => {
        const before = (await listUpstreams(client)).find(({ id }) => id === parsed.data.id);
        const moved = before !== undefined && originOf(before.baseUrl) !== originOf(parsed.data.baseUrl);
        if (moved && secret === null && (await hasKeys(client, before.id))) {
          return problem(['secret'], 'must be given again, because the address is another one');
        }
        const profiled = keepsProfile ? withProfileOf(before, parsed.data) : parsed.data;
        const made = await saveUpstream(client, withFlowOf(before, profiled, Object(input)), actor);
        if (secret === null) return saved(made);
        const keyed = await saveUpstreamKey(client, seal, { upstreamId: parsed.data.id, secret, actor });
        return saved(made === 'unchanged' ? keyed : made);
      });
    },

    switchUpstream: ({ upstreamId, enabled }, actor) =>
      change(async (client) => {
        const known = (await listUpstreams(client)).find(({ id }) => id === upstreamId);
        if (known === undefined) return unknown('upstream');
        return saved(await saveUpstream(client, { ...known, enabled }, actor));
      }),

    async addKey({ upstreamId, secret }, actor) {
      if (!isSecret(secret)) return problem(['secret'], 'must be visible ASCII characters');
      return change(async (client) => {
        if (!(await listUpstreams(client)).some(({ id }) => id === upstreamId)) return unknown('upstream');
        await addUpstreamKey(client, seal, { upstreamId, secret, actor });
        return saved('created');
      });
    },

    deleteKey: ({ upstreamId, keyId }, actor) =>
      change(async (client) =>
        (await deleteUpstreamKey(client, { upstreamId, keyId, actor })) ? saved('changed') : unknown('key'),
      ),

    async saveRoutes({ modelId: id, routes: given }, actor) {
      const parsed = routes.safeParse(given);
      if (!parsed.success) return invalid(parsed.error);
      return change(async (client) => {
        if (!(await listModels(client)).some((one) => one.id === id)) return unknown('model');
        const upstreams = new Set((await listUpstreams(client)).map((one) => one.id));
        const missing = parsed.data.findIndex(({ upstreamId }) => !upstreams.has(upstreamId));
        if (missing !== -1) return problem([String(missing), 'upstreamId'], 'is not an upstream');
        const named = parsed.data.map(({ upstreamId, upstreamModel }) => JSON.stringify([upstreamId, upstreamModel]));
        if (new Set(named).size < named.length)
          return { kind: 'invalid', problems: [{ path: [], message: 'routes must not name a place twice.' }] };
        // Read under lock, so that changes of two operators are serialised.
        await client.query('SELECT FROM model WHERE id = $1 FOR UPDATE', [id]);
        const made = await saveRoutes(client, { modelId: id, routes: parsed.data, actor });
        // Prices that were given before the first routes could not have those of the vendors' tools.
        const price = made === 'created' ? await currentPrice(client, id) : null;
        if (price !== null) await savePrices(client, { modelId: id, prices: price, actor });
        return saved(made);
      });
    },
  };
}

async function hasKeys(client: PoolClient, upstreamId: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM upstream_key WHERE upstream_id = $1 LIMIT 1', [upstreamId]);
  return rowCount === 1;
}

/** `simulator` is not a URL; it is its own origin. */
/** The upstream with the profile that it has so far, unless its protocol is now one that the vendor does not speak. */
function withProfileOf(before: Upstream | undefined, next: Upstream): Upstream {
  const kept = { ...next, profile: before?.profile ?? null };
  return profileProblem(kept) === null ? kept : next;
}

/** Who receives the requests and where stay as they were when a client does not say. */
function withFlowOf(before: Upstream | undefined, next: Upstream, input: object): Upstream {
  const kept = (name: 'recipient' | 'country') => (Object.hasOwn(input, name) ? next[name] : (before?.[name] ?? null));
  return { ...next, recipient: kept('recipient'), country: kept('country') };
}

function originOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : baseUrl;
}

function saved(change: CatalogChange['change']): CatalogChange {
  return { kind: 'saved', change };
}

function unknown(what: 'model' | 'upstream' | 'key'): CatalogProblem {
  return { kind: 'unknown', what };
}

/** `path` is relative to the input; the sentence begins with its last part. */
function problem(path: string[], message: string): CatalogProblem {
  return { kind: 'invalid', problems: [{ path, message: `${path.at(-1)} ${message}.` }] };
}

function invalid(error: z.ZodError): CatalogProblem {
  return {
    kind: 'invalid',
    problems: error.issues.map((issue) => ({
      path: issue.path.map(String),
      message: `${issue.path.length === 0 ? 'The input' : String(issue.path.at(-1))} ${sentenceOf(issue)}.`,
    })),
  };
}

/** Replaces zod's default sentences, which do not fit after the member's name. */
function sentenceOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_value' && issue.message.startsWith('Invalid')
    ? `must be one of ${issue.values.map(String).join(', ')}`
    : issue.message;
}
