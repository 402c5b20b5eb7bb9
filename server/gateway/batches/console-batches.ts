import type { HeldBatch, VendorBatches } from '../../billing/vendor-batches.ts';
import { batchName } from './batch-ids.ts';
import type { BatchKeeper } from './batch-keeper.ts';

/** Batches for the control plane: what an account's holder sees of them, and stopping one. */
export type ConsoleBatches = ReturnType<typeof createConsoleBatches>;

export function createConsoleBatches({
  store,
  keeper,
}: {
  store: Pick<VendorBatches, 'listHeld' | 'findHeld' | 'noteCancel'>;
  keeper: Pick<BatchKeeper, 'look' | 'cancel'>;
}) {
  return {
    list: store.listHeld,
    find: store.findHeld,
    /** Its id at the model endpoints. */
    nameOf: ({ form, id }: Pick<HeldBatch, 'form' | 'id'>) => batchName(form, id),
    /** The batch afterwards; one that does not run stays as it is. `actor`: as in the audit log. */
    async cancel(batch: HeldBatch, actor: string): Promise<HeldBatch | 'not_confirmed' | 'unreachable'> {
      if (batch.state === 'preparing') return 'not_confirmed';
      if (batch.state !== 'in_progress') return batch;
      const now = await keeper.look(batch);
      if (now === null) return 'unreachable';
      if (now.state === 'in_progress') {
        // Before the vendor is asked: no batch is stopped without an entry, even if its answer is lost.
        await store.noteCancel(now, actor);
        if ((await keeper.cancel(now)) === null) return 'unreachable';
      }
      return (await store.findHeld(batch.accountId, batch.id)) ?? batch;
    },
  };
}
