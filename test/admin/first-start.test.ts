/** The first start: each part is made once, however many processes start. */

import { randomBytes } from 'node:crypto';
import { verify } from '@node-rs/argon2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FirstStartParts, firstStart } from '../../server/admin/first-start.ts';
import { readBalance } from '../../server/billing/reads/usage.ts';
import { createCatalog } from '../../server/catalog/catalog.ts';
import { createOpenRoutes } from '../../server/catalog/routes.ts';
import { createKeyring } from '../../server/keys/keyring.ts';
import { parseKey } from '../../server/keys/secret.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
const secretKey = randomBytes(32);

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const start = (change: Partial<FirstStartParts> = {}) =>
  firstStart({
    pool: database.pool,
    seal: createSeal({ secretKeys: [secretKey] }),
    catalogFile: false,
    upstreamsFromEnv: false,
    vendorKey: () => undefined,
    admin: { email: null, password: null },
    ...change,
  });

async function models() {
  const openRoutes = createOpenRoutes({ secretKey, simulatorUrl: 'http://sim', log: { error: () => {} } });
  const list = await createCatalog({ pool: database.pool, openRoutes }).list();
  return list.map(({ id, displayName, routes }) => ({
    id,
    displayName,
    at: routes.map(({ upstream }) => upstream.id).sort(),
  }));
}

async function credentialOf(email: string) {
  const { rows } = await database.pool.query(
    `SELECT u.id, u.operator, u.email_verified, c.provider_id, c.provider_account_id, c.password
     FROM app_user u JOIN user_credential c ON c.user_id = u.id WHERE u.email = $1`,
    [email],
  );
  return rows[0];
}

describe('an empty database', () => {
  test('gets simulated models, reachable over both protocols and labelled', async () => {
    await start();
    const at = ['simulator-chat', 'simulator-messages'];
    expect(await models()).toEqual([
      { id: 'sim-large', displayName: 'Simulated Large', at },
      { id: 'sim-medium', displayName: 'Simulated Medium', at },
      { id: 'sim-small', displayName: 'Simulated Small', at },
    ]);
  });

  test('gets an operator who can sign in with what is shown', async () => {
    const made = await start();
    const { email = '', password = '' } = made?.operator ?? {};
    const row = await credentialOf(email);
    expect(row).toMatchObject({ operator: true, email_verified: true, provider_id: 'credential' });
    expect(row.provider_account_id).toBe(row.id);
    expect(row.password).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verify(row.password, password ?? '')).toBe(true);
  });

  test('gets the configured operator, whose password is not shown', async () => {
    const made = await start({ admin: { email: 'Boss@Example.com', password: 'correct horse battery' } });
    expect(made?.operator).toEqual({ email: 'boss@example.com', password: null });
    const { password } = await credentialOf('boss@example.com');
    expect(await verify(password, 'correct horse battery')).toBe(true);
  });

  test('gets a trial account that the operator owns, with a key that works', async () => {
    const made = await start();
    const hash = parseKey(made?.key?.secret ?? '')?.hash ?? Buffer.alloc(0);
    const principal = await createKeyring({ pool: database.pool }).findNow(hash);
    expect(principal).toMatchObject({ models: null, suspended: false });
    expect((await readBalance(database.pool, principal?.accountId ?? '')).free).toBe(5_000_000_000_000n);
    const { rows } = await database.pool.query('SELECT account_id, user_id, role FROM member');
    const { id } = await credentialOf(made?.operator?.email ?? '');
    expect(rows).toEqual([{ account_id: principal?.accountId, user_id: id, role: 'owner' }]);
    expect(made?.key?.model).toBe('sim-small');
  });

  test('gets plans', async () => {
    await start();
    const { rows } = await database.pool.query('SELECT id, price_vnd, budget, enabled FROM plan ORDER BY price_vnd');
    expect(rows[0]).toEqual({ id: 'starter', price_vnd: 250_000n, budget: 10_000_000_000_000n, enabled: true });
    expect(rows.length).toBeGreaterThan(1);
  });

  test('is filled once by several processes, and only one of them has something to show', async () => {
    const shown = (await Promise.all(Array.from({ length: 5 }, () => start()))).filter((made) => made !== null);
    expect(shown).toHaveLength(1);
    const { rows } = await database.pool.query(
      `SELECT (SELECT count(*)::int FROM app_user) AS users, (SELECT count(*)::int FROM account) AS accounts,
              (SELECT count(*)::int FROM api_key) AS keys, (SELECT count(*)::int FROM price) AS prices`,
    );
    expect(rows).toEqual([{ users: 1, accounts: 1, keys: 1, prices: 3 }]);
  });

  test('keeps no secret in clear', async () => {
    const made = await start({ admin: { email: null, password: null } });
    const { rows } = await database.pool.query('SELECT * FROM audit_entry');
    const kept = JSON.stringify(rows);
    expect(rows.length).toBeGreaterThan(5);
    expect(kept).not.toContain(made?.operator?.password);
    expect(kept).not.toContain(made?.key?.secret.slice(13, -4));
  });
});

describe('a later start', () => {
  test('shows and changes nothing', async () => {
    await start();
    await database.pool.query(`UPDATE model SET enabled = false WHERE id = 'sim-large'`);
    expect(await start()).toBeNull();
    expect((await models()).map(({ id }) => id)).toEqual(['sim-medium', 'sim-small']);
  });

  test('makes what is missing alone: a database that has accounts but no operator', async () => {
    await database.pool.query(
      `INSERT INTO account (id, name, email) VALUES (gen_random_uuid(), 'a', 'operator@steyg.local')`,
    );
    const made = await start();
    expect(made?.operator?.email).toBe('operator@steyg.local');
    expect(made?.key).toBeNull();
  });
});

describe('the catalog', () => {
  test('is left to the file when there is one', async () => {
    await start({ catalogFile: true });
    expect(await models()).toEqual([]);
  });

  const environment: Record<string, string> = { ANTHROPIC_API_KEY: 'sk-a', OPENROUTER_API_KEY: 'sk-r' };

  test('has the vendors whose keys are at hand, when that is asked for', async () => {
    await start({ upstreamsFromEnv: true, vendorKey: (name) => environment[name] });
    const found = await models();
    expect(found.find(({ id }) => id === 'claude-opus-5-5')?.at).toEqual(['anthropic']);
    expect(found.find(({ id }) => id === 'claude-haiku-4-5')?.at).toEqual(['anthropic', 'openrouter']);
    expect(found.find(({ id }) => id === 'gpt-5')?.at).toEqual(['openrouter']);
    expect(found.map(({ id }) => id)).not.toContain('deepseek-flash');
    expect(found.map(({ id }) => id)).not.toContain('sim-small');
  });

  test('is simulated although keys are at hand, when it is not asked for', async () => {
    await start({ vendorKey: (name) => environment[name] });
    expect((await models()).map(({ id }) => id)).toContain('sim-small');
  });

  test('is simulated when vendors are asked for and no key is there', async () => {
    await start({ upstreamsFromEnv: true });
    expect((await models()).map(({ id }) => id)).toContain('sim-small');
  });

  test('every vendor at once gives models that all have routes and keys', async () => {
    await start({ upstreamsFromEnv: true, vendorKey: (name) => `key-of-${name}` });
    const found = await models();
    expect(found.length).toBeGreaterThan(6);
    expect(found.filter(({ at }) => at.length === 0)).toEqual([]);
  });
});
