import type { Finish, StreamWriter, TextKind, ToolCall } from '../dialogue/answers/answer.ts';
import { finishOf } from '../dialogue/answers/answer.ts';
import { stringifyJson } from '../dialogue/json.ts';
import { type AnswerContext, idStem } from '../dialogue/notes.ts';
import { mintSignature } from '../dialogue/signature.ts';
import { encodeToolId } from '../dialogue/tool-ids.ts';
import { errorEvent } from '../envelope.ts';
import { sseEvent } from '../streams/sse.ts';
import { writeStop } from './finish.ts';
import { writeUsage } from './usage.ts';

/** Writes a streamed answer as events of the Messages protocol. */

const DELTA = {
  text: { type: 'text_delta', field: 'text' },
  refusal: { type: 'text_delta', field: 'text' },
  reasoning: { type: 'thinking_delta', field: 'thinking' },
  call: { type: 'input_json_delta', field: 'partial_json' },
} as const;

/** Writes the events of a message. The counts come last, because only then they are known. */
export function createMessagesStreamWriter({ context, notes }: AnswerContext): StreamWriter {
  let index = -1;
  let open: TextKind | 'call' = 'text';
  let thinking = '';
  let finish: Finish = finishOf('stop');

  function delta(members: Record<string, unknown>): string {
    return event('content_block_delta', { index, delta: members });
  }

  const ping = event('ping', {});

  return {
    keepAlive: ping,
    forgets: ['text', 'refusal'],
    begin() {
      const message = {
        id: `msg_${idStem(context)}`,
        type: 'message',
        role: 'assistant',
        model: context.catalogModel,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        diagnostics: null,
        usage: writeUsage(null),
      };
      return event('message_start', { message }) + ping;
    },
    open(block) {
      index += 1;
      open = block.kind;
      thinking = '';
      return event('content_block_start', { index, content_block: startBlock(block) });
    },
    delta(text) {
      if (open === 'reasoning') thinking += text;
      if (open === 'reasoning' && notes.hideReasoning) return '';
      const { type, field } = DELTA[open];
      return delta({ type, [field]: text });
    },
    close() {
      const signature = open === 'reasoning' ? mintSignature(thinking, context) : null;
      const signed = signature === null ? '' : delta({ type: 'signature_delta', signature });
      return signed + event('content_block_stop', { index });
    },
    finish(found) {
      finish = found;
      return '';
    },
    end(shown) {
      const ending = event('message_delta', { delta: writeStop(finish), usage: writeUsage(shown) });
      return ending + event('message_stop', {});
    },
    fail: (error) => errorEvent('messages', { ...error, requestId: context.requestId }),
  };
}

function event(type: string, members: Record<string, unknown>): string {
  return sseEvent(type, stringifyJson({ type, ...members }));
}

function startBlock(block: { kind: TextKind } | ToolCall): Record<string, unknown> {
  if (block.kind === 'call') return { type: 'tool_use', id: encodeToolId(block.id), name: block.name, input: {} };
  if (block.kind === 'reasoning') return { type: 'thinking', thinking: '', signature: '' };
  return { type: 'text', text: '', citations: null };
}
