import { createHash } from 'node:crypto';
import type { Admitted, Ledger, Refused } from '../billing/ledger.ts';
import { formatUsd } from '../billing/money.ts';
import { cost as costOf } from '../billing/price.ts';
import type { Catalog, CatalogModel } from '../catalog/catalog.ts';
import type { GatewayTimeouts } from '../config.ts';
import type { Refusal, Refusals } from '../errors.ts';
import { describeError } from '../http.ts';
import type { Principal } from '../keys/keyring.ts';
import type { Metrics } from '../metrics.ts';
import type { Router, Target } from '../upstreams/router.ts';
import { scanBody } from '../wire/body.ts';
import type { Protocol, RequestFacts, Wire, WireContext, WireProblem } from '../wire/protocol.ts';
import { UnreadableReply } from '../wire/protocol.ts';
import { type AttemptEnd, attempt } from './attempt.ts';
import { createBrake } from './brake.ts';
import type { Client } from './client.ts';
import { estimateInput, mediaTokens } from './estimate.ts';
import { type Failure, judge } from './failure.ts';
import { upstreamHeaders } from './headers.ts';
import type { Pulse } from './pulse.ts';
import { sendInStream, sendRefusal } from './refuse.ts';
import { type Metered, meterLeft, meterStream, meterWhole, toSettlement, unmetered } from './settle.ts';
import type { Slots } from './slots.ts';
import { wireFor } from './wire-for.ts';

/**
 * The spine of the data plane. A request goes through it in five steps, each of which takes the last one's value:
 *
 *   read -> admit -> deliver (dispatch, meter) -> settle
 *
 * (it was authenticated before its body was read). Every path out of it after the admission ends in exactly one
 * settlement or one release. README.md beside this file tells what each step guarantees.
 */

export interface RelayParts {
  ledger: Ledger;
  catalog: Catalog;
  router: Router;
  refusals: Refusals;
  slots: Slots;
  /** Requests a trial account may run at once. */
  trialSlots: number;
  pulse: Pulse;
  timeouts: GatewayTimeouts;
  shutdown: { readonly now: boolean };
  digest(scope: string, text: string): string;
  metrics: Metrics;
  log: { warn(fields: object, text: string): void; error(fields: object, text: string): void };
}

export interface Call {
  protocol: Protocol;
  principal: Principal;
  requestId: string;
  raw: Buffer;
  rawHeaders: readonly string[];
  client: Client;
  /** Monotonic milliseconds. */
  receivedAt: number;
  /** Asks the database who this is, as an admission would: the principal may come from memory. Null: the key is no more. */
  confirm(): Promise<Principal | null>;
}

/** What was asked for, and how the first place to run it wants it. */
interface ModelRequest {
  facts: RequestFacts;
  model: CatalogModel;
  prepare(target: Target): Prepared | WireProblem;
  next(again?: boolean): Target | null;
  first: Target;
}

/** The request in the words of one place. */
interface Prepared {
  wire: Wire;
  context: WireContext;
  body: Uint8Array;
  path: string;
}

/** How the upstream's part ended: something to settle, and what the client still has to get. */
interface Delivered {
  target: Target;
  metered: Metered;
  /** Sends the rest; called after the settlement is on disk. */
  complete(costUsd: string): void;
}

/** Resolves when the answer is complete and settled; to the catalog id that ran, or null when the request was refused. */
export type Relay = (call: Call) => Promise<string | null>;

export function createRelay(parts: RelayParts): Relay {
  const { ledger, catalog, router, refusals, slots, pulse, timeouts, shutdown, digest, metrics, log } = parts;

  const fromProblem = (problem: WireProblem): Refusal => {
    const refusal =
      problem.status === 501
        ? refusals.notSupported(problem.message)
        : refusals.invalidRequest(
            problem.message,
            problem.param,
            problem.code,
            problem.details === undefined ? undefined : { details: problem.details },
          );
    return problem.status === undefined ? refusal : { ...refusal, status: problem.status };
  };

  /** A key that was deleted a moment ago is told nothing else, not even what is wrong with its request. */
  const unlessDeleted = async (call: Call, refusal: Refusal): Promise<Refusal> =>
    (await call.confirm()) === null ? refusals.invalidApiKey() : refusal;

  /** What comes before anything that is wrong with the model asked for, in the order of the admission. */
  const unlessExhausted = async (call: Call, refusal: Refusal): Promise<Refusal> => {
    const principal = await call.confirm();
    if (principal === null) return refusals.invalidApiKey();
    if (principal.suspended) return refusals.accountSuspended();
    const { free, held } = await ledger.balance(principal.accountId);
    return free + held > 0n
      ? refusal
      : refusals.budgetExhausted({ balanceUsd: formatUsd(free), heldUsd: formatUsd(held) });
  };

  /** Step one: what is asked for, from one scan of the bytes, the catalog and the choice of routes. */
  const read = async (call: Call): Promise<ModelRequest | Refusal> => {
    const scanned = scanBody(call.raw, call.protocol);
    if (!scanned.ok) return unlessDeleted(call, fromProblem(scanned.problem));
    const { facts } = scanned;
    const model = await catalog.resolve(facts.model);
    if (model === null) return unlessExhausted(call, refusals.modelNotFound(facts.model));

    const candidates = router.candidates(model.id, call.protocol, () => stickiness(call, facts));
    const first = candidates?.next() ?? null;
    if (candidates === null || first === null) return unlessExhausted(call, refusals.upstreamUnavailable());

    const prepare = (target: Target): Prepared | WireProblem => {
      const { upstream, upstreamModel } = target.route;
      const shut = facts.gates.find(
        (gate) =>
          !model.allow.has(gate.name) && !(gate.translationDrops === true && upstream.protocol !== call.protocol),
      );
      if (shut !== undefined) return shut.problem;
      const wire = wireFor(call.protocol, upstream.protocol);
      const context: WireContext = {
        catalogModel: model.id,
        upstreamModel,
        maxOutputTokens: model.maxOutputTokens,
        features: upstream.features,
        digest: (scope, text) => digest(`${scope}:${call.principal.accountId}`, text),
        createdAt: Math.floor(Date.now() / 1000),
        requestId: call.requestId,
      };
      const request = wire.request(call.raw, facts, context);
      return request.ok ? { wire, context, body: request.body, path: request.path } : request.problem;
    };
    return { facts, model, prepare, next: (again) => candidates.next(again), first };
  };

  const refusalOf = (refused: Refused, request: ModelRequest): Refusal => {
    const figures = {
      balanceUsd: formatUsd(refused.balance.free),
      heldUsd: formatUsd(refused.balance.held),
      ...(refused.required === undefined ? {} : { requiredUsd: formatUsd(refused.required) }),
      ...(refused.affordableMaxTokens === undefined ? {} : { affordableMaxTokens: refused.affordableMaxTokens }),
    };
    switch (refused.reason) {
      case 'key':
        return refusals.invalidApiKey();
      case 'suspended':
        return refusals.accountSuspended();
      case 'exhausted':
        return refusals.budgetExhausted(figures);
      case 'model':
        return refusals.modelNotFound(request.facts.model);
      case 'model_not_allowed':
        return refusals.modelNotAllowed(request.facts.model);
      case 'key_limit':
        return refusals.keyLimitReached({
          period: refused.keyLimit?.period ?? 'lifetime',
          limitUsd: formatUsd(refused.keyLimit?.limit ?? 0n),
          spentUsd: formatUsd(refused.keyLimit?.spent ?? 0n),
        });
      case 'short':
        return refusals.budgetShort(figures);
      case 'reserved':
        return refusals.budgetReserved(figures);
      case 'unavailable':
        return refusals.unavailable();
    }
  };

  /** Step two: a hold on the budget, or the refusal that says what is missing. */
  const admit = async (call: Call, request: ModelRequest): Promise<Admitted | Refusal> => {
    const { facts, model } = request;
    const admission = await ledger.admit({
      requestId: call.requestId,
      accountId: call.principal.accountId,
      keyId: call.principal.keyId,
      model: model.id,
      textBytes: facts.textBytes,
      mediaTokens: mediaTokens(facts),
      cacheWrite: facts.cacheWrite,
      maxTokens: facts.maxTokens,
      answers: facts.answers,
    });
    if (admission.kind === 'refused') {
      metrics.budgetRefusal(admission.reason);
      return refusalOf(admission, request);
    }
    if (admission.trialOnly && slots.running(call.principal.accountId) > parts.trialSlots) {
      await ledger.release({ accountId: call.principal.accountId, requestId: call.requestId });
      return refusals.tooManyRequests('trial account');
    }
    return admission;
  };

  /** Steps three and four: one place after the other until something was relayed, counting what goes by. */
  const deliver = async (
    call: Call,
    request: ModelRequest,
    first: Prepared,
    admission: Admitted,
  ): Promise<Delivered> => {
    const { client } = call;
    const { facts } = request;
    const { contextWindow } = admission;
    const dispatchedAt = performance.now();
    let target: Target = request.first;
    for (;;) {
      const prepared = target === request.first ? first : request.prepare(target);
      if ('message' in prepared) {
        // This place cannot express the request; the first one could, or there would be no hold.
        const following = request.next();
        if (following === null) return refusedBy(call, target, unroutable(refusals));
        target = following;
        continue;
      }
      const { wire, context } = prepared;
      const stream = facts.stream ? wire.stream(facts, context) : null;
      const startedAt = performance.now();
      const end = await attempt({
        request: {
          dispatcher: target.dispatcher,
          origin: target.origin,
          path: target.basePath + prepared.path,
          headers: upstreamHeaders({
            rawHeaders: call.rawHeaders,
            client: call.protocol,
            upstream: target.route.upstream.protocol,
            secret: target.key?.secret ?? null,
          }),
          body: prepared.body,
          headersTimeoutMs: facts.stream ? timeouts.headersMs : timeouts.replyMs,
          idleTimeoutMs: timeouts.idleMs,
        },
        stream,
        client,
        pulse,
        timeouts,
        onDisconnect: target.route.upstream.onDisconnect,
        dispatchedAt,
        usageSoFar: (account) => meterStream('budget_stopped', account, facts, contextWindow).usage,
        brake: (stop) =>
          createBrake({
            held: admission.amount,
            prices: admission.price,
            estimatedInputTokens: estimateInput(facts, contextWindow),
            extend: (more) => ledger.extend({ accountId: call.principal.accountId, requestId: call.requestId }, more),
            stop,
          }),
        shutdown,
      });
      metrics.upstreamAnswered(
        target.route.upstream.id,
        request.model.id,
        endLabel(end),
        performance.now() - startedAt,
      );

      switch (end.kind) {
        case 'stream': {
          router.report(
            target,
            end.ending === 'upstream_cut' || end.ending === 'timeout' || end.ending === 'upstream_error'
              ? 'failed'
              : 'fine',
          );
          watchModel(call, target, end.account.model);
          return {
            target,
            metered: meterStream(end.ending, end.account, facts, contextWindow),
            complete() {
              if (client.gone) return;
              client.startStream();
              if (end.last.length > 0) client.write(end.last);
              client.end();
            },
          };
        }
        case 'left':
          return { target, metered: meterLeft(end.sent, facts, contextWindow), complete: () => undefined };
        case 'whole': {
          try {
            const reply = wire.reply(end.body, facts, context);
            router.report(target, 'fine');
            watchModel(call, target, reply.account.model);
            return {
              target,
              metered: meterWhole(reply.account, facts, contextWindow, end.clientLeft ? 'client_closed' : 'completed'),
              complete: (costUsd) =>
                client.answer(200, { 'content-type': 'application/json', 'x-steyg-cost-usd': costUsd }, reply.body),
            };
          } catch (error) {
            if (!(error instanceof UnreadableReply)) throw error;
            router.report(target, 'failed');
            return refusedBy(
              call,
              target,
              judge({ kind: 'fault', fault: 'unreadable' }, wire, refusals, call.requestId),
            );
          }
        }
        default: {
          const failure = judge(end, wire, refusals, call.requestId);
          router.report(target, failure.verdict, failure.retryAfterS);
          if (failure.verdict === 'unauthorized') {
            log.error(
              { upstream: target.route.upstream.id, kind: endLabel(end) },
              'an upstream refuses our key or funds',
            );
          }
          const following =
            failure.elsewhere && !client.gone ? request.next(end.kind === 'fault' && end.fault === 'connect') : null;
          if (following === null) return refusedBy(call, target, failure);
          metrics.failover(request.model.id);
          target = following;
        }
      }
    }
  };

  /** Nothing was delivered: a row of cost zero, and the refusal in whichever way the client can still take it. */
  const refusedBy = (call: Call, target: Target, failure: Failure): Delivered => ({
    target,
    metered: unmetered(failure.outcome),
    complete() {
      const { client } = call;
      if (client.streaming) sendInStream(call, failure.passthrough ?? null, failure.refusal);
      else if (failure.passthrough === undefined) sendRefusal(call, failure.refusal);
      else
        client.answer(
          failure.passthrough.status,
          { 'content-type': failure.passthrough.contentType },
          failure.passthrough.body,
        );
    },
  });

  /** Step five: the line on disk, then the last bytes, then the ledger; the client does not wait for the ledger. */
  const settle = async (
    call: Call,
    request: ModelRequest,
    admission: Admitted,
    delivered: Delivered,
  ): Promise<void> => {
    const { metered, target } = delivered;
    const now = performance.now();
    const settled = ledger.settle(
      toSettlement({
        accountId: call.principal.accountId,
        keyId: call.principal.keyId,
        requestId: call.requestId,
        model: request.model.id,
        route: target.route,
        facts: request.facts,
        price: admission.price,
        metered,
        latencyMs: now - call.receivedAt,
        // A whole answer has not been written yet: its first byte is about to go out.
        timeToFirstByteMs:
          metered.outcome === 'client_closed' && call.client.firstByteAt === null
            ? null
            : (call.client.firstByteAt ?? now) - call.receivedAt,
      }),
    );
    const cost = costOf(metered.usage, admission.price);
    delivered.complete(formatUsd(cost));
    metrics.settled({
      protocol: call.protocol,
      model: request.model.id,
      outcome: metered.outcome,
      usageSource: metered.usageSource,
      usage: metered.usage,
      cost,
    });
    await settled;
  };

  const watchModel = (call: Call, target: Target, reported: string | null): void => {
    const { upstreamModel, upstream } = target.route;
    // Vendors answer with a dated name of the model asked for; anything else is another model.
    if (reported === null || reported.startsWith(upstreamModel)) return;
    metrics.anomaly('model_mismatch', upstream.id);
    log.warn(
      { requestId: call.requestId, upstream: upstream.id, model: upstreamModel },
      'the upstream answered with another model',
    );
  };

  const refuse = (call: Call, refusal: Refusal): null => {
    sendRefusal(call, refusal);
    return null;
  };

  const run = async (call: Call): Promise<string | null> => {
    const { accountId, keyId } = call.principal;
    const request = await read(call);
    if ('status' in request) return refuse(call, request);
    const prepared = request.prepare(request.first);
    if ('message' in prepared) return refuse(call, await unlessExhausted(call, fromProblem(prepared)));

    const full = slots.take(accountId, keyId);
    if (full !== null) return refuse(call, refusals.tooManyRequests(full === 'key' ? 'API key' : 'account'));
    try {
      const admission = await admit(call, request);
      if ('status' in admission) return refuse(call, admission);
      if (call.client.gone) {
        await ledger.release({ accountId, requestId: call.requestId });
        return null;
      }
      const delivered = await deliver(call, request, prepared, admission).catch((error: unknown): Delivered => {
        // A fault of our own: the customer pays nothing for it, and the hold does not outlive it.
        metrics.fault('relay');
        log.error({ requestId: call.requestId, ...describeError(error) }, 'the relay failed');
        return refusedBy(call, request.first, { ...unroutable(refusals), refusal: refusals.internal() });
      });
      await settle(call, request, admission, delivered);
      return request.model.id;
    } finally {
      slots.give(accountId, keyId);
    }
  };

  return async function relay(call) {
    try {
      return await run(call);
    } catch (error) {
      // Before the admission: nothing is held and nothing was sent.
      metrics.fault('relay');
      log.error({ requestId: call.requestId, ...describeError(error) }, 'a request failed before it was admitted');
      return call.client.streaming ? null : refuse(call, refusals.unavailable());
    }
  };
}

/** Texts that stay the same through a conversation: whose it is and how it begins. */
function stickiness(call: Call, facts: RequestFacts): string {
  const hash = createHash('sha256').update(call.principal.accountId);
  for (const name of ['system', 'instructions', 'messages', 'input']) {
    const span = facts.members.get(name);
    if (span !== undefined) hash.update(call.raw.subarray(span.start, Math.min(span.end, span.start + 512)));
  }
  return hash.digest('base64');
}

function unroutable(refusals: Refusals): Failure {
  return { outcome: 'upstream_error', elsewhere: false, verdict: 'fine', refusal: refusals.upstreamUnavailable() };
}

/** A short name for metrics and logs. */
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
    default:
      return end.kind;
  }
}
