import { Buffer, isUtf8 } from 'node:buffer';
import type { Protocol } from '../core/protocol.ts';
import type { ImageAsk, MediaCount } from '../core/request.ts';
import { type Content, contentRules, type Embedded } from './content.ts';
import { asBuffer, JsonFault, type JsonNode, scanText, textOf } from './json.ts';
import { spellMember, stepsTo } from './member-path.ts';
import { type BodyKind, isKnownMember, mistakenFor } from './members.ts';
import { expandedBytes } from './normalisation.ts';
import type { Edit, MemberSpan, RequestFacts, Scan, WireProblem } from './protocol.ts';
import { askedReasoning } from './reasoning.ts';
import { compactionBytes } from './responses/hand-over.ts';

/**
 * Reads a raw request body once, as bytes: is it JSON within bounds, and what does it say that decides routing, the
 * gates and the hold? The body itself is never rebuilt; on its way upstream only the spans named here are replaced.
 */

/**
 * A container holds containers at most this deep: far beyond any real schema, far below what hurts a parser.
 */
const MAX_DEPTH = 128;
/** A long agent conversation has some ten thousand values. Scanning this many takes less than a fifth of a second. */
const MAX_VALUES = 100_000;
/** The longest model id that is looked up; a catalog id is far shorter. */
const MAX_MODEL_LENGTH = 256;
/** The most answers one request may ask for, as at the vendor. */
const MAX_ANSWERS = 128;

/** Members of the body itself: far more than all that any protocol has. */
const MAX_MEMBERS = 4_000;

const limits = { maxDepth: MAX_DEPTH, maxValues: MAX_VALUES, refuseDuplicates: true };

/**
 * What the body is for: `count` is the token counting of the messages protocol, which needs no `max_tokens`; `embed` asks for
 * embeddings and `image` for images, in OpenAI's words.
 */
export type Purpose = 'generate' | 'count' | 'embed' | 'image';

const kindOf = (purpose: Purpose, protocol: Protocol): BodyKind =>
  purpose === 'embed' ? 'embeddings' : purpose === 'image' ? 'images' : protocol;

/** Lists of tokens have a value for each: as many as the vendor takes in one request, and some. */
const embeddingLimits = { ...limits, maxValues: 400_000 };

/** How far into a body a refused member is named with its path: naming it reads everything before it once more. */
const maxPathBytes = 1_048_576;

/**
 * Scans a request body. A refusal names the field at fault and never quotes the body; nothing of a refused body may
 * travel upstream. Gates are only reported: whether the catalog opens them is the caller's question.
 */
export function scanBody(raw: Uint8Array, protocol: Protocol, purpose: Purpose = 'generate'): Scan {
  const body = asBuffer(raw);
  try {
    return { ok: true, facts: readFacts(body, protocol, purpose) };
  } catch (fault) {
    if (fault instanceof Refused) return { ok: false, problem: fault.problem };
    if (!(fault instanceof JsonFault)) throw fault;
    const { message, duplicate, duplicateAt } = fault;
    const steps = duplicateAt > maxPathBytes ? [] : stepsTo(body, duplicateAt);
    const kind = kindOf(purpose, protocol);
    const param = duplicate === null ? null : spellMember(kind, [...steps, duplicate]);
    const where = param === null || param === duplicate ? '' : `${param}: `;
    return { ok: false, problem: problem(`${where}The request body cannot be read: ${message}.`, param) };
  }
}

/** Leaves the reading from any depth; it never gets out of `scanBody`. */
class Refused extends Error {
  readonly problem: WireProblem;

  constructor(problem: WireProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

function problem(message: string, param: string | null = null, code: string | null = null): WireProblem {
  return { message, param, code };
}

function refuse(message: string, param: string | null = null, code: string | null = null): never {
  throw new Refused(problem(message, param, code));
}

function readFacts(body: Buffer, protocol: Protocol, purpose: Purpose): RequestFacts {
  if (body.length === 0) refuse('The request body is empty; it must be a JSON object.');
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    refuse('The request body starts with a byte order mark; send plain UTF-8.');
  }
  if (!isUtf8(body)) refuse('The request body is not valid UTF-8.');
  const kind = kindOf(purpose, protocol);
  const rules = contentRules(kind);
  const { root, spellsNumbers } = scanText(body, rules.shape, purpose === 'embed' ? embeddingLimits : limits);
  if (root.kind !== 'object') refuse('The request body must be a JSON object.');
  if (root.members.size > MAX_MEMBERS) refuse(`The request body has more than ${MAX_MEMBERS} members.`);

  const unknownMembers = readUnknownMembers(body, kind, root);
  const model = readModel(body, root);
  if (kind === protocol) refuseOtherProtocol(protocol, root);
  const stream = readBoolean(root.members.get('stream'), 'stream');
  if (stream && purpose === 'embed') refuse('stream: embeddings are not streamed; leave it out', 'stream');
  const maxTokens = capOf(body, protocol, purpose, root);
  const content = rules.read(body, root, refuse);
  const members = new Map<string, MemberSpan>();
  for (const [name, { start, end, keyStart }] of root.members) members.set(name, { start, end, keyStart });
  return {
    protocol,
    model: model.text,
    modelSpan: { start: model.node.start, end: model.node.end },
    stream,
    maxTokens,
    ...readCaps(body, protocol, root),
    answers: content.imageAsk?.count ?? readAnswers(body, kind, root),
    includeUsage: kind === 'chat-completions' && readIncludeUsage(root),
    ...(content.imageAsk === undefined ? {} : { imageAsk: askedForm(content.imageAsk, unknownMembers) }),
    textBytes:
      content.embedded?.textBytes ??
      content.promptBytes ??
      body.length - content.inlineBytes + (content.compaction === 'asked' ? compactionBytes : 0),
    ...(content.embedded === undefined ? {} : embeddingFacts(content.embedded)),
    images: content.images,
    documents: content.documents,
    documentBytes: content.documentBytes,
    members,
    unknownMembers: [...unknownMembers, ...content.unknownParts],
    gates: content.gates,
    ...expansion(body, content, spellsNumbers),
    media: mediaOf(content, unknownMembers),
    tools: content.tools,
    ...(content.maxToolUses === undefined ? {} : { maxToolUses: content.maxToolUses }),
    ...(compacts(body, root) ? { compacts: true } : {}),
    hostedTools: content.hostedTools,
    allToolUses: content.allToolUses,
    searchesTools: content.searchesTools,
    danglingReasoning: content.danglingReasoning,
    longestCallId: content.longestCallId,
    compaction: content.compaction,
    cacheWrite: content.cacheWrite,
    reasoning: askedReasoning(body, members),
  };
}

/** A member that no table knows may say the form of an image, in the words of another vendor. */
const askedForm = (ask: ImageAsk, unknown: readonly string[]): ImageAsk =>
  unknown.length === 0 ? ask : { ...ask, form: { quality: null, size: null } };

const embeddingFacts = ({ inputs, countedTokens }: Embedded) => ({ inputs, countedTokens });

/** An embedding has no output. */
function capOf(body: Buffer, protocol: Protocol, purpose: Purpose, root: JsonNode): number | null {
  if (purpose === 'embed') return 0;
  return purpose === 'count' || purpose === 'image' ? null : readMaxTokens(body, protocol, root);
}

/** Unknown members that are named; a body may have hundreds of thousands. */
const MAX_UNKNOWN = 16;

/** Names that are in no table. One that a lenient decoder would take for a known one is refused: no gate would have seen it. */
function readUnknownMembers(body: Buffer, kind: BodyKind, root: JsonNode): string[] {
  const unknown: string[] = [];
  for (const [name, node] of root.members) {
    if (isKnownMember(kind, name)) continue;
    const meant = mistakenFor(kind, name);
    if (meant !== null) refuse(`${meant}: must be spelled exactly so; the body has it in another spelling`, meant);
    if ((multiplier.test(name) || (kind === 'images' && imageMultiplier.test(name))) && isMore(body, node))
      refuse(`${name}: not available here, because it multiplies what the request costs; leave it out`, name);
    if (unknown.length < MAX_UNKNOWN) unknown.push(name);
  }
  return unknown;
}

function readModel(body: Buffer, root: JsonNode): { text: string; node: JsonNode } {
  const node = root.members.get('model');
  const text = textOf(body, node);
  if (node === undefined || node.kind === 'null') refuse('model: Field required', 'model');
  if (text === null) refuse('model: must be a string', 'model');
  if (text.length === 0 || text.length > MAX_MODEL_LENGTH || text.includes('\u0000')) {
    refuse(`model: must have 1 to ${MAX_MODEL_LENGTH} characters and no NUL`, 'model');
  }
  return { text, node };
}

/** Tools that mix the two OpenAI protocols up get told where the body belongs, instead of "messages is missing". */
function refuseOtherProtocol(protocol: Protocol, root: JsonNode): void {
  if (protocol === 'chat-completions' && !root.members.has('messages') && root.members.has('input')) {
    refuse(
      'This body has `input` in place of `messages`: it belongs to /v1/responses, not to /v1/chat/completions.',
      'input',
    );
  }
  if (protocol === 'responses' && !root.members.has('input') && root.members.has('messages')) {
    refuse(
      'This body has `messages` in place of `input`: it belongs to /v1/chat/completions, not to /v1/responses.',
      'messages',
    );
  }
}

function readMaxTokens(body: Buffer, protocol: Protocol, root: JsonNode): number | null {
  const cap = (name: string, least: number): number | null => readInteger(body, root.members.get(name), name, least);
  if (protocol === 'messages') {
    // Zero warms the vendor's cache and is legal there alone.
    const maxTokens = cap('max_tokens', 0);
    if (maxTokens === null) refuse('max_tokens: Field required', 'max_tokens');
    return maxTokens;
  }
  if (protocol === 'responses') return cap('max_output_tokens', 1);
  const deprecated = cap('max_tokens', 1);
  return cap('max_completion_tokens', 1) ?? deprecated;
}

/** Members that upstreams of one protocol or another read as the cap on the output. */
const capNames = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_tokens_to_sample',
  'max_gen_len',
  'num_predict',
  'n_predict',
];

/** The largest of the caps, and reasoning that is allowed beside it: an upstream may read any of them. */
function readCaps(body: Buffer, protocol: Protocol, root: JsonNode): Pick<RequestFacts, 'mostCap' | 'reasoningBudget'> {
  let mostCap = 0;
  for (const name of capNames) mostCap = Math.max(mostCap, numberOf(body, root.members.get(name)) ?? 0);
  if (protocol !== 'chat-completions') return mostCap > 0 ? { mostCap } : {};
  const budgets = [
    root.members.get('thinking_budget'),
    root.members.get('thinking')?.members.get('budget_tokens'),
    root.members.get('reasoning')?.members.get('max_tokens'),
  ];
  const reasoningBudget = Math.max(...budgets.map((node) => numberOf(body, node) ?? 0));
  return { ...(mostCap > 0 ? { mostCap } : {}), ...(reasoningBudget > 0 ? { reasoningBudget } : {}) };
}

/** A number of at least 0, or a text that is one; null for anything else. */
function numberOf(body: Buffer, node: JsonNode | undefined): number | null {
  if (node === undefined || (node.kind !== 'number' && node.kind !== 'string')) return null;
  const text = node.kind === 'number' ? body.toString('latin1', node.start, node.end) : textOf(body, node);
  const value = text === null || text.trim() === '' ? Number.NaN : Number(text);
  // Negative numbers stand for no bound at servers of one's own (`num_predict: -1`).
  if (Number.isNaN(value)) return null;
  return value < 0 ? Number.MAX_SAFE_INTEGER : Math.min(Math.ceil(value), Number.MAX_SAFE_INTEGER);
}

/** Members that ask for several answers, each of which is paid for, whatever their number among those that come back. */
const answerNames = ['n', 'best_of'];
/**
 * Names under which other protocols ask for several answers, or for more work on one. In a body of these protocols they are
 * refused: nothing here says what they multiply.
 */
const multiplier =
  /^(?:n|best_?of|num_?(?:answers|beams|candidates|choices|completions|generations|outputs|responses|results|return_sequences|samples|sequences)|n_?(?:answers|candidates|choices|completions|generations|outputs|responses|samples|sequences)|(?:answer|beam|candidate|choice|completion|generation|response|sample|sequence)s?_?(?:count|n|num|width|size)|use_beam_search|extra_body|extra_params|vllm_xargs)$/i;

/** The same of images, and what makes one of them several. */
const imageMultiplier =
  /^(?:(?:num|number_of|max|n)_?images|images?_?(?:count|num|n)|batch_?(?:size|count)|samples|frame_count|frame_duration_ms|sequential_image_generation.*)$/i;

/** How many answers are paid for. */
function readAnswers(body: Buffer, kind: BodyKind, root: JsonNode): number {
  if (kind !== 'chat-completions') return 1;
  let answers = 1;
  for (const name of answerNames) {
    const asked = readInteger(body, root.members.get(name), name, 1) ?? 1;
    if (asked > MAX_ANSWERS) refuse(`${name}: must be at most ${MAX_ANSWERS}`, name);
    answers = Math.max(answers, asked);
  }
  return answers;
}

/** Whether a member asks for more than one of something. */
function isMore(body: Buffer, node: JsonNode): boolean {
  if (node.kind === 'null' || node.kind === 'false') return false;
  const count = numberOf(body, node);
  return count === null ? node.kind !== 'string' : count > 1;
}

/** Each unknown top-level member counts as one thing that only the vendor can measure: it may be a document, or a tool. */
function mediaOf({ media }: Content, unknownMembers: readonly string[]): MediaCount[] {
  const counted = unknownMembers.filter((name) => !capNames.includes(name)).length;
  return [...media.values(), ...(counted === 0 ? [] : [{ kind: 'unknown_member' as const, count: counted }])];
}

function expansion(
  body: Buffer,
  { embedded, promptBytes, inlineBytes }: Content,
  spellsNumbers: boolean,
): Pick<RequestFacts, 'expandedBytes'> {
  const added = expandedBytes(body, embedded?.textBytes ?? promptBytes ?? body.length - inlineBytes, spellsNumbers);
  return added === 0 ? {} : { expandedBytes: added };
}

/** Words of the members with which a vendor is asked to compact the conversation. */
function compacts(body: Buffer, root: JsonNode): boolean {
  return ['context_management', 'compaction'].some((name) => {
    const node = root.members.get(name);
    if (node === undefined || node.kind === 'null') return false;
    return name === 'compaction' || body.subarray(node.start, node.end).includes('compact');
  });
}

function readIncludeUsage(root: JsonNode): boolean {
  const options = root.members.get('stream_options');
  if (options === undefined || options.kind === 'null') {
    // Clients that know OpenRouter ask for it so: https://openrouter.ai/docs/use-cases/usage-accounting
    return root.members.get('usage')?.members.get('include')?.kind === 'true';
  }
  if (options.kind !== 'object') refuse('stream_options: must be an object', 'stream_options');
  return readBoolean(options.members.get('include_usage'), 'stream_options.include_usage');
}

function readBoolean(node: JsonNode | undefined, param: string): boolean {
  if (node === undefined || node.kind === 'null' || node.kind === 'false') return false;
  if (node.kind !== 'true') refuse(`${param}: must be a boolean`, param);
  return true;
}

/** Null when absent. However large, it fits a safe integer: the model's own cap sizes the hold anyway. */
function readInteger(body: Buffer, node: JsonNode | undefined, param: string, least: number): number | null {
  if (node === undefined || node.kind === 'null') return null;
  const value = node.kind === 'number' ? Number(body.toString('latin1', node.start, node.end)) : Number.NaN;
  if (!Number.isInteger(value)) refuse(`${param}: must be an integer`, param);
  if (value < least) refuse(`${param}: must be at least ${least}`, param);
  return Math.min(Math.abs(value), Number.MAX_SAFE_INTEGER);
}

/** Applies edits that do not overlap; every byte outside of them stays what it was. No edits: the very same bytes. */
export function splice(raw: Uint8Array, edits: readonly Edit[]): Uint8Array {
  if (edits.length === 0) return raw;
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const edit of [...edits].sort((one, other) => one.start - other.start)) {
    parts.push(raw.subarray(from, edit.start), Buffer.from(edit.text));
    from = edit.end;
  }
  parts.push(raw.subarray(from));
  return Buffer.concat(parts);
}

/** The edit that puts the upstream's model id in; none when it already stands there, however it is escaped. */
export function modelEdits(facts: RequestFacts, upstreamModel: string): Edit[] {
  return facts.model === upstreamModel ? [] : [{ ...facts.modelSpan, text: JSON.stringify(upstreamModel) }];
}

/** Inserts a member as the first one of the object that starts at `objectStart`. */
export function insertMember(raw: Uint8Array, objectStart: number, name: string, json: string): Edit {
  let at = objectStart + 1;
  while (isSpace(raw[at])) at += 1;
  const comma = raw[at] === 0x7d ? '' : ',';
  return { start: objectStart + 1, end: objectStart + 1, text: `${JSON.stringify(name)}:${json}${comma}` };
}

/** Gives a member another name, however the old one was escaped. `member` must come from a scan of `raw`. */
export function renameMember(raw: Uint8Array, member: MemberSpan, name: string): Edit {
  // Between a key and its value stand blanks and one colon, so that the last quote is the one that closes the key.
  const end = raw.lastIndexOf(0x22, member.start - 1) + 1;
  return { start: member.keyStart, end, text: JSON.stringify(name) };
}

/** The edits that remove members of the body together with the commas they leave behind; `members` are all of them in order. */
export function removeMembers(members: ReadonlyMap<string, MemberSpan>, names: readonly string[]): Edit[] {
  const edits: Edit[] = [];
  let lastKept: MemberSpan | null = null;
  let from: number | null = null;
  for (const [name, member] of members) {
    if (names.includes(name)) from ??= member.keyStart;
    else {
      if (from !== null) edits.push({ start: from, end: member.keyStart, text: '' });
      from = null;
      lastKept = member;
    }
  }
  const last = [...members.values()].at(-1);
  if (from !== null && last !== undefined) edits.push({ start: lastKept?.end ?? from, end: last.end, text: '' });
  return edits;
}

/** Removes a member together with the one comma that belongs to it. `node` must come from a scan of `raw`. */
export function removeMember(raw: Uint8Array, node: JsonNode): Edit {
  let end = node.end;
  while (isSpace(raw[end])) end += 1;
  if (raw[end] === 0x2c) return { start: node.keyStart, end: end + 1, text: '' };
  let start = node.keyStart - 1;
  while (isSpace(raw[start])) start -= 1;
  return { start: raw[start] === 0x2c ? start : node.keyStart, end: node.end, text: '' };
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The edits that remove items of one list together with the commas they leave behind. */
export function removeItems(items: readonly JsonNode[], isRemoved: (item: JsonNode) => boolean): Edit[] {
  const edits: Edit[] = [];
  let lastKept: JsonNode | null = null;
  let from: number | null = null;
  for (const item of items) {
    if (isRemoved(item)) from ??= item.start;
    else {
      if (from !== null) edits.push({ start: from, end: item.start, text: '' });
      from = null;
      lastKept = item;
    }
  }
  const last = items.at(-1);
  if (from !== null && last !== undefined) edits.push({ start: lastKept?.end ?? from, end: last.end, text: '' });
  return edits;
}
