import type { Protocol } from '../core/protocol.ts';
import { boundReply } from './dialogue/bounds.ts';
import {
  isNumber,
  isObject,
  type Json,
  type JsonObject,
  listMember,
  numberValue,
  objectMember,
  parseJsonBytes,
  saysNothing,
  stringifyJson,
  stringMember,
  typeOf,
} from './dialogue/json.ts';
import { UnreadableReply, type WholePiece } from './protocol.ts';
import { sseEvent } from './streams/sse.ts';

/** Turns an answer that came whole although it was to be streamed into the events in which it would have come. */

/** Longest text of one event, in UTF-16 units: about 500 tokens, so that the brake can stop the answer in between. */
const maxDeltaLength = 2_048;
/** Entries of log probabilities in one event. */
const maxProbabilities = 64;
/** What the native stream of each protocol reads of one event (`maxEventBytes`): larger ones would pass unread. */
const maxEventBytes: Record<Protocol, number> = {
  messages: 1_048_576,
  'chat-completions': 1_048_576,
  responses: 8_388_608,
};

/**
 * The events of a whole answer of this protocol, in pieces that carry little content each; null when it is none. The last
 * piece ends the answer. Models and servers that cannot stream answer so:
 * https://github.com/BerriAI/litellm/issues/61, https://github.com/BerriAI/litellm/issues/30208.
 */
export function eventsOfWhole(protocol: Protocol, body: Uint8Array): WholePiece[] | null {
  const answer = readObject(body);
  if (answer === null || !saysNothing(answer.error)) return null;
  const events = writers[protocol](answer);
  if (events === null) return null;
  const isReadable = events.every(({ text }) => Buffer.byteLength(text) <= maxEventBytes[protocol]);
  return isReadable ? piecesOf(events) : null;
}

/** One event, and the length of the content that it carries. */
interface WholeEvent {
  text: string;
  weight: number;
  /** The answer ends here: nothing that follows is content. */
  ends?: true;
}

/** What comes before any content, then one event with content in each piece, then the end. */
function piecesOf(events: readonly WholeEvent[]): WholePiece[] {
  const groups: WholeEvent[][] = [];
  let carries = true;
  for (const event of events) {
    const open = groups.at(-1);
    const isContent = event.weight > 0;
    if (open === undefined) groups.push([event]);
    else if (event.ends === true || (isContent && carries)) {
      groups.push([event]);
      carries = isContent;
    } else {
      open.push(event);
    }
  }
  return groups.map((group) => ({
    bytes: Buffer.from(group.map(({ text }) => text).join('')),
    weight: group.reduce((sum, { weight }) => sum + weight, 0),
  }));
}

/** A text in parts, at least one; no character is divided. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let at = 0;
  do {
    let end = at + maxDeltaLength;
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    parts.push(text.slice(at, end));
    at = end;
  } while (at < text.length);
  return parts;
}

/** Whether an answer has content, or its usage says that the model worked. */
function hasSubstance(content: readonly JsonObject[], usage: Json | undefined): boolean {
  return (
    content.length > 0 ||
    (isObject(usage) && Object.values(usage).some((count) => isNumber(count) && numberValue(count) > 0))
  );
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

const writers: Record<Protocol, (answer: JsonObject) => WholeEvent[] | null> = {
  messages: eventsOfMessage,
  'chat-completions': chunksOfCompletion,
  responses: eventsOfResponse,
};

const objectsOf = (list: Json[]): JsonObject[] => list.filter(isObject);

const named = (type: string, members: Record<string, unknown>, weight = 0): WholeEvent => ({
  text: sseEvent(type, stringifyJson({ type, ...members })),
  weight,
});

function eventsOfMessage(message: JsonObject): WholeEvent[] | null {
  if (!Array.isArray(message.content)) return null;
  const blocks = objectsOf(message.content);
  const { stop_reason: reason = null, stop_sequence: sequence = null, stop_details: details, usage } = message;
  if (!hasSubstance(blocks, usage)) return null;
  // The output that a client sees counted rises, as in any stream.
  const first = isObject(usage) && 'output_tokens' in usage ? { usage: { ...usage, output_tokens: 0 } } : {};
  const start = { ...message, ...first, content: [], stop_reason: null, stop_sequence: null };
  const delta = {
    stop_reason: reason,
    stop_sequence: sequence,
    ...(details === undefined ? {} : { stop_details: details }),
  };
  return [
    named('message_start', { message: start }),
    ...blocks.flatMap(eventsOfBlock),
    { ...named('message_delta', { delta, ...(usage === undefined ? {} : { usage }) }), ends: true },
    named('message_stop', {}),
  ];
}

function eventsOfBlock(block: JsonObject, index: number): WholeEvent[] {
  const { begun, deltas } = piecesOfBlock(block);
  const whole = deltas.length === 0 ? stringifyJson(block).length : 0;
  return [
    named('content_block_start', { index, content_block: begun }, whole),
    ...deltas.map(({ delta, weight }) => named('content_block_delta', { index, delta }, weight)),
    named('content_block_stop', { index }),
  ];
}

interface BlockPieces {
  begun: JsonObject;
  deltas: { delta: JsonObject; weight: number }[];
}

/** A block as it begins, and what follows; a block of another kind comes whole in its beginning. */
function piecesOfBlock(block: JsonObject): BlockPieces {
  const deltasOf = (type: string, member: string, text: string): BlockPieces['deltas'] =>
    partsOf(text).map((part) => ({ delta: { type, [member]: part }, weight: part.length }));
  switch (typeOf(block)) {
    case 'text':
      return {
        begun: { ...block, text: '' },
        deltas: deltasOf('text_delta', 'text', stringMember(block, 'text') ?? ''),
      };
    case 'thinking': {
      const signature = stringMember(block, 'signature') ?? '';
      return {
        begun: { ...block, thinking: '', signature: '' },
        deltas: [
          ...deltasOf('thinking_delta', 'thinking', stringMember(block, 'thinking') ?? ''),
          { delta: { type: 'signature_delta', signature }, weight: 0 },
        ],
      };
    }
    case 'tool_use':
      return {
        begun: { ...block, input: {} },
        deltas: deltasOf('input_json_delta', 'partial_json', stringifyJson(objectMember(block, 'input') ?? {})),
      };
    default:
      return { begun: block, deltas: [] };
  }
}

/** Members that every chunk has; others are sent once. */
const headMembers = ['id', 'created', 'model', 'system_fingerprint', 'service_tier'];

function chunksOfCompletion(completion: JsonObject): WholeEvent[] | null {
  if (!Array.isArray(completion.choices)) return null;
  const { usage, choices: list, ...rest } = completion;
  const choices = objectsOf(list);
  if (!hasSubstance(choices, usage)) return null;
  const known = Object.fromEntries(headMembers.flatMap((name) => (name in rest ? [[name, rest[name]]] : [])));
  const head = { ...known, object: 'chat.completion.chunk' };
  const chunk = (members: Record<string, unknown>, weight = 0): WholeEvent => ({
    text: sseEvent(null, stringifyJson({ ...head, ...members })),
    weight,
  });
  const split = choices.map(piecesOfChoice);
  const deltas = split.flatMap(({ pieces }) =>
    pieces.map(({ choice, weight }) => chunk({ choices: [choice] }, weight)),
  );
  const last = chunk({ ...rest, object: head.object, choices: split.map(({ last: choice }) => choice) });
  return [
    chunk({ choices: split.map(({ first }) => first) }),
    ...deltas,
    { ...last, ends: true },
    ...(isObject(usage) ? [chunk({ choices: [], usage })] : []),
    { text: 'data: [DONE]\n\n', weight: 0 },
  ];
}

interface ChoicePieces {
  first: JsonObject;
  pieces: { choice: JsonObject; weight: number }[];
  last: JsonObject;
}

const messageTexts = ['reasoning_content', 'reasoning', 'content', 'refusal'];

/** The role, then every text and call in parts, then the rest of the message with the reason of its end. */
function piecesOfChoice(choice: JsonObject, place: number): ChoicePieces {
  const { message, logprobs, finish_reason: reason = null, index = place, ...more } = choice;
  const { role = 'assistant', ...said } = isObject(message) ? message : {};
  const pieces: ChoicePieces['pieces'] = [];
  const add = (delta: JsonObject, weight: number, extra: JsonObject = {}): void => {
    pieces.push({ choice: { index, delta, ...extra, finish_reason: null }, weight });
  };
  for (const name of messageTexts) {
    const text = said[name];
    if (typeof text === 'string') for (const part of partsOf(text)) add({ [name]: part }, part.length);
    else if (Array.isArray(text))
      for (const part of text.flatMap(partsOfContent)) add({ [name]: [part] }, stringifyJson(part).length);
    if (typeof text === 'string' || Array.isArray(text)) delete said[name];
  }
  for (const [at, call] of objectsOf(listMember(said, 'tool_calls')).entries())
    for (const [delta, weight] of piecesOfCall(call, at)) add({ tool_calls: [delta] }, weight);
  if (Array.isArray(said.tool_calls)) delete said.tool_calls;
  for (const slice of slicesOf(logprobs)) add({}, 0, { logprobs: slice });
  const first = { index, delta: { role }, finish_reason: null };
  return { first, pieces, last: { ...more, index, delta: said, finish_reason: reason } };
}

/** A part of content that is a list: texts in parts, also those within thinking. */
function partsOfContent(part: Json): Json[] {
  if (!isObject(part)) return [part];
  const text = stringMember(part, 'text');
  if (text !== null) return partsOf(text).map((piece) => ({ ...part, text: piece }));
  const { thinking } = part;
  if (!Array.isArray(thinking)) return [part];
  return thinking.flatMap(partsOfContent).map((piece) => ({ ...part, thinking: [piece] }));
}

/** A call with the first part of its arguments, then the others; clients put them together by the index. */
function piecesOfCall(call: JsonObject, place: number): [JsonObject, number][] {
  const { index = place } = call;
  for (const [name, member] of [
    ['function', 'arguments'],
    ['custom', 'input'],
  ] as const) {
    const of = objectMember(call, name);
    const text = of === null ? null : stringMember(of, member);
    if (of === null || text === null) continue;
    return partsOf(text).map((part, at) => [
      at === 0 ? { ...call, index, [name]: { ...of, [member]: part } } : { index, [name]: { [member]: part } },
      part.length,
    ]);
  }
  return [[{ ...call, index }, stringifyJson(call).length]];
}

function slicesOf(logprobs: Json | undefined): Json[] {
  if (!isObject(logprobs)) return [];
  const lists = Object.entries(logprobs).filter((entry): entry is [string, Json[]] => Array.isArray(entry[1]));
  return lists.flatMap(([name, list]) =>
    Array.from({ length: Math.ceil(list.length / maxProbabilities) }, (_, at) => ({
      [name]: list.slice(at * maxProbabilities, (at + 1) * maxProbabilities),
    })),
  );
}

function eventsOfResponse(response: JsonObject): WholeEvent[] | null {
  const status = stringMember(response, 'status');
  if (!Array.isArray(response.output)) return null;
  // One that is queued or runs is no answer yet, and one that failed or was cancelled is none.
  if (status !== null && status !== 'completed' && status !== 'incomplete') return null;
  const items = objectsOf(response.output);
  if (!hasSubstance(items, response.usage)) return null;
  let sequence = 0;
  const event: NumberedEvent = (type, members, weight = 0) =>
    named(type, { sequence_number: sequence++, ...members }, weight);
  const { output_text: _text, ...begun } = response;
  return [
    event('response.created', { response: { ...begun, status: 'in_progress', output: [], usage: null } }),
    ...items.flatMap((item, index) => eventsOfItem(item, index, event)),
    { ...event(status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response }), ends: true },
  ];
}

type NumberedEvent = (type: string, members: Record<string, unknown>, weight?: number) => WholeEvent;

/** Messages, reasoning and calls begin empty and get their text; an item of another kind is there at once. */
function eventsOfItem(item: JsonObject, index: number, event: NumberedEvent): WholeEvent[] {
  const at = { output_index: index, item_id: item.id ?? null };
  const around = (begun: JsonObject, pieces: () => WholeEvent[], weight = 0): WholeEvent[] => [
    event('response.output_item.added', { output_index: index, item: begun }, weight),
    ...pieces(),
    event('response.output_item.done', { output_index: index, item }),
  ];
  const call = (type: string, member: string): WholeEvent[] => {
    const text = stringMember(item, member) ?? '';
    return around({ ...item, status: 'in_progress', [member]: '' }, () => [
      ...partsOf(text).map((part) => event(`${type}.delta`, { ...at, delta: part }, part.length)),
      event(`${type}.done`, { ...at, [member]: text }),
    ]);
  };
  switch (typeOf(item)) {
    case 'message':
      return around({ ...item, status: 'in_progress', content: [] }, () =>
        objectsOf(listMember(item, 'content')).flatMap((part, place) =>
          eventsOfPart(part, { ...at, content_index: place }, event),
        ),
      );
    case 'reasoning': {
      const { encrypted_content: _hidden, ...begun } = item;
      const empty = { summary: [], ...('content' in item ? { content: [] } : {}) };
      return around({ ...begun, ...empty, status: 'in_progress' }, () => eventsOfReasoning(item, at, event));
    }
    case 'function_call':
      return call('response.function_call_arguments', 'arguments');
    case 'custom_tool_call':
      return call('response.custom_tool_call_input', 'input');
    default:
      return around(item, () => [], stringifyJson(item).length);
  }
}

function eventsOfReasoning(item: JsonObject, at: Record<string, unknown>, event: NumberedEvent): WholeEvent[] {
  const summary = objectsOf(listMember(item, 'summary')).flatMap((part, place) => {
    const text = stringMember(part, 'text') ?? '';
    const where = { ...at, summary_index: place };
    return [
      event('response.reasoning_summary_part.added', { ...where, part: { ...part, text: '' } }),
      ...partsOf(text).map((piece) =>
        event('response.reasoning_summary_text.delta', { ...where, delta: piece }, piece.length),
      ),
      event('response.reasoning_summary_text.done', { ...where, text }),
      event('response.reasoning_summary_part.done', { ...where, part }),
    ];
  });
  const full = objectsOf(listMember(item, 'content')).flatMap((part, place) => {
    const text = stringMember(part, 'text') ?? '';
    const where = { ...at, content_index: place };
    return [
      ...partsOf(text).map((piece) => event('response.reasoning_text.delta', { ...where, delta: piece }, piece.length)),
      event('response.reasoning_text.done', { ...where, text }),
    ];
  });
  return [...summary, ...full];
}

function eventsOfPart(part: JsonObject, at: Record<string, unknown>, event: NumberedEvent): WholeEvent[] {
  const name = typeOf(part) === 'refusal' ? 'refusal' : 'text';
  const text = stringMember(part, name) ?? '';
  const type = name === 'refusal' ? 'response.refusal' : 'response.output_text';
  return [
    event('response.content_part.added', { ...at, part: { ...part, [name]: '' } }),
    ...partsOf(text).map((piece) => event(`${type}.delta`, { ...at, delta: piece }, piece.length)),
    event(`${type}.done`, { ...at, [name]: text }),
    event('response.content_part.done', { ...at, part }),
  ];
}
