import { orThrow } from '@steyg/sdk';
import { expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { createPerson, haveAsked, signInOperator, transferMoney } from './people.ts';
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

it('leads from the search to the order, the transfer and the request themselves', async () => {
  const person = await createPerson(app, { name: 'Hoa Sen' });
  const { memo } = orThrow(await person.steyg.console.orders.createOrder({ input: { planId: 'starter' } }));
  orThrow(await person.steyg.console.orders.createOrder({ input: { planId: 'starter' } }));
  expect(await transferMoney(app, { amountVnd: 250_000, memo })).toBe(200);
  const { page, unexpected } = await openPage(browser, app.url, { locale: 'en' });
  await (await signInOperator(app)).signIn(page.context());
  await page.goto('/operator');
  await page.getByRole('heading', { level: 1 }).waitFor();
  const find = async (kind: string) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(memo);
    await page.getByRole('option').filter({ hasText: kind }).filter({ hasText: '250,000 VND' }).first().click();
  };
  await find('Order');
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
  const orders = page.getByRole('table', { name: 'Orders' });
  await orders.getByRole('row', { name: new RegExp(`${memo}.*Hoa Sen`) }).waitFor();
  await expect.poll(() => orders.locator('tbody tr').count()).toBe(1);
  await find('Transfer');
  await page.getByRole('heading', { level: 1, name: 'Transfers' }).waitFor();
  const transfers = page.getByRole('table', { name: 'Transfers' });
  await transfers.getByRole('row', { name: new RegExp(`${memo}.*matched automatically`) }).waitFor();
  await expect.poll(() => transfers.locator('tbody tr').count()).toBe(1);

  const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'laptop' } }));
  await haveAsked(app, secret ?? '', 'ping');
  await haveAsked(app, secret ?? '', 'ping', { model: 'sim-medium' });
  const asked = await app.ledger(person.accountId);
  const { request_id: requestId } = asked.find(({ model }) => model === 'sim-medium') ?? {};
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill(String(requestId));
  await page
    .getByRole('option')
    .filter({ hasText: String(requestId) })
    .click();
  const request = page.getByRole('region', { name: 'Request', exact: true });
  await request.getByText(String(requestId)).waitFor();
  await request.getByRole('row', { name: /sim-medium/ }).waitFor();
  expect(unexpected()).toEqual([]);
  await page.context().close();
});

it('opens accounts, makes operators and takes that back, and says what is wrong at the input', async () => {
  const colleague = await createPerson(app, { name: 'Colleague' });
  const { page, unexpected } = await openPage(browser, app.url, { locale: 'en' });
  await (await signInOperator(app)).signIn(page.context());
  await page.goto('/operator/accounts');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Open an account' }).click();
  await dialog.getByLabel('E-mail address').fill('khach@example.com');
  await dialog.getByLabel('First budget in USD').fill('5');
  await dialog.getByRole('button', { name: 'Open an account' }).click();
  await page.getByRole('heading', { level: 1, name: 'khach' }).waitFor();
  await page.getByText('Nobody yet. Whoever signs up with khach@example.com owns the account.').waitFor();

  await page.goto('/operator/team');
  await page.getByRole('button', { name: 'Add an operator' }).click();
  await dialog.getByLabel('E-mail address').fill('nobody@example.com');
  await dialog.getByRole('button', { name: 'Add an operator' }).click();
  await dialog.getByText('Nobody has signed up with this address.').waitFor();
  await dialog.getByLabel('E-mail address').fill(colleague.email);
  await dialog.getByRole('button', { name: 'Add an operator' }).click();
  const row = page.getByRole('row', { name: /Colleague/ });
  await row.getByText('off', { exact: true }).waitFor();
  await row.getByRole('button', { name: 'Remove the operator Colleague' }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });

  await page.goto('/operator/seller');
  await page.getByLabel('Support e-mail').fill('not an address');
  await page.getByLabel('Link to terms of use').fill('example.com/terms');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Must be a web address.').waitFor();
  // Labels name the inputs; the API's names of them are not for people.
  expect(await page.locator('main').innerText()).not.toMatch(/supportEmail|termsUrl/);
  expect(unexpected()).toEqual([]);
  await page.context().close();
});
