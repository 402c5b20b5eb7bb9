import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { orThrow } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBarriers, openPage, unfold } from './browser.ts';
import { createPerson, oneTimeCode, signInOperator } from './people.ts';
import { app, browser, openAs, useService } from './service.ts';

// Refusals by others: an endpoint that fails, an operator who suspends an account, a sign-in that expired.

useService({ scheduled: true, env: { ALLOW_PRIVATE_WEBHOOKS: '1' } });

describe('a webhook endpoint that fails', () => {
  let server: Server;
  let status = 500;
  const ids: unknown[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      ids.push(request.headers['webhook-id']);
      request.resume();
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => server.close());

  it('has its attempts and its end in the log, and is replayed with the same body on request', async () => {
    const person = await createPerson(app);
    const { port } = server.address() as AddressInfo;
    orThrow(
      await person.steyg.console.webhooks.createWebhookEndpoint({
        input: { url: `http://127.0.0.1:${port}/hook`, description: 'of the test' },
      }),
    );
    const { page, unexpected } = await openAs(person, '/notices');
    await unfold(page, 'Webhooks');
    const sendTest = async () => {
      await page.getByRole('button', { name: 'Test', exact: true }).click();
      await page.getByText('A test event is on its way.').first().waitFor();
    };
    await sendTest();
    await page.getByRole('button', { name: 'Deliveries' }).click();
    const dialog = page.getByRole('dialog');
    const rows = dialog.locator('.notices > li');
    await rows.getByText('under way').waitFor();
    await rows.getByText(/status 500/).waitFor();
    await rows.getByText(/Next attempt:/).waitFor();
    expect(await findBarriers(page)).toEqual([]);

    // A day of tries later; whatever is sent next takes along what is due.
    await app.pool.query(
      `UPDATE webhook_delivery SET attempts = 7, next_attempt_at = now() WHERE endpoint_id IN
         (SELECT id FROM webhook_endpoint WHERE account_id = $1)`,
      [person.accountId],
    );
    await page.keyboard.press('Escape');
    await sendTest();
    await page.getByRole('button', { name: 'Deliveries' }).click();
    const failed = rows.filter({ hasText: 'given up' });
    await failed.waitFor();
    expect(await failed.getByText(/status 500/).count()).toBe(2);
    expect(await failed.getByText(/Next attempt:/).count()).toBe(0);

    status = 204;
    const before = ids.length;
    await failed.getByRole('button', { name: 'Resend' }).click();
    await page.getByText('Resending.').first().waitFor();
    // The program can tell that it is the same; the second event may be tried again meanwhile.
    await expect.poll(() => ids.slice(before)).toContain(ids[0]);
    await rows
      .filter({ hasText: 'delivered' })
      .getByText(/status 204/)
      .first()
      .waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('an account that is suspended while its page is open', () => {
  it('says so on the page, and what it means, as soon as something is refused', async () => {
    const person = await createPerson(app);
    const { page, unexpected } = await openAs(person, '/keys');
    expect(await page.getByText('This account is suspended').count()).toBe(0);
    const operator = await signInOperator(app);
    const accountId = (await person.steyg.console.people.me())?.accounts[0]?.id ?? '';
    orThrow(await operator.steyg.console.operator.setAccountStatus({ accountId, status: 'SUSPENDED' }));

    await page
      .getByLabel('Name', { exact: true })
      .or(page.getByRole('button', { name: 'Create key' }))
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('too late');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/suspended/)
      .waitFor();
    await page.getByText(/its API keys are refused and it is read-only/).waitFor();
    await page.keyboard.press('Escape');
    // Nothing is offered that would be refused.
    await expect.poll(() => page.getByRole('button', { name: 'Create key' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor();
    await page.getByText(/its API keys are refused/).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.goto('/topup');
    await page.getByText('$10.00 of budget').waitFor();
    expect(await page.getByRole('button', { name: /^Order/ }).count()).toBe(0);
    expect(await page.getByText('Only owners and admins').count()).toBe(0);
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});

describe('a sign-in whose password step is over', () => {
  it('goes back to the password with a sentence, and the address still there', async () => {
    const person = await createPerson(app);
    const { people } = person.steyg.console;
    const { uri } = orThrow(await people.beginSecondFactor({ password: person.password }));
    const secret = new URL(uri).searchParams.get('secret') ?? '';
    orThrow(await people.confirmSecondFactor({ code: oneTimeCode(secret) }));

    const { page, unexpected } = await openPage(browser, app.url);
    await page.goto('/sign-in');
    await page.getByLabel('E-mail address').fill(person.email);
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Code', { exact: true }).fill(oneTimeCode(secret, Date.now() + 30_000));
    // As if so much time had passed that the browser forgot it.
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Enter your password again, then a new code.').waitFor();
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(person.email);
    expect(await findBarriers(page)).toEqual([]);
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Code', { exact: true }).fill(oneTimeCode(secret, Date.now() + 30_000));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(unexpected()).toEqual([]);
    await page.context().close();
  });
});
