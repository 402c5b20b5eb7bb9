import { Buffer } from 'node:buffer';
import { removeMembers } from '../body.ts';
import { asBuffer, JsonFault, type JsonLimits, type JsonNode, leaf, scanJson, shape, textOf } from '../json.ts';

/**
 * What clients say on a WebSocket of responses (https://developers.openai.com/api/docs/guides/websocket-mode): a
 * `response.create` has the members of the body of `POST /v1/responses`, and some that are about the connection alone. Read
 * once, as bytes: what is about the model stays as the client wrote it.
 */

export type ClientEvent =
  | CreateEvent
  /** Input for a response that runs: no upstream behind HTTP takes any. */
  | { kind: 'steer'; previousId: string | null; input: string | null }
  /** openai/codex (`codex-api/src/common.rs`) tells that it has read an answer; nothing follows from it. */
  | { kind: 'processed' }
  | { kind: 'unreadable'; message: string; param: string | null; streamId: string | null };

/** One turn. */
export interface CreateEvent {
  kind: 'create';
  /** The lane that its events name; null: the connection has one. */
  streamId: string | null;
  /** The response that it goes on from; null: it begins a conversation. */
  previousId: string | null;
  /** Nothing is to be generated: the input is only kept for the turns that follow. */
  isWarmUp: boolean;
  /** Its own input items, as the inside of a JSON list. */
  items: Buffer;
  /** The body of the same turn over HTTP, where `earlier` items stand before its own. */
  body(earlier: Buffer | null): Buffer;
}

/** As at the vendor (openai-node, `ResponsesClientEvent.ResponseCreate`); longer names would be repeated in each event. */
const maxStreamIdLength = 128;
const limits: JsonLimits = { maxDepth: 128, maxValues: 100_000, refuseDuplicates: true };
const eventShape = shape({
  type: leaf,
  stream_id: leaf,
  generate: leaf,
  previous_response_id: leaf,
  input: leaf,
  stream: leaf,
});
eventShape.every = true;
/** Members about the connection; the HTTP body has none of them. */
const ofConnection = ['stream_id', 'generate', 'previous_response_id', 'stream'];

const unreadable = (message: string, param: string | null = null, streamId: string | null = null): ClientEvent => ({
  kind: 'unreadable',
  message,
  param,
  streamId,
});

export function readClientEvent(raw: Uint8Array): ClientEvent {
  let root: JsonNode;
  try {
    root = scanJson(raw, eventShape, limits);
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    return unreadable(`The event cannot be read: ${fault.message}.`, fault.duplicate);
  }
  if (root.kind !== 'object') return unreadable('An event must be a JSON object.');
  const text = (name: string): string | null => textOf(raw, root.members.get(name));
  switch (text('type')) {
    case 'response.create':
      return readCreate(asBuffer(raw), root, text);
    case 'response.steer': {
      const input = root.members.get('input');
      const said = input === undefined ? null : asBuffer(raw).toString('utf8', input.start, input.end);
      return { kind: 'steer', previousId: text('previous_response_id'), input: said };
    }
    case 'response.processed':
      return { kind: 'processed' };
    case null:
    default:
      return unreadable('type: must be `response.create`', 'type');
  }
}

function readCreate(raw: Buffer, root: JsonNode, text: (name: string) => string | null): ClientEvent {
  const streamId = text('stream_id');
  for (const name of ['stream_id', 'previous_response_id']) {
    const kind = root.members.get(name)?.kind ?? 'null';
    if (kind !== 'string' && kind !== 'null') return unreadable(`${name}: must be a string`, name);
  }
  if (streamId !== null && (streamId === '' || streamId.length > maxStreamIdLength))
    return unreadable(`stream_id: must have 1 to ${maxStreamIdLength} characters`, 'stream_id');
  const generate = root.members.get('generate')?.kind ?? 'true';
  if (generate !== 'true' && generate !== 'false' && generate !== 'null')
    return unreadable('generate: must be a boolean', 'generate', streamId);
  return {
    kind: 'create',
    streamId,
    previousId: text('previous_response_id'),
    isWarmUp: generate === 'false',
    items: itemsOf(raw, root.members.get('input')),
    body: (earlier) => bodyOver(raw, root, earlier),
  };
}

/** The inside of the list that `input` is or stands for. */
export function itemsOf(raw: Buffer, input: JsonNode | undefined): Buffer {
  if (input?.kind === 'string') {
    const said = raw.toString('utf8', input.start, input.end);
    return Buffer.from(`{"type":"message","role":"user","content":${said}}`);
  }
  return input?.kind === 'array' ? trimmed(raw.subarray(input.start + 1, input.end - 1)) : Buffer.alloc(0);
}

function bodyOver(raw: Buffer, root: JsonNode, earlier: Buffer | null): Buffer {
  const edits: { start: number; end: number; bytes: Buffer }[] = removeMembers(root.members, ofConnection).map(
    ({ start, end }) => ({ start, end, bytes: nothing }),
  );
  const input = root.members.get('input');
  const type = root.members.get('type');
  const goesOn = earlier !== null && (input === undefined || input.kind === 'array' || input.kind === 'string');
  const list = goesOn ? Buffer.concat([opening, joinItems([earlier, itemsOf(raw, input)]), Buffer.from(']')]) : nothing;
  if (goesOn && input !== undefined) edits.push({ start: input.start, end: input.end, bytes: list });
  // In its place, because it is always there: no comma is to be added or to be taken away.
  if (type !== undefined) {
    const inserted = goesOn && input === undefined ? [streams, Buffer.from(',"input":'), list] : [streams];
    edits.push({ start: type.keyStart, end: type.end, bytes: Buffer.concat(inserted) });
  }
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end, bytes } of edits.sort((one, other) => one.start - other.start)) {
    parts.push(raw.subarray(from, start), bytes);
    from = end;
  }
  parts.push(raw.subarray(from));
  return Buffer.concat(parts);
}

const nothing = Buffer.alloc(0);
const streams = Buffer.from('"stream":true');
const opening = Buffer.from('[');
const comma = Buffer.from(',');

/** Insides of lists, as that of one list. */
export function joinItems(lists: readonly Buffer[]): Buffer {
  const full = lists.filter(({ length }) => length > 0);
  return Buffer.concat(full.flatMap((list, index) => (index === 0 ? [list] : [comma, list])));
}

function trimmed(bytes: Buffer): Buffer {
  let [start, end] = [0, bytes.length];
  while (start < end && (bytes[start] as number) <= 0x20) start += 1;
  while (end > start && (bytes[end - 1] as number) <= 0x20) end -= 1;
  return bytes.subarray(start, end);
}
