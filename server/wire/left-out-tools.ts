import { type Edit, removeItems, removeMembers } from './body.ts';
import { isOptionalTool } from './dialogue/vendor-tools.ts';
import { type JsonLimits, type JsonNode, leaf, listOf, scanJson, shape, textOf } from './json.ts';
import { withoutToolVersion } from './members.ts';
import type { LeftOut, RequestFacts, WireProblem } from './protocol.ts';

/**
 * Tools that run at the vendor and have no price at a model: coding agents offer them with every request, and a model answers
 * without them. Natively they are taken out of the body, as a translation leaves them out; the answer names them. A request
 * that demands such a tool is refused.
 */

const tool = shape({ type: leaf, name: leaf });
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
