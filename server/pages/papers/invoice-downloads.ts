import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { z } from 'zod';
import type { Invoices } from '../../plans/papers/invoices.ts';
import { goneLink, isStillOpen } from '../link-access.ts';
import type { LinkLimits } from '../link-limits.ts';
import { createSignedLinks, deadLink, type LinkBase, linkHeaders, type SignedLinks } from '../signed-links.ts';

/** The XML of an order's e-invoice, to the byte as the provider returned it, as a file and never as a page. */

/** By order. */
export type InvoiceLinks = SignedLinks<string>;

const path = '/downloads/e-invoice.xml';
const validMs = 60 * 60_000;

export function createInvoiceLinks(base: LinkBase): InvoiceLinks {
  return createSignedLinks(base, { purpose: 'e-invoice', path, validMs, contents: z.uuid() });
}

export function registerInvoiceDownloads(
  app: FastifyInstance,
  parts: { pool: Pick<Pool, 'query'>; links: InvoiceLinks; limits: LinkLimits; invoices: Pick<Invoices, 'file'> },
): void {
  const { pool, links, limits, invoices } = parts;
  app.get<{ Querystring: { grant?: unknown } }>(path, async (request, reply) => {
    const refused = limits.refuse(request, reply);
    if (refused !== null) return refused;
    const opened = links.open(request.query.grant);
    const file = opened === null ? null : await invoices.file(opened.contents);
    if (opened === null || file === null)
      return reply.code(403).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
    const use = { holder: opened.holder, accountId: file.accountId, ability: 'read' } as const;
    if (!(await isStillOpen(pool, use))) return goneLink(reply);
    return reply
      .headers({
        ...linkHeaders,
        'content-type': 'application/xml',
        'content-disposition': `attachment; filename="e-invoice-${file.number.replaceAll(/[^0-9A-Za-z-]/g, '')}.xml"`,
        // Others' markup on this origin: nothing in it may run, should a browser show it all the same.
        'content-security-policy': "default-src 'none'; sandbox",
      })
      .send(file.content);
  });
}
