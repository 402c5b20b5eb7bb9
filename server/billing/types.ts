import type { Attribution } from '../core/attribution.ts';
import type { PicoUsd } from '../core/money.ts';
import type { Outcome } from '../core/outcome.ts';
import type { EntryPrice, FrozenPrice, RunLine, UnitLine } from '../core/price.ts';
import type { Protocol } from '../core/protocol.ts';
import type { LimitOwner } from '../core/spend-limits.ts';
import type { TokenPools, UsageSource } from '../core/tokens.ts';
import type { Part } from './rules/budget.ts';
import type { RequestSize } from './rules/hold-size.ts';
import type { Room } from './rules/spend-limit.ts';

/** The values that the ledger takes and returns. */

/** A request, as the money path names it. Ids are lower-case UUIDs; `requestId` is a UUIDv7, used once. */
export interface RequestRef {
  accountId: string;
  requestId: string;
}

/** Asks to start a request. */
export interface AdmitAsk extends RequestRef, RequestSize {
  keyId: string;
  /** A catalog id. */
  model: string;
}

/** The request may run: its hold is committed. */
export interface Admitted {
  kind: 'admitted';
  /** The held amount. */
  amount: PicoUsd;
  /** Free money of the account (or room of the key's limit) beside the hold. */
  freeAfter: PicoUsd;
  /** The price of the request, whatever changes in the catalog later. */
  price: FrozenPrice;
  /** By the database's clock, milliseconds: prices and costs with windows are those of this moment. */
  admittedAtMs: number;
  contextWindow: number;
  maxOutputTokens: number;
  /** The account has only trial budget. */
  trialOnly: boolean;
  /** The most that its prompt and its pieces can cost. */
  contextBound: PicoUsd;
  /** It may cost more than its hold, as one at a time of an account. A stream's brake goes by estimates then. */
  uncovered: boolean;
}

type RefusalReason =
  /** Unknown, deleted or expired, or of another account. */
  | 'key_invalid'
  | 'suspended'
  /** Nothing is free and no hold will be freed. */
  | 'exhausted'
  /** Not in the catalog, switched off, or without a valid price. */
  | 'model'
  | 'model_not_allowed'
  /** The prompt may have more tokens than the model's prices reach. */
  | 'prompt_unpriced'
  /** The model's prices lack what the request asks for: its tier, speed or region. */
  | 'variant_unpriced'
  /** A spending limit of the key, or of the account over all its keys. */
  | 'key_limit'
  | 'account_limit'
  /** A limit that the key shares: with the others that its maker made, or with those of its project. */
  | 'member_limit'
  | 'project_limit'
  /** What the key may spend within so many minutes. */
  | 'burn_limit'
  /** The budget is below the minimum that the request needs. */
  | 'budget_below_minimum'
  /** The budget is sufficient, but running requests of this account (or key) hold it. */
  | 'reserved'
  /** The database or the disk is out of reach, or the queue is too long. */
  | 'unavailable';

/** A spending limit that does not leave what a request needs. */
export interface ReachedLimit {
  of: LimitOwner;
  period: Room['period'];
  limit: PicoUsd;
  /** Charged in the period; what is held beside it may come back. */
  spent: PicoUsd;
  held: PicoUsd;
  /** When the request fits again, by the database's clock, if nothing else is spent; null: not without a change. */
  returnsAtMs: number | null;
  /** With `burn`: the length of its window. */
  burnMinutes?: number;
}

export interface Refused {
  kind: 'refused';
  reason: RefusalReason;
  /** Ended grants do not count. Zero when unknown (`unavailable`). */
  balance: { free: PicoUsd; held: PicoUsd };
  /** With `reserved`: escrows of the account have money that they may return. Internal to billing. */
  mayReturn?: boolean;
  /**
   * With the limits, `budget_below_minimum`, `reserved`, and `exhausted` if the model is known: the minimum that the
   * request needs.
   */
  required?: PicoUsd;
  /** With `required`: the most that the request can cost. */
  bound?: PicoUsd;
  /**
   * With `exhausted`, `budget_below_minimum` and `reserved`: the longest answer that the free budget pays for. Zero:
   * not even the context.
   */
  affordableMaxTokens?: number;
  /** With `prompt_unpriced`: the longest prompt that has a price. */
  maxPromptTokens?: number;
  /** With `key_limit`, `member_limit`, `project_limit`, `account_limit` and `burn_limit`: the limit that was reached. */
  spendLimit?: ReachedLimit;
}

/** Asks to hold the whole bound of a batch that a vendor answers later. `requestId` is the batch's own id. */
export interface SetAsideAsk extends RequestRef {
  keyId: string;
  /** The sum of the bounds of its lines. */
  amount: PicoUsd;
  /** The models of its lines, with the price versions that the amount was computed at. */
  models: readonly { model: string; priceId: string }[];
}

/** The batch may be sent: its hold is committed. */
export interface SetAside {
  kind: 'set_aside';
  /** Free money of the account (or room of the key's limit) beside the hold. */
  freeAfter: PicoUsd;
}

/** A price that the amount was computed at is not valid any more: nothing is held. */
export interface Repriced {
  kind: 'repriced';
}

/** The parts of an escrow that were promised to a request, which pay first. */
export interface EscrowPromise {
  escrowId: string;
  parts: readonly Part[];
}

/** The end of a request: everything in its ledger entry. No content. */
export interface Settlement extends RequestRef {
  keyId: string;
  model: string;
  upstream: string;
  protocol: Protocol;
  stream: boolean;
  usage: TokenPools;
  price: EntryPrice;
  /** What is charged by the piece; left out: nothing. */
  units?: readonly UnitLine[];
  /** Runs of other models, at most `MAX_RUN_LINES`; left out: none. */
  lines?: readonly RunLine[];
  /** Cost of the upstream for the operator; null when the route has no costs. */
  upstreamCost: PicoUsd | null;
  latencyMs: number;
  timeToFirstByteMs: number | null;
  outcome: Outcome;
  usageSource: UsageSource;
  /** Written beside the entry, in its transaction; left out: nothing is noted. */
  attribution?: Attribution;
  /** Without it, the request has its own hold, or no longer any. */
  promise?: EscrowPromise;
}

export interface Settled {
  cost: PicoUsd;
  /** Less than the cost only when nothing was left for the request. */
  charged: PicoUsd;
  /** Free money of the account right after this charge. */
  freeAfter: PicoUsd;
  /** The request was settled before; the figures are from then. */
  duplicate: boolean;
}

/** Sums over the grants of an account. */
export interface Balance {
  granted: PicoUsd;
  charged: PicoUsd;
  held: PicoUsd;
  /** Includes ended grants whose expiry is not posted yet. */
  expired: PicoUsd;
  free: PicoUsd;
}
