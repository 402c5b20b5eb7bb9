import { orThrow } from '@steyg/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, overflow } from './browser.ts';
import { createPerson, type Person, settled } from './people.ts';
import { app, openAs, useService } from './service.ts';

// A customer's pages on a phone, in Vietnamese: amounts as they are typed, rows that say what they count, the way on.

useService();

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, locale: 'vi-VN' } as const;

let person: Person;
beforeAll(async () => {
  person = await createPerson(app);
});

describe('an amount typed with a comma', () => {
  it('is kept exactly, and shown with a comma again', async () => {
    const { page, unexpected } = await openAs(person, '/notices', phone);
    const low = page.getByLabel('Số dư thấp, tính bằng USD');
    await low.fill('1,5');
    expect(await low.inputValue()).toBe('1,5');
    await page.getByText('37.500').first().waitFor();
    const form = page.locator('form', { has: low });
    await form.getByRole('button', { name: 'Lưu' }).click();
    await page.getByText('Đã lưu').first().waitFor();
    await page.reload();
    await settled(page);
    expect(await low.inputValue()).toBe('1,5');

    await page.goto('/keys');
    await settled(page);
    await page.getByRole('button', { name: vi.keys.create }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(vi.keys.name, { exact: true }).fill('di động');
    // Digit by digit, as thumbs do: the comma stays while nothing stands behind it.
    const day = dialog.getByLabel('Mỗi ngày');
    await day.pressSequentially('0,000000000001');
    expect(await day.inputValue()).toBe('0,000000000001');
    await dialog.getByRole('button', { name: vi.keys.create }).click();
    const limits = async () =>
      (await person.steyg.console.keys.listKeys({ first: 5 }))?.edges.map(({ node }) => node.limits.day);
    await expect.poll(limits).toEqual(['0.000000000001']);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('a session’s row', () => {
  it('says that its number counts requests', async () => {
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'agent' } }));
    for (let sent = 0; sent < 2; sent += 1) {
      const answer = await fetch(`${app.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'x-session-id': 'phone-session',
        },
        body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'ping' }] }),
      });
      expect(answer.status).toBe(200);
      await answer.text();
    }
    await app.quiet(person.accountId);
    const { page, unexpected } = await openAs(person, '/activity', phone);
    const row = page.getByRole('group', { name: 'Theo phiên, người dùng hoặc tag' }).locator('tbody tr');
    await row.getByText('2 yêu cầu').waitFor();
    expect((await row.boundingBox())?.height).toBeLessThan(70);
    expect(await overflow(page)).toEqual([]);
    expect(await findBarriers(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('the first steps', () => {
  it('go on right below the answer of the test; the settings to enter by oneself are folded', async () => {
    const { page, unexpected } = await openAs(await createPerson(app), '/start', phone);
    await page.getByRole('button', { name: vi.keys.create }).click();
    await page.locator('.secret code').waitFor();
    await page.getByRole('button', { name: 'Gửi yêu cầu thử' }).click();
    const answer = page.locator('.test-request .banner');
    await answer.waitFor();
    const next = page.locator('.step').last().locator('a.button');
    await next.waitFor();
    const [above, below] = [await answer.boundingBox(), await next.boundingBox()];
    expect((below?.y ?? Number.NaN) - (above?.y ?? 0)).toBeLessThan(phone.viewport.height);
    const manual = page.locator('summary', { hasText: 'Hoặc tự thiết lập' });
    await manual.click();
    await page.locator('.connection pre').first().waitFor();
    expect(await overflow(page)).toEqual([]);
    expect(await findBarriers(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
