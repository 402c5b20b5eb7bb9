/** The operator's command line: results, errors and exit codes of every command. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import { createKeyring } from '../../server/keys/keyring.ts';
import { parseKey, parseToken } from '../../server/keys/secret.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let dataDir: string;

beforeAll(async () => {
  database = await createDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'steyg-admin-'));
  await admin('catalog', 'apply', await catalogFile());
});
afterAll(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true });
});

/** One call as a script makes it: exit code and what was printed where. */
async function call(args: readonly string[], env: Record<string, string> = {}) {
  const printed = { out: '', err: '' };
  const code = await runCommandLine(args, {
    env: { DATABASE_URL: database.url, DATA_DIR: dataDir, ALLOW_PRIVATE_UPSTREAMS: '1', ...env },
    out: (text) => {
      printed.out += `${text}\n`;
    },
    err: (text) => {
      printed.err += `${text}\n`;
    },
  });
  return { code, ...printed };
}

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

async function admin(...args: string[]): Promise<Json> {
  const { code, out } = await call([...args, '--json']);
  if (code !== 0) throw new Error(out);
  return JSON.parse(out);
}

async function refused(...args: string[]): Promise<Json> {
  const { code, out, err } = await call([...args, '--json']);
  expect({ code, err }).toEqual({ code: 1, err: '' });
  return JSON.parse(out).error;
}

async function catalogFile(text?: string): Promise<string> {
  const path = join(dataDir, `${crypto.randomUUID()}.yaml`);
  const small =
    '{ id: small, displayName: S, family: s, contextWindow: 9, maxOutputTokens: 9, prices: { input: "2", cacheHit: "0.2", output: "8" } }';
  await writeFile(path, text ?? `models: [${small}, ${small.replaceAll('small', 'other')}]\n`);
  return path;
}

let accounts = 0;
async function account(...options: string[]): Promise<{ id: string; email: string }> {
  accounts += 1;
  return (await admin('account', 'create', '--email', `a${accounts}@example.com`, ...options)).account;
}

async function budget(email: string) {
  return admin('budget', 'show', '--account', email);
}

describe('accounts', () => {
  test('account create gives the trial', async () => {
    const made = await admin('account', 'create', '--email', 'New@Example.com');
    expect(made).toEqual({ account: { id: expect.any(String), email: 'new@example.com' } });
    expect(await budget('new@example.com')).toEqual({ granted: '5', charged: '0', held: '0', expired: '0', free: '5' });
    expect(await budget(made.account.id)).toMatchObject({ free: '5' });
  });

  test.each([
    [['--grant-usd', '12.5'], '12.5', null],
    [['--grant-usd', '0.000000000001', '--expires-days', '1'], '0.000000000001', 1],
    [['--grant-usd', '0'], '0', null],
    [['--expires-days', '30'], '5', 30],
  ])('account create %j', async (options, free, days) => {
    const { id, email } = await account(...options);
    expect(await budget(email)).toMatchObject({ granted: free, free });
    const { rows } = await database.pool.query(
      `SELECT round(extract(epoch FROM expires_at - created_at) / 86400)::int AS days FROM "grant" WHERE account_id = $1`,
      [id],
    );
    expect(rows).toEqual(free === '0' ? [] : [{ days }]);
  });

  test('a first grant may be over within the day, or at once', async () => {
    const hour = await account('--expires-days', '0.041666667');
    const { rows } = await database.pool.query(
      `SELECT round(extract(epoch FROM expires_at - created_at) / 60)::int AS minutes FROM "grant" WHERE account_id = $1`,
      [hour.id],
    );
    expect(rows).toEqual([{ minutes: 60 }]);
    const over = await account('--grant-usd', '2', '--expires-days', '0');
    expect(await budget(over.email)).toEqual({ granted: '2', charged: '0', held: '0', expired: '2', free: '0' });
  });

  test('account create twice is refused and names the account', async () => {
    const made = await account();
    expect(await refused('account', 'create', '--email', made.email.toUpperCase())).toMatchObject({
      code: 'account_exists',
      account: made,
    });
  });

  test('account suspend and resume', async () => {
    const made = await account();
    const suspended = await admin('account', 'suspend', '--account', made.email);
    expect(suspended).toEqual({ account: { ...made, status: 'suspended' } });
    expect(await admin('account', 'resume', '--account', made.id)).toMatchObject({ account: { status: 'active' } });
  });

  test('account limits sets what is named, keeps the rest, and takes limits away', async () => {
    const { email } = await account();
    const set = await admin('account', 'limits', '--account', email, '--limit-month', '40', '--rpm', '60');
    expect(set.limits).toMatchObject({ day: null, month: '40', requestsPerMinute: 60, timeZone: 'Asia/Ho_Chi_Minh' });
    await admin('account', 'limits', '--account', email, '--limit-day', '2.5', '--time-zone', 'UTC');
    expect((await admin('account', 'limits', '--account', email)).limits).toMatchObject({
      day: '2.5',
      month: '40',
      requestsPerMinute: 60,
      timeZone: 'UTC',
    });
    const none = await admin('account', 'limits', '--account', email, '--limit-month', 'none', '--rpm', 'none');
    expect(none.limits).toMatchObject({ day: '2.5', month: null, requestsPerMinute: null });
    expect(await refused('account', 'limits', '--account', email, '--time-zone', 'Mars')).toMatchObject({
      code: 'invalid_input',
    });
  });

  test('project create and list; a member’s budget needs a person of the account', async () => {
    const { email } = await account();
    const { project } = await admin('project', 'create', '--account', email, '--name', 'web', '--limit-month', '3');
    expect(project).toMatchObject({ name: 'web', limitMonth: '3', limitLifetime: null, thisMonth: '0', keys: 0 });
    expect(await admin('project', 'list', '--account', email)).toEqual({ projects: [project] });
    expect(await refused('project', 'create', '--account', email, '--name', 'WEB')).toMatchObject({
      code: 'name_taken',
    });
    const { rows } = await database.pool.query(
      `INSERT INTO app_user (name, email) VALUES ('Mia', 'mia-' || gen_random_uuid() || '@example.com') RETURNING id, email`,
    );
    const budgetOf = ['member', 'budget', '--account', email, '--email', rows[0].email, '--month'];
    expect(await refused(...budgetOf, '5')).toMatchObject({ code: 'unknown_member' });
    await database.pool.query(
      `INSERT INTO member (account_id, user_id, role) SELECT id, $2, 'member' FROM account WHERE email = $1`,
      [email, rows[0].id],
    );
    expect(await admin(...budgetOf, '5')).toEqual({ member: { email: rows[0].email, month: '5' } });
    expect(await admin(...budgetOf, 'none')).toEqual({ member: { email: rows[0].email, month: null } });
  });

  test('grant add', async () => {
    const { email } = await account();
    const given = await admin('grant', 'add', '--account', email, '--usd', '2.25', '--expires', '2040-01-01');
    expect(given).toEqual({ grant: { id: expect.any(String) } });
    expect(await budget(email)).toMatchObject({ granted: '7.25' });
    const { rows } = await database.pool.query(`SELECT expires_at FROM "grant" WHERE id = $1`, [given.grant.id]);
    expect(rows[0].expires_at.toISOString()).toBe('2040-01-01T00:00:00.000Z');
  });

  test('grant end takes back what is unspent; grant list tells which there are', async () => {
    const { email } = await account();
    const { grant } = await admin('grant', 'add', '--account', email, '--usd', '2.25', '--reason', 'by mistake');
    const { grants: listed } = await admin('grant', 'list', '--account', email);
    expect(listed).toMatchObject([
      { kind: 'trial', amount: '5', free: '5', held: '0' },
      { id: grant.id, kind: 'adjustment', amount: '2.25', free: '2.25', expiresAt: null, reason: 'by mistake' },
    ]);
    const end = ['grant', 'end', '--account', email, '--id', grant.id, '--reason', 'the wrong account'];
    expect(await admin(...end)).toEqual({ grant: { id: grant.id, taken: '2.25', held: '0' } });
    expect(await budget(email)).toMatchObject({ granted: '7.25', expired: '2.25', free: '5' });
    expect(await refused(...end)).toMatchObject({ code: 'grant_over' });
    expect(
      await refused('grant', 'end', '--account', email, '--id', crypto.randomUUID(), '--reason', 'r'),
    ).toMatchObject({ code: 'unknown_grant' });
  });
});

describe('keys', () => {
  test('key create gives the secret, restricted to models of the catalog in any spelling', async () => {
    const { id, email } = await account();
    const made = await admin('key', 'create', '--account', email, '--name', 'ci', '--models', 'small, steyg/OTHER');
    expect(made).toEqual({ key: { id: expect.any(String), secret: expect.stringMatching(/^sk-steyg-/) } });
    const hash = parseKey(made.key.secret)?.hash ?? Buffer.alloc(0);
    expect(await createKeyring({ pool: database.pool }).findNow(hash)).toEqual({
      accountId: id,
      keyId: made.key.id,
      models: new Set(['small', 'other']),
      suspended: false,
      trial: true,
      requestsPerMinute: null,
      tokensPerMinute: null,
      maxConcurrent: null,
      mayCallFrom: null,
      account: null,
      attribution: 'tags',
      probes: false,
      projectId: null,
    });
  });

  test('key create with limits, a pace and an end; key list shows them, never the secret', async () => {
    const { email } = await account();
    const { key } = await admin(
      'key',
      'create',
      `--account=${email}`,
      '--limit-day=1.5',
      '--limit-lifetime=9',
      '--limit-week=4',
      '--burn-usd=2',
      '--burn-minutes=10',
      '--rpm=60',
      '--tpm=9000',
      '--concurrent=3',
      '--addresses=203.0.113.0/24',
      '--expires=2040-05-01T12:00:00+07:00',
    );
    const list = await admin('key', 'list', '--account', email);
    expect(list.keys).toMatchObject([
      {
        id: key.id,
        limits: { day: '1.5', week: '4', month: null, lifetime: '9' },
        burnLimit: { amount: '2', minutes: 10 },
        requestsPerMinute: 60,
        tokensPerMinute: 9_000,
        maxConcurrent: 3,
        addresses: ['203.0.113.0/24'],
        expiresAt: '2040-05-01T05:00:00.000Z',
      },
    ]);
    expect(JSON.stringify(list)).not.toContain(key.secret.slice(13, -4));
  });

  test('key delete, once', async () => {
    const { email } = await account();
    const { key } = await admin('key', 'create', '--account', email);
    expect(await admin('key', 'delete', '--id', key.id)).toMatchObject({ key: { id: key.id } });
    expect(await refused('key', 'delete', '--id', key.id)).toMatchObject({ code: 'unknown_key' });
    expect((await admin('key', 'list', '--account', email)).keys).toEqual([]);
    expect((await admin('key', 'list', '--account', email, '--deleted')).keys).toHaveLength(1);
  });

  test('key rotate', async () => {
    const { email } = await account();
    const { key } = await admin('key', 'create', '--account', email);
    const rotated = await admin('key', 'rotate', '--id', key.id, '--grace-minutes', '5');
    expect(rotated.key.secret).not.toBe(key.secret);
    expect(rotated.replaced).toMatchObject({ id: key.id, expiresAt: expect.any(String) });
  });

  test('token create', async () => {
    const { id, email } = await account();
    const made = await admin('token', 'create', '--account', email, '--scopes', 'read,operator');
    expect(made).toEqual({ token: { id: expect.any(String), secret: expect.any(String) } });
    const { rows } = await database.pool.query(
      'SELECT account_id, scopes, created_by FROM access_token WHERE hash = $1',
      [parseToken(made.token.secret)?.hash],
    );
    expect(rows).toEqual([{ account_id: id, scopes: ['read', 'operator'], created_by: null }]);
  });
});

describe('the ledger', () => {
  test('ledger list shows the entries, newest first, as many as asked for', async () => {
    const { id, email } = await account();
    for (const n of [1, 2, 3]) {
      await database.pool.query(
        `INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit,
           cache_write_5m, cache_write_1h, output, price_input, price_cache_hit, price_cache_write_5m,
           price_cache_write_1h, price_output, cost, charged, free_after, latency_ms, time_to_first_byte_ms, outcome,
           usage_source, stream)
         VALUES ($1, ('01a1fd7a-0000-7000-8000-00000000000' || $2)::uuid, $3, 'small', 'u', 'messages', 30000, 150000, 0, 0,
           4000, 3000000, 300000, 3000000, 3000000, 15000000, 195000000000, 195000000000, 5, 1200, NULL, 'completed',
           'reported', true)`,
        [id, String(n), crypto.randomUUID()],
      );
    }
    const { entries } = await admin('ledger', 'list', '--account', email, '--limit', '2');
    expect(entries.map(({ requestId }: Json) => requestId.slice(-1))).toEqual(['3', '2']);
    expect(entries[0]).toEqual({
      requestId: '01a1fd7a-0000-7000-8000-000000000003',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      keyId: expect.any(String),
      model: 'small',
      upstream: 'u',
      protocol: 'messages',
      usage: { input: 30_000, cacheHit: 150_000, cacheWrite5m: 0, cacheWrite1h: 0, output: 4_000 },
      prices: { input: '3', cacheHit: '0.3', cacheWrite5m: '3', cacheWrite1h: '3', output: '15' },
      cost: '0.195',
      charged: '0.195',
      latencyMs: 1_200,
      timeToFirstByteMs: null,
      outcome: 'completed',
      usageSource: 'reported',
    });
    const { out } = await call(['ledger', 'list', '--account', email]);
    expect(out.trimEnd().split('\n')).toHaveLength(3);

    // Entries without the movements that belong to them break the rules of money.
    expect(await refused('invariants')).toMatchObject({
      code: 'invariant_broken',
      broken: expect.arrayContaining([expect.objectContaining({ rows: expect.any(Array) })]),
    });
    const plain = await call(['invariants']);
    expect(plain.code).toBe(1);
    expect(plain.err).toMatch(/^Broken: .*I4/);
    expect(plain.err).toContain(id);
    expect(await refused('invariants', '--account', email)).toMatchObject({ code: 'invariant_broken' });
    // What was written before is taken for granted, and so are other accounts.
    expect(await admin('invariants', '--since', '2099-01-01')).toEqual({ invariants: 'ok' });
    const sound = await account();
    expect(await admin('invariants', '--account', sound.email)).toEqual({ invariants: 'ok' });
    expect(await refused('invariants', '--account', 'nobody@example.com')).toMatchObject({ code: 'unknown_account' });
  });
});

describe('the catalog', () => {
  test('catalog apply and catalog export', async () => {
    const exported = await admin('catalog', 'export');
    expect(exported.models).toMatchObject([
      { id: 'other', prices: { input: '2', cacheHit: '0.2', output: '8' } },
      { id: 'small' },
    ]);
    const { out } = await call(['catalog', 'export']);
    const applied = await admin('catalog', 'apply', await catalogFile(out), '--prune');
    expect(applied.catalog.models).toEqual({ created: [], changed: [], unchanged: ['other', 'small'], disabled: [] });
  });

  test('catalog apply names every fault and changes nothing', async () => {
    const before = await call(['catalog', 'export']);
    const path = await catalogFile('models:\n  - id: small\n    displayName: Changed\nplans: 5\n');
    const error = await refused('catalog', 'apply', path);
    expect(error).toMatchObject({
      code: 'invalid_catalog',
      faults: expect.arrayContaining([{ line: 4, at: 'plans', message: 'must be a list' }]),
    });
    expect(error.faults.length).toBeGreaterThan(3);
    expect(await call(['catalog', 'export'])).toEqual(before);
    expect(await refused('catalog', 'apply', '/nowhere.yaml')).toMatchObject({ code: 'invalid_catalog' });
  });

  test('an upstream’s key is sealed with the server’s secret key, made if there is none', async () => {
    const path = await catalogFile(
      'upstreams: [{ id: v, protocol: messages, baseUrl: "http://127.0.0.1:1", apiKey: sk-vendor-7 }]\n',
    );
    expect((await admin('catalog', 'apply', path)).catalog.upstreams.created).toEqual(['v']);
    expect((await admin('catalog', 'apply', path)).catalog.upstreams.unchanged).toEqual(['v']);
    const elsewhere = { SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
    const other = await call(['catalog', 'apply', path, '--json'], elsewhere);
    expect(JSON.parse(other.out).catalog.upstreams.changed).toEqual(['v']);
  });
});

describe('operators', () => {
  test('operator create', async () => {
    const made = await admin('operator', 'create', '--email', 'op@example.com', '--password', 'correct horse battery');
    expect(made).toEqual({ operator: { id: expect.any(String), email: 'op@example.com' } });
    const fresh = await admin('operator', 'create', '--email', 'op2@example.com');
    expect(fresh.operator.password.length).toBeGreaterThanOrEqual(20);
  });

  test('operator create makes an operator of a person who is there, ends their sessions and removes their passkeys', async () => {
    const { rows } = await database.pool.query(
      `INSERT INTO app_user (name, email) VALUES ('P', 'p@example.com') RETURNING id`,
    );
    await database.pool.query(
      `INSERT INTO user_session (expires_at, token, user_id) VALUES (now() + interval '1 day', 'x', $1)`,
      [rows[0].id],
    );
    await database.pool.query(
      `INSERT INTO user_passkey (user_id, credential_id, public_key, counter, device_type, backed_up)
       VALUES ($1, 'planted', 'k', 0, 'singleDevice', false)`,
      [rows[0].id],
    );
    const made = await admin('operator', 'create', '--email', 'P@example.com', '--password', 'correct horse battery');
    expect(made.operator.id).toBe(rows[0].id);
    const { rows: after } = await database.pool.query(
      `SELECT operator, (SELECT count(*)::int FROM user_session WHERE user_id = u.id) AS sessions,
              (SELECT count(*)::int FROM user_passkey WHERE user_id = u.id) AS passkeys FROM app_user u WHERE id = $1`,
      [rows[0].id],
    );
    expect(after).toEqual([{ operator: true, sessions: 0, passkeys: 0 }]);
  });
});

describe('migrations', () => {
  test('distribute is refused on a PostgreSQL without Citus, dry run or not, and changes nothing', async () => {
    for (const dry of [[], ['--dry-run']]) {
      expect(await refused('distribute', ...dry)).toEqual({
        code: 'not_distributable',
        message: expect.stringContaining('without the extension citus'),
        inTheWay: [expect.stringContaining('there are no nodes to distribute over')],
      });
    }
  });

  test('migrate status, and a database without migrations', async () => {
    expect(await admin('migrate', 'status')).toMatchObject({ pending: [], changed: [], failed: [] });
    expect(await admin('migrate')).toEqual({ applied: [] });
    const empty = await createDatabase({ migrated: false });
    try {
      const env = { DATABASE_URL: empty.url };
      const early = await call(['account', 'create', '--email', 'x@example.com', '--json'], env);
      expect(early.code).toBe(1);
      expect(JSON.parse(early.out).error.code).toBe('not_migrated');
      const status = JSON.parse((await call(['migrate', 'status', '--json'], env)).out);
      expect(status.pending.length).toBeGreaterThan(0);
      expect(JSON.parse((await call(['migrate', '--json'], env)).out)).toEqual({ applied: status.pending });
      expect((await call(['account', 'create', '--email', 'x@example.com'], env)).code).toBe(0);
    } finally {
      await empty.drop();
    }
  });
});

describe('what an operator gets wrong is said in words, with exit code 1', () => {
  test.each([
    ['usage', ['nonsense']],
    ['usage', ['account', 'nonsense']],
    ['usage', ['account', 'create']],
    ['usage', ['account', 'create', '--email']],
    ['invalid_input', ['account', 'create', '--email=--email']],
    ['usage', ['account', 'create', '--email', 'a@example.com', '--grant', '5']],
    ['usage', ['account', 'create', '--email', 'a@example.com', '--email', 'b@example.com']],
    ['usage', ['account', 'create', '--email', 'a@example.com', 'more']],
    ['usage', ['account', 'create', '--__proto__', 'x']],
    ['usage', ['catalog', 'apply']],
    ['usage', ['catalog', 'apply', 'a', '--prune=1']],
    ['invalid_input', ['account', 'create', '--email', 'no address']],
    ['invalid_input', ['account', 'create', '--email', 'a\0@example.com']],
    ['invalid_input', ['account', 'create', '--email', 'b@example.com', '--grant-usd', '-1']],
    ['invalid_input', ['account', 'create', '--email', 'b@example.com', '--grant-usd', '1e3']],
    ['invalid_input', ['account', 'create', '--email', 'b@example.com', '--grant-usd', 'NaN']],
    ['invalid_input', ['account', 'create', '--email', 'b@example.com', '--expires-days', '-1']],
    ['invalid_input', ['account', 'create', '--email', 'b@example.com', '--expires-days', '36501']],
    ['invalid_input', ['grant', 'add', '--account', 'new@example.com', '--usd', '0']],
    ['invalid_input', ['grant', 'add', '--account', 'new@example.com', '--usd', '1', '--expires', '2020-01-01']],
    ['invalid_input', ['grant', 'add', '--account', 'new@example.com', '--usd', '1', '--expires', 'tomorrow']],
    ['invalid_input', ['grant', 'add', '--account', 'new@example.com', '--usd', '1', '--expires', '2040-01-01T00:00']],
    ['usage', ['grant', 'add', '--account', 'new@example.com']],
    ['unknown_account', ['grant', 'add', '--account', 'nobody@example.com', '--usd', '1']],
    ['unknown_account', ['budget', 'show', '--account', '\0']],
    ['unknown_account', ['key', 'create', '--account', crypto.randomUUID()]],
    ['unknown_model', ['key', 'create', '--account', 'new@example.com', '--models', 'small,nope']],
    ['invalid_input', ['key', 'create', '--account', 'new@example.com', '--models', ',']],
    ['invalid_input', ['key', 'create', '--account', 'new@example.com', '--models', '']],
    ['invalid_input', ['key', 'create', '--account', 'new@example.com', '--name', 'a\u200b']],
    ['invalid_input', ['key', 'create', '--account', 'new@example.com', '--limit-day', '0']],
    ['invalid_input', ['key', 'create', '--account', 'new@example.com', '--expires', '2020-01-01']],
    ['invalid_input', ['key', 'create', '--account', 'new@example.com', '--expires', '2040-02-30']],
    ['unknown_key', ['key', 'delete', '--id', 'x']],
    ['invalid_input', ['ledger', 'list', '--account', 'new@example.com', '--limit', '0']],
    ['invalid_input', ['token', 'create', '--account', 'new@example.com', '--scopes', 'read,root']],
    ['invalid_input', ['token', 'create', '--account', 'new@example.com', '--scopes', '']],
    ['invalid_input', ['operator', 'create', '--email', 'x', '--password', 'correct horse battery']],
    ['invalid_input', ['operator', 'create', '--email', 'x@example.com', '--password', 'short']],
  ])('%s: %j', async (code, args) => {
    const error = await refused(...args);
    expect(error).toMatchObject({ code, message: expect.stringMatching(/^\S/) });
  });

  test('without --json the sentence goes to the error output alone', async () => {
    expect(await call(['key', 'delete', '--id', 'x'])).toEqual({ code: 1, out: '', err: 'There is no key x\n' });
  });

  test('a directory that cannot be used, and a secret key that is damaged', async () => {
    const file = join(dataDir, 'a-file');
    await writeFile(file, '');
    const embedded = await call(['budget', 'show', '--account', 'a@b.c', '--json'], {
      DATABASE_URL: '',
      DATA_DIR: join(file, 'below'),
    });
    expect(embedded.code).toBe(1);
    expect(JSON.parse(embedded.out).error).toMatchObject({
      code: 'invalid_environment',
      message: expect.stringContaining('DATA_DIR'),
    });
    const damaged = await mkdtemp(join(tmpdir(), 'steyg-admin-'));
    try {
      await writeFile(join(damaged, 'secret-key'), 'short');
      const args = ['catalog', 'apply', await catalogFile(), '--json'];
      const sealed = await call(args, { DATA_DIR: damaged });
      expect(sealed.code).toBe(1);
      expect(JSON.parse(sealed.out).error).toMatchObject({
        code: 'secret_key_unusable',
        message: expect.stringContaining(join(damaged, 'secret-key')),
      });
    } finally {
      await rm(damaged, { recursive: true });
    }
  });

  test('a bad environment and an absent database', async () => {
    const bad = await call(['budget', 'show', '--account', 'a', '--json'], { PORT: 'x', WORKERS: '0' });
    expect(JSON.parse(bad.out).error).toMatchObject({
      code: 'invalid_environment',
      message: expect.stringMatching(/WORKERS/),
    });
    const away = await call(['budget', 'show', '--account', 'a@b.c', '--json'], {
      DATABASE_URL: 'postgresql://user:geheim@127.0.0.1:1/none',
    });
    expect(JSON.parse(away.out).error.code).toBe('database_unreachable');
    expect(away.out).not.toContain('geheim');
  });
});

describe('help', () => {
  test.each([[[]], [['--help']], [['-h']]])('%j lists every command', async (args) => {
    const { code, out } = await call(args);
    expect(code).toBe(0);
    const promised =
      `account create,account suspend,account resume,key create,key delete,grant add,budget show,ledger list,token create,catalog apply,catalog export,catalog schema,operator create,invariants,distribute,migrate,migrate status`.split(
        ',',
      );
    for (const name of promised) expect(out).toContain(`  ${name}`);
  });

  test('of one command, and of a group', async () => {
    expect((await call(['account', 'create', '--help'])).out).toContain('account create --email E');
    const { out } = await call(['key', '--help']);
    expect(out).toContain('key rotate');
    expect(out).not.toContain('account create');
  });
});

test('every change is in the audit log under the name of the command line, without secrets', async () => {
  const { email } = await account();
  const { key } = await admin('key', 'create', '--account', email);
  await admin('key', 'delete', '--id', key.id);
  const { rows } = await database.pool.query('SELECT actor, action, before, after FROM audit_entry');
  expect(new Set(rows.map(({ actor }) => actor))).toEqual(new Set(['command-line']));
  const actions = new Set(rows.map(({ action }) => action));
  for (const action of [
    'account.create',
    'account.suspend',
    'grant.add',
    'key.create',
    'key.delete',
    'operator.create',
  ]) {
    expect(actions).toContain(action);
  }
  expect(JSON.stringify(rows)).not.toMatch(/sk-vendor-7|correct horse|argon2/);
});
