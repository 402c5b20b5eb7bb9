import { describe, expect, it } from 'vitest';
import { serviceTexts } from '../../dashboard/src/language/service.ts';
import { findBarriers, overflow, unfold } from './browser.ts';
import { signInOperator, transferMoney } from './people.ts';
import { app, openAs, useService } from './service.ts';

// The service's settings as forms: in both languages, on a phone and a desk, with a test transfer seen as it arrives.

useService({ env: { SEPAY_WEBHOOK_AUTH: 'hmac' } });

describe('an operator', () => {
  it.each([
    ['English, on a phone', 'en-US', serviceTexts.en, 390, 'light'],
    ['Vietnamese, on a phone', 'vi-VN', serviceTexts.vi, 390, 'dark'],
    ['English, on a desk', 'en-US', serviceTexts.en, 1280, 'dark'],
    ['Vietnamese, on a desk', 'vi-VN', serviceTexts.vi, 1280, 'light'],
  ] as const)('reads the settings in %s, without barriers', async (_name, locale, o, width, colorScheme) => {
    const { page, unexpected } = await openAs(await signInOperator(app), '/operator/service', {
      locale,
      colorScheme,
      viewport: { width, height: 844 },
    });
    for (const { title } of Object.values(o.settingGroups)) {
      await page.getByRole('heading', { name: title, exact: true }).waitFor();
    }
    expect([...(await findBarriers(page)), ...(await overflow(page))]).toEqual([]);
    for (const { title } of Object.values(o.settingGroups)) await unfold(page, title);
    expect([...(await findBarriers(page)), ...(await overflow(page))]).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('enters the bank account, is told what is missing at its field, and sees a test transfer arrive', async () => {
    // As the first steps lead there.
    const { page, unexpected } = await openAs(await signInOperator(app), '/operator/service#BANK');
    const bank = page.getByRole('form', { name: serviceTexts.en.settingGroups.BANK.title });
    await bank.getByLabel(serviceTexts.en.settingNames.BANK_ACCOUNT).fill('0011001234567');
    await bank.getByRole('button', { name: 'Save' }).click();
    await bank.locator('.error-text').first().waitFor();
    await bank.getByLabel(serviceTexts.en.settingNames.BANK_BIN).fill('970436');
    await bank.getByLabel(serviceTexts.en.settingNames.BANK_NAME).fill('HOA SEN');
    await bank.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    await unfold(page, serviceTexts.en.settingGroups.SEPAY.title);
    // The environment's secret is not for this page to change, and it says so.
    const sepay = page.getByRole('form', { name: serviceTexts.en.settingGroups.SEPAY.title });
    await sepay.getByText(/SEPAY_WEBHOOK_SECRET in the environment/).waitFor();
    await fetch(`${app.url}/webhooks/sepay`, { method: 'POST', body: '{}' });
    await page.getByText(serviceTexts.en.webhookRefusals.UNSIGNED).waitFor();
    await transferMoney(app, { amountVnd: 10_000, memo: 'a test' });
    await page.getByText(serviceTexts.en.webhookHeard).first().waitFor();
    await page.getByText(serviceTexts.en.webhookRefusals.UNSIGNED).waitFor({ state: 'detached' });
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
