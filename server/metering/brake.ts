import { cost, type UnitPrices } from '../core/price.ts';
import { noTokens, type ReportedUsage } from '../core/tokens.ts';
import { estimateOutput, type TokenBounds, withinBounds } from './estimate.ts';

/**
 * The spend brake of one running stream. While the answer grows, its cost so far is compared with the hold; at four
 * fifths the hold is extended, and when nothing more can be reserved and the hold is used up, the stream is stopped.
 * A stream can therefore never cost more than what was reserved for it plus the little that one chunk carries, and the
 * settlement charges no more than exists.
 */

/** Output tokens that one extension reserves. */
const extensionTokens = 4_096n;

export interface BrakeParts {
  /** What was reserved when the request was admitted, pico-USD. */
  held: bigint;
  prices: UnitPrices;
  /** What the context probably costs as long as the upstream has not said. */
  estimatedInputTokens: number;
  /** Beyond them the upstream is not believed. */
  bounds: TokenBounds;
  /** Reserves more; resolves to what was really added, 0 when nothing is left. Rejects when the ledger is out of reach. */
  extend: (morePico: bigint) => Promise<bigint>;
  /** Called once when the stream must end. */
  stop: () => void;
  /** Called when a stream that had to wait for the ledger may go on. */
  resume: () => void;
}

export interface Brake {
  /** To be called after every chunk; cheap unless something has to be done. */
  check(account: ReportedUsage): void;
  /**
   * The hold is used up and the ledger has not yet said whether there is more: nothing further may be read until
   * `resume`, or an upstream faster than the ledger would be relayed for free.
   */
  readonly waiting: boolean;
}

export function createBrake({ held, prices, estimatedInputTokens, bounds, extend, stop, resume }: BrakeParts): Brake {
  let reserved = held;
  let extending = false;
  let dry = false;
  let stopped = false;
  /** Below this many output tokens, and with the same reported input, nothing needs to be computed. */
  let nextCheckAt = 0;
  let knownInput = false;
  const free = prices.output === 0n && prices.input === 0n;

  const outputOf = (account: ReportedUsage): number =>
    Math.max(estimateOutput(account), Math.min(account.usage?.output ?? 0, bounds.output));

  const costSoFar = (account: ReportedUsage, output: number): bigint => {
    const { usage } = withinBounds(account, bounds);
    const pools = usage ?? { ...noTokens, cacheHit: estimatedInputTokens };
    return cost({ ...pools, output }, prices);
  };

  const check = (account: ReportedUsage): void => {
    if (stopped || free) return;
    const output = outputOf(account);
    if (extending) {
      brake.waiting = costSoFar(account, output) >= reserved;
      return;
    }
    const inputIsKnown = account.usage !== null;
    if (output < nextCheckAt && inputIsKnown === knownInput) return;
    knownInput = inputIsKnown;

    const spent = costSoFar(account, output);
    // Once less was left than asked for, every cent is already reserved: ask again only when it is used up.
    const mark = dry ? reserved : (reserved * 4n) / 5n;
    if (spent < mark) {
      // Half of what may still come, so that estimates which jump are noticed in time.
      nextCheckAt =
        prices.output === 0n ? output + 64 : output + Math.max(1, Number((mark - spent) / prices.output) >> 1);
      return;
    }
    extending = true;
    brake.waiting = spent >= reserved;
    void more((spent > reserved ? spent - reserved : 0n) + extensionTokens * prices.output, account);
  };

  const more = async (wanted: bigint, account: ReportedUsage): Promise<void> => {
    // A ledger out of reach adds nothing: what is reserved is still ours, what goes beyond it is not.
    const added = await extend(wanted).catch(() => 0n);
    extending = false;
    reserved += added;
    dry = added < wanted;
    nextCheckAt = 0;
    if (dry && costSoFar(account, outputOf(account)) >= reserved) {
      stopped = true;
      stop();
    } else if (brake.waiting) {
      brake.waiting = false;
      resume();
    }
  };

  const brake: { -readonly [K in keyof Brake]: Brake[K] } = { check, waiting: false };
  return brake;
}
