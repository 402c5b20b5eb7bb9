import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareDatabase } from '../../server/admin/prepare.ts';
import { saveUpstream, saveUpstreamKey, sealContextOf } from '../../server/catalog/upstreams.ts';
import { transaction } from '../../server/database/lane.ts';
import { createWebhooks, placeOfWebhookSecret } from '../../server/notices/webhooks.ts';
import { signInSecret } from '../../server/people/sign-in/auth.ts';
import { loadConfig } from '../../server/runtime/config.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { createAccount } from '../plans/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';

// An operator exchanges SECRET_KEY: what it had sealed opens with the new one.

const [oldest, old, current, strange] = [randomBytes(32), randomBytes(32), randomBytes(32), randomBytes(32)];
const dataDir = createDirectory('steyg-reseal-');
let database: TestDatabase;
const logged: object[] = [];

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(previous: readonly Buffer[]): Promise<object[]> {
  logged.length = 0;
  const note = (fields: object) => void logged.push(fields);
  await prepareDatabase({
    config: loadConfig({
      DATA_DIR: dataDir,
      SECRET_KEY: current.toString('base64'),
      SECRET_KEY_PREVIOUS: previous.map((key) => key.toString('base64')).join(' , '),
    }),
    databaseUrl: database.url,
    secretKey: current,
    log: { info: note, warn: note },
  });
  return logged.filter((fields) => 'resealed' in fields);
}

async function addKey(id: string, secretKey: Buffer): Promise<void> {
  await transaction(database.pool, async (client) => {
    const upstream = {
      id,
      protocol: 'messages',
      baseUrl: 'https://api.example.com',
      features: {},
      enabled: true,
    } as const;
    await saveUpstream(
      client,
      { ...upstream, onDisconnect: 'abort', profile: null, recipient: null, country: null },
      'op',
    );
    const seal = createSeal({ secretKeys: [secretKey] });
    await saveUpstreamKey(client, seal, { upstreamId: id, secret: `secret of ${id}`, actor: 'op' });
  });
}

async function addSecondFactor(secretKey: Buffer): Promise<string> {
  const { rows } = await database.pool.query<{ id: string }>(
    `INSERT INTO app_user (name, email) VALUES ('x', $1) RETURNING id`,
    [`${randomUUID()}@example.com`],
  );
  const encrypt = (data: string) => symmetricEncrypt({ key: signInSecret(secretKey), data });
  const added = await database.pool.query<{ id: string }>(
    'INSERT INTO user_two_factor (user_id, secret, backup_codes) VALUES ($1, $2, $3) RETURNING id',
    [rows[0]?.id, await encrypt('a seed'), await encrypt('["a","b"]')],
  );
  return added.rows[0]?.id ?? '';
}

it('seals anew what any previous key had sealed, once, and says what none opens', async () => {
  await addKey('first', oldest);
  await addKey('second', old);
  await addKey('third', current);
  await addKey('gone', strange);
  const accountId = await createAccount(database.pool);
  const webhooks = createWebhooks({
    pool: database.pool,
    seal: createSeal({ secretKeys: [old] }),
    checkAddress: () => null,
  });
  const endpoint = await webhooks.create({ accountId, actor: 'op', url: 'https://example.com/' });
  const factor = await addSecondFactor(oldest);
  await addSecondFactor(strange);

  expect(await start([old, oldest])).toEqual([{ resealed: 4, lost: 2 }]);
  expect(await start([old, oldest])).toEqual([{ resealed: 0, lost: 2 }]);
  expect(await start([])).toEqual([]);

  const seal = createSeal({ secretKeys: [current] });
  const keys = await database.pool.query<{ id: string; upstreamId: string; sealed: Buffer }>(
    `SELECT id, upstream_id AS "upstreamId", sealed FROM upstream_key ORDER BY upstream_id`,
  );
  expect(keys.rows.map((row) => [row.upstreamId, seal.unseal(sealContextOf(row.id), row.sealed)])).toEqual([
    ['first', 'secret of first'],
    ['gone', null],
    ['second', 'secret of second'],
    ['third', 'secret of third'],
  ]);
  const hooks = await database.pool.query<{ id: string; sealed: Buffer }>('SELECT id, sealed FROM webhook_endpoint');
  expect(hooks.rows.map((row) => seal.unseal(placeOfWebhookSecret(row.id), row.sealed))).toEqual([
    'secret' in endpoint ? endpoint.secret : null,
  ]);
  const codes = await database.pool.query<{ secret: string; backupCodes: string }>(
    'SELECT secret, backup_codes AS "backupCodes" FROM user_two_factor WHERE id = $1',
    [factor],
  );
  const decrypt = (data = '') => symmetricDecrypt({ key: signInSecret(current), data });
  expect(await decrypt(codes.rows[0]?.secret)).toBe('a seed');
  expect(await decrypt(codes.rows[0]?.backupCodes)).toBe('["a","b"]');
  await webhooks.close();
});

it('backup codes that a process with the previous key made beside a resealed secret are resealed, too', async () => {
  const factor = await addSecondFactor(current);
  const codes = await symmetricEncrypt({ key: signInSecret(old), data: '["c","d"]' });
  await database.pool.query('UPDATE user_two_factor SET backup_codes = $2 WHERE id = $1', [factor, codes]);
  expect(await start([old, oldest])).toEqual([{ resealed: 1, lost: 2 }]);
  const { rows } = await database.pool.query<{ secret: string; codes: string }>(
    'SELECT secret, backup_codes AS codes FROM user_two_factor WHERE id = $1',
    [factor],
  );
  const decrypt = (data = '') => symmetricDecrypt({ key: signInSecret(current), data });
  expect([await decrypt(rows[0]?.secret), await decrypt(rows[0]?.codes)]).toEqual(['a seed', '["c","d"]']);
});

it('a previous key that is none is refused at the start', () => {
  expect(() => loadConfig({ SECRET_KEY_PREVIOUS: 'c2hvcnQ=' })).toThrow(/SECRET_KEY_PREVIOUS: must be 32 bytes/);
});
