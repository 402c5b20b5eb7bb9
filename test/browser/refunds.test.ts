import { orThrow } from '@steyg/sdk';
import { expect, it } from 'vitest';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { transfer } from '../plans/support.ts';
import { openPage } from './browser.ts';
import { createPerson, settled, signInOperator, transferMoney } from './people.ts';
import { app, browser, useService } from './service.ts';

// Money that goes back, from the operator's form to the credit note that the buyer reads.

useService();

const words = {
  en: {
    refund: 'Refund',
    budget: 'Unused budget to take back (USD)',
    note: 'Reason',
    sure: /These figures are right/,
    vnd: '₫62,500',
    surplus: '₫5,000',
    toSend: 'Refunds to send',
    made: 'Credit note',
    pays: 'Pays a refund',
    notes: 'Credit notes',
    transferDialog: 'Send money of a transfer back',
    all: 'All refunds',
    undo: /^Undo the refund of credit note/,
    undone: /is undone\.$/,
    doUndo: 'Undo',
    cancelled: 'Cancelled',
  },
  vi: {
    refund: 'Hoàn tiền',
    budget: 'Số dư chưa dùng cần thu lại (USD)',
    note: 'Lý do',
    sure: /Các số này đúng/,
    vnd: '62.500\u00A0₫',
    surplus: '5.000\u00A0₫',
    toSend: 'Khoản hoàn cần chuyển',
    made: 'Đã lập phiếu ghi giảm',
    pays: 'Trả cho khoản hoàn',
    notes: 'Phiếu ghi giảm',
    transferDialog: 'Trả lại tiền của một giao dịch',
    all: 'Mọi khoản hoàn tiền',
    undo: /^Hủy khoản hoàn của phiếu ghi giảm/,
    undone: /^Đã hủy khoản hoàn/,
    doUndo: 'Hủy hoàn tiền',
    cancelled: 'Đã hủy',
  },
} as const;

it.each([
  ['en', 1_280],
  ['vi', 390],
] as const)(
  'a purchase and a surplus go back, the bank’s transfer is matched, the buyer reads the credit note: %s, %i px',
  async (locale, width) => {
    const text = words[locale];
    const buyer = await createPerson(app, { locale });
    const made = orThrow(await buyer.steyg.console.orders.createOrder({ input: { planId: 'starter' } }));
    await transferMoney(app, { amountVnd: 255_000, memo: made.memo });

    const { page, unexpected } = await openPage(browser, app.url, { locale, viewport: { width, height: 900 } });
    await (await signInOperator(app)).signIn(page.context());
    await page.goto(`/operator/orders?search=${made.memo}`);
    await settled(page);
    await page
      .getByRole('button', { name: `${text.refund} ${locale === 'vi' ? 'đơn' : 'order'} ${made.memo}` })
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(text.budget).fill(locale === 'vi' ? '2,5' : '2.5');
    await dialog.getByText(text.vnd).first().waitFor();
    const submit = dialog.getByRole('button', { name: text.refund, exact: true });
    expect(await submit.isDisabled()).toBe(true);
    await dialog.getByLabel(text.note, { exact: true }).fill('asked for it');
    await dialog.getByLabel(text.sure).check();
    await submit.click();
    await page.getByText(text.made).first().waitFor();

    await page.goto('/operator/transfers');
    await settled(page);
    const waiting = page.getByRole('region', { name: text.toSend });
    await waiting.getByText(text.vnd).waitFor();
    // What was paid beyond the price waits for a person.
    const row = page
      .getByRole('row')
      .filter({ hasText: made.memo })
      .filter({ has: page.getByRole('button') });
    await row.last().getByRole('button', { name: text.refund, exact: true }).click();
    const sending = page.getByRole('dialog', { name: text.transferDialog });
    await sending.getByText(`(${text.surplus})`).waitFor();
    await sending.getByLabel(text.note, { exact: true }).fill('too much');
    await sending.getByRole('button', { name: text.refund, exact: true }).click();
    await waiting.getByText(text.surplus).waitFor();

    // The bank sent it without the memo.
    await createTransfers({ pool: app.pool, accountNumbers: null }).receive(
      transfer({ direction: 'out', amountVnd: 62_500n, memo: `HOAN TIEN ${locale}` }),
    );
    await page.reload();
    await settled(page);
    const out = page.getByRole('row').filter({ hasText: `HOAN TIEN ${locale}` });
    await out.getByRole('button', { name: text.pays }).click();
    const choice = page.getByRole('dialog').getByRole('row').filter({ hasText: text.vnd });
    await choice.getByRole('button').click();
    await expect.poll(() => waiting.getByText(text.vnd).count()).toBe(0);
    // The surplus was no mistake of the buyer's: its refund is undone, and so can be any other of the list.
    await page.getByRole('button', { name: text.all }).click();
    const list = page.getByRole('dialog', { name: text.all });
    await list
      .getByRole('row')
      .filter({ hasText: text.surplus })
      .first()
      .getByRole('button', { name: text.undo })
      .click();
    const undoing = page.getByRole('dialog', { name: text.undo });
    await undoing.getByLabel(text.note, { exact: true }).fill('a slip');
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await undoing.getByRole('button', { name: text.doUndo, exact: true }).click();
    await page.getByText(text.undone).first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(unexpected()).toEqual([]);
    await page.context().close();

    const own = await openPage(browser, app.url, { locale, viewport: { width, height: 900 } });
    await buyer.signIn(own.page.context());
    await own.page.goto(`/orders/${encodeURIComponent(made.id)}`);
    await settled(own.page);
    const notes = own.page.getByRole('region', { name: text.notes });
    await expect.poll(() => notes.getByText(text.vnd).count()).toBe(2);
    await notes.getByText(text.cancelled).waitFor();
    const pdf = notes.getByRole('link', { name: /PDF/ }).first();
    const address = new URL((await pdf.getAttribute('href')) ?? '');
    const file = await own.page.request.get(`${app.url}${address.pathname}${address.search}`);
    expect([file.status(), file.headers()['content-type']]).toEqual([200, 'application/pdf']);
    expect(await own.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(own.unexpected()).toEqual([]);
    await own.page.context().close();
  },
);
