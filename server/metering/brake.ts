import type { PicoUsd } from '../core/money.ts';
import { cost, type UnitPrices } from '../core/price.ts';
import { noTokens, type ReportedUsage } from '../core/tokens.ts';
import type { AccountCredit } from './credit.ts';
import { estimateOutput, type TokenBounds, withinBounds } from './estimate.ts';
import type { HiddenReasoning } from './reasoning.ts';

/**
 * The spend brake of one running stream. While the answer grows, its cost so far is compared with the hold; at four
 * fifths the hold is extended, and when nothing more can be reserved and the hold is used up, the stream is stopped.
 * A stream can therefore never cost more than what was reserved for it plus the little that one chunk carries, and the
 * settlement charges no more than exists.
 *
 * While the ledger is out of reach it is not known whether there is more. The stream then goes on against the account's
 * last known free money (`credit.ts`), and is stopped for a reason of its own when that is used up.
 *
 * Moments are monotonic milliseconds and come in as arguments.
 */

/** Output tokens that the first extension reserves. */
const firstExtensionTokens = 4_096;
/**
 * A stream that needs another extension within this time is fast, and its next one is twice as large: a stream of any
 * speed asks rarely and seldom has to wait for the answer.
 */
const fastExtensionMs = 2_000;
const maxExtensionTokens = 65_536;
/** Pause between two tries to extend while the ledger is out of reach. */
const retryMs = 500;

/** Why a stream is stopped. */
export type StopReason =
  /** The budget is used up. */
  | 'budget'
  /** The ledger is out of reach and the last known free money is used up; whether there is more is not known. */
  | 'ledger_unavailable';

export interface BrakeParts {
  /** What was reserved when the request was admitted, pico-USD. */
  held: PicoUsd;
  /** What the account had free beside it then. */
  freeAfter: PicoUsd;
  prices: UnitPrices;
  /** What the context probably costs as long as the upstream has not said. */
  estimatedInputTokens: number;
  /** Plausible bounds of what the upstream reports. */
  bounds: TokenBounds;
  /** Output tokens of all answers that the request can have: extensions reserve no more than is still to come. */
  maxOutputTokens: number;
  /** Reasoning that the stream does not show; null where the model does not reason. */
  reasoning: HiddenReasoning | null;
  /** Shared by the account's streams. */
  credit: AccountCredit;
  /**
   * Reserves more; resolves to what was added, which is less than asked for only when nothing more is free. Rejects when
   * the ledger is out of reach.
   */
  extend: (more: PicoUsd) => Promise<PicoUsd>;
  /** Called once when the stream must end. */
  stop: (reason: StopReason) => void;
  /** Called when a stream that had to wait for the ledger may go on. */
  resume: () => void;
}

export interface Brake {
  /**
   * To be called after every chunk, and a few times a second while nothing comes; cheap unless something has to be done.
   * `reading`: false while the stream is held back, so that its silence is nobody's reasoning.
   */
  check(account: ReportedUsage, now: number, reading?: boolean): void;
  /**
   * The hold is used up and the ledger has not yet said whether there is more: nothing further may be read until
   * `resume`, or an upstream faster than the ledger would be relayed for free.
   */
  readonly waiting: boolean;
  /** Tokens of reasoning that the stream has not shown, as of the last check. */
  readonly hiddenTokens: number;
  /** To be called once when the stream is over. */
  close(): void;
}

export function createBrake(parts: BrakeParts): Brake {
  const { held, prices, estimatedInputTokens, bounds, maxOutputTokens, reasoning, credit } = parts;
  const { extend, stop, resume } = parts;
  let reserved = held;
  /** What the account had free when the ledger last answered, less what this stream has taken of it since. */
  let knownFree = parts.freeAfter;
  /** What of `knownFree` this stream may use while the ledger is out of reach. */
  let credited = 0n;
  let ledgerAway = false;
  let extending = false;
  let dry = false;
  let stopped = false;
  let spent = 0n;
  let askedAt = Number.NEGATIVE_INFINITY;
  let extensionTokens = firstExtensionTokens;
  /** Below this many output tokens, and with the same reported input, nothing needs to be computed. */
  let nextCheckAt = 0;
  let knownInput = false;
  const free = prices.output === 0n && prices.input === 0n;

  const outputOf = (account: ReportedUsage, now: number, reading: boolean): number => {
    const shown = estimateOutput(account);
    const reported = Math.min(account.usage?.output ?? 0, bounds.output);
    if (reasoning === null) return Math.max(shown, reported);
    // The final report counts the reasoning itself.
    const hidden = account.usage !== null && !account.partial ? 0 : reasoning.see(shown, now, reading);
    brake.hiddenTokens = Math.max(0, Math.min(hidden, maxOutputTokens - shown));
    return Math.max(shown + brake.hiddenTokens, reported);
  };

  const costSoFar = (account: ReportedUsage, output: number): PicoUsd => {
    const { usage } = withinBounds(account, bounds);
    const pools = usage ?? { ...noTokens, cacheHit: estimatedInputTokens };
    return cost({ ...pools, output }, prices);
  };

  const end = (reason: StopReason): void => {
    stopped = true;
    brake.waiting = false;
    stop(reason);
  };

  /** What the rest of the answer costs beyond what is reserved; negative when all of it is. */
  const unreserved = (output: number): PicoUsd =>
    BigInt(Math.max(0, maxOutputTokens - output)) * prices.output - (reserved > spent ? reserved - spent : 0n);

  /** What the next extension asks for beyond what is spent already. */
  const extensionPico = (output: number): PicoUsd => {
    const rest = unreserved(output);
    const step = BigInt(extensionTokens) * prices.output;
    // An upstream that does not heed the cap, or an estimate that is too high: the answer goes on nevertheless.
    if (rest <= 0n) return BigInt(firstExtensionTokens) * prices.output;
    return rest < step ? rest : step;
  };

  const ask = (output: number, now: number): void => {
    if (now - askedAt < fastExtensionMs && !ledgerAway)
      extensionTokens = Math.min(extensionTokens * 2, maxExtensionTokens);
    askedAt = now;
    extending = true;
    const wanted = (spent > reserved ? spent - reserved : 0n) + extensionPico(output);
    extend(wanted).then(
      (added) => answered(added, wanted),
      () => unanswered(output),
    );
  };

  const answered = (added: PicoUsd, wanted: PicoUsd): void => {
    extending = false;
    ledgerAway = false;
    reserved += added;
    knownFree = added < knownFree ? knownFree - added : 0n;
    credit.giveBack(credited);
    credited = 0n;
    // Once less was left than asked for, every cent is already reserved: ask again only when it is used up.
    dry = added < wanted;
    nextCheckAt = 0;
    if (stopped) return;
    if (dry && spent >= reserved) end('budget');
    else goOn();
  };

  const unanswered = (output: number): void => {
    extending = false;
    ledgerAway = true;
    if (!stopped && goOnCredit(output)) goOn();
  };

  const goOn = (): void => {
    if (!brake.waiting) return;
    brake.waiting = false;
    resume();
  };

  /** Whether the stream may go on while the ledger is out of reach; ends it otherwise. */
  const goOnCredit = (output: number): boolean => {
    const missing = spent - reserved - credited;
    if (missing < 0n) return true;
    credited += credit.take(missing + extensionPico(output), knownFree);
    if (spent < reserved + credited) return true;
    end('ledger_unavailable');
    return false;
  };

  const check = (account: ReportedUsage, now: number, reading = true): void => {
    if (stopped || free) return;
    const output = outputOf(account, now, reading && !brake.waiting);
    if (extending) {
      spent = costSoFar(account, output);
      brake.waiting = spent >= reserved + credited;
      return;
    }
    const inputIsKnown = account.usage !== null;
    if (!ledgerAway && output < nextCheckAt && inputIsKnown === knownInput) return;
    knownInput = inputIsKnown;

    spent = costSoFar(account, output);
    if (ledgerAway) {
      if (goOnCredit(output) && now - askedAt >= retryMs) ask(output, now);
      return;
    }
    const mark = dry || unreserved(output) <= 0n ? reserved : (reserved * 4n) / 5n;
    if (spent < mark) {
      // Half of what may still come, so that estimates which jump are noticed in time.
      nextCheckAt =
        prices.output === 0n ? output + 64 : output + Math.max(1, Number((mark - spent) / prices.output) >> 1);
      return;
    }
    brake.waiting = spent >= reserved;
    ask(output, now);
  };

  const brake: { -readonly [K in keyof Brake]: Brake[K] } = {
    check,
    waiting: false,
    hiddenTokens: 0,
    close() {
      stopped = true;
      credit.giveBack(credited);
      credited = 0n;
    },
  };
  return brake;
}
