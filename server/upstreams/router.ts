import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { isPrivateAddress, publicLookup } from './addresses.ts';
import type { RouteRecord, RouteSource, UpstreamProtocol } from './route.ts';

/**
 * Chooses where a request runs: always the model that was asked for, at one of the places that have it.
 *
 * Order: lower priority number first; within one priority a route that speaks the client's protocol before one that
 * needs translation; within those by weight, where an account with the same beginning of its prompt keeps landing on
 * the same route and the same vendor key, so that the vendor's prompt cache keeps hitting. A place that failed several
 * times in a row is left out for a while, unless it is the last one.
 */

const failuresToEject = 5;
const ejectedForMs = 30_000;
const keyRestMs = { limited: 10_000, unauthorized: 60_000 };
/** Further tries, over all requests of a model: at most a fifth of its requests in the last minute, but always three. */
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

export type Verdict = 'fine' | 'failed' | 'overloaded' | 'unauthorized';

/** The places for one request, best first. */
export interface Candidates {
  /**
   * The next place to try, or null when none is left. After a failure only while the retry budget of the model lasts; and
   * when not even a connection was had, the last place once more. A place that cannot express the request was no try.
   */
  next(after: 'nothing' | 'unfit' | 'failure' | 'no_connection'): Target | null;
}

export interface UpstreamHealth {
  upstreamId: string;
  consecutiveFailures: number;
  ejected: boolean;
  restingKeys: number;
}

export interface Router {
  /**
   * `stickiness` gives a text that stays the same while a vendor's cache would hit; it is asked for only when there is a
   * choice. Null: the model has no route.
   */
  candidates(model: string, protocol: UpstreamProtocol, stickiness: () => string): Candidates | null;
  report(target: Target, verdict: Verdict, retryAfterS?: number): void;
  health(): UpstreamHealth[];
  close(): Promise<void>;
}

export interface RouterParts {
  source: RouteSource;
  allowPrivate: boolean;
  connectTimeoutMs?: number;
  now?: () => number;
}

/** Sends to whatever address the caller checked; `lookup` refuses private ones at the moment of connecting. */
function createDispatcher(allowPrivate: boolean, connectTimeoutMs: number): Dispatcher {
  return new Agent({
    // Plain HTTP/1.1: streams of different customers never share one connection's flow control.
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connect: { timeout: connectTimeoutMs, ...(allowPrivate ? {} : { lookup: publicLookup }) },
  });
}

/** A number in [0, 1) that depends on nothing but the text: the same request rolls the same dice everywhere. */
function dice(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}

export function createRouter({
  source,
  allowPrivate,
  connectTimeoutMs = 5_000,
  now = () => performance.now(),
}: RouterParts): Router {
  const open = createDispatcher(true, connectTimeoutMs);
  const guarded = allowPrivate ? open : createDispatcher(false, connectTimeoutMs);
  const failures = new Map<string, { count: number; ejectedUntil: number }>();
  const restingUntil = new Map<string, number>();
  const attempts = new Map<string, { since: number; requests: number; retries: number }>();
  const addresses = new Map<string, { origin: string; basePath: string; refused: boolean }>();

  const addressOf = (baseUrl: string): { origin: string; basePath: string; refused: boolean } => {
    let known = addresses.get(baseUrl);
    if (known === undefined) {
      const url = new URL(baseUrl);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      // A literal address needs no lookup, so the guarded dispatcher would never see it: it is judged here.
      const refused = isIP(host) !== 0 && isPrivateAddress(host);
      known = { origin: url.origin, basePath: url.pathname.replace(/\/+$/, ''), refused };
      addresses.set(baseUrl, known);
    }
    return known;
  };

  const isEjected = (upstreamId: string): boolean => (failures.get(upstreamId)?.ejectedUntil ?? 0) > now();

  /** Rendezvous by weight: each route draws a score from the request's dice; the best comes first. */
  const score = (route: RouteRecord, stickiness: () => string): number => {
    const roll = dice(`${route.id}\n${stickiness()}`);
    return -route.weight / Math.log(Math.max(roll, Number.MIN_VALUE));
  };

  const keyFor = (route: RouteRecord, stickiness: () => string): { id: string; secret: string } | null | undefined => {
    const { keys } = route.upstream;
    if (keys.length === 0) return null;
    const rested = keys.filter((key) => (restingUntil.get(key.id) ?? 0) <= now());
    // All resting: the one that rests least long is still better than refusing the customer.
    const choice =
      rested.length > 0
        ? rested
        : [...keys].sort((a, b) => (restingUntil.get(a.id) ?? 0) - (restingUntil.get(b.id) ?? 0)).slice(0, 1);
    if (choice.length === 1) return choice[0];
    return [...choice].sort((a, b) => dice(`${b.id}\n${stickiness()}`) - dice(`${a.id}\n${stickiness()}`))[0];
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
    candidates(model, protocol, stickiness) {
      const routes = source.routesOf(model);
      if (routes.length === 0) return null;
      countRequest(model);
      const rank = (route: RouteRecord): number => (route.upstream.protocol === protocol ? 0 : 1);
      const ordered = [...routes].sort(
        (a, b) => a.priority - b.priority || rank(a) - rank(b) || score(b, stickiness) - score(a, stickiness),
      );
      const healthy = ordered.filter((route) => !isEjected(route.upstream.id));
      const queue = healthy.length > 0 ? healthy : ordered.slice(0, 1);
      let tried = 0;
      let triedAgain = false;
      const target = (route: RouteRecord): Target | null => {
        const { upstream } = route;
        const { refused, ...address } = addressOf(upstream.baseUrl);
        const key = keyFor(route, stickiness);
        if (key === undefined || (refused && !allowPrivate && !upstream.simulated)) return null;
        return { route, key, dispatcher: upstream.simulated ? open : guarded, ...address };
      };
      return {
        next(after) {
          const isRetry = after === 'failure' || after === 'no_connection';
          while (tried < queue.length) {
            if (isRetry && !mayRetry(model)) return null;
            const found = target(queue[tried++] as RouteRecord);
            if (found !== null) return found;
          }
          const last = queue.at(-1);
          if (after !== 'no_connection' || triedAgain || last === undefined || !mayRetry(model)) return null;
          triedAgain = true;
          return target(last);
        },
      };
    },

    report(target, verdict, retryAfterS) {
      const { id } = target.route.upstream;
      if (verdict === 'fine') {
        if (failures.size > 0) failures.delete(id);
        return;
      }
      if (verdict === 'overloaded' || verdict === 'unauthorized') {
        // The key is at fault, not the place: it rests and its siblings go on.
        const restMs =
          verdict === 'unauthorized'
            ? keyRestMs.unauthorized
            : retryAfterS === undefined
              ? keyRestMs.limited
              : retryAfterS * 1_000;
        if (target.key !== null) restingUntil.set(target.key.id, now() + restMs);
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
      const seen = new Map<string, UpstreamHealth>();
      for (const [upstreamId, state] of failures) {
        seen.set(upstreamId, {
          upstreamId,
          consecutiveFailures: state.count,
          ejected: isEjected(upstreamId),
          restingKeys: 0,
        });
      }
      return [...seen.values()];
    },

    async close() {
      // No request runs any more: what an upstream still holds open is not waited for.
      await Promise.all([open.destroy(), guarded === open ? undefined : guarded.destroy()]);
    },
  };
}
