import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addModel, admitted, ask, openLedger, settlement, type TestLedger } from '../billing/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// What caching saved an account, from the tokens and prices that are frozen in its entries.

let plane: ControlPlane;
let ledger: TestLedger;
let owner: Browser;
let accountId: string;

beforeAll(async () => {
  plane = await createControlPlane();
  ledger = await openLedger(plane.database.url);
  await addModel(plane.database.pool, { id: 'big' });
  owner = await createPerson(plane, 'owner@example.com');
  const { rows } = await plane.database.pool.query('SELECT id FROM account');
  accountId = rows[0].id;
});
afterAll(async () => {
  await ledger.close();
  await plane.close();
});

const query = 'query ($from: DateTime!) { account { cacheSavings(from: $from) } }';
const hourAgo = () => new Date(Date.now() - 3_600_000).toISOString();
const savings = async (from = hourAgo()) => {
  const { data } = await owner.send(query, { variables: { from } });
  return (data as { account: { cacheSavings: string | null } }).account.cacheSavings;
};

describe('savings by caching', () => {
  it('are what the same context would have cost as new input, less what writing to caches cost beyond it', async () => {
    expect(await savings()).toBe('0');
    await owner.send('mutation { createKey(input: { name: "laptop" }) { __typename } }');
    const { rows: keys } = await plane.database.pool.query('SELECT id FROM api_key');
    for (const usage of [
      { input: 100, cacheHit: 40_000, cacheWrite5m: 0, cacheWrite1h: 0, output: 10 },
      { input: 5, cacheHit: 1_000, cacheWrite5m: 2_000, cacheWrite1h: 300, output: 10 },
    ]) {
      const asked = ask({ accountId, keyId: keys[0].id });
      await ledger.ledger.settle(settlement(asked, await admitted(ledger.ledger, asked), { usage }));
    }
    const { rows } = await plane.database.pool.query('SELECT * FROM ledger_entry WHERE account_id = $1', [accountId]);
    expect(rows.length).toBe(2);
    const expected = rows.reduce((sum: bigint, row) => {
      const input = BigInt(row.price_input);
      return (
        sum +
        BigInt(row.cache_hit) * (input - BigInt(row.price_cache_hit)) +
        BigInt(row.cache_write_5m) * (input - BigInt(row.price_cache_write_5m)) +
        BigInt(row.cache_write_1h) * (input - BigInt(row.price_cache_write_1h))
      );
    }, 0n);
    expect(expected).toBeGreaterThan(0n);
    const said = Number(await savings());
    expect(said).toBeCloseTo(Number(expected) / 1e12, 12);
  });

  it('count from the moment that is asked for, and for at most 92 days', async () => {
    expect(await savings(new Date(Date.now() + 60_000).toISOString())).toBe('0');
    const { errors } = await owner.send(query, {
      variables: { from: new Date(Date.now() - 93 * 86_400_000).toISOString() },
    });
    expect(errors?.[0]?.message).toContain('92 days');
  });
});
