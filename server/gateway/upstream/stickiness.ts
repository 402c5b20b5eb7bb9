import { createHash } from 'node:crypto';
import type { RequestFacts, Span } from '../../wire/protocol.ts';

/** Computes the text by which a conversation keeps its route, so that the vendor's prompt cache is hit. */

/** Enough to distinguish prompts; vendors cache only prompts of several times this length. */
const lengthBytes = 512;
/** Includes text that is removed from a beginning before it is cut to `lengthBytes`. */
const windowBytes = 2 * lengthBytes;
/** A coding agent's first line, which differs in every request. */
const billingHeader = /"x-anthropic-billing-header:[^"]*"/g;

/**
 * A text that is constant through a conversation: the account, the instructions and the first message. Later messages
 * are excluded, however short the first one is: the text must not change when the conversation grows.
 */
export function stickiness(accountId: string, raw: Uint8Array, { members }: Pick<RequestFacts, 'members'>): string {
  const hash = createHash('sha256').update(accountId);
  const add = (name: string, text: string): void => void hash.update(`\n${name} ${text}`);
  for (const name of ['system', 'instructions']) {
    const span = members.get(name);
    if (span !== undefined) {
      add(name, beginning(raw, span, windowBytes).replaceAll(billingHeader, '').slice(0, lengthBytes));
    }
  }
  for (const name of ['messages', 'input']) {
    const span = members.get(name);
    if (span !== undefined) add(name, firstItem(beginning(raw, span, lengthBytes)));
  }
  return hash.digest('base64');
}

function beginning(raw: Uint8Array, { start, end }: Span, most: number): string {
  return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1', start, Math.min(end, start + most));
}

/** The first object of a (possibly truncated) JSON list; any other value unchanged. */
function firstItem(json: string): string {
  if (!json.startsWith('[')) return json;
  let depth = 0;
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*(?:"|$)|[[\]{}]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else continue;
    if (depth === 1 && token === '}') return json.slice(0, index + 1);
  }
  return json;
}
