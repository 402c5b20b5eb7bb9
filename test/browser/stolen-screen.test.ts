/** A screen that is left behind: once its session has ended, it shows nothing of its account, and keeps what was typed. */

import { orThrow } from '@steyg/sdk';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, openPage } from './browser.ts';
import { createPerson, type Person, settled } from './people.ts';
import { app, browser, useService } from './service.ts';

useService();

/** A page with a half-filled form above it, whose session has ended and which has noticed. */
async function leftBehind(t: typeof en, locale: string, person: Person, prepare?: (page: Page) => Promise<void>) {
  orThrow(await person.steyg.console.keys.createKey({ input: { name: 'Signing machine' } }));
  const watched = await openPage(browser, app.url, { locale });
  const { page } = watched;
  await prepare?.(page);
  await person.signIn(page.context());
  await page.goto('/keys');
  await settled(page);
  await page.getByRole('rowheader', { name: /Signing machine/ }).waitFor();
  await page.getByRole('button', { name: t.keys.create }).first().click();
  const form = page.getByRole('dialog').filter({ has: page.getByLabel(t.keys.name, { exact: true }) });
  await form.getByLabel(t.keys.name, { exact: true }).fill('half typed');
  await app.pool.query('DELETE FROM user_session WHERE user_id = (SELECT id FROM app_user WHERE email = $1)', [
    person.email,
  ]);
  // As another tab of the browser tells it.
  await page.evaluate(`new BroadcastChannel('steyg.session').postMessage('changed')`);
  const again = page.getByRole('dialog', { name: t.signIn.againTitle });
  await again.waitFor();
  const signIn = async () => {
    await again.getByLabel(t.signIn.password).fill(person.password);
    await again.getByRole('button', { name: t.signIn.action, exact: true }).click();
    await again.waitFor({ state: 'detached' });
  };
  return { ...watched, form, again, signIn };
}

const shown = /Signing machine|half typed|Left Behind|sk-steyg|[$]5[.]00|5,00.USD/;

describe.each([
  ['English', 'en-US', en],
  ['Vietnamese', 'vi-VN', vi],
] as const)('a screen that is left behind, in %s,', (_, locale, t) => {
  it('has no name and no figure in its document, its outline or its title, until its person is back', async () => {
    const person = await createPerson(app, { name: 'Left Behind' });
    const { page, form, signIn, unexpected } = await leftBehind(t, locale, person);
    expect(await page.content()).not.toMatch(shown);
    expect(await page.locator('body').ariaSnapshot()).not.toMatch(shown);
    expect(await page.title()).toBe('Steyg');
    await expect.poll(() => page.evaluate('document.activeElement?.type')).toBe('password');
    expect(await findBarriers(page)).toEqual([]);
    await signIn();
    expect(await form.getByLabel(t.keys.name, { exact: true }).inputValue()).toBe('half typed');
    expect(await page.content()).toContain('Signing machine');
    expect(await page.title()).toContain(t.keys.title);
    // The form is a dialog as before: the page behind it is out of reach.
    expect(await page.evaluate(`document.querySelector('dialog')?.matches(':modal')`)).toBe(true);
    await form.getByRole('button', { name: t.keys.create }).click();
    await page.locator('.secret code').waitFor();
    expect(unexpected(/status of 401/)).toEqual([]);
    await page.context().close();
  });
});

describe('a page whose person is back', () => {
  it('has dropped its answers: they are asked for again before it is shown, with what was typed', async () => {
    const person = await createPerson(app);
    let state: 'open' | 'cut' | 'held' = 'open';
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { page, form, signIn } = await leftBehind(en, 'en-US', person, async (fresh) => {
      await fresh.route('**/graphql', async (route) => {
        if (route.request().postData()?.includes('listKeys') !== true) return route.continue();
        if (state === 'cut') return route.abort();
        if (state === 'held') await released;
        return route.continue();
      });
    });
    orThrow(await person.steyg.console.people.signIn({ email: person.email, password: person.password }));
    const [key] = (await person.steyg.console.keys.listKeys({ first: 1 }))?.edges ?? [];
    orThrow(
      await person.steyg.console.keys.updateKey({ input: { id: key?.node.id ?? '', name: 'Renamed meanwhile' } }),
    );

    // A network that is away costs nothing of the form.
    state = 'cut';
    await signIn();
    await page.getByText(en.errors.CONNECTION).waitFor();
    expect(await page.content()).not.toMatch(/Signing machine|half typed/);
    state = 'held';
    await page.getByRole('button', { name: en.common.retry }).click();
    await page.getByRole('status', { name: en.common.loading }).waitFor();
    expect(await page.content()).not.toMatch(/Signing machine|half typed/);
    release();
    await form.waitFor();
    expect(await form.getByLabel(en.keys.name, { exact: true }).inputValue()).toBe('half typed');
    await page.getByText('Renamed meanwhile').waitFor();
    expect(await page.content()).not.toContain('Signing machine');
    await page.context().close();
  });
});
