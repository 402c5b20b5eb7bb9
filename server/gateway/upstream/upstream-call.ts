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
  /** What a connection of its own is made with; absent: any address may be reached. */
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
function createWholeBody() {
  const pieces: Buffer[] = [];
  let length = 0;
  let block: Buffer | null = null;
  let used = 0;
  const closeBlock = (): void => {
    if (block !== null) pieces.push(block.subarray(0, used));
    block = null;
    used = 0;
  };
  return {
    length: () => length,
    add(piece: Buffer): void {
      length += piece.length;
      if (piece.length * 2 >= piece.buffer.byteLength || piece.length >= blockBytes) {
        closeBlock();
        pieces.push(piece);
        return;
      }
      if (block !== null && used + piece.length > block.length) closeBlock();
      block ??= Buffer.allocUnsafeSlow(blockBytes);
      used += piece.copy(block, used);
    },
    whole(): Buffer[] {
      closeBlock();
      return pieces;
    },
  };
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
  let controller: Dispatcher.DispatchController | undefined;
  let connected = false;
  let headed = false;
  let over = false;
  let starting = true;
  let informational = 0;
  let wanted: 'pieces' | 'nothing' | number = 0;
  let body = createWholeBody();

  const call: { -readonly [K in keyof UpstreamCall]: UpstreamCall[K] } = {
    sent: false,
    resume() {
      controller?.resume();
    },
    abort() {
      over = true;
      body = createWholeBody();
      controller?.abort(aborted);
    },
  };

  const finish = (report: () => void): void => {
    if (over) return;
    over = true;
    report();
    body = createWholeBody();
  };

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      connected = true;
      if (over) started.abort(aborted);
    },
    onRequestSent() {
      call.sent = true;
    },
    onResponseStart(current, status, headers) {
      // Every name and value a view of the bytes that came with the head, which a stream would keep to its end.
      current.rawHeaders = null;
      if (over) return;
      // Informational answers (1xx) precede the final one.
      if (status < 200) {
        informational += 1;
        if (informational <= maxInformational) return;
        finish(() => receiver.fault('noise'));
        current.abort(aborted);
        return;
      }
      headed = true;
      wanted = receiver.head(status, headers);
      if (wanted !== 'nothing') return;
      finish(() => receiver.end([]));
      current.abort(aborted);
    },
    onResponseData(current, bytes) {
      if (over) return;
      if (wanted === 'pieces') {
        if (!receiver.piece(bytes)) current.pause();
        return;
      }
      if (wanted === 'nothing' || body.length() + bytes.length > wanted) {
        const arrived = body.whole();
        finish(() => receiver.fault('too_large', arrived));
        current.abort(aborted);
        return;
      }
      body.add(bytes);
      if (!receiver.collected(bytes.length)) current.pause();
    },
    onResponseEnd() {
      finish(() => receiver.end(body.whole()));
    },
    onResponseError(_controller, error) {
      const report = (): void => finish(() => receiver.fault(faultOf(error, connected, headed)));
      // A dispatcher may fail before `dispatch` returns, when the receiver does not have the call yet.
      if (starting) queueMicrotask(report);
      else report();
    },
  };

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
      handler,
    );
  } catch (error) {
    queueMicrotask(() => finish(() => receiver.fault(faultOf(error as Error, false, false))));
  }
  starting = false;

  return call;
}
