import type { FastifyInstance } from 'fastify';
import type { Ledger } from '../../billing/lane/ledger.ts';
import type { ModelKind } from '../../core/kind.ts';
import { formatUsd } from '../../core/money.ts';
import type { ImagePath, Protocol } from '../../core/protocol.ts';
import type { Keyring } from '../../keys/keyring.ts';
import type { RequestBound } from '../../metering/bound.ts';
import { requestIdHeaders } from '../../runtime/http.ts';
import { askOf, refusalOf } from '../admit.ts';
import type { HeldBudget } from '../batches/held-budget.ts';
import type { ClientCall, ModelRequest } from '../call.ts';
import { bodyOf } from '../entrance/model-routes.ts';
import { createRequestBytes } from '../entrance/request-bytes.ts';
import type { Standing } from '../entrance/standing.ts';
import type { RequestRates } from '../limits/request-rate.ts';
import type { Slots } from '../limits/slots.ts';
import { createReader, type ReadCall, type ReaderParts } from '../read.ts';
import { takesNumericCodes } from '../refusals/numeric-codes.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import { RefusalError } from '../refusals/refuse.ts';
import { upstreamHeaders } from '../upstream/request-headers.ts';
import { vendorSocketOf } from '../upstream/vendor-socket.ts';
import { presentTier, principalOf } from './usage.ts';

/**
 * `POST …/estimate` beside each address of a model: what the same body would hold and cost there, without sending it. Free
 * and without a row in the ledger. It counts as a request of the minute, and is refused where the request would be for
 * anything but the pace of its key and account.
 */

export interface EstimateParts extends ReaderParts {
  ledger: Pick<Ledger, 'estimate'>;
  heldBudget: HeldBudget;
  standing: Standing;
  refusals: Refusals;
  slots: Slots;
  /** Requests a trial account may run at once. */
  trialSlots: number;
}

/** `socket`: of the WebSocket whose warm-up it is. */
export type EstimateCall = ReadCall & Pick<ClientCall, 'socket'>;

/** Answers an estimate. Throws the refusal that the request would get. */
export type Estimator = (call: EstimateCall) => Promise<Record<string, unknown>>;

export function createEstimator(parts: EstimateParts): Estimator {
  const { refusals, slots, trialSlots } = parts;
  const run = createEstimate(parts);
  return async (call) => {
    const { accountId, keyId } = call.principal;
    const full = slots.take(accountId, keyId);
    if (full !== null) throw new RefusalError(refusals.tooManyRequests(full === 'key' ? 'API key' : 'account'));
    try {
      const { trialOnly, answer } = await run(call);
      if (trialOnly && slots.running(accountId) > trialSlots)
        throw new RefusalError(refusals.tooManyRequests('trial account'));
      return answer;
    } finally {
      slots.give(accountId, keyId);
    }
  };
}

/** Estimates without taking a slot. */
function createEstimate(parts: Omit<EstimateParts, 'slots' | 'trialSlots'>) {
  const { ledger, heldBudget, standing, refusals } = parts;
  const read = createReader(parts);
  return async (call: EstimateCall): Promise<{ trialOnly: boolean; answer: Record<string, unknown> }> => {
    const shut = await standing.look(call.principal, call.bytes.raw.length);
    if (shut !== null) throw new RefusalError(shut);
    const request = await read(call);
    if ('status' in request) throw new RefusalError(request);
    prepareSocket(call, request);
    const estimate = await ledger.estimate(askOf(call, request));
    if (estimate.kind === 'refused') {
      const held = await heldBudget(call.principal.accountId, estimate);
      throw new RefusalError(refusalOf(refusals, estimate, request, held));
    }
    return {
      trialOnly: estimate.trialOnly,
      answer: {
        object: 'estimate',
        model: request.model.id,
        input_tokens: estimate.inputTokens,
        tier: presentTier(estimate.tier),
        hold_usd: formatUsd(estimate.hold),
        least_usd: formatUsd(estimate.least),
        most_usd: formatUsd(estimate.most),
        bound: boundParts(request.bound, estimate.contextWindow),
      },
    };
  };
}

/** The warm-up of a WebSocket: where its turns will go, the connection to the vendor is made meanwhile. */
function prepareSocket(
  { socket, protocol, rawHeaders }: EstimateCall,
  { first: { target, exchange } }: ModelRequest,
): void {
  const { upstream } = target.route;
  if (socket === undefined || !upstream.features.webSocket || upstream.protocol !== protocol) return;
  socket.prepare({
    origin: target.origin,
    path: target.basePath + exchange.path,
    headers: upstreamHeaders({
      rawHeaders,
      client: protocol,
      upstream: upstream.protocol,
      secret: target.key?.secret ?? null,
      trace: null,
    }),
    ...(target.lookup === undefined ? {} : { lookup: target.lookup }),
  });
}

/** What the upper bound is made of: tokens of each kind of content, once for each time that the model reads it. */
function boundParts({ parts }: RequestBound, contextWindow: number): Record<string, unknown>[] {
  return parts.map(({ kind, count, tokens }) => ({
    kind,
    count: count ?? null,
    tokens: tokens ?? contextWindow,
    is_window: tokens === null,
  }));
}

/** A request whose estimate is asked for by the control plane, which has checked that the caller may use the key. */
export interface AskedEstimate {
  keyId: string;
  protocol: Protocol;
  asks: ModelKind;
  /** The request's body, as it would be sent. */
  body: string;
  requestId: string;
}

export type EstimateOutcome =
  | { kind: 'estimated'; answer: Record<string, unknown> }
  /** The request would be refused, as its address would answer; `message` is for people. */
  | { kind: 'refused'; reason: string; param: string | null; status: number; message: string }
  | { kind: 'unknown_key' };

/** The version of the messages protocol that clients without their own choice send. */
const messagesVersion = '2023-06-01';

export interface KeyEstimatesParts extends Omit<EstimateParts, 'slots' | 'trialSlots'> {
  keyring: Pick<Keyring, 'findById'>;
  rates: Pick<RequestRates, 'take'>;
}

/**
 * The same estimates for a key that is named by its id. They count in its requests of the minute, and take none of its
 * slots: whom the control plane answers must not stop the programs that use the key.
 */
export function createKeyEstimates(parts: KeyEstimatesParts): (ask: AskedEstimate) => Promise<EstimateOutcome> {
  const { keyring, rates, refusals } = parts;
  const estimate = createEstimate(parts);
  return async ({ keyId, protocol, asks, body, requestId }) => {
    const principal = await keyring.findById(keyId);
    if (principal === null) return { kind: 'unknown_key' };
    try {
      const limited = await rates.take(principal);
      if (limited !== null) throw new RefusalError(refusals.rateLimited(limited));
      const { answer } = await estimate({
        protocol,
        asks,
        principal,
        requestId,
        bytes: createRequestBytes(Buffer.from(body)),
        rawHeaders: [],
        headers: {},
        numericCodes: false,
        version: protocol === 'messages' ? messagesVersion : undefined,
      });
      return { kind: 'estimated', answer };
    } catch (error) {
      if (error instanceof RefusalError) return refusedAs(protocol, error.refusal);
      throw error;
    }
  };
}

/** What the address of the protocol would answer. */
function refusedAs(protocol: Protocol, refusal: Refusal): EstimateOutcome {
  const { name, code, param = null, message, status, messagesStatus = status } = refusal;
  return {
    kind: 'refused',
    reason: code ?? name,
    param,
    status: protocol === 'messages' ? messagesStatus : status,
    message,
  };
}

export function registerEstimates(app: FastifyInstance, { estimate }: { estimate: Estimator }): void {
  const routes: [string, Protocol, ModelKind, ImagePath?][] = [
    ['/v1/messages/estimate', 'messages', 'text'],
    ['/v1/chat/completions/estimate', 'chat-completions', 'text'],
    ['/v1/responses/estimate', 'responses', 'text'],
    ['/v1/embeddings/estimate', 'chat-completions', 'embedding'],
    ['/v1/images/generations/estimate', 'chat-completions', 'image', 'generations'],
    ['/v1/images/edits/estimate', 'chat-completions', 'image', 'edits'],
  ];
  for (const [url, protocol, asks, imagePath] of routes) {
    const config = { protocol, authenticate: 'now', takesForms: imagePath === 'edits' } as const;
    app.post(url, { config }, async (request, response) => {
      const socket = vendorSocketOf(request.raw);
      const answer = await estimate({
        protocol,
        asks,
        ...(imagePath === undefined ? {} : { imagePath }),
        principal: principalOf(request),
        requestId: request.id,
        ...(socket === undefined ? {} : { socket }),
        bytes: createRequestBytes(bodyOf(request)),
        rawHeaders: request.raw.rawHeaders,
        headers: request.headers,
        numericCodes: takesNumericCodes(request.headers['user-agent']),
        version: protocol === 'messages' ? String(request.headers['anthropic-version']) : undefined,
      });
      return response.headers(requestIdHeaders(request.id)).send(answer);
    });
  }
}
