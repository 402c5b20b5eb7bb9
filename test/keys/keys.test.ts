import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ApiKey, createKeys, type Keys } from '../../server/keys/keys.ts';
import { parseKey } from '../../server/keys/secret.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { openAccount } from './support.ts';

/** Creating, changing, rotating and deleting keys. */

let database: TestDatabase;
let keys: Keys;
let accountId: string;
let strangerId: string;

beforeAll(async () => {
  database = await createDatabase();
  keys = createKeys({ pool: database.pool });
});
afterAll(() => database.drop());
beforeEach(async () => {
  [accountId, strangerId] = await Promise.all([openAccount(database.pool), openAccount(database.pool)]);
});

const actor = 'test';

async function make(ask: Partial<Parameters<Keys['create']>[0]> = {}): Promise<{ key: ApiKey; secret: string }> {
  const outcome = await keys.create({ accountId, actor, ...ask });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  return outcome;
}

async function audited(id: string) {
  const { rows } = await database.pool.query(
    'SELECT actor, action, before, after FROM audit_entry WHERE subject = $1 ORDER BY created_at, id',
    [`key:${id}`],
  );
  return rows;
}

describe('making a key', () => {
  test('gives a secret of which only the digest is kept', async () => {
    const { key, secret } = await make({ name: 'laptop' });
    expect(secret.startsWith(key.prefix)).toBe(true);
    expect(secret.endsWith(key.last4)).toBe(true);
    const { rows } = await database.pool.query('SELECT * FROM api_key WHERE id = $1', [key.id]);
    expect(rows[0].hash.equals(parseKey(secret)?.hash)).toBe(true);
    const kept = JSON.stringify([rows, await audited(key.id)], (_name, value: unknown) =>
      typeof value === 'bigint' ? `${value}` : value,
    );
    // Whatever is kept in clear shows less than a guesser needs.
    expect(kept).not.toContain(secret.slice(key.prefix.length, -4));
  });

  test('keeps its terms', async () => {
    const terms = {
      name: 'ci',
      models: ['a', 'b', 'a'],
      limits: { day: 1n, week: 2n, month: 2n, lifetime: 3n },
      expiresAt: new Date('2030-01-01T00:00:00Z'),
    };
    const { key } = await make(terms);
    expect(key).toMatchObject({ ...terms, models: ['a', 'b'], accountId, deletedAt: null, replaces: null });
    expect(await keys.find(key.id)).toEqual(key);
  });

  test('needs an account', async () => {
    for (const unknown of [crypto.randomUUID(), 'x', '\0']) {
      expect(await keys.create({ accountId: unknown, actor })).toEqual({ kind: 'unknown_account' });
    }
  });

  test.each([
    ['name', { name: '' }],
    ['name', { name: 'nul\0' }],
    ['name', { name: 'half \udc00' }],
    ['name', { name: 'hidden\u200b' }],
    ['name', { name: 'x'.repeat(101) }],
    ['models', { models: ['\0'] }],
    ['models', { models: ['x'.repeat(257)] }],
    ['models', { models: Array.from({ length: 501 }, (_, index) => `m${index}`) }],
    ['limits', { limits: { day: 0n, week: null, month: null, lifetime: null } }],
    ['limits', { limits: { day: null, week: null, month: -1n, lifetime: null } }],
    ['limits', { limits: { day: null, week: null, month: null, lifetime: 2n ** 63n } }],
    ['expiresAt', { expiresAt: new Date(Number.NaN) }],
    ['expiresAt', { expiresAt: new Date('2020-01-01') }],
  ])('with a bad %s is an input error, not a fault', async (field, terms) => {
    expect(await keys.create({ accountId, actor, ...terms })).toMatchObject({ kind: 'invalid', field });
    expect(await keys.list(accountId)).toEqual([]);
  });

  test('a family of emoji is a name', async () => {
    const { key } = await make({ name: 'home 👩‍👩‍👧‍👦 ❤️' });
    expect(key.name).toBe('home 👩‍👩‍👧‍👦 ❤️');
  });

  test('ends at a thousand, also for those who ask at the same moment', async () => {
    await database.pool.query(
      `INSERT INTO api_key (id, account_id, name, hash, prefix, last4)
       SELECT gen_random_uuid(), $1::uuid, 'k', sha256(($1::text || n)::bytea), 'p', 'l' FROM generate_series(1, 998) AS n`,
      [accountId],
    );
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => keys.create({ accountId, actor })));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual([
      'created',
      'created',
      'too_many_keys',
      'too_many_keys',
      'too_many_keys',
    ]);
  });
});

describe('listing', () => {
  test('newest first, of this account alone, deleted ones only when asked for', async () => {
    const [first, second] = [(await make({ name: '1' })).key, (await make({ name: '2' })).key];
    await make({ accountId: strangerId });
    await keys.delete({ accountId, id: first.id, actor });
    expect((await keys.list(accountId)).map(({ id }) => id)).toEqual([second.id]);
    expect((await keys.list(accountId, { deleted: true })).map(({ id }) => id)).toEqual([second.id, first.id]);
  });
});

describe('changing a key', () => {
  test('changes what is given and leaves the rest', async () => {
    const { key } = await make({
      name: 'old',
      models: ['a'],
      limits: { day: 5n, week: null, month: null, lifetime: null },
    });
    const outcome = await keys.change({ accountId, id: key.id, name: 'new', actor });
    expect(outcome).toEqual({ kind: 'changed', key: { ...key, name: 'new' } });
    await keys.change({ accountId, id: key.id, models: [], expiresAt: new Date('2031-01-01'), actor });
    await keys.change({ accountId, id: key.id, expiresAt: null, actor: 'user:7' });
    expect(await keys.find(key.id)).toEqual({ ...key, name: 'new', models: [] });
    const entries = await audited(key.id);
    expect(entries.map(({ action }) => action)).toEqual(['key.create', 'key.change', 'key.change', 'key.change']);
    expect(entries.at(-1)).toMatchObject({
      actor: 'user:7',
      before: { expiresAt: '2031-01-01T00:00:00.000Z' },
      after: { expiresAt: null },
    });
  });

  test('refuses what making it would refuse', async () => {
    const { key } = await make();
    expect(await keys.change({ accountId, id: key.id, name: '\0', actor })).toMatchObject({ kind: 'invalid' });
  });
});

describe('a key that is over', () => {
  test('can be renamed and given a new end, but not an end that is past, and is not replaced by another one', async () => {
    const { key } = await make();
    const ref = { accountId, id: key.id, actor };
    expect(await keys.change({ ...ref, expiresAt: new Date('2020-01-01') })).toMatchObject({
      kind: 'invalid',
      field: 'expiresAt',
    });
    await database.pool.query(`UPDATE api_key SET expires_at = now() - interval '1 hour' WHERE id = $1`, [key.id]);
    expect(await keys.change({ ...ref, name: 'over' })).toMatchObject({ kind: 'changed', key: { name: 'over' } });
    expect(await keys.rotate({ ...ref, graceMs: 0 })).toEqual({ kind: 'key_expired' });
    expect(await keys.list(accountId)).toHaveLength(1);
    expect(await keys.change({ ...ref, expiresAt: new Date('2040-01-01') })).toMatchObject({ kind: 'changed' });
    expect(await keys.rotate({ ...ref, graceMs: 0 })).toMatchObject({ kind: 'rotated' });
  });
});

describe('replacing a key', () => {
  test('gives a second one of the same terms, and an end to the first', async () => {
    const limits = { day: 5n, week: null, month: 6n, lifetime: null };
    const { key } = await make({ name: 'ci', models: ['a'], limits, requestsPerMinute: 60 });
    const outcome = await keys.rotate({ accountId, id: key.id, graceMs: 3_600_000, actor });
    if (outcome.kind !== 'rotated') throw new Error(outcome.kind);
    expect(outcome.key).toMatchObject({
      name: 'ci',
      models: ['a'],
      limits: key.limits,
      requestsPerMinute: 60,
      replaces: key.id,
      expiresAt: null,
    });
    expect(outcome.secret).not.toBe('');
    const endsIn = (outcome.replaced.expiresAt?.getTime() ?? 0) - outcome.key.createdAt.getTime();
    expect(endsIn).toBe(3_600_000);
    expect(outcome.replaced.deletedAt).toBeNull();
  });

  test('never prolongs the first one’s life, and ends it at once without grace', async () => {
    const soon = new Date(Date.now() + 60_000);
    const { key } = await make({ expiresAt: soon });
    const outcome = await keys.rotate({ accountId, id: key.id, graceMs: 3_600_000, actor });
    expect(outcome).toMatchObject({ kind: 'rotated', replaced: { expiresAt: soon } });
    const other = await make();
    const ended = await keys.rotate({ accountId, id: other.key.id, graceMs: 0, actor });
    expect(ended).toMatchObject({ kind: 'rotated', replaced: { deletedAt: expect.any(Date) } });
  });

  test('happens once, also when it is asked for twice at once', async () => {
    const { key } = await make({ limits: { day: null, week: null, month: null, lifetime: 1_000n } });
    const ref = { accountId, id: key.id, actor };
    const outcomes = await Promise.all([1, 2, 3].map(() => keys.rotate({ ...ref, graceMs: 3_600_000 })));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['replaced_before', 'replaced_before', 'rotated']);
    const [successor] = await keys.list(accountId);
    await keys.delete({ accountId, id: successor?.id ?? '', actor });
    expect(await keys.rotate({ ...ref, graceMs: 0 })).toEqual({ kind: 'replaced_before' });
    expect(await keys.list(accountId, { deleted: true })).toHaveLength(2);
  });

  test('does not renew a lifetime limit', async () => {
    const { key } = await make({ limits: { day: null, week: null, month: null, lifetime: 1_000n } });
    await database.pool.query(
      `INSERT INTO key_spend (account_id, key_id, charged, held, day, month) VALUES ($1, $2, 700, 100, now(), now())`,
      [accountId, key.id],
    );
    const outcome = await keys.rotate({ accountId, id: key.id, graceMs: 0, actor });
    expect(outcome).toMatchObject({ key: { limits: { lifetime: 200n } } });
    const spent = await make({ limits: { day: null, week: null, month: null, lifetime: 5n } });
    await database.pool.query(
      `INSERT INTO key_spend (account_id, key_id, charged, day, month) VALUES ($1, $2, 5, now(), now())`,
      [accountId, spent.key.id],
    );
    const nothingLeft = await keys.rotate({ accountId, id: spent.key.id, graceMs: 0, actor });
    expect(nothingLeft).toMatchObject({ key: { limits: { lifetime: 1n } } });
  });
});

describe('what is not the account’s own', () => {
  test('is as unknown as what is not there', async () => {
    const { key } = await make({ accountId: strangerId });
    for (const id of [key.id, crypto.randomUUID(), 'x', '\0']) {
      const ref = { accountId, id, actor };
      expect(await keys.change({ ...ref, name: 'mine' })).toEqual({ kind: 'unknown_key' });
      expect(await keys.rotate({ ...ref, graceMs: 0 })).toEqual({ kind: 'unknown_key' });
      expect(await keys.delete(ref)).toEqual({ kind: 'unknown_key' });
    }
    expect(await keys.find(key.id)).toEqual(key);
    expect(await audited(key.id)).toHaveLength(1);
  });

  test('a deleted key cannot be deleted, changed or replaced again', async () => {
    const { key } = await make();
    expect(await keys.delete({ accountId, id: key.id, actor })).toMatchObject({ kind: 'deleted' });
    expect(await keys.delete({ accountId, id: key.id, actor })).toEqual({ kind: 'unknown_key' });
    expect(await keys.rotate({ accountId, id: key.id, graceMs: 0, actor })).toEqual({ kind: 'unknown_key' });
  });
});
