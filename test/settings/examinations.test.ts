/** Settings are tried at who is to answer for them, and the finding says what that proved. Nothing is stored by a try. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { orThrow } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operatorSignIn, type Person, signInOperator } from '../browser/people.ts';
import { clients, type IdentityVendors, playIdentityVendors } from '../graphql/support/identity-vendors.ts';
import { credentials, type EinvoiceProvider, startEinvoiceProvider } from '../plans/einvoice-provider.ts';
import { startApp, type TestApp } from '../support/app.ts';

const token = 'a token of SePay';
const bank = { BANK_BIN: '970436', BANK_ACCOUNT: '0011001234567', BANK_NAME: 'CÔNG TY HOA SEN' };

/** SePay's lists, and an OpenID provider at `/careful` and one at `/careless`, which answers every secret alike. */
let elsewhere: Server;
let einvoices: EinvoiceProvider;
let vendors: IdentityVendors;
let app: TestApp;
let operator: Pick<Person, 'steyg'>;
let there = '';

beforeAll(async () => {
  elsewhere = createServer((request, response) => {
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const { url = '', headers } = request;
    let text = '';
    request.on('data', (part) => {
      text += String(part);
    });
    request.on('end', () => {
      const [, realm = ''] = /^\/(careful|careless)\//.exec(url) ?? [];
      const issuer = `${there}/${realm}`;
      if (url.endsWith('/.well-known/openid-configuration'))
        return send(200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          token_endpoint_auth_methods_supported: ['client_secret_post'],
        });
      if (url === '/careful/token') {
        const isClient = new URLSearchParams(text).get('client_secret') === 'right';
        return send(isClient ? 400 : 401, { error: isClient ? 'invalid_grant' : 'invalid_client' });
      }
      if (url === '/careless/token') return send(400, { error: 'invalid_grant' });
      if (headers.authorization !== `Bearer ${token}`) return send(401, {});
      if (url.startsWith('/transactions/list')) return send(200, { transactions: [] });
      return send(200, {
        bankaccounts: [
          { account_number: bank.BANK_ACCOUNT, account_holder_name: 'CONG TY HOA SEN', bank_bin: '970436' },
        ],
      });
    });
  });
  await new Promise<void>((done) => {
    elsewhere.listen(0, '127.0.0.1', done);
  });
  there = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  einvoices = await startEinvoiceProvider();
  app = await startApp({
    env: {
      SEPAY_API_URL: there,
      SEPAY_EINVOICE_URL: einvoices.url,
      ADMIN_EMAIL: operatorSignIn.email,
      ADMIN_PASSWORD: operatorSignIn.password,
    },
  });
  operator = await signInOperator(app);
  vendors = playIdentityVendors();
});
afterAll(async () => {
  vendors?.restore();
  await app?.close();
  await einvoices?.close();
  elsewhere?.close();
});

type Group = Parameters<Person['steyg']['console']['operator']['testSettings']>[0]['input']['group'];

async function tried(group: Group, values: Record<string, string>) {
  const input = { group, values: Object.entries(values).map(([name, value]) => ({ name, value })) };
  return orThrow(await operator.steyg.console.operator.testSettings({ input }));
}

const google = { GOOGLE_CLIENT_ID: clients.google.clientId, GOOGLE_CLIENT_SECRET: clients.google.clientSecret };
const github = { GITHUB_CLIENT_ID: clients.github.clientId, GITHUB_CLIENT_SECRET: clients.github.clientSecret };
const oidc = { OIDC_CLIENT_ID: 'steyg', OIDC_CLIENT_SECRET: 'right' };
const einvoice = {
  SEPAY_EINVOICE_CLIENT_ID: credentials.clientId,
  SEPAY_EINVOICE_CLIENT_SECRET: credentials.clientSecret,
  SEPAY_EINVOICE_ACCOUNT_ID: credentials.accountId,
  SEPAY_EINVOICE_TEMPLATE: credentials.templateCode,
  SEPAY_EINVOICE_SERIES: credentials.series,
};

describe('a try of a sign-in', () => {
  test.each([
    ['at Google, by the right secret', 'GOOGLE', google, true, 'CLIENT_KNOWN'],
    ['at Google, by another one', 'GOOGLE', { ...google, GOOGLE_CLIENT_SECRET: 'no' }, false, 'CLIENT_REFUSED'],
    ['at GitHub, by the right secret', 'GITHUB', github, true, 'CLIENT_KNOWN'],
    ['at GitHub, by another one', 'GITHUB', { ...github, GITHUB_CLIENT_SECRET: 'no' }, false, 'CLIENT_REFUSED'],
  ] as const)('%s says so', async (_name, group, values, ok, finding) => {
    expect(await tried(group, values)).toMatchObject({ ok, finding });
  });

  test('at an OpenID provider proves a secret only where another is refused', async () => {
    const careful = { ...oidc, OIDC_ISSUER: `${there}/careful` };
    expect(await tried('OIDC', careful)).toMatchObject({ ok: true, finding: 'CLIENT_KNOWN' });
    expect(await tried('OIDC', { ...careful, OIDC_CLIENT_SECRET: 'no' })).toMatchObject({ finding: 'CLIENT_REFUSED' });
    const careless = { ...oidc, OIDC_ISSUER: `${there}/careless` };
    expect(await tried('OIDC', careless)).toMatchObject({ ok: false, finding: 'CLIENT_UNPROVED' });
    const nobody = { ...oidc, OIDC_ISSUER: `${there}/careful/` };
    expect(await tried('OIDC', { ...nobody, OIDC_ISSUER: `${there}/other` })).toMatchObject({
      finding: 'ISSUER_UNKNOWN',
    });
    expect(await tried('OIDC', { ...oidc, OIDC_ISSUER: 'http://127.0.0.1:1' })).toMatchObject({
      finding: 'UNREACHABLE',
    });
  });
});

describe('a try of the bank', () => {
  test('asks SePay for number, bank and holder where it can, and says where it cannot', async () => {
    expect(await tried('BANK', bank)).toMatchObject({ ok: false, finding: 'TRANSFER_NEEDED' });
    const input = { group: 'SEPAY', values: [{ name: 'SEPAY_API_TOKEN', value: token }] } as const;
    orThrow(await operator.steyg.console.operator.saveSettings({ input: { ...input, values: [...input.values] } }));
    expect(await tried('BANK', bank)).toMatchObject({ ok: true, finding: 'ACCOUNT_WATCHED' });
    expect(await tried('BANK', { ...bank, BANK_BIN: '970415' })).toMatchObject({
      finding: 'BANK_DIFFERS',
      detail: '970436',
    });
    expect(await tried('BANK', { ...bank, BANK_NAME: 'HOA SUNG' })).toMatchObject({ finding: 'HOLDER_DIFFERS' });
    expect(await tried('BANK', { ...bank, BANK_ACCOUNT: '9999' })).toMatchObject({ finding: 'ACCOUNT_UNWATCHED' });
    expect((await app.pool.query(`SELECT FROM operator_setting WHERE id LIKE 'BANK%'`)).rowCount).toBe(0);
  });
});

test.each([
  ['a series that the account has', {}, true, 'SERIES_KNOWN', null],
  ['another series', { SEPAY_EINVOICE_SERIES: 'C26XXX' }, false, 'SERIES_UNKNOWN', '1 C26TSE'],
  [
    'another account',
    { SEPAY_EINVOICE_ACCOUNT_ID: '11111111-2222-4333-8444-555555555555' },
    false,
    'EINVOICE_ACCOUNT_UNKNOWN',
    null,
  ],
  ['a wrong secret', { SEPAY_EINVOICE_CLIENT_SECRET: 'no' }, false, 'CLIENT_REFUSED', null],
] as const)('a try of e-invoices with %s says so, and makes no invoice', async (_name, values, ok, finding, detail) => {
  expect(await tried('EINVOICE', { ...einvoice, ...values })).toMatchObject({ ok, finding, detail });
  expect(einvoices.requests).toBe(0);
});
