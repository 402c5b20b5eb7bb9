import { type AnswerSink, nonsense, type StreamReader, type TextKind } from '../dialogue/answer.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  listMember,
  objectMember,
  parseAnswer,
  stringifyJson,
  stringMember,
} from '../dialogue/json.ts';
import { statusOfError } from '../envelope.ts';
import { isFailure, readFinish } from './finish.ts';
import { findUsage, NO_USAGE, readAnswerUsage } from './usage.ts';

/** A call as far as its pieces have come. */
interface CallState {
  ordinal: number;
  key: string;
  id: string | null;
  /** The name is known, and the call has been handed on. */
  begun: boolean;
  /** Arguments that came before the name. */
  early: string;
}

/** Reads the chunks of a chat completions upstream. `mintId` names calls that the vendor left without an id. */
export function createChatStreamReader(sink: AnswerSink, mintId: (ordinal: number) => string): StreamReader {
  const calls: CallState[] = [];
  const byIndex = new Map<number, CallState>();
  /** Of several calls with one id, the first. */
  const byId = new Map<string, CallState>();
  /** Calls with arguments and no name so far. */
  let nameless = 0;
  /** Something came that can be shown. */
  let said = false;
  let begun = 0;
  let usage = NO_USAGE;
  let model: string | null = null;
  let refused = false;

  function readChoice(choice: JsonObject): void {
    // A chunk is the same thing with `delta` in place of `message`; some vendors end with the whole message.
    const delta = objectMember(choice, 'delta');
    if (delta !== null) readDelta(delta);
    const reason = choice.finish_reason;
    // Some vendors say nothing by an empty reason in every chunk.
    if (typeof reason !== 'string' || reason === '') return;
    if (isFailure(reason)) sink.fail(nonsense('The model failed at its vendor.'));
    else if (isShowable()) sink.finish(readFinish(choice, { calls: begun > 0, refusal: refused }));
  }

  /** Fails the answer when all that it has is calls that never got their name: there is nothing in it to show. */
  function isShowable(): boolean {
    if (nameless === 0 || said) return true;
    sink.fail(nonsense('The model called a tool without naming it.'));
    return false;
  }

  function readDelta(delta: JsonObject): void {
    say('reasoning', readReasoning(delta));
    readContent(delta.content);
    const refusal = stringMember(delta, 'refusal') ?? '';
    refused ||= refusal !== '';
    say('refusal', refusal);
    for (const call of listMember(delta, 'tool_calls')) if (isObject(call)) readCall(call);
    const legacy = objectMember(delta, 'function_call');
    if (legacy !== null) readCall({ index: 0, function: legacy });
  }

  function readContent(content: Json | undefined): void {
    if (typeof content === 'string') say('text', content);
    else if (Array.isArray(content)) for (const { kind, text } of readContentParts(content)) say(kind, text);
  }

  function say(kind: TextKind, text: string): void {
    said ||= text !== '';
    sink.text(kind, text);
  }

  function readCall(delta: JsonObject): void {
    const described = objectMember(delta, 'function') ?? {};
    const id = stringMember(delta, 'id') || null;
    const name = stringMember(described, 'name') || null;
    const text = readArguments(described.arguments);
    // One vendor sends an empty call of the old form with all its text.
    if (id === null && name === null && text === '') return;
    const call = findCall(delta.index, id, name);
    if (id !== null) setId(call, id);
    if (call.begun) return sink.callArguments(call.key, text);
    if (call.early === '' && text !== '') nameless += 1;
    call.early += text;
    if (name === null) return;
    call.begun = true;
    said = true;
    begun += 1;
    if (call.early !== '') nameless -= 1;
    const named = setId(call, call.id ?? mintId(call.ordinal));
    sink.call(call.key, { kind: 'call', id: named, name, custom: false, wrapped: false });
    if (call.early !== '') sink.callArguments(call.key, call.early);
    call.early = '';
  }

  /** By index, else by id, else the last one. Some vendors give every call the index 0: another id is another call. */
  function findCall(index: Json | undefined, id: string | null, name: string | null): CallState {
    if (typeof index === 'number') {
      const known = byIndex.get(index);
      const another = id !== null && name !== null && known !== undefined && known.id !== null && known.id !== id;
      if (known !== undefined && !another) return known;
      const call = addCall(id);
      byIndex.set(index, call);
      return call;
    }
    if (id !== null) return byId.get(id) ?? addCall(id);
    return (name === null ? calls.at(-1) : undefined) ?? addCall(id);
  }

  function addCall(id: string | null): CallState {
    const ordinal = calls.length;
    const call: CallState = { ordinal, key: String(ordinal), id: null, begun: false, early: '' };
    calls.push(call);
    if (id !== null) setId(call, id);
    return call;
  }

  /** The first id that a call is given stays. */
  function setId(call: CallState, id: string): string {
    call.id ??= id;
    const known = byId.get(call.id);
    if (known === undefined || call.ordinal < known.ordinal) byId.set(call.id, call);
    return call.id;
  }

  return {
    get model() {
      return model;
    },
    usage: () => usage,
    event(_type, data) {
      if (data.trim() === '[DONE]') {
        if (isShowable()) sink.end();
        return;
      }
      const chunk = parseAnswer(data);
      if (!isObject(chunk)) return sink.fail(nonsense('The upstream sent a chunk that is no object.'));
      if (chunk.error !== undefined && chunk.error !== null) return sink.fail(readError(chunk.error));
      model = stringMember(chunk, 'model') ?? model;
      const reported = findUsage(chunk);
      // Every chunk may carry the counts so far; the last ones stand.
      if (reported !== undefined) usage = readAnswerUsage(reported);
      sink.begin();
      for (const choice of listMember(chunk, 'choices')) {
        if (isObject(choice) && (choice.index ?? 0) === 0) readChoice(choice);
      }
    },
  };
}

/** Reasoning has two names; who writes both may leave one of them empty. */
export function readReasoning(message: JsonObject): string {
  return stringMember(message, 'reasoning_content') || stringMember(message, 'reasoning') || '';
}

/** Text and reasoning of vendors that send content as a list of parts. */
export function readContentParts(parts: Json[]): { kind: 'text' | 'reasoning'; text: string }[] {
  const found: { kind: 'text' | 'reasoning'; text: string }[] = [];
  for (const part of parts) {
    if (!isObject(part)) continue;
    if (part.type === 'text') found.push({ kind: 'text', text: stringMember(part, 'text') ?? '' });
    if (part.type === 'thinking') found.push({ kind: 'reasoning', text: thinkingText(part.thinking) });
  }
  return found;
}

function thinkingText(thinking: Json | undefined): string {
  if (typeof thinking === 'string') return thinking;
  return Array.isArray(thinking)
    ? readContentParts(thinking)
        .map(({ text }) => text)
        .join('')
    : '';
}

/** Arguments are text; a few vendors send them as the object itself. */
export function readArguments(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : stringifyJson(value);
}

function readError(error: Json): { status: number; type: string; message: string } {
  const described = isObject(error) ? error : {};
  const type = stringMember(described, 'type');
  const message = typeof error === 'string' ? error : stringMember(described, 'message');
  const status = statusOfError(type, described.code);
  return { status, type: type ?? 'server_error', message: message || 'The model failed at its vendor.' };
}
