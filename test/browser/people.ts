import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { orThrow, Steyg } from '@steyg/sdk';
import type { BrowserContext, Page } from 'playwright-core';
import type { TestApp } from '../support/app.ts';
import { answered } from './browser.ts';

/** The people who use a running service, and the bank behind them. */

/** Where it runs, and where it puts its mails. */
export type Site = Pick<TestApp, 'url' | 'baseUrl' | 'dataDir'>;

const bankSecret = 'a secret of the bank';
/** What the first operator signs in with. */
export const operatorSignIn = { email: 'operator@example.com', password: 'the operator knows this' };
const operator = operatorSignIn;

/** What the service has to be started with to know these people. */
export function siteSettings(port: number): Record<string, string> {
  return {
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SEPAY_WEBHOOK_SECRET: bankSecret,
    ADMIN_EMAIL: operator.email,
    ADMIN_PASSWORD: operator.password,
  };
}

/** The newest mail to an address, once it is there. */
export async function mailTo(site: Site, email: string): Promise<{ subject: string; links: string[] }> {
  const directory = join(site.dataDir, 'mail');
  for (;;) {
    const names = listOf(directory).filter((name) => name.endsWith(`-${email}.json`));
    const newest = names.sort().at(-1);
    if (newest !== undefined) return JSON.parse(readFileSync(join(directory, newest), 'utf8'));
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

function listOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

export interface Person {
  email: string;
  password: string;
  /** As the database has it. */
  accountId: string;
  /** The control plane with this person's session. */
  steyg: Steyg;
  /** The session as a browser's cookies. */
  signIn(context: BrowserContext): Promise<void>;
}

let people = 0;

/** Signs a person up and in, without a browser: for tests about other things. */
export async function createPerson(site: Site, options: { locale?: 'en' | 'vi'; name?: string } = {}): Promise<Person> {
  people += 1;
  const email = `person-${people}@example.com`;
  const password = 'a long enough password';
  const session = createSession(site);
  const { people: identity } = session.steyg.console;
  const { locale = 'en', name = `Person ${people}` } = options;
  orThrow(await identity.signUp({ input: { email, password, name, language: locale === 'vi' ? 'VI' : 'EN' } }));
  const [link = ''] = (await mailTo(site, email)).links;
  orThrow(await identity.verifyEmail({ token: new URL(link).searchParams.get('token') ?? '' }));
  orThrow(await identity.signIn({ email, password }));
  const me = await identity.me();
  const globalId = me?.accounts[0]?.id;
  if (globalId === undefined) throw new Error('a person without an account');
  const accountId = Buffer.from(globalId, 'base64')
    .toString('utf8')
    .replace(/^Account:/, '');
  return { email, password, accountId, ...session };
}

const operators = new WeakMap<Site, Promise<Pick<Person, 'steyg' | 'signIn'>>>();

/** The first operator's session, with one-time codes set up: what moves prices asks for them. */
export function signInOperator(site: Site): Promise<Pick<Person, 'steyg' | 'signIn'>> {
  const known = operators.get(site) ?? makeOperatorSession(site);
  operators.set(site, known);
  return known;
}

async function makeOperatorSession(site: Site): Promise<Pick<Person, 'steyg' | 'signIn'>> {
  const session = createSession(site);
  const { people: identity } = session.steyg.console;
  orThrow(await identity.signIn(operator));
  const { uri } = orThrow(await identity.beginSecondFactor({ password: operator.password }));
  const secret = new URL(uri).searchParams.get('secret') ?? '';
  orThrow(await identity.confirmSecondFactor({ code: oneTimeCode(secret) }));
  return session;
}

/** A client that keeps cookies as a browser does. */
function createSession(site: Site): Pick<Person, 'steyg' | 'signIn'> {
  const jar = new Map<string, string>();
  const steyg = new Steyg({
    baseUrl: site.baseUrl,
    fetch: async (url, init) => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, { ...init, headers: { ...(init?.headers as Record<string, string>), cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        const at = pair.indexOf('=');
        jar.set(pair.slice(0, at), pair.slice(at + 1));
      }
      return response;
    },
  });
  return {
    steyg,
    async signIn(context) {
      await context.addCookies([...jar].map(([name, value]) => ({ name, value, url: site.url })));
    },
  };
}

/** The code that an authenticator app shows now (RFC 6238: SHA-1, 30 seconds, six digits). */
export function oneTimeCode(secret: string, now: number = Date.now()): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = Array.from(secret.replace(/=+$/, ''), (c) => alphabet.indexOf(c).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = (digest[19] ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** Asks a model over chat completions, as a tool does. */
export async function ask(site: Site, secret: string, content: string, model = 'sim-small'): Promise<Response> {
  return fetch(`${site.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  });
}

/** Has a model asked before a test begins: nothing but an answer of this status will do. */
export async function haveAsked(
  site: Site,
  secret: string,
  content: string,
  { model = 'sim-small', status = 200 } = {},
) {
  const answer = await ask(site, secret, content, model);
  await answer.text();
  if (answer.status !== status) throw new Error(`a request was answered with ${answer.status}`);
}

let transfers = 0;

/** What the bank's provider sends when a transfer has arrived, signed. */
export async function transferMoney(site: Site, transfer: { amountVnd: number; memo: string }): Promise<number> {
  transfers += 1;
  const body = JSON.stringify({
    id: 1_000 + transfers,
    gateway: 'Vietcombank',
    // In Hanoi's time, as the provider writes it.
    transactionDate: new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 19).replace('T', ' '),
    accountNumber: '0011001234567',
    subAccount: null,
    code: null,
    content: `MBVCB.${transfers}.${transfer.memo}.CT tu 0123456789`,
    transferType: 'in',
    transferAmount: transfer.amountVnd,
    accumulated: 0,
    referenceCode: `FT${transfers}`,
  });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', bankSecret).update(`${timestamp}.${body}`).digest('hex');
  const response = await fetch(`${site.url}/webhooks/sepay`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-sepay-timestamp': timestamp,
      'x-sepay-signature': `sha256=${signature}`,
    },
    body,
  });
  return response.status;
}

/** The page is there once its heading is and nothing is being loaded any more. */
export async function settled(page: Page): Promise<void> {
  const loading = page.locator('main .skeleton');
  do {
    // A public page that the server sent with its content, until the live one takes its place.
    await page.locator('#served').waitFor({ state: 'detached' });
    await page.locator('h1').first().waitFor();
    await loading.first().waitFor({ state: 'detached' });
    await answered(page);
  } while ((await loading.count()) > 0);
}

/** The same, and nothing is asked for any more: a page that asks again every few seconds may never come to that. */
export async function idle(page: Page): Promise<void> {
  await settled(page);
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => undefined);
}
