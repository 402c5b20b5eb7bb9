import { removeItems } from '../body.ts';
import { type JsonLimits, type JsonNode, leaf, listOf, scanJson, shape, textOf } from '../json.ts';
import type { Edit } from '../protocol.ts';
import { isMintedSignature } from './signature.ts';

/** The body has passed the request scan, whose limits are tighter. */
const LIMITS: JsonLimits = { maxDepth: 512, maxValues: 1_000_000, refuseDuplicates: false };
const SHAPE = shape({ messages: listOf(shape({ content: listOf(shape({ type: leaf, signature: leaf })) })) });
const MARK = Buffer.from('"gw1.');

/**
 * The edits that take out of a Messages body the thinking blocks which the gateway itself has signed, for a route
 * whose upstream speaks that protocol: a vendor refuses signatures that are not its own. Such blocks come from
 * clients that have changed the model in mid-conversation. Every other byte stays, other vendors' signatures too.
 */
export function mintedThinkingEdits(raw: Uint8Array): Edit[] {
  if (!Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).includes(MARK)) return [];
  const messages = scanJson(raw, SHAPE, LIMITS).members.get('messages')?.items ?? [];
  const isMinted = (block: JsonNode): boolean => {
    const signature = textOf(raw, block.members.get('signature'));
    return textOf(raw, block.members.get('type')) === 'thinking' && signature !== null && isMintedSignature(signature);
  };
  // A message must not be left without content; what held nothing but our own thinking goes altogether.
  const isEmptied = (message: JsonNode) => contentOf(message).length > 0 && contentOf(message).every(isMinted);
  return [
    ...removeItems(messages, isEmptied),
    ...messages
      .filter((message) => !isEmptied(message))
      .flatMap((message) => removeItems(contentOf(message), isMinted)),
  ];
}

function contentOf(message: JsonNode): readonly JsonNode[] {
  return message.members.get('content')?.items ?? [];
}
