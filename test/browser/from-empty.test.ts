import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { orThrow } from '@steyg/sdk';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { en } from '../../dashboard/src/language/en.ts';
import { fill } from '../../dashboard/src/language/fill.ts';
import { operatorEn } from '../../dashboard/src/language/operator-en.ts';
import { operatorVi } from '../../dashboard/src/language/operator-vi.ts';
import { vi } from '../../dashboard/src/language/vi.ts';
import { findBarriers, openPage, overflow } from './browser.ts';
import { createPerson, mailTo, oneTimeCode, operatorSignIn, type Person, settled, transferMoney } from './people.ts';
import { app, browser, openAs, useService } from './service.ts';

// From an install in which nobody has signed in yet to a customer's paid request at a vendor that nobody knew.

const secret = 'key-of-a-vendor-that-nobody-knew';

/** A vendor of chat completions with one model and its price, as OpenRouter states it. */
let vendor: Server;
const asked: string[] = [];

beforeAll(async () => {
  vendor = createServer((request, response) => {
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    asked.push(`${request.method} ${request.url}`);
    request.resume();
    if (request.headers.authorization !== `Bearer ${secret}`) {
      return send(401, { error: { message: 'Incorrect API key provided', type: 'invalid_request_error' } });
    }
    if (request.url === '/v1/models') {
      const pricing = { prompt: '0.000002', completion: '0.00001' };
      return send(200, { data: [{ id: 'novel-1', object: 'model', context_length: 65_536, pricing }] });
    }
    return send(200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_767_225_600,
      model: 'novel-1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'pong' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
  });
  await new Promise<void>((done) => {
    vendor.listen(0, '127.0.0.1', done);
  });
});
useService({ env: { ALLOW_PRIVATE_UPSTREAMS: '1' } });
afterAll(() => vendor?.close());

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/**
 * What a person does, as the browser saw it: every press of a pointer in every page of the context, mails included, and every
 * key that presses a control. Nothing is counted by hand.
 */
async function countedIn(context: BrowserContext) {
  const done = { clicks: 0, fields: 0 };
  await context.exposeFunction('countClick', () => {
    done.clicks += 1;
  });
  await context.addInitScript(() => {
    const seen = (event: Event) => {
      if (event.isTrusted) (globalThis as unknown as { countClick(): void }).countClick();
    };
    addEventListener('pointerdown', seen, { capture: true });
    addEventListener('keydown', (event) => ['Enter', ' '].includes(event.key) && seen(event), { capture: true });
  });
  return {
    done,
    async type(target: Locator, text: string) {
      await target.fill(text);
      done.fields += 1;
    },
  };
}
type Counted = Awaited<ReturnType<typeof countedIn>>;

/** A mail as its reader's program shows it. */
async function openMail(context: BrowserContext, email: string): Promise<Page> {
  const { subject, links } = await mailTo(app, email);
  const mail = await context.newPage();
  const body = `<h1>${subject}</h1>${links.map((link) => `<a href="${link}">${link}</a>`).join('')}`;
  await mail.route('**/mail', (route) => route.fulfill({ contentType: 'text/html; charset=utf-8', body }));
  await mail.goto(`${app.url}/mail`);
  return mail;
}

/** In all: half for two people's accounts and 2FA, the rest for the vendor's models, a key and an order. */
const mostClicks = 10;
const mostSeconds = 180;

describe('an empty install', () => {
  it('sells a model of any vendor to a paying customer within three minutes, by counted clicks', async () => {
    const begin = Date.now();
    const { page, unexpected } = await openPage(browser, app.url);
    const operator = await countedIn(page.context());
    await page.goto('/operator');
    const { email, password } = operatorSignIn;
    await operator.type(page.getByLabel(en.signIn.email), email);
    await operator.type(page.getByLabel(en.signIn.password, { exact: true }), password);
    await page.getByRole('button', { name: en.signIn.action, exact: true }).click();
    // The codes come at once: the password was typed a moment ago.
    await page.getByRole('heading', { name: en.security.enable }).waitFor();
    const code = await page.locator('.copy-value code').innerText();
    await operator.type(page.getByLabel(en.signIn.code, { exact: true }), oneTimeCode(code));
    await page.getByRole('button', { name: en.security.enableKept }).click();
    // Where the person wanted to go: the list of what is missing, one step shorter.
    await page.getByRole('heading', { name: operatorEn.homeTitle, level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/operator');
    await page.getByRole('link', { name: operatorEn.setupActions.VENDOR }).click();
    await operator.type(page.getByLabel(en.connect.baseUrl), addressOf(vendor));
    await operator.type(page.getByLabel(operatorEn.secret, { exact: true }), secret);
    await page.getByRole('button', { name: operatorEn.findModels }).click();
    await page.getByRole('row', { name: /novel-1/ }).waitFor();
    await page.getByRole('button', { name: fill(operatorEn.sellModels.one, { n: '1' }) }).click();
    await page.getByText(fill(operatorEn.onSaleNow.one, { n: '1' })).waitFor();
    expect(asked).toContain('POST /v1/chat/completions');
    expect(await page.content()).not.toContain(secret);
    expect(unexpected()).toEqual([]);
    await page.context().close();

    const { answer, customer } = await buyAndAsk();
    const seconds = Math.ceil((Date.now() - begin) / 1_000);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('pong');
    const both = [operator.done, customer.done];
    process.stdout.write(
      `from an empty install to a paid request: ${both.map(({ clicks, fields }) => `${clicks} clicks, ${fields} fields`).join(' + ')}; ${seconds} s\n`,
    );
    // A driver that counts nothing would meet any bound.
    for (const { clicks } of both) expect(clicks).toBeGreaterThanOrEqual(4);
    expect(operator.done.clicks + customer.done.clicks).toBeLessThanOrEqual(mostClicks);
    expect(seconds).toBeLessThan(mostSeconds);
    // An answer ends before its entry is written.
    const charged = async () =>
      (
        await app.pool.query(
          `SELECT e.price_input, e.price_output, (SELECT count(*)::int FROM purchase_order WHERE status = 'paid') AS paid
             FROM ledger_entry e WHERE e.model = 'novel-1'`,
        )
      ).rows;
    await expect.poll(charged).toEqual([{ price_input: 2_300_000n, price_output: 11_500_000n, paid: 1 }]);
  });

  it.each([
    ['English', 'en-US', en, operatorEn],
    ['Vietnamese', 'vi-VN', vi, operatorVi],
  ] as const)(
    'says in %s at its field what is wrong with an address and a key, on a phone',
    async (_name, locale, t, o) => {
      const { page, unexpected } = await openAs(await anOperator(), '/operator/vendors', {
        locale,
        viewport: { width: 390, height: 844 },
      });
      await page.getByLabel(t.connect.baseUrl).fill(addressOf(vendor));
      await page.getByLabel(o.secret, { exact: true }).fill('a-wrong-key');
      await page.getByRole('button', { name: o.findModels }).click();
      await page.locator('.error-text').waitFor();
      expect(await page.locator('[aria-invalid="true"]').getAttribute('type')).toBe('password');
      await page.getByLabel(o.secret, { exact: true }).fill(secret);
      await page.getByRole('button', { name: o.findModels }).click();
      await page.getByRole('row', { name: /novel-1/ }).waitFor();
      expect([...(await findBarriers(page)), ...(await overflow(page))]).toEqual([]);
      expect(unexpected()).toEqual([]);
      await page.context().close();
    },
  );
});

/** Another operator, with one-time codes. */
async function anOperator(): Promise<Person> {
  const person = await createPerson(app);
  await app.pool.query('UPDATE app_user SET operator = true WHERE email = $1', [person.email]);
  const { people } = person.steyg.console;
  const { uri } = orThrow(await people.beginSecondFactor({ password: person.password }));
  orThrow(await people.confirmSecondFactor({ code: oneTimeCode(new URL(uri).searchParams.get('secret') ?? '') }));
  return person;
}

/** A newcomer signs up, pays by transfer and asks the new model with a key of their own. */
async function buyAndAsk(): Promise<{ answer: Response; customer: Counted }> {
  const { page, unexpected } = await openPage(browser, app.url);
  const context = page.context();
  const customer = await countedIn(context);
  const { type } = customer;
  await page.goto('/sign-up');
  const email = 'first-customer@example.com';
  await type(page.getByLabel(en.signUp.name, { exact: true }), 'An');
  await type(page.getByLabel(en.signIn.email), email);
  await type(page.getByLabel(en.signIn.password, { exact: true }), 'a long enough password');
  await page.getByRole('button', { name: en.signUp.action, exact: true }).click();
  await page.getByRole('heading', { name: en.signUp.mailTitle }).waitFor();
  // The link in the mail opens another tab; the first one goes on by itself.
  const mail = await openMail(context, email);
  await mail.getByRole('link').first().click();
  await page.waitForURL('**/start');
  await mail.close();
  await page.getByRole('button', { name: en.keys.create, exact: true }).click();
  const key = await page.locator('.secret code').innerText();
  await page.getByRole('link', { name: en.nav.topUp, exact: true }).first().click();
  await settled(page);
  await page.getByRole('button', { name: 'Order Starter' }).click();
  await page.waitForURL('**/orders/*');
  await page.getByRole('img', { name: /VietQR/ }).waitFor();
  const { rows } = await app.pool.query(`SELECT memo, price_vnd FROM purchase_order`);
  await transferMoney(app, { amountVnd: Number(rows[0]?.price_vnd), memo: String(rows[0]?.memo) });
  await page.getByRole('heading', { name: 'Receipt' }).waitFor();
  expect(unexpected()).toEqual([]);
  await context.close();
  const answer = await fetch(`${app.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'novel-1', messages: [{ role: 'user', content: 'ping' }] }),
  });
  return { answer, customer };
}
