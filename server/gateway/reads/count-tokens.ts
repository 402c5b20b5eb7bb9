import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Catalog } from '../../catalog/catalog.ts';
import { openTools } from '../../catalog/hosted-tools.ts';
import type { Router, Target } from '../../catalog/router.ts';
import { mediaTokens } from '../../metering/estimate.ts';
import type { GatewayTimeouts } from '../../runtime/config.ts';
import { requestIdHeaders } from '../../runtime/http.ts';
import { modelEdits, scanBody, splice } from '../../wire/body.ts';
import { mintedThinkingEdits } from '../../wire/dialogue/minted-thinking.ts';
import { nativeError } from '../../wire/envelope.ts';
import type { Edit, RequestFacts } from '../../wire/protocol.ts';
import { bodyOf } from '../entrance/model-routes.ts';
import { createRequestBytes } from '../entrance/request-bytes.ts';
import type { Slots } from '../limits/slots.ts';
import { type CpuSlices, createCpuShares } from '../load/cpu-shares.ts';
import { passGates, problemRefusal } from '../refusals/problem.ts';
import type { Refusals } from '../refusals/refusals.ts';
import { RefusalError } from '../refusals/refuse.ts';
import { upstreamHeaders } from '../upstream/request-headers.ts';
import { bytesWithoutSecret } from '../upstream/secret.ts';
import { type DispatchFault, dispatch } from '../upstream/upstream-call.ts';
import { readVendorError, troubleOf } from '../upstream/vendor-errors.ts';
import { contextTexts } from './count-texts.ts';
import { tokenize } from './tokenize.ts';

/**
 * `POST /v1/messages/count_tokens`: forwarded to upstreams that count; otherwise estimated with a published tokenizer,
 * rounded up and marked with the header `x-token-count: estimated`. Free, without a ledger row, and allowed with an
 * exhausted budget; the same gates apply as for a model request.
 */

export interface CountTokensParts {
  catalog: Catalog;
  router: Router;
  refusals: Refusals;
  slots: Slots;
  timeouts: GatewayTimeouts;
}

const answerLimitBytes = 65_536;
/** Timeout of a count, longer than any takes. */
const maxWaitMs = 30_000;
/** Other vendors' tokenizers need more tokens for the same text; an estimate should not be too low. */
const margin = 1.1;

type Counted = { status: number; body: Buffer } | DispatchFault;

interface Counting {
  target: Target;
  body: Uint8Array;
  rawHeaders: readonly string[];
  timeouts: GatewayTimeouts;
  /** Registers the callback that ends the exchange when the client leaves. */
  onLeave: (leave: () => void) => void;
}

function countUpstream({ target, body, rawHeaders, timeouts, onLeave }: Counting): Promise<Counted> {
  return new Promise((resolve) => {
    let status = 0;
    const exchange = dispatch(
      {
        dispatcher: target.dispatcher,
        origin: target.origin,
        path: `${target.basePath}/v1/messages/count_tokens`,
        headers: upstreamHeaders({
          rawHeaders,
          client: 'messages',
          upstream: 'messages',
          secret: target.key?.secret ?? null,
          trace: null,
        }),
        body: createRequestBytes(Buffer.alloc(0)).lend({ body }),
        headersTimeoutMs: Math.min(maxWaitMs, timeouts.headersMs),
        idleTimeoutMs: Math.min(maxWaitMs, timeouts.idleMs),
      },
      {
        head(code) {
          status = code;
          return answerLimitBytes;
        },
        piece: () => true,
        collected: () => true,
        end: (whole) => resolve({ status, body: Buffer.concat(whole) }),
        fault: (fault) => resolve(fault),
      },
    );
    onLeave(() => {
      exchange.abort();
      resolve('cut');
    });
  });
}

async function estimate(raw: Buffer, facts: RequestFacts, turns: CpuSlices): Promise<number> {
  const tokens = await tokenize(contextTexts(raw), turns);
  return Math.ceil(tokens * margin) + mediaTokens(facts);
}

export function registerCountTokens(
  app: FastifyInstance,
  { catalog, router, refusals, slots, timeouts }: CountTokensParts,
): void {
  const shares = createCpuShares();

  /** The vendor's count; null when it has to be estimated. */
  const counted = async (
    target: Target,
    raw: Buffer,
    facts: RequestFacts,
    leftOut: readonly Edit[],
    response: FastifyReply,
  ): Promise<{ status: number; body: Uint8Array } | null> => {
    const { id, raw: incoming } = response.request;
    const answer = await countUpstream({
      target,
      body: splice(raw, [...modelEdits(facts, target.route.upstreamModel), ...mintedThinkingEdits(raw), ...leftOut]),
      rawHeaders: incoming.rawHeaders,
      timeouts,
      onLeave: (leave) => response.raw.once('close', leave),
    });
    if (typeof answer !== 'object') return null;
    if (answer.status === 200) return answer;
    // The vendor's error about the request itself is passed to the customer.
    if (answer.status !== 400 && answer.status !== 413) return null;
    const { upstream, upstreamModel } = target.route;
    if (troubleOf(answer.status, readVendorError(answer.body), upstreamModel, upstream.profile) !== null) return null;
    return nativeError('messages', answer.status, bytesWithoutSecret(target.key?.secret ?? null, answer.body), id);
  };

  app.post(
    '/v1/messages/count_tokens',
    { config: { protocol: 'messages', authenticate: 'now' } },
    async (request, response) => {
      const { principal } = request;
      if (principal === null) throw new Error('a route of the data plane was reached without a principal');
      const { accountId, keyId } = principal;
      const full = slots.take(accountId, keyId);
      if (full !== null) throw new RefusalError(refusals.tooManyRequests(full === 'key' ? 'API key' : 'account'));
      try {
        const raw = bodyOf(request);
        const slices = shares.open(accountId);
        await slices.next();
        const scanned = scanBody(raw, 'messages', 'count');
        slices.end();
        if (!scanned.ok) throw new RefusalError(problemRefusal(refusals, scanned.problem));
        const { facts } = scanned;
        if (principal.suspended) throw new RefusalError(refusals.accountSuspended());
        const model = await catalog.resolve(facts.model);
        if (model === null) throw new RefusalError(refusals.modelNotFound(facts.model));
        if (principal.models !== null && !principal.models.has(model.id))
          throw new RefusalError(refusals.modelNotAllowed(facts.model));

        const target = router.candidates(model, 'messages', () => '')?.next('nothing') ?? null;
        const forwarded = target?.route.upstream.protocol === 'messages' ? target : null;
        const leftOut = passGates(
          raw,
          facts,
          model,
          forwarded === null ? null : openTools(model, forwarded.route.upstream),
        );
        if (leftOut !== null && 'message' in leftOut) throw new RefusalError(problemRefusal(refusals, leftOut));

        response.headers(requestIdHeaders(request.id)).type('application/json');
        const answer = forwarded === null ? null : await counted(forwarded, raw, facts, leftOut?.edits ?? [], response);
        if (answer !== null) return await response.code(answer.status).send(answer.body);
        if (response.raw.destroyed) return await response.send();
        return await response
          .header('x-token-count', 'estimated')
          .send({ input_tokens: await estimate(raw, facts, slices) });
      } finally {
        slots.give(accountId, keyId);
      }
    },
  );
}
