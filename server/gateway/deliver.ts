import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Admitted, Ledger } from '../billing/ledger.ts';
import type { ModelMismatches } from '../catalog/model-mismatches.ts';
import type { Router, Target } from '../catalog/router.ts';
import type { Outcome } from '../core/outcome.ts';
import type { ReportedUsage } from '../core/tokens.ts';
import { type Brake, type BrakeParts, createBrake } from '../metering/brake.ts';
import { createCredit } from '../metering/credit.ts';
import { estimateInput, type TokenBounds, tokenBounds, withinBounds } from '../metering/estimate.ts';
import { createHiddenReasoning, reasoningSpeed } from '../metering/reasoning.ts';
import type { GatewayTimeouts } from '../runtime/config.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { UnreadableReply, type WireExchange, type WirePieces } from '../wire/protocol.ts';
import { type AnswerQueue, bytesOf, createAnswerQueue } from './answer-queue.ts';
import type { AnswerShare } from './answer-room.ts';
import { type AttemptEnd, attempt } from './attempt.ts';
import type { ClientCall, ModelRequest, Prepared } from './call.ts';
import { type FailedEnd, judge, type UpstreamFailure } from './failure.ts';
import { upstreamHeaders } from './headers.ts';
import type { Pulse } from './pulse.ts';
import type { Refusals } from './refusals.ts';
import { sendInStream, sendRefusal } from './refuse.ts';
import { isSameModel } from './reported-model.ts';
import { type Metered, meterLeft, meterStream, meterWhole, unmetered } from './settle.ts';

/**
 * Steps three and four of a request: runs it at its routes, one after the other, until content was relayed, and meters
 * it.
 */
export interface DelivererParts {
  ledger: Pick<Ledger, 'extend'>;
  router: Pick<Router, 'report'>;
  refusals: Refusals;
  pulse: Pulse;
  timeouts: GatewayTimeouts;
  shutdown: { readonly now: boolean };
  /** Records answers by another model; returns at once. */
  mismatches: Pick<ModelMismatches, 'note'>;
  metrics: Metrics;
  log: { warn(fields: object, text: string): void; error(fields: object, text: string): void };
}

/** The result of the delivery: the metering to settle, and the completion of the client's answer. */
export interface Delivered {
  target: Target;
  metered: Metered;
  /** The vendor refused the request as it is: a call that cost nothing. */
  refusedByVendor?: true;
  /** Sends the rest; called after the settlement is on disk. */
  complete(costUsd: string): void;
}

/** Result of a request that delivered nothing: a row of cost zero, and the refusal as a status or an error event. */
export function refusedBy(
  call: ClientCall,
  target: Target,
  failure: Pick<UpstreamFailure, 'passthrough' | 'refusal'> & { outcome: Outcome },
): Delivered {
  return {
    target,
    metered: unmetered(failure.outcome),
    ...(failure.passthrough === undefined ? {} : { refusedByVendor: true }),
    complete() {
      const { client } = call;
      if (client.streaming) sendInStream(call, failure.passthrough ?? null, failure.refusal);
      else if (failure.passthrough === undefined) sendRefusal(call, failure.refusal);
      else
        client.answer(failure.passthrough.status, { 'content-type': failure.passthrough.contentType }, [
          failure.passthrough.body,
        ]);
    },
  };
}

/** Runs an admitted request at its routes, one after the other, until content was relayed or no route is left. */
export type Deliver = (
  call: ClientCall,
  request: ModelRequest,
  admission: Admitted,
  share: AnswerShare,
) => Promise<Delivered>;

/** The common state of a request's tries. */
interface Delivery {
  call: ClientCall;
  request: ModelRequest;
  admission: Admitted;
  share: AnswerShare;
  bounds: TokenBounds;
  /** Monotonic milliseconds. */
  dispatchedAt: number;
}

/** The metering of one try. The brake is null for unstreamed answers. */
interface Metering {
  brake: Brake | null;
  /** The catalog entry states how fast the model reasons, so that hidden reasoning may be charged. */
  isSpeedStated: boolean;
}

/** Hidden reasoning tokens that are charged without a report of the upstream. */
const hiddenTokens = ({ brake, isSpeedStated }: Metering): number => (isSpeedStated ? (brake?.hiddenTokens ?? 0) : 0);

/** How long an answer is drained for its usage after its client left, where that is configured. */
const drainMs = 30_000;

const upstreamFailures: ReadonlySet<Outcome> = new Set(['upstream_cut', 'timeout', 'upstream_error']);

export function createDeliverer(parts: DelivererParts): Deliver {
  const { ledger, router, refusals, pulse, timeouts, shutdown, mismatches, metrics, log } = parts;

  const credit = createCredit();
  const takeTurn = createAnswerQueue();

  const watchModel = (call: ClientCall, model: string, target: Target, reported: string | null): void => {
    const { upstreamModel, upstream } = target.route;
    if (reported === null || isSameModel(upstreamModel, reported)) return;
    metrics.anomaly('model_mismatch', upstream.id);
    mismatches.note({ requestId: call.requestId, model, upstream: upstream.id, asked: upstreamModel, reported });
    log.warn(
      { requestId: call.requestId, upstream: upstream.id, model: upstreamModel },
      'the upstream answered with another model',
    );
  };

  /** Caps reported usage at plausible bounds. What is above is not billed; it is counted as an anomaly. */
  const believed = (call: ClientCall, target: Target, account: ReportedUsage, bounds: TokenBounds): ReportedUsage => {
    const within = withinBounds(account, bounds);
    if (within !== account) {
      const { upstream, upstreamModel } = target.route;
      metrics.anomaly('implausible_usage', upstream.id);
      log.warn(
        { requestId: call.requestId, upstream: upstream.id, model: upstreamModel },
        'the upstream reported more tokens than the model can take',
      );
    }
    return within;
  };

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
      estimatedInputTokens: estimateInput(facts, contextWindow),
      bounds,
      maxOutputTokens: Math.min(facts.maxTokens ?? maxOutputTokens, maxOutputTokens) * facts.answers,
      reasoning: speed && createHiddenReasoning({ ...speed, startedAt: performance.now() }),
      credit: credit.of(accountId),
      // A drained answer stays within its hold: it is not extended.
      extend: async (more) =>
        call.client.gone && isAborted ? 0n : ledger.extend({ accountId, requestId: call.requestId }, more),
      stop,
      resume,
    });
  };

  /** One try at the route of `prepared`. */
  const tryRoute = (delivery: Delivery, { target, exchange }: Prepared, metering: Metering): Promise<AttemptEnd> => {
    const { call, request, admission, share, bounds, dispatchedAt } = delivery;
    const { facts } = request;
    const { contextWindow } = admission;
    const { upstream } = target.route;
    const secret = target.key?.secret ?? null;
    const speed = reasoningSpeed(facts.reasoning, request.model, upstream.protocol);
    metering.isSpeedStated = speed?.stated === true;
    // Cache warming generates no output that could be cut off, and only its answer reports the usage.
    const ownDrainMs = facts.maxTokens === 0 || upstream.onDisconnect === 'drain' ? drainMs : 0;
    call.client.more =
      exchange.droppedTools.length === 0 ? {} : { 'x-steyg-dropped-tools': exchange.droppedTools.join(', ') };
    return attempt({
      request: {
        dispatcher: target.dispatcher,
        origin: target.origin,
        path: target.basePath + exchange.path,
        headers: upstreamHeaders({
          rawHeaders: call.rawHeaders,
          client: call.protocol,
          upstream: upstream.protocol,
          secret,
        }),
        body: call.bytes.lend(exchange),
        headersTimeoutMs: facts.stream ? timeouts.headersMs : timeouts.replyMs,
        idleTimeoutMs: timeouts.idleMs,
      },
      secret,
      stream: facts.stream ? exchange.stream() : null,
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
        meterStream('budget_stopped', withinBounds(account, bounds), facts, contextWindow, hiddenTokens(metering))
          .usage,
      brake(stop, resume) {
        metering.brake = brakeFor(delivery, speed, ownDrainMs === 0, { stop, resume });
        return metering.brake;
      },
      shutdown,
    }).finally(() => metering.brake?.close());
  };

  /** A function of its own, so that nothing else keeps the pieces of the answer while the client takes them. */
  const wholeDelivered = async (
    { call, request, admission, share, bounds }: Delivery,
    { target, exchange }: Prepared,
    pieces: Uint8Array[],
    clientLeft: boolean,
  ): Promise<Delivered | FailedEnd> => {
    const { client } = call;
    const reply = await readReply(exchange, pieces, takeTurn);
    if (reply === null) return { kind: 'fault', fault: 'unreadable' };
    share.handOver(client.gone ? 0 : bytesOf(reply.pieces));
    router.report(target, 'fine');
    watchModel(call, request.model.id, target, reply.account.model);
    const account = believed(call, target, reply.account, bounds);
    return {
      target,
      metered: meterWhole(account, request.facts, admission.contextWindow, clientLeft ? 'client_closed' : 'completed'),
      complete: (costUsd) =>
        client.answer(
          200,
          { 'content-type': 'application/json', 'x-steyg-cost-usd': costUsd, ...client.more },
          reply.pieces,
        ),
    };
  };

  /** The delivery of a try, or its failure, after which another route may be tried. */
  const delivered = async (
    delivery: Delivery,
    { target, exchange }: Prepared,
    end: AttemptEnd,
    hidden: number,
  ): Promise<Delivered | FailedEnd> => {
    const { call, request, admission, bounds } = delivery;
    const { client } = call;
    const { facts } = request;
    const { contextWindow } = admission;
    switch (end.kind) {
      case 'stream':
        router.report(target, upstreamFailures.has(end.ending) ? 'failed' : 'fine');
        watchModel(call, request.model.id, target, end.account.model);
        return {
          target,
          metered: meterStream(end.ending, believed(call, target, end.account, bounds), facts, contextWindow, hidden),
          complete() {
            if (client.gone) return;
            client.startStream();
            if (end.last.length > 0) client.write(end.last);
            client.end();
          },
        };
      case 'left':
        return { target, metered: meterLeft(end.sent, facts, contextWindow, hidden), complete: () => undefined };
      case 'stopped': {
        const [outcome, refusal] =
          end.reason === 'budget'
            ? (['budget_stopped', refusals.budgetUsedUp()] as const)
            : (['shutdown', refusals.budgetUnknown()] as const);
        const account = believed(call, target, end.account, bounds);
        return {
          ...refusedBy(call, target, { outcome, refusal }),
          metered: meterStream(outcome, account, facts, contextWindow, hidden),
        };
      }
      case 'whole':
        return wholeDelivered(delivery, { target, exchange }, end.body, end.clientLeft);
      case 'status':
      case 'error_event':
      case 'fault':
      case 'shutdown':
        return end;
    }
  };

  return async function deliver(call, request, admission, share): Promise<Delivered> {
    const dispatchedAt = performance.now();
    metrics.dispatched((dispatchedAt - call.readAt) / 1000);
    const bounds = tokenBounds(request.facts, request.model.allow, admission.contextWindow);
    const delivery: Delivery = { call, request, admission, share, bounds, dispatchedAt };
    for (let prepared = request.first; ; ) {
      const { target, exchange } = prepared;
      const { upstream } = target.route;
      const startedAt = performance.now();
      const metering: Metering = { brake: null, isSpeedStated: false };
      const end = await tryRoute(delivery, prepared, metering);
      metrics.upstreamAnswered(upstream.id, request.model.id, endLabel(end), performance.now() - startedAt);
      const result = await delivered(delivery, prepared, end, hiddenTokens(metering));
      if (!('kind' in result)) return result;

      share.discard();
      const failure = judge(result, {
        exchange,
        refusals,
        requestId: call.requestId,
        upstreamModel: target.route.upstreamModel,
      });
      router.report(target, failure.verdict, failure.retryAfterS);
      const where = { requestId: call.requestId, upstream: upstream.id, kind: endLabel(result) };
      if (failure.trouble !== undefined) metrics.anomaly(`upstream_${failure.trouble}`, upstream.id);
      if (failure.verdict === 'unauthorized') log.error(where, 'an upstream refuses our key or funds');
      else if (failure.verdict === 'misnamed') log.error(where, 'an upstream does not know its name of the model');
      else if (failure.verdict !== 'fine') log.warn(where, 'a try at an upstream failed');
      const noConnection = result.kind === 'fault' && result.fault === 'connect';
      const next =
        failure.elsewhere && !call.client.gone ? request.next(noConnection ? 'no_connection' : 'failure') : null;
      if (next === null) return refusedBy(call, target, failure);
      metrics.failover(request.model.id);
      prepared = next;
    }
  };
}

/** Answers above this size are read in turn, and in slices. */
const largeReplyBytes = 1_048_576;

/** Null: a 2xx answer that the protocol does not allow. */
async function readReply(
  exchange: WireExchange,
  pieces: readonly Uint8Array[],
  takeTurn: AnswerQueue,
): Promise<WirePieces | null> {
  try {
    if (bytesOf(pieces) > largeReplyBytes) return await takeTurn(() => exchange.replyInPieces(pieces, nextTurn));
    const [first = new Uint8Array(0)] = pieces;
    const { body, account } = exchange.reply(pieces.length > 1 ? Buffer.concat(pieces) : first);
    return { pieces: [body], account };
  } catch (error) {
    if (error instanceof UnreadableReply) return null;
    throw error;
  }
}

/** Label of an end, for metrics and logs. */
function endLabel(end: AttemptEnd): string {
  switch (end.kind) {
    case 'status':
      return `status_${end.status}`;
    case 'error_event':
      return `event_${end.error.status}`;
    case 'fault':
      return end.fault;
    case 'stream':
      return end.ending;
    case 'whole':
    case 'stopped':
    case 'left':
    case 'shutdown':
  }
  return end.kind;
}
