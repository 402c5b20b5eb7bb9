/** The books: vendors' files beside the ledger, and months that never change once they are closed. */

import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../server/admin/commands/run.ts';
import { compareVendorUsage } from '../../server/books/bill-comparison.ts';
import { closeMonth, listClosedMonths, previewMonth } from '../../server/books/month-close.ts';
import type { MonthStatement } from '../../server/books/month-statement.ts';
import { readVendorFile, VendorFileError } from '../../server/books/vendor-csv.ts';
import { importVendorUsage } from '../../server/books/vendor-files.ts';
import { bigintTypes } from '../../server/database/pool.ts';
import { addModel } from '../billing/support.ts';
import { createDomain, createPlans, order, transfer } from '../plans/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createDirectory } from '../support/directory.ts';

const anthropic = [
  'usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count,inference_geo,speed',
  '2026-10-05,claude-x-20260101,"one, key",Default,standard,≤ 200k,1000,10,5,200,50,0,global,',
  '2026-10-05,claude-x-20260101,other,Default,standard,≤ 200k,500,0,0,0,25,0,global,',
].join('\r\n');
const openai = [
  'start_time,end_time,start_time_iso,end_time_iso,model,num_model_requests,input_tokens,output_tokens,input_cached_tokens',
  '1791158400,1791244800,2026-10-05T00:00:00+00:00,2026-10-06T00:00:00+00:00,gpt-x-2026-01-01,3,900,70,300',
  '1791244800,1791331200,2026-10-06T00:00:00+00:00,2026-10-07T00:00:00+00:00,,,,,',
].join('\n');

describe('a vendor’s file', () => {
  it('of Anthropic’s console is read by model and day, keys added up', () => {
    expect(readVendorFile(`\uFEFF${anthropic}`)).toEqual({
      format: 'anthropic',
      days: [
        {
          day: '2026-10-05',
          model: 'claude-x-20260101',
          requests: null,
          input: 1_500n,
          cacheHit: 200n,
          cacheWrite: 15n,
          output: 75n,
          cost: null,
        },
      ],
    });
  });

  it.each(['1'.repeat(20), '9'.repeat(400), '99999999999', '1', '-1791158400', '1791158400.5', '1e12', ''])(
    'with the start time %s is refused by its line',
    (start) => {
      expect(() => readVendorFile(openai.replace('1791158400,', `${start},`))).toThrow(VendorFileError);
    },
  );

  it('of OpenAI’s usage page is read with cached tokens taken out of the input', () => {
    expect(readVendorFile(openai)).toEqual({
      format: 'openai',
      days: [
        {
          day: '2026-10-05',
          model: 'gpt-x-2026-01-01',
          requests: 3n,
          input: 600n,
          cacheHit: 300n,
          cacheWrite: 0n,
          output: 70n,
          cost: null,
        },
      ],
    });
  });

  it('of anybody is read in the generic form, with its cost to the pico-USD', () => {
    const text =
      'day,model,requests,input,cache_hit,cache_write,output,cost_usd\n2026-10-05,m,1,2,3,4,5,0.000000000007\n';
    expect(readVendorFile(text).days[0]).toMatchObject({
      requests: 1n,
      input: 2n,
      cacheHit: 3n,
      cacheWrite: 4n,
      output: 5n,
      cost: 7n,
    });
  });

  it.each([
    ['empty', ''],
    ['of other columns', 'a,b\n1,2'],
    ['with a line that is short', 'day,model,input\n2026-10-05,m'],
    ['with a count that is none', 'day,model,input\n2026-10-05,m,-5'],
    ['with a day that is none', 'day,model,input\n2026-02-30,m,5'],
    ['not grouped by model', openai.replace('gpt-x-2026-01-01', '')],
    ['with more cached than input tokens', openai.replace(',900,70,300', ',100,70,300')],
    ['with an open quote', 'day,model,input\n2026-10-05,"m,5'],
  ])('%s is refused as a whole', (_, text) => {
    expect(() => readVendorFile(text)).toThrow(VendorFileError);
  });
});

let database: TestDatabase;
let pool: Pool;
const account = randomUUID();
const grants = { purchase: randomUUID(), trial: randomUUID(), adjustment: randomUUID() };

/** One settled request at a moment, as its settlement would have left it. */
async function entry(
  at: string,
  {
    charged,
    cost = charged,
    upstreamCost = 0n,
    grant = grants.purchase,
    input = 10n,
    output = 5n,
  }: { charged: bigint; cost?: bigint; upstreamCost?: bigint | null; grant?: string; input?: bigint; output?: bigint },
  db = pool,
) {
  const { rows } = await db.query(
    `INSERT INTO ledger_entry (account_id, request_id, key_id, model, upstream, protocol, input, cache_hit, cache_write_5m, cache_write_1h, output,
       price_input, price_cache_hit, price_cache_write_5m, price_cache_write_1h, price_output, cost, charged, free_after, upstream_cost,
       latency_ms, outcome, usage_source, stream, created_at)
     SELECT $1, overlay(uuid_at($2)::text placing substr(gen_random_uuid()::text, 15) from 15)::uuid, $1, 'claude-x', 'vendor', 'messages', $6, 0, 0, 0, $7,
       $3::bigint / $6, 0, 0, 0, 0, $3, $4, 0, $5, 1, 'completed', 'reported', false, $2
     RETURNING request_id`,
    [account, at, cost, charged, upstreamCost, input, output],
  );
  if (charged > 0n) {
    await db.query('UPDATE "grant" SET spent = spent + $3 WHERE account_id = $1 AND id = $2', [
      account,
      grant,
      charged,
    ]);
    await db.query(
      `INSERT INTO posting (account_id, grant_id, kind, amount, request_id, held_at, created_at) VALUES ($1, $2, 'charge', $3, $4, $5, $5)`,
      [account, grant, charged, rows[0].request_id, at],
    );
  }
}

async function addCustomer(db: Pool): Promise<void> {
  await db.query(`INSERT INTO account (id, name, email) VALUES ($1, 'a', 'a@example.com')`, [account]);
  await db.query(
    `INSERT INTO "grant" (account_id, id, kind, amount, source_ref, created_at) VALUES
       ($1, $2, 'purchase', 10000, 'order:x', '2026-08-01'), ($1, $3, 'trial', 1000, 'trial:x', '2026-08-01'),
       ($1, $4, 'adjustment', 1000, 'adjustment:x', '2026-08-01')`,
    [account, grants.purchase, grants.trial, grants.adjustment],
  );
}

async function command(...args: string[]): Promise<{ code: number; said: string }> {
  const said: string[] = [];
  const code = await runCommandLine([...args, '--json'], {
    env: { DATABASE_URL: database.url, DATA_DIR: createDirectory('steyg-books-') },
    out: (text) => void said.push(text),
    err: (text) => void said.push(text),
  });
  return { code, said: said.join('\n') };
}

beforeAll(async () => {
  database = await createDatabase();
  pool = new Pool({ connectionString: database.url, max: 3, types: bigintTypes });
  await addCustomer(pool);
  await pool.query(
    `INSERT INTO upstream (id, protocol, base_url) VALUES ('vendor', 'messages', 'https://vendor.example')`,
  );
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('what a vendor billed', () => {
  it('is compared with the ledger by day and model, whatever date the vendor puts behind its name', async () => {
    await entry('2026-10-05T12:00:00Z', { charged: 1_000n, input: 1_500n - 500n, output: 75n });
    await importVendorUsage(pool, { upstream: 'vendor', text: anthropic, actor: 'test' });
    const compared = await compareVendorUsage(pool, {
      from: '2026-10-01',
      to: '2026-10-31',
      upstream: null,
      percent: 1,
    });
    expect(compared).toMatchObject([
      {
        upstream: 'vendor',
        day: '2026-10-05',
        model: 'claude-x',
        vendor: { input: 1_500n, cacheHit: 200n, cacheWrite: 15n, output: 75n },
        ledger: { requests: 1n, input: 1_000n, output: 75n },
        // 215 tokens of a cache.
        differs: true,
      },
    ]);
  });

  it('differs above a hundredth, however little it is; a later file says what it replaces', async () => {
    const text = 'day,model,input,output\n2026-10-05,claude-x,90000,75\n2026-10-06,claude-y,50000,1';
    expect(await importVendorUsage(pool, { upstream: 'vendor', text, actor: 'test' })).toEqual({
      kind: 'would_remove',
      removed: [expect.objectContaining({ day: '2026-10-05', model: 'claude-x-20260101', after: null })],
    });
    expect(await importVendorUsage(pool, { upstream: 'vendor', text, actor: 'test', confirmed: true })).toMatchObject({
      kind: 'imported',
      imported: { version: 2, rows: 2, emptyDays: [] },
    });
    const compared = await compareVendorUsage(pool, {
      from: '2026-10-01',
      to: '2026-10-31',
      upstream: 'vendor',
      percent: 1,
    });
    expect(
      compared.map(({ day, model, differs, ledger, causes }) => [day, model, differs, ledger === null, causes]),
    ).toEqual([
      ['2026-10-06', 'claude-y', true, true, ['missing_model']],
      ['2026-10-05', 'claude-x', true, false, []],
    ]);
  });

  it('is compared once for each request, whichever route it took, under a name that the vendor billed', async () => {
    await addModel(pool, { id: 'claude-x' });
    await pool.query(
      `INSERT INTO route (id, model_id, upstream_id, upstream_model, priority) VALUES
         (gen_random_uuid(), 'claude-x', 'vendor', 'claude-fast', 0), (gen_random_uuid(), 'claude-x', 'vendor', 'claude-x', 1)`,
    );
    const compared = await compareVendorUsage(pool, {
      from: '2026-10-05',
      to: '2026-10-05',
      upstream: null,
      percent: 1,
    });
    expect(compared.map(({ model, ledger }) => [model, ledger?.requests])).toEqual([['claude-x', 1n]]);
    await pool.query('DELETE FROM route');
  });

  it('differs where the vendor billed another amount for the same tokens', async () => {
    await entry('2026-11-05T12:00:00Z', { charged: 1_000n, upstreamCost: 20_000_000_000n });
    const billed = async (usd: string, percent: number) => {
      const text = `day,model,input,output,cost_usd\n2026-11-05,claude-x,10,5,${usd}`;
      await importVendorUsage(pool, { upstream: 'vendor', text, actor: 'test', add: true });
      const days = { from: '2026-11-05', to: '2026-11-05' };
      const [row] = await compareVendorUsage(pool, { ...days, upstream: null, percent });
      return [row?.differs, row?.apart];
    };
    expect(await billed('0.02', 1)).toEqual([false, 0]);
    // A ten-thousandth of a USD is rounding, and a fifth of a cent is not.
    expect(await billed('0.0201', 0)).toEqual([false, 0.0049]);
    expect(await billed('0.024', 1)).toEqual([true, 0.1666]);
    expect(await billed('0.04', 49)).toEqual([true, 0.5]);
    expect(await billed('0.04', 50)).toEqual([false, 0.5]);
  });

  it('comes in by the command line, which refuses a file that it cannot read and an upstream that there is not', async () => {
    const file = join(createDirectory('steyg-books-'), 'usage.csv');
    await writeFile(file, anthropic);
    expect(JSON.parse((await command('books', 'import', file, '--upstream', 'vendor')).said)).toMatchObject({
      error: { code: 'would_remove' },
    });
    expect(await command('books', 'import', file, '--upstream', 'vendor', '--confirmed')).toMatchObject({ code: 0 });
    expect(JSON.parse((await command('books', 'import', file, '--upstream', 'nobody')).said)).toMatchObject({
      error: { code: 'not_found' },
    });
    await writeFile(file, 'x');
    expect(JSON.parse((await command('books', 'import', file, '--upstream', 'vendor')).said)).toMatchObject({
      error: { code: 'bad_file' },
    });
    const compared = await command('books', 'compare', '--from', '2026-10-01', '--to', '2026-10-31', '--all');
    expect(JSON.parse(compared.said)).toMatchObject({
      compared: 2,
      differs: 2,
      rows: [expect.anything(), { vendor: { costUsd: null }, ledger: { costUsd: '0' } }],
      totals: [{ upstream: 'vendor', creditsUsd: '0' }],
    });
  });
});

const used = (statement: MonthStatement | null): bigint =>
  Object.values(statement?.budgets ?? {}).reduce((sum, line) => sum + line.used, 0n);

describe('a closed month', () => {
  const close = (month: string) => closeMonth(pool, { month, timeZone: 'UTC', actor: 'test' });
  let matchedByHand = '';

  /** What the bank booked in September: for an order, for one that an operator found, for none, and away from us. */
  async function bookTransfers(): Promise<void> {
    await createPlans(pool);
    const { transfers } = createDomain(pool);
    const bookedAt = new Date('2026-09-15T08:00:00Z');
    const paid = await order(pool, account);
    await transfers.receive(transfer({ memo: paid.memo, bookedAt }));
    const found = await order(pool, account, 'pro');
    for (const given of [{ amountVnd: 1_000_000n }, { amountVnd: 777n }, { direction: 'out' as const }])
      await transfers.receive(transfer({ ...given, bookedAt }));
    const { rows } = await pool.query('SELECT id FROM bank_transfer WHERE amount_vnd = 1000000');
    matchedByHand = rows[0].id;
    const by = randomUUID();
    expect(await transfers.matchByHand({ transferId: matchedByHand, orderId: found.id, by })).toMatchObject({
      kind: 'paid',
    });
  }

  it('freezes what was used, of which grants, what is left, what was short and what remains', async () => {
    await entry('2026-08-10T00:00:00Z', { charged: 500n, upstreamCost: 300n });
    await entry('2026-09-10T00:00:00Z', { charged: 700n, upstreamCost: 400n });
    await entry('2026-09-11T00:00:00Z', { charged: 200n, cost: 260n, upstreamCost: 100n, grant: grants.trial });
    await entry('2026-09-12T00:00:00Z', { charged: 100n, upstreamCost: null });
    await entry('2026-09-14T00:00:00Z', { charged: 50n, upstreamCost: 20n, grant: grants.adjustment });
    await bookTransfers();
    const outcome = await close('2026-09');
    expect(outcome).toMatchObject({
      kind: 'closed',
      month: {
        month: '2026-09',
        statement: {
          budgets: {
            bought: { opening: 9_500n, added: 0n, used: 800n, expired: 0n, refunded: 0n, undone: 0n, closing: 8_700n },
            trial: { opening: 1_000n, used: 200n, closing: 800n },
            given: { opening: 1_000n, used: 50n, closing: 950n },
          },
          // 100 of the trial's request cost 76 of its price and 23 of nobody's.
          vendorCost: { bought: 400n, trial: 76n, given: 20n, shortfall: 24n, total: 520n },
          shortfall: 60n,
          unknown: { requests: 1n, charged: 100n, ofBought: 100n },
          // Trials and gifts are no income.
          margin: 180n,
          cash: { received: 1_250_777n, sold: 0n, unassigned: 777n, closing: 1_250_777n },
        },
      },
    });
  });

  it('stays as it is: by a second close, by a change, by a deletion', async () => {
    const [before] = await listClosedMonths(pool);
    await entry('2026-09-13T00:00:00Z', { charged: 40n, upstreamCost: 10n });
    expect(await close('2026-09')).toMatchObject({ kind: 'closed_before', month: before });
    await expect(pool.query('UPDATE closed_month SET charged = charged + 1, margin = margin + 1')).rejects.toThrow(
      'append-only',
    );
    await expect(pool.query('DELETE FROM closed_month')).rejects.toThrow('append-only');
    await expect(pool.query('TRUNCATE closed_month')).rejects.toThrow('append-only');
    expect(await listClosedMonths(pool)).toEqual([before]);
  });

  it('takes what became known later of the months before: every pico-USD is in exactly one month', async () => {
    await createDomain(pool).transfers.undoMatch({ transferId: matchedByHand, by: randomUUID() });
    const outcome = await close('2026-10');
    // 1,000 of October and the 40 that came to September after its close.
    expect(outcome).toMatchObject({
      kind: 'closed',
      month: {
        statement: { budgets: { bought: { used: 1_040n } }, vendorCost: { unsplit: 10n }, cash: { received: 0n } },
      },
    });
    const { rows } = await pool.query(
      `SELECT sum(charged)::bigint AS charged FROM margin_hour WHERE hour < '2026-11-01' AND hour >= '2026-09-01'`,
    );
    const months = await listClosedMonths(pool);
    expect(months.reduce((sum, { statement }) => sum + used(statement), 0n)).toBe(rows[0].charged);
  });

  it('begins and ends at half past in zones of half hours, to the pico-USD', async () => {
    // The zone of the first close counts for all after it.
    const other = await createDatabase();
    const fresh = new Pool({ connectionString: other.url, max: 1, types: bigintTypes });
    // The database is dropped under it.
    fresh.on('error', () => {});
    await addCustomer(fresh);
    const kolkata = { timeZone: 'Asia/Kolkata', actor: 'test' };
    expect(await closeMonth(fresh, { month: '2026-09', timeZone: 'Mars/Olympus', actor: 'test' })).toEqual({
      kind: 'bad_zone',
    });
    // 18:30 UTC is midnight there.
    await entry('2026-08-31T18:29:59.999Z', { charged: 10n, upstreamCost: 1n }, fresh);
    await entry('2026-08-31T18:30:00Z', { charged: 20n, upstreamCost: 5n }, fresh);
    await entry('2026-09-30T18:29:59.999Z', { charged: 100n, upstreamCost: null }, fresh);
    await entry('2026-09-30T18:30:00Z', { charged: 1_000n, upstreamCost: 500n }, fresh);
    const preview = await previewMonth(fresh, { month: '2026-09', timeZone: 'Asia/Kolkata' });
    const september = {
      month: '2026-09',
      budgets: { bought: { used: 120n } },
      vendorCost: { total: 5n },
      unknown: { charged: 100n },
      margin: 15n,
    };
    expect(preview).toMatchObject({ isOver: true, imbalances: [], statement: september });
    expect(await closeMonth(fresh, { month: '2026-09', ...kolkata })).toMatchObject({
      kind: 'closed',
      month: { statement: september },
    });
    expect(await previewMonth(fresh, { month: null, timeZone: 'UTC' })).toMatchObject({
      statement: { month: '2026-10', timeZone: 'Asia/Kolkata', budgets: { bought: { used: 1_000n } } },
    });
    expect(await closeMonth(fresh, { month: '2026-10', ...kolkata })).toMatchObject({
      month: {
        statement: { budgets: { bought: { used: 1_000n } }, vendorCost: { bought: 500n, total: 500n }, margin: 500n },
      },
    });
    await fresh.end();
    await other.drop();
  });

  it('follows the one before, and is closed by one of many at once', async () => {
    expect(await close('2027-01')).toEqual({ kind: 'out_of_order', next: '2026-11' });
    await expect(
      pool.query(
        `INSERT INTO closed_month SELECT '2027-03-01', NULL, time_zone, revenue_vnd, charged, charged_paid, trial_cost, expired, shortfall, upstream_cost, unknown_charged, unused, margin, totals, closed_by, closed_at FROM closed_month LIMIT 1`,
      ),
    ).rejects.toThrow(/closed_month_one_first/);
  });

  it('is not the present one', async () => {
    const other = await createDatabase();
    try {
      await addCustomer(other.pool);
      const { rows } = await other.pool.query<{ last: string; present: string }>(
        `SELECT to_char(m - interval '1 month', 'YYYY-MM') AS last, to_char(m, 'YYYY-MM') AS present
         FROM (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') AS m) AS months`,
      );
      const closing = (month = '') => closeMonth(other.pool, { month, timeZone: 'UTC', actor: 'test' });
      expect(await closing(rows[0]?.last)).toMatchObject({ kind: 'closed' });
      expect(await closing(rows[0]?.present)).toEqual({ kind: 'not_over' });
    } finally {
      await other.drop();
    }
  });

  it('goes to an accountant as CSV', async () => {
    const file = join(createDirectory('steyg-books-'), 'months.csv');
    const { code, said } = await command('books', 'list', '--out', file);
    expect(code).toBe(0);
    expect(JSON.parse(said)).toMatchObject({
      months: [
        { month: '2026-09', given: { used: '0.00000000005' }, cash: { received: '1250777' } },
        { month: '2026-10' },
      ],
    });
    const lines = (await readFile(file, 'utf8')).split('\r\n');
    expect(lines).toContain('2026-09,UTC,bought,used,USD,0.0000000008');
    // A negative amount is a number to a spreadsheet.
    expect(lines).toContain('2026-10,UTC,cash,sold,VND,0');
    expect((await command('books', 'verify')).code).toBe(0);
    expect(JSON.parse((await command('books', 'close', '2026-09')).said)).toMatchObject({
      error: { code: 'closed_before' },
    });
  });
});
