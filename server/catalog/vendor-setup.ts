import type { Pool, PoolClient } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import type { Seal } from '../shared/seal.ts';
import type { CatalogOutcome } from './changes.ts';
import { isSecret } from './file-entries.ts';
import { toolPrices, withToolPrices } from './hosted-tools.ts';
import { type Markup, markedUp, parseMarkup } from './markup.ts';
import { modelShape } from './model.ts';
import { currentPrice, listModels, saveModel, savePrices } from './models.ts';
import { costsInput } from './price.ts';
import type { RouteTest, RouteTester } from './test-route.ts';
import {
  listRoutes,
  listUpstreams,
  profileProblem,
  type Route,
  saveRoutes,
  saveUpstream,
  saveUpstreamKey,
  simulatorAddress,
  type Upstream,
  upstreamInput,
  upstreamModelInput,
} from './upstreams.ts';
import { type Discovery, discoverVendor } from './vendor-discovery.ts';
import { checkPath, type Vendor, type VendorModel } from './vendors.ts';

/** The way from a vendor's key to models on sale, in one step: upstreams, key, models, prices and routes. */

export interface VendorSetup {
  /** The vendors with their models at list prices. */
  list(): Promise<readonly Vendor[]>;
  /** Tries a key at the vendor, free of charge; it is stored nowhere. Null: no such vendor. */
  testKey(ask: { vendorId: string; secret: string }): Promise<RouteTest | null>;
  /**
   * Adds a vendor, or further models of it. New models are sold at the list price plus the markup; a model that is sold
   * already keeps its price and gets the vendor's routes beside those that it has. A key replaces those of the vendor, and
   * is tried at the vendor before it is stored; null: it has one.
   */
  add(
    ask: { vendorId: string; secret: string | null; modelIds: readonly string[]; markup: string },
    actor: string,
  ): Promise<CatalogOutcome>;
  /** Asks an address for its models with a key that is stored nowhere; null: it takes none. */
  discover(ask: { baseUrl: string; secret: string | null }): Promise<Discovery>;
  /**
   * Adds models of any vendor: an upstream, its key, models, prices and routes, all or nothing, once the first model has
   * answered the smallest request. `input` is unvalidated.
   */
  addUpstreamModels(input: unknown, actor: string): Promise<CatalogOutcome>;
}

export interface VendorSetupParts {
  pool: Pool;
  seal: Seal;
  routeTester: Pick<RouteTester, 'testKey' | 'read' | 'testModel'>;
  /** Whether vendors may be at private addresses. */
  allowPrivate: boolean;
  vendors: () => Promise<readonly Vendor[]>;
}

export function createVendorSetup({ pool, seal, routeTester, allowPrivate, vendors }: VendorSetupParts): VendorSetup {
  // The files are part of the program: they are read once.
  let read: Promise<readonly Vendor[]> | null = null;
  const list = () => (read ??= vendors());

  const tryKey = async (vendor: Vendor, secret: string): Promise<RouteTest | null> => {
    const [upstream] = vendor.upstreams;
    if (upstream === undefined) return null;
    if (!isSecret(secret)) return { ok: false, status: null, latencyMs: 0, problem: 'This is no key.' };
    const { protocol, baseUrl } = upstream;
    return routeTester.testKey({ protocol, baseUrl, path: checkPath(vendor.id), secret });
  };

  const shape = anyVendor({ allowPrivate });
  const sell = (
    { models, share, ...ask }: Omit<Upstreams, 'seal' | 'actor'> & { models: readonly VendorModel[]; share: Markup },
    actor: string,
  ) =>
    repeatedTransaction<CatalogOutcome>(pool, async (client) => {
      // The lock of catalog files: the two change the same entries.
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.catalog', 0))`);
      const refusal = await addUpstreams(client, { ...ask, seal, actor });
      if (refusal !== null) return refusal;
      for (const one of models) await addModel(client, one, { markup: share, upstreams: ask.upstreams, actor });
      return { kind: 'saved', change: 'changed' };
    });

  return {
    list,
    async testKey({ vendorId, secret }) {
      const vendor = (await list()).find(({ id }) => id === vendorId);
      return vendor === undefined ? null : tryKey(vendor, secret);
    },
    async add({ vendorId, secret, modelIds, markup }, actor) {
      const vendor = (await list()).find(({ id }) => id === vendorId);
      if (vendor === undefined) return problem('vendorId', 'is not a vendor');
      const share = parseMarkup(markup);
      if (share === null) return problem('markup', 'must be a percentage from 0% to 1000%, such as 15%');
      if (secret !== null && !isSecret(secret)) return problem('secret', 'must be visible ASCII characters');
      const chosen = modelIds.map((id) => vendor.models.find(({ model }) => model.id === id));
      const missing = chosen.indexOf(undefined);
      if (missing !== -1) return problem('models', `must be models of ${vendor.name}, and ${modelIds[missing]} is not`);
      if (chosen.length === 0) return problem('models', 'must not be empty');
      // Also of a key that was tried before: what is stored is what works, whoever forgot the try.
      const tried = secret === null ? null : await tryKey(vendor, secret);
      if (tried !== null && !tried.ok) return problem('secret', `does not work. ${tried.problem ?? ''}`.trim());
      const models = chosen.filter((one) => one !== undefined);
      return sell({ upstreams: vendor.upstreams, needsKey: true, member: 'vendorId', secret, models, share }, actor);
    },
    discover: (ask) => discoverVendor({ routeTester, allowPrivate, list }, ask),
    async addUpstreamModels(input, actor) {
      const parsed = shape.safeParse(input);
      if (!parsed.success) {
        return {
          kind: 'invalid',
          problems: parsed.error.issues.map(({ path, message }) => ({ path: path.map(String), message })),
        };
      }
      const { upstream, secret, models, markup } = parsed.data;
      const mistaken = profileProblem(upstream);
      if (mistaken !== null) return problem('profile', mistaken);
      const [first] = models;
      if (first === undefined) return problem('models', 'must not be empty');
      const { upstreamModel, model } = first;
      // With the key that is to be stored and the first model that is to be sold: what is stored is what answers.
      const tried = await routeTester.testModel({ ...upstream, upstreamModel, kind: model.kind, secret });
      if (!tried.ok) {
        const isKey = tried.status === 401 || tried.status === 403;
        return isKey
          ? problem('secret', `does not work. ${tried.problem ?? ''}`.trim())
          : problem('models', `cannot be sold: ${upstreamModel} does not answer. ${tried.problem ?? ''}`.trim());
      }
      const wanted = models.map(({ costs, ...one }) => ({
        model: one.model,
        costs,
        routes: [
          { upstreamId: upstream.id, upstreamModel: one.upstreamModel, priority: 0, weight: 1, enabled: true, costs },
        ],
      }));
      const ask = { upstreams: [upstream], needsKey: false, member: 'id', secret, models: wanted, share: markup };
      return sell(ask, actor);
    },
  };
}

/** What an operator says of any vendor. */
function anyVendor({ allowPrivate }: { allowPrivate: boolean }) {
  const { enabled: _enabled, allow: _allow, ...told } = modelShape;
  const model = z.strictObject({ ...told, upstreamModel: upstreamModelInput, costs: costsInput });
  return z
    .strictObject({
      ...upstreamInput({ allowPrivate }).pick({ id: true, protocol: true, baseUrl: true, profile: true }).shape,
      secret: z
        .string('must be text')
        .refine(isSecret, 'must be visible ASCII characters')
        .nullish()
        .transform((secret) => secret ?? null),
      models: z.array(model).max(500, 'must be at most 500'),
      markup: z.string('must be text').transform((text, context) => {
        const share = parseMarkup(text);
        if (share !== null) return share;
        context.addIssue({ code: 'custom', message: 'must be a percentage from 0% to 1000%, such as 15%' });
        return z.NEVER;
      }),
    })
    .refine(({ baseUrl }) => baseUrl !== simulatorAddress, {
      path: ['baseUrl'],
      error: 'must be the address of a vendor',
    })
    .transform(({ secret, models, markup, ...upstream }) => ({
      secret,
      markup,
      upstream: {
        ...upstream,
        onDisconnect: 'abort' as const,
        recipient: null,
        country: null,
        features: {},
        enabled: true,
      },
      models: models.map(({ upstreamModel, costs, ...rest }) => ({
        upstreamModel,
        costs,
        model: { ...rest, allow: [], enabled: true },
      })),
    }));
}

interface Upstreams {
  upstreams: readonly Upstream[];
  /** Whether there must be a key: a server of one's own may take none. */
  needsKey: boolean;
  /** The member of the input that names the upstream. */
  member: string;
  secret: string | null;
  seal: Seal;
  actor: string;
}

/** Refuses before anything is written, because the refusal does not undo what was. */
async function addUpstreams(
  client: PoolClient,
  { upstreams, needsKey, member, secret, seal, actor }: Upstreams,
): Promise<CatalogOutcome | null> {
  const present = await listUpstreams(client);
  for (const { id, baseUrl, protocol } of upstreams) {
    const before = present.find((upstream) => upstream.id === id);
    // An upstream of that name elsewhere is an operator's own: the vendor's key must not go there.
    if (before !== undefined && before.baseUrl !== baseUrl) {
      return problem(member, `has an upstream ${id}, which is at another address here`);
    }
    if (before !== undefined && before.protocol !== protocol) {
      return problem(member, `has an upstream ${id}, which speaks ${before.protocol} here`);
    }
    if (needsKey && secret === null && !(await hasKey(client, id)))
      return problem('secret', 'is missing: the vendor has no key yet');
  }
  for (const upstream of upstreams) {
    const before = present.find(({ id }) => id === upstream.id);
    if (before === undefined) await saveUpstream(client, upstream, actor);
    else if (!before.enabled) await saveUpstream(client, { ...before, enabled: true }, actor);
    if (secret !== null) await saveUpstreamKey(client, seal, { upstreamId: upstream.id, secret, actor });
  }
  return null;
}

async function hasKey(client: PoolClient, upstreamId: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM upstream_key WHERE upstream_id = $1 AND enabled LIMIT 1', [
    upstreamId,
  ]);
  return rowCount === 1;
}

async function addModel(
  client: PoolClient,
  { model, costs, routes }: VendorModel,
  { markup, upstreams, actor }: { markup: Markup; upstreams: readonly Upstream[]; actor: string },
): Promise<void> {
  const before = (await listModels(client)).find(({ id }) => id === model.id);
  if (before === undefined) await saveModel(client, model, actor);
  else if (!before.enabled) await saveModel(client, { ...before, enabled: true }, actor);
  if ((await currentPrice(client, model.id)) === null) {
    const places = upstreams.filter(({ id }) => routes.some(({ upstreamId }) => upstreamId === id));
    const prices = markedUp(withToolPrices(costs, toolPrices(places)), markup);
    await savePrices(client, { modelId: model.id, prices, actor });
  }
  const nameOf = (route: Omit<Route, 'modelId'>) => JSON.stringify([route.upstreamId, route.upstreamModel]);
  const own = new Set(routes.map(nameOf));
  const others = (await listRoutes(client, model.id)).filter((route) => !own.has(nameOf(route)));
  await saveRoutes(client, { modelId: model.id, routes: [...others, ...routes], actor });
}

function problem(member: string, message: string): CatalogOutcome {
  const end = message.endsWith('.') ? '' : '.';
  return { kind: 'invalid', problems: [{ path: [member], message: `${member} ${message}${end}` }] };
}
