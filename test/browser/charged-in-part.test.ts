import { orThrow } from '@steyg/sdk';
import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, overflow } from './browser.ts';
import { createPerson, haveAsked, settled, signInOperator } from './people.ts';
import { app, openAs, useService } from './service.ts';

// A request that cost more than was left: both amounts stand in every list, and its receipt says why they differ.

useService();

describe.each([
  ['en', en],
  ['vi', vi],
] as const)('in %s', (locale, t) => {
  it('a request that was charged in part says so in lists and on its receipt, to its customer and to an operator', async () => {
    const person = await createPerson(app, { locale });
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'laptop' } }));
    await app.pool.query(`UPDATE "grant" SET amount = 100000000 WHERE account_id = $1`, [person.accountId]);
    await haveAsked(
      app,
      secret ?? '',
      '[[len 10]] [[usage {"prompt_tokens": 10, "completion_tokens": 900, "total_tokens": 910}]]',
    );
    const [entry] = await app.ledger(person.accountId);
    expect(entry?.['charged'] as bigint).toBeLessThan(entry?.['cost'] as bigint);
    const language = { locale: locale === 'vi' ? 'vi-VN' : 'en-US' };
    const mark = t.activity.chargedOf.split('{cost}')[0] ?? '';
    const sentence = t.entry.inPart.split('{missing}')[1] ?? '';

    const { page, unexpected } = await openAs(person, '/activity', language);
    const row = page.getByRole('group', { name: t.activity.requests }).getByRole('row').last();
    expect(await row.innerText()).toContain(`\n${mark}`);
    expect(await row.locator('time').innerText()).toMatch(/\d:\d\d:\d\d/);
    await row.getByRole('link').click();
    await page.getByRole('alert').filter({ hasText: sentence }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await overflow(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();

    const id = Buffer.from(`Account:${person.accountId}`).toString('base64');
    const work = await openAs(await signInOperator(app), `/operator/accounts/${encodeURIComponent(id)}`);
    const list = work.page.getByRole('group', { name: en.activity.requests }).getByRole('row').last();
    await list.getByRole('link').click();
    await settled(work.page);
    await work.page
      .getByRole('alert')
      .filter({ hasText: en.entry.inPart.split('{missing}')[1] ?? '' })
      .waitFor();
    await work.page.getByText(en.entry.upstream).waitFor();
    expect(await findBarriers(work.page)).toEqual([]);
    await work.page.goto('/operator/books');
    await settled(work.page);
    await work.page.getByRole('table', { name: 'Shortfall' }).getByRole('link').first().click();
    await work.page
      .getByRole('alert')
      .filter({ hasText: en.entry.inPart.split('{missing}')[1] ?? '' })
      .waitFor();
    expect(work.unexpected()).toEqual([]);
    await work.page.context().close();
  });
});
