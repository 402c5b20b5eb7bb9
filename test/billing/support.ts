import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { addGrant, type GrantKind } from '../../server/billing/grants.ts';
import {
  type AdmitAsk,
  type Admitted,
  createLedger,
  type Ledger,
  type Settlement,
} from '../../server/billing/lane/ledger.ts';
import type { BillingLog } from '../../server/billing/log.ts';
import { createSpool, type Spool } from '../../server/billing/spool/spool.ts';
import { parsePrice, parseUsd } from '../../server/core/money.ts';
import { entryPrice } from '../../server/core/price.ts';
import type { StoredClock } from '../../server/core/price-clock.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';

/** What tests of the ledger share: amounts, prices, requests and a ledger of their own. */

export const quiet: BillingLog = { info() {}, warn() {}, error() {} };

/** Decimal USD as pico-USD; a test that writes nonsense should fail loudly. */
export function usd(text: string): bigint {
  const amount = parseUsd(text);
  if (amount === null) throw new Error(`not an amount: ${text}`);
  return amount;
}

export function price(text: string): bigint {
  const amount = parsePrice(text);
  if (amount === null) throw new Error(`not a price: ${text}`);
  return amount;
}

/** A model with its first price. Prices in USD per 1M tokens. */
export async function addModel(
  db: Pool,
  model: {
    id: string;
    input?: string;
    cacheHit?: string;
    output?: string;
    cacheWrite5m?: string;
    cacheWrite1h?: string;
    clock?: StoredClock;
    contextWindow?: number;
    maxOutputTokens?: number;
  },
): Promise<void> {
  await db.query(
    'INSERT INTO model (id, display_name, family, context_window, max_output_tokens) VALUES ($1, $1, $1, $2, $3)',
    [model.id, model.contextWindow ?? 200_000, model.maxOutputTokens ?? 32_000],
  );
  await addPrice(db, model);
}

export async function addPrice(
  db: Pool,
  model: {
    id: string;
    input?: string;
    cacheHit?: string;
    output?: string;
    cacheWrite5m?: string;
    cacheWrite1h?: string;
    clock?: StoredClock;
  },
): Promise<string> {
  const id = randomUUID();
  await db.query(
    // The column is named for prices with hours alone: the upgrade's test fills a database of an earlier version.
    `INSERT INTO price (id, model_id, input, cache_hit, output, cache_write_5m, cache_write_1h${model.clock === undefined ? '' : ', clock'})
     VALUES ($1, $2, $3, $4, $5, $6, $7${model.clock === undefined ? '' : ', $8'})`,
    [
      id,
      model.id,
      price(model.input ?? '3'),
      price(model.cacheHit ?? '0.3'),
      price(model.output ?? '15'),
      model.cacheWrite5m === undefined ? null : price(model.cacheWrite5m),
      model.cacheWrite1h === undefined ? null : price(model.cacheWrite1h),
      ...(model.clock === undefined ? [] : [model.clock]),
    ],
  );
  return id;
}

export interface Customer {
  accountId: string;
  keyId: string;
}

/** An account with a key and, unless told otherwise, a grant that never expires. */
export async function addCustomer(
  db: Pool,
  options: { budget?: string | null; limitDay?: string } = {},
): Promise<Customer> {
  const accountId = randomUUID();
  await db.query('INSERT INTO account (id, name, email) VALUES ($1, $2, $3)', [accountId, 'test', `${accountId}@test`]);
  const keyId = await addKey(db, accountId, options);
  if (options.budget !== null) await grant(db, accountId, options.budget ?? '5');
  return { accountId, keyId };
}

const limit = (text: string | undefined): bigint | null => (text === undefined ? null : usd(text));

export async function addKey(
  db: Pool,
  accountId: string,
  options: { limitDay?: string; limitMonth?: string; limitLifetime?: string; models?: string[] } = {},
): Promise<string> {
  const keyId = randomUUID();
  await db.query(
    `INSERT INTO api_key (id, account_id, name, hash, prefix, last4, models, limit_day, limit_month, limit_lifetime)
     VALUES ($1, $2, 'test', $3, 'sk-steyg-test', 'test', $4, $5, $6, $7)`,
    [
      keyId,
      accountId,
      randomBytes(32),
      options.models ?? [],
      limit(options.limitDay),
      limit(options.limitMonth),
      limit(options.limitLifetime),
    ],
  );
  return keyId;
}

/** `endsInMs` counts from the database's now; without it the grant never ends. */
export async function grant(
  db: Pool,
  accountId: string,
  amount: string,
  options: { kind?: GrantKind; endsInMs?: number } = {},
): Promise<string> {
  const { rows } = await db.query(`SELECT now() + $1 * interval '1 millisecond' AS at`, [options.endsInMs ?? 0]);
  const added = await addGrant(db, {
    accountId,
    kind: options.kind ?? 'adjustment',
    amount: usd(amount),
    expiresAt: options.endsInMs === undefined ? null : rows[0].at,
    sourceRef: `test:${randomUUID()}`,
  });
  return added.id;
}

/** Ends a grant now, and not in the very millisecond in which something was held. Only a test may. */
export async function endGrant(db: Pool, grantId: string): Promise<void> {
  await db.query('SELECT pg_sleep(0.003)');
  await db.query(`UPDATE "grant" SET expires_at = date_trunc('milliseconds', now()) WHERE id = $1`, [grantId]);
}

/** A request of 300 bytes of text, whose 100 tokens are its bound, and an answer of at most 100. */
export function ask(customer: Customer, more: Partial<AdmitAsk> = {}): AdmitAsk {
  const { textBytes = 300, mediaTokens = 0 } = more;
  return {
    requestId: uuidv7(),
    ...customer,
    model: 'big',
    textBytes: 300,
    mediaTokens: 0,
    cacheWrite: 'none',
    maxTokens: 100,
    answers: 1,
    stream: true,
    contextRuns: 1,
    mostTokens: more.inputs === undefined ? Math.ceil(textBytes / 3) + mediaTokens : textBytes + mediaTokens,
    ...more,
  };
}

/** How the request of an admission ended. */
export function settlement(asked: AdmitAsk, admitted: Admitted, more: Partial<Settlement> = {}): Settlement {
  const { usage = { input: 100, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 50 } } = more;
  return {
    accountId: asked.accountId,
    requestId: asked.requestId,
    keyId: asked.keyId,
    model: asked.model,
    upstream: 'simulator',
    protocol: 'messages',
    stream: true,
    usage,
    price: entryPrice(admitted.price, usage),
    upstreamCost: null,
    latencyMs: 12,
    timeToFirstByteMs: 3,
    outcome: 'completed',
    usageSource: 'reported',
    ...more,
  };
}

/** Admits and expects it to work. */
export async function admitted(ledger: Ledger, asked: AdmitAsk): Promise<Admitted> {
  const answer = await ledger.admit(asked);
  if (answer.kind === 'refused') throw new Error(`refused: ${answer.reason}`);
  return answer;
}

export interface TestLedger {
  ledger: Ledger;
  spool: Spool;
  pool: Pool;
  processId: string;
  directory: string;
  close: () => Promise<void>;
}

/** A ledger as a process of its own would have it. */
export async function openLedger(
  url: string,
  options: { holdLeaseMs?: number; directory?: string; start?: boolean; log?: BillingLog } = {},
): Promise<TestLedger> {
  const pool = new Pool({ connectionString: url, max: 4, query_timeout: 4_000 });
  pool.on('error', () => {});
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'steyg-spool-'));
  const processId = randomUUID();
  const log = options.log ?? quiet;
  const spool = createSpool({ directory, processId, log });
  const ledger = createLedger({
    pool,
    processId,
    spool,
    holdLeaseMs: options.holdLeaseMs ?? 60_000,
    log,
    closeLimitMs: 2_000,
    // Longer than the default: a busy machine is not what tests of the ledger are about.
    admissionLimitMs: 10_000,
  });
  if (options.start !== false) await ledger.start();
  return {
    ledger,
    spool,
    pool,
    processId,
    directory,
    close: async () => {
      await ledger.close();
      await pool.end();
      // One that still holds lines is what a test is about; its other process finds them there.
      if (options.directory === undefined && readdirSync(directory).length === 0) rmdirSync(directory);
    },
  };
}
