import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { problemOfFile } from '../../server/plans/papers/invoice-file.ts';
import { createInvoices } from '../../server/plans/papers/invoices.ts';
import { createSepayEinvoice } from '../../server/plans/papers/sepay-einvoice.ts';
import { readXml, XmlRefused } from '../../server/plans/papers/xml.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { credentials, type EinvoiceProvider, invoiceXml, startEinvoiceProvider } from './einvoice-provider.ts';
import { createAccount, createPlans, order, transfer } from './support.ts';

// The XML of an e-invoice: kept to the byte, and only when it is the invoice of its order.

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
  await database.pool.query('DELETE FROM order_invoice_file');
  await database.pool.query('DELETE FROM order_invoice');
});

const log = { warn() {} };
const open = () =>
  createInvoices({
    pool: database.pool,
    provider: createSepayEinvoice({ ...credentials, baseUrl: provider.url, timeoutMs: 2_000 }),
    log,
  });
/** Ends leases and delays. */
const hurry = () =>
  database.pool.query(`UPDATE order_invoice SET next_at = now(), file_next_at = now() - interval '1 second'`);

async function issued(company?: { name: string; taxCode: string }) {
  const accountId = await createAccount(database.pool);
  if (company !== undefined)
    await database.pool.query(
      'INSERT INTO account_company (account_id, name, tax_code, address) VALUES ($1, $2, $3, $4)',
      [accountId, company.name, company.taxCode, 'Quận 1'],
    );
  const made = await order(database.pool, accountId);
  await createTransfers({ pool: database.pool, accountNumbers: null, invoiceProvider: 'sepay' }).receive(
    transfer({ memo: made.memo }),
  );
  await open().issueDue();
  return { ...made, accountId };
}

async function stateOf(orderId: string) {
  return (await open().ofOrders([orderId])).get(orderId);
}

const troubled = () => open().troubled({ limit: 10, after: null });

describe('the XML of an issued invoice', () => {
  it('is kept to the byte, once, whoever fetches it beside', async () => {
    let sent = '';
    provider.changeFile = (xml) => {
      sent = `\uFEFF${xml}<!-- ${Math.random()} -->\r\n`;
      return sent;
    };
    const { id, accountId } = await issued({ name: 'CÔNG TY A & <B>', taxCode: '0312345673' });
    const kept = await Promise.all(Array.from({ length: 5 }, () => open().fetchFiles()));
    expect(kept.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(await open().file(id)).toEqual({ accountId, number: '500', content: Buffer.from(sent) });
    expect(await stateOf(id)).toMatchObject({ hasFile: true, fileProblem: null });
    const first = sent;
    await hurry();
    expect(await open().fetchFiles()).toBe(0);
    expect((await open().file(id))?.content.toString()).toBe(first);
    expect(await troubled()).toEqual([]);
  });

  it('is waited for while the provider has none, and the operator sees it from the third try on', async () => {
    provider.changeFile = () => null;
    const { id } = await issued();
    for (let round = 0; round < 2; round += 1) {
      await hurry();
      expect(await open().fetchFiles()).toBe(0);
    }
    expect(await troubled()).toEqual([]);
    await hurry();
    await open().fetchFiles();
    expect(await troubled()).toMatchObject([{ orderId: id, state: 'issued', fileProblem: 'file_missing' }]);
    expect(await open().file(id)).toBeNull();
    provider.changeFile = (xml) => xml;
    expect(await open().retry({ orderId: id, by: 'operator' })).toBe(true);
    expect(await open().fetchFiles()).toBe(1);
    expect(await troubled()).toEqual([]);
    expect(await open().retry({ orderId: id, by: 'operator' })).toBe(false);
  });

  it('ends its tries after a day and a half, and is asked for again by the operator', async () => {
    provider.changeFile = (xml) => xml.replace('250000', '250001');
    const { id } = await issued();
    const delays: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      await hurry();
      await open().fetchFiles();
      const { rows } = await database.pool.query(
        'SELECT extract(epoch FROM file_next_at - now()) AS seconds FROM order_invoice',
      );
      delays.push(Math.round(Number(rows[0].seconds) / 60));
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360, 360]);
    provider.changeFile = (xml) => xml;
    await hurry();
    expect(await open().fetchFiles()).toBe(0);
    expect(await troubled()).toMatchObject([{ orderId: id, fileProblem: 'file_other_total' }]);
    await open().retry({ orderId: id, by: 'operator' });
    expect(await open().fetchFiles()).toBe(1);
  });

  it('is for a person to fetch when the answer to its request was lost', async () => {
    provider.next = ['lose answer'];
    const { id } = await issued();
    await hurry();
    await open().issueDue();
    await open().fetchFiles();
    expect(await stateOf(id)).toMatchObject({ state: 'issued', hasFile: false, fileProblem: 'file_by_hand' });
  });

  it('of a cancelled invoice is not handed out for the one that replaces it', async () => {
    const accountId = await createAccount(database.pool);
    const { id } = await order(database.pool, accountId);
    const transfers = createTransfers({ pool: database.pool, accountNumbers: null, invoiceProvider: 'sepay' });
    const { transferId } = await transfers.receive(transfer({ memo: 'nothing' }));
    const pay = () => transfers.matchByHand({ transferId, orderId: id, by: 'operator' });
    await pay();
    await open().issueDue();
    await open().fetchFiles();
    expect((await open().file(id))?.content.toString()).toContain('<SHDon>00000500</SHDon>');
    await transfers.undoMatch({ transferId, by: 'operator' });
    expect(await open().file(id)).toBeNull();
    provider.cancel(id);
    await pay();
    await open().issueDue();
    expect(await open().file(id)).toBeNull();
    await open().fetchFiles();
    expect((await open().file(id))?.content.toString()).toContain('<SHDon>00000501</SHDon>');
    const { rows } = await database.pool.query('SELECT reference_no FROM order_invoice_file ORDER BY reference_no');
    expect(rows.map((row) => row.reference_no)).toEqual([1, 2]);
  });

  it('of more than a megabyte is not read', async () => {
    provider.changeFile = () => Buffer.alloc(1_600_000, 'a');
    const { id } = await issued();
    for (let round = 0; round < 3; round += 1) {
      await hurry();
      await open().fetchFiles();
    }
    expect(await stateOf(id)).toMatchObject({ hasFile: false, fileProblem: 'file_unreachable' });
  });
});

const expected = { number: '500', priceVnd: 250_000n, taxCode: '0312345673' };
const valid = invoiceXml(
  {
    template_code: '1',
    invoice_series: 'C26TSE',
    issued_date: '',
    currency: 'VND',
    payment_method: 'CK',
    provider_account_id: credentials.accountId,
    reference_code: '1',
    is_draft: false,
    buyer: { name: 'CÔNG TY ABC', tax_code: '0312345673' },
    items: [{ line_number: 1, line_type: 1, item_name: 'Starter', quantity: 1, unit_price: 231_481.48, tax_rate: 8 }],
    total_amount: 250_000,
  },
  '500',
);
const problem = (xml: string, changes: Partial<typeof expected> = {}) =>
  problemOfFile(Buffer.from(xml), { ...expected, ...changes });

describe('a file is the invoice of its order', () => {
  it('when everything that is required is there, alone or within the tax office’s message', () => {
    expect(problem(valid)).toBeNull();
    expect(
      problem(valid.replace('<HDon>', '<TDiep><DLieu><HDon>').replace('</HDon>', '</HDon></DLieu></TDiep>')),
    ).toBeNull();
    // Without the office's code: a series of the other kind.
    expect(problem(valid.replace('C26TSE', 'K26TSE').replace(/<MCCQT>.*<\/MCCQT>/, ''))).toBeNull();
  });

  it.each([
    ['PBan', 'file_incomplete'],
    ['KHMSHDon', 'file_incomplete'],
    ['KHHDon', 'file_incomplete'],
    ['SHDon', 'file_incomplete'],
    ['NLap', 'file_incomplete'],
    ['DVTTe', 'file_incomplete'],
    ['NBan', 'file_incomplete'],
    ['DSHHDVu', 'file_incomplete'],
    ['DSCKS', 'file_unsigned'],
    ['ds:SignatureValue', 'file_unsigned'],
    ['MCCQT', 'file_without_tax_code_of_office'],
    ['TToan', 'file_other_total'],
    ['NMua', 'file_other_buyer'],
    ['DLHDon', 'file_not_invoice'],
  ])('and not without %s', (name, code) => {
    expect(problem(valid.replace(new RegExp(`<${name}[ >][\\s\\S]*?</${name}>`), ''))).toBe(code);
  });

  it.each([
    ['another number', { number: '501' }, 'file_other_number'],
    ['no number that is one', { number: 'HD-500' }, 'file_other_number'],
    ['another total', { priceVnd: 250_001n }, 'file_other_total'],
    ['another buyer', { taxCode: '0312345674' }, 'file_other_buyer'],
  ])('and not with %s', (_what, changes, code) => {
    expect(problem(valid, changes)).toBe(code);
  });

  it('and not with an empty signature', () => {
    expect(problem(valid.replace('c2lnbmF0dXJl', ' '))).toBe('file_unsigned');
  });
});

describe('XML is refused', () => {
  it.each([
    ['a page', '<!doctype html><p>Sign in</p>'],
    ['entities of its own', `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`],
    ['an unknown reference', '<a>&nbsp;</a>'],
    ['a reference to no character', '<a>&#0;</a>'],
    ['two roots', '<a/><b/>'],
    ['text around it', 'x<a/>'],
    ['an open element', '<a><b></a>'],
    ['an end without a beginning', '<a/></a>'],
    ['a bare ampersand', '<a>A & B</a>'],
    ['nothing', ''],
    ['too much depth', '<a>'.repeat(100) + '</a>'.repeat(100)],
    ['too many elements', `<a>${'<b/>'.repeat(30_000)}</a>`],
  ])('with %s', (_what, text) => {
    expect(() => readXml(Buffer.from(text))).toThrow(XmlRefused);
  });

  it('in another encoding', () => {
    expect(() => readXml(Buffer.from('<a>é</a>', 'latin1'))).toThrow('not UTF-8');
  });

  it('in time that grows with its length, whatever it is made of', () => {
    for (const piece of ['<', '<a ', '<!--', '<![CDATA[', '<?', '&#', `<a b="`, "<a b='c'"]) {
      const from = performance.now();
      expect(() => readXml(Buffer.from(piece.repeat(200_000 / piece.length)))).toThrow(XmlRefused);
      expect(performance.now() - from).toBeLessThan(2_000);
    }
  });

  it('and read otherwise: prefixes, references, CDATA, comments and instructions', () => {
    const { name, children } = readXml(
      Buffer.from(
        `<?xml version="1.0"?><!-- a --><x:a b='>' c = "2"><b>A &amp; &#66;&#x43;</b><c><![CDATA[<&>]]></c><d/></x:a>\n`,
      ),
    );
    expect(name).toBe('a');
    expect(children.map((child) => [child.name, child.text])).toEqual([
      ['b', 'A & BC'],
      ['c', '<&>'],
      ['d', ''],
    ]);
  });
});
