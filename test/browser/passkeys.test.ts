/** Passkeys in a real browser, with its virtual authenticator: added, named, used and removed on the pages. */

import { orThrow } from '@steyg/sdk';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { fill } from '../../dashboard/src/language/fill.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { freePort } from '../support/free-port.ts';
import { findBarriers, openPage } from './browser.ts';
import { createPerson, oneTimeCode, settled } from './people.ts';
import { app, browser, useService } from './service.ts';

// Browsers make passkeys for domains: the service has to know itself by one.
const port = await freePort();
const origin = `http://localhost:${port}`;
useService({ env: { PORT: String(port), PUBLIC_URL: origin } });

/** A device with a fingerprint reader that always agrees. */
async function addAuthenticator(page: Page): Promise<{ cdp: CDPSession; authenticatorId: string }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}

/** The session's cookies are those of another name of this machine. */
async function signInAt(person: Awaited<ReturnType<typeof createPerson>>, context: BrowserContext): Promise<void> {
  await person.signIn(context);
  const cookies = await context.cookies();
  await context.clearCookies();
  await context.addCookies(cookies.map(({ name, value }) => ({ name, value, url: origin })));
}

describe.each([
  ['English', 'en-US', en],
  ['Vietnamese', 'vi-VN', vi],
] as const)('a passkey in %s', (_, locale, t) => {
  it('is added with password and code, signs in, and is renamed and removed', async () => {
    const person = await createPerson(app);
    const { people } = person.steyg.console;
    const { uri } = orThrow(await people.beginSecondFactor({ password: person.password }));
    const secret = new URL(uri).searchParams.get('secret') ?? '';
    orThrow(await people.confirmSecondFactor({ code: oneTimeCode(secret) }));
    const { page, unexpected } = await openPage(browser, origin, { locale });
    const { cdp, authenticatorId } = await addAuthenticator(page);
    await signInAt(person, page.context());
    await page.goto('/security');
    await settled(page);

    await page.getByRole('button', { name: t.passkeys.add, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(t.passkeys.name, { exact: true }).fill('Laptop');
    await dialog.getByLabel(t.security.passwordAgain).fill(person.password);
    // The code of this half minute is used up.
    await dialog.getByLabel(t.signIn.code, { exact: true }).fill(oneTimeCode(secret, Date.now() + 30_000));
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: t.passkeys.add, exact: true }).click();
    await page.getByRole('rowheader', { name: 'Laptop' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect((await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials).toMatchObject([
      { isResidentCredential: true, rpId: 'localhost' },
    ]);

    await page.getByRole('button', { name: t.nav.signOut }).click();
    await page.getByRole('link', { name: t.nav.signIn, exact: true }).first().waitFor();
    await page.goto('/sign-in');
    // The browser offers what the device holds by itself, too: the page may be left before the press.
    await page
      .getByRole('button', { name: t.passkeys.signIn })
      .click({ timeout: 5_000 })
      .catch(() => undefined);
    await page.getByRole('link', { name: t.nav.security, exact: true }).first().waitFor();
    await page.goto('/security');
    await settled(page);
    await page.getByRole('button', { name: fill(t.passkeys.renameWhat, { name: 'Laptop' }) }).click();
    await dialog.getByLabel(t.passkeys.name, { exact: true }).fill('Old laptop');
    await dialog.getByRole('button', { name: t.common.save }).click();
    await page.getByRole('rowheader', { name: 'Old laptop' }).waitFor();
    await page.getByRole('button', { name: fill(t.passkeys.removeWhat, { name: 'Old laptop' }) }).click();
    await dialog.getByLabel(t.security.passwordAgain).fill(person.password);
    await dialog.getByRole('button', { name: t.passkeys.remove, exact: true }).click();
    await page.getByText(t.passkeys.none).waitFor();

    // The device still holds its half, which opens nothing any more.
    await page.getByRole('button', { name: t.nav.signOut }).click();
    await page.getByRole('link', { name: t.nav.signIn, exact: true }).first().waitFor();
    await page.goto('/sign-in');
    await page.getByRole('button', { name: t.passkeys.signIn }).click();
    await page.getByText(t.errors.INVALID_PASSKEY).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
