import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBalance } from '../../server/billing/reads/usage.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { formatUsd, parseUsd } from '../../server/core/money.ts';
import { transaction } from '../../server/database/lane.ts';
import { createTransfers } from '../../server/plans/bank/transfers.ts';
import { savePlan } from '../../server/plans/plans.ts';
import { addKey, addModel, admitted, ask, endGrant, grant, openLedger, settlement } from '../billing/support.ts';
import { transfer } from '../plans/support.ts';
import { readPdf } from '../support/pdf.ts';
import { type Browser, type ControlPlane, createControlPlane, createPerson } from './support/server.ts';

// Receipts and monthly statements as PDF and CSV: in both languages, with amounts that add up to the ledger.

let plane: ControlPlane;
let an: Browser;
let binh: Browser;
let accountId: string;
let memo: string;
let orderId: string;

const buyer = 'CÔNG TY TNHH Nguyễn Thị Ngọc Ánh & <Đồng Sự>';

beforeAll(async () => {
  plane = await createControlPlane();
  const { pool } = plane.database;
  await transaction(pool, (client) =>
    savePlan(client, {
      plan: {
        id: 'starter',
        name: '=Gói Khởi đầu',
        priceVnd: 250_000n,
        budget: 10n ** 13n,
        validDays: 30,
        enabled: true,
      },
      actor: 'system',
    }),
  );
  await pool.query(
    `INSERT INTO seller (name, tax_code, address, support_email, support_phone, terms_url, privacy_url, refund_url)
     VALUES ('STEYG JSC', '0398765432', 'Hà Nội', 'help@steyg.example', '1900 1234', 'https://steyg.example/terms',
             'https://steyg.example/privacy', 'https://steyg.example/refunds')`,
  );
  an = await createPerson(plane, 'an@example.com', '203.0.113.1');
  binh = await createPerson(plane, 'binh@example.com', '203.0.113.2');
  const { rows } = await pool.query(`SELECT id FROM account WHERE email = 'an@example.com'`);
  accountId = rows[0].id;
  await pool.query('INSERT INTO account_company (account_id, name, tax_code, address) VALUES ($1, $2, $3, $4)', [
    accountId,
    buyer,
    '0312345673',
    'Quận 1',
  ]);
  const answer = await an.send(
    'mutation { createOrder(input: { planId: "starter" }) { ... on Order { id memo } ... on Error { code } } }',
  );
  ({ memo, id: orderId } = (answer.data as { createOrder: { memo: string; id: string } }).createOrder);
  const transfers = createTransfers({ pool, accountNumbers: null });
  await transfers.receive(transfer({ memo, amountVnd: 100_000n, bankReference: '=1+1' }));
  await transfers.receive(transfer({ memo, amountVnd: 151_000n }));
});
afterAll(() => plane.close());

const pathOf = (url: string) => url.replace(/^http:\/\/[^/]+/, '');
const open = (url: string) => plane.app.inject({ method: 'GET', url: pathOf(url) });

async function receiptUrl(): Promise<string> {
  const { data } = await an.send('query ($id: ID!) { order(id: $id) { receiptUrl } }', { variables: { id: orderId } });
  return (data as { order: { receiptUrl: string } }).order.receiptUrl;
}

interface Sums {
  month: string;
  opening: string;
  granted: string;
  charged: string;
  expired: string;
  closing: string;
  url: string;
}

async function statements(browser = an): Promise<Sums[]> {
  const { data, errors } = await browser.send(
    '{ account { statements { month opening granted charged expired closing url } } }',
  );
  expect(errors).toEqual([]);
  return (data as { account: { statements: Sums[] } }).account.statements;
}

/** Lines of a CSV file, with their cells. */
function cellsOf(text: string): string[][] {
  return text
    .split('\r\n')
    .slice(0, -1)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((match) =>
        (match[1] ?? match[2] ?? '').replaceAll('""', '"'),
      ),
    );
}

const pico = (text: string | undefined): bigint => {
  if (text === undefined || text === '') return 0n;
  const amount = parseUsd(text);
  if (amount === null) throw new Error(`not an amount: ${text}`);
  return amount;
};

describe('a receipt', () => {
  it('is a PDF in both languages with every Vietnamese letter, the parties, exact amounts and the seller’s pages', async () => {
    const url = await receiptUrl();
    const reply = await open(`${url}&format=pdf&lang=vi`);
    expect(reply.statusCode).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `inline; filename="receipt-${memo}.pdf"`,
      'cache-control': 'no-store',
    });
    const { pages, lines } = readPdf(reply.rawPayload);
    const text = lines.join(' ').replaceAll(/ +/g, ' ');
    expect(pages).toBe(1);
    for (const part of [
      `Biên nhận thanh toán ${memo}`,
      buyer,
      'Mã số thuế: 0312345673',
      'STEYG JSC',
      'Mã số thuế: 0398765432',
      '=Gói Khởi đầu',
      'Số dư 10 USD',
      '250.000\u00A0₫',
      '251.000\u00A0₫',
      '1.000\u00A0₫',
      'help@steyg.example',
      'Chính sách hoàn tiền: https://steyg.example/refunds',
      'Điều khoản sử dụng: https://steyg.example/terms',
      'không phải là hóa đơn giá trị gia tăng',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain('\uFFFD');
    const english = readPdf((await open(`${url}&format=pdf&lang=en`)).rawPayload).lines.join(' ');
    for (const part of [`Receipt ${memo}`, 'Paid in full', '₫250,000', 'Refund policy'])
      expect(english).toContain(part);
  });

  it('is a CSV with a byte order mark that a spreadsheet runs no formula of', async () => {
    const reply = await open(`${await receiptUrl()}&format=csv&lang=vi`);
    expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect([...reply.rawPayload.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const [heads = [], ...rows] = cellsOf(reply.body.slice(1));
    expect(heads[0]).toBe('Số');
    expect(rows.map((row) => row.at(-1))).toEqual(['100000', '151000']);
    expect(rows.map((row) => [row[0], row[5], row[6]])).toEqual([
      [memo, '250000', '10'],
      [memo, '250000', '10'],
    ]);
    expect(rows[0]?.[4]).toBe("'=Gói Khởi đầu");
    expect(rows[0]?.at(-2)).toBe("'=1+1");
  });

  it('names the bonus and the receiver of a gift, where there are such, in every form', async () => {
    const address = await receiptUrl();
    const formsOf = async () => [
      (await open(`${address}&lang=en`)).body,
      readPdf((await open(`${address}&format=pdf&lang=en`)).rawPayload).lines.join(' '),
      (await open(`${address}&format=csv&lang=en`)).body,
    ];
    for (const form of await formsOf()) expect(form).not.toMatch(/Bonus of|another account|friend@example\.com/);
    const { pool } = plane.database;
    await pool.query(
      `UPDATE purchase_order SET bonus = 1500000000000, gift_to = 'friend@example.com' WHERE memo = $1`,
      [memo],
    );
    const [page = '', pdf = '', csv = ''] = await formsOf();
    for (const form of [page, pdf]) {
      expect(form).toContain('Bonus of 1.5 USD');
      expect(form).toContain('For another account: friend@example.com');
    }
    expect(cellsOf(csv.slice(1)).map((row) => row.slice(7, 9))).toEqual([
      ['Bonus (USD)', 'For account'],
      ['1.5', 'friend@example.com'],
      ['1.5', 'friend@example.com'],
    ]);
    await pool.query(`UPDATE purchase_order SET bonus = 0, gift_to = NULL WHERE memo = $1`, [memo]);
  });

  it('names the seller’s terms, privacy and refund policy on its page, too', async () => {
    const { body } = await open(`${await receiptUrl()}&lang=en`);
    for (const path of ['terms', 'privacy', 'refunds']) expect(body).toContain(`https://steyg.example/${path}`);
  });
});

describe('a statement', () => {
  it('adds up, line by line, to the ledger and the budget, also over months and expired budget', async () => {
    const { pool } = plane.database;
    await addModel(pool, { id: 'big' });
    await addModel(pool, { id: '=small', output: '0.000001' });
    // The account is two months old: its trial came then, and most of it has expired since.
    await pool.query(`UPDATE account SET created_at = now() - interval '62 days' WHERE id = $1`, [accountId]);
    await pool.query(
      `UPDATE "grant" SET created_at = now() - interval '62 days' WHERE account_id = $1 AND kind = 'trial'`,
      [accountId],
    );
    await grant(pool, accountId, '0.75');
    const ledger = await openLedger(plane.database.url);
    const key = await addKey(pool, accountId);
    const customer = { accountId, keyId: key };
    for (const [model, output] of [
      ['big', 1_000],
      ['=small', 7],
      ['big', 3],
    ] as const) {
      const asked = ask(customer, { model });
      await ledger.ledger.settle(
        settlement(asked, await admitted(ledger.ledger, asked), {
          usage: { input: 11, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output },
        }),
      );
    }
    const { rows: trial } = await pool.query(`SELECT id FROM "grant" WHERE account_id = $1 AND kind = 'trial'`, [
      accountId,
    ]);
    await endGrant(pool, trial[0].id);
    await ledger.ledger.expire(accountId);
    await ledger.close();

    await pool.query(`UPDATE account SET time_zone = 'Pacific/Kiritimati' WHERE id = $1`, [accountId]);
    const months = await statements();
    const vietnam = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Ho_Chi_Minh' }).format().slice(0, 7);
    expect(months[0]?.month).toBe(vietnam);
    expect(months.length).toBeGreaterThanOrEqual(2);
    const oldestFirst = months.toReversed();
    for (const [index, month] of oldestFirst.entries()) {
      expect(pico(month.opening) + pico(month.granted) - pico(month.charged) - pico(month.expired)).toBe(
        pico(month.closing),
      );
      expect(month.opening).toBe(oldestFirst[index - 1]?.closing ?? '0');
    }
    const [running] = months;
    if (running === undefined) throw new Error('no month');
    const reply = await open(`${running.url}&format=csv`);
    expect([...reply.rawPayload.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const [head, first, ...lines] = cellsOf(reply.body.slice(1));
    // Months are Vietnam's, whatever the account's zone, and the file says so.
    expect(head?.[0]).toBe('Date (UTC+7)');
    const last = lines.pop();
    expect(first?.[7]).toBe(running.opening);
    let balance = pico(first?.[7]);
    for (const line of lines) {
      balance += pico(line[5]) - pico(line[6]);
      expect(formatUsd(balance)).toBe(line[7]);
    }
    expect(last?.[7]).toBe(running.closing);
    expect(formatUsd(balance)).toBe(running.closing);

    const { rows } = await pool.query<{ model: string; charged: bigint; requests: bigint }>(
      `SELECT model, sum(charged)::bigint AS charged, count(*)::bigint AS requests FROM ledger_entry
       WHERE account_id = $1 GROUP BY model ORDER BY model`,
      [accountId],
    );
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      const said = lines.filter((line) => line[2]?.replace(/^'/, '') === row.model);
      expect(said.reduce((sum, line) => sum + pico(line[6]), 0n)).toBe(row.charged);
      expect(said.reduce((sum, line) => sum + BigInt(line[3] ?? '0'), 0n)).toBe(row.requests);
    }
    // What was paid in VND is on it, and formulas are not.
    expect(lines.map((line) => line[4])).toContain('250000');
    expect(reply.body).not.toMatch(/(?:^|,)=/m);
    const { free, held } = await readBalance(pool, accountId);
    expect(pico(running.closing)).toBe(free + held);
    expect(await checkInvariants(pool)).toEqual([]);
  });

  it('is a PDF in both languages whose sums are those of the month', async () => {
    const [running] = await statements();
    for (const [lang, title] of [
      ['vi', 'Bảng kê'],
      ['en', 'Statement'],
    ] as const) {
      const reply = await open(`${running?.url}&lang=${lang}`);
      expect(reply.headers['content-type']).toBe('application/pdf');
      const text = readPdf(reply.rawPayload).lines.join(' ');
      const shown = (amount: string | undefined) => (lang === 'vi' ? amount?.replace('.', ',') : amount);
      for (const part of [
        `${title} ${running?.month}`,
        '(UTC+7)',
        memo,
        shown(running?.charged),
        shown(running?.closing),
      ])
        expect(text).toContain(part);
      expect(text).not.toContain('\uFFFD');
    }
  });

  it('belongs to the account: others get none of it, and its link opens nothing else', async () => {
    const { data } = await binh.send('query ($id: ID!) { account(id: $id) { statements { url } } }', {
      variables: { id: Buffer.from(`Account:${accountId}`).toString('base64') },
    });
    expect(data?.['account']).toBeNull();
    const [running] = await statements();
    const granted = new URL(running?.url ?? '').searchParams.get('grant') ?? '';
    for (const stray of [
      `/downloads/receipt?grant=${granted}`,
      `/downloads/statement?grant=${granted}x`,
      '/downloads/statement',
    ])
      expect((await open(stray)).statusCode).toBe(403);
    for (const month of ['2020-01', '2999-01', '2026-13', 'x'])
      expect(
        (
          await an.send('query ($m: String!) { account { statement(month: $m) { month } } }', {
            variables: { m: month },
          })
        ).data?.['account'],
      ).toEqual({ statement: null });
  });
});

describe('the XML of an e-invoice', () => {
  const ask = async (browser: Browser) => {
    const { data } = await browser.send('query ($id: ID!) { order(id: $id) { invoice { state fileUrl } } }', {
      variables: { id: orderId },
    });
    return (data?.['order'] as { invoice: { state: string; fileUrl: string | null } | null } | null)?.invoice ?? null;
  };
  const bytes = Buffer.from('<?xml version="1.0"?>\r\n<HDon><a>\u1EA1</a></HDon>\n');

  it('is a file to the byte, of the account alone, and only while the invoice counts', async () => {
    const { pool } = plane.database;
    const uuid = Buffer.from(orderId, 'base64').toString().replace('Order:', '');
    await pool.query(
      `INSERT INTO order_invoice (order_id, provider, state, number, issued_at) VALUES ($1, 'sepay', 'issued', '500"/', now())`,
      [uuid],
    );
    expect(await ask(an)).toEqual({ state: 'ISSUED', fileUrl: null });
    await pool.query('INSERT INTO order_invoice_file (order_id, reference_no, content) VALUES ($1, 1, $2)', [
      uuid,
      bytes,
    ]);
    await pool.query(`UPDATE order_invoice SET file_state = 'stored' WHERE order_id = $1`, [uuid]);
    expect(await ask(binh)).toBeNull();
    const url = (await ask(an))?.fileUrl ?? '';
    const answer = await open(url);
    expect(answer.rawPayload.equals(bytes)).toBe(true);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/xml',
      'content-disposition': 'attachment; filename="e-invoice-500.xml"',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.headers['content-security-policy']).toContain('sandbox');
    const grant = new URL(url).searchParams.get('grant') ?? '';
    const strays = [
      `/downloads/receipt?grant=${grant}`,
      `/downloads/e-invoice.xml?grant=${grant}x`,
      '/downloads/e-invoice.xml',
    ];
    for (const stray of strays) expect((await open(stray)).statusCode).toBe(403);
    await pool.query(`UPDATE order_invoice SET state = 'to_cancel' WHERE order_id = $1`, [uuid]);
    expect(await ask(an)).toEqual({ state: 'TO_CANCEL', fileUrl: null });
    expect((await open(url)).statusCode).toBe(403);
    await pool.query(`UPDATE order_invoice SET state = 'issued' WHERE order_id = $1`, [uuid]);
    await pool.query('DELETE FROM member WHERE account_id = $1', [accountId]);
    expect((await open(url)).statusCode).toBe(410);
  });
});
