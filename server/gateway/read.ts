import { setImmediate as breathe } from 'node:timers/promises';
import type { Ledger } from '../billing/ledger.ts';
import type { Catalog, CatalogModel } from '../catalog/catalog.ts';
import type { Candidates, Router, Target } from '../catalog/router.ts';
import { formatUsd } from '../core/money.ts';
import { scanBody } from '../wire/body.ts';
import type { RequestFacts, WireContext, WireProblem } from '../wire/protocol.ts';
import { wireFor } from '../wire/wires.ts';
import type { Call, ModelRequest, Prepared } from './call.ts';
import { longPromptProblem, problemRefusal, shutGate } from './problem.ts';
import type { Refusal, Refusals } from './refusals.ts';
import { stickiness } from './stickiness.ts';

/**
 * Step one: what is asked for, from one scan of the bytes, the catalog and the choice of routes. Nothing is held and
 * nothing is sent; whatever is wrong costs nothing.
 */
export interface ReaderParts {
  catalog: Catalog;
  router: Router;
  refusals: Refusals;
  ledger: Pick<Ledger, 'balance'>;
  /** Keyed digest; `scope` keeps its uses apart. */
  digest: (scope: string, text: string) => string;
}

/** A body of this size takes milliseconds to scan. */
const largeBytes = 1_048_576;

/** The version of the messages protocol that took the sampling fields away. */
const versionWithoutSampling = '2026-10-21';
const samplingFields = ['temperature', 'top_p', 'top_k'];

export function createReader({ catalog, router, refusals, ledger, digest }: ReaderParts) {
  const fromProblem = (problem: WireProblem): Refusal => problemRefusal(refusals, problem);

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
      : refusals.budgetExhausted({ balanceUsd: formatUsd(free), heldUsd: formatUsd(held), affordableMaxTokens: 0 });
  };

  const prepare = (call: Call, facts: RequestFacts, model: CatalogModel, target: Target): Prepared | WireProblem => {
    const { upstream, upstreamModel } = target.route;
    const translated = upstream.protocol !== call.protocol;
    const shut = shutGate(facts, model, translated);
    if (shut !== null) return shut;
    const problem = translated ? versionProblem(call, facts) : longPromptProblem(betasOf(call), facts, model);
    if (problem !== null) return problem;
    const context: WireContext = {
      catalogModel: model.id,
      upstreamModel,
      maxOutputTokens: model.maxOutputTokens,
      features: upstream.features,
      efforts: model.efforts,
      digest: (scope, text) => digest(`${scope}:${call.principal.accountId}`, text),
      createdAt: Math.floor(Date.now() / 1000),
      requestId: call.requestId,
      statusUrl: refusals.statusUrl,
    };
    const request = wireFor(call.protocol, upstream.protocol).request(call.raw, facts, context);
    return request.ok ? { target, exchange: request.exchange } : request.problem;
  };

  /** The best place that can express the request; else what the best place of all found wrong with it. */
  const firstFit = (
    call: Call,
    facts: RequestFacts,
    model: CatalogModel,
    candidates: Candidates,
  ): Prepared | WireProblem | null => {
    let problem: WireProblem | null = null;
    for (let target = candidates.next('nothing'); target !== null; target = candidates.next('unfit')) {
      const prepared = prepare(call, facts, model, target);
      if (!('message' in prepared)) return prepared;
      problem ??= prepared;
    }
    return problem;
  };

  return async function read(call: Call): Promise<ModelRequest | Refusal> {
    const scanned = scanBody(call.raw, call.protocol);
    if (!scanned.ok) return unlessDeleted(call, fromProblem(scanned.problem));
    const { facts } = scanned;
    // Each of the two takes its time with a large body; others get their turn in between.
    if (call.raw.length > largeBytes) await breathe();
    const model = await catalog.resolve(facts.model);
    if (model === null) return unlessExhausted(call, refusals.modelNotFound(facts.model));

    const candidates = router.candidates(model, call.protocol, () =>
      stickiness(call.principal.accountId, call.raw, facts),
    );
    const first = candidates === null ? null : firstFit(call, facts, model, candidates);
    if (candidates === null || first === null) return unlessExhausted(call, refusals.upstreamUnavailable());
    if ('message' in first) return unlessExhausted(call, fromProblem(first));
    return {
      facts,
      model,
      first,
      next(after) {
        for (let target = candidates.next(after); target !== null; target = candidates.next('unfit')) {
          const prepared = prepare(call, facts, model, target);
          if (!('message' in prepared)) return prepared;
        }
        return null;
      },
    };
  };
}

/** What the messages protocol's header asks for, which may come several times; the other protocols have no such header. */
function betasOf({ protocol, rawHeaders }: Call): string[] {
  if (protocol !== 'messages') return [];
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && name.toLowerCase() === 'anthropic-beta'
      ? (rawHeaders[index + 1] ?? '').split(',').map((beta) => beta.trim())
      : [],
  );
}

/** What the vendor would say of fields that a version no longer has; on the native path it says so itself. */
function versionProblem(call: Call, facts: RequestFacts): WireProblem | null {
  if (call.protocol !== 'messages' || call.version !== versionWithoutSampling) return null;
  const field = samplingFields.find((name) => facts.members.has(name));
  return field === undefined
    ? null
    : { message: `${field}: not supported with anthropic-version ${versionWithoutSampling}`, param: field, code: null };
}
