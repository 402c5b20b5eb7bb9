import type { AnswerBlock, ToolCall } from '../dialogue/answers/answer.ts';
import { createFreeText } from '../dialogue/free-text.ts';

/** One item of a response's output, in the form that each protocol event and the whole answer share. */
export type Item = Record<string, unknown>;

const PREFIX = { text: 'msg', refusal: 'msg', reasoning: 'rs', call: 'fc' } as const;

/** The id of the item at that place of the output. */
export function itemId(kind: AnswerBlock['kind'], stem: string, index: number): string {
  return `${PREFIX[kind]}_${stem}_${index}`;
}

export function textPart(text: string): Item {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function refusalPart(refusal: string): Item {
  return { type: 'refusal', refusal };
}

export function summaryPart(text: string): Item {
  return { type: 'summary_text', text };
}

/** An item as it stands at its end; `text` is its text or its arguments. */
export function writeItem(
  block: AnswerBlock | ToolCall,
  text: string,
  id: string,
  status: 'in_progress' | 'completed' | 'incomplete',
): Item {
  if (block.kind === 'reasoning') return { id, type: 'reasoning', summary: text === '' ? [] : [summaryPart(text)] };
  if (block.kind === 'call') {
    const { id: call_id, name } = block;
    const within = block.namespace === undefined ? {} : { namespace: block.namespace };
    return isFreeText(block)
      ? { id, type: 'custom_tool_call', status, call_id, name, ...within, input: text }
      : { id, type: 'function_call', status, call_id, name, ...within, arguments: text };
  }
  const part = block.kind === 'text' ? textPart(text) : refusalPart(text);
  return { id, type: 'message', status, role: 'assistant', content: status === 'in_progress' ? [] : [part] };
}

/** The client knows the tool as one that takes free text. */
export function isFreeText(call: ToolCall): boolean {
  return call.custom || call.wrapped;
}

/** The arguments of a call as the client's tool takes them. */
export function callText(call: ToolCall, argumentsText: string): string {
  if (!call.wrapped) return argumentsText;
  const free = createFreeText();
  const pushed = free.push(argumentsText);
  return pushed + free.end();
}
