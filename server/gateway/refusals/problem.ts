import type { CatalogModel } from '../../catalog/catalog.ts';
import { heldBytesPerToken } from '../../core/tokens.ts';
import { askedVariant } from '../../metering/bound.ts';
import { mediaTokens } from '../../metering/estimate.ts';
import { closest } from '../../shared/closest.ts';
import { boundToolUses, leaveOutTools } from '../../wire/hosted-tools.ts';
import { type BodyKind, membersOf } from '../../wire/members.ts';
import type { Gate, LeftOut, RequestFacts, WireProblem } from '../../wire/protocol.ts';
import type { Refusal, Refusals } from './refusals.ts';

/** Converts a protocol's problem with a request to a refusal. */
export function problemRefusal(refusals: Refusals, problem: WireProblem): Refusal {
  const { message, param, code, status, details } = problem;
  const refusal =
    status === 501
      ? refusals.notSupported(message)
      : refusals.invalidRequest(message, param, code, details === undefined ? undefined : { details });
  return status === undefined ? refusal : { ...refusal, status };
}

/**
 * Holds a request against the gates of a model. A problem: it may not pass. Else what a native request goes without, and how often
 * tools may be used that pass by their public price (`open`); null: it stays as it is. `open` null: it is translated.
 */
export function passGates(
  raw: Uint8Array,
  facts: RequestFacts,
  model: Pick<CatalogModel, 'allow' | 'unknownMembers' | 'price'>,
  open: ReadonlySet<string> | null,
): LeftOut | WireProblem | null {
  if (facts.gates.length === 0 && model.unknownMembers === 'pass') return null;
  if (open === null) return shutGate(facts, model, 'dropped');
  const terms = { ...model, allow: allowedWith(model.allow, open) };
  const leftOut = leaveOutTools(raw, facts, terms.allow);
  if (leftOut !== null && 'message' in leftOut) return leftOut;
  const bounds = boundToolUses(raw, facts, { open, allow: model.allow });
  if ('message' in bounds) return bounds;
  const problem = shutGate(facts, terms, leftOut === null ? 'nothing' : 'tools');
  if (problem !== null || bounds.length === 0) return problem ?? leftOut;
  return { types: leftOut?.types ?? [], edits: [...(leftOut?.edits ?? []), ...bounds] };
}

/** The names that an entry opens, and those of the tools that pass by their public price. */
export function allowedWith(allow: ReadonlySet<string>, open: ReadonlySet<string>): ReadonlySet<string> {
  return open.size === 0 ? allow : new Set([...allow, ...open]);
}

/**
 * The first gated field of a request: it could reach another customer's state at the shared vendor account, or costs
 * something that the catalog has no price for. Null: none. `without`: the fields that translation drops, or only the tools
 * among them, do not travel.
 */
function shutGate(
  facts: RequestFacts,
  model: Pick<CatalogModel, 'allow' | 'unknownMembers' | 'price'>,
  without: 'nothing' | 'tools' | 'dropped',
): WireProblem | null {
  const isGone = ({ translationDrops, places }: Gate): boolean =>
    translationDrops === true && (without === 'dropped' || (without === 'tools' && places !== undefined));
  const priced = askedVariant(facts, model)?.split('+') ?? [];
  const isPriced = ({ variant }: Gate): boolean => variant !== undefined && priced.includes(variant);
  const shut = facts.gates.find((gate) => !model.allow.has(gate.name) && !isPriced(gate) && !isGone(gate));
  return shut?.problem ?? (model.unknownMembers === 'refuse' ? unknownMember(facts, model.allow) : null);
}

/** A refusal of a member that no table has, with the member that may have been meant. */
export function withGuess(problem: WireProblem, { unknownMembers }: RequestFacts, body: BodyKind): WireProblem {
  const { message, param } = problem;
  if (param === null || !unknownMembers.includes(param)) return problem;
  const meant = closest(param, Object.keys(membersOf(body).members));
  return meant === null ? problem : { ...problem, message: `${message} Did you mean ${meant}?` };
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

/** Prompts up to this many tokens have the ordinary price; the beta below allows longer ones at another price. */
const ordinaryPromptTokens = 200_000;
const longPromptBeta = /^context-1m(?:-|$)/;

type PromptSize = Pick<RequestFacts, 'textBytes' | 'images' | 'documents' | 'documentBytes'>;
type LongPromptTerms = Pick<CatalogModel, 'allow' | 'contextWindow'>;

/** Whether the catalog entry has a price for long prompts: by its context window, or by naming the beta in `allow`. */
function hasLongPromptPrice({ allow, contextWindow }: LongPromptTerms, beta: string): boolean {
  return contextWindow > ordinaryPromptTokens || allow.has(beta) || allow.has('context-1m');
}

/**
 * Checks the long-prompt beta, which changes the price: the vendor then accepts prompts of up to a million tokens, and
 * charges more for them on some models. A prompt that is too long by the estimate is refused in the vendor's wording,
 * which agents react to by compacting, unless the entry has a price for it. Null: no problem. Translated requests do
 * not carry the header.
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
 * Removes the long-prompt beta from the headers when the prompt could be long by its bytes (a text never has more
 * tokens than bytes) and the entry has no price for it: dense text can exceed any estimate. Without the beta the vendor
 * refuses prompts above the ordinary length, and answers shorter ones alike. Returns the same headers when nothing is
 * removed.
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
