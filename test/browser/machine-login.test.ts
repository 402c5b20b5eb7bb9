/** A machine that asks for a key: the page on which a person approves or denies it, in both languages, on screen and phone. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { limitTexts } from '../../dashboard/src/language/limits.ts';
import { machineTexts } from '../../dashboard/src/language/machine.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, openPage, overflow } from './browser.ts';
import { createPerson, mailTo, settled } from './people.ts';
import { app, browser, useService } from './service.ts';

useService();

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';

async function ask(path: string, fields: Record<string, string>): Promise<Record<string, string>> {
  const answer = await fetch(`${app.baseUrl}/device/${path}`, { method: 'POST', body: new URLSearchParams(fields) });
  return (await answer.json()) as Record<string, string>;
}

/** Where pictures are kept, if anybody wants to look at them. */
const pictures = process.env['PICTURES'];
async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

describe.each([
  ['English', 'en-US', 'en', en],
  ['Vietnamese', 'vi-VN', 'vi', vi],
] as const)('a machine that asks for a key, in %s,', (_, locale, language, t) => {
  const texts = machineTexts[language];

  it('gets one when the person has signed in, compared the code and approved', async () => {
    const person = await createPerson(app);
    const begun = await ask('code', { machine: 'laptop of Ada' });
    const { page, unexpected } = await openPage(browser, app.url, { locale });
    await page.goto(begun['verification_uri_complete'] ?? '');
    await page.getByLabel(t.signIn.email).fill(person.email);
    await page.getByLabel(t.signIn.password).fill(person.password);
    await page.getByRole('button', { name: t.signIn.action, exact: true }).click();
    await page.getByText(begun['user_code'] ?? 'none', { exact: true }).waitFor();
    await settled(page);
    expect(await page.getByText(texts.warning).isVisible()).toBe(true);
    expect(await page.getByText('127.0.0.1').isVisible()).toBe(true);
    expect(await page.getByLabel(texts.name).inputValue()).toBe('laptop of Ada');
    expect(await page.getByLabel(limitTexts[language].periods.month).inputValue()).toBe('20');
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    await picture(page, `ask-${language}`);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await overflow(page)).toEqual([]);
    await picture(page, `ask-phone-${language}`);
    await page.getByRole('button', { name: texts.approve }).click();
    await page.getByText(texts.approved).waitFor();
    await picture(page, `approved-${language}`);
    const { access_token: key = '' } = await ask('token', {
      grant_type: grantType,
      device_code: begun['device_code'] ?? '',
    });
    const models = await fetch(`${app.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(models.status).toBe(200);
    const { rows } = await app.pool.query(
      'SELECT name, limit_month::text AS month FROM api_key WHERE last4 = $1 AND account_id = $2',
      [key.slice(-4), person.accountId],
    );
    expect(rows).toEqual([{ name: 'laptop of Ada', month: '20000000000000' }]);
    await expect
      .poll(async () => (await mailTo(app, person.email)).links.some((link) => link.endsWith('/keys')))
      .toBe(true);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('gets none when the person denies it, and an unknown code says what it may be', async () => {
    const person = await createPerson(app);
    const begun = await ask('code', { machine: 'stranger' });
    const { page, unexpected } = await openPage(browser, app.url, { locale });
    await person.signIn(page.context());
    await page.goto('/device');
    await page.getByLabel(texts.code).fill((begun['user_code'] ?? '').toLowerCase().replace('-', ' '));
    await picture(page, `code-${language}`);
    await page.getByRole('button', { name: texts.find }).click();
    await page.getByRole('button', { name: texts.deny }).click();
    await page.getByText(texts.denied).waitFor();
    const told = await ask('token', { grant_type: grantType, device_code: begun['device_code'] ?? '' });
    expect(told['error']).toBe('access_denied');
    await page.goto('/device?code=BBBB-BBBB');
    await page.getByText(texts.notWaiting).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await picture(page, `unknown-${language}`);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
