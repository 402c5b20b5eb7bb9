import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { limitTexts } from '../../dashboard/src/language/limits.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, overflow, unfold } from './browser.ts';
import { createPerson, settled } from './people.ts';
import { app, openAs, useService } from './service.ts';

// The limits that people set for their keys and their account.

useService();

describe.each([
  ['en', en],
  ['vi', vi],
] as const)('in %s', (locale, t) => {
  const texts = limitTexts[locale];

  it('a key gets every limit that there is, and shows them', async () => {
    const person = await createPerson(app, { locale });
    const { page, unexpected } = await openAs(person, '/keys', { locale: locale === 'vi' ? 'vi-VN' : 'en-US' });
    await page.getByRole('button', { name: t.keys.create }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(texts.periods.week).fill('2.5');
    await unfold(page, texts.more);
    await dialog.getByLabel(texts.burnAmount).fill('1');
    await dialog.getByLabel(texts.requestsPerMinute).fill('60');
    await dialog.getByLabel(texts.tokensPerMinute).fill('90000');
    await dialog.getByLabel(texts.maxConcurrent).fill('3');
    await dialog.getByLabel(texts.addresses).fill('203.0.113.0/24\n2001:db8::1');
    // Half of a burn limit is none: the form says so and sends nothing.
    await dialog.getByText(texts.both).waitFor();
    await dialog.getByLabel(texts.burnMinutes).fill('10');
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    await dialog.getByRole('button', { name: t.keys.create }).click();
    await page.getByText(t.common.shownOnce.split('{what}')[1]?.trim() ?? '').waitFor();
    const [key] = (await app.keys.list(person.accountId)).filter(({ limits }) => limits.week !== null);
    expect(key).toMatchObject({
      limits: { day: null, week: 2_500_000_000_000n },
      burnLimit: { amount: 1_000_000_000_000n, minutes: 10 },
      requestsPerMinute: 60,
      tokensPerMinute: 90_000,
      maxConcurrent: 3,
      addresses: ['203.0.113.0/24', '2001:db8::1'],
    });
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('an account gets limits over all keys and its time zone, and an unknown zone is said at its field', async () => {
    const person = await createPerson(app, { locale });
    const { page, unexpected } = await openAs(person, '/settings', { locale: locale === 'vi' ? 'vi-VN' : 'en-US' });
    await unfold(page, texts.account);
    const zone = page.getByLabel(texts.timeZone);
    await zone.waitFor();
    expect(await zone.inputValue()).toBe('Asia/Ho_Chi_Minh');
    await page.getByLabel(texts.periods.month).fill('40');
    await zone.fill('Asia/Nowhere');
    const form = page.locator('form', { has: zone });
    await form.getByRole('button', { name: t.common.save }).click();
    await form.getByText(/must be the name of a time zone/i).waitFor();
    await zone.fill('Asia/Tokyo');
    await form.getByRole('button', { name: t.common.save }).click();
    await page.getByText(t.common.saved).waitFor();
    await settled(page);
    expect(await app.accounts.limits(person.accountId)).toMatchObject({
      limits: { day: null, month: 40_000_000_000_000n },
      timeZone: 'Asia/Tokyo',
    });
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
