import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { z } from 'zod';
import { formatUsd } from '../billing/money.ts';
import type { Outcome } from '../billing/types.ts';
import { type LedgerRecord, readLedger } from '../billing/usage.ts';

/**
 * The ledger as CSV. A browser follows a plain link to it, without headers of its own; so the link itself carries who
 * may see what, signed and for a few minutes. The answer is streamed page by page, whatever its size.
 */

export interface LedgerSelection {
  accountId: string;
  from: Date | null;
  to: Date | null;
  keyId: string | null;
  model: string | null;
  outcome: Outcome | null;
}

export interface LedgerDownloads {
  link(selection: LedgerSelection): { url: string; expiresAt: Date };
  /** What a link was made for; null when it was not made here or its time is over. */
  open(grant: string): LedgerSelection | null;
}

const validMs = 5 * 60_000;
const path = '/downloads/ledger.csv';

const contents = z.object({
  accountId: z.uuid(),
  from: z.iso.datetime().nullable(),
  to: z.iso.datetime().nullable(),
  keyId: z.uuid().nullable(),
  model: z.string().nullable(),
  outcome: z.custom<Outcome>((value) => typeof value === 'string').nullable(),
  until: z.number(),
});

export function createLedgerDownloads(options: { secretKey: Buffer; publicUrl: string }): LedgerDownloads {
  const key = Buffer.from(hkdfSync('sha256', options.secretKey, '', 'steyg download', 32));
  const sign = (payload: string): Buffer => createHmac('sha256', key).update(payload).digest();
  return {
    link(selection) {
      const until = Date.now() + validMs;
      const payload = Buffer.from(JSON.stringify({ ...selection, until })).toString('base64url');
      const grant = `${payload}.${sign(payload).toString('base64url')}`;
      return { url: `${options.publicUrl}${path}?grant=${grant}`, expiresAt: new Date(until) };
    },
    open(grant) {
      const [payload = '', signature = ''] = grant.split('.');
      const given = Buffer.from(signature, 'base64url');
      const expected = sign(payload);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
      const parsed = contents.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
      if (!parsed.success || parsed.data.until <= Date.now()) return null;
      const { accountId, from, to, keyId, model, outcome } = parsed.data;
      return { accountId, from: moment(from), to: moment(to), keyId, model, outcome };
    },
  };
}

function moment(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

/** Entries are read so many at a time: a slow reader holds a page, never the whole ledger or a connection. */
const pageSize = 1_000;

export function registerDownloads(app: FastifyInstance, options: { db: Pool; downloads: LedgerDownloads }): void {
  const { db, downloads } = options;
  app.get<{ Querystring: { grant?: unknown } }>(path, (request, reply) => {
    const { grant } = request.query;
    const selection = typeof grant === 'string' && grant.length <= 4_096 ? downloads.open(grant) : null;
    if (selection === null) {
      return reply
        .code(403)
        .type('text/plain; charset=utf-8')
        .send('This link is not valid any more; make a new one.\n');
    }
    return reply
      .headers({
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="ledger.csv"',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        // The link must not travel on to other sites.
        'referrer-policy': 'no-referrer',
      })
      .send(Readable.from(csvOf(db, selection)));
  });
}

async function* csvOf(db: Pool, selection: LedgerSelection): AsyncGenerator<string> {
  yield csvLine(columns.map(([name]) => name));
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readLedger>> = await readLedger(db, { ...selection, limit: pageSize, after });
    if (page.items.length > 0)
      yield page.items.map((entry) => csvLine(columns.map(([, read]) => read(entry)))).join('');
    after = page.next;
  } while (after !== null);
}

const columns: readonly (readonly [string, (entry: LedgerRecord) => string])[] = [
  ['request_id', (entry) => entry.requestId],
  ['created_at', (entry) => entry.createdAt.toISOString()],
  ['key_id', (entry) => entry.keyId],
  ['model', (entry) => entry.model],
  ['protocol', (entry) => entry.protocol],
  ['stream', (entry) => String(entry.stream)],
  ['outcome', (entry) => entry.outcome],
  ['usage_source', (entry) => entry.usageSource],
  ['input_tokens', (entry) => String(entry.usage.input)],
  ['cache_hit_tokens', (entry) => String(entry.usage.cacheHit)],
  ['cache_write_5m_tokens', (entry) => String(entry.usage.cacheWrite5m)],
  ['cache_write_1h_tokens', (entry) => String(entry.usage.cacheWrite1h)],
  ['output_tokens', (entry) => String(entry.usage.output)],
  ['cost_usd', (entry) => formatUsd(entry.cost)],
  ['charged_usd', (entry) => formatUsd(entry.charged)],
  ['latency_ms', (entry) => String(entry.latencyMs)],
  ['time_to_first_byte_ms', (entry) => (entry.timeToFirstByteMs === null ? '' : String(entry.timeToFirstByteMs))],
];

/** One line of a CSV file. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** What a spreadsheet would take for a formula begins with an apostrophe instead; what could end the cell is quoted. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
