import { orThrow } from '@steyg/sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import type { TestApp } from '../support/app.ts';
import { findBarriers, launch, openPage } from './browser.ts';
import { ask, createPerson, type Person, settled, signInOperator } from './people.ts';
import { startService } from './service.ts';

// Every page, in both languages and themes, wide and narrow: nothing breaks, nothing is in the way of anybody.

let app: TestApp;
let browser: Browser;
let person: Person;
let orderPath: string;
let entryPath: string;
let accountPath: string;

beforeAll(async () => {
  [app, browser] = await Promise.all([startService(), launch()]);
  person = await createPerson(app, { name: 'Lan Anh' });
  const { console: control } = person.steyg;
  const { secret } = orThrow(await control.keys.createKey({ input: { name: 'laptop', limits: { day: '2' } } }));
  for (const model of ['sim-small', 'sim-medium', 'sim-large']) {
    expect((await ask(app, secret ?? '', 'Say something', model)).status).toBe(200);
  }
  expect((await ask(app, secret ?? '', '[[status 500]]')).status).toBe(502);
  await app.quiet(person.accountId);
  const order = orThrow(await control.orders.createOrder({ input: { planId: 'starter' } }));
  orThrow(await control.accounts.inviteMember({ email: 'friend@example.com', role: 'VIEWER' }));
  orThrow(await control.accounts.createAccessToken({ input: { name: 'script', scopes: ['READ'] } }));
  const entries = await control.ledger.listEntries({ first: 1 });
  orderPath = `/orders/${encodeURIComponent(order.id)}`;
  entryPath = `/activity/${entries?.edges[0]?.node.requestId ?? ''}`;
  const me = await control.people.me();
  accountPath = `/operator/accounts/${encodeURIComponent(me?.accounts[0]?.id ?? '')}`;
});
afterAll(async () => {
  await browser.close();
  await app.close();
});

const publicPaths = ['/', '/sign-in', '/sign-up', '/forgot-password', '/reset-password?token=x', '/no-such-page'];
const accountPaths = () => [
  '/',
  '/start',
  '/keys',
  '/activity?range=day&group=key',
  entryPath,
  '/topup',
  orderPath,
  '/models',
  '/playground',
  '/connect',
  '/notices',
  '/members',
  '/security',
  '/settings',
  '/invitation?token=x',
];
const operatorPaths = () => [
  '/operator/accounts',
  accountPath,
  '/operator/catalog',
  '/operator/catalog/sim-small',
  '/operator/upstreams',
  '/operator/plans',
  '/operator/orders',
  '/operator/transfers',
  '/operator/revenue',
  '/operator/uptime',
  '/operator/audit',
  '/operator/books',
];

type Who = 'nobody' | 'person' | 'operator';

async function open(who: Who, options: { locale: 'en-US' | 'vi-VN'; dark?: boolean; narrow?: boolean }) {
  const watched = await openPage(browser, app.url, {
    locale: options.locale,
    colorScheme: options.dark === true ? 'dark' : 'light',
    ...(options.narrow === true ? { viewport: { width: 360, height: 740 } } : {}),
  });
  const context = watched.page.context();
  if (who === 'person') await person.signIn(context);
  if (who === 'operator') await (await signInOperator(app)).signIn(context);
  return watched;
}

const pathsOf = (who: Who) => (who === 'nobody' ? publicPaths : who === 'person' ? accountPaths() : operatorPaths());

/** The page without what scrolls within it must not be wider than the window. */
async function overflow(page: Page): Promise<number> {
  return (await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')) as number;
}

// What a page that is not there answers with is an error to the console.
const missing = /status of 404 .*no-such-page/;

describe.each(['nobody', 'person', 'operator'] as const)('every page for %s', (who) => {
  it('in English and light: has no barriers and no complaints', async () => {
    const { page, unexpected } = await open(who, { locale: 'en-US' });
    const found: string[] = [];
    for (const path of pathsOf(who)) {
      await page.goto(path);
      await settled(page);
      found.push(...(await findBarriers(page)).map((barrier) => `${path}: ${barrier}`));
      expect(await page.locator('h1').count(), path).toBe(1);
    }
    expect(found).toEqual([]);
    expect(unexpected(missing)).toEqual([]);
    await page.context().close();
  });

  it('in Vietnamese and dark: has no barriers, no complaints and no English', async () => {
    const { page, unexpected } = await open(who, { locale: 'vi-VN', dark: true });
    const found: string[] = [];
    const foreign: string[] = [];
    for (const path of pathsOf(who)) {
      await page.goto(path);
      await settled(page);
      expect(await page.locator('html').getAttribute('lang')).toBe('vi');
      found.push(...(await findBarriers(page)).map((barrier) => `${path}: ${barrier}`));
      const text = await page.locator('body').innerText();
      expect(text, path).not.toMatch(/\{\w+\}|undefined|\bNaN\b|\[object/);
      foreign.push(...englishIn(text).map((line) => `${path}: ${line}`));
    }
    expect(found).toEqual([]);
    expect(foreign).toEqual([]);
    expect(unexpected(missing)).toEqual([]);
    await page.context().close();
  });

  it('fits a narrow screen', async () => {
    const { page, unexpected } = await open(who, { locale: 'vi-VN', narrow: true });
    const wide: Record<string, number> = {};
    for (const path of pathsOf(who)) {
      await page.goto(path);
      await settled(page);
      const by = await overflow(page);
      if (by > 0) wide[path] = by;
    }
    expect(wide).toEqual({});
    expect(unexpected(missing)).toEqual([]);
    await page.context().close();
  });
});

/** Texts of the English page that stand on a Vietnamese one, as whole lines; names are the same in both. */
function englishIn(text: string): string[] {
  const lines = new Set(text.split('\n').map((line) => line.trim()));
  const same = new Set(leaves(vi));
  return leaves(en).filter((leaf) => leaf.length > 3 && !same.has(leaf) && lines.has(leaf));
}

function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [];
}

describe('language and theme', () => {
  it('are switched on the spot, remembered, and the language goes with the mails', async () => {
    const { page, unexpected } = await open('person', { locale: 'en-US' });
    await page.goto('/topup');
    await page.getByText('₫250,000').first().waitFor();
    await page.getByRole('radio', { name: 'Tiếng Việt' }).first().check();
    // Amounts are written the Vietnamese way, with a no-break space before the sign.
    await page.getByText('250.000\u00a0₫').first().waitFor();
    await page.getByRole('heading', { name: 'Nạp thêm' }).waitFor();
    await expect
      .poll(async () => (await person.steyg.console.people.me())?.user?.locale, { timeout: 5_000 })
      .toBe('vi');
    await page.getByRole('radio', { name: 'Tối' }).first().check();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    await page.reload();
    await page.getByRole('heading', { name: 'Nạp thêm' }).waitFor();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(14, 20, 19)');
    await page.getByRole('radio', { name: 'English' }).first().check();
    await page.getByRole('heading', { name: 'Top up' }).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('the keyboard', () => {
  it('reaches everything: skip link, form, dialog and back', async () => {
    const { page, unexpected } = await open('person', { locale: 'en-US' });
    await page.goto('/keys');
    await settled(page);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Create a key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    // The focus stays in the dialog, however far one goes.
    for (let count = 0; count < 20; count += 1) {
      await page.keyboard.press('Tab');
      const where = await page.evaluate(
        `document.activeElement === document.body ? 'outside' : document.activeElement.closest('dialog') ? 'inside' : 'behind'`,
      );
      expect(where).not.toBe('behind');
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Create a key');
    // Going to another page puts the focus on its heading.
    await page.getByRole('link', { name: 'Members' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
    await expect.poll(() => focused(page)).toBe('Members');
    expect(await page.title()).toBe('Members · Steyg');
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

async function focused(page: Page): Promise<string> {
  return (await page.evaluate('document.activeElement.innerText.trim()')) as string;
}
