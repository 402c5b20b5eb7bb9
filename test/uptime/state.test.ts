import { array, assert, boolean, constantFrom, nat, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AccountRequests, type Evidence, stateOf, worstOf } from '../../server/uptime/state.ts';

// What page, JSON and feeds say of a model at present, from probes, incidents and customers' requests.

const evidence = (parts: Partial<Evidence>): Evidence => ({
  ways: [],
  measured: parts.ways !== undefined,
  incident: null,
  requests: [],
  ...parts,
});
const up = { outcome: 'up' } as const;
const down = { outcome: 'down' } as const;
const gap = { outcome: 'no_data' } as const;
const good: AccountRequests = { succeeded: 20, failed: 0 };
const bad: AccountRequests = { succeeded: 0, failed: 20 };

describe('the state of a model', () => {
  it.each([
    ['up', 'every way answers', { ways: [up, up, gap] }],
    ['degraded', 'one of its ways fails', { ways: [up, down] }],
    ['down', 'all of many ways fail, with no incident yet', { ways: [down, down, down] }],
    ['degraded', 'its only way failed once', { ways: [down] }],
    ['down', 'its only way failed again and again', { ways: [down], incident: 'major' }],
    ['degraded', 'all ways answer again while the incident is open', { ways: [up, up], incident: 'major' }],
    ['no_data', 'nothing was measured and nobody asks', {}],
    ['up', 'the newest probe has no data, but an earlier one has', { ways: [gap], measured: true }],
    ['down', 'all requests of several customers fail before any probe does', { requests: [bad, bad] }],
    ['degraded', 'probes answer, and all requests of several customers fail', { ways: [up], requests: [bad, bad] }],
    ['down', 'probes and customers fail', { ways: [down, down, down], requests: [bad, bad, bad] }],
    [
      'degraded',
      'probes fail and customers are served: the prober has a part in it',
      { ways: [down, down, down], requests: [good, good] },
    ],
    ['degraded', 'a third of the customers fail', { ways: [up], requests: [bad, good, good] }],
    ['up', 'one customer of ten fails', { ways: [up], requests: [bad, ...Array.from({ length: 9 }, () => good)] }],
    ['up', 'one customer alone had a few failures', { ways: [up], requests: [{ succeeded: 0, failed: 5 }] }],
    ['degraded', 'one customer alone fails and fails', { ways: [up], requests: [bad] }],
  ] as const)('is %s when %s', (state, _when, parts) => {
    expect(stateOf(evidence(parts as Partial<Evidence>))).toBe(state);
  });

  const outcome = constantFrom(up, down, gap);
  const account = record({ succeeded: nat(50), failed: nat(50) });
  const any = record({
    ways: array(outcome, { maxLength: 6 }),
    measured: boolean(),
    incident: constantFrom(null, 'partial' as const, 'major' as const),
    requests: array(account, { maxLength: 5 }),
  });

  it('is never up while one of its ways is down, and never down while all of them answer', () => {
    assert(
      property(any, (given) => {
        const state = stateOf(given);
        const known = given.ways.filter((way) => way !== gap);
        expect(state === 'up' && known.includes(down)).toBe(false);
        expect(state === 'down' && known.length > 0 && !known.includes(down)).toBe(false);
      }),
    );
  });

  it('cannot be made down by one account, whatever it sends', () => {
    assert(
      property(any, account, (given, only) => {
        const without = stateOf({ ...given, requests: [] });
        if (without === 'down') return;
        expect(stateOf({ ...given, requests: [only] })).not.toBe('down');
      }),
    );
  });
});

describe('the state of the service', () => {
  it('is down only when all models with data are, and up only when all are', () => {
    const of = (...states: Parameters<typeof worstOf>[0][number]['state'][]) =>
      worstOf(states.map((state) => ({ state })));
    expect(of()).toBe('no_data');
    expect(of('down', 'no_data')).toBe('down');
    expect(of('down', 'up')).toBe('degraded');
    expect(of('up', 'no_data')).toBe('up');
  });
});
