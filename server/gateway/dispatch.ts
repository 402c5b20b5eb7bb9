import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/**
 * One exchange with an upstream through an injected dispatcher. It follows no redirect, asks for no compression and
 * retries nothing: what an answer means is decided by the caller.
 */

/** What went wrong on the way; never carries the upstream's own text. */
export type DispatchFault =
  /** Nothing was accepted: another try cannot run anything twice. */
  | 'connect'
  /** No headers within the limit. */
  | 'headers_timeout'
  /** Silence in the middle of the answer. */
  | 'idle_timeout'
  /** The connection ended after the request was sent and before the answer began. */
  | 'dropped'
  /** The connection ended in the middle of the answer. */
  | 'cut'
  /** The answer is larger than any answer of a model. */
  | 'too_large';

export interface DispatchRequest {
  dispatcher: Dispatcher;
  origin: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array;
  headersTimeoutMs: number;
  idleTimeoutMs: number;
}

export interface Receiver {
  /**
   * The upstream's status and headers. Return how the body is wanted: piece by piece, whole up to a number of bytes, or
   * not at all (then `end` follows at once, and the connection is not used again).
   */
  head(status: number, headers: IncomingHttpHeaders): 'pieces' | 'nothing' | number;
  /** A piece of the body. False: hold back until `resume`. */
  piece(bytes: Buffer): boolean;
  /** The body ended as it should; `whole` carries it unless it went out in pieces. */
  end(whole: Buffer): void;
  fault(fault: DispatchFault): void;
}

export interface Exchange {
  /** The request reached the upstream whole, so the upstream may have worked on it. */
  readonly sent: boolean;
  /** A large body has been taken by the system whole: nobody reads the memory it lies in any more. */
  readonly taken: boolean;
  resume(): void;
  /** Ends the exchange; the receiver hears nothing more. */
  abort(): void;
}

/**
 * Below this, what a body takes is not worth the steps that letting go of it needs. Sockets of a dispatcher keep no more
 * than this without saying that they are full.
 */
const largeBodyBytes = 65_536;

/**
 * A dispatcher keeps a buffer that it was given until the answer is over. Contexts are large and streams are long, so
 * that large ones go out of an iterator, which holds them only until then. It is asked for more when the socket is empty
 * again: then the body is `taken`.
 */
function sendable(
  { headers, body }: DispatchRequest,
  taken: () => void,
): Pick<Dispatcher.DispatchOptions, 'headers' | 'body'> {
  if (body.length < largeBodyBytes) return { headers, body };
  let unsent: Uint8Array | null = body;
  const pieces: IterableIterator<Uint8Array> = {
    [Symbol.iterator]: () => pieces,
    next() {
      const value = unsent;
      unsent = null;
      if (value !== null) return { done: false, value };
      taken();
      return { done: true, value: undefined };
    },
  };
  return {
    headers: { ...headers, 'content-length': String(body.length) }, // It takes any iterable; its types leave that out.
    body: pieces as unknown as Uint8Array,
  };
}

const aborted = new Error('exchange ended by the gateway');
const empty = Buffer.alloc(0);

function faultOf(error: Error, connected: boolean, headed: boolean): DispatchFault {
  const code = (error as { code?: string }).code ?? '';
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return 'headers_timeout';
  if (code === 'UND_ERR_BODY_TIMEOUT') return 'idle_timeout';
  if (headed) return 'cut';
  return connected ? 'dropped' : 'connect';
}

export function dispatch(request: DispatchRequest, receiver: Receiver): Exchange {
  let controller: Dispatcher.DispatchController | undefined;
  let connected = false;
  let headed = false;
  let over = false;
  let starting = true;
  let wanted: 'pieces' | 'nothing' | number = 0;
  let pieces: Buffer[] = [];
  let size = 0;

  const exchange: { -readonly [K in keyof Exchange]: Exchange[K] } = {
    sent: false,
    taken: false,
    resume() {
      controller?.resume();
    },
    abort() {
      over = true;
      pieces = [];
      controller?.abort(aborted);
    },
  };

  const finish = (report: () => void): void => {
    if (over) return;
    over = true;
    pieces = [];
    report();
  };

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      connected = true;
      if (over) started.abort(aborted);
    },
    onRequestSent() {
      exchange.sent = true;
    },
    onResponseStart(current, status, headers) {
      // 1xx answers come before the one that counts.
      if (over || status < 200) return;
      headed = true;
      wanted = receiver.head(status, headers);
      if (wanted !== 'nothing') return;
      finish(() => receiver.end(empty));
      current.abort(aborted);
    },
    onResponseData(current, bytes) {
      if (over) return;
      if (wanted === 'pieces') {
        if (!receiver.piece(bytes)) current.pause();
        return;
      }
      size += bytes.length;
      if (wanted === 'nothing' || size > wanted) {
        finish(() => receiver.fault('too_large'));
        current.abort(aborted);
        return;
      }
      pieces.push(bytes);
    },
    onResponseEnd() {
      const [first] = pieces;
      const whole = first === undefined ? empty : pieces.length === 1 ? first : Buffer.concat(pieces, size);
      finish(() => receiver.end(whole));
    },
    onResponseError(_controller, error) {
      const report = (): void => finish(() => receiver.fault(faultOf(error, connected, headed)));
      // A dispatcher that refuses says so before it returns; the receiver must not hear of it before it has the exchange.
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
        ...sendable(request, () => {
          exchange.taken = true;
        }),
        headersTimeout: request.headersTimeoutMs,
        bodyTimeout: request.idleTimeoutMs,
      },
      handler,
    );
  } catch (error) {
    queueMicrotask(() => finish(() => receiver.fault(faultOf(error as Error, false, false))));
  }
  starting = false;

  return exchange;
}
