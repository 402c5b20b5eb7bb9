import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Pool } from 'pg';
import { z } from 'zod';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Transfers } from '../../plans/bank/transfers.ts';
import type { Orders } from '../../plans/orders.ts';
import type { Parties } from '../../plans/papers/parties.ts';
import { BusyThreadError } from '../../runtime/thread.ts';
import { chooseLocale, inChosenTheme } from '../../shared/page.ts';
import { goneLink, isStillOpen } from '../link-access.ts';
import { type LinkLimits, tryAgain } from '../link-limits.ts';
import { createSignedLinks, deadLink, type LinkBase, linkHeaders, type SignedLinks } from '../signed-links.ts';
import type { Paper } from './paper.ts';
import type { PdfPress } from './pdf.ts';
import { receiptPage, receiptPolicy } from './receipt-page.ts';
import { receiptCsv, receiptPaper } from './receipt-paper.ts';
import type { PrintedReceipt } from './receipt-words.ts';

/**
 * The receipt of a paid order as a page, as PDF (`&format=pdf`) or as CSV (`&format=csv`). The language is the reader's:
 * `&lang=en|vi`, else what the browser prefers.
 */

export type ReceiptLinks = SignedLinks<string>;

const path = '/downloads/receipt';
/** Long enough for a page that stays open over lunch; a new link can be requested at any time. */
const validMs = 60 * 60_000;

/** Links to receipts, by order. */
export function createReceiptLinks(base: LinkBase): ReceiptLinks {
  return createSignedLinks(base, { purpose: 'receipt', path, validMs, contents: z.uuid() });
}

export interface ReceiptParts {
  pool: Pick<Pool, 'query'>;
  links: ReceiptLinks;
  limits: LinkLimits;
  press: Pick<PdfPress, 'draw'>;
  accounts: Pick<Accounts, 'find'>;
  orders: Pick<Orders, 'findAny'>;
  transfers: Pick<Transfers, 'ofOrders'>;
  parties: Pick<Parties, 'ofOrder'>;
  /** The owner of the bank account. */
  payee: string;
  /** Whether the bank account is made up. */
  demonstration?: boolean;
}

export function registerReceipts(app: FastifyInstance, parts: ReceiptParts): void {
  const { links, limits, press, pool } = parts;
  app.get<{ Querystring: { grant?: unknown; lang?: unknown; format?: unknown } }>(path, async (request, reply) => {
    const refused = limits.refuse(request, reply);
    if (refused !== null) return refused;
    const opened = links.open(request.query.grant);
    const receipt = opened === null ? null : await readReceipt(parts, opened.contents);
    if (opened === null || receipt === null)
      return reply.code(403).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
    const use = { holder: opened.holder, accountId: receipt.order.accountId, ability: 'read' } as const;
    if (!(await isStillOpen(pool, use))) return goneLink(reply);
    const locale = chooseLocale(request.query.lang, request.headers['accept-language']);
    reply.headers({ ...linkHeaders, 'content-language': locale });
    const name = `receipt-${receipt.order.memo}`;
    if (request.query.format === 'pdf') return sendPdf(reply, press, { name, paper: receiptPaper(receipt, locale) });
    if (request.query.format === 'csv') return sendCsv(reply, name, receiptCsv(receipt, locale));
    return reply
      .header('content-security-policy', receiptPolicy)
      .type('text/html; charset=utf-8')
      .send(inChosenTheme(receiptPage(receipt, locale), request.headers.cookie));
  });
}

/** What the receipt of an order says; null while it is not paid. */
async function readReceipt(parts: ReceiptParts, orderId: string): Promise<PrintedReceipt | null> {
  const { accounts, orders, transfers, parties, payee, demonstration = false } = parts;
  const order = await orders.findAny(orderId);
  const account = order === null ? null : await accounts.find(order.accountId);
  if (order === null || account === null || order.paidAt === null) return null;
  const payments = (await transfers.ofOrders([order.id])).get(order.id) ?? [];
  const { seller, company } = await parties.ofOrder(order);
  return { order, paidAt: order.paidAt, account, company, payments, seller, payee, demonstration };
}

const busyRetryAfterS = 3;

/** Draws a paper and answers with its PDF. */
export async function sendPdf(
  reply: FastifyReply,
  press: Pick<PdfPress, 'draw'>,
  { name, paper }: { name: string; paper: Paper },
): Promise<FastifyReply> {
  try {
    const bytes = await press.draw(paper);
    return reply.type('application/pdf').header('content-disposition', `inline; filename="${name}.pdf"`).send(bytes);
  } catch (error) {
    if (error instanceof BusyThreadError) return tryAgain(reply, 503, busyRetryAfterS);
    throw error;
  }
}

export function sendCsv(reply: FastifyReply, name: string, text: string): FastifyReply {
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(text);
}
