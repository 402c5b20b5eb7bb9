import { createHash } from 'node:crypto';
import type { OwnTool, Tool } from './dialogue.ts';
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

/**
 * How the upstream's tool names lead back to the client's tools. Refuses two tools that would become one: a call would not
 * say which of them it is for.
 */
export function mapToolNames(tools: readonly Tool[], limit: number): Map<string, OwnTool> {
  const names = new Map<string, OwnTool>();
  for (const tool of tools) {
    const own = (tool.kind === 'function' ? tool.own : undefined) ?? {
      name: tool.name,
      namespace: null,
      freeText: false,
    };
    const short = shortenName(tool.name, limit);
    const other = names.get(short);
    if (other !== undefined && (other.name !== own.name || other.namespace !== own.namespace))
      refuse(tool.at, `its name cannot be told from that of "${other.name.slice(0, 64)}…"`);
    names.set(short, own);
  }
  return names;
}

/** The name under which a tool of a namespace travels: the other protocols have one list of names. */
export function nameWithin(namespace: string | null, name: string): string {
  return namespace === null || namespace === '' ? name : `${namespace}__${name}`;
}
