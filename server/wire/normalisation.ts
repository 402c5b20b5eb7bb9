import { Buffer, isAscii } from 'node:buffer';

/**
 * What a tokenizer that normalises its text first may add to it. A token stands for a byte of the text at least, but of the
 * normalised one: `NFKC` makes thirty-three bytes of the three of U+FDFA, and no other form that tokenizers use makes more.
 * https://www.unicode.org/reports/tr15/
 */

/** Longer texts are not normalised here: they count with the most that normalising can make of them. */
const maxBytes = 1_048_576;
const mostGrowth = 10;
/** Escapes of characters that grow; the others of six bytes do not. */
const growing = /\\u(?:3[23]|f[bd])/gi;
/** 33 bytes less the six of the escape. */
const growthOfEscape = 27;

/**
 * Bytes that normalising a body's text may add. `textBytes`: those of them that are text. `hasEscapes`: as the scan met
 * them; to look for them here would take longer than the scan.
 */
export function expandedBytes(body: Buffer, textBytes: number, hasEscapes: boolean): number {
  const isPlain = isAscii(body);
  if (isPlain && !hasEscapes) return 0;
  if (body.length > maxBytes) return isPlain ? growthOfEscapes(body) : mostGrowth * textBytes;
  const escapes = hasEscapes ? growthOfEscapes(body) : 0;
  if (isPlain) return escapes;
  return escapes + Math.max(0, Buffer.byteLength(body.toString('utf8').normalize('NFKC')) - body.length);
}

function growthOfEscapes(body: Buffer): number {
  let count = 0;
  for (const _ of body.toString('latin1').matchAll(growing)) count += 1;
  return count * growthOfEscape;
}
