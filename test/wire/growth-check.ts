import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { scanBody } from '../../server/wire/body.ts';
import { wireFor } from '../../server/wire/wires.ts';
import { contextWith } from './fixtures.ts';
import { type Growth, growths } from './growth-bodies.ts';
import { createWorkMeter, type WorkMeter } from './work-meter.ts';

/**
 * The work for a request grows with its length, whatever it holds: a body that is cheap to send must not keep the process
 * from everybody else.
 */

const protocols: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];

/** With twice as many values, what is added doubles where work grows in proportion; with their square it is four times as much. */
const maxGrowth = 2 ** 1.2;

/** Everything that is done with one body without a pause: the scan with its gates, and the way to every upstream. */
function stages(protocol: Protocol, raw: Uint8Array): Record<string, () => void> {
  const scan = scanBody(raw, protocol);
  const directions = protocols.map((upstream): [string, () => void] => [
    `the way to ${upstream}`,
    () => {
      if (scan.ok) wireFor(protocol, upstream).request(raw, scan.facts, contextWith());
    },
  ]);
  return {
    scan: () => scanBody(raw, protocol),
    ...(protocol === 'messages' ? { 'scan to count': () => scanBody(raw, protocol, 'count') } : {}),
    ...Object.fromEntries(directions),
  };
}

/** Declares a test for each way to make a request large that `chosen` names. */
export function describeGrowth(chosen: (way: Growth, index: number) => boolean): void {
  let meter: WorkMeter;
  beforeAll(() => {
    meter = createWorkMeter();
  });
  afterAll(() => meter.close());

  describe.each(protocols)('the work for a request of %s grows with its length:', (protocol) => {
    test.each(growths(protocol).filter(chosen))('$name', ({ make }) => {
      const bodies = [1, 2, 4].map((scale) => stages(protocol, Buffer.from(make(scale))));
      for (const stage of Object.keys(bodies[0] ?? {})) {
        const [, one = 0, two = 0, four = 0] = [bodies[0], ...bodies].map((body) =>
          // Once before it counts: what is made at a first use is no growth.
          meter.measure(body?.[stage] ?? (() => undefined)),
        );
        expect(four - two, `${stage}: ${one}, ${two}, ${four}`).toBeLessThanOrEqual(
          maxGrowth * Math.max(0, two - one) + 100,
        );
      }
    });
  });
}
