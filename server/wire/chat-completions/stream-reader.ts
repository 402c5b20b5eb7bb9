import {
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
  stringMember,
} from '../dialogue/json.ts';
import { statusOfError } from '../envelope.ts';
import type { StreamError } from '../protocol.ts';
import { isFailureReason, readFinish } from './finish.ts';
import { StreamedCalls } from './streamed-calls.ts';
import { chatAnswerUsage, findUsage } from './usage.ts';

/** Reads the chunks of a chat completions upstream. `mintId` names calls that the vendor left without an id. */
export function createChatStreamReader(sink: AnswerSink, mintId: (ordinal: number) => string): StreamReader {
  const calls = new StreamedCalls(sink, mintId);
  /** Text came that can be shown. */
  let said = false;
  let finished = false;
  let usage = NO_USAGE;
  let refused = false;

  function readChoice(choice: JsonObject): void {
    const delta = objectMember(choice, 'delta');
    if (delta !== null) readDelta(delta);
    // Some vendors end with the whole message; it is the answer where no piece of it came before.
    const message = objectMember(choice, 'message');
    if (message !== null && !said && calls.begun === 0 && calls.nameless === 0) readDelta(message);
    const reason = choice.finish_reason;
    // Some vendors say nothing by an empty reason in every chunk.
    if (typeof reason !== 'string' || reason === '') return;
    finished = true;
    if (isFailureReason(reason)) sink.fail(nonsense('The model failed at its vendor.'));
    else if (isShowable()) sink.finish(readFinish(choice, { calls: calls.begun > 0, refusal: refused }));
  }

  /** Fails the answer when all that it has is calls that never got their name: there is nothing in it to show. */
  function isShowable(): boolean {
    if (calls.nameless === 0 || said || calls.begun > 0) return true;
    sink.fail(nonsense('The model called a tool without naming it.'));
    return false;
  }

  function readDelta(delta: JsonObject): void {
    say('reasoning', readReasoning(delta));
    readContent(delta.content);
    const refusal = stringMember(delta, 'refusal') ?? '';
    refused ||= refusal !== '';
    say('refusal', refusal);
    for (const call of listMember(delta, 'tool_calls')) if (isObject(call)) calls.read(call);
    const legacy = objectMember(delta, 'function_call');
    if (legacy !== null) calls.read({ index: 0, function: legacy });
  }

  function readContent(content: Json | undefined): void {
    if (typeof content === 'string') say('text', content);
    else if (Array.isArray(content)) for (const { kind, text } of readContentParts(content)) say(kind, text);
  }

  function say(kind: TextKind, text: string): void {
    said ||= text !== '';
    sink.text(kind, text);
  }

  const reader: OpenStreamReader = {
    model: null,
    usage: () => usage,
    event(name, data) {
      if (data.trim() === '[DONE]') {
        if (!isShowable()) return;
        // A terminator alone ends nothing well: neither content nor a reason, and not even a count of tokens.
        const isNothing = !said && !finished && calls.begun === 0 && usage.reading === null;
        return isNothing ? sink.fail(nonsense('The upstream answered with nothing.')) : sink.end();
      }
      const chunk = parseAnswer(data);
      if (!isObject(chunk)) return sink.fail(nonsense('The upstream sent a chunk that is no object.'));
      if (!saysNothing(chunk.error)) return sink.fail(readError(chunk.error));
      // The error itself is the data of an event of that name.
      if (name === 'error') return sink.fail(readError(chunk));
      reader.model = stringMember(chunk, 'model') ?? reader.model;
      // Every chunk may carry the counts so far; the last ones stand.
      const reported = chatAnswerUsage(findUsage(chunk));
      if (reported.reading !== null) usage = reported;
      sink.begin();
      for (const choice of listMember(chunk, 'choices')) {
        if (isObject(choice) && (choice.index ?? 0) === 0) readChoice(choice);
      }
    },
  };
  return reader;
}

/** Reasoning has two names; a vendor that writes both may leave one of them empty. */
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

function readError(error: Json | undefined): StreamError {
  const described = isObject(error) ? error : {};
  const type = stringMember(described, 'type');
  const message = typeof error === 'string' ? error : stringMember(described, 'message');
  const status = statusOfError(type, described.code);
  const code = stringMember(described, 'code');
  const coded = code === null ? {} : { code };
  return { status, type: type ?? 'server_error', ...coded, message: message || 'The model failed at its vendor.' };
}
