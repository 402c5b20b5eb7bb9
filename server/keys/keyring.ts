import type { Pool } from 'pg';
import type { AttributionMode } from '../core/attribution.ts';
import { type NetworkTest, testNetworks } from '../shared/networks.ts';

/** Finds the principal of an API key for authentication, with a bounded cache. */

/** The API key and the account of a request. */
export interface Principal {
  accountId: string;
  keyId: string;
  /** The project in which the key lies, whose usage it may read; null: none, and it reads that of the account. */
  projectId: string | null;
  /** Catalog ids that the key may call; null: all. */
  models: ReadonlySet<string> | null;
  /** The account may read but not spend. */
  suspended: boolean;
  /** The key measures uptime: probes are all that it sends. */
  probes: boolean;
  /** The account has only trial budget left, or none: the strict limits of trials apply. */
  trial: boolean;
  /** The key's own limit; null: the service's default. */
  requestsPerMinute: number | null;
  /** Null: no limit. */
  tokensPerMinute: number | null;
  /** Requests at once over all processes; null: the service's own limits. */
  maxConcurrent: number | null;
  /** Where the key may be used from, by its own networks and the account's; null: everywhere. */
  mayCallFrom: NetworkTest | null;
  /** What the account has stored of its attributions. */
  attribution: AttributionMode;
  /** Limits over all keys of the account; null: it has none. */
  account: AccountPace | null;
}

/** Limits of pace of an account; null: none. */
export interface AccountPace {
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  maxConcurrent: number | null;
}

/**
 * Reads keys for authentication. `find` may answer from a short-lived cache; operations that spend or show data check
 * the database again (the admission does, `findNow` does). Only existing keys are cached: a new key must work at once.
 */
export interface Keyring {
  /** The principal of a secret's SHA-256; null: unknown, deleted or expired. */
  find(hash: Buffer): Promise<Principal | null>;
  /** The same, never from the cache. */
  findNow(hash: Buffer): Promise<Principal | null>;
  /** The principal of a key id, never from the cache; null: deleted or expired. */
  findById(keyId: string): Promise<Principal | null>;
  /** Clears the cache; called when any key or account changes. */
  drop(): void;
}

export interface KeyringParts {
  pool: Pick<Pool, 'query'>;
  /** Maximum age of a cached key when no change notification arrives. */
  maxAgeMs?: number;
  maxEntries?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

interface KeyRow {
  id: string;
  accountId: string;
  projectId: string | null;
  models: string[];
  suspended: boolean;
  probes: boolean;
  trial: boolean;
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  maxConcurrent: number | null;
  addresses: string[];
  accountAddresses: string[] | null;
  accountRequestsPerMinute: number | null;
  accountTokensPerMinute: number | null;
  accountMaxConcurrent: number | null;
  attribution: AttributionMode;
}

const readKey = (column: 'hash' | 'id'): string => `
  SELECT k.id, k.account_id AS "accountId", k.project_id AS "projectId", k.models, a.status = 'suspended' AS suspended, a.kind = 'probe' AS probes,
         k.requests_per_minute AS "requestsPerMinute", k.tokens_per_minute AS "tokensPerMinute",
         k.max_concurrent AS "maxConcurrent", k.addresses, l.addresses AS "accountAddresses",
         l.requests_per_minute AS "accountRequestsPerMinute", l.tokens_per_minute AS "accountTokensPerMinute",
         l.max_concurrent AS "accountMaxConcurrent", a.attribution,
         NOT EXISTS (SELECT FROM "grant" g WHERE g.account_id = a.id AND g.kind <> 'trial'
                     AND g.amount > g.spent + g.expired AND (g.expires_at IS NULL OR g.expires_at > now())) AS trial
  FROM api_key k JOIN account a ON a.id = k.account_id LEFT JOIN account_limit l ON l.account_id = a.id
  WHERE k.${column} = $1 AND k.deleted_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`;
const queries = {
  hash: { name: 'keyring.hash', text: readKey('hash') },
  id: { name: 'keyring.id', text: readKey('id') },
};

function toPrincipal(row: KeyRow): Principal {
  const {
    id: keyId,
    accountId,
    projectId,
    models,
    suspended,
    probes,
    trial,
    requestsPerMinute,
    tokensPerMinute,
    maxConcurrent,
  } = row;
  const account = {
    requestsPerMinute: row.accountRequestsPerMinute,
    tokensPerMinute: row.accountTokensPerMinute,
    maxConcurrent: row.accountMaxConcurrent,
  };
  const [ofKey, ofAccount] = [testNetworks(row.addresses), testNetworks(row.accountAddresses ?? [])];
  return {
    keyId,
    accountId,
    projectId,
    models: models.length === 0 ? null : new Set(models),
    suspended,
    probes,
    trial,
    requestsPerMinute,
    tokensPerMinute,
    maxConcurrent,
    mayCallFrom:
      ofKey === null || ofAccount === null ? (ofKey ?? ofAccount) : (address) => ofKey(address) && ofAccount(address),
    attribution: row.attribution,
    account: Object.values(account).every((limit) => limit === null) ? null : account,
  };
}

export function createKeyring({
  pool,
  maxAgeMs = 5_000,
  maxEntries = 10_000,
  now = () => performance.now(),
}: KeyringParts): Keyring {
  let known = new Map<string, { principal: Principal; readAt: number }>();
  let reading = new Map<string, Promise<Principal | null>>();

  const ask = async (by: keyof typeof queries, value: Buffer | string): Promise<Principal | null> => {
    const { rows } = await pool.query<KeyRow>({ ...queries[by], values: [value] });
    const [row] = rows;
    if (row === undefined) return null;
    return toPrincipal(row);
  };
  const findNow = (hash: Buffer): Promise<Principal | null> => ask('hash', hash);

  const read = (id: string, hash: Buffer): Promise<Principal | null> => {
    // A lookup that began before a drop writes into the maps of that time, which are no longer read.
    const [knownNow, readingNow] = [known, reading];
    const readAt = now();
    const answer = findNow(hash)
      .then((principal) => {
        if (principal !== null) remember(knownNow, id, principal, readAt);
        return principal;
      })
      .finally(() => readingNow.delete(id));
    readingNow.set(id, answer);
    return answer;
  };

  const remember = (map: typeof known, id: string, principal: Principal, readAt: number): void => {
    map.delete(id);
    if (map.size >= maxEntries) {
      const oldest = map.keys().next();
      if (!oldest.done) map.delete(oldest.value);
    }
    map.set(id, { principal, readAt });
  };

  return {
    async find(hash) {
      const id = hash.toString('base64');
      const entry = known.get(id);
      if (entry !== undefined && now() - entry.readAt < maxAgeMs) return entry.principal;
      return reading.get(id) ?? read(id, hash);
    },
    findNow,
    findById: (keyId) => ask('id', keyId),
    drop() {
      known = new Map();
      reading = new Map();
    },
  };
}
