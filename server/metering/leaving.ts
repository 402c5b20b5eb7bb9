import type { PicoUsd } from '../core/money.ts';
import { cost, dearestWithin, type TieredPrices, unitCost, unitLines } from '../core/price.ts';
import { noTokens, type ReportedUsage } from '../core/tokens.ts';
import type { TokenBounds } from './bound.ts';
import { estimateOutput } from './estimate.ts';

/**
 * What is still unknown of a request's cost when its client leaves, and how long it is worth while to wait for the usage. Leaving
 * costs what staying costs: an exchange is ended at once only where its cost is known. An answer that is read on costs money
 * itself, so the wait ends when that comes to as much as the wait can tell; what is charged then is never more than the
 * vendor can have charged for what had been generated when the client left.
 */
export interface Leaving {
  /** The wait is as long as an answer may take, whatever is unknown. */
  readonly isPatient: boolean;
  /** The most that the vendor's bill can differ from what is known by now, pico-USD. Null: an answer that is not streamed. */
  unknown(account: ReportedUsage | null): PicoUsd;
  /** Cost of the answer so far, pico-USD. */
  answer(account: ReportedUsage): PicoUsd;
}

export interface LeavingParts {
  prices: TieredPrices;
  /** The request's bound on its prompt, all runs together. */
  promptBound: number;
  /** The most that the prompt and the pieces can cost, pico-USD. */
  contextBound: PicoUsd;
  /** How often the model may read its context: what is reported first is not all when it does so again. */
  contextRuns: number;
  bounds: TokenBounds;
  /** Images: nothing that a stream shows of one tells what it costs, so that its usage is waited for as for a whole answer. */
  isImage: boolean;
}

/** A stream as its client left it. */
export interface LeftStream {
  account: ReportedUsage;
  /** It has its finish reason: waiting for the usage costs nothing. */
  isFinished: boolean;
  /** The model has reasoned out of sight. */
  hidesReasoning: boolean;
}

/** The times of a wait, milliseconds. */
export interface LeavingTimes {
  /** How long a stream is read on. */
  leftMs: number;
  /** How long an answer that is not streamed may take. */
  replyMs: number;
  /** How long an upstream may keep its connection open after the end of its answer. */
  lingerMs: number;
}

/** How an answer is read on for its usage after its client left. */
export interface UsageWait {
  /** Milliseconds; zero: it is ended at once. */
  readonly ms: number;
  /** Whether the usage is known by now, or reading on has cost as much as the usage can tell. */
  isOver(account: ReportedUsage): boolean;
}

/** Less than this is not waited for, pico-USD: a tenth of a cent. */
const worthWaiting: PicoUsd = 1_000_000_000n;
/** For more than this the wait is as long as an answer may take: ten cents. */
const worthPatience: PicoUsd = 100_000_000_000n;

/** Decides how long an answer is read on after its client left. `left` is null: it is not streamed. */
export function waitForUsage(leaving: Leaving, left: LeftStream | null, times: LeavingTimes): UsageWait {
  // The vendor generates it in any case, and reports its usage with it.
  if (left === null) return waitOf(leaving.unknown(null) >= worthWaiting ? times.replyMs : 0);
  const unknown = leaving.unknown(left.account);
  const isWorthIt = unknown >= worthWaiting;
  const ms = unknown < worthPatience && !leaving.isPatient ? times.leftMs : Math.max(times.leftMs, times.replyMs);
  if (left.isFinished) return waitOf(isWorthIt ? ms : times.lingerMs);
  // Without the report, and without the vendor's count of hidden reasoning, that reasoning would be free for clients
  // that leave before it.
  if (left.hidesReasoning) return waitOf(times.leftMs);
  if (!isWorthIt) return waitOf(0);
  const answer = leaving.answer(left.account);
  return {
    ms,
    isOver: (account) => leaving.unknown(account) < worthWaiting || leaving.answer(account) - answer > unknown,
  };
}

/** A wait that only time ends. */
export function waitOf(ms: number): UsageWait {
  return { ms, isOver: () => false };
}

export function createLeaving({
  prices,
  promptBound,
  contextBound,
  contextRuns,
  bounds,
  isImage,
}: LeavingParts): Leaving {
  const dearest = dearestWithin(prices, promptBound);
  const pieces = unitCost(unitLines({ image: bounds.images, minute: bounds.minutes }, prices.perUnit));
  return {
    isPatient: isImage,
    unknown(account) {
      if (account === null || (isImage && (account.usage === null || account.partial)))
        return contextBound + BigInt(bounds.output) * dearest.output;
      const { usage } = account;
      if (usage !== null && !account.partial) return 0n;
      if (usage === null) return contextBound;
      if (contextRuns === 1) return pieces;
      const known = cost({ ...usage, output: 0 }, dearest);
      return contextBound > known ? contextBound - known : 0n;
    },
    answer: (account) =>
      cost({ ...noTokens, output: Math.max(estimateOutput(account), account.usage?.output ?? 0) }, dearest),
  };
}
