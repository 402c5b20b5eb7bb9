import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import type { LentBody } from '../entrance/request-bytes.ts';

/**
 * One call of an upstream through an injected dispatcher. It follows no redirects, requests no compression and does not
 * retry: the caller decides what an answer means.
 */

/** Fault of a call; never contains the upstream's text. */
export type DispatchFault =
  /** No connection: the upstream received nothing of the request. */
  | 'connect'
  /** No headers within the limit. */
  | 'headers_timeout'
  /** Silence in the middle of the answer. */
  | 'idle_timeout'
  /** The connection ended after the request was sent and before the answer began. */
  | 'dropped'
  /** The connection ended in the middle of the answer. */
  | 'cut'
  /** The answer is larger than the maximum of any model. */
  | 'too_large'
  /** Nothing but signs of life, in numbers that no vendor sends. */
  | 'noise';

export interface DispatchRequest {
  dispatcher: Dispatcher;
  /** What a separate connection is made with; absent: any address may be reached. */
  lookup?: LookupFunction;
  origin: string;
  path: string;
  headers: Record<string, string>;
  body: LentBody;
  headersTimeoutMs: number;
  idleTimeoutMs: number;
}

export interface Receiver {
  /**
   * The upstream's status and headers. Returns how to read the body: in pieces, whole up to a number of bytes, or not
   * at all (then `end` follows at once, and the connection is not reused).
   */
  head(status: number, headers: IncomingHttpHeaders): 'pieces' | 'nothing' | number;
  /** A piece of the body. False: read no further until `resume`. */
  piece(bytes: Buffer): boolean;
  /** `bytes` more of a body that is read whole are in memory. False: read no further until `resume`. */
  collected(bytes: number): boolean;
  /** The body is complete; `whole` contains it unless it was read in pieces. */
  end(whole: Buffer[]): void;
  /** `arrived`: what there is of a body that was too large. */
  fault(fault: DispatchFault, arrived?: Buffer[]): void;
}

export interface UpstreamCall {
  /** The whole request was sent, so the upstream may have processed it. */
  readonly sent: boolean;
  resume(): void;
  /** Ends the call; the receiver gets no further events. */
  abort(): void;
}

/**
 * Smaller bodies are passed to the dispatcher whole. A dispatcher's socket buffers at most this much before it reports
 * back-pressure.
 */
const largeBodyBytes = 65_536;

/**
 * A dispatcher keeps a buffer until the answer has ended, which takes long for a stream. A large body is therefore sent
 * from an iterator, whose next value is requested when the socket is empty: then the body is `taken`.
 */
function sendable({ headers, body }: DispatchRequest): Pick<Dispatcher.DispatchOptions, 'headers' | 'body'> {
  const { bytes } = body;
  if (bytes.length < largeBodyBytes) return { headers, body: bytes };
  const pieces = [bytes].values();
  const iterator: IterableIterator<Uint8Array> = {
    [Symbol.iterator]: () => iterator,
    next() {
      const piece = pieces.next();
      if (piece.done === true) body.taken();
      return piece;
    },
  };
  return {
    headers: { ...headers, 'content-length': String(bytes.length) },
    // The dispatcher accepts any iterable, although its types do not say so.
    body: iterator as unknown as Uint8Array,
  };
}

/** Smaller pieces are copied together into blocks of this size. */
const blockBytes = 65_536;

/**
 * Collects a body that is read whole, in the pieces that arrived: joined, a large answer would be in memory twice, and
 * the copy would block the event loop. Small pieces are copied together, because each would keep the memory of the read
 * that it is part of.
 */
class WholeBody {
  length = 0;
  private readonly pieces: Buffer[] = [];
  private block: Buffer | null = null;
  private used = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    if (piece.length * 2 >= piece.buffer.byteLength || piece.length >= blockBytes) {
      this.closeBlock();
      this.pieces.push(piece);
      return;
    }
    if (this.block !== null && this.used + piece.length > this.block.length) this.closeBlock();
    this.block ??= Buffer.allocUnsafeSlow(blockBytes);
    this.used += piece.copy(this.block, this.used);
  }

  whole(): Buffer[] {
    this.closeBlock();
    return this.pieces;
  }

  private closeBlock(): void {
    if (this.block !== null) this.pieces.push(this.block.subarray(0, this.used));
    this.block = null;
    this.used = 0;
  }
}

const aborted = new Error('call ended by the gateway');

/** Informational answers before the final one; each begins the wait for headers again. */
const maxInformational = 100;

function faultOf(error: Error, connected: boolean, headed: boolean): DispatchFault {
  const code = (error as { code?: string }).code ?? '';
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return 'headers_timeout';
  if (code === 'UND_ERR_BODY_TIMEOUT') return 'idle_timeout';
  if (headed) return 'cut';
  return connected ? 'dropped' : 'connect';
}

/** Starts the call; the receiver gets events only after this function has returned. */
export function dispatch(request: DispatchRequest, receiver: Receiver): UpstreamCall {
  const call = new Call(receiver);
  call.start(request);
  return call;
}

/** A class, because a waiting stream would keep a closure for each of its members. */
class Call implements UpstreamCall, Dispatcher.DispatchHandler {
  sent = false;
  private readonly receiver: Receiver;
  private controller: Dispatcher.DispatchController | null = null;
  private headed = false;
  private over = false;
  private starting = true;
  private informational = 0;
  private wanted: ReturnType<Receiver['head']> = 0;
  /** Null: nothing of a body that is read whole. */
  private body: WholeBody | null = null;

  constructor(receiver: Receiver) {
    this.receiver = receiver;
  }

  start(request: DispatchRequest): void {
    try {
      request.dispatcher.dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: 'POST',
          ...sendable(request),
          headersTimeout: request.headersTimeoutMs,
          bodyTimeout: request.idleTimeoutMs,
        },
        this,
      );
    } catch (error) {
      this.failSoon(faultOf(error as Error, false, false));
    }
    this.starting = false;
  }

  resume(): void {
    this.controller?.resume();
  }

  abort(): void {
    this.over = true;
    this.body = null;
    this.controller?.abort(aborted);
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    this.controller = started;
    if (this.over) started.abort(aborted);
  }

  onRequestSent(): void {
    this.sent = true;
  }

  onResponseStart(current: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Every name and value a view of the bytes that came with the head, which a stream would keep to its end.
    current.rawHeaders = null;
    if (this.over) return;
    // Informational answers (1xx) precede the final one.
    if (status < 200) {
      this.informational += 1;
      if (this.informational <= maxInformational) return;
      this.fail('noise');
      current.abort(aborted);
      return;
    }
    this.headed = true;
    this.wanted = this.receiver.head(status, headers);
    if (this.wanted !== 'nothing') return;
    this.finish([]);
    current.abort(aborted);
  }

  onResponseData(current: Dispatcher.DispatchController, bytes: Buffer): void {
    const { wanted, receiver } = this;
    if (this.over) return;
    if (wanted === 'pieces') {
      if (!receiver.piece(bytes)) current.pause();
      return;
    }
    if (wanted === 'nothing' || (this.body?.length ?? 0) + bytes.length > wanted) {
      this.fail('too_large', this.body?.whole() ?? []);
      current.abort(aborted);
      return;
    }
    this.body ??= new WholeBody();
    this.body.add(bytes);
    if (!receiver.collected(bytes.length)) current.pause();
  }

  onResponseEnd(): void {
    this.finish(this.body?.whole() ?? []);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const fault = faultOf(error, this.controller !== null, this.headed);
    // A dispatcher may fail before `dispatch` returns, when the receiver does not have the call yet.
    if (this.starting) this.failSoon(fault);
    else this.fail(fault);
  }

  private finish(whole: Buffer[]): void {
    if (this.over) return;
    this.over = true;
    this.receiver.end(whole);
    this.body = null;
  }

  private fail(fault: DispatchFault, arrived?: Buffer[]): void {
    if (this.over) return;
    this.over = true;
    this.receiver.fault(fault, arrived);
    this.body = null;
  }

  private failSoon(fault: DispatchFault): void {
    queueMicrotask(() => this.fail(fault));
  }
}
