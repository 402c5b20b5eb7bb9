import { arrayOf, isObject, type ParsedObject, wordOf } from '../json.ts';
import { invalidPrompt, type VendorError } from '../prompt.ts';

/** Checks the turns of a chat completions request as the vendor does. */

function callIds(message: ParsedObject | undefined): string[] {
  return arrayOf(message?.['tool_calls'])
    .filter(isObject)
    .map((call) => wordOf(call['id']));
}

/**
 * The chat vendor's checks of a conversation: every call must be answered by the tool messages right after it, and no
 * tool message may stand alone. Applied under `strict` only.
 */
export function chatHistoryFault(messages: readonly unknown[]): VendorError | null {
  const known = messages.filter(isObject);
  let open: string[] = [];
  let answerable = new Set<string>();
  for (const [index, message] of known.entries()) {
    if (message['role'] === 'tool') {
      const id = wordOf(message['tool_call_id']);
      if (!answerable.has(id)) {
        return invalidPrompt(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          `messages.[${index}].role`,
        );
      }
      open = open.filter((other) => other !== id);
      continue;
    }
    if (open.length > 0) return unanswered(open, index);
    open = message['role'] === 'assistant' ? callIds(message) : [];
    answerable = new Set(open);
  }
  return open.length > 0 ? unanswered(open, known.length) : null;
}

function unanswered(ids: readonly string[], index: number): VendorError {
  return invalidPrompt(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`,
    `messages.[${index}].role`,
  );
}
