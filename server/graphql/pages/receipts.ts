import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Orders } from '../../plans/orders.ts';
import type { Parties } from '../../plans/parties.ts';
import type { Transfers } from '../../plans/transfers.ts';
import { chooseLocale } from '../../shared/page.ts';
import type { LinkLimits } from './link-limits.ts';
import { receiptPage, receiptPolicy } from './receipt-page.ts';
import { createSignedLinks, deadLink, linkHeaders, type SignedLinks } from './signed-links.ts';

/**
 * The receipt of a paid order as a page to print or to keep as PDF. The language is the reader's: `&lang=en|vi`, else
 * what the browser prefers.
 */

export type ReceiptLinks = SignedLinks<string>;

const path = '/downloads/receipt';
/** Long enough for a page that stays open over lunch; a new link can be requested at any time. */
const validMs = 60 * 60_000;

/** Links to receipts, by order. */
export function createReceiptLinks(options: { secretKey: Buffer; publicUrl: string }): ReceiptLinks {
  return createSignedLinks({ ...options, purpose: 'receipt', path, validMs, contents: z.uuid() });
}

export interface ReceiptParts {
  links: ReceiptLinks;
  limits: LinkLimits;
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
  const { links, limits, accounts, orders, transfers, parties, payee, demonstration = false } = parts;
  app.get<{ Querystring: { grant?: unknown; lang?: unknown } }>(path, async (request, reply) => {
    const refused = limits.refuse(request, reply);
    if (refused !== null) return refused;
    const orderId = links.open(request.query.grant);
    const order = orderId === null ? null : await orders.findAny(orderId);
    const account = order === null ? null : await accounts.find(order.accountId);
    if (order === null || account === null || order.paidAt === null)
      return reply.code(403).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
    const payments = (await transfers.ofOrders([order.id])).get(order.id) ?? [];
    const { seller, company } = await parties.ofOrder(order);
    const locale = chooseLocale(request.query.lang, request.headers['accept-language']);
    return reply
      .headers({ ...linkHeaders, 'content-security-policy': receiptPolicy, 'content-language': locale })
      .type('text/html; charset=utf-8')
      .send(
        receiptPage({ order, paidAt: order.paidAt, account, company, payments, seller, payee, demonstration }, locale),
      );
  });
}
