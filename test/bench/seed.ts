import type { Pool } from 'pg';
import { cost, type RunLine, toStoredLines } from '../../server/core/price.ts';

/**
 * A service with a past: accounts, keys and ledger entries over months, written by statements over sets, exactly as
 * settlements would have left them: every CHECK and every invariant holds.
 *
 * Requests come in bursts of twenty within an hour, and few accounts send most of them. Everything follows from the
 * entry's number, so the same call always writes the same rows, and a larger one goes on where a smaller one ended.
 */
export interface Scale {
  accounts: number;
  /** Numbers of the entries: from (inclusive) and to (exclusive). */
  from: number;
  to: number;
  /** Entries of all calls together: they are spread over the time in the order of their numbers. */
  total: number;
  /** How far back they go. */
  days: number;
  /** Some entries have runs of other models. */
  lines?: boolean;
}

const burst = 20;
const batch = 250_000;
/** Pico-USD: no account runs out. */
const granted = 1_000_000_000_000_000_000n;

const accountId = (number: string): string => `md5('scale account ' || ${number})::uuid`;
const keyId = (number: string): string => `md5('scale key ' || ${number})::uuid`;
const grantId = (number: string): string => `md5('scale grant ' || ${number})::uuid`;

/** The account with the most entries, and its key. */
export async function busiestOf(pool: Pool): Promise<{ accountId: string; keyId: string }> {
  const { rows } = await pool.query<{ accountId: string; keyId: string }>(
    `SELECT ${accountId("'0'")} AS "accountId", ${keyId("'0'")} AS "keyId"`,
  );
  if (rows[0] === undefined) throw new Error('no row');
  return rows[0];
}

/** Accounts, each with a grant and a key. Those that exist stay. */
export async function seedAccounts(pool: Pool, count: number): Promise<void> {
  await pool.query(
    `INSERT INTO account (id, name, email, time_zone)
     SELECT ${accountId('i')}, 'Scale ' || i, 'scale-' || i || '@example.com', 'UTC' FROM generate_series(0, $1::int - 1) AS i
     ON CONFLICT DO NOTHING`,
    [count],
  );
  await pool.query(
    `INSERT INTO "grant" (account_id, id, kind, amount, source_ref)
     SELECT ${accountId('i')}, ${grantId('i')}, 'adjustment', ${granted}, 'adjustment:' || ${grantId('i')}
     FROM generate_series(0, $1::int - 1) AS i ON CONFLICT DO NOTHING`,
    [count],
  );
  await pool.query(
    `INSERT INTO api_key (id, account_id, name, hash, prefix, last4)
     SELECT ${keyId('i')}, ${accountId('i')}, 'scale', sha256(('scale key ' || i)::bytea), 'sk-steyg-', 'beef'
     FROM generate_series(0, $1::int - 1) AS i ON CONFLICT DO NOTHING`,
    [count],
  );
}

/** Partitions for the past, as `ensure_ledger_partitions` makes them for the future. */
async function seedPartitions(pool: Pool, days: number): Promise<void> {
  await pool.query(
    `DO $do$ DECLARE month timestamp; name text; BEGIN
       FOR month IN SELECT generate_series(date_trunc('month', now() AT TIME ZONE 'UTC' - interval '${Math.floor(days)} days'),
                                           now() AT TIME ZONE 'UTC', interval '1 month') LOOP
         name := 'ledger_' || to_char(month, 'YYYY_MM');
         CONTINUE WHEN to_regclass('ledger_partition.' || name) IS NOT NULL;
         EXECUTE format('CREATE TABLE ledger_partition.%I (LIKE ledger_entry INCLUDING ALL)', name);
         EXECUTE format('CREATE TRIGGER append_only_table BEFORE TRUNCATE ON ledger_partition.%I FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()', name);
         EXECUTE format('ALTER TABLE ledger_entry ATTACH PARTITION ledger_partition.%I FOR VALUES FROM (%L) TO (%L)', name,
           uuid_at(month AT TIME ZONE 'UTC'), uuid_at((month + interval '1 month') AT TIME ZONE 'UTC'));
       END LOOP;
     END $do$`,
  );
}

/** What another model did for a request, where entries have lines. */
const otherRun: RunLine = {
  model: 'scale-other',
  usage: { input: 400, cacheHit: 2_000, cacheWrite5m: 30, cacheWrite1h: 0, output: 70 },
  price: {
    input: 3_000_000n,
    cacheHit: 300_000n,
    cacheWrite5m: 3_750_000n,
    cacheWrite1h: 6_000_000n,
    output: 15_000_000n,
  },
};

/**
 * One statement: the entries of a range of numbers and their postings. A burst's account is drawn with a bias towards
 * small numbers; figures are taken from digests of the entry's number.
 */
const entries = `
  WITH numbered AS (
    SELECT n, floor($3::int * power(('x' || substr(md5('burst ' || n / ${burst}), 1, 7))::bit(28)::int / 268435456.0, 3))::int AS a,
           ('x' || substr(md5('burst ' || n / ${burst}), 8, 7))::bit(28)::int AS h,
           ('x' || substr(md5('entry ' || n), 1, 7))::bit(28)::int AS x, md5('id ' || n) AS d
    FROM generate_series($1::bigint, $2::bigint - 1) AS n
  ), timed AS (
    SELECT *, date_trunc('hour', $4::timestamptz + ((n / ${burst}) * ${burst})::float8 / $5::float8 * ($6::timestamptz - $4::timestamptz))
              + (n % ${burst}) * interval '90 seconds' + (x % 1000) * interval '1 millisecond' AS at
    FROM numbered
  ), figured AS (
    SELECT *, 200 + x % 6000 AS input, CASE WHEN x % 3 = 0 THEN x % 20000 ELSE 0 END AS cache_hit, 20 + x % 1500 AS output,
           (ARRAY[250000, 1000000, 3000000, 5000000, 15000000])[1 + h % 5]::bigint AS price, $7::boolean AND x % 7 = 0 AS has_lines
    FROM timed
  ), entry AS (
    INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m,
      cache_write_1h, output, price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost,
      charged, free_after, upstream_cost, latency_ms, time_to_first_byte_ms, outcome, usage_source, stream, created_at, lines)
    SELECT ${accountId('a')}, (left(uuid_at(at)::text, 14) || '7' || substr(d, 1, 3) || '-8' || substr(d, 4, 3) || '-' || substr(d, 7, 12))::uuid,
      ${keyId('a')}, 'scale-' || 1 + h % 5, 'scale-' || 1 + h % 2,
      (ARRAY['messages', 'chat-completions', 'responses'])[1 + h % 3], input, cache_hit, 0, 0, output, price, price / 10, price, price,
      price * 5, input * price + cache_hit * (price / 10) + output * price * 5 + CASE WHEN has_lines THEN ${cost(otherRun.usage, otherRun.price)} ELSE 0 END,
      input * price + cache_hit * (price / 10) + output * price * 5 + CASE WHEN has_lines THEN ${cost(otherRun.usage, otherRun.price)} ELSE 0 END, 1,
      (input * price + cache_hit * (price / 10) + output * price * 5) * 8 / 10, 300 + x % 9000, 100 + x % 900,
      CASE WHEN x % 40 = 0 THEN 'client_closed' ELSE 'completed' END, CASE WHEN x % 40 = 0 THEN 'estimated' ELSE 'reported' END, x % 4 > 0, at,
      CASE WHEN has_lines THEN '${JSON.stringify(toStoredLines([otherRun]))}'::jsonb END
    FROM figured
    RETURNING account_id, request_id, charged, created_at
  )
  INSERT INTO posting (account_id, id, grant_id, kind, amount, request_id, held_at, created_at)
  SELECT e.account_id, e.request_id, g.id, 'charge', e.charged, e.request_id, e.created_at, e.created_at
  FROM entry e JOIN "grant" g ON g.account_id = e.account_id AND g.kind = 'adjustment'`;

/** Writes the entries, and then what settlements keep beside them. `tell` hears how far it is. */
export async function seedEntries(pool: Pool, scale: Scale, tell: (text: string) => void = () => {}): Promise<void> {
  const { accounts, from, to, total, days } = scale;
  await seedPartitions(pool, days);
  const { rows } = await pool.query<{ now: Date }>("SELECT date_trunc('hour', now()) - interval '1 hour' AS now");
  const end = rows[0]?.now ?? new Date();
  const start = new Date(end.getTime() - days * 86_400_000);
  for (let next = from; next < to; next += batch) {
    const until = Math.min(to, next + batch);
    await pool.query(entries, [next, until, accounts, start, total, end, scale.lines === true]);
    tell(`${until.toLocaleString('en')} entries`);
  }
  await pool.query(
    `INSERT INTO usage_hour (account_id, hour, model, key_id, outcome, requests, input, cache_hit, cache_write_5m,
       cache_write_1h, output, cost, charged, upstream_cost)
     SELECT account_id, date_trunc('hour', created_at, 'UTC'), model, key_id, outcome, count(*), sum(input), sum(cache_hit),
       sum(cache_write_5m), sum(cache_write_1h), sum(output), sum(cost), sum(charged), coalesce(sum(upstream_cost), 0)
     FROM ledger_entry WHERE model LIKE 'scale-%' GROUP BY 1, 2, 3, 4, 5
     ON CONFLICT (account_id, hour, model, key_id, outcome) DO UPDATE SET requests = excluded.requests, input = excluded.input,
       cache_hit = excluded.cache_hit, output = excluded.output, cost = excluded.cost, charged = excluded.charged,
       upstream_cost = excluded.upstream_cost`,
  );
  tell('sums by hour');
  await pool.query(
    `UPDATE "grant" g SET spent = s.charged
     FROM (SELECT account_id, sum(charged) AS charged FROM usage_hour WHERE model LIKE 'scale-%' GROUP BY account_id) AS s
     WHERE g.account_id = s.account_id AND g.kind = 'adjustment' AND g.id = md5('scale grant ' || substr((SELECT email FROM account WHERE id = g.account_id), 7, strpos((SELECT email FROM account WHERE id = g.account_id), '@') - 7))::uuid`,
  );
  await pool.query(
    `INSERT INTO key_spend (account_id, key_id, charged, day, month, last_used_at)
     SELECT account_id, key_id, sum(charged), current_date, current_date, max(hour)
     FROM usage_hour WHERE model LIKE 'scale-%' GROUP BY account_id, key_id
     ON CONFLICT (account_id, key_id) DO UPDATE SET charged = excluded.charged`,
  );
  // The table's triggers take what is added for something of this moment.
  const since = (period: string): string =>
    `coalesce(sum(charged) FILTER (WHERE hour >= date_trunc('${period}', now(), 'UTC')), 0)`;
  await pool.query(
    `UPDATE key_spend k SET day = (now() AT TIME ZONE 'UTC')::date, week = date_trunc('week', now() AT TIME ZONE 'UTC')::date,
       month = date_trunc('month', now() AT TIME ZONE 'UTC')::date, day_charged = s.day, week_charged = s.week, month_charged = s.month
     FROM (SELECT account_id, key_id, ${since('day')} AS day, ${since('week')} AS week, ${since('month')} AS month
           FROM usage_hour WHERE model LIKE 'scale-%' GROUP BY account_id, key_id) AS s
     WHERE k.account_id = s.account_id AND k.key_id = s.key_id`,
  );
  tell('figures of grants and keys');
  // Settlements write these rows in the order of time, and readers of a range of time rely on it.
  await pool.query('CLUSTER margin_hour USING margin_hour_hour_idx');
  await pool.query('CLUSTER usage_hour USING usage_hour_hour_idx');
  tell('sums in the order of time');
  // Nothing else looks at every row; statistics decide how the queries that are measured are planned.
  await pool.query(
    'VACUUM (ANALYZE) ledger_entry, posting, usage_hour, margin_hour, "grant", key_spend, account, api_key',
  );
  tell('vacuumed');
}
