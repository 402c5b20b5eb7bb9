import { readFile } from 'node:fs/promises';
import { orThrow } from '@steyg/sdk';
import { expect, it } from 'vitest';
import { findBarriers, openPage, overflow } from './browser.ts';
import { createPerson, haveAsked, settled } from './people.ts';
import { app, browser, useService } from './service.ts';

// Charts: by keyboard and by ear, as a table and as a file, within a phone's width.

useService();

it.each([
  { locale: 'en', width: 1280 },
  { locale: 'vi', width: 390 },
])('say each place to the keyboard, and have their figures as a table and a file ($locale, $width)', async (look) => {
  const person = await createPerson(app, { locale: look.locale as 'en' | 'vi' });
  const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'laptop' } }));
  for (const model of ['sim-small', 'sim-large']) await haveAsked(app, secret ?? '', 'hello', { model });
  await app.quiet(person.accountId);
  const { page, unexpected } = await openPage(browser, app.url, {
    locale: look.locale,
    viewport: { width: look.width, height: 900 },
  });
  await person.signIn(page.context());
  await page.goto('/activity?range=day');
  await settled(page);
  const charts = page.getByRole('slider');
  await charts.nth(1).waitFor();
  expect(await charts.count()).toBe(2);
  const chart = charts.first();
  await chart.focus();
  expect(await chart.getAttribute('aria-valuetext')).toContain('sim-large');
  await page.keyboard.press('ArrowLeft');
  expect(await chart.getAttribute('aria-valuetext')).not.toContain('sim-large');
  await page.keyboard.press('End');
  await page.locator('.chart-tip').getByText('sim-large').waitFor();
  const summary = look.locale === 'en' ? 'As a table' : 'Xem dạng bảng';
  await page.getByText(summary).first().click();
  const downloading = page.waitForEvent('download');
  await page.locator('details[open]').getByRole('button', { name: 'CSV' }).click();
  const [head = '', ...rows] = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\r\n');
  expect(head.split(',').slice(1).toSorted()).toEqual(['sim-large', 'sim-small']);
  expect(rows).toHaveLength(24);
  expect(rows.at(-1)).toMatch(/^\d{4}-[\d-]+T[\d:.]+Z,0\.0000\d+,0\.0000\d+$/);
  expect(await overflow(page)).toEqual([]);
  expect(await findBarriers(page)).toEqual([]);
  await page.goto('/keys');
  await settled(page);
  await page.getByRole('img', { name: /laptop/ }).waitFor();
  await page.goto('/');
  await settled(page);
  const heading = look.locale === 'en' ? 'Spent today by hour and model' : 'Chi tiêu hôm nay theo giờ và model';
  await page.getByRole('heading', { name: heading }).waitFor();
  expect(unexpected()).toEqual([]);
  await page.context().close();
});
