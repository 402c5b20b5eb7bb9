/** A local stand-in for SePay's eInvoice API, version 1: it takes the documented shape and refuses every other. */

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

export const credentials = {
  clientId: 'client',
  clientSecret: 'secret',
  accountId: '0aea3134-da40-11f0-aef4-52c7e9b4f41b',
  templateCode: '1',
  series: 'C26TSE',
  taxRate: 8,
};

/** The documented body of `POST /v1/invoices/create`; other members are refused. */
const documented = z.strictObject({
  template_code: z.literal(credentials.templateCode),
  invoice_series: z.literal(credentials.series),
  issued_date: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
  currency: z.enum(['VND', 'USD', 'CAD']),
  provider_account_id: z.uuid(),
  reference_code: z.string().min(1),
  payment_method: z.enum(['TM', 'CK', 'TM/CK', 'KHAC']),
  is_draft: z.boolean(),
  buyer: z.strictObject({
    type: z.enum(['personal', 'company']).optional(),
    name: z.string().min(1),
    legal_name: z.string().optional(),
    tax_code: z.string().optional(),
    address: z.string().optional(),
    email: z.email().optional(),
  }),
  items: z
    .array(
      z.strictObject({
        line_number: z.int(),
        line_type: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
        item_code: z.string().optional(),
        item_name: z.string().min(1),
        unit: z.string().optional(),
        quantity: z.number().optional(),
        // Answers show prices with two decimals.
        unit_price: z
          .number()
          .refine((price) => Number(price.toFixed(2)) === price)
          .optional(),
        tax_rate: z.union([-2, -1, 0, 5, 8, 10].map((rate) => z.literal(rate))).optional(),
      }),
    )
    .min(1),
  notes: z.string().optional(),
  total_amount: z.int().optional(),
});

export type ReceivedInvoice = z.infer<typeof documented>;

/**
 * Whether the lines and their tax are the whole total, with the sum rounded at the end and with amount and tax rounded
 * each: VND has no decimals, and the providers behind SePay round in either way. In hundredths of a percent of a VND.
 */
function addsUp({ items, total_amount: total }: ReceivedInvoice): boolean {
  const unit = 10_000n;
  const whole = (amount: bigint) => (amount + unit / 2n) / unit;
  let atEnd = 0n;
  let each = 0n;
  for (const { quantity = 0, unit_price: price = 0, tax_rate: rate = 0 } of items) {
    const hundredths = BigInt(Math.round(price * 100)) * BigInt(quantity);
    const [amount, tax] = [hundredths * 100n, hundredths * BigInt(Math.max(0, rate))];
    atEnd += amount + tax;
    each += whole(amount) + whole(tax);
  }
  return total === undefined || (whole(atEnd) === BigInt(total) && each === BigInt(total));
}

interface Stored {
  body: ReceivedInvoice;
  tracking: string;
  number: string;
  /** Checks and look-ups that still find it unfinished. */
  pending: number;
  cancelled: boolean;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** The XML of an invoice, in the members of Decision 1450/QĐ-TCT. */
export function invoiceXml({ buyer, items, total_amount: total = 0 }: ReceivedInvoice, number: string): string {
  const lines = items.map(
    ({ line_number: no, item_name: name, quantity = 0, unit_price: price = 0, tax_rate: rate }) =>
      `<HHDVu><TChat>1</TChat><STT>${no}</STT><THHDVu>${escaped(name)}</THHDVu><SLuong>${quantity}</SLuong><DGia>${price}</DGia><ThTien>${price}</ThTien><TSuat>${rate ?? 'KCT'}%</TSuat></HHDVu>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<HDon><DLHDon Id="data"><TTChung><PBan>2.1.0</PBan><THDon>Hóa đơn giá trị gia tăng</THDon><KHMSHDon>${credentials.templateCode}</KHMSHDon><KHHDon>${credentials.series}</KHHDon><SHDon>${number.padStart(8, '0')}</SHDon><NLap>2026-11-28</NLap><DVTTe>VND</DVTTe><TGia>1</TGia><HTTToan>CK</HTTToan></TTChung><NDHDon><NBan><Ten>STEYG JSC</Ten><MST>0398765432</MST><DChi>Hà Nội</DChi></NBan><NMua><Ten>${escaped(buyer.name)}</Ten>${buyer.tax_code === undefined ? '' : `<MST>${buyer.tax_code}</MST>`}</NMua><DSHHDVu>${lines.join('')}</DSHHDVu><TToan><TgTTTBSo>${total}.0000</TgTTTBSo></TToan></NDHDon></DLHDon><MCCQT>M1-26-AB12C-00000000001</MCCQT><DSCKS><NBan><ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignatureValue>c2lnbmF0dXJl</ds:SignatureValue></ds:Signature></NBan></DSCKS></HDon>
`;
}

export interface EinvoiceProvider {
  url: string;
  /** Invoices that exist, in the order in which they were made. */
  invoices: ReceivedInvoice[];
  /** Requests to make one, refused ones included. */
  requests: number;
  /** What happens to the next requests to make an invoice, one each. */
  next: ('lose answer' | 'hang' | 'fail' | 'refuse' | 'quota')[];
  /** How long an invoice takes, in checks. */
  pendingChecks: number;
  /** What it says the paper's address is; null: an address of its own. */
  pdfUrl: string | null;
  /** What becomes of its XML before it is handed out; null: the provider has none yet. */
  changeFile: (xml: string) => string | Buffer | null;
  /** A person cancels an invoice; checks by tracking code still answer what they answered before. */
  cancel(reference: string): void;
  /** Takes the token back. */
  revoke(): void;
  close(): Promise<void>;
}

export async function startEinvoiceProvider(): Promise<EinvoiceProvider> {
  const stored = new Map<string, Stored>();
  let token = randomUUID();
  const state: EinvoiceProvider = {
    url: '',
    invoices: [],
    requests: 0,
    pdfUrl: null,
    next: [],
    pendingChecks: 0,
    changeFile: (xml) => xml,
    cancel(reference) {
      const found = stored.get(reference);
      if (found === undefined) throw new Error('no such invoice');
      found.cancelled = true;
    },
    revoke: () => void (token = randomUUID()),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };

  const answer = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const refuse = (response: ServerResponse, status: number, code: string): void =>
    answer(response, status, { success: false, error: { code, message: 'từ chối' } });
  const detail = ({ body, number, pending }: Stored) => ({
    reference_code: body.reference_code,
    invoice_number: pending > 0 ? '0' : number,
    issued_date: body.issued_date.slice(0, 10),
    pdf_url: state.pdfUrl ?? `https://einvoice.example/${number}.pdf`,
    xml_url: null,
    status: pending > 0 ? 'draft' : 'issued',
    total_amount: body.total_amount,
  });

  function create(response: ServerResponse, text: string): void {
    state.requests += 1;
    const fault = state.next.shift();
    if (fault === 'fail') return refuse(response, 500, 'INTERNAL');
    if (fault === 'refuse') return refuse(response, 400, 'INVALID_TAX_CODE');
    if (fault === 'quota') return refuse(response, 403, 'QUOTA_EXCEEDED');
    const parsed = documented.safeParse(JSON.parse(text));
    if (!parsed.success) return refuse(response, 400, 'BAD_SHAPE');
    const body = parsed.data;
    if (!addsUp(body)) return refuse(response, 400, 'TOTAL_MISMATCH');
    if (stored.has(body.reference_code)) return refuse(response, 409, 'EINVOICE_DOCUMENT_EXISTED');
    const made = {
      body,
      tracking: randomUUID(),
      number: String(500 + stored.size),
      pending: state.pendingChecks,
      cancelled: false,
    };
    stored.set(body.reference_code, made);
    state.invoices.push(body);
    if (fault === 'lose answer') return void response.destroy();
    if (fault === 'hang') return;
    answer(response, 200, { success: true, data: { tracking_code: made.tracking, tracking_url: 'https://x.example' } });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { method, url = '', headers } = request;
    if (method === 'POST' && url === '/v1/token') {
      const basic = Buffer.from(`${credentials.clientId}:${credentials.clientSecret}`).toString('base64');
      return headers.authorization === `Basic ${basic}`
        ? answer(response, 200, {
            success: true,
            data: { access_token: token, token_type: 'Bearer', expires_in: 86_400 },
          })
        : refuse(response, 401, 'UNAUTHORIZED');
    }
    if (headers.authorization !== `Bearer ${token}`) return refuse(response, 401, 'UNAUTHORIZED');
    if (method === 'POST' && url === '/v1/invoices/create') return create(response, Buffer.concat(pieces).toString());
    if (method !== 'GET') return refuse(response, 405, 'METHOD');
    // https://developer.sepay.vn/en/einvoice-api/chi-tiet-tai-khoan
    if (url === `/v1/provider-accounts/${credentials.accountId}`)
      return answer(response, 200, {
        success: true,
        data: {
          id: credentials.accountId,
          provider: 'matbao',
          active: true,
          templates: [
            { template_code: credentials.templateCode, invoice_series: credentials.series, invoice_label: 'GTGT' },
          ],
        },
      });
    const tracking = /^\/v1\/invoices\/create\/check\/([^/]+)$/.exec(url)?.[1];
    const file = /^\/v1\/invoices\/([^/]+)\/download\?type=xml$/.exec(url)?.[1];
    if (file !== undefined) {
      const made = [...stored.values()].find((one) => one.tracking === file && one.pending === 0);
      const content = made === undefined ? null : state.changeFile(invoiceXml(made.body, made.number));
      if (content === null) return refuse(response, 404, 'NOT_FOUND');
      return answer(response, 200, {
        success: true,
        data: { file_type: 'xml', file_name: 'HD.xml', content: Buffer.from(content).toString('base64') },
      });
    }
    const reference = /^\/v1\/invoices\/([^/]+)$/.exec(url)?.[1];
    const found =
      tracking === undefined
        ? stored.get(decodeURIComponent(reference ?? ''))
        : [...stored.values()].find((one) => one.tracking === tracking);
    if (found === undefined) return refuse(response, 404, 'NOT_FOUND');
    const pending = found.pending > 0;
    if (pending) found.pending -= 1;
    // While it is made there is no invoice to look up.
    if (tracking === undefined)
      return pending
        ? refuse(response, 404, 'NOT_FOUND')
        : answer(response, 200, {
            success: true,
            data: { ...detail(found), ...(found.cancelled && { status: 'cancelled' }) },
          });
    answer(response, 200, {
      success: true,
      data: pending ? { status: 'Pending', invoice: null } : { status: 'Success', invoice: detail(found) },
    });
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}
