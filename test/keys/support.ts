import type { Pool } from 'pg';
import { createAccounts } from '../../server/accounts/accounts.ts';

/** An account with nothing in it. */
export async function openAccount(pool: Pool): Promise<string> {
  const email = `${crypto.randomUUID()}@example.com`;
  const outcome = await createAccounts({ pool }).create({ email, grant: { kind: 'none' }, actor: 'test' });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  return outcome.account.id;
}

/** A pool whose queries are counted and whose answers can be held back. */
export function watchPool(pool: Pool) {
  const state = { queries: 0, answered: 0, gate: Promise.resolve() };
  const query: (...args: unknown[]) => Promise<unknown> = pool.query.bind(pool);
  const watched = {
    query: async (...args: unknown[]) => {
      state.queries += 1;
      const result = await query(...args);
      state.answered += 1;
      await state.gate;
      return result;
    },
  } as unknown as Pool;
  return {
    pool: watched,
    get queries() {
      return state.queries;
    },
    /** Queries that the database has answered, whether or not the answer has arrived. */
    get answered() {
      return state.answered;
    },
    /** From now on answers have been read but do not arrive, until the returned function is called. */
    close(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      state.gate = promise;
      return resolve;
    },
  };
}
