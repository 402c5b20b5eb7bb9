import { beforeAll, expect, it } from 'vitest';
import { createPerson, type Person } from './people.ts';
import { app, openAs, useService } from './service.ts';

// Buttons that make something, pressed by an impatient hand.

let person: Person;

useService();
beforeAll(async () => {
  person = await createPerson(app);
});

const ordersOf = async () => {
  const { rows } = await app.pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM purchase_order WHERE account_id = $1',
    [person.accountId],
  );
  return rows[0]?.count;
};

it('a double click on a plan orders it once', async () => {
  const { page, unexpected } = await openAs(person, '/topup');
  await page.getByRole('button', { name: 'Order Starter' }).dblclick();
  await page.waitForURL('**/orders/**');
  expect(await ordersOf()).toBe(1);
  expect(unexpected()).toEqual([]);
  await page.context().close();
});

it('a double click makes one key', async () => {
  const { page, unexpected } = await openAs(person, '/keys');
  await page.getByRole('button', { name: 'Create key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Pressed twice');
  await dialog.getByRole('button', { name: 'Create key' }).dblclick();
  await page
    .getByRole('dialog')
    .getByText(/^sk-steyg-/)
    .waitFor();
  const { rows } = await app.pool.query('SELECT FROM api_key WHERE account_id = $1 AND name = $2', [
    person.accountId,
    'Pressed twice',
  ]);
  expect(rows).toHaveLength(1);
  expect(unexpected()).toEqual([]);
  await page.context().close();
});
