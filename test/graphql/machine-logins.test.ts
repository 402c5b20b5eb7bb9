/** Machines that ask for a key (RFC 8628): what they are answered, who may approve, and what is left behind. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

let plane: ControlPlane;
let email: string;
let person: Browser;
beforeAll(async () => {
  plane = await createControlPlane();
  email = 'machines@example.com';
  person = await createPerson(plane, email);
});
afterAll(() => plane.close());

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** Every machine of a network of its own, unless it says otherwise. */
let networks = 0;
async function post(path: string, fields: Record<string, string>, sending: { ip?: string; key?: string } = {}) {
  const reply = await plane.app.inject({
    method: 'POST',
    url: `/api/device/${path}`,
    remoteAddress: sending.ip ?? '203.0.113.7',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(sending.key === undefined ? {} : { authorization: `Bearer ${sending.key}` }),
    },
    payload: new URLSearchParams(fields).toString(),
  });
  expect(reply.headers['cache-control']).toBe('no-store');
  return { status: reply.statusCode, body: reply.json<Record<string, string>>() };
}

async function begin(machine = 'laptop'): Promise<{ device: string; code: string }> {
  networks += 1;
  const { body } = await post('code', { machine, client_id: 'steyg' }, { ip: `198.51.100.${networks}` });
  return { device: body['device_code'] ?? '', code: body['user_code'] ?? '' };
}

const poll = (device: string) => post('token', { grant_type: grantType, device_code: device, client_id: 'steyg' });
/** As if the interval had passed. */
const later = () => plane.database.pool.query('UPDATE machine_login SET polled_at = NULL');

type Result = { __typename: string; code?: string; message?: string };
const approve = async (browser: Browser, code: string, more: Record<string, unknown> = {}) => {
  const { data } = await browser.send(
    `mutation ($input: ApproveMachineLoginInput!) { approveMachineLogin(input: $input) {
       __typename ... on Error { code message } } }`,
    { variables: { input: { code, name: 'laptop', limits: { month: '20' }, ...more } } },
  );
  return data?.['approveMachineLogin'] as Result;
};
const deny = async (browser: Browser, code: string) => {
  const { data } = await browser.send(
    `mutation ($code: String!) { denyMachineLogin(code: $code) { __typename ... on Error { code } } }`,
    { variables: { code } },
  );
  return data?.['denyMachineLogin'] as Result;
};
const look = async (browser: Browser, code: string) => {
  const { data, errors } = await browser.send(
    `query ($code: String!) { machineLogin(code: $code) {
       __typename ... on MachineLogin { machine ipAddress sameNetwork } ... on Error { code } } }`,
    { variables: { code } },
  );
  return (data?.['machineLogin'] ?? errors[0]?.extensions) as Record<string, unknown>;
};
const everything = async () => {
  const { rows } = await plane.database.pool.query('SELECT * FROM machine_login');
  return JSON.stringify(rows, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
};

describe('a machine', () => {
  it('gets a key of the limits that the person chose, once, and the person a mail', async () => {
    const { device, code } = await begin();
    expect(code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
    expect((await poll(device)).body).toMatchObject({ error: 'authorization_pending' });
    expect(await look(person, code.toLowerCase().replace('-', ' '))).toMatchObject({
      machine: 'laptop',
      ipAddress: `198.51.100.${networks}`,
      sameNetwork: false,
    });
    expect(await approve(person, code)).toMatchObject({ __typename: 'Done' });
    await later();
    const { status, body } = await poll(device);
    expect([status, body['token_type'], body['key_name']]).toEqual([200, 'Bearer', 'laptop']);
    expect(body['access_token']).toMatch(/^sk-steyg-/);
    expect((await poll(device)).body).toMatchObject({ error: 'invalid_grant' });
    const { rows } = await plane.database.pool.query(
      `SELECT k.name, k.personal, k.limit_month::text, u.email FROM api_key k JOIN app_user u ON u.id = k.created_by WHERE k.last4 = $1`,
      [body['access_token']?.slice(-4)],
    );
    expect(rows).toEqual([{ name: 'laptop', personal: true, limit_month: '20000000000000', email }]);
    const mails = await plane.mailsTo(email);
    expect(mails.at(-1)).toMatchObject({ subject: 'A machine was signed in' });
    expect(JSON.stringify(mails)).not.toContain(body['access_token']);
    // The key opens nothing of what is logged or kept.
    expect(JSON.stringify(plane.logged) + (await everything())).not.toContain(body['access_token']?.slice(9, 40));
  });

  it('leaves neither of its codes in the database', async () => {
    const { device, code } = await begin();
    const { rows } = await plane.database.pool.query('SELECT * FROM machine_login');
    const kept = rows.map((row) =>
      Object.values(row)
        .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)))
        .join(' '),
    );
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.join(' ')).not.toContain(device);
    expect(kept.join(' ')).not.toContain(code.replace('-', ''));
  });

  it('that asks too early is told to slow down, and has to wait longer from then on', async () => {
    const { device } = await begin();
    await poll(device);
    expect((await poll(device)).body).toMatchObject({
      error: 'slow_down',
      error_description: 'Wait 7 s between two questions.',
    });
    expect((await poll(device)).body).toMatchObject({ error_description: 'Wait 12 s between two questions.' });
    await later();
    expect((await poll(device)).body).toMatchObject({ error: 'authorization_pending' });
  });

  it('is told of a denial, of the end of its code, and of what it cannot ask', async () => {
    const denied = await begin();
    expect(await deny(person, denied.code)).toMatchObject({ __typename: 'Done' });
    expect(await approve(person, denied.code)).toMatchObject({ code: 'NOT_FOUND' });
    expect((await poll(denied.device)).body).toMatchObject({ error: 'access_denied' });
    const late = await begin();
    await plane.database.pool.query("UPDATE machine_login SET expires_at = now() - interval '1 second'");
    expect(await approve(person, late.code)).toMatchObject({ code: 'NOT_FOUND' });
    expect((await poll(late.device)).body).toMatchObject({ error: 'expired_token' });
    expect((await poll('x'.repeat(43))).body).toMatchObject({ error: 'invalid_grant' });
    expect((await post('token', { device_code: late.device })).body).toMatchObject({ error: 'unsupported_grant_type' });
  });

  it('that two processes answer at once gets one key', async () => {
    const { device, code } = await begin('twice');
    await approve(person, code, { name: 'twice' });
    const answers = await Promise.all([poll(device), poll(device), poll(device)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const { rows } = await plane.database.pool.query("SELECT FROM api_key WHERE name = 'twice'");
    expect(rows).toHaveLength(1);
  });

  it('cannot show a deceptive name', async () => {
    const { code } = await begin('safe\u202Egnp.exe');
    expect(await look(person, code)).toMatchObject({ machine: 'unnamed machine' });
  });

  it('of one network gets at most thirty codes in ten minutes', async () => {
    const ip = '192.0.2.99';
    for (let round = 0; round < 30; round += 1) expect((await post('code', { machine: 'm' }, { ip })).status).toBe(200);
    const { status, body } = await post('code', { machine: 'm' }, { ip });
    expect([status, body['error']]).toEqual([429, 'temporarily_unavailable']);
  });
});

describe('an approval', () => {
  it('is refused for nobody, for viewers and for accounts of others, and says so to the person', async () => {
    const { code } = await begin();
    expect((await plane.send('{ machineLogin(code: "x") { __typename } }')).errors[0]?.extensions['code']).toBe(
      'UNAUTHENTICATED',
    );
    const { pool } = plane.database;
    const viewer = await createPerson(plane, 'viewer-of-machines@example.com');
    const { rows } = await pool.query<{ account_id: string }>(
      'SELECT account_id FROM member m JOIN app_user u ON u.id = m.user_id WHERE u.email = $1',
      [email],
    );
    const accountId = rows[0]?.account_id;
    expect(await approve(viewer, code, { accountId })).toMatchObject({ code: 'NOT_FOUND' });
    await pool.query(
      `INSERT INTO member (account_id, user_id, role)
       SELECT $1, id, 'viewer' FROM app_user WHERE email = 'viewer-of-machines@example.com'`,
      [accountId],
    );
    expect(await approve(viewer, code, { accountId })).toMatchObject({ code: 'NOT_ALLOWED' });
    expect(await approve(person, code, { name: '' })).toMatchObject({ code: 'BAD_INPUT' });
    expect(await approve(person, code, { limits: { month: '0' } })).toMatchObject({ code: 'BAD_INPUT' });
    expect(await approve(person, code)).toMatchObject({ __typename: 'Done' });
  });

  it('does not outlive the right to make keys', async () => {
    const { pool } = plane.database;
    const leaver = await createPerson(plane, 'leaver@example.com');
    const { device, code } = await begin('leaver');
    expect(await approve(leaver, code, { name: 'leaver' })).toMatchObject({ __typename: 'Done' });
    await pool.query(`UPDATE account SET status = 'suspended' WHERE email = 'leaver@example.com'`);
    expect((await poll(device)).body).toMatchObject({ error: 'access_denied' });
    expect((await pool.query("SELECT FROM api_key WHERE name = 'leaver'")).rows).toEqual([]);
  });

  it('cannot be guessed: thirty codes in ten minutes', async () => {
    const guesser = await createPerson(plane, 'guesser@example.com');
    for (let round = 0; round < 30; round += 1)
      expect(await look(guesser, 'BBBB-BBBB')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await look(guesser, 'BBBB-BBBB')).toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
    const { code } = await begin();
    expect(await approve(guesser, code)).toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
  });
});

describe('a key', () => {
  it('of a machine ends itself; one of the account does not', async () => {
    const { device, code } = await begin('gone');
    await approve(person, code, { name: 'gone' });
    const { body } = await poll(device);
    const key = body['access_token'] ?? '';
    expect((await post('revoke', {}, { key })).body).toEqual({ revoked: true });
    expect((await post('revoke', {}, { key })).status).toBe(401);
    const { rows } = await plane.database.pool.query(
      "SELECT actor LIKE 'key:%' AS by_key FROM audit_entry WHERE action = 'key.delete' ORDER BY id DESC LIMIT 1",
    );
    expect(rows).toEqual([{ by_key: true }]);
    const { data } = await person.send(
      'mutation { createKey(input: { name: "shared" }) { ... on NewApiKey { secret } } }',
    );
    const secret = (data?.['createKey'] as { secret?: string } | undefined)?.secret ?? '';
    expect((await post('revoke', {}, { key: secret })).status).toBe(403);
    expect((await post('revoke', {}, { key: 'sk-nonsense' })).status).toBe(401);
  });
});
