/** What operators set up in the dashboard: in force at once on every process, sealed, and below the environment. */

import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { orThrow } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storableSettings } from '../../server/settings/table.ts';
import { createPerson, type Person, signInOperator } from '../browser/people.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';

const env = (port: number) => ({
  PORT: String(port),
  PUBLIC_URL: `http://127.0.0.1:${port}`,
  ADMIN_EMAIL: 'operator@example.com',
  ADMIN_PASSWORD: 'the operator knows this',
  CASSO_WEBHOOK_SECRET: 'of the environment',
});
const webhookSecret = 'a secret that the bank shares';
const account = { BANK_BIN: '970436', BANK_ACCOUNT: '0011001234567', BANK_NAME: 'HOA SEN' };

/** A mail server that takes everything. */
let smtp: Server;
const mails: string[] = [];
let app: TestApp;
let other: TestApp;
let operator: Pick<Person, 'steyg' | 'signIn'>;

beforeAll(async () => {
  smtp = createServer((socket) => {
    let inText = false;
    socket.write('220 here\r\n');
    socket.on('data', (bytes) => {
      const text = String(bytes);
      if (inText) {
        mails.push(text);
        if (!text.endsWith('\r\n.\r\n')) return;
        inText = false;
        socket.write('250 taken\r\n');
      } else if (/^DATA/i.test(text)) {
        inText = true;
        socket.write('354 go on\r\n');
      } else if (/^QUIT/i.test(text)) socket.end('221 bye\r\n');
      else socket.write('250 fine\r\n');
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((done) => {
    smtp.listen(0, '127.0.0.1', done);
  });
  app = await startApp({ env: env(await freePort()) });
  other = await startApp({ env: env(await freePort()), beside: app });
  operator = await signInOperator(app);
});
afterAll(async () => {
  await other?.close();
  await app?.close();
  smtp?.close();
});

const control = () => operator.steyg.console.operator;
type Group = 'BANK' | 'SEPAY' | 'CASSO' | 'MAIL' | 'GOOGLE' | 'EINVOICE';
const valuesOf = (values: Record<string, string>) => Object.entries(values).map(([name, value]) => ({ name, value }));
const save = (group: Group, values: Record<string, string>) =>
  control().saveSettings({ input: { group, values: valuesOf(values) } });
const settingsOf = async (group: Group) => (await control().operatorSettings())?.find((one) => one.group === group);

/** What the bank's provider sends, signed: the status of the answer. */
async function tell(site: TestApp, id: number): Promise<number> {
  const body = JSON.stringify({
    id,
    gateway: 'Vietcombank',
    transactionDate: new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 19).replace('T', ' '),
    accountNumber: account.BANK_ACCOUNT,
    subAccount: null,
    code: null,
    content: 'a test',
    transferType: 'in',
    transferAmount: 10_000,
    accumulated: 0,
    referenceCode: `FT${id}`,
  });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', webhookSecret).update(`${timestamp}.${body}`).digest('hex');
  const { status } = await fetch(`${site.url}/webhooks/sepay`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-sepay-timestamp': timestamp,
      'x-sepay-signature': `sha256=${signature}`,
    },
    body,
  });
  return status;
}

describe('a setting that an operator saves', () => {
  test('counts at once on every process, and a test transfer is seen', async () => {
    expect(await tell(app, 1)).not.toBe(200);
    orThrow(await save('SEPAY', { SEPAY_WEBHOOK_SECRET: webhookSecret }));
    expect(await tell(app, 2)).toBe(200);
    await expect.poll(() => tell(other, 3)).toBe(200);
    const group = await settingsOf('SEPAY');
    expect(group).toMatchObject({
      webhookAddress: `${app.url}/webhooks/sepay`,
      lastTransfer: { createdAt: expect.any(String), amountVnd: '10000', memo: 'a test' },
    });
    expect(group?.settings[0]).toMatchObject({ source: 'STORED', shown: '…ares' });
  });

  test('tells why a message of the bank is refused, without a word of it, until a transfer arrives', async () => {
    const since = async () => (await settingsOf('SEPAY'))?.refusals.map(({ reason }) => reason);
    const post = (headers: Record<string, string>, body = 'a text of the bank') =>
      fetch(`${app.url}/webhooks/sepay`, { method: 'POST', headers, body });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signed = (secret: string, body: string, at = timestamp) => ({
      'x-sepay-timestamp': at,
      'x-sepay-signature': `sha256=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`,
    });
    // The first test sent one before there was a secret; transfers came since.
    expect(await since()).toEqual([]);
    expect((await post({ authorization: 'Apikey something' })).status).toBe(401);
    await expect.poll(since).toEqual(['UNSIGNED']);
    expect((await post(signed('another secret', 'x'), 'x')).status).toBe(401);
    await expect.poll(since).toEqual(['FORGED', 'UNSIGNED']);
    expect((await post(signed(webhookSecret, 'x', '1700000000'), 'x')).status).toBe(401);
    await expect.poll(since).toEqual(['STALE', 'FORGED', 'UNSIGNED']);
    expect((await post(signed(webhookSecret, '{"text":1}'), '{"text":1}')).status).toBe(400);
    await expect.poll(since).toEqual(['UNREADABLE', 'STALE', 'FORGED', 'UNSIGNED']);
    const { rows } = await app.pool.query('SELECT * FROM bank_refusal');
    for (const row of rows) expect(Object.keys(row).sort()).toEqual(['at', 'provider', 'reason']);
    expect(await tell(app, 6)).toBe(200);
    await expect.poll(since).toEqual([]);
    expect((await settingsOf('SEPAY'))?.lastTransfer?.review?.reason).toBe('NO_MEMO');
    // One that comes again proves as much.
    expect((await post(signed('another secret', 'x'), 'x')).status).toBe(401);
    await expect.poll(since).toEqual(['FORGED']);
    expect(await tell(app, 6)).toBe(200);
    await expect.poll(since).toEqual([]);
  });

  test('names the account that orders are paid to, which is a demonstration no longer', async () => {
    const customer = await createPerson(app);
    const order = async () =>
      orThrow(await customer.steyg.console.orders.createOrder({ input: { planId: 'starter' } })).payment?.bank.account;
    expect(await order()).toBe('0000000000');
    orThrow(await save('BANK', account));
    expect(await order()).toBe(account.BANK_ACCOUNT);
    const steps = await control().setup();
    expect(steps?.find(({ step }) => step === 'BANK_ACCOUNT')).toMatchObject({ done: true });
  });

  test('is sealed in the database, audited without secrets, and said nowhere', async () => {
    const { rows } = await app.pool.query(
      `SELECT id, encode(sealed, 'escape') AS text FROM operator_setting ORDER BY id`,
    );
    expect(rows.map(({ id }) => id)).toEqual(['BANK_ACCOUNT', 'BANK_BIN', 'BANK_NAME', 'SEPAY_WEBHOOK_SECRET']);
    const audit = await app.pool.query(`SELECT t::text AS row FROM audit_entry t WHERE action = 'settings.save'`);
    expect(audit.rows.length).toBe(2);
    const said = [...rows, ...audit.rows].map((row) => JSON.stringify(row));
    for (const line of [...said, ...app.logged, JSON.stringify(await control().operatorSettings())]) {
      expect(line).not.toContain(webhookSecret);
    }
  });

  test('is gone once it is removed', async () => {
    orThrow(await save('SEPAY', { SEPAY_WEBHOOK_SECRET: '' }));
    expect(await tell(app, 4)).not.toBe(200);
    await expect.poll(() => tell(other, 5)).not.toBe(200);
  });
});

describe('a setting is not stored', () => {
  test.each([
    ['by half', 'BANK', { BANK_NAME: '' }, 'BANK_NAME', 'is needed'],
    ['where it is none', 'BANK', { BANK_BIN: '97' }, 'BANK_BIN', 'six digits'],
    ['where the environment has it', 'CASSO', { CASSO_WEBHOOK_SECRET: 'mine' }, 'CASSO_WEBHOOK_SECRET', 'environment'],
    ['of another group', 'BANK', { SECRET_KEY: 'x' }, 'values', 'is not a setting'],
    ['with a line break', 'MAIL', { SMTP_URL: 'smtp://x', MAIL_FROM: 'a\nb' }, 'MAIL_FROM', 'one line'],
    ['without what belongs to it', 'EINVOICE', { SEPAY_EINVOICE_SERIES: 'C26' }, 'SEPAY_EINVOICE_CLIENT_ID', 'needed'],
  ] as const)('%s, and the form says where', async (_name, group, values, place, words) => {
    const before = await app.pool.query('SELECT id, sealed FROM operator_setting ORDER BY id');
    const refused = await save(group, values);
    expect(refused).toMatchObject({ code: 'BAD_INPUT' });
    expect('problems' in refused ? refused.problems : []).toContainEqual({
      path: ['input', place],
      message: expect.stringContaining(words),
    });
    expect((await app.pool.query('SELECT id, sealed FROM operator_setting ORDER BY id')).rows).toEqual(before.rows);
  });

  test('by a customer, nor by an operator without a second factor', async () => {
    const person = await createPerson(app);
    const own = person.steyg.console.operator;
    const attempts = [
      () => own.saveSettings({ input: { group: 'BANK', values: valuesOf(account) } }),
      () => own.testSettings({ input: { group: 'MAIL', values: [] } }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await app.pool.query('UPDATE app_user SET operator = true WHERE email = $1', [person.email]);
    for (const attempt of attempts) {
      await expect(attempt()).rejects.toMatchObject({ code: 'SECOND_FACTOR_REQUIRED' });
    }
  });
});

test('a mail server is tried with a mail to the operator before it is stored, and then takes the mails', async () => {
  const address = `smtp://127.0.0.1:${(smtp.address() as AddressInfo).port}/?ignoreTLS=true`;
  const tried = (url: string) =>
    control().testSettings({ input: { group: 'MAIL', values: valuesOf({ SMTP_URL: url }) } });
  expect(await tried('smtp://127.0.0.1:1')).toMatchObject({
    ok: false,
    problem: expect.stringContaining('mail server'),
  });
  expect(await tried(address)).toMatchObject({ ok: true, finding: 'MAIL_TAKEN', problem: null });
  expect(mails.join('')).toContain('To: operator@example.com');
  expect((await app.pool.query(`SELECT FROM operator_setting WHERE id = 'SMTP_URL'`)).rows).toEqual([]);
  orThrow(await save('MAIL', { SMTP_URL: address, MAIL_FROM: 'Hoa Sen <no-reply@example.com>' }));
  mails.length = 0;
  orThrow(await operator.steyg.console.people.requestPasswordReset({ email: 'operator@example.com' }));
  await expect.poll(() => mails.join('')).toContain('From: Hoa Sen');
});

test('people see a provider as soon as it is set up', async () => {
  const names = async () => (await operator.steyg.console.people.signInMethods())?.providers.map(({ name }) => name);
  expect(await names()).toEqual([]);
  orThrow(await save('GOOGLE', { GOOGLE_CLIENT_ID: 'an-id', GOOGLE_CLIENT_SECRET: 'a-secret' }));
  expect(await names()).toEqual(['Google']);
  orThrow(await save('GOOGLE', { GOOGLE_CLIENT_ID: '', GOOGLE_CLIENT_SECRET: '' }));
  expect(await names()).toEqual([]);
});

test('every setting of the table is a variable of the documentation', () => {
  const documented = readFileSync(new URL('../../server/CONFIGURATION.md', import.meta.url), 'utf8');
  expect([...storableSettings].filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
});
