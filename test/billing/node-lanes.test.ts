/** Which lanes the operations of an account go through where the nodes of a Citus share the ledger. Real nodes: `test/citus`. */

import type { Pool } from 'pg';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Operation, Result } from '../../server/billing/lane/batch.ts';
import { type LanePair, openNodeLanes } from '../../server/billing/lane/node-lanes.ts';

/** Accounts by the shard of two that has them: those with a negative hash, and the others. */
const [low, high] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000003'] as const;
/** What PostgreSQL computes for the account that the map asks for. */
const hash = -1_409_821_678;

interface Fake {
  pair: LanePair;
  /** What its lanes were given, with what answers it. */
  given: { operation: Operation; answer(): void }[];
  state: { down: boolean };
}

/** Of two shards, which the database says are on these nodes. */
let nodes: [number, number];
let made: Fake[];
const pool = {
  options: { max: 6 },
  query: async () => ({ rows: [-(2 ** 31), 0].map((from, index) => ({ low: from, node: nodes[index], hash })) }),
};

function fake(): Fake {
  const given: Fake['given'] = [];
  const state = { down: false };
  const lane = {
    add: (operation: Operation) =>
      new Promise<Result>((resolve) => {
        given.push({ operation, answer: () => resolve({ kind: 'expired' }) });
      }),
    nudge: async () => undefined,
    get down() {
      return state.down;
    },
    calmForMs: 1,
    close: async () => undefined,
  };
  return { pair: { lane, settlements: lane, close: async () => undefined } as unknown as LanePair, given, state };
}

const open = (home: Fake) =>
  openNodeLanes({
    pool: pool as unknown as Pool,
    home: home.pair,
    openPair() {
      const one = fake();
      made.push(one);
      return one.pair;
    },
  });

const expire = (accountId: string): Operation => ({ kind: 'expire', accountId });
const accountsIn = ({ given }: Fake): unknown[] =>
  given.map(({ operation }) => 'accountId' in operation && operation.accountId);

beforeEach(() => {
  vi.useFakeTimers();
  nodes = [1, 2];
  made = [];
  pool.options.max = 6;
});
afterEach(() => {
  vi.useRealTimers();
});

it('keeps the accounts of nodes apart, in lanes and in what is refused, with two connections for each node', async () => {
  const home = fake();
  const lanes = await open(home);
  for (const account of [low, high, low]) void lanes.add(expire(account));
  expect(made.map(accountsIn)).toEqual([[low, low], [high]]);
  expect([pool.options.max, home.given]).toEqual([10, []]);
  const [one, other] = made as [Fake, Fake];
  one.state.down = true;
  expect([lanes.isDown(low), lanes.isDown(high), lanes.isDown(), lanes.calmForMs()]).toEqual([true, false, false, 0]);
  other.state.down = true;
  expect(lanes.isDown()).toBe(true);
  Object.assign(one.state, { down: false });
  home.state.down = true;
  expect([lanes.isDown(low), lanes.isDown()]).toEqual([true, true]);
  await lanes.close(0);
});

it('changes the lanes of an account whose shard has moved, but never while one of its operations is under way', async () => {
  const lanes = await open(fake());
  const first = lanes.add(expire(low));
  const second = lanes.charge(expire(low));
  nodes = [2, 2];
  await vi.advanceTimersByTimeAsync(60_000);
  void lanes.add(expire(low));
  expect(made.map(accountsIn)).toEqual([[low, low, low]]);
  const [one] = made as [Fake];
  for (const { answer } of one.given.slice(0, 2)) answer();
  await Promise.all([first, second]);
  // The third is.
  const fourth = lanes.add(expire(low));
  expect(made.map(accountsIn)).toEqual([[low, low, low, low]]);
  for (const { answer } of one.given.slice(2)) answer();
  await fourth;
  await vi.advanceTimersByTimeAsync(0);
  void lanes.add(expire(low));
  expect(made.map(accountsIn)).toEqual([[low, low, low, low], [low]]);
  await lanes.close(0);
});

it('puts every account into one pair of lanes where the database computes another hash', async () => {
  const other = {
    ...pool,
    query: async () => ({
      rows: [
        { low: -(2 ** 31), node: 1, hash: 1 },
        { low: 0, node: 2, hash: 1 },
      ],
    }),
  };
  const lanes = await openNodeLanes({
    pool: other as unknown as Pool,
    home: fake().pair,
    openPair() {
      const one = fake();
      made.push(one);
      return one.pair;
    },
  });
  for (const account of [low, high]) void lanes.add(expire(account));
  expect(made.map(accountsIn)).toEqual([[low, high]]);
  await lanes.close(0);
});
