import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createFormat } from '../../dashboard/src/format.ts';
import { openPage } from './browser.ts';
import { settled, signInOperator } from './people.ts';
import { app, browser, useService } from './service.ts';

// Vendors' bills and the close of months, on the operator's page.

useService();

/** A customer with a request of a day in the month before this one at a vendor, as its settlement would have left it. */
async function sell(upstream: string, day: string): Promise<void> {
  const [account, grant] = [randomUUID(), randomUUID()];
  const at = `${day}T12:00:00Z`;
  await app.pool.query(`INSERT INTO account (id, name, email) VALUES ($1, 'a', $2)`, [
    account,
    `${account}@example.com`,
  ]);
  await app.pool.query(
    `INSERT INTO "grant" (account_id, id, kind, amount, source_ref, created_at)
     VALUES ($1, $2, 'adjustment', 1000000, 'adjustment:' || $2::uuid, $3)`,
    [account, grant, at],
  );
  const { rows } = await app.pool.query<{ id: string }>(
    `INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m, cache_write_1h, output,
       price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost, charged, free_after, upstream_cost,
       latency_ms, outcome, usage_source, stream, created_at)
     SELECT $1, overlay(uuid_at($2)::text placing substr(gen_random_uuid()::text, 15) from 15)::uuid, $1, 'm', $3, 'messages', 50000, 0, 0, 0, 0,
       1, 0, 0, 0, 0, 50000, 50000, 0, 20000, 1, 'completed', 'reported', false, $2
     RETURNING request_id AS id`,
    [account, at, upstream],
  );
  await app.pool.query('UPDATE "grant" SET spent = spent + 50000 WHERE account_id = $1 AND id = $2', [account, grant]);
  await app.pool.query(
    `INSERT INTO posting (account_id, grant_id, kind, amount, request_id, held_at, created_at) VALUES ($1, $2, 'charge', 50000, $3, $4, $4)`,
    [account, grant, rows[0]?.id, at],
  );
}

const words = {
  en: {
    bills: 'Vendors’ bills',
    choose: 'Import a file',
    imported: 'Rows: 2.',
    differing: 'Compared: 2. Different: 1.',
    from: 'From',
    only: 'Only what differs',
    empty: 'The file has no usage.',
    close: 'Close',
    frozen: 'These figures are frozen',
    closed: (month: string) => `${month} is closed.`,
    download: 'CSV for the accountant',
    none: 'No month is closed yet.',
    months: 'Closed months',
    next: 'Next month to close',
    zone: 'Time zone',
    anyway: 'Import it all the same',
    files: 'Imported files: ',
    undo: 'Take back',
    lines: 'Every line of',
    journal: 'Journal',
    rates: 'Exchange rates',
    perUsd: 'VND for a USD',
    source: 'Source',
    save: 'Save',
    cause: 'Counted twice',
  },
  vi: {
    bills: 'Hóa đơn của nhà cung cấp',
    choose: 'Nhập tệp',
    imported: 'Số dòng: 2.',
    differing: 'Đã đối chiếu: 2. Bị lệch: 1.',
    from: 'Từ ngày',
    only: 'Chỉ phần bị lệch',
    empty: 'The file has no usage.',
    close: 'Chốt',
    frozen: 'được giữ cố định',
    closed: (month: string) => `Đã chốt ${month}.`,
    download: 'CSV cho kế toán',
    none: 'Chưa chốt tháng nào.',
    months: 'Các tháng đã chốt',
    next: 'Tháng chốt sổ tiếp theo',
    zone: 'Múi giờ',
    anyway: 'Vẫn nhập',
    files: 'Tệp đã nhập: ',
    undo: 'Rút lại',
    lines: 'Mọi dòng của',
    journal: 'Sổ nhật ký',
    rates: 'Tỷ giá',
    perUsd: 'VND một USD',
    source: 'Nguồn',
    save: 'Lưu',
    cause: 'Tính trùng',
  },
} as const;

it.each([
  ['en', 1_280],
  ['vi', 390],
] as const)('a bill is imported and compared, a month is closed and downloaded: %s, %i px', async (locale, width) => {
  const text = words[locale];
  const closes = ['closed_month', 'closed_account'];
  for (const table of closes) await app.pool.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  await app.pool.query(`TRUNCATE ${closes.join(', ')}, vendor_usage`);
  for (const table of closes) await app.pool.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
  const upstream = `vendor-${locale}`;
  await app.pool.query(
    `INSERT INTO upstream (id, protocol, base_url) VALUES ($1, 'messages', 'https://vendor.example')`,
    [upstream],
  );
  const { rows: known } = await app.pool.query<{ first: string; second: string; month: string }>(
    `SELECT to_char(m, 'YYYY-MM-') || '26' AS first, to_char(m, 'YYYY-MM-') || '27' AS second, to_char(m, 'YYYY-MM') AS month
     FROM (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 month' AS m) AS last`,
  );
  const { first = '', second = '', month: closing = '' } = known[0] ?? {};
  const format = createFormat(locale);
  const month = format.month(new Date(`${closing}-01T12:00:00`));
  await sell(upstream, first);
  await sell(upstream, second);

  const { page, unexpected } = await openPage(browser, app.url, { locale, viewport: { width, height: 900 } });
  await (await signInOperator(app)).signIn(page.context());
  await page.goto('/operator/bills');
  await settled(page);
  // The comparison has a choice of the same name.
  const bills = page.getByRole('region', { name: text.bills });
  await bills.getByLabel('Upstream', { exact: true }).selectOption(upstream);
  const chooser = bills.locator('input[type=file]');
  await chooser.setInputFiles({ name: 'empty.csv', mimeType: 'text/csv', buffer: Buffer.from('day,model,input\n') });
  await page.getByText(text.empty).waitFor();
  const csv = `day,model,input,output\n${first},m,50000,0\n${second},m,90000,0\n`;
  await chooser.setInputFiles({ name: 'usage.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
  await page.getByText(text.imported).waitFor();
  expect(await page.getByText(text.empty).count()).toBe(0);

  // The period that the page begins with may not reach so far back.
  const from = page.getByLabel(text.from, { exact: true });
  await from.fill(locale === 'en' ? usDay(first) : vnDay(first));
  await from.blur();
  await page.getByText(text.differing).waitFor();
  const compared = page.locator('.table-scroll.bounded tbody tr');
  await expect.poll(() => compared.count()).toBe(1);
  expect(await compared.first().innerText()).toContain(format.date(new Date(`${second}T12:00:00`)));
  await page.getByLabel(text.only).uncheck();
  await expect.poll(() => compared.count()).toBe(2);

  // A file that lacks a day of the one before says so, and is taken in when that is confirmed; then it is taken back.
  const shorter = `day,model,input,output\n${first},m,50000,0\n${second},n,1,0\n`;
  await chooser.setInputFiles({ name: 'later.csv', mimeType: 'text/csv', buffer: Buffer.from(shorter) });
  await bills.getByText(`${second} m`).waitFor();
  await bills.getByRole('button', { name: text.anyway }).click();
  await bills.getByText(text.files).click();
  const files = bills
    .getByRole('row')
    .filter({ hasText: upstream })
    .filter({ has: page.getByRole('button') });
  await expect.poll(() => files.count()).toBe(2);
  await files.first().getByRole('button', { name: text.undo }).click();
  await page.getByRole('dialog').getByRole('button', { name: text.undo, exact: true }).click();
  await expect.poll(() => files.count()).toBe(1);
  await expect.poll(() => compared.count()).toBe(2);

  const next = page.getByRole('region', { name: text.next });
  await page.getByText(text.none).waitFor();
  await next.getByLabel(text.zone).fill('UTC');
  await next.getByText(`${month} · UTC`).waitFor();
  await next.getByRole('button', { name: `${text.close} ${month}` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(text.frozen).waitFor();
  await dialog.getByRole('button', { name: `${text.close} ${month}` }).click();
  await page.getByText(text.closed(month)).waitFor();
  const months = page.getByRole('region', { name: text.months });
  await months.getByRole('rowheader', { name: month }).waitFor();
  const downloading = page.waitForEvent('download');
  await months.getByRole('button', { name: text.download }).click();
  const file = await (await downloading).path();
  expect((await readFile(file, 'utf8')).split('\r\n')[1]).toMatch(new RegExp(`^${closing},UTC,`));
  // What an adviser gets of the month, and what counts from the next one on.
  await months.getByText(new RegExp(`^${text.lines}`)).click();
  const paper = page.waitForEvent('download');
  await months.getByRole('button', { name: text.journal }).click();
  expect((await paper).suggestedFilename()).toBe(`journal-${closing}.csv`);
  await page.locator('summary').filter({ hasText: text.rates }).click();
  const rates = page.locator('details[open]').filter({ hasText: text.rates }).last();
  await rates.getByRole('textbox').first().fill('2035-01');
  await rates.getByLabel(text.perUsd).fill(locale === 'vi' ? '26120,5' : '26120.5');
  await rates.getByLabel(text.source).fill('Vietcombank');
  await rates.getByRole('button', { name: text.save, exact: true }).click();
  await expect
    .poll(async () => (await app.pool.query(`SELECT rate FROM exchange_rate WHERE period = '2035-01'`)).rows.length)
    .toBeGreaterThan(0);
  // Nothing is wider than the window but what scrolls by itself.
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  expect(unexpected()).toEqual([]);
  await page.context().close();
});

const usDay = (day: string): string => `${day.slice(5, 7)}/${day.slice(8)}/${day.slice(0, 4)}`;
const vnDay = (day: string): string => `${day.slice(8)}/${day.slice(5, 7)}/${day.slice(0, 4)}`;
