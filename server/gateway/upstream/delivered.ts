import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ModelMismatches } from '../../catalog/model-mismatches.ts';
import type { Router, Target } from '../../catalog/router.ts';
import type { Log } from '../../core/log.ts';
import type { Outcome } from '../../core/outcome.ts';
import { chosenVariant } from '../../core/price-variants.ts';
import { noTokens, type ReportedUsage } from '../../core/tokens.ts';
import { type TokenBounds, withinBounds } from '../../metering/bound.ts';
import type { Metrics } from '../../runtime/telemetry/metrics.ts';
import { UnreadableReply, type WireError, type WireExchange, type WirePieces } from '../../wire/protocol.ts';
import type { ClientCall, Prepared } from '../call.ts';
import { type AnswerQueue, bytesOf, createAnswerQueue } from '../load/answer-queue.ts';
import { withNumericCode } from '../refusals/numeric-codes.ts';
import type { Refusals } from '../refusals/refusals.ts';
import { sendInStream, sendRefusal } from '../refusals/refuse.ts';
import {
  type ImageTerms,
  type LeftFacts,
  type Metered,
  meterCut,
  meterLeft,
  meterStream,
  meterUnread,
  meterWhole,
  pricedRun,
  servedBy,
  unmetered,
  withBegunMinute,
  withServing,
  withUnmeasured,
  withUnreportedImages,
} from '../settle.ts';
import type { FailedEnd, UpstreamFailure } from './failure.ts';
import type { Delivery, RouteTry } from './try-route.ts';

/** From the end of a try to what is metered and what the client still gets of it. */
export interface DeliveredParts {
  router: Pick<Router, 'sending' | 'report'>;
  refusals: Refusals;
  /** Records answers by another model; returns at once. */
  mismatches: Pick<ModelMismatches, 'note'>;
  metrics: Metrics;
  log: Pick<Log, 'warn'>;
}

/** What an answer says of itself. */
export type AnswerWords = Pick<ReportedUsage, 'model' | 'finish'>;

/** The result of the delivery: the metering to settle, and the completion of the client's answer. */
export interface Delivered {
  target: Target;
  metered: Metered;
  /** Left out: there was no answer. */
  answered?: AnswerWords;
  /** The vendor refused the request as it is: a call that cost nothing. */
  refusedByVendor?: true;
  /** Sends the rest; called after the settlement is on disk. */
  complete(costUsd: string): void;
}

/** A vendor's error on its way to the client: its own bytes, but for the library that reads no words as codes. */
function passed({ numericCodes }: ClientCall, { status, body }: WireError): Uint8Array {
  return numericCodes ? Buffer.from(withNumericCode(status, Buffer.from(body).toString('utf8'))) : body;
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
          passed(call, failure.passthrough),
        ]);
    },
  };
}

const upstreamFailures: ReadonlySet<Outcome> = new Set(['upstream_cut', 'timeout', 'upstream_error']);

/** The delivery of a try, or its failure, after which another route may be tried. */
export type ReadEnd = (delivery: Delivery, prepared: Prepared, done: RouteTry) => Promise<Delivered | FailedEnd>;

export function createEndReader({ router, refusals, mismatches, metrics, log }: DeliveredParts): ReadEnd {
  const takeTurn = createAnswerQueue();

  /** Reports models that were neither asked for nor have a price where the request let the vendor choose. */
  const watchModel = (
    { call, request, admission: { price, admittedAtMs } }: Delivery,
    { route }: Target,
    { model: reported, runs = [] }: ReportedUsage,
  ): void => {
    const { upstreamModel, upstream } = route;
    const { model, others } = request;
    const parts = { model: model.id, route, price, admittedAtMs, others };
    const isOther = reported !== null && pricedRun({ model: reported }, parts) === null;
    const unpriced = runs.filter((run) => pricedRun(run, parts) === null).map((run) => run.model ?? '');
    if (!isOther && unpriced.length === 0) return;
    metrics.anomaly('model_mismatch', upstream.id);
    for (const name of new Set(isOther ? [reported, ...unpriced] : unpriced))
      mismatches.note({
        requestId: call.requestId,
        model: model.id,
        upstream: upstream.id,
        asked: upstreamModel,
        reported: name,
      });
    log.warn(
      { requestId: call.requestId, upstream: upstream.id, model: upstreamModel },
      'the upstream answered with another model',
    );
  };

  /** Reports a tier, speed or region that was not asked for, or that has no price: the request is charged at what it asked for. */
  const watchVariant = (
    { call, request: { facts, bound }, admission: { price } }: Delivery,
    { route }: Target,
    { served }: ReportedUsage,
  ): void => {
    const { variant } = bound.size;
    if (variant === undefined || !chosenVariant(price, variant, servedBy(route, facts, served), noTokens).isStrange)
      return;
    const { upstream, upstreamModel } = route;
    metrics.anomaly('tier_mismatch', upstream.id);
    log.warn(
      { requestId: call.requestId, upstream: upstream.id, model: upstreamModel },
      'the upstream served another tier than was asked for',
    );
  };

  /** Caps reported usage at plausible bounds. What is above is not billed; it is counted as an anomaly. */
  const believed = (call: ClientCall, target: Target, account: ReportedUsage, bounds: TokenBounds): ReportedUsage => {
    const within = withinBounds(account, bounds);
    const { upstream, upstreamModel } = target.route;
    // It is charged as reported, because that is what the vendor bills; a vendor that counts nothing is worth a look.
    if (account.usage?.output === 0 && !account.partial && account.outputBytes > 0) {
      metrics.anomaly('uncounted_output', upstream.id);
      log.warn(
        { requestId: call.requestId, upstream: upstream.id, model: upstreamModel },
        'the upstream reported no output tokens for an answer that has content',
      );
    }
    if (within !== account) {
      metrics.anomaly('implausible_usage', upstream.id);
      log.warn(
        { requestId: call.requestId, upstream: upstream.id, model: upstreamModel },
        'the upstream reported more tokens, searches, images or minutes than a request can take',
      );
    }
    return within;
  };

  /** A function of its own, so that nothing else keeps the pieces of the answer while the client takes them. */
  const wholeDelivered = async (
    delivery: Delivery,
    { target, exchange }: Prepared,
    pieces: Uint8Array[],
    clientLeft: boolean,
  ): Promise<Delivered | FailedEnd> => {
    const { call, request, admission, share, bounds } = delivery;
    const { client } = call;
    const reply = await readReply(exchange, pieces, takeTurn);
    if (reply === null) return { kind: 'fault', fault: 'unreadable' };
    share.handOver(client.gone ? 0 : bytesOf(reply.pieces));
    router.report(target, 'fine');
    watchModel(delivery, target, reply.account);
    watchVariant(delivery, target, reply.account);
    const account = believed(call, target, reply.account, bounds);
    const outcome = clientLeft ? 'client_closed' : 'completed';
    const metered = meterWhole(account, request.facts, admission.contextWindow, outcome);
    const known = withUnreportedImages(metered, account, termsOf(delivery));
    const serving = withServing(known, account.model, target.route.upstreamModel, request.others);
    return {
      target,
      metered: withBegunMinute(serving, account.usage !== null, bounds, admission.price),
      answered: account,
      complete: (costUsd) =>
        client.answer(
          200,
          { 'content-type': 'application/json', 'x-steyg-cost-usd': costUsd, ...client.more },
          reply.pieces,
        ),
    };
  };

  const tooLarge = createTooLarge({ router, refusals, log, believed, takeTurn });

  return async function readEnd(delivery, prepared, { end, hidden }) {
    const { call, request, admission, bounds } = delivery;
    const { target } = prepared;
    const { client } = call;
    const { facts } = request;
    const { contextWindow } = admission;
    const meterEnd = (ending: Outcome, reported: ReportedUsage): Metered => {
      const account = believed(call, target, reported, bounds);
      const isReported = account.usage !== null;
      const metered = meterStream(ending, account, facts, contextWindow, hidden);
      const images = withUnreportedImages(metered, account, termsOf(delivery));
      const known = withUnmeasured(images, isReported, request.bound.size, contextWindow);
      const serving = withServing(known, account.model, target.route.upstreamModel, request.others);
      return withBegunMinute(serving, isReported, bounds, admission.price);
    };
    switch (end.kind) {
      case 'stream':
        router.report(target, upstreamFailures.has(end.ending) ? 'failed' : 'fine');
        watchModel(delivery, target, end.account);
        watchVariant(delivery, target, end.account);
        return {
          target,
          metered: meterEnd(end.ending, end.account),
          answered: end.account,
          complete() {
            if (client.gone) return;
            client.startStream();
            if (end.last.length > 0) client.write(end.last);
            client.end();
          },
        };
      case 'left': {
        const account = end.account === null ? null : believed(call, target, end.account, bounds);
        return {
          target,
          metered: meterGone(delivery, prepared, { ...end, account, hidden }),
          complete: () => undefined,
        };
      }
      case 'stopped': {
        const [outcome, refusal] =
          end.reason === 'budget'
            ? (['budget_stopped', refusals.budgetUsedUp()] as const)
            : (['shutdown', refusals.budgetUnknown()] as const);
        return { ...refusedBy(call, target, { outcome, refusal }), metered: meterEnd(outcome, end.account) };
      }
      case 'whole':
        return wholeDelivered(delivery, prepared, end.body, end.clientLeft);
      case 'fault': {
        if (end.fault !== 'too_large') return end;
        return tooLarge(delivery, prepared, end.arrived ?? []);
      }
      case 'status':
      case 'error_event':
      case 'shutdown':
        return end;
    }
  };
}

const termsOf = ({
  request: { facts },
  admission: { price, maxOutputTokens },
}: Pick<Delivery, 'request' | 'admission'>): ImageTerms => ({
  facts,
  price,
  maxOutputTokens,
});

/** Meters a request whose client left before any answer. */
function meterGone(
  delivery: Delivery,
  { target }: Prepared,
  { hidden, ...left }: Omit<LeftFacts, 'by'> & { hidden: number },
): Metered {
  const { request, admission, bounds } = delivery;
  const { facts, bound } = request;
  const { contextWindow, price } = admission;
  const gone = meterLeft({ ...left, by: target.route.upstream.protocol }, facts, contextWindow, hidden);
  const metered = withUnreportedImages(gone, left.account, termsOf(delivery));
  const isReported = left.account !== null && left.account.usage !== null;
  return withBegunMinute(withUnmeasured(metered, isReported, bound.size, contextWindow), isReported, bounds, price);
}

type Believed = (call: ClientCall, target: Target, account: ReportedUsage, bounds: TokenBounds) => ReportedUsage;

/** The end of an answer that was too large: the vendor has done its work and is paid for it; another one would send as much. */
function createTooLarge({
  router,
  refusals,
  log,
  believed,
  takeTurn,
}: Pick<DeliveredParts, 'router' | 'refusals' | 'log'> & { believed: Believed; takeTurn: AnswerQueue }) {
  return async (
    { call, request, admission, bounds }: Delivery,
    { target, exchange }: Prepared,
    arrived: readonly Uint8Array[],
  ): Promise<Delivered> => {
    const { facts } = request;
    router.report(target, 'fine');
    log.warn(
      { requestId: call.requestId, upstream: target.route.upstream.id },
      'an answer is too large to be delivered',
    );
    const isEmbedding = facts.inputs !== undefined;
    const refusal = isEmbedding ? refusals.vectorsTooLarge() : refusals.answerTooLarge();
    const count = async (): Promise<Metered> => {
      const account = await takeTurn(() => exchange.countArrived(arrived, nextTurn));
      const known = believed(call, target, account, bounds);
      const metered = meterCut(known, facts, admission.contextWindow);
      if (facts.imageAsk === undefined) return metered;
      // All of it was made, although it cannot be handed on.
      const whole = { ...known, images: facts.imageAsk.count };
      const made = { ...metered, units: { image: facts.imageAsk.count }, outcome: 'completed' } as const;
      return { ...withUnreportedImages(made, whole, termsOf({ request, admission })), outcome: 'upstream_error' };
    };
    return {
      ...refusedBy(call, target, { outcome: 'upstream_error', refusal }),
      metered: isEmbedding ? meterUnread(facts, admission.contextWindow) : await count(),
    };
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
