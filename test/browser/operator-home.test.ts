import { expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { signInOperator } from './people.ts';
import { app, browser, useService } from './service.ts';

// The operator's workspace: where operators land, its navigation, the search over everything.

useService();

it('is where operators land, with what waits for them and at most nine entries', async () => {
  await app.pool.query(
    `INSERT INTO bank_transfer (id, provider, provider_id, direction, amount_vnd, memo, booked_at)
     VALUES ('01a20300-0000-7000-8000-000000000001', 'sepay', 'home-1', 'in', 99000, 'khong ro', now())`,
  );
  await app.pool.query(
    `INSERT INTO transfer_review (transfer_id, reason) VALUES ('01a20300-0000-7000-8000-000000000001', 'no_memo')`,
  );
  const { page, unexpected } = await openPage(browser, app.url, { locale: 'en' });
  await (await signInOperator(app)).signIn(page.context());
  await page.goto('/sign-in');
  await page.waitForURL('**/operator');
  await page.getByRole('link', { name: /Transfers waiting for review: 1/ }).waitFor();
  for (const tile of ['Received today', 'Received this month', 'Margin this month', 'New customers, 7 days'])
    await page.getByText(tile).waitFor();
  const entries = await page.getByRole('list', { name: 'Operator' }).getByRole('link').allInnerTexts();
  expect(entries.length).toBeLessThanOrEqual(9);
  await page.getByRole('list', { name: 'Operator' }).getByRole('link', { name: 'Payments' }).click();
  await page.getByRole('heading', { level: 1, name: 'Transfers' }).waitFor();
  await page.getByRole('navigation', { name: 'Payments' }).getByRole('link', { name: 'Orders' }).click();
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
  await page.getByRole('navigation', { name: 'Workspaces' }).getByRole('link', { name: 'Account' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  expect(unexpected()).toEqual([]);
  await page.context().close();
});

it('finds a customer, a transfer and a model by the keyboard alone', async () => {
  const { accountId } = await app.customer({ usd: '1' });
  const { rows } = await app.pool.query<{ email: string }>('SELECT email FROM account WHERE id = $1', [accountId]);
  const email = rows[0]?.email ?? '';
  const { page, unexpected } = await openPage(browser, app.url, { locale: 'vi' });
  await (await signInOperator(app)).signIn(page.context());
  await page.goto('/operator');
  await page.getByRole('heading', { level: 1 }).waitFor();
  for (const [text, kind] of [
    ['99.000', 'Khoản chuyển'],
    ['sim-sm', 'Model'],
    [email, 'Khách hàng'],
  ] as const) {
    const box = page.getByRole('combobox', { name: 'Tìm kiếm' });
    // The search is loaded after the page.
    while (!(await box.isVisible())) {
      await page.keyboard.press('Control+k');
      await box.waitFor({ timeout: 2_000 }).catch(() => undefined);
    }
    await box.fill(text);
    await page.getByRole('option').first().getByText(kind).waitFor();
    // In a field of a search it empties the field first.
    if (kind !== 'Khách hàng') await page.keyboard.press('Escape');
  }
  await page.keyboard.press('Enter');
  await page.waitForURL('**/operator/accounts/*');
  await page.getByText(email).first().waitFor();
  expect(unexpected()).toEqual([]);
  await page.context().close();
});
