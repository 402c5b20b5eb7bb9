import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseUsd } from '../../server/core/money.ts';
import { haveAsked, type Person, signInOperator, siteSettings } from '../browser/people.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';

/** What operators read of revenue: every table adds up to the ledger, and a part is never more than its whole. */

let app: TestApp;
let operator: Pick<Person, 'steyg'>;

beforeAll(async () => {
  app = await startApp({ env: siteSettings(await freePort()) });
  operator = await signInOperator(app);
  const [bought, given, poor] = await Promise.all([
    app.customer(),
    app.customer({ trial: true }),
    app.customer({ usd: '0.0001' }),
  ]);
  await app.pool.query(`UPDATE "grant" SET kind = 'purchase' WHERE account_id = $1`, [bought.accountId]);
  // Of two models one is sold on a route that says what it costs.
  await app.pool.query(
    `UPDATE route SET cost_input = 1, cost_cache_hit = 1, cost_cache_write_5m = 1, cost_cache_write_1h = 1, cost_output = 2 WHERE model_id = 'sim-small'`,
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  const used = (output: number) =>
    `[[usage {"prompt_tokens": 10, "completion_tokens": ${output}, "total_tokens": ${10 + output}}]]`;
  for (const { secret } of [bought, given])
    for (const model of ['sim-small', 'sim-large']) {
      for (const output of [3, 400]) await haveAsked(app, secret, used(output), { model });
      await haveAsked(app, secret, '[[status 400]]', { model, status: 400 });
    }
  // More than was left: the operator bears the difference.
  await haveAsked(app, poor.secret, `[[len 10]] ${used(900)}`);
  for (const { accountId } of [bought, given, poor]) await app.quiet(accountId);
});
afterAll(() => app?.close());

/** Pico-USD of an answer; a margin can be negative. */
function usd(text: string | null): bigint {
  const amount = parseUsd(text?.replace('-', '') ?? '0');
  if (amount === null) throw new Error(`no amount: ${text}`);
  return text?.startsWith('-') === true ? -amount : amount;
}

/** What the ledger itself has of customers. */
async function ledger() {
  const { rows } = await app.pool.query<Record<string, bigint>>(
    `SELECT count(*) AS requests, sum(charged)::bigint AS charged, sum(cost - charged)::bigint AS shortfall,
            count(*) FILTER (WHERE outcome IN ('upstream_error', 'upstream_cut', 'timeout', 'shutdown')) AS failures,
            coalesce(sum(upstream_cost), 0)::bigint AS "upstreamCost",
            count(*) FILTER (WHERE upstream_cost IS NULL AND usage_source <> 'none') AS "unknownRequests",
            coalesce(sum(charged) FILTER (WHERE upstream_cost IS NULL), 0)::bigint AS "unknownCharged",
            sum(output)::bigint AS output
     FROM ledger_entry`,
  );
  const paid = await app.pool.query<Record<string, bigint>>(
    `SELECT sum(p.amount)::bigint AS bought, sum(p.amount) FILTER (WHERE e.upstream_cost IS NULL)::bigint AS "unknownBought"
     FROM ledger_entry e JOIN posting p USING (account_id, request_id)
     JOIN "grant" g ON g.account_id = p.account_id AND g.id = p.grant_id WHERE g.kind = 'purchase'`,
  );
  const sums = { ...rows[0], ...paid.rows[0] } as Record<string, bigint>;
  return {
    ...sums,
    margin: (sums['bought'] ?? 0n) - (sums['unknownBought'] ?? 0n) - (sums['upstreamCost'] ?? 0n),
  } as Record<string, bigint>;
}

interface Figures {
  requests: string;
  unknownRequests: string;
  charged: string;
  shortfall: string;
  unknownCharged: string;
  upstreamCost: string | null;
  bought: string | null;
  unknownBought: string | null;
  margin: string | null;
}

function sumsOf(rows: readonly Figures[]) {
  const counts = ['requests', 'unknownRequests'] as const;
  const money = [
    'charged',
    'shortfall',
    'unknownCharged',
    'upstreamCost',
    'bought',
    'unknownBought',
    'margin',
  ] as const;
  return Object.fromEntries([
    ...counts.map((name) => [name, rows.reduce((sum, row) => sum + BigInt(row[name]), 0n)]),
    ...money.map((name) => [name, rows.reduce((sum, row) => sum + usd(row[name]), 0n)]),
  ]) as Record<keyof Figures, bigint>;
}

const books = () => operator.steyg.console.books;
async function read<Row>(list: AsyncIterable<Row>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of list) rows.push(row);
  return rows;
}
const from = new Date(Date.now() - 3_600_000).toISOString();

describe('revenue', () => {
  it('has something of every kind to add up', async () => {
    const sums = await ledger();
    for (const name of ['failures', 'shortfall', 'unknownRequests', 'unknownBought', 'upstreamCost', 'margin'])
      expect([name, sums[name]]).not.toEqual([name, 0n]);
  });

  it.each(['HOUR', 'DAY', 'MONTH'] as const)('adds up to the ledger by %s and model', async (period) => {
    const rows = await read(books().revenue({ period, from, first: 1 }));
    const sums = await ledger();
    expect(rows.length).toBeGreaterThan(1);
    expect(sums).toMatchObject(sumsOf(rows));
    expect(rows.reduce((sum, { failures }) => sum + BigInt(failures), 0n)).toBe(sums['failures']);
    expect(rows.reduce((sum, { tokens }) => sum + BigInt(tokens.output), 0n)).toBe(sums['output']);
  });

  it.each([['UPSTREAM'], ['ACCOUNT'], ['MODEL'], ['MODEL', 'UPSTREAM', 'ACCOUNT']] as const)(
    'adds up to the ledger as margins by %s %s %s',
    async (...by) => {
      const rows = await read(books().margins({ by: [...by], first: 1 }));
      expect(await ledger()).toMatchObject(sumsOf(rows));
    },
  );

  it('never has more of unknown cost than it has', async () => {
    const rows = [
      ...(await read(books().revenue({ period: 'HOUR', from }))),
      ...(await read(books().margins({ by: ['ACCOUNT', 'MODEL'] }))),
    ];
    for (const row of rows) {
      expect(BigInt(row.unknownRequests)).toBeLessThanOrEqual(BigInt(row.requests));
      expect(usd(row.unknownCharged)).toBeLessThanOrEqual(usd(row.charged));
      expect(usd(row.bought)).toBeLessThanOrEqual(usd(row.charged));
      expect(usd(row.unknownBought)).toBeLessThanOrEqual(usd(row.bought));
    }
  });
});
