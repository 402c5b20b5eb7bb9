import type { ImageForm } from '../core/image-price.ts';
import type { ToolImageTokens } from '../core/tokens.ts';
import type { JsonNode } from './json.ts';
import type { Served } from './served.ts';

/** Counts generated content by its JSON, as the estimate of an answer whose usage is not known. */

/** Generated content seen so far. */
export interface Generated {
  bytes: number;
  pieces: number;
  /** Searches that the vendor made, where they are items of the answer. */
  searches?: number;
  /** Images that the vendor made, likewise. */
  images?: number;
  /** What each of them is, where the answer says it. */
  imageForm?: ImageForm;
  /** What it says that images of a tool took; left out: nothing. */
  toolImages?: ToolImageTokens;
  /** Why the answer ended, in the upstream's word. */
  finish?: string;
  /** What it says that it was served with; read only where something was asked for. */
  served?: Served;
}

/** A string that is not empty. */
export function isSaid(node: JsonNode | undefined): boolean {
  return node?.kind === 'string' && node.end - node.start > 2;
}

/** A member by which a vendor says nothing: null, false, or an empty string, list or object. */
export function isNothing(node: JsonNode | undefined): boolean {
  if (node === undefined || node.kind === 'null' || node.kind === 'false') return true;
  if (node.kind === 'string') return !isSaid(node);
  return (node.kind === 'object' || node.kind === 'array') && node.end - node.start <= 2;
}

/** Counts a string's bytes between the quotes, escapes included: near enough for an estimate, and no decoding. */
export function countText(generated: Generated, node: JsonNode | undefined): void {
  if (node?.kind !== 'string') return;
  count(generated, node.end - node.start - 2);
}

/** Counts any value by its JSON, an empty container as nothing. */
export function countJson(generated: Generated, node: JsonNode | undefined): void {
  if (node === undefined || node.kind === 'null') return;
  if (node.kind === 'string') return countText(generated, node);
  const bytes = node.end - node.start;
  if (bytes > 2) count(generated, bytes);
}

/** Counts one piece of so many bytes. */
export function count(generated: Generated, bytes: number): void {
  if (bytes === 0) return;
  generated.bytes += bytes;
  generated.pieces += 1;
}

/**
 * The strings of an event that the next one may have others for: the one that was counted first, then those that mean
 * nothing. Null when something else was counted than one of `candidates`, or nothing.
 */
export function wordsOf(
  pieces: number,
  candidates: readonly (JsonNode | undefined)[],
  meaningless: JsonNode | undefined,
): readonly JsonNode[] | null {
  const full = candidates.filter(isSaid);
  const [word] = full;
  if (pieces !== 1 || full.length !== 1 || word === undefined) return null;
  if (meaningless === undefined) return [word];
  return meaningless.kind === 'string' && meaningless.start > word.end ? [word, meaningless] : null;
}
