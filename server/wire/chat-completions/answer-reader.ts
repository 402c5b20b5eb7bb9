import type { Answer, AnswerBlock, TextKind } from '../dialogue/answer.ts';
import { isObject, type Json, type JsonObject, listMember, objectMember, stringMember } from '../dialogue/json.ts';
import { UnreadableReply } from '../protocol.ts';
import { isFailure, readFinish } from './finish.ts';
import { readArguments, readContentParts, readReasoning } from './stream-reader.ts';
import { findUsage, readAnswerUsage } from './usage.ts';

/** Reads a whole chat completion. `mintId` names calls that the vendor left without an id. */
export function readChatAnswer(body: Json, mintId: (ordinal: number) => string): Answer {
  if (!isObject(body)) throw new UnreadableReply('The upstream answered with no chat completion.');
  const choice = listMember(body, 'choices').find((entry) => isObject(entry) && (entry.index ?? 0) === 0);
  const message = isObject(choice) ? objectMember(choice, 'message') : null;
  if (!isObject(choice) || message === null) throw new UnreadableReply('The upstream answered with no message.');
  if (isFailure(choice.finish_reason)) throw new UnreadableReply('The model failed at its vendor.');
  const refusal = stringMember(message, 'refusal') ?? '';
  const calls = readCalls(message, mintId);
  const blocks: AnswerBlock[] = [
    ...textBlock('reasoning', readReasoning(message)),
    ...readContent(message.content),
    ...textBlock('refusal', refusal),
    ...calls,
  ];
  return {
    blocks,
    finish: readFinish(choice, { calls: calls.length > 0, refusal: refusal !== '' }),
    usage: readAnswerUsage(findUsage(body)),
    model: stringMember(body, 'model'),
  };
}

function textBlock(kind: TextKind, text: string | null): AnswerBlock[] {
  return text === null || text === '' ? [] : [{ kind, text }];
}

function readContent(content: Json | undefined): AnswerBlock[] {
  if (typeof content === 'string') return textBlock('text', content);
  return Array.isArray(content) ? readContentParts(content).flatMap(({ kind, text }) => textBlock(kind, text)) : [];
}

function readCalls(message: JsonObject, mintId: (ordinal: number) => string): AnswerBlock[] {
  const legacy = objectMember(message, 'function_call');
  const calls = [...listMember(message, 'tool_calls'), ...(legacy === null ? [] : [{ function: legacy }])];
  return calls.map((call, ordinal) => {
    const described = isObject(call) ? objectMember(call, 'function') : null;
    const name = described === null ? null : stringMember(described, 'name');
    if (!isObject(call) || !name) throw new UnreadableReply('The model called a tool without naming it.');
    const id = stringMember(call, 'id') || mintId(ordinal);
    return { kind: 'call', id, name, arguments: readArguments(described?.arguments), custom: false, wrapped: false };
  });
}
