/** The operator's pages of codes, free amounts and bonuses, in both languages, and what customers see of them. */

import { orThrow } from '@steyg/sdk';
import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { fill } from '../../dashboard/src/language/fill.ts';
import { operatorEn } from '../../dashboard/src/language/operator-en.ts';
import { operatorVi } from '../../dashboard/src/language/operator-vi.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, overflow } from './browser.ts';
import { createPerson, signInOperator } from './people.ts';
import { app, openAs, useService } from './service.ts';

useService();

describe.each([
  ['English', 'en-US', en, operatorEn],
  ['Vietnamese', 'vi-VN', vi, operatorVi],
] as const)('an operator in %s', (language, locale, t, o) => {
  it('makes codes, sees who redeemed one, and disables the rest', async () => {
    const operator = await signInOperator(app);
    const customer = await createPerson(app);
    const { page, unexpected } = await openAs(operator, '/operator/codes', { locale });
    await page.getByRole('button', { name: o.makeCodes }).click();
    const dialog = page.getByRole('dialog');
    const name = `Fair in ${language}`;
    await dialog.getByLabel(o.codesName).fill(name);
    await dialog.getByLabel(o.codeCount).fill('3');
    await dialog.getByLabel(o.amount).fill('2.50');
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: o.makeCodes }).click();
    const codes = (await dialog.locator('pre').innerText()).trim().split('\n');
    expect(codes).toHaveLength(3);
    await dialog.getByLabel(t.common.secretKept).check();
    await dialog.getByRole('button', { name: t.common.done }).click();
    const row = page.getByRole('row').filter({ hasText: name });
    await row.getByText('0 / 3').waitFor();
    expect(await page.content()).not.toContain(codes[0] ?? 'none');

    const redeem = () => customer.steyg.console.orders.redeemCode({ code: codes[0] ?? '' });
    expect(orThrow(await redeem())).toMatchObject({ amount: '2.5', again: false });
    await page.getByRole('button', { name: fill(o.whoRedeemedWhat, { name }) }).click();
    await dialog.getByRole('link', { name: customer.email }).waitFor();
    await dialog.getByText(`…${codes[0]?.slice(-4)}`).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: fill(o.disableCodesWhat, { name }) }).click();
    await dialog.getByRole('button', { name: o.disableCodes, exact: true }).click();
    await row.getByText(o.codesOver).waitFor();
    const late = await customer.steyg.console.orders.redeemCode({ code: codes[1] ?? '' });
    expect(late).toMatchObject({ code: 'INVALID_REDEMPTION_CODE' });
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await overflow(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('offers free amounts and bonuses, which customers see, and takes them back', async () => {
    const operator = await signInOperator(app);
    const { page, unexpected } = await openAs(operator, '/operator/plans', { locale });
    const plan = page.getByLabel(o.freeAmountsPlan);
    await plan.selectOption({ index: 1 });
    await page.getByLabel(o.leastVnd).fill('50000');
    await page.getByLabel(o.mostVnd).fill('5000000');
    const free = page.locator('form').filter({ has: plan });
    await free.getByRole('button', { name: t.common.save }).click();
    await page.getByText(t.common.saved).first().waitFor();
    await expect
      .poll(() => operator.steyg.console.orders.topUp())
      .toMatchObject({ minVnd: '50000', maxVnd: '5000000' });

    await page.getByRole('button', { name: o.addBonusStep }).click();
    await page.getByLabel(o.bonusFrom).fill('1000000');
    await page.getByLabel(o.bonusPercent).fill(locale === 'vi-VN' ? '7,5' : '7.5');
    expect(await findBarriers(page)).toEqual([]);
    const steps = page.locator('form').filter({ has: page.getByLabel(o.bonusFrom) });
    await steps.getByRole('button', { name: t.common.save }).click();
    await expect
      .poll(() => operator.steyg.console.orders.bonusSteps())
      .toEqual([{ fromVnd: '1000000', basisPoints: 750 }]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await overflow(page)).toEqual([]);

    await plan.selectOption('');
    await free.getByRole('button', { name: t.common.save }).click();
    await expect.poll(() => operator.steyg.console.orders.topUp()).toBeNull();
    orThrow(await operator.steyg.console.operator.saveBonusSteps({ steps: [] }));
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
