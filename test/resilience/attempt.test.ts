import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import type { ReportedUsage } from '../../server/core/tokens.ts';
import type { Client } from '../../server/gateway/entrance/client.ts';
import { createAnswerRoom } from '../../server/gateway/load/answer-room.ts';
import { createAnswerTurns } from '../../server/gateway/load/answer-turns.ts';
import { createRefusals } from '../../server/gateway/refusals/refusals.ts';
import { type AttemptEnd, type AttemptParts, attempt } from '../../server/gateway/upstream/attempt.ts';
import type { WireStream } from '../../server/wire/protocol.ts';

/** One try whose surroundings are played by the test: it releases everything when it ends, however it ends. */

type Handler = Required<Dispatcher.DispatchHandler>;

function play(
  overrides: Partial<AttemptParts> & { dispatch?: (handler: Handler) => void; wire?: Partial<WireStream> } = {},
) {
  const seen = { paused: 0, resumed: 0, aborted: 0, destroyed: 0, written: '', stopBrake: () => undefined as void };
  let handler: Handler | null = null;
  const controller = {
    pause: () => void (seen.paused += 1),
    resume: () => void (seen.resumed += 1),
    abort: () => void (seen.aborted += 1),
  } as unknown as Dispatcher.DispatchController;
  const listeners = { drain: (): void => undefined, gone: (): void => undefined };
  const state = { gone: false, streaming: false, open: true, stalledSince: null as number | null };
  const client: Client = {
    get gone() {
      return state.gone;
    },
    get streaming() {
      return state.streaming;
    },
    get stalledSince() {
      return state.stalledSince;
    },
    firstByteAt: null,
    lastWriteAt: 0,
    more: {},
    startStream: () => void (state.streaming = true),
    write(bytes) {
      seen.written += Buffer.from(bytes).toString();
      return state.open;
    },
    keepAlive: () => void (seen.written += '~'),
    end: () => undefined,
    answer: () => undefined,
    flushed: () => null,
    destroy: () => void (seen.destroyed += 1),
    onDrain: (listener) => void (listeners.drain = listener),
    onGone: (listener) => void (listeners.gone = listener),
    onHalfClosed: () => undefined,
  };
  const beats = new Set<(now: number) => void>();
  const account: ReportedUsage = {
    usage: null,
    clamped: false,
    partial: true,
    outputBytes: 4,
    outputPieces: 1,
    model: null,
  };
  let wireState: WireStream['state'] = 'waiting';
  const stream: WireStream = {
    get state() {
      return wireState;
    },
    error: null,
    write(chunk) {
      const text = Buffer.from(chunk).toString();
      wireState = text.includes('END') ? 'terminated' : 'open';
      return chunk;
    },
    end: () => new Uint8Array(0),
    stop: () => Buffer.from('STOPPED'),
    account: () => account,
    noise: 0,
    keepAlive: Buffer.from('~'),
  };
  Object.defineProperties(stream, Object.getOwnPropertyDescriptors(overrides.wire ?? {}));
  const shutdown = { now: false };
  const { dispatch = (given: Handler) => given.onRequestStart(controller, {}), wire: _wire, ...more } = overrides;
  const end = attempt({
    request: {
      dispatcher: {
        dispatch(_options: unknown, given: Handler) {
          handler = given;
          dispatch(given);
          return true;
        },
      } as unknown as Dispatcher,
      origin: 'http://upstream',
      path: '/',
      headers: {},
      body: { bytes: Buffer.from('{}'), taken: () => undefined },
      headersTimeoutMs: 1_000,
      idleTimeoutMs: 1_000,
    },
    secret: 'secret-of-the-operator',
    turns: createAnswerTurns(),
    refusals: createRefusals({
      topUpUrl: 'https://steyg.test/top-up',
      statusUrl: 'https://steyg.test/status',
      errorsUrl: 'https://steyg.test/docs/errors',
    }),
    stream,
    eventsOfWhole: () => null,
    client,
    pulse: {
      join(beat) {
        beats.add(beat);
        return () => void beats.delete(beat);
      },
      close: () => undefined,
    },
    timeouts: {
      headersMs: 1,
      replyMs: 10_000,
      idleMs: 1,
      firstEventMs: 100,
      keepAliveMs: 100,
      clientStallMs: 100,
      leftMs: 30_000,
    },
    isDrained: false,
    leaving: { isPatient: false, unknown: () => 0n, answer: () => 0n },
    maxReplyBytes: 1e6,
    share: createAnswerRoom({ perAccountBytes: 1e9, totalBytes: 1e9, maxAnswerBytes: 1e6 }).open('account'),
    dispatchedAt: performance.now(),
    onContent: () => undefined,
    usageSoFar: () => ({ input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 1 }),
    brake(stop) {
      seen.stopBrake = () => stop('budget');
      return {
        check: () => undefined,
        waiting: false,
        hiddenTokens: 0,
        awaitedTokens: 0,
        clientLeft: () => undefined,
        close: () => undefined,
      };
    },
    shutdown,
    ...more,
  });
  return {
    end,
    seen,
    state,
    shutdown,
    beats,
    drained: () => listeners.drain(),
    leave() {
      state.gone = true;
      listeners.gone();
    },
    beat(afterMs = 0) {
      for (const beat of beats) beat(performance.now() + afterMs);
    },
    sent: () => handler?.onRequestSent(),
    head: (status = 200, type = 'text/event-stream', extra = {}) =>
      handler?.onResponseStart(controller, status, { 'content-type': type, ...extra }, ''),
    data: (text: string) => handler?.onResponseData(controller, Buffer.from(text)),
    done: () => handler?.onResponseEnd(controller, {}),
    fail: (code = 'ECONNRESET') => handler?.onResponseError(controller, Object.assign(new Error(code), { code })),
  };
}

const kindOf = ({ kind }: AttemptEnd): string => kind;

describe('a stream', () => {
  it('that ends leaves nothing behind: no beat, no listener that acts', async () => {
    const played = play();
    played.sent();
    played.head();
    played.data('one END');
    expect(await played.end).toMatchObject({ kind: 'stream', ending: 'completed' });
    played.done();
    played.beat();
    expect(played.beats.size).toBe(0);
    played.leave();
    played.drained();
    played.shutdown.now = true;
    expect(played.seen).toMatchObject({ aborted: 0, resumed: 0 });
  });

  it('is held back while the client takes nothing, and goes on when it does', async () => {
    const played = play();
    played.sent();
    played.head();
    played.state.open = false;
    played.data('one');
    expect(played.seen).toMatchObject({ paused: 1, resumed: 0 });
    played.drained();
    expect(played.seen.resumed).toBe(1);
    played.state.stalledSince = performance.now();
    played.beat(50);
    expect(played.seen.destroyed).toBe(0);
    played.beat(1_000);
    expect(played.seen.destroyed).toBe(1);
    played.leave();
    expect(await played.end).toMatchObject({ kind: 'stream', ending: 'client_closed' });
    expect(played.seen.aborted).toBe(1);
  });

  it('whose upstream stays on the line after the end is cut off within a second', async () => {
    const played = play();
    played.head();
    played.data('END');
    await played.end;
    played.beat(100);
    expect(played.seen.aborted).toBe(0);
    // The pulse of a process beats at least every quarter of a second.
    played.beat(750);
    expect(played.seen.aborted).toBe(1);
    expect(played.beats.size).toBe(0);
  });

  it('that the budget ends is told so once, and hears nothing more', async () => {
    const played = play();
    played.head();
    played.data('one');
    played.seen.stopBrake();
    played.seen.stopBrake();
    played.data('two');
    const end = await played.end;
    expect(end).toMatchObject({ kind: 'stream', ending: 'budget_stopped' });
    expect(Buffer.from((end as { last: Uint8Array }).last).toString()).toBe('STOPPED');
    expect(played.seen).toMatchObject({ aborted: 1, written: 'one' });
  });

  it('that waits for the ledger keeps what comes, holds the upstream back late, and goes on in order', async () => {
    const brake = {
      check: () => undefined as void,
      waiting: false,
      hiddenTokens: 0,
      awaitedTokens: 0,
      clientLeft: () => undefined,
      close: () => undefined,
    };
    let resume = (): void => undefined;
    const played = play({
      brake(_stop, goOn) {
        resume = goOn;
        return brake;
      },
    });
    played.head();
    played.data('one ');
    brake.waiting = true;
    played.data('two ');
    played.data('three ');
    expect(played.seen).toMatchObject({ written: 'one ', paused: 0 });
    played.data('x'.repeat(300_000));
    expect(played.seen).toMatchObject({ written: 'one ', paused: 1, resumed: 0 });
    brake.waiting = false;
    resume();
    await expect.poll(() => played.seen.resumed).toBe(1);
    expect(played.seen.written).toBe(`one two three ${'x'.repeat(300_000)}`);

    // The upstream may be done before the ledger has answered.
    brake.waiting = true;
    played.data('last END');
    played.done();
    expect(played.seen.written.endsWith('x')).toBe(true);
    brake.waiting = false;
    resume();
    expect(await played.end).toMatchObject({ kind: 'stream', ending: 'completed', last: Buffer.from('last END') });
  });

  it('that comes faster than it is worked on waits for its turn, piece by piece and in order', async () => {
    const played = play();
    played.head();
    const pieces = Array.from({ length: 200 }, (_none, at) => `${String(at).padStart(4, '0')}${'x'.repeat(8_188)}`);
    // All in one turn of the event loop, as a socket hands them over.
    for (const piece of pieces) played.data(piece);
    expect(played.seen.written.length).toBeLessThan(200_000);
    expect(played.seen.paused).toBeGreaterThan(0);
    let longest = 0;
    for (let before = played.seen.written.length; before < 200 * 8_192; before = played.seen.written.length) {
      await nextTurn();
      longest = Math.max(longest, played.seen.written.length - before);
    }
    expect(longest).toBeLessThan(200_000);
    expect(played.seen.written).toBe(pieces.join(''));
    expect(played.seen.resumed).toBeGreaterThan(0);
    played.data('END');
    expect(await played.end).toMatchObject({ kind: 'stream', ending: 'completed' });
  });

  it('of many small pieces waits for its turn, too', () => {
    const played = play();
    played.head();
    for (let at = 0; at < 10_000; at += 1) played.data('x');
    expect(played.seen.written.length).toBeLessThan(4_000);
    expect(played.seen.paused).toBeGreaterThan(0);
    played.leave();
  });

  it('shares the turn with all others of the process', async () => {
    const turns = createAnswerTurns();
    const many = Array.from({ length: 50 }, () => play({ turns }));
    for (const played of many) played.head();
    for (let at = 0; at < 5; at += 1) for (const played of many) played.data('x'.repeat(16_000));
    const written = (): number => many.reduce((sum, { seen }) => sum + seen.written.length, 0);
    expect(written()).toBeLessThan(200_000);
    await expect.poll(written).toBe(50 * 5 * 16_000);
    for (const played of many) played.leave();
  });

  it('that has arrived whole before its turn ends as it would have', async () => {
    const played = play();
    played.head();
    for (let at = 0; at < 40; at += 1) played.data('x'.repeat(16_000));
    played.data('END');
    played.done();
    expect(await played.end).toMatchObject({ kind: 'stream', ending: 'completed', last: Buffer.from('END') });
    expect(played.seen.written.length).toBe(40 * 16_000);
  });

  it.each([
    ['before any content', false, { kind: 'fault', fault: 'noise' }],
    ['after content', true, { kind: 'stream', ending: 'upstream_error', last: Buffer.from('STOPPED') }],
  ])('of nothing but noise is cut off %s', async (_name, isBegun, expected) => {
    const wire = { noise: 0, write: (chunk: Uint8Array) => (isBegun ? chunk : new Uint8Array(0)) };
    const played = play({
      wire: {
        write: wire.write,
        get noise() {
          return wire.noise;
        },
      },
    });
    played.head();
    played.data('one');
    wire.noise = 49_000;
    played.data(':');
    expect(played.seen.aborted).toBe(0);
    wire.noise = 51_000;
    await nextTurn();
    played.data(':');
    expect(await played.end).toMatchObject(expected);
    expect(played.seen.aborted).toBe(1);
    expect(played.beats.size).toBe(0);
  });

  it('of nothing but pings ends after three times the time of a whole answer, and lives on content', async () => {
    const account = { usage: null, clamped: false, partial: true, outputBytes: 4, outputPieces: 1, model: null };
    const played = play({ wire: { account: () => account } });
    played.head();
    played.data('one');
    played.beat(20_000);
    account.outputPieces = 2;
    played.beat(29_000);
    played.beat(58_000);
    expect(played.seen.aborted).toBe(0);
    played.beat(60_000);
    expect(await played.end).toMatchObject({ kind: 'stream', ending: 'timeout', last: Buffer.from('STOPPED') });
    expect(played.seen.aborted).toBe(1);
  });

  it('that waits for the ledger relays nothing more once the budget ends it', async () => {
    const brake = {
      check: () => undefined as void,
      waiting: false,
      hiddenTokens: 0,
      awaitedTokens: 0,
      clientLeft: () => undefined,
      close: () => undefined,
    };
    let stop = (): void => undefined;
    const played = play({
      brake(end) {
        stop = () => end('budget');
        return brake;
      },
    });
    played.head();
    played.data('one ');
    brake.waiting = true;
    played.data('two END');
    played.done();
    stop();
    expect(await played.end).toMatchObject({ ending: 'budget_stopped', last: Buffer.from('STOPPED') });
    expect(played.seen.written).toBe('one ');
  });

  it('does not show our key when the upstream repeats it in an error event', async () => {
    let state: WireStream['state'] = 'open';
    const played = play({
      wire: {
        get state() {
          return state;
        },
        write(chunk) {
          if (Buffer.from(chunk).includes('error')) state = 'failed';
          return chunk;
        },
      },
    });
    played.head();
    played.data('one');
    played.data('error: secret-of-the-operator is é wrong');
    const end = (await played.end) as { last: Uint8Array };
    expect(Buffer.from(end.last).toString()).toBe('error: [redacted] is é wrong');
  });
});

describe('a client that leaves', () => {
  it.each([
    [
      'before the request is out',
      (_played: ReturnType<typeof play>) => undefined,
      { kind: 'left', sent: false, failed: false },
    ],
    ['after that', (played: ReturnType<typeof play>) => played.sent(), { kind: 'left', sent: true, failed: false }],
  ])('%s', async (_name, before, end) => {
    const played = play();
    before(played);
    played.leave();
    expect(await played.end).toMatchObject(end);
    expect(played.seen.aborted).toBe(1);
    expect(played.beats.size).toBe(0);
  });

  it('is drained for: to the end, at most half a minute, and no longer than the budget lasts', async () => {
    const toTheEnd = play({ isDrained: true });
    toTheEnd.sent();
    toTheEnd.head();
    toTheEnd.data('one');
    toTheEnd.leave();
    expect(toTheEnd.seen).toMatchObject({ aborted: 0, resumed: 1 });
    toTheEnd.data('two END');
    expect(await toTheEnd.end).toMatchObject({ kind: 'stream', ending: 'client_closed', last: new Uint8Array(0) });
    expect(toTheEnd.seen.written).toBe('one');

    const tooLong = play({ isDrained: true });
    tooLong.sent();
    tooLong.head();
    tooLong.data('one');
    tooLong.leave();
    tooLong.beat(29_000);
    expect(tooLong.seen.aborted).toBe(0);
    tooLong.beat(31_000);
    expect(await tooLong.end).toMatchObject({ kind: 'stream', ending: 'client_closed' });
    expect(tooLong.seen.aborted).toBe(1);

    let checks = 0;
    const tooDear = play({
      isDrained: true,
      brake: (stop) => ({
        waiting: false,
        hiddenTokens: 0,
        awaitedTokens: 0,
        clientLeft: () => undefined,
        check() {
          checks += 1;
          if (checks > 1) stop('budget');
        },
        close: () => undefined,
      }),
    });
    tooDear.sent();
    tooDear.head();
    tooDear.data('one');
    tooDear.leave();
    tooDear.data('two');
    expect(await tooDear.end).toMatchObject({ kind: 'stream', ending: 'client_closed' });
    expect(tooDear.seen.aborted).toBe(1);
  });

  it('is drained for half a minute when the model has reasoned out of sight', async () => {
    const hiding = (hiddenTokens: number) => ({
      brake: () => ({
        check: () => undefined,
        waiting: false,
        hiddenTokens,
        awaitedTokens: hiddenTokens,
        clientLeft: () => undefined,
        close: () => undefined,
      }),
    });
    const shown = play(hiding(0));
    shown.sent();
    shown.head();
    shown.leave();
    expect(await shown.end).toMatchObject({ kind: 'left', sent: true });

    const learnt = play(hiding(100));
    learnt.sent();
    learnt.head();
    learnt.leave();
    expect(learnt.seen.aborted).toBe(0);
    learnt.data('two END');
    expect(await learnt.end).toMatchObject({ kind: 'stream', ending: 'client_closed' });

    const silent = play(hiding(100));
    silent.sent();
    silent.head();
    silent.leave();
    silent.beat(29_000);
    expect(silent.seen.aborted).toBe(0);
    silent.beat(31_000);
    expect(await silent.end).toMatchObject({ kind: 'left', sent: true, failed: false });
    expect(silent.seen.aborted).toBe(1);

    const unsent = play(hiding(100));
    unsent.leave();
    expect(await unsent.end).toMatchObject({ kind: 'left', sent: false });
  });

  it('is waited for until the cost is known, and no longer than the wait costs what it can tell', async () => {
    const unknownUntil = (told: () => boolean, answer: () => bigint) =>
      play({ leaving: { isPatient: false, unknown: () => (told() ? 0n : 10_000_000_000n), answer } });
    let isTold = false;
    const early = unknownUntil(
      () => isTold,
      () => 0n,
    );
    early.sent();
    early.head();
    early.leave();
    expect(early.seen.aborted).toBe(0);
    isTold = true;
    early.data('one');
    expect(await early.end).toMatchObject({ kind: 'stream', ending: 'client_closed' });
    expect(early.seen).toMatchObject({ aborted: 1, written: '' });

    let cost = 5_000_000_000n;
    const long = unknownUntil(
      () => false,
      () => cost,
    );
    long.sent();
    long.head();
    long.data('one');
    long.leave();
    cost += 10_000_000_000n;
    long.data('two');
    expect(long.seen.aborted).toBe(0);
    cost += 1n;
    long.data('three');
    expect(await long.end).toMatchObject({ kind: 'stream', ending: 'client_closed' });
    expect(long.seen).toMatchObject({ aborted: 1, written: 'one' });
  });

  it('is drained for when the answer is not streamed, too', async () => {
    const played = play({ isDrained: true, stream: null });
    played.sent();
    played.leave();
    played.head(200, 'application/json');
    played.data('{"whole":1}');
    played.done();
    expect(await played.end).toMatchObject({ kind: 'whole', clientLeft: true });
    const cut = play({ isDrained: true, stream: null });
    cut.sent();
    cut.leave();
    cut.fail();
    expect(await cut.end).toEqual({ kind: 'left', sent: true, account: null, failed: true });
    const stopped = play({ isDrained: true, stream: null });
    stopped.sent();
    stopped.leave();
    stopped.shutdown.now = true;
    stopped.beat();
    expect(await stopped.end).toEqual({ kind: 'left', sent: true, account: null, failed: true });
  });
});

describe('a process that has to stop', () => {
  it('tells a stream that has begun, and refuses one that has not', async () => {
    const begun = play();
    begun.head();
    begun.data('one');
    begun.shutdown.now = true;
    begun.beat();
    expect(await begun.end).toMatchObject({ kind: 'stream', ending: 'shutdown', last: Buffer.from('STOPPED') });
    const waiting = play();
    waiting.shutdown.now = true;
    waiting.beat();
    expect(kindOf(await waiting.end)).toBe('shutdown');
    expect(waiting.seen.aborted).toBe(1);
  });
});

describe('faults of our own', () => {
  it('a dispatcher that refuses at once, in either way, ends as a fault', async () => {
    const refused = play({
      dispatch: (handler) =>
        handler.onResponseError(null as never, Object.assign(new Error('closed'), { code: 'UND_ERR_DESTROYED' })),
    });
    expect(await refused.end).toEqual({ kind: 'fault', fault: 'connect' });
    expect(refused.beats.size).toBe(0);
    const thrown = play({
      dispatch() {
        throw new Error('invalid header');
      },
    });
    expect(await thrown.end).toEqual({ kind: 'fault', fault: 'connect' });
  });

  it('an error while reading the stream ends this request alone', async () => {
    const played = play({
      wire: {
        write() {
          throw new Error('a mistake in the reader');
        },
      },
    });
    played.head();
    expect(() => played.data('one')).not.toThrow();
    await expect(played.end).rejects.toThrow('a mistake in the reader');
    expect(played.seen.aborted).toBe(1);
    expect(played.beats.size).toBe(0);
  });

  it('an error in a beat does not reach the timer that all streams share', async () => {
    const played = play({
      wire: {
        get keepAlive(): Uint8Array {
          throw new Error('a mistake in a sign of life');
        },
      },
    });
    expect(() => played.beat(200)).not.toThrow();
    await expect(played.end).rejects.toThrow('sign of life');
    expect(played.seen.aborted).toBe(1);
  });

  it('an error while the budget ends it does not escape either', async () => {
    const played = play({
      wire: {
        stop() {
          throw new Error('a mistake in the ending');
        },
      },
    });
    played.head();
    played.data('one');
    expect(() => played.seen.stopBrake()).not.toThrow();
    await expect(played.end).rejects.toThrow('ending');
  });
});
