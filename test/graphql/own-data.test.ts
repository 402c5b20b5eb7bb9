import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRetention } from '../../server/accounts/retention.ts';
import { checkInvariants } from '../../server/billing/invariants.ts';
import { readBalance } from '../../server/billing/usage.ts';
import { transaction } from '../../server/database/lane.ts';
import { savePlan } from '../../server/plans/plans.ts';
import { createTransfers } from '../../server/plans/transfers.ts';
import { addModel, admitted, ask, openLedger, settlement } from '../billing/support.ts';
import { transfer } from '../plans/support.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// The export of an account, its erasure, and what is deleted by the clock.

let plane: ControlPlane;

beforeAll(async () => {
  plane = await createControlPlane();
  const { pool } = plane.database;
  await addModel(pool, { id: 'big' });
  await transaction(pool, (client) =>
    savePlan(client, {
      plan: { id: 'starter', name: 'Starter', priceVnd: 250_000n, budget: 10n ** 13n, validDays: null, enabled: true },
      actor: 'system',
    }),
  );
});
afterAll(() => plane.close());

interface Owner {
  browser: Browser;
  accountId: string;
  globalId: string;
  keySecret: string;
}

/** A person whose account has used everything that is stored of one. */
async function busyOwner(email: string, ip: string): Promise<Owner> {
  const { pool } = plane.database;
  const browser = await createPerson(plane, email, ip);
  const { rows } = await pool.query('SELECT id FROM account WHERE email = $1', [email]);
  const accountId: string = rows[0].id;
  const globalId = Buffer.from(`Account:${accountId}`).toString('base64');
  await browser.send(
    'mutation ($id: ID!, $name: String!) { saveCompany(accountId: $id, input: { name: $name }) { __typename } }',
    { variables: { id: globalId, name: `CÔNG TY ${email}` } },
  );
  const made = await browser.send(
    'mutation ($name: String!) { createKey(input: { name: $name }) { ... on CreatedKey { secret } } }',
    { variables: { name: `Laptop of ${email}` } },
  );
  const { secret: keySecret } = (made.data as { createKey: { secret: string } }).createKey;
  const order = await browser.send('mutation { createOrder(input: { planId: "starter" }) { ... on Order { memo } } }');
  const { memo } = (order.data as { createOrder: { memo: string } }).createOrder;
  await createTransfers({ pool, accountNumbers: null }).receive(transfer({ memo }));
  await browser.send('mutation { createOrder(input: { planId: "starter" }) { __typename } }');
  const keys = await pool.query('SELECT id FROM api_key WHERE account_id = $1', [accountId]);
  const ledger = await openLedger(plane.database.url);
  const asked = ask({ accountId, keyId: keys.rows[0].id });
  await ledger.ledger.settle(settlement(asked, await admitted(ledger.ledger, asked)));
  await ledger.close();
  return { browser, accountId, globalId, keySecret };
}

const open = (url: string) => plane.app.inject({ method: 'GET', url: url.replace(/^http:\/\/[^/]+/, '') });
const exportLink = 'mutation { createAccountExport { __typename ... on AccountExport { url } ... on Error { code } } }';
const erase = `mutation ($id: ID!, $email: String!) { eraseAccount(accountId: $id, email: $email) {
  __typename ... on AccountErased { people } ... on Error { code } } }`;

describe('an export', () => {
  it('has the members, keys, settings, orders, payments, grants and the whole ledger, and no secret', async () => {
    const { browser, accountId, keySecret } = await busyOwner('an@example.com', '203.0.113.1');
    const { data } = await browser.send(exportLink);
    const { url } = (data as { createAccountExport: { url: string } }).createAccountExport;
    const reply = await open(url);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'cache-control': 'no-store',
    });
    const lines = reply.body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown> & { type: string });
    expect(new Set(lines.map(({ type }) => type))).toEqual(
      new Set(['export', 'account', 'company', 'member', 'key', 'order', 'payment', 'grant', 'ledger_entry']),
    );
    const of = (type: string) => lines.filter((line) => line.type === type);
    expect(of('grant').map(({ amount_usd: amount }) => amount)).toEqual(expect.arrayContaining(['5', '10']));
    expect(of('order')).toHaveLength(2);
    const { charged } = await readBalance(plane.database.pool, accountId);
    expect(of('ledger_entry')).toEqual([
      expect.objectContaining({ charged_usd: (Number(charged) / 1e12).toString(), model: 'big' }),
    ]);
    expect(reply.body).not.toContain(keySecret);
    expect(reply.body).not.toMatch(/hash|sealed|password/);
  });

  it('is for those who manage members, signed in, at most 10 times a day', async () => {
    const { browser, globalId } = await busyOwner('limited@example.com', '203.0.113.2');
    const stranger = await createPerson(plane, 'stranger@example.com', '203.0.113.3');
    const theirs = await stranger.send(
      'mutation ($id: ID!) { createAccountExport(accountId: $id) { ... on Error { code } } }',
      { variables: { id: globalId } },
    );
    expect(theirs.data?.['createAccountExport']).toEqual({ code: 'NOT_FOUND' });
    expect((await plane.send(exportLink)).errors[0]?.extensions['code']).toBe('UNAUTHENTICATED');
    const codes: unknown[] = [];
    for (let attempt = 0; attempt < 11; attempt += 1)
      codes.push((await browser.send(exportLink)).data?.['createAccountExport']);
    expect(codes.at(9)).toMatchObject({ __typename: 'AccountExport' });
    expect(codes.at(10)).toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
    for (const stray of ['/downloads/account.ndjson', '/downloads/account.ndjson?grant=x.y'])
      expect((await open(stray)).statusCode).toBe(403);
  });
});

describe('an erasure', () => {
  it('forgets the person everywhere but in the books, which still hold', async () => {
    const { pool } = plane.database;
    const email = 'forget-me@example.com';
    const { browser, accountId, globalId } = await busyOwner(email, '203.0.113.4');
    const wrong = await browser.send(erase, { variables: { id: globalId, email: 'another@example.com' } });
    expect(wrong.data?.['eraseAccount']).toMatchObject({ code: 'BAD_INPUT' });
    const before = await readBalance(pool, accountId);
    const done = await browser.send(erase, { variables: { id: globalId, email: ' Forget-Me@example.com ' } });
    expect(done.data?.['eraseAccount']).toEqual({ __typename: 'AccountErased', people: 1 });

    // No table but those of the books has the person's address or the names that they chose.
    const { rows: tables } = await pool.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
    );
    const left: string[] = [];
    for (const { name } of tables) {
      const { rows } = await pool.query(`SELECT 1 FROM "${name}" AS t WHERE t::text ~* 'forget-me' LIMIT 1`);
      if (rows.length > 0) left.push(name);
    }
    // The parties of a paid order's receipt are kept as long as the books.
    expect(left).toEqual(['order_parties']);

    const after = await readBalance(pool, accountId);
    expect(after).toMatchObject({ granted: before.granted, charged: before.charged, free: 0n });
    expect(await checkInvariants(pool)).toEqual([]);
    const { rows: entries } = await pool.query('SELECT 1 FROM ledger_entry WHERE account_id = $1', [accountId]);
    expect(entries).toHaveLength(1);
    const { rows: orders } = await pool.query(
      'SELECT status FROM purchase_order WHERE account_id = $1 ORDER BY created_at',
      [accountId],
    );
    expect(orders).toEqual([{ status: 'paid' }, { status: 'cancelled' }]);
    const { rows: keys } = await pool.query('SELECT 1 FROM api_key WHERE account_id = $1 AND deleted_at IS NULL', [
      accountId,
    ]);
    expect(keys).toEqual([]);
    expect((await browser.send('{ me { user { name } } }')).data?.['me'] ?? null).toBeNull();
    // The mailbox has had its trial.
    const { rows: claims } = await pool.query('SELECT 1 FROM trial_claim WHERE account_id = $1', [accountId]);
    expect(claims).toHaveLength(1);
  });

  it('is an owner’s alone, and leaves people who belong to another account', async () => {
    const { pool } = plane.database;
    const { accountId, globalId } = await busyOwner('owner@example.com', '203.0.113.5');
    const admin = await createPerson(plane, 'admin@example.com', '203.0.113.6');
    await pool.query(
      `INSERT INTO member (account_id, user_id, role) SELECT $1, id, 'admin' FROM app_user WHERE email = 'admin@example.com'`,
      [accountId],
    );
    const refused = await admin.send(erase, { variables: { id: globalId, email: 'owner@example.com' } });
    expect(refused.data?.['eraseAccount']).toMatchObject({ code: 'NOT_ALLOWED' });
    await pool.query(`UPDATE member SET role = 'owner' WHERE account_id = $1`, [accountId]);
    const done = await admin.send(erase, { variables: { id: globalId, email: 'owner@example.com' } });
    expect(done.data?.['eraseAccount']).toEqual({ __typename: 'AccountErased', people: 1 });
    expect((await admin.send('{ me { user { email } } }')).data?.['me']).toEqual({
      user: { email: 'admin@example.com' },
    });
    const again = await admin.send(erase, { variables: { id: globalId, email: 'owner@example.com' } });
    expect(again.data?.['eraseAccount']).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the retention', () => {
  it('deletes unused sessions and old entries of the audit log, and nothing younger', async () => {
    const { pool } = plane.database;
    const browser = await createPerson(plane, 'retained@example.com', '203.0.113.7');
    const { rows } = await pool.query(`SELECT id FROM app_user WHERE email = 'retained@example.com'`);
    const old = (days: number) =>
      pool.query(
        `INSERT INTO user_session (expires_at, token, user_id, updated_at)
         VALUES (now() + interval '1 year', gen_random_uuid()::text, $1, now() - make_interval(days => $2)) RETURNING id`,
        [rows[0].id, days],
      );
    await old(31);
    await old(29);
    const entry = (days: number) =>
      pool.query(
        `INSERT INTO audit_entry (id, actor, action, subject, created_at)
         VALUES (gen_random_uuid(), 'system', 'test', 'retention', now() - make_interval(days => $1))`,
        [days],
      );
    await entry(366);
    await entry(364);
    const retention = createRetention({ pool, days: { sessionDays: 30, auditDays: 365 } });
    expect(await retention.apply()).toEqual({ sessions: 1, auditEntries: 1 });
    expect(await retention.apply()).toEqual({ sessions: 0, auditEntries: 0 });
    expect((await browser.send('{ me { user { email } } }')).data?.['me']).not.toBeNull();
    // Without the duty that says so the log is append-only, and never is an entry of the last month deleted.
    await expect(pool.query(`DELETE FROM audit_entry WHERE subject = 'retention'`)).rejects.toThrow('append-only');
    await entry(29);
    const hasty = createRetention({ pool, days: { sessionDays: 30, auditDays: 1 } });
    await expect(hasty.apply()).rejects.toThrow('append-only');
  });
});
