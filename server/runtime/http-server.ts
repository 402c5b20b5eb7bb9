import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { uuidv7 } from '../shared/uuid.ts';
import { type RunningExchange, serveHalfClosed } from './half-close.ts';
import { describeError, describeRequest, requestIdHeaders, requestLog } from './http.ts';

/**
 * The HTTP server that all edges share: limits against slow and malformed clients, request ids, one log line for each
 * request without any of its content.
 */

/** Limits of one connection. Times are milliseconds. */
export interface ServerLimits {
  /** Timeout of a whole request. */
  requestMs: number;
  /** Timeout of its head, from the connection's beginning, or from the request's first byte. */
  headersMs: number;
  /** Interval of the check of the two above. */
  checkMs: number;
  /** Timeout of an idle connection between two requests. */
  keepAliveMs: number;
  /**
   * A request that is answered while its body is still coming (a refusal) has the rest read and dropped: a connection
   * that is closed under a writing client is reset, and many clients then lose the answer. Timeout of that ...
   */
  discardMs: number;
  /** ... and its maximum size. */
  discardBytes: number;
}

const defaultLimits: ServerLimits = {
  requestMs: 60_000,
  headersMs: 15_000,
  checkMs: 1_000,
  keepAliveMs: 72_000,
  discardMs: 10_000,
  discardBytes: 64 * 1_048_576,
};
const headerBytes = 16_384;

interface ServedAddresses {
  /** The address under which a request is served. */
  servedAddress?: (url: string) => string;
  /** Whether a WebSocket may be asked for there; elsewhere such a request is one like any other. */
  upgrades?: (url: string) => boolean;
}

/** A violation of HTTP; its sentence is for the client. */
class BadRequest extends Error {
  override name = 'BadRequest';
  readonly statusCode = 400;
}

export function createHttpServer(
  log: Logger,
  limits: ServerLimits = defaultLimits,
  /** Trusted proxies, whose forwarded client address is used; empty: none. */
  trustedProxies: readonly string[] = [],
  { servedAddress = (url) => url, upgrades = () => false }: ServedAddresses = {},
): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger of its own for each request, which few of them use, is made by `requestLog`.
    childLoggerFactory: (logger) => logger,
    genReqId: () => uuidv7(),
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    bodyLimit: 102_400,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    rewriteUrl: ({ url = '/' }) => servedAddress(url),
    // Catalog ids may be long and contain encoded slashes.
    routerOptions: { maxParamLength: 512 },
    http: {
      maxHeaderSize: headerBytes,
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkMs,
      insecureHTTPParser: false,
      // Checked below, so that its absence too is answered in an envelope and with a request id.
      requireHostHeader: false,
      // Since Node 24.9; an older one would take every offer of another protocol for an upgrade.
      shouldUpgradeCallback: ({ url = '/', method, headers }) =>
        method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && upgrades(url),
    },
    clientErrorHandler: answerBrokenRequest,
    // An undecodable address matches no route, so no edge's own handler sees it.
    frameworkErrors: (_error, request, response) => {
      const body = JSON.stringify(envelope('The address of the request is not valid.', request.id));
      const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
      response.raw.writeHead(400, { ...requestIdHeaders(request.id), ...headers }).end(body);
    },
  }) as unknown as FastifyInstance;

  serveHalfClosed(app.server, (socket) => latest.get(socket));
  const waitingForContinue = letHeadsBeCheckedFirst(app.server);
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    latest.set(request.socket, { request, response });
  });

  app.addHook('onRequest', async (request, response) => {
    const startedAt = performance.now();
    // Also for a client that disconnects early.
    response.raw.on('close', () => {
      const { writableFinished, statusCode } = response.raw;
      const status = writableFinished || statusCode === 101 ? statusCode : 499;
      const line = { ...describeRequest(request), status, tookMs: Math.round(performance.now() - startedAt) };
      if (status >= 500) requestLog(request).warn(line, 'request');
      else requestLog(request).info(line, 'request');
    });
    if (!hasOneHost(request.raw)) throw new BadRequest('The request must have exactly one Host header.');
  });
  app.addHook('preParsing', async (request, response) => {
    if (waitingForContinue.delete(request.raw)) response.raw.writeContinue();
  });
  app.addHook('onSend', async (request, response, payload) => {
    if (!response.hasHeader('x-request-id')) void response.headers(requestIdHeaders(request.id));
    if (!response.hasHeader('x-content-type-options')) void response.header('x-content-type-options', 'nosniff');
    // After such a head, the boundary between this request and the next is unknown.
    if (!hasOneHost(request.raw)) void response.header('connection', 'close');
    if (request.raw.complete) return payload;
    const rest = discardRest(request.raw, limits);
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    void response.header('content-length', String(Buffer.byteLength(payload)));
    return answerBeforeEnd(payload, rest);
  });
  app.setErrorHandler(async (error: Error & { statusCode?: number }, request, response) => {
    const status = error.statusCode !== undefined && error.statusCode >= 400 ? error.statusCode : 500;
    if (status >= 500)
      requestLog(request).error({ ...describeRequest(request), ...describeError(error) }, 'request failed');
    return response.code(status).send({
      error: {
        message: sentenceOf(error, status),
        type: status >= 500 ? 'server_error' : 'invalid_request_error',
      },
      request_id: request.id,
    });
  });
  return app;
}

function sentenceOf(error: Error, status: number): string {
  if (status >= 500) return 'Something went wrong on our side.';
  return publicSentence(error) ?? 'The request could not be read.';
}

/** The public part of an error: messages of parsers and libraries can quote the request. Null: none. */
export function publicSentence(error: unknown): string | null {
  return error instanceof BadRequest ? error.message : null;
}

/** Without exactly one host, two parsers of a request could take it for different sites. */
function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

/**
 * Sends `100 Continue` to clients that expect it only after the head was checked. Returns the requests that still wait
 * for it.
 */
function letHeadsBeCheckedFirst(server: Server): WeakSet<IncomingMessage> {
  const waiting = new WeakSet<IncomingMessage>();
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    server.emit('request', request, response);
  });
  // Any other expectation may be ignored, and an ignored one is answered like everything else.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  return waiting;
}

/** Reads the rest of a body and drops it, within bounds; beyond them the connection is cut. Resolves at its end. */
function discardRest(request: IncomingMessage, { discardMs, discardBytes }: ServerLimits): Promise<void> {
  const { socket } = request;
  let left = discardBytes;
  const timer = setTimeout(() => socket.destroy(), discardMs);
  timer.unref();
  request.on('data', (bytes: Buffer) => {
    left -= bytes.length;
    if (left < 0) socket.destroy();
  });
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    request.once('end', end);
    request.once('close', end);
    request.resume();
  });
}

/**
 * Sends a whole answer at once, and ends it when the request's body has been read. Node closes a connection with
 * `Connection: close` at the end of the answer; a client that is still writing then gets a reset instead of the answer.
 */
function answerBeforeEnd(payload: string | Buffer, rest: Promise<void>): Readable {
  const answer = new Readable({ read() {} });
  answer.push(payload);
  void rest.then(() => answer.push(null));
  return answer;
}

/** An error in a shape that the clients of every protocol read, for requests whose protocol is unknown. */
function envelope(message: string, requestId: string) {
  return {
    type: 'error',
    error: { type: 'invalid_request_error', message, param: null, code: null },
    request_id: requestId,
  };
}

/** The latest request of each connection, to know whether an answer is being written on it. */
const latest = new WeakMap<Socket, RunningExchange>();

/**
 * Bytes that are no HTTP request (or are two at once) get a short answer and a closed connection: the rest is never
 * parsed.
 */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  const current = latest.get(socket);
  const isAnswering = current !== undefined && !current.response.writableFinished;
  // During another answer, or before one that is due, the client would take this one for it.
  const isTaken = isAnswering && (current.request.complete || current.response.headersSent);
  if (!socket.writable || error.code === 'ECONNRESET' || isTaken) {
    socket.destroy();
    return;
  }
  const [status, sentence] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'The request headers are too large.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'The request did not arrive in time.']
        : ['400 Bad Request', 'The request is not valid HTTP.'];
  const requestId = uuidv7();
  const body = JSON.stringify(envelope(sentence, requestId));
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nrequest-id: ${requestId}\r\nx-request-id: ${requestId}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
