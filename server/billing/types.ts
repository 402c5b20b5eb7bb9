import type { PicoUsd } from '../core/money.ts';
import type { Outcome } from '../core/outcome.ts';
import type { FrozenPrice } from '../core/price.ts';
import type { Protocol } from '../core/protocol.ts';
import type { CacheWrite } from '../core/request.ts';
import type { TokenPools, UsageSource } from '../core/tokens.ts';
import type { Part } from './budget.ts';

/** A request, as the money path names it. Ids are lower-case UUIDs; `requestId` is a UUIDv7, used once. */
export interface RequestRef {
  accountId: string;
  requestId: string;
}

/** Asks to start a request. */
export interface AdmitAsk extends RequestRef {
  keyId: string;
  /** A catalog id. */
  model: string;
  /** Bytes of the request's text. */
  textBytes: number;
  /** A bound on the tokens of images and documents. */
  mediaTokens: number;
  cacheWrite: CacheWrite;
  /** The caller's cap on the answer; null without one. */
  maxTokens: number | null;
  /** Answers asked for at once. */
  answers: number;
  stream: boolean;
  /** As in `RequestSize`. */
  contextRuns: number;
}

/** The request may run: its hold is committed. */
export interface Admitted {
  kind: 'admitted';
  /** What is held. */
  amount: PicoUsd;
  /** What the account (or the key's limit) left free beside it. */
  freeAfter: PicoUsd;
  /** What the request is charged at, whatever the catalog says later. */
  price: FrozenPrice;
  contextWindow: number;
  maxOutputTokens: number;
  /** Nothing but a trial pays for this account. */
  trialOnly: boolean;
}

type RefusalReason =
  /** Unknown, deleted or expired, or of another account. */
  | 'key_invalid'
  | 'suspended'
  /** Nothing is free and nothing will come back. */
  | 'exhausted'
  /** Not in the catalog, switched off, or without a valid price. */
  | 'model'
  | 'model_not_allowed'
  /** The key's own limit. */
  | 'key_limit'
  /** There is budget, but less than the request needs at the very least. */
  | 'budget_below_minimum'
  /** There is enough, but running requests of this account (or key) hold it. */
  | 'reserved'
  /** The database or the disk is out of reach, or the queue is too long: nothing can be promised. */
  | 'unavailable';

export interface Refused {
  kind: 'refused';
  reason: RefusalReason;
  /** Grants that have ended do not count. Zero when it is not known (`unavailable`). */
  balance: { free: PicoUsd; held: PicoUsd };
  /** With `reserved`: escrows of the account have money that they may give back. Of no meaning outside of billing. */
  mayReturn?: boolean;
  /**
   * With `key_limit`, `budget_below_minimum`, `reserved`, and `exhausted` if the model is known: the least that the
   * request needs.
   */
  required?: PicoUsd;
  /**
   * With `exhausted`, `budget_below_minimum` and `reserved`: the longest answer that the free budget pays for. Zero:
   * not even the context.
   */
  affordableMaxTokens?: number;
  /** With `key_limit`: the limit that was reached. */
  keyLimit?: { period: 'day' | 'month' | 'lifetime'; limit: PicoUsd; spent: PicoUsd; held: PicoUsd };
}

/** What a request was promised out of an escrow: it pays from there first. */
export interface EscrowPromise {
  escrowId: string;
  parts: readonly Part[];
}

/** How a request ended: everything that its ledger entry says. No content. */
export interface Settlement extends RequestRef {
  keyId: string;
  model: string;
  upstream: string;
  protocol: Protocol;
  stream: boolean;
  usage: TokenPools;
  price: FrozenPrice;
  /** What the operator pays the upstream; null when the route does not say. */
  upstreamCost: PicoUsd | null;
  latencyMs: number;
  timeToFirstByteMs: number | null;
  outcome: Outcome;
  usageSource: UsageSource;
  /** Without it, the request has a hold of its own, or none any more. */
  promise?: EscrowPromise;
}

export interface Settled {
  cost: PicoUsd;
  /** Less than the cost only when nothing was left. */
  charged: PicoUsd;
  /** What the account could still spend right after this charge. */
  freeAfter: PicoUsd;
  /** The request had been settled before; the figures are those of that time. */
  duplicate: boolean;
}

/** A projection of the grants of an account. */
export interface Balance {
  granted: PicoUsd;
  charged: PicoUsd;
  held: PicoUsd;
  /** Includes what has ended and waits to be posted. */
  expired: PicoUsd;
  free: PicoUsd;
}
