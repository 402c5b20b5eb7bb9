import type { CatalogModel } from '../catalog/catalog.ts';
import { heldBytesPerToken } from '../core/tokens.ts';
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
  model: Pick<CatalogModel, 'allow' | 'unknownMembers'>,
  translated: boolean,
): WireProblem | null {
  const shut = facts.gates.find(
    (gate) => !model.allow.has(gate.name) && !(translated && gate.translationDrops === true),
  );
  return shut?.problem ?? (model.unknownMembers === 'refuse' ? unknownMember(facts, model.allow) : null);
}

function unknownMember({ unknownMembers }: RequestFacts, allow: ReadonlySet<string>): WireProblem | null {
  const name = unknownMembers.find((member) => !allow.has(member));
  if (name === undefined) return null;
  const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
  return {
    message: `${shown}: is not known here, and this model takes no unknown members; leave it out.`,
    param: shown,
    code: 'unsupported_parameter',
  };
}

/** Up to so many tokens a prompt costs what every prompt costs; the beta below asks for more, at a price of its own. */
const ordinaryPromptTokens = 200_000;
const longPromptBeta = /^context-1m(?:-|$)/;

type PromptSize = Pick<RequestFacts, 'textBytes' | 'images' | 'documents' | 'documentBytes'>;
type LongPromptTerms = Pick<CatalogModel, 'allow' | 'contextWindow'>;

/** Whether the catalog entry has a price for long prompts: by its context window, or by naming the beta in `allow`. */
function hasLongPromptPrice({ allow, contextWindow }: LongPromptTerms, beta: string): boolean {
  return contextWindow > ordinaryPromptTokens || allow.has(beta) || allow.has('context-1m');
}

/**
 * A header that changes the price: with it the vendor takes prompts of up to a million tokens, and of some models the long
 * ones are dearer. A prompt that is too long by the estimate is refused in the vendor's words, by which agents know that
 * they have to compact, unless the entry has a price for it. Null: nothing is wrong. Translated requests do not carry the
 * header.
 */
export function longPromptProblem(
  betas: readonly string[],
  facts: PromptSize,
  model: LongPromptTerms,
): WireProblem | null {
  const beta = betas.find((name) => longPromptBeta.test(name));
  if (beta === undefined || hasLongPromptPrice(model, beta)) return null;
  const tokens = Math.ceil(facts.textBytes / heldBytesPerToken) + mediaTokens(facts);
  if (tokens <= ordinaryPromptTokens) return null;
  return {
    message: `prompt is too long: about ${tokens} tokens > ${ordinaryPromptTokens} maximum; the beta context-1m is not available for this model here, because its catalog entry has no price for longer prompts.`,
    param: 'anthropic-beta',
    code: 'unsupported_parameter',
  };
}

/**
 * The headers without the long-prompt beta where the prompt could be long by its bytes, which no text has fewer of than
 * tokens, and the entry has no price for it: dense text beats every estimate. Without the beta the vendor itself refuses a
 * prompt beyond the ordinary length, and a shorter one is answered as with it. The very same headers where nothing is
 * withheld.
 */
export function withoutLongPromptBeta(
  rawHeaders: readonly string[],
  facts: PromptSize,
  model: LongPromptTerms,
): readonly string[] {
  if (facts.textBytes + mediaTokens(facts) <= ordinaryPromptTokens) return rawHeaders;
  const isWithheld = (beta: string): boolean => longPromptBeta.test(beta) && !hasLongPromptPrice(model, beta);
  const kept: string[] = [];
  let withheld = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = [rawHeaders[i], rawHeaders[i + 1]];
    const betas = name.toLowerCase() === 'anthropic-beta' ? value.split(',').map((beta) => beta.trim()) : [];
    if (!betas.some(isWithheld)) {
      kept.push(name, value);
      continue;
    }
    withheld = true;
    const others = betas.filter((beta) => !isWithheld(beta));
    if (others.length > 0) kept.push(name, others.join(', '));
  }
  return withheld ? kept : rawHeaders;
}
