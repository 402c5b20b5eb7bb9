import { randomUUID } from 'node:crypto';
import type { Facts, Operation, Result } from '../lane/batch.ts';
import { pairKey } from '../lane/batch.ts';
import type { Part } from '../rules/budget.ts';
import type { AdmitAsk, Refused, Settlement } from '../types.ts';
import * as rules from './escrow.ts';
import { createFilling, type Lane } from './escrow-filling.ts';
import { newOpenEscrow, type OpenEscrow } from './open-escrow.ts';
import type { PromisedCharge } from './promised-charges.ts';

/** What a request was promised, and out of which escrow. */
export interface Promised {
  open: OpenEscrow;
  parts: readonly Part[];
}

/** Escrows and promises, found by their names, and what a committed batch means for them. */
export function createRegistry(lane: Lane, onFault: (error: unknown) => void) {
  const byKey = new Map<string, OpenEscrow>();
  /** Those of `byKey`, and closed ones that still have promises or a row. By id. */
  const all = new Map<string, OpenEscrow>();
  const promises = new Map<string, Promised>();
  /** Promises whose settlement is under way. */
  const settling = new Map<string, Promised>();
  const filling = createFilling(lane);

  const find = (accountId: string, keyId: string): OpenEscrow | undefined => byKey.get(pairKey(accountId, keyId));

  const forget = (open: OpenEscrow): void => {
    all.delete(open.id);
    if (find(open.accountId, open.keyId) === open) byKey.delete(pairKey(open.accountId, open.keyId));
  };

  const close = (open: OpenEscrow): void => {
    if (open.closed) return;
    open.closed = true;
    open.escrow = rules.callIn(open.escrow, null);
    if (find(open.accountId, open.keyId) === open) byKey.delete(pairKey(open.accountId, open.keyId));
    if (filling.mayHaveRow(open)) filling.trim(open);
    else all.delete(open.id);
  };

  const closeAll = (): void => {
    for (const open of all.values()) close(open);
  };

  /** A closed escrow keeps only its promises. */
  const dropIdle = (open: OpenEscrow): void => {
    if (!open.closed) return;
    open.escrow = rules.callIn(open.escrow, null);
    filling.trim(open);
  };

  const settled = (settlement: Settlement, own: readonly Part[] | null): void => {
    const promised = settling.get(settlement.requestId);
    if (promised === undefined || promised.open.id !== settlement.promise?.escrowId) return;
    settling.delete(settlement.requestId);
    const { open, parts } = promised;
    if (own === null) {
      open.escrow = rules.forget(open.escrow, parts);
      open.dirty = true;
    } else open.escrow = rules.settle(open.escrow, parts, own);
    dropIdle(open);
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

  /** What has been committed stays so: a fault here must not look like a batch that failed. */
  const guarded = (change: () => void): void => {
    try {
      change();
    } catch (error) {
      closeAll();
      onFault(error);
    }
  };

  const apply = (operation: Operation, result: Result, facts: Facts): void => {
    if (operation.kind === 'admit') {
      const open = find(operation.ask.accountId, operation.ask.keyId);
      return open === undefined ? undefined : answered(open, result, facts);
    }
    if (operation.kind === 'trim') return trimmed(operation.escrowId, operation.keep);
    if (operation.kind === 'settle' && result.kind === 'settled') return settled(operation.settlement, result.own);
    if (operation.kind !== 'refill' || result.kind !== 'refilled') return;
    const open = all.get(operation.escrowId);
    if (open === undefined) return;
    if (result.lost) close(open);
    else filling.filled(open, operation, result, facts);
  };

  return {
    all,
    find,
    promises,
    settling,
    filling,
    forget,
    close,
    closeAll,
    dropIdle,

    /** The escrow of a key; a new one has no row yet. */
    of({ accountId, keyId }: AdmitAsk): OpenEscrow {
      const known = find(accountId, keyId);
      if (known !== undefined) return known;
      const open = newOpenEscrow(accountId, keyId);
      byKey.set(pairKey(accountId, keyId), open);
      all.set(open.id, open);
      return open;
    },

    committed(operations: readonly Operation[], results: readonly Result[], facts: Facts): void {
      operations.forEach((operation, index) => {
        const result = results[index];
        if (result !== undefined) guarded(() => apply(operation, result, facts));
      });
    },

    /** Promised charges have been committed. */
    charged(charges: readonly PromisedCharge[]): void {
      for (const { settlement, grantId, charged } of charges) {
        const own = charged === 0n ? [] : [{ grantId, amount: charged }];
        guarded(() => settled(settlement, own));
      }
    },
  };
}

export type Registry = ReturnType<typeof createRegistry>;

/** Refusals after which what is held in advance for the key only keeps money from others. */
const keepsIdleFromUse: readonly Refused['reason'][] = [
  'key_limit',
  'member_limit',
  'project_limit',
  'account_limit',
  'burn_limit',
  'reserved',
];

/** An answer of the lane about a key: what is free now, or that it cannot use what is held in advance for it. */
function answered(open: OpenEscrow, result: Result, facts: Facts): void {
  if (open.change !== facts.change) {
    open.escrow = rules.withEnds(open.escrow, facts.grantEnds);
    open.change = facts.change;
    const grants = facts.grants.get(open.accountId) ?? [];
    open.trialOnly = grants.every((grant) => grant.ended || grant.trial);
  }
  if (result.kind === 'admitted') open.freeAfter = result.freeAfter;
  if (result.kind !== 'refused' || !keepsIdleFromUse.includes(result.reason)) return;
  open.escrow = rules.callIn(open.escrow, null);
  open.dirty = true;
}
