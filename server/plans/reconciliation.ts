import { isSaidByDatabase } from '../database/lane.ts';
import type { IncomingTransfer, Receipt, Transfers } from './transfers.ts';

/** Somewhere to ask for transfers: a provider's listing, for what a webhook lost. */
export interface TransferSource {
  /** Transfers booked at or after a moment, in any order; repeating some does no harm. */
  listSince(since: Date): Promise<IncomingTransfer[]>;
}

/**
 * Takes in everything that a source has booked within `windowMs`. Stored transfers are recognised by their ids, so the
 * window may overlap the last one by as much as it likes. Returns how many of each kind there were; throws what the first
 * failure was, once all have been tried that the database can take.
 */
export async function reconcile(deps: {
  source: TransferSource;
  transfers: Pick<Transfers, 'receive'>;
  windowMs: number;
  now?: () => Date;
}): Promise<Record<Receipt['kind'], number>> {
  const { source, transfers, windowMs, now = () => new Date() } = deps;
  const counts = { duplicate: 0, paid: 0, partial: 0, review: 0 };
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
  // One that can never be stored must not keep the money of all others away, round after round.
  if (failures.length > 0) throw failures[0];
  return counts;
}
