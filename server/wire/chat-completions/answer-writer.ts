import { type AnswerBlock, shownUsage, type TextKind, type WholeAnswer } from '../dialogue/answers/answer.ts';
import { type AnswerContext, idStem } from '../dialogue/notes.ts';
import { toChatUsage } from '../usage.ts';
import { FINISH_REASON } from './finish.ts';

/** Writes a whole chat completion, ready for `JSON.stringify`. */
export function writeChatAnswer(
  answer: WholeAnswer,
  { facts, context, notes }: AnswerContext,
): Record<string, unknown> {
  const { blocks, finish } = answer;
  const calls = blocks.flatMap((block) => (block.kind === 'call' ? [writeCall(block)] : []));
  const reasoning = notes.hideReasoning ? null : textOf(blocks, 'reasoning');
  const message = {
    role: 'assistant',
    content: textOf(blocks, 'text') ?? (calls.length > 0 ? null : ''),
    refusal: textOf(blocks, 'refusal') ?? (finish.explanation || null),
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const shown = shownUsage(answer.usage, facts.cacheWrite);
  return {
    id: `chatcmpl-${idStem(context)}`,
    object: 'chat.completion',
    created: context.createdAt,
    model: context.catalogModel,
    system_fingerprint: null,
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH_REASON[finish.kind] }],
    ...(shown === null ? {} : { usage: toChatUsage(shown.usage, shown.reasoningTokens) }),
  };
}

/** All text of one kind; null when there is none. */
function textOf(blocks: readonly AnswerBlock[], kind: TextKind): string | null {
  const texts = blocks.flatMap((block) => (block.kind === kind ? [block.text] : []));
  return texts.length === 0 ? null : texts.join('');
}

function writeCall(call: AnswerBlock & { kind: 'call' }): Record<string, unknown> {
  const { id, name } = call;
  return call.custom
    ? { id, type: 'custom', custom: { name, input: call.arguments } }
    : { id, type: 'function', function: { name, arguments: call.arguments } };
}
