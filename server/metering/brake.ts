import type { PicoUsd } from '../core/money.ts';
import { cost, dearestWithin, pricesAt, promptTokens, type TieredPrices, type UnitPrices } from '../core/price.ts';
import { noTokens, type ReportedUsage } from '../core/tokens.ts';
import { type TokenBounds, withinBounds } from './bound.ts';
import { estimateOutput, mostOutput } from './estimate.ts';
import type { OutageAllowance } from './outage-allowance.ts';
import type { HiddenReasoning } from './reasoning.ts';

/**
 * The spend brake of one running stream. The cost so far is compared with the hold: at four fifths the hold is
 * extended (of what it has for the answer); when nothing more can be reserved and the hold is used up, the stream is stopped. A stream can therefore
 * cost at most its reservations plus one chunk.
 *
 * What the upstream has not reported yet counts with its bound: the prompt and the pieces with all that they can come to, a
 * token for each byte of the answer. When the prompt is reported, what its bound had beyond that is free again. One stream of
 * an account at a time may cost more than its hold: there the same counts by estimates. A stream whose hold is used
 * up by bounds becomes that one, or waits for it a moment, before it is stopped.
 *
 * While the ledger is out of reach, the free budget is unknown. The stream then continues on the account's last known
 * free money (`outage-allowance.ts`), and is stopped with `ledger_unavailable` when that is used up.
 *
 * Moments are monotonic milliseconds and come in as arguments.
 */

/** Output tokens that the first extension reserves. */
const firstExtensionTokens = 4_096;
/**
 * A stream that needs another extension within this time gets one twice as large, so that a stream of any speed asks
 * rarely and seldom waits for the ledger.
 */
const fastExtensionMs = 2_000;
const maxExtensionTokens = 65_536;
/** Searches and images that an extension reserves, for an answer that has made some. */
const extensionSearches = 4n;
const extensionImages = 1n;
/** Pause between two tries to extend while the ledger is out of reach, or others hold what is missing. */
const retryMs = 500;
/** How long a stream waits for what the account's other requests hold. */
const maxWaitMs = 5_000;
/** What is less than this part of the free money makes no difference to other requests, and is kept until the end. */
const worthSharing = 8n;

/** Why a stream is stopped. */
export type StopReason =
  /** The budget is used up. */
  | 'budget'
  /** The ledger is out of reach and the last known free money is used up. */
  | 'ledger_unavailable';

export interface BrakeParts {
  /** The hold at admission, pico-USD. */
  held: PicoUsd;
  /** Free money of the account beside the hold at admission, pico-USD. */
  freeAfter: PicoUsd;
  prices: TieredPrices;
  /** A bound on the prompt's tokens: the dearest prices that it can reach count until the upstream reports. */
  promptBound: number;
  /** Estimated input tokens until the upstream reports them. */
  estimatedInputTokens: number;
  /** The most that the prompt and the pieces can cost, pico-USD. */
  contextBound: PicoUsd;
  /** How often the model may read its context: what it reports of the first time is not all then. */
  contextRuns: number;
  /** It is the account's one stream that may cost more than its hold. */
  uncovered: boolean;
  /** The request's bound: what is reported above it is not charged. */
  bounds: TokenBounds;
  /** Reasoning that the stream does not show; null where the model does not reason. */
  reasoning: HiddenReasoning | null;
  /** Shared by the account's streams. */
  allowance: OutageAllowance;
  /**
   * Extends the hold; resolves to the amount added, which is less than asked for only when nothing more is free.
   * Rejects when the ledger is out of reach.
   */
  extend: (more: PicoUsd) => Promise<PicoUsd>;
  /** Frees what the hold has beyond `keep`. */
  shrink: (keep: PicoUsd) => void;
  /** Makes the stream the account's one that may cost more than its hold; resolves to whether it is. Rejects like `extend`. */
  uncover: () => Promise<boolean>;
  /** Called once when the stream must end. */
  stop: (reason: StopReason) => void;
  /** Called when a stream that had to wait for the ledger may go on. */
  resume: () => void;
}

export interface Brake {
  /**
   * To be called after every chunk, and a few times a second during silence; cheap unless an extension or a stop is
   * due. `reading`: false while the stream is held back, so that the pause does not count as reasoning.
   */
  check(account: ReportedUsage, now: number, reading?: boolean): void;
  /**
   * The hold is used up and the ledger has not answered yet: no further bytes may be read until `resume`, or an
   * upstream faster than the ledger would be relayed for free.
   */
  readonly waiting: boolean;
  /** Tokens of reasoning that the stream has not shown, as of the last check. */
  readonly hiddenTokens: number;
  /** Those that may be charged without a report: after the client left, no more than it had waited for. */
  readonly awaitedTokens: number;
  /** The client left; what follows is read for the report alone. */
  clientLeft(): void;
  /** To be called once when the stream is over. */
  close(): void;
}

export function createBrake(parts: BrakeParts): Brake {
  return new SpendBrake(parts);
}

class SpendBrake implements Brake {
  waiting = false;
  hiddenTokens = 0;
  /** Hidden tokens when the client left. */
  private leftAt = Number.POSITIVE_INFINITY;
  private readonly parts: BrakeParts;
  private reserved: PicoUsd;
  /** Part of the hold that is kept out of `reserved` for the minutes of audio, until the upstream reports them. */
  private keptForMinutes: PicoUsd;
  /** Free money of the account at the ledger's last answer, less this stream's extensions since. */
  private knownFree: PicoUsd;
  /** Part of `knownFree` that this stream has taken while the ledger is out of reach. */
  private allowed = 0n;
  private spent = 0n;
  private ledgerAway = false;
  private extending = false;
  /** The last extension added less than it asked for. */
  private dry = false;
  private stopped = false;
  private askedAt = Number.NEGATIVE_INFINITY;
  private extensionTokens = firstExtensionTokens;
  private uncovered: boolean;
  /** When nothing more could be reserved while another stream was the uncovered one. */
  private waitsSince = Number.POSITIVE_INFINITY;
  /** Below this many output tokens, and with the same reported input and pieces, nothing needs to be computed. */
  private nextCheckAt = 0;
  private knownInput = false;
  /** Searches, images and minutes at the last computation of the cost: they cost money without adding output. */
  private knownPieces: Pieces = noPieces;
  /** The set of prices that the prompt comes to, as far as it is known. */
  private prices: UnitPrices;

  constructor(parts: BrakeParts) {
    this.parts = parts;
    this.knownFree = parts.freeAfter;
    this.prices = dearestWithin(parts.prices, parts.promptBound);
    this.uncovered = parts.uncovered;
    this.keptForMinutes = parts.uncovered ? minutesWithin(parts, this.prices) : 0n;
    this.reserved = parts.held - this.keptForMinutes;
    this.stopped = isFree(parts.prices);
  }

  check(account: ReportedUsage, now: number, reading = true): void {
    if (this.stopped) return;
    if (account.minutes !== undefined) this.useMinutes();
    let output = this.outputOf(account, now, reading && !this.waiting);
    if (this.extending) {
      this.spent = this.costSoFar(account, output);
      this.waiting = !this.isCovered(output);
      return;
    }
    const inputIsKnown = account.usage !== null;
    const isFirst = inputIsKnown && !this.knownInput;
    const hasNews = inputIsKnown !== this.knownInput || !isSamePieces(account, this.knownPieces);
    if (!this.ledgerAway && output < this.nextCheckAt && !hasNews) return;
    this.knownInput = inputIsKnown;

    this.spent = this.costSoFar(account, output);
    if (this.ledgerAway) {
      if (this.goesOnAllowance(output) && now - this.askedAt >= retryMs) this.ask(output, now);
      return;
    }
    if (isFirst && this.parts.contextRuns === 1) this.share(account);
    output = this.countOf(account);
    // Once nothing more can be reserved, only the end of the hold matters.
    const isAllReserved = this.dry || this.unreserved(output) <= 0n;
    // What is held for the prompt's bound is not the answer's.
    const context = this.uncovered ? 0n : this.spent - BigInt(output) * this.prices.output;
    const mark = isAllReserved ? this.reserved : this.reserved - (this.reserved - context) / 5n;
    // A request is charged its bound at most.
    if (this.spent < mark || this.reserved >= this.mostAt(output)) {
      // Check again after half of the remaining tokens, so that a jump of an estimate is noticed in time.
      const { output: price } = this.prices;
      const margin = price === 0n || this.spent >= mark ? 64 : Math.max(1, Number((mark - this.spent) / price) >> 1);
      this.nextCheckAt = output + margin;
      return;
    }
    this.waiting = this.spent >= this.reserved;
    if (this.waitsSince < now && now - this.askedAt < retryMs) return;
    this.ask(output, now);
  }

  get awaitedTokens(): number {
    return Math.min(this.hiddenTokens, this.leftAt);
  }

  clientLeft(): void {
    this.leftAt = Math.min(this.leftAt, this.hiddenTokens);
  }

  close(): void {
    this.stopped = true;
    this.returnAllowance();
  }

  /** Output tokens so far: visible and hidden ones, or the upstream's report if that is more. */
  private outputOf(account: ReportedUsage, now: number, reading: boolean): number {
    const { reasoning, bounds } = this.parts;
    const shown = estimateOutput(account);
    // The final report includes the hidden reasoning.
    const isFinal = account.usage !== null && !account.partial;
    const hidden = reasoning === null || isFinal ? 0 : reasoning.see(shown, now, reading);
    this.hiddenTokens = Math.max(0, Math.min(hidden, bounds.output - shown));
    return this.countOf(account);
  }

  private countOf(account: ReportedUsage): number {
    const { bounds } = this.parts;
    const reported = Math.min(account.usage?.output ?? 0, bounds.output);
    const isFinal = account.usage !== null && !account.partial;
    const shown = this.uncovered || isFinal ? estimateOutput(account) : mostOutput(account);
    // More than its bound is never charged.
    return Math.min(Math.max(shown + this.hiddenTokens, reported), bounds.output);
  }

  private costSoFar(account: ReportedUsage, output: number): PicoUsd {
    const { bounds, estimatedInputTokens, prices, contextBound, contextRuns } = this.parts;
    const within = withinBounds(account, bounds);
    const { usage } = within;
    const { searches = 0, images = 0, minutes = 0 } = account;
    this.knownPieces = { searches, images, minutes };
    if (usage !== null && prices.tiers !== undefined) this.prices = pricesAt(prices, promptTokens(usage));
    if (this.uncovered) {
      const pools = usage ?? { ...noTokens, cacheHit: estimatedInputTokens };
      return cost({ ...pools, output }, this.prices) + piecesCost(within, prices);
    }
    const answer = BigInt(output) * this.prices.output;
    if (usage === null || contextRuns > 1) return contextBound + answer;
    const isFinal = !account.partial;
    return cost({ ...usage, output: 0 }, this.prices) + answer + piecesCost(isFinal ? within : bounds, prices);
  }

  /** The most that the request can be charged, as far as is known by now. */
  private mostAt(output: number): PicoUsd {
    const { bounds, prices } = this.parts;
    // Where bounds count, the pieces that may still come are part of what is spent.
    const pieces = this.uncovered ? piecesCost(bounds, prices) - piecesCost(this.knownPieces, prices) : 0n;
    const rest = BigInt(Math.max(0, bounds.output - output)) * this.prices.output;
    return this.spent + rest + (pieces > 0n ? pieces : 0n);
  }

  /** The prompt is counted: what is held for the rest of its bound is free for others, where that makes a difference. */
  private share(account: ReportedUsage): void {
    const { bounds, shrink } = this.parts;
    const wasUncovered = this.uncovered;
    this.uncovered = false;
    const output = this.countOf(account);
    const covered = this.costSoFar(account, output);
    const step = BigInt(Math.min(firstExtensionTokens, Math.max(0, bounds.output - output))) * this.prices.output;
    const keep = covered + step;
    const excess = this.reserved + this.keptForMinutes - keep;
    if (wasUncovered ? excess < 0n : excess * worthSharing <= this.knownFree) {
      this.uncovered = wasUncovered;
      return;
    }
    shrink(keep);
    this.reserved = keep;
    this.keptForMinutes = 0n;
    this.knownFree += excess;
    this.spent = covered;
  }

  /** Cost of the rest of the answer beyond the hold; negative when the hold covers it. */
  private unreserved(output: number): PicoUsd {
    const { prices } = this;
    const rest = BigInt(Math.max(0, this.parts.bounds.output - output)) * prices.output;
    return rest - (this.reserved > this.spent ? this.reserved - this.spent : 0n);
  }

  /** Size of the next extension beyond the cost so far. */
  private extensionPico(output: number): PicoUsd {
    const { prices } = this;
    // An answer that searches or draws may go on with that instead of text.
    const { perUnit } = this.parts.prices;
    const pieces =
      (this.knownPieces.searches === 0 ? 0n : extensionSearches * (perUnit?.search ?? 0n)) +
      (this.knownPieces.images === 0 ? 0n : extensionImages * (perUnit?.image ?? 0n));
    const rest = this.unreserved(output);
    if (rest <= 0n) return pieces;
    const step = BigInt(this.extensionTokens) * prices.output;
    return dearer(pieces, rest < step ? rest : step);
  }

  /** The minutes are reported and part of the cost from now on. */
  private useMinutes(): void {
    this.reserved += this.keptForMinutes;
    this.keptForMinutes = 0n;
  }

  private ask(output: number, now: number): void {
    if (now - this.askedAt < fastExtensionMs && !this.ledgerAway)
      this.extensionTokens = Math.min(this.extensionTokens * 2, maxExtensionTokens);
    this.askedAt = now;
    this.extending = true;
    const overrun = this.spent > this.reserved ? this.spent - this.reserved : 0n;
    const most = this.mostAt(output) - this.reserved;
    const asked = overrun + this.extensionPico(output);
    const wanted = asked < most ? asked : most;
    this.extend(wanted, now).then(
      () => this.answered(),
      () => this.unanswered(output),
    );
  }

  /** Extends the hold; where too little is left for what counts by bounds, the stream becomes the uncovered one. */
  private async extend(wanted: PicoUsd, now: number): Promise<void> {
    const added = await this.parts.extend(wanted);
    this.reserved += added;
    this.knownFree = added < this.knownFree ? this.knownFree - added : 0n;
    this.dry = added < wanted;
    if (!this.dry) this.waitsSince = Number.POSITIVE_INFINITY;
    if (!this.dry || this.stopped || this.uncovered || this.spent < this.reserved) return;
    if (await this.parts.uncover()) {
      this.uncovered = true;
      this.waitsSince = Number.POSITIVE_INFINITY;
      // What has come so far counts by estimates at the next check.
      this.spent = 0n;
    } else this.waitsSince = Math.min(this.waitsSince, now);
  }

  private answered(): void {
    this.extending = false;
    this.ledgerAway = false;
    this.returnAllowance();
    this.nextCheckAt = 0;
    if (this.stopped) return;
    if (!this.dry || this.spent < this.reserved) return this.goOn();
    const isWaiting = Number.isFinite(this.waitsSince) && this.askedAt - this.waitsSince < maxWaitMs;
    if (isWaiting) this.waiting = true;
    else this.end('budget');
  }

  private unanswered(output: number): void {
    this.extending = false;
    this.ledgerAway = true;
    if (!this.stopped && this.goesOnAllowance(output)) this.goOn();
  }

  /** Whether the stream may go on while the ledger is out of reach; ends it otherwise. */
  private goesOnAllowance(output: number): boolean {
    if (this.isCovered(output)) return true;
    const missing = this.spent - this.reserved - this.allowed;
    this.allowed += this.parts.allowance.take(missing + this.extensionPico(output), this.knownFree);
    if (this.isCovered(output)) return true;
    this.end('ledger_unavailable');
    return false;
  }

  /** Whether the hold, and what was taken from the allowance, is not used up, or is all that can be charged. */
  private isCovered(output: number): boolean {
    const held = this.reserved + this.allowed;
    return this.spent < held || this.mostAt(output) <= held;
  }

  private returnAllowance(): void {
    this.parts.allowance.giveBack(this.allowed);
    this.allowed = 0n;
  }

  private goOn(): void {
    if (!this.waiting) return;
    this.waiting = false;
    this.parts.resume();
  }

  private end(reason: StopReason): void {
    this.stopped = true;
    this.waiting = false;
    this.parts.stop(reason);
  }
}

const dearer = (a: PicoUsd, b: PicoUsd): PicoUsd => (a > b ? a : b);

/** What is counted by the piece, as reported. */
type Pieces = Required<Pick<ReportedUsage, 'searches' | 'images' | 'minutes'>>;
const noPieces: Pieces = { searches: 0, images: 0, minutes: 0 };

function isSamePieces({ searches = 0, images = 0, minutes = 0 }: ReportedUsage, known: Pieces): boolean {
  return searches === known.searches && images === known.images && minutes === known.minutes;
}

function piecesCost(
  { searches = 0, images = 0, minutes = 0 }: Partial<Pieces>,
  { perUnit = {} }: TieredPrices,
): PicoUsd {
  return (
    BigInt(searches) * (perUnit.search ?? 0n) +
    BigInt(images) * (perUnit.image ?? 0n) +
    BigInt(minutes) * (perUnit.minute ?? 0n)
  );
}

/** What a hold has for minutes of audio, beyond the prompt and the first step of the answer. */
function minutesWithin({ held, bounds, estimatedInputTokens, prices }: BrakeParts, dearest: UnitPrices): PicoUsd {
  const all = BigInt(bounds.minutes) * (prices.perUnit?.minute ?? 0n);
  const text = BigInt(estimatedInputTokens) * dearest.input + BigInt(firstExtensionTokens) * dearest.output;
  if (held <= text) return 0n;
  return held - text < all ? held - text : all;
}

/** Whether nothing that an answer may use has a price. */
function isFree(prices: TieredPrices): boolean {
  const sets: readonly UnitPrices[] = [prices, ...(prices.tiers ?? [])];
  return (
    Object.values(prices.perUnit ?? {}).every((price) => price === 0n) &&
    sets.every((set) =>
      [set.input, set.cacheHit, set.cacheWrite5m, set.cacheWrite1h, set.output].every((price) => price === 0n),
    )
  );
}
