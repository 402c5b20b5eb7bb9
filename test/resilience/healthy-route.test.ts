import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { featuresOf } from '../../server/catalog/features.ts';
import type { RouteRecord } from '../../server/catalog/route.ts';
import { createRouter } from '../../server/catalog/router.ts';
import { settled } from '../gateway/support.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { catalogFile, post, protocols } from './support.ts';

/** As long as one route of a model is healthy, its requests are served, whatever the others do, and no storm begins. */

/** How an upstream behaves: what a try comes to, after how long. */
const behaviours = {
  healthy: { ms: 50, fails: () => false, fault: 'failure' },
  late: { ms: 900, fails: () => false, fault: 'failure' },
  refusing: { ms: 1, fails: () => true, fault: 'no_connection' },
  'without a name': { ms: 20, fails: () => true, fault: 'no_connection' },
  'swallowing connections': { ms: 5_000, fails: () => true, fault: 'no_connection' },
  erring: { ms: 30, fails: () => true, fault: 'failure' },
  'erring now and then': { ms: 30, fails: (dice: number) => dice < 0.5, fault: 'failure' },
  'erring seldom': { ms: 30, fails: (dice: number) => dice < 0.15, fault: 'failure' },
} as const;
type Behaviour = keyof typeof behaviours;

const bad = Object.keys(behaviours).filter((name) => name !== 'healthy') as Behaviour[];

function routeOf(name: string, priority: number): RouteRecord {
  return {
    id: `route-${name}`,
    model: 'm',
    upstream: {
      id: name,
      protocol: 'messages',
      baseUrl: `https://${name}.example.com`,
      onDisconnect: 'abort',
      profile: null,
      features: featuresOf('messages', null, {}),
      simulated: false,
      keys: [],
    },
    upstreamModel: 'm',
    priority,
    weight: 1,
    costs: null,
  };
}

/** A generator of numbers in [0, 1) from a seed. */
function diceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A minute of requests at a steady rate, by a clock that the simulation sets. */
function simulate({
  routes,
  perSecond,
  seed,
}: {
  routes: { behaviour: Behaviour; priority: number }[];
  perSecond: number;
  seed: number;
}) {
  let clockMs = 1_000_000;
  const begin = clockMs;
  const router = createRouter({ allowPrivate: true, now: () => clockMs });
  const model = { id: 'm', routes: routes.map(({ priority }, index) => routeOf(`u${index}`, priority)) };
  const dice = diceOf(seed);
  const due: { at: number; run: () => void }[] = [];
  const at = (when: number, run: () => void): void => {
    let index = due.length;
    while (index > 0 && (due[index - 1]?.at ?? 0) > when) index -= 1;
    due.splice(index, 0, { at: when, run });
  };
  const counts = { asked: 0, served: 0, worked: 0, connects: 0 };
  const request = (number: number): void => {
    const askedAt = clockMs;
    const counted = askedAt - begin >= 1_000;
    if (counted) counts.asked += 1;
    const candidates = router.candidates(model, 'messages', () => `account-${number % 7}`);
    const tryNext = (after: Parameters<NonNullable<typeof candidates>['next']>[0]): void => {
      const target = candidates?.next(after) ?? null;
      if (target === null) return;
      router.sending(target, model, after === 'nothing');
      const behaviour = behaviours[routes[Number(target.route.upstream.id.slice(1))]?.behaviour ?? 'healthy'];
      if (behaviour.fault === 'no_connection') counts.connects += 1;
      else counts.worked += 1;
      at(clockMs + behaviour.ms, () => {
        if (!behaviour.fails(dice())) {
          router.report(target, 'fine');
          if (counted) counts.served += 1;
          return;
        }
        router.report(target, behaviour.fault === 'no_connection' ? 'unreachable' : 'failed');
        tryNext(behaviour.fault);
      });
    };
    tryNext('nothing');
  };
  const all = 60 * perSecond;
  for (let number = 0; number < all; number += 1) at(begin + (number * 1_000) / perSecond, () => request(number));
  for (let event = due.shift(); event !== undefined; event = due.shift()) {
    clockMs = event.at;
    event.run();
  }
  void router.close();
  return { ...counts, all };
}

describe('a healthy route', () => {
  it('serves at least 99 % of the requests from the second second on, beside any others, and without a storm', () => {
    assert(
      property(
        record({
          others: array(record({ behaviour: constantFrom(...bad), priority: integer({ min: 0, max: 2 }) }), {
            minLength: 1,
            maxLength: 5,
          }),
          place: integer({ min: 0, max: 5 }),
          priority: integer({ min: 0, max: 3 }),
          perSecond: constantFrom(10, 20, 50),
          seed: integer({ min: 0, max: 2 ** 31 }),
        }),
        ({ others, place, priority, perSecond, seed }) => {
          const routes = [...others];
          routes.splice(place, 0, { behaviour: 'healthy', priority } as never);
          const { asked, served, worked, connects, all } = simulate({ routes, perSecond, seed });
          expect(served / asked).toBeGreaterThanOrEqual(0.99);
          // What vendors may have worked on: each request once, and the budget of retries.
          expect(worked).toBeLessThanOrEqual(all * 1.2 + 10 * others.length + 1);
          // Connections in vain: new and failed requests until the first connection's deadline, then one at a time.
          expect(connects).toBeLessThanOrEqual(others.length * (2 * 5 * perSecond + 60));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('at the front door', () => {
  let app: TestApp;
  beforeAll(async () => {
    const ports = [await freePort(), await freePort()];
    app = await startApp({
      catalog: (url) =>
        catalogFile({
          upstreams: [
            { id: 'closed-1', protocol: 'messages', url: `http://127.0.0.1:${ports[0]}` },
            { id: 'closed-2', protocol: 'messages', url: `http://127.0.0.1:${ports[1]}` },
            { id: 'nameless', protocol: 'messages', url: 'http://no-such-host.invalid' },
            { id: 'healthy', protocol: 'messages', url },
          ],
          models: [
            {
              id: 'two-closed',
              routes: [
                { upstream: 'closed-1', priority: 0 },
                { upstream: 'closed-2', priority: 0 },
                { upstream: 'healthy', priority: 1 },
              ],
            },
            {
              id: 'no-name',
              routes: [
                { upstream: 'nameless', priority: 0 },
                { upstream: 'closed-1', priority: 0 },
                { upstream: 'healthy', priority: 1 },
              ],
            },
          ],
        }),
    });
  });
  afterAll(() => app.close());

  it.each(['two-closed', 'no-name'])('%s: all of 200 requests are served by the third route', async (model) => {
    const customer = await app.customer();
    const statuses: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          post(app, customer.secret, { client: protocols.messages, model, stream: false }, 'ping'),
        ),
      );
      for (const answer of answers) {
        await answer.text();
        statuses.push(answer.status);
      }
    }
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    const rows = await settled(app, customer);
    expect(new Set(rows.map(({ upstream }) => upstream))).toEqual(new Set(['healthy']));
    expect(rows).toHaveLength(200);
  });
});
