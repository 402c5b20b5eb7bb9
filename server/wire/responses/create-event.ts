import { Buffer } from 'node:buffer';
import { removeMembers, splice } from '../body.ts';
import { asBuffer, type JsonLimits, type JsonNode, leaf, shape, textOf, tryScanJson } from '../json.ts';
import type { Edit } from '../protocol.ts';
import { itemsOf } from './client-event.ts';

/**
 * The body of `POST /v1/responses` as the `response.create` of a WebSocket, and what the vendor says on one
 * (https://developers.openai.com/api/docs/guides/websocket-mode, https://docs.x.ai/developers/advanced-api-usage/websocket-mode).
 */

export interface OutgoingTurn {
  /** The vendor's name of the model. */
  model: string;
  /** All of its input, as the inside of a JSON list. */
  items: Buffer;
  /** The event. With `after` it goes on from that response, and has the input from byte `from` of `items` on alone. */
  frame(after: { responseId: string; from: number } | null): Uint8Array;
}

const limits: JsonLimits = { maxDepth: 128, maxValues: 200_000, refuseDuplicates: true };
const bodyShape = shape({ model: leaf, input: leaf });
bodyShape.every = true;
/** How the answer to a request over HTTP comes. */
const ofHttp = ['stream', 'stream_options', 'background'];
/** Names that the event has of its own; a body with one of them is for HTTP. */
const ofEvents = ['type', 'stream_id', 'generate', 'previous_response_id', 'conversation'];

/** Null: a connection cannot say it. */
export function readOutgoingTurn(body: Uint8Array): OutgoingTurn | null {
  const root = tryScanJson(body, bodyShape, limits);
  if (root?.kind !== 'object') return null;
  const { members } = root;
  const raw = asBuffer(body);
  const [model, input] = [textOf(raw, members.get('model')), members.get('input')];
  if (model === null || (input?.kind !== 'array' && input?.kind !== 'string')) return null;
  if (ofEvents.some((name) => (members.get(name)?.kind ?? 'null') !== 'null')) return null;
  const items = itemsOf(raw, input);
  return {
    model,
    items,
    frame(after) {
      const opening = root.start + 1;
      const goesOn = after === null ? '' : `"previous_response_id":${JSON.stringify(after.responseId)},`;
      const edits: Edit[] = [
        { start: opening, end: opening, text: `"type":"response.create",${goesOn}` },
        ...removeMembers(members, [...ofHttp, ...ofEvents]),
      ];
      if (after !== null) {
        // Behind the comma.
        const list = items.toString('utf8', Math.min(after.from + 1, items.length));
        edits.push({ start: input.start, end: input.end, text: `[${list}]` });
      }
      return splice(raw, edits);
    },
  };
}

/** What a frame of the vendor is. */
export interface VendorFrame {
  type: string;
  /** The response has ended with it. */
  isLast: boolean;
  /** An output item that is complete. */
  item: Buffer | null;
  /** The item shows all that the vendor keeps of it: nothing that it has found or run there. */
  isItemWhole: boolean;
  /** The response that it is about, where the frame holds it. */
  responseId: string | null;
  /** The response has ended well with it, so that a turn may go on from it. */
  isGood: boolean;
  /** The frame as an event of a stream. */
  event: Buffer;
}

const typeAtStart = /^\s*\{\s*"type"\s*:\s*"([\w.]+)"/;
const frameShape = shape({
  type: leaf,
  item: shape({ type: leaf, encrypted_content: leaf }),
  response: shape({ id: leaf }),
  headers: leaf,
});
const endings: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
  'error',
]);
const goodEndings: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);

/** Frames that hold their response or an item of it. */
const readTypes: ReadonlySet<string> = new Set([
  'response.output_item.done',
  'response.created',
  'response.queued',
  'response.in_progress',
]);

/** Null: the frame is no event. */
export function readVendorFrame(data: Buffer): VendorFrame | null {
  const named = typeAtStart.exec(data.toString('latin1', 0, 200))?.[1];
  const isRead = named === undefined || readTypes.has(named) || endings.has(named);
  const root = isRead ? tryScanJson(data, frameShape, limits) : null;
  const type = named ?? textOf(data, root?.members.get('type'));
  if (type === null) return null;
  const item = type === 'response.output_item.done' ? root?.members.get('item') : undefined;
  // Head of the vendor's answer to the operator.
  const shown =
    type === 'error' && root?.kind === 'object'
      ? asBuffer(splice(data, removeMembers(root.members, ['headers'])))
      : data;
  return {
    type,
    isLast: endings.has(type),
    item: item?.kind === 'object' ? data.subarray(item.start, item.end) : null,
    isItemWhole: item?.kind === 'object' && showsAll(data, item.members),
    responseId: textOf(data, root?.members.get('response')?.members.get('id')),
    isGood: goodEndings.has(type),
    event: Buffer.concat([Buffer.from(`event: ${type}\ndata: `), onOneLine(shown), ending]),
  };
}

/** Items that are as large for the vendor as they are for us. */
const wholeItems: ReadonlySet<string> = new Set([
  'message',
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'computer_call',
]);

function showsAll(data: Buffer, members: ReadonlyMap<string, JsonNode>): boolean {
  const type = textOf(data, members.get('type'));
  if (type === 'reasoning') return members.get('encrypted_content')?.kind === 'string';
  return type !== null && wholeItems.has(type);
}

const ending = Buffer.from('\n\n');

/** Line breaks of JSON stand between its values. */
function onOneLine(json: Buffer): Buffer {
  if (!json.includes(0x0a) && !json.includes(0x0d)) return json;
  return Buffer.from(json.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte)));
}

/** An error that the vendor gives instead of a response. */
export interface VendorRefusal {
  /** Null: it names none. */
  status: number | null;
  type: string | null;
  code: string | null;
  retryAfter: string | null;
  /** As the body of an answer over HTTP. */
  body: Buffer;
}

const errorShape = shape({
  status: leaf,
  status_code: leaf,
  type: leaf,
  code: leaf,
  message: leaf,
  param: leaf,
  error: shape({ type: leaf, code: leaf }),
  headers: leaf,
});

export function readVendorRefusal(data: Buffer): VendorRefusal {
  const root = tryScanJson(data, errorShape, limits);
  const nested = root?.members.get('error');
  const isNested = nested?.kind === 'object';
  const own = isNested ? nested : root;
  const status = root?.members.get('status') ?? root?.members.get('status_code');
  const code = textOf(data, own?.members.get('code'));
  const flat = (name: string): string | null => textOf(data, root?.members.get(name));
  const body = isNested
    ? Buffer.concat([Buffer.from('{"error":'), data.subarray(nested.start, nested.end), Buffer.from('}')])
    : Buffer.from(
        JSON.stringify({ error: { message: flat('message') ?? '', type: null, param: flat('param'), code } }),
      );
  return {
    status: status?.kind === 'number' ? Number(data.toString('latin1', status.start, status.end)) : null,
    type: isNested ? textOf(data, nested.members.get('type')) : null,
    code,
    retryAfter: retryAfterOf(data, root?.members.get('headers')),
    body,
  };
}

function retryAfterOf(data: Buffer, headers: { kind: string; start: number; end: number } | undefined): string | null {
  if (headers?.kind !== 'object') return null;
  const named = Object.entries(JSON.parse(data.toString('utf8', headers.start, headers.end)) as object);
  const value: unknown = named.find(([name]) => name.toLowerCase() === 'retry-after')?.[1];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
