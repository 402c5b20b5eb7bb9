import { Buffer } from 'node:buffer';
import type { TokenPools, ToolImageTokens } from '../../core/tokens.ts';
import { removeItems } from '../body.ts';
import { isDanglingReasoning } from '../content.ts';
import { type ErrorFacts, errorEvent, errorType, failedCode, statusOfError } from '../envelope.ts';
import { countJson, countText, type Generated, isNothing } from '../generated.ts';
import { type JsonNode, leaf, listOf, scanJson, shape, textOf, tryScanJson, valueOf } from '../json.ts';
import {
  answerLimits,
  answerModelEdits,
  eventLimits,
  type NativeProtocol,
  type ReplyProtocol,
  storeEdits,
} from '../native.ts';
import type { Edit, RequestFacts, StreamError, WireContext } from '../protocol.ts';
import { asksForVariant } from '../served.ts';
import type { DataEvent } from '../streams/event-relay.ts';
import {
  type Dialect,
  type ErrorVerdict,
  editEvent,
  type Progress,
  type StreamProtocol,
  shownModel,
} from '../streams/native-stream.ts';
import { isDone, sseEvent } from '../streams/sse.ts';
import { readResponsesUsage, readToolImages, toResponsesUsage } from '../usage.ts';

/**
 * Responses where client and upstream both speak them: bytes pass, `model` is spliced, usage is read. On the way up
 * it is said that nothing is to be stored, and references to what was therefore not stored are taken out.
 */

const inputShape = shape({ input: listOf(shape({ type: leaf, encrypted_content: leaf, content: listOf(leaf) })) });

/**
 * The edits that take out reasoning which comes without its content, as answers of this service hold it unless the client
 * asks for `reasoning.encrypted_content`: the vendor would look it up under its id, find nothing and refuse the request.
 */
function danglingReasoningEdits(raw: Uint8Array, facts: RequestFacts): Edit[] {
  const store = facts.members.get('store');
  if (!facts.danglingReasoning || (store !== undefined && raw[store.start] === 0x74)) return [];
  const items = scanJson(raw, inputShape, answerLimits).members.get('input')?.items ?? [];
  return removeItems(
    items,
    (item) => textOf(raw, item.members.get('type')) === 'reasoning' && isDanglingReasoning(item),
  );
}

const itemShape = shape({
  id: leaf,
  type: leaf,
  content: listOf(shape({ text: leaf, refusal: leaf })),
  summary: listOf(shape({ text: leaf })),
  arguments: leaf,
  input: leaf,
  action: shape({ type: leaf }),
  status: leaf,
});

/**
 * An image that the vendor made. Its tokens are not in the usage, which is of the model that asked for it:
 * https://community.openai.com/t/responses-api-image-generation-token-usage/1277438. One that failed is not charged.
 */
function countImage(generated: Generated, data: Uint8Array, item: JsonNode): void {
  if (textOf(data, item.members.get('type')) !== 'image_generation_call') return;
  if (textOf(data, item.members.get('status')) === 'failed') return;
  generated.images = (generated.images ?? 0) + 1;
}

/**
 * A search is an item of the answer; opening a page that it found and looking in it are not charged.
 * https://developers.openai.com/api/docs/guides/tools-web-search
 */
function countSearch(generated: Generated, data: Uint8Array, item: JsonNode): void {
  if (textOf(data, item.members.get('type')) !== 'web_search_call') return;
  const action = textOf(data, item.members.get('action')?.members.get('type'));
  if (action === 'open_page' || action === 'find_in_page' || action === 'find') return;
  generated.searches = (generated.searches ?? 0) + 1;
}

function countItem(generated: Generated, item: JsonNode, data: Uint8Array): void {
  countSearch(generated, data, item);
  countImage(generated, data, item);
  countContent(generated, item);
}

function countContent(generated: Generated, item: JsonNode): void {
  for (const part of [...(item.members.get('content')?.items ?? []), ...(item.members.get('summary')?.items ?? [])]) {
    countText(generated, part.members.get('text') ?? part.members.get('refusal'));
  }
  countText(generated, item.members.get('arguments'));
  countJson(generated, item.members.get('input'));
}

/**
 * What the vendor says of its tools beside the usage: searches that it counted itself. A call may hold several queries, and the
 * items of some answers are not all there. No page describes it; recorded answers have it:
 * https://github.com/labring/aiproxy/pull/542
 */
const toolUsage = shape({ web_search: shape({ num_requests: leaf }), image_gen: leaf });

function countedSearches(data: Uint8Array, root: JsonNode): number | null {
  const count = root.members.get('tool_usage')?.members.get('web_search')?.members.get('num_requests');
  const value = count?.kind === 'number' ? valueOf(data, count) : null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}

/**
 * Whether the vendor says that its tool made an image: some answers have that alone, and no item of it.
 * https://github.com/Wei-Shaw/sub2api/issues/1999
 */
function saysImage(data: Uint8Array, root: JsonNode): boolean {
  return toolImages(data, root) !== null;
}

/** The tokens of the model that made images for the tool, which the usage does not have. */
function toolImages(data: Uint8Array, root: JsonNode): ToolImageTokens | null {
  const counted = root.members.get('tool_usage')?.members.get('image_gen');
  return counted?.kind === 'object' ? readToolImages(valueOf(data, counted)) : null;
}

const reply: ReplyProtocol = {
  shape: shape({
    model: leaf,
    service_tier: leaf,
    status: leaf,
    usage: leaf,
    tool_usage: toolUsage,
    error: shape(),
    output: listOf(itemShape),
  }),
  list: 'output',
  noun: 'response',
  countItem,
  usage: (root) => root.members.get('usage'),
  readUsage: readResponsesUsage,
  searches: countedSearches,
  saysImage,
  toolImages,
  servedIn: 'answer',
  finish: (root) => root.members.get('status'),
};

const eventShape = shape({
  type: leaf,
  sequence_number: leaf,
  response: shape({
    model: leaf,
    service_tier: leaf,
    status: leaf,
    usage: leaf,
    tool_usage: toolUsage,
    error: shape({ code: leaf, message: leaf }),
  }),
  output_index: leaf,
  content_index: leaf,
  item: itemShape,
  part: shape({ type: leaf }),
  delta: leaf,
  code: leaf,
  message: leaf,
  error: shape({ type: leaf, code: leaf, message: leaf }),
});

const lastEventShape = shape({ response: shape({ output: listOf(itemShape) }) });

/** One output item that has begun and not ended, kept so that the gateway can end it in the protocol's own words. */
interface OpenItem {
  item: Record<string, unknown>;
  /** Content parts by index: what they are, and their text as JSON escapes, in pieces. */
  parts: Map<number, { type: string; pieces: string[] }>;
  /** Arguments of a call, likewise. */
  arguments: string[];
}

/** Counts an answer that came with its last event alone. */
function countWhole(generated: Generated, data: Buffer): void {
  const output = tryScanJson(data, lastEventShape, eventLimits)?.members.get('response')?.members.get('output');
  for (const item of output?.items ?? []) countItem(generated, item, data);
}

function createDialect(progress: Progress, context: WireContext, facts: RequestFacts): Dialect {
  const asksFor = asksForVariant(facts.gates);
  const openItems = new Map<number, OpenItem>();
  const doneItems = new Map<number, string>();
  /** Output indexes of items that came in pieces, which were counted. */
  const piecemeal = new Set<number>();
  /** Output indexes of images that were counted when the client got a first version of them. */
  const shownImages = new Set<number>();
  /** The response as it was first announced; parsed only if the gateway has to end it. */
  let announced: Buffer | null = null;
  let sequence = -1;

  function read(event: DataEvent): ReturnType<Dialect['read']> {
    const { data } = event;
    if (isDone(data)) return { kind: 'idle' };
    const root = tryScanJson(data, eventShape, eventLimits);
    if (root?.kind !== 'object') {
      if (event.type === 'error') return { kind: 'error', error: errorOf(data, null), edits: [] };
      progress.bytes += data.length;
      return { kind: 'pass' };
    }
    const type = event.type === 'error' ? event.type : (textOf(data, root.members.get('type')) ?? event.type ?? '');
    sequence = numberAt(data, root.members.get('sequence_number')) ?? sequence + 1;
    const carried = root.members.get('response');
    if (carried?.kind === 'object') readResponse(data, carried);
    const edits = answerModelEdits(carried?.members.get('model'), context);
    const failed = failureIn(data, root, type);
    if (failed !== null) return { ...failed, edits };
    if (type === 'ping') return { kind: 'hide' };
    follow(type, data, root);
    const shown = editEvent(event, edits);
    if (!endings.has(type)) return shown;
    progress.finish = textOf(data, carried?.members.get('status')) ?? '';
    // Earlier events repeat what was asked for: https://github.com/Wei-Shaw/sub2api/pull/6111
    const tier = asksFor ? textOf(data, carried?.members.get('service_tier')) : null;
    if (tier !== null) progress.served = { service_tier: tier };
    if (progress.pieces === 0 && doneItems.size === 0) countWhole(progress, data);
    const counted = carried === undefined ? null : countedSearches(data, carried);
    if (counted !== null) progress.searches = counted;
    if (carried !== undefined && progress.images === undefined && saysImage(data, carried)) progress.images = 1;
    return { ...shown, state: 'terminated' };
  }

  function readResponse(data: Buffer, carried: JsonNode): void {
    progress.model = textOf(data, carried.members.get('model')) ?? progress.model;
    const usage = carried.members.get('usage');
    if (usage?.kind === 'object') progress.reading = readResponsesUsage(valueOf(data, usage)) ?? progress.reading;
    const made = toolImages(data, carried);
    if (made !== null) progress.toolImages = made;
    announced ??= Buffer.from(data.subarray(carried.start, carried.end));
  }

  /** Counts what is generated and remembers what is open. */
  function follow(type: string, data: Buffer, root: JsonNode): void {
    const index = numberAt(data, root.members.get('output_index')) ?? 0;
    const item = root.members.get('item');
    if (type === 'response.output_item.added' && item?.kind === 'object') {
      openItems.set(index, { item: valueOf(data, item) as Record<string, unknown>, parts: new Map(), arguments: [] });
    } else if (type === 'response.output_item.done' && item !== undefined) {
      openItems.delete(index);
      countSearch(progress, data, item);
      if (!shownImages.has(index)) countImage(progress, data, item);
      // Some vendors send items whole.
      if (!piecemeal.has(index)) countContent(progress, item);
      doneItems.set(index, data.toString('utf8', item.start, item.end));
    } else if (type === 'response.image_generation_call.partial_image') {
      // It carries the picture, so that it is charged, however the answer goes on:
      // https://developers.openai.com/api/docs/guides/image-generation
      if (!shownImages.has(index)) progress.images = (progress.images ?? 0) + 1;
      shownImages.add(index);
    } else if (type === 'response.content_part.added') {
      const partType = textOf(data, root.members.get('part')?.members.get('type'));
      openItems.get(index)?.parts.set(contentIndex(data, root), { type: partType ?? 'output_text', pieces: [] });
    } else if (type.endsWith('.delta')) {
      const delta = root.members.get('delta');
      countText(progress, delta);
      piecemeal.add(index);
      if (delta?.kind === 'string') keepDelta(type, data, root, delta, openItems.get(index));
    }
  }

  function event(type: string, more: Record<string, unknown>): string {
    sequence += 1;
    return sseEvent(type, JSON.stringify({ type, sequence_number: sequence, ...more }));
  }

  /** The response as the client knows it, with another end. */
  function ended(more: Record<string, unknown>): Record<string, unknown> {
    const known = announced === null ? null : (JSON.parse(announced.toString('utf8')) as Record<string, unknown>);
    const base = known ?? { id: `resp_${context.requestId}`, object: 'response', created_at: context.createdAt };
    return { ...base, model: shownModel(progress.model, context), ...more };
  }

  function budgetEnding(pools: TokenPools): string {
    const events: string[] = [];
    if (announced === null)
      events.push(event('response.created', { response: ended({ status: 'in_progress', output: [] }) }));
    const output = new Map<number, unknown>();
    for (const [index, item] of doneItems) output.set(index, JSON.parse(item));
    for (const [index, open] of openItems) {
      const item = closedItem(open);
      events.push(...closingEvents(event, index, open, item));
      output.set(index, item);
    }
    const items = [...output].sort(([one], [other]) => one - other).map(([, item]) => item);
    const last = ended({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      error: null,
      output: items,
      usage: toResponsesUsage(pools),
    });
    events.push(event('response.incomplete', { response: last }));
    return events.join('');
  }

  function failure({ status, message, code }: Pick<ErrorFacts, 'status' | 'message' | 'code'>): string {
    const { requestId } = context;
    // Before the response exists there is nothing that could have failed.
    if (announced === null) return errorEvent('responses', { status, message, code, requestId });
    const output = [...doneItems].sort(([one], [other]) => one - other).map(([, item]) => JSON.parse(item) as unknown);
    const error = { code: failedCode(status, code), message };
    const response = ended({ status: 'failed', error, output, usage: null });
    return event('response.failed', { response, request_id: requestId });
  }

  // The event that says how the answer ends is its terminator, so that nothing is ever lacking.
  return { read, budgetEnding, terminator: () => '', failure };
}

const endings: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);

/** The failure that an event tells of, by its name or by what it carries; null: none. */
function failureIn(data: Buffer, root: JsonNode, type: string): Omit<ErrorVerdict, 'edits'> | null {
  const said = textOf(data, root.members.get('type')) ?? type;
  if (said === 'error' || said === 'response.failed') return { kind: 'error', error: errorOf(data, root) };
  const isUnsaid = type === 'error' || type === 'response.cancelled';
  const isFailed = isUnsaid || (endings.has(type) && hasFailed(data, root.members.get('response')));
  return isFailed ? { kind: 'error', error: errorOf(data, root), unsaid: 'instead' } : null;
}

/** Whether the response of a last event says that it failed, whatever the event is called. */
function hasFailed(data: Buffer, response: JsonNode | undefined): boolean {
  const status = textOf(data, response?.members.get('status'));
  return status === 'failed' || status === 'cancelled' || !isNothing(response?.members.get('error'));
}

function numberAt(data: Buffer, node: JsonNode | undefined): number | null {
  return node?.kind === 'number' ? Number(data.toString('latin1', node.start, node.end)) : null;
}

function contentIndex(data: Buffer, root: JsonNode): number {
  return numberAt(data, root.members.get('content_index')) ?? 0;
}

/** Keeps a delta as the JSON escapes it came in: joined, they are the whole text's escapes. */
function keepDelta(type: string, data: Buffer, root: JsonNode, delta: JsonNode, open: OpenItem | undefined): void {
  if (open === undefined) return;
  const piece = data.toString('utf8', delta.start + 1, delta.end - 1);
  if (type === 'response.output_text.delta' || type === 'response.refusal.delta') {
    open.parts.get(contentIndex(data, root))?.pieces.push(piece);
  } else if (type === 'response.function_call_arguments.delta' || type === 'response.custom_tool_call_input.delta') {
    open.arguments.push(piece);
  }
}

function joined(pieces: readonly string[]): string {
  return JSON.parse(`"${pieces.join('')}"`) as string;
}

function partOf({ type, pieces }: { type: string; pieces: string[] }): Record<string, unknown> {
  return type === 'refusal' ? { type, refusal: joined(pieces) } : { type, annotations: [], text: joined(pieces) };
}

function closedItem(open: OpenItem): Record<string, unknown> {
  const closed: Record<string, unknown> = { ...open.item, status: 'incomplete' };
  if (open.item['type'] === 'message') closed['content'] = [...open.parts.values()].map(partOf);
  if (open.item['type'] === 'function_call') closed['arguments'] = joined(open.arguments);
  if (open.item['type'] === 'custom_tool_call') closed['input'] = joined(open.arguments);
  return closed;
}

/** The events that end an open item: every part of it, then the item. */
function closingEvents(
  event: (type: string, more: Record<string, unknown>) => string,
  index: number,
  open: OpenItem,
  item: Record<string, unknown>,
): string[] {
  const place = { item_id: open.item['id'], output_index: index };
  const events = [...open.parts].flatMap(([content_index, part]) => {
    const closed = partOf(part);
    const text = part.type === 'refusal' ? { refusal: closed['refusal'] } : { text: closed['text'], logprobs: [] };
    return [
      event(part.type === 'refusal' ? 'response.refusal.done' : 'response.output_text.done', {
        ...place,
        content_index,
        ...text,
      }),
      event('response.content_part.done', { ...place, content_index, part: closed }),
    ];
  });
  return [...events, event('response.output_item.done', { output_index: index, item })];
}

/** The upstream's error: the failed response's own, or what an `error` event says. */
function errorOf(data: Buffer, root: JsonNode | null): StreamError {
  const error = root?.members.get('response')?.members.get('error') ?? root?.members.get('error') ?? root;
  const code = textOf(data, error?.members.get('code'));
  const type = error === root ? null : textOf(data, error?.members.get('type'));
  const status = statusOfError(type, code);
  const message = textOf(data, error?.members.get('message')) ?? 'The model failed at its vendor.';
  return { status, type: code ?? type ?? errorType('responses', status), ...(code === null ? {} : { code }), message };
}

const stream: StreamProtocol = {
  // Larger than elsewhere: the last event repeats the whole answer, and it is the one that carries the usage.
  maxEventBytes: 8_388_608,
  keepAlive: Buffer.from(': keep-alive\n\n'),
  createDialect,
};

export const nativeResponses: NativeProtocol = {
  protocol: 'responses',
  requestEdits: (raw, facts) => [...storeEdits(raw, facts), ...danglingReasoningEdits(raw, facts)],
  reply,
  stream,
};
