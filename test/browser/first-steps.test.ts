import { orThrow } from '@steyg/sdk';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { findBarriers, openPage, overflow } from './browser.ts';
import { createPerson, type Person, settled } from './people.ts';
import { app, browser, openAs, useService } from './service.ts';

// The first steps: one command, a test request beside it, and quick starts in both languages.

let person: Person;

useService();
beforeAll(async () => {
  person = await createPerson(app);
});

const command = (page: Page) => page.getByRole('group', { name: 'Claude Code: one command' });

describe('the page of tools', () => {
  it('begins with one command, which follows the choice of models and scope', async () => {
    const { page, unexpected } = await openAs(person, '/connect');
    expect(await command(page).innerText()).toBe(
      [
        `export STEYG_BASE_URL=${app.url}/api`,
        'export STEYG_API_KEY=YOUR_STEYG_API_KEY',
        `npx --yes ${app.url}/sdk.tgz connect claude-code --write`,
      ].join('\n'),
    );
    // Before the settings to paste.
    const order = await page.locator('.connect pre').evaluateAll((all) => all.map((each) => each.textContent));
    expect(order[0]).toContain('/sdk.tgz connect');
    await page.getByLabel('Small and background').selectOption('sim-large');
    await page.getByRole('radio', { name: 'In one project' }).click();
    expect(await command(page).innerText()).toContain('connect claude-code --small sim-large --project --write');
    await page.getByRole('combobox', { name: 'Tool', exact: true }).selectOption('openai-sdk');
    const printed = page.getByRole('group', { name: 'OpenAI SDK: one command' });
    expect(await printed.innerText()).toMatch(/connect openai-sdk( --small sim-large)?( --project)?$/);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('sends a test request with a key that expires by itself, and says what it cost', async () => {
    const { page, unexpected } = await openAs(person, '/connect');
    await page.getByRole('button', { name: 'Send a test request' }).click();
    await page.getByText(/It works: “.+” It cost/).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    const keys = await person.steyg.console.keys.listKeys({ first: 5 });
    const made = keys?.edges.find(({ node }) => node.name === 'Test request')?.node;
    expect(made?.limits.lifetime).toBe('0.1');
    expect(Date.parse(made?.expiresAt ?? '')).toBeLessThan(Date.now() + 11 * 60_000);
    await app.quiet(person.accountId);
    expect((await app.ledger(person.accountId)).length).toBe(1);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('uses the key that was just made on the first steps, where the request is seen to arrive', async () => {
    const newcomer = await createPerson(app);
    const { page, unexpected } = await openAs(newcomer, '/start');
    await page.getByRole('button', { name: 'Create key' }).click();
    const secret = await page.locator('.secret code').innerText();
    expect(await command(page).innerText()).toContain(`export STEYG_API_KEY=${secret}`);
    await page.getByRole('button', { name: 'Send a test request' }).click();
    await page.getByText(/^It arrived: /).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('a member of an account with a limited project', () => {
  it('gets a key in it wherever a page makes one by itself', async () => {
    const member = await createPerson(app);
    const { keys } = member.steyg.console;
    orThrow(await keys.createProject({ input: { name: 'Walled', limits: { month: '5' } } }));
    await app.pool.query(`UPDATE member SET role = 'member' WHERE account_id = $1`, [member.accountId]);
    const { page, unexpected } = await openAs(member, '/connect');
    await page.getByRole('button', { name: 'Send a test request' }).click();
    await page.getByText(/It works: “.+” It cost/).waitFor();
    await page.goto('/start');
    await page.getByText(en.start.another).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.locator('.secret code').waitFor();
    await page.goto('/playground');
    await page.getByRole('button', { name: en.playground.makeKey }).click();
    await page.getByRole('button', { name: en.playground.otherKey }).waitFor();
    const made = (await keys.listKeys({ first: 5 }))?.edges.map(({ node }) => node.project?.name);
    expect(made).toEqual(['Walled', 'Walled', 'Walled']);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('the quick starts', () => {
  it.each([
    ['en-US', 'Quick start: Python', 'pip install openai'],
    ['vi-VN', 'Bắt đầu nhanh: Python', 'pip install openai'],
  ])('are pages of their own for visitors, in %s, with copy buttons and tabs', async (locale, title, text) => {
    const { page, unexpected } = await openPage(browser, app.url, { locale, viewport: { width: 390, height: 844 } });
    await page.goto('/guides/python');
    await settled(page);
    expect(await page.locator('h1').innerText()).toBe(title);
    await page.getByText(text).waitFor();
    expect(await page.locator('pre', { hasText: 'base_url=' }).innerText()).toContain(`${app.url}/api/v1`);
    expect(await page.locator('.code-block .copy').count()).toBeGreaterThan(1);
    await page.getByRole('link', { name: 'GraphQL' }).click();
    await page.locator('pre', { hasText: 'ledger(first: 5)' }).first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
