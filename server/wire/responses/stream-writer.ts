import { type Finish, finishOf, type StreamWriter, type TextKind, type ToolCall } from '../dialogue/answers/answer.ts';
import { createFreeText, type FreeText } from '../dialogue/free-text.ts';
import { stringifyJson } from '../dialogue/json.ts';
import { type AnswerContext, idStem } from '../dialogue/notes.ts';
import { failedCode } from '../envelope.ts';
import { sseEvent } from '../streams/sse.ts';
import { writeStatus } from './finish.ts';
import { type Item, isFreeText, itemId, refusalPart, summaryPart, textPart, writeItem } from './items.ts';
import { writeResponse } from './response-object.ts';

/** The item that is being written. */
interface OpenItem {
  block: { kind: TextKind } | ToolCall;
  id: string;
  text: string;
  /** Takes the client's free text out of the stand-in function's arguments. */
  free: FreeText | null;
}

/** Writes the events of a response, in the full sequence that the protocol defines. */
export function createResponsesStreamWriter(answerContext: AnswerContext): StreamWriter {
  const stem = idStem(answerContext.context);
  const output: Item[] = [];
  let sequence = 0;
  let item: OpenItem | null = null;
  let refused = false;
  let finish: Finish = finishOf('stop');

  function event(type: string, members: Record<string, unknown>): string {
    return sseEvent(type, stringifyJson({ type, sequence_number: sequence++, ...members }));
  }

  function response(state: Omit<Parameters<typeof writeResponse>[1], 'output'>): Record<string, unknown> {
    return writeResponse(answerContext, { ...state, output });
  }

  function open(block: { kind: TextKind } | ToolCall): string {
    const index = output.length;
    const id = itemId(block.kind, stem, index);
    item = { block, id, text: '', free: block.kind === 'call' && block.wrapped ? createFreeText() : null };
    refused ||= block.kind === 'refusal';
    const started = writeStarted(block, id);
    return (
      event('response.output_item.added', { output_index: index, item: started }) + openPart(block.kind, id, index)
    );
  }

  function openPart(kind: TextKind | 'call', item_id: string, output_index: number): string {
    if (kind === 'call') return '';
    if (kind === 'reasoning') {
      const part = summaryPart('');
      return event('response.reasoning_summary_part.added', { item_id, output_index, summary_index: 0, part });
    }
    const part = kind === 'text' ? textPart('') : refusalPart('');
    return event('response.content_part.added', { item_id, output_index, content_index: 0, part });
  }

  function say(current: OpenItem, text: string): string {
    if (text === '') return '';
    current.text += text;
    const { stem: name, place } = wordsOf(current.block);
    const logprobs = current.block.kind === 'text' ? { logprobs: [] } : {};
    return event(`${name}.delta`, {
      item_id: current.id,
      output_index: output.length,
      ...place,
      delta: text,
      ...logprobs,
    });
  }

  function close(): string {
    if (item === null) return '';
    const current = item;
    item = null;
    const rest = current.free === null ? '' : say(current, current.free.end());
    const { block, id, text } = current;
    const { stem: name, place, field } = wordsOf(block);
    const at = { item_id: id, output_index: output.length };
    const logprobs = block.kind === 'text' ? { logprobs: [] } : {};
    const said = event(`${name}.done`, { ...at, ...place, [field]: text, ...logprobs });
    const done = writeItem(asBlock(block, text), text, id, 'completed');
    const ended =
      said +
      closePart(block.kind, text, at) +
      event('response.output_item.done', { output_index: output.length, item: done });
    output.push(done);
    return rest + ended;
  }

  function closePart(kind: TextKind | 'call', text: string, at: Record<string, unknown>): string {
    if (kind === 'call') return '';
    if (kind === 'reasoning') {
      return event('response.reasoning_summary_part.done', { ...at, summary_index: 0, part: summaryPart(text) });
    }
    const part = kind === 'text' ? textPart(text) : refusalPart(text);
    return event('response.content_part.done', { ...at, content_index: 0, part });
  }

  return {
    // A comment: this protocol has no event for a sign of life.
    keepAlive: ': ping\n\n',
    forgets: [],
    begin() {
      const created = response({ status: 'in_progress', usage: null });
      return event('response.created', { response: created }) + event('response.in_progress', { response: created });
    },
    open,
    delta(text) {
      if (item === null) return '';
      return say(item, item.free === null ? text : item.free.push(text));
    },
    close,
    finish(found) {
      finish = found;
      if (found.explanation === null || found.explanation === '') return '';
      const opened = open({ kind: 'refusal' });
      const said = item === null ? '' : say(item, found.explanation);
      return opened + said + close();
    },
    end(usage) {
      const { status, incomplete_details } = writeStatus(finish, refused);
      const type = status === 'completed' ? 'response.completed' : 'response.incomplete';
      return event(type, { response: response({ status, incomplete_details, usage }) });
    },
    fail({ status, message, code }) {
      const error = { code: failedCode(status, code), message };
      const failed = response({ status: 'failed', error, usage: null });
      return event('response.failed', { response: failed, request_id: answerContext.context.requestId });
    },
  };
}

function writeStarted(block: { kind: TextKind } | ToolCall, id: string): Item {
  return writeItem(asBlock(block, ''), '', id, 'in_progress');
}

function asBlock(block: { kind: TextKind } | ToolCall, text: string) {
  return block.kind === 'call' ? block : { kind: block.kind, text };
}

interface EventWords {
  /** What the names of the item's events begin with. */
  stem: string;
  /** Where in the item the text stands. */
  place: Record<string, number>;
  /** The member of the closing event that holds the whole text. */
  field: string;
}

const WORDS: Readonly<Record<TextKind | 'call' | 'free-text', EventWords>> = {
  text: { stem: 'response.output_text', place: { content_index: 0 }, field: 'text' },
  refusal: { stem: 'response.refusal', place: { content_index: 0 }, field: 'refusal' },
  reasoning: { stem: 'response.reasoning_summary_text', place: { summary_index: 0 }, field: 'text' },
  call: { stem: 'response.function_call_arguments', place: {}, field: 'arguments' },
  'free-text': { stem: 'response.custom_tool_call_input', place: {}, field: 'input' },
};

function wordsOf(block: { kind: TextKind } | ToolCall): EventWords {
  return WORDS[block.kind === 'call' && isFreeText(block) ? 'free-text' : block.kind];
}
