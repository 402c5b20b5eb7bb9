import { insertMember, removeItems, removeMembers } from './body.ts';
import { isOptionalTool } from './dialogue/vendor-tools.ts';
import { type JsonLimits, type JsonNode, leaf, listOf, scanJson, shape, textOf } from './json.ts';
import { withoutToolVersion } from './members.ts';
import { bodyStart } from './native.ts';
import type { Edit, HostedToolUse, LeftOut, RequestFacts, WireProblem } from './protocol.ts';

/**
 * Tools that run at the vendor: coding agents offer them with every request, and a model answers without them. Where nobody
 * knows a price they are natively taken out of the body, as a translation leaves them out; the answer names them, and a
 * request that demands one is refused. Where the vendor's price is known they pass, and the body is made to say how often they
 * may be used.
 */

/** What is asked for where the client does not say how often a tool may be used. */
export const usualToolUses = 5;
/** More than this is asked for nobody: each use may bring a whole window into the context. */
export const mostToolUses = 16;

const tool = shape({ type: leaf, name: leaf, max_uses: leaf });
const tools = listOf(tool);
const bodyShape = shape({
  tools,
  tool_choice: shape({ type: leaf, name: leaf, mode: leaf }),
  input: listOf(shape({ tools })),
});
/** The body has been scanned with the limits of requests before. */
const limits: JsonLimits = { maxDepth: 512, maxValues: 20_000_000, refuseDuplicates: false };

/**
 * What is taken out of a request for a model whose entry allows only `allow`; null: nothing. A problem: the request demands
 * what is not there, or holds such a tool where it cannot be taken out.
 */
export function leaveOutTools(
  raw: Uint8Array,
  facts: RequestFacts,
  allow: ReadonlySet<string>,
): LeftOut | WireProblem | null {
  const unpriced = facts.gates.filter((gate) => gate.translationDrops === true && !allow.has(gate.name) && gate.places);
  const [first] = unpriced;
  if (first === undefined) return null;
  const names = new Set(unpriced.map(({ name }) => name));
  const root = scanJson(raw, bodyShape, limits);
  const isOut = (node: JsonNode): boolean => {
    const type = textOf(raw, node.members.get('type'));
    return type !== null && isOptionalTool(type) && names.has(withoutToolVersion(type));
  };
  const own = root.members.get('tools')?.items ?? [];
  const lists = [
    own,
    ...(root.members.get('input')?.items ?? []).map((item) => item.members.get('tools')?.items ?? []),
  ];
  const out = lists.flatMap((list) => list.filter(isOut));
  const places = unpriced.reduce((sum, gate) => sum + (gate.places ?? 0), 0);
  if (out.length !== places) return first.problem;
  const isLeft = lists.some((list) => list.some((node) => !isOut(node)));
  if (demands(raw, root.members.get('tool_choice'), { out, isOut, isLeft })) return first.problem;
  const types = [...new Set(out.map((node) => textOf(raw, node.members.get('type')) ?? ''))];
  const isOwnEmpty = own.length > 0 && own.every(isOut);
  const edits = lists.flatMap((list) => (list === own && isOwnEmpty ? [] : removeItems(list, isOut)));
  return { types, edits: isOwnEmpty ? [...edits, ...withoutList(facts, isLeft)] : edits };
}

/** Whether the choice can only be met by a tool that is left out. */
function demands(
  raw: Uint8Array,
  choice: JsonNode | undefined,
  { out, isOut, isLeft }: { out: readonly JsonNode[]; isOut(node: JsonNode): boolean; isLeft: boolean },
): boolean {
  if (choice === undefined) return false;
  const word = choice.kind === 'string' ? textOf(raw, choice) : textOf(raw, choice.members.get('type'));
  if (word === 'any' || word === 'required') return !isLeft;
  if (choice.kind !== 'object') return false;
  if (word === 'allowed_tools') return !isLeft && textOf(raw, choice.members.get('mode')) === 'required';
  const name = textOf(raw, choice.members.get('name'));
  return isOut(choice) || (word === 'tool' && out.some((node) => textOf(raw, node.members.get('name')) === name));
}

/** An empty list, and what may only be said of tools: vendors refuse both. */
function withoutList({ protocol, members }: RequestFacts, isLeft: boolean): Edit[] {
  const names = ['tools', ...(isLeft ? [] : ['tool_choice', 'parallel_tool_calls'])];
  if (protocol !== 'chat-completions') return removeMembers(members, names);
  // Other members of chat completions may be taken out as well, so that commas are nobody's.
  return names.flatMap((name) => {
    const span = members.get(name);
    return span === undefined ? [] : [{ start: span.start, end: span.end, text: 'null' }];
  });
}

/**
 * Edits that make the body say how often tools of the vendor may be used, for those that pass because their public price is known
 * (`open`). What the client says stands up to `mostToolUses`. A problem: such a tool stands where it cannot be bounded.
 */
export function boundToolUses(
  raw: Uint8Array,
  facts: RequestFacts,
  { open, allow }: { open: ReadonlySet<string>; allow: ReadonlySet<string> },
): Edit[] | WireProblem {
  const gates = facts.gates.filter(({ name, places }) => places !== undefined && open.has(name) && !allow.has(name));
  const [first] = gates;
  if (first === undefined) return [];
  if (facts.protocol === 'responses') {
    // One figure bounds all tools of the vendor: those that the operator has opened without one keep theirs.
    return facts.hostedTools.some(({ name }) => allow.has(name)) ? [] : boundAll(raw, facts);
  }
  if (facts.protocol !== 'messages') return first.problem;
  const names = new Set(gates.map(({ name }) => name));
  const tools = (scanJson(raw, bodyShape, limits).members.get('tools')?.items ?? []).filter((node) => {
    const type = textOf(raw, node.members.get('type'));
    return type !== null && isOptionalTool(type) && names.has(withoutToolVersion(type));
  });
  if (tools.length !== gates.reduce((sum, { places = 0 }) => sum + places, 0)) return first.problem;
  return tools.flatMap((node) => {
    const uses = node.members.get('max_uses');
    if (uses === undefined) return [insertMember(raw, node.start, 'max_uses', String(usualToolUses))];
    return bounded(raw, uses);
  });
}

function boundAll(raw: Uint8Array, { members }: RequestFacts): Edit[] {
  const span = members.get('max_tool_calls');
  if (span === undefined) return [insertMember(raw, bodyStart(raw), 'max_tool_calls', String(usualToolUses))];
  return bounded(raw, span);
}

/** What is no count says nothing: a vendor may read it as one all the same. */
function bounded(raw: Uint8Array, { start, end }: { start: number; end: number }): Edit[] {
  const uses = Number(Buffer.from(raw.buffer, raw.byteOffset + start, end - start).toString('latin1'));
  if (!Number.isInteger(uses) || uses < 0) return [{ start, end, text: String(usualToolUses) }];
  return uses > mostToolUses ? [{ start, end, text: String(mostToolUses) }] : [];
}

/** How often the vendor's tools may be used for a request. */
export interface ToolUses {
  /** All together, which is how often the model may run again; left out: it is not said. */
  maxToolUses?: number;
  /** Searches among them that may be billed; left out: as many as the uses, or not said. */
  maxSearches?: number;
}

/** The most searches that one call makes: OpenAI's holds a list of queries, and each may be billed. */
const searchesOfCall = 8;
/**
 * With tools of 2026 the model filters what comes back by programs, whose runs no member bounds:
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
 */
const runsOfPrograms = 15;

/**
 * How often the tools of a request may be used once its body says so (`boundToolUses`), those without a price being left out.
 * Null: none passes by its public price, so that the body alone says it.
 */
export function boundedUses(
  { hostedTools, protocol, allToolUses, searchesTools }: RequestFacts,
  { open, allow }: { open: ReadonlySet<string>; allow: ReadonlySet<string> },
): ToolUses | null {
  const isOpen = ({ name }: HostedToolUse): boolean => open.has(name) && !allow.has(name);
  const passing = hostedTools.filter((each) => isOpen(each) || allow.has(each.name));
  if (!passing.some(isOpen)) return null;
  const isSearch = ({ name }: HostedToolUse): boolean => name.endsWith('search');
  if (protocol === 'responses') {
    const isBounded = passing.every(isOpen);
    const uses = isBounded ? usesWithin(allToolUses) : allToolUses;
    if (uses === null) return {};
    return { maxToolUses: uses, maxSearches: passing.some(isSearch) ? uses * searchesOfCall : 0 };
  }
  let sum = 0;
  let searches = 0;
  for (const each of passing) {
    const uses = isOpen(each) ? usesWithin(each.uses) : each.uses;
    if (uses === null) return {};
    sum += uses;
    if (isSearch(each)) searches += uses;
  }
  const runs = passing.some(({ runsPrograms }) => runsPrograms) ? Math.max(sum, runsOfPrograms) : sum;
  // A search among the client's tools is bounded by nothing.
  return { ...(searchesTools ? {} : { maxToolUses: runs }), maxSearches: searches };
}

const usesWithin = (asked: number | null): number => Math.min(asked ?? usualToolUses, mostToolUses);
