import type { TokenPools } from '../../core/tokens.ts';
import { heldBytesPerToken } from '../../core/tokens.ts';
import { mediaTokens } from '../../metering/estimate.ts';
import type { ClientCall, ModelRequest } from '../call.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import type { Concurrency, Running } from './concurrency.ts';
import type { TokenDraw, TokenRates } from './token-rate.ts';

/** Limits of pace that keys and accounts set themselves. Requests that have none wait for nothing. */
export interface Pace {
  /** Counts a request among those that its key and its account may run at once. Null: they have no such maximum. */
  begin(call: ClientCall): Promise<Running | Refusal> | null;
  /** Draws the tokens that a request may use from its minute. Null: no limit of tokens applies. */
  draw(call: ClientCall, request: ModelRequest): Promise<TokenDraw | Refusal> | null;
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
    begin({ principal }) {
      const taking = concurrency.take(principal);
      return taking?.then((taken) => (taken.kind === 'full' ? refusals.tooManyAtOnce(taken) : taken)) ?? null;
    },

    draw(call, request) {
      const drawing = tokenRates.take(call.principal, tokensAhead(request));
      return drawing?.then((drawn) => (drawn.kind === 'limited' ? refusals.tokensLimited(drawn) : drawn)) ?? null;
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

/** What a request used of its minute: every pool counts, cached context too. */
export function tokensUsed({ input, cacheHit, cacheWrite5m, cacheWrite1h, output }: TokenPools): number {
  return input + cacheHit + cacheWrite5m + cacheWrite1h + output;
}
