import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { z } from 'zod';
import { type Books, bookPapers } from '../books/books.ts';
import { monthsCsv } from '../books/month-statement.ts';
import { chooseLocale } from '../shared/page.ts';
import { goneLink, isStillOpen } from './link-access.ts';
import type { LinkLimits } from './link-limits.ts';
import { sendCsv } from './papers/receipts.ts';
import { createSignedLinks, deadLink, type LinkBase, linkHeaders, type SignedLinks } from './signed-links.ts';

/** The closed months as CSV for an accountant, behind a signed link that operators make. */

/** `closed_months`, or a paper of a month such as `journal 2026-10`. */
export type BooksLinks = SignedLinks<string>;

const path = '/downloads/books.csv';
const validMs = 15 * 60_000;
const contentsShape = /^(closed_months|(journal|papers|advances) 20\d\d-(0[1-9]|1[0-2]))$/;

export function createBooksLinks(base: LinkBase): BooksLinks {
  return createSignedLinks(base, { purpose: 'books', path, validMs, contents: z.string().regex(contentsShape) });
}

export function registerBooks(
  app: FastifyInstance,
  {
    pool,
    books,
    links,
    limits,
  }: {
    pool: Pick<Pool, 'query'>;
    books: Pick<Books, 'closedMonths' | 'csv'>;
    links: BooksLinks;
    limits: LinkLimits;
  },
): void {
  app.get<{ Querystring: { grant?: unknown; lang?: unknown } }>(path, async (request, reply) => {
    const refused = limits.refuse(request, reply);
    if (refused !== null) return refused;
    const opened = links.open(request.query.grant);
    if (opened === null) return reply.code(403).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
    const { contents, holder } = opened;
    if (!(await isStillOpen(pool, { holder, accountId: null, ability: 'read' }))) return goneLink(reply);
    reply.headers(linkHeaders);
    const [name, month] = contents.split(' ');
    const kind = bookPapers.find((each) => each === name);
    if (kind === undefined || month === undefined)
      return sendCsv(
        reply,
        'closed-months',
        monthsCsv((await books.closedMonths()).flatMap(({ statement }) => statement ?? [])),
      );
    const csv = await books.csv(kind, month, chooseLocale(request.query.lang, request.headers['accept-language']));
    if (csv === null)
      return reply.code(404).type('text/plain; charset=utf-8').send(`${month} is not closed with its lines.\n`);
    return sendCsv(reply, `${kind}-${month}`, csv);
  });
}
