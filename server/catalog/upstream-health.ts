import type { RouteRecord } from './route.ts';

/**
 * What this process knows of its upstreams' health. An upstream with several failures in a row is ejected for a while,
 * but never more than half of a model's upstreams. A key that the vendor refused or limited rests, as does a route whose
 * model name the vendor does not know.
 */

const failuresToEject = 5;
const ejectedForMs = 30_000;
const keyRestMs = { limited: 10_000, unauthorized: 60_000 };
const routeRestMs = 60_000;

/**
 * Verdict of a try on the upstream, its key or, when the vendor does not know the model's name (`misnamed`), the route.
 */
export type UpstreamVerdict = 'fine' | 'failed' | 'overloaded' | 'unauthorized' | 'misnamed';

/** An upstream that failed lately, as operators see it. */
export interface UpstreamHealth {
  upstreamId: string;
  consecutiveFailures: number;
  ejected: boolean;
  restingKeys: number;
}

export interface HealthBoard {
  /** Ejected upstreams of these routes: those that failed last, at most half of all. */
  ejectedOf(routes: readonly RouteRecord[]): ReadonlySet<string>;
  /** The route itself rests, or every key of its upstream. */
  isRouteResting(route: RouteRecord): boolean;
  /** By key id, or by upstream id when the upstream takes no key. */
  isKeyResting(id: string): boolean;
  /** Monotonic milliseconds; 0 for a key that never rested. */
  keyRestsUntil(id: string): number;
  report(route: RouteRecord, keyId: string | null, verdict: UpstreamVerdict, retryAfterS?: number): void;
  list(): UpstreamHealth[];
}

const none: ReadonlySet<string> = new Set();

/** `now`: monotonic milliseconds. */
export function createHealthBoard(now: () => number): HealthBoard {
  const failures = new Map<string, { count: number; ejectedUntil: number }>();
  /** By key id, or by upstream id when the upstream takes no key. */
  const resting = new Map<string, { upstreamId: string; until: number }>();
  const restingRoutes = new Map<string, number>();

  const ejectedUntil = (upstreamId: string): number => failures.get(upstreamId)?.ejectedUntil ?? 0;
  const keyRestsUntil = (id: string): number => resting.get(id)?.until ?? 0;
  const isKeyResting = (id: string): boolean => keyRestsUntil(id) > now();

  const countFailure = (upstreamId: string): void => {
    const state = failures.get(upstreamId) ?? { count: 0, ejectedUntil: 0 };
    state.count += 1;
    if (state.count >= failuresToEject) {
      state.ejectedUntil = now() + ejectedForMs;
      state.count = 0;
    }
    failures.set(upstreamId, state);
  };

  return {
    ejectedOf(routes) {
      if (failures.size === 0) return none;
      const upstreams = new Set(routes.map(({ upstream }) => upstream.id));
      const ejected = [...upstreams].filter((id) => ejectedUntil(id) > now());
      ejected.sort((a, b) => ejectedUntil(b) - ejectedUntil(a));
      return new Set(ejected.slice(0, Math.floor(upstreams.size / 2)));
    },

    isRouteResting: ({ id, upstream }) =>
      (restingRoutes.get(id) ?? 0) > now() ||
      (upstream.keys.length === 0 ? isKeyResting(upstream.id) : upstream.keys.every((key) => isKeyResting(key.id))),

    isKeyResting,
    keyRestsUntil,

    report({ id: routeId, upstream: { id } }, keyId, verdict, retryAfterS) {
      switch (verdict) {
        case 'fine':
          failures.delete(id);
          return;
        case 'misnamed':
          restingRoutes.set(routeId, now() + routeRestMs);
          return;
        case 'overloaded':
        case 'unauthorized': {
          // The key failed, not the upstream: the key rests and its siblings are used.
          const usualMs = verdict === 'unauthorized' ? keyRestMs.unauthorized : keyRestMs.limited;
          const restMs = verdict === 'overloaded' && retryAfterS !== undefined ? retryAfterS * 1_000 : usualMs;
          resting.set(keyId ?? id, { upstreamId: id, until: now() + restMs });
          return;
        }
        case 'failed':
          countFailure(id);
      }
    },

    list() {
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
  };
}
