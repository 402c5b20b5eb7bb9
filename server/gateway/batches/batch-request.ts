import { holdSize, isUnpriced } from '../../billing/rules/hold-size.ts';
import type { SetAsideAsk } from '../../billing/types.ts';
import type { BatchLine, BatchModel } from '../../billing/vendor-batches.ts';
import { hasBatches } from '../../catalog/profiles/profiles.ts';
import type { UpstreamRecord } from '../../catalog/route.ts';
import type { Reach } from '../../catalog/router.ts';
import { frozenAt } from '../../core/price-clock.ts';
import { batchPrices } from '../../core/price-variants.ts';
import { tokenBounds } from '../../metering/bound.ts';
import { askOf } from '../admit.ts';
import type { ModelRequest, Prepared } from '../call.ts';
import { createRequestBytes } from '../entrance/request-bytes.ts';
import type { createReader, ReadCall } from '../read.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import { lineDigest } from './batch-ids.ts';

/**
 * Takes the requests of a batch one by one: each is read, gated and bounded as it would be alone, and all of them run at one
 * upstream with one key. Prices are those of the moment at which the first request of a model was read; the hold is refused if
 * they have changed since.
 */
export interface BatchGatherer {
  /** What the vendor is sent for a request; or its refusal. `name`: how the request is called in a refusal. */
  take(customId: string, body: Buffer, name: string): Promise<{ body: Uint8Array } | Refusal>;
  readonly lines: readonly BatchLine[];
  readonly models: readonly BatchModel[];
  /** As the ledger checks them. */
  readonly priced: SetAsideAsk['models'];
  readonly bound: bigint;
  /** Null before the first request. */
  readonly place: BatchPlace | null;
}

/** Where a batch runs. */
export interface BatchPlace extends Reach {
  upstream: UpstreamRecord;
}

export interface BatchGathererParts {
  read: ReturnType<typeof createReader>;
  refusals: Refusals;
  /** Of the call that brings the batch. */
  call: Omit<ReadCall, 'bytes'>;
  /** The batch, or the file of its lines. */
  sourceId: string;
}

export function createBatchGatherer({ read, refusals, call, sourceId }: BatchGathererParts): BatchGatherer {
  const lines: BatchLine[] = [];
  const names = new Set<string>();
  const models = new Map<string, { place: number; entry: BatchModel; priceId: string }>();
  let bound = 0n;
  let place: BatchPlace | null = null;

  /** The first of its routes whose vendor has batches: of the others, the one where the batch runs. */
  const routeOf = (request: ModelRequest): Prepared | null => {
    for (let next: Prepared | null = request.first; next !== null; next = request.next('no_connection')) {
      const { upstream } = next.target.route;
      if (upstream.protocol !== call.protocol || !hasBatches(upstream.profile, upstream.protocol)) continue;
      if (place === null || place.upstream.id === upstream.id) return next;
    }
    return null;
  };

  const problemOf = (request: ModelRequest): { message: string; param: string } | null => {
    const { facts, model, bound: sized, others } = request;
    if (facts.stream) return { message: 'answers of batches are not streamed; leave it out', param: 'stream' };
    // https://platform.claude.com/docs/en/build-with-claude/batch-processing
    if (facts.maxTokens === 0 && facts.inputs === undefined)
      return { message: 'must be at least 1 in a batch', param: 'max_tokens' };
    if (sized.size.variant !== undefined)
      return {
        message: 'tiers, speeds and regions cannot be asked for in a batch; leave it out',
        param: 'service_tier',
      };
    if (others.length > 0) return { message: 'other models cannot run for a request of a batch', param: 'model' };
    if (sized.size.madeImages > 0 || sized.size.minutes > 0)
      return { message: 'images and audio cannot be made in a batch', param: 'model' };
    if (model.price.maxPromptTokens !== undefined && isUnpriced(sized.size, model))
      return {
        message: `the prompt may be longer than ${model.price.maxPromptTokens} tokens, the longest with a price`,
        param: 'model',
      };
    return null;
  };

  const modelOf = (request: ModelRequest, { target }: Prepared) => {
    const { model } = request;
    const { upstreamModel } = target.route;
    const key = `${model.id} ${upstreamModel}`;
    let known = models.get(key);
    if (known === undefined) {
      const price = batchPrices(frozenAt(model.price, Date.now()));
      known = { place: models.size, entry: { model: model.id, upstreamModel, price }, priceId: model.price.id };
      models.set(key, known);
    }
    return known;
  };

  return {
    async take(customId, body, name) {
      const worded = (refusal: Refusal): Refusal => ({ ...refusal, message: `${name}: ${refusal.message}` });
      const wrong = (message: string, param: string | null): Refusal =>
        refusals.invalidRequest(`${name}: ${param === null ? '' : `${param}: `}${message}`, param);
      if (names.has(customId)) return wrong('must be unique within the batch', 'custom_id');
      const request = await read({ ...call, bytes: createRequestBytes(body) });
      if ('status' in request) return worded(request);
      const { principal } = call;
      if (principal.models !== null && !principal.models.has(request.model.id))
        return worded(refusals.modelNotAllowed(request.facts.model));
      const problem = problemOf(request) ?? speedProblem(request, body);
      if (problem !== null) return wrong(problem.message, problem.param);
      const prepared = routeOf(request);
      if (prepared === null) {
        return wrong(
          place === null
            ? `the vendor of ${request.model.id} has no batches; send its requests one by one`
            : `${request.model.id} does not run where the other requests of this batch do; put it in a batch of its own`,
          'model',
        );
      }
      const { route, ...reach } = prepared.target;
      place ??= { ...reach, upstream: route.upstream };
      const model = modelOf(request, prepared);
      if (models.size > maxModels) return wrong(`a batch may name at most ${maxModels} models`, 'model');
      const size = holdSize(askOf(call, request), request.model, model.entry.price);
      // Each input of an embedding has the model's window.
      const contextWindow = request.model.contextWindow * (request.facts.inputs ?? 1);
      const bounds = tokenBounds(request.bound.size, { ...request.model, contextWindow });
      names.add(customId);
      bound += size.bound;
      lines.push({
        digest: lineDigest(sourceId, customId),
        model: model.place,
        bound: size.bound,
        input: bounds.input,
        output: bounds.output,
        searches: bounds.searches,
        estimated: size.estimatedInputTokens,
        longWrites: bounds.longWrites,
      });
      return { body: prepared.exchange.body };
    },

    get lines() {
      return lines;
    },
    get models() {
      return [...models.values()].map(({ entry }) => entry);
    },
    get priced() {
      return [...models.values()].map(({ entry, priceId }) => ({ model: entry.model, priceId }));
    },
    get bound() {
      return bound;
    },
    get place() {
      return place;
    },
  };
}

/** As the database holds. */
const maxModels = 100;

/** Members that choose a faster or dearer way to be served, and the words that choose none. */
const speeds = ['service_tier', 'speed', 'inference_geo'];
const ordinary = /^(?:null|"(?:auto|default|standard|standard_only|global)")$/;

/** A batch has one price, whatever its requests ask for. */
function speedProblem({ facts }: ModelRequest, body: Buffer): { message: string; param: string } | null {
  const param = speeds.find((name) => {
    const span = facts.members.get(name);
    return span !== undefined && !ordinary.test(body.toString('latin1', span.start, span.end));
  });
  return param === undefined ? null : { message: 'cannot be chosen in a batch; leave it out', param };
}
