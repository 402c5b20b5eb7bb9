import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { Protocol } from '../core/protocol.ts';
import { isPrivateAddress, publicLookup } from '../shared/private-addresses.ts';
import type { RouteRecord } from './route.ts';

/**
 * Chooses the route of a request, always one of the requested model.
 *
 * Order: lower priority number first; within one priority a route that speaks the client's protocol before one that
 * needs translation; within those by weight, where requests of an account with the same beginning of the prompt get the
 * same route and vendor key, so that the vendor's prompt cache is hit.
 *
 * An upstream with several failures in a row is ejected for a while, but never more than half of a model's upstreams. A
 * key that the vendor refused or limited rests, as does a route whose model name the vendor does not know; resting
 * routes are tried last.
 */

const failuresToEject = 5;
const ejectedForMs = 30_000;
const keyRestMs = { limited: 10_000, unauthorized: 60_000 };
const routeRestMs = 60_000;
/** Retry budget of a model: at most a fifth of its requests in the last minute, but always three. */
const retryShare = 0.2;
const retryFloor = 3;

export interface Target {
  route: RouteRecord;
  key: { id: string; secret: string } | null;
  dispatcher: Dispatcher;
  origin: string;
  /** Path of the base address, without a trailing slash; the protocol's own path follows it. */
  basePath: string;
}

/**
 * Verdict of a try on the upstream, its key or, when the vendor does not know the model's name (`misnamed`), the route.
 */
export type UpstreamVerdict = 'fine' | 'failed' | 'overloaded' | 'unauthorized' | 'misnamed';

/** The routes for one request, best first. */
export interface Candidates {
  /**
   * The next route to try; null when none is left. After a failure only within the model's retry budget; after a failed
   * connection, the last route once more. A route that cannot express the request does not count as a try.
   */
  next(after: 'nothing' | 'unfit' | 'failure' | 'no_connection'): Target | null;
}

export interface UpstreamHealth {
  upstreamId: string;
  consecutiveFailures: number;
  ejected: boolean;
  restingKeys: number;
}

/** A model of the catalog's snapshot. */
export interface Routable {
  id: string;
  routes: readonly RouteRecord[];
}

export interface Router {
  /**
   * `stickiness` returns a text that stays the same while a vendor's cache would hit; it is called only when there is a
   * choice. Null: the model has no route.
   */
  candidates(model: Routable, protocol: Protocol, stickiness: () => string): Candidates | null;
  report(target: Target, verdict: UpstreamVerdict, retryAfterS?: number): void;
  health(): UpstreamHealth[];
  close(): Promise<void>;
}

export interface RouterParts {
  allowPrivate: boolean;
  connectTimeoutMs?: number;
  now?: () => number;
}

/** Connects to addresses that the caller has checked; `lookup` refuses private ones at connection time. */
function createDispatcher(allowPrivate: boolean, connectTimeoutMs: number): Dispatcher {
  return new Agent({
    // Plain HTTP/1.1: streams of different customers never share one connection's flow control.
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connect: { timeout: connectTimeoutMs, ...(allowPrivate ? {} : { lookup: publicLookup }) },
  });
}

/** A hash of the text as a number in [0, 1): the same in every process. */
function dice(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}

/** Weighted rendezvous hashing: each route gets a score from the text's hash; the best comes first. */
function score(route: RouteRecord, sticky: string): number {
  const roll = dice(`${route.id}\n${sticky}`);
  return -route.weight / Math.log(Math.max(roll, Number.MIN_VALUE));
}

function best<T>(items: readonly T[], worth: (item: T) => number): T | undefined {
  let found: { item: T; worth: number } | undefined;
  for (const item of items) {
    const own = worth(item);
    if (found === undefined || own > found.worth) found = { item, worth: own };
  }
  return found?.item;
}

const none: ReadonlySet<string> = new Set();

export function createRouter({
  allowPrivate,
  connectTimeoutMs = 5_000,
  now = () => performance.now(),
}: RouterParts): Router {
  const open = createDispatcher(true, connectTimeoutMs);
  const guarded = allowPrivate ? open : createDispatcher(false, connectTimeoutMs);
  const failures = new Map<string, { count: number; ejectedUntil: number }>();
  /** By key id, or by upstream id when the upstream takes no key. */
  const resting = new Map<string, { upstreamId: string; until: number }>();
  const restingRoutes = new Map<string, number>();
  const attempts = new Map<string, { since: number; requests: number; retries: number }>();
  const addresses = new Map<string, { origin: string; basePath: string; refused: boolean }>();

  const addressOf = (baseUrl: string): { origin: string; basePath: string; refused: boolean } => {
    let known = addresses.get(baseUrl);
    if (known === undefined) {
      const url = new URL(baseUrl);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      // A literal address needs no lookup, so the guarded dispatcher would not check it: it is checked here.
      const refused = isIP(host) !== 0 && isPrivateAddress(host);
      known = { origin: url.origin, basePath: url.pathname.replace(/\/+$/, ''), refused };
      addresses.set(baseUrl, known);
    }
    return known;
  };

  const ejectedUntil = (upstreamId: string): number => failures.get(upstreamId)?.ejectedUntil ?? 0;
  const restsUntil = (id: string): number => resting.get(id)?.until ?? 0;
  const rests = (id: string): boolean => restsUntil(id) > now();

  const isResting = ({ id, upstream }: RouteRecord): boolean =>
    (restingRoutes.get(id) ?? 0) > now() ||
    (upstream.keys.length === 0 ? rests(upstream.id) : upstream.keys.every((key) => rests(key.id)));

  /** Ejected upstreams: those that failed last, at most half of all. */
  const leftOut = (routes: readonly RouteRecord[]): ReadonlySet<string> => {
    if (failures.size === 0) return none;
    const upstreams = new Set(routes.map(({ upstream }) => upstream.id));
    const ejected = [...upstreams].filter((id) => ejectedUntil(id) > now());
    ejected.sort((a, b) => ejectedUntil(b) - ejectedUntil(a));
    return new Set(ejected.slice(0, Math.floor(upstreams.size / 2)));
  };

  /** The routes to try, best first. */
  const inOrder = (routes: readonly RouteRecord[], protocol: Protocol, sticky: () => string): RouteRecord[] => {
    if (routes.length === 1) return [...routes];
    const out = leftOut(routes);
    return routes
      .filter(({ upstream }) => !out.has(upstream.id))
      .map((route) => ({
        route,
        rest: isResting(route) ? 1 : 0,
        translation: route.upstream.protocol === protocol ? 0 : 1,
        score: score(route, sticky()),
      }))
      .sort(
        (a, b) =>
          a.rest - b.rest || a.route.priority - b.route.priority || a.translation - b.translation || b.score - a.score,
      )
      .map(({ route }) => route);
  };

  /** The request's key of an upstream, among those that do not rest; undefined when all were tried. */
  const keyFor = (route: RouteRecord, sticky: () => string, tried: ReadonlySet<string>): Target['key'] | undefined => {
    const { keys } = route.upstream;
    if (keys.length === 0) return null;
    const untried = keys.filter(({ id }) => !tried.has(id));
    const rested = untried.filter(({ id }) => !rests(id));
    if (rested.length > 1) return best(rested, ({ id }) => dice(`${id}\n${sticky()}`));
    // All keys rest: the one whose rest ends first is better than a refusal.
    return rested[0] ?? (tried.size === 0 ? best(untried, ({ id }) => -restsUntil(id)) : undefined);
  };

  const mayRetry = (model: string): boolean => {
    const counted = attempts.get(model);
    if (counted === undefined) return true;
    if (counted.retries >= Math.max(retryFloor, counted.requests * retryShare)) return false;
    counted.retries += 1;
    return true;
  };

  const countRequest = (model: string): void => {
    const counted = attempts.get(model);
    if (counted === undefined || now() - counted.since > 60_000)
      attempts.set(model, { since: now(), requests: 1, retries: 0 });
    else counted.requests += 1;
  };

  return {
    candidates({ id: model, routes }, protocol, stickiness) {
      if (routes.length === 0) return null;
      countRequest(model);
      let text: string | null = null;
      const sticky = (): string => (text ??= stickiness());
      const queue = inOrder(routes, protocol, sticky);
      const triedKeys = new Set<string>();
      let latest: RouteRecord | null = null;
      let triedAgain = false;

      const target = (route: RouteRecord, tried: ReadonlySet<string>): Target | null => {
        const { upstream } = route;
        const { refused, ...address } = addressOf(upstream.baseUrl);
        const key = keyFor(route, sticky, tried);
        if (key === undefined || (refused && !allowPrivate && !upstream.simulated)) return null;
        return { route, key, dispatcher: upstream.simulated ? open : guarded, ...address };
      };
      /** The same route with another key, when the key was refused. */
      const withAnotherKey = (): Target | null => {
        const { keys } = latest?.upstream ?? { keys: [] };
        return latest === null || !keys.some(({ id }) => triedKeys.has(id) && rests(id))
          ? null
          : target(latest, triedKeys);
      };
      const nextRoute = (): Target | null => {
        for (let route = queue.shift(); route !== undefined; route = queue.shift()) {
          latest = route;
          const found = target(route, none);
          if (found !== null) return found;
        }
        return null;
      };
      const sameRoute = (): Target | null => {
        if (triedAgain || latest === null) return null;
        triedAgain = true;
        return target(latest, none);
      };

      return {
        next(after) {
          const isRetry = after === 'failure' || after === 'no_connection';
          const found =
            (isRetry ? withAnotherKey() : null) ?? nextRoute() ?? (after === 'no_connection' ? sameRoute() : null);
          if (found === null || (isRetry && !mayRetry(model))) return null;
          if (found.key !== null) triedKeys.add(found.key.id);
          return found;
        },
      };
    },

    report(target, verdict, retryAfterS) {
      const { id, simulated } = target.route.upstream;
      // The built-in simulator fails on request, which says nothing about other requests.
      if (simulated) return;
      if (verdict === 'fine') {
        if (failures.size > 0) failures.delete(id);
        return;
      }
      if (verdict === 'misnamed') {
        restingRoutes.set(target.route.id, now() + routeRestMs);
        return;
      }
      if (verdict === 'overloaded' || verdict === 'unauthorized') {
        // The key failed, not the upstream: the key rests and its siblings are used.
        const usualMs = verdict === 'unauthorized' ? keyRestMs.unauthorized : keyRestMs.limited;
        const restMs = verdict === 'overloaded' && retryAfterS !== undefined ? retryAfterS * 1_000 : usualMs;
        resting.set(target.key?.id ?? id, { upstreamId: id, until: now() + restMs });
        return;
      }
      const state = failures.get(id) ?? { count: 0, ejectedUntil: 0 };
      state.count += 1;
      if (state.count >= failuresToEject) {
        state.ejectedUntil = now() + ejectedForMs;
        state.count = 0;
      }
      failures.set(id, state);
    },

    health() {
      const restingKeys = (upstreamId: string): number =>
        [...resting.values()].filter((rest) => rest.upstreamId === upstreamId && rest.until > now()).length;
      const troubled = new Set([...failures.keys(), ...[...resting.values()].map(({ upstreamId }) => upstreamId)]);
      return [...troubled].map((upstreamId) => ({
        upstreamId,
        consecutiveFailures: failures.get(upstreamId)?.count ?? 0,
        ejected: ejectedUntil(upstreamId) > now(),
        restingKeys: restingKeys(upstreamId),
      }));
    },

    async close() {
      // No request runs any more: connections that upstreams keep open are destroyed.
      await Promise.all([open.destroy(), guarded === open ? undefined : guarded.destroy()]);
    },
  };
}
