import { orThrow } from '@steyg/sdk';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { fill } from '../../dashboard/src/language/fill.ts';
import { operatorEn } from '../../dashboard/src/language/operator-en.ts';
import { type Crowd, fillEverything } from '../support/many.ts';
import { unfold } from './browser.ts';
import { createPerson, oneTimeCode, type Person, settled } from './people.ts';
import { placesOf } from './places.ts';
import { app, openAs, useService } from './service.ts';

// With more than a page of everything, each list of each page goes to its last row, and choices have the last one.

const many = 250;
/** Members and projects of an account: 200 at most. */
const some = 190;

/** Owners of the account and operators at once: several, because pages are opened faster than one person may. */
let people: Person[];
let crowd: Crowd;

useService();
beforeAll(async () => {
  people = [];
  for (let n = 0; n < 4; n += 1) people.push(await createPerson(app));
  const [owner] = people;
  crowd = await fillEverything(app.pool, owner?.accountId ?? '', many);
  for (const person of people) await makeOperatorAndOwner(person);
  const numbers = (count: number) => `FROM generate_series(1, ${count}) AS n`;
  const id = (salt: string) => `md5('${salt}' || n)::uuid`;
  const own = `'${crowd.accountId}'::uuid`;
  for (const statement of [
    // So many of an account are never open at once.
    `UPDATE purchase_order SET status = 'expired'`,
    `INSERT INTO app_user (id, name, email, email_verified)
     SELECT ${id('person')}, 'Colleague ' || n, 'colleague' || n || '@many.test', true ${numbers(some)}`,
    `INSERT INTO member (account_id, user_id, role) SELECT ${own}, ${id('person')}, 'viewer' ${numbers(some)}`,
    `INSERT INTO project (id, account_id, name) SELECT ${id('project')}, ${own}, 'Project ' || n ${numbers(some)}`,
    `INSERT INTO upstream (id, protocol, base_url)
     SELECT 'vendor-' || n, 'messages', 'https://example.com' ${numbers(many)}`,
    `INSERT INTO model (id, display_name, family, context_window, max_output_tokens)
     SELECT 'model-' || n, 'Model ' || n, 'many', 200000, 8000 ${numbers(many)}`,
    `INSERT INTO price (id, model_id, input, cache_hit, output)
     SELECT ${id('price')}, 'model-' || n, 10, 1, 50 ${numbers(many)}`,
    `INSERT INTO route (id, model_id, upstream_id, upstream_model)
     SELECT ${id('route')}, 'model-' || n, 'vendor-' || n, 'theirs' ${numbers(many)}`,
  ])
    await app.pool.query(statement);
});

async function makeOperatorAndOwner(person: Person): Promise<void> {
  await app.pool.query('UPDATE app_user SET operator = true WHERE email = $1', [person.email]);
  await app.pool.query(
    `INSERT INTO member (account_id, user_id, role) SELECT $1, id, 'owner' FROM app_user WHERE email = $2
     ON CONFLICT DO NOTHING`,
    [crowd.accountId, person.email],
  );
  const { people: identity } = person.steyg.console;
  const { uri } = orThrow(await identity.beginSecondFactor({ password: person.password }));
  orThrow(await identity.confirmSecondFactor({ code: oneTimeCode(new URL(uri).searchParams.get('secret') ?? '') }));
}

/** Opens every folded part and presses every "more" until there is none. */
async function toTheEnd(page: Page | Locator): Promise<void> {
  await page.locator('details').evaluateAll((folded) => {
    for (const each of folded) (each as never as { open: boolean }).open = true;
  });
  const more = page.locator('.more button:visible');
  const items = page.locator('tr, li');
  for (let presses = 0; (await more.count()) > 0; presses += 1) {
    expect(presses).toBeLessThan(200);
    const before = await items.count();
    await more.first().click();
    await expect.poll(() => items.count()).toBeGreaterThan(before);
  }
}

/** How many rows each table of a page has, by its name; and the lists of notices and looks, by their card's. */
async function listsOf(page: Page): Promise<Record<string, number>> {
  const tables = await page
    .locator('main table')
    .evaluateAll((all) =>
      all.map((table) => [
        table.querySelector('caption')?.textContent ?? '',
        table.querySelectorAll(':scope > tbody > tr').length,
      ]),
    );
  const lists = await page
    .locator('main section, main .card')
    .evaluateAll((all) =>
      all.flatMap((card) =>
        card.querySelectorAll('ul > li').length === 0
          ? []
          : [[card.querySelector('h2')?.textContent ?? '', card.querySelectorAll('ul > li').length]],
      ),
    );
  return Object.fromEntries([...lists, ...tables]);
}

const o = operatorEn;
/** What has to be there at the end of each page, by the name of its list. A page that is not named has no such list. */
const expected: Record<string, Record<string, number>> = {
  '/keys': { [en.keys.title]: many },
  '/projects': { Projects: some },
  '/activity': { 'Totals by key': many, 'By session, user or tag': many, [en.activity.requests]: many },
  '/batches': { Batches: many },
  '/topup': { [en.topUp.orders]: many },
  '/models': { 'Prices of the models': many },
  '/notices': { [en.notices.told]: many },
  '/members': { [en.members.title]: some, 'Who spent what': some },
  '/security': { [en.security.tokens]: many },
  '/settings': { [en.look.title]: many },
  '/operator/accounts': { [en.nav.operatorAccounts]: many },
  '/operator/accounts/:id': {
    [en.members.title]: some,
    [en.topUp.orders]: many,
    [en.keys.title]: many,
    [en.activity.requests]: many,
  },
  '/operator/catalog': { [en.nav.operatorCatalog]: many },
  '/operator/codes': { [en.nav.operatorCodes]: many },
  '/operator/orders': { [en.nav.operatorOrders]: many },
  '/operator/transfers': { [o.invoiceProblems]: many },
  '/operator/revenue': { [o.byModel]: many },
  '/operator/uptime': { [o.incidents]: many, [en.nav.operatorUptime]: many },
  '/operator/audit': { [en.nav.operatorAudit]: many },
  '/operator/books': { [o.shortfall]: many, [o.mismatches]: many, [o.holds]: many },
  '/operator/notices': { [en.notices.told]: many },
};

describe('with more than a page of everything', () => {
  it('every list of every page goes to its last row', async () => {
    const { rows } = await app.pool.query(
      `SELECT (SELECT request_id FROM ledger_entry WHERE account_id = $1 LIMIT 1) AS request,
              (SELECT id FROM purchase_order WHERE account_id = $1 LIMIT 1) AS "order"`,
      [crowd.accountId],
    );
    const global = (type: string, raw: string) => Buffer.from(`${type}:${raw}`).toString('base64');
    const subjects = {
      accountId: global('Account', crowd.accountId),
      orderId: global('Order', rows[0].order),
      requestId: String(rows[0].request),
      modelId: 'model-250',
    };
    const pages = await Promise.all(
      people.map(async (person) => {
        const { page } = await openAs(person, '/');
        await page.evaluate((account) => localStorage.setItem('steyg.account', account), subjects.accountId);
        return page;
      }),
    );
    const missing: string[] = [];
    const named = new Set<string>();
    const places = [...placesOf('person', subjects), ...placesOf('operator', subjects)];
    for (const [at, { path }] of places.entries()) {
      const page = pages[at % pages.length] as Page;
      await page.goto(path);
      await settled(page);
      await toTheEnd(page);
      const account = encodeURIComponent(subjects.accountId);
      const name = path.replace(/\?.*$/, '').replace(`/accounts/${account}`, '/accounts/:id');
      const found = await listsOf(page);
      for (const [list, least] of Object.entries(expected[name] ?? {})) {
        named.add(name);
        if ((found[list] ?? 0) < least) missing.push(`${name} ${list}: ${found[list] ?? 'none'} of ${least}`);
      }
      for (const alert of await page.locator('main .banner.bad').allInnerTexts()) missing.push(`${name}: ${alert}`);
    }
    expect(missing).toEqual([]);
    expect([...named].toSorted()).toEqual(Object.keys(expected).toSorted());
  });

  it('so do the lists behind a button, and choices have the last of all', async () => {
    const [person] = people as [Person];
    const { page, unexpected } = await openAs(person, '/notices');
    await unfold(page, en.webhooks.title);
    await page.getByRole('button', { name: en.webhooks.deliveries, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('.notices > li').first().waitFor();
    await toTheEnd(dialog);
    expect(await dialog.locator('.notices > li').count()).toBe(many);

    await page.goto('/operator/codes');
    await settled(page);
    await toTheEnd(page);
    await page.getByRole('button', { name: fill(o.whoRedeemedWhat, { name: 'batch 1' }), exact: true }).click();
    await dialog.getByRole('row').nth(1).waitFor();
    await toTheEnd(dialog);
    expect(await dialog.getByRole('row').count()).toBe(many + 1);

    await page.goto('/operator/transfers');
    await settled(page);
    await page.getByRole('radio', { name: o.allTransfers }).check();
    const transfers = page.getByRole('table', { name: en.nav.operatorTransfers, exact: true });
    await transfers.waitFor();
    await toTheEnd(page);
    expect(await transfers.getByRole('row').count()).toBe(many + 1);

    await page.goto('/activity');
    await settled(page);
    await page.getByLabel(en.keys.find).fill('key 250');
    const keys = page.getByLabel(en.activity.key, { exact: true });
    await keys.locator('option', { hasText: 'key 250' }).waitFor({ state: 'attached' });
    const models = page.getByLabel(en.activity.model, { exact: true }).locator('option');
    expect((await models.allInnerTexts()).filter((name) => name.startsWith('model-'))).toHaveLength(many);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
