import type { IncomingHttpHeaders } from 'node:http';
import type { Outcome } from '../../core/outcome.ts';
import type { ReportedUsage, TokenPools } from '../../core/tokens.ts';
import type { Brake, StopReason } from '../../metering/brake.ts';
import { type Leaving, type UsageWait, waitForUsage, waitOf } from '../../metering/leaving.ts';
import type { GatewayTimeouts } from '../../runtime/config.ts';
import type { StreamEnd, StreamError, WholePiece, WireStream } from '../../wire/protocol.ts';
import type { Client } from '../entrance/client.ts';
import type { AnswerShare } from '../load/answer-room.ts';
import { type AnswerTurns, maxPartBytes, workOf } from '../load/answer-turns.ts';
import type { Pulse } from '../load/pulse.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import {
  type AttemptEnding,
  type AttemptEvent,
  type AttemptState,
  attemptTable,
  type Closing,
} from './attempt-states.ts';
import { bytesWithoutSecret, textWithoutSecret } from './secret.ts';
import {
  type DispatchFault,
  type DispatchRequest,
  dispatch,
  type Receiver,
  type UpstreamCall,
} from './upstream-call.ts';

/**
 * One try at one upstream: bytes are relayed and counted until one of the two sides is done. `attempt-states.ts` has
 * the transitions; this file raises the events and executes the table's cells. It neither settles nor writes refusals.
 */

/** The result of one try. */
export type AttemptEnd =
  /** A whole 2xx answer. `clientLeft`: it was read to its end only for its usage. */
  | { kind: 'whole'; body: Uint8Array[]; clientLeft: boolean }
  /** A stream that relayed content, or arrived whole. `last` is not sent yet: the settlement comes first. */
  | { kind: 'stream'; ending: Outcome; account: ReportedUsage; last: Uint8Array }
  /** The upstream answered with an error status; nothing was relayed. */
  | { kind: 'status'; status: number; headers: IncomingHttpHeaders; body: Buffer }
  /** The upstream's stream began with an error event; nothing was relayed. */
  | { kind: 'error_event'; error: StreamError; account: ReportedUsage }
  /** The call failed before anything was relayed. `arrived`: what there is of an answer that was too large. */
  | { kind: 'fault'; fault: DispatchFault | 'unreadable'; arrived?: Uint8Array[] }
  /** The brake ended a stream without visible output: the model's reasoning was hidden. */
  | { kind: 'stopped'; reason: StopReason; account: ReportedUsage }
  /**
   * The client left before anything was relayed. `sent`: the upstream had the whole request. `account`: what a stream had
   * reported. `failed`: the upstream or this process failed before its answer came.
   */
  | { kind: 'left'; sent: boolean; account: ReportedUsage | null; failed: boolean }
  /** This process had to stop before anything was relayed. */
  | { kind: 'shutdown' };

export interface AttemptParts {
  request: DispatchRequest;
  /** The way to the upstream; absent: a call over HTTP. */
  send?: (request: DispatchRequest, receiver: Receiver) => UpstreamCall;
  /** The vendor's key of the request. It is removed from the vendor's error texts. */
  secret: string | null;
  /** Null: the answer is not streamed. */
  stream: WireStream | null;
  /** The upstream's events in which an answer would have come that came whole; null when it is none. */
  eventsOfWhole: (body: Uint8Array) => WholeEvents | null;
  client: Client;
  /** Maximum size of an unstreamed answer. */
  maxReplyBytes: number;
  /** Counts the bytes of an unstreamed answer. */
  share: AnswerShare;
  refusals: Refusals;
  /** Bounds the work on streams in one turn of the event loop. */
  turns: AnswerTurns;
  pulse: Pulse;
  timeouts: GatewayTimeouts;
  /** Every answer is drained to its end after the client left. */
  isDrained: boolean;
  /** What is unknown of the cost: a wait for it that is worth while. */
  leaving: Leaving;
  /** Monotonic milliseconds of the request's first dispatch, from which the delay of the status line counts. */
  dispatchedAt: number;
  /** Called once, before the first content is relayed: no other try follows. */
  onContent(): void;
  /** The usage that a stream is charged for when the budget ends it here; the client gets the same figures. */
  usageSoFar(account: ReportedUsage): TokenPools;
  /**
   * Builds the spend brake; `stop` ends the stream for lack of budget, `resume` ends a wait for the ledger. Not called
   * for unstreamed answers.
   */
  brake(stop: (reason: StopReason) => void, resume: () => void): Brake;
  /** `now` turns true when the process must end at once. */
  shutdown: { readonly now: boolean };
}

/** A whole answer as the events in which it would have come. */
export interface WholeEvents {
  /** At least one; the last one ends the answer. */
  pieces: readonly WholePiece[];
  /** The answer's complete usage; null: it reports none. */
  usage: TokenPools | null;
}

const maxErrorBytes = 1_048_576;
/**
 * How long an upstream may keep its connection open after the end of its answer, and how long a finished answer is
 * drained for its usage after the client left. The pulse adds up to a quarter of a second.
 */
const lingerMs = 700;
/**
 * Bytes of a stream that are buffered while the ledger is asked for more budget, before the upstream is paused: pausing
 * after every event makes the dispatcher join and parse its buffered bytes again.
 */
const maxHeldBytes = 262_144;
/**
 * Bodies that are read as event streams: some servers name no type, or that of any text.
 * https://github.com/nearai/private-ml-sdk/pull/20
 */
const streamType = /^(?:text\/(?:event-stream|plain)\b|application\/octet-stream\b|$)/i;
/** Longest answer that is made a stream here, in one turn of the event loop. */
const maxWholeBytes = 8_388_608;
/** Answers that are no event streams, although the request asked for one. */
const wholeType = /^application\/json\b/i;
/**
 * Noise (see `WireStream`) after which an upstream is cut off, and what is added with each beat of the pulse: some vendors send an
 * empty event for each token of hidden reasoning, which come no faster; pings of a slow model come every few seconds.
 */
const maxNoise = 50_000;
const noisePerBeat = 500;
/**
 * When signs of life go to a client that has ended its side of the connection, in milliseconds from then: one that has left resets the
 * connection, and the next of them fails. So it is noticed a round trip later, wherever it is.
 */
const probesMs = [0, 30, 100, 250, 1_000];
/** How long a stream may go on without content, as a multiple of the time for an answer that is not streamed. */
const thinkingReplies = 3;
const nothing = new Uint8Array(0);

/** How much of a whole answer has been relayed, the next piece included: it is not relayed before it is paid for. */
interface WholeProgress extends WholeEvents {
  next: number;
  weight: number;
  totalWeight: number;
}

/** Data of an event, which `attempt-states.ts` does not need. */
interface Details {
  bytes?: Uint8Array;
  whole?: Buffer[];
  fault?: DispatchFault | 'unreadable';
}

/** Rejects only for an internal fault; the upstream call has ended then, too. */
export function attempt(parts: AttemptParts): Promise<AttemptEnd> {
  return new Promise((resolve, reject) => {
    new Attempt(parts, resolve, reject).start();
  });
}

class Attempt implements Receiver {
  private readonly parts: AttemptParts;
  private readonly resolve: (end: AttemptEnd) => void;
  private readonly reject: (error: Error) => void;
  private readonly brake: Brake | null;
  private call: UpstreamCall = { sent: false, resume: () => undefined, abort: () => undefined };
  private leavePulse: () => void = () => undefined;
  private state: AttemptState = 'waiting';
  private status = 0;
  private headers: IncomingHttpHeaders = {};
  /** The body is an event stream, read by `stream`. */
  private isStreaming = false;
  private callEnded = false;
  private drainUntil = Number.POSITIVE_INFINITY;
  /** How the answer is read on after its client left. Null: the client is there. */
  private usageWait: UsageWait | null = null;
  /** When a body that is read whole must have ended: a blank now and then is no silence. */
  private wholeUntil = Number.POSITIVE_INFINITY;
  /** Another turn of the event loop is waited for. */
  private isTurnDue = false;
  /** Content at the last beat, and since when no more has come. */
  private contentPieces = 0;
  private contentAt = performance.now();
  private noiseAllowed = maxNoise;
  private probes: NodeJS.Timeout[] = [];
  /** Pieces that arrived while the brake or the turn waited, and the end of the call, if it arrived too. */
  private held: Buffer[] = [];
  private heldBytes = 0;
  private heldEnd: (() => void) | null = null;
  /** The whole answer that is relayed as a stream; null: there is none. */
  private whole: WholeProgress | null = null;

  constructor(parts: AttemptParts, resolve: (end: AttemptEnd) => void, reject: (error: Error) => void) {
    this.parts = parts;
    this.resolve = resolve;
    this.reject = reject;
    this.brake =
      parts.stream === null
        ? null
        : parts.brake(
            (reason) => {
              const event = reason === 'budget' ? 'budget_spent' : 'budget_unknown';
              this.guarded(() => this.happen(event), false);
            },
            () => this.guarded(() => this.readOn(), undefined),
          );
  }

  start(): void {
    const { client, pulse, request, share, send = dispatch } = this.parts;
    this.call = send(request, this);
    this.leavePulse = pulse.join((now) => this.guarded(() => this.beat(now), undefined));
    share.onRoom(() => this.call.resume());
    client.onDrain(() => this.guarded(() => this.readOn(), undefined));
    client.onGone(() => this.guarded(() => this.clientLeft(), undefined));
    if (this.parts.stream !== null) client.onHalfClosed(() => this.probe());
  }

  /**
   * Everything runs in callbacks of sockets and timers, where an error would end the process or be attributed to the
   * upstream: here it ends only this request.
   */
  private guarded<T>(work: () => T, otherwise: T): T {
    try {
      return work();
    } catch (error) {
      this.failed(error);
      return otherwise;
    }
  }

  private failed(error: unknown): void {
    if (this.state === 'ended') return;
    this.detach();
    this.call.abort();
    this.reject(error instanceof Error ? error : new Error('a thrown value that is no error', { cause: error }));
  }

  private detach(): void {
    const { client, share } = this.parts;
    this.state = 'ended';
    this.held = [];
    this.heldEnd = null;
    this.leavePulse();
    share.onRoom(() => undefined);
    client.onDrain(() => undefined);
    client.onGone(() => undefined);
    client.onHalfClosed(() => undefined);
    this.probes.forEach(clearTimeout);
  }

  /** Executes the table's cell for this event. True: write the pending bytes to the client now. */
  private happen(event: AttemptEvent, details: Details = {}): boolean {
    const cell = attemptTable[this.state][event];
    if (cell === null) throw new Error(`the event ${event} cannot happen while ${this.state}`);
    if (this.state === 'ended') return false;
    if (event === 'content' && (this.state === 'waiting' || this.state === 'draining_unseen')) this.parts.onContent();
    if (cell.end === undefined) this.state = cell.next;
    else this.finish(cell.end, details);
    if (cell.exchange === 'abort') this.call.abort();
    else if (cell.exchange === 'linger') this.linger();
    else if (cell.exchange === 'drain') this.readOn();
    return cell.relay === true;
  }

  private finish(ending: AttemptEnding, details: Details): void {
    const end = this.endOf(ending, details);
    this.detach();
    this.resolve(end);
  }

  private endOf(ending: AttemptEnding, { bytes = nothing, whole = [], fault = 'cut' }: Details): AttemptEnd {
    const { stream, secret } = this.parts;
    switch (ending.kind) {
      case 'stream': {
        if (stream === null) throw new Error('an answer that is not streamed ended as a stream');
        const account = this.accountOf(stream, true);
        return {
          kind: 'stream',
          ending: ending.outcome,
          account,
          last: this.lastBytes(ending.closing, bytes, account),
        };
      }
      case 'stopped':
        if (stream === null) throw new Error('an answer that is not streamed was stopped');
        return { kind: 'stopped', reason: ending.reason, account: this.accountOf(stream, true) };
      case 'whole':
        return { kind: 'whole', body: whole, clientLeft: ending.clientLeft };
      case 'status': {
        const body = Buffer.from(bytesWithoutSecret(secret, Buffer.concat(whole)));
        return { kind: 'status', status: this.status, headers: this.headers, body };
      }
      case 'error_event': {
        if (stream === null || stream.error === null) throw new Error('a stream without an error event ended with one');
        const { error } = stream;
        return {
          kind: 'error_event',
          error: { ...error, message: textWithoutSecret(secret, error.message) },
          account: stream.account(),
        };
      }
      case 'fault':
        return fault === 'too_large' ? { kind: 'fault', fault, arrived: whole } : { kind: 'fault', fault };
      case 'left': {
        const account = stream === null ? null : this.accountOf(stream, true);
        return { kind: 'left', sent: this.call.sent, account, failed: ending.failed === true };
      }
      case 'shutdown':
        return { kind: 'shutdown' };
    }
  }

  /** The client's last bytes: the pending ones, then the ending in the protocol's format. */
  private lastBytes(closing: Closing, bytes: Uint8Array, account: ReportedUsage): Uint8Array {
    const { stream, refusals, secret, usageSoFar } = this.parts;
    const withEnd = (end: StreamEnd): Uint8Array => join(bytes, stream?.stop(end) ?? nothing);
    switch (closing) {
      case 'nothing':
        return nothing;
      case 'as_received':
        return stream?.state === 'failed' ? bytesWithoutSecret(secret, bytes) : bytes;
      case 'cut':
        return withEnd(streamError(refusals.upstreamCut(), 'api_error'));
      case 'stalled':
        return withEnd(streamError(refusals.upstreamStalled(), 'timeout_error'));
      case 'noise':
        return withEnd(streamError(refusals.upstreamError(), 'api_error'));
      case 'stopping':
        return withEnd(streamError(refusals.draining(), 'overloaded_error'));
      case 'budget_unknown':
        return withEnd(streamError(refusals.budgetUnknown(), 'api_error'));
      case 'budget':
        return withEnd({ reason: 'budget', usage: usageSoFar(account) });
    }
  }

  /** Gives a completed call `lingerMs` to end on its own, so that its connection stays usable; then aborts it. */
  private linger(): void {
    const until = performance.now() + lingerMs;
    const stop = this.parts.pulse.join((now) => {
      if (!this.callEnded && now < until) return;
      stop();
      if (!this.callEnded) this.call.abort();
    });
  }

  /** As `guarded`, without a closure: it is called for every piece of every stream. */
  piece(bytes: Buffer): boolean {
    try {
      return this.takePiece(bytes);
    } catch (error) {
      this.failed(error);
      return true;
    }
  }

  head(status: number, headers: IncomingHttpHeaders): 'pieces' | 'nothing' | number {
    return this.guarded(() => this.readHead(status, headers), 'nothing');
  }

  collected(bytes: number): boolean {
    return this.guarded(() => this.parts.share.collect(bytes), true);
  }

  end(whole: Buffer[]): void {
    this.atEnd(() => this.upstreamEnded(whole, null));
  }

  fault(fault: DispatchFault, arrived: Buffer[] = []): void {
    this.atEnd(() => this.upstreamEnded(arrived, fault));
  }

  private atEnd(report: () => void): void {
    this.callEnded = true;
    if (this.state === 'ended') return;
    if (this.held.length > 0) this.heldEnd = report;
    else this.guarded(report, undefined);
  }

  private readHead(status: number, headers: IncomingHttpHeaders): 'pieces' | 'nothing' | number {
    this.status = status;
    this.headers = headers;
    // No encoding was requested, and a small body can decompress to any size: it is not read.
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') return 'nothing';
    const { stream, maxReplyBytes, timeouts } = this.parts;
    this.wholeUntil = performance.now() + (status >= 300 ? timeouts.idleMs : timeouts.replyMs);
    if (status >= 300) return maxErrorBytes;
    if (stream === null) return maxReplyBytes;
    const type = headers['content-type'] ?? '';
    if (wholeType.test(type)) return maxWholeBytes;
    this.isStreaming = streamType.test(type);
    if (this.isStreaming) this.wholeUntil = Number.POSITIVE_INFINITY;
    return this.isStreaming ? 'pieces' : 'nothing';
  }

  private takePiece(bytes: Buffer): boolean {
    if (this.state === 'ended') return true;
    const isTaken = this.held.length === 0 && this.brake?.waiting !== true && this.hasTurn();
    if (isTaken && bytes.length <= maxPartBytes) return this.take(bytes);
    for (let from = 0; from < bytes.length; from += maxPartBytes)
      this.held.push(bytes.subarray(from, from + maxPartBytes));
    this.heldBytes += bytes.length;
    if (isTaken) this.relayHeld();
    const isTakenOn = this.isDraining() || this.parts.client.stalledSince === null;
    return isTakenOn && !this.isTurnDue && this.heldBytes < maxHeldBytes;
  }

  /** Whether there is work left in this turn of the event loop. If not, the stream goes on in a later one. */
  private hasTurn(): boolean {
    const { turns } = this.parts;
    if (this.isTurnDue || turns.isOpen) return !this.isTurnDue;
    this.isTurnDue = true;
    turns.next(() => {
      this.isTurnDue = false;
      this.guarded(() => this.readOn(), undefined);
    });
    return false;
  }

  /** Relays one piece. False: the client, the brake or the turn pauses the stream. */
  private take(bytes: Buffer): boolean {
    const { stream, client, turns } = this.parts;
    if (stream === null) return true;
    const before = stream.noise;
    const out = stream.write(bytes);
    turns.spend(workOf(bytes.length, stream.noise - before));
    const { whole } = this;
    if (whole !== null) {
      whole.next += 1;
      whole.weight += whole.pieces[whole.next]?.weight ?? 0;
    }
    const { state } = stream;
    const isUnseen = this.state === 'waiting' || this.state === 'draining_unseen';
    if (state === 'terminated') this.happen('terminated', { bytes: out });
    else if (stream.error !== null && isUnseen && out.length === 0) this.happen('failed_at_once');
    else if (state === 'failed' || (stream.error !== null && isUnseen)) this.happen('failed', { bytes: out });
    else if (out.length > 0) {
      let open = true;
      if (this.happen('content')) {
        client.startStream();
        open = client.write(out);
      }
      // An answer does not grow after its finish reason, so there is nothing left to stop.
      if (state !== 'finished') this.brake?.check(this.accountOf(stream), performance.now());
      if (this.isDraining()) this.endDrain(stream);
      if (stream.noise > this.noiseAllowed) this.noise();
      return open && this.brake?.waiting !== true && this.hasTurn();
    } else if (stream.noise > this.noiseAllowed) this.noise();
    return this.hasEnded() || this.hasTurn();
  }

  private noise(): void {
    if (!this.hasEnded()) this.happen('noise', { fault: 'noise' });
  }

  private endDrain(stream: WireStream): void {
    if (stream.state !== 'finished' && this.usageWait?.isOver(this.accountOf(stream)) === true)
      this.happen('drain_expired');
  }

  private mayRead(): boolean {
    if (this.state === 'ended' || this.brake?.waiting === true) return false;
    return (this.isDraining() || this.parts.client.stalledSince === null) && this.hasTurn();
  }

  private hasEnded(): boolean {
    return this.state === 'ended';
  }

  private isDraining(): boolean {
    return this.state === 'draining' || this.state === 'draining_unseen';
  }

  /** Relays the buffered pieces, then resumes the upstream. */
  private readOn(): void {
    this.relayHeld();
    if (this.held.length > 0 || !this.mayRead()) return;
    const { heldEnd } = this;
    this.heldEnd = null;
    if (heldEnd === null) this.call.resume();
    else heldEnd();
  }

  private relayHeld(): void {
    let next = 0;
    for (let piece = this.held[next]; piece !== undefined && this.mayRead(); piece = this.held[next]) {
      next += 1;
      this.heldBytes -= piece.length;
      this.take(piece);
    }
    this.held = this.held.slice(next);
  }

  /** The upstream call has ended, regularly (`fault` is null) or not. */
  private upstreamEnded(whole: Buffer[], fault: DispatchFault | null): void {
    const { stream } = this.parts;
    if (this.isStreaming && stream !== null) this.streamEnded(stream, fault);
    // An error status needs no body.
    else if (this.status >= 300) this.happen('status', { whole });
    else if (fault !== null) this.happen('fault', { fault, whole });
    else if (stream !== null) this.wholeInsteadOfStream(stream, whole);
    else this.happen('whole', { whole });
  }

  /** Relays a whole answer as the stream that was asked for, piece by piece under the brake. */
  private wholeInsteadOfStream(stream: WireStream, whole: Buffer[]): void {
    const events = this.parts.eventsOfWhole(Buffer.concat(whole));
    if (events === null) return void this.happen('fault', { fault: 'unreadable' });
    const { pieces } = events;
    const totalWeight = pieces.reduce((sum, { weight }) => sum + weight, 0);
    this.whole = { ...events, next: 0, weight: pieces[0]?.weight ?? 0, totalWeight };
    this.wholeUntil = Number.POSITIVE_INFINITY;
    this.held = pieces.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    this.heldEnd = () => this.streamEnded(stream, null);
    this.readOn();
  }

  /**
   * What the stream has reported. Of a whole answer the usage is known before its content: every piece counts with its
   * share of the reported output, which also holds where texts have more tokens than an estimate, or reasoning is hidden.
   * `isEnd`: for the settlement of what was relayed, which is a part of the answer.
   */
  private accountOf(stream: WireStream, isEnd = false): ReportedUsage {
    const account = stream.account();
    const { whole } = this;
    if (whole === null || whole.usage === null || stream.state === 'terminated') return account;
    const { usage, weight, totalWeight } = whole;
    const output = totalWeight === 0 ? usage.output : Math.ceil((usage.output * weight) / totalWeight);
    return { ...account, usage: { ...usage, output }, partial: isEnd };
  }

  private streamEnded(stream: WireStream, fault: DispatchFault | null): void {
    const bytes = stream.end();
    const isUnseen = (this.state === 'waiting' || this.state === 'draining_unseen') && bytes.length === 0;
    if (stream.error !== null && isUnseen) this.happen('failed_at_once');
    else if (stream.state === 'terminated') this.happen('terminated', { bytes });
    else if (stream.state === 'failed' || stream.error !== null) this.happen('failed', { bytes });
    else if (stream.state === 'finished') this.happen('unterminated', { bytes });
    else if (isUnseen) this.happen('fault', { fault: fault ?? 'cut' });
    else this.happen(fault === 'idle_timeout' ? 'stalled' : 'cut', { bytes });
  }

  /** The client has ended its side: signs of life tell whether it has left. */
  private probe(): void {
    const { client, stream } = this.parts;
    this.probes = probesMs.map((afterMs) =>
      setTimeout(() => {
        if (this.hasEnded() || this.isDraining() || stream === null) return;
        client.startStream();
        client.keepAlive(stream.keepAlive);
      }, afterMs).unref(),
    );
  }

  private clientLeft(): void {
    if (this.hasEnded()) return;
    const now = performance.now();
    const wait = this.call.sent ? this.waitAt(now) : waitOf(0);
    if (this.hasEnded()) return;
    this.brake?.clientLeft();
    this.usageWait = wait;
    this.drainUntil = now + wait.ms;
    this.happen(wait.ms > 0 ? 'left_to_drain' : 'left');
  }

  private waitAt(now: number): UsageWait {
    const { stream, isDrained, leaving, timeouts } = this.parts;
    if (isDrained) return waitOf(stream === null ? timeouts.replyMs : timeouts.leftMs);
    const times = { ...timeouts, lingerMs };
    if (stream === null) return waitForUsage(leaving, null, times);
    const account = this.accountOf(stream);
    const isFinished = stream.state === 'finished';
    if (!isFinished) this.brake?.check(account, now);
    return waitForUsage(leaving, { account, isFinished, hidesReasoning: (this.brake?.hiddenTokens ?? 0) > 0 }, times);
  }

  /** Checks silence, stalls and deadlines a few times a second. */
  private beat(now: number): void {
    const { client, stream, timeouts, shutdown, dispatchedAt } = this.parts;
    if (shutdown.now) return void this.happen('shutdown');
    this.noiseAllowed += noisePerBeat;
    if (now > this.wholeUntil) {
      this.call.abort();
      return this.upstreamEnded([], 'idle_timeout');
    }
    if (stream !== null) {
      const account = this.accountOf(stream);
      // Hidden reasoning costs, too, so silence is checked.
      if (stream.state !== 'finished')
        this.brake?.check(account, now, this.isDraining() || client.stalledSince === null);
      if (this.hasEnded() || this.isWithoutContent(account, now)) return;
    }
    if (this.isDraining()) return void (now > this.drainUntil && this.happen('drain_expired'));
    if (client.stalledSince !== null && now - client.stalledSince > timeouts.clientStallMs) return client.destroy();
    if (stream === null) return;
    if (client.streaming) {
      if (now - client.lastWriteAt > timeouts.keepAliveMs) client.keepAlive(stream.keepAlive);
    } else if (now - dispatchedAt > timeouts.firstEventMs) {
      client.startStream();
      client.keepAlive(stream.keepAlive);
    }
  }

  /** Ends a stream of nothing but signs of life: a vendor that lives and has lost the request sends them for ever. */
  private isWithoutContent({ outputPieces }: ReportedUsage, now: number): boolean {
    if (!this.isStreaming || outputPieces !== this.contentPieces) {
      this.contentPieces = outputPieces;
      this.contentAt = now;
    }
    if (now - this.contentAt <= thinkingReplies * this.parts.timeouts.replyMs) return false;
    this.call.abort();
    this.upstreamEnded([], 'idle_timeout');
    return true;
  }
}

/** Converts a refusal to the end of a stream whose status line was sent. */
function streamError({ status, code, message }: Refusal, type: string): StreamEnd {
  return { reason: 'upstream', status, type, code, message };
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  return second.length === 0 ? first : Buffer.concat([first, second]);
}
