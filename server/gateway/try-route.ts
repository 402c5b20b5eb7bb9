import type { Admitted, Ledger } from '../billing/ledger.ts';
import { type Brake, type BrakeParts, createBrake } from '../metering/brake.ts';
import { createCredit } from '../metering/credit.ts';
import { awaitsPieces, estimateInput, promptBoundOf, type TokenBounds, withinBounds } from '../metering/estimate.ts';
import { createHiddenReasoning, reasoningSpeed } from '../metering/reasoning.ts';
import type { GatewayTimeouts } from '../runtime/config.ts';
import type { TraceSpan } from '../runtime/tracing.ts';
import { UnreadableReply, type WireExchange } from '../wire/protocol.ts';
import { eventsOfWhole } from '../wire/unstreamed.ts';
import type { AnswerShare } from './answer-room.ts';
import { type AttemptEnd, attempt, type WholeEvents } from './attempt.ts';
import type { ClientCall, ModelRequest, Prepared } from './call.ts';
import type { Pulse } from './pulse.ts';
import type { Refusals } from './refusals.ts';
import { meterStream } from './settle.ts';
import { upstreamHeaders } from './upstream-headers.ts';

/** One try of a request at one route: the call to the upstream, with the brake on what it may cost. */
export interface RouteTryParts {
  ledger: Pick<Ledger, 'extend'>;
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

/** How a try ended, and the hidden reasoning tokens that are charged without a report of the upstream. */
export interface RouteTry {
  end: AttemptEnd;
  hidden: number;
}

/** How long an answer is drained for its usage after its client left, where that is configured. */
const drainMs = 30_000;

export function createRouteTries({
  ledger,
  refusals,
  pulse,
  timeouts,
  shutdown,
}: RouteTryParts): (delivery: Delivery, prepared: Prepared, span: TraceSpan | null) => Promise<RouteTry> {
  const credit = createCredit();

  const brakeFor = (
    { call, request, admission, bounds }: Delivery,
    speed: ReturnType<typeof reasoningSpeed>,
    isAborted: boolean,
    { stop, resume }: Pick<BrakeParts, 'stop' | 'resume'>,
  ): Brake => {
    const { facts } = request;
    const { amount, freeAfter, price, contextWindow, maxOutputTokens } = admission;
    const { accountId } = call.principal;
    return createBrake({
      held: amount,
      freeAfter,
      prices: price,
      promptBound: promptBoundOf(facts, request.model.allow, contextWindow),
      estimatedInputTokens: estimateInput(facts, contextWindow),
      bounds,
      maxOutputTokens: Math.min(request.maxTokens ?? maxOutputTokens, maxOutputTokens) * facts.answers,
      reasoning: speed && createHiddenReasoning({ ...speed, startedAt: performance.now() }),
      credit: credit.of(accountId),
      // A drained answer stays within its hold: it is not extended.
      extend: async (more) =>
        call.client.gone && isAborted ? 0n : ledger.extend({ accountId, requestId: call.requestId }, more),
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
    // Images that are being made and minutes of audio are known only from the rest of the answer.
    const ownDrainMs = isDrained || awaitsPieces(bounds, admission.price.perUnit) ? drainMs : 0;
    call.client.more =
      exchange.droppedTools.length === 0 ? {} : { 'x-steyg-dropped-tools': exchange.droppedTools.join(', ') };
    const end = await attempt({
      request: {
        dispatcher: target.dispatcher,
        origin: target.origin,
        path: target.basePath + exchange.path,
        headers: upstreamHeaders({
          rawHeaders: call.rawHeaders,
          client: call.protocol,
          upstream: upstream.protocol,
          secret,
          trace: upstream.features.traceContext ? (span?.context ?? call.traceContext) : null,
        }),
        body: call.bytes.lend(exchange),
        headersTimeoutMs: facts.stream ? timeouts.headersMs : timeouts.replyMs,
        idleTimeoutMs: timeouts.idleMs,
      },
      secret,
      stream: facts.stream ? exchange.stream() : null,
      eventsOfWhole: (body) => wholeEvents(exchange, body),
      maxReplyBytes: exchange.maxReplyBytes,
      client: call.client,
      share,
      refusals,
      pulse,
      timeouts,
      drainMs: ownDrainMs,
      dispatchedAt,
      onContent: () => call.bytes.release(),
      usageSoFar: (account) =>
        meterStream('budget_stopped', withinBounds(account, bounds), facts, contextWindow, hidden()).usage,
      brake(stop, resume) {
        brake = brakeFor(delivery, speed, !isDrained, { stop, resume });
        return brake;
      },
      shutdown,
    }).finally(() => brake?.close());
    return { end, hidden: hidden() };
  };
}

/** The events of an answer that came whole although it was to be streamed; null when it is no answer of the protocol. */
function wholeEvents(exchange: WireExchange, body: Uint8Array): WholeEvents | null {
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
