import {
  type AnswerBlock,
  type AnswerSink,
  NO_USAGE,
  nonsense,
  type OpenStreamReader,
  type StreamReader,
  type TextKind,
} from '../dialogue/answers/answer.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  listMember,
  objectMember,
  parseAnswer,
  saysNothing,
  stringifyJson,
  stringMember,
  typeOf,
} from '../dialogue/json.ts';
import { statusOfError } from '../envelope.ts';
import type { StreamError } from '../protocol.ts';
import { readItem } from './answer-reader.ts';
import { readStatus } from './finish.ts';
import { responsesAnswerUsage } from './usage.ts';

/** What has been handed on of one output item. */
interface ItemState {
  /** Where the last piece of text came from: another place starts a new paragraph of reasoning. */
  part: string | null;
  said: boolean;
  /** Reasoning comes as a summary or in full; only what comes first is handed on. */
  reasoning: 'summary' | 'full' | null;
  /** A part of the full reasoning was announced, or ended: what follows from another place is a paragraph of its own. */
  parted: boolean;
}

/** Whether a piece of reasoning from this place is a paragraph of its own; null: it repeats what came in another form. */
function startsParagraph(state: ItemState, kind: 'summary' | 'full', place: string): boolean | null {
  state.reasoning ??= kind;
  if (state.reasoning !== kind) return null;
  // Some engines count up the index with every token (vllm-project/vllm, vllm/entrypoints/openai/responses/serving.py).
  const isOther = state.part !== null && state.part !== place && (kind === 'summary' || state.parted);
  state.part = place;
  state.parted = false;
  return isOther;
}

/** Reads the events of a Responses upstream. */
export function createResponsesStreamReader(sink: AnswerSink): StreamReader {
  const items = new Map<string, ItemState>();
  let usage = NO_USAGE;
  let calls = false;
  let refused = false;

  function stateOf(key: string): ItemState {
    const state = items.get(key) ?? { part: null, said: false, reasoning: null, parted: false };
    items.set(key, state);
    return state;
  }

  function say(key: string, kind: TextKind, text: string): void {
    stateOf(key).said ||= text !== '';
    refused ||= kind === 'refusal' && text !== '';
    sink.text(kind, text);
  }

  function reason(key: string, kind: 'summary' | 'full', part: Json | undefined, text: string): void {
    const isParagraph = startsParagraph(stateOf(key), kind, stringifyJson(part ?? 0));
    if (isParagraph === null) return;
    if (isParagraph) sink.text('reasoning', '\n\n');
    say(key, 'reasoning', text);
  }

  function addItem(key: string, item: JsonObject): void {
    const [block] = readItem(item);
    if (block?.kind !== 'call' || items.has(key)) return;
    stateOf(key);
    calls = true;
    sink.call(key, block);
  }

  function addArguments(key: string, text: string): void {
    if (text === '') return;
    stateOf(key).said = true;
    sink.callArguments(key, text);
  }

  /** Some vendors send items whole, or only their beginning and end. */
  function endItem(key: string, item: JsonObject): void {
    addItem(key, item);
    for (const block of stateOf(key).said ? [] : readItem(item)) sayWhole(key, block);
    if (item.type === 'function_call' || item.type === 'custom_tool_call') sink.callEnd(key);
  }

  function sayWhole(key: string, block: AnswerBlock): void {
    if (block.kind === 'call') addArguments(key, block.arguments);
    else say(key, block.kind, block.text);
  }

  function readResponse(event: JsonObject): JsonObject {
    const response = objectMember(event, 'response') ?? {};
    reader.model = stringMember(response, 'model') ?? reader.model;
    const reported = responsesAnswerUsage(response.usage);
    if (reported.reading !== null) usage = reported;
    return response;
  }

  /** Reads an answer that came with its last event alone: https://github.com/BerriAI/litellm/issues/21090. */
  function readOutput(response: JsonObject): void {
    for (const [index, item] of listMember(response, 'output').entries())
      if (isObject(item)) endItem(String(index), item);
  }

  function readEvent(event: JsonObject, type: string): void {
    const key = stringifyJson(event.output_index ?? 0);
    const delta = stringMember(event, 'delta') ?? '';
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        readResponse(event);
        return sink.begin();
      case 'response.output_item.added':
        return addItem(key, objectMember(event, 'item') ?? {});
      case 'response.output_text.delta':
        return say(key, 'text', delta);
      case 'response.refusal.delta':
        return say(key, 'refusal', delta);
      case 'response.reasoning_summary_text.delta':
        return reason(key, 'summary', event.summary_index, delta);
      case 'response.reasoning_text.delta':
        return reason(key, 'full', event.content_index, delta);
      case 'response.reasoning_text.done':
      case 'response.reasoning_part.added':
        return void (stateOf(key).parted = true);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return addArguments(key, delta);
      case 'response.output_item.done':
        return endItem(key, objectMember(event, 'item') ?? {});
      case 'response.completed':
      case 'response.incomplete': {
        const response = readResponse(event);
        if (hasFailed(response)) return sink.fail(readError(event, response));
        if (items.size === 0) readOutput(response);
        sink.finish(readStatus(response, { calls, refusal: refused }));
        return sink.end();
      }
      case 'response.cancelled':
      case 'response.failed':
      case 'error':
        return sink.fail(readError(event, readResponse(event)));
    }
  }

  const reader: OpenStreamReader = {
    model: null,
    usage: () => usage,
    event(name, data) {
      if (data.trim() === '[DONE]') return;
      const event = parseAnswer(data);
      if (!isObject(event)) return sink.fail(nonsense('The upstream sent an event that is no object.'));
      readEvent(event, name === 'error' ? name : typeOf(event) || name || '');
    },
  };
  return reader;
}

/** Whether the response of a last event says that it failed, whatever the event is called. */
function hasFailed({ status, error }: JsonObject): boolean {
  return status === 'failed' || status === 'cancelled' || !saysNothing(error);
}

/** The error of a failed response, or that of a separate event. */
function readError(event: JsonObject, response: JsonObject): StreamError {
  const error = objectMember(response, 'error') ?? objectMember(event, 'error') ?? event;
  const code = stringMember(error, 'code');
  const message = stringMember(error, 'message') || 'The model failed at its vendor.';
  return { status: statusOfError(stringMember(error, 'type'), code), type: code ?? 'server_error', message };
}
