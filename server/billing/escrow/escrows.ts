import type { PicoUsd } from '../../core/money.ts';
import { entryCost, type TieredPrices } from '../../core/price.ts';
import { frozenAt, pricesOfAllHours } from '../../core/price-clock.ts';
import type { Facts, Operation, Result } from '../lane/batch.ts';
import { Unreachable } from '../lane/failure.ts';
import type { Part } from '../rules/budget.ts';
import { type HoldSize, holdSize, isUnpriced, isVariantUnpriced } from '../rules/hold-size.ts';
import type { AdmitAsk, Admitted, EscrowPromise, RequestRef, Settlement } from '../types.ts';
import * as rules from './escrow.ts';
import { type Lane, pauseMs } from './escrow-filling.ts';
import { createRegistry, type Promised, type Registry } from './escrow-registry.ts';
import { createTruths, isTrue, type Truths } from './escrow-truths.ts';
import { noteUse, type OpenEscrow } from './open-escrow.ts';
import type { PromisedCharge } from './promised-charges.ts';
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
  /** What `admit` would answer now; draws nothing. Null: the lane would decide. */
  wouldAdmit(ask: AdmitAsk): Promise<Admitted | null>;
  /** Adds to the promise of a request. Null: it has none here. Adds less than `more` when nothing is left. */
  extend(ref: RequestRef, more: PicoUsd): Promise<{ added: PicoUsd; mayReturn: boolean } | null>;
  /** Makes what the promise of a request has beyond `keep` idle again. False: it has none here. */
  shrink(ref: RequestRef, keep: PicoUsd): boolean;
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
  /** Promised charges have been committed. */
  charged(charges: readonly PromisedCharge[]): void;
  /** Returns the idle money of an account, and holds nothing in advance for it for a while. */
  callIn(accountId: string): void;
  /** This process may have lost its lease: nothing more is promised from its present escrows. */
  closeAll(): void;
  /** Whether this process has an escrow of this id. */
  has(escrowId: string): boolean;
  /** Requests that run on promises. */
  readonly promises: number;
  /** Returns money that has been idle for long; called every `tickMs`. */
  tick(): void;
}

export interface EscrowsParts {
  witness: Witness;
  lane: Lane;
  /** Nothing may be promised to an account while it returns false. */
  isHealthy(accountId: string): boolean;
  /**
   * Whether the last renewal of the lease whose answer has come began less than a lease ago, by this machine's clocks. One
   * that takes longer may be committed after a sweep, and the witness could show it before its answer is here.
   */
  isRenewed(): boolean;
  /** A fault of the program: a committed batch and the escrows do not agree. All escrows have been closed. */
  onFault(error: unknown): void;
  /** An escrow that was not drawn from for this long is returned. */
  idleMs: number;
}

export const tickMs = 100;
/** Safety margin of the lease, for the time from the witness to the upstream. */
const leaseMarginMs = 250;

export function createEscrows(parts: EscrowsParts): Escrows {
  const { witness, lane, idleMs, isHealthy, isRenewed, onFault } = parts;
  const registry = createRegistry(lane, onFault);
  const truths = createTruths(witness, registry.closeAll);
  const { all, promises, settling, filling } = registry;
  const mayDraw = (open: OpenEscrow, testimony: Testimony): boolean => isRenewed() && isLeased(open, testimony);

  return {
    async admit(asked) {
      const recalled = truths.recall(asked);
      if (recalled === null) return null;
      const { truth } = recalled.model;
      // The lane refuses it, after what it refuses before.
      if (isUnpriced(asked, truth) || isVariantUnpriced(asked, truth)) return null;
      const sizeAt = (price: TieredPrices) => holdSize(asked, truth, price);
      const open = registry.of(asked);
      // Which prices count is known with the witness's clock; until then the dearest are set aside. Every request is covered:
      // escrows exist only where there is plenty of money.
      const [size, ...others] = pricesOfAllHours(truth.price).map(sizeAt) as [HoldSize, ...HoldSize[]];
      const dearest = others.reduce((most, { covered }) => (covered > most ? covered : most), size.covered);
      noteUse(open, dearest, truth.price.id);
      filling.ahead(open);
      if (rules.sumOf(open.escrow.idle) < dearest) return null;
      const testimony = await truths.ask();
      if (testimony === null || !isHealthy(asked.accountId)) return 'unavailable';
      if (!isTrue(asked, recalled, testimony) || open.change !== testimony.change || open.closed) return null;
      if (!mayDraw(open, testimony)) {
        registry.close(open);
        return null;
      }
      const price = frozenAt(truth.price, testimony.nowMs);
      const { covered: need, contextBound } = truth.price.clock === undefined ? size : sizeAt(price);
      const drawn = drawAll(open, need, testimony.nowMs);
      if (drawn === null) return null;
      promises.set(asked.requestId, { open, parts: drawn });
      const { contextWindow, maxOutputTokens } = truth;
      const { freeAfter, trialOnly } = open;
      const admittedAtMs = testimony.nowMs;
      return {
        kind: 'admitted',
        amount: need,
        freeAfter,
        price,
        admittedAtMs,
        contextWindow,
        maxOutputTokens,
        trialOnly,
        contextBound,
        uncovered: false,
      };
    },

    wouldAdmit: createWouldAdmit({ registry, truths, mayDraw }),

    extend: createExtend({ registry, ask: truths.ask, mayDraw }),

    shrink({ requestId }, keep) {
      const promised = promises.get(requestId);
      if (promised === undefined) return false;
      const { kept, given } = rules.split(promised.parts, keep);
      if (given.length === 0) return true;
      promised.parts = kept;
      giveBack(registry, { open: promised.open, parts: given });
      return true;
    },

    release({ requestId }) {
      const promised = promises.get(requestId);
      if (promised === undefined) return false;
      promises.delete(requestId);
      giveBack(registry, promised);
      return true;
    },

    takePromise(settlement) {
      const { requestId } = settlement;
      const promised = promises.get(requestId);
      if (promised === undefined) return undefined;
      promises.delete(requestId);
      const { open } = promised;
      const excess = entryCost(settlement) - rules.sumOf(promised.parts);
      // Grants whose end may have been changed meanwhile are left to the lane, which reads it.
      if (excess > 0n && !open.closed && open.change === truths.last?.change) {
        promise(promised, excess, truths.aboutNow());
      }
      settling.set(requestId, promised);
      return { escrowId: open.id, parts: promised.parts };
    },

    returnPromise({ requestId }) {
      const promised = settling.get(requestId);
      if (promised === undefined) return;
      settling.delete(requestId);
      giveBack(registry, promised);
    },

    prepare: (operations) =>
      operations.map((operation) => {
        if (operation.kind !== 'trim') return operation;
        const open = all.get(operation.escrowId);
        return { ...operation, keep: open === undefined ? [] : rules.outstanding(open.escrow) };
      }),

    committed(operations, results, facts) {
      truths.remember(operations, facts);
      registry.committed(operations, results, facts);
    },

    charged: registry.charged,

    callIn(accountId) {
      for (const open of all.values()) {
        if (open.accountId !== accountId) continue;
        open.notFilledUntil = performance.now() + pauseMs.calledIn;
        open.escrow = rules.callIn(open.escrow, null);
        filling.trim(open);
      }
    },

    closeAll: registry.closeAll,

    has: (escrowId) => all.has(escrowId),

    get promises() {
      return promises.size + settling.size;
    },

    tick: () => tick(registry, truths, idleMs),
  };
}

/** The same conditions as `admit`, in its order, without its effects: uses are not counted, and nothing is filled or closed. */
function createWouldAdmit({
  registry,
  truths,
  mayDraw,
}: {
  registry: Registry;
  truths: Truths;
  mayDraw(open: OpenEscrow, testimony: Testimony): boolean;
}): Escrows['wouldAdmit'] {
  return async (asked) => {
    const recalled = truths.recall(asked);
    const open = registry.find(asked.accountId, asked.keyId);
    if (recalled === null || open === undefined) return null;
    const { truth } = recalled.model;
    if (isUnpriced(asked, truth) || isVariantUnpriced(asked, truth)) return null;
    const idle = rules.sumOf(open.escrow.idle);
    const sizeAt = (price: TieredPrices) => holdSize(asked, truth, price);
    if (pricesOfAllHours(truth.price).some((price) => idle < sizeAt(price).covered)) return null;
    const testimony = await truths.ask();
    if (testimony === null || !isTrue(asked, recalled, testimony) || open.change !== testimony.change) return null;
    if (open.closed || !mayDraw(open, testimony)) return null;
    const price = frozenAt(truth.price, testimony.nowMs);
    const { covered: amount, contextBound } = sizeAt(price);
    if (rules.idleAt(open.escrow, testimony.nowMs) < amount) return null;
    const { contextWindow, maxOutputTokens } = truth;
    const { freeAfter, trialOnly } = open;
    const admittedAtMs = testimony.nowMs;
    return {
      kind: 'admitted',
      amount,
      freeAfter,
      price,
      admittedAtMs,
      contextWindow,
      maxOutputTokens,
      trialOnly,
      contextBound,
      uncovered: false,
    };
  };
}

function createExtend({
  registry,
  ask,
  mayDraw,
}: {
  registry: Registry;
  ask: Truths['ask'];
  mayDraw(open: OpenEscrow, testimony: Testimony): boolean;
}): Escrows['extend'] {
  const { promises, filling, close } = registry;

  return async ({ requestId }, more) => {
    const promised = promises.get(requestId);
    if (promised === undefined) return null;
    const { open } = promised;
    /** Not settled or released meanwhile. */
    const isRunning = (): boolean => promises.get(requestId) === promised;
    const testimony = await ask();
    let added = 0n;
    if (testimony !== null && !mayDraw(open, testimony)) close(open);
    // Ends of grants that were read before a change are not relied on.
    if (testimony !== null && !open.closed && isRunning() && open.change === testimony.change)
      added = promise(promised, more, testimony.nowMs);
    if (added === more) return { added, mayReturn: false };
    let filled = 0n;
    const result = await filling.exactly(open, more - added, (parts) => {
      if (!isRunning()) return false;
      open.escrow = rules.promise(open.escrow, parts);
      promised.parts = rules.plus(promised.parts, parts);
      filled = rules.sumOf(parts);
      return true;
    });
    added += filled;
    // Not 0, which would mean that nothing is left: whether there is more is unknown.
    if (result.uncertain === true && added === 0n) throw new Unreachable('the ledger cannot say whether there is more');
    return { added, mayReturn: added < more && result.mayReturn === true };
  };
}

/** Gives back what nobody has drawn from for `idleMs`, what has ended, and what rows have beyond it. */
function tick({ all, filling, forget }: Registry, truths: Truths, idleMs: number): void {
  const now = performance.now();
  const endedAtMs = truths.last === null ? 0 : truths.aboutNow();
  let hasIdle = false;
  for (const open of all.values()) {
    if (open.trimming || open.filling) continue;
    const isOver = open.closed || now - open.drawnAt >= idleMs;
    const left = rules.callIn(open.escrow, isOver ? null : endedAtMs);
    const isLess = left.idle.length < open.escrow.idle.length;
    open.escrow = left;
    if (left.idle.length > 0) hasIdle = true;
    const isEmpty = isOver && rules.outstanding(left).length === 0;
    if (isLess || open.dirty || (isEmpty && open.openedAtMs !== null)) filling.trim(open);
    else if (isEmpty) forget(open);
  }
  // Other processes may call in the idle money, and a process without admissions would not notice.
  if (hasIdle && now - truths.askedAt >= tickMs) void truths.ask();
}

/** Whether the lease under which the escrow was opened has lasted until now. */
function isLeased(open: OpenEscrow, { nowMs, lease, ageMs }: Testimony): boolean {
  return (
    lease !== null &&
    open.openedAtMs !== null &&
    lease.sinceMs <= open.openedAtMs &&
    nowMs + ageMs() + leaseMarginMs < lease.untilMs
  );
}

/** Promises exactly `wanted` or nothing. */
function drawAll(open: OpenEscrow, wanted: PicoUsd, nowMs: number): readonly Part[] | null {
  if (rules.idleAt(open.escrow, nowMs) < wanted) return null;
  const { escrow, parts } = rules.draw(open.escrow, wanted, nowMs);
  open.escrow = escrow;
  return parts;
}

/** Adds to a promise as far as money is idle, and says how much. */
function promise(promised: Promised, wanted: PicoUsd, nowMs: number): PicoUsd {
  const { open } = promised;
  const { escrow, parts } = rules.draw(open.escrow, wanted, nowMs);
  open.escrow = escrow;
  promised.parts = rules.plus(promised.parts, parts);
  return rules.sumOf(parts);
}

function giveBack({ dropIdle }: Registry, { open, parts }: Promised): void {
  open.escrow = rules.giveBack(open.escrow, parts);
  dropIdle(open);
}
