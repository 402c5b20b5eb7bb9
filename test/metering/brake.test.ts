import { describe, expect, it } from 'vitest';
import type { ReportedUsage } from '../../server/core/tokens.ts';
import { type BrakeParts, createBrake } from '../../server/metering/brake.ts';
import { createOutageAllowances } from '../../server/metering/outage-allowance.ts';
import { createHiddenReasoning } from '../../server/metering/reasoning.ts';

/** The spend brake: extensions, stops, and streams during an outage of the ledger. */

const account = (outputBytes: number): ReportedUsage => ({
  usage: null,
  clamped: false,
  partial: true,
  outputBytes,
  outputPieces: 0,
  model: null,
});

const bounds = { input: 50, output: 1_000_000, searches: 20, images: 4, minutes: 10, longWrites: false };

/** A hold of 100 output tokens at 10 pico-USD each, and a ledger that answers when the test says so. */
function open(more: Partial<BrakeParts> = {}) {
  const asked: bigint[] = [];
  const seen = { stopped: [] as string[], resumed: 0 };
  const kept: bigint[] = [];
  let answer: PromiseWithResolvers<bigint> | null = null;
  const brake = createBrake({
    held: 1_000n,
    freeAfter: 0n,
    prices: { input: 1n, cacheHit: 1n, cacheWrite5m: 1n, cacheWrite1h: 1n, output: 10n },
    promptBound: 50,
    estimatedInputTokens: 0,
    contextBound: 100_000n,
    contextRuns: 1,
    uncovered: true,
    bounds,
    reasoning: null,
    allowance: createOutageAllowances().of('account'),
    extend: (wanted) => {
      asked.push(wanted);
      answer = Promise.withResolvers<bigint>();
      return answer.promise;
    },
    shrink: (keep) => void kept.push(keep),
    uncover: async () => false,
    stop: (reason) => void seen.stopped.push(reason),
    resume: () => void (seen.resumed += 1),
    ...more,
  });
  const turn = () => new Promise(setImmediate);
  return {
    brake,
    asked,
    kept,
    seen,
    check: (tokens: number, atMs = 0) => brake.check(account(4 * tokens), atMs),
    async settle(added: bigint) {
      answer?.resolve(added);
      await turn();
    },
    async fail() {
      answer?.reject(new Error('out of reach'));
      await turn();
    },
  };
}

describe('the brake of a request at tiered prices', () => {
  const first = { input: 1n, cacheHit: 1n, cacheWrite5m: 1n, cacheWrite1h: 1n, output: 10n };
  const prices = { ...first, tiers: [{ ...first, output: 30n, abovePromptTokens: 20 }] };
  const reported = (input: number) => ({ input, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 });

  it('counts at the dearest prices that the prompt can reach, until its length is reported', () => {
    const { brake, asked } = open({ prices, promptBound: 21 });
    // 27 tokens at 30 are four fifths of the hold of 1,000; at 10 they would be a quarter.
    brake.check(account(4 * 27), 0);
    expect(asked).toEqual([122_880n]);
  });

  it('counts at the first prices where the prompt cannot be longer', () => {
    const { brake, asked } = open({ prices, promptBound: 20 });
    brake.check(account(4 * 27), 0);
    expect(asked).toEqual([]);
  });

  it('counts at the prices of the reported length', () => {
    const shorter = open({ prices, promptBound: 50 });
    shorter.brake.check({ ...account(4 * 27), usage: reported(20) }, 0);
    expect(shorter.asked).toEqual([]);
    const longer = open({ prices, promptBound: 50 });
    longer.brake.check({ ...account(4 * 27), usage: reported(21) }, 0);
    expect(longer.asked).toEqual([122_880n]);
  });

  it('counts images and minutes at their own price, and sees them without text', () => {
    const prices = { ...first, perUnit: { image: 300n, minute: 100n } };
    const { brake, asked } = open({ prices });
    brake.check({ ...account(4), minutes: 2, images: 1 }, 0);
    expect(asked).toEqual([]);
    // 200 for two minutes and 600 for two images are four fifths of the hold; the next image is asked for.
    brake.check({ ...account(4), minutes: 2, images: 2 }, 0);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toBeGreaterThanOrEqual(300n);
  });

  it('leaves the text of an answer nothing of what is held for minutes, until they are reported', async () => {
    const prices = { ...first, perUnit: { minute: 100n } };
    const { brake, asked, seen, settle } = open({ prices, held: 40_960n + 1_000n });
    brake.check(account(4 * 4_000), 0);
    expect(asked).toHaveLength(1);
    await settle(0n);
    brake.check(account(4 * 4_096), 1);
    await settle(0n);
    expect(seen.stopped).toEqual(['budget']);
    const reported = open({ prices, held: 40_960n + 1_000n });
    reported.brake.check({ ...account(4 * 3_200), minutes: 5 }, 0);
    expect(reported.asked).toEqual([]);
    expect(reported.seen.stopped).toEqual([]);
  });

  it('counts searches at their own price', () => {
    const { brake, asked } = open({ prices: { ...first, perUnit: { search: 400n } } });
    brake.check({ ...account(4), searches: 1 }, 0);
    expect(asked).toEqual([]);
    brake.check({ ...account(4 * 60), searches: 2 }, 0);
    expect(asked).toEqual([400n + 40_960n]);
  });
});

describe('the brake of an answer that searches', () => {
  const free = { input: 0n, cacheHit: 0n, cacheWrite5m: 0n, cacheWrite1h: 0n, output: 0n };
  const priced = { input: 1n, cacheHit: 1n, cacheWrite5m: 1n, cacheWrite1h: 1n, output: 10n };
  const perUnit = { search: 100n };
  const searching = (searches: number): ReportedUsage => ({ ...account(4), searches });

  it('sees searches that come without text', async () => {
    const { brake, asked, seen, settle } = open({ prices: { ...priced, perUnit } });
    for (let searches = 0; searches <= 8; searches += 1) brake.check(searching(searches), searches);
    expect(asked).toHaveLength(1);
    await settle(0n);
    brake.check(searching(10), 20);
    await settle(0n);
    expect(seen.stopped).toEqual(['budget']);
  });

  it('counts them where tokens cost nothing, and extends the hold by the next ones', async () => {
    const { brake, asked, seen, settle } = open({ prices: { ...free, perUnit } });
    brake.check(searching(9), 0);
    expect(asked).toEqual([]);
    brake.check(searching(10), 1);
    expect(asked).toEqual([400n]);
    await settle(0n);
    expect(seen.stopped).toEqual(['budget']);
  });

  it('does not believe more of them than a request can cause', () => {
    const { brake, asked } = open({ prices: { ...free, perUnit }, held: 2_001n });
    brake.check(searching(20_250_305), 0);
    expect(asked).toEqual([]);
  });
});

describe('the spend brake', () => {
  it('does not believe an upstream that claims more than its model can take', async () => {
    const { brake, asked, seen } = open({ bounds: { ...bounds, output: 1_000 } });
    const claimed = { input: 100_000_000, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
    brake.check({ ...account(4 * 70), usage: claimed }, 0);
    expect(asked).toEqual([]);
    brake.check({ ...account(4 * 70), usage: { ...claimed, input: 0, output: 100_000_000 } }, 0);
    // The thousand tokens that an answer can have, less the hundred that are held: more is never charged.
    expect(asked).toEqual([9_000n]);
    expect(seen).toEqual({ stopped: [], resumed: 0 });
  });

  it('asks for more at four fifths of the hold, by the next 4,096 tokens, and lets the stream run on meanwhile', async () => {
    const { brake, asked, seen, settle } = open();
    brake.check(account(4 * 70), 0);
    expect(asked).toEqual([]);
    brake.check(account(4 * 80), 0);
    expect(asked).toEqual([40_960n]);
    expect(brake.waiting).toBe(false);
    await settle(40_960n);
    expect(seen).toEqual({ stopped: [], resumed: 0 });
  });

  it('has a stream wait that is faster than the ledger, and lets it go on once there is more', async () => {
    const { brake, seen, settle } = open();
    brake.check(account(4 * 80), 0);
    brake.check(account(4 * 100), 0);
    expect(brake.waiting).toBe(true);
    await settle(40_960n);
    expect(brake.waiting).toBe(false);
    expect(seen).toEqual({ stopped: [], resumed: 1 });
  });

  it('stops a stream that waited in vain, once', async () => {
    const { brake, asked, seen, settle } = open();
    brake.check(account(4 * 150), 0);
    expect(asked).toEqual([500n + 40_960n]);
    expect(brake.waiting).toBe(true);
    await settle(0n);
    expect(seen).toEqual({ stopped: ['budget'], resumed: 0 });
    brake.check(account(4 * 500), 0);
    expect(seen.stopped).toEqual(['budget']);
    expect(asked).toHaveLength(1);
  });

  it('uses up what little could be added before it stops the stream', async () => {
    const { brake, seen, settle } = open();
    brake.check(account(4 * 90), 0);
    await settle(100n);
    brake.check(account(4 * 105), 0);
    expect(seen.stopped).toEqual([]);
    brake.check(account(4 * 111), 0);
    expect(brake.waiting).toBe(true);
    await settle(0n);
    expect(seen.stopped).toEqual(['budget']);
  });
});

describe('a stream that is held for its bound', () => {
  /** What the vendor reports of the prompt at the start, and so many bytes of the answer. */
  const counted = (input: number, outputBytes: number): ReportedUsage => ({
    ...account(outputBytes),
    usage: { input, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 1 },
  });
  // Fifty tokens of prompt at a price of 100, and a hundred of answer at 10.
  const covered = (more: Partial<BrakeParts> = {}) =>
    open({
      held: 6_000n,
      contextBound: 5_000n,
      uncovered: false,
      prices: { input: 100n, cacheHit: 1n, cacheWrite5m: 100n, cacheWrite1h: 100n, output: 10n },
      ...more,
    });

  it('counts the whole prompt and a token a byte, until they are reported', () => {
    const { brake, asked } = covered();
    // Four fifths of what is held for the answer, by bytes: by estimate it is a quarter of that.
    brake.check(account(79), 0);
    expect(asked).toEqual([]);
    brake.check(account(81), 0);
    expect(asked).toEqual([40_960n]);
  });

  it('gives back at once what the prompt’s bound had beyond what the vendor counted', async () => {
    const { brake, asked, kept } = covered({ bounds: { ...bounds, output: 200 } });
    brake.check(counted(10, 40), 0);
    // Ten tokens of the prompt, forty of the answer, and the rest of it that may come.
    expect(kept).toEqual([1_000n + 400n + 1_600n]);
    brake.check(counted(10, 200), 1);
    expect(asked).toEqual([]);
  });

  it('keeps it where the model may read its context again, and what makes no difference to others', () => {
    const runs = covered({ contextRuns: 2 });
    runs.brake.check(counted(10, 4), 0);
    const rich = covered({ freeAfter: 1_000_000n });
    rich.brake.check(counted(10, 4), 0);
    expect([...runs.kept, ...rich.kept]).toEqual([]);
  });

  it('becomes the one on credit where nothing more can be reserved, and goes on by estimates', async () => {
    let uncovered = 0;
    const { brake, asked, seen, settle } = covered({
      uncover: async () => {
        uncovered += 1;
        return true;
      },
    });
    brake.check(account(101), 0);
    expect(asked).toEqual([40_970n]);
    expect(brake.waiting).toBe(true);
    await settle(0n);
    expect(uncovered).toBe(1);
    expect(brake.waiting).toBe(false);
    // By estimates the prompt is cached or free, and four bytes are a token: 6,000 last for 600 of them.
    brake.check(account(2_000), 1_000);
    expect(seen).toEqual({ stopped: [], resumed: 1 });
    brake.check(account(2_404), 2_000);
    await settle(0n);
    expect(seen.stopped).toEqual(['budget']);
    expect(uncovered).toBe(1);
  });

  it('waits some seconds for the place of another one, and ends without it', async () => {
    const { brake, seen, settle } = covered({ uncover: async () => false });
    brake.check(account(101), 0);
    await settle(0n);
    expect([brake.waiting, seen.stopped]).toEqual([true, []]);
    for (const atMs of [600, 2_000, 4_000]) {
      brake.check(account(101), atMs);
      await settle(0n);
      expect(seen.stopped).toEqual([]);
    }
    brake.check(account(101), 5_100);
    await settle(0n);
    expect(seen.stopped).toEqual(['budget']);
  });
});

describe('a fast stream', () => {
  it('asks rarely: each extension is twice as large while they are used up within two seconds', async () => {
    const { asked, check, settle, seen } = open({ bounds: { ...bounds, output: 100_000_000 } });
    // 2,000 chunks of a thousand tokens within a quarter of a second, and a ledger that answers between two of them.
    for (let chunk = 1; chunk <= 2_000; chunk += 1) {
      check(chunk * 1_000, chunk / 8);
      await settle(asked.at(-1) ?? 0n);
    }
    expect(asked.length).toBeLessThan(50);
    expect(seen.stopped).toEqual([]);
  });

  it('asks rarely above its cap, too', async () => {
    const { asked, check, settle, seen } = open({ bounds: { ...bounds, output: 100 } });
    for (let chunk = 1; chunk <= 2_000; chunk += 1) {
      check(chunk * 1_000, chunk / 8);
      await settle(asked.at(-1) ?? 0n);
    }
    expect(asked.length).toBeLessThan(50);
    expect(seen.stopped).toEqual([]);
  });

  it('does not reserve more than the answer can still have', async () => {
    const { asked, check, settle } = open({ bounds: { ...bounds, output: 20_000 }, held: 100_000n });
    for (let tokens = 1_000; tokens <= 20_000; tokens += 1_000) {
      check(tokens, 0);
      await settle(asked.at(-1) ?? 0n);
    }
    const reserved = asked.reduce((sum, each) => sum + each, 100_000n);
    // The end of an answer is an estimate: at its last token one more extension of 4,096 may be asked for.
    expect(reserved).toBeLessThanOrEqual(10n * (20_000n + 4_096n));
  });

  it('that is slow asks for 4,096 tokens every time', async () => {
    const { asked, check, settle } = open();
    for (let tokens = 80; tokens < 40_000; tokens += 400) {
      check(tokens, tokens * 10);
      await settle(asked.at(-1) ?? 0n);
    }
    expect(new Set(asked)).toEqual(new Set([40_960n]));
  });
});

describe('while the ledger is out of reach', () => {
  it('goes on as far as the last known free money bears, and then says that this is why it stops', async () => {
    const { check, fail, seen, brake } = open({ freeAfter: 500n });
    check(80);
    await fail();
    check(149, 10);
    expect(seen.stopped).toEqual([]);
    expect(brake.waiting).toBe(false);
    check(150, 20);
    expect(seen.stopped).toEqual(['ledger_unavailable']);
  });

  it('without any known free money ends at its hold, for that reason', async () => {
    const { check, fail, seen } = open();
    check(100);
    await fail();
    expect(seen).toEqual({ stopped: ['ledger_unavailable'], resumed: 0 });
  });

  it('lets a stream go on that waited for the answer', async () => {
    const { check, fail, seen, brake } = open({ freeAfter: 1_000_000n });
    check(120);
    expect(brake.waiting).toBe(true);
    await fail();
    expect(brake.waiting).toBe(false);
    expect(seen).toEqual({ stopped: [], resumed: 1 });
  });

  it('asks again twice a second, and then for all that was used meanwhile', async () => {
    const { asked, check, fail, settle, seen } = open({ freeAfter: 1_000_000n });
    check(80);
    await fail();
    for (let at = 10; at < 500; at += 10) check(150, at);
    expect(asked).toHaveLength(1);
    check(150, 500);
    expect(asked).toEqual([40_960n, 500n + 40_960n]);
    await settle(41_460n);
    check(3_000, 600);
    expect(seen.stopped).toEqual([]);
  });

  it('stops for want of budget once the ledger is back and says that there is none', async () => {
    const { check, fail, settle, seen } = open({ freeAfter: 1_000_000n });
    check(100);
    await fail();
    check(150, 500);
    await settle(0n);
    expect(seen.stopped).toEqual(['budget']);
  });

  it('lets all streams of an account together use the free money once', async () => {
    const allowances = createOutageAllowances();
    const streams = Array.from({ length: 10 }, () => open({ freeAfter: 1_000n, allowance: allowances.of('one') }));
    for (const { check, fail } of streams) {
      check(100);
      await fail();
    }
    // The first one has taken all of it.
    expect(streams.map(({ seen }) => seen.stopped.length)).toEqual([0, ...Array.from({ length: 9 }, () => 1)]);
    const other = open({ freeAfter: 1_000n, allowance: allowances.of('other') });
    other.check(100);
    await other.fail();
    expect(other.seen.stopped).toEqual([]);
    // What a stream does not use any more, others may.
    streams[0]?.brake.close();
    const next = open({ freeAfter: 1_000n, allowance: allowances.of('one') });
    next.check(100);
    await next.fail();
    expect(next.seen.stopped).toEqual([]);
  });
});

describe('reasoning that a stream does not show', () => {
  const reasoning = () => createHiddenReasoning({ tokensPerSecond: 80, startedAt: 0 });

  it('draws on the hold by the time it takes, and stops a stream whose budget is used up', async () => {
    const { brake, asked, check, settle, seen } = open({ reasoning: reasoning() });
    check(0, 1_000);
    expect(brake.hiddenTokens).toBe(0);
    check(0, 1_500);
    expect(brake.hiddenTokens).toBe(40);
    check(0, 2_000);
    expect(asked).toEqual([40_960n]);
    await settle(0n);
    check(0, 2_250);
    await settle(0n);
    expect(seen.stopped).toEqual(['budget']);
  });

  it('is nothing where the model does not reason', () => {
    const { brake, asked, check } = open();
    check(0, 600_000);
    expect(asked).toEqual([]);
    expect(brake.hiddenTokens).toBe(0);
  });

  it('adds up over several silences, and is not counted while the stream is held back here', () => {
    const hidden = reasoning();
    expect(hidden.see(0, 3_000, true)).toBe(160);
    expect(hidden.see(10, 3_000, true)).toBe(160);
    expect(hidden.see(20, 3_500, true)).toBe(160);
    expect(hidden.see(20, 5_500, true)).toBe(240);
    for (let at = 5_700; at < 60_000; at += 200) hidden.see(20, at, false);
    expect(hidden.see(20, 60_200, true)).toBe(256);
    expect(hidden.see(20, 61_800, true)).toBe(328);
  });

  it('is corrected by what the upstream reports at the end', () => {
    const { brake, check } = open({ reasoning: reasoning(), held: 1_000_000n });
    check(0, 11_000);
    expect(brake.hiddenTokens).toBe(800);
    const usage = { input: 10, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 300 };
    brake.check({ ...account(40), usage, partial: false }, 12_000);
    expect(brake.hiddenTokens).toBe(0);
  });

  it('is never more than the answer can have', () => {
    const { brake, check } = open({ reasoning: reasoning(), held: 1_000_000n, bounds: { ...bounds, output: 100 } });
    check(30, 600_000);
    expect(brake.hiddenTokens).toBe(70);
  });
});
