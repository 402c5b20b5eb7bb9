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
    // The same from the sums by hour alone, and for hours from before they were kept.
    const { pool } = plane.database;
    const byHour = await pool.query<{ saved: string }>('SELECT sum(saved)::text AS saved FROM margin_hour');
    expect(byHour.rows).toEqual([{ saved: String(expected) }]);
    const daysAgo = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 48 * 3_600_000).toISOString();
    expect(Number(await savings(daysAgo))).toBe(said);
    await pool.query('UPDATE margin_hour SET saved = NULL');
    expect(Number(await savings(daysAgo))).toBe(said);
    await pool.query('UPDATE margin_hour SET requests = requests + 200000');
    expect(await savings(daysAgo)).toBeNull();
    await pool.query('UPDATE margin_hour SET requests = requests - 200000, saved = $1', [String(expected)]);
  });

  it('of each range are those of its entries, whatever the moment and the hours they were charged in', async () => {
    const { pool } = plane.database;
    const hours = (count: number, more = 0) => new Date(hourAt(count) + more);
    const base = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const hourAt = (count: number): number => base - count * 3_600_000;
    const saved = 70n;
    for (const [at, charged] of [
      [hours(5), 10n],
      [hours(5, 1_800_000), 10n],
      [hours(4, 3_599_999), 10n],
      [hours(3, 1), 10n],
      // Not charged in full: it saved nobody anything.
      [hours(3, 2), 9n],
      [hours(2), 10n],
    ] as const)
      await pool.query(
        `INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m, cache_write_1h,
           output, price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost, charged, free_after,
           latency_ms, outcome, usage_source, stream, created_at)
         SELECT $1, overlay(uuid_at($2)::text placing substr(gen_random_uuid()::text, 15) from 15)::uuid, id, 'old', 'u', 'messages', 0, 10, 0, 0,
           0, 8, 1, 8, 8, 0, 10, $3, 0, 1, 'completed', 'reported', false, $2 FROM api_key WHERE account_id = $1`,
        [accountId, at, charged],
      );
    const now = BigInt(Math.round(Number(await savings()) * 1e12));
    const since = async (count: number, more: number): Promise<bigint> =>
      (BigInt(Math.round(Number(await savings(hours(count, more).toISOString())) * 1e12)) - now) / saved;
    for (const kept of [true, false]) {
      if (!kept) await pool.query(`UPDATE margin_hour SET saved = NULL WHERE hour = $1`, [hours(4)]);
      expect(await since(6, 0)).toBe(5n);
      expect(await since(5, 0)).toBe(5n);
      expect(await since(5, 1)).toBe(4n);
      expect(await since(5, 1_800_000)).toBe(4n);
      expect(await since(5, 1_800_001)).toBe(3n);
      expect(await since(4, 3_599_999)).toBe(3n);
      expect(await since(3, 0)).toBe(2n);
      expect(await since(3, 2)).toBe(1n);
      expect(await since(2, 1)).toBe(0n);
    }
  });

  it('count from the moment that is asked for, and for at most 92 days', async () => {
    expect(await savings(new Date(Date.now() + 60_000).toISOString())).toBe('0');
    const { errors } = await owner.send(query, {
      variables: { from: new Date(Date.now() - 93 * 86_400_000).toISOString() },
    });
    expect(errors?.[0]?.message).toContain('92 days');
  });
});
