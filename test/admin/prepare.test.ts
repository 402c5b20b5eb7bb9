/** What a start says about vendors' keys in the environment that it does not use. */

import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prepareDatabase } from '../../server/admin/prepare.ts';
import { loadConfig } from '../../server/runtime/config.ts';
import { createOperatorSettings } from '../../server/settings/settings.ts';
import { createSeal } from '../../server/shared/seal.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const secretKey = randomBytes(32);

async function start(
  keys: Record<string, string>,
  upstreamsFromEnv = true,
  more: object = {},
): Promise<Record<string, unknown>[]> {
  const warned: Record<string, unknown>[] = [];
  await prepareDatabase({
    config: {
      upstreamsFromEnv,
      admin: { email: null, password: null },
      catalogFile: null,
      previousSecretKeys: [],
      allowPrivateUpstreams: false,
      vendorKey: (name) => keys[name],
      ...more,
    },
    databaseUrl: database.url,
    secretKey,
    log: { info: () => {}, warn: (facts, message) => void warned.push({ ...facts, message }) },
  });
  return warned;
}

describe('UPSTREAMS_FROM_ENV=1', () => {
  test('on a database that has a catalog says what to do for each vendor that is not in it', async () => {
    expect(await start({}, false)).toEqual([]);
    const said = await start({ ANTHROPIC_API_KEY: 'sk-ant-geheim', OPENAI_API_KEY: 'sk-geheim' });
    expect(said).toMatchObject([
      {
        field: 'ANTHROPIC_API_KEY',
        file: 'server/catalog/examples/anthropic.yaml',
        message: expect.stringContaining('`npm run --silent admin -- catalog apply`'),
      },
      { field: 'OPENAI_API_KEY', file: expect.stringContaining('openai.yaml') },
    ]);
    expect(JSON.stringify(said)).not.toContain('geheim');
  });

  test('says nothing where it has seeded every vendor whose key is set, at each start', async () => {
    const keys = { ANTHROPIC_API_KEY: 'sk-ant-1', DEEPSEEK_API_KEY: 'sk-d' };
    expect(await start(keys)).toEqual([]);
    expect(await start(keys)).toEqual([]);
    expect(await start({ ...keys, GEMINI_API_KEY: 'g' })).toMatchObject([{ field: 'GEMINI_API_KEY' }]);
  });

  test('without any key says which variables it looks for', async () => {
    expect(await start({})).toMatchObject([{ field: expect.stringContaining('ANTHROPIC_API_KEY') }]);
  });
});

describe('in production', () => {
  const complete = { production: true, bank: {}, mail: { smtpUrl: 'smtps://x' }, publicUrl: 'https://steyg.example' };

  test('the start names each variable that customers need and that is not set', async () => {
    expect(await start({}, false, complete)).toEqual([]);
    const bare = { production: true, bank: null, mail: { smtpUrl: null }, publicUrl: 'http://127.0.0.1:8787' };
    expect((await start({}, false, bare)).map(({ field }) => field)).toContain(
      'PUBLIC_URL, SMTP_URL, BANK_BIN, BANK_ACCOUNT, BANK_NAME',
    );
    expect(await start({}, false, { ...bare, bank: {}, production: false })).toEqual([]);
  });

  test('the start knows what operators stored, and still names what is missing', async () => {
    const environment = loadConfig({
      NODE_ENV: 'production',
      SECRET_KEY: secretKey.toString('base64'),
      PUBLIC_URL: 'https://steyg.example',
    });
    const missing = async () => (await start({}, false, environment)).map(({ field }) => field);
    expect(await missing()).toContain('SMTP_URL, BANK_BIN, BANK_ACCOUNT, BANK_NAME');
    const settings = createOperatorSettings({
      environment,
      pool: database.pool,
      seal: createSeal({ secretKeys: [secretKey] }),
      warn: () => undefined,
    });
    const values = Object.entries({ BANK_BIN: '970436', BANK_ACCOUNT: '0011001234567', BANK_NAME: 'HOA SEN' });
    await settings.save({ group: 'bank', values: values.map(([name, value]) => ({ name, value })) }, 'system');
    expect(await missing()).toEqual(['SMTP_URL']);
  });
});
