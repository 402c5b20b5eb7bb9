import { MAX_PICO, type PicoUsd } from '../../core/money.ts';
import type { Outcome } from '../../core/outcome.ts';
import { entryCost, type VersionPrice } from '../../core/price.ts';
import { frozenAt } from '../../core/price-clock.ts';
import type { LimitOwner, SpendLimits } from '../../core/spend-limits.ts';
import { addTokens, noTokens, type TokenPools } from '../../core/tokens.ts';
import { advance, common, minus, plus } from '../escrow/escrow.ts';
import type { PromisedCharge } from '../escrow/promised-charges.ts';
import * as budget from '../rules/budget.ts';
import {
  affordableTokens,
  type Cover,
  chooseHold,
  coveredTokens,
  coverOf,
  holdSize,
  isUnpriced,
  isVariantUnpriced,
  type ModelSize,
  requiredFor,
} from '../rules/hold-size.ts';
import type { SharedLimit } from '../rules/shared-limits.ts';
import {
  addCharged,
  addHeld,
  type KeyLimits,
  noSpend,
  type Room,
  returnsAt,
  type Spend,
  spendRoom,
  tighter,
} from '../rules/spend-limit.ts';
import type {
  AdmitAsk,
  Admitted,
  Refused,
  Repriced,
  RequestRef,
  SetAside,
  SetAsideAsk,
  Settled,
  Settlement,
} from '../types.ts';

/**
 * Decides one batch of the ledger: operations and facts read under lock in, results and changes out. Pure. Operations
 * of the same account see the effects of the ones before them in the batch.
 */
export type Operation =
  /**
   * `final`: charges the available money even if it is less than the cost. Otherwise such a settlement is put off while
   * an escrow of the account may have idle money, or other requests of it hold some. `promised`: its promise pays for all of it.
   */
  | { kind: 'settle'; settlement: Settlement; final?: boolean; promised?: PromisedCharge }
  /** Returns an escrow's money beyond `keep` to the account. Idempotent. */
  | { kind: 'trim'; accountId: string; escrowId: string; keep: readonly budget.Part[] }
  | Refill
  /** `onlyIfOrphaned`: only when the lease of the hold's process has ended. */
  | ({ kind: 'release'; onlyIfOrphaned: boolean } & RequestRef)
  | ({ kind: 'extend'; morePico: PicoUsd } & RequestRef)
  /** The request becomes the one that may cost more than its hold, if its account has none. Idempotent. */
  | ({ kind: 'uncover' } & RequestRef)
  /** Frees what a hold has beyond `keep`, which covers its request from now on. Idempotent. */
  | ({ kind: 'shrink'; keep: PicoUsd } & RequestRef)
  /** Expires the free money of the account's ended grants. */
  | { kind: 'expire'; accountId: string }
  | { kind: 'set_aside'; ask: SetAsideAsk }
  | { kind: 'admit'; ask: AdmitAsk };

/** Adds to an escrow, or opens it: the money that a request needs beyond it, and an advance. */
export interface Refill {
  kind: 'refill';
  accountId: string;
  keyId: string;
  escrowId: string;
  /** The escrow has no row yet. */
  isNew: boolean;
  priceId: string;
  /** Money for a running request, as far as it is free. */
  exact: PicoUsd;
  /** As in `AdvanceAsk`. */
  need: PicoUsd;
  wanted: PicoUsd;
}

export type Result =
  /** `own`: the parts that its promise has paid. Null: its escrow has no row, or it was settled before. */
  | { kind: 'settled'; settled: Settled; own: readonly budget.Part[] | null }
  /**
   * Put off: the charge would be below the cost although other escrows of the account may have idle money, or, of the request on
   * credit, although other requests of it hold some (`othersHold`).
   */
  | { kind: 'put_off'; othersHold: boolean }
  | { kind: 'trimmed' }
  /** `lost`: the escrow's row is gone, so its promises are no longer held. `mayReturn` as in `Refused`. */
  /** `uncertain`: it may have been committed although its answer was lost. */
  | {
      kind: 'refilled';
      /** As in `Admitted`. */
      freeAfter: PicoUsd;
      uncertain?: boolean;
      added: readonly budget.Part[];
      lost: boolean;
      trialOnly: boolean;
      mayReturn?: boolean;
    }
  | { kind: 'released'; wasHeld: boolean }
  | { kind: 'extended'; addedPico: PicoUsd; mayReturn?: boolean }
  | { kind: 'uncovered'; isSo: boolean }
  | { kind: 'shrunk' }
  | { kind: 'expired' }
  | SetAside
  | Repriced
  | Admitted
  | Refused;

/** Facts that were read under lock. Grants are those that are not used up, in the order of consumption. */
export interface Facts {
  /** The moment of the transaction by the database's clock, milliseconds. */
  nowMs: number;
  /** The change counter that admissions rely on, read before everything that it covers. */
  change: string;
  /** When each of the grants ends, in milliseconds; null: never. */
  grantEnds: ReadonlyMap<string, number | null>;
  /** Accounts that have an escrow with money. Read only when an answer depends on it: see `unsure`. */
  escrowed: ReadonlySet<string>;
  grants: ReadonlyMap<string, readonly budget.Grant[]>;
  /** By `pairKey(accountId, keyId)`. */
  keySpend: ReadonlyMap<string, Spend>;
  /** Accounts with limits of their own. Read for admissions, refills and extensions. */
  accountLimits: ReadonlyMap<string, AccountTruth>;
  /** By key: the limits that it shares with others. Keys without any are missing. */
  sharedLimits: ReadonlyMap<string, readonly SharedLimit[]>;
  /** By `pairKey(accountId, requestId)`, as are the entries. */
  holds: ReadonlyMap<string, Hold>;
  /**
   * By account: the request that may cost more than its hold. Read for admissions and where a running one would become it.
   */
  uncovered: ReadonlyMap<string, string>;
  /** Entries of the settlements that have no hold. */
  entries: ReadonlyMap<string, EntryFigures>;
  /** Existing accounts of settlements without a hold. */
  accounts: ReadonlySet<string>;
  keys: ReadonlyMap<string, KeyTruth>;
  /** The models that can be called now. */
  models: ReadonlyMap<string, ModelTruth>;
}

export interface Hold {
  accountId: string;
  requestId: string;
  keyId: string;
  escrow: boolean;
  /** It is the account's one that may cost more. */
  uncovered: boolean;
  parts: readonly budget.Part[];
  /** As the database formatted it. */
  heldAt: string;
  /** Its process's lease has ended. */
  orphaned: boolean;
  /** The limits of its key. */
  limits: KeyLimits;
}

export interface KeyTruth {
  accountId: string;
  /** Neither deleted nor expired. */
  valid: boolean;
  /** By the database's clock, milliseconds. */
  expiresAtMs: number | null;
  accountActive: boolean;
  /** Empty: all. */
  models: readonly string[];
  limits: KeyLimits;
  /** Where the account's days begin. */
  timeZone: string;
}

/** The limits of an account, and what its keys have spent together. */
export interface AccountTruth {
  limits: SpendLimits;
  spend: Spend;
}

export interface ModelTruth extends ModelSize {
  /** With its windows: each admission chooses by the clock that it was checked by. */
  price: VersionPrice;
  /** When the next version of the price begins, by the database's clock, milliseconds. */
  priceUntilMs: number | null;
}

export interface EntryFigures {
  cost: PicoUsd;
  charged: PicoUsd;
  freeAfter: PicoUsd;
  /** Where less than the cost was charged: what other requests of the account held right after. */
  heldAfter?: PicoUsd;
}

/** The rows to write. */
export interface Changes {
  grants: { accountId: string; grant: budget.Grant }[];
  keySpend: { accountId: string; keyId: string; spend: Spend }[];
  holdsPlaced: {
    accountId: string;
    requestId: string;
    keyId: string;
    priceId: string;
    parts: readonly budget.Part[];
    /** At most one of an account, which the database holds as well. */
    uncovered: boolean;
    escrow: boolean;
    /** It outlives this process, as the hold of a batch; left out: it does not. */
    outlives?: true;
  }[];
  /** Holds with other parts than before, or of another cover. */
  holdsChanged: { accountId: string; requestId: string; parts: readonly budget.Part[]; uncovered: boolean }[];
  holdsEnded: RequestRef[];
  entries: (EntryFigures & { settlement: Settlement })[];
  postings: Posting[];
  usage: UsageDelta[];
}

interface Posting {
  /** Null: any. */
  id: string | null;
  accountId: string;
  grantId: string;
  kind: 'charge' | 'expire';
  amount: PicoUsd;
  requestId: string | null;
  heldAt: string | null;
}

/** Addition of this batch's entries to one row of hourly usage. */
interface UsageDelta extends TokenPools {
  accountId: string;
  model: string;
  keyId: string;
  outcome: Outcome;
  requests: number;
  cost: PicoUsd;
  charged: PicoUsd;
  upstreamCost: PicoUsd;
}

/**
 * Postings sort by time like their request: the first has the request's id, further ones the same id with their index
 * added to its random end.
 */
function postingId(requestId: string, index: number): string {
  if (index === 0) return requestId;
  const end = (Number.parseInt(requestId.slice(-8), 16) + index) >>> 0;
  return requestId.slice(0, -8) + end.toString(16).padStart(8, '0');
}

/** The result of a refill that is not known to have added anything. */
export const notRefilled: Extract<Result, { kind: 'refilled' }> = {
  kind: 'refilled',
  freeAfter: 0n,
  added: [],
  lost: false,
  trialOnly: false,
  uncertain: true,
};

/** Two ids as one key of a map. */
export function pairKey(accountId: string, id: string): string {
  return accountId + id;
}

/**
 * Answers the operations in order and returns the rows to write. `unsure`: accounts whose answers may depend on
 * `Facts.escrowed`. Throws for an invalid operation (a pool that is not a whole number, money that does not exist): it
 * must be removed from the batch.
 */
export function decide(
  operations: readonly Operation[],
  facts: Facts,
): { results: Result[]; changes: Changes; unsure: ReadonlySet<string> } {
  const book = openBook(facts);
  const results = operations.map((operation) => answer(operation, facts, book));
  return { results, changes: book.changes(), unsure: book.unsure };
}

function answer(operation: Operation, facts: Facts, book: Book): Result {
  switch (operation.kind) {
    case 'settle':
      return settle(operation.settlement, operation.final === true, facts, book);
    case 'trim':
      trim(operation, book);
      return { kind: 'trimmed' };
    case 'refill':
      return refill(operation, facts, book);
    case 'release':
      return { kind: 'released', wasHeld: release(operation, book) };
    case 'extend':
      return extend(operation, operation.morePico, book);
    case 'uncover':
      return { kind: 'uncovered', isSo: uncover(operation, book) };
    case 'shrink':
      shrink(operation, operation.keep, book);
      return { kind: 'shrunk' };
    case 'expire':
      // Opening the book has expired the ended grants.
      return { kind: 'expired' };
    case 'set_aside':
      return setAside(operation.ask, facts, book);
    case 'admit':
  }
  return admit(operation.ask, facts, book);
}

function settle(settlement: Settlement, final: boolean, facts: Facts, book: Book): Result {
  const before = book.entry(settlement);
  if (before !== undefined) return { kind: 'settled', settled: { ...before, duplicate: true }, own: null };
  const { accountId, requestId, keyId, promise } = settlement;
  const owed = entryCost(settlement);
  const escrow = promise === undefined ? undefined : book.hold({ accountId, requestId: promise.escrowId });
  const hold = promise === undefined ? book.hold(settlement) : undefined;
  const heldBy = hold ?? escrow;
  // A damaged or foreign line of a spool: it belongs to no account.
  if (heldBy === undefined && !facts.accounts.has(accountId)) throw new Error('a settlement of an unknown account');
  const grants = book.grants(accountId);
  const own = budget.owedFrom(grants, common(promise?.parts ?? [], escrow?.parts ?? []), owed);
  const held = hold?.parts ?? own;
  const { charged, freeAfter, movements } = budget.settle(grants, held, owed);
  // On credit: nothing else may cost more than its hold.
  const onCredit = charged < owed && (!settlement.stream || hold?.uncovered === true);
  const othersHold = onCredit && budget.heldIn(budget.apply(grants, movements)) > 0n;
  if (charged < owed && !final && (book.mayReturn(accountId) || othersHold)) return { kind: 'put_off', othersHold };

  if (hold !== undefined) book.endHold(settlement);
  if (escrow !== undefined) book.changeHold(escrow, minus(escrow.parts, own));
  book.move(accountId, movements, { requestId, heldAt: heldBy?.heldAt ?? null });
  if (heldBy !== undefined) book.spend(accountId, heldBy.keyId, (spend) => addHeld(spend, -amountOf(held)));
  book.spend(accountId, keyId, (spend) => addCharged(spend, charged));
  if (onCredit) book.overdraw(accountId);
  const figures = {
    cost: owed,
    charged,
    freeAfter: least(freeAfter, MAX_PICO),
    ...(charged < owed ? { heldAfter: budget.allHeldIn(book.grants(accountId)) } : {}),
  };
  book.enter(settlement, figures);
  const isLost = promise !== undefined && escrow === undefined;
  return { kind: 'settled', settled: { ...figures, duplicate: false }, own: isLost ? null : own };
}

function trim({ accountId, escrowId, keep }: Extract<Operation, { kind: 'trim' }>, book: Book): void {
  const escrow = book.hold({ accountId, requestId: escrowId });
  if (escrow === undefined) return;
  const kept = common(escrow.parts, keep);
  const given = minus(escrow.parts, kept);
  book.move(accountId, budget.release(book.grants(accountId), given));
  book.spend(accountId, escrow.keyId, (spend) => addHeld(spend, -amountOf(given)));
  if (kept.length === 0) book.endHold(escrow);
  else if (given.length > 0) book.changeHold(escrow, kept);
}

/** Never refuses: adds only free money. */
function refill(operation: Refill, facts: Facts, book: Book): Result {
  const { accountId, keyId, escrowId, isNew, priceId, exact, need, wanted } = operation;
  const grants = book.grants(accountId);
  const trialOnly = grants.every((grant) => grant.ended || grant.trial);
  const escrow = book.hold({ accountId, requestId: escrowId });
  const key = facts.keys.get(keyId);
  const room = key === undefined ? null : (book.tightest(accountId, keyId, key.limits)?.room ?? null);
  const free = budget.freeIn(grants);
  const available = room === null ? free : least(free, room);
  const refilled = (added: readonly budget.Part[], lost = false): Result => {
    const mayReturn = amountOf(added) < exact && book.mayReturn(accountId);
    const freeAfter = available - amountOf(added);
    return { kind: 'refilled', freeAfter, added, lost, trialOnly, mayReturn };
  };
  if (escrow === undefined && !isNew) return refilled([], true);
  if (key === undefined || key.accountId !== accountId) return refilled([]);

  const needed = least(exact, available);
  const left = { free: free - needed, room: room === null ? null : room - needed };
  const placed = budget.place(grants, needed + advance({ ...left, need, wanted }));
  if (placed.amount === 0n) return refilled([]);
  book.move(accountId, placed.movements);
  book.spend(accountId, keyId, (spend) => addHeld(spend, placed.amount));
  if (escrow !== undefined) book.changeHold(escrow, plus(escrow.parts, placed.parts));
  else
    book.placeHold({
      accountId,
      requestId: escrowId,
      keyId,
      priceId,
      parts: placed.parts,
      uncovered: false,
      escrow: true,
    });
  return refilled(placed.parts);
}

function release(operation: RequestRef & { onlyIfOrphaned: boolean }, book: Book): boolean {
  const { accountId } = operation;
  if (operation.onlyIfOrphaned && book.hold(operation)?.orphaned !== true) return false;
  const hold = book.endHold(operation);
  if (hold === undefined) return false;
  book.move(accountId, budget.release(book.grants(accountId), hold.parts));
  book.spend(accountId, hold.keyId, (spend) => addHeld(spend, -amountOf(hold.parts)));
  return true;
}

function extend(ref: RequestRef, morePico: PicoUsd, book: Book): Result {
  const extended = (addedPico: PicoUsd): Result => {
    const mayReturn = addedPico < morePico && book.mayReturn(ref.accountId);
    return { kind: 'extended', addedPico, ...(mayReturn ? { mayReturn } : {}) };
  };
  const hold = book.hold(ref);
  if (hold === undefined) return { kind: 'extended', addedPico: 0n };
  const { accountId } = ref;
  const room = book.tightest(accountId, hold.keyId, hold.limits);
  const wanted = room === null ? morePico : least(morePico, room.room);
  const { amount, parts, movements } = budget.extend(book.grants(accountId), hold.parts, wanted);
  if (amount === 0n) return extended(0n);
  book.move(accountId, movements);
  book.spend(accountId, hold.keyId, (spend) => addHeld(spend, amount));
  book.changeHold(hold, parts);
  return extended(amount);
}

/** Not where the account's money did not pay for such a request before. */
function uncover(ref: RequestRef, book: Book): boolean {
  const hold = book.hold(ref);
  if (hold === undefined || hold.escrow) return false;
  if (hold.uncovered) return true;
  if (book.hasUncovered(ref.accountId) || book.grants(ref.accountId).some(({ overdrawn }) => overdrawn)) return false;
  book.changeHold({ ...hold, uncovered: true }, hold.parts);
  return true;
}

/** The vendor has counted the prompt: what its bound had beyond that is free. */
function shrink(ref: RequestRef, keep: PicoUsd, book: Book): void {
  const hold = book.hold(ref);
  if (hold === undefined || hold.escrow) return;
  const kept = budget.owedFrom(book.grants(ref.accountId), hold.parts, keep);
  const given = minus(hold.parts, kept);
  if (given.length === 0 && !hold.uncovered) return;
  book.move(ref.accountId, budget.release(book.grants(ref.accountId), given));
  book.spend(ref.accountId, hold.keyId, (spend) => addHeld(spend, -amountOf(given)));
  book.changeHold({ ...hold, uncovered: hold.uncovered && amountOf(kept) < keep }, kept);
}

/**
 * What each ask for money begins with: the account's balance, its key, and the words of a refusal. A key that may not spend is
 * refused.
 */
function openAsk(ask: RequestRef & { keyId: string }, facts: Facts, book: Book): OpenAsk | Refused {
  const { accountId } = ask;
  const grants = book.grants(accountId);
  const balance = { free: budget.freeIn(grants), held: budget.heldIn(grants) };
  const refused: OpenAsk['refused'] = (reason, more = {}) => ({
    kind: 'refused',
    reason,
    balance,
    ...(reason === 'reserved' && book.mayReturn(accountId) ? { mayReturn: true } : {}),
    ...more,
  });
  const key = facts.keys.get(ask.keyId);
  if (key === undefined || !key.valid || key.accountId !== accountId) return refused('key_invalid');
  if (!key.accountActive) return refused('suspended');
  return { kind: 'open', grants, balance, key, refused };
}

interface OpenAsk {
  kind: 'open';
  grants: readonly budget.Grant[];
  balance: Refused['balance'];
  key: KeyTruth;
  refused(reason: Refused['reason'], more?: Partial<Refused>): Refused;
}

/** Whether the tightest limit leaves no room for `required`: the figures of its refusal. */
function limitReached(
  room: TightestRoom | null,
  required: PicoUsd,
  key: KeyTruth,
  nowMs: number,
): NonNullable<Refused['spendLimit']> | null {
  if (room === null || (room.charged < room.limit && room.limit - room.charged >= required)) return null;
  return reached(room, required, nowMs, key.timeZone);
}

/** The order of the refusals is part of the contract: the first refusal must not depend on chance. */
function admit(ask: AdmitAsk, facts: Facts, book: Book): Admitted | Refused {
  const opened = openAsk(ask, facts, book);
  if (opened.kind === 'refused') return opened;
  const { grants, balance, key, refused } = opened;
  const { accountId, requestId, keyId } = ask;
  const truth = facts.models.get(ask.model);
  const model = truth && { ...truth, price: frozenAt(truth.price, facts.nowMs) };
  const overdrawn = grants.some((grant) => grant.overdrawn);
  if (balance.free + balance.held === 0n) {
    if (model === undefined) return refused('exhausted', { affordableMaxTokens: 0 });
    const size = holdSize(ask, model, model.price);
    const required = requiredFor(size, coverOf(ask, overdrawn));
    return refused('exhausted', { required, bound: size.bound, affordableMaxTokens: 0 });
  }
  if (model === undefined) return refused('model');
  if (key.models.length > 0 && !key.models.includes(ask.model)) return refused('model_not_allowed');
  if (isVariantUnpriced(ask, model)) return refused('variant_unpriced');
  if (isUnpriced(ask, model)) return refused('prompt_unpriced', { maxPromptTokens: model.price.maxPromptTokens ?? 0 });

  const size = holdSize(ask, model, model.price);
  const { bound } = size;
  const cover: Cover = coverOf(ask, overdrawn);
  const required = requiredFor(size, cover);
  const room = book.tightest(accountId, keyId, key.limits);
  const spendLimit = limitReached(room, required, key, facts.nowMs);
  if (spendLimit !== null) return refused(limitReason(spendLimit), { required, bound, spendLimit });
  const available = room === null ? balance.free : least(balance.free, room.room);
  const covered = () => maxTokens(coveredTokens(available, size, ask.answers));
  if (available < required) {
    const affordable = cover === 'required' ? covered() : maxTokens(affordableTokens(available, size));
    return refused(balance.free + balance.held < required ? 'budget_below_minimum' : 'reserved', {
      required,
      bound,
      ...affordable,
    });
  }
  const chosen = chooseHold(size, { cover, stream: ask.stream }, available, book.hasUncovered(accountId));
  // Waiting helps: after the other uncovered request has ended, this one may run alone on the free money.
  if (chosen === null) return refused('reserved', { required: size.coveredFloor, bound, ...covered() });

  const placed = budget.place(grants, chosen.amount);
  book.move(accountId, placed.movements);
  book.spend(accountId, keyId, (spend) => addHeld(spend, placed.amount));
  book.placeHold({
    accountId,
    requestId,
    keyId,
    priceId: model.price.id,
    parts: placed.parts,
    uncovered: chosen.uncovered,
    escrow: false,
  });
  const { price, contextWindow, maxOutputTokens } = model;
  const trialOnly = grants.every((grant) => grant.ended || grant.trial);
  return {
    kind: 'admitted',
    amount: placed.amount,
    freeAfter: available - placed.amount,
    price,
    admittedAtMs: facts.nowMs,
    contextWindow,
    maxOutputTokens,
    trialOnly,
    contextBound: size.contextBound,
    uncovered: chosen.uncovered,
  };
}

/**
 * Holds the bound of a batch, all of it: nothing can be stopped while it runs, and no credit is given on it. Its hold is an escrow,
 * which its lines are charged to. The order of the refusals is that of `admit`.
 */
function setAside(ask: SetAsideAsk, facts: Facts, book: Book): SetAside | Repriced | Refused {
  const opened = openAsk(ask, facts, book);
  if (opened.kind === 'refused') return opened;
  const { grants, balance, key, refused } = opened;
  const { accountId, requestId, keyId, amount } = ask;
  const figures = { required: amount, bound: amount };
  // Its answer was lost, and it was asked for once more.
  if (book.hold(ask) !== undefined) return { kind: 'set_aside', freeAfter: balance.free };
  if (balance.free + balance.held === 0n) return refused('exhausted', figures);
  for (const { model, priceId } of ask.models) {
    const truth = facts.models.get(model);
    if (truth === undefined) return refused('model');
    if (key.models.length > 0 && !key.models.includes(model)) return refused('model_not_allowed');
    if (truth.price.id !== priceId) return { kind: 'repriced' };
  }
  const room = book.tightest(accountId, keyId, key.limits);
  const spendLimit = limitReached(room, amount, key, facts.nowMs);
  if (spendLimit !== null) return refused(limitReason(spendLimit), { ...figures, spendLimit });
  const available = room === null ? balance.free : least(balance.free, room.room);
  if (available < amount)
    return refused(balance.free + balance.held < amount ? 'budget_below_minimum' : 'reserved', figures);

  const placed = budget.place(grants, amount);
  book.move(accountId, placed.movements);
  book.spend(accountId, keyId, (spend) => addHeld(spend, placed.amount));
  const [first] = ask.models;
  if (first === undefined) throw new Error('a batch has a model');
  book.placeHold({
    accountId,
    requestId,
    keyId,
    priceId: first.priceId,
    parts: placed.parts,
    uncovered: false,
    escrow: true,
    outlives: true,
  });
  return { kind: 'set_aside', freeAfter: available - placed.amount };
}

function limitReason({ of, period }: NonNullable<Refused['spendLimit']>): Refused['reason'] {
  return period === 'burn' ? 'burn_limit' : `${of}_limit`;
}

/** The figures of a refusal by a limit. */
function reached(
  room: TightestRoom,
  required: PicoUsd,
  nowMs: number,
  timeZone: string,
): NonNullable<Refused['spendLimit']> {
  const { of, period, limit, charged, held, burnMinutes } = room;
  return {
    of,
    period,
    limit,
    spent: charged,
    held,
    returnsAtMs: returnsAt(room, room.spend, required, { nowMs, timeZone }),
    ...(burnMinutes === undefined ? {} : { burnMinutes }),
  };
}

/** The tightest limit that a key has, shares or is under by its account; whose it is, and the sums that it was computed from. */
interface TightestRoom extends Room {
  of: LimitOwner;
  spend: Spend;
  burnMinutes?: number;
}

/** The advice of a refusal; none where any length is affordable. */
function maxTokens(affordable: number | null): Pick<Refused, 'affordableMaxTokens'> {
  return affordable === null ? {} : { affordableMaxTokens: affordable };
}

type Book = ReturnType<typeof openBook>;

/** The state of a batch: starts with the facts, and collects the rows to write. */
function openBook(facts: Facts) {
  const grants = new Map(facts.grants);
  const spends = openSpends(facts);
  const ended = new Set<string>();
  const changed = new Map<string, Hold>();
  const entered = new Map<string, EntryFigures>();
  const usage = new Map<string, UsageDelta>();
  const unsure = new Set<string>();
  const holdsPlaced: Changes['holdsPlaced'] = [];
  const entries: Changes['entries'] = [];
  const postings: Posting[] = [];

  const grantsOf = (accountId: string): readonly budget.Grant[] => grants.get(accountId) ?? [];

  const move = (
    accountId: string,
    movements: readonly budget.Movement[],
    request: { requestId: string; heldAt: string | null } | null = null,
  ): void => {
    if (movements.length === 0) return;
    grants.set(accountId, budget.apply(grantsOf(accountId), movements));
    postings.push(...postingsOf(accountId, movements, request));
  };

  const changedOf = (accountId: string): Hold[] =>
    [...changed].flatMap(([key, hold]) => (hold.accountId === accountId && !ended.has(key) ? [hold] : []));

  const holdOf = (ref: RequestRef): Hold | undefined => {
    const key = pairKey(ref.accountId, ref.requestId);
    return ended.has(key) ? undefined : (changed.get(key) ?? facts.holds.get(key));
  };

  // Ended grants are expired by the first batch that reads them: balances are correct without waiting for a sweep.
  for (const [accountId, list] of facts.grants) move(accountId, budget.expire(list));

  return {
    unsure,

    /** Whether an escrow of the account may have idle money that can be called in. */
    mayReturn(accountId: string): boolean {
      unsure.add(accountId);
      return facts.escrowed.has(accountId);
    },

    grants: grantsOf,
    move,
    hold: holdOf,

    tightest: spends.tightest,

    spend(accountId: string, keyId: string, change: (spend: Spend) => Spend): void {
      // The grants are the lock. Without grants nothing was locked and no money can move, so nothing is written.
      if (grants.has(accountId)) spends.change(accountId, keyId, change);
    },

    /** Marks the held grants as overdrawn: an answer that could not be stopped cost more than the account had. */
    overdraw(accountId: string): void {
      const marked = grantsOf(accountId).map((grant) =>
        grant.held === 0n || grant.overdrawn ? grant : { ...grant, overdrawn: true },
      );
      if (marked.length > 0) grants.set(accountId, marked);
    },

    hasUncovered(accountId: string): boolean {
      if (holdsPlaced.some((hold) => hold.uncovered && hold.accountId === accountId)) return true;
      if (changedOf(accountId).some(({ uncovered }) => uncovered)) return true;
      const requestId = facts.uncovered.get(accountId);
      if (requestId === undefined) return false;
      const key = pairKey(accountId, requestId);
      return !ended.has(key) && changed.get(key)?.uncovered !== false;
    },

    placeHold(hold: Changes['holdsPlaced'][number]): void {
      holdsPlaced.push(hold);
    },

    changeHold(hold: Hold, parts: readonly budget.Part[]): void {
      changed.set(pairKey(hold.accountId, hold.requestId), { ...hold, parts });
    },

    /** Removes the hold from the book; a second settlement or release does not find it. */
    endHold(ref: RequestRef): Hold | undefined {
      const hold = holdOf(ref);
      if (hold !== undefined) ended.add(pairKey(hold.accountId, hold.requestId));
      return hold;
    },

    entry(ref: RequestRef): EntryFigures | undefined {
      const key = pairKey(ref.accountId, ref.requestId);
      return entered.get(key) ?? facts.entries.get(key);
    },

    enter(settlement: Settlement, figures: EntryFigures): void {
      entered.set(pairKey(settlement.accountId, settlement.requestId), figures);
      entries.push({ settlement, ...figures });
      addUsage(usage, settlement, figures);
    },

    changes(): Changes {
      return {
        grants: changedGrants(facts.grants, grants),
        keySpend: spends.changed(),
        holdsPlaced,
        // Those that are covered first: an account never has two others, between two rows neither.
        holdsChanged: [...changed]
          .flatMap(([key, hold]) => (ended.has(key) ? [] : [hold]))
          .sort((one, other) => Number(one.uncovered) - Number(other.uncovered)),
        holdsEnded: [...ended].map((key) => facts.holds.get(key)).filter((hold) => hold !== undefined),
        entries,
        postings,
        usage: [...usage.values()],
      };
    },
  };
}

/** What keys, shared limits and limited accounts have spent and hold, as the operations of a batch move it. */
function openSpends(facts: Facts) {
  const spends = new Map<string, { accountId: string; keyId: string; spend: Spend }>();
  const ofAccounts = new Map<string, Spend>();
  const ofShared = new Map<string, Spend>();

  const sharedBy = (accountId: string, keyId: string): SharedLimit[] =>
    (facts.sharedLimits.get(keyId) ?? []).map((shared) => ({
      ...shared,
      spend: ofShared.get(pairKey(accountId, shared.id)) ?? shared.spend,
    }));

  const ofKey = (accountId: string, keyId: string): Spend => {
    const key = pairKey(accountId, keyId);
    return spends.get(key)?.spend ?? facts.keySpend.get(key) ?? noSpend;
  };

  const ofAccount = (accountId: string): Spend | undefined =>
    ofAccounts.get(accountId) ?? facts.accountLimits.get(accountId)?.spend;

  const roomOf = (
    of: TightestRoom['of'],
    spend: Spend,
    limits: SpendLimits & Partial<KeyLimits>,
  ): TightestRoom | null => {
    const room = spendRoom(spend, limits);
    const burn = room?.period === 'burn' && limits.burn ? { burnMinutes: limits.burn.minutes } : {};
    return room && { ...room, of, spend, ...burn };
  };

  return {
    /** The tightest limit of a key, of those that it shares, and of its account; null without limits. */
    tightest(accountId: string, keyId: string, limits: KeyLimits): TightestRoom | null {
      let room = roomOf('key', ofKey(accountId, keyId), limits);
      for (const shared of sharedBy(accountId, keyId))
        room = tighter(room, roomOf(shared.of, shared.spend, shared.limits));
      const account = facts.accountLimits.get(accountId);
      if (account === undefined) return room;
      return tighter(room, roomOf('account', ofAccount(accountId) ?? noSpend, account.limits));
    },

    change(accountId: string, keyId: string, change: (spend: Spend) => Spend): void {
      spends.set(pairKey(accountId, keyId), { accountId, keyId, spend: change(ofKey(accountId, keyId)) });
      // The rows of the account and of shared limits are moved by the database.
      for (const shared of sharedBy(accountId, keyId))
        ofShared.set(pairKey(accountId, shared.id), change(shared.spend));
      const account = ofAccount(accountId);
      if (account !== undefined) ofAccounts.set(accountId, change(account));
    },

    changed: (): Changes['keySpend'] => [...spends.values()],
  };
}

/** Postings of movements; holds and releases have none. */
function postingsOf(
  accountId: string,
  movements: readonly budget.Movement[],
  request: { requestId: string; heldAt: string | null } | null,
): Posting[] {
  const postings: Posting[] = [];
  for (const { kind, grantId, amount, fromHold } of movements) {
    if (kind === 'charge' && request !== null) {
      const heldAt = fromHold ? request.heldAt : null;
      const id = postingId(request.requestId, postings.filter((posting) => posting.kind === 'charge').length);
      postings.push({ id, accountId, grantId, kind, amount, requestId: request.requestId, heldAt });
    }
    if (kind === 'expire') postings.push({ id: null, accountId, grantId, kind, amount, requestId: null, heldAt: null });
  }
  return postings;
}

function changedGrants(
  before: ReadonlyMap<string, readonly budget.Grant[]>,
  after: ReadonlyMap<string, readonly budget.Grant[]>,
): Changes['grants'] {
  const changed: Changes['grants'] = [];
  for (const [accountId, grants] of after) {
    const unchanged = new Set(before.get(accountId));
    for (const grant of grants) if (!unchanged.has(grant)) changed.push({ accountId, grant });
  }
  return changed;
}

const nothingUsed = { ...noTokens, requests: 0, cost: 0n, charged: 0n, upstreamCost: 0n };

function addUsage(usage: Map<string, UsageDelta>, settlement: Settlement, figures: EntryFigures): void {
  const { accountId, keyId, model, outcome } = settlement;
  // Only the model is free text, so it comes last in the key.
  const key = `${accountId}${keyId}${outcome} ${model}`;
  const sum = usage.get(key);
  const delta: UsageDelta = sum ?? { accountId, model, keyId, outcome, ...nothingUsed };
  delta.requests += 1;
  addTokens(delta, settlement.usage);
  delta.cost += figures.cost;
  delta.charged += figures.charged;
  delta.upstreamCost += settlement.upstreamCost ?? 0n;
  if (sum === undefined) usage.set(key, delta);
}

function amountOf(parts: readonly budget.Part[]): PicoUsd {
  let amount = 0n;
  for (const part of parts) amount += part.amount;
  return amount;
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
