import { isSaidByDatabase } from '../../database/lane.ts';
import type { IncomingTransfer, TransferReceipt, Transfers } from './transfers.ts';

/** Reconciliation: a provider's listing is queried for transfers that a webhook lost. */
export interface TransferSource {
  /** Transfers booked at or after a moment, in any order; duplicates are harmless. */
  listSince(since: Date): Promise<IncomingTransfer[]>;
}

/**
 * Stores all transfers that a source has booked within `windowMs`. Known transfers are recognised by their ids, so
 * windows may overlap. Returns the number of each kind; throws the first error, after every transfer has been tried.
 */
export async function reconcile(deps: {
  source: TransferSource;
  transfers: Pick<Transfers, 'receive'>;
  windowMs: number;
  now?: () => Date;
}): Promise<Record<TransferReceipt['kind'], number>> {
  const { source, transfers, windowMs, now = () => new Date() } = deps;
  const counts = { duplicate: 0, paid: 0, partial: 0, refund: 0, review: 0 };
  const failures: unknown[] = [];
  for (const transfer of await source.listSince(new Date(now().getTime() - windowMs))) {
    try {
      const receipt = await transfers.receive(transfer);
      counts[receipt.kind] += 1;
    } catch (error) {
      failures.push(error);
      if (!isSaidByDatabase(error)) break;
    }
  }
  // One that can never be stored must not block all others, round after round.
  if (failures.length > 0) throw failures[0];
  return counts;
}
