import { orThrow } from '@steyg/sdk';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { operatorEn } from '../../dashboard/src/language/operator-en.ts';
import { findBarriers, overflow } from './browser.ts';
import { createPerson, haveAsked, type Person, settled, signInOperator } from './people.ts';
import { app, openAs, useService } from './service.ts';

// An account of many keys: the oldest can be found, rotated and deleted, and reports name each.

const count = 202;
const oldest = 'first of all';

let person: Person;
let secret: string;

useService();
beforeAll(async () => {
  person = await createPerson(app);
  secret = orThrow(await person.steyg.console.keys.createKey({ input: { name: oldest } })).secret ?? '';
  await haveAsked(app, secret, 'ping');
  await app.quiet(person.accountId);
  await app.pool.query(`UPDATE api_key SET created_at = created_at - interval '1 day' WHERE account_id = $1`, [
    person.accountId,
  ]);
  await app.pool.query(
    `INSERT INTO api_key (id, account_id, name, hash, prefix, last4)
     SELECT md5('k' || n)::uuid, $1, 'job ' || n, sha256(('k' || n)::bytea), 'sk-steyg-', lpad(to_hex(n), 4, '0')
     FROM generate_series(1, $2::int) n`,
    [person.accountId, count - 1],
  );
  await app.pool.query(
    `INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests, output, cost, charged)
     SELECT $1, date_trunc('hour', now() - interval '2 days' + d * interval '1 day', 'UTC'), 'sim-small', md5('k' || n)::uuid, 'completed', 1, 1, n, n
     FROM generate_series(1, $2::int) n, generate_series(0, 2) d`,
    [person.accountId, count - 1],
  );
});

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

describe(`an account with ${count} keys`, () => {
  it('finds the oldest by its name or its last characters, rotates and deletes it', async () => {
    const { page, unexpected } = await openAs(person, '/keys');
    expect(await rowOf(page, oldest).count()).toBe(0);
    await page.getByLabel(en.common.search).fill(`…${secret.slice(-4)}`);
    await rowOf(page, oldest).waitFor();
    await page.getByLabel(en.common.search).fill('OF ALL');
    await rowOf(page, oldest).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    await page.getByRole('button', { name: en.keys.rotateWhat.replace('{name}', oldest) }).click();
    await page.getByRole('dialog').getByRole('button', { name: en.keys.rotate }).click();
    await page.getByLabel(en.common.secretKept).check();
    await page.getByRole('button', { name: en.common.done }).click();
    // The new one has its name and is the newest; the old one stands below.
    await expect.poll(() => page.getByRole('row').count()).toBe(3);
    const remove = page.getByRole('button', { name: en.keys.deleteWhat.replace('{name}', oldest) });
    await remove.last().click();
    await page.getByRole('dialog').getByRole('button', { name: en.common.delete }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    const counted = () =>
      app.pool.query(
        `SELECT count(*) FILTER (WHERE deleted_at IS NOT NULL)::int AS deleted, count(*)::int AS all
         FROM api_key WHERE account_id = $1 AND name = $2`,
        [person.accountId, oldest],
      );
    await expect.poll(async () => (await counted()).rows).toEqual([{ deleted: 1, all: 2 }]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('goes through all of them page by page', async () => {
    const { page } = await openAs(person, '/keys');
    const more = page.getByRole('button', { name: en.common.more });
    while (await more.isVisible()) {
      const before = await page.getByRole('row').count();
      await more.click();
      await expect.poll(() => page.getByRole('row').count()).toBeGreaterThan(before);
    }
    // With its head; one was deleted, and one has come in its place.
    expect(await page.getByRole('row').count()).toBe(count + 1);
    await page.context().close();
  });

  it('names each in the report by key, deleted ones too, and its sums are those of the whole', async () => {
    const { page, unexpected } = await openAs(person, '/activity?group=key');
    const sums = page.getByRole('table', { name: en.activity.sumsOf.replace('{group}', en.activity.groups.key) });
    await sums.waitFor();
    const more = page.locator('.more').first().getByRole('button');
    while ((await sums.getByRole('row').count()) < count + 1) {
      const before = await sums.getByRole('row').count();
      await more.click();
      await expect.poll(() => sums.getByRole('row').count()).toBeGreaterThan(before);
    }
    const names = await sums.getByRole('rowheader').allInnerTexts();
    expect(names).toHaveLength(count);
    expect(names.filter((name) => !/^(job \d+|first of all) …?\S*.{4}( \(deleted\))?$/i.test(name))).toEqual([]);
    expect(names.filter((name) => /deleted/i.test(name))).toEqual([expect.stringContaining(oldest)]);
    expect(new Set(names).size).toBe(count);
    const requests = page.locator('.figures > *', { hasText: 'Requests' }).locator('dd').first();
    expect(await requests.innerText()).toBe(String((count - 1) * 3 + 1));
    expect(await findBarriers(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('chooses any of them in a filter, and keeps the name of the one that is chosen', async () => {
    const { page, unexpected } = await openAs(person, '/activity');
    await page.getByLabel(en.keys.find).fill(oldest);
    const choice = page.getByLabel(en.activity.key, { exact: true });
    await choice.locator('option', { hasText: /first of all.*deleted/i }).waitFor({ state: 'attached' });
    const value = await choice.locator('option', { hasText: /first of all.*deleted/i }).getAttribute('value');
    await choice.selectOption(value);
    await page.getByLabel(en.keys.find).fill('job 7');
    await choice.locator('option', { hasText: 'job 77' }).waitFor({ state: 'attached' });
    await page.reload();
    await settled(page);
    await expect.poll(() => choice.locator('option:checked').innerText()).toContain(oldest);
    const requests = page.locator('.figures > *', { hasText: 'Requests' }).locator('dd').first();
    await expect.poll(() => requests.innerText()).toBe('1');
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('shows an operator the oldest too', async () => {
    const id = Buffer.from(`Account:${person.accountId}`).toString('base64');
    const { page, unexpected } = await openAs(
      await signInOperator(app),
      `/operator/accounts/${encodeURIComponent(id)}`,
    );
    const card = page.locator('section, .card').filter({ has: page.getByRole('table', { name: en.keys.title }) });
    await card.last().getByLabel(en.common.search).fill(oldest);
    await expect.poll(() => card.last().getByRole('row').count()).toBe(3);
    await card.last().getByRole('button', { name: operatorEn.revoke }).click();
    await page.getByRole('dialog').waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
