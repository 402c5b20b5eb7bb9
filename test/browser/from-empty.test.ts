import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { orThrow } from '@steyg/sdk';
import type { Locator, Page } from 'playwright-core';
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

/** What a person does, counted. */
function counted() {
  const done = { clicks: 0, fields: 0 };
  return {
    done,
    async click(target: Locator) {
      await target.click();
      done.clicks += 1;
    },
    /** A link outside of the page under test: in a mail, or in the navigation. */
    follow() {
      done.clicks += 1;
    },
    async type(target: Locator, text: string) {
      await target.fill(text);
      done.fields += 1;
    },
  };
}

/** The wish is 10 clicks in all. Two people's accounts and 2FA take 8 of these, and the vendor's models 4. */
const mostClicks = { operator: 9, customer: 6 };
const mostSeconds = 180;

describe('an empty install', () => {
  it('sells a model of any vendor to a paying customer within three minutes, by counted clicks', async () => {
    const begin = Date.now();
    const operator = counted();
    const { page, unexpected } = await openPage(browser, app.url);
    await page.goto('/operator');
    const { email, password } = operatorSignIn;
    await operator.type(page.getByLabel(en.signIn.email), email);
    await operator.type(page.getByLabel(en.signIn.password, { exact: true }), password);
    await operator.click(page.getByRole('button', { name: en.signIn.action, exact: true }));
    await page.getByRole('heading', { name: operatorEn.homeTitle, level: 1 }).waitFor();
    await setUpCodes(page, operator, password);
    // Where the person was: the list of what is missing, one step shorter.
    expect(new URL(page.url()).pathname).toBe('/operator');
    await operator.click(page.getByRole('link', { name: operatorEn.setupActions.VENDOR }));
    await operator.click(page.getByRole('radio', { name: operatorEn.anyVendor }));
    await operator.type(page.getByLabel(en.connect.baseUrl), addressOf(vendor));
    await operator.type(page.getByLabel(operatorEn.secret, { exact: true }), secret);
    await operator.click(page.getByRole('button', { name: operatorEn.findModels }));
    await page.getByRole('row', { name: /novel-1/ }).waitFor();
    await operator.click(page.getByRole('button', { name: fill(operatorEn.sellModels.one, { n: '1' }) }));
    await page.getByText(fill(operatorEn.onSaleNow.one, { n: '1' })).waitFor();
    expect(asked).toContain('POST /v1/chat/completions');
    expect(await page.content()).not.toContain(secret);
    expect(unexpected()).toEqual([]);
    await page.context().close();

    const customer = counted();
    const answer = await buyAndAsk(customer);
    const seconds = Math.ceil((Date.now() - begin) / 1_000);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('pong');
    const both = [operator.done, customer.done];
    process.stdout.write(
      `from an empty install to a paid request: ${both.map(({ clicks, fields }) => `${clicks} clicks, ${fields} fields`).join(' + ')}; ${seconds} s\n`,
    );
    expect(operator.done.clicks).toBeLessThanOrEqual(mostClicks.operator);
    expect(customer.done.clicks).toBeLessThanOrEqual(mostClicks.customer);
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
      await page.getByRole('radio', { name: o.anyVendor }).check();
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

/** One-time codes, over the page where the operator is. */
async function setUpCodes(page: Page, { click, type }: ReturnType<typeof counted>, password: string): Promise<void> {
  await click(page.locator('.steps').getByRole('button', { name: en.security.setUp }));
  const dialog = page.getByRole('dialog');
  await type(dialog.getByLabel(en.security.passwordAgain), password);
  await click(dialog.getByRole('button', { name: en.security.next }));
  const code = await dialog.locator('.copy-value code').innerText();
  await click(dialog.getByLabel(en.common.secretKept));
  await type(dialog.getByLabel(en.signIn.code, { exact: true }), oneTimeCode(code));
  await click(dialog.getByRole('button', { name: en.security.enable }));
  await dialog.waitFor({ state: 'detached' });
}

/** A newcomer signs up, pays by transfer and asks the new model with a key of their own. */
async function buyAndAsk({ click, follow, type }: ReturnType<typeof counted>): Promise<Response> {
  const { page, unexpected } = await openPage(browser, app.url);
  await page.goto('/sign-up');
  const email = 'first-customer@example.com';
  await type(page.getByLabel(en.signUp.name, { exact: true }), 'An');
  await type(page.getByLabel(en.signIn.email), email);
  await type(page.getByLabel(en.signIn.password, { exact: true }), 'a long enough password');
  await click(page.getByRole('button', { name: en.signUp.action, exact: true }));
  await page.getByRole('heading', { name: en.signUp.mailTitle }).waitFor();
  // The link in the mail opens another tab; the first one goes on by itself.
  follow();
  const second = await page.context().newPage();
  await second.goto((await mailTo(app, email)).links[0] ?? '');
  await page.waitForURL('**/start');
  await second.close();
  await click(page.getByRole('button', { name: en.keys.create, exact: true }));
  const key = await page.locator('.secret code').innerText();
  follow();
  await page.goto('/topup');
  await settled(page);
  await click(page.getByRole('button', { name: 'Order Starter' }));
  await page.waitForURL('**/orders/*');
  await page.getByRole('img', { name: /VietQR/ }).waitFor();
  const { rows } = await app.pool.query(`SELECT memo, price_vnd FROM purchase_order`);
  await transferMoney(app, { amountVnd: Number(rows[0]?.price_vnd), memo: String(rows[0]?.memo) });
  await page.getByRole('heading', { name: 'Receipt' }).waitFor();
  expect(unexpected()).toEqual([]);
  await page.context().close();
  return fetch(`${app.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'novel-1', messages: [{ role: 'user', content: 'ping' }] }),
  });
}
