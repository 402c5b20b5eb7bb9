import { request } from 'undici';
import { z } from 'zod';
import { formatUsd } from '../../core/money.ts';
import type { EinvoiceConfig } from '../../runtime/config.ts';
import { maxInvoiceFileBytes } from './invoice-file.ts';
import { type InvoiceProgress, type InvoiceProvider, InvoiceRefused, type InvoiceToIssue } from './invoices.ts';

/**
 * E-invoices through SePay's eInvoice API, version 1. Sources: developer.sepay.vn/en/einvoice-api/v1, the pages
 * `bat-dau-nhanh` (token), `xuat-hoa-don-dien-tu` (create), `theo-doi-trang-thai-xuat-hoa-don` (check),
 * `chi-tiet-hoa-don` (look-up by reference), `tai-hoa-don` (its file, by tracking code) and `xu-ly-loi` (errors).
 */

export interface SepayEinvoiceOptions extends EinvoiceConfig {
  timeoutMs?: number;
}

/** Of one request. */
const defaultTimeoutMs = 15_000;
/** A call whose token was taken back: a token, the call, another token, the call again. */
const requestsPerCall = 4;
/** A token works for a day; it is renewed before that. */
const renewBeforeMs = 10 * 60_000;

const tokenAnswer = z.object({
  data: z.object({ access_token: z.string().min(1), expires_in: z.number().positive() }),
});
const createAnswer = z.object({ data: z.object({ tracking_code: z.string().min(1).max(200) }) });
const invoiceShape = z.object({
  invoice_number: z.string().max(100),
  status: z.string(),
  pdf_url: z.string().max(2_000).nullish(),
});
const checkAnswer = z.object({ data: z.object({ status: z.string(), invoice: invoiceShape.nullish() }) });
const detailAnswer = z.object({ data: invoiceShape });
const accountAnswer = z.object({
  data: z.object({
    active: z.boolean(),
    templates: z.array(z.object({ template_code: z.string().max(20), invoice_series: z.string().max(20) })),
  }),
});
const fileAnswer = z.object({ data: z.object({ file_type: z.literal('xml'), content: z.base64().min(1) }) });
const errorAnswer = z.object({ error: z.object({ code: z.string() }) });

interface Answer {
  status: number;
  body: unknown;
}

/** What a try of the settings showed; of an unknown series, those that the account has, as `1 C26TAT`. */
export type EinvoiceFinding =
  | { kind: 'series_known' | 'client_refused' | 'account_unknown' | 'account_inactive' | 'unreachable' }
  | { kind: 'series_unknown'; known: string[] };

export function createSepayEinvoice(
  options: SepayEinvoiceOptions,
): InvoiceProvider & { examine(): Promise<EinvoiceFinding> } {
  const { clientId, clientSecret, baseUrl, timeoutMs = defaultTimeoutMs } = options;
  let token: { text: string; until: number } | null = null;

  async function send(method: 'GET' | 'POST', path: string, authorization: string, body?: object): Promise<Answer> {
    const response = await request(baseUrl + path, {
      method,
      headers: { authorization, accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: response.statusCode, body: parsed(await boundedText(response.body)) };
  }

  async function bearer(): Promise<string> {
    if (token === null || token.until <= Date.now()) {
      const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
      const answer = await send('POST', '/v1/token', `Basic ${basic}`);
      if (answer.status !== 200) throw refusal(answer, false);
      const { access_token: text, expires_in: seconds } = tokenAnswer.parse(answer.body).data;
      token = { text, until: Date.now() + seconds * 1_000 - renewBeforeMs };
    }
    return `Bearer ${token.text}`;
  }

  /** One call; a token that was taken back is renewed once. */
  async function call(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    const answer = await send(method, path, await bearer(), body);
    if (answer.status !== 401) return answer;
    token = null;
    return send(method, path, await bearer(), body);
  }

  return {
    name: 'sepay',
    maxCallMs: requestsPerCall * timeoutMs,

    async find(reference) {
      const answer = await call('GET', `/v1/invoices/${encodeURIComponent(reference)}`);
      if (answer.status === 404) return { kind: 'unknown' };
      if (answer.status !== 200) throw refusal(answer, false);
      return progressOf(detailAnswer.parse(answer.body).data);
    },

    async request(invoice) {
      const answer = await call('POST', '/v1/invoices/create', invoiceBody(invoice, options));
      if (answer.status === 409) return { kind: 'exists' };
      // 400 and 422 say that the same invoice would be refused again; quota, rates and faults pass.
      if (answer.status !== 200) throw refusal(answer, answer.status === 400 || answer.status === 422);
      return { kind: 'requested', tracking: createAnswer.parse(answer.body).data.tracking_code };
    },

    async check(tracking) {
      const answer = await call('GET', `/v1/invoices/create/check/${encodeURIComponent(tracking)}`);
      if (answer.status === 404) return { kind: 'unknown' };
      if (answer.status !== 200) throw refusal(answer, false);
      const { status, invoice } = checkAnswer.parse(answer.body).data;
      if (status === 'Pending') return { kind: 'pending' };
      // After a failure it is undetermined whether an invoice was made: the look-up by reference decides.
      return status === 'Success' && invoice != null ? progressOf(invoice) : { kind: 'unknown' };
    },

    /**
     * Asks for a token and for the account's templates; makes no invoice.
     * https://developer.sepay.vn/en/einvoice-api/chi-tiet-tai-khoan
     */
    async examine() {
      try {
        const answer = await call('GET', `/v1/provider-accounts/${encodeURIComponent(options.accountId)}`);
        if (answer.status === 404) return { kind: 'account_unknown' };
        const known = accountAnswer.safeParse(answer.body);
        if (answer.status !== 200 || !known.success) return { kind: 'unreachable' };
        const { active, templates } = known.data.data;
        if (!active) return { kind: 'account_inactive' };
        const has = templates.some(
          (each) => each.template_code === options.templateCode && each.invoice_series === options.series,
        );
        if (has) return { kind: 'series_known' };
        const series = templates.map((each) => `${each.template_code} ${each.invoice_series}`);
        return { kind: 'series_unknown', known: series.slice(0, 10) };
      } catch (error) {
        return { kind: error instanceof InvoiceRefused ? 'client_refused' : 'unreachable' };
      }
    },

    async file(tracking) {
      const answer = await call('GET', `/v1/invoices/${encodeURIComponent(tracking)}/download?type=xml`);
      if (answer.status === 404) return null;
      if (answer.status !== 200) throw refusal(answer, false);
      return Buffer.from(fileAnswer.parse(answer.body).data.content, 'base64');
    },
  };
}

function progressOf({ status, invoice_number: number, pdf_url: url }: z.infer<typeof invoiceShape>): InvoiceProgress {
  if (status === 'issued') return { kind: 'issued', number, url: url != null && url.startsWith('https:') ? url : null };
  if (status === 'cancelled') return { kind: 'cancelled' };
  // Drafts are not made here: a person has changed something at the provider.
  return { kind: 'failed', problem: `invoice_${status}`.slice(0, 100) };
}

/** The body of a request, in the documented members and no others. */
function invoiceBody(invoice: InvoiceToIssue, options: SepayEinvoiceOptions): object {
  const { templateCode, series, accountId, taxRate } = options;
  const { name, email, company } = invoice.buyer;
  const price = Number(invoice.priceVnd);
  const percent = taxRate === null || taxRate < 0 ? 0 : taxRate;
  return {
    template_code: templateCode,
    invoice_series: series,
    issued_date: vietnamTime(invoice.paidAt),
    currency: 'VND',
    provider_account_id: accountId,
    reference_code: invoice.reference,
    payment_method: 'CK',
    is_draft: false,
    buyer: {
      type: company === null ? 'personal' : 'company',
      name: company?.name ?? name,
      ...(company === null ? {} : { legal_name: company.name }),
      ...(company === null || company.taxCode === '' ? {} : { tax_code: company.taxCode }),
      ...(company === null || company.address === '' ? {} : { address: company.address }),
      email,
    },
    items: [
      {
        line_number: 1,
        line_type: 1,
        item_code: invoice.planId,
        item_name: `${invoice.planName}: số dư ${formatUsd(invoice.budget)} USD`,
        unit: 'gói',
        quantity: 1,
        unit_price: priceBeforeTax(invoice.priceVnd, BigInt(percent)),
        ...(taxRate === null ? {} : { tax_rate: taxRate }),
      },
    ],
    notes: invoice.memo,
    total_amount: price,
  };
}

/**
 * A price in VND without the tax of `percent` that it includes, to two decimals: `unit_price` is documented as a number,
 * `total_amount` as a whole one. In whole VND many prices have no such amount: at 10 %, 50,000 would be 45,455 and 4,546
 * of tax. With two decimals the amount and its tax add up to the price, rounded each or together.
 */
function priceBeforeTax(priceVnd: bigint, percent: bigint): number {
  const divisor = 100n + percent;
  const hundredths = (priceVnd * 10_000n + divisor / 2n) / divisor;
  return Number(hundredths) / 100;
}

function refusal({ status, body }: Answer, isFinal: boolean): InvoiceRefused {
  const known = errorAnswer.safeParse(body);
  // Codes alone: messages of the provider may repeat what was sent.
  const code = known.success ? known.data.error.code.replaceAll(/[^A-Za-z0-9_]/g, '').slice(0, 80) : '';
  return new InvoiceRefused(code === '' ? `status_${status}` : code, isFinal);
}

/** A file of the largest size in base64, and what is around it. */
const maxAnswerBytes = 2 * maxInvoiceFileBytes;

async function boundedText(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > maxAnswerBytes) throw new InvoiceRefused('answer_too_large', false);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A moment in Vietnam's local time: `2026-11-21 16:05:00`. */
function vietnamTime(moment: Date): string {
  return new Date(moment.getTime() + 7 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
}
