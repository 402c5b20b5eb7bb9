/** A replica that is as old as asked, and otherwise like the primary; its age counts once it was read. */
function replicaOf(pool: Pool, age: number): Pick<History, 'reader'> {
  return {
    reader() {
      let ageMs: number | null = null;
      const query = (...given: unknown[]): unknown => {
        ageMs = age;
        return (pool.query as (...args: unknown[]) => unknown).apply(pool, given);
      };
      return {
        query: query as Pool['query'],
        get ageMs() {
          return ageMs;
        },
      };
    },
  };
}

/** The control plane on a database of its own, with browsers and mails, for tests. */

import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { createAccounts } from '../../../server/accounts/accounts.ts';
import { createAddressProof } from '../../../server/app/address-proof.ts';
import { createOwnData } from '../../../server/app/own-data.ts';
import { createSales } from '../../../server/app/sales.ts';
import { createSettingsTests } from '../../../server/app/settings-tests.ts';
import { createArchivedLines } from '../../../server/billing/archive/archived-lines.ts';
import { createVendorBatches } from '../../../server/billing/vendor-batches.ts';
import { createCatalog } from '../../../server/catalog/catalog.ts';
import { createCatalogChanges } from '../../../server/catalog/changes.ts';
import { createModelMismatches } from '../../../server/catalog/model-mismatches.ts';
import { createRouteTester } from '../../../server/catalog/test-route.ts';
import { createVendorSetup } from '../../../server/catalog/vendor-setup.ts';
import { readVendors } from '../../../server/catalog/vendors.ts';
import { formatUsd } from '../../../server/core/money.ts';
import { openPool } from '../../../server/database/pool.ts';
import { createPrisma } from '../../../server/database/prisma.ts';
import type { History } from '../../../server/database/replica.ts';
import { createConsoleBatches } from '../../../server/gateway/batches/console-batches.ts';
import { registerGraphql } from '../../../server/graphql/edge.ts';
import type { GraphqlRates } from '../../../server/graphql/guard/rates.ts';
import type { PersistedDocuments } from '../../../server/graphql/persisted.ts';
import { createKeys } from '../../../server/keys/keys.ts';
import { createSecret, parseAgentToken } from '../../../server/keys/secret.ts';
import { createNotices } from '../../../server/notices/notices.ts';
import { createWebhooks } from '../../../server/notices/webhooks.ts';
import { createLedgerDownloads, registerDownloads } from '../../../server/pages/downloads.ts';
import { createLinkLimits } from '../../../server/pages/link-limits.ts';
import { registerMachineLogin } from '../../../server/pages/machine-login.ts';
import { registerSignInWith } from '../../../server/pages/sign-in-with.ts';
import { createPeople } from '../../../server/people/people.ts';
import { noProviders, type ProviderSettings } from '../../../server/people/sign-in/providers.ts';
import { loadConfig } from '../../../server/runtime/config.ts';
import { createMailer, type Mail } from '../../../server/runtime/mail.ts';
import { createOperatorSettings } from '../../../server/settings/settings.ts';
import { checkBaseUrl } from '../../../server/shared/private-addresses.ts';
import type { Rate } from '../../../server/shared/rates.ts';
import { createSeal } from '../../../server/shared/seal.ts';
import { createProbeAgents } from '../../../server/uptime/agents/agents.ts';
import { createProbing } from '../../../server/uptime/probes/probing.ts';
import { createUptime } from '../../../server/uptime/uptime.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

/** What an operation is sent with. */
export interface Sending {
  variables?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** The address it seems to come from. */
  ip?: string;
}

export interface Answer {
  status: number;
  // What comes back is what the test asks for; it says so itself.
  data: Record<string, unknown> | null;
  errors: { message: string; extensions: Record<string, unknown> }[];
  text: string;
  setCookies: string[];
}

/** A browser: keeps cookies as one would. */
export interface Browser {
  send(query: string, sending?: Sending): Promise<Answer>;
  /** The answer as it came, whatever its type; for streams too, if they end. */
  raw(query: string, sending?: Sending): Promise<{ status: number; text: string }>;
  cookies: Map<string, string>;
}

export interface ControlPlane {
  app: FastifyInstance;
  database: TestDatabase;
  /** What seals and signs. */
  secretKey: Buffer;
  /** Sends one operation without cookies. */
  send(query: string, sending?: Sending): Promise<Answer>;
  browser(ip?: string): Browser;
  /** Waits for mails under way and returns all that were sent to an address, oldest first. */
  mailsTo(address: string): Promise<Mail[]>;
  /** What the server logged. */
  logged: { fields: object; message: string }[];
  close(): Promise<void>;
}

const endless: Rate = { burst: 1e12, perSecond: 1e12 };

export const publicUrl = 'http://steyg.test';

/** The control plane on a database of its own, entered through its only door. */
export async function createControlPlane(
  options: {
    production?: boolean;
    publicUrl?: string;
    rates?: GraphqlRates;
    isLate?: () => boolean;
    identifyAgainMs?: number;
    /** Operations that clients may send by name. */
    persistedDocuments?: PersistedDocuments;
    /** The age (milliseconds) of a replica that history is read from. */
    historyAgeMs?: number;
    /** Where that replica is, when it does not show what the primary has. */
    replica?: Pool;
    /** How people sign in. */
    signIn?: { providers?: ProviderSettings; passwordSignIn?: boolean };
  } = {},
): Promise<ControlPlane> {
  const database = await createDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'steyg-graphql-'));
  const logged: ControlPlane['logged'] = [];
  const note = (fields: object, message: string) => void logged.push({ fields, message });
  const log = { error: note, warn: note, info: () => {} };
  const prisma = createPrisma({ url: database.url, max: 5, log });
  const pool = openPool({ url: database.url, name: 'test', max: 5, log });
  const mailer = createMailer({
    settings: () => ({ smtpUrl: null, from: 'Steyg <no-reply@steyg.test>' }),
    dataDir,
    log,
    delaysMs: [],
  });
  const address = options.publicUrl ?? publicUrl;
  const secretKey = randomBytes(32);
  const downloads = createLedgerDownloads({ secretKey, publicUrl: address });
  const accounts = createAccounts({ pool });
  const seal = createSeal({ secretKeys: [secretKey] });
  const routeTester = createRouteTester({ pool, seal, simulatorUrl: null, allowPrivate: false, timeoutMs: 500 });
  const webhooks = createWebhooks({ pool, seal, checkAddress: (url) => checkBaseUrl(url, false) });
  const notices = createNotices({
    pool,
    deliverMail: mailer.deliver,
    recordEvent: webhooks.recordEvent,
    seal,
    messengers: { checkAddress: (url) => checkBaseUrl(url, false), telegramUrl: 'http://127.0.0.1:9' },
    formatUsd,
    upstreamHealth: () => [],
    publicUrl: address,
    log,
  });
  const people = createPeople({
    prisma,
    pool,
    mailer,
    publicUrl: address,
    secretKey,
    log,
    onNewSignIn: notices.tellSignIn,
    allowHttpProviders: true,
    ...(options.signIn?.passwordSignIn === undefined ? {} : { passwordSignIn: options.signIn.passwordSignIn }),
    providers: () => options.signIn?.providers ?? noProviders,
  });
  const bank = { bin: '970436', account: '0011001234567', name: 'STEYG <TEST>', isDemonstration: false };
  const config = { bank, einvoice: null, orderLimits: { lifetimeMs: 259_200_000, open: 10, unpaidAnHour: 20 } };
  const retention = { sessionDays: 30, auditDays: 365, attributionDays: 400 };
  const ownData = createOwnData({ pool, mailer, secretKey, publicUrl: address, retention });
  const sales = createSales({
    pool,
    config: () => config,
    secretKey,
    publicUrl: address,
    accounts,
    webhooks,
    mailer,
    log,
  });
  const app = Fastify({ trustProxy: false });
  registerSignInWith(app, { people, publicUrl: address });
  registerMachineLogin(app, { logins: people.machineLogins, publicUrl: address, isLate: () => false });
  const limits = createLinkLimits({ isLate: () => false });
  const archivedLines = createArchivedLines({ db: pool, directory: null });
  registerDownloads(app, { db: pool, downloads, limits, archives: archivedLines });
  const { erasure, erasureLinks } = ownData.domains;
  sales.registerPages(app, limits, { erasure, links: erasureLinks });
  ownData.registerPages(app, limits);
  await registerGraphql(app, {
    prisma,
    db: pool,
    domains: {
      people,
      accounts,
      archivedLines,
      keys: createKeys({ pool }),
      catalog: createCatalog({ pool }),
      catalogChanges: createCatalogChanges({ pool, seal, allowPrivate: false }),
      routeTester,
      operatorSettings: createOperatorSettings({ environment: loadConfig({}), pool, seal, warn: () => undefined }),
      testSettings: createSettingsTests({ dataDir, address: createAddressProof(secretKey), log }),
      vendorSetup: createVendorSetup({ pool, seal, routeTester, allowPrivate: true, vendors: readVendors }),
      modelMismatches: createModelMismatches({ pool, log }),
      upstreamHealth: () => [],
      batches: createConsoleBatches({
        store: createVendorBatches({ pool }),
        keeper: { look: async (batch) => batch, cancel: async (batch) => batch },
      }),
      estimate: async () => ({
        kind: 'refused',
        reason: 'unavailable',
        param: null,
        status: 503,
        message: 'No requests here.',
      }),
      downloads,
      ...sales.domains,
      ...ownData.domains,
      uptime: createUptime({ pool }),
      probing: createProbing({ pool }),
      probeAgents: createProbeAgents({
        pool,
        tokens: { create: () => createSecret('agent'), parse: parseAgentToken },
      }),
      notices,
      sendsMail: false,
      webhooks,
    },
    production: options.production ?? false,
    publicUrl: address,
    // Tests send what many people would; `rates.test.ts` is about the rates.
    rates: options.rates ?? { operations: endless, network: endless, cost: endless },
    ...(options.persistedDocuments === undefined ? {} : { persistedDocuments: options.persistedDocuments }),
    graphiqlPage: async () => '<!doctype html><title>GraphiQL</title>',
    ...(options.isLate === undefined ? {} : { isLate: options.isLate }),
    ...(options.identifyAgainMs === undefined ? {} : { identifyAgainMs: options.identifyAgainMs }),
    ...(options.historyAgeMs === undefined
      ? {}
      : { history: replicaOf(options.replica ?? pool, options.historyAgeMs) }),
    log,
  });

  const post = (query: string, sending: Sending) =>
    app.inject({
      method: 'POST',
      url: '/graphql',
      remoteAddress: sending.ip ?? '203.0.113.7',
      headers: { 'content-type': 'application/json', ...sending.headers },
      payload: JSON.stringify({ query, variables: sending.variables ?? {} }),
    });
  const raw = async (query: string, sending: Sending = {}) => {
    const reply = await post(query, sending);
    return { status: reply.statusCode, text: reply.body };
  };
  const send = async (query: string, sending: Sending = {}): Promise<Answer> => {
    const reply = await post(query, sending);
    const body = JSON.parse(reply.body) as { data?: Answer['data']; errors?: Answer['errors'] };
    const header = reply.headers['set-cookie'] ?? [];
    return {
      status: reply.statusCode,
      data: body.data ?? null,
      errors: body.errors ?? [],
      text: reply.body,
      setCookies: Array.isArray(header) ? header : [header],
    };
  };

  return {
    app,
    database,
    secretKey,
    logged,
    send,
    browser: (ip) => createBrowser({ send, raw, ip }),
    async mailsTo(to) {
      // Mails about sign-ups are made in the background, half a second after the answer.
      for (let tries = 0; tries < 60; tries += 1) {
        await mailer.idle();
        const mails = await readMails(dataDir, to);
        if (mails.length > 0) return mails;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return [];
    },
    async close() {
      await app.close();
      await routeTester.close();
      await webhooks.close();
      await sales.close();
      await mailer.close();
      await prisma.$disconnect();
      await pool.end();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function readMails(dataDir: string, to: string): Promise<Mail[]> {
  const names = await readdir(join(dataDir, 'mail')).catch(() => []);
  const mails = await Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map(async (name) => JSON.parse(await readFile(join(dataDir, 'mail', name), 'utf8')) as Mail),
  );
  return mails.filter((mail) => mail.to === to);
}

function createBrowser(parts: Pick<Browser, 'send' | 'raw'> & { ip: string | undefined }): Browser {
  const { ip } = parts;
  const cookies = new Map<string, string>();
  const asBrowser = (sending: Sending): Sending => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie === '' ? {} : { cookie }), ...sending.headers };
    return { ...(ip === undefined ? {} : { ip }), ...sending, headers };
  };
  return {
    cookies,
    raw: (query, sending = {}) => parts.raw(query, asBrowser(sending)),
    async send(query, sending = {}) {
      const answer = await parts.send(query, asBrowser(sending));
      for (const line of answer.setCookies) {
        const [pair = ''] = line.split(';');
        const at = pair.indexOf('=');
        const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
        if (value === '' || /max-age=0(;|$)/i.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
      return answer;
    },
  };
}

export const password = 'correct horse battery';

/** The token in the newest link to a page that was mailed to an address; waits for it. */
export async function tokenFor(plane: ControlPlane, address: string, page = ''): Promise<string> {
  for (let tries = 0; tries < 60; tries += 1) {
    const links = (await plane.mailsTo(address)).flatMap((mail) => mail.links);
    const link = links.findLast((one) => new URL(one).pathname.endsWith(page));
    const token = link === undefined ? null : new URL(link).searchParams.get('token');
    if (token !== null) return token;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('no such mail');
}

/** Signs a person up, confirms the address and signs in; the browser carries the session. */
export async function createPerson(plane: ControlPlane, email: string, ip?: string): Promise<Browser> {
  const browser = plane.browser(ip);
  await browser.send(
    `mutation ($input: SignUpInput!) { signUp(input: $input) { __typename ... on Error { message } } }`,
    { variables: { input: { email, password, name: 'Test Person' } } },
  );
  const token = await tokenFor(plane, email, '/verify-email');
  await browser.send(`mutation ($token: String!) { verifyEmail(token: $token) { __typename } }`, {
    variables: { token },
  });
  await signIn(browser, email);
  return browser;
}

export async function signIn(browser: Browser, email: string, secret: string = password): Promise<Answer> {
  return browser.send(
    `mutation ($email: String!, $password: String!) {
       signIn(input: { email: $email, password: $password }) {
         __typename
         ... on SignedIn { secondFactorRequired }
         ... on Error { code message }
       }
     }`,
    { variables: { email, password: secret } },
  );
}
