import type { ClientBase } from 'pg';
import { listModels, saveModel, savePrices } from '../catalog/models.ts';
import { listUpstreams, saveRoutes, saveUpstream, saveUpstreamKey } from '../catalog/upstreams.ts';
import { listPlans, type Plan, savePlan } from '../plans/plans.ts';
import type { Seal } from '../shared/seal.ts';
import type { CatalogContent, ModelContent } from './catalog-content.ts';
import { type CatalogFault, CatalogFileError } from './catalog-file.ts';

/** The result of an application, by id. */
export interface AppliedChanges {
  upstreams: ChangedIds;
  models: ChangedIds;
  plans: ChangedIds;
}

export interface ChangedIds {
  created: string[];
  changed: string[];
  unchanged: string[];
  /** Switched off because the file does not name them. */
  disabled: string[];
}

type Change = 'created' | 'changed' | 'unchanged';

export interface ApplyOptions {
  content: CatalogContent;
  seal: Seal;
  /** Switch off entries that the content does not name. */
  prune?: boolean;
  actor: string;
  /** The name of the content in faults. */
  name: string;
}

/**
 * Applies a catalog file within the caller's transaction; idempotent. Entries that the content does not name stay as
 * they are, or are switched off with `prune`. Throws `CatalogFileError` when a route leads to an upstream that neither
 * the content nor the database knows.
 */
export async function applyCatalog(client: ClientBase, options: ApplyOptions): Promise<AppliedChanges> {
  const { content, seal, actor, prune = false, name } = options;
  // Concurrent applications of two files would interleave.
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.catalog', 0))`);
  const faults = await unknownUpstreams(client, content);
  if (faults.length > 0) throw new CatalogFileError(name, faults);

  const changes: AppliedChanges = { upstreams: noChanges(), models: noChanges(), plans: noChanges() };
  for (const { upstream, secret } of content.upstreams) {
    const made = await saveUpstream(client, upstream, actor);
    const keyed =
      secret === null ? 'unchanged' : await saveUpstreamKey(client, seal, { upstreamId: upstream.id, secret, actor });
    changes.upstreams[strongest([made, keyed])].push(upstream.id);
  }
  for (const entry of content.models) {
    changes.models[await applyModel(client, entry, actor)].push(entry.model.id);
  }
  for (const plan of content.plans) changes.plans[await applyPlan(client, plan, actor)].push(plan.id);
  if (prune) await switchOffOthers(client, content, changes, actor);
  return changes;
}

async function applyModel(client: ClientBase, { model, prices, routes }: ModelContent, actor: string): Promise<Change> {
  const made = await saveModel(client, model, actor);
  const bare = routes?.map(({ line: _line, ...route }) => route) ?? null;
  const routed = bare === null ? 'unchanged' : await saveRoutes(client, { modelId: model.id, routes: bare, actor });
  const priced = await savePrices(client, { modelId: model.id, prices, actor });
  return strongest([made, priced, routed]);
}

async function applyPlan(client: ClientBase, plan: Plan, actor: string): Promise<Change> {
  const outcome = await savePlan(client, { plan, actor });
  if (outcome.kind === 'invalid') throw new Error(`plan ${plan.id}: ${outcome.field} ${outcome.message}`);
  return outcome.kind;
}

async function switchOffOthers(
  client: ClientBase,
  content: CatalogContent,
  changes: AppliedChanges,
  actor: string,
): Promise<void> {
  const named = {
    upstreams: new Set(content.upstreams.map(({ upstream }) => upstream.id)),
    models: new Set(content.models.map(({ model }) => model.id)),
    plans: new Set(content.plans.map(({ id }) => id)),
  };
  for (const model of (await listModels(client)).filter(({ id, enabled }) => enabled && !named.models.has(id))) {
    await saveModel(client, { ...model, enabled: false }, actor);
    changes.models.disabled.push(model.id);
  }
  for (const upstream of (await listUpstreams(client)).filter(
    ({ id, enabled }) => enabled && !named.upstreams.has(id),
  )) {
    await saveUpstream(client, { ...upstream, enabled: false }, actor);
    changes.upstreams.disabled.push(upstream.id);
  }
  for (const plan of (await listPlans(client)).filter(({ id }) => !named.plans.has(id))) {
    await applyPlan(client, { ...plan, enabled: false }, actor);
    changes.plans.disabled.push(plan.id);
  }
}

async function unknownUpstreams(client: ClientBase, content: CatalogContent): Promise<CatalogFault[]> {
  const known = new Set([
    ...content.upstreams.map(({ upstream }) => upstream.id),
    ...(await listUpstreams(client)).map(({ id }) => id),
  ]);
  return content.models.flatMap(({ routes }, index) =>
    (routes ?? []).flatMap((route, at) => {
      if (known.has(route.upstreamId)) return [];
      const message = `names the upstream ${JSON.stringify(route.upstreamId)}, which there is not`;
      return [{ line: route.line, at: `models[${index}].routes[${at}].upstream`, message }];
    }),
  );
}

function noChanges(): ChangedIds {
  return { created: [], changed: [], unchanged: [], disabled: [] };
}

/** An entry was created if its first part was, and changed if any part was. */
function strongest([first, ...others]: readonly [Change, ...Change[]]): Change {
  return first !== 'unchanged'
    ? first
    : ((others.find((change) => change !== 'unchanged') && 'changed') ?? 'unchanged');
}
