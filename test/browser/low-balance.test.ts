import { orThrow } from '@steyg/sdk';
import { describe, expect, it } from 'vitest';
import { pages } from '../../dashboard/src/pages.ts';
import { findBarriers, openPage, overflow } from './browser.ts';
import { createPerson, haveAsked, idle, type Person, settled } from './people.ts';
import { app, browser, openAs, useService } from './service.ts';
import { readVitals, recordVitals, slowDown } from './vitals.ts';

// VND beside USD where people decide about money, and the banner of a budget that is nearly used up.

useService();

/** An account with the trial's $5.00 left and its alert at this amount; 0: alerts are off. */
async function alertedAt(lowBalance: string): Promise<Person> {
  const person = await createPerson(app);
  const { accounts } = person.steyg.console;
  const settings = await accounts.noticeSettings();
  if (settings == null) throw new Error('an account without settings');
  const { mail, burnAmount, burnMinutes, keyPercent } = settings;
  orThrow(
    await accounts.updateNoticeSettings({
      input: {
        lowBalance,
        mail,
        burnAmount,
        burnMinutes,
        keyPercent,
        muted: settings.muted,
      },
    }),
  );
  return person;
}

const warning = `.banner.warn:has(a[href="${pages.topUp}"])`;

describe('the banner of a low balance', () => {
  it.each([
    [
      'en-US',
      /^\$5\.00 \(about ₫125,000\) is left, less than your alert at \$8\.00\. ₫250,000 buys \$10\.00 \(Starter plan\)\.$/,
    ],
    [
      'vi-VN',
      /^Số dư còn 5,00\sUSD \(khoảng 125\.000\s₫\), dưới mức cảnh báo 8,00\sUSD của bạn\. 250\.000\s₫ mua được 10,00\sUSD \(gói Starter\)\.$/,
    ],
  ])('says before the balance is zero what is left, and what VND buy (%s)', async (locale, text) => {
    const person = await alertedAt('8');
    const { page, unexpected } = await openAs(person, '/', { locale, viewport: { width: 390, height: 844 } });
    const banner = page.locator(warning);
    expect(await banner.locator('div').innerText()).toMatch(text);
    expect([...(await findBarriers(page)), ...(await overflow(page))]).toEqual([]);
    // The page that sells says it in its own words.
    await banner.getByRole('link').click();
    await page.waitForURL(`**${pages.topUp}`);
    await settled(page);
    expect(await banner.count()).toBe(0);
    await page
      .getByText(/(about ₫|khoảng )125[,.]000/)
      .first()
      .waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('is not there while the balance is above the alert', async () => {
    const { page, unexpected } = await openAs(await alertedAt('5'), '/keys');
    await idle(page);
    expect(await page.locator(warning).count()).toBe(0);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('of an account whose alerts are off goes by three days at the pace of the last seven', async () => {
    const person = await alertedAt('0');
    const quiet = await openAs(person, '/keys');
    await idle(quiet.page);
    expect(await quiet.page.locator(warning).count()).toBe(0);
    await quiet.page.context().close();
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'tool' } }));
    // $3.84 of $5.00: what is left is less than three sevenths of it.
    const wish = '[[usage {"prompt_tokens": 10, "completion_tokens": 64000, "total_tokens": 64010}]]';
    for (let count = 0; count < 4; count += 1) {
      await haveAsked(app, secret ?? '', wish, { model: 'sim-large' });
      await app.quiet(person.accountId);
    }
    const { page, unexpected } = await openAs(person, '/keys');
    await page.getByText(/is left: less than 3 days at the pace of the last 7 days\./).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('does not move the page when it is there, on a slow network', async () => {
    const person = await alertedAt('8');
    const { page } = await openPage(browser, app.url, { viewport: { width: 390, height: 844 }, isMobile: true });
    await person.signIn(page.context());
    await recordVitals(page);
    await slowDown(page);
    let count = 0;
    await page.route('**/graphql', async (route) => {
      count += 1;
      await new Promise((resolve) => setTimeout(resolve, 100 * Math.min(count, 12)));
      await route.continue();
    });
    await page.goto('/');
    await page.locator(warning).waitFor();
    await idle(page);
    const { cls, moved } = await readVitals(page);
    expect({ cls: cls < 0.1, moved: cls < 0.1 ? [] : moved }).toEqual({ cls: true, moved: [] });
    await page.context().close();
  });
});

describe('prices', () => {
  it.each(['/pricing', '/pricing?compare=sim-large', '/pricing/sim-large', '/'])(
    'stand in VND at the Starter plan’s rate beside USD on %s, without script',
    async (path) => {
      const { page } = await openPage(browser, app.url, { javaScriptEnabled: false });
      // On a busy machine the first visitors may be sent an empty page.
      await expect
        .poll(async () => {
          await page.goto(path);
          return (await page.locator('body').textContent()) ?? '';
        })
        .toMatch(/\$15[\s\S]*375,000/);
      await page.context().close();
    },
  );

  it('and budgets that are typed say about how much they are', async () => {
    const { page, unexpected } = await openAs(await alertedAt('1'), '/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByRole('dialog').getByLabel('Per day').fill('5');
    await page.getByRole('dialog').getByText('about ₫125,000').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.goto('/notices');
    await settled(page);
    await page.getByLabel('Low balance, in USD').fill('2');
    await page.getByText('about ₫50,000').waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
