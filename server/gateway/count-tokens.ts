import type { FastifyInstance } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import type { GatewayTimeouts } from '../config.ts';
import type { Refusals } from '../errors.ts';
import { requestIdHeaders } from '../http.ts';
import type { Router, Target } from '../upstreams/router.ts';
import { modelEdits, scanBody, splice } from '../wire/body.ts';
import type { RequestFacts } from '../wire/protocol.ts';
import { mintedThinkingEdits } from '../wire/translate/minted-thinking.ts';
import { type DispatchFault, dispatch } from './dispatch.ts';
import { mediaTokens } from './estimate.ts';
import { upstreamHeaders } from './headers.ts';
import { bodyOf, RefusalError } from './model-routes.ts';

/**
 * `POST /v1/messages/count_tokens`: forwarded where the upstream counts, otherwise counted here with a published
 * tokenizer and rounded up, which the header `x-token-count: estimated` says. Free, without a ledger row, and allowed
 * when the budget is used up.
 */

export interface CountTokensParts {
  catalog: Catalog;
  router: Router;
  refusals: Refusals;
  timeouts: GatewayTimeouts;
}

const answerLimitBytes = 65_536;
/** Text is tokenised in slices of this many characters, with room for other work in between. */
const sliceLength = 32_768;
/** Other vendors' tokenizers need more tokens for the same text; an estimate should not be too low. */
const margin = 1.1;

type Counted = { status: number; body: Buffer } | DispatchFault;

function countUpstream(
  target: Target,
  body: Uint8Array,
  rawHeaders: readonly string[],
  timeouts: GatewayTimeouts,
): Promise<Counted> {
  return new Promise((resolve) => {
    let status = 0;
    dispatch(
      {
        dispatcher: target.dispatcher,
        origin: target.origin,
        path: `${target.basePath}/v1/messages/count_tokens`,
        headers: upstreamHeaders({
          rawHeaders,
          client: 'messages',
          upstream: 'messages',
          secret: target.key?.secret ?? null,
        }),
        body,
        headersTimeoutMs: Math.min(30_000, timeouts.headersMs),
        idleTimeoutMs: Math.min(30_000, timeouts.idleMs),
      },
      {
        head(code) {
          status = code;
          return answerLimitBytes;
        },
        piece: () => true,
        end: (whole) => resolve({ status, body: whole }),
        fault: (fault) => resolve(fault),
      },
    );
  });
}

/** Every string that can become context, without the inline media. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    yield value;
  } else if (Array.isArray(value)) {
    for (const item of value) yield* textsOf(item);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (name === 'data' && typeof member === 'string') continue;
      yield name;
      yield* textsOf(member);
    }
  }
}

async function estimate(raw: Buffer, facts: RequestFacts): Promise<number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  const body = JSON.parse(raw.toString('utf8')) as Record<string, unknown>;
  let tokens = 0;
  let pending = 0;
  for (const text of textsOf([body.system, body.messages, body.tools])) {
    for (let at = 0; at < text.length; at += sliceLength) {
      const slice = text.slice(at, at + sliceLength);
      tokens += countTokens(slice);
      pending += slice.length;
      if (pending > sliceLength) {
        pending = 0;
        await new Promise(setImmediate);
      }
    }
  }
  return Math.ceil(tokens * margin) + mediaTokens(facts);
}

export function registerCountTokens(
  app: FastifyInstance,
  { catalog, router, refusals, timeouts }: CountTokensParts,
): void {
  app.post(
    '/v1/messages/count_tokens',
    { config: { protocol: 'messages', authenticate: 'now' } },
    async (request, response) => {
      const raw = bodyOf(request);
      const scanned = scanBody(raw, 'messages', 'count');
      if (!scanned.ok) throw new RefusalError(refusals.invalidRequest(scanned.problem.message, scanned.problem.param));
      const { facts } = scanned;
      const model = await catalog.resolve(facts.model);
      if (model === null) throw new RefusalError(refusals.modelNotFound(facts.model));
      const allowed = request.principal?.models ?? null;
      if (allowed !== null && !allowed.has(model.id)) throw new RefusalError(refusals.modelNotAllowed(facts.model));
      response.headers(requestIdHeaders(request.id)).type('application/json');

      const target = router.candidates(model.id, 'messages', () => '')?.next('nothing') ?? null;
      if (target?.route.upstream.protocol === 'messages') {
        const counted = await countUpstream(
          target,
          splice(raw, [...modelEdits(facts, target.route.upstreamModel), ...mintedThinkingEdits(raw)]),
          request.raw.rawHeaders,
          timeouts,
        );
        if (typeof counted === 'object' && counted.status === 200) return response.send(counted.body);
        // What the vendor finds wrong with a request is the customer's to read.
        if (typeof counted === 'object' && (counted.status === 400 || counted.status === 413))
          return response.code(counted.status).send(counted.body);
      }
      return response.header('x-token-count', 'estimated').send({ input_tokens: await estimate(raw, facts) });
    },
  );
}
