import type { Pool } from 'pg';
import { expect } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';

/** Every invariant holds for everybody, or for these accounts. */
export async function expectSound(db: Pool, accounts: readonly string[] | null = null): Promise<void> {
  expect(await checkInvariants(db, { accounts })).toEqual([]);
}
