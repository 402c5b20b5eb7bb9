/** The public address as a setting: in force at once wherever it is named, and stored only where it leads here. */

import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { orThrow } from '@steyg/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPerson, operatorSignIn, type Person, signInOperator } from '../browser/people.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';

let app: TestApp;
let other: TestApp;
let operator: Pick<Person, 'steyg'>;
/** In front of the first process, under a name. */
let proxy: Server;
let stranger: Server;
let named = '';
let strange = '';

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  return (server.address() as AddressInfo).port;
};

beforeAll(async () => {
  const given = {
    GITHUB_CLIENT_ID: 'an-id',
    GITHUB_CLIENT_SECRET: 'a-secret',
    ADMIN_EMAIL: operatorSignIn.email,
    ADMIN_PASSWORD: operatorSignIn.password,
  };
  app = await startApp({ env: { ...given, PORT: String(await freePort()) } });
  other = await startApp({ env: { ...given, PORT: String(await freePort()) }, beside: app });
  operator = await signInOperator(app);
  proxy = createServer((from, to) => {
    const on = httpRequest(app.url + (from.url ?? ''), { method: from.method, headers: from.headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    });
    on.on('error', () => to.destroy());
    from.pipe(on);
  });
  named = `http://localhost:${await listen(proxy)}`;
  stranger = createServer((_request, response) => void response.end('a'.repeat(64)));
  strange = `http://localhost:${await listen(stranger)}`;
});
afterAll(async () => {
  proxy?.close();
  stranger?.close();
  await other?.close();
  await app?.close();
});

const save = (value: string) =>
  operator.steyg.console.operator.saveSettings({
    input: { group: 'ADDRESS', values: [{ name: 'PUBLIC_URL', value }] },
  });

/** Where the two processes say that they are. */
const saidBy = async (site: TestApp) => ({
  robots: /Sitemap: (.*)\/sitemap/.exec(await (await fetch(`${site.url}/robots.txt`)).text())?.[1],
  openApi: ((await (await fetch(`${site.url}/api/openapi.json`)).json()) as { servers: { url: string }[] }).servers[0]
    ?.url,
  redirect: new URL(
    (await fetch(`${site.url}/sign-in/with/github?next=%2F`, { redirect: 'manual' })).headers.get('location') ?? '',
  ).searchParams.get('redirect_uri'),
  refusal: (
    (await (await fetch(`${site.baseUrl}/v1/chat/completions`, { method: 'POST', body: '{}' })).json()) as {
      error: { doc_url: string };
    }
  ).error.doc_url.split('/docs/')[0],
  llms: /(http:[^ ]*)\/llms-full/.exec(await (await fetch(`${site.url}/llms.txt`)).text())?.[1],
});
const allAt = (address: string) => ({
  robots: address,
  openApi: `${address}/api`,
  redirect: `${address}/sign-in/with/callback/github`,
  refusal: address,
  llms: address,
});

/** The status of a question to GraphQL that a page of that origin sends. */
const asks = async (origin: string) =>
  (
    await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: '{"query":"{ __typename }"}',
    })
  ).status;

test('is not stored where nothing or something else answers, which would lock everybody out', async () => {
  const dead = `http://localhost:${await freePort()}`;
  for (const [address, words] of [
    [dead, 'No answer'],
    [strange, 'Something else answers'],
    ['ftp://localhost', 'http'],
  ] as const) {
    const refused = await save(address);
    expect(refused).toMatchObject({ code: 'BAD_INPUT' });
    expect('problems' in refused ? refused.problems : []).toContainEqual({
      path: ['input', 'PUBLIC_URL'],
      message: expect.stringContaining(words),
    });
  }
  expect((await app.pool.query('SELECT FROM operator_setting')).rowCount).toBe(0);
  expect(await saidBy(app)).toEqual(allAt(app.url));
});

test('counts at once on every process: pages, documents, refusals, redirects, mails, links and origins', async () => {
  const person = await createPerson(app);
  expect(await asks(named)).toBe(403);
  orThrow(await save(named));
  expect(await saidBy(app)).toEqual(allAt(named));
  await expect.poll(() => saidBy(other)).toEqual(allAt(named));
  expect(await asks(named)).toBe(200);
  // Signed links, and links in mails.
  const { rows } = await app.pool.query(
    `SELECT action, before::text AS before, after::text AS after FROM audit_entry WHERE subject = 'settings:address'`,
  );
  expect(rows).toEqual([
    { action: 'settings.save', before: expect.stringContaining('null'), after: expect.stringContaining(named) },
  ]);
  await fetch(`${named}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: named },
    body: JSON.stringify({
      query: `mutation { requestPasswordReset(email: "${person.email}") { __typename } }`,
    }),
  });
  const mails = () =>
    readdirSync(join(app.dataDir, 'mail'))
      .map((name) => readFileSync(join(app.dataDir, 'mail', name), 'utf8'))
      .filter((text) => text.includes('reset-password'));
  await expect.poll(() => mails().join('')).toContain(`${named}/reset-password?token=`);
});

test('falls back to the server’s own once it is taken away', async () => {
  orThrow(await save(''));
  expect(await saidBy(app)).toEqual(allAt(app.url));
});
