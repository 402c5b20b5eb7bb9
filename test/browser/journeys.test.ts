import { orThrow } from '@steyg/sdk';
import { describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { fill } from '../../dashboard/src/language/fill.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, openPage, watch } from './browser.ts';
import { ask, createPerson, mailTo, oneTimeCode, settled, signInOperator, transferMoney } from './people.ts';
import { app, browser, useService } from './service.ts';

// The main journeys of customers and operators, from the first click to the last.

useService();

/** A text of the page with anything in its places. */
function like(text: string): RegExp {
  const parts = text.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(parts.join('.+'));
}

describe('an account holder', () => {
  it.each([
    ['English', 'en-US', en],
    ['Vietnamese', 'vi-VN', vi],
  ] as const)(
    'signs up in %s, confirms the address in another tab, makes a key and sees the first request arrive',
    async (name, locale, t) => {
      const { page, unexpected } = await openPage(browser, app.url, { locale });
      await page.goto('/');
      await page.getByRole('link', { name: t.nav.signUp, exact: true }).first().click();
      const email = `an-${name.toLowerCase()}@example.com`;
      await page.getByLabel(t.signUp.name, { exact: true }).fill('An');
      await page.getByLabel(t.signIn.email).fill(email);
      await page.getByLabel(t.signIn.password, { exact: true }).fill('a long enough password');
      await page.getByRole('button', { name: t.signUp.action, exact: true }).click();
      await page.getByRole('heading', { name: t.signUp.mailTitle }).waitFor();

      const [link = ''] = (await mailTo(app, email)).links;
      const second = await watch(await page.context().newPage(), app.url);
      await second.page.goto(link);
      // Both tabs go on by themselves: the first one knows the password, the second one has its cookie.
      await page.waitForURL('**/start');
      await second.page.waitForURL('**/start');
      await second.page.close();

      await page.getByText(like(t.start.trial)).waitFor();
      await page.getByLabel(t.keys.name, { exact: true }).fill('laptop');
      await page.getByRole('button', { name: t.keys.create, exact: true }).click();
      const secret = await page.locator('.secret code').innerText();
      expect(secret).toMatch(/^sk-steyg-/);
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByRole('button', { name: fill(t.common.copyWhat, { what: t.keys.secret }) }).click();
      await page.getByRole('button', { name: t.common.copied }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
      // The settings of the tool carry the key that was just made.
      await page.getByLabel(t.connect.tool, { exact: true }).selectOption('claude-code');
      await page.locator('summary', { hasText: t.connect.manually }).click();
      expect(await page.locator('.connection pre').first().innerText()).toContain(
        `"ANTHROPIC_AUTH_TOKEN": "${secret}"`,
      );
      await page.getByText(t.start.waiting).waitFor();

      expect((await ask(app, secret, 'ping')).status).toBe(200);
      await page.getByText(like(t.start.arrived)).waitFor();
      await page.getByRole('link', { name: t.start.finish }).click();
      await page.getByRole('heading', { name: t.overview.title }).waitFor();
      await page.getByRole('cell', { name: 'sim-small' }).first().waitFor();

      // The key cannot be read again, and the page stores it nowhere.
      await page.getByRole('link', { name: t.nav.keys, exact: true }).click();
      await page.getByRole('rowheader', { name: /laptop/ }).waitFor();
      expect(await page.content()).not.toContain(secret);
      expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(secret);
      expect(unexpected()).toEqual([]);
      expect(second.unexpected()).toEqual([]);
      await page.context().close();
    },
  );

  it('uses the budget up, tops up by a bank transfer, and the same key works again', async () => {
    const person = await createPerson(app);
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'tool' } }));
    if (secret === null) throw new Error('a key without its secret');
    // The dearest model, at its longest answer: 0.96 USD a request.
    let status = 200;
    for (let count = 0; status === 200 && count < 10; count += 1) {
      const answer = await fetch(`${app.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'sim-large',
          max_completion_tokens: 64_000,
          messages: [
            {
              role: 'user',
              content: '[[usage {"prompt_tokens": 10, "completion_tokens": 64000, "total_tokens": 64010}]]',
            },
          ],
        }),
      });
      ({ status } = answer);
      await answer.text();
      await app.quiet(person.accountId);
    }
    expect(status).toBe(402);

    const { page, unexpected } = await openPage(browser, app.url);
    await person.signIn(page.context());
    await page.goto('/keys');
    await page.getByText('The budget is used up').waitFor();
    await page.locator('main').getByRole('link', { name: 'Top up' }).click();
    await page.getByRole('button', { name: 'Order Starter' }).click();
    await page.waitForURL('**/orders/*');
    await page.getByRole('img', { name: /VietQR/ }).waitFor();

    // Exactly what goes into the banking app is what the buttons copy.
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = async (what: string) => {
      // The button of the value before this one may still say that it has copied.
      await page.evaluate(`navigator.clipboard.writeText('')`);
      await page.getByRole('button', { name: `Copy: ${what}`, exact: true }).click();
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).not.toBe('');
      return (await page.evaluate('navigator.clipboard.readText()')) as string;
    };
    const memo = await copied('Memo');
    const amountVnd = Number(await copied('Amount'));
    expect(memo).toMatch(/^SY[0-9A-Z]{7}$/);
    expect(amountVnd).toBe(250_000);

    expect(await transferMoney(app, { amountVnd: 100_000, memo })).toBe(200);
    await page.getByText('₫100,000 of ₫250,000 received').waitFor();
    expect(await copied('Amount')).toBe('150000');
    expect(await transferMoney(app, { amountVnd: 150_000, memo })).toBe(200);
    // Without a reload.
    await page.getByText('$10.00 was added to your budget').waitFor();
    await page.getByRole('heading', { name: 'Receipt' }).waitFor();
    // The receipt: a page of its own, which works without a session and in both languages.
    const href = (await page.getByRole('link', { name: /^Print or save/ }).getAttribute('href')) ?? '';
    const receipt = await openPage(browser, app.url);
    await receipt.page.goto(href);
    await receipt.page.getByText(memo).first().waitFor();
    expect(await findBarriers(receipt.page)).toEqual([]);
    await receipt.page.locator('a[lang="vi"]').click();
    await receipt.page.getByText('250.000\u00a0₫').first().waitFor();
    expect(await findBarriers(receipt.page)).toEqual([]);
    expect(receipt.unexpected()).toEqual([]);
    await receipt.page.context().close();

    expect((await ask(app, secret, 'ping')).status).toBe(200);
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByText('Purchase').waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('deletes a key, which is refused from the next request on', async () => {
    const person = await createPerson(app);
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'old laptop' } }));
    expect((await ask(app, secret ?? '', 'ping')).status).toBe(200);
    const { page, unexpected } = await openPage(browser, app.url);
    await person.signIn(page.context());
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Delete key “old laptop”' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Key “old laptop” was deleted.').waitFor();
    const refused = await ask(app, secret ?? '', 'ping');
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ error: { message: 'Invalid API key' } });
    await page.getByText('No keys yet.').waitFor();
    await page.getByLabel('Show deleted keys').check();
    await page.getByRole('rowheader', { name: /old laptop/ }).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('restricts a key to a model and a limit, and rotates it', async () => {
    const person = await createPerson(app);
    const { page, unexpected } = await openPage(browser, app.url);
    await person.signIn(page.context());
    await page.goto('/keys');
    await settled(page);
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('tight');
    await dialog.getByLabel('sim-small').check();
    await dialog.getByLabel('Per day').fill('0.5');
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const secret = await page.locator('.secret code').innerText();
    expect(await findBarriers(page)).toEqual([]);
    // Shown once: the dialog closes when people say that they have it, and not by accident.
    await page.keyboard.press('Escape');
    await page.locator('.secret code').waitFor();
    await page.getByLabel('I have stored it').check();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('$0.50 a day').waitFor();
    expect((await ask(app, secret, 'ping', 'sim-small')).status).toBe(200);
    expect((await ask(app, secret, 'ping', 'sim-large')).status).toBe(403);

    await page.getByRole('button', { name: 'Rotate key “tight”' }).click();
    await dialog.getByLabel('The old key keeps working for').selectOption('0');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    const next = await page.locator('.secret code').innerText();
    expect(next).not.toBe(secret);
    expect((await ask(app, next, 'ping', 'sim-large')).status).toBe(403);
    expect((await ask(app, secret, 'ping')).status).toBe(401);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('signs in with a one-time code once that is set up', async () => {
    const person = await createPerson(app);
    const first = await openPage(browser, app.url);
    await person.signIn(first.page.context());
    await first.page.goto('/security');
    await first.page.getByRole('button', { name: 'Set up 2FA' }).click();
    const dialog = first.page.getByRole('dialog');
    await dialog.getByLabel('Your current password').fill(person.password);
    await dialog.getByRole('button', { name: 'Next' }).click();
    const secret = await dialog.locator('.copy-value code').innerText();
    await dialog.getByLabel('Code', { exact: true }).fill(oneTimeCode(secret));
    await dialog.getByRole('button', { name: 'Codes kept: turn 2FA on' }).click();
    await first.page.getByText('Signing in also asks for a code').waitFor();
    expect(first.unexpected()).toEqual([]);
    await first.page.context().close();

    const { page, unexpected } = await openPage(browser, app.url);
    // The sign-in leads back to the requested page.
    await page.goto('/activity?range=week');
    await page.getByLabel('E-mail address').fill(person.email);
    await page.getByLabel('Password').fill('not this one');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The e-mail address or the password is wrong.').waitFor();
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    // A code counts once, and this one was used.
    await page.getByLabel('Code', { exact: true }).fill(oneTimeCode(secret, Date.now() + 30_000));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/activity?range=week');
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('talks to a model in either protocol, sees what went over the wire and what it cost, and leaves nothing behind', async () => {
    const person = await createPerson(app);
    const { page, unexpected } = await openPage(browser, app.url);
    await person.signIn(page.context());
    await page.goto('/playground?model=sim-medium');
    await settled(page);
    await page.getByRole('button', { name: 'Use a temporary key' }).click();
    await page.getByText('Key in use:').waitFor();
    const talk = async (protocol: string, word: string, path: string, event: string) => {
      await page.getByRole('radio', { name: protocol }).click();
      await page.getByLabel('Message', { exact: true }).fill(`Hello there [[say ${word} is the answer.]]`);
      await page.getByRole('button', { name: 'Send' }).click();
      const exchange = page.locator('.exchange').last();
      await exchange.locator('.answer', { hasText: `${word} is the answer.` }).waitFor();
      // Tokens, cost and times, with the way to the receipt.
      await exchange.getByText(/input, .* cache and .* output tokens · \$/).waitFor();
      await exchange.getByText(/first byte after .* done in /).waitFor();
      await exchange.getByText(/Raw request and events/).click();
      const raw = await exchange.locator('.raw').innerText();
      expect(raw).toContain(`POST ${path}`);
      expect(raw).toContain('"model": "sim-medium"');
      expect(raw).toContain(event);
      expect(raw).not.toMatch(/sk-steyg-\w/);
      return exchange;
    };
    await talk('Messages', 'Mango', '/api/v1/messages', '"type":"content_block_delta"');
    expect(await findBarriers(page)).toEqual([]);
    const last = await talk(
      'Chat completions',
      'Papaya',
      '/api/v1/chat/completions',
      '"object":"chat.completion.chunk"',
    );
    await app.quiet(person.accountId);
    const entries = await app.ledger(person.accountId);
    expect(entries.map(({ model, protocol, stream }) => [model, protocol, stream])).toEqual([
      ['sim-medium', 'chat-completions', true],
      ['sim-medium', 'messages', true],
    ]);
    // The second question carried the first exchange along: a conversation, across protocols.
    const body = app.simulator.requests().at(-1)?.body.toString('utf8') ?? '';
    expect(body).toContain('Mango is the answer.');
    await last.getByRole('link', { name: 'Receipt' }).click();
    await page.getByRole('heading', { name: 'Request', level: 1 }).waitFor();
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toMatch(
      /Papaya|sk-steyg/,
    );
    expect(app.logged.filter((line) => line.includes('Papaya'))).toEqual([]);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('takes the ledger home as CSV', async () => {
    const person = await createPerson(app);
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'csv' } }));
    for (let count = 0; count < 3; count += 1) expect((await ask(app, secret ?? '', 'ping')).status).toBe(200);
    await app.quiet(person.accountId);
    const { page, unexpected } = await openPage(browser, app.url);
    await person.signIn(page.context());
    await page.goto('/activity');
    await page.getByRole('rowheader').first().waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const download = await downloading;
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString('utf8').trimEnd().split('\r\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(/^request_id,/);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('an operator', () => {
  it('adds a model, gives it prices and a route, tests it, and changes a price after a look at what that means', async () => {
    const session = await signInOperator(app);
    const customer = await app.customer();
    const { page, unexpected } = await openPage(browser, app.url);
    await session.signIn(page.context());
    await page.goto('/operator/catalog');
    await page.getByRole('button', { name: 'Add a model' }).click();
    const dialog = page.getByRole('dialog');
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByLabel('Catalog id').fill('lotus-1');
    await dialog.getByLabel('Name', { exact: true }).fill('Lotus 1');
    await dialog.getByLabel('Family').fill('lotus');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL('**/operator/catalog/lotus-1');
    await page.getByText('no price yet').waitFor();

    const prices = page.getByRole('form', { name: 'Prices' });
    await prices.getByLabel('Input', { exact: true }).fill('2');
    await prices.getByLabel('Cache hit').fill('0.2');
    await prices.getByLabel('Output').fill('8');
    await prices.getByRole('heading', { name: 'Effect of this change' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await prices.getByRole('button', { name: 'Save prices' }).click();
    await page.getByText('Price history (1)').waitFor();

    await page.getByRole('button', { name: 'Add a route' }).click();
    const routes = page.getByRole('form', { name: 'Routes' });
    await routes.getByLabel('Upstream', { exact: true }).selectOption('simulator-chat');
    await routes.getByLabel('Upstream model').fill('sim-medium');
    await routes.getByRole('button', { name: 'Save routes' }).click();
    await page.getByText('callable').waitFor();
    await routes.getByRole('button', { name: 'Test the route simulator-chat' }).click();
    await routes.getByText(/answered in/).waitFor();

    const before = await ask(app, customer.secret, 'ping', 'lotus-1');
    expect(before.status).toBe(200);
    await app.quiet(customer.accountId);

    await page.reload();
    await prices.getByLabel('Output').fill('10');
    // 2 x 30,000 + 0.2 x 150,000 + 8 x 4,000 = 0.122 USD a step before, 0.13 USD with the dearer output.
    const row = (name: string) => prices.getByRole('row').filter({ hasText: name });
    await row('Cost of a step').getByText('$0.13', { exact: true }).waitFor();
    expect(await row('Cost of a step').innerText()).toContain('$0.122');
    expect(await row('Steps for 5 USD').innerText()).toMatch(/40\s+38/);
    expect(await row('Output in VND').innerText()).toContain('₫250,000 → ₫230,000');
    await prices.getByRole('button', { name: 'Save prices' }).click();
    await page.getByText('Price history (2)').waitFor();
    await ask(app, customer.secret, 'ping', 'lotus-1');
    await app.quiet(customer.accountId);
    const [latest, first] = await app.ledger(customer.accountId);
    expect([first?.['price_output'], latest?.['price_output']].map(String)).toEqual(['8000000', '10000000']);

    // Public: visible without a session.
    const visitor = await openPage(browser, app.url);
    await visitor.page.goto('/');
    const shown = visitor.page.getByRole('row').filter({ hasText: 'lotus-1' });
    await shown.waitFor();
    expect(await shown.innerText()).toContain('$10.00');
    expect(await shown.innerText()).toContain('38');
    expect(visitor.unexpected()).toEqual([]);
    await visitor.page.context().close();

    await page.goto('/operator/audit');
    await page.getByRole('button', { name: 'Show: Prices set model:lotus-1' }).first().click();
    await page.getByRole('dialog').getByText(/10/).first().waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('cannot change a price before one-time codes are set up; afterwards it counts from the next request', async () => {
    const person = await createPerson(app);
    const customer = await app.customer();
    await app.pool.query('UPDATE app_user SET operator = true WHERE email = $1', [person.email]);
    const { page, unexpected } = await openPage(browser, app.url);
    await person.signIn(page.context());
    await page.goto('/operator/catalog/sim-small');
    const prices = page.getByRole('form', { name: 'Prices' });
    await prices.getByLabel('Output').fill('2.5');
    await prices.getByRole('button', { name: 'Save prices' }).click();
    await prices.getByText('Changes to money or prices require 2FA').waitFor();
    await ask(app, customer.secret, 'ping');
    await app.quiet(customer.accountId);

    // Over the page where the person is: what was typed stays.
    await page.getByRole('button', { name: 'Set up 2FA' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your current password').fill(person.password);
    await dialog.getByRole('button', { name: 'Next' }).click();
    const secret = await dialog.locator('.copy-value code').innerText();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByLabel('Code', { exact: true }).fill(oneTimeCode(secret));
    await dialog.getByRole('button', { name: 'Codes kept: turn 2FA on' }).click();
    await dialog.waitFor({ state: 'detached' });

    expect(new URL(page.url()).pathname).toBe('/operator/catalog/sim-small');
    expect(await prices.getByLabel('Output').inputValue()).toBe('2.5');
    await prices.getByRole('button', { name: 'Save prices' }).click();
    await page.getByText('Price history (2)').waitFor();
    await ask(app, customer.secret, 'ping');
    await app.quiet(customer.accountId);
    const [latest, first] = await app.ledger(customer.accountId);
    expect([first?.['price_output'], latest?.['price_output']].map(String)).toEqual(['1250000', '2500000']);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });

  it('gives budget once, although the answer was lost and it was asked for again', async () => {
    const person = await createPerson(app, { name: 'Lan Anh' });
    const { page } = await openPage(browser, app.url);
    await (await signInOperator(app)).signIn(page.context());
    await page.goto('/operator/accounts');
    await page.getByLabel('Search').fill('lan anh');
    await page.getByRole('link', { name: 'Lan Anh' }).click();
    await page.getByRole('button', { name: 'Add budget' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Amount in USD').fill('2.5');
    await dialog.getByLabel('Validity').selectOption('30');
    await dialog.getByLabel('Reason').fill('For the outage of Monday');
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('giveGrant') !== true) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await dialog.getByRole('button', { name: 'Add budget' }).click();
    await dialog.getByRole('alert').waitFor();
    await page.unroute('**/graphql');
    await dialog.getByRole('button', { name: 'Add budget' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { rows } = await app.pool.query(`SELECT amount FROM "grant" WHERE account_id = $1 AND kind = 'adjustment'`, [
      person.accountId,
    ]);
    expect(rows).toEqual([{ amount: 2_500_000_000_000n }]);
    await page.context().close();
  });

  it('finds an account, gives it budget, takes it back, suspends the account and lets it go on', async () => {
    const person = await createPerson(app, { name: 'Bình Minh' });
    const { secret } = orThrow(await person.steyg.console.keys.createKey({ input: { name: 'k' } }));
    const { page, unexpected } = await openPage(browser, app.url);
    await (await signInOperator(app)).signIn(page.context());
    await page.goto('/operator/accounts');
    await page.getByRole('heading', { name: 'Accounts' }).waitFor();
    await page.getByLabel('Search').fill('bình');
    await page.getByRole('link', { name: 'Bình Minh' }).click();
    await page.getByRole('button', { name: 'Add budget' }).click();
    const dialog = page.getByRole('dialog');
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByLabel('Amount in USD').fill('2.5');
    await dialog.getByLabel('Reason').fill('For the outage of Monday');
    await dialog.getByRole('button', { name: 'Add budget' }).click();
    await page.getByText('For the outage of Monday', { exact: true }).waitFor();
    await page.getByText('$7.50').first().waitFor();
    // And takes it back.
    await page.getByRole('button', { name: 'Take back $2.50' }).click();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill('Given to the wrong account');
    await dialog.getByRole('button', { name: 'Take back $2.50' }).click();
    await page.getByText('$2.50 was taken back.').waitFor();
    await page.getByRole('button', { name: 'Take back $2.50' }).waitFor({ state: 'detached' });
    await page.getByText('$5.00').first().waitFor();

    await page.getByRole('button', { name: 'Suspend' }).click();
    await dialog.getByRole('button', { name: 'Suspend' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Reactivate' }).waitFor();
    expect((await ask(app, secret ?? '', 'ping')).status).toBe(403);
    await page.getByRole('button', { name: 'Reactivate' }).click();
    await dialog.getByRole('button', { name: 'Reactivate' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Suspend' }).waitFor();
    expect((await ask(app, secret ?? '', 'ping')).status).toBe(200);

    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByText('All invariants hold.').waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
