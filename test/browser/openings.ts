import type { Page } from 'playwright-core';
import { en } from '../../dashboard/src/language/en.ts';
import { fill } from '../../dashboard/src/language/fill.ts';
import { operatorEn } from '../../dashboard/src/language/operator-en.ts';
import { operatorVi } from '../../dashboard/src/language/operator-vi.ts';
import { spendingTexts } from '../../dashboard/src/language/spending.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { pages, pathTo } from '../../dashboard/src/pages.ts';
import { pressUntil, unfold } from './browser.ts';
import { settled } from './people.ts';
import type { Subjects } from './places.ts';

/** Dialogs and editors that a page shows once something on it is pressed. */

interface Opening {
  who: 'person' | 'operator';
  name: string;
  path: string;
  /** Presses what opens it, and waits until it is there. */
  open(page: Page): Promise<void>;
}

/** All of them; what ends the visitor's session or changes whose pages they see comes last. */
export function openings({ accountId, modelId }: Subjects, locale: string): Opening[] {
  const isVi = locale === 'vi';
  const [t, o, s] = isVi ? [vi, operatorVi, spendingTexts.vi] : [en, operatorEn, spendingTexts.en];
  const dialog = (page: Page) => page.getByRole('dialog').waitFor();
  const press = (name: string) => async (page: Page) => {
    await page.getByRole('button', { name }).first().click();
    await dialog(page);
  };
  const account = pathTo(pages.operatorAccount, { id: accountId });
  return [
    { who: 'person', name: 'keys-create', path: pages.keys, open: press(t.keys.create) },
    { who: 'person', name: 'projects-create', path: pages.projects, open: press(s.projects.create) },
    {
      who: 'person',
      name: 'projects-report',
      path: pages.projects,
      open: press(fill(s.projects.reportWhat, { name: 'Trang bán hàng' })),
    },
    {
      who: 'person',
      name: 'members-budget',
      path: pages.members,
      open: press(fill(s.members.setWhat, { name: 'Đỗ Thị Mỹ Duyên' })),
    },
    { who: 'person', name: 'security-passkey', path: pages.security, open: press(t.passkeys.add) },
    {
      who: 'person',
      name: 'notices-channel',
      path: pages.notices,
      open: async (page) => {
        await unfold(page, t.channels.title);
        await press(t.channels.add)(page);
      },
    },
    {
      who: 'person',
      name: 'receipt',
      path: pages.topUp,
      open: async (page) => {
        const paid = page.getByRole('row').filter({ hasText: t.order.statuses.PAID });
        await paid.getByRole('link').first().click();
        const link = page.locator('a[href*="/downloads/receipt"]').first();
        await page.goto((await link.getAttribute('href')) ?? '');
      },
    },
    {
      who: 'person',
      name: 'keys-session-over',
      path: pages.keys,
      open: async (page) => {
        await press(t.keys.create)(page);
        await page.getByLabel(t.keys.name, { exact: true }).fill('laptop');
        await page.context().clearCookies();
        await pressUntil(
          page.getByRole('dialog').getByRole('button', { name: t.keys.create }),
          page.getByRole('dialog', { name: t.signIn.againTitle }),
        );
      },
    },
    { who: 'operator', name: 'operator-codes-make', path: pages.operatorCodes, open: press(o.makeCodes) },
    { who: 'operator', name: 'operator-transfers-match', path: pages.operatorTransfers, open: press(o.match) },
    {
      who: 'operator',
      name: 'operator-model-hours',
      path: pathTo(pages.operatorModel, { modelId }),
      open: async (page) => {
        await unfold(page, o.morePrices);
        await page.getByRole('button', { name: o.addWindow }).first().click();
        await page.getByLabel(o.clockTimeZone).scrollIntoViewIfNeeded();
      },
    },
    { who: 'operator', name: 'operator-account-see-as', path: account, open: press(o.seeAs) },
    {
      who: 'operator',
      name: 'seen-as-customer',
      path: account,
      open: async (page) => {
        await press(o.seeAs)(page);
        await page.getByRole('dialog').getByRole('button', { name: o.seeAs }).click();
        await page.waitForURL((url) => url.pathname === pages.home);
        await settled(page);
      },
    },
  ];
}
