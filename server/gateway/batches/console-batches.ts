import type { HeldBatch, VendorBatches } from '../../billing/vendor-batches.ts';
import { batchName } from './batch-ids.ts';
import type { BatchKeeper } from './batch-keeper.ts';

/** Batches for the control plane: what an account's holder sees of them, and stopping one. */
export type ConsoleBatches = ReturnType<typeof createConsoleBatches>;

export function createConsoleBatches({
  store,
  keeper,
}: {
  store: Pick<VendorBatches, 'listHeld' | 'findHeld'>;
  keeper: Pick<BatchKeeper, 'look' | 'cancel'>;
}) {
  return {
    list: store.listHeld,
    find: store.findHeld,
    /** Its id at the model endpoints. */
    nameOf: ({ form, id }: Pick<HeldBatch, 'form' | 'id'>) => batchName(form, id),
    /** The batch afterwards; one that does not run stays as it is. */
    async cancel(batch: HeldBatch): Promise<HeldBatch | 'not_confirmed' | 'unreachable'> {
      if (batch.state === 'preparing') return 'not_confirmed';
      if (batch.state !== 'in_progress') return batch;
      const now = await keeper.look(batch);
      if (now === null || (await keeper.cancel(now)) === null) return 'unreachable';
      return (await store.findHeld(batch.accountId, batch.id)) ?? batch;
    },
  };
}
