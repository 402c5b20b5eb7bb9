import { orThrow } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readVendors } from '../../server/catalog/vendors.ts';
import { createSimulator, type Simulator } from '../../server/simulator/simulator.ts';
import { openPage } from '../browser/browser.ts';
import {
  createPerson,
  haveAsked,
  mailTo,
  type Person,
  settled,
  signInOperator,
  transferMoney,
} from '../browser/people.ts';
import { app, browser, useService } from '../browser/service.ts';
import { playedBy } from '../support/vendors.ts';
import { type Effort, type Hand, measure } from './hand.ts';

// Ten tasks as their people do them, with what each takes: `npm run tasks`. The table of the results is printed.

const vendorKey = 'sk-ant-the-key-of-the-vendor';
let vendor: Simulator;
beforeAll(async () => {
  vendor = await createSimulator({ apiKey: vendorKey, tokensPerSecond: Number.POSITIVE_INFINITY });
});
useService({ vendors: async () => playedBy(vendor.url, await readVendors()) });
afterAll(() => vendor?.close());

const efforts: [name: string, effort: Effort][] = [];
afterAll(() => {
  const rows = efforts.map(
    ([name, { clicks, keystrokeGroups, seconds }]) =>
      `| ${name} | ${clicks} | ${keystrokeGroups} | ${seconds.toFixed(1)} |`,
  );
  process.stdout.write(
    `\n| Task | Clicks | Keystroke groups | Seconds |\n| --- | ---: | ---: | ---: |\n${rows.join('\n')}\n`,
  );
});

/** Runs a task on a page of its own, from the page where its people land. */
async function run(
  name: string,
  { who, path }: { who: Pick<Person, 'signIn'> | null; path: string },
  task: (hand: Hand) => Promise<void>,
): Promise<void> {
  const { page, unexpected } = await openPage(browser, app.url);
  await who?.signIn(page.context());
  await page.goto(path);
  await settled(page);
  const effort = await measure(page, task);
  efforts.push([name, effort]);
  // A task that takes nothing was not done.
  expect(effort.clicks + effort.keystrokeGroups).toBeGreaterThan(0);
  expect(unexpected()).toEqual([]);
  await page.context().close();
}

describe('a customer', () => {
  it('signs up and sends the first request', () =>
    run('Customer: sign up, first request answered', { who: null, path: '/' }, async (hand) => {
      const { page } = hand;
      const email = 'newcomer@example.com';
      await hand.click(page.getByRole('link', { name: 'Sign up', exact: true }).first());
      await hand.type(page.getByLabel('Name', { exact: true }), 'An');
      await hand.type(page.getByLabel('E-mail address'), email);
      await hand.type(page.getByLabel('Password', { exact: true }), 'a long enough password');
      await hand.press('Enter');
      const [link = ''] = (await mailTo(app, email)).links;
      await hand.follow(link);
      await page.waitForURL('**/start');
      await hand.click(page.getByRole('button', { name: 'Create key' }));
      await page.locator('.secret code').waitFor();
      await hand.click(page.getByRole('button', { name: 'Send a test request' }));
      await page.getByText(/^It arrived: /).waitFor();
    }));

  it('creates a key with a budget', async () => {
    const person = await createPerson(app);
    await run('Customer: a key with a budget a day', { who: person, path: '/' }, async (hand) => {
      const { page } = hand;
      await hand.click(page.getByRole('link', { name: 'API keys', exact: true }).first());
      await hand.click(page.getByRole('button', { name: 'Create key' }).first());
      const dialog = page.getByRole('dialog');
      await hand.type(dialog.getByLabel('Name'), 'ci');
      await hand.type(dialog.getByLabel('Per day'), '5');
      await hand.press('Enter');
      await page.locator('.secret code').waitFor();
      await hand.click(page.getByLabel('I have stored it'));
      await hand.click(page.getByRole('button', { name: 'Done' }));
      await page.getByText('$5.00 a day').waitFor();
    });
  });

  it('tops up by a QR code', async () => {
    const person = await createPerson(app);
    await run('Customer: top up by QR code', { who: person, path: '/' }, async (hand) => {
      const { page } = hand;
      await hand.click(page.locator('main').getByRole('link', { name: 'Top up' }).first());
      await hand.click(page.getByRole('button', { name: 'Order Starter' }));
      await page.getByRole('img', { name: /VietQR/ }).waitFor();
      // What the banking app reads from the code.
      const orders = await person.steyg.console.orders.listOrders({ first: 1 });
      const memo = orders?.edges[0]?.node.memo ?? '';
      expect(await transferMoney(app, { amountVnd: 250_000, memo })).toBe(200);
      await page.getByText('$10.00 was added to your budget').waitFor();
    });
  });

  it('finds what a request cost', async () => {
    const person = await createPerson(app);
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'laptop' } }));
    await haveAsked(app, secret ?? '', 'ping');
    await app.quiet(person.accountId);
    await run('Customer: what a request cost', { who: person, path: '/' }, async (hand) => {
      const { page } = hand;
      await hand.click(page.getByRole('table').getByRole('link').first());
      await page.getByRole('heading', { name: 'Request', level: 1 }).waitFor();
      await page.getByRole('cell').first().waitFor();
    });
  });

  it('sets an alert', async () => {
    const person = await createPerson(app);
    await run('Customer: an alert below a balance', { who: person, path: '/' }, async (hand) => {
      const { page } = hand;
      await hand.click(page.getByRole('link', { name: 'Alerts', exact: true }).first());
      await hand.type(page.getByLabel('Low balance, in USD'), '3');
      await hand.press('Enter');
      await expect.poll(async () => (await person.steyg.console.accounts.noticeSettings())?.lowBalance).toBe('3');
    });
  });
});

describe('an operator', () => {
  it('matches a transfer whose code was mistyped', async () => {
    const person = await createPerson(app);
    const { memo } = orThrow(await person.steyg.console.orders.createOrder({ input: { planId: 'starter' } }));
    const typo = memo.slice(0, -1);
    expect(await transferMoney(app, { amountVnd: 250_000, memo: `ck ${typo} cam on` })).toBe(200);
    await run(
      'Operator: match a lost transfer',
      { who: await signInOperator(app), path: '/operator' },
      async (hand) => {
        const { page } = hand;
        await hand.click(page.getByRole('link', { name: /Transfers waiting for review/ }));
        const row = page.getByRole('row', { name: new RegExp(typo) });
        await hand.click(row.getByRole('button', { name: 'Match manually' }));
        const dialog = page.getByRole('dialog');
        await hand.click(dialog.getByRole('row', { name: new RegExp(memo) }).getByRole('button'));
        await hand.click(dialog.getByRole('button', { name: `Match with order ${memo}` }));
        await page.getByText('The transfer was matched.').waitFor();
      },
    );
  });

  it('suspends a customer, and says why', async () => {
    const person = await createPerson(app, { name: 'Bình Minh' });
    await run(
      'Operator: suspend a customer with a reason',
      { who: await signInOperator(app), path: '/operator' },
      async (hand) => {
        const { page } = hand;
        await hand.press('Control+k');
        await hand.type(page.getByRole('combobox', { name: 'Search' }), person.email);
        await page.getByRole('option').first().waitFor();
        await hand.press('Enter');
        await hand.click(page.getByRole('button', { name: 'Suspend' }));
        const dialog = page.getByRole('dialog');
        await hand.type(dialog.getByLabel('Reason'), 'A stolen card');
        await hand.click(dialog.getByRole('button', { name: 'Suspend' }));
        await page.getByRole('button', { name: 'Reactivate' }).waitFor();
      },
    );
  });

  it('changes a price', async () =>
    run('Operator: change a price', { who: await signInOperator(app), path: '/operator' }, async (hand) => {
      const { page } = hand;
      await hand.press('Control+k');
      await hand.type(page.getByRole('combobox', { name: 'Search' }), 'sim-small');
      await page.getByRole('option').first().waitFor();
      await hand.press('Enter');
      const prices = page.getByRole('form', { name: 'Prices' });
      await hand.type(prices.getByLabel('Output'), '2.5');
      await hand.click(prices.getByRole('button', { name: 'Save prices' }));
      await page.getByText('Price history (2)').waitFor();
    }));

  it('adds a vendor, and sells its models', async () =>
    run(
      'Operator: add a vendor, models on sale',
      { who: await signInOperator(app), path: '/operator' },
      async (hand) => {
        const { page } = hand;
        await hand.click(page.getByRole('link', { name: 'Add a vendor' }));
        await hand.click(page.getByRole('radio', { name: 'Anthropic' }));
        await hand.type(page.getByLabel('API key of the upstream', { exact: true }), vendorKey);
        await hand.click(page.getByRole('button', { name: 'Try the key' }));
        await page.getByText(/answered in/).waitFor();
        await hand.type(page.getByLabel('Markup in percent'), '20');
        await hand.click(page.getByRole('button', { name: /^Put \d+ models on sale$/ }));
        await page.getByText(/models are on sale\./).waitFor();
      },
    ));

  it('finds a customer by mail', async () => {
    const person = await createPerson(app);
    await run(
      'Operator: find a customer by mail',
      { who: await signInOperator(app), path: '/operator' },
      async (hand) => {
        const { page } = hand;
        await hand.press('Control+k');
        await hand.type(page.getByRole('combobox', { name: 'Search' }), person.email);
        await page.getByRole('option').first().getByText('Customer').waitFor();
        await hand.press('Enter');
        await page.waitForURL('**/operator/accounts/*');
        await page.getByText(person.email).first().waitFor();
      },
    );
  });
});
