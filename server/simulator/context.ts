/** Splits a request into the segments that the cache and the token counter see. */

import { createHash } from 'node:crypto';
import { isObject, type ParsedObject, wordOf } from './json.ts';
import type { Segment } from './prompt.ts';
import { countDocumentTokens, countInputTokens, IMAGE_TOKENS } from './tokens.ts';

/** The cost of a message besides its text: its role and its delimiters. */
const MESSAGE_TOKENS = 4;

function markOf(value: unknown): Segment['mark'] {
  if (!isObject(value)) return null;
  return value['ttl'] === '1h' ? '1h' : '5m';
}

/** The marker of a block, whichever of the two vendors' names it has. */
function cacheMark(block: unknown): Segment['mark'] {
  if (!isObject(block)) return null;
  return markOf(block['cache_control'] ?? block['prompt_cache_breakpoint']);
}

function stripMarks(block: unknown): unknown {
  if (!isObject(block)) return block;
  const { cache_control: _marker, prompt_cache_breakpoint: _breakpoint, ...rest } = block;
  return rest;
}

/** Tokens and stand-in text of inline media; null when the block is not media. */
function media(block: ParsedObject): { text: string; tokens: number } | null {
  const type = wordOf(block['type']);
  const image = /image/.test(type);
  if (!image && !/^(document|file|input_file)$/.test(type)) return null;
  const source = isObject(block['source']) ? block['source'] : null;
  // A document of plain text counts as the text it is.
  if (!image && (source?.['type'] === 'text' || source?.['type'] === 'content')) return null;
  const content = JSON.stringify(stripMarks(block));
  return {
    text: createHash('sha256').update(content).digest('base64'),
    tokens: image ? IMAGE_TOKENS : countDocumentTokens(content.length),
  };
}

/** One block of the context as the cache and the counter see it. */
export function segmentOf(kind: string, block: unknown): Segment {
  const found = isObject(block) ? media(block) : null;
  if (found !== null) return { text: `${kind} ${found.text}`, tokens: found.tokens, mark: cacheMark(block) };
  const bare = isObject(block) && block['type'] === 'text' ? block['text'] : stripMarks(block);
  const text = typeof bare === 'string' ? bare : JSON.stringify(bare);
  return { text: `${kind} ${text}`, tokens: countInputTokens(text), mark: cacheMark(block) };
}

/** The segments of one message: its blocks, with the message's own cost on the first. */
export function segmentsOfMessage(role: string, content: unknown): Segment[] {
  const blocks = Array.isArray(content) ? content : [content ?? ''];
  const segments = blocks.map((block) => segmentOf(role, block));
  const [first] = segments;
  if (first !== undefined) first.tokens += MESSAGE_TOKENS;
  return segments;
}

/** The plain text of a message's content, blocks joined by line breaks. `types` are the block types that carry text. */
export function textOfContent(content: unknown, types: readonly string[]): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter(isObject)
    .filter((block) => types.includes(wordOf(block['type'])) && typeof block['text'] === 'string')
    .map((block) => block['text'])
    .join('\n');
}
