import type { CpuSlices } from '../load/cpu-shares.ts';

/**
 * Counts tokens with a published tokenizer, in slices of a few milliseconds and within a budget of CPU time.
 *
 * A tokenizer's time is quadratic in the length of a run without blanks, and customers choose the text: 32,768 Chinese
 * characters take seconds. Such a run is cut, which adds a token at each cut and so errs on the high side. Text beyond
 * the CPU budget is estimated by its bytes.
 */

/** Longer runs without a blank are cut. */
const pieceLength = 128;
/** The rest of a longer text is estimated from the part that was counted: about the context of the largest models. */
const maxCounted = 1_000_000;
/** Bytes per token of the rest beyond `maxCounted`. */
const bytesPerTokenBeyond = 3;
/**
 * Bytes per token of the rest beyond the CPU budget: texts of every script have fewer tokens (a Chinese character has
 * three bytes).
 */
const bytesPerTokenUncounted = 2;

/** Control tokens of other vendors' models are plain text here. */
const plainText = { disallowedSpecial: new Set<string>() };

/** Loads the tokenizer's tables: a quarter of a second of CPU time in one piece, to be spent before a process takes requests. */
export async function loadTokenizer(): Promise<void> {
  await import('gpt-tokenizer/encoding/o200k_base');
}

export async function tokenize(texts: Iterable<string>, turns: CpuSlices): Promise<number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  let tokens = 0;
  let counted = 0;
  let countedBytes = 0;
  let uncountedBytes = 0;
  let mayCount = await turns.next();
  for (const text of texts) {
    let at = 0;
    while (mayCount && at < text.length && counted < maxCounted) {
      const end = endOfPiece(text, at);
      tokens += countTokens(text.slice(at, end), plainText);
      counted += end - at;
      at = end;
      if (turns.isOver()) mayCount = await turns.next();
    }
    countedBytes += Buffer.byteLength(at === text.length ? text : text.slice(0, at));
    if (at < text.length) uncountedBytes += Buffer.byteLength(text.slice(at));
    if (turns.isOver()) mayCount = (await turns.next()) && mayCount;
  }
  turns.end();
  const least = 1 / (mayCount ? bytesPerTokenBeyond : bytesPerTokenUncounted);
  const density = Math.max(least, countedBytes === 0 ? 0 : tokens / countedBytes);
  return tokens + Math.ceil(uncountedBytes * density);
}

/** The last blank within `pieceLength`, where tokenizers cut anyway; else the hard limit. */
function endOfPiece(text: string, at: number): number {
  const limit = at + pieceLength;
  if (limit >= text.length) return text.length;
  const blank = text.lastIndexOf(' ', limit);
  return blank > at ? blank : limit;
}
