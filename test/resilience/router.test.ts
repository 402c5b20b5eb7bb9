import { afterEach, describe, expect, it } from 'vitest';
import { featuresOf } from '../../server/catalog/features.ts';
import type { RouteRecord } from '../../server/catalog/route.ts';
import { type Candidates, createRouter, type Routable, type Router, type Target } from '../../server/catalog/router.ts';
import type { Protocol } from '../../server/core/protocol.ts';

/** The choice among several routes, with a clock that the test sets. */

interface Place {
  upstream: string;
  protocol?: Protocol;
  priority?: number;
  weight?: number;
  keys?: string[];
  baseUrl?: string;
  simulated?: boolean;
}

let router: Router;
let model: Routable = { id: 'm', routes: [] };
let clockMs = 1_000_000;
afterEach(() => router.close());

function place(given: Place): RouteRecord {
  const { upstream, protocol = 'messages', priority = 0, weight = 1, keys = [], baseUrl, simulated = false } = given;
  return {
    id: `route-${upstream}`,
    model: 'm',
    upstream: {
      id: upstream,
      protocol,
      baseUrl: baseUrl ?? `https://${upstream}.example.com/base/`,
      onDisconnect: 'abort',
      profile: null,
      features: featuresOf(protocol, null, {}),
      simulated,
      keys: keys.map((id) => ({ id, secret: `secret-${id}` })),
    },
    upstreamModel: 'vendor-m',
    priority,
    weight,
    costs: null,
  };
}

function routes(...places: Place[]): Router {
  model = { id: 'm', routes: places.map(place) };
  clockMs = 1_000_000;
  router = createRouter({ allowPrivate: false, now: () => clockMs });
  return router;
}

function candidates(sticky = 'someone', protocol: Protocol = 'messages'): Candidates {
  const found = router.candidates(model, protocol, () => sticky);
  if (found === null) throw new Error('no candidates');
  return found;
}

/** The best route of a request that is refused before it is sent anywhere. */
function best(sticky?: string, protocol?: Protocol): Target {
  const target = candidates(sticky, protocol).next('nothing');
  if (target === null) throw new Error('no place');
  return target;
}

/** The route to which a request is sent first. */
function first(sticky?: string, protocol?: Protocol): Target {
  const target = best(sticky, protocol);
  router.sending(target, model, true);
  return target;
}

/** All routes of one request, in the order in which they would be tried. */
function order(sticky?: string, protocol?: Protocol): string[] {
  const list = candidates(sticky, protocol);
  const ids: string[] = [];
  for (let target = list.next('nothing'); target !== null; target = list.next('unfit'))
    ids.push(target.route.upstream.id);
  return ids;
}

/** A target of the router, as far as `report` reads it. */
function at(upstream: string, key: string | null = null): Target {
  return { route: place({ upstream }), key: key === null ? null : { id: key, secret: '' } } as Target;
}

function fail(upstream: string, times: number): void {
  for (let i = 0; i < times; i += 1) router.report(at(upstream), 'failed');
}

function retried(): boolean {
  const list = candidates();
  const target = list.next('nothing');
  if (target !== null) router.sending(target, model, true);
  return list.next('failure') !== null;
}

function takeKey(list: Candidates, after: Parameters<Candidates['next']>[0]): string | undefined {
  return list.next(after)?.key?.id;
}

const people = Array.from({ length: 2_000 }, (_none, index) => `person-${index}`);
const share = (upstream: string): number => people.filter((who) => order(who)[0] === upstream).length / people.length;

describe('the order of routes', () => {
  it('is the priority first, then who speaks the client’s protocol', () => {
    routes(
      { upstream: 'late', priority: 2 },
      { upstream: 'native', priority: 1 },
      { upstream: 'translated', priority: 1, protocol: 'chat-completions', weight: 1_000 },
      { upstream: 'cheap', priority: 0, protocol: 'chat-completions' },
    );
    expect(order()).toEqual(['cheap', 'native', 'translated', 'late']);
    expect(order('someone', 'chat-completions')).toEqual(['cheap', 'translated', 'native', 'late']);
  });

  it('follows the weights among equals', () => {
    routes({ upstream: 'heavy', weight: 3 }, { upstream: 'light', weight: 1 });
    expect(share('heavy')).toBeGreaterThan(0.7);
    expect(share('heavy')).toBeLessThan(0.8);
  });

  it('stays the same for the same account and beginning of a prompt, whatever other routes are added or removed', () => {
    routes({ upstream: 'a' }, { upstream: 'b' }, { upstream: 'c' });
    const before = new Map(people.map((who) => [who, order(who)]));
    expect(people.filter((who) => String(order(who)) !== String(before.get(who)))).toEqual([]);
    // Removing a route moves only its own requests.
    routes({ upstream: 'a' }, { upstream: 'b' });
    const moved = people.filter((who) => order(who)[0] !== before.get(who)?.[0]);
    expect(moved.filter((who) => before.get(who)?.[0] !== 'c')).toEqual([]);
  });

  it('asks for what the choice sticks to only when there is a choice', () => {
    routes({ upstream: 'only', keys: ['k'] });
    const list = router.candidates(model, 'messages', () => {
      throw new Error('asked');
    });
    expect(list?.next('nothing')?.route.upstream.id).toBe('only');
  });

  it('has nothing for a model without routes', () => {
    routes({ upstream: 'a' });
    expect(router.candidates({ id: 'unknown', routes: [] }, 'messages', () => '')).toBeNull();
  });
});

describe('addresses', () => {
  it('are split into what a dispatcher wants', () => {
    routes({ upstream: 'a', keys: ['k'] });
    expect(first()).toMatchObject({ origin: 'https://a.example.com', basePath: '/base', key: { secret: 'secret-k' } });
  });

  it.each([
    'http://169.254.169.254',
    'https://10.0.0.1/v1',
    'https://[::1]:8080',
    'https://[fd00::1]',
    'https://127.0.0.1',
  ])('%s is never tried: the next route is', (baseUrl) => {
    routes({ upstream: 'private', baseUrl, keys: ['k'] }, { upstream: 'public', priority: 9 });
    expect(order()).toEqual(['public']);
  });
});

describe('retries', () => {
  it('go to the next place, and to the last one once more when not even a connection was had', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 });
    const list = candidates();
    expect(list.next('nothing')?.route.upstream.id).toBe('a');
    expect(list.next('no_connection')?.route.upstream.id).toBe('b');
    expect(list.next('no_connection')?.route.upstream.id).toBe('b');
    expect(list.next('no_connection')).toBeNull();
  });

  it('do not go back to a route that failed otherwise', () => {
    routes({ upstream: 'only' });
    const list = candidates();
    expect(list.next('nothing')?.route.upstream.id).toBe('only');
    expect(list.next('failure')).toBeNull();
  });

  it('have a budget: ten a minute for each route beside one, and a fifth of the model’s requests', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 });
    // After n requests there were 10 + n / 5 at most: the 12th retry is the last in a row.
    expect(Array.from({ length: 14 }, retried)).toEqual([...Array.from({ length: 13 }, () => true), false]);
    for (let i = 0; i < 146; i += 1) first();
    // 160 requests and 13 retries so far.
    const more = Array.from({ length: 40 }, retried).filter(Boolean);
    expect(more.length).toBeGreaterThanOrEqual(29);
    expect(more.length).toBeLessThanOrEqual(37);
    clockMs += 61_000;
    expect(retried()).toBe(true);
  });

  it('are not paid for by requests that were refused before they were sent', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 });
    expect(Array.from({ length: 14 }, retried)).toContain(false);
    for (let i = 0; i < 1_000; i += 1) best();
    expect(retried()).toBe(false);
  });

  it('take nothing from the budget where not even a connection was had', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 }, { upstream: 'c', priority: 2 });
    for (let i = 0; i < 100; i += 1) {
      const list = candidates();
      const ids = [list.next('nothing'), list.next('no_connection'), list.next('no_connection')];
      expect(ids.map((target) => target?.route.upstream.id)).toEqual(['a', 'b', 'c']);
    }
    expect(retried()).toBe(true);
  });

  it('a route that cannot express the request is no retry', () => {
    routes(...['a', 'b', 'c', 'd', 'e', 'f'].map((upstream) => ({ upstream })));
    expect(order()).toHaveLength(6);
    expect(order()).toHaveLength(6);
  });
});

describe('an upstream that keeps failing', () => {
  it('comes last after five failures in a row, for thirty seconds', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 });
    fail('a', 4);
    expect(order()).toEqual(['a', 'b']);
    fail('a', 1);
    expect(order()).toEqual(['b', 'a']);
    expect(router.health()).toEqual([{ upstreamId: 'a', consecutiveFailures: 5, ejected: true, pausedKeys: 0 }]);
    clockMs += 29_000;
    expect(order()).toEqual(['b', 'a']);
    clockMs += 1_001;
    expect(order()).toEqual(['a', 'b']);
  });

  it('is tried by one request afterwards; the others wait for its report, and a failure doubles the time', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 });
    fail('a', 5);
    clockMs += 30_001;
    expect([first(), first(), first()].map(({ route }) => route.upstream.id)).toEqual(['a', 'b', 'b']);
    fail('a', 1);
    clockMs += 59_000;
    expect(first().route.upstream.id).toBe('b');
    clockMs += 1_001;
    expect(first().route.upstream.id).toBe('a');
    router.report(at('a'), 'fine');
    expect([first(), first()].map(({ route }) => route.upstream.id)).toEqual(['a', 'a']);
  });

  it('is not kept out by requests that are refused before they are sent, nor by counts of tokens', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 });
    fail('a', 5);
    clockMs += 30_001;
    for (let i = 0; i < 100; i += 1) expect(best().route.upstream.id).toBe('a');
    expect(first().route.upstream.id).toBe('a');
    router.report(at('a'), 'fine');
    expect(order()).toEqual(['a', 'b']);
  });

  it('comes last for a moment when it cannot be connected to, longer each time', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 });
    for (const ms of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      router.report(at('a'), 'unreachable');
      clockMs += ms - 1;
      expect([ms, first().route.upstream.id]).toEqual([ms, 'b']);
      clockMs += 2;
      expect([ms, first().route.upstream.id]).toEqual([ms, 'a']);
    }
  });

  it('comes last when more of its requests fail than the budget of retries covers', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 });
    for (let i = 0; i < 30; i += 1) {
      fail('a', 1);
      for (let fine = 0; fine < 6; fine += 1) router.report(at('a'), 'fine');
    }
    expect(order()).toEqual(['a', 'b']);
    for (let i = 0; i < 20; i += 1) {
      fail('a', 1);
      router.report(at('a'), 'fine');
    }
    expect(order()).toEqual(['b', 'a']);
  });

  it('is not when one of them went well in between', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 });
    fail('a', 4);
    router.report(at('a'), 'fine');
    fail('a', 4);
    expect(order()).toEqual(['a', 'b']);
  });

  it('is never left out when it is the only one', () => {
    routes({ upstream: 'a' });
    fail('a', 50);
    expect(order()).toEqual(['a']);
  });

  it('is not when it is the built-in simulator, whose failures are asked for', () => {
    const simulators: Place[] = [
      { upstream: 'native', simulated: true },
      { upstream: 'translated', protocol: 'chat-completions', simulated: true },
    ];
    routes(...simulators);
    const target = first();
    for (const verdict of ['failed', 'unauthorized', 'overloaded'] as const)
      for (let i = 0; i < 5; i += 1) router.report(target, verdict);
    expect(order()).toEqual(['native', 'translated']);
    expect(router.health()).toEqual([]);
  });

  it('is never left out: of those that failed, the one that failed first comes back first', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 }, { upstream: 'c', priority: 2 });
    fail('a', 5);
    clockMs += 1;
    fail('b', 5);
    expect(order()).toEqual(['c', 'a', 'b']);
    clockMs += 1;
    fail('c', 5);
    expect(order()).toEqual(['a', 'b', 'c']);
  });
});

describe('keys', () => {
  it('stick to who asks, and are spread over all', () => {
    routes({ upstream: 'a', keys: ['k1', 'k2', 'k3'] });
    const used = people.map((who) => first(who).key?.id);
    expect(people.map((who) => first(who).key?.id)).toEqual(used);
    for (const id of ['k1', 'k2', 'k3']) {
      expect(used.filter((key) => key === id).length).toBeGreaterThan(people.length / 4);
    }
  });

  it.each([
    ['overloaded', undefined, 10_000],
    ['overloaded', 40, 40_000],
    ['unauthorized', undefined, 60_000],
  ] as const)('rest when %s (after %s s), and the same request goes on with another', (verdict, afterS, restMs) => {
    routes({ upstream: 'a', keys: ['k1', 'k2'] });
    const list = candidates();
    const target = list.next('nothing');
    if (target === null) throw new Error('no place');
    router.report(target, verdict, afterS);
    const other = target.key?.id === 'k1' ? 'k2' : 'k1';
    expect(takeKey(list, 'failure')).toBe(other);
    expect(takeKey(list, 'failure')).toBeUndefined();
    expect(people.filter((who) => first(who).key?.id !== other)).toEqual([]);
    expect(router.health()).toMatchObject([{ upstreamId: 'a', ejected: false, pausedKeys: 1 }]);
    clockMs += restMs - 1;
    expect(first().key?.id).toBe(other);
    clockMs += 2;
    expect(first().key?.id).toBe(target.key?.id);
    // One that was paused is not in trouble any more.
    expect(router.health()).toEqual([]);
  });

  it('that are all paused put their route behind the others; alone, the one whose pause ends first is used', () => {
    routes({ upstream: 'a', priority: 0, keys: ['k1', 'k2'] }, { upstream: 'b', priority: 1, keys: ['k3'] });
    router.report(at('a', 'k1'), 'unauthorized');
    expect(order()).toEqual(['a', 'b']);
    router.report(at('a', 'k2'), 'overloaded', 5);
    expect(order()).toEqual(['b', 'a']);
    const list = candidates();
    expect([takeKey(list, 'nothing'), takeKey(list, 'unfit')]).toEqual(['k3', 'k2']);
  });

  it('that there are none of: the upstream itself rests', () => {
    routes({ upstream: 'a', priority: 0 }, { upstream: 'b', priority: 1 });
    router.report(first(), 'overloaded', 30);
    expect(order()).toEqual(['b', 'a']);
    clockMs += 30_001;
    expect(order()).toEqual(['a', 'b']);
  });
});
