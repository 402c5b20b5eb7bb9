import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import { until } from '../gateway/support.ts';
import { type Customer, startApp, type TestApp } from '../support/app.ts';
import { catalogFile, counter, directions, oneRouteEach, post } from './support.ts';

/**
 * Hundreds of requests of every kind at once, many of which fail or are left by their client: afterwards nothing of
 * them remains.
 */

vi.setConfig({ testTimeout: 300_000 });

/** `SOAK_SEED=$RANDOM` plays another sequence. */
const seed = Number(process.env['SOAK_SEED'] ?? 7);

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    simulator: { record: 5_000 },
    env: {
      UPSTREAM_HEADERS_TIMEOUT_MS: '700',
      UPSTREAM_IDLE_TIMEOUT_MS: '700',
      FIRST_EVENT_HOLD_MS: '60',
      KEEPALIVE_MS: '40',
      CLIENT_STALL_MS: '300',
    },
    catalog: (url) => {
      const { upstreams, models } = oneRouteEach(url);
      const drained = upstreams.map((upstream) => ({ ...upstream, onDisconnect: 'drain' as const }));
      return catalogFile({ upstreams: seed % 2 === 0 ? upstreams : drained, models });
    },
  });
});
afterAll(() => app.close());

const texts = [
  '[[say fine]]',
  '[[len 50]][[speed 500]]',
  '[[len 3000]]',
  '[[len 100]][[speed 300]]',
  '[[delay 100]][[say late]]',
  '[[delay 2000]]',
  '[[hang 0]]',
  '[[len 30]][[hang 9]]',
  '[[len 30]][[cut 9]]',
  '[[len 30]][[cut 9 reset]]',
  '[[len 30]][[cut 9 end]]',
  '[[len 30]][[midfail 9]]',
  '[[midfail 0]]',
  '[[drop]]',
  '[[status 400 odd]]',
  '[[status 401]]',
  '[[status 429]]',
  '[[status 500]]',
  '[[nousage]][[len 30]]',
  '[[usage {"input_tokens":-1,"output_tokens":"x"}]][[say fine]]',
  '[[raw PGh0bWw+]]',
];

/** The same sequence for the same seed. */
function randomOf(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

it('every request ends in one row or none, holds and slots are given back, and no exchange stays open', async () => {
  const random = randomOf(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const customers: Customer[] = await Promise.all(['50', '50', '0.02', '0.002'].map((usd) => app.customer({ usd })));
  let refused = 0;
  const one = async (number: number): Promise<void> => {
    const leaveAfterMs = random() < 0.4 ? random() * 200 : null;
    const leave = new AbortController();
    const timer = leaveAfterMs === null ? null : setTimeout(() => leave.abort(), leaveAfterMs);
    const text = `soak-${number}-of-many ${pick(texts)}`;
    try {
      const response = await post(app, pick(customers).secret, pick(directions), text, {}, leave.signal);
      if (response.status === 402 || response.headers.get('retry-after') === '1') refused += 1;
      await response.text();
    } catch {
      // It left, or it was cut off.
    } finally {
      if (timer !== null) clearTimeout(timer);
    }
  };
  let next = 0;
  await Promise.all(
    Array.from({ length: 40 }, async () => {
      while (next < 600) {
        next += 1;
        await one(next);
      }
    }),
  );
  expect(refused, `seed ${seed}`).toBeGreaterThan(0);

  for (const { accountId } of customers) await app.quiet(accountId);
  await until(async () => (await counter(app, 'gateway_inflight')) === 0);
  await until(() => app.simulator.stats().openRequests === 0);
  const accounts = customers.map(({ accountId }) => accountId);
  const { rows } = await app.pool.query(
    `SELECT count(*)::int AS entries, count(DISTINCT request_id)::int AS requests FROM ledger_entry WHERE account_id = ANY ($1)`,
    [accounts],
  );
  expect(rows[0].entries, `seed ${seed}`).toBe(rows[0].requests);
  // Whatever went upstream has its row; one that left before anything was sent may have one too.
  const marks = app.simulator.requests().map(({ body }) => /soak-\d+-of-many/.exec(body.toString())?.[0]);
  expect(rows[0].entries, `seed ${seed}`).toBeGreaterThanOrEqual(new Set(marks.filter(Boolean)).size);
  expect(rows[0].entries, `seed ${seed}`).toBeLessThanOrEqual(600);
  expect(await counter(app, 'gateway_faults_total'), `seed ${seed}`).toBe(0);
  expect(
    app.logged.filter((line) => /"level":"(error|fatal)"/.test(line) && !line.includes('refuses our key')),
    `seed ${seed}`,
  ).toEqual([]);
  expect(await checkInvariants(app.pool, { accounts: null }), `seed ${seed}`).toEqual([]);
});
