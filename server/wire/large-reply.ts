import { Buffer } from 'node:buffer';
import { asBuffer } from './json.ts';
import type { Edit } from './protocol.ts';
import { createStringSkip } from './string-skip.ts';

/**
 * Reads large answers that come in pieces without joining them. What decides about an answer (its model, its usage, its
 * form) is small, and nearly all of its bytes are long strings, or long lists of numbers where it has vectors: both are
 * cut, and what remains is scanned as a whole answer is.
 */

/** Bytes of a string that are kept, or a few more where the cut would be within an escape. */
const keptStringBytes = 1_024;
/** Bytes of a list of numbers that are not worth a cut. */
const keptListBytes = 1_024;
/** Bytes that are looked through in one turn of the event loop: about a millisecond. */
const sliceBytes = 2_097_152;

const quote = 0x22;
const comma = 0x2c;
const closingBracket = 0x5d;
const openingBracket = 0x5b;
const backslash = 0x5c;
const letterU = 0x75;
/** Bytes of an escape behind its backslash. */
const escapeBytes = 1;
const unicodeEscapeBytes = 5;

/** An answer whose long strings and lists of numbers are cut. It is JSON where the answer is, but for what was cut. */
export interface AnswerSkeleton {
  bytes: Buffer;
  /** Bytes of strings that were left out between two places of the skeleton. Asked for in ascending order. */
  cutBytesIn(start: number, end: number): number;
  /** Where in the answer the byte at this place of the skeleton is. */
  originOf(at: number): number;
}

/** Cuts a document that comes in pieces, one at a time. */
export const createSkeletonCutter = (): Pick<Cutter, 'write' | 'end'> => new Cutter();

/** Cuts the long strings and lists of numbers of a document that comes in pieces. */
class Cutter {
  private parts: Buffer[] = [];
  private length = 0;
  /** Strings that were cut: where each ends in the skeleton, and the bytes of all up to it. */
  private readonly strings: { at: number; bytes: number }[] = [];
  /** Of everything. */
  private leftOut = 0;
  private readonly cuts: { at: number; leftOut: number }[] = [];
  /** Bytes of the running string so far; -1 outside of strings. */
  private inString = -1;
  /** Bytes that still belong to the running escape; -1 right behind its backslash. */
  private escape = 0;
  /** The running string is being cut. */
  private isCutting = false;

  write(piece: Buffer): void {
    let from = 0;
    let at = 0;
    const keep = (end: number): void => {
      if (end === from) return;
      this.parts.push(piece.subarray(from, end));
      this.length += end - from;
    };
    while (at < piece.length) {
      if (this.inString < 0) {
        const next = piece.indexOf(quote, at);
        const end = next < 0 ? piece.length : next;
        for (const [start, rest] of longLists(piece, at, end)) {
          keep(start);
          this.leftOut += rest - start;
          this.cuts.push({ at: this.length, leftOut: this.leftOut });
          from = rest;
        }
        if (next < 0) break;
        at = next + 1;
        this.inString = 0;
      } else if (!this.isCutting) {
        at = this.shortString(piece, at);
        if (!this.isCutting) continue;
        keep(at);
        from = at;
      } else {
        at = this.restOfString(piece, at);
        this.cutString(at - from);
        this.leftOut += at - from;
        from = at;
        if (this.isCutting) break;
        this.cuts.push({ at: this.length, leftOut: this.leftOut });
      }
    }
    if (!this.isCutting) keep(piece.length);
  }

  end(): AnswerSkeleton {
    const { cuts, strings } = this;
    let asked = 0;
    const upTo = (at: number): number => {
      while ((strings[asked]?.at ?? Number.POSITIVE_INFINITY) < at) asked += 1;
      return strings[asked - 1]?.bytes ?? 0;
    };
    const bytes = Buffer.concat(this.parts, this.length);
    this.parts = [];
    return {
      bytes,
      cutBytesIn: (start, end) => {
        const before = upTo(start);
        return upTo(end) - before;
      },
      originOf: (at) => at + (cuts.findLast((cut) => cut.at <= at)?.leftOut ?? 0),
    };
  }

  private cutString(bytes: number): void {
    const last = this.strings.at(-1);
    if (last?.at === this.length) last.bytes += bytes;
    else this.strings.push({ at: this.length, bytes: (last?.bytes ?? 0) + bytes });
  }

  /** Steps over one byte of an escape. */
  private escaped(byte: number): void {
    if (this.escape < 0) this.escape = byte === letterU ? unicodeEscapeBytes : escapeBytes;
    this.escape -= 1;
  }

  /** Goes on to the string's end, to where it is to be cut, or to the end of the piece. */
  private shortString(piece: Buffer, start: number): number {
    let at = start;
    while (at < piece.length) {
      if (this.inString >= keptStringBytes && this.escape === 0 && piece[at] !== quote) {
        this.isCutting = true;
        return at;
      }
      const byte = piece[at] ?? 0;
      at += 1;
      this.inString += 1;
      if (this.escape !== 0) this.escaped(byte);
      else if (byte === backslash) this.escape = -1;
      else if (byte === quote) {
        this.inString = -1;
        return at;
      }
    }
    return at;
  }

  /** Goes on to the closing quote of a string that is cut, or to the end of the piece. */
  private restOfString(piece: Buffer, start: number): number {
    const skip = createStringSkip(piece);
    let at = start;
    while (at < piece.length) {
      if (this.escape !== 0) {
        this.escaped(piece[at] ?? 0);
        at += 1;
        continue;
      }
      at = skip(at);
      const byte = piece[at];
      if (byte === quote) {
        this.isCutting = false;
        // The string's last byte that is kept is its quote.
        this.inString = keptStringBytes;
        return at;
      }
      if (byte === backslash) this.escape = -1;
      // A control character: what reads the whole answer refuses it, and nothing here depends on it.
      if (byte !== undefined && (byte === backslash || byte < 0x20)) at += 1;
    }
    return at;
  }
}

/**
 * What can be left out of a stretch without strings: from behind a comma to behind a later one with no bracket between them.
 * Without strings there are no members, so such commas part the items of one list.
 */
function longLists(piece: Buffer, at: number, end: number): [start: number, end: number][] {
  const found: [number, number][] = [];
  for (let from = at; end - from > keptListBytes; ) {
    const stretch = piece.subarray(from, end);
    const closing = stretch.indexOf(closingBracket);
    const list = closing < 0 ? stretch : stretch.subarray(0, closing);
    if (list.length > keptListBytes) {
      const inner = list.lastIndexOf(openingBracket) + 1;
      const [first, last] = [list.indexOf(comma, inner) + 1, list.lastIndexOf(comma) + 1];
      if (first > 0 && last > first) found.push([from + first, from + last]);
    }
    from += list.length + 1;
  }
  return found;
}

/** The skeleton of an answer. `pause` is awaited between slices, so that the event loop goes on. */
export async function readSkeleton(pieces: readonly Uint8Array[], pause: () => Promise<void>): Promise<AnswerSkeleton> {
  const cutter = new Cutter();
  let slice = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += sliceBytes) {
      const part = asBuffer(piece).subarray(from, from + sliceBytes);
      cutter.write(part);
      slice += part.length;
      if (slice < sliceBytes) continue;
      slice = 0;
      await pause();
    }
  }
  return cutter.end();
}

/**
 * The beginning of a JSON document as a complete document: a string that is cut within a value ends there, and
 * everything that is open is closed behind the last whole value.
 */
export async function closeJson(bytes: Buffer, pause: () => Promise<void>): Promise<Buffer> {
  /** Closing brackets of what is open, the outermost first. */
  const open: string[] = [];
  /** Behind the last whole value. What is open changes there alone. */
  let wholeAt = 0;
  let inString = false;
  /** Where the running escape begins; -1 outside of escapes. */
  let escapeAt = -1;
  let escapeEnd = -1;
  /** A string is a value: behind a colon or in a list. */
  let isValue = false;
  for (let at = 0; at < bytes.length; at += 1) {
    if (at % sliceBytes === sliceBytes - 1) await pause();
    const byte = bytes[at];
    if (inString) {
      if (at < escapeEnd) {
        if (at === escapeAt + 1 && byte === letterU) escapeEnd = escapeAt + 2 + 4;
      } else if (byte === backslash) {
        escapeAt = at;
        escapeEnd = at + 2;
      } else if (byte === quote) inString = false;
      continue;
    }
    if (byte === quote) inString = true;
    else if (byte === 0x3a) isValue = true;
    else if (byte === 0x7b || byte === openingBracket) {
      open.push(byte === 0x7b ? '}' : ']');
      wholeAt = at + 1;
      isValue = byte === openingBracket;
    } else if (byte === 0x7d || byte === closingBracket) {
      open.pop();
      wholeAt = at + 1;
    } else if (byte === comma) {
      wholeAt = at;
      isValue = open.at(-1) === ']';
    }
  }
  if (!inString || !isValue) return Buffer.concat([bytes.subarray(0, wholeAt), Buffer.from(closingOf(open))]);
  const end = escapeEnd > bytes.length ? escapeAt : bytes.length;
  return Buffer.concat([bytes.subarray(0, end), Buffer.from(`"${closingOf(open)}`)]);
}

const closingOf = (open: readonly string[]): string => open.toReversed().join('');

/** Applies edits to a document in pieces: what stays is not copied. `edits` are in order and do not overlap. */
export function splicePieces(pieces: readonly Uint8Array[], edits: readonly Edit[]): Uint8Array[] {
  const spliced: Uint8Array[] = [];
  let next = 0;
  let start = 0;
  for (const piece of pieces) {
    const end = start + piece.length;
    let from = 0;
    for (let edit = edits[next]; edit !== undefined && edit.start < end; edit = edits[next]) {
      if (edit.start >= start) {
        if (edit.start - start > from) spliced.push(piece.subarray(from, edit.start - start));
        spliced.push(Buffer.from(edit.text));
      }
      from = Math.min(edit.end, end) - start;
      // The rest of the edit is in the next piece.
      if (edit.end > end) break;
      next += 1;
    }
    if (from < piece.length) spliced.push(piece.subarray(from));
    start = end;
  }
  return spliced;
}
