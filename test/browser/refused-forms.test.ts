import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { findBarriers, openPage, overflow, unfold } from './browser.ts';
import { createPerson, type Person, settled } from './people.ts';
import { app, browser, openAs, useService } from './service.ts';

// Forms on a phone: where a refusal is shown, and in which words.

useService();

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, locale: 'vi-VN' } as const;

let person: Person;
beforeAll(async () => {
  person = await createPerson(app);
});

/** Waits until a field has the focus, with all of its box on the screen: label, input and error. */
async function isShown(field: Locator): Promise<void> {
  await expect
    .poll(() =>
      field.evaluate((element) => {
        const { document, innerHeight } = globalThis as never as { document: never; innerHeight: number };
        const input = element as never as {
          closest(selector: string): { getBoundingClientRect(): { top: number; bottom: number } };
        };
        const { top, bottom } = input.closest('.field').getBoundingClientRect();
        const { activeElement } = document as { activeElement: unknown };
        return { isFocused: activeElement === element, isSeen: top >= 0 && bottom <= innerHeight };
      }),
    )
    .toEqual({ isFocused: true, isSeen: true });
}

describe('a refused form', () => {
  it('takes its person to the first field that the server refused, in Vietnamese alone', async () => {
    const { page, unexpected } = await openAs(person, '/settings', phone);
    await unfold(page, 'Công ty trên biên nhận');
    const form = page.locator('form', { has: page.getByLabel('Mã số thuế') });
    await form.getByLabel('Tên công ty').fill('Công ty An Phát');
    const taxCode = form.getByLabel('Mã số thuế');
    for (const wrong of ['12', '123']) {
      await taxCode.fill(wrong);
      await form.getByLabel('Địa chỉ').focus();
      await form.getByRole('button', { name: 'Lưu' }).click();
      await form.getByText('10 chữ số, 10 chữ số kèm -001, hoặc 12 chữ số.').waitFor();
      await isShown(taxCode);
    }
    expect(await overflow(page)).toEqual([]);
    expect(await findBarriers(page)).toEqual([]);
    await taxCode.fill('0312345673');
    await form.getByRole('button', { name: 'Lưu' }).click();
    await page.getByText('Đã lưu.', { exact: true }).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('says in the words of the page what is missing or wrong, before anything is sent', async () => {
    const { page, unexpected } = await openPage(browser, app.url, phone);
    await page.goto('/sign-in');
    await settled(page);
    const send = page.getByRole('button', { name: 'Đăng nhập', exact: true });
    await send.click();
    const email = page.getByLabel('Địa chỉ e-mail');
    await isShown(email);
    expect(await page.getByText('Không được để trống.').count()).toBe(2);
    await email.fill('ai đó');
    expect(await page.getByText('Không được để trống.').count()).toBe(1);
    await page.getByLabel('Mật khẩu', { exact: true }).fill('một mật khẩu đủ dài');
    await send.click();
    await page.getByText('Đây không phải địa chỉ e-mail.').waitFor();
    await isShown(email);
    expect(await findBarriers(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('takes its person to the first amount that it refuses by itself', async () => {
    const { page, unexpected } = await openAs(person, '/notices', phone);
    const low = page.getByLabel('Số dư thấp', { exact: false }).first();
    await low.fill('nhiều');
    const form = page.locator('form', { has: low });
    await form.getByRole('button', { name: 'Lưu' }).click();
    await isShown(low);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
