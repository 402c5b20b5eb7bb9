import { readFile } from 'node:fs/promises';
import { orThrow } from '@steyg/sdk';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { findBarriers, openPage, overflow } from './browser.ts';
import { ask, createPerson, haveAsked, type Person, settled, signInOperator } from './people.ts';
import { app, browser, openAs, useService } from './service.ts';

// The activity page: chart and list agree, for the chosen filters and order.

let person: Person;

useService();
beforeAll(async () => {
  person = await createPerson(app);
  const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'reports' } }));
  const uses = (count: number) =>
    `[[usage {"prompt_tokens": 10, "completion_tokens": ${count}, "total_tokens": ${10 + count}}]]`;
  for (const count of [300, 9_000, 20]) await haveAsked(app, secret ?? '', uses(count));
  await (await ask(app, secret ?? '', '[[status 400]]')).text();
  await app.quiet(person.accountId);
  const outcomes = (await app.ledger(person.accountId)).map(({ outcome }) => outcome);
  if (outcomes.join() !== 'upstream_error,completed,completed,completed')
    throw new Error(`ended as ${outcomes.join()}`);
});

async function open(path: string) {
  const watched = await openPage(browser, app.url);
  await person.signIn(watched.page.context());
  await watched.page.goto(path);
  await settled(watched.page);
  return watched;
}

const list = (page: Page) => page.getByRole('group', { name: 'Requests' });
const figure = (page: Page, label: string) =>
  page.locator('.figures > *', { hasText: label }).locator('dd').first().innerText();
/** The numbers of tokens in the rows of the list, from above. */
const answers = (page: Page) =>
  list(page)
    .locator('td[data-head^="Tokens"]')
    .evaluateAll((cells) => cells.map((cell) => cell.textContent?.split(' / ').at(-1)));

describe('the activity page', () => {
  it('shows in the chart only what ended as chosen, and splits it by outcome', async () => {
    const { page, unexpected } = await open('/activity');
    expect(await figure(page, 'Requests')).toBe('4');
    expect(await figure(page, 'Failed')).toBe('1');
    await page.getByLabel('Outcome', { exact: true }).selectOption('UPSTREAM_ERROR');
    await expect.poll(() => figure(page, 'Requests')).toBe('1');
    expect(await figure(page, 'Tokens')).toBe('0');
    await expect.poll(() => answers(page)).toEqual(['0']);
    await page.getByLabel('Outcome', { exact: true }).selectOption('COMPLETED');
    await expect.poll(() => figure(page, 'Requests')).toBe('3');
    expect(await figure(page, 'Failed')).toBe('0');
    await page.getByLabel('Outcome', { exact: true }).selectOption('TIMEOUT');
    await page.getByText('No requests in this period.').first().waitFor();

    await page.getByLabel('Outcome', { exact: true }).selectOption('');
    await page.getByRole('radio', { name: 'by outcome' }).click();
    const sums = page.getByRole('table', { name: 'Totals by outcome' });
    await sums.getByRole('rowheader', { name: 'completed' }).waitFor();
    await sums.getByRole('rowheader', { name: 'model error' }).waitFor();
    await page.getByRole('radio', { name: 'by member' }).click();
    const people = page.getByRole('table', { name: 'Totals by member' });
    await people.getByRole('row', { name: /^Person \d+ 4 1 / }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('counts what failed by reason, with a chart, a table and a file that say the same', async () => {
    const { page, unexpected } = await open('/activity');
    const card = page.getByRole('region', { name: 'Errors by reason' });
    expect(await card.locator('.figures').innerText()).toMatch(/model error\s+1/i);
    await card.getByText('As a table').click();
    const cells = await card.getByRole('table').getByRole('row').last().getByRole('cell').allInnerTexts();
    expect(cells).toEqual(['1']);
    const downloading = page.waitForEvent('download');
    await card.getByRole('button', { name: /CSV/ }).click();
    const lines = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\r\n');
    expect(lines[0]).toMatch(/,model error$/);
    expect(lines.slice(1).reduce((sum, line) => sum + Number(line.split(',')[1]), 0)).toBe(1);
    expect(await findBarriers(page)).toEqual([]);
    await page.goto('/activity?model=nothing');
    await card.getByText('No request failed in this period.').waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('shows an operator the errors of all customers by reason', async () => {
    const { page, unexpected } = await openAs(await signInOperator(app), '/operator/uptime');
    const card = page.getByRole('region', { name: 'Errors by reason' });
    await expect.poll(() => card.locator('.figures').innerText()).toMatch(/model error\s+1/i);
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflow(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('sorts the requests by what its heads say, by keyboard and on a narrow screen too', async () => {
    const { page, unexpected } = await open('/activity');
    const head = (name: string) => list(page).getByRole('columnheader', { name });
    const way = (name: string) => head(name).getAttribute('aria-sort');
    expect(await way('Time')).toBe('descending');
    expect(await answers(page)).toEqual(['0', '20', '9,000', '300']);
    await head('Tokens').getByRole('button').focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => answers(page)).toEqual(['9,000', '300', '20', '0']);
    expect(await way('Tokens')).toBe('descending');
    expect(await way('Time')).toBe('none');
    // The button kept the focus, so it can be pressed again.
    await page.keyboard.press('Enter');
    await expect.poll(() => answers(page)).toEqual(['0', '20', '300', '9,000']);
    expect(await way('Tokens')).toBe('ascending');
    await head('Cost').getByRole('button').click();
    await expect.poll(() => answers(page)).toEqual(['9,000', '300', '20', '0']);
    await head('Latency').getByRole('button').click();
    await expect.poll(() => way('Latency')).toBe('descending');
    expect(await findBarriers(page)).toEqual([]);
    await page.setViewportSize({ width: 380, height: 800 });
    await list(page).getByRole('button', { name: 'Time' }).click();
    await expect.poll(() => answers(page)).toEqual(['0', '20', '9,000', '300']);
    expect(await findBarriers(page)).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('says what to do when there is too much to sort', async () => {
    const { rows } = await app.pool.query(
      `INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests)
       SELECT account_id, hour - interval '3 days', model, key_id, outcome, 100000 FROM usage_hour
       WHERE account_id = $1 RETURNING hour`,
      [person.accountId],
    );
    try {
      const { page, unexpected } = await open('/activity?range=month&sort=COST');
      await page.getByText('Too many requests in this period to sort this way.').waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await page.getByRole('button', { name: 'Sort by time' }).click();
      await list(page).getByRole('columnheader', { name: 'Time' }).waitFor();
      expect(await answers(page)).toEqual(['0', '20', '9,000', '300']);
      expect(unexpected()).toEqual([]);
      await page.context().close();
    } finally {
      await app.pool.query('DELETE FROM usage_hour WHERE account_id = $1 AND hour = ANY ($2)', [
        person.accountId,
        rows.map(({ hour }) => hour),
      ]);
    }
  });
});
