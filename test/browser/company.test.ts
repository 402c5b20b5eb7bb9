import { beforeAll, expect, it } from 'vitest';
import { findBarriers, openPage, overflow } from './browser.ts';
import { createPerson, type Person } from './people.ts';
import { app, browser, useService } from './service.ts';

// A company's first payment: who pays is asked before the QR code, checked, and remembered.

let person: Person;
useService();
beforeAll(async () => {
  person = await createPerson(app, { name: 'Mai' });
});

it('a company says who pays before the QR code, with a tax code whose digits are checked, and is known the next time', async () => {
  const { page, unexpected } = await openPage(browser, app.url, {
    locale: 'en-US',
    viewport: { width: 390, height: 844 },
  });
  await person.signIn(page.context());
  await page.goto('/topup');
  const order = page.getByRole('button', { name: /^Order / }).first();
  await page.getByRole('radio', { name: 'A company' }).check({ force: true });
  // Nothing is ordered while the company has no name.
  await order.click();
  await page.getByText('Fill in the company’s name and tax code.').first().waitFor();
  await page.getByLabel('Company name').fill('CÔNG TY TNHH HOA SEN');
  await page.getByLabel('Tax code (MST)').fill('0312345678');
  await order.click();
  await page.getByText(/check digit that does not fit/i).waitFor();
  expect((await person.steyg.console.orders.listOrders({ first: 5 }))?.edges).toEqual([]);
  expect(await findBarriers(page)).toEqual([]);
  expect(await overflow(page)).toEqual([]);
  await page.getByLabel('Tax code (MST)').fill('0312345673');
  await page.getByLabel('Address').fill('1 Lê Lợi, Quận 1, TP. HCM');
  await order.click();
  await page.locator('img.qr').waitFor();
  const saved = await person.steyg.console.orders.company({});
  expect(saved?.company).toMatchObject({ name: 'CÔNG TY TNHH HOA SEN', taxCode: '0312345673' });

  // The next order needs no word more.
  await page.goto('/topup');
  await expect.poll(() => page.getByLabel('Company name').inputValue()).toBe('CÔNG TY TNHH HOA SEN');
  expect(await page.getByRole('radio', { name: 'A company' }).isChecked()).toBe(true);
  expect(unexpected()).toEqual([]);
  await page.context().close();
});

it('a person orders with one press, as before', async () => {
  const other = await createPerson(app, { name: 'Nam' });
  const { page } = await openPage(browser, app.url, { locale: 'vi-VN' });
  await other.signIn(page.context());
  await page.goto('/topup');
  await page.getByRole('button', { name: /^Đặt / }).first().click();
  await page.locator('img.qr').waitFor();
  expect(await other.steyg.console.orders.company({})).toMatchObject({ company: null });
  await page.context().close();
});
