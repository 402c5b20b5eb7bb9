import { randomUUID } from 'node:crypto';
import type { PicoUsd } from '../../core/money.ts';
import * as rules from './escrow.ts';

/** One escrow of this process, and what its key has used of late: as much of that is held in advance. */
export interface OpenEscrow {
  id: string;
  readonly accountId: string;
  readonly keyId: string;
  escrow: rules.Escrow;
  /** The change counter at which the ends of its grants were read. */
  change: string;
  /** The moment of its row by the database's clock; null before it has one. */
  openedAtMs: number | null;
  trialOnly: boolean;
  /** From the lane's last answer. */
  freeAfter: PicoUsd;
  /** Promises nothing more. */
  closed: boolean;
  filling: boolean;
  trimming: boolean;
  /** The row may hold more than the outstanding money. */
  dirty: boolean;
  /** Monotonic milliseconds, as are the other moments below. */
  notFilledUntil: number;
  notTrimmedUntil: number;
  drawnAt: number;
  windowAt: number;
  /** Draws of this window and of the one before, and their sums. */
  draws: [number, number];
  used: [PicoUsd, PicoUsd];
  /** Need of a recent request. */
  need: PicoUsd;
  priceId: string;
}

/** So many requests of a key within the last two windows make an escrow worth its row. */
const minDraws = 3;
/** An escrow holds at least so many requests in advance: otherwise a rarely used key would be filled for each. */
const minAhead = 8n;
/** The window in which use is counted. */
const windowMs = 1_000;

export function newOpenEscrow(accountId: string, keyId: string): OpenEscrow {
  const now = performance.now();
  return {
    id: randomUUID(),
    accountId,
    keyId,
    escrow: rules.emptyEscrow,
    change: '',
    openedAtMs: null,
    trialOnly: true,
    freeAfter: 0n,
    closed: false,
    filling: false,
    trimming: false,
    dirty: false,
    notFilledUntil: now,
    notTrimmedUntil: now,
    drawnAt: now,
    windowAt: now,
    draws: [0, 0],
    used: [0n, 0n],
    need: 0n,
    priceId: '',
  };
}

/** Counts a request that needs so much, at the price of this id. */
export function noteUse(open: OpenEscrow, need: PicoUsd, priceId: string): void {
  const now = performance.now();
  const windows = Math.floor((now - open.windowAt) / windowMs);
  if (windows > 0) {
    open.windowAt += windows * windowMs;
    open.draws = windows === 1 ? [0, open.draws[0]] : [0, 0];
    open.used = windows === 1 ? [0n, open.used[0]] : [0n, 0n];
  }
  open.draws[0] += 1;
  open.used[0] += need;
  open.drawnAt = now;
  open.need = need;
  open.priceId = priceId;
}

/** What to hold in advance beyond what is idle; 0 while the key is used rarely, or more than half of it is idle. */
export function wantedAhead({ draws, used, need, escrow }: OpenEscrow): PicoUsd {
  if (draws[0] + draws[1] < minDraws) return 0n;
  const [sum, least] = [used[0] + used[1], minAhead * need];
  const ahead = sum > least ? sum : least;
  const idle = rules.sumOf(escrow.idle);
  return idle * 2n >= ahead ? 0n : ahead - idle;
}
