import type { ServerResponse } from 'node:http';
import { halfClosed, isHalfClosed } from '../../runtime/half-close.ts';
import { requestIdHeaders } from '../../runtime/http.ts';
import { bytesOf } from '../load/answer-queue.ts';
import { createStreamBody, type StreamBody } from './stream-body.ts';

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

export function createClient(
  response: ServerResponse,
  requestId: string,
  { stallMs = 60_000, now = () => performance.now() }: ClientSettings = {},
): Client {
  return new ResponseClient(response, requestId, stallMs, now);
}

/** A class, because a waiting stream would keep a closure for each of its members. */
class ResponseClient implements Client {
  gone: boolean;
  streaming = false;
  firstByteAt: number | null = null;
  lastWriteAt: number;
  stalledSince: number | null = null;
  more: Readonly<Record<string, string>> = {};
  private readonly response: ServerResponse;
  private readonly requestId: string;
  private readonly stallMs: number;
  private readonly now: () => number;
  private readonly stream: StreamBody;
  /** What the socket has not been given yet of a whole answer; null: nothing. */
  private rest: Uint8Array[] | null = null;
  private restBytes = 0;
  private goneListener: (() => void) | undefined;
  private drainListener: (() => void) | undefined;
  private halfClosedListener: (() => void) | undefined;

  constructor(response: ServerResponse, requestId: string, stallMs: number, now: () => number) {
    this.response = response;
    this.requestId = requestId;
    this.stallMs = stallMs;
    this.now = now;
    this.gone = response.destroyed;
    this.lastWriteAt = now();
    const drained = (): void => this.drained();
    this.stream = createStreamBody(response, drained);
    response.on('close', () => this.closed());
    response.on('error', ignore);
    response.on(halfClosed, () => this.halfClosedListener?.());
    response.on('drain', drained);
  }

  /** 'close' also follows a normal end: the client has left only if the answer is unfinished. */
  private closed(): void {
    if (this.response.writableFinished || this.gone) return;
    this.gone = true;
    if (this.rest !== null) this.rest.length = 0;
    this.rest = null;
    this.restBytes = 0;
    this.goneListener?.();
  }

  private drained(): void {
    this.stalledSince = null;
    this.writeRest();
    this.drainListener?.();
  }

  startStream(): void {
    if (this.streaming || this.gone) return;
    this.streaming = true;
    this.lastWriteAt = this.now();
    this.response.writeHead(200, { ...streamHead, ...this.more, ...requestIdHeaders(this.requestId) });
    this.stream.begin();
    process.nextTick(flush, this);
  }

  write(bytes: Uint8Array): boolean {
    const at = this.now();
    this.firstByteAt ??= at;
    return this.send(bytes, at);
  }

  keepAlive(bytes: Uint8Array): void {
    const at = this.now();
    // A full socket needs no keep-alive, and buffering more would only grow memory.
    if (this.stalledSince === null) this.send(bytes, at);
    else this.lastWriteAt = at;
  }

  /** Queues bytes, which are written before the next turn of the event loop. */
  private send(bytes: Uint8Array, at: number): boolean {
    if (this.gone) return true;
    this.lastWriteAt = at;
    if (this.stream.add(bytes)) process.nextTick(flush, this);
    return this.stalledSince === null;
  }

  /** What one upstream read comes to becomes one write: writes are most of what a stream costs. */
  flush(): void {
    if (this.gone) this.stream.drop();
    else if (!this.stream.flush()) this.stalledSince ??= this.lastWriteAt;
  }

  end(): void {
    if (this.gone) return;
    this.stream.end();
    this.boundTheRest();
  }

  answer(status: number, headers: Record<string, string>, content: Uint8Array[] | string): void {
    if (this.gone) return;
    this.firstByteAt ??= this.now();
    const length = typeof content === 'string' ? Buffer.byteLength(content) : bytesOf(content);
    this.response.writeHead(status, {
      ...headers,
      ...requestIdHeaders(this.requestId),
      'content-length': String(length),
    });
    if (typeof content === 'string') this.response.end(content);
    else {
      this.rest = content;
      this.restBytes = length;
      this.writeRest();
    }
    this.boundTheRest();
  }

  /** Writes a body in pieces as the socket takes them, and drops its references to those that are written. */
  private writeRest(): void {
    const { rest, response } = this;
    if (rest === null) return;
    let next = 0;
    for (let piece = rest[next]; piece !== undefined; piece = rest[next]) {
      next += 1;
      this.restBytes -= piece.length;
      if (!response.write(piece)) break;
    }
    rest.splice(0, next);
    if (rest.length > 0) return;
    this.rest = null;
    response.end();
  }

  /**
   * Disconnects a client that does not read the rest of its answer: after `stallMs` without progress (the socket's
   * timer, which Node resets after the answer), or when its average rate is below the minimum.
   */
  private boundTheRest(): void {
    const { response, stallMs } = this;
    const bytes = response.writableLength + this.restBytes;
    if (bytes === 0) return;
    response.socket?.setTimeout(stallMs);
    const giveUp = setTimeout(() => response.destroy(), stallMs + (bytes / minBytesPerSecond) * 1_000);
    giveUp.unref();
    response.once('close', () => clearTimeout(giveUp));
  }

  destroy(): void {
    this.response.destroy();
  }

  flushed(): Promise<void> | null {
    const { response } = this;
    if (this.gone || response.writableFinished || response.writableLength + this.restBytes === 0) return null;
    return new Promise((resolve) => {
      response.once('finish', resolve);
      response.once('close', resolve);
    });
  }

  onDrain(listener: () => void): void {
    this.drainListener = listener;
  }

  onGone(listener: () => void): void {
    this.goneListener = listener;
    if (this.gone) listener();
  }

  onHalfClosed(listener: () => void): void {
    this.halfClosedListener = listener;
    if (isHalfClosed(this.response)) listener();
  }
}

function flush(client: ResponseClient): void {
  client.flush();
}

function ignore(): void {}
