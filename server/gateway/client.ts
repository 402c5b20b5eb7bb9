import type { ServerResponse } from 'node:http';
import { requestIdHeaders } from '../runtime/http.ts';

/**
 * The client's side of one exchange: a response that is written at most once, in whichever way the upstream turns out
 * to answer, and a socket that may vanish at any moment.
 */
export interface Client {
  /** The socket is closed and the answer did not get through. */
  readonly gone: boolean;
  /** The status line of a stream has been sent: a refusal can no longer have a status of its own. */
  readonly streaming: boolean;
  /** Milliseconds (monotonic) of the first byte of content; null before. */
  readonly firstByteAt: number | null;
  /** Milliseconds (monotonic) when something was last handed to the socket. */
  readonly lastWriteAt: number;
  /** Milliseconds (monotonic) since which the socket takes nothing; null when it takes. */
  readonly stalledSince: number | null;
  /** Sends the head of an event stream. */
  startStream(): void;
  /** Sends content. False: the socket is full; wait for `onDrain`. */
  write(bytes: Uint8Array): boolean;
  /** Sends a keep-alive, which is not content. */
  keepAlive(bytes: Uint8Array): void;
  /** Ends a stream. */
  end(): void;
  /** Sends a whole answer. */
  answer(status: number, headers: Record<string, string>, body: Uint8Array | string): void;
  /** Cuts the connection: the answer cannot be completed honestly. */
  destroy(): void;
  onDrain(listener: () => void): void;
  onGone(listener: () => void): void;
}

const streamHead = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

export interface ClientSettings {
  /** How long the last bytes may wait for a client that takes nothing; then it is cut off. */
  stallMs?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

export function createClient(
  response: ServerResponse,
  requestId: string,
  { stallMs = 60_000, now = () => performance.now() }: ClientSettings = {},
): Client {
  let goneListener: (() => void) | undefined;
  let drainListener: (() => void) | undefined;

  // 'close' also comes after a normal end; only an answer that did not finish means that the client has left.
  response.on('close', () => {
    if (response.writableFinished || client.gone) return;
    client.gone = true;
    goneListener?.();
  });
  response.on('error', () => undefined);
  response.on('drain', () => {
    client.stalledSince = null;
    drainListener?.();
  });

  /** What one read of the upstream has brought so far: a vendor's pieces come many at a time, and each write is dear. */
  let unsent: Uint8Array[] = [];

  const flush = (): void => {
    const [first] = unsent;
    if (first === undefined) return;
    const bytes = unsent.length === 1 ? first : Buffer.concat(unsent);
    unsent = [];
    if (!client.gone && !response.write(bytes)) client.stalledSince ??= client.lastWriteAt;
  };

  /** Takes bytes for the socket, which get there before anything else happens. */
  const send = (bytes: Uint8Array): boolean => {
    if (client.gone) return true;
    client.lastWriteAt = now();
    if (unsent.push(bytes) === 1) queueMicrotask(flush);
    return client.stalledSince === null;
  };

  /**
   * Nobody watches an answer once it has been handed over, and a client that never takes it would hold it in memory for
   * ever. The socket's own timer counts only while nothing moves; Node sets it anew when the answer is through.
   */
  const boundTheRest = (): void => {
    if (response.writableLength > 0) response.socket?.setTimeout(stallMs);
  };

  // Plain members, not getters: an object with getters of its own takes ten times the memory, for as long as it streams.
  const client: { -readonly [K in keyof Client]: Client[K] } = {
    gone: response.destroyed,
    streaming: false,
    firstByteAt: null,
    lastWriteAt: now(),
    stalledSince: null,
    startStream() {
      if (client.streaming || client.gone) return;
      client.streaming = true;
      client.lastWriteAt = now();
      response.writeHead(200, { ...streamHead, ...requestIdHeaders(requestId) });
      response.flushHeaders();
    },
    write(bytes) {
      client.firstByteAt ??= now();
      return send(bytes);
    },
    keepAlive(bytes) {
      // A socket that is full needs no sign of life, and buffering more would only grow memory.
      if (client.stalledSince === null) send(bytes);
      else client.lastWriteAt = now();
    },
    end() {
      if (client.gone) return;
      flush();
      response.end();
      boundTheRest();
    },
    answer(status, headers, body) {
      if (client.gone) return;
      client.firstByteAt ??= now();
      const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
      response.writeHead(status, { ...headers, ...requestIdHeaders(requestId), 'content-length': String(length) });
      response.end(body);
      boundTheRest();
    },
    destroy() {
      response.destroy();
    },
    onDrain(listener) {
      drainListener = listener;
    },
    onGone(listener) {
      goneListener = listener;
      if (client.gone) listener();
    },
  };
  return client;
}
