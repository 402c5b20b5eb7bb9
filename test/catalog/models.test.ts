import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modelId } from '../../server/catalog/model.ts';
import { currentPrice, saveModel, savePrices } from '../../server/catalog/models.ts';
import { pricesInput } from '../../server/catalog/price.ts';
import { transaction } from '../../server/database/lane.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { addModel, model } from './support.ts';

/** Writing models and price versions. */

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const prices = (input: string) => pricesInput.parse({ input, cacheHit: '0.1', output: '15' });
const inTransaction = <T>(work: Parameters<typeof transaction<T>>[1]) => transaction(database.pool, work);

/** The versions of a model, the latest of them first. */
async function versionsOf(id: string): Promise<{ input: bigint; validFrom: Date }[]> {
  const { rows } = await database.pool.query(
    'SELECT input, valid_from AS "validFrom" FROM price WHERE model_id = $1 ORDER BY valid_from DESC, created_at DESC, id DESC',
    [id],
  );
  return rows;
}

async function audited(subject: string) {
  const { rows } = await database.pool.query(
    'SELECT action, before, after FROM audit_entry WHERE subject = $1 ORDER BY created_at, id',
    [subject],
  );
  return rows;
}

describe('prices', () => {
  test('a change is a new version; the same again is none', async () => {
    await addModel(database.pool, 'm1', { input: '1' });
    expect(
      await inTransaction((client) => savePrices(client, { modelId: 'm1', prices: prices('1'), actor: 'a' })),
    ).toBe('unchanged');
    expect(
      await inTransaction((client) => savePrices(client, { modelId: 'm1', prices: prices('2'), actor: 'a' })),
    ).toBe('changed');
    const versions = await versionsOf('m1');
    expect(versions.map(({ input }) => input)).toEqual([2_000_000n, 1_000_000n]);
    expect(await inTransaction((client) => currentPrice(client, 'm1'))).toMatchObject(versions[0] ?? { input: 0n });
  });

  test('of two changes that overlap, the one that was written last counts', async () => {
    await addModel(database.pool, 'm2', { input: '1' });
    const early = await database.pool.connect();
    await early.query('BEGIN');
    await early.query('SELECT now()');
    await inTransaction((client) => savePrices(client, { modelId: 'm2', prices: prices('2'), actor: 'a' }));
    await database.pool.query('SELECT pg_sleep(0.002)');
    await savePrices(early, { modelId: 'm2', prices: prices('3'), actor: 'a' });
    await early.query('COMMIT');
    early.release();
    expect((await inTransaction((client) => currentPrice(client, 'm2')))?.input).toBe(3_000_000n);
  });

  test('a version is valid for every read after it was written', async () => {
    await addModel(database.pool, 'm3', { input: '1' });
    for (const input of ['2', '3', '4', '5']) {
      await inTransaction((client) => savePrices(client, { modelId: 'm3', prices: prices(input), actor: 'a' }));
      const now = await inTransaction((client) => currentPrice(client, 'm3'));
      expect(now?.input).toBe(BigInt(input) * 1_000_000n);
    }
  });

  test('cannot begin in the past', async () => {
    await addModel(database.pool, 'm4', { input: '1' });
    const validFrom = new Date('2020-01-01');
    await inTransaction((client) => savePrices(client, { modelId: 'm4', prices: prices('2'), validFrom, actor: 'a' }));
    const [newest] = await versionsOf('m4');
    expect(newest?.input).toBe(2_000_000n);
    expect(newest?.validFrom.getTime()).toBeGreaterThan(validFrom.getTime());
  });

  test('are in the audit log as people write them', async () => {
    await addModel(database.pool, 'm5', { input: '1' });
    await addModel(database.pool, 'm5', { input: '2.5' });
    expect((await audited('model:m5')).filter(({ action }) => action === 'price.add')).toEqual([
      { action: 'price.add', before: null, after: expect.objectContaining({ input: '1', cacheWrite5m: null }) },
      {
        action: 'price.add',
        before: expect.objectContaining({ input: '1' }),
        after: expect.objectContaining({ input: '2.5' }),
      },
    ]);
  });
});

const saveM6 = (change = {}) => inTransaction((client) => saveModel(client, model('m6', change), 'op'));

describe('models', () => {
  test('are created, changed and left alone, and the audit log says which', async () => {
    expect(await saveM6()).toBe('created');
    expect(await saveM6()).toBe('unchanged');
    expect(await saveM6({ enabled: false })).toBe('changed');
    expect((await audited('model:m6')).map(({ action }) => action)).toEqual(['model.create', 'model.change']);
  });

  test.each(['big-1', 'a', 'vendor/model:free', 'x.y_z', '4o'])('%s is an id', (id) => {
    expect(modelId.safeParse(id).success).toBe(true);
  });

  test.each(['', 'Big', 'a b', '-a', 'a-', 'steyg/a', 'ä', 'a\0', 'a\n', '__proto__', 'x'.repeat(129)])(
    '%j is none',
    (id) => {
      expect(modelId.safeParse(id).success).toBe(false);
    },
  );
});
