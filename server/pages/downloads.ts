import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { z } from 'zod';
import type { ArchivedLines, ReachedMonth } from '../billing/archive/archived-lines.ts';
import { readAttributions } from '../billing/reads/attributed-usage.ts';
import { type LedgerRecord, readLedger } from '../billing/reads/usage.ts';
import type { Attribution } from '../core/attribution.ts';
import { formatUsd } from '../core/money.ts';
import type { Outcome } from '../core/outcome.ts';
import { cost } from '../core/price.ts';
import { csvLine } from '../shared/csv.ts';
import { createLoopTurns } from '../shared/loop-turns.ts';
import { goneLink, isStillOpen } from './link-access.ts';
import { type LinkLimits, tryAgain } from './link-limits.ts';
import { createSignedLinks, deadLink, type LinkBase, linkHeaders, type SignedLinks } from './signed-links.ts';

/**
 * The ledger as CSV, behind a signed link. The answer is streamed page by page, whatever its size: the newest first, then
 * months that are in an archive which this server reaches, each the oldest first.
 */

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

export function createLedgerDownloads(base: LinkBase): LedgerDownloads {
  return createSignedLinks(base, { purpose: 'download', path, validMs, contents });
}

/** Entries per page: a slow reader holds a page, never the whole ledger or a connection. */
const pageSize = 250;

/** Maximum concurrent downloads: of an account, and of all on this process. */
const maxOfAccount = 2;
const maxRunning = 8;
/** Of all on this process, those that read archives: each passes over other accounts' requests of its months. */
const maxReadingArchives = 1;
const busyRetryAfterS = 5;

export function registerDownloads(
  app: FastifyInstance,
  options: { db: Pool; downloads: LedgerDownloads; limits: LinkLimits; archives: ArchivedLines },
): void {
  const { db, downloads, limits, archives } = options;
  const turns = createLoopTurns();
  /** Account ids of the running downloads. */
  const running: string[] = [];
  let readingArchives = 0;

  /** The file, counted from now until its stream closes, whether anybody read from it or not. */
  const counted = (selection: LedgerSelection, reached: readonly ReachedMonth[]): Readable => {
    const { accountId } = selection;
    const ofArchives = reached.length > 0 ? 1 : 0;
    running.push(accountId);
    readingArchives += ofArchives;
    const parts = { db, archives, nextTurn: () => turns.next(accountId) };
    return Readable.from(csvOf(parts, selection, reached)).once('close', () => {
      readingArchives -= ofArchives;
      running.splice(running.indexOf(accountId), 1);
    });
  };

  app.get<{ Querystring: { grant?: unknown } }>(path, async (request, reply) => {
    const refused = limits.refuse(request, reply);
    if (refused !== null) return refused;
    const opened = downloads.open(request.query.grant);
    if (opened === null) return reply.code(403).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
    const { contents: selection, holder } = opened;
    if (!(await isStillOpen(db, { holder, accountId: selection.accountId, ability: 'read' }))) return goneLink(reply);
    // What is noted of sessions is no part of an archive.
    const { reached, missing } = await archives.find(selection);
    if (selection.sessions !== null) missing.push(...reached.splice(0).map(({ month }) => month));
    // Nothing waits between these counts and its own.
    const ofAccount = running.filter((accountId) => accountId === selection.accountId).length;
    const isFull = ofAccount >= maxOfAccount || running.length >= maxRunning;
    if (isFull || (reached.length > 0 && readingArchives >= maxReadingArchives))
      return tryAgain(reply, 429, busyRetryAfterS);
    return reply
      .headers({
        ...linkHeaders,
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="${fileName(missing.toSorted())}"`,
      })
      .send(counted(selection, reached));
  });
}

/** Of a range with archived months that are not within reach, the name says what the file lacks: a CSV has no place for remarks. */
function fileName(archived: readonly string[]): string {
  const [first, last] = [archived[0], archived.at(-1)];
  if (first === undefined) return 'ledger.csv';
  return first === last ? `ledger-without-${first}.csv` : `ledger-without-${first}-to-${last}.csv`;
}

async function* csvOf(
  { db, archives, nextTurn }: { db: Pool; archives: ArchivedLines; nextTurn: () => Promise<void> },
  selection: LedgerSelection,
  reached: readonly ReachedMonth[],
): AsyncGenerator<string> {
  yield csvLine(columns.map(([name]) => name));
  const linesOf = async (entries: readonly LedgerRecord[]): Promise<string> => {
    const ids = entries.map(({ requestId }) => requestId);
    const noted = await readAttributions(db, selection.accountId, ids);
    await nextTurn();
    const lineOf = (entry: LedgerRecord) => csvLine(columns.map(([, read]) => read(entry, noted.get(entry.requestId))));
    return entries.map(lineOf).join('');
  };
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readLedger>> = await readLedger(db, { ...selection, limit: pageSize, after });
    const lines = await linesOf(page.items);
    if (lines !== '') yield lines;
    after = page.next;
  } while (after !== null);
  for (const month of reached)
    for await (const entries of archives.read(month, selection.accountId)) {
      const lines = await linesOf(entries.filter((entry) => isSelected(entry, selection)));
      if (lines !== '') yield lines;
    }
}

/** As `readLedger` selects: a request's time is that of its id. */
function isSelected(entry: LedgerRecord, { from, to, keyId, model, outcome }: LedgerSelection): boolean {
  const atMs = Number.parseInt(entry.requestId.replaceAll('-', '').slice(0, 12), 16);
  return (
    (from === null || atMs >= from.getTime()) &&
    (to === null || atMs < to.getTime()) &&
    (keyId === null || entry.keyId === keyId) &&
    (model === null || entry.model === model) &&
    (outcome === null || entry.outcome === outcome)
  );
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
  // What was asked, served and charged of the tiers, speeds and regions that have their own prices.
  ['variant_asked', (entry) => entry.variant?.asked ?? ''],
  ['variant_served', (entry) => entry.variant?.served ?? ''],
  ['variant_counted', (entry) => entry.variant?.charged ?? ''],
];
