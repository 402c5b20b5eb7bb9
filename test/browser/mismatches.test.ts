import { expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { ask, signInOperator } from './people.ts';
import { app, browser, useService } from './service.ts';

// Answers by another model, on the operator's page of the books.

useService();

it.each([
  ['en', 'Answers by another model', 'Every upstream runs the model it is asked for.', 'Close', 'closed'],
  ['vi', 'Trả lời bằng model khác', 'Mọi upstream đều chạy đúng model được yêu cầu.', 'Đóng', 'đã đóng'],
])('are listed and closed by a press: %s', async (locale, title, none, close, closed) => {
  await app.pool.query('DELETE FROM model_mismatch');
  const { secret } = await app.customer();
  const { page, unexpected } = await openPage(browser, app.url, { locale });
  await (await signInOperator(app)).signIn(page.context());
  await page.goto('/operator/books');
  await page.getByText(none).waitFor();
  await (await ask(app, secret, '[[say hello]][[model cheaper-model]]')).text();
  await (await ask(app, secret, '[[say hello]][[model what a customer wrote]]')).text();
  for (let rows = 0; rows < 2; ) rows = (await app.pool.query('SELECT FROM model_mismatch')).rowCount ?? 0;
  await page.reload();
  const table = page.getByRole('group', { name: title });
  const row = table.getByRole('row', { name: /cheaper-model/ });
  await row.waitFor();
  expect(await table.innerText()).not.toContain('customer');
  await row.getByRole('button', { name: `${close} sim-small: cheaper-model` }).click();
  await row.getByText(closed).waitFor();
  expect(await row.getByRole('button').count()).toBe(0);
  // The other one stays, in the reader's words, above what is closed.
  await table.getByRole('button', { name: new RegExp(`^${close} sim-small: `) }).waitFor();
  expect(await table.getByText('(no name)').count()).toBe(0);
  expect(unexpected()).toEqual([]);
  await page.context().close();
});
