import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { delay, escrowSupport } from './escrow-support.ts';
import {
  addCustomer,
  addModel,
  admitted,
  ask,
  type Customer,
  endGrant,
  grant,
  openLedger,
  settlement,
  type TestLedger,
  usd,
} from './support.ts';

/**
 * Escrows on a real database, with several processes. No process receives change notifications: only the witness
 * reports changes.
 */
let db: TestDatabase;
const { processes, pair, busy, escrowOf, load, sound, changesCount } = escrowSupport(() => db);

beforeAll(async () => {
  db = await createDatabase();
  await addModel(db.pool, { id: 'big' });
  await addModel(db.pool, { id: 'steady' });
});

afterAll(() => db.drop());

test('a busy key is admitted without a lock or a write: also while another session holds the lock of its account', async () => {
  await processes(1, async ([process]) => {
    const customer = await addCustomer(db.pool, { budget: '100' });
    await busy(process!, customer);
    expect(await escrowOf(customer)).toBeGreaterThan(0n);
    const client = await db.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM "grant" WHERE account_id = $1 FOR UPDATE', [customer.accountId]);
      const asked = ask(customer);
      const answer = await admitted(process!.ledger, asked);
      expect(answer.amount).toBeGreaterThan(0n);
      // Nothing was written for it.
      const { rows } = await db.pool.query('SELECT FROM hold WHERE request_id = $1', [asked.requestId]);
      expect(rows).toEqual([]);
      await client.query('ROLLBACK');
      await process!.ledger.settle(settlement(asked, answer));
    } finally {
      client.release();
    }
    await sound(customer);
  });
});

test('a key that is rarely used holds exactly what its requests need', async () => {
  await processes(1, async ([process]) => {
    const customer = await addCustomer(db.pool, { budget: '100' });
    for (let i = 0; i < 2; i += 1) await pair(process!, customer);
    expect((await process!.ledger.balance(customer.accountId)).held).toBe(0n);
  });
});

test('an unused escrow is returned within seconds, and at once when the process closes', async () => {
  const customer = await addCustomer(db.pool, { budget: '100' });
  await processes(1, async ([process]) => {
    await busy(process!, customer);
    expect(await escrowOf(customer)).toBeGreaterThan(0n);
    await expect.poll(async () => (await process!.ledger.balance(customer.accountId)).held).toBe(0n);
    await sound(customer);
    await busy(process!, customer);
  });
  expect(await escrowOf(customer)).toBe(0n);
  await sound(customer);
});

test('changes count from the very next request on every process, under load and without a notice', async () => {
  await changesCount(60);
});

test('a grant that is taken back pays for nothing new, although it was held in advance', async () => {
  await processes(2, async (ledgers) => {
    const customer = await addCustomer(db.pool, { budget: null });
    const first = await grant(db.pool, customer.accountId, '100', { endsInMs: 3_600_000 });
    await Promise.all(ledgers.map((each) => busy(each, customer)));
    expect(await escrowOf(customer)).toBeGreaterThan(0n);
    await endGrant(db.pool, first);
    for (const { ledger } of ledgers) expect(await ledger.admit(ask(customer))).toMatchObject({ reason: 'exhausted' });
    await expect.poll(() => escrowOf(customer)).toBe(0n);
    expect(await ledgers[0]!.ledger.balance(customer.accountId)).toMatchObject({ free: 0n, held: 0n });
    await sound(customer);
  });
});

test('a grant that ends by the clock pays for nothing new, although it was held in advance', async () => {
  await processes(1, async ([process]) => {
    const customer = await addCustomer(db.pool, { budget: null });
    const ending = await grant(db.pool, customer.accountId, '100', { endsInMs: 4_000 });
    await busy(process!, customer);
    expect(await escrowOf(customer)).toBeGreaterThan(0n);
    const running = load(process!, customer, 2);
    const hasEnded = 'SELECT expires_at < now() AS over FROM "grant" WHERE id = $1';
    while (!(await db.pool.query(hasEnded, [ending])).rows[0].over) await delay(20);
    await running.stop();
    expect(await process!.ledger.admit(ask(customer))).toMatchObject({ reason: 'exhausted' });
    await sound(customer);
  });
});

test('with little money no request is refused because another process holds money in advance', async () => {
  await processes(2, async ([one, two]) => {
    const customer = await addCustomer(db.pool, { budget: '10' });
    await busy(one!, customer, { model: 'steady', maxTokens: 4_000 });
    const inAdvance = await escrowOf(customer, one!.processId);
    expect(inAdvance).toBeGreaterThan(0n);
    const { free } = await two!.ledger.balance(customer.accountId);
    // Its minimum is the free money and more than half of the other process's advance.
    const output = Number((free + inAdvance / 2n) / usd('0.000015')) - 200;
    const answer = await two!.ledger.admit(
      ask(customer, { model: 'steady', maxTokens: output, answers: 2, stream: false }),
    );
    expect(answer.kind === 'refused' && answer.reason === 'reserved').toBe(false);
    await sound(customer);
  });
});

test('to the last pico-USD: an account is used up as it is without escrows', async () => {
  await processes(3, async (ledgers) => {
    const customer = await addCustomer(db.pool, { budget: '1' });
    let charged = 0n;
    const client = async (index: number): Promise<void> => {
      for (;;) {
        const { ledger } = ledgers[index % 3]!;
        const asked = ask(customer, { model: 'steady', maxTokens: 1_000 });
        const answer = await ledger.admit(asked);
        if (answer.kind === 'refused') {
          if (answer.reason !== 'reserved') return;
          await delay(5);
          continue;
        }
        const usage = { input: 100, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 900 };
        const settled = await ledger.settle(settlement(asked, answer, { usage }));
        charged += settled.charged;
      }
    };
    await Promise.all(Array.from({ length: 30 }, (_, index) => client(index)));
    const balance = await ledgers[0]!.ledger.balance(customer.accountId);
    expect(balance.charged).toBe(charged);
    // Less is left than a request's minimum: context at the price of a cache hit, sixteen tokens.
    expect(balance.free + balance.held).toBeLessThan(100n * 300_000n + 16n * 15_000_000n);
    await sound(customer);
  });
});

test('a cost above the promise is paid out of what is idle, then out of what is free, also what others hold in advance', async () => {
  await processes(2, async ([one, two]) => {
    const customer = await addCustomer(db.pool, { budget: '10' });
    for (const each of [one!, two!]) await busy(each, customer, { model: 'steady', maxTokens: 4_000 });
    expect(await escrowOf(customer, one!.processId)).toBeGreaterThan(0n);
    const asked = ask(customer, { model: 'steady' });
    const answer = await admitted(two!.ledger, asked);
    const usage = { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 5_000_000 };
    const settled = await two!.ledger.settle(settlement(asked, answer, { usage }));
    expect(settled.charged).toBeLessThan(settled.cost);
    const balance = await two!.ledger.balance(customer.accountId);
    expect([balance.free, balance.held]).toEqual([0n, 0n]);
    await sound(customer);
  });
});

test('an escrow that was swept promises nothing more, and what it had promised is charged to what is free', async () => {
  await processes(2, async ([one, two]) => {
    const customer = await addCustomer(db.pool, { budget: '100' });
    await busy(one!, customer);
    const running = ask(customer);
    const answer = await admitted(one!.ledger, running);
    const { rows } = await db.pool.query('SELECT request_id FROM hold WHERE account_id = $1 AND escrow', [
      customer.accountId,
    ]);
    expect(rows).toHaveLength(1);
    // As if it had been stopped for longer than its lease.
    await db.pool.query(`UPDATE process SET lease_until = now() - interval '1 second' WHERE id = $1`, [one!.processId]);
    await two!.ledger.releaseOrphan({ accountId: customer.accountId, requestId: rows[0].request_id });
    expect(await escrowOf(customer)).toBe(0n);
    // It goes through the lane, with a hold of its own.
    const next = ask(customer);
    await admitted(one!.ledger, next);
    const { rows: own } = await db.pool.query('SELECT escrow FROM hold WHERE request_id = $1', [next.requestId]);
    expect(own).toEqual([{ escrow: false }]);
    const settled = await one!.ledger.settle(settlement(running, answer));
    expect(settled).toMatchObject({ charged: settled.cost, duplicate: false });
    await one!.ledger.release(next);
    await sound(customer);
  });
});

test('a settlement that another process replays is charged once, to the escrow that promised it', async () => {
  await processes(2, async ([one, two]) => {
    const customer = await addCustomer(db.pool, { budget: '100' });
    await busy(one!, customer);
    const asked = ask(customer);
    const answer = await admitted(one!.ledger, asked);
    const { rows } = await db.pool.query('SELECT request_id, grant_ids FROM hold WHERE account_id = $1 AND escrow', [
      customer.accountId,
    ]);
    const promise = {
      escrowId: rows[0].request_id,
      parts: [{ grantId: rows[0].grant_ids[0], amount: answer.amount }],
    };
    const done = settlement(asked, answer);
    const both = await Promise.all([two!.ledger.replay({ ...done, promise }), one!.ledger.settle(done)]);
    expect(both.filter((settled) => !settled.duplicate)).toHaveLength(1);
    const again = await two!.ledger.replay({ ...done, promise });
    expect(again.duplicate).toBe(true);
    await sound(customer);
    await expect.poll(() => escrowOf(customer)).toBe(0n);
    await sound(customer);
  });
});

test('an unknown escrow in a line of the spool is no reason not to charge it', async () => {
  await processes(1, async ([process]) => {
    const customer = await addCustomer(db.pool, { budget: '1' });
    const asked = ask(customer);
    const answer = await admitted(process!.ledger, asked);
    await process!.ledger.release(asked);
    const promise = { escrowId: randomUUID(), parts: [{ grantId: randomUUID(), amount: 1n }] };
    const settled = await process!.ledger.replay({ ...settlement(asked, answer), promise });
    expect(settled.charged).toBe(settled.cost);
    await sound(customer);
  });
});

test('bulk changes raise the number once, also by a hand in psql, and what money moves does not', async () => {
  const number = async (): Promise<bigint> =>
    (await db.pool.query('SELECT number FROM admission_change')).rows[0].number;
  const customer = await addCustomer(db.pool, { budget: '1' });
  const before = await number();
  await db.pool.query(`UPDATE api_key SET name = name || 'x'`);
  expect(await number()).toBe(before + 1n);
  const client = await db.pool.connect();
  await client.query('BEGIN');
  await client.query('UPDATE api_key SET name = name WHERE account_id = $1', [customer.accountId]);
  await client.query(`UPDATE account SET status = 'suspended' WHERE id = $1`, [customer.accountId]);
  await client.query(`UPDATE model SET enabled = enabled`);
  await client.query('COMMIT');
  client.release();
  expect(await number()).toBe(before + 2n);
  await db.pool.query(`UPDATE account SET status = 'active' WHERE id = $1`, [customer.accountId]);
  await processes(1, async ([process]) => {
    const start = await number();
    await pair(process!, customer);
    expect(await number()).toBe(start);
  });
});

test('the witness alone keeps a process from promising money that was swept, whose lease began anew since', async () => {
  await processes(2, async ([one, two]) => {
    const customer = await addCustomer(db.pool, { budget: '100' });
    await busy(one!, customer);
    const { rows } = await db.pool.query('SELECT request_id FROM hold WHERE account_id = $1 AND escrow', [
      customer.accountId,
    ]);
    await db.pool.query(`UPDATE process SET lease_until = now() - interval '1 second' WHERE id = $1`, [one!.processId]);
    await two!.ledger.releaseOrphan({ accountId: customer.accountId, requestId: rows[0].request_id });
    await db.pool.query(
      `UPDATE process SET lease_until = now() + interval '1 minute', lease_since = now() WHERE id = $1`,
      [one!.processId],
    );
    await expectOwnHold(one!, customer);
  });
});

test('the rule of late renewals alone keeps a process from promising money that was swept: no gap in the lease shows it', async () => {
  const one = await openLedger(db.url, { holdLeaseMs: 6_000 });
  try {
    await processes(1, async ([two]) => {
      const [busyOne, other] = await Promise.all([1, 2].map(() => addCustomer(db.pool, { budget: '100' })));
      const running = ask(other!);
      await admitted(one.ledger, running);
      await busy(one, busyOne!);
      const { rows } = await db.pool.query('SELECT request_id FROM hold WHERE account_id = $1 AND escrow', [
        busyOne!.accountId,
      ]);
      expect(rows).toHaveLength(1);
      const client = await db.pool.connect();
      try {
        // The transaction that renews the lease in time waits for a lock of the other account until the lease has ended.
        const remaining = `SELECT extract(epoch FROM lease_until - clock_timestamp()) * 1000 AS ms FROM process WHERE id = $1`;
        const remainingMs = async (): Promise<number> =>
          Number((await db.pool.query(remaining, [one.processId])).rows[0].ms);
        await client.query('BEGIN');
        await client.query('SELECT FROM "grant" WHERE account_id = $1 FOR UPDATE', [other!.accountId]);
        // No renewal in between, so that this transaction has one, half a lease before the end.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
        const released = one.ledger.release(running);
        while ((await remainingMs()) > 0) await delay(5);
        await two!.ledger.releaseOrphan({ accountId: busyOne!.accountId, requestId: rows[0].request_id });
        expect(await escrowOf(busyOne!)).toBe(0n);
        await client.query('ROLLBACK');
        await released;
      } finally {
        client.release();
      }
      const { rows: lease } = await db.pool.query(
        'SELECT lease_since < now() - interval \'6 seconds\' AND lease_until > now() AS "isUnbroken" FROM process WHERE id = $1',
        [one.processId],
      );
      expect(lease).toEqual([{ isUnbroken: true }]);
      await expectOwnHold(one, busyOne!);
    });
  } finally {
    await one.close();
  }
});

test('a process that closes with requests under way leaves nothing held for them', async () => {
  const customer = await addCustomer(db.pool, { budget: '100' });
  await processes(1, async ([process]) => {
    await busy(process!, customer);
    const asked = Array.from({ length: 3 }, () => ask(customer));
    const answers = await Promise.all(asked.map((each) => admitted(process!.ledger, each)));
    const settled = asked.map((each, index) => process!.ledger.settle(settlement(each, answers[index]!)));
    await Promise.all([process!.ledger.close(), ...settled]);
  });
  expect(await escrowOf(customer)).toBe(0n);
  await sound(customer);
});

test('an answer that is extended draws nothing from a grant that was taken back, although it was held in advance', async () => {
  await processes(1, async ([process]) => {
    const customer = await addCustomer(db.pool, { budget: null });
    const first = await grant(db.pool, customer.accountId, '100', { endsInMs: 3_600_000 });
    await busy(process!, customer);
    const asked = ask(customer);
    await admitted(process!.ledger, asked);
    const inAdvance = await escrowOf(customer);
    expect(inAdvance).toBeGreaterThan(usd('0.001'));
    await endGrant(db.pool, first);
    expect(await process!.ledger.extend(asked, usd('0.001'))).toBe(0n);
    await process!.ledger.release(asked);
    await sound(customer);
  });
});

async function expectOwnHold({ ledger }: TestLedger, customer: Customer): Promise<void> {
  const asked = ask(customer);
  await admitted(ledger, asked);
  const { rows } = await db.pool.query('SELECT escrow FROM hold WHERE request_id = $1', [asked.requestId]);
  expect(rows).toEqual([{ escrow: false }]);
  await ledger.release(asked);
}
