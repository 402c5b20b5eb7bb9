/** A session that ends while a form is half filled: the form survives the sign-in, and is sent. */

import { orThrow } from '@steyg/sdk';
import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, openPage, overflow, pressUntil } from './browser.ts';
import { createPerson, oneTimeCode, type Person, settled } from './people.ts';
import { app, browser, useService } from './service.ts';

useService();

const endSessions = ({ email }: Person) =>
  app.pool.query('DELETE FROM user_session WHERE user_id = (SELECT id FROM app_user WHERE email = $1)', [email]);

/** A person at a half-filled form whose session is gone by the time it is sent. */
async function atHalfFilledForm(t: typeof en, locale: string, person: Person) {
  const watched = await openPage(browser, app.url, { locale });
  const { page } = watched;
  await person.signIn(page.context());
  await page.goto('/keys');
  await settled(page);
  await page.getByRole('button', { name: t.keys.create }).first().click();
  const form = page.getByRole('dialog').filter({ has: page.getByLabel(t.keys.name, { exact: true }) });
  await form.getByLabel(t.keys.name, { exact: true }).fill('half typed');
  const again = page.getByRole('dialog', { name: t.signIn.againTitle });
  await endSessions(person);
  // The page may notice by itself first: its dialog then covers the button.
  await pressUntil(form.getByRole('button', { name: t.keys.create }), again);
  return { ...watched, form, again };
}

describe.each([
  ['English', 'en-US', en],
  ['Vietnamese', 'vi-VN', vi],
] as const)('a session that ends under a half-filled form, in %s,', (_, locale, t) => {
  it('is begun anew over the form, which is as it was and is sent', async () => {
    const person = await createPerson(app);
    const { page, form, again, unexpected } = await atHalfFilledForm(t, locale, person);
    expect(await again.getByLabel(t.signIn.email).inputValue()).toBe(person.email);
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    // Neither Escape nor a wrong password loses anything.
    await page.keyboard.press('Escape');
    await again.getByLabel(t.signIn.password).fill('not the password');
    await again.getByRole('button', { name: t.signIn.action, exact: true }).click();
    await again.getByText(t.errors.INVALID_CREDENTIALS).waitFor();
    await again.getByLabel(t.signIn.password).fill(person.password);
    await again.getByRole('button', { name: t.signIn.action, exact: true }).click();
    await again.waitFor({ state: 'detached' });
    expect(await form.getByLabel(t.keys.name, { exact: true }).inputValue()).toBe('half typed');
    await form.getByRole('button', { name: t.keys.create }).click();
    await page.locator('.secret code').waitFor();
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toMatch(
      /half typed|long enough/,
    );
    expect(unexpected(/status of 401/)).toEqual([]);
    await page.context().close();
  });

  it('asks for the one-time code there, too', async () => {
    const person = await createPerson(app);
    const { people } = person.steyg.console;
    const { uri } = orThrow(await people.beginSecondFactor({ password: person.password }));
    const secret = new URL(uri).searchParams.get('secret') ?? '';
    orThrow(await people.confirmSecondFactor({ code: oneTimeCode(secret) }));
    const { page, form, again } = await atHalfFilledForm(t, locale, person);
    await again.getByLabel(t.signIn.password).fill(person.password);
    await again.getByRole('button', { name: t.signIn.action, exact: true }).click();
    const codes = page.getByRole('dialog', { name: t.signIn.codeTitle });
    await codes.getByLabel(t.signIn.code, { exact: true }).fill(oneTimeCode(secret, Date.now() + 30_000));
    await codes.getByRole('button', { name: t.signIn.action, exact: true }).click();
    await codes.waitFor({ state: 'detached' });
    expect(await form.getByLabel(t.keys.name, { exact: true }).inputValue()).toBe('half typed');
    await page.context().close();
  });

  it('goes on once another tab has signed in, as with a provider, and is left on demand', async () => {
    const person = await createPerson(app);
    const { page, form, again } = await atHalfFilledForm(t, locale, person);
    orThrow(await person.steyg.console.people.signIn({ email: person.email, password: person.password }));
    await person.signIn(page.context());
    // The person comes back to this tab.
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await again.waitFor({ state: 'detached' });
    expect(await form.getByLabel(t.keys.name, { exact: true }).inputValue()).toBe('half typed');
    await endSessions(person);
    await pressUntil(form.getByRole('button', { name: t.keys.create }), again);
    await again.getByRole('button', { name: t.signIn.leave }).click();
    await page.getByRole('link', { name: t.nav.signUp, exact: true }).first().waitFor();
    expect(await page.content()).not.toContain(person.email);
    await page.context().close();
  });

  it('is dropped, with all that it showed, when another person signs in', async () => {
    const person = await createPerson(app, { name: 'First Person' });
    const another = await createPerson(app);
    const { page, again } = await atHalfFilledForm(t, locale, person);
    await again.getByLabel(t.signIn.email).fill(another.email);
    await again.getByLabel(t.signIn.password).fill(another.password);
    await again.getByRole('button', { name: t.signIn.action, exact: true }).click();
    await page.getByText(another.email).waitFor();
    expect(await page.content()).not.toMatch(/half typed|First Person/);
    await page.context().close();
  });
});
