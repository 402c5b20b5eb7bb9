import { expect, it } from 'vitest';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { openPage } from './browser.ts';
import { signInOperator } from './people.ts';
import { app, browser, useService } from './service.ts';

// Transfers that found no order by themselves, on the operator's page.

useService();

async function waitingTransfer(memo: string, amountVnd: bigint): Promise<void> {
  const id = uuidv7();
  await app.pool.query(
    `INSERT INTO bank_transfer (id, provider, provider_id, direction, amount_vnd, memo, booked_at)
     VALUES ($1, 'sepay', $2, 'in', $3, $4, now())`,
    [id, id, amountVnd, memo],
  );
  await app.pool.query(`INSERT INTO transfer_review (transfer_id, reason) VALUES ($1, 'no_memo')`, [id]);
}

async function openOrder(accountId: string): Promise<{ memo: string; priceVnd: bigint; email: string }> {
  const { createOrders } = await import('../../server/plans/orders.ts');
  const bank = { bin: '970436', account: '0011001234567', name: 'TEST' };
  const outcome = await createOrders({ pool: app.pool, bank }).create({ accountId, planId: 'starter' });
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  const { rows } = await app.pool.query<{ email: string }>('SELECT email FROM account WHERE id = $1', [accountId]);
  return { memo: outcome.order.memo, priceVnd: outcome.order.priceVnd, email: rows[0]?.email ?? '' };
}

it('are proposed by a mistyped code, shown beside the order, matched, and taken back', async () => {
  const { accountId } = await app.customer({ usd: '0' });
  const order = await openOrder(accountId);
  await waitingTransfer(`ck ${order.memo.slice(0, -1)} cam on`, order.priceVnd);
  const { page, unexpected } = await openPage(browser, app.url, { locale: 'en' });
  await (await signInOperator(app)).signIn(page.context());
  await page.goto('/operator/transfers');
  const row = page.getByRole('row', { name: new RegExp(order.memo.slice(0, -1)) });
  await row.getByRole('button', { name: 'Match manually' }).click();
  const dialog = page.getByRole('dialog');
  const proposal = dialog.getByRole('row', { name: new RegExp(order.memo) });
  await proposal.getByText('code differs in 1').waitFor();
  expect(await proposal.innerText()).toContain(order.email);
  await proposal.getByRole('button').click();
  await dialog.getByText(/^The order will be paid, and .+ will get \$10\.00 of budget\.$/).waitFor();
  expect(await dialog.innerText()).toContain(order.email);
  await dialog.getByRole('button', { name: `Match with order ${order.memo}` }).click();
  await page.getByText('The transfer was matched.').waitFor();
  await page.getByRole('radio', { name: 'All' }).check();
  // Who matched it with what, in names; the matcher's own note with the order's id is not repeated.
  await row.getByText('matched by operator@example.com').waitFor();
  await row.getByRole('link', { name: order.memo }).waitFor();
  expect(await row.innerText()).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  await row.getByRole('button', { name: 'Undo match' }).click();
  await dialog.getByRole('button', { name: 'Undo match' }).click();
  await page.getByText('The match was undone.').waitFor();
  const { rows } = await app.pool.query('SELECT status FROM purchase_order WHERE memo = $1', [order.memo]);
  expect(rows).toEqual([{ status: 'pending' }]);
  expect(unexpected()).toEqual([]);
  await page.context().close();
});

it('without an order credit an account that is found by its address', async () => {
  const { accountId } = await app.customer({ usd: '0' });
  const { rows } = await app.pool.query<{ email: string }>('SELECT email FROM account WHERE id = $1', [accountId]);
  const email = rows[0]?.email ?? '';
  await waitingTransfer('tien quang cao', 123_456n);
  const { page, unexpected } = await openPage(browser, app.url, { locale: 'vi' });
  await (await signInOperator(app)).signIn(page.context());
  await page.goto('/operator/transfers');
  const row = page.getByRole('row', { name: /tien quang cao/ });
  await row.getByRole('button').first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: 'Cộng cho một tài khoản' }).check();
  await dialog.getByRole('textbox').fill(email);
  const found = dialog.getByRole('row', { name: new RegExp(email) });
  await found.getByRole('button').click();
  await dialog.getByText('4,93', { exact: false }).first().waitFor();
  await dialog.getByRole('button', { name: /^Cộng cho/ }).click();
  await page.getByText('Đã cộng số dư cho tài khoản.').waitFor();
  const grants = await app.pool.query(`SELECT amount FROM "grant" WHERE account_id = $1 AND kind = 'purchase'`, [
    accountId,
  ]);
  expect(grants.rows).toEqual([{ amount: 4_930_000_000_000n }]);
  expect(unexpected()).toEqual([]);
  await page.context().close();
});
