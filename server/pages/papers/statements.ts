import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { z } from 'zod';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Parties } from '../../plans/papers/parties.ts';
import { isMonth, type Statements } from '../../plans/papers/statements.ts';
import { chooseLocale } from '../../shared/page.ts';
import { goneLink, isStillOpen } from '../link-access.ts';
import type { LinkLimits } from '../link-limits.ts';
import { createSignedLinks, deadLink, type LinkBase, linkHeaders, type SignedLinks } from '../signed-links.ts';
import type { PdfPress } from './pdf.ts';
import { sendCsv, sendPdf } from './receipts.ts';
import { statementCsv, statementPaper } from './statement-paper.ts';

/**
 * The statement of an account's month as PDF, or as CSV with `&format=csv`. The language is the reader's: `&lang=en|vi`,
 * else what the browser prefers.
 */

export type StatementLinks = SignedLinks<{ accountId: string; month: string }>;

const path = '/downloads/statement';
const validMs = 60 * 60_000;
const contents = z.object({ accountId: z.uuid(), month: z.string().refine(isMonth) });

export function createStatementLinks(base: LinkBase): StatementLinks {
  return createSignedLinks(base, { purpose: 'statement', path, validMs, contents });
}

export interface StatementParts {
  pool: Pick<Pool, 'query'>;
  links: StatementLinks;
  limits: LinkLimits;
  press: Pick<PdfPress, 'draw'>;
  accounts: Pick<Accounts, 'find'>;
  statements: Pick<Statements, 'read'>;
  parties: Pick<Parties, 'seller' | 'companies'>;
  /** The owner of the bank account. */
  payee: string;
  demonstration?: boolean;
}

export function registerStatements(app: FastifyInstance, parts: StatementParts): void {
  const { pool, links, limits, press, accounts, statements, parties } = parts;
  app.get<{ Querystring: { grant?: unknown; lang?: unknown; format?: unknown } }>(path, async (request, reply) => {
    const refused = limits.refuse(request, reply);
    if (refused !== null) return refused;
    const opened = links.open(request.query.grant);
    const asked = opened?.contents ?? null;
    const account = asked === null ? null : await accounts.find(asked.accountId);
    const statement = asked === null ? null : await statements.read(asked.accountId, asked.month);
    if (opened === null || account === null || statement === null)
      return reply.code(403).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
    const use = { holder: opened.holder, accountId: account.id, ability: 'read' } as const;
    if (!(await isStillOpen(pool, use))) return goneLink(reply);
    const [seller, companies] = await Promise.all([parties.seller(), parties.companies([account.id])]);
    const company = companies.get(account.id) ?? null;
    const { payee, demonstration = false } = parts;
    const printed = { statement, account, company, seller, payee, demonstration, at: new Date() };
    const locale = chooseLocale(request.query.lang, request.headers['accept-language']);
    reply.headers({ ...linkHeaders, 'content-language': locale });
    const name = `statement-${statement.month}`;
    return request.query.format === 'csv'
      ? sendCsv(reply, name, statementCsv(printed, locale))
      : sendPdf(reply, press, { name, paper: statementPaper(printed, locale) });
  });
}
