import { orThrow } from '@steyg/sdk';
import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { limitTexts } from '../../dashboard/src/language/limits.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { cutTables, openPage, overflow, pressUntil } from './browser.ts';
import { ask, createPerson, settled, signInOperator } from './people.ts';
import { app, browser, openAs, useService } from './service.ts';

// Pages show the right figures and states, and the texts that people need.

useService();

describe('the first page', () => {
  it('shows a request over either protocol, what it costs, and the settings of every tool', async () => {
    const { page, unexpected } = await openPage(browser, app.url, { locale: 'vi-VN' });
    await page.goto('/');
    await settled(page);
    const example = page.locator('.example');
    await example.getByText('/api/v1/chat/completions').waitFor();
    await example.getByRole('radio', { name: 'Messages' }).check();
    await example.getByText('/api/v1/messages').waitFor();
    await example.getByText('anthropic-version: 2023-06-01').waitFor();
    // The pair of amounts of the dearest model, and what the trial's budget is enough for.
    const row = (await page.getByRole('row', { name: /Simulated Large/ }).innerText()).replaceAll('\u00a0', ' ');
    expect(row).toMatch(/375\.000 ₫ →\s*đến\s*345\.000 ₫\s+25$/);
    const tools = page.getByRole('group', { name: 'Công cụ' });
    const names = await tools.getByRole('radio').count();
    expect(names).toBeGreaterThan(10);
    for (let at = 0; at < names; at += 1) {
      await tools.getByRole('radio').nth(at).check();
      await page.locator('.connection', { hasText: app.url }).waitFor();
    }
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('the settings of tools', () => {
  it('go from a tool that has some for a project to one that has none', async () => {
    const person = await createPerson(app);
    const { page, unexpected } = await openPage(browser, app.url);
    await person.signIn(page.context());
    await page.goto('/connect');
    await settled(page);
    await page.getByRole('radio', { name: 'In one project' }).check();
    const tool = page.getByRole('combobox', { name: 'Tool', exact: true });
    for (const name of ['codex', 'cline', 'cursor', 'zed', 'continue']) {
      await tool.selectOption(name);
      await page.getByRole('radio', { name: 'In one project' }).waitFor({ state: 'detached' });
      await page.locator('.connection', { hasText: app.url }).waitFor();
    }
    await tool.selectOption('claude-code');
    await page.getByText('.claude/settings.local.json').first().waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('the overview', () => {
  it('says nothing of what was spent while that cannot be asked for', async () => {
    const person = await createPerson(app);
    const { console: control } = person.steyg;
    const { secret } = orThrow(await control.keys.createKey({ input: {} }));
    await ask(app, secret ?? '', 'ping');
    await app.quiet(person.accountId);
    const { page } = await openPage(browser, app.url);
    await person.signIn(page.context());
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('.usage"') === true ? route.abort() : route.continue(),
    );
    await page.goto('/');
    const figure = (name: string) => page.locator('.figure-box', { hasText: name });
    await figure('Budget left').getByText('$5.00').waitFor();
    expect(await figure('Spent today').locator('dd').innerText()).toBe('–');
    // It tries a few times by itself before it gives up.
    const again = page.getByRole('button', { name: 'Try again' }).first();
    await again.waitFor();
    await page.unroute('**/graphql');
    await pressUntil(again, figure('Spent today').getByText('<$0.01'));
    await page.context().close();
  });

  it('leads on who has not asked anything, and shows requests as they arrive', async () => {
    const person = await createPerson(app);
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: {} }));
    const { page, unexpected } = await openPage(browser, app.url);
    await person.signIn(page.context());
    await page.goto('/');
    await page.getByRole('link', { name: 'Get started' }).waitFor();
    await ask(app, secret ?? '', 'ping');
    await page.getByRole('row', { name: /sim-small/ }).waitFor();
    expect(await page.getByRole('link', { name: 'Get started' }).count()).toBe(0);
    await ask(app, secret ?? '', 'ping', 'sim-large');
    await page.locator('tr.arrived', { hasText: 'sim-large' }).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('long names and large amounts', () => {
  it.each(['en-US', 'vi-VN'])('leave everything in sight that can be pressed: %s', async (locale) => {
    const person = await createPerson(app, { name: 'Công ty Trách nhiệm Hữu hạn Một Thành viên Phần mềm Sao Mai' });
    const { createKey } = person.steyg.console.keys;
    const limits = { day: '1234.5', month: '999999', lifetime: '1234567.123456' };
    orThrow(await createKey({ input: { name: 'x'.repeat(100), limits } }));
    orThrow(
      await createKey({ input: { name: 'khóa của máy trạm '.repeat(5).trim(), models: ['sim-small', 'sim-medium'] } }),
    );
    const { page, unexpected } = await openAs(person, '/keys', { locale });
    await page.getByRole('row').nth(2).waitFor();
    expect(await cutTables(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await overflow(page)).toEqual([]);
    // As wide as a window of 1280 pixels is that a reader has enlarged twice.
    await page.setViewportSize({ width: 640, height: 450 });
    expect(await overflow(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('an amount', () => {
  it.each([
    ['vi-VN', vi, '2,5', '2,50 USD mỗi ngày'],
    ['en-US', en, '2.5', '$2.50 a day'],
  ] as const)('is typed as the language writes it: %s', async (locale, t, typed, shown) => {
    const person = await createPerson(app);
    const { page, unexpected } = await openAs(person, '/keys', { locale });
    await page.getByRole('button', { name: t.keys.create }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(limitTexts[locale === 'vi-VN' ? 'vi' : 'en'].periods.day).pressSequentially(typed);
    await dialog.getByRole('button', { name: t.keys.create }).click();
    await page.getByLabel(t.common.secretKept).check();
    await page.getByRole('button', { name: t.common.done }).click();
    await page.getByRole('cell', { name: shown }).waitFor();
    const { rows } = await app.pool.query(`SELECT limit_day FROM api_key WHERE account_id = $1`, [person.accountId]);
    expect(rows.map(({ limit_day }) => String(limit_day))).toEqual(['2500000000000']);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('with a comma is none in English, where it stands between thousands', async () => {
    const { page, unexpected } = await openAs(await createPerson(app), '/keys');
    await page.getByRole('button', { name: en.keys.create }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(limitTexts.en.periods.day).pressSequentially('1,234');
    await dialog.getByText(en.problems.usd).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('the first steps', () => {
  it('show existing keys to people who have them', async () => {
    const person = await createPerson(app);
    const { page, unexpected } = await openAs(person, '/start');
    const step = page.locator('.step', { hasText: 'Create an API key' });
    await step.locator('.step-mark', { hasText: '2' }).waitFor();
    orThrow(await person.steyg.console.keys.createKey({ input: { name: 'kept' } }));
    await page.reload();
    await step.getByText('You have a key already.').waitFor();
    expect(await step.getAttribute('class')).toBe('step done');
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('the books', () => {
  it('are checked for every account, however many there are', async () => {
    const before = await app.pool.query(`SELECT count(*)::int AS n FROM account`);
    // More than one answer has.
    for (let count = 0; count < 30; count += 1) await app.customer();
    const { page, unexpected } = await openPage(browser, app.url);
    await (await signInOperator(app)).signIn(page.context());
    await page.goto('/operator/books');
    await page.getByRole('button', { name: 'Check all accounts' }).click();
    await page.getByText('All invariants hold.').waitFor();
    await page.getByText(`Accounts checked: ${before.rows[0].n + 30}`).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
