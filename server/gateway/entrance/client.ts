import type { ServerResponse } from 'node:http';
import { halfClosed, isHalfClosed } from '../../runtime/half-close.ts';
import { requestIdHeaders } from '../../runtime/http.ts';
import { bytesOf } from '../load/answer-queue.ts';
import { createStreamBody } from './stream-body.ts';

/**
 * The client's side of one request: a response that is written at most once, streamed or whole, on a socket that may
 * close at any moment.
 */
export interface Client {
  /** The socket closed before the answer was complete. */
  readonly gone: boolean;
  /** The status line of a stream was sent: a refusal can no longer have its own status. */
  readonly streaming: boolean;
  /** Milliseconds (monotonic) of the first byte of content; null before. */
  readonly firstByteAt: number | null;
  /** Milliseconds (monotonic) of the last write to the socket. */
  readonly lastWriteAt: number;
  /** Milliseconds (monotonic) since which the socket has been full; null when it is not. */
  readonly stalledSince: number | null;
  /** Headers that an answer of 200 carries besides its own. */
  more: Readonly<Record<string, string>>;
  /** Sends the head of an event stream. */
  startStream(): void;
  /** Sends content. False: the socket is full; wait for `onDrain`. */
  write(bytes: Uint8Array): boolean;
  /** Sends a keep-alive, which is not content. */
  keepAlive(bytes: Uint8Array): void;
  /** Ends a stream. */
  end(): void;
  /** Sends a whole answer. A body in pieces goes out as the client takes it, and the list is emptied on the way. */
  answer(status: number, headers: Record<string, string>, body: Uint8Array[] | string): void;
  /** Destroys the connection: the answer cannot be completed correctly. */
  destroy(): void;
  /**
   * Null: the system has every byte that was sent. Otherwise resolves when it has, or when the client is disconnected.
   */
  flushed(): Promise<void> | null;
  onDrain(listener: () => void): void;
  onGone(listener: () => void): void;
  /** The client has ended its side of the connection: it reads on, or has left, which the next writes tell. */
  onHalfClosed(listener: () => void): void;
}

const streamHead = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Minimum average rate at which a client must read the last bytes. */
const minBytesPerSecond = 65_536;

export interface ClientSettings {
  /** How long the last bytes may wait for a client that reads nothing; then it is disconnected. */
  stallMs?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/** Writes a body in pieces as the socket takes them, and drops its references to those that are written. */
function createBodyWriter(response: ServerResponse) {
  let rest: Uint8Array[] | null = null;
  const writer = {
    /** Bytes that the socket has not been given yet. */
    bytes: 0,
    write(pieces: Uint8Array[]): void {
      rest = pieces;
      writer.bytes = bytesOf(pieces);
      writer.goOn();
    },
    goOn(): void {
      if (rest === null) return;
      let next = 0;
      for (let piece = rest[next]; piece !== undefined; piece = rest[next]) {
        next += 1;
        writer.bytes -= piece.length;
        if (!response.write(piece)) break;
      }
      rest.splice(0, next);
      if (rest.length > 0) return;
      rest = null;
      response.end();
    },
    drop(): void {
      if (rest !== null) rest.length = 0;
      rest = null;
      writer.bytes = 0;
    },
  };
  return writer;
}

export function createClient(
  response: ServerResponse,
  requestId: string,
  { stallMs = 60_000, now = () => performance.now() }: ClientSettings = {},
): Client {
  let goneListener: (() => void) | undefined;
  let drainListener: (() => void) | undefined;
  let halfClosedListener: (() => void) | undefined;

  // 'close' also follows a normal end: the client has left only if the answer is unfinished.
  response.on('close', () => {
    if (response.writableFinished || client.gone) return;
    client.gone = true;
    body.drop();
    goneListener?.();
  });
  response.on('error', () => undefined);
  response.on(halfClosed, () => halfClosedListener?.());
  const drained = (): void => {
    client.stalledSince = null;
    body.goOn();
    drainListener?.();
  };
  response.on('drain', drained);

  const stream = createStreamBody(response, drained);

  /** What one upstream read comes to becomes one write: writes are most of what a stream costs. */
  const flush = (): void => {
    if (client.gone) stream.drop();
    else if (!stream.flush()) client.stalledSince ??= client.lastWriteAt;
  };

  /** Queues bytes, which are written before the next turn of the event loop. */
  const send = (bytes: Uint8Array, at: number): boolean => {
    if (client.gone) return true;
    client.lastWriteAt = at;
    if (stream.add(bytes)) process.nextTick(flush);
    return client.stalledSince === null;
  };

  const body = createBodyWriter(response);

  /**
   * Disconnects a client that does not read the rest of its answer: after `stallMs` without progress (the socket's
   * timer, which Node resets after the answer), or when its average rate is below the minimum.
   */
  const boundTheRest = (): void => {
    const bytes = response.writableLength + body.bytes;
    if (bytes === 0) return;
    response.socket?.setTimeout(stallMs);
    const giveUp = setTimeout(() => response.destroy(), stallMs + (bytes / minBytesPerSecond) * 1_000);
    giveUp.unref();
    response.once('close', () => clearTimeout(giveUp));
  };

  // Plain members: an object with its own getters takes ten times the memory while it streams.
  const client: { -readonly [K in keyof Client]: Client[K] } = {
    gone: response.destroyed,
    streaming: false,
    firstByteAt: null,
    lastWriteAt: now(),
    stalledSince: null,
    more: {},
    startStream() {
      if (client.streaming || client.gone) return;
      client.streaming = true;
      client.lastWriteAt = now();
      response.writeHead(200, { ...streamHead, ...client.more, ...requestIdHeaders(requestId) });
      stream.begin();
      process.nextTick(flush);
    },
    write(bytes) {
      const at = now();
      client.firstByteAt ??= at;
      return send(bytes, at);
    },
    keepAlive(bytes) {
      // A full socket needs no keep-alive, and buffering more would only grow memory.
      if (client.stalledSince === null) send(bytes, now());
      else client.lastWriteAt = now();
    },
    end() {
      if (client.gone) return;
      stream.end();
      boundTheRest();
    },
    answer(status, headers, content) {
      if (client.gone) return;
      client.firstByteAt ??= now();
      const length = typeof content === 'string' ? Buffer.byteLength(content) : bytesOf(content);
      response.writeHead(status, { ...headers, ...requestIdHeaders(requestId), 'content-length': String(length) });
      if (typeof content === 'string') response.end(content);
      else body.write(content);
      boundTheRest();
    },
    destroy() {
      response.destroy();
    },
    flushed() {
      if (client.gone || response.writableFinished || response.writableLength + body.bytes === 0) return null;
      return new Promise((resolve) => {
        response.once('finish', resolve);
        response.once('close', resolve);
      });
    },
    onDrain(listener) {
      drainListener = listener;
    },
    onGone(listener) {
      goneListener = listener;
      if (client.gone) listener();
    },
    onHalfClosed(listener) {
      halfClosedListener = listener;
      if (isHalfClosed(response)) listener();
    },
  };
  return client;
}
