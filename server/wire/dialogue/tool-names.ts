import { createHash } from 'node:crypto';
import { refuse } from './refusal.ts';

/** Longest tool name that each upstream protocol accepts. */
export const NAME_LIMIT = { messages: 128, 'chat-completions': 64, responses: 64 } as const;

/** Characters of a digest that keep shortened names apart. */
const DIGEST_LENGTH = 8;

/**
 * A name no longer than `limit`: its beginning, `_` and a digest of the whole. The same name always becomes the
 * same short one, so that the upstream's prompt cache keeps hitting.
 */
export function shortenName(name: string, limit: number): string {
  if (name.length <= limit) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
  return `${name.slice(0, limit - DIGEST_LENGTH - 1)}_${digest}`;
}

/** How the upstream's tool names lead back to the client's tools. */
export interface NamedTool {
  name: string;
  /** The client declared a free-text tool, which travels as a function with the one argument `input`. */
  freeText: boolean;
}

/**
 * The reverse map, built from the request's own tools.
 * Refuses two tools that would become one: a call could not be told to which it belongs.
 */
export function mapToolNames(
  tools: readonly { name: string; at: string; freeText: boolean }[],
  limit: number,
): Map<string, NamedTool> {
  const names = new Map<string, NamedTool>();
  for (const { name, at, freeText } of tools) {
    const short = shortenName(name, limit);
    const other = names.get(short);
    if (other !== undefined && other.name !== name)
      refuse(at, `its name cannot be told from that of "${other.name.slice(0, 64)}…"`);
    names.set(short, { name, freeText });
  }
  return names;
}
