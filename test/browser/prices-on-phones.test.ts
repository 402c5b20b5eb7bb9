import { expect, it } from 'vitest';
import { findBarriers, openPage, overflow } from './browser.ts';
import { app, browser, useService } from './service.ts';

// The public prices on a phone.

useService();

const schemes = ['light', 'dark'] as const;
const languages = [
  ['en', '$15.00'],
  ['vi', '15,00\u00a0USD'],
] as const;

it.each(languages.flatMap(([locale, price]) => schemes.map((colorScheme) => [locale, colorScheme, price] as const)))(
  'are wholly on the screen, without scrolling sideways: %s, %s',
  async (locale, colorScheme, price) => {
    const options = { locale, colorScheme, viewport: { width: 390, height: 844 } } as const;
    const { page, unexpected } = await openPage(browser, app.url, options);
    for (const path of ['/pricing', '/pricing?compare=sim-large&compare=sim-small', '/pricing/sim-large']) {
      // On a busy machine the first visitors may be sent an empty page.
      await expect
        .poll(async () => {
          await page.goto(path);
          return (await page.locator('main').textContent()) ?? '';
        })
        .toContain(price);
      expect(await overflow(page)).toEqual([]);
      // Neither is anything cut off in a box of its own, nor hidden behind another cell.
      const cut = await page.evaluate(`[...document.querySelectorAll('.scroll, td, tbody th, td > div')]
        .filter((each) => each.scrollWidth > each.clientWidth + 1 || each.getBoundingClientRect().right > innerWidth)
        .map((each) => each.outerHTML.slice(0, 80))`);
      expect(cut).toEqual([]);
      expect(await page.locator('main').innerText()).not.toMatch(locale === 'vi' ? /\$\d/ : /\d[.,]\d+ USD/);
      expect(await findBarriers(page)).toEqual([]);
    }
    expect(unexpected()).toEqual([]);
    await page.context().close();
  },
);
