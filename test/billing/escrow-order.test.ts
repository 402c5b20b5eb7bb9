import { expect, test } from 'vitest';
import { createEscrows, type Escrows, type EscrowsParts } from '../../server/billing/escrow/escrows.ts';
import type { Testimony } from '../../server/billing/escrow/witness.ts';
import type { Facts, KeyTruth, ModelTruth, Operation, Result } from '../../server/billing/lane/batch.ts';
import type { AdmitAsk } from '../../server/billing/types.ts';
import { ask } from './support.ts';

/** The order in which the lane's answers, call-ins and the witness reach the escrows: what no test of a database can choose. */

const customer = { accountId: 'account', keyId: 'key' };
const testimony: Testimony = { change: '1', nowMs: 1_000, lease: { sinceMs: 0, untilMs: 60_000 }, ageMs: () => 0 };
const model: ModelTruth = {
  contextWindow: 200_000,
  maxOutputTokens: 32_000,
  price: { id: 'price', input: 3n, cacheHit: 1n, cacheWrite5m: 3n, cacheWrite1h: 3n, output: 15n },
  priceUntilMs: null,
};
const key: KeyTruth = {
  accountId: customer.accountId,
  valid: true,
  expiresAtMs: null,
  accountActive: true,
  models: [],
  timeZone: 'UTC',
  limits: { day: null, week: null, month: null, lifetime: null, burn: null },
};
const facts = {
  nowMs: 1_000,
  change: '1',
  grantEnds: new Map([['grant', null]]),
  grants: new Map(),
  keys: new Map([[customer.keyId, key]]),
  models: new Map([['big', model]]),
} as unknown as Facts;

interface Queued {
  operation: Operation;
  resolve(result: Result): void;
}

/** Escrows whose lane commits when the test says so, with something held in advance. */
async function filledEscrows(more: Partial<EscrowsParts> = {}) {
  const lane: Queued[] = [];
  const faults: unknown[] = [];
  const escrows = createEscrows({
    witness: { ask: () => Promise.resolve(testimony), close() {} },
    lane: { add: (operation) => new Promise((resolve) => lane.push({ operation, resolve })) },
    isHealthy: () => true,
    isRenewed: () => true,
    onFault: (error) => faults.push(error),
    idleMs: 2_000,
    ...more,
  });
  const asked: AdmitAsk = ask(customer);
  escrows.committed([{ kind: 'admit', ask: asked }], [{ kind: 'refused', reason: 'unavailable' } as Result], facts);
  for (let i = 0; i < 8; i += 1) expect(await escrows.admit(ask(customer))).toBe(null);
  commit(escrows, lane.shift()!, refilled(1_000_000n));
  await turn();
  return { escrows, lane, faults };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const refilled = (amount: bigint): Result => ({
  kind: 'refilled',
  freeAfter: 0n,
  added: amount === 0n ? [] : [{ grantId: 'grant', amount }],
  lost: false,
  trialOnly: false,
});

function commit(escrows: Escrows, { operation, resolve }: Queued, result: Result): void {
  const [prepared] = escrows.prepare([operation]);
  escrows.committed([prepared!], [result], facts);
  resolve(result);
}

test('what the lane gives an extension is the extension’s, also when idle money is called in as soon as it is committed', async () => {
  const { escrows, lane } = await filledEscrows();
  const asked = ask(customer);
  expect(await escrows.admit(asked)).toMatchObject({ kind: 'admitted' });
  escrows.callIn(customer.accountId);
  const extended = escrows.extend(asked, 5_000n);
  await turn();
  const refill = lane.find(({ operation }) => operation.kind === 'refill' && operation.exact > 0n)!;
  commit(escrows, refill, refilled(5_000n));
  escrows.callIn(customer.accountId);
  expect(await extended).toEqual({ added: 5_000n, mayReturn: false });
});

test('nothing is promised from the moment in which a renewal of the lease is late, whatever the witness says', async () => {
  const state = { isRenewed: true };
  const { escrows } = await filledEscrows({ isRenewed: () => state.isRenewed });
  expect(await escrows.admit(ask(customer))).toMatchObject({ kind: 'admitted' });
  state.isRenewed = false;
  expect(await escrows.admit(ask(customer))).toBe(null);
});

test('an answer that cannot be true closes the escrows and leaves the batch committed', async () => {
  const { escrows, faults } = await filledEscrows();
  const asked = ask(customer);
  const answer = await escrows.admit(asked);
  if (answer === null || answer === 'unavailable') throw new Error('not admitted');
  const usage = { input: 1, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 1 };
  const settlement = { ...asked, usage, price: answer.price } as never;
  const promise = escrows.takePromise(settlement)!;
  const result = { kind: 'settled', own: [{ grantId: 'grant', amount: answer.amount + 1n }] } as unknown as Result;
  escrows.committed([{ kind: 'settle', settlement: { ...(settlement as object), promise } as never }], [result], facts);
  expect(faults).toHaveLength(1);
  expect(await escrows.admit(ask(customer))).toBe(null);
});
