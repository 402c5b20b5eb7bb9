import { Buffer } from 'node:buffer';
import { statusOfError } from '../envelope.ts';
import { type JsonLimits, leaf, listOf, shape, textOf, tryScanJson } from '../json.ts';
import { createSseReader, isDone, type SseEvent } from '../streams/sse.ts';
import { joinItems } from './client-event.ts';

/**
 * The event stream of a response as frames of a WebSocket: the JSON of each event is one text frame. Beside it is read what
 * the next turn needs: the response's id and its items.
 */

/** What a turn left behind, when it ended well. */
export interface FinishedResponse {
  id: string;
  /** Its output, as the inside of a JSON list of input. */
  items: Buffer;
}

export interface FrameReader {
  write(chunk: Uint8Array): void;
  /** Reads what is left. */
  end(): void;
  /** The client was sent how the response ended. */
  readonly isEnded: boolean;
  /** Null: it failed, has not ended, or has more items than are kept. */
  readonly finished: FinishedResponse | null;
}

/** The last event repeats the whole answer. A larger one is left out, and the turn has no end then. */
const maxEventBytes = 33_554_432;
const limits: JsonLimits = { maxDepth: 128, maxValues: 1_000_000, refuseDuplicates: false };
const eventShape = shape({
  type: leaf,
  item: shape({ type: leaf }),
  response: shape({ id: leaf, output: listOf(shape({ type: leaf })) }),
  code: leaf,
  message: leaf,
  param: leaf,
  error: leaf,
});

const endings = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);
/** Where the type stands in the events of every vendor that names none in the stream. */
const typeAtStart = /^\s*\{\s*"type"\s*:\s*"([\w.]+)"/;

export function createFrameReader({
  streamId,
  send,
  maxItemBytes,
}: {
  streamId: string | null;
  send: (frame: Buffer) => void;
  maxItemBytes: number;
}): FrameReader {
  const items: Buffer[] = [];
  let itemBytes = 0;

  const keep = (item: Buffer): void => {
    itemBytes += item.length + 1;
    // Freed at once: it could not be kept after the turn either.
    if (itemBytes > maxItemBytes) items.length = 0;
    else items.push(Buffer.from(item));
  };

  const note = (type: string, data: Buffer): void => {
    const root = tryScanJson(data, eventShape, limits);
    const item = root?.members.get('item');
    if (type === 'response.output_item.done') {
      if (item?.kind === 'object') keep(data.subarray(item.start, item.end));
      return;
    }
    reader.isEnded = true;
    const response = root?.members.get('response');
    const id = textOf(data, response?.members.get('id'));
    if (id === null || type === 'response.failed' || type === 'error') return;
    if (items.length === 0 && itemBytes === 0) {
      for (const { start, end } of response?.members.get('output')?.items ?? []) keep(data.subarray(start, end));
    }
    if (itemBytes <= maxItemBytes) reader.finished = { id, items: joinItems(sinceCompaction(items)) };
  };

  const pass = ({ type: name, data }: SseEvent): void => {
    if (data === null || data.length === 0 || isDone(data)) return;
    const type = name ?? typeAtStart.exec(data.toString('latin1', 0, 200))?.[1] ?? '';
    if (type === 'error') send(inLane(streamId, nestedError(data)));
    else send(inLane(streamId, data));
    if (type === 'response.output_item.done' || endings.has(type)) note(type, data);
  };

  const events = createSseReader({ maxEventBytes, sink: { event: pass, oversized: () => undefined } });
  const reader: { -readonly [K in keyof FrameReader]: FrameReader[K] } = {
    isEnded: false,
    finished: null,
    write: (chunk) => events.write(chunk),
    end() {
      const rest = events.end();
      if (rest !== null) pass(rest);
    },
  };
  return reader;
}

/** What stands before a compaction is contained in it (https://developers.openai.com/api/docs/guides/compaction). */
function sinceCompaction(items: readonly Buffer[]): readonly Buffer[] {
  const last = items.findLastIndex((item) => /^\{[^{]*"type"\s*:\s*"compaction"/.test(item.toString('latin1', 0, 200)));
  return last === -1 ? items : items.slice(last);
}

/** An error as it reads on a WebSocket: with its status, and its members in one of their own besides. */
function nestedError(data: Buffer): Buffer {
  const root = tryScanJson(data, eventShape, limits);
  if (root?.kind !== 'object' || root.members.has('error')) return data;
  const read = (name: string): string | null => textOf(data, root.members.get(name));
  const [code, param] = [read('code'), read('param')];
  const status = statusOfError(null, code);
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  const error = { type, code, message: read('message') ?? 'The response failed.', param };
  return withMembers(data.subarray(root.start, root.end), `"status":${status},"error":${JSON.stringify(error)},`);
}

/** A frame of the lane: its events name it, as the event that began it did. */
function inLane(streamId: string | null, json: Buffer): Buffer {
  return streamId === null ? json : withMembers(json, `"stream_id":${JSON.stringify(streamId)},`);
}

/** Members at the beginning of an object that has some. */
function withMembers(json: Buffer, members: string): Buffer {
  const open = json.indexOf('{') + 1;
  return Buffer.concat([json.subarray(0, open), Buffer.from(members), json.subarray(open)]);
}

/** Headers of an error that clients act on. */
const toldHeaders = /^(?:retry-after|x-should-retry|x-request-id|x-ratelimit-.*)$/;

/**
 * An error that ends a turn. Clients read its status and headers as if it had come over HTTP (openai/codex,
 * `codex-api/src/endpoint/responses_websocket.rs`).
 */
export function errorFrame({
  status,
  error,
  headers,
  streamId = null,
}: {
  status: number;
  error: object;
  headers: Record<string, string>;
  streamId?: string | null;
}): Buffer {
  const told = Object.fromEntries(Object.entries(headers).filter(([name]) => toldHeaders.test(name)));
  const event = { type: 'error', status, error, request_id: headers['x-request-id'] ?? null, headers: told };
  return inLane(streamId, Buffer.from(JSON.stringify(event)));
}

/** The events of a response without output, which keeps its input for the turns that follow. */
export function warmUpFrames(
  { id, model, createdAt }: { id: string; model: string; createdAt: number },
  streamId: string | null,
): Buffer[] {
  const usage = {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  };
  const response = {
    id,
    object: 'response',
    created_at: createdAt,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    tool_choice: 'auto',
    tools: [],
  };
  return [
    { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', usage: null } },
    { type: 'response.completed', sequence_number: 1, response: { ...response, status: 'completed', usage } },
  ].map((event) => inLane(streamId, Buffer.from(JSON.stringify(event))));
}
