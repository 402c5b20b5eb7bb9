/** The messages vendor's checks of a conversation. */

import { arrayOf, isObject, type ParsedObject, wordOf } from '../json.ts';
import { invalidPrompt, type VendorError } from '../prompt.ts';
import type { ReadRules } from './dialect.ts';

const TOOL_ID = /^[a-zA-Z0-9_-]+$/;
const MAX_MARKS = 4;

type Check = (
  block: ParsedObject,
  path: string,
  message: ParsedObject,
  before: ParsedObject | undefined,
) => VendorError | null;

function blocksOf(message: ParsedObject | undefined): ParsedObject[] {
  return arrayOf(message?.['content']).filter(isObject);
}

function idsOf(message: ParsedObject | undefined, type: string, member: string): Set<unknown> {
  const found = blocksOf(message).filter((block) => block['type'] === type);
  return new Set(found.map((block) => block[member]));
}

function signatureFault(rules: ReadRules): Check {
  return (block, path) => {
    if (block['type'] !== 'thinking' || typeof block['signature'] !== 'string') return null;
    if (rules.signatures.isOwn(wordOf(block['thinking']), block['signature'])) return null;
    return invalidPrompt(`${path}: Invalid signature in thinking block`);
  };
}

const emptyText: Check = (block, path) =>
  block['type'] === 'text' && block['text'] === ''
    ? invalidPrompt(`${path}.text: messages: text content blocks must be non-empty`)
    : null;

const toolIdFault: Check = (block, path) => {
  const id = block['type'] === 'tool_use' ? block['id'] : block['type'] === 'tool_result' ? block['tool_use_id'] : null;
  if (id === null || (typeof id === 'string' && TOOL_ID.test(id))) return null;
  const member = block['type'] === 'tool_use' ? 'tool_use.id' : 'tool_result.tool_use_id';
  return invalidPrompt(`${path}.${member}: String should match pattern '${TOOL_ID.source}'`);
};

const orphanResult: Check = (block, path, _message, before) => {
  if (block['type'] !== 'tool_result' || idsOf(before, 'tool_use', 'id').has(block['tool_use_id'])) return null;
  return invalidPrompt(
    `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${wordOf(block['tool_use_id'])}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
  );
};

/** Results come first in their message: the vendor reads anything before them as "no results". */
const lateResult: Check = (block, path, message) => {
  const blocks = blocksOf(message);
  if (block['type'] !== 'tool_result') return null;
  const before = blocks.slice(0, blocks.indexOf(block));
  return before.every((other) => other['type'] === 'tool_result')
    ? null
    : invalidPrompt(`${path}: \`tool_result\` blocks must come first in the content of a user message`);
};

function unansweredCall(messages: readonly ParsedObject[]): VendorError | null {
  for (const [index, message] of messages.entries()) {
    const next = messages[index + 1];
    if (next === undefined) continue;
    const results = idsOf(next, 'tool_result', 'tool_use_id');
    const open = [...idsOf(message, 'tool_use', 'id')].filter((id) => !results.has(id));
    if (open.length > 0) {
      return invalidPrompt(
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
  }
  return null;
}

function countMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countMarks(item), 0);
  return isObject(value) ? Number(isObject(value['cache_control'])) + countMarks(value['content']) : 0;
}

function roleFault(messages: readonly unknown[]): VendorError | null {
  const at = messages.findIndex(
    (message) => !isObject(message) || !['user', 'assistant', 'system'].includes(wordOf(message['role'])),
  );
  return at < 0 ? null : invalidPrompt(`messages.${at}.role: Input should be 'user' or 'assistant'`);
}

/**
 * The messages vendor's checks of a conversation. Foreign signatures are always refused; the pairing of calls and
 * results, empty blocks and ids only under `strict`, because a person at a terminal may leave half of it out.
 */
export function messagesHistoryFault(messages: readonly unknown[], rules: ReadRules): VendorError | null {
  const role = roleFault(messages);
  if (role !== null) return role;
  const known = messages.filter(isObject);
  const checks = rules.strict
    ? [signatureFault(rules), emptyText, toolIdFault, orphanResult, lateResult]
    : [signatureFault(rules)];
  for (const [index, message] of known.entries()) {
    for (const [at, block] of blocksOf(message).entries()) {
      for (const check of checks) {
        const failure = check(block, `messages.${index}.content.${at}`, message, known[index - 1]);
        if (failure !== null) return failure;
      }
    }
  }
  if (!rules.strict) return null;
  const marks = countMarks(known);
  if (marks > MAX_MARKS) {
    return invalidPrompt(`A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${marks}.`);
  }
  return unansweredCall(known);
}
