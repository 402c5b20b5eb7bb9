import type { Readable } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ModelKind } from '../../core/kind.ts';
import type { ImagePath, Protocol } from '../../core/protocol.ts';
import type { Principal } from '../../keys/keyring.ts';
import type { GatewayTimeouts } from '../../runtime/config.ts';
import {
  describeError,
  describeRequest,
  isFormContentType,
  isJsonContentType,
  requestIdHeaders,
  requestLog,
} from '../../runtime/http.ts';
import { publicSentence } from '../../runtime/http-server.ts';
import type { Metrics } from '../../runtime/telemetry/metrics.ts';
import { readTraceContext } from '../../runtime/telemetry/trace-context.ts';
import type { Tracer } from '../../runtime/telemetry/tracing.ts';
import { isProbe } from '../../uptime/probes/probe.ts';
import { compactRequest } from '../../wire/responses/compaction.ts';
import type { RequestRates } from '../limits/request-rate.ts';
import type { BodyRoom } from '../load/body-room.ts';
import { createLoopBudget } from '../load/loop-budget.ts';
import type { Reads } from '../load/read-room.ts';
import { takesNumericCodes } from '../refusals/numeric-codes.ts';
import { isDatabaseAway } from '../refusals/outage.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import { RefusalError, renderRefusal } from '../refusals/refuse.ts';
import type { Relay } from '../relay.ts';
import { traceAnswer, traceCall } from '../traces.ts';
import { vendorSocketOf } from '../upstream/vendor-socket.ts';
import type { Authenticator } from './authenticate.ts';
import { createClient } from './client.ts';
import { readIncomingBody } from './incoming-body.ts';
import { createRequestBytes } from './request-bytes.ts';
import type { Standing } from './standing.ts';

/**
 * The edge of the data plane: checks before the body is read, and error handling around the relay. Order: too many
 * headers, 503 while draining or overloaded, 401, 429 of the request rate, then length and type of the body.
 */

/** Maximum size of a request, as at the vendors. */
export const bodyLimitBytes = 32 * 1_048_576;
const maxHeaders = 200;

declare module 'fastify' {
  interface FastifyRequest {
    /** The principal; set before the body is read on routes of the data plane. */
    principal: Principal | null;
    /** Monotonic milliseconds of arrival. */
    receivedAt: number;
    /** Counts received bytes of the body; returns the refusal when there is no room for them. */
    takeRoom: ((bytes: number) => RefusalError | null) | null;
    /** Returns the room of the body: its memory is freed. */
    giveRoom: (() => void) | null;
  }
  interface FastifyContextConfig {
    /** The protocol whose envelope a route speaks. */
    protocol?: Protocol;
    /** `now`: the key is checked in the database, because no admission follows. */
    authenticate?: 'admission' | 'now';
    /** The body may be a form. */
    takesForms?: boolean;
    /** A POST without a body, whatever type it names. */
    bodyless?: boolean;
    /** The body is read by its route while it arrives, up to so many bytes. */
    streamsUpTo?: number;
  }
}

/** State of this process that decides whether it takes work. */
export interface Intake {
  /** New requests are refused because the process is going down. */
  readonly stopping: boolean;
  /** Connections end as soon as nothing runs on them. */
  readonly draining: boolean;
  /** False until the database is known to be ready. */
  readonly prepared: boolean;
  /** New requests are refused because the process cannot keep up. */
  readonly overloaded: boolean;
}

export interface EdgeParts {
  authenticator: Authenticator;
  standing: Pick<Standing, 'unlessDeleted'>;
  refusals: Refusals;
  intake: Intake;
  rates: RequestRates;
  reads: Reads;
  /** Of this process; shared by all bodies. */
  bodyRoom: BodyRoom;
  metrics: Metrics;
}

export function reply(response: FastifyReply, protocol: Protocol, refusal: Refusal): FastifyReply {
  const numericCodes = takesNumericCodes(response.request.headers['user-agent']);
  const { status, headers, body } = renderRefusal({ protocol, requestId: response.request.id, numericCodes }, refusal);
  return response
    .code(status)
    .headers({ ...headers, ...requestIdHeaders(response.request.id) })
    .send(body);
}

/** The protocol of a path's envelope when its route does not configure one. */
export function protocolOf(path: string): Protocol {
  if (path.includes('/messages')) return 'messages';
  return path.includes('/responses') ? 'responses' : 'chat-completions';
}

const fastifyRefusals: Record<string, (refusals: Refusals) => Refusal> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (refusals) => refusals.unsupportedMediaType(),
  ECONNRESET: (refusals) => refusals.requestTimeout(),
};

/** Fastify's own errors have a status; an error with the same code and no status comes from the database. */
function refusalOfFastify({ code, statusCode }: FastifyError): ((refusals: Refusals) => Refusal) | undefined {
  return statusCode === undefined ? undefined : fastifyRefusals[code];
}

/** Registers the hooks and the error handling of the data plane's routes. To be called inside their scope. */
export function guardEdge(app: FastifyInstance, parts: EdgeParts): void {
  const { authenticator, standing, refusals, intake, rates, reads, metrics, bodyRoom: room } = parts;
  app.decorateRequest('principal', null);
  app.decorateRequest('receivedAt', 0);
  app.removeAllContentTypeParsers();
  app.decorateRequest('takeRoom', null);
  app.decorateRequest('giveRoom', null);
  const budget = createLoopBudget();
  app.addContentTypeParser(['application/json', 'multipart/form-data'], (request: FastifyRequest, payload: Readable) =>
    readIncomingBody({
      payload,
      announcedBytes: announcedBytes(request),
      takeRoom: (bytes) => request.takeRoom?.(bytes) ?? null,
      tooSlow: () => new RefusalError(refusals.requestTimeout()),
      budget,
    }),
  );

  app.addHook('onRequest', async (request) => {
    request.receivedAt = performance.now();
    const { config } = request.routeOptions;
    if (config.authenticate === undefined) return;
    if (request.raw.rawHeaders.length > maxHeaders * 2) throw new RefusalError(refusals.tooManyHeaders());
    if (intake.stopping) throw new RefusalError(refusals.draining());
    if (!intake.prepared) throw new RefusalError(refusals.unavailable());
    if (intake.overloaded) throw new RefusalError(refusals.overloaded());

    const principal =
      config.authenticate === 'now'
        ? await authenticator.authenticateNow(request.headers)
        : await authenticator.authenticate(request.headers);
    if (principal === null) throw new RefusalError(refusals.invalidApiKey());
    request.principal = principal;
    if (principal.mayCallFrom?.(request.ip) === false) throw new RefusalError(refusals.addressNotAllowed(request.ip));
    if (request.method !== 'POST') {
      reads.take(principal);
      return;
    }

    const taken = rates.take(principal);
    const limited = taken instanceof Promise ? await taken : taken;
    if (limited !== null) throw new RefusalError(refusals.rateLimited(limited));

    const { streamsUpTo, takesForms = false } = config;
    const isForm = takesForms && isFormContentType(request.headers);
    const { bodyless = streamsUpTo !== undefined || isForm } = config;
    const limitBytes = streamsUpTo ?? bodyLimitBytes;
    if (Number(request.headers['content-length']) > limitBytes) {
      throw new RefusalError(refusals.requestTooLarge(limitBytes));
    }
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      throw new RefusalError(refusals.contentEncoding());
    if (!bodyless && !isJsonContentType(request.headers)) throw new RefusalError(refusals.unsupportedMediaType());
    if (config.protocol === 'messages' && (request.headers['anthropic-version'] ?? '') === '') {
      throw new RefusalError(refusals.versionHeaderMissing());
    }
  });

  app.addHook('preParsing', async (request, response) => {
    const { principal } = request;
    if (principal === null) return;
    const { accountId } = principal;
    let taken = 0;
    const give = (): void => {
      room.give(accountId, taken);
      taken = 0;
    };
    // At the latest when its answer has ended.
    response.raw.on('close', give);
    request.giveRoom = give;
    request.takeRoom = (bytes) => {
      if (taken + bytes > bodyLimitBytes) return new RefusalError(refusals.requestTooLarge(bodyLimitBytes));
      const full = room.take(accountId, bytes);
      if (full !== null) {
        return new RefusalError(full === 'account' ? refusals.tooManyRequests('account') : refusals.overloaded());
      }
      taken += bytes;
      return null;
    };
  });

  // What an agent on another machine holds is worth its probes alone to whoever takes it.
  app.addHook('preHandler', (request, _response, next) => {
    if (request.principal?.probes !== true) return next();
    const path = request.routeOptions.url?.replace(/^\/api/, '') ?? '';
    const isIts = request.method === 'POST' ? isProbe(path, bodyOf(request)) : path.startsWith('/v1/models');
    next(isIts ? undefined : new RefusalError(refusals.probesAlone()));
  });

  /** A principal from the cache is looked up again before a refusal names a fault of the request. */
  const unlessDeleted = (request: FastifyRequest, refusal: Refusal): Refusal | Promise<Refusal> => {
    if (request.principal === null || request.routeOptions.config.authenticate !== 'admission') return refusal;
    // A client in a loop is answered without a query.
    if (refusal.name === 'rate_limited' || refusal.name === 'address_not_allowed') return refusal;
    return standing.unlessDeleted(request.principal, refusal).catch(() => refusal);
  };

  app.setErrorHandler(async (error: FastifyError | RefusalError, request, response) => {
    const protocol = request.routeOptions.config.protocol ?? protocolOf(request.url.split('?', 1)[0] ?? '');
    const refusal = error instanceof RefusalError ? error.refusal : refusalOfFastify(error)?.(refusals);
    const refuse = (final: Refusal) => {
      // Requests that never reached the relay are counted here.
      if (request.routeOptions.config.authenticate === 'admission')
        metrics.requestDone({
          protocol,
          model: 'none',
          kind: kindOf(request.routeOptions.url ?? ''),
          status: final.status,
          seconds: (performance.now() - request.receivedAt) / 1000,
          firstByteSeconds: null,
        });
      return reply(response, protocol, final);
    };
    if (refusal !== undefined) return refuse(await unlessDeleted(request, refusal));
    if ('statusCode' in error && error.statusCode !== undefined && error.statusCode < 500) {
      const sentence = publicSentence(error) ?? 'The request could not be read.';
      return refuse(refusals.invalidRequest(sentence));
    }
    if (isDatabaseAway(error)) {
      // An outage is not a fault of this process: it has its own metrics and alert, and would be logged per request.
      metrics.budgetRefusal('unavailable');
      return refuse(refusals.unavailable());
    }
    metrics.fault('edge');
    requestLog(request).error({ ...describeRequest(request), ...describeError(error) }, 'request failed');
    return refuse(refusals.internal());
  });
}

function announcedBytes({ headers }: FastifyRequest): number | null {
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}

export interface ModelRouteParts {
  relay: Relay;
  metrics: Metrics;
  timeouts: Pick<GatewayTimeouts, 'clientStallMs'>;
  tracer: Tracer | null;
}

/** What is asked for at an address, where a request was refused before its route ran. */
function kindOf(url: string): ModelKind {
  if (url.includes('/embeddings')) return 'embedding';
  return url.includes('/images/') ? 'image' : 'text';
}

/**
 * `POST /v1/messages`, `/v1/chat/completions`, `/v1/responses`, its compactions, and what is worded like chat completions:
 * `/v1/embeddings`, `/v1/images/generations` and `/v1/images/edits`.
 */
export function registerModelRoutes(app: FastifyInstance, { relay, metrics, timeouts, tracer }: ModelRouteParts): void {
  const routes: [string, Protocol, ModelKind, ('compacts' | ImagePath)?][] = [
    ['/v1/messages', 'messages', 'text'],
    ['/v1/chat/completions', 'chat-completions', 'text'],
    ['/v1/responses', 'responses', 'text'],
    ['/v1/responses/compact', 'responses', 'text', 'compacts'],
    ['/v1/embeddings', 'chat-completions', 'embedding'],
    ['/v1/images/generations', 'chat-completions', 'image', 'generations'],
    ['/v1/images/edits', 'chat-completions', 'image', 'edits'],
  ];
  for (const [url, protocol, asks, does] of routes) {
    const compacts = does === 'compacts';
    const imagePath = does === 'compacts' ? undefined : does;
    const config = { protocol, authenticate: 'admission', takesForms: imagePath === 'edits' } as const;
    app.post(url, { config }, async (request, response) => {
      const { principal } = request;
      if (principal === null) throw new Error('a route of the data plane was reached without a principal');
      response.hijack();
      const client = createClient(response.raw, request.id, { stallMs: timeouts.clientStallMs });
      const traceContext = readTraceContext(request.headers);
      const trace = tracer === null ? null : traceCall(tracer, request, { asks, parent: traceContext });
      const socket = vendorSocketOf(request.raw);
      metrics.inFlight.add(protocol);
      try {
        const model = await relay({
          protocol,
          asks,
          ...(compacts ? { compacts } : {}),
          ...(imagePath === undefined ? {} : { imagePath }),
          principal,
          requestId: request.id,
          bytes: createRequestBytes(takeBody(request, compacts), () => request.giveRoom?.()),
          rawHeaders: request.raw.rawHeaders,
          headers: request.headers,
          traceContext,
          trace,
          ...(socket === undefined ? {} : { socket }),
          version: protocol === 'messages' ? String(request.headers['anthropic-version']) : undefined,
          client,
          numericCodes: takesNumericCodes(request.headers['user-agent']),
          receivedAt: request.receivedAt,
          readAt: performance.now(),
        });
        const status = client.gone ? 499 : response.raw.statusCode;
        if (trace !== null) traceAnswer(trace, status, client, request.receivedAt);
        metrics.requestDone({
          protocol,
          model: model ?? 'none',
          kind: asks,
          status,
          seconds: (performance.now() - request.receivedAt) / 1000,
          firstByteSeconds: client.firstByteAt === null ? null : (client.firstByteAt - request.receivedAt) / 1000,
        });
      } finally {
        trace?.end('fault');
        metrics.inFlight.remove(protocol);
      }
    });
  }
}

const empty = Buffer.alloc(0);

/**
 * Removes the body from the request object, which lives as long as the answer: the relay frees the body much sooner.
 */
function takeBody(request: FastifyRequest, compacts: boolean): Buffer {
  const body = bodyOf(request);
  request.body = undefined;
  return compacts ? (compactRequest(body) ?? body) : body;
}

/** The raw body; empty for a request without one. */
export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : empty;
}
