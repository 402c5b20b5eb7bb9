import { type AnswerBlock, type TextKind, type WholeAnswer, withoutEmptyCalls } from '../dialogue/answers/answer.ts';
import { isObject, type Json, type JsonObject, listMember, objectMember, stringMember } from '../dialogue/json.ts';
import { UnreadableReply } from '../protocol.ts';
import { isFailureReason, readFinish } from './finish.ts';
import { readContentParts, readReasoning } from './stream-reader.ts';
import { readArguments } from './streamed-calls.ts';
import { chatAnswerUsage, findUsage } from './usage.ts';

/**
 * Reads a whole chat completion. `mintId` names calls that the vendor left without an id. Only an answer without any
 * choice, or whose choice has neither a message nor an end, is none: a filtered one may come without its message.
 */
export function readChatAnswer(body: Json, mintId: (ordinal: number) => string): WholeAnswer {
  if (!isObject(body)) throw new UnreadableReply('The upstream answered with no chat completion.');
  const choices = listMember(body, 'choices').filter(isObject);
  const choice = choices.find((entry) => (entry.index ?? 0) === 0) ?? choices[0];
  if (choice === undefined) throw new UnreadableReply('The upstream answered with no choice.');
  const message = objectMember(choice, 'message') ?? messageWithout(choice);
  if (message === null) throw new UnreadableReply('The upstream answered with no message.');
  if (isFailureReason(choice.finish_reason)) throw new UnreadableReply('The model failed at its vendor.');
  const refusal = stringMember(message, 'refusal') ?? '';
  const calls = withoutEmptyCalls(readCalls(message, mintId));
  const blocks: AnswerBlock[] = [
    ...textBlock('reasoning', readReasoning(message)),
    ...readContent(message.content),
    ...textBlock('refusal', refusal),
    ...calls,
  ];
  return {
    blocks,
    finish: readFinish(choice, { calls: calls.length > 0, refusal: refusal !== '' }),
    usage: chatAnswerUsage(findUsage(body)),
    model: stringMember(body, 'model'),
  };
}

/** What stands in for the message of a choice that has none; null when the choice says nothing at all. */
function messageWithout(choice: JsonObject): JsonObject | null {
  const text = stringMember(choice, 'text');
  if (text !== null) return { content: text };
  return stringMember(choice, 'finish_reason') ? {} : null;
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
  const calls = [
    ...listMember(message, 'tool_calls').filter(isObject),
    ...(legacy === null ? [] : [{ function: legacy }]),
  ];
  return calls.map((call, ordinal) => {
    const described = objectMember(call, 'function') ?? {};
    const id = stringMember(call, 'id') || mintId(ordinal);
    const name = stringMember(described, 'name') ?? '';
    return { kind: 'call', id, name, arguments: readArguments(described.arguments), custom: false, wrapped: false };
  });
}
