/**
 * The simulator's own tokenizer. It resembles the vendors' (about four bytes of prose) without being any of theirs: it
 * only has to be consistent between usage and `count_tokens`.
 */

// A short word with the blank before it, a run of punctuation or other letters, or a run of blanks.
const PIECE = /\s?[\p{Script=Latin}\p{N}_]{1,8}|\s?[^\s\p{Script=Latin}\p{N}_]{1,2}|\s+/gu;

/** Cuts generated text into tokens; joined again they are the text. `w0 w1 w2` is three tokens. */
export function cutIntoTokens(text: string): string[] {
  return text.match(PIECE) ?? [];
}

/** Tokens of text that was sent in. Works on the length alone, because contexts are megabytes. */
export function countInputTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** Tokens of one image of any size: within what the vendors charge for a large one. */
export const IMAGE_TOKENS = 1_200;

/** Tokens of one document: about a page for every 50 kB of its base64 text. */
export function countDocumentTokens(base64Bytes: number): number {
  return 1_500 * Math.max(1, Math.ceil(base64Bytes / 50_000));
}
