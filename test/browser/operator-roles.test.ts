import { expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { haveAsked, operatorSignIn, settled, signInOperator } from './people.ts';
import { app, browser, useService } from './service.ts';

// What operators of each role see: who supports customers is offered no money, and told who moves it.

useService();

it.each([
  { locale: 'en', width: 1280 },
  { locale: 'vi', width: 390 },
])('shows support a customer with every figure, and no button that moves money ($locale, $width)', async (look) => {
  const customer = await app.customer({ usd: '3' });
  await haveAsked(app, customer.secret, 'hello');
  const operator = await signInOperator(app);
  const { page, unexpected } = await openPage(browser, app.url, {
    locale: look.locale,
    viewport: { width: look.width, height: 900 },
  });
  await operator.signIn(page.context());
  const name = (en: string, vi: string) => (look.locale === 'en' ? en : vi);
  const open = async (path: string) => {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled(page);
  };
  const account = `/operator/accounts/${Buffer.from(`Account:${customer.accountId}`).toString('base64')}`;
  const button = (en: string, vi: string) => page.getByRole('button', { name: name(en, vi), exact: true });
  await open(account);
  await page.getByText(name('See and change the limits', 'Xem và thay đổi giới hạn')).click();
  await page.getByRole('heading', { name: name('Limits of the account', 'Giới hạn của tài khoản') }).waitFor();
  expect(await button('Add budget', 'Thêm số dư').count()).toBe(1);
  const role = (value: string | null) =>
    app.pool.query(`UPDATE app_user SET operator = $1, operator_role = $2 WHERE email = $3`, [
      value === null,
      value,
      operatorSignIn.email,
    ]);
  await role('support');
  try {
    await open(account);
    expect(await button('Add budget', 'Thêm số dư').count()).toBe(0);
    expect(await button('Suspend', 'Tạm khóa').count()).toBe(0);
    await open('/operator');
    await open('/operator/revenue');
    await page.getByText(name('Your role as an operator does not', 'Vai trò vận hành của bạn không')).first().waitFor();
    await role('finance');
    await open(account);
    expect(await button('Add budget', 'Thêm số dư').count()).toBe(1);
  } finally {
    await role(null);
  }
  expect(unexpected(/403|200/)).toEqual([]);
  await page.context().close();
});
