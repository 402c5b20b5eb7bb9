import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { linkVendorSocket, type VendorSocket } from '../upstream/vendor-socket.ts';

/**
 * One turn of a WebSocket as a request over HTTP: the server gets a request and a response that are no bytes on a wire. So it
 * is authenticated, bounded, admitted, traced and settled by the very code that serves `POST`.
 */

/** The head of the request that became the WebSocket. */
export interface Handshake {
  socket: Socket;
  /** Names and values alternating. */
  rawHeaders: readonly string[];
}

/** Gets what the server answers. */
export interface TurnSink {
  /** A piece of an event stream that began with status 200; `written` when the client's system has it. */
  stream(piece: Uint8Array, written: () => void): void;
  /** A whole answer instead of a stream. */
  answer(status: number, headers: Record<string, string>, body: Buffer): void;
  /** The answer cannot be completed: the connection is to be cut. */
  cut(): void;
}

/** A turn that runs. */
export interface RunningTurn {
  /** Resolves when the server has ended the answer; to false when it was cut. */
  ended: Promise<boolean>;
  /** The client has left. */
  leave(): void;
  /** The server asked for the connection to end with this answer. */
  readonly isLast: boolean;
}

/** Whole answers are refusals and estimates. */
const maxAnswerBytes = 1_048_576;

/** A `ServerResponse` as far as the server uses one. */
class TurnResponse extends Writable {
  statusCode = 200;
  statusMessage = '';
  headersSent = false;
  readonly sendDate = false;
  /** The socket belongs to all turns. */
  readonly socket = null;
  private readonly headers = new Map<string, string>();
  private readonly sink: TurnSink;
  private readonly pieces: Buffer[] = [];
  private bytes = 0;

  constructor(sink: TurnSink) {
    super();
    this.sink = sink;
    this.on('error', () => undefined);
  }

  get isLast(): boolean {
    return this.headers.get('connection') === 'close';
  }

  setHeader(name: string, value: unknown): this {
    this.headers.set(name.toLowerCase(), String(value));
    return this;
  }

  getHeader(name: string): string | undefined {
    return this.headers.get(name.toLowerCase());
  }

  hasHeader(name: string): boolean {
    return this.headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.headers.delete(name.toLowerCase());
  }

  getHeaders(): Record<string, string> {
    return Object.fromEntries(this.headers);
  }

  getHeaderNames(): string[] {
    return [...this.headers.keys()];
  }

  writeHead(status: number, headers: Record<string, unknown> = {}): this {
    this.statusCode = status;
    this.headersSent = true;
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) this.setHeader(name, value);
    return this;
  }

  flushHeaders(): void {
    this.headersSent = true;
  }

  writeContinue(): void {
    // The body has come.
  }

  private get isStream(): boolean {
    return this.statusCode === 200 && this.getHeader('content-type')?.startsWith('text/event-stream') === true;
  }

  override _write(piece: Buffer, _encoding: string, written: (error?: Error) => void): void {
    this.headersSent = true;
    if (this.isStream) {
      this.sink.stream(piece, written);
      return;
    }
    this.bytes += piece.length;
    if (this.bytes <= maxAnswerBytes) this.pieces.push(piece);
    written();
  }

  override _final(done: () => void): void {
    if (!this.isStream) this.sink.answer(this.statusCode, this.getHeaders(), Buffer.concat(this.pieces));
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.writableFinished) this.sink.cut();
    done(error);
  }
}

/** Members of a handshake that are about the connection, and those that each turn has of its own. */
const notOfTurns =
  /^(?:connection|upgrade|keep-alive|sec-websocket-.*|content-(?:length|type|encoding)|transfer-encoding|expect|accept|te|trailer|idempotency-key)$/i;
/** What asks for the protocol of the connection (openai/codex, `core/src/client.rs`); no upstream behind HTTP knows it. */
const socketBeta = /^responses_websockets=/;

/** The head that the same client would send over HTTP. */
function headOf(handshake: readonly string[], bodyBytes: number): string[] {
  const head: string[] = [];
  for (let at = 0; at < handshake.length; at += 2) {
    const [name = '', value = ''] = [handshake[at], handshake[at + 1]];
    if (notOfTurns.test(name)) continue;
    if (name.toLowerCase() !== 'openai-beta') {
      head.push(name, value);
      continue;
    }
    const betas = value.split(',').filter((beta) => !socketBeta.test(beta.trim()));
    if (betas.length > 0) head.push(name, betas.join(',').trim());
  }
  head.push('Accept', 'text/event-stream', 'Content-Type', 'application/json', 'Content-Length', String(bodyBytes));
  return head;
}

export interface TurnParts {
  handshake: Handshake;
  /** Of the same client's connection. */
  upstream: VendorSocket;
  path: string;
  body: Buffer;
  sink: TurnSink;
}

/** Runs `POST` of `body` at `path` on behalf of the client of a handshake. */
export function runTurn(server: Server, { handshake, upstream, path, body, sink }: TurnParts): RunningTurn {
  const rawHeaders = headOf(handshake.rawHeaders, body.length);
  const headers: Record<string, string> = {};
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers[(rawHeaders[at] ?? '').toLowerCase()] = rawHeaders[at + 1] ?? '';
  const request = Object.assign(new Readable({ read: () => undefined }), {
    method: 'POST',
    url: path,
    httpVersion: '1.1',
    httpVersionMajor: 1,
    httpVersionMinor: 1,
    headers,
    rawHeaders,
    trailers: {},
    rawTrailers: [],
    complete: true,
    aborted: false,
    socket: handshake.socket,
    connection: handshake.socket,
  });
  request.push(body);
  request.push(null);
  linkVendorSocket(request, upstream);
  const response = new TurnResponse(sink);
  const { promise: ended, resolve } = Promise.withResolvers<boolean>();
  response.once('close', () => {
    const isWhole = response.writableFinished;
    // The server lets go of the turn's slot first.
    setImmediate(() => resolve(isWhole));
  });
  server.emit('request', request as unknown as IncomingMessage, response as unknown as ServerResponse);
  return {
    ended,
    leave: () => response.destroy(),
    get isLast() {
      return response.isLast;
    },
  };
}
