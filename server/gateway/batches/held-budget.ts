import type { Refused } from '../../billing/types.ts';
import type { BatchHolding, VendorBatches } from '../../billing/vendor-batches.ts';
import { formatUsd } from '../../core/money.ts';
import type { HeldByBatches } from '../refusals/refusals.ts';
import { batchName } from './batch-ids.ts';

/** Batches that a refusal names. */
const maxNames = 5;
/** A vendor ends a batch within a day. */
const dayMs = 86_400_000;
/** A batch that has expired still has to be settled. */
const leastWaitS = 60;

/**
 * What batches hold, where a request was refused for money that only their end, a cancellation or a top-up makes free. Null: it
 * was refused for another reason, or what its account's other requests hold would be enough for it, and those end soon.
 */
export type HeldBudget = (accountId: string, refused: Refused) => Promise<HeldByBatches | null>;

export function createHeldBudget({
  store,
  now = Date.now,
}: {
  store: Pick<VendorBatches, 'holding'>;
  now?: () => number;
}): HeldBudget {
  return async (accountId, { reason, balance, required }) => {
    if (reason !== 'reserved' || required === undefined) return null;
    // Without an answer of the database the ordinary words are true enough.
    const holding = await store.holding(accountId).catch((): BatchHolding[] => []);
    const held = holding.reduce((sum, batch) => sum + batch.held, 0n);
    if (held === 0n || balance.free + balance.held - held >= required) return null;
    const endMs = Math.min(
      ...holding.map(({ createdAt, expiresAt }) => expiresAt?.getTime() ?? createdAt.getTime() + dayMs),
    );
    return {
      heldUsd: formatUsd(held),
      count: holding.length,
      names: holding.slice(0, maxNames).map(({ form, id }) => batchName(form, id)),
      endAt: new Date(endMs).toISOString(),
      untilS: Math.max(leastWaitS, Math.ceil((endMs - now()) / 1_000)),
    };
  };
}
