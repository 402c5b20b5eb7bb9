import { Client } from 'pg';
import { useEmbeddedPostgres } from '../../server/database/embedded.ts';
import { createSecret, parseKey } from '../../server/keys/secret.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';

/** Customers and history of a benchmark, written straight into the embedded database of a gateway. */

/** An account, a grant and a key each. */
export interface Customers {
  secrets: string[];
  accounts: string[];
  keys: string[];
}

export async function addCustomers(dataDir: string, count: number): Promise<Customers> {
  return withDatabase(dataDir, (client) =>
    insertCustomers(
      client,
      Array.from({ length: count }, () => createSecret('key')),
    ),
  );
}

/** A customer whose key is known beforehand. */
export async function addCustomerOf(dataDir: string, secret: string): Promise<void> {
  const key = parseKey(secret);
  if (key === null) throw new Error('the secret is none of the service');
  await withDatabase(dataDir, (client) => insertCustomers(client, [{ secret, hash: key.hash }]));
}

async function insertCustomers(
  client: Client,
  secrets: readonly { secret: string; hash: Buffer }[],
): Promise<Customers> {
  const accounts = secrets.map(() => uuidv7());
  const keys = secrets.map(() => uuidv7());
  await client.query(
    `INSERT INTO account (id, name, email) SELECT id, 'bench', id::text || '@example.com' FROM unnest($1::uuid[]) AS id`,
    [accounts],
  );
  await client.query(
    `INSERT INTO "grant" (account_id, id, kind, amount, source_ref) SELECT id, gen_random_uuid(), 'adjustment', 1000000000000000000, 'bench' FROM unnest($1::uuid[]) AS id`,
    [accounts],
  );
  await client.query(
    `INSERT INTO api_key (id, account_id, name, hash, prefix, last4) SELECT k, a, 'bench', h, 'sk-steyg-', 'beef' FROM unnest($1::uuid[], $2::uuid[], $3::bytea[]) AS t(k, a, h)`,
    [keys, accounts, secrets.map((secret) => secret.hash)],
  );
  return { secrets: secrets.map(({ secret }) => secret), accounts, keys };
}

/** Past entries of one account, spread over the known months. */
export async function addHistory(dataDir: string, accountId: string, keyId: string, count: number): Promise<void> {
  return withDatabase(dataDir, (client) => insertHistory(client, accountId, keyId, count));
}

async function insertHistory(client: Client, accountId: string, keyId: string, count: number): Promise<void> {
  await client.query(
    `INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m, cache_write_1h, output,
       price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost, charged, free_after, latency_ms, outcome, usage_source, stream, created_at)
     SELECT $1, (left(uuid_at(at)::text, 14) || '7' || substr(md5(i::text), 1, 3) || '-8' || substr(md5(i::text), 4, 3) || '-' || substr(md5(i::text || 'x'), 1, 12))::uuid,
       $2, 'bench', 'history', 'chat-completions', 100, 0, 0, 0, 10, 1000000, 100000, 1000000, 1000000, 5000000, 150000000, 150000000, 1, 100, 'completed', 'reported', false, at
     FROM (SELECT i, now() - (i % 2592000) * interval '1 second' AS at FROM generate_series(1, $3::int) AS i) AS rows`,
    [accountId, keyId, count],
  );
  // As settlements would have left them, so that the checks of the ledger find nothing.
  await client.query(
    `INSERT INTO posting (account_id, grant_id, kind, amount, request_id, held_at, created_at)
     SELECT e.account_id, g.id, 'charge', e.charged, e.request_id, e.created_at, e.created_at
     FROM ledger_entry e JOIN "grant" g USING (account_id) WHERE e.account_id = $1 AND e.upstream = 'history'`,
    [accountId],
  );
  await client.query(
    `UPDATE "grant" SET spent = spent + (SELECT coalesce(sum(charged), 0) FROM ledger_entry WHERE account_id = $1 AND upstream = 'history') WHERE account_id = $1`,
    [accountId],
  );
  await client.query(rollUp, [accountId]);
  await client.query('VACUUM (ANALYZE) ledger_entry, posting, usage_hour');
  await client.query('CHECKPOINT');
}

/** The sums by hour that settlements would have kept. */
const rollUp = `INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests, input, output, cost, charged)
  SELECT account_id, date_trunc('hour', created_at), model, key_id, outcome, count(*), sum(input), sum(output), sum(cost), sum(charged)
  FROM ledger_entry WHERE account_id = $1 GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (account_id, hour, model, key_id, outcome) DO UPDATE SET requests = excluded.requests, input = excluded.input, output = excluded.output, cost = excluded.cost, charged = excluded.charged`;

/** Joins those who use the embedded PostgreSQL of a data directory, for one look. */
export async function withDatabase<T>(dataDir: string, work: (client: Client) => Promise<T>): Promise<T> {
  const database = await useEmbeddedPostgres({ dataDir, log: { info: () => undefined, warn: () => undefined } });
  const client = new Client({ connectionString: database.url });
  try {
    await client.connect();
    return await work(client);
  } finally {
    // Before the server may stop: a connection that is cut off would hide why.
    await client.end().catch(() => undefined);
    await database.release();
  }
}
