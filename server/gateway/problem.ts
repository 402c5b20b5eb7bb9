import type { CatalogModel } from '../catalog/catalog.ts';
import { mediaTokens } from '../metering/estimate.ts';
import type { RequestFacts, WireProblem } from '../wire/protocol.ts';
import type { Refusal, Refusals } from './refusals.ts';

/** What is wrong with a request as its protocol words it, as a refusal. */
export function problemRefusal(refusals: Refusals, problem: WireProblem): Refusal {
  const { message, param, code, status, details } = problem;
  const refusal =
    status === 501
      ? refusals.notSupported(message)
      : refusals.invalidRequest(message, param, code, details === undefined ? undefined : { details });
  return status === undefined ? refusal : { ...refusal, status };
}

/**
 * The first field that may not pass to an upstream, because it could reach another customer's state at the shared vendor
 * account or costs what the catalog has no price for. Null: none. `translated`: what translation leaves out may stay.
 */
export function shutGate(
  facts: RequestFacts,
  model: Pick<CatalogModel, 'allow'>,
  translated: boolean,
): WireProblem | null {
  const shut = facts.gates.find(
    (gate) => !model.allow.has(gate.name) && !(translated && gate.translationDrops === true),
  );
  return shut?.problem ?? null;
}

/** Up to so many tokens a prompt costs what every prompt costs; the beta below asks for more, at a price of its own. */
const ordinaryPromptTokens = 200_000;
const longPromptBeta = /^context-1m(?:-|$)/;
/** As the hold counts: text seldom has more tokens than this makes of it. */
const bytesPerToken = 3;

/**
 * A header that changes the price: with it the vendor takes prompts of up to a million tokens, and of some models the long
 * ones are dearer. It travels as it came as long as the prompt is of ordinary length; a longer one is refused unless the
 * entry has a price for it, which its context window or `allow` says. In the vendor's words, by which agents know that they
 * have to compact. Null: nothing is wrong. Translated requests do not carry the header.
 */
export function longPromptProblem(
  betas: readonly string[],
  facts: Pick<RequestFacts, 'textBytes' | 'images' | 'documents' | 'documentBytes'>,
  model: Pick<CatalogModel, 'allow' | 'contextWindow'>,
): WireProblem | null {
  if (model.contextWindow > ordinaryPromptTokens) return null;
  const beta = betas.find((name) => longPromptBeta.test(name));
  if (beta === undefined || model.allow.has(beta) || model.allow.has('context-1m')) return null;
  const tokens = Math.ceil(facts.textBytes / bytesPerToken) + mediaTokens(facts);
  if (tokens <= ordinaryPromptTokens) return null;
  return {
    message: `prompt is too long: about ${tokens} tokens > ${ordinaryPromptTokens} maximum; the beta context-1m is not available for this model here, because its catalog entry has no price for longer prompts.`,
    param: 'anthropic-beta',
    code: 'unsupported_parameter',
  };
}
