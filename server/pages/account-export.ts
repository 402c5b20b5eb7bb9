import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { z } from 'zod';
import { exportAccount } from '../accounts/export.ts';
import { createLoopTurns } from '../shared/loop-turns.ts';
import { goneLink, isStillOpen } from './link-access.ts';
import { type LinkLimits, tryAgain } from './link-limits.ts';
import { createSignedLinks, deadLink, type LinkBase, linkHeaders, type SignedLinks } from './signed-links.ts';

/** The export of an account as lines of JSON, behind a signed link; streamed, whatever its size. */

export type ExportLinks = SignedLinks<string>;

const path = '/downloads/account.ndjson';
const validMs = 15 * 60_000;
/** Maximum concurrent exports of this process; one of an account. */
const maxRunning = 4;
const busyRetryAfterS = 10;

export function createExportLinks(base: LinkBase): ExportLinks {
  return createSignedLinks(base, { purpose: 'export', path, validMs, contents: z.uuid() });
}

export function registerExport(
  app: FastifyInstance,
  { pool, links, limits }: { pool: Pool; links: ExportLinks; limits: LinkLimits },
): void {
  const turns = createLoopTurns();
  const running = new Set<string>();

  async function* counted(accountId: string): AsyncGenerator<string> {
    running.add(accountId);
    try {
      yield* exportAccount(pool, accountId, () => turns.next(accountId));
    } finally {
      running.delete(accountId);
    }
  }

  app.get<{ Querystring: { grant?: unknown } }>(path, async (request, reply) => {
    const refused = limits.refuse(request, reply);
    if (refused !== null) return refused;
    const opened = links.open(request.query.grant);
    if (opened === null) return reply.code(403).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
    const { contents: accountId, holder } = opened;
    if (!(await isStillOpen(pool, { holder, accountId, ability: 'members' }))) return goneLink(reply);
    if (running.has(accountId) || running.size >= maxRunning) return tryAgain(reply, 429, busyRetryAfterS);
    return reply
      .headers({
        ...linkHeaders,
        'content-type': 'application/x-ndjson; charset=utf-8',
        'content-disposition': 'attachment; filename="account.ndjson"',
      })
      .send(Readable.from(counted(accountId)));
  });
}
