import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { escrowSupport } from './escrow-support.ts';
import { addCustomer, addModel, admitted, ask, openLedger, settlement } from './support.ts';

/**
 * A standby that is promoted without the last commits: the database goes on from another past, under processes that live on. It is
 * played on one server: what was committed since a moment is undone, and the name of the log says another timeline.
 */

let db: TestDatabase;
const { processes, busy, escrowOf, sound } = escrowSupport(() => db);

beforeEach(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
});
afterEach(() => db.drop());

const moved = [
  'hold',
  'grant',
  'key_spend',
  'ledger_entry',
  'posting',
  'usage_hour',
  'margin_hour',
  'admission_change',
  'api_key',
] as const;

/** From now on the standby hears nothing; it is promoted by the function that this returns. */
async function partStandby(): Promise<() => Promise<void>> {
  for (const table of moved) await db.pool.query(`CREATE TABLE copy_of_${table} AS TABLE "${table}"`);
  return async () => {
    const client = await db.pool.connect();
    try {
      await client.query('SET allow_system_table_mods = on');
      await client.query('BEGIN');
      await client.query('SET LOCAL session_replication_role = replica');
      for (const table of moved)
        await client.query(`DELETE FROM "${table}"; INSERT INTO "${table}" TABLE copy_of_${table}`);
      // It uses its argument, so that it is inlined: PostgreSQL calls its own functions without a look at the catalog.
      await client.query(
        `CREATE OR REPLACE FUNCTION pg_catalog.pg_walfile_name(lsn pg_lsn) RETURNS text LANGUAGE sql STABLE AS
         $$ SELECT '00000002' || lsn $$`,
      );
      // Sessions plan again what reads the table.
      await client.query('ALTER TABLE admission_change SET (fillfactor = 50)');
      await client.query('COMMIT');
    } finally {
      // Its settings go with it.
      client.release(true);
    }
  };
}

test('a key that is deleted afterwards is refused, although the new primary counts the same number of changes again', async () => {
  await processes(1, async ([process]) => {
    const customer = await addCustomer(db.pool, { budget: '100' });
    const other = await addCustomer(db.pool, { budget: '100' });
    const promote = await partStandby();
    const change = (keyId: string) => db.pool.query('UPDATE api_key SET deleted_at = now() WHERE id = $1', [keyId]);
    await change(other.keyId);
    await busy(process!, customer);
    expect(await escrowOf(customer)).toBeGreaterThan(0n);
    const counted = async () => (await db.pool.query('SELECT number FROM admission_change')).rows[0].number;
    const before = await counted();
    await promote();
    await change(customer.keyId);
    expect(await counted()).toBe(before);
    expect(await process!.ledger.admit(ask(customer))).toMatchObject({ kind: 'refused', reason: 'key_invalid' });
  });
});

test('money that the lost primary had set aside in advance is promised to nobody, and held for nobody', async () => {
  await processes(1, async ([process]) => {
    const customer = await addCustomer(db.pool, { budget: '100' });
    const promote = await partStandby();
    await busy(process!, customer);
    await promote();
    const asked = ask(customer);
    const answer = await admitted(process!.ledger, asked);
    expect((await process!.ledger.balance(customer.accountId)).held).toBeGreaterThanOrEqual(answer.amount);
    await process!.ledger.settle(settlement(asked, answer));
    await expect.poll(async () => (await process!.ledger.balance(customer.accountId)).held).toBe(0n);
    await sound(customer);
  });
});

test('holds whose requests were settled on the lost primary are given back, and those of running requests are kept', async () => {
  const process = await openLedger(db.url, { holdLeaseMs: 1_000 });
  try {
    const customer = await addCustomer(db.pool, { budget: '100' });
    const [over, running] = [ask(customer), ask(customer)];
    const [first, second] = [await admitted(process.ledger, over), await admitted(process.ledger, running)];
    const promote = await partStandby();
    await process.ledger.settle(settlement(over, first));
    await promote();
    const held = async () => (await process.ledger.balance(customer.accountId)).held;
    expect(await held()).toBe(first.amount + second.amount);
    await expect.poll(held, { timeout: 60_000 }).toBe(second.amount);
    await process.ledger.settle(settlement(running, second));
    expect(await held()).toBe(0n);
    await sound(customer);
  } finally {
    await process.close();
  }
});
