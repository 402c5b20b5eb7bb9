import { retryShare } from './retry-budget.ts';
import type { RouteRecord } from './route.ts';

/**
 * What this process knows of its upstreams' health. An upstream that cannot be connected to, or fails several times in a row or
 * more often than the retry budget covers, is ejected for a while: it comes after all others, so that a healthy one
 * is always used and the last resort is never none. A key that the vendor refused or limited is paused, as is a route
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
const keyPauseMs = { limited: 10_000, unauthorized: 60_000 };
const routePauseMs = 60_000;

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
  pausedKeys: number;
}

export interface HealthBoard {
  /** Until when an upstream comes after all others, in monotonic milliseconds; 0 for one that is not ejected. */
  ejectedUntil(upstreamId: string): number;
  /** A request is about to be sent there. */
  sending(upstreamId: string): void;
  /** The route itself is paused, or every key of its upstream. */
  isRoutePaused(route: RouteRecord): boolean;
  /** By key id, or by upstream id when the upstream takes no key. */
  isKeyPaused(id: string): boolean;
  /** Monotonic milliseconds; 0 for a key that never was paused. */
  keyPausedUntil(id: string): number;
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
  const paused = new Map<string, { upstreamId: string; until: number }>();
  const pausedRoutes = new Map<string, number>();

  const ejectedUntil = (upstreamId: string): number => {
    const state = failures.get(upstreamId);
    if (state === undefined) return 0;
    const until = Math.max(state.ejectedUntil, state.proofUntil);
    return until > now() ? until : 0;
  };
  const keyPausedUntil = (id: string): number => paused.get(id)?.until ?? 0;
  const isKeyPaused = (id: string): boolean => keyPausedUntil(id) > now();

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

    isRoutePaused: ({ id, upstream }) =>
      (pausedRoutes.get(id) ?? 0) > now() ||
      (upstream.keys.length === 0 ? isKeyPaused(upstream.id) : upstream.keys.every((key) => isKeyPaused(key.id))),

    isKeyPaused,
    keyPausedUntil,

    report({ id: routeId, upstream: { id } }, keyId, verdict, retryAfterS) {
      switch (verdict) {
        case 'fine':
          countSuccess(id);
          return;
        case 'misnamed':
          pausedRoutes.set(routeId, now() + routePauseMs);
          return;
        case 'overloaded':
        case 'unauthorized': {
          // The key failed, not the upstream: the key is paused and its siblings are used.
          const usualMs = verdict === 'unauthorized' ? keyPauseMs.unauthorized : keyPauseMs.limited;
          const pauseMs = verdict === 'overloaded' && retryAfterS !== undefined ? retryAfterS * 1_000 : usualMs;
          paused.set(keyId ?? id, { upstreamId: id, until: now() + pauseMs });
          return;
        }
        case 'failed':
        case 'unreachable':
          countFailure(id, verdict);
      }
    },

    list() {
      const current = [...paused.values()].filter(({ until }) => until > now());
      const pausedKeys = (upstreamId: string): number =>
        current.filter((pause) => pause.upstreamId === upstreamId).length;
      const troubled = new Set([...failures.keys(), ...current.map(({ upstreamId }) => upstreamId)]);
      return [...troubled].map((upstreamId) => ({
        upstreamId,
        consecutiveFailures: failures.get(upstreamId)?.inARow ?? 0,
        ejected: ejectedUntil(upstreamId) > 0,
        pausedKeys: pausedKeys(upstreamId),
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
