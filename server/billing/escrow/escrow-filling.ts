import type { PicoUsd } from '../../core/money.ts';
import type { Facts, Operation, Refill, Result } from '../lane/batch.ts';
import { notRefilled } from '../lane/batch.ts';
import type { Part } from '../rules/budget.ts';
import * as rules from './escrow.ts';
import { type OpenEscrow, wantedAhead } from './open-escrow.ts';

/** What changes the row of an escrow beside settlements: refills and trims, and what their commits mean in memory. */
export interface Filling {
  /** Asks the lane for an advance if the key's use justifies it. */
  ahead(open: OpenEscrow): void;
  /**
   * Asks the lane for `exact`, and gives it to `take` within the turn in which its commit is known: a call-in cannot come
   * in between. `take` says whether the parts were promised.
   */
  exactly(open: OpenEscrow, exact: PicoUsd, take: (parts: readonly Part[]) => boolean): Promise<Refilled>;
  /** A refill has been committed. */
  filled(open: OpenEscrow, operation: Refill, result: Refilled, facts: Facts): void;
  /** Sets the row to what is outstanding when the batch begins, or as soon as that may be done. */
  trim(open: OpenEscrow): void;
  /** Whether the row may have to be trimmed: it is there, or may be. */
  mayHaveRow(open: OpenEscrow): boolean;
}

/** Carries operations out in batches, one after the other. */
export interface Lane {
  add(operation: Operation): Promise<Result>;
}

export type Refilled = Extract<Result, { kind: 'refilled' }>;

/** How long an escrow is not filled after it got nothing or was called in, and not trimmed after that failed. */
export const pauseMs = { empty: 100, calledIn: 1_000, trimFailed: 1_000 };

export function createFilling(lane: Lane): Filling {
  /** What takes the parts of an exact refill. */
  const takers = new WeakMap<Refill, (parts: readonly Part[]) => boolean>();

  const refill = (open: OpenEscrow, exact: PicoUsd, wanted: PicoUsd): Refill => {
    const { id: escrowId, accountId, keyId, need, priceId } = open;
    const isNew = open.openedAtMs === null;
    return { kind: 'refill', accountId, keyId, escrowId, isNew, priceId, exact, need, wanted };
  };

  const carryOut = async (open: OpenEscrow, operation: Refill): Promise<Refilled> => {
    const result = await lane.add(operation).catch(() => notRefilled);
    if (result.kind !== 'refilled') return notRefilled;
    if (result.added.length === 0) {
      if (result.uncertain === true) open.dirty = true;
      open.notFilledUntil = Math.max(open.notFilledUntil, performance.now() + pauseMs.empty);
    }
    return result;
  };

  const mayHaveRow = (open: OpenEscrow): boolean => open.openedAtMs !== null || open.filling || open.dirty;

  const trim = (open: OpenEscrow): void => {
    if (!mayHaveRow(open)) return;
    if (open.trimming || open.filling || performance.now() < open.notTrimmedUntil) {
      open.dirty = true;
      return;
    }
    open.trimming = true;
    open.dirty = false;
    lane
      .add({ kind: 'trim', accountId: open.accountId, escrowId: open.id, keep: [] })
      .catch(() => {
        open.dirty = true;
        open.notTrimmedUntil = performance.now() + pauseMs.trimFailed;
      })
      .finally(() => {
        open.trimming = false;
        // A ledger that closes looks for it no more.
        if (open.closed && open.dirty) trim(open);
      });
  };

  return {
    ahead(open) {
      if (open.filling || open.trimming || open.closed || performance.now() < open.notFilledUntil) return;
      const wanted = wantedAhead(open);
      if (wanted === 0n) return;
      open.filling = true;
      void carryOut(open, refill(open, 0n, wanted)).finally(() => {
        open.filling = false;
        if (open.closed && open.dirty) trim(open);
      });
    },

    exactly(open, exact, take) {
      const operation = refill(open, exact, 0n);
      takers.set(operation, take);
      return carryOut(open, operation);
    },

    filled(open, operation, result, facts) {
      open.freeAfter = result.freeAfter;
      open.change = facts.change;
      open.trialOnly = result.trialOnly;
      open.escrow = rules.refill(open.escrow, result.added, facts.grantEnds);
      if (result.added.length === 0) return;
      open.openedAtMs ??= facts.nowMs;
      if (operation.exact > 0n) {
        if (takers.get(operation)?.(result.added) !== true) open.dirty = true;
      } else if (open.closed || performance.now() < open.notFilledUntil) {
        // It was closed or called in meanwhile.
        open.escrow = rules.callIn(open.escrow, null);
        open.dirty = true;
      }
    },

    trim,
    mayHaveRow,
  };
}
