import { parseArgs } from 'node:util';
import { Pool } from 'pg';
import { connecting } from '../../server/database/address.ts';
import { migrate } from '../../server/database/migrate.ts';
import { seedAccounts, seedEntries } from './seed.ts';

/**
 * `npm run seed:scale -- --database postgresql://… [--entries 10000000] [--accounts 100000] [--days 365]`
 * fills an empty database with a past. A database that has a ledger is refused: these rows cannot be taken out again.
 */
const { values } = parseArgs({
  options: {
    database: { type: 'string' },
    entries: { type: 'string', default: '10000000' },
    accounts: { type: 'string', default: '100000' },
    days: { type: 'string', default: '365' },
  },
});
if (values.database === undefined)
  throw new Error('--database is required: the address of an empty PostgreSQL database');
const pool = new Pool({ ...connecting(values.database), max: 2 });
try {
  await migrate({ url: values.database });
  const { rows } = await pool.query<{ used: boolean }>('SELECT EXISTS (SELECT FROM ledger_entry) AS used');
  if (rows[0]?.used === true) throw new Error('this database has a ledger');
  const began = performance.now();
  const tell = (text: string): void =>
    console.log(`${((performance.now() - began) / 1_000).toFixed(0).padStart(6)} s  ${text}`);
  const total = Number(values.entries);
  await seedAccounts(pool, Number(values.accounts));
  tell(`${Number(values.accounts).toLocaleString('en')} accounts`);
  await seedEntries(
    pool,
    { accounts: Number(values.accounts), from: 0, to: total, total, days: Number(values.days) },
    tell,
  );
} finally {
  await pool.end();
}
