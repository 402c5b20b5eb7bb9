import type { Admitted, Ledger, Settlement } from '../billing/lane/ledger.ts';
import { formatUsd } from '../core/money.ts';
import { entryCost } from '../core/price.ts';
import type { TokenPools } from '../core/tokens.ts';
import { tokenBounds } from '../metering/bound.ts';
import { describeError } from '../runtime/http.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';
import type { RequestEnds } from '../uptime/passive.ts';
import { type AdmitterParts, createAdmitter } from './admit.ts';
import type { ClientCall, ModelRequest } from './call.ts';
import type { Standing } from './entrance/standing.ts';
import { createDeliverer, type DelivererParts } from './failover.ts';
import type { Running } from './limits/concurrency.ts';
import { type Pace, tokensUsed } from './limits/pace.ts';
import type { RequestRates } from './limits/request-rate.ts';
import { createAnswerRoom } from './load/answer-room.ts';
import { createReader, type ReaderParts } from './read.ts';
import { isDatabaseAway } from './refusals/outage.ts';
import type { Refusal, Refusals } from './refusals/refusals.ts';
import { sendRefusal } from './refusals/refuse.ts';
import { servedBy, toSettlement } from './settle.ts';
import { traceMetered, traceRequest } from './traces.ts';
import { type Delivered, refusedBy } from './upstream/delivered.ts';

/**
 * The spine of the data plane. A request goes through it in steps, each of which takes the last one's value:
 *
 *   look -> read -> admit -> deliver (dispatch, meter) -> settle
 *
 * (it was authenticated before its body was read). Every path after the admission ends in exactly one settlement or one
 * release. The README of this folder has the guarantees of each step.
 */

export interface RelayParts extends ReaderParts, AdmitterParts, DelivererParts {
  ledger: Ledger;
  standing: Standing;
  rates: Pick<RequestRates, 'chargeRefusedCall'>;
  pace: Pace;
  router: ReaderParts['router'];
  refusals: Refusals;
  metrics: Metrics;
  /** Counts how requests end, for the status page. */
  requestEnds: Pick<RequestEnds, 'note'>;
}

/**
 * Step five of a request: the settlement's line on disk, then the last bytes. The commit in the ledger follows without
 * a wait: an unreachable database must block neither the client nor the account's slots.
 */
function createSettler({
  ledger,
  metrics,
  requestEnds,
  log,
}: Pick<RelayParts, 'ledger' | 'metrics' | 'requestEnds' | 'log'>) {
  /** A function of its own, so that a settlement which waits for its commit keeps nothing of the request in memory. */
  const write = (settlement: Settlement): Promise<void> =>
    new Promise((written) => {
      const { requestId, model } = settlement;
      ledger.settle(settlement, written).then(
        ({ charged }) => metrics.charged(model, charged),
        (error: unknown) => {
          // The settlement is on disk or set aside, and the ledger has logged why. This line names the request.
          metrics.fault('settlement');
          log.error({ requestId, ...describeError(error) }, 'a settlement did not reach the ledger');
        },
      );
    });

  return async (
    call: ClientCall,
    request: ModelRequest,
    admission: Admitted,
    { metered, target, complete, refusedByVendor }: Delivered,
  ): Promise<void> => {
    const now = performance.now();
    const { variant } = request.bound.size;
    const settlement = toSettlement({
      accountId: call.principal.accountId,
      keyId: call.principal.keyId,
      requestId: call.requestId,
      model: request.model.id,
      route: target.route,
      facts: request.facts,
      price: admission.price,
      admittedAtMs: admission.admittedAtMs,
      metered,
      bounds: tokenBounds(request.bound.size, admission),
      ...(variant === undefined
        ? {}
        : { variant: { asked: variant, served: servedBy(target.route, request.facts, metered.served) } }),
      attribution: request.attribution,
      others: request.others,
      makers: request.makers,
      latencyMs: now - call.receivedAt,
      // A whole answer is not written yet: its first byte follows.
      timeToFirstByteMs:
        metered.outcome === 'client_closed' && call.client.firstByteAt === null
          ? null
          : (call.client.firstByteAt ?? now) - call.receivedAt,
    });
    const cost = entryCost(settlement);
    if (call.trace !== null) traceMetered(call.trace, metered, settlement);
    const settling = call.trace?.child('settle', 'internal');
    await write(settlement);
    settling?.end();
    complete(formatUsd(cost));
    metrics.settled({
      protocol: call.protocol,
      model: request.model.id,
      kind: request.model.kind,
      outcome: metered.outcome,
      usageSource: metered.usageSource,
      usage: metered.usage,
      cost,
    });
    requestEnds.note({
      accountId: call.principal.accountId,
      model: request.model.id,
      protocol: call.protocol,
      outcome: metered.outcome,
      refused: refusedByVendor === true,
    });
  };
}

const maxReplyBytes = 64 * 1_048_576;
/** Bytes of unstreamed answers in memory: two of the largest for an account, a few for the whole process. */
const maxAnswerBytesPerAccount = 2 * maxReplyBytes;
const maxAnswerBytes = 4 * maxReplyBytes;

/** Resolves when the client has the whole answer and its settlement is on disk; to the catalog id that ran, or null when the request was refused. */
export type Relay = (call: ClientCall) => Promise<string | null>;

export function createRelay(parts: RelayParts): Relay {
  const { ledger, refusals, slots, standing, rates, pace, metrics, log, pulse, shutdown } = parts;
  const answers = createAnswerRoom({
    perAccountBytes: maxAnswerBytesPerAccount,
    totalBytes: maxAnswerBytes,
    maxAnswerBytes: maxReplyBytes,
  });
  metrics.gauge('gateway_answer_bytes', 'Bytes of unstreamed answers in memory.', () => answers.bytes);
  const read = createReader(parts);
  const admit = createAdmitter(parts);
  const deliver = createDeliverer(parts);
  const settle = createSettler(parts);

  /** Releases a hold for which nothing will be settled. Does nothing to a hold that was settled after all. */
  const releaseHold = ({ principal: { accountId }, requestId }: ClientCall): void => {
    ledger.release({ accountId, requestId }).catch((error: unknown) => {
      log.warn({ requestId, ...describeError(error) }, 'a hold was not given back; it ends with the lease');
    });
  };

  /**
   * Waits until the client has taken the last bytes: until then they are in memory, and the request keeps its slot. A
   * stopping process does not wait. Null: it has them.
   */
  const flushed = (call: ClientCall): Promise<void> | null => {
    const written = call.client.flushed();
    return written === null ? null : untilStopped(written);
  };
  const untilStopped = async (written: Promise<void>): Promise<void> => {
    const stopped = Promise.withResolvers<void>();
    const leave = pulse.join(() => {
      if (shutdown.now) stopped.resolve();
    });
    await Promise.race([written, stopped.promise]);
    leave();
  };

  /** The steps of a request that was admitted. The usage of its answer; null: there is none. */
  const fulfil = async (call: ClientCall, request: ModelRequest, admission: Admitted): Promise<TokenPools | null> => {
    const share = answers.open(call.principal.accountId);
    let used: TokenPools | null = null;
    try {
      let delivered: Delivered;
      try {
        delivered = await deliver(call, request, admission, share);
      } catch (error) {
        // An internal fault: the customer pays nothing, and the hold is released.
        metrics.fault('relay');
        log.error({ requestId: call.requestId, ...describeError(error) }, 'the relay failed');
        delivered = refusedBy(call, request.first.target, { outcome: 'upstream_error', refusal: refusals.internal() });
      }
      call.bytes.release();
      used = delivered.metered.usage;
      if (delivered.refusedByVendor === true) rates.chargeRefusedCall(call.principal);
      await settle(call, request, admission, delivered);
      const flushing = flushed(call);
      if (flushing !== null) await flushing;
    } catch (error) {
      metrics.fault('settlement');
      log.error({ requestId: call.requestId, ...describeError(error) }, 'an answer could not be completed');
      releaseHold(call);
      call.client.destroy();
    } finally {
      share.close();
    }
    return used;
  };

  /** The steps of a request that has a slot. */
  const serve = async (call: ClientCall): Promise<string | null> => {
    const looking = standing.look(call.principal, call.bytes.raw.length);
    const shut = looking === null ? null : await looking;
    if (shut !== null) return refuse(call, shut);
    const request = await read(call);
    if ('status' in request) return refuse(call, request);
    if (call.trace !== null) traceRequest(call.trace, request);
    if (!request.facts.stream && answers.isFull(call.principal.accountId)) {
      return refuse(call, refusals.answersUnread());
    }
    const drawing = pace.draw(call, request);
    const draw = drawing === null ? null : await drawing;
    if (draw !== null && 'status' in draw) return refuse(call, draw);
    let used: TokenPools | null = null;
    try {
      const admitting = call.trace?.child('admit', 'internal');
      const admission = await admit(call, request);
      admitting?.end('status' in admission ? admission.name : null);
      standing.note(call.principal.accountId, !('status' in admission));
      if ('status' in admission) return refuse(call, admission);
      if (call.client.gone) {
        releaseHold(call);
        return null;
      }
      used = await fulfil(call, request, admission);
      return request.model.id;
    } finally {
      draw?.used(used === null ? 0 : tokensUsed(used));
    }
  };

  const run = async (call: ClientCall): Promise<string | null> => {
    const { accountId, keyId } = call.principal;
    const full = slots.take(accountId, keyId);
    if (full !== null) return refuse(call, refusals.tooManyRequests(full === 'key' ? 'API key' : 'account'));
    let running: Running | null = null;
    try {
      const beginning = pace.begin(call);
      const begun = beginning === null ? null : await beginning;
      if (begun !== null && 'status' in begun) return refuse(call, begun);
      running = begun;
      return await serve(call);
    } finally {
      running?.give();
      slots.give(accountId, keyId);
    }
  };

  return async function relay(call) {
    try {
      return await run(call);
    } catch (error) {
      // Before the admission: nothing is held and nothing was sent.
      if (isDatabaseAway(error)) {
        metrics.budgetRefusal('unavailable');
        return refuse(call, refusals.unavailable());
      }
      metrics.fault('relay');
      log.error({ requestId: call.requestId, ...describeError(error) }, 'a request failed before it was admitted');
      return call.client.streaming ? null : refuse(call, refusals.unavailable());
    }
  };
}

function refuse(call: ClientCall, refusal: Refusal): null {
  sendRefusal(call, refusal);
  return null;
}
