import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Books } from '../../plans/books.ts';
import { closedMonthsCsv } from '../../plans/month-close.ts';
import type { LinkLimits } from './link-limits.ts';
import { sendCsv } from './receipts.ts';
import { createSignedLinks, deadLink, linkHeaders, type SignedLinks } from './signed-links.ts';

/** The closed months as CSV for an accountant, behind a signed link that operators make. */

export type BooksLinks = SignedLinks<'closed_months'>;

const path = '/downloads/books.csv';
const validMs = 15 * 60_000;

export function createBooksLinks(options: { secretKey: Buffer; publicUrl: string }): BooksLinks {
  return createSignedLinks({ ...options, purpose: 'books', path, validMs, contents: z.literal('closed_months') });
}

export function registerBooks(
  app: FastifyInstance,
  { books, links, limits }: { books: Pick<Books, 'closedMonths'>; links: BooksLinks; limits: LinkLimits },
): void {
  app.get<{ Querystring: { grant?: unknown } }>(path, async (request, reply) => {
    const refused = limits.refuse(request, reply);
    if (refused !== null) return refused;
    if (links.open(request.query.grant) === null)
      return reply.code(403).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
    return sendCsv(reply.headers(linkHeaders), 'closed-months', closedMonthsCsv(await books.closedMonths()));
  });
}
