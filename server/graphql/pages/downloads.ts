import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { z } from 'zod';
import { listArchivedMonths } from '../../billing/archive/archived-months.ts';
import { readAttributions } from '../../billing/reads/attributed-usage.ts';
import { type LedgerRecord, readLedger } from '../../billing/reads/usage.ts';
import type { Attribution } from '../../core/attribution.ts';
import { formatUsd } from '../../core/money.ts';
import type { Outcome } from '../../core/outcome.ts';
import { cost } from '../../core/price.ts';
import { csvLine } from '../../shared/csv.ts';
import { createLoopTurns } from '../../shared/loop-turns.ts';
import { goneLink, isStillOpen } from './link-access.ts';
import { type LinkLimits, tryAgain } from './link-limits.ts';
import { createSignedLinks, deadLink, linkHeaders, type SignedLinks } from './signed-links.ts';

/** The ledger as CSV, behind a signed link. The answer is streamed page by page, whatever its size. */

export interface LedgerSelection {
  accountId: string;
  from: Date | null;
  to: Date | null;
  keyId: string | null;
  model: string | null;
  outcome: Outcome | null;
  /** Sessions as they are stored; null: all requests. */
  sessions: readonly string[] | null;
}

export type LedgerDownloads = SignedLinks<LedgerSelection>;

const validMs = 5 * 60_000;
const path = '/downloads/ledger.csv';

const moment = z.coerce.date().nullable();
const contents = z.object({
  accountId: z.uuid(),
  from: moment,
  to: moment,
  keyId: z.uuid().nullable(),
  model: z.string().nullable(),
  outcome: z.custom<Outcome>((value) => typeof value === 'string').nullable(),
  // Links that a previous version made do not have it.
  sessions: z.array(z.string()).nullable().default(null),
});

export function createLedgerDownloads(options: { secretKey: Buffer; publicUrl: string }): LedgerDownloads {
  return createSignedLinks({ ...options, purpose: 'download', path, validMs, contents });
}

/** Entries per page: a slow reader holds a page, never the whole ledger or a connection. */
const pageSize = 250;

/** Maximum concurrent downloads: of an account, and of all on this process. */
const maxOfAccount = 2;
const maxRunning = 8;
const busyRetryAfterS = 5;

export function registerDownloads(
  app: FastifyInstance,
  options: { db: Pool; downloads: LedgerDownloads; limits: LinkLimits },
): void {
  const { db, downloads, limits } = options;
  const turns = createLoopTurns();
  /** Account ids of the running downloads. */
  const running: string[] = [];

  async function* counted(selection: LedgerSelection): AsyncGenerator<string> {
    const { accountId } = selection;
    running.push(accountId);
    try {
      yield* csvOf(db, selection, () => turns.next(accountId));
    } finally {
      running.splice(running.indexOf(accountId), 1);
    }
  }

  app.get<{ Querystring: { grant?: unknown } }>(path, async (request, reply) => {
    const refused = limits.refuse(request, reply);
    if (refused !== null) return refused;
    const opened = downloads.open(request.query.grant);
    if (opened === null) return reply.code(403).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
    const { contents: selection, holder } = opened;
    if (!(await isStillOpen(db, { holder, accountId: selection.accountId, ability: 'read' }))) return goneLink(reply);
    const ofAccount = running.filter((accountId) => accountId === selection.accountId).length;
    if (ofAccount >= maxOfAccount || running.length >= maxRunning) return tryAgain(reply, 429, busyRetryAfterS);
    const archived = await listArchivedMonths(db, selection);
    return reply
      .headers({
        ...linkHeaders,
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="${fileName(archived.map(({ month }) => month))}"`,
      })
      .send(Readable.from(counted(selection)));
  });
}

/** Of a range with archived months, the name says what the file lacks: a CSV has no place for remarks. */
function fileName(archived: readonly string[]): string {
  const [first, last] = [archived[0], archived.at(-1)];
  if (first === undefined) return 'ledger.csv';
  return first === last ? `ledger-without-${first}.csv` : `ledger-without-${first}-to-${last}.csv`;
}

async function* csvOf(db: Pool, selection: LedgerSelection, nextTurn: () => Promise<void>): AsyncGenerator<string> {
  yield csvLine(columns.map(([name]) => name));
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readLedger>> = await readLedger(db, { ...selection, limit: pageSize, after });
    const ids = page.items.map(({ requestId }) => requestId);
    const noted = await readAttributions(db, selection.accountId, ids);
    await nextTurn();
    const lineOf = (entry: LedgerRecord) => csvLine(columns.map(([, read]) => read(entry, noted.get(entry.requestId))));
    if (page.items.length > 0) yield page.items.map(lineOf).join('');
    after = page.next;
  } while (after !== null);
}

const columns: readonly (readonly [string, (entry: LedgerRecord, noted: Attribution | undefined) => string])[] = [
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
  // Part of the cost that is not of the tokens in this line.
  ['other_models', (entry) => entry.lines.map(({ model }) => model).join('; ')],
  [
    'other_models_usd',
    (entry) => formatUsd(entry.lines.reduce((sum, { usage, price }) => sum + cost(usage, price), 0n)),
  ],
  ['charged_usd', (entry) => formatUsd(entry.charged)],
  ['latency_ms', (entry) => String(entry.latencyMs)],
  ['time_to_first_byte_ms', (entry) => (entry.timeToFirstByteMs === null ? '' : String(entry.timeToFirstByteMs))],
  ['session', (_entry, noted) => noted?.session ?? ''],
  ['user', (_entry, noted) => noted?.user ?? ''],
  ['tags', (_entry, noted) => noted?.tags.join('; ') ?? ''],
];
