import { orThrow } from '@steyg/sdk';
import { beforeAll, expect, it } from 'vitest';
import { findBarriers } from './browser.ts';
import { createPerson, type Person, settled, signInOperator } from './people.ts';
import { app, openAs, useService } from './service.ts';

// An operator sees the pages of a customer, changes nothing there, and comes back; the customer sees that it happened.

let person: Person;
let accountId: string;

useService();
beforeAll(async () => {
  person = await createPerson(app, { name: 'Lan Anh' });
  orThrow(await person.steyg.console.keys.createKey({ input: { name: 'laptop of Lan' } }));
  accountId = (await person.steyg.console.people.me())?.accounts[0]?.id ?? '';
});

it.each([
  ['en-US', 'See as customer', 'Nothing can be changed', 'Stop looking', 'API keys', 'Support has looked'],
  ['vi-VN', 'Xem như khách hàng', 'Không thể thay đổi gì', 'Dừng xem', 'API key', 'Bộ phận hỗ trợ đã xem'],
] as const)(
  'an operator sees a customer’s pages, read-only, and returns (%s)',
  async (locale, see, banner, end, keys, looked) => {
    const back = `/operator/accounts/${encodeURIComponent(accountId)}`;
    const { page, unexpected } = await openAs(await signInOperator(app), back, { locale });
    await page.getByRole('button', { name: see }).click();
    await page.getByRole('dialog').getByRole('button', { name: see }).click();
    // The dialog before it says nearly the same.
    await page.waitForURL((url) => url.pathname === '/');
    await page.getByText(banner).waitFor();
    expect(await page.getByText('Lan Anh').count()).toBeGreaterThan(0);
    // No way to the operator's own pages.
    expect(await page.locator('.workspaces').count()).toBe(0);
    expect(await findBarriers(page)).toEqual([]);

    // The customer's keys, without the means to change them; the banner stays.
    await page.locator('#side').getByRole('link', { name: keys }).click();
    await page.getByText('laptop of Lan').first().waitFor();
    await settled(page);
    await page.getByText(banner).waitFor();
    expect(await page.locator('main .button.primary').count()).toBe(0);
    const refused = (await page.evaluate(`fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'steyg-view': JSON.parse(sessionStorage.getItem('steyg.view')).grant },
    body: JSON.stringify({ query: 'mutation { createKey(input: { name: "x" }) { __typename } }' }),
  }).then((answer) => answer.text())`)) as string;
    expect(refused).toContain('VIEW_ONLY');

    await page.getByRole('button', { name: end }).click();
    await page.waitForURL(`**${back}`);
    await page.getByRole('button', { name: see }).waitFor();
    expect(await page.getByText(banner).count()).toBe(0);
    expect(unexpected()).toEqual([]);
    await page.context().close();

    const own = await openAs(person, '/settings', { locale });
    await own.page.getByText(looked).waitFor();
    expect(await findBarriers(own.page)).toEqual([]);
    expect(own.unexpected()).toEqual([]);
    await own.page.context().close();
  },
);
