import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Pool } from 'pg';
import type { PrismaClient } from '../database/generated/prisma/client.ts';
import type { History } from '../database/replica.ts';
import { type ControlPrincipal, isSamePrincipal, nobody } from '../people/principal.ts';
import { networkOf } from '../people/sign-in/throttle.ts';
import { describeError, isJsonContentType, requestIdHeaders } from '../runtime/http.ts';
import { createLoopTurns } from '../shared/loop-turns.ts';
import { createRates } from '../shared/rates.ts';
import type { GraphqlContext } from './context.ts';
import type { Domains } from './domains.ts';
import { createShares } from './guard/connection-shares.ts';
import { defaultLimits, type Limits } from './guard/limits.ts';
import type { GraphqlLog } from './guard/masking.ts';
import { defaultRates, type GraphqlRates } from './guard/rates.ts';
import { createOperationTurns, createReportTurns } from './guard/turns.ts';
import { createWork } from './guard/work.ts';
import type { PersistedDocuments } from './persisted.ts';
import { buildSchema } from './schema.ts';
import { BusyError } from './types/errors.ts';
import { whileUnchanged } from './types/unchanged.ts';
import { createEngine } from './yoga.ts';

/** Largest request body; larger ones are refused before they are read. */
const bodyLimitBytes = 102_400;

/** The page inlines its scripts, loads nothing and connects to this server only. */
const graphiqlPolicy =
  "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline' 'unsafe-eval' blob:; style-src 'unsafe-inline'; img-src data:; font-src data:; worker-src blob:";

const notAcceptable = 406;

/** Lateness is measured twice a second. */
const lateRetryAfterS = 2;

/** A subscription ends so soon after its subject has signed out, or has lost a right. */
const defaultIdentifyAgainMs = 5_000;

const clientGone = new Error('the client has gone');

/** A subscription has no end of its own: a client that ends its side of the connection takes no more of it. */
function leaveWithEnd({ raw }: FastifyRequest, gone: AbortController): void {
  const leave = (): void => gone.abort(clientGone);
  raw.socket.once('end', leave);
  gone.signal.addEventListener('abort', () => raw.socket.off('end', leave), { once: true });
}

export interface GraphqlOptions {
  prisma: PrismaClient;
  /** For the queries that domains write by hand. BIGINT arrives as `bigint`. */
  db: Pool;
  /** Where history is read; absent: like everything else. */
  history?: Pick<History, 'reader'>;
  domains: Domains;
  production: boolean;
  /** The public address, without a trailing slash; read for each request. Browsers must send it as origin. */
  readonly publicUrl: string;
  log: GraphqlLog;
  /** Whether the event loop is late: operations are refused then, before any model request is. Absent: never. */
  isLate?: () => boolean;
  limits?: Limits;
  rates?: GraphqlRates;
  /** Between two identifications of a subscription's subject. */
  identifyAgainMs?: number;
  /** Operations that clients may send by name. Default: none. */
  persistedDocuments?: PersistedDocuments;
  /** A self-contained page for trying operations out. Never served in production. */
  graphiqlPage?: () => Promise<string>;
}

/**
 * `POST /graphql`: the only entrance of the control plane. It takes JSON bodies only, so that another site needs a CORS
 * preflight, and also checks the origin that a browser sends. In production, GET shows nothing. Returns the schema.
 */
export async function registerGraphql(app: FastifyInstance, options: GraphqlOptions): Promise<GraphQLSchema> {
  const { prisma, db, domains, production, log, isLate = () => false, rates = defaultRates } = options;
  const { identifyAgainMs = defaultIdentifyAgainMs } = options;
  const schema = buildSchema();
  const costs = createRates(rates.cost);
  const operations = createRates(rates.operations);
  const networks = createRates(rates.network);
  const turns = createLoopTurns();
  const reports = createReportTurns();
  const running = createOperationTurns();
  const shares = createShares({ connections: db.options.max });
  const engine = createEngine({
    schema,
    production,
    limits: options.limits ?? defaultLimits,
    costs,
    persistedDocuments: options.persistedDocuments ?? new Map(),
    log,
  });
  const readHistory = options.history?.reader ?? (() => ({ query: db.query.bind(db), ageMs: null }));

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer', bodyLimit: bodyLimitBytes },
      (_request, body, done) => done(null, body),
    );
    scope.setErrorHandler((error, request, reply) => {
      if (error instanceof BusyError) {
        reply.header('retry-after', error.retryAfterSeconds);
        return refuse(request, reply, 503, error.code, error.message, { retryAfterSeconds: error.retryAfterSeconds });
      }
      const { status, code, message } = refusalOf(error);
      if (status >= 500) log.error({ requestId: request.id, ...describeError(error) }, 'a GraphQL request failed');
      return refuse(request, reply, status, code, message);
    });

    // Before the body is read: a refusal must cost less than the refused work.
    scope.addHook('onRequest', async (request, reply) => {
      if (request.method !== 'POST') return undefined;
      if (isLate()) {
        const message = 'The server has too much to do at this moment; try again in a moment.';
        return refuse(request, reply.header('retry-after', lateRetryAfterS), 503, 'OVERLOADED', message);
      }
      const wait = networks.take(networkOf(request.ip));
      return wait === null ? undefined : refuseTooMany(request, reply, wait);
    });

    scope.post('/graphql', async (request, reply) => {
      if (!isJsonContentType(request.headers)) {
        return refuse(request, reply, 415, 'UNSUPPORTED_MEDIA_TYPE', 'Send application/json (UTF-8).');
      }
      if (request.headers['content-encoding'] !== undefined) {
        return refuse(request, reply, 415, 'UNSUPPORTED_MEDIA_TYPE', 'Send the body uncompressed.');
      }
      const text = Buffer.isBuffer(request.body) ? utf8(request.body) : null;
      if (text === null) {
        return refuse(request, reply, 400, 'BAD_REQUEST', 'The body is not UTF-8.');
      }
      // Browsers send only cookies automatically; a request with a token cannot be forged by another site.
      if (request.headers.authorization === undefined && isForeign(request, new URL(options.publicUrl).origin)) {
        return refuse(request, reply, 403, 'CROSS_SITE', 'This request comes from another site.');
      }
      const caller = callerOf(request);
      const identified = await domains.people.identify(caller);
      if (identified === 'ended_view') return refuse(request, reply, 401, 'VIEW_ENDED', endedViewSentence);
      const principal = identified === 'bad_token' ? nobody : identified.principal;
      const subject = rateSubject(principal, request.ip);
      const wait = operations.take(subject);
      if (wait !== null) return refuseTooMany(request, reply, wait);
      if (identified === 'bad_token') {
        return refuse(request, reply, 401, 'UNAUTHENTICATED', badTokenSentence(request.headers.authorization));
      }

      const gone = new AbortController();
      // One shared reason: a DOMException for each request is expensive.
      reply.raw.once('close', () => gone.abort(clientGone));
      const context: GraphqlContext = {
        requestId: request.id,
        ip: request.ip,
        userAgent: request.headers['user-agent'] ?? '',
        cookie: request.headers.cookie ?? null,
        principal: identified.principal,
        setCookies: [...identified.setCookies],
        prisma,
        db: shares.pool(db, subject),
        history: shares.history(readHistory(), subject),
        domains,
        publicUrl: options.publicUrl,
        signal: gone.signal,
        reports,
        work: createWork(subject, turns),
      };
      // Parsing and validating a document block the event loop for milliseconds, too.
      await turns.next(subject);
      const answer = await running(subject, async () =>
        engine.fetch(
          new engine.fetchAPI.Request(`${options.publicUrl}/graphql`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', accept: request.headers.accept ?? 'application/json' },
            body: text,
            signal: gone.signal,
          }),
          context,
        ),
      );
      if (answer.status === notAcceptable)
        return refuse(
          request,
          reply,
          notAcceptable,
          'NOT_ACCEPTABLE',
          'Operations are answered as application/json, subscriptions as text/event-stream: accept that.',
        );
      const isUnchanged = () => isStill(domains, caller, principal);
      const events = (body: AsyncIterable<Uint8Array>) => {
        leaveWithEnd(request, gone);
        return whileUnchanged(body, { isUnchanged, everyMs: identifyAgainMs, signal: gone.signal });
      };
      return send(request, reply, answer, { setCookies: context.setCookies, events });
    });

    scope.get('/graphql', async (request, reply) => {
      const wantsPage = request.headers.accept?.includes('text/html') === true;
      if (wantsPage && !production && options.graphiqlPage !== undefined) {
        // It weighs megabytes, and a visitor without a session can try little out: the reference says as much.
        const { principal } = await domains.people.identify({ ...callerOf(request), prolong: false }).then(known);
        if (principal.kind === 'nobody') return reply.redirect('/docs/graphql', 303);
        reply.header('content-security-policy', graphiqlPolicy).header('cache-control', 'no-store');
        return reply.type('text/html; charset=utf-8').send(await options.graphiqlPage());
      }
      reply.header('allow', 'POST');
      return refuse(request, reply, 405, 'METHOD_NOT_ALLOWED', 'Send operations with POST.');
    });
  });
  return schema;
}

/** Who somebody is of whom only the pages depend. */
function known(identified: Awaited<ReturnType<Domains['people']['identify']>>): { principal: ControlPrincipal } {
  return typeof identified === 'string' ? { principal: nobody } : identified;
}

/** What identifies the sender of a request. */
function callerOf(request: FastifyRequest) {
  return {
    cookie: request.headers.cookie ?? null,
    authorization: request.headers.authorization ?? null,
    ip: request.ip,
    userAgent: request.headers['user-agent'] ?? '',
    view: request.headers['steyg-view']?.toString() ?? null,
  };
}

/** Whether the sender has the rights that it had; its session is not prolonged by that. */
async function isStill(
  { people }: Pick<Domains, 'people'>,
  caller: ReturnType<typeof callerOf>,
  principal: ControlPrincipal,
): Promise<boolean> {
  const again = await people.identify({ ...caller, prolong: false });
  return typeof again !== 'string' && isSamePrincipal(again.principal, principal);
}

/** The subject of an operation's rate. All tokens of an account share one, because it can make many. */
function rateSubject(principal: ControlPrincipal, ip: string): string {
  if (principal.kind === 'nobody') return `network:${networkOf(ip)}`;
  return principal.kind === 'user' ? `user:${principal.userId}` : `account:${principal.accountId}`;
}

const endedViewSentence = 'The look at this account has ended.';

function badTokenSentence(authorization: string | undefined): string {
  // The prefix of a model key, whose use here is a mistake that gets a message.
  return /^bearer +sk-steyg-/i.test(authorization ?? '')
    ? 'This is an API key for models. GraphQL takes an access token (tk-steyg-…), which is made under Settings.'
    : 'The access token is wrong, expired or deleted.';
}

function refuseTooMany(request: FastifyRequest, reply: FastifyReply, retryAfterSeconds: number): FastifyReply {
  const message = `Too many requests; try again in ${retryAfterSeconds} s.`;
  return refuse(request, reply.header('retry-after', retryAfterSeconds), 429, 'TOO_MANY_REQUESTS', message, {
    retryAfterSeconds,
  });
}

function utf8(body: Buffer): string | null {
  return isUtf8(body) ? body.toString('utf8') : null;
}

/**
 * True when a browser says that another site sent this. Browsers without `Sec-Fetch-Site` still send the origin;
 * programs send neither.
 */
function isForeign(request: FastifyRequest, ownOrigin: string): boolean {
  const { origin } = request.headers;
  // The page may be opened under another name than the configured one (loopback, a tunnel), so its own host is
  // accepted.
  const sameHost = origin !== undefined && URL.canParse(origin) && new URL(origin).host === request.headers.host;
  if (origin !== undefined && origin !== ownOrigin && !sameHost) return true;
  const site = request.headers['sec-fetch-site'];
  return site === 'cross-site' || (site === 'same-site' && origin === undefined);
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Response,
  {
    setCookies,
    events,
  }: {
    setCookies: readonly string[];
    events: (body: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  },
): Promise<FastifyReply> {
  reply.code(answer.status).headers(requestIdHeaders(request.id)).header('cache-control', 'no-store');
  // Read by name: iteration gives each name in the case in which it was set.
  for (const name of ['content-type', 'allow', 'retry-after', 'x-accel-buffering']) {
    const value = answer.headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  if (setCookies.length > 0) reply.header('set-cookie', [...setCookies]);
  if (answer.headers.get('content-type')?.startsWith('text/event-stream') === true && answer.body !== null) {
    // Proxies that buffer would delay events.
    reply.header('x-accel-buffering', 'no');
    // Yoga's own stream class is iterable, but none that `Readable.fromWeb` takes.
    return reply.send(Readable.from(events(answer.body), { objectMode: false }));
  }
  return reply.send(await answer.text());
}

function refusalOf(error: unknown): { status: number; code: string; message: string } {
  switch ((error as { code?: unknown }).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return {
        status: 413,
        code: 'REQUEST_TOO_LARGE',
        message: `A GraphQL request has at most ${bodyLimitBytes} bytes.`,
      };
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message: 'Send application/json (UTF-8).' };
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return { status: 400, code: 'BAD_REQUEST', message: 'The body could not be read.' };
    default:
      return { status: 500, code: 'INTERNAL', message: 'Something went wrong on our side.' };
  }
}

function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  code: string,
  message: string,
  facts: object = {},
): FastifyReply {
  return reply
    .code(status)
    .headers({ ...requestIdHeaders(request.id), 'cache-control': 'no-store' })
    .type('application/json; charset=utf-8')
    .send({ errors: [{ message, extensions: { code, requestId: request.id, ...facts } }] });
}
