import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addModel, admitted, ask, openLedger, settlement, type TestLedger } from '../billing/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// How fast an account's requests were answered: percentiles by period, of requests that completed alone.

let plane: ControlPlane;
let ledger: TestLedger;
let owner: Browser;
let accountId: string;
let keyId: string;

beforeAll(async () => {
  plane = await createControlPlane();
  ledger = await openLedger(plane.database.url);
  const { pool } = plane.database;
  for (const id of ['big', 'other']) await addModel(pool, { id });
  owner = await createPerson(plane, 'owner@example.com');
  await owner.send('mutation { createKey(input: { name: "laptop" }) { __typename } }');
  const { rows } = await pool.query('SELECT id, account_id FROM api_key');
  [accountId, keyId] = [rows[0].account_id, rows[0].id];
});
afterAll(async () => {
  await ledger.close();
  await plane.close();
});

const document = `query ($from: DateTime!, $to: DateTime, $period: HourOrDay!, $model: String, $keyId: ID) {
  account { latency(from: $from, to: $to, period: $period, model: $model, keyId: $keyId) {
    requests latencyP50Ms latencyP95Ms firstByteP50Ms firstByteP95Ms } } }`;
const day = 86_400_000;
const since = (ms: number) => new Date(Date.now() - ms).toISOString();
const times = async (variables: Record<string, unknown> = {}) => {
  const { data, errors } = await owner.send(document, {
    variables: { from: since(day), period: 'DAY', ...variables },
  });
  return errors.length > 0
    ? errors[0]?.extensions
    : (data as { account: { latency: Record<string, unknown>[] } }).account.latency;
};

async function settle(more: Parameters<typeof settlement>[2], model = 'big'): Promise<void> {
  const asked = ask({ accountId, keyId }, { model });
  await ledger.ledger.settle(settlement(asked, await admitted(ledger.ledger, asked), more));
}

describe('response times', () => {
  it('are none where nothing was asked, which is no zero', async () => {
    expect(await times()).toEqual([]);
  });

  it('are times that requests really took, without those that failed and first bytes of what was not streamed', async () => {
    for (let at = 1; at <= 20; at += 1) await settle({ latencyMs: at * 100, timeToFirstByteMs: at });
    await settle({ latencyMs: 9_000, timeToFirstByteMs: 9_000, outcome: 'timeout' });
    await settle({ latencyMs: 100, timeToFirstByteMs: 8_000, stream: false });
    await settle({ latencyMs: 7_000, timeToFirstByteMs: null, stream: false }, 'other');
    expect(await times({ model: 'big' })).toEqual([
      { requests: 21, latencyP50Ms: 1_000, latencyP95Ms: 1_900, firstByteP50Ms: 10, firstByteP95Ms: 19 },
    ]);
    expect(await times({ model: 'other', period: 'HOUR' })).toEqual([
      { requests: 1, latencyP50Ms: 7_000, latencyP95Ms: 7_000, firstByteP50Ms: null, firstByteP95Ms: null },
    ]);
    expect(await times({ keyId: '00000000-0000-7000-8000-000000000000' })).toEqual([]);
    expect(await times({ from: since(3 * day), to: since(2 * day) })).toEqual([]);
  });

  it('are refused over more requests than one answer may read, before any is read, and over too long', async () => {
    expect(await times({ from: since(200 * day) })).toMatchObject({ code: 'BAD_INPUT' });
    expect(await times({ from: since(20 * day), period: 'HOUR' })).toMatchObject({ code: 'BAD_INPUT' });
    const more = (by: number) =>
      plane.database.pool.query('UPDATE usage_hour SET requests = requests + $2 WHERE model = $1', ['big', by]);
    await more(50_000);
    expect(await times()).toMatchObject({ code: 'BAD_INPUT' });
    expect(await times({ model: 'other' })).toHaveLength(1);
    await more(-50_000);
    expect(await times()).toHaveLength(1);
  });
});
