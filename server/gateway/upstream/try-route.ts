import type { Admitted, Ledger } from '../../billing/lane/ledger.ts';
import { pricesForImages, pricesForToolImages } from '../../core/made-image-cost.ts';
import { dearer, dearestWithin, type TieredPrices } from '../../core/price.ts';
import { dearestVariant } from '../../core/price-variants.ts';
import { promptBound } from '../../core/request.ts';
import { type TokenBounds, withinBounds } from '../../metering/bound.ts';
import { type Brake, type BrakeParts, createBrake } from '../../metering/brake.ts';
import { estimateInput } from '../../metering/estimate.ts';
import { createLeaving } from '../../metering/leaving.ts';
import { createOutageAllowances } from '../../metering/outage-allowance.ts';
import { createHiddenReasoning, reasoningSpeed } from '../../metering/reasoning.ts';
import type { GatewayTimeouts } from '../../runtime/config.ts';
import type { TraceSpan } from '../../runtime/telemetry/tracing.ts';
import { UnreadableReply, type WireExchange } from '../../wire/protocol.ts';
import { eventsOfWhole } from '../../wire/unstreamed.ts';
import type { ClientCall, ModelRequest, Prepared } from '../call.ts';
import type { AnswerShare } from '../load/answer-room.ts';
import { createAnswerTurns } from '../load/answer-turns.ts';
import type { Pulse } from '../load/pulse.ts';
import type { Refusals } from '../refusals/refusals.ts';
import { meterStream } from '../settle.ts';
import { type AttemptEnd, type AttemptParts, attempt, type WholeEvents } from './attempt.ts';
import { upstreamHeaders } from './request-headers.ts';

/** One try of a request at one route: the call to the upstream, with the brake on what it may cost. */
export interface RouteTryParts {
  ledger: Pick<Ledger, 'extend' | 'shrink' | 'uncover'>;
  refusals: Refusals;
  pulse: Pulse;
  timeouts: GatewayTimeouts;
  shutdown: { readonly now: boolean };
}

/** The common state of a request's tries. */
export interface Delivery {
  call: ClientCall;
  request: ModelRequest;
  admission: Admitted;
  share: AnswerShare;
  bounds: TokenBounds;
  /** Monotonic milliseconds. */
  dispatchedAt: number;
}

/** The prices that a running answer may come to: those of other models, too, where some may run for it. */
function pricesToReach({ bound: { size } }: ModelRequest, admission: Admitted): TieredPrices {
  const { contextWindow } = admission;
  const asked = size.variant === undefined ? admission.price : dearestVariant(admission.price, size.variant);
  const { otherPrices, imageAsk } = size;
  const price = pricesForToolImages(asked, size.toolImage);
  if (imageAsk !== undefined) return pricesForImages(price, imageAsk);
  if (otherPrices === undefined) return price;
  return {
    ...dearer(dearestWithin(price, promptBound(size, contextWindow)), otherPrices),
    perUnit: price.perUnit ?? {},
  };
}

/** How a try ended, and the hidden reasoning tokens that are charged without a report of the upstream. */
export interface RouteTry {
  end: AttemptEnd;
  hidden: number;
}

export function createRouteTries({
  ledger,
  refusals,
  pulse,
  timeouts,
  shutdown,
}: RouteTryParts): (delivery: Delivery, prepared: Prepared, span: TraceSpan | null) => Promise<RouteTry> {
  const allowances = createOutageAllowances();
  const turns = createAnswerTurns();

  const brakeFor = (
    { call, request, admission, bounds }: Delivery,
    speed: ReturnType<typeof reasoningSpeed>,
    { stop, resume }: Pick<BrakeParts, 'stop' | 'resume'>,
  ): Brake => {
    const { facts } = request;
    const { size } = request.bound;
    const { amount, freeAfter, contextWindow, contextBound, uncovered } = admission;
    const { accountId } = call.principal;
    const ref = { accountId, requestId: call.requestId };
    return createBrake({
      held: amount,
      freeAfter,
      prices: pricesToReach(request, admission),
      promptBound: promptBound(size, contextWindow),
      estimatedInputTokens: estimateInput(facts, contextWindow),
      bounds,
      contextBound,
      contextRuns: size.contextRuns,
      uncovered,
      reasoning: speed && createHiddenReasoning({ ...speed, startedAt: performance.now() }),
      allowance: allowances.of(accountId),
      extend: (more) => ledger.extend(ref, more),
      shrink: (keep) => ledger.shrink(ref, keep),
      uncover: () => ledger.uncover(ref),
      stop,
      resume,
    });
  };

  return async function tryRoute(delivery, { target, exchange }, span) {
    const { call, request, admission, share, bounds, dispatchedAt } = delivery;
    const { facts } = request;
    const { contextWindow } = admission;
    const { upstream } = target.route;
    const secret = target.key?.secret ?? null;
    const speed = reasoningSpeed(facts.reasoning, request.model, upstream.protocol);
    let brake: Brake | null = null;
    /** Charged only where the catalog entry states how fast the model reasons. */
    const hidden = (): number => (speed?.stated === true ? (brake?.awaitedTokens ?? 0) : 0);
    // Cache warming generates no output that could be cut off, and only its answer reports the usage.
    const isDrained = facts.maxTokens === 0 || upstream.onDisconnect === 'drain';
    const leaving = createLeaving({
      prices: pricesToReach(request, admission),
      promptBound: promptBound(request.bound.size, contextWindow),
      contextBound: admission.contextBound,
      contextRuns: request.bound.size.contextRuns,
      bounds,
      isImage: facts.imageAsk !== undefined,
    });
    call.client.more =
      exchange.droppedTools.length === 0 ? {} : { 'x-steyg-dropped-tools': exchange.droppedTools.join(', ') };
    const { socket } = call;
    const overSocket = socket !== undefined && upstream.features.webSocket && upstream.protocol === call.protocol;
    const trying: AttemptParts = {
      ...(overSocket ? { send: (to, receiver) => socket.dispatch(to, receiver) } : {}),
      request: {
        dispatcher: target.dispatcher,
        ...(target.lookup === undefined ? {} : { lookup: target.lookup }),
        origin: target.origin,
        path: target.basePath + exchange.path,
        headers: upstreamHeaders({
          rawHeaders: call.rawHeaders,
          client: call.protocol,
          upstream: upstream.protocol,
          secret,
          contentType: exchange.contentType,
          trace: upstream.features.traceContext ? (span?.context ?? call.traceContext) : null,
        }),
        body: call.bytes.lend(exchange),
        // Between two versions of an image nothing comes for as long as one takes.
        headersTimeoutMs: facts.stream && facts.imageAsk === undefined ? timeouts.headersMs : timeouts.replyMs,
        idleTimeoutMs: facts.imageAsk === undefined ? timeouts.idleMs : timeouts.replyMs,
      },
      secret,
      stream: facts.stream ? exchange.stream() : null,
      eventsOfWhole: (body) => wholeEvents(exchange, body),
      maxReplyBytes: exchange.maxReplyBytes,
      client: call.client,
      share,
      refusals,
      turns,
      pulse,
      timeouts,
      isDrained,
      leaving,
      dispatchedAt,
      onContent() {
        // No other route is tried: a stream does not keep what it would take.
        request.next = noOther;
        call.bytes.release();
      },
      usageSoFar: (account) =>
        meterStream('budget_stopped', withinBounds(account, bounds), facts, contextWindow, hidden()).usage,
      brake(stop, resume) {
        if (facts.imageAsk !== undefined) return noBrake;
        brake = brakeFor(delivery, speed, { stop, resume });
        return brake;
      },
      shutdown,
    };
    let end: AttemptEnd;
    try {
      end = await attempt(trying);
    } finally {
      (brake as Brake | null)?.close();
    }
    return { end, hidden: hidden() };
  };
}

const noOther = (): null => null;

/** An image cannot be made shorter, and its hold covers it from the beginning. */
const noBrake: Brake = {
  waiting: false,
  hiddenTokens: 0,
  awaitedTokens: 0,
  check: () => undefined,
  clientLeft: () => undefined,
  close: () => undefined,
};

/** The events of an answer that came whole although it was to be streamed; null when it is no answer of the protocol. */
function wholeEvents(exchange: WireExchange, body: Uint8Array): WholeEvents | null {
  if (exchange.eventsOfWhole !== undefined) {
    const own = exchange.eventsOfWhole(body);
    return own === null ? null : { pieces: own, usage: null };
  }
  const pieces = eventsOfWhole(exchange.upstream, body);
  if (pieces === null) return null;
  try {
    const { usage, partial } = exchange.reply(body).account;
    return { pieces, usage: partial ? null : usage };
  } catch (error) {
    if (error instanceof UnreadableReply) return null;
    throw error;
  }
}
