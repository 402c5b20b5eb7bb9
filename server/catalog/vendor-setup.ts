import type { Pool, PoolClient } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import type { Seal } from '../shared/seal.ts';
import type { CatalogOutcome } from './changes.ts';
import { isSecret } from './file-entries.ts';
import { markedUp, parseMarkup } from './markup.ts';
import { currentPrice, listModels, saveModel, savePrices } from './models.ts';
import type { RouteTest, RouteTester } from './test-route.ts';
import { listRoutes, listUpstreams, type Route, saveRoutes, saveUpstream, saveUpstreamKey } from './upstreams.ts';
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
}

export interface VendorSetupParts {
  pool: Pool;
  seal: Seal;
  routeTester: Pick<RouteTester, 'testKey'>;
  vendors: () => Promise<readonly Vendor[]>;
}

export function createVendorSetup({ pool, seal, routeTester, vendors }: VendorSetupParts): VendorSetup {
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
      return repeatedTransaction(pool, async (client) => {
        // The lock of catalog files: the two change the same entries.
        await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.catalog', 0))`);
        const refusal = await addUpstreams(client, { vendor, secret, seal, actor });
        if (refusal !== null) return refusal;
        for (const one of chosen) {
          if (one !== undefined) await addModel(client, one, { markup: share, actor });
        }
        return { kind: 'saved', change: 'changed' };
      });
    },
  };
}

/** Refuses before anything is written, because the refusal does not undo what was. */
async function addUpstreams(
  client: PoolClient,
  { vendor, secret, seal, actor }: { vendor: Vendor; secret: string | null; seal: Seal; actor: string },
): Promise<CatalogOutcome | null> {
  const present = await listUpstreams(client);
  for (const { id, baseUrl } of vendor.upstreams) {
    const before = present.find((upstream) => upstream.id === id);
    // An upstream of that name elsewhere is an operator's own: the vendor's key must not go there.
    if (before !== undefined && before.baseUrl !== baseUrl) {
      return problem('vendorId', `has an upstream ${id}, which is at another address here`);
    }
    if (secret === null && !(await hasKey(client, id)))
      return problem('secret', 'is missing: the vendor has no key yet');
  }
  for (const upstream of vendor.upstreams) {
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
  { markup, actor }: { markup: Parameters<typeof markedUp>[1]; actor: string },
): Promise<void> {
  const before = (await listModels(client)).find(({ id }) => id === model.id);
  if (before === undefined) await saveModel(client, model, actor);
  else if (!before.enabled) await saveModel(client, { ...before, enabled: true }, actor);
  if ((await currentPrice(client, model.id)) === null) {
    await savePrices(client, { modelId: model.id, prices: markedUp(costs, markup), actor });
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
