import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { createInvoices } from '../../server/plans/papers/invoices.ts';
import { createSepayEinvoice } from '../../server/plans/papers/sepay-einvoice.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { credentials, type EinvoiceProvider, startEinvoiceProvider } from './einvoice-provider.ts';
import { createAccount, createPlans, order, transfer } from './support.ts';

// Exactly one e-invoice for each paid order, whatever is repeated, lost or killed.

let database: TestDatabase;
let provider: EinvoiceProvider;

beforeAll(async () => {
  database = await createDatabase();
  await createPlans(database.pool);
});
afterAll(() => database.drop());
beforeEach(async () => {
  provider = await startEinvoiceProvider();
});
afterEach(async () => {
  await provider.close();
  await database.pool.query('DELETE FROM order_invoice');
});

const log = { warn() {} };
const open = (changes: object = {}) =>
  createInvoices({
    pool: database.pool,
    provider: createSepayEinvoice({ ...credentials, baseUrl: provider.url, timeoutMs: 2_000, ...changes }),
    log,
  });
const transfers = () => createTransfers({ pool: database.pool, accountNumbers: null, invoiceProvider: 'sepay' });
/** Ends leases and delays. */
const hurry = () => database.pool.query(`UPDATE order_invoice SET next_at = now() - interval '1 second'`);

async function paid() {
  const accountId = await createAccount(database.pool);
  const made = await order(database.pool, accountId);
  const movement = transfer({ memo: made.memo });
  await transfers().receive(movement);
  return { ...made, movement };
}

async function stateOf(orderId: string) {
  const invoice = (await open().ofOrders([orderId])).get(orderId);
  if (invoice === undefined) throw new Error('no invoice');
  return invoice;
}

describe('a paid order', () => {
  it('gets one invoice of the documented shape, through 100 deliveries of its payment and processes side by side', async () => {
    const { id, memo, movement } = await paid();
    await Promise.all(Array.from({ length: 100 }, () => transfers().receive(movement)));
    await Promise.all(Array.from({ length: 5 }, () => open().issueDue()));
    await hurry();
    await open().issueDue();
    expect(provider.requests).toBe(1);
    expect(provider.invoices).toEqual([
      expect.objectContaining({
        reference_code: id,
        provider_account_id: credentials.accountId,
        currency: 'VND',
        is_draft: false,
        total_amount: 250_000,
        notes: memo,
        items: [expect.objectContaining({ quantity: 1, unit_price: 231_481.48, tax_rate: 8 })],
      }),
    ]);
    expect(await stateOf(id)).toMatchObject({
      state: 'issued',
      number: '500',
      url: 'https://einvoice.example/500.pdf',
      problem: null,
    });
  });

  it.each(['javascript:alert(1)', 'http://einvoice.example/1.pdf', 'data:text/html,<script>1</script>', ' https:x'])(
    'has no paper at %s: its buyer is led to https: alone',
    async (pdfUrl) => {
      provider.pdfUrl = pdfUrl;
      const { id } = await paid();
      await open().issueDue();
      await hurry();
      await open().issueDue();
      provider.pdfUrl = null;
      expect(await stateOf(id)).toMatchObject({ state: 'issued', url: null });
    },
  );

  it('names the company that it was bought for', async () => {
    const accountId = await createAccount(database.pool);
    await database.pool.query(
      `INSERT INTO account_company (account_id, name, tax_code, address) VALUES ($1, 'CÔNG TY ABC', '0312345673', 'Quận 1')`,
      [accountId],
    );
    const { memo } = await order(database.pool, accountId);
    await transfers().receive(transfer({ memo }));
    await open({ taxRate: null }).issueDue();
    expect(provider.invoices[0]?.buyer).toEqual({
      type: 'company',
      name: 'CÔNG TY ABC',
      legal_name: 'CÔNG TY ABC',
      tax_code: '0312345673',
      address: 'Quận 1',
      email: `${accountId}@example.com`,
    });
    expect(provider.invoices[0]?.items[0]).toMatchObject({ unit_price: 250_000 });
    expect(provider.invoices[0]?.items[0]).not.toHaveProperty('tax_rate');
  });

  it.each([0, 5, 8, 10, -1, -2])('has lines that add up to what was paid, at a tax of %i', async (taxRate) => {
    const sepay = createSepayEinvoice({ ...credentials, taxRate, baseUrl: provider.url });
    const invoice = {
      paidAt: new Date(),
      memo: 'ST1',
      planId: 'starter',
      planName: 'Starter',
      budget: 10n ** 13n,
      buyer: { name: 'Buyer', email: 'buyer@example.com', company: null },
    };
    let made = 0;
    await fc.assert(
      fc.asyncProperty(fc.bigInt(1_000n, 100_000_000n), async (priceVnd) => {
        made += 1;
        await sepay.request({ ...invoice, reference: String(made), priceVnd });
      }),
      { numRuns: 100, examples: [[50_000n], [250_000n], [1_000n], [100_000_000n]] },
    );
    expect(provider.invoices).toHaveLength(made);
  });

  it.each(['lose answer', 'hang'] as const)('has one invoice when the provider made it and we %s', async (fault) => {
    const { id } = await paid();
    provider.next = [fault];
    await open({ timeoutMs: 300 }).issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'due', problem: 'unreachable' });
    await hurry();
    await open().issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'issued', number: '500' });
    expect(provider.requests).toBe(1);
  });

  it('has one invoice when the answer was lost and the provider is still making it', async () => {
    const { id } = await paid();
    provider.next = ['lose answer'];
    provider.pendingChecks = 3;
    await open().issueDue();
    // The look-up finds none yet, the second request is told that the reference exists.
    for (let round = 0; round < 3; round += 1) {
      await hurry();
      await open().issueDue();
    }
    expect(await stateOf(id)).toMatchObject({ state: 'issued', number: '500' });
    expect(provider.invoices).toHaveLength(1);
  });

  it('has one invoice when the process is killed between the request and its record, which a lease outlasts', async () => {
    const { id } = await paid();
    provider.next = ['hang'];
    const script = fileURLToPath(new URL('./einvoice-worker.ts', import.meta.url));
    const worker = spawn(process.execPath, [script, database.url, provider.url], { stdio: 'ignore' });
    while (provider.invoices.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    const taken = await stateOf(id);
    expect(taken).toMatchObject({ state: 'due', number: null, requestedAt: expect.any(Date) });
    // The lease outlasts four calls, each with a token and the request, twice, of 15 seconds each.
    expect(taken.nextAt.getTime() - (taken.requestedAt?.getTime() ?? 0)).toBeGreaterThan(4 * 4 * 15_000);
    // Until its lease has ended no other process touches it.
    await open().issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'due', tries: 1 });
    await hurry();
    await open().issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'issued', number: '500' });
    expect(provider.requests).toBe(1);
  });

  it('waits while the provider works, and renews a token that was taken back', async () => {
    const { id } = await paid();
    const invoices = open();
    provider.pendingChecks = 2;
    await invoices.issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'due', problem: null });
    provider.revoke();
    for (let round = 0; round < 2; round += 1) {
      await hurry();
      await invoices.issueDue();
    }
    expect(await stateOf(id)).toMatchObject({ state: 'issued' });
    expect(provider.requests).toBe(1);
  });
});

describe('a failure', () => {
  it.each([
    ['fail', 'INTERNAL'],
    ['quota', 'QUOTA_EXCEEDED'],
  ] as const)(
    'that may pass (%s) is tried again with growing delays, and the operator sees it',
    async (fault, code) => {
      const { id } = await paid();
      provider.next = [fault, fault, fault];
      const delays: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        await hurry();
        const before = Date.now();
        await open().issueDue();
        delays.push((await stateOf(id)).nextAt.getTime() - before);
      }
      expect(delays.map((delay) => Math.round(delay / 60_000))).toEqual([1, 2, 4]);
      expect(await open().troubled({ limit: 10, after: null })).toMatchObject([
        { orderId: id, state: 'due', problem: code },
      ]);
      await hurry();
      await open().issueDue();
      expect(await stateOf(id)).toMatchObject({ state: 'issued', problem: null });
      expect(await open().troubled({ limit: 10, after: null })).toEqual([]);
    },
  );

  it('that stays waits for the operator, who has it tried again, once more without a second invoice', async () => {
    const { id } = await paid();
    provider.next = ['refuse'];
    await open().issueDue();
    await hurry();
    await open().issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'failed', problem: 'INVALID_TAX_CODE' });
    expect(provider.requests).toBe(1);
    expect(await open().retry({ orderId: id, by: 'operator' })).toBe(true);
    expect(await open().retry({ orderId: id, by: 'operator' })).toBe(false);
    await open().issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'issued' });
  });

  it('of the shape is refused by the stand-in, so that these tests prove the documented one', async () => {
    const { id } = await paid();
    await open({ templateCode: 'another' }).issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'failed', problem: 'BAD_SHAPE' });
    expect(provider.invoices).toEqual([]);
  });
});

describe('a payment that is undone', () => {
  it.each([
    ['before', 'withdrawn'],
    ['after', 'to_cancel'],
  ] as const)('%s the request leaves the invoice %s, and paying again revives it', async (when, state) => {
    const accountId = await createAccount(database.pool);
    const { id } = await order(database.pool, accountId);
    const { transferId } = await transfers().receive(transfer({ memo: 'nothing' }));
    const matched = await transfers().matchByHand({ transferId, orderId: id, by: 'operator' });
    expect(matched.kind).toBe('paid');
    if (when === 'after') await open().issueDue();
    expect((await transfers().undoMatch({ transferId, by: 'operator' })).kind).toBe('undone');
    expect(await stateOf(id)).toMatchObject({ state, problem: 'payment_undone' });
    await hurry();
    await open().issueDue();
    expect(provider.invoices).toHaveLength(when === 'after' ? 1 : 0);
    await transfers().matchByHand({ transferId, orderId: id, by: 'operator' });
    await open().issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'issued', number: '500' });
    expect(provider.invoices).toHaveLength(1);
  });
});

/** An order that was paid, invoiced, and whose payment was undone. */
async function undone() {
  const accountId = await createAccount(database.pool);
  const { id } = await order(database.pool, accountId);
  const { transferId } = await transfers().receive(transfer({ memo: 'nothing' }));
  const pay = () => transfers().matchByHand({ transferId, orderId: id, by: 'operator' });
  const undo = () => transfers().undoMatch({ transferId, by: 'operator' });
  await pay();
  await open().issueDue();
  await undo();
  return { id, pay, undo };
}

describe('an invoice that was cancelled at the provider', () => {
  it('is replaced under a reference of its own when its order is paid again, and never shown as issued', async () => {
    const { id, pay, undo } = await undone();
    provider.cancel(id);
    await pay();
    await open().issueDue();
    expect(await stateOf(id)).toMatchObject({
      state: 'issued',
      number: '501',
      url: 'https://einvoice.example/501.pdf',
    });
    await undo();
    await pay();
    await open().issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'issued', number: '501' });
    expect(provider.invoices.map(({ reference_code: reference }) => reference)).toEqual([id, `${id}-2`]);
  });

  it('is replaced once when the answer to the second request is lost', async () => {
    const { id, pay } = await undone();
    provider.cancel(id);
    await pay();
    provider.next = ['lose answer'];
    await open().issueDue();
    await hurry();
    await open().issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'issued', number: '501' });
    expect(provider.invoices).toHaveLength(2);
  });

  it('without an undone payment waits for the operator, who has it replaced', async () => {
    const { id } = await paid();
    provider.next = ['lose answer'];
    await open().issueDue();
    provider.cancel(id);
    await hurry();
    await open().issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'failed', problem: 'invoice_cancelled' });
    await open().retry({ orderId: id, by: 'operator' });
    await open().issueDue();
    expect(await stateOf(id)).toMatchObject({ state: 'issued', number: '501' });
  });
});

it('issues nothing and writes nothing without a provider', async () => {
  const accountId = await createAccount(database.pool);
  const { id, memo } = await order(database.pool, accountId);
  await createTransfers({ pool: database.pool, accountNumbers: null }).receive(transfer({ memo }));
  expect(await createInvoices({ pool: database.pool, provider: null, log }).issueDue()).toBe(0);
  expect((await open().ofOrders([id])).size).toBe(0);
});
