import { orThrow } from '@steyg/sdk';
import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, overflow } from './browser.ts';
import { createPerson, mailTo } from './people.ts';
import { app, openAs, useService } from './service.ts';

// Who removes an admin is asked about the keys of the account that the admin knows.

useService();

const fill = (text: string, name: string) => text.replaceAll('{name}', name);

describe.each([
  ['en', en, 1280, 'light'],
  ['vi', vi, 390, 'dark'],
] as const)('in %s', (locale, t, width, colorScheme) => {
  const seen = { locale: locale === 'vi' ? 'vi-VN' : 'en-US', viewport: { width, height: 900 }, colorScheme };

  it('the keys are listed, nobody is removed without an answer, and the answer counts', async () => {
    const name = 'Former Admin';
    const owner = await createPerson(app, { locale });
    const admin = await createPerson(app, { locale, name });
    orThrow(
      await owner.steyg.console.accounts.inviteMember({
        accountId: owner.accountId,
        email: admin.email,
        role: 'ADMIN',
      }),
    );
    const isLink = (link: string) => link.includes('/invitation');
    await expect.poll(async () => (await mailTo(app, admin.email)).links.some(isLink)).toBe(true);
    const link = (await mailTo(app, admin.email)).links.find(isLink) ?? '';
    const token = new URL(link).searchParams.get('token') ?? '';
    orThrow(await admin.steyg.console.accounts.acceptInvitation({ token }));
    for (const key of ['Production deploys', 'Nightly reports'])
      orThrow(await admin.steyg.console.keys.createKey({ input: { accountId: owner.accountId, name: key } }));
    const names = async () => (await app.keys.list(owner.accountId)).map((key) => key.name).toSorted();
    expect(await names()).toEqual(expect.arrayContaining(['Nightly reports', 'Production deploys']));

    const { page, unexpected } = await openAs(owner, '/members', seen);
    await page.getByRole('button', { name: fill(t.members.removeWhat, name) }).click();
    const dialog = page.getByRole('dialog');
    const remove = dialog.getByRole('button', { name: t.common.remove, exact: true });
    await remove.click();
    await dialog.getByText(fill(t.members.seenKeys.ask, name)).waitFor();
    for (const key of ['Production deploys', 'Nightly reports']) await dialog.getByText(key).waitFor();
    expect(await remove.isDisabled()).toBe(true);
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    expect(await owner.steyg.console.accounts.listMembers({ accountId: owner.accountId })).toHaveLength(2);

    await dialog.getByLabel(t.members.seenKeys.revoke).check();
    await remove.click();
    await dialog.waitFor({ state: 'detached' });
    expect(await owner.steyg.console.accounts.listMembers({ accountId: owner.accountId })).toHaveLength(1);
    expect(await names()).not.toContain('Production deploys');
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
