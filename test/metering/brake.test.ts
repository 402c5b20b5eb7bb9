import { describe, expect, it } from 'vitest';
import type { ReportedUsage } from '../../server/core/tokens.ts';
import { createBrake } from '../../server/metering/brake.ts';

const account = (outputBytes: number): ReportedUsage => ({
  usage: null,
  clamped: false,
  partial: true,
  outputBytes,
  outputPieces: 0,
  model: null,
});

/** A hold of 100 output tokens at 10 pico-USD each, and a ledger that answers when the test says so. */
function open() {
  const asked: bigint[] = [];
  const seen = { stopped: 0, resumed: 0 };
  let answer: (added: bigint) => void = () => undefined;
  const brake = createBrake({
    held: 1_000n,
    prices: { input: 1n, cacheHit: 1n, cacheWrite5m: 1n, cacheWrite1h: 1n, output: 10n },
    estimatedInputTokens: 0,
    bounds: { input: 50, output: 1_000 },
    extend: (more) => {
      asked.push(more);
      const { promise, resolve } = Promise.withResolvers<bigint>();
      answer = resolve;
      return promise;
    },
    stop: () => void (seen.stopped += 1),
    resume: () => void (seen.resumed += 1),
  });
  const settle = async (added: bigint): Promise<void> => {
    answer(added);
    await new Promise(setImmediate);
  };
  return { brake, asked, seen, settle };
}

describe('the spend brake', () => {
  it('does not believe an upstream that claims more than its model can take', async () => {
    const { brake, asked, seen } = open();
    const claimed = { input: 100_000_000, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
    brake.check({ ...account(4 * 70), usage: claimed });
    expect(asked).toEqual([]);
    brake.check({ ...account(4 * 70), usage: { ...claimed, input: 0, output: 100_000_000 } });
    // The thousand tokens that an answer can have, less the hundred that are held, and the next 4,096.
    expect(asked).toEqual([9_000n + 40_960n]);
    expect(seen).toEqual({ stopped: 0, resumed: 0 });
  });

  it('asks for more at four fifths of the hold, by the next 4,096 tokens, and lets the stream run on meanwhile', async () => {
    const { brake, asked, seen, settle } = open();
    brake.check(account(4 * 70));
    expect(asked).toEqual([]);
    brake.check(account(4 * 80));
    expect(asked).toEqual([40_960n]);
    expect(brake.waiting).toBe(false);
    await settle(40_960n);
    expect(seen).toEqual({ stopped: 0, resumed: 0 });
  });

  it('has a stream wait that is faster than the ledger, and lets it go on once there is more', async () => {
    const { brake, seen, settle } = open();
    brake.check(account(4 * 80));
    brake.check(account(4 * 100));
    expect(brake.waiting).toBe(true);
    await settle(40_960n);
    expect(brake.waiting).toBe(false);
    expect(seen).toEqual({ stopped: 0, resumed: 1 });
  });

  it('stops a stream that waited in vain, once', async () => {
    const { brake, asked, seen, settle } = open();
    brake.check(account(4 * 150));
    expect(asked).toEqual([500n + 40_960n]);
    expect(brake.waiting).toBe(true);
    await settle(0n);
    expect(seen).toEqual({ stopped: 1, resumed: 0 });
    brake.check(account(4 * 500));
    expect(seen.stopped).toBe(1);
    expect(asked).toHaveLength(1);
  });

  it('uses up what little could be added before it stops the stream', async () => {
    const { brake, seen, settle } = open();
    brake.check(account(4 * 90));
    await settle(100n);
    brake.check(account(4 * 105));
    expect(seen.stopped).toBe(0);
    brake.check(account(4 * 111));
    expect(brake.waiting).toBe(true);
    await settle(0n);
    expect(seen.stopped).toBe(1);
  });
});
