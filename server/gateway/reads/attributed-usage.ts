import type { Pool } from 'pg';
import { type AttributedUsage, readAttributedUsage } from '../../billing/reads/attributed-usage.ts';
import {
  type AttributionDigest,
  type AttributionKind,
  attributionKinds,
  storedLabels,
} from '../../core/attribution.ts';
import { formatUsd } from '../../core/money.ts';
import type { TokenPools } from '../../core/tokens.ts';
import type { Principal } from '../../keys/keyring.ts';

/** What `GET /v1/usage` answers about a session, a user or a tag, and how their rows look. */

/** What an API key may read: the usage of its project, or without one that of the account. */
export type UsageScope = Pick<Principal, 'accountId' | 'projectId'>;

/** Which of them a query names. */
export interface NamedLabel {
  kind: AttributionKind;
  /** As the client knows it, or as a list has it. */
  given: string;
}

export function namedLabel(query: Partial<Record<AttributionKind, string | undefined>>): NamedLabel | null {
  for (const kind of attributionKinds) {
    const given = query[kind];
    if (given !== undefined) return { kind, given };
  }
  return null;
}

/** Models of one answer; a session has few. */
const maxModels = 1_000;

/** What a session, a user or a tag came to, all together and by model. Zeros where nothing is known of it. */
export async function usageOf(
  pool: Pool,
  digest: AttributionDigest,
  { accountId, projectId, kind, given, from, to }: NamedLabel & UsageScope & { from: Date | null; to: Date | null },
): Promise<Record<string, unknown>> {
  const labels = storedLabels(digest, accountId, kind, given);
  const { items } = await readAttributedUsage(pool, {
    accountId,
    projectId,
    kind,
    labels,
    byModel: true,
    from,
    to,
    limit: maxModels,
  });
  const models = new Map<string, AttributedUsage>();
  for (const row of items) {
    const known = models.get(row.model ?? '');
    models.set(row.model ?? '', known === undefined ? row : added(known, row));
  }
  const all = [...models.values()];
  const [first, ...rest] = all;
  const total = first === undefined ? null : rest.reduce(added, first);
  return {
    object: `usage.${kind}`,
    [kind]: given,
    ...(total === null ? nothing : presentAttributed(total)),
    models: all.map((row) => ({ model: row.model, ...presentAttributed(row) })),
  };
}

const nothing = {
  requests: 0,
  input_tokens: 0,
  cache_hit_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  cost_usd: '0',
  charged_usd: '0',
  first_request_at: null,
  last_request_at: null,
};

function added(one: AttributedUsage, other: AttributedUsage): AttributedUsage {
  return {
    ...one,
    requests: one.requests + other.requests,
    input: one.input + other.input,
    cacheHit: one.cacheHit + other.cacheHit,
    cacheWrite5m: one.cacheWrite5m + other.cacheWrite5m,
    cacheWrite1h: one.cacheWrite1h + other.cacheWrite1h,
    output: one.output + other.output,
    cost: one.cost + other.cost,
    charged: one.charged + other.charged,
    firstAt: one.firstAt < other.firstAt ? one.firstAt : other.firstAt,
    lastAt: one.lastAt > other.lastAt ? one.lastAt : other.lastAt,
  };
}

/** The figures of a row of usage, whatever it is grouped by. */
export function presentUsage(row: Pick<AttributedUsage, keyof TokenPools | 'requests' | 'cost' | 'charged'>): object {
  return {
    requests: row.requests,
    input_tokens: row.input,
    cache_hit_tokens: row.cacheHit,
    cache_write_tokens: row.cacheWrite5m + row.cacheWrite1h,
    output_tokens: row.output,
    cost_usd: formatUsd(row.cost),
    charged_usd: formatUsd(row.charged),
  };
}

/** The figures of a row with its first and last request. */
export function presentAttributed(row: AttributedUsage): Record<string, unknown> {
  return {
    ...presentUsage(row),
    first_request_at: row.firstAt.toISOString(),
    last_request_at: row.lastAt.toISOString(),
  };
}
