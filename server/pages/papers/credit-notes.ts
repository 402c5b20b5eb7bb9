import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { z } from 'zod';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Orders } from '../../plans/orders.ts';
import type { Parties } from '../../plans/papers/parties.ts';
import type { Refunds } from '../../plans/refunds.ts';
import { chooseLocale } from '../../shared/page.ts';
import { goneLink, isStillOpen } from '../link-access.ts';
import type { LinkLimits } from '../link-limits.ts';
import { createSignedLinks, deadLink, type LinkBase, linkHeaders, type SignedLinks } from '../signed-links.ts';
import { creditNoteCsv, creditNotePaper, type PrintedCreditNote } from './credit-note-paper.ts';
import type { PdfPress } from './pdf.ts';
import { sendCsv, sendPdf } from './receipts.ts';

/** The credit note of a refund as PDF, or as CSV (`&format=csv`). The language is the reader's: `&lang=en|vi`. */

/** By refund. */
export type CreditNoteLinks = SignedLinks<string>;

const path = '/downloads/credit-note';
const validMs = 60 * 60_000;

export function createCreditNoteLinks(base: LinkBase): CreditNoteLinks {
  return createSignedLinks(base, { purpose: 'credit-note', path, validMs, contents: z.uuid() });
}

export interface CreditNoteParts {
  pool: Pick<Pool, 'query'>;
  links: CreditNoteLinks;
  limits: LinkLimits;
  press: Pick<PdfPress, 'draw'>;
  accounts: Pick<Accounts, 'find'>;
  orders: Pick<Orders, 'findAny'>;
  refunds: Pick<Refunds, 'find'>;
  parties: Pick<Parties, 'ofOrder' | 'seller'>;
  /** The owner of the bank account. */
  payee: string;
  demonstration?: boolean;
}

export function registerCreditNotes(app: FastifyInstance, parts: CreditNoteParts): void {
  const { links, limits, press, pool } = parts;
  app.get<{ Querystring: { grant?: unknown; lang?: unknown; format?: unknown } }>(path, async (request, reply) => {
    const refused = limits.refuse(request, reply);
    if (refused !== null) return refused;
    const opened = links.open(request.query.grant);
    const note = opened === null ? null : await readCreditNote(parts, opened.contents);
    if (opened === null || note === null)
      return reply.code(403).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
    const use = { holder: opened.holder, accountId: note.refund.accountId, ability: 'read' } as const;
    if (!(await isStillOpen(pool, use))) return goneLink(reply);
    const locale = chooseLocale(request.query.lang, request.headers['accept-language']);
    reply.headers({ ...linkHeaders, 'content-language': locale });
    const name = `credit-note-${note.refund.number}`;
    return request.query.format === 'csv'
      ? sendCsv(reply, name, creditNoteCsv(note, locale))
      : sendPdf(reply, press, { name, paper: creditNotePaper(note, locale) });
  });
}

/** What the credit note of a refund says. */
async function readCreditNote(parts: CreditNoteParts, refundId: string): Promise<PrintedCreditNote | null> {
  const { accounts, orders, refunds, parties, payee, demonstration = false } = parts;
  const refund = await refunds.find(refundId);
  if (refund === null) return null;
  const order = refund.orderId === null ? null : await orders.findAny(refund.orderId);
  const account = refund.accountId === null ? null : await accounts.find(refund.accountId);
  const { seller, company } =
    order === null ? { seller: await parties.seller(), company: null } : await parties.ofOrder(order);
  return { refund, order, account, company, seller, payee, demonstration };
}
