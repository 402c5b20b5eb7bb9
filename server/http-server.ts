import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { describeError, describeRequest, requestIdHeaders, uuidv7 } from './http.ts';

/**
 * The HTTP server that all edges share: limits against slow and malformed clients, request ids, one log line for each
 * request that says nothing of what was in it.
 */

const requestLimitMs = 60_000;
const headersLimitMs = 15_000;
const keepAliveMs = 72_000;
const headerBytes = 16_384;

export function createHttpServer(log: Logger): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    requestIdLogLabel: 'requestId',
    genReqId: () => uuidv7(),
    requestTimeout: requestLimitMs,
    keepAliveTimeout: keepAliveMs,
    bodyLimit: 102_400,
    // Catalog ids may be long and contain encoded slashes.
    routerOptions: { maxParamLength: 512 },
    http: { maxHeaderSize: headerBytes, headersTimeout: headersLimitMs, insecureHTTPParser: false },
    clientErrorHandler: answerBrokenRequest,
  }) as unknown as FastifyInstance;

  app.addHook('onResponse', async (request, response) => {
    const line = { ...describeRequest(request), status: response.statusCode, tookMs: Math.round(response.elapsedTime) };
    if (response.statusCode >= 500) request.log.warn(line, 'request');
    else request.log.info(line, 'request');
  });
  app.addHook('onSend', async (request, response) => {
    if (!response.hasHeader('x-request-id')) void response.headers(requestIdHeaders(request.id));
    if (!response.hasHeader('x-content-type-options')) void response.header('x-content-type-options', 'nosniff');
  });
  app.setErrorHandler(async (error: Error & { statusCode?: number }, request, response) => {
    const status = error.statusCode !== undefined && error.statusCode >= 400 ? error.statusCode : 500;
    if (status >= 500) request.log.error({ ...describeRequest(request), ...describeError(error) }, 'request failed');
    return response.code(status).send({
      error: {
        message: status >= 500 ? 'Something went wrong on our side.' : 'The request could not be read.',
        type: status >= 500 ? 'server_error' : 'invalid_request_error',
      },
      request_id: request.id,
    });
  });
  return app;
}

/** Bytes that are no HTTP request (or are two at once) get a short answer and a closed connection: nothing behind them is read. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
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
  const body = JSON.stringify({
    type: 'error',
    error: { type: 'invalid_request_error', message: sentence, param: null, code: null },
    request_id: requestId,
  });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nrequest-id: ${requestId}\r\nx-request-id: ${requestId}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
