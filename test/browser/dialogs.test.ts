import { orThrow } from '@steyg/sdk';
import { beforeAll, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { operatorEn } from '../../dashboard/src/language/operator-en.ts';
import { spendingTexts } from '../../dashboard/src/language/spending.ts';
import { findBarriers, unfold } from './browser.ts';
import { createPerson, type Person, settled, signInOperator } from './people.ts';
import { app, openAs, useService } from './service.ts';

// Dialogs on a phone: what is to be typed first is in sight and has the focus.

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

let person: Person;
let account: string;

useService();
beforeAll(async () => {
  person = await createPerson(app);
  orThrow(await person.steyg.console.keys.createKey({ input: { name: 'laptop' } }));
  const id = (await person.steyg.console.people.me())?.accounts[0]?.id ?? '';
  account = `/operator/accounts/${encodeURIComponent(id)}`;
});

const o = operatorEn;

it.each([
  ['person', '/keys', en.keys.create],
  ['person', '/keys', en.common.edit],
  ['person', '/projects', spendingTexts.en.projects.create],
  ['person', '/security', en.security.enable],
  ['person', '/security', en.security.addToken],
  ['person', '/notices', en.channels.add, en.channels.title],
  ['person', '/notices', en.webhooks.add, en.webhooks.title],
  ['operator', '/operator/catalog', o.addModel],
  ['operator', '/operator/codes', o.makeCodes],
  ['operator', '/operator/plans', o.addPlan],
  ['operator', '/operator/accounts', o.openAccount],
  ['operator', '/operator/transfers', o.record],
  ['operator', '/operator/uptime', o.announce],
  ['operator', 'account', o.give],
] as const)(
  '%s at %s, %s: the first field has the focus above the fold',
  async (who, place, button, folded?: string) => {
    const path = place === 'account' ? account : place;
    const { page, unexpected } = await openAs(who === 'person' ? person : await signInOperator(app), path, phone);
    await settled(page);
    if (folded !== undefined) await unfold(page, folded);
    await page.getByRole('button', { name: button }).first().click();
    await page.getByRole('dialog').waitFor();
    const focused = () =>
      page.evaluate(`(() => {
      const field = document.activeElement;
      const first = [...document.querySelectorAll('dialog[open] :is(input, select, textarea):not(:disabled)')].find((each) => each.checkVisibility());
      const { top, bottom } = (field.closest('.field') ?? field).getBoundingClientRect();
      return { isFirst: first !== undefined && field === first, isSeen: top >= 0 && bottom <= innerHeight };
    })()`);
    await expect.poll(focused).toEqual({ isFirst: true, isSeen: true });
    expect(await findBarriers(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  },
);
