import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { openPage, overflow } from './browser.ts';
import { createPerson, settled, signInOperator } from './people.ts';
import { app, browser, openAs, useService } from './service.ts';

// A server that has too much to do: the page says so at once, and goes on when it can.

useService();

/** Refuses what the page asks, as a late server does, until it is let go. */
async function overload(page: Page, name = ''): Promise<() => void> {
  let isOver = false;
  await page.route('**/graphql', async (route) => {
    if (isOver || route.request().postData()?.includes(name) !== true) return route.fallback();
    return route.fulfill({
      status: 503,
      headers: { 'retry-after': '2' },
      contentType: 'application/json',
      body: JSON.stringify({ errors: [{ message: 'Too much to do.', extensions: { code: 'OVERLOADED' } }] }),
    });
  });
  return () => {
    isOver = true;
  };
}

describe.each([
  ['en', en],
  ['vi', vi],
] as const)('in %s', (locale, t) => {
  it('a first visit says that the server is busy before the first retry, offers another, and opens', async () => {
    const person = await createPerson(app, { locale });
    const { page } = await openPage(browser, app.url, { locale: locale === 'vi' ? 'vi-VN' : 'en-US' });
    await person.signIn(page.context());
    const release = await overload(page);
    await page.goto('/keys');
    await page.getByText(t.common.busyNow).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    // It gives up after its retry, in words, with the way on.
    const failure = page.getByRole('alert').filter({ hasText: t.errors.BUSY.split('{seconds}')[0] ?? '' });
    await failure.waitFor();
    expect(await overflow(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await overflow(page)).toEqual([]);
    release();
    await failure.getByRole('button', { name: t.common.retry }).click();
    await settled(page);
    await page.getByRole('heading', { name: t.keys.title, exact: true }).waitFor();
    await page.context().close();
  });
});

it('the search of operators says that it cannot, and finds when it can', async () => {
  const person = await createPerson(app);
  const { page } = await openAs(await signInOperator(app), '/operator');
  const release = await overload(page, '.search"');
  await page.keyboard.press('Control+K');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox').fill(person.email);
  await dialog.getByText(en.common.busyNow).waitFor();
  const failure = dialog.getByRole('alert');
  await failure.waitFor();
  release();
  await failure.getByRole('button', { name: en.common.retry }).click();
  await dialog.getByRole('option').first().waitFor();
  await page.context().close();
});
