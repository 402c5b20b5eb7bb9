import type { ImageForm } from '../core/image-price.ts';
import { type Protocol, upstreamPaths } from '../core/protocol.ts';
import type { CacheWrite } from '../core/request.ts';
import type { ReportedUsage, ToolImageTokens } from '../core/tokens.ts';
import { insertMember, modelEdits, splice } from './body.ts';
import { callIdEdits } from './call-ids.ts';
import { nativeError } from './envelope.ts';
import { countText, type Generated, isNothing } from './generated.ts';
import { type JsonLimits, type JsonNode, type Shape, textOf, tryScanJson, valueOf } from './json.ts';
import { type AnswerSkeleton, closeJson, readSkeleton, splicePieces } from './large-reply.ts';
import type { Edit } from './protocol.ts';
import { type RequestFacts, UnreadableReply, type Wire, type WireContext, type WireExchange } from './protocol.ts';
import { addServed, asksForVariant } from './served.ts';
import { createNativeStream, type StreamProtocol } from './streams/native-stream.ts';
import { countedAs, piecesIn, reportedAs, type UsageReading } from './usage.ts';

/** The wire of a route whose upstream speaks the client's own protocol: bytes pass, `model` is spliced, usage is read. */

/** What sets a protocol's native wire apart from the others'. */
export interface NativeProtocol {
  protocol: Protocol;
  /** What follows the upstream's base address, where it is not that of the protocol's answers. */
  path?: string;
  /** Edits of the request besides that of its model. */
  requestEdits(raw: Uint8Array, facts: RequestFacts, context: WireContext): Edit[];
  reply: ReplyProtocol;
  stream: StreamProtocol;
}

/** How a protocol's whole answers are read. */
export interface ReplyProtocol {
  /** Its `error` is looked at besides. */
  shape: Shape;
  /** The member with the list of what was generated. */
  list: string;
  /** What the protocol calls that list or its owner, in the sentence about an answer that lacks it. */
  noun: string;
  countItem(generated: Generated, item: JsonNode, data: Uint8Array): void;
  usage(root: JsonNode): JsonNode | null | undefined;
  /** How many searches it says were made, beside its items; null: it does not say; left out: the protocol has no place for it. */
  searches?(data: Uint8Array, root: JsonNode): number | null;
  /** Whether it says that an image was made, which need not be among its items; left out: it has no place for it. */
  saysImage?(data: Uint8Array, root: JsonNode): boolean;
  /** What it says that images of a tool took; null: nothing; left out: it has no place for it. */
  toolImages?(data: Uint8Array, root: JsonNode): ToolImageTokens | null;
  /** What each image of it is; left out: it has none. */
  imageForm?(data: Uint8Array, root: JsonNode): ImageForm;
  /** Where it says why it ended; left out: nowhere. */
  finish?(root: JsonNode): JsonNode | undefined;
  readUsage(reported: unknown): UsageReading | null;
  /** Where it says what it was served with: beside its model, or in its usage; left out: nowhere. */
  servedIn?: 'answer' | 'usage';
}

export function nativeWire(native: NativeProtocol): Wire {
  const { protocol } = native;
  return {
    client: protocol,
    upstream: protocol,
    request(raw, facts, context) {
      const edits = [
        ...modelEdits(facts, context.upstreamModel),
        ...native.requestEdits(raw, facts, context),
        ...callIdEdits(raw, facts, context),
        ...(context.leftOut?.edits ?? []),
      ];
      return { ok: true, exchange: nativeExchange(native, splice(raw, edits), facts, context) };
    },
  };
}

/** A function of its own, so that an exchange keeps no other bytes than its body in memory. */
function nativeExchange(
  { protocol, path = upstreamPaths[protocol], reply, stream }: NativeProtocol,
  body: Uint8Array,
  facts: RequestFacts,
  context: WireContext,
): WireExchange {
  return {
    client: protocol,
    upstream: protocol,
    body,
    path,
    droppedTools: context.leftOut?.types ?? [],
    maxReplyBytes,
    reply(marked) {
      const answer = withoutMark(marked);
      const { edits, account } = readReply(reply, answer, facts, context);
      return { body: splice(answer, edits), account };
    },
    async replyInPieces([first = noPiece, ...others], pause) {
      const pieces = [withoutMark(first), ...others];
      const { bytes, cutBytesIn, originOf } = await readSkeleton(pieces, pause);
      const { edits, account } = readReply(reply, bytes, facts, context, cutBytesIn);
      const moved = edits.map((edit) => ({ ...edit, start: originOf(edit.start), end: originOf(edit.end) }));
      return {
        pieces: splicePieces(pieces, moved),
        account,
      };
    },
    countArrived: (pieces, pause) => countArrived(reply, pieces, pause, { facts, context }),
    stream: () => createNativeStream({ protocol, stream, facts, context }),
    error: (status, answer) => nativeError(protocol, status, answer, context.requestId),
  };
}

const noPiece = new Uint8Array(0);

/** A whole answer apart from a request: what it says of its usage, and the edit of its model. Throws `UnreadableReply`. */
export function readWhole(
  { reply }: NativeProtocol,
  body: Uint8Array,
  cacheWrite: CacheWrite,
  context: ReplyContext,
): { edits: Edit[]; account: ReportedUsage } {
  return readReply(reply, body, { cacheWrite }, context);
}

/** What of a request's context its answer is read by. */
type ReplyContext = Pick<WireContext, 'features' | 'catalogModel' | 'upstreamModel'>;

/** Without a byte order mark, which no JSON begins with (RFC 8259, section 8.1) and some servers write. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Counts what there is of an answer whose end never came: open strings, lists and objects are closed where it stops. */
export async function countArrived(
  reply: ReplyProtocol,
  pieces: readonly Uint8Array[],
  pause: () => Promise<void>,
  { facts, context }: { facts: RequestFacts; context: WireContext },
): Promise<ReportedUsage> {
  const { bytes, cutBytesIn } = await readSkeleton(pieces, pause);
  try {
    return readReply(reply, await closeJson(bytes, pause), facts, context, cutBytesIn).account;
  } catch (error) {
    if (!(error instanceof UnreadableReply)) throw error;
    return { ...reportedAs(null, facts.cacheWrite), outputBytes: 0, outputPieces: 0, model: null };
  }
}

function readReply(
  {
    shape,
    list,
    noun,
    countItem,
    usage,
    readUsage,
    searches,
    saysImage,
    toolImages,
    imageForm,
    finish,
    servedIn,
  }: ReplyProtocol,
  body: Uint8Array,
  facts: Pick<RequestFacts, 'cacheWrite'> & Partial<Pick<RequestFacts, 'gates'>>,
  context: ReplyContext,
  cutBytesIn?: AnswerSkeleton['cutBytesIn'],
): { edits: Edit[]; account: ReportedUsage } {
  const root = tryScanJson(body, shape, answerLimits);
  const content = root?.members.get(list);
  if (root === null || (content?.kind !== 'array' && !isAnswerWithoutContent(root))) {
    throw new UnreadableReply(`The upstream answered with no ${noun}.`);
  }
  const generated: Generated = { bytes: 0, pieces: 0 };
  countText(generated, content);
  if (content?.kind === 'string') generated.bytes += cutBytesIn?.(content.start, content.end) ?? 0;
  for (const item of content?.items ?? []) {
    const before = generated.bytes;
    countItem(generated, item, body);
    // What was cut in an item without counted text is none: a picture.
    if (generated.bytes > before) generated.bytes += cutBytesIn?.(item.start, item.end) ?? 0;
  }
  const counted = searches?.(body, root) ?? null;
  if (counted !== null) generated.searches = counted;
  if (generated.images === undefined && saysImage?.(body, root) === true) generated.images = 1;
  const ofTool = toolImages?.(body, root) ?? null;
  if (ofTool !== null) generated.toolImages = ofTool;
  const form = imageForm?.(body, root);
  if (form !== undefined) generated.imageForm = form;
  const reported = usage(root);
  const said = reported?.kind === 'object' ? valueOf(body, reported) : null;
  const found = said === null ? null : readUsage(said);
  if (servedIn !== undefined && asksForVariant(facts.gates ?? [])) {
    const tier = servedIn === 'usage' ? said : { service_tier: textOf(body, root.members.get('service_tier')) };
    const served = addServed(undefined, tier);
    if (served !== undefined) generated.served = served;
  }
  const reading = countedAs(found, context.features.cachedTokens);
  const model = root.members.get('model');
  const ended = textOf(body, finish?.(root));
  if (ended !== null) generated.finish = ended;
  return {
    edits: answerModelEdits(model, context),
    account: {
      ...reportedAs(reading, facts.cacheWrite),
      ...piecesIn(reading, generated),
      outputBytes: generated.bytes,
      outputPieces: generated.pieces,
      model: textOf(body, model),
    },
  };
}

/** The largest whole answer: far above what a model's cap on output allows. */
const maxReplyBytes = 64 * 1_048_576;

/**
 * Limits for answers, which are scanned in one turn of the event loop: so many values take some 150 ms. The log
 * probabilities of 20 tokens for each place of a long answer are two million.
 */
export const answerLimits: JsonLimits = { maxDepth: 512, maxValues: 3_000_000, refuseDuplicates: false };

/** Limits for events, of which many come in one turn. The last one of a response repeats all of it. */
export const eventLimits: JsonLimits = { ...answerLimits, maxValues: 500_000 };

/**
 * The edit that keeps a vendor from keeping what it is asked and what it answers: it stores both unless the request says otherwise,
 * in the one account that all customers share, where the operator's people can read them and ids of one customer would
 * reach what another one wrote. A request that asks to store has passed the gate of that name.
 */
export function storeEdits(raw: Uint8Array, facts: RequestFacts): Edit[] {
  const span = facts.members.get('store');
  if (span === undefined) return [insertMember(raw, bodyStart(raw), 'store', 'false')];
  return raw[span.start] === 0x6e ? [{ ...span, text: 'false' }] : [];
}

/** Where a request's object begins: blanks may come before it. */
export function bodyStart(raw: Uint8Array): number {
  return raw.indexOf(0x7b);
}

/**
 * Whether an answer that lacks its list of content is one all the same: it says what it took and of no error, as a
 * filtered or empty one may.
 */
function isAnswerWithoutContent(root: JsonNode): boolean {
  return root.members.get('usage')?.kind === 'object' && isNothing(root.members.get('error'));
}

/** An answer names the catalog's id where the upstream knows the model by another one. */
export function answerModelEdits(
  model: JsonNode | undefined,
  context: Pick<WireContext, 'catalogModel' | 'upstreamModel'>,
): Edit[] {
  if (model?.kind !== 'string' || context.upstreamModel === context.catalogModel) return [];
  return [{ start: model.start, end: model.end, text: JSON.stringify(context.catalogModel) }];
}
