import type { Pool } from 'pg';
import type { Operation, Result } from './batch.ts';
import type { KeptConnection } from './connection.ts';
import type { GroupCommit } from './group-commit.ts';
import { readShardMap } from './shard-map.ts';

/** Two lanes of batches, each on a connection of its own. */
export interface LanePair {
  connection: KeptConnection;
  lane: GroupCommit;
  /** Of settlements that their promises pay for. */
  settlements: GroupCommit;
  /** Commits what waits, for at most `limitMs`. */
  close(limitMs: number): Promise<void>;
}

/** The lanes of all accounts: one pair, or one for each node that has entries. */
export interface Lanes {
  /** As in `GroupCommit`, in the lane of the operation's account. */
  add(operation: Operation): Promise<Result>;
  /** The same for a settlement that its promise pays for. */
  charge(operation: Operation): Promise<Result>;
  /** Whether nothing can be committed for the account; without one: for no account. */
  isDown(accountId?: string): boolean;
  /** As in `GroupCommit`, of every lane. */
  calmForMs(): number;
  close(limitMs: number): Promise<void>;
}

export function lanesOf({ lane, settlements, close }: LanePair): Lanes {
  return {
    add: lane.add,
    charge: settlements.add,
    isDown: () => lane.down || settlements.down,
    calmForMs: () => (settlements.down ? 0 : lane.calmForMs),
    close,
  };
}

export interface NodeLanesParts {
  pool: Pool;
  /** Renews the lease, and carries out nothing else. */
  home: LanePair;
  openPair(): LanePair;
}

const mapEveryMs = 30_000;
const connectionsOfPair = 2;

/**
 * A pair of lanes for each node of a Citus over which the entries are spread: everything of an account goes through the pair of the
 * node that has its entries. A node that is away keeps back the settlements of its accounts, and with them their admissions. The
 * other accounts share neither a batch nor a lock with these.
 *
 * An account changes its pair when its shard has moved, and only while none of its operations is under way: the operations of an
 * account are carried out one batch after the other, which escrows rely on. Which pair it is matters for nothing else.
 */
export async function openNodeLanes({ pool, home, openPair }: NodeLanesParts): Promise<Lanes> {
  let map = await readShardMap(pool);
  const pairs = new Map<number, LanePair>();
  const busy = new Map<string, { pair: LanePair; operations: number }>();

  const pairOf = (accountId: string): LanePair => {
    const node = map.nodeOf(accountId);
    const known = pairs.get(node);
    if (known !== undefined) return known;
    pool.options.max += connectionsOfPair;
    const pair = openPair();
    pairs.set(node, pair);
    return pair;
  };

  const through =
    (lane: 'lane' | 'settlements') =>
    async (operation: Operation): Promise<Result> => {
      const accountId = accountOf(operation);
      const at = busy.get(accountId) ?? { pair: pairOf(accountId), operations: 0 };
      busy.set(accountId, at);
      at.operations += 1;
      try {
        return await at.pair[lane].add(operation);
      } finally {
        at.operations -= 1;
        if (at.operations === 0) busy.delete(accountId);
      }
    };

  const read = async (): Promise<void> => {
    map = await readShardMap(pool);
  };
  const reading = setInterval(() => {
    // A map that is out of date is good enough.
    read().catch(() => undefined);
  }, mapEveryMs);
  reading.unref();

  const isPairDown = ({ lane, settlements }: LanePair): boolean => lane.down || settlements.down;

  return {
    add: through('lane'),
    charge: through('settlements'),

    isDown(accountId) {
      if (home.lane.down) return true;
      if (accountId !== undefined) return isPairDown(busy.get(accountId)?.pair ?? pairOf(accountId));
      return pairs.size > 0 && [...pairs.values()].every(isPairDown);
    },

    calmForMs: () => ([...pairs.values()].some(isPairDown) ? 0 : home.lane.calmForMs),

    async close(limitMs) {
      clearInterval(reading);
      await Promise.all([...pairs.values()].map((pair) => pair.close(limitMs)));
      await home.close(limitMs);
    },
  };
}

function accountOf(operation: Operation): string {
  if (operation.kind === 'settle') return operation.settlement.accountId;
  return 'ask' in operation ? operation.ask.accountId : operation.accountId;
}
