import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAccounts } from '../../server/accounts/accounts.ts';
import { createKeyring, type Keyring } from '../../server/keys/keyring.ts';
import { createKeys, type Keys } from '../../server/keys/keys.ts';
import { parseKey } from '../../server/keys/secret.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { openAccount, watchPool } from './support.ts';

/** Authentication of keys, with and without the cache. */

let database: TestDatabase;
let keys: Keys;
let accountId: string;
let watched: ReturnType<typeof watchPool>;
let keyring: Keyring;
let nowMs = 0;

beforeAll(async () => {
  database = await createDatabase();
  keys = createKeys({ pool: database.pool });
});
afterAll(() => database.drop());
beforeEach(async () => {
  accountId = await openAccount(database.pool);
  watched = watchPool(database.pool);
  keyring = createKeyring({ pool: watched.pool, maxAgeMs: 5_000, maxEntries: 3, now: () => nowMs });
});

async function make(terms: { models?: string[]; expiresAt?: Date } = {}) {
  const outcome = await keys.create({ accountId, actor: 'test', ...terms });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  return { ...outcome.key, hash: parseKey(outcome.secret)?.hash ?? Buffer.alloc(0) };
}

describe('a key', () => {
  test('leads to its account and what it may call', async () => {
    const key = await make({ models: ['a', 'b'] });
    expect(await keyring.find(key.hash)).toEqual({
      accountId,
      keyId: key.id,
      models: new Set(['a', 'b']),
      suspended: false,
      probes: false,
      trial: true,
      requestsPerMinute: null,
      tokensPerMinute: null,
      maxConcurrent: null,
      mayCallFrom: null,
      account: null,
      attribution: 'tags',
      projectId: null,
    });
    expect((await keyring.find((await make()).hash))?.models).toBeNull();
  });

  test('that is unknown, deleted or over leads nowhere', async () => {
    const deleted = await make();
    await keys.delete({ accountId, id: deleted.id, actor: 'test' });
    const over = await make();
    await database.pool.query(`UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = $1`, [over.id]);
    for (const hash of [deleted.hash, over.hash, Buffer.alloc(32)]) expect(await keyring.find(hash)).toBeNull();
  });

  test('of a suspended account is known to be so', async () => {
    const key = await make();
    await createAccounts({ pool: database.pool }).suspend({ accountId, actor: 'test' });
    expect(await keyring.find(key.hash)).toMatchObject({ suspended: true });
  });
});

describe('memory', () => {
  test('answers again without a query, until the key is old', async () => {
    const { hash } = await make();
    await keyring.find(hash);
    nowMs += 4_999;
    await keyring.find(hash);
    expect(watched.queries).toBe(1);
    nowMs += 1;
    await keyring.find(hash);
    expect(watched.queries).toBe(2);
  });

  test('never answers what has to be known now', async () => {
    const key = await make();
    await keyring.find(key.hash);
    await keys.delete({ accountId, id: key.id, actor: 'test' });
    expect(await keyring.findNow(key.hash)).toBeNull();
  });

  test('does not keep that a key is unknown: one made a moment later works at once', async () => {
    const key = await make();
    await database.pool.query('UPDATE api_key SET deleted_at = now() WHERE id = $1', [key.id]);
    expect(await keyring.find(key.hash)).toBeNull();
    await database.pool.query('UPDATE api_key SET deleted_at = NULL WHERE id = $1', [key.id]);
    expect(await keyring.find(key.hash)).not.toBeNull();
  });

  test('is dropped when keys change', async () => {
    const key = await make();
    await keyring.find(key.hash);
    await keys.delete({ accountId, id: key.id, actor: 'test' });
    keyring.drop();
    expect(await keyring.find(key.hash)).toBeNull();
  });

  test('asks once for all who ask at the same moment', async () => {
    const { hash } = await make();
    const found = await Promise.all(Array.from({ length: 20 }, () => keyring.find(hash)));
    expect(found.every((principal) => principal?.accountId === accountId)).toBe(true);
    expect(watched.queries).toBe(1);
  });

  test('takes in nothing that was read before a drop and arrives after it', async () => {
    const key = await make();
    const open = watched.close();
    const before = keyring.find(key.hash);
    await expect.poll(() => watched.answered).toBe(1);
    await keys.delete({ accountId, id: key.id, actor: 'test' });
    keyring.drop();
    const after = keyring.find(key.hash);
    open();
    expect(await before).not.toBeNull();
    expect(await after).toBeNull();
    expect(await keyring.find(key.hash)).toBeNull();
  });

  test('is bounded: the oldest key makes room', async () => {
    const made = [await make(), await make(), await make(), await make()];
    for (const { hash } of made) await keyring.find(hash);
    expect(watched.queries).toBe(4);
    for (const { hash } of made.slice(1)) await keyring.find(hash);
    expect(watched.queries).toBe(4);
    await keyring.find(made[0]?.hash ?? Buffer.alloc(0));
    expect(watched.queries).toBe(5);
  });

  test('survives a database that is away for a moment', async () => {
    const { hash } = await make();
    const broken = createKeyring({
      pool: { query: () => Promise.reject(new Error('away')) } as never,
      now: () => nowMs,
    });
    await expect(broken.find(hash)).rejects.toThrow('away');
    await expect(broken.find(hash)).rejects.toThrow('away');
  });
});
