import { orThrow } from '@steyg/sdk';
import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { spendingTexts } from '../../dashboard/src/language/spending.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, overflow } from './browser.ts';
import { createPerson, mailTo, settled } from './people.ts';
import { app, openAs, useService } from './service.ts';

// Projects and members' budgets, as an owner sets and reads them.

useService();

const fill = (text: string, values: Record<string, string>) =>
  text.replaceAll(/\{(\w+)\}/g, (_match, name: string) => values[name] ?? '');

describe.each([
  ['en', en, 1280],
  ['vi', vi, 390],
] as const)('in %s', (locale, t, width) => {
  const texts = spendingTexts[locale];
  const seen = { locale: locale === 'vi' ? 'vi-VN' : 'en-US', viewport: { width, height: 900 } };

  it('a project gets a budget and keys, and says what they spent', async () => {
    const person = await createPerson(app, { locale });
    const { page, unexpected } = await openAs(person, '/projects', seen);
    await page.getByRole('button', { name: texts.projects.create }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(texts.projects.name).fill('Website');
    await dialog.getByLabel(texts.projects.month).fill('2.5');
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    await dialog.getByRole('button', { name: texts.projects.create }).click();
    await page.getByRole('rowheader', { name: /Website/ }).waitFor();

    await page.goto('/keys');
    await page.getByRole('button', { name: t.keys.create }).first().click();
    await dialog.getByLabel(t.keys.name).first().fill('shop');
    await dialog.getByLabel(texts.project, { exact: true }).selectOption({ label: 'Website' });
    await dialog.getByLabel(texts.owner).selectOption({ label: texts.owners.MEMBER });
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    await dialog.getByRole('button', { name: t.keys.create }).click();
    const secret = (await page.locator('.secret code').textContent()) ?? '';
    const [key] = await app.keys.list(person.accountId);
    expect(key).toMatchObject({ name: 'shop', personal: true });
    const answer = await fetch(`${app.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify({
        model: 'sim-medium',
        max_tokens: 50,
        messages: [{ role: 'user', content: '[[len 40]]' }],
      }),
    });
    expect(answer.status).toBe(200);
    await app.quiet(person.accountId);

    await page.goto('/projects');
    await settled(page);
    await page
      .getByRole('cell', { name: /2[.,]50?\b/ })
      .first()
      .waitFor();
    expect(await overflow(page)).toEqual([]);
    await page.getByRole('button', { name: fill(texts.projects.reportWhat, { name: 'Website' }) }).click();
    await dialog.getByRole('rowheader', { name: /\d{4}$/ }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: t.common.close }).last().click();
    // With a key in use it cannot be archived, and the page says why.
    await page.getByRole('button', { name: fill(texts.projects.archiveWhat, { name: 'Website' }) }).click();
    await dialog.getByRole('button', { name: texts.projects.archive, exact: true }).click();
    await page.getByText(t.errors.PROJECT_HAS_KEYS).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('a member gets a monthly budget, and who removes them is told what becomes of their keys', async () => {
    const owner = await createPerson(app, { locale });
    const guest = await createPerson(app, { locale, name: 'Guest of honour' });
    orThrow(
      await owner.steyg.console.accounts.inviteMember({
        accountId: owner.accountId,
        email: guest.email,
        role: 'MEMBER',
      }),
    );
    await expect
      .poll(async () => (await mailTo(app, guest.email)).links.some((link) => link.includes('/invitation')))
      .toBe(true);
    const link = (await mailTo(app, guest.email)).links.find((each) => each.includes('/invitation')) ?? '';
    const token = new URL(link).searchParams.get('token') ?? '';
    orThrow(await guest.steyg.console.accounts.acceptInvitation({ token }));
    for (const name of ['one', 'two'])
      orThrow(await guest.steyg.console.keys.createKey({ input: { accountId: owner.accountId, name } }));
    const { page, unexpected } = await openAs(owner, '/members', seen);
    await page.getByRole('button', { name: fill(texts.members.setWhat, { name: 'Guest of honour' }) }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(texts.members.amount).fill('12');
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    await dialog.getByRole('button', { name: t.common.save }).click();
    await page.getByText(t.common.saved).waitFor();
    await page.getByRole('cell', { name: /12/ }).first().waitFor();
    expect(await overflow(page)).toEqual([]);
    await page.getByRole('button', { name: fill(t.members.removeWhat, { name: 'Guest of honour' }) }).click();
    await dialog.getByText(fill(texts.members.removeKeys.other, { n: '2' })).waitFor();
    await dialog.getByRole('button', { name: t.common.remove }).click();
    await expect
      .poll(async () => (await app.keys.list(owner.accountId)).filter(({ createdBy }) => createdBy !== null).length)
      .toBe(0);
    // Their own page shows them their own spending, and nothing of others.
    const own = await guest.steyg.console.keys.memberSpend({ accountId: owner.accountId });
    expect(own).toBe(null);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
