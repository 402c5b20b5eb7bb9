import { orThrow } from '@steyg/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { findBarriers, openPage } from './browser.ts';
import { createPerson, haveAsked, idle, type Person, signInOperator } from './people.ts';
import { app, browser, openAs, useService } from './service.ts';
import { readVitals, recordVitals, slowDown } from './vitals.ts';

// What a visitor reads before any script has run, and that nothing moves when the rest arrives.

useService();

let person: Person;

beforeAll(async () => {
  person = await createPerson(app);
  const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'laptop' } }));
  await haveAsked(app, secret ?? '', 'ping');
  await app.quiet(person.accountId);
  // On a busy machine the first visitors may be sent an empty page.
  for (const path of ['/', '/guides', '/guides/codex'])
    for (const language of ['en', 'vi'])
      while (!(await html(path, language)).includes('id="served"')) await new Promise((next) => setTimeout(next, 200));
});

async function html(path: string, language: string): Promise<string> {
  return (await fetch(`${app.url}${path}`, { headers: { 'accept-language': language } })).text();
}

const vietnamese = { locale: 'vi-VN' } as const;
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

describe('without script', () => {
  it.each([
    ['en-US', 'Every model with one key', 'Sign up'],
    ['vi-VN', 'Một API key cho mọi model', 'Đăng ký'],
  ])(
    'the landing page has its text, prices and plans in the language of the browser (%s)',
    async (locale, ...texts) => {
      const { page, unexpected } = await openPage(browser, app.url, { locale, javaScriptEnabled: false });
      await page.goto('/');
      const text = (await page.locator('#served').textContent()) ?? '';
      for (const each of [...texts, 'sim-small', 'Starter', '/v1/chat/completions', 'ANTHROPIC_BASE_URL'])
        expect(text).toContain(each);
      expect(await page.title()).toMatch(/^(Every model with one key|Mọi model với một API key) · Steyg$/);
      expect(await page.locator('html').getAttribute('lang')).toBe(locale.slice(0, 2));
      expect(await page.locator('meta[name="description"]').getAttribute('content')).toMatch(/\w{3}/);
      expect(await page.locator('.skeleton').count()).toBe(0);
      // Links work.
      await page.getByRole('link', { name: texts[1], exact: true }).click();
      await page.waitForURL('**/sign-up');
      expect(unexpected()).toEqual([]);
      await page.context().close();
    },
  );

  it.each(['/guides', '/guides/codex'])('%s has its settings', async (path) => {
    const { page, unexpected } = await openPage(browser, app.url, { ...vietnamese, javaScriptEnabled: false });
    await page.goto(path);
    expect(await page.locator('#served').innerText()).toContain(`${app.url}/api`);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('the page is in the language and theme that the visitor chose there', async () => {
    const { page } = await openPage(browser, app.url);
    await page.goto('/');
    await page.locator('#served').waitFor({ state: 'detached' });
    // Checked once its texts are there, not by the press itself.
    await page.getByRole('radio', { name: 'Tiếng Việt' }).click();
    await page.getByRole('radio', { name: 'Tối' }).check();
    await page.getByRole('heading', { level: 1, name: 'Một API key cho mọi model' }).waitFor();
    const again = () =>
      page
        .context()
        .request.get('/')
        .then((answer) => answer.text());
    await expect.poll(again).toContain('<html lang="vi" data-theme="dark">');
    expect(await again()).toContain('Một API key cho mọi model');
    await page.context().close();
  });

  it('somebody who is signed in is not shown the landing page first', async () => {
    const { page } = await openAs(person, '/settings');
    const own = await (await page.context().request.get('/')).text();
    expect(own).not.toContain('id="served"');
    await page.context().close();
  });
});

describe('the first paint', () => {
  it('of the landing page happens while its scripts are still on their way', async () => {
    const { page } = await openPage(browser, app.url, vietnamese);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let held = 0;
    await page.route('**/*.js', async (route) => {
      held += 1;
      await released;
      await route.continue();
    });
    await recordVitals(page);
    await page.goto('/', { waitUntil: 'commit' });
    await expect.poll(async () => (await readVitals(page)).fcpMs).not.toBeNull();
    expect(held).toBeGreaterThan(0);
    expect(await page.locator('#served h1').isVisible()).toBe(true);
    release();
    await page.locator('#served').waitFor({ state: 'detached' });
    // The live page: its choices work.
    await page.locator('.example').getByRole('radio', { name: 'Messages' }).check();
    await page.locator('.example code', { hasText: 'anthropic-version' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.context().close();
  });

  it('keeps the focus where the reader has moved it meanwhile', async () => {
    const { page } = await openPage(browser, app.url);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/*.js', async (route) => {
      await released;
      await route.continue();
    });
    await page.goto('/', { waitUntil: 'commit' });
    const link = page.locator('#served').getByRole('link', { name: 'See the prices' });
    await link.focus();
    release();
    await page.locator('#served').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('See the prices');
    await page.context().close();
  });
});

describe('on a slow network', () => {
  it.each([
    ['the landing page', '/', null, {}],
    ['the landing page on a phone', '/', null, phone],
    ['the overview', '/', 'person', {}],
    ['the overview on a phone', '/', 'person', phone],
    ["the operator's home", '/operator', 'operator', {}],
  ] as const)('%s does not shift while its parts arrive one after another', async (_name, path, who, options) => {
    const { page, unexpected } = await openPage(browser, app.url, { ...vietnamese, ...options });
    if (who !== null) await (who === 'person' ? person : await signInOperator(app)).signIn(page.context());
    await recordVitals(page);
    await slowDown(page);
    // Each answer later than the one before.
    let count = 0;
    await page.route('**/graphql', async (route) => {
      count += 1;
      await new Promise((resolve) => setTimeout(resolve, 100 * Math.min(count, 12)));
      await route.continue();
    });
    await page.goto(path);
    await idle(page);
    const { cls, moved, fcpMs } = await readVitals(page);
    expect(fcpMs).not.toBeNull();
    // What moved is only of interest where it moved too far.
    expect({ cls: cls < 0.1, moved: cls < 0.1 ? [] : moved }).toEqual({ cls: true, moved: [] });
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
