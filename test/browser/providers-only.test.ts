/** Where people sign in with providers alone, no page and no link asks for a password. */

import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { fill } from '../../dashboard/src/language/fill.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, openPage } from './browser.ts';
import { app, browser, useService } from './service.ts';

useService({
  env: {
    PASSWORD_SIGN_IN: '0',
    OIDC_ISSUER: 'http://127.0.0.1:9',
    OIDC_CLIENT_ID: 'steyg',
    OIDC_CLIENT_SECRET: 'a secret of the client',
    OIDC_NAME: 'Work',
  },
});

describe.each([
  ['English', 'en-US', en],
  ['Vietnamese', 'vi-VN', vi],
] as const)('passwords that are switched off, in %s,', (_, locale, t) => {
  it('are asked for nowhere: sign-up and reset lead to the sign-in with the provider', async () => {
    const { page, unexpected } = await openPage(browser, app.url, { locale });
    for (const path of ['/sign-up', '/forgot-password', '/reset-password?token=x']) {
      await page.goto(path);
      await page.waitForURL('**/sign-in');
      await page.getByRole('link', { name: fill(t.signIn.with, { name: 'Work' }) }).waitFor();
      await page.getByRole('link', { name: t.nav.signUp, exact: true }).waitFor({ state: 'detached' });
      expect(await page.locator('input[type=password]').count()).toBe(0);
      expect(await page.getByRole('link', { name: t.signIn.forgot }).count()).toBe(0);
    }
    expect(await findBarriers(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
