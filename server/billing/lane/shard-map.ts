import type { Queryable } from '../../database/pool.ts';

/** Which node of a Citus has the entries of an account (`database/DISTRIBUTED.md`). */
interface ShardMap {
  /** The number of the node's group, which a standby that takes its place keeps. */
  nodeOf(accountId: string): number;
}

/** Any account, whose hash the database is asked for. */
const sample = '0192f5e4-7c1a-7b3d-8e2f-5a6b7c8d9e0f';

/** Reads the map. It changes when shards are moved; one that is out of date finds the wrong node, and nothing else. */
export async function readShardMap(db: Queryable): Promise<ShardMap> {
  const { rows } = await db.query<{ low: number; node: number; hash: number }>(
    `SELECT s.shardminvalue::int AS low, p.groupid AS node, worker_hash($1::uuid) AS hash
     FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid)
     WHERE s.logicalrelid = 'ledger_entry'::regclass ORDER BY 1`,
    [sample],
  );
  // A database that computes another hash: every account is one of the first node.
  const isKnown = rows.every(({ hash }) => hash === hashOf(sample));
  return {
    nodeOf(accountId) {
      const hash = isKnown ? hashOf(accountId) : Number.NEGATIVE_INFINITY;
      const shard = rows.findLast(({ low }) => low <= hash) ?? rows[0];
      return shard?.node ?? 0;
    },
  };
}

const rotated = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

/**
 * The hash of a UUID by which Citus places rows: PostgreSQL's `hash_bytes` of its 16 bytes, on machines that store the lowest byte
 * first (https://github.com/postgres/postgres/blob/REL_15_STABLE/src/common/hashfn.c).
 */
function hashOf(uuid: string): number {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  const begun = (0x9e3779b9 + bytes.length + 3_923_095) | 0;
  let a = (begun + bytes.readInt32LE(0)) | 0;
  let b = (begun + bytes.readInt32LE(4)) | 0;
  let c = (begun + bytes.readInt32LE(8)) | 0;
  for (const [one, two, three] of [
    [4, 6, 8],
    [16, 19, 4],
  ] as const) {
    a = (a - c) ^ rotated(c, one);
    c = (c + b) | 0;
    b = (b - a) ^ rotated(a, two);
    a = (a + c) | 0;
    c = (c - b) ^ rotated(b, three);
    b = (b + a) | 0;
  }
  a = (a + bytes.readInt32LE(12)) | 0;
  c = ((c ^ b) - rotated(b, 14)) | 0;
  a = ((a ^ c) - rotated(c, 11)) | 0;
  b = ((b ^ a) - rotated(a, 25)) | 0;
  c = ((c ^ b) - rotated(b, 16)) | 0;
  a = ((a ^ c) - rotated(c, 4)) | 0;
  b = ((b ^ a) - rotated(a, 14)) | 0;
  return ((c ^ b) - rotated(b, 24)) | 0;
}
