import { randomUUID } from 'node:crypto';
import type { PicoUsd } from '../core/money.ts';
import { cost } from '../core/price.ts';
import type { Facts, KeyTruth, ModelTruth, Operation, Refill, Result } from './batch.ts';
import { notRefilled, pairKey } from './batch.ts';
import type { Part } from './budget.ts';
import * as rules from './escrow.ts';
import { Unreachable } from './group-commit.ts';
import { holdSize } from './hold-size.ts';
import type { AdmitAsk, Admitted, EscrowPromise, RequestRef, Settlement } from './types.ts';
import type { Testimony, Witness } from './witness.ts';

/**
 * The escrows of this process: money held in advance by account and key, and the promises out of it. An escrow opens
 * once a key is used often enough, so that a rarely used account holds exactly the need of its requests. The rules are
 * in `escrow.ts`, the protocol and its proof in `ESCROW.md`.
 */
export interface Escrows {
  /**
   * Admits from memory if a witness confirms the cached facts. Null: the lane has to decide. `'unavailable'`: the
   * database does not answer, so nothing may be promised.
   */
  admit(ask: AdmitAsk): Promise<Admitted | 'unavailable' | null>;
  /** Adds to the promise of a request. Null: it has none here. Adds less than `more` when nothing is left. */
  extend(ref: RequestRef, more: PicoUsd): Promise<{ added: PicoUsd; mayReturn: boolean } | null>;
  /** Makes the promise of a request idle again. False: it has none here. */
  release(ref: RequestRef): boolean;
  /** Takes the promise that pays for a settlement, enlarged to its cost as far as money is idle. Once for a request. */
  takePromise(settlement: Settlement): EscrowPromise | undefined;
  /** The settlement can never be committed: its promise is idle again. */
  returnPromise(settlement: Settlement): void;
  /** Completes a batch before it runs: the parts that escrows keep are decided now. */
  prepare(operations: readonly Operation[]): Operation[];
  /** A batch has been committed. */
  committed(operations: readonly Operation[], results: readonly Result[], facts: Facts): void;
  /** Returns the idle money of an account, and holds nothing in advance for it for a while. */
  callIn(accountId: string): void;
  /** This process may have lost its lease: nothing more is promised from its present escrows. */
  closeAll(): void;
  /** Requests that run on promises. */
  readonly promises: number;
  /** Returns money that has been idle for long; called every `tickMs`. */
  tick(): void;
}

export interface EscrowsParts {
  witness: Witness;
  lane: { add(operation: Operation): Promise<Result> };
  /** Nothing may be promised while it returns false. */
  isHealthy(): boolean;
  /** An escrow that was not drawn from for this long is returned. */
  idleMs: number;
}

export const tickMs = 100;
/** Requests of a key within the last seconds that make an escrow worthwhile. */
const minDraws = 8;
/** The window in which use is counted. */
const windowMs = 1_000;
/** Pause of filling after an escrow got nothing, or was called in. */
const pauseMs = { empty: 100, calledIn: 1_000 };
/** Maximum cached keys and models; above it the cache is cleared. */
const maxTruths = 20_000;
/** Safety margin of the lease, for the time from the witness to the upstream. */
const leaseMarginMs = 250;

interface OpenEscrow {
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
  /** Monotonic milliseconds. */
  notFilledUntil: number;
  drawnAt: number;
  windowAt: number;
  /** Draws of this window and of the one before, and their sums. */
  draws: [number, number];
  used: [PicoUsd, PicoUsd];
  /** Need of a recent request. */
  need: PicoUsd;
  priceId: string;
}

interface Promised {
  open: OpenEscrow;
  parts: readonly Part[];
}

interface Known<Truth> {
  truth: Truth;
  change: string;
}

export function createEscrows({ witness, lane, isHealthy, idleMs }: EscrowsParts): Escrows {
  const byKey = new Map<string, OpenEscrow>();
  /** Those of `byKey`, and closed ones that still have promises or a row. By id. */
  const all = new Map<string, OpenEscrow>();
  const promises = new Map<string, Promised>();
  /** Promises whose settlement is under way. */
  const settling = new Map<string, Promised>();
  const keys = new Map<string, Known<KeyTruth>>();
  const models = new Map<string, Known<ModelTruth>>();
  /** The last testimony, for decisions that need not be exact. */
  let last: Testimony | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;

  const ask = async (): Promise<Testimony | null> => {
    askedAt = performance.now();
    last = await witness.ask();
    return last;
  };

  /** An estimate of the database's clock without a query; never early. */
  const aboutNow = (): number => (last === null ? Number.POSITIVE_INFINITY : last.nowMs + last.ageMs());

  const openFor = (asked: AdmitAsk): OpenEscrow => {
    const name = pairKey(asked.accountId, asked.keyId);
    const known = byKey.get(name);
    if (known !== undefined) return known;
    const now = performance.now();
    const open: OpenEscrow = {
      id: randomUUID(),
      accountId: asked.accountId,
      keyId: asked.keyId,
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
      drawnAt: now,
      windowAt: now,
      draws: [0, 0],
      used: [0n, 0n],
      need: 0n,
      priceId: '',
    };
    byKey.set(name, open);
    all.set(open.id, open);
    return open;
  };

  const noteUse = (open: OpenEscrow, need: PicoUsd, priceId: string): void => {
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
  };

  /** Asks the lane for an advance if the key's use justifies it. */
  const fillAhead = (open: OpenEscrow): void => {
    if (open.filling || open.trimming || open.closed || performance.now() < open.notFilledUntil) return;
    if (open.draws[0] + open.draws[1] < minDraws) return;
    const used = open.used[0] + open.used[1];
    const idle = rules.sumOf(open.escrow.idle);
    if (idle * 2n >= used) return;
    void fill(open, 0n, used - idle);
  };

  const fill = async (open: OpenEscrow, exact: PicoUsd, wanted: PicoUsd): Promise<Result> => {
    const { id: escrowId, accountId, keyId, need, priceId } = open;
    const isNew = open.openedAtMs === null;
    const isAhead = exact === 0n;
    if (isAhead) open.filling = true;
    const refill: Refill = { kind: 'refill', accountId, keyId, escrowId, isNew, priceId, exact, need, wanted };
    const result = await lane.add(refill).catch(() => notRefilled);
    if (isAhead) open.filling = false;
    if (result.kind === 'refilled' && result.added.length === 0) {
      if (result.uncertain === true) open.dirty = true;
      open.notFilledUntil = Math.max(open.notFilledUntil, performance.now() + pauseMs.empty);
    }
    return result;
  };

  /** Trims the row to the outstanding money at the beginning of the batch. */
  const trim = (open: OpenEscrow): void => {
    if (open.trimming || open.filling) {
      open.dirty = true;
      return;
    }
    open.trimming = true;
    open.dirty = false;
    lane
      .add({ kind: 'trim', accountId: open.accountId, escrowId: open.id, keep: [] })
      .catch(() => {
        open.dirty = true;
      })
      .finally(() => {
        open.trimming = false;
      });
  };

  const close = (open: OpenEscrow): void => {
    if (open.closed) return;
    open.closed = true;
    open.escrow = rules.callIn(open.escrow, null);
    const name = pairKey(open.accountId, open.keyId);
    if (byKey.get(name) === open) byKey.delete(name);
    if (open.openedAtMs === null && !open.filling && !open.dirty) all.delete(open.id);
    else trim(open);
  };

  /** Whether the lease under which the escrow was opened has lasted until now. */
  const isLeased = (open: OpenEscrow, { nowMs, lease, ageMs }: Testimony): boolean =>
    lease !== null &&
    open.openedAtMs !== null &&
    lease.sinceMs <= open.openedAtMs &&
    nowMs + ageMs() + leaseMarginMs < lease.untilMs;

  /** Promises exactly `wanted` or nothing. */
  const drawAll = (open: OpenEscrow, wanted: PicoUsd, nowMs: number): readonly Part[] | null => {
    if (rules.idleAt(open.escrow, nowMs) < wanted) return null;
    const { escrow, parts } = rules.draw(open.escrow, wanted, nowMs);
    open.escrow = escrow;
    return parts;
  };

  const remember = (operations: readonly Operation[], facts: Facts): void => {
    const { change } = facts;
    if (keys.size > maxTruths) keys.clear();
    if (models.size > maxTruths) models.clear();
    for (const operation of operations) {
      if (operation.kind !== 'admit') continue;
      const { accountId, keyId, model } = operation.ask;
      const key = facts.keys.get(keyId);
      const size = facts.models.get(model);
      if (key !== undefined) keys.set(keyId, { truth: key, change });
      if (size !== undefined) models.set(model, { truth: size, change });
      const open = byKey.get(pairKey(accountId, keyId));
      if (open === undefined || open.change === change) continue;
      open.escrow = rules.withEnds(open.escrow, facts.grantEnds);
      open.change = change;
      const grants = facts.grants.get(accountId) ?? [];
      open.trialOnly = grants.every((grant) => grant.ended || grant.trial);
    }
  };

  const filled = (operation: Refill, result: Result, facts: Facts): void => {
    const open = all.get(operation.escrowId);
    if (result.kind !== 'refilled' || open === undefined) return;
    if (result.lost) return close(open);
    open.freeAfter = result.freeAfter;
    if (result.added.length === 0) return;
    open.openedAtMs ??= facts.nowMs;
    open.change = facts.change;
    open.trialOnly = result.trialOnly;
    open.escrow = rules.refill(open.escrow, result.added, facts.grantEnds);
    // It was closed or called in meanwhile: money that no running request asked for has to be returned.
    if (open.closed || (operation.exact === 0n && performance.now() < open.notFilledUntil)) {
      if (operation.exact === 0n) open.escrow = rules.callIn(open.escrow, null);
      open.dirty = true;
    }
  };

  /** Money that was held under a higher limit of the key must not be promised any more. */
  const answeredBy = ({ accountId, keyId }: AdmitAsk, result: Result): void => {
    const open = byKey.get(pairKey(accountId, keyId));
    if (open !== undefined && result.kind === 'admitted') open.freeAfter = result.freeAfter;
    if (open === undefined || result.kind !== 'refused' || result.reason !== 'key_limit') return;
    open.escrow = rules.callIn(open.escrow, null);
    open.dirty = true;
  };

  const settled = (settlement: Settlement, result: Result): void => {
    const promised = settling.get(settlement.requestId);
    if (result.kind !== 'settled' || promised === undefined) return;
    if (promised.open.id !== settlement.promise?.escrowId) return;
    settling.delete(settlement.requestId);
    const { open, parts } = promised;
    if (result.own === null) {
      open.escrow = rules.forget(open.escrow, parts);
      open.dirty = true;
    } else open.escrow = rules.settle(open.escrow, parts, result.own);
    dropIdle(open);
  };

  /** A closed escrow keeps only its promises. */
  const dropIdle = (open: OpenEscrow): void => {
    if (!open.closed) return;
    open.escrow = rules.callIn(open.escrow, null);
    open.dirty = true;
  };

  const trimmed = (escrowId: string, keep: readonly Part[]): void => {
    const open = all.get(escrowId);
    if (open === undefined || keep.length > 0) return;
    // The row is gone and its id is never reused: a late settlement must not meet another row under it.
    all.delete(open.id);
    open.id = randomUUID();
    open.openedAtMs = null;
    if (!open.closed) all.set(open.id, open);
  };

  const forgetOpen = (open: OpenEscrow): void => {
    all.delete(open.id);
    const name = pairKey(open.accountId, open.keyId);
    if (byKey.get(name) === open) byKey.delete(name);
  };

  return {
    async admit(asked) {
      const key = keys.get(asked.keyId);
      const model = models.get(asked.model);
      if (key === undefined || model === undefined) return null;
      const { truth } = model;
      const size = holdSize(asked, truth, truth.price);
      // Requests that cannot be stopped are covered: escrows exist only where there is plenty of money.
      const need = asked.stream ? size.target : size.maxCost;
      const open = openFor(asked);
      noteUse(open, need, truth.price.id);
      fillAhead(open);
      if (rules.sumOf(open.escrow.idle) < need) return null;
      const testimony = await ask();
      if (testimony === null || !isHealthy()) return 'unavailable';
      if (!isTrue(asked, key, model, testimony) || open.change !== testimony.change || open.closed) return null;
      if (!isLeased(open, testimony)) {
        close(open);
        return null;
      }
      const parts = drawAll(open, need, testimony.nowMs);
      if (parts === null) return null;
      promises.set(asked.requestId, { open, parts });
      const { price, contextWindow, maxOutputTokens } = truth;
      const { freeAfter, trialOnly } = open;
      return { kind: 'admitted', amount: need, freeAfter, price, contextWindow, maxOutputTokens, trialOnly };
    },

    async extend({ requestId }, more) {
      const promised = promises.get(requestId);
      if (promised === undefined) return null;
      const { open } = promised;
      const drawMore = (wanted: PicoUsd, nowMs: number): PicoUsd => {
        // Settled or released meanwhile.
        if (promises.get(requestId) !== promised) return 0n;
        const { escrow, parts } = rules.draw(open.escrow, wanted, nowMs);
        open.escrow = escrow;
        promised.parts = rules.plus(promised.parts, parts);
        return rules.sumOf(parts);
      };
      const testimony = await ask();
      let added = 0n;
      if (testimony !== null && !isLeased(open, testimony)) close(open);
      if (testimony !== null && !open.closed) added = drawMore(more, testimony.nowMs);
      if (added === more) return { added, mayReturn: false };
      const result = await fill(open, more - added, 0n);
      if (result.kind !== 'refilled') return { added, mayReturn: false };
      // Not 0, which would mean that nothing is left: whether there is more is unknown.
      if (result.uncertain === true && added === 0n)
        throw new Unreachable('the ledger cannot say whether there is more');
      // The refill became idle under the lane's lock, where ended grants add nothing.
      added += drawMore(more - added, testimony?.nowMs ?? Number.NEGATIVE_INFINITY);
      return { added, mayReturn: added < more && result.mayReturn === true };
    },

    release({ requestId }) {
      const promised = promises.get(requestId);
      if (promised === undefined) return false;
      promises.delete(requestId);
      const { open, parts } = promised;
      open.escrow = rules.giveBack(open.escrow, parts);
      dropIdle(open);
      return true;
    },

    takePromise(settlement) {
      const { requestId } = settlement;
      const promised = promises.get(requestId);
      if (promised === undefined) return undefined;
      promises.delete(requestId);
      const { open } = promised;
      const excess = cost(settlement.usage, settlement.price) - rules.sumOf(promised.parts);
      if (excess > 0n && !open.closed) {
        const { escrow, parts } = rules.draw(open.escrow, excess, aboutNow());
        open.escrow = escrow;
        promised.parts = rules.plus(promised.parts, parts);
      }
      settling.set(requestId, promised);
      return { escrowId: open.id, parts: promised.parts };
    },

    returnPromise({ requestId }) {
      const promised = settling.get(requestId);
      if (promised === undefined) return;
      settling.delete(requestId);
      promised.open.escrow = rules.giveBack(promised.open.escrow, promised.parts);
      dropIdle(promised.open);
    },

    prepare: (operations) =>
      operations.map((operation) => {
        if (operation.kind !== 'trim') return operation;
        const open = all.get(operation.escrowId);
        return { ...operation, keep: open === undefined ? [] : rules.outstanding(open.escrow) };
      }),

    committed(operations, results, facts) {
      remember(operations, facts);
      operations.forEach((operation, index) => {
        const result = results[index];
        if (result === undefined) return;
        if (operation.kind === 'admit') answeredBy(operation.ask, result);
        else if (operation.kind === 'settle') settled(operation.settlement, result);
        else if (operation.kind === 'refill') filled(operation, result, facts);
        else if (operation.kind === 'trim') trimmed(operation.escrowId, operation.keep);
      });
    },

    callIn(accountId) {
      for (const open of all.values()) {
        if (open.accountId !== accountId) continue;
        open.notFilledUntil = performance.now() + pauseMs.calledIn;
        open.escrow = rules.callIn(open.escrow, null);
        trim(open);
      }
    },

    closeAll() {
      for (const open of all.values()) close(open);
    },

    get promises() {
      return promises.size + settling.size;
    },

    tick() {
      const now = performance.now();
      let hasIdle = false;
      for (const open of all.values()) {
        if (open.trimming || open.filling) continue;
        const isOver = open.closed || now - open.drawnAt >= idleMs;
        const left = rules.callIn(open.escrow, isOver ? null : last === null ? 0 : aboutNow());
        const isLess = left.idle.length < open.escrow.idle.length;
        open.escrow = left;
        if (left.idle.length > 0) hasIdle = true;
        const isEmpty = isOver && rules.outstanding(left).length === 0;
        if (isLess || open.dirty || (isEmpty && open.openedAtMs !== null)) trim(open);
        else if (isEmpty) forgetOpen(open);
      }
      // Other processes may call in the idle money, and a process without admissions would not notice.
      if (hasIdle && now - askedAt >= tickMs) void ask();
    },
  };
}

/** Whether the cached facts of key, account and model are valid at the witness's moment, and admit the request. */
function isTrue(
  asked: AdmitAsk,
  key: Known<KeyTruth>,
  model: Known<ModelTruth>,
  { change, nowMs }: Testimony,
): boolean {
  const { truth } = key;
  const { priceUntilMs } = model.truth;
  return (
    key.change === change &&
    model.change === change &&
    truth.valid &&
    truth.accountActive &&
    truth.accountId === asked.accountId &&
    (truth.expiresAtMs === null || nowMs < truth.expiresAtMs) &&
    (truth.models.length === 0 || truth.models.includes(asked.model)) &&
    // Like the lane, which counts a price that begins in the next millisecond.
    (priceUntilMs === null || nowMs + 1 < priceUntilMs)
  );
}
