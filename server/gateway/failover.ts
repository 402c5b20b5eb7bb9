import type { Admitted } from '../billing/lane/ledger.ts';
import type { Target } from '../catalog/router.ts';
import type { Log } from '../core/log.ts';
import type { ReportedUsage } from '../core/tokens.ts';
import { tokenBounds } from '../metering/bound.ts';
import type { WireExchange } from '../wire/protocol.ts';
import type { ClientCall, ModelRequest } from './call.ts';
import type { AnswerShare } from './load/answer-room.ts';
import { meterRefused } from './settle.ts';
import { traceAnswered, traceTry } from './traces.ts';
import type { AttemptEnd } from './upstream/attempt.ts';
import { createEndReader, type Delivered, type DeliveredParts, refusedBy } from './upstream/delivered.ts';
import { type FailedEnd, judge, type UpstreamFailure } from './upstream/failure.ts';
import { createRouteTries, type Delivery, type RouteTryParts } from './upstream/try-route.ts';

/**
 * Steps three and four of a request: runs it at its routes, one after the other, until content was relayed, and meters
 * it.
 */
export interface DelivererParts extends RouteTryParts, DeliveredParts {
  log: Pick<Log, 'warn' | 'error'>;
}

/** Runs an admitted request at its routes, one after the other, until content was relayed or no route is left. */
export type Deliver = (
  call: ClientCall,
  request: ModelRequest,
  admission: Admitted,
  share: AnswerShare,
) => Promise<Delivered>;

export function createDeliverer(parts: DelivererParts): Deliver {
  const { router, refusals, metrics, log } = parts;
  const tryRoute = createRouteTries(parts);
  const readEnd = createEndReader(parts);

  const reportFailure = (call: ClientCall, target: Target, end: FailedEnd, failure: UpstreamFailure): void => {
    router.report(target, failure.verdict, failure.retryAfterS);
    const { upstream } = target.route;
    if (failure.trouble !== undefined) metrics.anomaly(`upstream_${failure.trouble}`, upstream.id);
    const where = { requestId: call.requestId, upstream: upstream.id, kind: endLabel(end) };
    if (failure.verdict === 'unauthorized') log.error(where, 'an upstream refuses our key or funds');
    else if (failure.verdict === 'misnamed') log.error(where, 'an upstream does not know its name of the model');
    else if (failure.verdict !== 'fine') log.warn(where, 'a try at an upstream failed');
  };

  return async function deliver(call, request, admission, share): Promise<Delivered> {
    const dispatchedAt = performance.now();
    metrics.dispatched((dispatchedAt - call.readAt) / 1000);
    const bounds = tokenBounds(request.bound.size, admission);
    const delivery: Delivery = { call, request, admission, share, bounds, dispatchedAt };
    for (let prepared = request.first; ; ) {
      const { target, exchange } = prepared;
      const { upstream, upstreamModel } = target.route;
      const startedAt = performance.now();
      router.sending(target, request.model, prepared === request.first);
      const span = call.trace === null ? null : traceTry(call.trace, request, target);
      const done = await tryRoute(delivery, prepared, span);
      metrics.upstreamAnswered({
        upstream: upstream.id,
        model: request.model.id,
        kind: request.model.kind,
        end: endLabel(done.end),
        milliseconds: performance.now() - startedAt,
      });
      const result = await readEnd(delivery, prepared, done);
      if (span !== null && !('kind' in result) && result.answered !== undefined)
        traceAnswered(span, result.answered, result.metered);
      span?.end(errorOf(done.end));
      if (!('kind' in result)) return result;

      share.discard();
      const failure = judge(result, {
        exchange,
        refusals,
        requestId: call.requestId,
        upstreamModel,
        profile: upstream.profile,
      });
      reportFailure(call, target, result, failure);
      const noConnection = result.kind === 'fault' && result.fault === 'connect';
      const next =
        failure.elsewhere && !call.client.gone ? request.next(noConnection ? 'no_connection' : 'failure') : null;
      if (next === null) {
        const refused = refusedBy(call, target, failure);
        const billed = failure.verdict === 'fine' ? billedOf(result, exchange) : null;
        return billed === null ? refused : { ...refused, metered: meterRefused(billed, failure.outcome, bounds) };
      }
      metrics.failover(request.model.id);
      prepared = next;
    }
  };
}

/** What a refusal of the request itself says that it costs; null: nothing. */
function billedOf(end: FailedEnd, { billed }: WireExchange): ReportedUsage | null {
  if (end.kind === 'error_event') return billed === undefined || end.account.usage === null ? null : end.account;
  return end.kind === 'status' && end.status < 500 ? (billed?.(end.body) ?? null) : null;
}

/** The word for a failed try in its span; null: it did not fail. */
function errorOf(end: AttemptEnd): string | null {
  if (end.kind === 'whole') return null;
  return end.kind === 'stream' && end.ending === 'completed' ? null : endLabel(end);
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
