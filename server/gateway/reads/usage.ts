import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Pool } from 'pg';
import { z } from 'zod';
import { archivedMonthOf, archivedSentence, listArchivedMonths } from '../../billing/archive/archived-months.ts';
import { readAttributedUsage, readAttributions } from '../../billing/reads/attributed-usage.ts';
import {
  BadCursor,
  type LedgerRecord,
  listGrants,
  RangeTooWide,
  readBalance,
  readEntry,
  readKeySpend,
  readLedger,
  readUsage,
  type UsageRecord,
} from '../../billing/reads/usage.ts';
import {
  type Attribution,
  type AttributionDigest,
  attributionId,
  attributionKinds,
  storedLabels,
} from '../../core/attribution.ts';
import { formatPrice, formatUsd } from '../../core/money.ts';
import { cost, type TierRange, type UnitPrices } from '../../core/price.ts';
import type { TokenPools } from '../../core/tokens.ts';
import type { Principal } from '../../keys/keyring.ts';
import type { Keys } from '../../keys/keys.ts';
import { isRequestId, requestIdHeaders } from '../../runtime/http.ts';
import { closest } from '../../shared/closest.ts';
import type { Reads } from '../load/read-room.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import { RefusalError } from '../refusals/refuse.ts';
import {
  type NamedLabel,
  namedLabel,
  presentAttributed,
  presentUsage,
  type UsageScope,
  usageOf,
} from './attributed-usage.ts';

/**
 * Usage read with an API key, of its project or, where it lies in none, of the account: spending and single requests, with
 * the account's balance and grants; and the two paths of OpenRouter's clients. Free, and available with an exhausted budget. `cost_usd` is always tokens x prices, and
 * `charged_usd` the amount taken from the budget: less when the budget ran out.
 */
export interface UsageParts {
  pool: Pool;
  keys: Keys;
  refusals: Refusals;
  reads: Reads;
  digest: AttributionDigest;
}

const defaultDays = 30;
const day = z.iso.date('must be a day, YYYY-MM-DD');

const groupsSentence = 'must name day, model or key, project, or at most one of session, user and tag';
const label = z
  .string()
  .refine((text) => attributionId(text) !== null, 'must be an id of 1 to 256 characters')
  .optional();

const query = z.strictObject({
  from: day.optional(),
  to: day.optional(),
  group_by: z
    .string()
    .transform((text) => text.split(',').map((name) => name.trim()))
    .pipe(z.array(z.enum(['day', 'model', 'key', 'project', ...attributionKinds], groupsSentence)).max(5))
    .refine((groups) => attributionKinds.filter((kind) => groups.includes(kind)).length < 2, groupsSentence)
    .default(['day', 'model']),
  limit: z.coerce
    .number('must be a whole number from 1 to 1000')
    .int('must be a whole number from 1 to 1000')
    .min(1)
    .max(1_000)
    .default(100),
  cursor: z.string().max(500).optional(),
  request_id: z.string().refine(isRequestId, 'must be a request id').optional(),
  list: z.literal('requests', 'must be requests').optional(),
  session: label,
  user: label,
  tag: label,
});

/** Names of parameters look like this; keys and other secrets do not. */
const plainName = /^[a-z][a-z_]{0,31}$/;

function queryRefusal(refusals: Refusals, { issues: [issue] }: z.ZodError): Refusal {
  if (issue?.code === 'unrecognized_keys') {
    const names = Object.keys(query.shape);
    // A name that is like none of ours may be anything, and is not repeated.
    const [typo] = issue.keys
      .map((written) => ({ written, meant: closest(written, names) }))
      .filter(({ meant }) => meant);
    if (typo !== undefined)
      return refusals.invalidRequest(`${typo.written}: is no parameter; did you mean ${typo.meant}?`, typo.written);
    const [unknown = ''] = issue.keys;
    return refusals.invalidRequest(
      `query: takes ${names.join(', ')} and nothing else`,
      plainName.test(unknown) ? unknown : 'query',
    );
  }
  const param = String(issue?.path[0] ?? 'query');
  return refusals.invalidRequest(`${param}: ${issue?.message ?? 'invalid'}`, param);
}

/** Delays of lookups of an entry: a request that was just answered may not be in the ledger yet. */
const entryWaitsMs = [0, 20, 60, 150, 400];

/** Answers `GET /v1/usage`, in each of its forms. */
function createUsageAnswers({ pool, keys, refusals, reads, digest }: UsageParts) {
  const badRange = (error: unknown): never => {
    if (error instanceof RangeTooWide)
      throw new RefusalError(refusals.invalidRequest('from: has too much usage until `to`; narrow the days', 'from'));
    if (!(error instanceof BadCursor)) throw error;
    throw new RefusalError(refusals.invalidRequest('cursor: must be a next_cursor of this list', 'cursor'));
  };

  const entryOf = async (scope: UsageScope, requestId: string): Promise<Record<string, unknown>> => {
    const entry = await entryFor({ pool, keys, refusals }, scope, requestId);
    const noted = await readAttributions(pool, scope.accountId, [requestId]);
    return presentEntry(entry, noted.get(requestId));
  };

  const requests = async (scope: UsageScope, range: UsageRange, one: NamedLabel | null) => {
    const { accountId } = scope;
    if (one !== null && one.kind !== 'session')
      throw new RefusalError(refusals.invalidRequest(`${one.kind}: requests can be listed by session only`, one.kind));
    const sessions = one === null ? null : storedLabels(digest, accountId, one.kind, one.given);
    const { items, next } = await readLedger(pool, { ...scope, sessions, ...range }).catch(badRange);
    const archived = await listArchivedMonths(pool, range);
    const ids = items.map(({ requestId }) => requestId);
    const noted = await readAttributions(pool, accountId, ids);
    return {
      object: 'usage.requests',
      data: items.map((entry) => presentEntry(entry, noted.get(entry.requestId))),
      ...(archived.length === 0
        ? {}
        : { archived: archived.map(({ month, archivedAt }) => ({ month, archived_at: archivedAt.toISOString() })) }),
      has_more: next !== null,
      next_cursor: next,
    };
  };

  const rowsOf = async (scope: UsageScope, range: UsageRange, groups: Groups) => {
    const kind = attributionKinds.find((each) => groups.includes(each));
    const grouped = {
      ...scope,
      period: groups.includes('day') ? ('day' as const) : null,
      byModel: groups.includes('model'),
      byKey: groups.includes('key'),
      byProject: groups.includes('project'),
      ...range,
    };
    if (kind === undefined) {
      const { items, next } = await readUsage(pool, grouped);
      return { data: items.map((row) => ({ ...presentGroups(row, groups), ...presentUsage(row) })), next };
    }
    const { items, next } = await readAttributedUsage(pool, { ...grouped, kind });
    const data = items.map((row) => ({
      ...presentGroups(row, groups),
      [kind]: row.label,
      ...presentAttributed(row),
    }));
    return { data, next };
  };

  const report = async (scope: UsageScope, range: UsageRange, groups: Groups) => {
    const { accountId } = scope;
    const [balance, grants, usage] = await Promise.all([
      readBalance(pool, accountId),
      listGrants(pool, accountId),
      rowsOf(scope, range, groups).catch(badRange),
    ]);
    return {
      object: 'usage',
      balance: {
        granted_usd: formatUsd(balance.granted),
        charged_usd: formatUsd(balance.charged),
        held_usd: formatUsd(balance.held),
        expired_usd: formatUsd(balance.expired),
        free_usd: formatUsd(balance.free),
      },
      grants: grants.map((grant) => ({
        id: grant.id,
        kind: grant.kind,
        amount_usd: formatUsd(grant.amount),
        free_usd: formatUsd(grant.free),
        expires_at: grant.expiresAt?.toISOString() ?? null,
      })),
      data: usage.data,
      has_more: usage.next !== null,
      next_cursor: usage.next,
    };
  };

  return async (
    { accountId, projectId }: UsageScope,
    asked: z.infer<typeof query>,
  ): Promise<Record<string, unknown>> => {
    const scope = { accountId, projectId };
    const { request_id: requestId, from, to, limit, cursor } = asked;
    if (requestId !== undefined) return entryOf(scope, requestId);
    const one = namedLabel(asked);
    const range = { ...rangeOf(asked), limit, after: cursor ?? null };
    if (asked.list !== undefined) return reads.report(accountId, () => requests(scope, range, one));
    if (one === null) return reads.report(accountId, () => report(scope, range, asked.group_by));
    const sumOf = () =>
      usageOf(pool, digest, { ...scope, ...one, ...rangeOf({ from: from ?? '1970-01-01', to }) }).catch(badRange);
    // Status lines ask for sessions every two seconds, and a session has few sums; a user or a tag may have many.
    return one.kind === 'session' ? sumOf() : reads.report(accountId, sumOf);
  };
}

type Groups = z.infer<typeof query>['group_by'];
/** A page of a range of days. */
interface UsageRange {
  from: Date;
  to: Date | null;
  limit: number;
  after: string | null;
}

export function registerUsageRoutes(app: FastifyInstance, parts: UsageParts): void {
  const { pool, keys, refusals } = parts;
  const config = { protocol: 'chat-completions', authenticate: 'now' } as const;
  const answer = createUsageAnswers(parts);

  app.get('/v1/usage', { config }, async (request, response) => {
    const parsed = query.safeParse(request.query);
    if (!parsed.success) throw new RefusalError(queryRefusal(refusals, parsed.error));
    response.headers(requestIdHeaders(request.id));
    return response.send(await answer(principalOf(request), parsed.data));
  });

  app.get('/v1/key', { config }, async (request, response) => {
    const { accountId, keyId } = principalOf(request);
    const [key, spends, grants] = await Promise.all([
      keys.find(keyId),
      readKeySpend(pool, accountId),
      listGrants(pool, accountId),
    ]);
    if (key === null) throw new RefusalError(refusals.invalidApiKey());
    const spend = spends.find((record) => record.keyId === keyId);
    const [period, limit, spent] =
      key.limits.day !== null
        ? ['daily', key.limits.day, spend?.today ?? 0n]
        : key.limits.week !== null
          ? ['weekly', key.limits.week, spend?.thisWeek ?? 0n]
          : key.limits.month !== null
            ? ['monthly', key.limits.month, spend?.thisMonth ?? 0n]
            : [null, key.limits.lifetime, spend?.lifetime ?? 0n];
    return response.headers(requestIdHeaders(request.id)).send({
      data: {
        label: key.name,
        usage: toNumber(spend?.lifetime ?? 0n),
        usage_daily: toNumber(spend?.today ?? 0n),
        usage_weekly: toNumber(spend?.thisWeek ?? 0n),
        usage_monthly: toNumber(spend?.thisMonth ?? 0n),
        limit: limit === null ? null : toNumber(limit),
        limit_remaining: limit === null ? null : toNumber(limit > spent ? limit - spent : 0n),
        limit_reset: period,
        is_free_tier: grants.every((grant) => grant.kind === 'trial'),
        expires_at: key.expiresAt?.toISOString() ?? null,
        ...notOffered,
      },
    });
  });

  app.get('/v1/credits', { config }, async (request, response) => {
    const { granted, charged, expired } = await readBalance(pool, principalOf(request).accountId);
    // Clients subtract usage from the total: expired budget can no longer be spent, so it is not part of the total.
    return response
      .headers(requestIdHeaders(request.id))
      .send({ data: { total_credits: toNumber(granted - expired), total_usage: toNumber(charged) } });
  });
}

/** What OpenRouter's client library (1.3) demands of a key, and what this service has nothing of. */
const notOffered = {
  allowed_data_regions: [],
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 0,
  byok_usage_monthly: 0,
  creator_user_id: null,
  free_model_daily_requests: { limit: 0, used: 0, remaining: 0 },
  include_byok_in_limit: false,
  is_management_key: false,
  is_provisioning_key: false,
  organization_id: null,
  rate_limit: { requests: -1, interval: '10s', note: 'Not in use; limits are told with each refusal.' },
  workspace_id: null,
};

/** USD as a JSON number for OpenRouter's clients; `/v1/usage` has the exact string. */
function toNumber(pico: bigint): number {
  return Number(pico) / 1e12;
}

export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error('a route of the data plane was reached without a principal');
  return request.principal;
}

/** Whole days of UTC, both included. */
function rangeOf({ from, to }: { from?: string | undefined; to?: string | undefined }): {
  from: Date;
  to: Date | null;
} {
  return {
    from: from === undefined ? daysAgo(defaultDays) : new Date(`${from}T00:00:00Z`),
    to: to === undefined ? null : new Date(Date.parse(`${to}T00:00:00Z`) + 86_400_000),
  };
}

function daysAgo(days: number): Date {
  const midnight = new Date();
  midnight.setUTCHours(0, 0, 0, 0);
  return new Date(midnight.getTime() - days * 86_400_000);
}

/**
 * The ledger entry of a request, for keys of its project and for keys of the account that lie in none; refused where there is
 * none, and in the same words where it is another's.
 */
export async function entryFor(
  { pool, keys, refusals }: Pick<UsageParts, 'pool' | 'keys' | 'refusals'>,
  { accountId, projectId }: UsageScope,
  requestId: string,
): Promise<LedgerRecord> {
  const entry = await findEntry(pool, accountId, requestId);
  const isForeign = entry !== null && projectId !== null && (await keys.find(entry.keyId))?.projectId !== projectId;
  if (entry === null || isForeign) throw new RefusalError(refusals.notFound(await whyNoEntry(pool, requestId)));
  return entry;
}

/** Waits for an entry of a request that was just answered. Null: there is none. */
async function findEntry(pool: Pool, accountId: string, requestId: string): Promise<LedgerRecord | null> {
  for (const waitMs of entryWaitsMs) {
    if (waitMs > 0) await delay(waitMs);
    const entry = await readEntry(pool, accountId, requestId);
    if (entry !== null) return entry;
  }
  return null;
}

/** Why there is no entry of a request: a sentence for its client. */
async function whyNoEntry(pool: Pool, requestId: string): Promise<string> {
  const archived = await archivedMonthOf(pool, requestId);
  return archived === null ? 'There is no ledger entry of this request.' : archivedSentence(archived);
}

function presentGroups(
  row: Pick<UsageRecord, 'start' | 'model' | 'keyId' | 'projectId'>,
  groups: readonly string[],
): Record<string, unknown> {
  return {
    ...(groups.includes('day') ? { date: row.start?.toISOString().slice(0, 10) } : {}),
    ...(groups.includes('model') ? { model: row.model } : {}),
    ...(groups.includes('key') ? { key_id: row.keyId } : {}),
    ...(groups.includes('project') ? { project_id: row.projectId } : {}),
  };
}

export function presentTier(tier: TierRange | null): Record<string, number | null> | null {
  return tier === null ? null : { above_prompt_tokens: tier.above, up_to_prompt_tokens: tier.upTo };
}

function presentTokens(usage: TokenPools): Record<string, number> {
  return {
    input_tokens: usage.input,
    cache_hit_tokens: usage.cacheHit,
    cache_write_5m_tokens: usage.cacheWrite5m,
    cache_write_1h_tokens: usage.cacheWrite1h,
    output_tokens: usage.output,
  };
}

function presentPrices(prices: UnitPrices): Record<string, string> {
  return {
    input: formatPrice(prices.input),
    cache_hit: formatPrice(prices.cacheHit),
    cache_write_5m: formatPrice(prices.cacheWrite5m),
    cache_write_1h: formatPrice(prices.cacheWrite1h),
    output: formatPrice(prices.output),
  };
}

function presentEntry(entry: LedgerRecord, noted: Attribution | undefined): Record<string, unknown> {
  const { usage, prices } = entry;
  return {
    object: 'usage.entry',
    request_id: entry.requestId,
    created_at: entry.createdAt.toISOString(),
    key_id: entry.keyId,
    session: noted?.session ?? null,
    user: noted?.user ?? null,
    tags: noted?.tags ?? [],
    model: entry.model,
    upstream: entry.upstream,
    protocol: entry.protocol,
    usage: presentTokens(usage),
    prices: presentPrices(prices),
    tier: presentTier(entry.tier),
    clock:
      entry.byClock === null
        ? null
        : {
            priced_at: new Date(entry.byClock.at).toISOString(),
            window: entry.byClock.window && {
              days: entry.byClock.window.days,
              period: entry.byClock.window.period,
              time_zone: entry.byClock.window.timeZone,
            },
          },
    variant: entry.variant && {
      asked: entry.variant.asked,
      served: entry.variant.served,
      counted: entry.variant.charged,
    },
    units: entry.units.map(({ unit, count, price }) => ({
      unit,
      count,
      price_usd: formatUsd(price),
      amount_usd: formatUsd(BigInt(count) * price),
    })),
    lines: entry.lines.map((line) => ({
      model: line.model,
      usage: presentTokens(line.usage),
      prices: presentPrices(line.price),
      amount_usd: formatUsd(cost(line.usage, line.price)),
    })),
    cost_usd: formatUsd(entry.cost),
    charged_usd: formatUsd(entry.charged),
    latency_ms: entry.latencyMs,
    time_to_first_byte_ms: entry.timeToFirstByteMs,
    outcome: entry.outcome,
    usage_source: entry.usageSource,
  };
}
