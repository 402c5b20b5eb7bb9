import { setImmediate as breathe } from 'node:timers/promises';

/**
 * Counts tokens with a published tokenizer, in pieces so small that nothing else has to wait for them.
 *
 * The time a tokenizer takes grows with the square of a stretch without blanks, and a customer chooses the text: a piece
 * of 32,768 Chinese characters takes seconds. Cutting such a stretch costs a token at each cut, which errs on the high
 * side.
 */

/** Longer stretches without a blank are cut. */
const pieceLength = 128;
/** After so many characters other work gets its turn; at worst that is a few milliseconds. */
const turnLength = 2_048;
/** A call costs about as much as so many characters. */
const callLength = 8;
/** The rest of a longer text is estimated from the part that was counted: about the context of the largest models. */
const mostCounted = 1_000_000;
/** The least that the rest is taken for, in tokens per character. */
const leastDensity = 1 / 3;

/** Words that control other vendors' models are plain text here. */
const plainText = { disallowedSpecial: new Set<string>() };

export async function tokenize(texts: Iterable<string>): Promise<number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  let tokens = 0;
  let counted = 0;
  let uncounted = 0;
  let turn = 0;
  for (const text of texts) {
    for (let at = 0; at < text.length; ) {
      if (counted >= mostCounted) {
        uncounted += text.length - at;
        break;
      }
      const end = endOfPiece(text, at);
      tokens += countTokens(text.slice(at, end), plainText);
      counted += end - at;
      turn += end - at + callLength;
      at = end;
      if (turn >= turnLength) {
        turn = 0;
        await breathe();
      }
    }
  }
  return tokens + Math.ceil(uncounted * Math.max(leastDensity, counted === 0 ? 0 : tokens / counted));
}

/** The last blank within reach, where tokenizers cut anyway; else the hard limit. */
function endOfPiece(text: string, at: number): number {
  const limit = at + pieceLength;
  if (limit >= text.length) return text.length;
  const blank = text.lastIndexOf(' ', limit);
  return blank > at ? blank : limit;
}
