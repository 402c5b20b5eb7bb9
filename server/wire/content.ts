import { Buffer } from 'node:buffer';
import type { Protocol } from '../core/protocol.ts';
import type { ImageAsk, MediaCount, MediaKind, ToolImageAsk } from '../core/request.ts';
import type { Json } from './dialogue/json.ts';
import { isOptionalTool } from './dialogue/vendor-tools.ts';
import {
  addMembers,
  type JsonNode,
  leaf,
  listOf,
  listWithoutNumbers,
  type Shape,
  shape,
  textOf,
  valueOf,
} from './json.ts';
import { spellMember } from './member-path.ts';
import {
  asksForNothing,
  type BodyKind,
  isKnownItem,
  isKnownPart,
  isProtocolName,
  type MemberGate,
  membersOf,
  memberTables,
  withoutToolVersion,
} from './members.ts';
import type { PdfWork } from './pdf/lexer.ts';
import { measurePdf, pdfWorkOfBody } from './pdf/measure.ts';
import type { Gate, HostedToolUse, RequestFacts, WireProblem } from './protocol.ts';
import { askedWord } from './served.ts';

/**
 * What a request body holds beyond its plain parameters: media that must not be counted as text, cache markers, and
 * the gates. Every rule knows the place it applies to: a tool whose schema has a property called `file_id` asks for
 * nothing.
 *
 * Two kinds of gates. *Tenant*: all customers share the operator's account at the vendor, and ids there are scoped
 * to that account, so an id that a customer sends could reach what another one stored. *Price*: the field changes
 * what the vendor charges in a way that the catalog's prices do not express, or lets another model answer.
 */

/** What the content says; the part of `RequestFacts` that needs a walk. */
export interface Content
  extends Pick<
    RequestFacts,
    | 'images'
    | 'documents'
    | 'documentBytes'
    | 'cacheWrite'
    | 'danglingReasoning'
    | 'searchesTools'
    | 'longestCallId'
    | 'compaction'
    | 'maxToolUses'
    | 'hostedTools'
    | 'allToolUses'
  > {
  /** Bytes of inline media, which are no text. */
  inlineBytes: number;
  /** Embeddings: what is embedded, measured; the rest of the body costs nothing. */
  embedded?: Embedded;
  /** Images: what is asked for; its prompt is all of its text. */
  imageAsk?: ImageAsk;
  promptBytes?: number;
  gates: Gate[];
  /** What it holds beside its text, by its kind. */
  media: Map<MediaKind, MediaCount>;
  tools: { declared: number; described: number };
  /** Types of content parts and items that stand in no table of the protocol; the first few. */
  unknownParts: readonly string[];
}

/** What a request for embeddings holds. */
export interface Embedded {
  /** How many inputs there are. */
  inputs: number;
  /** Bytes of the texts among them, quotes included. */
  textBytes: number;
  /** Tokens that are written as numbers. */
  countedTokens: number;
}

export type Refuse = (message: string, param: string | null, code?: string | null) => never;

export interface ContentRules {
  /** The members a scan must retain for `read`. */
  shape: Shape;
  /** Walks the retained members; calls `refuse` for a body that no upstream of the protocol would take. */
  read(body: Buffer, root: JsonNode, refuse: Refuse): Content;
}

export function contentRules(body: BodyKind): ContentRules {
  return rules[body];
}

/** Where a walk is, innermost first; spelled out only when something is found there. */
interface Path {
  parent: Path | null;
  key: string | number;
}

interface Walk {
  kind: BodyKind;
  body: Buffer;
  found: Content;
  refuse: Refuse;
  hostedTools: HostedToolUse[];
  /** Gates found so far: a body may repeat itself ten thousand times. */
  gateNames: Map<string, Gate>;
  unknownParts: Set<string>;
  pdfWork: PdfWork;
}

function stepsOf({ parent, key }: Path): (string | number)[] {
  return parent === null ? [key] : [...stepsOf(parent), key];
}

function spelled({ kind }: Walk, path: Path): string {
  return spellMember(kind, stepsOf(path));
}

function inner(parent: Path, key: string | number): Path {
  return { parent, key };
}

function items(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.items ?? [];
}

// Gates

/** Names of permissions that a model's entry may have. */
const plainName = /^[\w.:-]{1,64}$/;

/** More permissions than anyone has granted: such a body is refused at once, before it costs more to describe. */
const MAX_GATES = 64;

/**
 * Settings by which client libraries send the content itself, in their own words: the AI SDK refers to earlier items unless
 * `store` is false (vercel/ai, packages/openai/src/responses/convert-to-openai-responses-input.ts), and so do OpenAI's agents
 * with a conversation id.
 */
const byStore =
  ' Set `store: false`: in the AI SDK `providerOptions: { openai: { store: false } }`, in the OpenAI Agents SDK `modelSettings: { store: false }`, in the OpenAI SDK `store: false` with `include: ["reasoning.encrypted_content"]`.';
const cures: ReadonlyMap<string, string> = new Map([
  ['item_reference', byStore],
  ['previous_response_id', ' Over HTTP, send the earlier items as `input`.'],
]);

function addGate(walk: Walk, kind: Gate['kind'], name: string, path: Path, more: Partial<MemberGate> = {}): void {
  const { gates } = walk.found;
  const known = `${kind} ${name}`;
  const before = walk.gateNames.get(known);
  if (before !== undefined) {
    if (more.translationDrops === true) before.places = (before.places ?? 0) + 1;
    return;
  }
  const param = spelled(walk, path);
  // A tool's place in a list says nothing to a person whose program wrote that list.
  const shown = path.key === 'type' && isProtocolName(name) ? `"${name}" is ` : '';
  if (gates.length === MAX_GATES) walk.refuse(`${param}: asks for too many things that are not available here`, param);
  const problem: WireProblem = {
    message:
      kind === 'tenant'
        ? `${param}: not available here, because it refers to what is kept in an account at the vendor that all customers of this service share; send the content itself instead.${cures.get(name) ?? ''}`
        : `${param}: ${shown}not available for this model here, because ${more.because ?? 'its catalog entry has no price for it'}; leave it out.`,
    param,
    code: 'unsupported_parameter',
  };
  if (more.details !== undefined) problem.details = more.details;
  const isTool = more.translationDrops === true && path.key === 'type';
  const drops = more.translationDrops === true ? { translationDrops: true as const } : {};
  const gate: Gate = { kind, name, problem, ...drops, ...(isTool ? { places: 1 } : {}) };
  gates.push(gate);
  walk.gateNames.set(known, gate);
}

const gatesOf = (body: BodyKind): readonly (readonly [string, MemberGate])[] =>
  Object.entries(membersOf(body).members).flatMap(([member, { gate }]) =>
    gate === undefined ? [] : [[member, gate] as const],
  );

/** Listed once: the table has every member that is known, and this is asked for every request. */
const gatedMembers: Readonly<Record<BodyKind, ReturnType<typeof gatesOf>>> = {
  messages: gatesOf('messages'),
  'chat-completions': gatesOf('chat-completions'),
  responses: gatesOf('responses'),
  embeddings: gatesOf('embeddings'),
  images: gatesOf('images'),
};

function readMemberGates(walk: Walk, root: JsonNode, kind: BodyKind): void {
  for (const [member, gate] of gatedMembers[kind]) {
    const node = root.members.get(member);
    if (node === undefined || isOff(walk.body, node, gate)) continue;
    addGate(walk, gate.kind, gate.name ?? member, { parent: null, key: member }, gate);
    const word = gate.isVariant === true ? askedWord(textOf(walk.body, node)) : null;
    const added = walk.found.gates.at(-1);
    if (word !== null && added?.name === member) added.variant = word;
  }
}

/** Values that switch something off are short; longer ones are not looked into. */
const MAX_OFF_BYTES = 4_096;

function isOff(body: Buffer, node: JsonNode, gate: MemberGate): boolean {
  if (node.kind === 'null' || node.kind === 'false') return true;
  return node.end - node.start <= MAX_OFF_BYTES && asksForNothing(gate, valueOf(body, node) as Json);
}

/** Types of unknown parts that are named; a body may have as many as it has parts. */
const MAX_UNKNOWN_PARTS = 16;

function noteUnknown(walk: Walk, type: string): void {
  addMedia(walk, 'unknown_part');
  if (walk.unknownParts.size < MAX_UNKNOWN_PARTS) walk.unknownParts.add(type);
}

/** A content part by its type: it may have a gate, or be unknown. */
function readPartType(walk: Walk, type: string | null, protocol: Protocol, path: Path): void {
  if (type === null) return;
  if (!isKnownPart(protocol, type)) return noteUnknown(walk, type);
  if (type === 'input_audio') addMedia(walk, 'audio');
  if (type === 'video_url') addMedia(walk, 'video');
  if (type === 'container_upload') addMedia(walk, 'stored_context');
  const gate = memberTables[protocol].parts[type]?.gate;
  if (gate !== undefined) addGate(walk, gate.kind, gate.name ?? type, inner(path, 'type'), gate);
}

/** Every form of answer but text has its own price. */
function readModalities(walk: Walk, root: JsonNode): void {
  for (const [index, modality] of items(root.members.get('modalities')).entries()) {
    const name = textOf(walk.body, modality);
    if (name === null || name === 'text') continue;
    addGate(
      walk,
      'price',
      plainName.test(name) ? name : 'modalities',
      inner({ parent: null, key: 'modalities' }, index),
    );
  }
}

/** Tool types that the client itself carries out; the model only emits calls, which cost tokens and nothing else. */
const clientTools: Record<Protocol, RegExp> = {
  messages:
    /^(custom|function)$|^(bash|text_editor|computer|computer_toolset|browser_toolset|memory|tool_search_tool)(_|$)/,
  'chat-completions': /^(function|custom)$/,
  responses: /^(function|custom|namespace|local_shell|apply_patch|computer|computer_use_preview|tool_search)$/,
};

/** Tools that the client describes itself. */
const plainTool = /^(custom|function|namespace)$/;

/** A tool that the vendor's servers carry out is a price gate, an unknown type too: its cost is not known either. */
function readTool(walk: Walk, tool: JsonNode, protocol: Protocol, path: Path): void {
  readCacheMarker(walk, tool);
  const type = textOf(walk.body, tool.members.get('type'));
  for (const [index, nested] of items(tool.members.get('tools')).entries()) {
    readTool(walk, nested, protocol, inner(inner(path, 'tools'), index));
  }
  if (type?.startsWith('tool_search') === true) walk.found.searchesTools = true;
  const { tools } = walk.found;
  tools.declared += 1;
  if (type === null) return;
  if (clientTools[protocol].test(type)) {
    if (!plainTool.test(type)) tools.described += 1;
    return;
  }
  if (type === 'shell' && environmentOf(walk.body, tool) === 'local') return;
  const name = type === 'mcp_toolset' ? 'mcp_servers' : withoutToolVersion(type);
  walk.hostedTools.push({
    name,
    uses: wholeNumber(walk.body, tool.members.get('max_uses')),
    runsPrograms: runsPrograms(walk.body, type, tool),
    ...(protocol === 'responses' && name === 'image_generation' ? { image: toolImageOf(walk.body, tool) } : {}),
  });
  addGate(walk, 'price', name, inner(path, 'type'), {
    // Clients offer them with every request; where they cannot exist the answer does not depend on them.
    translationDrops: isOptionalTool(type),
  });
}

/**
 * What is left out is the vendor's default, and what is no number of first versions may be read as the most:
 * https://github.com/openai/openai-node/blob/master/src/resources/responses/responses.ts (`Tool.ImageGeneration`)
 */
function toolImageOf(body: Buffer, tool: JsonNode): ToolImageAsk {
  const wordOf = (name: string): string | null => {
    const word = textOf(body, tool.members.get(name))?.trim().toLowerCase() ?? '';
    return word === '' || word === 'auto' ? null : word;
  };
  const partials = tool.members.get('partial_images');
  const isNone = partials === undefined || partials.kind === 'null';
  return {
    model: textOf(body, tool.members.get('model')) ?? 'gpt-image-1',
    form: { quality: wordOf('quality'), size: wordOf('size') },
    partials: isNone ? 0 : Math.min(wholeNumber(body, partials) ?? maxPartials, maxPartials),
  };
}

/** Versions of this day and later are called by programs of the model unless they are to be called directly. */
const firstWithPrograms = '20260209';

function runsPrograms(body: Buffer, type: string, tool: JsonNode): boolean {
  if (!type.startsWith('web_') || (/_(\d{8})$/.exec(type)?.[1] ?? '') < firstWithPrograms) return false;
  const callers = items(tool.members.get('allowed_callers'));
  return callers.length === 0 || callers.some((caller) => textOf(body, caller) !== 'direct');
}

function wholeNumber(body: Buffer, node: JsonNode | undefined): number | null {
  if (node?.kind !== 'number') return null;
  const value = Number(body.toString('latin1', node.start, node.end));
  return Number.isInteger(value) && value >= 0 ? Math.min(value, MAX_TOOL_USES) : null;
}

/** So many uses and more are as good as no bound. */
const MAX_TOOL_USES = 10_000;

function environmentOf(body: Buffer, tool: JsonNode): string | null {
  return textOf(body, tool.members.get('environment')?.members.get('type'));
}

function readTools(walk: Walk, root: JsonNode, protocol: Protocol): void {
  const path: Path = { parent: null, key: 'tools' };
  for (const [index, tool] of items(root.members.get('tools')).entries()) {
    readTool(walk, tool, protocol, inner(path, index));
  }
}

function readCallId({ found }: Walk, id: JsonNode | undefined): void {
  if (id?.kind === 'string') found.longestCallId = Math.max(found.longestCallId, id.end - id.start - 2);
}

/** An id of a stored file, wherever content may hold one. */
function readFileId(walk: Walk, holder: JsonNode | undefined, path: Path): void {
  const node = holder?.members.get('file_id');
  if (node === undefined || node.kind === 'null') return;
  addGate(walk, 'tenant', 'file_id', inner(path, 'file_id'));
  addMedia(walk, 'file_by_id');
}

/** Counts what the text does not measure. */
function addMedia({ found: { media } }: Walk, kind: MediaKind, count = 1): MediaCount {
  const known = media.get(kind);
  if (known !== undefined) {
    known.count += count;
    return known;
  }
  const first = { kind, count };
  media.set(kind, first);
  return first;
}

// Cache markers

/** Keeps the longest time that any marker asks for; a longer one is never cheaper to write. */
function readCacheMarker(walk: Walk, holder: JsonNode): void {
  for (const name of ['cache_control', 'prompt_cache_breakpoint', 'prompt_cache_options']) {
    const marker = holder.members.get(name);
    if (marker?.kind !== 'object') continue;
    const ttl = textOf(walk.body, marker.members.get('ttl'));
    if (ttl === '1h' || ttl === '12h') walk.found.cacheWrite = '1h';
    else if (walk.found.cacheWrite === 'none') walk.found.cacheWrite = '5m';
  }
}

// Media

/** A data URL says what it is within its first bytes; the rest may be megabytes. */
const DATA_URL_HEAD_BYTES = 256;

/** The media type of an inline `data:` URL, or null for any other string. */
function inlineMediaType(body: Buffer, node: JsonNode): string | null {
  if (node.kind !== 'string') return null;
  const head = body.toString('latin1', node.start + 1, Math.min(node.end - 1, node.start + 1 + DATA_URL_HEAD_BYTES));
  // Taken apart by hand: a regular expression would try every division of a body's thousands of URLs.
  const prefix = head.slice(0, Math.max(0, head.indexOf(','))).toLowerCase();
  if (!prefix.startsWith('data:') || !prefix.endsWith(';base64')) return null;
  // `\/` is a legal way to write a slash, and some JSON writers use it.
  return prefix.slice('data:'.length, prefix.indexOf(';')).replaceAll('\\/', '/');
}

function countInline(walk: Walk, node: JsonNode): number {
  const bytes = node.end - node.start - 2;
  walk.found.inlineBytes += bytes;
  return bytes;
}

/** Larger documents are not decoded: base64, four bytes of the body for three. */
const maxPdfBytes = 4_194_304;

/** A document within the body: a PDF by its pages, if it can be measured. `from`: where its base64 begins. */
function addDocument(walk: Walk, { start, end }: JsonNode, isPdf: boolean, from = start + 1): void {
  const measure =
    isPdf && end - from <= maxPdfBytes ? measurePdf(decoded(walk.body, from, end - 1), walk.pdfWork) : null;
  if (measure === null) addMedia(walk, 'document');
  else {
    const pages = addMedia(walk, 'pdf_pages', measure.pages);
    pages.textBytes = (pages.textBytes ?? 0) + measure.textBytes;
  }
}

/** Base64 as it stands in JSON, where a slash may be escaped. What is no base64 comes out shorter, and is no PDF then. */
function decoded(body: Buffer, start: number, end: number): Buffer {
  const text = body.toString('latin1', start, end).replaceAll('\\/', '/');
  return /^[A-Za-z\d+/]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
}

function readImageUrl(walk: Walk, url: JsonNode | undefined): void {
  walk.found.images += 1;
  const type = url === undefined ? null : inlineMediaType(walk.body, url);
  if (url === undefined || url.kind === 'null' || type === null) addMedia(walk, 'image_by_address');
  else if (!type.startsWith('image/')) addMedia(walk, 'document');
  else countImage(walk, url);
}

function countImage(walk: Walk, url: JsonNode): void {
  addMedia(walk, 'image');
  countInline(walk, url);
}

/** Only a PDF is bounded by its pages; an inline text file stays text, and anything unknown is counted as text too. */
function readFileData(walk: Walk, data: JsonNode | undefined): void {
  walk.found.documents += 1;
  if (data === undefined || data.kind === 'null') return;
  const type = inlineMediaType(walk.body, data);
  if (type === null) addMedia(walk, 'document_by_address');
  else if (type === 'application/pdf') {
    walk.found.documentBytes += countInline(walk, data);
    addDocument(walk, data, true, walk.body.indexOf(',', data.start) + 1);
  } else if (!type.startsWith('text/')) addMedia(walk, 'document');
}

// Messages

const cacheMarker = shape({ ttl: leaf });
const messagesTool = shape({ type: leaf, max_uses: leaf, allowed_callers: listOf(leaf), cache_control: cacheMarker });
/** A content block, and by its `items` a list of them: content holds either, at any depth. */
const block = shape();
block.items = block;
addMembers(block, {
  type: leaf,
  source: shape({ type: leaf, media_type: leaf, data: leaf, file_id: leaf, content: block }),
  content: block,
  file_id: leaf,
  tool_use_id: leaf,
  id: leaf,
  cache_control: cacheMarker,
  tool: shape({ definition: messagesTool }),
});

const messagesShape = bodyShape('messages', {
  max_tokens: leaf,
  messages: listOf(shape({ role: leaf, content: block })),
  system: block,
  tools: listOf(messagesTool),
  cache_control: cacheMarker,
});

function readMessages(walk: Walk, root: JsonNode): void {
  readCacheMarker(walk, root);
  readBlocks(walk, root.members.get('system'), { parent: null, key: 'system' });
  for (const { message, path } of readConversation(walk, root)) {
    readBlocks(walk, message.members.get('content'), inner(path, 'content'));
  }
}

function readBlocks(walk: Walk, content: JsonNode | undefined, path: Path): void {
  if (content === undefined) return;
  if (content.kind === 'object') readBlock(walk, content, path);
  for (const [index, item] of content.items.entries()) readBlock(walk, item, inner(path, index));
}

function readBlock(walk: Walk, item: JsonNode, path: Path): void {
  readCacheMarker(walk, item);
  readFileId(walk, item, path);
  const source = item.members.get('source');
  readFileId(walk, source, inner(path, 'source'));
  const type = textOf(walk.body, item.members.get('type'));
  readPartType(walk, type, 'messages', path);
  if (type === 'tool_use') readCallId(walk, item.members.get('id'));
  readCallId(walk, item.members.get('tool_use_id'));
  if (type === 'image') readImageBlock(walk, source);
  else if (type === 'document') readDocumentBlock(walk, source);
  const definition = item.members.get('tool')?.members.get('definition');
  if (definition !== undefined) readTool(walk, definition, 'messages', inner(inner(path, 'tool'), 'definition'));
  readBlocks(walk, source?.members.get('content'), inner(inner(path, 'source'), 'content'));
  readBlocks(walk, item.members.get('content'), inner(path, 'content'));
}

function readImageBlock(walk: Walk, source: JsonNode | undefined): void {
  walk.found.images += 1;
  const data = inlineSource(walk.body, source);
  addMedia(walk, data === null ? 'image_by_address' : 'image');
  if (data !== null) countInline(walk, data);
}

/** What is text, or consists of blocks that are read separately, is measured so. */
function readDocumentBlock(walk: Walk, source: JsonNode | undefined): void {
  walk.found.documents += 1;
  const type = textOf(walk.body, source?.members.get('type'));
  if (type === 'text' || type === 'content' || type === 'file') return;
  if (type !== 'base64') {
    addMedia(walk, 'document_by_address');
    return;
  }
  const data = inlineSource(walk.body, source);
  if (data === null) return;
  walk.found.documentBytes += countInline(walk, data);
  addDocument(walk, data, textOf(walk.body, source?.members.get('media_type')) === 'application/pdf');
}

/** The base64 string of an inline source. A plain-text source (`type: "text"`) is text. */
function inlineSource(body: Buffer, source: JsonNode | undefined): JsonNode | null {
  const data = source?.members.get('data');
  if (data?.kind !== 'string' || textOf(body, source?.members.get('type')) !== 'base64') return null;
  return textOf(body, source?.members.get('media_type'))?.startsWith('text/') === true ? null : data;
}

/** The messages of both conversational protocols: a list, not empty, of objects with a role. */
function readConversation(walk: Walk, root: JsonNode): { message: JsonNode; path: Path }[] {
  const refuse: Refuse = walk.refuse;
  const messages = root.members.get('messages');
  if (messages === undefined || messages.kind === 'null') return refuse('messages: Field required', 'messages');
  if (messages.kind !== 'array') return refuse('messages: must be a list of messages', 'messages');
  if (messages.items.length === 0) return refuse('messages: at least one message is required', 'messages');
  return messages.items.map((message, index) => {
    const path = inner({ parent: null, key: 'messages' }, index);
    if (message.kind !== 'object') {
      const param = spelled(walk, path);
      return refuse(`${param}: must be an object`, param);
    }
    const role = message.members.get('role');
    if (role?.kind !== 'string') {
      const param = spelled(walk, inner(path, 'role'));
      return refuse(`${param}: ${role === undefined ? 'Field required' : 'must be a string'}`, param);
    }
    return { message, path };
  });
}

// Chat completions

const breakpoint = shape({ ttl: leaf });
const chatPart = shape({
  type: leaf,
  image_url: shape({ url: leaf }),
  file: shape({ file_data: leaf, file_id: leaf }),
  file_id: leaf,
  cache_control: cacheMarker,
  prompt_cache_breakpoint: breakpoint,
});

const chatShape = bodyShape('chat-completions', {
  max_tokens: leaf,
  max_completion_tokens: leaf,
  n: leaf,
  stream_options: shape({ include_usage: leaf }),
  thinking: shape({ budget_tokens: leaf }),
  reasoning: shape({ max_tokens: leaf }),
  usage: shape({ include: leaf }),
  messages: listOf(
    shape({
      role: leaf,
      content: listOf(chatPart),
      audio: shape({ id: leaf }),
      cache_control: cacheMarker,
      tool_call_id: leaf,
      tool_calls: listOf(shape({ id: leaf })),
    }),
  ),
  tools: listOf(shape({ type: leaf, cache_control: cacheMarker })),
  modalities: listOf(leaf),
  input: leaf,
  cache_control: cacheMarker,
  prompt_cache_options: breakpoint,
});

function readChat(walk: Walk, root: JsonNode): void {
  readCacheMarker(walk, root);
  readModalities(walk, root);
  for (const { message, path } of readConversation(walk, root)) {
    readCacheMarker(walk, message);
    readCallId(walk, message.members.get('tool_call_id'));
    for (const call of items(message.members.get('tool_calls'))) readCallId(walk, call.members.get('id'));
    const audio = message.members.get('audio');
    if (audio?.kind === 'object') addGate(walk, 'tenant', 'audio', inner(path, 'audio'));
    for (const [index, part] of items(message.members.get('content')).entries()) {
      readChatPart(walk, part, inner(inner(path, 'content'), index));
    }
  }
}

function readChatPart(walk: Walk, part: JsonNode, path: Path): void {
  readCacheMarker(walk, part);
  readFileId(walk, part, path);
  const type = textOf(walk.body, part.members.get('type'));
  readPartType(walk, type, 'chat-completions', path);
  const image = part.members.get('image_url');
  if (type === 'image_url' && image !== undefined) readImageUrl(walk, image.members.get('url') ?? image);
  const file = part.members.get('file');
  readFileId(walk, file, inner(path, 'file'));
  if (type === 'file' && file !== undefined) readFileData(walk, file.members.get('file_data'));
}

// Responses

const responsesPart = shape();
responsesPart.items = responsesPart;
addMembers(responsesPart, {
  type: leaf,
  image_url: leaf,
  file_data: leaf,
  file_url: leaf,
  file_id: leaf,
  prompt_cache_breakpoint: breakpoint,
});
const responsesTool = shape({
  type: leaf,
  environment: shape({ type: leaf }),
  model: leaf,
  size: leaf,
  quality: leaf,
  partial_images: leaf,
});
addMembers(responsesTool, { tools: listOf(responsesTool) });

const responsesShape = bodyShape('responses', {
  max_output_tokens: leaf,
  background: leaf,
  input: listOf(
    shape({
      type: leaf,
      role: leaf,
      id: leaf,
      call_id: leaf,
      content: responsesPart,
      output: responsesPart,
      encrypted_content: leaf,
      status: leaf,
      result: leaf,
      outputs: listOf(shape({ type: leaf, url: leaf })),
      tools: listOf(responsesTool),
      prompt_cache_breakpoint: breakpoint,
    }),
  ),
  messages: leaf,
  tools: listOf(responsesTool),
  modalities: listOf(leaf),
  prompt_cache_options: breakpoint,
});

function readResponses(walk: Walk, root: JsonNode): void {
  const refuse: Refuse = walk.refuse;
  readCacheMarker(walk, root);
  readModalities(walk, root);
  const background = root.members.get('background');
  // The answer to a background request is fetched later, from an address that this service does not have.
  if (background !== undefined && background.kind !== 'null' && background.kind !== 'false') {
    refuse('background: not available here', 'background', 'unsupported_parameter');
  }
  const input = root.members.get('input');
  if (input === undefined || input.kind === 'null') {
    if (
      walk.found.gates.some(
        ({ name }) => name === 'prompt' || name === 'conversation' || name === 'previous_response_id',
      )
    )
      return;
    refuse('input: Field required', 'input');
  }
  if (input.kind !== 'string' && input.kind !== 'array') refuse('input: must be a string or a list of items', 'input');
  for (const [index, item] of input.items.entries()) {
    const path = inner({ parent: null, key: 'input' }, index);
    if (item.kind !== 'object') {
      const param = spelled(walk, path);
      return refuse(`${param}: must be an object`, param);
    }
    readResponsesItem(walk, item, path);
  }
}

function readResponsesItem(walk: Walk, item: JsonNode, path: Path): void {
  readCacheMarker(walk, item);
  const type = textOf(walk.body, item.members.get('type'));
  if (type === 'item_reference' || (type === null && !item.members.has('role') && item.members.has('id'))) {
    addGate(walk, 'tenant', 'item_reference', inner(path, 'id'));
  }
  readCallId(walk, item.members.get('call_id'));
  if (type === 'compaction_trigger') walk.found.compaction = 'asked';
  if (type === 'compaction' || type === 'compaction_summary') walk.found.compaction ??= 'carried';
  if (type === 'reasoning' && isDanglingReasoning(item)) walk.found.danglingReasoning = true;
  if (type !== null && !isKnownItem(type)) noteUnknown(walk, type);
  if (type === 'image_generation_call') readGeneratedImage(walk, item, path);
  for (const output of items(item.members.get('outputs'))) {
    if (textOf(walk.body, output.members.get('type')) === 'image') readImageUrl(walk, output.members.get('url'));
  }
  for (const [index, tool] of items(item.members.get('tools')).entries()) {
    readTool(walk, tool, 'responses', inner(inner(path, 'tools'), index));
  }
  for (const name of ['content', 'output']) {
    const content = item.members.get(name);
    if (content === undefined) continue;
    if (content.kind === 'object') readResponsesPart(walk, content, inner(path, name));
    for (const [index, part] of content.items.entries()) readResponsesPart(walk, part, inner(inner(path, name), index));
  }
}

/** Reasoning with nothing in it but its id and, at most, a summary. */
export function isDanglingReasoning({ members }: JsonNode): boolean {
  return members.get('encrypted_content')?.kind !== 'string' && items(members.get('content')).length === 0;
}

/** A picture by its id alone is looked up in the vendor's account; one that failed stands for nothing. */
function readGeneratedImage(walk: Walk, { members }: JsonNode, path: Path): void {
  const result = members.get('result');
  if (result?.kind !== 'string') {
    if (textOf(walk.body, members.get('status')) === 'failed') return;
    return addGate(walk, 'tenant', 'item_reference', inner(path, 'id'));
  }
  walk.found.images += 1;
  addMedia(walk, 'image');
  countInline(walk, result);
}

function readResponsesPart(walk: Walk, part: JsonNode, path: Path): void {
  readCacheMarker(walk, part);
  readFileId(walk, part, path);
  const type = textOf(walk.body, part.members.get('type'));
  readPartType(walk, type, 'responses', path);
  if (type === 'input_image' || type === 'computer_screenshot') readImageUrl(walk, part.members.get('image_url'));
  if (type === 'input_file') {
    readFileData(walk, part.members.get('file_data'));
    const url = part.members.get('file_url');
    if (url !== undefined && url.kind !== 'null') addMedia(walk, 'document_by_address');
  }
}

// Embeddings

const embeddingsShape = bodyShape('embeddings', { input: listWithoutNumbers(), stream: leaf });

/** Tokens at the beginning and the end of an input, which some models add. */
const marksOfInput = 2;

/** A list of tokens: whole numbers, already known to be JSON. */
function tokensIn(body: Buffer, { start, end }: JsonNode): number | null {
  let commas = 0;
  let digits = 0;
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === 0x2c) commas += 1;
    else if (byte >= 0x30 && byte <= 0x39) digits += 1;
    else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return null;
  }
  return digits === 0 ? null : commas + 1;
}

/** Whether a list has numbers beside the items that were retained. */
function hasNumbers(body: Buffer, { start, end, items: retained }: JsonNode): boolean {
  let from = start + 1;
  for (const item of [...retained, { start: end - 1, end }]) {
    for (let at = from; at < item.start; at += 1) {
      const byte = body[at] ?? 0;
      if (byte >= 0x30 && byte <= 0x39) return true;
    }
    from = item.end;
  }
  return false;
}

/** A text, a list of texts, a list of tokens, or a list of such lists; every other input has no measure here. */
function readEmbeddings(walk: Walk, root: JsonNode): void {
  const refuse: Refuse = walk.refuse;
  const { body } = walk;
  const shapes = 'must be a text, a list of texts, a list of tokens, or a list of such lists; none of them empty';
  const input = root.members.get('input');
  if (input === undefined || input.kind === 'null') return refuse('input: Field required', 'input');
  const embedded: Embedded = { inputs: 0, textBytes: 0, countedTokens: 0 };
  walk.found.embedded = embedded;
  const addText = ({ start, end }: JsonNode): void => {
    embedded.inputs += 1;
    embedded.textBytes += end - start;
  };
  /** `index` null: the input as a whole. */
  const refuseShape = (index: number | null): never => {
    const param = spellMember('embeddings', index === null ? ['input'] : ['input', index]);
    return refuse(`${param}: ${shapes}`, param);
  };
  const addTokens = (node: JsonNode, index: number | null): void => {
    const tokens = tokensIn(body, node);
    if (tokens === null) return refuseShape(index);
    embedded.inputs += 1;
    embedded.countedTokens += tokens + marksOfInput;
  };
  const [first] = input.items;
  if (input.kind === 'string') return addText(input);
  if (input.kind !== 'array') return refuseShape(null);
  // Numbers are not retained: without another item it is a list of tokens, or empty.
  if (first === undefined) return addTokens(input, null);
  // Among numbers the place of an item is not known.
  if (hasNumbers(body, input)) return refuseShape(null);
  for (const [index, item] of input.items.entries()) {
    if (item.kind !== first.kind) return refuseShape(index);
    if (item.kind === 'string') addText(item);
    else addTokens(item, index);
  }
}

// Images

const pictureShape = shape({ image_url: leaf, url: leaf, file_id: leaf });
const picturesShape = { ...pictureShape, items: pictureShape };
const imagesShape = bodyShape('images', {
  image: picturesShape,
  images: picturesShape,
  mask: picturesShape,
  markup: picturesShape,
});

/** As at the vendor: https://platform.openai.com/docs/api-reference/images/create */
const maxImages = 10;
const maxPartials = 3;

/** What is asked for, and the pictures that are sent with it: in the body, by their address, or by the id of a file. */
function readImages(walk: Walk, root: JsonNode): void {
  const { body, found } = walk;
  const refuse: Refuse = walk.refuse;
  const prompt = root.members.get('prompt');
  if (prompt === undefined || prompt.kind === 'null') return refuse('prompt: Field required', 'prompt');
  if (prompt.kind !== 'string') return refuse('prompt: must be a string', 'prompt');
  found.promptBytes = prompt.end - prompt.start;
  const wordOf = (name: string): string | null => {
    const node = root.members.get(name);
    if (node === undefined || node.kind === 'null') return null;
    return textOf(body, node) ?? refuse(`${name}: must be a string`, name);
  };
  const countOf = (name: string, least: number, most: number): number | null => {
    const node = root.members.get(name);
    if (node === undefined || node.kind === 'null') return null;
    const count = wholeNumber(body, node);
    if (count === null || count < least || count > most)
      return refuse(`${name}: must be an integer from ${least} to ${most}`, name);
    return count;
  };
  const format = wordOf('output_format');
  // Frames of a GIF multiply its cost, and an SVG is written by another model besides; neither has a price here.
  if (format !== null && !/^(?:png|jpeg|webp)$/.test(format))
    return refuse(
      'output_format: only png, jpeg and webp are available here',
      'output_format',
      'unsupported_parameter',
    );
  const formWord = (name: string): string | null => {
    const word = wordOf(name)?.trim().toLowerCase() ?? null;
    return word === 'auto' || word === '' ? null : word;
  };
  found.imageAsk = {
    count: countOf('n', 1, maxImages) ?? 1,
    form: { quality: formWord('quality'), size: formWord('size') },
    partials: countOf('partial_images', 0, maxPartials) ?? 0,
  };
  for (const name of ['image', 'images', 'mask', 'markup']) {
    const node = root.members.get(name);
    if (node === undefined || node.kind === 'null') continue;
    for (const picture of node.kind === 'array' ? node.items : [node]) {
      if (picture.kind !== 'string' && picture.kind !== 'object')
        return refuse(`${name}: must be a picture or a list of pictures`, name);
      const ways =
        picture.kind === 'object' ? ['image_url', 'url', 'file_id'].filter((way) => picture.members.has(way)) : [];
      if (ways.length > 1) return refuse(`${name}: ${ways.join(' and ')} cannot be used together`, name);
      if (picture.kind === 'object') readFileId(walk, picture, { parent: null, key: name });
      const url =
        picture.kind === 'object' ? (picture.members.get('image_url') ?? picture.members.get('url')) : picture;
      if (url !== undefined || !picture.members.has('file_id')) readImageUrl(walk, url);
    }
  }
}

// All of them

function bodyShape(kind: BodyKind, members: Record<string, Shape>): Shape {
  const gated = Object.fromEntries(Object.keys(membersOf(kind).members).map((member) => [member, leaf]));
  const built = shape({ model: leaf, stream: leaf, ...gated, ...members });
  built.every = true;
  return built;
}

/** Gates behind which the vendor has context that the body does not show. */
const storedContexts: ReadonlySet<string> = new Set([
  'audio',
  'container',
  'conversation',
  'item_reference',
  'preset',
  'previous_response_id',
  'prompt',
  'thread',
]);

/** How often the vendor's tools may be used for the request, all together; null: it does not say. */
function usesOf({ hostedTools, found }: Walk, inAll: number | null): number | null {
  if (inAll !== null && inAll < MAX_TOOL_USES) return inAll;
  const isOpen = hostedTools.length === 0 || found.searchesTools;
  if (isOpen) return null;
  let sum = 0;
  for (const { uses } of hostedTools) {
    if (uses === null || uses >= MAX_TOOL_USES) return null;
    sum += uses;
  }
  return sum;
}

function rulesFor(kind: BodyKind, wanted: Shape, readContent: (walk: Walk, root: JsonNode) => void): ContentRules {
  return {
    shape: wanted,
    read(body, root, refuse) {
      const found: Content = {
        images: 0,
        documents: 0,
        documentBytes: 0,
        inlineBytes: 0,
        cacheWrite: 'none',
        danglingReasoning: false,
        longestCallId: 0,
        compaction: null,
        searchesTools: false,
        gates: [],
        media: new Map(),
        tools: { declared: 0, described: 0 },
        unknownParts: [],
        hostedTools: [],
        allToolUses: wholeNumber(body, root.members.get('max_tool_calls')),
      };
      const walk: Walk = {
        kind,
        body,
        found,
        refuse,
        hostedTools: [],
        gateNames: new Map(),
        unknownParts: new Set(),
        pdfWork: { left: pdfWorkOfBody },
      };
      readMemberGates(walk, root, kind);
      if (kind !== 'embeddings' && kind !== 'images') readTools(walk, root, kind);
      readContent(walk, root);
      for (const { name } of found.gates) if (storedContexts.has(name)) addMedia(walk, 'stored_context');
      const maxToolUses = usesOf(walk, found.allToolUses);
      return {
        ...found,
        hostedTools: walk.hostedTools,
        ...(maxToolUses === null ? {} : { maxToolUses }),
        unknownParts: [...walk.unknownParts],
      };
    },
  };
}

const rules: Record<BodyKind, ContentRules> = {
  messages: rulesFor('messages', messagesShape, readMessages),
  'chat-completions': rulesFor('chat-completions', chatShape, readChat),
  responses: rulesFor('responses', responsesShape, readResponses),
  embeddings: rulesFor('embeddings', embeddingsShape, readEmbeddings),
  images: rulesFor('images', imagesShape, readImages),
};
