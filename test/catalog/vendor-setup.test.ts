/** Adding a vendor over GraphQL: the key is tried first, then everything is there or nothing, and the model is sold. */

import { orThrow } from '@steyg/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readVendors } from '../../server/catalog/vendors.ts';
import { createSimulator, type Simulator } from '../../server/simulator/simulator.ts';
import { createPerson, type Person, signInOperator, siteSettings } from '../browser/people.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { playedBy } from '../support/vendors.ts';

const secret = 'sk-ant-only-this-key';

let vendor: Simulator;
let app: TestApp;
let operator: Pick<Person, 'steyg' | 'signIn'>;

beforeAll(async () => {
  vendor = await createSimulator({ apiKey: secret, record: true, tokensPerSecond: Number.POSITIVE_INFINITY });
  const port = await freePort();
  app = await startApp({
    env: siteSettings(port),
    vendors: async () => playedBy(vendor.url, await readVendors()),
  });
  operator = await signInOperator(app);
});
afterAll(async () => {
  await app?.close();
  await vendor?.close();
});

const control = () => operator.steyg.console.operator;

async function vendorNow(vendorId: string) {
  const list = await control().vendors();
  const found = list?.find((one) => one.vendorId === vendorId);
  if (found === undefined) throw new Error(`no vendor ${vendorId}`);
  return found;
}

async function ask(model: string) {
  const customer = await app.customer();
  const response = await fetch(`${app.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${customer.secret}`,
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model, max_tokens: 64, messages: [{ role: 'user', content: '[[say it works]]' }] }),
  });
  const text = await response.text();
  await app.quiet(customer.accountId);
  return { status: response.status, text, entry: (await app.ledger(customer.accountId))[0] };
}

describe('the vendors', () => {
  test('are listed with their models at list prices, and what is here of them', async () => {
    const shown = await vendorNow('anthropic');
    expect(shown).toMatchObject({ name: 'Anthropic', keys: [], sourceDate: expect.stringMatching(/^\d{4}-/) });
    expect(shown.models.find(({ modelId }) => modelId === 'claude-haiku-5-5')).toMatchObject({
      routeId: null,
      costs: { input: '0.1', output: '0.5', tiers: [{ abovePromptTokens: 100_000, input: '0.5', output: '2.5' }] },
    });
  });
});

describe('a key', () => {
  test('is tried at the vendor without a charge, and stored nowhere', async () => {
    vendor.clearRequests();
    const wrong = orThrow(await control().testVendorKey({ vendorId: 'anthropic', secret: 'sk-wrong' }));
    expect(wrong).toMatchObject({ ok: false, status: 401, problem: expect.stringContaining('refused the key') });
    const right = orThrow(await control().testVendorKey({ vendorId: 'anthropic', secret }));
    expect(right).toMatchObject({ ok: true, status: 200, problem: null });
    expect(vendor.requests().map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /as/anthropic/v1/models',
      'GET /as/anthropic/v1/models',
    ]);
    const { rows } = await app.pool.query('SELECT FROM upstream_key');
    expect(rows).toEqual([]);
    expect(app.logged.join('\n')).not.toContain(secret);
  });

  test('that could not travel in a header is no key', async () => {
    const odd = orThrow(await control().testVendorKey({ vendorId: 'anthropic', secret: 'sk\r\nx: y' }));
    expect(odd).toMatchObject({ ok: false, status: null });
    expect(await control().testVendorKey({ vendorId: 'nobody', secret })).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('adding a vendor', () => {
  const input = { vendorId: 'anthropic', secret, models: ['claude-haiku-5-5', 'claude-opus-5-5'], markup: '15%' };

  test.each([
    ['markup', { markup: '15' }],
    ['models', { models: ['gpt-5'] }],
    ['models', { models: [] }],
    ['secret', { secret: null }],
    ['secret', { secret: 'two words' }],
    ['vendorId', { vendorId: 'nobody' }],
  ])('is refused with the place of the mistake (%s), and nothing is there', async (member, wrong) => {
    const refused = await control().addVendor({ input: { ...input, ...wrong } });
    expect(refused).toMatchObject({ code: 'BAD_INPUT', problems: [{ path: ['input', member] }] });
    const { rows } = await app.pool.query(`SELECT id FROM upstream WHERE id = 'anthropic'`);
    expect(rows).toEqual([]);
  });

  test('with a key that the vendor refuses stores nothing, and says why at the key', async () => {
    const refused = await control().addVendor({ input: { ...input, secret: 'sk-ant-of-nobody' } });
    expect(refused).toMatchObject({
      code: 'BAD_INPUT',
      problems: [{ path: ['input', 'secret'], message: 'secret does not work. The upstream refused the key.' }],
    });
    const { rows } = await app.pool.query(`SELECT id FROM upstream WHERE id = 'anthropic'`);
    expect(rows).toEqual([]);
    expect((await app.pool.query('SELECT FROM upstream_key')).rows).toEqual([]);
    expect(app.logged.join('\n')).not.toContain('sk-ant-of-nobody');
  });

  test('puts its models on sale at the list price plus the markup, under the key, which nobody reads again', async () => {
    const added = orThrow(await control().addVendor({ input }));
    expect(added.keys).toEqual([secret.slice(-4)]);
    expect(added.models.filter(({ routeId }) => routeId !== null).map(({ modelId }) => modelId)).toEqual([
      'claude-opus-5-5',
      'claude-haiku-5-5',
    ]);
    const [route] = added.models.flatMap(({ routeId }) => routeId ?? []);
    expect(orThrow(await control().testRoute({ id: route ?? '' }))).toMatchObject({ ok: true });

    const { status, text, entry } = await ask('claude-haiku-5-5');
    expect({ status, works: text.includes('it works') }).toEqual({ status: 200, works: true });
    expect(entry).toMatchObject({ price_input: 115_000n, price_cache_write_1h: 230_000n, price_output: 575_000n });
    expect(Number(entry?.['upstream_cost'])).toBeGreaterThan(0);
    const catalog = await control().catalog();
    const haiku = catalog?.find(({ modelId }) => modelId === 'claude-haiku-5-5');
    expect(haiku?.priceVersions[0]?.prices.tiers).toMatchObject([
      { abovePromptTokens: 100_000, input: '0.575', output: '2.875' },
    ]);

    const { rows } = await app.pool.query('SELECT sealed FROM upstream_key');
    expect(rows.map(({ sealed }) => String(sealed).includes(secret))).toEqual([false]);
    const audit = await app.pool.query('SELECT t::text AS row FROM audit_entry t');
    for (const said of [...app.logged, ...audit.rows.map(({ row }) => row), JSON.stringify(added)]) {
      expect(said).not.toContain(secret);
    }
  });

  test('again, without the key, adds further models and leaves prices of those that are sold', async () => {
    await control().savePrices({
      input: { modelId: 'claude-opus-5-5', prices: { input: '9', cacheHit: '0.9', output: '45' } },
    });
    const models = ['claude-opus-5-5', 'claude-sonnet-5-5'];
    orThrow(await control().addVendor({ input: { vendorId: 'anthropic', models, markup: '50%' } }));
    expect((await ask('claude-opus-5-5')).entry).toMatchObject({ price_input: 9_000_000n });
    expect((await ask('claude-sonnet-5-5')).entry).toMatchObject({ price_input: 3_000_000n });
  });

  test('gives a model that another vendor has a second place beside the first', async () => {
    orThrow(
      await control().addVendor({
        input: { vendorId: 'anthropic', models: ['claude-haiku-4-5'], markup: '10%' },
      }),
    );
    orThrow(
      await control().addVendor({
        input: { vendorId: 'openrouter', secret, models: ['claude-haiku-4-5'], markup: '10%' },
      }),
    );
    const { rows } = await app.pool.query(
      `SELECT upstream_id, priority FROM route WHERE model_id = 'claude-haiku-4-5' AND enabled ORDER BY priority`,
    );
    expect(rows).toEqual([
      { upstream_id: 'anthropic', priority: 0 },
      { upstream_id: 'openrouter', priority: 1 },
    ]);
  });

  test('sends no key to an upstream of that name at another address', async () => {
    await app.pool.query(`UPDATE upstream SET base_url = 'https://elsewhere.example' WHERE id = 'anthropic'`);
    const refused = await control().addVendor({ input: { ...input, models: ['claude-fable-5-1'] } });
    expect(refused).toMatchObject({ code: 'BAD_INPUT', problems: [{ path: ['input', 'vendorId'] }] });
    await app.pool.query(`UPDATE upstream SET base_url = $1 WHERE id = 'anthropic'`, [vendor.url]);
  });
});

test('a customer, and an operator without a second factor, can neither try a key nor add a vendor', async () => {
  const person = await createPerson(app);
  const { operator: own } = person.steyg.console;
  const attempts = [
    () => own.testVendorKey({ vendorId: 'anthropic', secret }),
    () => own.addVendor({ input: { vendorId: 'anthropic', secret, models: ['claude-fable-5-1'], markup: '0%' } }),
  ];
  vendor.clearRequests();
  for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await app.pool.query('UPDATE app_user SET operator = true WHERE email = $1', [person.email]);
  for (const attempt of attempts) {
    await expect(attempt()).rejects.toMatchObject({ code: 'SECOND_FACTOR_REQUIRED' });
  }
  expect(vendor.requests()).toEqual([]);
  const { rows } = await app.pool.query(`SELECT id FROM model WHERE id = 'claude-fable-5-1'`);
  expect(rows).toEqual([]);
});

describe('the steps of the set-up', () => {
  test('say what is done and what is missing', async () => {
    const steps = Object.fromEntries((await control().setup())?.map(({ step, done }) => [step, done]) ?? []);
    expect(steps).toEqual({
      SECOND_FACTOR: true,
      VENDOR: true,
      PLAN: true,
      SELLER: false,
      // The account of a demonstration.
      BANK_ACCOUNT: false,
      BANK_WEBHOOK: false,
      SMTP: false,
      PUBLIC_ADDRESS: false,
    });
  });

  test('the seller is known once customers can read who sells, under which terms, and whom to ask', async () => {
    const isDone = async () => (await control().setup())?.find(({ step }) => step === 'SELLER')?.done;
    const seller = { name: 'Hoa Sen', supportEmail: 'help@example.com', termsUrl: 'https://example.com/terms' };
    const rest = { taxCode: '', address: '', supportPhone: '', privacyUrl: '', refundUrl: '' };
    for (const missing of Object.keys(seller)) {
      orThrow(await control().saveSeller({ input: { ...rest, ...seller, [missing]: '' } }));
      expect([missing, await isDone()]).toEqual([missing, false]);
    }
    orThrow(await control().saveSeller({ input: { ...rest, ...seller } }));
    expect(await isDone()).toBe(true);
  });

  test('a model at the simulator alone is no model of a vendor', async () => {
    await app.pool.query(`UPDATE route SET enabled = false WHERE upstream_id NOT LIKE 'simulator%'`);
    const steps = await control().setup();
    expect(steps?.find(({ step }) => step === 'VENDOR')).toMatchObject({ done: false });
  });
});
