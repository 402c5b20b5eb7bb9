import { orThrow } from '@steyg/sdk';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { ask, createPerson, haveAsked, idle, type Person, settled, signInOperator } from './people.ts';
import { app, browser, useService } from './service.ts';

// Keyboard: every control can be reached, and the focus is always visible.

let person: Person;

useService();
beforeAll(async () => {
  person = await createPerson(app, { name: 'Lan Anh' });
  const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'laptop' } }));
  await haveAsked(app, secret ?? '', 'Say something');
  await app.quiet(person.accountId);
});

/** Where the focus is: what a reader would be told, whether it shows, and whether something lies over it. */
interface Place {
  name: string;
  element: string;
  visible: boolean;
  behind: boolean;
  nowhere: boolean;
}

const placeOfFocus = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return { name: '', element: '', visible: true, behind: false, nowhere: true };
  const label = element.closest('label');
  const name = element.getAttribute('aria-label') ?? (element.labels?.[0]?.innerText || element.innerText || element.title || '').trim();
  // A choice that looks like a switch hides its input and shows the focus around its label.
  const shows = (each) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each);
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  };
  const dialog = document.querySelector('dialog[open]');
  return {
    name,
    element: element.tagName,
    visible: [element, label, element.nextElementSibling].some((each) => each !== null && shows(each)),
    behind: dialog !== null && !dialog.contains(element),
    nowhere: false,
  };
})()`;

const focusOf = (page: Page) => page.evaluate(placeOfFocus) as Promise<Place>;

/** One step with the key; wherever it leads, it has to show. */
async function step(page: Page, key = 'Tab'): Promise<Place> {
  await page.keyboard.press(key);
  const place = await focusOf(page);
  expect(place, `after ${place.name}`).toMatchObject({ visible: true, behind: false });
  return place;
}

/** Goes on until the thing of this name has the focus. */
async function goTo(page: Page, name: string | RegExp): Promise<void> {
  const isIt = (place: Place) => (typeof name === 'string' ? place.name === name : name.test(place.name));
  const seen: string[] = [];
  while (seen.length < 80) {
    const place = await step(page);
    if (isIt(place)) return;
    seen.push(place.name);
  }
  throw new Error(`no way to ${String(name)}; on the way: ${seen.join(' · ')}`);
}

describe('the keyboard alone', () => {
  it('signs in, makes a key, copies it, and deletes it', async () => {
    const { page, unexpected } = await openPage(browser, app.url);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/');
    await settled(page);
    await goTo(page, 'Sign in');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/sign-in');
    await page.getByLabel('E-mail address').waitFor();
    await goTo(page, 'E-mail address');
    await page.keyboard.type(person.email);
    await goTo(page, 'Password');
    await page.keyboard.type(person.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    await goTo(page, 'API keys');
    await page.keyboard.press('Enter');
    // Another page begins at its heading, not somewhere in the middle.
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await expect.poll(() => focusOf(page)).toMatchObject({ element: 'H1', name: 'API keys' });
    await goTo(page, 'Create key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await goTo(page, 'Name');
    await page.keyboard.type('by hand');
    await page.keyboard.press('Enter');
    const secret = await page.locator('.secret code').innerText();
    // What is shown once does not go away by accident.
    await page.keyboard.press('Escape');
    await goTo(page, 'Copy: API key');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await goTo(page, /^I have stored it/);
    await page.keyboard.press('Space');
    await goTo(page, 'Done');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await focusOf(page)).name).toBe('Create key');
    expect((await ask(app, secret, 'ping')).status).toBe(200);

    await page.getByRole('rowheader', { name: /by hand/ }).waitFor();
    await goTo(page, 'Delete key “by hand”');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await goTo(page, 'Delete');
    await page.keyboard.press('Enter');
    await page.getByText('Key “by hand” was deleted.').waitFor();
    expect((await ask(app, secret, 'ping')).status).toBe(401);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('stays in a dialog until it is closed, and is where it was afterwards', async () => {
    const { page, unexpected } = await openPage(browser, app.url);
    await person.signIn(page.context());
    await page.goto('/keys');
    await settled(page);
    expect((await step(page)).name).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect((await step(page)).name).toBe('Create key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    // Round more than once: between the last and the first thing lies the browser, never the page behind.
    for (let count = 0; count < 25; count += 1) await step(page);
    for (let count = 0; count < 5; count += 1) await step(page, 'Shift+Tab');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await focusOf(page)).name).toBe('Create key');
    await page.getByRole('link', { name: 'Members' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
    await expect.poll(() => focusOf(page)).toMatchObject({ element: 'H1', name: 'Members' });
    expect(await page.title()).toBe('Members · Steyg');
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it.each([
    ['nobody', '/'],
    ['nobody', '/status'],
    ['person', '/'],
    ['person', '/start'],
    ['person', '/activity'],
    ['person', '/playground'],
    ['person', '/topup'],
    ['person', '/security'],
    ['operator', '/operator/catalog/sim-small'],
    ['operator', '/operator/transfers'],
  ] as const)('reaches everything that can be used: %s at %s', async (who, path) => {
    const { page, unexpected } = await openPage(browser, app.url);
    if (who === 'person') await person.signIn(page.context());
    if (who === 'operator') await (await signInOperator(app)).signIn(page.context());
    await page.goto(path);
    await idle(page);
    const expected = (await page.evaluate(`(() => {
      const usable = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
      const seen = [...document.querySelectorAll(usable)].filter((each) =>
        !each.disabled && each.tabIndex >= 0 && each.checkVisibility({ visibilityProperty: true }) && !each.closest('[inert]'));
      // Of choices that exclude each other the keyboard stops at the chosen one; arrows lead to the others.
      const stops = seen.filter((each) => each.type !== 'radio' || each.checked);
      for (const stop of stops) stop.setAttribute('data-stop', '');
      return stops.length;
    })()`)) as number;
    expect(expected).toBeGreaterThan(3);
    // A date has a stop for each of its parts.
    for (let count = 0; count < expected + 20; count += 1) {
      const place = await step(page);
      if (place.nowhere) break;
      await page.evaluate(`document.activeElement.removeAttribute('data-stop')`);
    }
    const left = await page.evaluate(
      `[...document.querySelectorAll('[data-stop]')].map((each) => each.outerHTML.slice(0, 120))`,
    );
    expect(left).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
