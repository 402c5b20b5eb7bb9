import { variantWord } from '../core/price-variants.ts';
import type { RequestFacts } from './protocol.ts';

/**
 * Tiers, speeds and regions: the words that a request asks for, and those in which its answer says what was served. Both are words
 * of `core/price-variants.ts`.
 */

/** What an answer says that it was served with, by the member of the request. */
export interface Served {
  service_tier?: string;
  speed?: string;
  inference_geo?: string;
}

/** The members whose words are prices. */
export const servedMembers = ['service_tier', 'speed', 'inference_geo'] as const;

/**
 * OpenAI renamed its priority processing: both words ask for the same, and answers have the one or the other.
 * https://developers.openai.com/api/docs/guides/fast-mode
 */
const synonyms: ReadonlyMap<string, string> = new Map([['priority', 'fast']]);

/**
 * The ordinary tier, speed and region in the words of vendors: https://openrouter.ai/docs/guides/features/service-tiers,
 * https://platform.claude.com/docs/en/api/messages (`usage`), https://console.groq.com/docs/service-tiers
 */
const ordinary: ReadonlySet<string> = new Set([
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'global',
  'not_available',
]);

/** The word of a member's value; null: no price can have a variant for it. */
export function askedWord(value: string | null): string | null {
  if (value === null || !variantWord.test(value)) return null;
  return synonyms.get(value) ?? value;
}

/** Whether the request asks for something that its answer may have been served without. */
export function asksForVariant(gates: RequestFacts['gates']): boolean {
  return gates.some(({ variant }) => variant !== undefined);
}

/**
 * The words that were served of those that the request asked for; null: the answer says of none of them. What it leaves out, or
 * leaves to the vendor (`auto`: the echo of a request), counts as asked.
 */
export function servedWords({ gates }: Pick<RequestFacts, 'gates'>, said: Served | undefined): string[] | null {
  if (said === undefined) return null;
  let isSaid = false;
  const words: string[] = [];
  for (const member of servedMembers) {
    const asked = gates.find(({ name }) => name === member)?.variant;
    if (asked === undefined) continue;
    const word = said[member];
    if (word === undefined || word === 'auto' || word === '') {
      words.push(asked);
      continue;
    }
    isSaid = true;
    if (!ordinary.has(word)) words.push(synonyms.get(word) ?? word);
  }
  return isSaid ? words : null;
}

/** Adds what a usage object says of the messages protocol, or the object of another one. */
export function addServed(served: Served | undefined, said: unknown): Served | undefined {
  if (typeof said !== 'object' || said === null) return served;
  let next = served;
  for (const member of servedMembers) {
    const word: unknown = Reflect.get(said, member);
    if (typeof word === 'string') next = { ...next, [member]: word };
  }
  return next;
}
