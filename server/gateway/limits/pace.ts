import type { TokenPools } from '../../core/tokens.ts';
import { heldBytesPerToken } from '../../core/tokens.ts';
import { mediaTokens } from '../../metering/estimate.ts';
import type { ClientCall, ModelRequest } from '../call.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import type { Concurrency } from './concurrency.ts';
import type { TokenRates } from './token-rate.ts';

/** Limits of pace that keys and accounts set themselves, around the steps of a request. */
export interface Pace {
  /** Runs a request as one of those that its key and its account may run at once. */
  atOnce<T>(call: ClientCall, run: () => Promise<T>): Promise<T | Refusal>;
  /** Runs a request with the tokens that it may use drawn from its minute. `run` says what it used; else nothing. */
  withTokens<T>(
    call: ClientCall,
    request: ModelRequest,
    run: (used: (usage: TokenPools) => void) => Promise<T>,
  ): Promise<T | Refusal>;
}

/** Answer tokens that are drawn at most before the answer is known, as its hold reserves at first. */
const maxDrawnAnswer = 4_096;

export function createPace({
  concurrency,
  tokenRates,
  refusals,
}: {
  concurrency: Concurrency;
  tokenRates: Pick<TokenRates, 'take'>;
  refusals: Refusals;
}): Pace {
  return {
    async atOnce(call, run) {
      const taking = concurrency.take(call.principal);
      if (taking === null) return run();
      const taken = await taking;
      if (taken.kind === 'full') return refusals.tooManyAtOnce(taken);
      try {
        return await run();
      } finally {
        taken.give();
      }
    },

    async withTokens(call, request, run) {
      const drawing = tokenRates.take(call.principal, tokensAhead(request));
      if (drawing === null) return run(() => undefined);
      const draw = await drawing;
      if (draw.kind === 'limited') return refusals.tokensLimited(draw);
      let used = 0;
      try {
        return await run((usage) => {
          used = totalOf(usage);
        });
      } finally {
        draw.used(used);
      }
    },
  };
}

function tokensAhead({ facts, model }: ModelRequest): number {
  // Each input of an embedding has the model's window, and is drawn by bytes, as it is held.
  const bytesPerToken = facts.inputs === undefined ? heldBytesPerToken : 1;
  const window = model.contextWindow * (facts.inputs ?? 1);
  const input = Math.min(Math.ceil(facts.textBytes / bytesPerToken) + mediaTokens(facts), window);
  const answer = Math.min(facts.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens, maxDrawnAnswer);
  return Math.max(1, input + answer * facts.answers);
}

/** Every pool counts, cached context too. */
function totalOf({ input, cacheHit, cacheWrite5m, cacheWrite1h, output }: TokenPools): number {
  return input + cacheHit + cacheWrite5m + cacheWrite1h + output;
}
