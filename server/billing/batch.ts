import { MAX_PICO, type PicoUsd } from '../core/money.ts';
import type { Outcome } from '../core/outcome.ts';
import { cost, type FrozenPrice } from '../core/price.ts';
import type { TokenPools } from '../core/tokens.ts';
import * as budget from './budget.ts';
import {
  affordableTokens,
  chooseHold,
  coveredTokens,
  coverOf,
  holdSize,
  type ModelSize,
  requiredFor,
} from './hold-size.ts';
import { addCharged, addHeld, type KeyLimits, type KeySpend, keyRoom, noSpend, roll } from './key-limit.ts';
import type { AdmitAsk, Admitted, Refused, RequestRef, Settled, Settlement } from './types.ts';

/**
 * One batch of the ledger: what was asked and what was read under lock goes in, what to answer and what to write comes
 * out. Pure. Everything that was asked for the same account sees what came before it in the batch.
 */
export type Operation =
  | { kind: 'settle'; settlement: Settlement }
  /** `onlyIfOrphaned`: only when the lease of the hold's process has ended. */
  | ({ kind: 'release'; onlyIfOrphaned: boolean } & RequestRef)
  | ({ kind: 'extend'; morePico: PicoUsd } & RequestRef)
  /** Ends what is free of the account's grants that have ended. */
  | { kind: 'expire'; accountId: string }
  | { kind: 'admit'; ask: AdmitAsk };

export type Result =
  | { kind: 'settled'; settled: Settled }
  | { kind: 'released'; wasHeld: boolean }
  | { kind: 'extended'; addedPico: PicoUsd }
  | { kind: 'expired' }
  | Admitted
  | Refused;

/** What was read under lock. Grants are those that are not used up, in the order of consumption. */
export interface Facts {
  /** The database's day in UTC, `2026-11-21`. */
  today: string;
  grants: ReadonlyMap<string, readonly budget.Grant[]>;
  /** By `pairKey(accountId, keyId)`. */
  keySpend: ReadonlyMap<string, KeySpend>;
  /** By `pairKey(accountId, requestId)`, as are the entries. */
  holds: ReadonlyMap<string, Hold>;
  /** By account: the request whose hold is less than it can cost although nothing can stop it. Read for admissions. */
  uncovered: ReadonlyMap<string, string>;
  /** Entries of the settlements that have no hold. */
  entries: ReadonlyMap<string, EntryFigures>;
  /** Accounts of settlements without a hold, as far as there is such an account. */
  accounts: ReadonlySet<string>;
  keys: ReadonlyMap<string, KeyTruth>;
  /** The models that can be called now. */
  models: ReadonlyMap<string, ModelTruth>;
}

export interface Hold {
  accountId: string;
  requestId: string;
  keyId: string;
  parts: readonly budget.Part[];
  /** As the database wrote it. */
  heldAt: string;
  /** The lease of its process has ended. */
  orphaned: boolean;
  /** The limits of its key. */
  limits: KeyLimits;
}

export interface KeyTruth {
  accountId: string;
  /** Neither deleted nor expired. */
  valid: boolean;
  accountActive: boolean;
  /** Empty: all. */
  models: readonly string[];
  limits: KeyLimits;
}

export interface ModelTruth extends ModelSize {
  price: FrozenPrice;
}

export interface EntryFigures {
  cost: PicoUsd;
  charged: PicoUsd;
  freeAfter: PicoUsd;
}

/** What to write. */
export interface Changes {
  grants: { accountId: string; grant: budget.Grant }[];
  keySpend: { accountId: string; keyId: string; spend: KeySpend }[];
  holdsPlaced: {
    accountId: string;
    requestId: string;
    keyId: string;
    priceId: string;
    parts: readonly budget.Part[];
    /** At most one of an account, which the database holds as well. */
    uncovered: boolean;
  }[];
  holdsExtended: { accountId: string; requestId: string; parts: readonly budget.Part[] }[];
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

/** What the entries of this batch add to one row of usage by hour. */
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
 * Postings of a request lie where the request does in the order of time: the first has its id, the others the same with
 * their number added to the random end.
 */
function postingId(requestId: string, index: number): string {
  if (index === 0) return requestId;
  const end = (Number.parseInt(requestId.slice(-8), 16) + index) >>> 0;
  return requestId.slice(0, -8) + end.toString(16).padStart(8, '0');
}

/** Two ids as one key of a map. */
export function pairKey(accountId: string, id: string): string {
  return accountId + id;
}

/**
 * Answers the operations in their order and says what to write. Throws when an operation makes no sense (a pool that is
 * no whole number, money that is not there): such an operation must be taken out of the batch.
 */
export function decide(operations: readonly Operation[], facts: Facts): { results: Result[]; changes: Changes } {
  const book = openBook(facts);
  const results = operations.map((operation) => answer(operation, facts, book));
  return { results, changes: book.changes() };
}

function answer(operation: Operation, facts: Facts, book: Book): Result {
  switch (operation.kind) {
    case 'settle':
      return { kind: 'settled', settled: settle(operation.settlement, facts, book) };
    case 'release':
      return { kind: 'released', wasHeld: release(operation, book) };
    case 'extend':
      return { kind: 'extended', addedPico: extend(operation, operation.morePico, book) };
    case 'expire':
      // Opening the book ended what had to end.
      return { kind: 'expired' };
    case 'admit':
  }
  return admit(operation.ask, facts, book);
}

function settle(settlement: Settlement, facts: Facts, book: Book): Settled {
  const before = book.entry(settlement);
  if (before !== undefined) return { ...before, duplicate: true };
  const { accountId, requestId, keyId } = settlement;
  const owed = cost(settlement.usage, settlement.price);
  const hold = book.endHold(settlement);
  // A line of a spool that was damaged or came from elsewhere: it is no account's request.
  if (hold === undefined && !facts.accounts.has(accountId)) throw new Error('a settlement of an unknown account');
  const { charged, freeAfter, movements } = budget.settle(book.grants(accountId), hold?.parts ?? [], owed);
  book.move(accountId, movements, { requestId, heldAt: hold?.heldAt ?? null });
  if (hold !== undefined) book.spend(accountId, hold.keyId, (spend) => addHeld(spend, -amountOf(hold.parts)));
  book.spend(accountId, keyId, (spend) => addCharged(spend, charged, book.today));
  if (!settlement.stream && charged < owed) book.overdraw(accountId);
  const figures = { cost: owed, charged, freeAfter: freeAfter < MAX_PICO ? freeAfter : MAX_PICO };
  book.enter(settlement, figures);
  return { ...figures, duplicate: false };
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

function extend(ref: RequestRef, morePico: PicoUsd, book: Book): PicoUsd {
  const hold = book.hold(ref);
  if (hold === undefined) return 0n;
  const { accountId } = ref;
  const room = keyRoom(book.spendOf(accountId, hold.keyId), hold.limits);
  const wanted = room === null ? morePico : least(morePico, room.room);
  const { amount, parts, movements } = budget.extend(book.grants(accountId), hold.parts, wanted);
  if (amount === 0n) return 0n;
  book.move(accountId, movements);
  book.spend(accountId, hold.keyId, (spend) => addHeld(spend, amount));
  book.extendHold(hold, parts);
  return amount;
}

/** The order of the refusals is part of the contract: what a client hears first must not depend on chance. */
function admit(ask: AdmitAsk, facts: Facts, book: Book): Admitted | Refused {
  const { accountId, requestId, keyId } = ask;
  const grants = book.grants(accountId);
  const balance = { free: budget.freeIn(grants), held: budget.heldIn(grants) };
  const refused = (reason: Refused['reason'], more: Partial<Refused> = {}): Refused => ({
    kind: 'refused',
    reason,
    balance,
    ...more,
  });

  const key = facts.keys.get(keyId);
  if (key === undefined || !key.valid || key.accountId !== accountId) return refused('key');
  if (!key.accountActive) return refused('suspended');
  const model = facts.models.get(ask.model);
  const cover = coverOf(
    ask,
    grants.some((grant) => grant.overdrawn),
  );
  if (balance.free + balance.held === 0n) {
    const required = model === undefined ? {} : { required: requiredFor(holdSize(ask, model, model.price), cover) };
    return refused('exhausted', { ...required, affordableMaxTokens: 0 });
  }
  if (model === undefined) return refused('model');
  if (key.models.length > 0 && !key.models.includes(ask.model)) return refused('model_not_allowed');

  const size = holdSize(ask, model, model.price);
  const required = requiredFor(size, cover);
  const room = keyRoom(book.spendOf(accountId, keyId), key.limits);
  if (room !== null) {
    const { period, limit, charged, held } = room;
    if (charged >= limit || limit - charged < required) {
      return refused('key_limit', { required, keyLimit: { period, limit, spent: charged, held } });
    }
  }
  const available = room === null ? balance.free : least(balance.free, room.room);
  const covered = () => maxTokens(coveredTokens(available, size, ask.answers, model.price));
  if (available < required) {
    const affordable = cover === 'required' ? covered() : maxTokens(affordableTokens(available, size, model.price));
    return refused(balance.free + balance.held < required ? 'short' : 'reserved', { required, ...affordable });
  }
  const chosen = chooseHold(size, cover, available, book.hasUncovered(accountId));
  // Waiting helps: when the other one has ended, this one may run alone on what is free.
  if (chosen === null) return refused('reserved', { required: size.maxCost, ...covered() });

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
  });
  const { price, contextWindow, maxOutputTokens } = model;
  const trialOnly = grants.every((grant) => grant.ended || grant.trial);
  return {
    kind: 'admitted',
    amount: placed.amount,
    freeAfter: available - placed.amount,
    price,
    contextWindow,
    maxOutputTokens,
    trialOnly,
  };
}

/** The advice of a refusal; none where any length is affordable. */
function maxTokens(affordable: number | null): Pick<Refused, 'affordableMaxTokens'> {
  return affordable === null ? {} : { affordableMaxTokens: affordable };
}

type Book = ReturnType<typeof openBook>;

/** The state of a batch: starts as what was read, remembers what has to be written. */
function openBook(facts: Facts) {
  const grants = new Map(facts.grants);
  const spends = new Map<string, { accountId: string; keyId: string; spend: KeySpend }>();
  const ended = new Set<string>();
  const extended = new Map<string, Hold>();
  const entered = new Map<string, EntryFigures>();
  const usage = new Map<string, UsageDelta>();
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
    let charges = 0;
    for (const { kind, grantId, amount, fromHold } of movements) {
      if (kind === 'charge' && request !== null) {
        const heldAt = fromHold ? request.heldAt : null;
        const id = postingId(request.requestId, charges);
        postings.push({ id, accountId, grantId, kind, amount, requestId: request.requestId, heldAt });
        charges += 1;
      }
      if (kind === 'expire')
        postings.push({ id: null, accountId, grantId, kind, amount, requestId: null, heldAt: null });
    }
  };

  const spendOf = (accountId: string, keyId: string): KeySpend => {
    const key = pairKey(accountId, keyId);
    const known = spends.get(key)?.spend ?? facts.keySpend.get(key);
    return known === undefined ? noSpend(facts.today) : roll(known, facts.today);
  };

  const holdOf = (ref: RequestRef): Hold | undefined => {
    const key = pairKey(ref.accountId, ref.requestId);
    return ended.has(key) ? undefined : (extended.get(key) ?? facts.holds.get(key));
  };

  // Grants that have ended are closed by whoever sees them first: no balance is ever wrong until a sweep comes by.
  for (const [accountId, list] of facts.grants) move(accountId, budget.expire(list));

  return {
    today: facts.today,
    grants: grantsOf,
    move,
    spendOf,
    hold: holdOf,

    spend(accountId: string, keyId: string, change: (spend: KeySpend) => KeySpend): void {
      // The grants are the lock. Where there are none, nothing was locked, nothing can move, and nothing is written.
      if (!grants.has(accountId)) return;
      const spend = change(spendOf(accountId, keyId));
      spends.set(pairKey(accountId, keyId), { accountId, keyId, spend });
    },

    /** Marks what running requests may give back: an answer that could not be stopped cost more than there was. */
    overdraw(accountId: string): void {
      const marked = grantsOf(accountId).map((grant) =>
        grant.held === 0n || grant.overdrawn ? grant : { ...grant, overdrawn: true },
      );
      if (marked.length > 0) grants.set(accountId, marked);
    },

    hasUncovered(accountId: string): boolean {
      if (holdsPlaced.some((hold) => hold.uncovered && hold.accountId === accountId)) return true;
      const requestId = facts.uncovered.get(accountId);
      return requestId !== undefined && !ended.has(pairKey(accountId, requestId));
    },

    placeHold(hold: Changes['holdsPlaced'][number]): void {
      holdsPlaced.push(hold);
    },

    extendHold(hold: Hold, parts: readonly budget.Part[]): void {
      extended.set(pairKey(hold.accountId, hold.requestId), { ...hold, parts });
    },

    /** Takes the hold out of the book; a second settlement or release does not find it. */
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
        keySpend: [...spends.values()],
        holdsPlaced,
        holdsExtended: [...extended].filter(([key]) => !ended.has(key)).map(([, hold]) => hold),
        holdsEnded: [...ended].map((key) => facts.holds.get(key)).filter((hold) => hold !== undefined),
        entries,
        postings,
        usage: [...usage.values()],
      };
    },
  };
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

const nothingUsed = {
  requests: 0,
  input: 0,
  cacheHit: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  cost: 0n,
  charged: 0n,
  upstreamCost: 0n,
};

function addUsage(usage: Map<string, UsageDelta>, settlement: Settlement, figures: EntryFigures): void {
  const { accountId, keyId, model, outcome } = settlement;
  // Only the model is free text: it comes last.
  const key = `${accountId}${keyId}${outcome} ${model}`;
  const sum = usage.get(key);
  const delta: UsageDelta = sum ?? { accountId, model, keyId, outcome, ...nothingUsed };
  delta.requests += 1;
  delta.input += settlement.usage.input;
  delta.cacheHit += settlement.usage.cacheHit;
  delta.cacheWrite5m += settlement.usage.cacheWrite5m;
  delta.cacheWrite1h += settlement.usage.cacheWrite1h;
  delta.output += settlement.usage.output;
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
