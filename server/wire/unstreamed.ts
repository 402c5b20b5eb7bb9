import type { Protocol } from '../core/protocol.ts';
import { boundReply } from './dialogue/bounds.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  listMember,
  objectMember,
  parseJsonBytes,
  saysNothing,
  stringifyJson,
  stringMember,
  typeOf,
} from './dialogue/json.ts';
import { UnreadableReply } from './protocol.ts';
import { sseEvent } from './sse.ts';

/** Turns an answer that came whole although it was to be streamed into the events in which it would have come. */

/**
 * The events of a whole answer of this protocol; null when it is none. Models and servers that cannot stream answer so:
 * https://github.com/BerriAI/litellm/issues/61, https://github.com/BerriAI/litellm/issues/30208.
 */
export function eventsOfWhole(protocol: Protocol, body: Uint8Array): Uint8Array | null {
  const answer = readObject(body);
  if (answer === null || !saysNothing(answer.error)) return null;
  const events = writers[protocol](answer);
  return events === null ? null : Buffer.from(events);
}

function readObject(body: Uint8Array): JsonObject | null {
  try {
    boundReply(body);
    const read = parseJsonBytes(body);
    return isObject(read) ? read : null;
  } catch (problem) {
    // Too large, no JSON, or deeper than any parser goes.
    if (problem instanceof UnreadableReply || problem instanceof SyntaxError || problem instanceof RangeError)
      return null;
    throw problem;
  }
}

const writers: Record<Protocol, (answer: JsonObject) => string | null> = {
  messages: eventsOfMessage,
  'chat-completions': chunksOfCompletion,
  responses: eventsOfResponse,
};

const objectsOf = (list: Json[]): JsonObject[] => list.filter(isObject);

const named = (type: string, members: Record<string, unknown>): string =>
  sseEvent(type, stringifyJson({ type, ...members }));

function eventsOfMessage(message: JsonObject): string | null {
  if (!Array.isArray(message.content)) return null;
  const { stop_reason: reason = null, stop_sequence: sequence = null, stop_details: details, usage } = message;
  const start = { ...message, content: [], stop_reason: null, stop_sequence: null };
  const delta = {
    stop_reason: reason,
    stop_sequence: sequence,
    ...(details === undefined ? {} : { stop_details: details }),
  };
  return [
    named('message_start', { message: start }),
    ...objectsOf(message.content).flatMap(eventsOfBlock),
    named('message_delta', { delta, ...(usage === undefined ? {} : { usage }) }),
    named('message_stop', {}),
  ].join('');
}

function eventsOfBlock(block: JsonObject, index: number): string[] {
  const { begun, deltas } = piecesOfBlock(block);
  return [
    named('content_block_start', { index, content_block: begun }),
    ...deltas.map((delta) => named('content_block_delta', { index, delta })),
    named('content_block_stop', { index }),
  ];
}

/** A block as it begins, and what follows; a block of another kind comes whole in its beginning. */
function piecesOfBlock(block: JsonObject): { begun: JsonObject; deltas: JsonObject[] } {
  switch (typeOf(block)) {
    case 'text':
      return {
        begun: { ...block, text: '' },
        deltas: [{ type: 'text_delta', text: stringMember(block, 'text') ?? '' }],
      };
    case 'thinking': {
      const signature = stringMember(block, 'signature') ?? '';
      return {
        begun: { ...block, thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: stringMember(block, 'thinking') ?? '' },
          { type: 'signature_delta', signature },
        ],
      };
    }
    case 'tool_use': {
      const input = objectMember(block, 'input') ?? {};
      return {
        begun: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: stringifyJson(input) }],
      };
    }
    default:
      return { begun: block, deltas: [] };
  }
}

function chunksOfCompletion(completion: JsonObject): string | null {
  if (!Array.isArray(completion.choices)) return null;
  const { usage, ...rest } = completion;
  const head = { ...rest, object: 'chat.completion.chunk' };
  const choices = objectsOf(completion.choices).map(({ message, ...choice }) => ({
    ...choice,
    delta: isObject(message) ? deltaOf(message) : {},
  }));
  const last = isObject(usage) ? sseEvent(null, stringifyJson({ ...head, choices: [], usage })) : '';
  return `${sseEvent(null, stringifyJson({ ...head, choices }))}${last}data: [DONE]\n\n`;
}

/** A message as one piece: clients put the pieces of calls together by their index. */
function deltaOf(message: JsonObject): JsonObject {
  const calls = objectsOf(listMember(message, 'tool_calls'));
  return calls.length === 0 ? message : { ...message, tool_calls: calls.map((call, index) => ({ index, ...call })) };
}

function eventsOfResponse(response: JsonObject): string | null {
  const status = stringMember(response, 'status');
  if (!Array.isArray(response.output) || status === 'failed' || status === 'cancelled') return null;
  let sequence = 0;
  const event = (type: string, members: Record<string, unknown>): string =>
    named(type, { sequence_number: sequence++, ...members });
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  return [
    event('response.created', { response: begun }),
    ...objectsOf(response.output).flatMap((item, index) => eventsOfItem(item, index, event)),
    event(status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response }),
  ].join('');
}

type NumberedEvent = (type: string, members: Record<string, unknown>) => string;

/** A message and a call begin empty and get their text; an item of another kind is there at once. */
function eventsOfItem(item: JsonObject, index: number, event: NumberedEvent): string[] {
  const at = { output_index: index, item_id: item.id ?? null };
  const done = event.bind(null, 'response.output_item.done');
  const around = (begun: JsonObject, pieces: () => string[]): string[] => [
    event('response.output_item.added', { output_index: index, item: begun }),
    ...pieces(),
    done({ output_index: index, item }),
  ];
  switch (typeOf(item)) {
    case 'message':
      return around({ ...item, status: 'in_progress', content: [] }, () =>
        objectsOf(listMember(item, 'content')).flatMap((part, place) =>
          eventsOfPart(part, { ...at, content_index: place }, event),
        ),
      );
    case 'function_call': {
      const text = stringMember(item, 'arguments') ?? '';
      return around({ ...item, status: 'in_progress', arguments: '' }, () => [
        event('response.function_call_arguments.delta', { ...at, delta: text }),
        event('response.function_call_arguments.done', { ...at, arguments: text }),
      ]);
    }
    default:
      return around(item, () => []);
  }
}

function eventsOfPart(part: JsonObject, at: Record<string, unknown>, event: NumberedEvent): string[] {
  const name = typeOf(part) === 'refusal' ? 'refusal' : 'text';
  const text = stringMember(part, name) ?? '';
  const type = name === 'refusal' ? 'response.refusal' : 'response.output_text';
  return [
    event('response.content_part.added', { ...at, part: { ...part, [name]: '' } }),
    event(`${type}.delta`, { ...at, delta: text }),
    event(`${type}.done`, { ...at, [name]: text }),
    event('response.content_part.done', { ...at, part }),
  ];
}
