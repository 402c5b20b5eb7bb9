import { orThrow } from '@steyg/sdk';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { changeAnswers, cutTables, findBarriers, openPage, overflow } from './browser.ts';
import { createPerson, haveAsked, type Person, settled, signInOperator } from './people.ts';
import { app, browser, openAs, useService } from './service.ts';

// Layout of pages with large figures, on a narrow desktop and on a phone.

let person: Person;
let orderId: string;
let accountId: string;

// A bank that VietQR's links know.
useService({ env: { BANK_BIN: '970436', BANK_ACCOUNT: '0011001234567', BANK_NAME: 'STEYG TEST' } });
beforeAll(async () => {
  person = await createPerson(app, { name: 'Lan Anh' });
  const { console: control } = person.steyg;
  const { secret } = orThrow(
    await control.keys.createKey({ input: { name: 'agent-with-a-name-that-is-far-too-long' } }),
  );
  for (const model of ['sim-small', 'sim-medium', 'sim-large']) await haveAsked(app, secret ?? '', 'Go on', { model });
  await haveAsked(app, secret ?? '', '[[status 500]]', { status: 502 });
  await app.quiet(person.accountId);
  orderId = orThrow(await control.orders.createOrder({ input: { planId: 'starter' } })).id;
  accountId = (await control.people.me())?.accounts[0]?.id ?? '';
});

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

/** Replaces figures of requests by the largest ones that occur, and names by the longest. */
async function enlarge(page: Page): Promise<void> {
  await changeAnswers(page, (text) =>
    text
      .replaceAll(/"(input|cacheHit|output)":"?\d+"?(?=[,}])/g, '"$1":"1999999"')
      .replaceAll(/"latencyMs":\d+/g, '"latencyMs":1799000')
      .replaceAll(/"charged":"[\d.]+"/g, '"charged":"0.000123456"')
      .replaceAll('"model":"sim-', '"model":"vendor-with-a-long-name/model-large-preview-'),
  );
  await page.reload();
  await settled(page);
}

describe('at 1280 pixels', () => {
  it.each(['en-US', 'vi-VN'])(
    'no column of Activity or of an account is cut off by large figures, in %s',
    async (locale) => {
      const options = { locale, viewport: { width: 1280, height: 900 } };
      for (const [who, path] of [
        [person, '/activity'],
        [await signInOperator(app), `/operator/accounts/${encodeURIComponent(accountId)}`],
      ] as const) {
        const { page, unexpected } = await openAs(who, path, options);
        await enlarge(page);
        expect(await page.getByText('vendor-with-a-long-name', { exact: false }).count()).toBeGreaterThan(0);
        expect(await cutTables(page)).toEqual([]);
        expect(unexpected()).toEqual([]);
        await page.context().close();
      }
    },
  );
});

describe('prices of longer prompts and of other hours', () => {
  beforeAll(async () => {
    const { operator } = (await signInOperator(app)).steyg.console;
    const dearer = { input: '0.24', cacheHit: '0.024', output: '0.75' };
    const tiers = [{ abovePromptTokens: 128_000, ...dearer }];
    const weekdays = ['MON' as const, 'TUE' as const, 'FRI' as const];
    const windows = [{ weekdays, hours: ['09:00-12:00'], ...dearer, tiers }];
    const input = { input: '0.12', cacheHit: '0.012', output: '0.5', tiers };
    const clock = { timeZone: 'Asia/Shanghai', windows };
    orThrow(await operator.savePrices({ input: { modelId: 'sim-small', prices: { ...input, clock } } }));
  });

  it.each([
    ['en-US', 1280, '> 128,000 tokens'],
    ['vi-VN', 1280, '> 128.000 token'],
    ['vi-VN', 390, '> 128.000 token'],
  ])('cut off no column and widen no page, in %s at %i pixels', async (locale, width, longer) => {
    const options = { locale, viewport: { width, height: 900 } };
    const landing = await openPage(browser, app.url, options);
    await landing.page.goto('/');
    await settled(landing.page);
    const inside = await openAs(person, '/models', options);
    for (const { page, unexpected } of [landing, inside]) {
      await page.getByText(longer, { exact: false }).first().waitFor();
      expect([...(await cutTables(page)), ...(await overflow(page))]).toEqual([]);
      expect(unexpected()).toEqual([]);
      await page.context().close();
    }
  });
});

describe('on a phone', () => {
  it('a request of Activity is two lines, its outcome shown where it is not the usual one', async () => {
    const { page, unexpected } = await openAs(person, '/activity', phone);
    await enlarge(page);
    const rows = page.locator('.lines tbody tr');
    expect(await rows.count()).toBe(4);
    for (const row of await rows.all()) {
      const box = await row.boundingBox();
      expect(box?.height).toBeLessThan(70);
    }
    await page.locator('.lines .badge:visible', { hasText: 'model error' }).waitFor();
    expect(await page.locator('.lines .badge:visible').count()).toBe(1);
    expect(await overflow(page)).toEqual([]);
    expect(await findBarriers(page)).toEqual([]);
    // The whole row leads to the receipt.
    await rows.first().click({ position: { x: 200, y: 12 } });
    await page.waitForURL('**/activity/*');
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('the playground begins with the conversation; its settings are in a drawer, and nothing speaks of Ctrl', async () => {
    const { page, unexpected } = await openAs(person, '/playground', { ...phone, locale: 'vi-VN' });
    await page.getByRole('button', { name: 'Dùng key tạm thời' }).click();
    await page.getByLabel('Tin nhắn').waitFor();
    expect(await page.getByText('Ctrl').count()).toBe(0);
    expect(await page.getByLabel('System prompt').count()).toBe(0);
    // In one line: a squeezed label was as tall as four.
    const pictures = page.locator('label.button');
    for (const each of await pictures.all()) expect((await each.boundingBox())?.height).toBeLessThan(48);
    await page.getByRole('button', { name: 'Yêu cầu' }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByLabel('System prompt').fill('ngắn gọn');
    expect(await findBarriers(page)).toEqual([]);
    await drawer.getByRole('button', { name: 'Xong' }).click();
    await page.getByRole('button', { name: 'Yêu cầu' }).click();
    expect(await drawer.getByLabel('System prompt').inputValue()).toBe('ngắn gọn');
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('a QR code can be saved as a PNG, and opens banks’ apps with the transfer filled in', async () => {
    const { page, unexpected } = await openAs(person, `/orders/${orderId}`, phone);
    const memo = await page.locator('.copy-value', { hasText: 'Memo' }).locator('code').innerText();
    const apps = page.getByRole('navigation', { name: 'Open your bank’s app' }).getByRole('link');
    const links = await apps.evaluateAll((each) => each.map((link) => (link as unknown as { href: string }).href));
    expect(links.length).toBe(5);
    for (const link of links) {
      const url = new URL(link);
      expect(url.origin + url.pathname).toBe('https://dl.vietqr.io/pay');
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        ba: '0011001234567@vcb',
        am: '250000',
        tn: memo,
        bn: 'STEYG TEST',
        url: `${app.url}/orders/${orderId}`,
      });
    }
    // A browser without a share sheet downloads it.
    await page.evaluate('delete Navigator.prototype.canShare');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the QR' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`steyg-${memo}.png`);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const png = Buffer.concat(chunks);
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([960, 960]);
    expect(await findBarriers(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('copies all values of a transfer at once', async () => {
    const { page, unexpected } = await openAs(person, `/orders/${orderId}`, {
      ...phone,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.evaluate(`navigator.clipboard.writeText('')`);
    await page.getByRole('button', { name: 'Copy all: the values of the transfer' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).not.toBe('');
    const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
    expect(copied).toContain('Account number: 0011001234567');
    expect(copied).toContain('Bank: Vietcombank (970436)');
    expect(copied).toMatch(/Memo: SY\w+/);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('on a slow network', () => {
  it('the top-up page does not shift while its parts arrive one after another', async () => {
    const { page, unexpected } = await openAs(person, '/settings');
    await page.addInitScript(`
      globalThis.shifted = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) globalThis.shifted += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });`);
    let count = 0;
    await page.route('**/graphql', async (route) => {
      count += 1;
      await new Promise((resolve) => setTimeout(resolve, 250 * count));
      await route.continue();
    });
    await page.goto('/topup');
    await settled(page);
    await page.getByRole('button', { name: 'Order Starter' }).waitFor();
    await page.waitForTimeout(500);
    expect(count).toBeGreaterThan(4);
    expect(await page.evaluate('shifted')).toBeLessThan(0.01);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('a date', () => {
  // The browser speaks the other language: its own fields would too.
  it.each([
    ['vi', 'en-US', 'Hết hạn', '24/12/2026 09:30', /thứ năm/i],
    ['en', 'vi-VN', 'Expires', 'Dec 24, 2026, 9:30 AM', /thursday/i],
  ])('is typed and chosen in the language of the page (%s)', async (language, locale, label, text, weekday) => {
    const { page, unexpected } = await openAs(person, '/keys', { locale });
    await page.evaluate(`localStorage.setItem('steyg.language', '${language}')`);
    await page.reload();
    await settled(page);
    await page.locator('.page-actions .button.primary, .empty .button').first().click();
    const field = page.getByRole('textbox', { name: label });
    await field.fill('2026-12-24T09:30');
    await field.blur();
    expect(await field.inputValue()).toBe(text);
    await field.fill('31/02/2026');
    await field.blur();
    await page.locator('.error-text', { hasText: /2026/ }).waitFor();
    await field.fill(text);
    await page.locator('.date-field .icon-button').click();
    const calendar = page.locator('.calendar');
    await calendar.getByRole('button', { name: weekday, pressed: true }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    // The keyboard moves by days and weeks and chooses; the time stays.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    expect(await field.inputValue()).toBe(text.replace('24', '30'));
    // Escape closes the calendar and not the dialog around it.
    await page.locator('.date-field .icon-button').click();
    await calendar.waitFor();
    await page.keyboard.press('Escape');
    await calendar.waitFor({ state: 'detached' });
    await page.getByRole('dialog').waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
