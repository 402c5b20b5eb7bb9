import type { Pool } from 'pg';
import { type ClaimLine, createClaimLine, type OwnLimit } from './claims.ts';

/** The exhausted limit, and when it has room again. */
export interface RateLimited {
  of: OwnLimit['of'];
  /** Requests per minute. */
  limit: number;
  /** Seconds. */
  resetS: number;
}

/**
 * Draws requests of keys and accounts with their own limit from the database before they are admitted: no minute exceeds the limit,
 * however many processes draw. Requests that wait at the same moment share one statement.
 */
export interface RequestDraws {
  /** Null: the request may proceed. */
  draw(of: RateLimited['of'], id: string, limit: number): RateLimited | null | Promise<RateLimited | null>;
  /** A request that was drawn is not made after all: the next one within a second has it. */
  giveBack(id: string): void;
}

/** Lifetime of requests that were drawn ahead. */
const drawnForMs = 1_000;
/** Below this limit, and once half of a limit is used, each request is drawn when it arrives: unused draws are lost. */
const minLimitToDrawAhead = 640;
/** Above this number, keys without state are removed. */
const minKeysToForget = 10_000;
/** Share of a limit that may be drawn ahead. */
const aheadShare = 1 / 32;

/** This process's draws for a key or an account with its own limit. */
interface Draws {
  limit: number;
  line: ClaimLine<undefined, RateLimited | null>;
  spare: number;
  spareUntil: number;
  fullUntil: number;
  /** Requests in the database's ring at the latest draw. */
  total: number;
  /** Requests of the previous and of the current second. */
  usedBefore: number;
  used: number;
  usedSecond: number;
}

export function createRequestDraws({ pool, now }: { pool: Pick<Pool, 'query'>; now: () => number }): RequestDraws {
  const draws = new Map<string, Draws>();
  let forgetAt = minKeysToForget;

  const forgetIdle = (): void => {
    for (const [id, { line, spareUntil, fullUntil }] of draws) {
      if (!line.isRunning && Math.max(spareUntil, fullUntil) < now()) draws.delete(id);
    }
    forgetAt = Math.max(minKeysToForget, draws.size * 2);
  };

  const statement = async (
    of: RateLimited['of'],
    id: string,
    draw: Draws,
    waiting: number,
  ): Promise<(RateLimited | null)[]> => {
    const { limit } = draw;
    const mayDrawAhead = limit >= minLimitToDrawAhead && draw.total < limit / 2;
    const ahead = mayDrawAhead ? Math.min(draw.usedBefore, Math.floor(limit * aheadShare)) : 0;
    const { rows } = await pool.query<{ granted: number; total: number; freeIn: number | null }>({
      name: 'request_rate.draw',
      text: 'SELECT granted, total, free_in AS "freeIn" FROM draw_requests($1, $2, $3)',
      values: [id, limit, waiting + ahead],
    });
    const { granted = 0, total = limit, freeIn = 1 } = rows[0] ?? {};
    draw.total = total;
    const resetS = freeIn ?? 1;
    draw.spare = Math.max(0, granted - waiting);
    draw.spareUntil = now() + drawnForMs;
    // Nothing leaves the ring before then, so no statement is needed before then.
    if (granted < waiting) draw.fullUntil = now() + (resetS - 1) * 1_000;
    return Array.from({ length: waiting }, (_, index) => (index < granted ? null : { of, limit, resetS }));
  };

  /** What was drawn ahead is for those that came meanwhile: the next statement's draws take its place. */
  const serveSpare = (draw: Draws): void => {
    if (now() < draw.spareUntil) draw.spare -= draw.line.serve(draw.spare, null);
  };

  /** The refusal of a subject whose minute is known to be full; null: it may have room. */
  const full: (of: RateLimited['of'], id: string, limit: number) => RateLimited | null = (of, id, limit) => {
    const { fullUntil = 0 } = draws.get(id) ?? {};
    return now() < fullUntil ? { of, limit, resetS: Math.ceil((fullUntil - now()) / 1_000) + 1 } : null;
  };

  const draw: RequestDraws['draw'] = (of, id, limit) => {
    let state = draws.get(id);
    if (state === undefined) {
      if (draws.size >= forgetAt) forgetIdle();
      const fresh: Draws = {
        limit,
        line: createClaimLine({
          state: (asks) => statement(of, id, fresh, asks.length),
          afterEach: () => serveSpare(fresh),
        }),
        spare: 0,
        spareUntil: 0,
        fullUntil: 0,
        total: 0,
        usedBefore: 0,
        used: 0,
        usedSecond: 0,
      };
      state = fresh;
      draws.set(id, state);
    }
    const known = state;
    known.limit = limit;
    const second = Math.floor(now() / 1_000);
    if (known.usedSecond !== second) {
      known.usedBefore = known.usedSecond === second - 1 ? known.used : 0;
      [known.used, known.usedSecond] = [0, second];
    }
    known.used += 1;
    if (known.spare > 0 && now() < known.spareUntil) {
      known.spare -= 1;
      return null;
    }
    const refused = full(of, id, limit);
    if (refused !== null) return refused;
    return known.line.claim(undefined);
  };

  return {
    draw,
    giveBack(id) {
      const state = draws.get(id);
      if (state === undefined) return;
      state.spare = now() < state.spareUntil ? state.spare + 1 : 1;
      state.spareUntil = Math.max(state.spareUntil, now() + drawnForMs);
    },
  };
}
