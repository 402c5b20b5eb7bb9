import { createHash } from 'node:crypto';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { Protocol } from '../core/protocol.ts';
import { isPrivateAddress, publicLookup } from '../shared/private-addresses.ts';
import { createRetryBudget } from './retry-budget.ts';
import type { RouteRecord, UpstreamRecord } from './route.ts';
import { createHealthBoard, type HealthBoard, type UpstreamHealth, type UpstreamVerdict } from './upstream-health.ts';

/**
 * Chooses the route of a request, always one of the requested model.
 *
 * Order: lower priority number first; within one priority a route that speaks the client's protocol before one that
 * needs translation; within those by weight, where requests of an account with the same beginning of the prompt get the
 * same route and vendor key, so that the vendor's prompt cache is hit.
 *
 * `upstream-health.ts` decides which upstreams and routes are tried last, `retry-budget.ts` how often
 * a model's requests are tried again.
 */

export interface Target extends Reach {
  route: RouteRecord;
}

/** How an upstream is called. */
export interface Reach {
  key: { id: string; secret: string } | null;
  dispatcher: Dispatcher;
  /** What connections beside the dispatcher's are to be made with; absent: any address may be reached. */
  lookup?: LookupFunction;
  origin: string;
  /** Path of the base address, without a trailing slash; the protocol's own path follows it. */
  basePath: string;
}

/** The routes for one request, best first. */
export interface Candidates {
  /**
   * The next route to try; null when none is left. After a failure only within the model's retry budget; after a failed
   * connection without it, at the end the last route once more. A route that cannot express the request does not count as a try.
   */
  next(after: 'nothing' | 'unfit' | 'failure' | 'no_connection'): Target | null;
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
  /** An upstream by one of its keys, for what is bound to it already; any of them where that one is gone. Null: it may not be called. */
  reach(upstream: UpstreamRecord, keyId: string | null): Reach | null;
  /**
   * A request is about to be sent there; `isFirst`: for the first time. Only that counts for the health of the upstream and for the
   * model's retry budget: a request that is refused before, or only counts its tokens, neither proves nor tries anything.
   */
  sending(target: Target, model: Routable, isFirst: boolean): void;
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

interface Address {
  origin: string;
  basePath: string;
  /** A literal private address. */
  isPrivate: boolean;
}

/** Parses the base addresses of upstreams, each once. */
function createAddresses(): (baseUrl: string) => Address {
  const addresses = new Map<string, Address>();
  return (baseUrl) => {
    let known = addresses.get(baseUrl);
    if (known === undefined) {
      const url = new URL(baseUrl);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      // A literal address needs no lookup, so the guarded dispatcher would not check it: it is checked here.
      const isPrivate = isIP(host) !== 0 && isPrivateAddress(host);
      known = { origin: url.origin, basePath: url.pathname.replace(/\/+$/, ''), isPrivate };
      addresses.set(baseUrl, known);
    }
    return known;
  };
}

/** The routes to try, best first. */
function inOrder(
  routes: readonly RouteRecord[],
  protocol: Protocol,
  sticky: () => string,
  health: HealthBoard,
): RouteRecord[] {
  if (routes.length === 1) return [...routes];
  return routes
    .map((route) => ({
      route,
      ejected: health.ejectedUntil(route.upstream.id),
      paused: health.isRoutePaused(route) ? 1 : 0,
      translation: route.upstream.protocol === protocol ? 0 : 1,
      score: score(route, sticky()),
    }))
    .sort(
      (a, b) =>
        a.ejected - b.ejected ||
        a.paused - b.paused ||
        a.route.priority - b.route.priority ||
        a.translation - b.translation ||
        b.score - a.score,
    )
    .map(({ route }) => route);
}

/** The request's key of an upstream, among those that are not paused; undefined when all were tried. */
function keyFor(
  { upstream: { keys } }: RouteRecord,
  sticky: () => string,
  tried: ReadonlySet<string>,
  health: HealthBoard,
): Target['key'] | undefined {
  if (keys.length === 0) return null;
  const untried = keys.filter(({ id }) => !tried.has(id));
  const usable = untried.filter(({ id }) => !health.isKeyPaused(id));
  if (usable.length > 1) return best(usable, ({ id }) => dice(`${id}\n${sticky()}`));
  // All keys are paused: the one whose pause ends first is better than a refusal.
  return usable[0] ?? (tried.size === 0 ? best(untried, ({ id }) => -health.keyPausedUntil(id)) : undefined);
}

/** The tries of one request over its routes, in the order of `queue`. */
function createCandidates({
  queue,
  target,
  isOut,
  isKeyPaused,
  mayRetry,
}: {
  queue: RouteRecord[];
  /** Whether the route would come after all others by what is known now. */
  isOut: (route: RouteRecord) => boolean;
  /** The route with a key that was not tried; null when it cannot be called. */
  target: (route: RouteRecord, tried: ReadonlySet<string>) => Target | null;
  isKeyPaused: (id: string) => boolean;
  mayRetry: () => boolean;
}): Candidates {
  const triedKeys = new Set<string>();
  let latest: RouteRecord | null = null;
  let triedAgain = false;

  /** The same route with another key, when the key was refused. */
  const withAnotherKey = (): Target | null => {
    const { keys } = latest?.upstream ?? { keys: [] };
    return latest === null || !keys.some(({ id }) => triedKeys.has(id) && isKeyPaused(id))
      ? null
      : target(latest, triedKeys);
  };
  /** The order is that of the request's beginning: a try may take seconds, in which others find a route to be out. */
  const nextRoute = (): Target | null => {
    while (queue.length > 0) {
      const well = latest === null ? 0 : queue.findIndex((route) => !isOut(route));
      const [route] = queue.splice(Math.max(well, 0), 1);
      if (route === undefined) return null;
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
      if (found === null || (after === 'failure' && !mayRetry())) return null;
      if (found.key !== null) triedKeys.add(found.key.id);
      return found;
    },
  };
}

export function createRouter({
  allowPrivate,
  connectTimeoutMs = 5_000,
  now = () => performance.now(),
}: RouterParts): Router {
  const open = createDispatcher(true, connectTimeoutMs);
  const guarded = allowPrivate ? open : createDispatcher(false, connectTimeoutMs);
  const health = createHealthBoard(now);
  const retries = createRetryBudget(now);
  const addressOf = createAddresses();
  const wayTo = ({ simulated }: UpstreamRecord): Pick<Reach, 'dispatcher' | 'lookup'> => {
    if (simulated) return { dispatcher: open };
    return { dispatcher: guarded, ...(allowPrivate ? {} : { lookup: publicLookup }) };
  };

  return {
    candidates({ id: model, routes }, protocol, stickiness) {
      if (routes.length === 0) return null;
      let text: string | null = null;
      const sticky = (): string => (text ??= stickiness());
      return createCandidates({
        queue: inOrder(routes, protocol, sticky, health),
        target(route, tried) {
          const { upstream } = route;
          const { isPrivate, ...address } = addressOf(upstream.baseUrl);
          const key = keyFor(route, sticky, tried, health);
          if (key === undefined || (isPrivate && !allowPrivate && !upstream.simulated)) return null;
          return { route, key, ...wayTo(upstream), ...address };
        },
        isOut: (route) => health.ejectedUntil(route.upstream.id) > 0 || health.isRoutePaused(route),
        isKeyPaused: health.isKeyPaused,
        mayRetry: () => retries.mayRetry(model),
      });
    },

    reach(upstream, keyId) {
      const { isPrivate, ...address } = addressOf(upstream.baseUrl);
      if (isPrivate && !allowPrivate && !upstream.simulated) return null;
      const key = upstream.keys.find(({ id }) => id === keyId) ?? upstream.keys[0] ?? null;
      return { key, ...wayTo(upstream), ...address };
    },

    sending({ route }, { id, routes }, isFirst) {
      if (isFirst) retries.countRequest(id, routes.length);
      health.sending(route.upstream.id);
    },

    report({ route, key }, verdict, retryAfterS) {
      // The built-in simulator fails on request; its failures say nothing about other requests.
      if (!route.upstream.simulated) health.report(route, key?.id ?? null, verdict, retryAfterS);
    },

    health: health.list,

    async close() {
      // No request runs any more: connections that upstreams keep open are destroyed.
      await Promise.all([open.destroy(), guarded === open ? undefined : guarded.destroy()]);
    },
  };
}
