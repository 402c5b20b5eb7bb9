import type { StreamWriter, TextKind } from '../dialogue/answers/answer.ts';
import { stringifyJson } from '../dialogue/json.ts';
import { type AnswerContext, idStem } from '../dialogue/notes.ts';
import { errorEvent } from '../envelope.ts';
import { sseEvent } from '../streams/sse.ts';
import { toChatUsage } from '../usage.ts';
import { FINISH_REASON } from './finish.ts';

/** Writes a streamed answer as chunks of chat completions. */

const DELTA_FIELD: Readonly<Record<TextKind, string>> = {
  text: 'content',
  refusal: 'refusal',
  reasoning: 'reasoning_content',
};

/** Writes the chunks of a chat completion. */
export function createChatStreamWriter({ facts, context, notes }: AnswerContext): StreamWriter {
  const head = {
    id: `chatcmpl-${idStem(context)}`,
    object: 'chat.completion.chunk',
    created: context.createdAt,
    model: context.catalogModel,
  };
  const noUsageYet = facts.includeUsage ? { usage: null } : {};
  let calls = 0;
  let open: { kind: TextKind } | { kind: 'call'; custom: boolean } | null = null;

  function chunk(delta: Record<string, unknown>, finishReason: string | null = null): string {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
    return sseEvent(null, stringifyJson({ ...head, choices: [choice], ...noUsageYet }));
  }

  return {
    // A comment, because a `ping` event with data would break the protocol's most used client.
    keepAlive: ': ping\n\n',
    forgets: ['text', 'refusal', 'reasoning'],
    begin: () => chunk({ role: 'assistant', content: '' }),
    open(block) {
      open = block;
      if (block.kind !== 'call') return '';
      const { id, name, custom } = block;
      // The index counts calls, not blocks: clients collect the pieces by it.
      const index = calls++;
      const described = custom
        ? { type: 'custom', custom: { name, input: '' } }
        : { type: 'function', function: { name, arguments: '' } };
      return chunk({ tool_calls: [{ index, id, ...described }] });
    },
    delta(text) {
      if (open === null || (open.kind === 'reasoning' && notes.hideReasoning)) return '';
      if (open.kind !== 'call') return chunk({ [DELTA_FIELD[open.kind]]: text });
      const piece = open.custom ? { custom: { input: text } } : { function: { arguments: text } };
      return chunk({ tool_calls: [{ index: calls - 1, ...piece }] });
    },
    close() {
      open = null;
      return '';
    },
    finish({ kind, explanation }) {
      const said = explanation === null || explanation === '' ? '' : chunk({ refusal: explanation });
      return said + chunk({}, FINISH_REASON[kind]);
    },
    end(shown) {
      const usage =
        !facts.includeUsage || shown === null
          ? ''
          : sseEvent(
              null,
              stringifyJson({ ...head, choices: [], usage: toChatUsage(shown.usage, shown.reasoningTokens) }),
            );
      return `${usage}data: [DONE]\n\n`;
    },
    fail: (error) =>
      errorEvent('chat-completions', { ...error, requestId: context.requestId, inChunk: context.errorsInChunks }),
  };
}
