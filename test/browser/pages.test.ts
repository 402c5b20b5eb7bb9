import { orThrow } from '@steyg/sdk';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { operatorEn } from '../../dashboard/src/language/operator-en.ts';
import { operatorVi } from '../../dashboard/src/language/operator-vi.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { cutTables, findBarriers, openPage, overflow } from './browser.ts';
import { createPerson, haveAsked, type Person, settled, signInOperator } from './people.ts';
import { placesOf, type Subjects, unseenPages, type Who } from './places.ts';
import { app, browser, useService } from './service.ts';

// Every page, in both languages and themes, wide and narrow: no errors, no overflow, no accessibility findings.

let person: Person;
let subjects: Subjects;

useService();
beforeAll(async () => {
  person = await createPerson(app, { name: 'Lan Anh' });
  const { console: control } = person.steyg;
  const { secret } = orThrow(await control.keys.createKey({ input: { name: 'laptop', limits: { day: '2' } } }));
  for (const model of ['sim-small', 'sim-medium', 'sim-large']) {
    await haveAsked(app, secret ?? '', 'Say something', { model });
  }
  await haveAsked(app, secret ?? '', '[[status 500]]', { status: 502 });
  await app.quiet(person.accountId);
  const order = orThrow(await control.orders.createOrder({ input: { planId: 'starter' } }));
  orThrow(await control.accounts.inviteMember({ email: 'friend@example.com', role: 'VIEWER' }));
  orThrow(await control.accounts.createAccessToken({ input: { name: 'script', scopes: ['READ'] } }));
  const entries = await control.ledger.listEntries({ first: 1 });
  const me = await control.people.me();
  subjects = {
    orderId: order.id,
    accountId: me?.accounts[0]?.id ?? '',
    requestId: entries?.edges[0]?.node.requestId ?? '',
    modelId: 'sim-small',
  };
});

async function open(who: Who, options: BrowserContextOptions) {
  const watched = await openPage(browser, app.url, { colorScheme: 'light', reducedMotion: 'reduce', ...options });
  const context = watched.page.context();
  if (who === 'person') await person.signIn(context);
  if (who === 'operator') await (await signInOperator(app)).signIn(context);
  return watched;
}

/** Waits until the transition of colours between the themes is over. */
async function calm(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    .then(() => document.getAnimations().forEach((animation) => animation.finish()))`);
}

// What a page that is not there answers with is an error to the console.
const missing = /status of 404 .*no-such-page/;
const wide = { width: 1280, height: 900 };
const narrow = { width: 390, height: 844 };

it('knows every page', () => {
  expect(unseenPages()).toEqual([]);
});

describe.each(['nobody', 'person', 'operator'] as const)('every page for %s', (who) => {
  it.each([
    ['English', 'en-US', 'en'],
    ['Vietnamese', 'vi-VN', 'vi'],
  ])('in %s: no barriers in light and dark, no complaints, no foreign words, no wider than a phone', async (...of) => {
    const [, locale, lang] = of;
    const { page, unexpected } = await open(who, { locale });
    const found: string[] = [];
    const places = [...placesOf(who, subjects), ...(who === 'nobody' ? [{ name: 'status', path: '/status' }] : [])];
    for (const { path } of places) {
      const say = (what: string) => found.push(`${path}: ${what}`);
      await page.goto(path);
      await settled(page);
      if ((await page.locator('html').getAttribute('lang')) !== lang) say('another language');
      if ((await page.locator('h1').count()) !== 1) say('not one heading of the first level');
      for (const barrier of await findBarriers(page)) say(barrier);
      for (const cut of await cutTables(page)) say(cut);
      const texts = await textsOf(page);
      for (const text of texts)
        if (/\{\w+\}|undefined|\bNaN\b|\[object|Invalid Date/.test(text)) say(`unfinished: ${text}`);
      if (lang === 'vi') for (const text of englishAmong(texts)) say(`English: ${text}`);
      await page.emulateMedia({ colorScheme: 'dark' });
      await calm(page);
      for (const barrier of await findBarriers(page)) say(`dark: ${barrier}`);
      await page.setViewportSize(narrow);
      await calm(page);
      for (const wide of await overflow(page)) say(wide);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(wide);
    }
    expect(found).toEqual([]);
    expect(unexpected(missing)).toEqual([]);
    await page.context().close();
  });
});

/** Every text that a reader sees or hears. Code is no language of people, and what people wrote is theirs. */
function textsOf(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const texts = [];
    const foreign = 'bdi, code, pre, script, noscript, style, [lang]:not(html), option';
    const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (!node.parentElement.closest(foreign)) texts.push(node.data);
    }
    for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
      for (const element of document.querySelectorAll('[' + name + ']')) {
        if (!element.closest(foreign)) texts.push(element.getAttribute(name));
      }
    }
    return texts.map((text) => text.trim()).filter((text) => text !== '');
  })()`) as Promise<string[]>;
}

/** Words that no Vietnamese sentence has, and hardly an English one goes without. */
const englishWord =
  /(?<![\p{L}\d-])(?:the|of|and|is|are|was|your|you|with|this|that|from|has|have|will)(?![\p{L}\d_-])/iu;

/** What is English among the texts of a Vietnamese page: texts that the English page has, and sentences of any other. */
function englishAmong(texts: readonly string[]): string[] {
  const same = new Set(leaves([vi, operatorVi]));
  const english = new Set(leaves([en, operatorEn]).filter((leaf) => leaf.length > 3 && !same.has(leaf)));
  return texts.filter((text) => english.has(text) || englishWord.test(text));
}

function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [];
}

describe('language and theme', () => {
  it('are switched on the spot, remembered, and the language goes with the mails', async () => {
    const { page, unexpected } = await open('person', {});
    await page.goto('/topup');
    await page.getByText('₫250,000').first().waitFor();
    await page.getByRole('radio', { name: 'Tiếng Việt' }).first().click();
    // Amounts are written the Vietnamese way, with a no-break space before the sign.
    await page.getByText('250.000\u00a0₫').first().waitFor();
    await page.getByRole('heading', { name: 'Nạp tiền' }).waitFor();
    await expect.poll(async () => (await person.steyg.console.people.me())?.user?.language).toBe('VI');
    await page.getByRole('radio', { name: 'Tối' }).first().check();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    // Before its script, too, and on the pages that the server makes, whose policy allows none.
    for (const path of ['/topup', '/pricing', '/status', '/docs', '/api/docs']) {
      const sent = await (await page.context().request.get(path)).text();
      expect([path, /<html[^>]*>/.exec(sent)?.[0]]).toEqual([path, expect.stringContaining('data-theme="dark"')]);
    }
    await page.goto('/pricing');
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(14, 20, 19)');
    await page.goBack();
    await page.reload();
    await page.getByRole('heading', { name: 'Nạp tiền' }).waitFor();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(14, 20, 19)');
    await page.getByRole('radio', { name: 'English' }).first().click();
    await page.getByRole('heading', { name: 'Top up' }).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('pages for engineers', () => {
  it.each([
    ['light', wide],
    ['dark', narrow],
  ] as const)('the reference in %s has no barriers, and is no wider than its window', async (colorScheme, viewport) => {
    const { page, unexpected } = await open('nobody', { colorScheme, viewport });
    await page.goto('/api/docs');
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    await page.getByRole('group', { name: 'Operations' }).getByRole('link', { name: 'GET /v1/usage' }).click();
    await page.waitForURL('**/api/docs/getUsage');
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it.each([
    ['/docs', 'en-US', wide],
    ['/docs/errors', 'vi-VN', narrow],
    ['/docs/errors/budget_short', 'en-US', narrow],
    ['/docs/graphql', 'vi-VN', wide],
    ['/docs/graphql/createKey', 'en-US', narrow],
    ['/docs/graphql/Account', 'en-US', narrow],
    ['/pricing', 'vi-VN', narrow],
    ['/status', 'en-US', narrow],
  ] as const)(
    '%s (%s) has no barriers in either theme, and is no wider than its window',
    async (path, locale, viewport) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        const { page, unexpected } = await open('nobody', { colorScheme, viewport, locale });
        await page.goto(path);
        expect(await findBarriers(page)).toEqual([]);
        expect(await overflow(page)).toEqual([]);
        expect(unexpected()).toEqual([]);
        await page.context().close();
      }
    },
  );

  it('the third-party explorer of the control plane requests no other host and reports no errors', async () => {
    const { page, unexpected } = await open('person', {});
    await page.goto('/graphql');
    await page.locator('.graphiql-container').first().waitFor();
    expect((await page.locator('body').innerText()).length).toBeGreaterThan(200);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('the watch over pages', () => {
  it('notices a script that fails, words on the console, what the policy forbids, and a request to elsewhere', async () => {
    const { page, unexpected } = await open('nobody', {});
    await page.goto('/');
    await settled(page);
    expect(unexpected()).toEqual([]);
    const noticed = async (what: RegExp, act: string) => {
      const before = unexpected().length;
      await page.evaluate(act);
      await expect.poll(() => unexpected().slice(before).join('\n')).toMatch(what);
    };
    await noticed(/^script: Error: broken/, `setTimeout(() => { throw new Error('broken'); }) && 0`);
    await noticed(/^console: careless/, `console.error('careless')`);
    await noticed(
      /policy: script-src-elem inline/,
      `{ const script = document.createElement('script'); script.textContent = '1'; document.head.append(script); }`,
    );
    await noticed(
      /policy: img-src http:\/\/elsewhere\.invalid/,
      `{ new Image().src = 'http://elsewhere.invalid/a.png'; }`,
    );
    await page.context().close();
  });
});
