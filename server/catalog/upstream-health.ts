import { retryShare } from './retry-budget.ts';
import type { RouteRecord } from './route.ts';

/**
 * What this process knows of its upstreams' health. An upstream that cannot be connected to, or fails several times in a row or
 * more often than the retry budget covers, is ejected for a while: it comes after all others, so that a healthy one
 * is always used and the last resort is never none. A key that the vendor refused or limited rests, as does a route
 * whose model name the vendor does not know.
 */

const failuresToEject = 5;
/** Of so many tries the share that failed is looked at. */
const triesToEject = 20;
/** The time of the first ejection of a failing and of an unreachable upstream; it doubles with each one that follows. */
const ejectedForMs = { failed: 30_000, unreachable: 1_000 };
const maxEjectedMs = { failed: 240_000, unreachable: 30_000 };
/** Afterwards one request finds out whether the upstream is well; the others wait so long for its report. */
const proofMs = 30_000;
const keyRestMs = { limited: 10_000, unauthorized: 60_000 };
const routeRestMs = 60_000;

/**
 * Verdict of a try on the upstream, its key or, when the vendor does not know the model's name (`misnamed`), the route.
 * `unreachable`: no connection was had.
 */
export type UpstreamVerdict = 'fine' | 'failed' | 'unreachable' | 'overloaded' | 'unauthorized' | 'misnamed';

/** An upstream that failed lately, as operators see it. */
export interface UpstreamHealth {
  upstreamId: string;
  consecutiveFailures: number;
  ejected: boolean;
  restingKeys: number;
}

export interface HealthBoard {
  /** Until when an upstream comes after all others, in monotonic milliseconds; 0 for one that is not ejected. */
  ejectedUntil(upstreamId: string): number;
  /** A request is about to be sent there. */
  sending(upstreamId: string): void;
  /** The route itself rests, or every key of its upstream. */
  isRouteResting(route: RouteRecord): boolean;
  /** By key id, or by upstream id when the upstream takes no key. */
  isKeyResting(id: string): boolean;
  /** Monotonic milliseconds; 0 for a key that never rested. */
  keyRestsUntil(id: string): number;
  report(route: RouteRecord, keyId: string | null, verdict: UpstreamVerdict, retryAfterS?: number): void;
  list(): UpstreamHealth[];
}

/** What the latest tries at an upstream came to. */
interface Tries {
  /** Failures since the last success. */
  inARow: number;
  /** Of the current run of tries: all, and those that failed. */
  tries: number;
  failed: number;
  ejectedUntil: number;
  /** Until when the report of the one request that tries it after an ejection is waited for. */
  proofUntil: number;
  /** Ejections since the upstream was last found to be well. */
  ejections: number;
}

/** `now`: monotonic milliseconds. */
export function createHealthBoard(now: () => number): HealthBoard {
  /** Upstreams that failed lately. */
  const failures = new Map<string, Tries>();
  /** By key id, or by upstream id when the upstream takes no key. */
  const resting = new Map<string, { upstreamId: string; until: number }>();
  const restingRoutes = new Map<string, number>();

  const ejectedUntil = (upstreamId: string): number => {
    const state = failures.get(upstreamId);
    if (state === undefined) return 0;
    const until = Math.max(state.ejectedUntil, state.proofUntil);
    return until > now() ? until : 0;
  };
  const keyRestsUntil = (id: string): number => resting.get(id)?.until ?? 0;
  const isKeyResting = (id: string): boolean => keyRestsUntil(id) > now();

  const eject = (state: Tries, kind: keyof typeof ejectedForMs): void => {
    // Requests that were under way when it was ejected say nothing new.
    if (state.ejectedUntil > now()) return;
    state.ejectedUntil = now() + Math.min(maxEjectedMs[kind], ejectedForMs[kind] * 2 ** state.ejections);
    state.proofUntil = 0;
    state.ejections += 1;
  };

  const countFailure = (upstreamId: string, kind: keyof typeof ejectedForMs): void => {
    const state = failures.get(upstreamId) ?? {
      inARow: 0,
      tries: 0,
      failed: 0,
      ejectedUntil: 0,
      proofUntil: 0,
      ejections: 0,
    };
    failures.set(upstreamId, state);
    state.inARow += 1;
    countTry(state, true);
    // One that was ejected before is out again with its first failure.
    const isBad = state.inARow >= failuresToEject || state.ejections > 0 || isTooOften(state);
    if (kind === 'unreachable' || isBad) eject(state, kind);
  };

  const countSuccess = (upstreamId: string): void => {
    const state = failures.get(upstreamId);
    if (state === undefined) return;
    state.inARow = 0;
    countTry(state, false);
    if (state.ejectedUntil > now()) return;
    state.ejections = 0;
    state.proofUntil = 0;
    if (state.failed === 0) failures.delete(upstreamId);
  };

  return {
    ejectedUntil,

    sending(upstreamId) {
      const state = failures.get(upstreamId);
      if (state !== undefined && state.ejections > 0 && ejectedUntil(upstreamId) === 0)
        state.proofUntil = now() + proofMs;
    },

    isRouteResting: ({ id, upstream }) =>
      (restingRoutes.get(id) ?? 0) > now() ||
      (upstream.keys.length === 0 ? isKeyResting(upstream.id) : upstream.keys.every((key) => isKeyResting(key.id))),

    isKeyResting,
    keyRestsUntil,

    report({ id: routeId, upstream: { id } }, keyId, verdict, retryAfterS) {
      switch (verdict) {
        case 'fine':
          countSuccess(id);
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
        case 'unreachable':
          countFailure(id, verdict);
      }
    },

    list() {
      const restingKeys = (upstreamId: string): number =>
        [...resting.values()].filter((rest) => rest.upstreamId === upstreamId).length;
      for (const [id, { until }] of resting) if (until <= now()) resting.delete(id);
      const troubled = new Set([...failures.keys(), ...[...resting.values()].map(({ upstreamId }) => upstreamId)]);
      return [...troubled].map((upstreamId) => ({
        upstreamId,
        consecutiveFailures: failures.get(upstreamId)?.inARow ?? 0,
        ejected: ejectedUntil(upstreamId) > 0,
        restingKeys: restingKeys(upstreamId),
      }));
    },
  };
}

/** Counts one try; the count begins again when it is full, so that old tries are forgotten. */
function countTry(state: Tries, isFailure: boolean): void {
  if (state.tries >= 2 * triesToEject) {
    state.tries = Math.round(state.tries / 2);
    state.failed = Math.floor(state.failed / 2);
  }
  state.tries += 1;
  if (isFailure) state.failed += 1;
}

/** Whether more tries fail than the retry budget can repeat elsewhere. */
function isTooOften({ tries, failed }: Tries): boolean {
  return tries >= triesToEject && failed > tries * retryShare;
}
