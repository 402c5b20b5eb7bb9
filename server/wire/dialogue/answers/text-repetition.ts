import { Buffer, isUtf8 } from 'node:buffer';
import { standsAt } from '../../streams/repetition.ts';
import type { SseEvent } from '../../streams/sse.ts';

/**
 * Most events of a stream are the one before with another word in it. Once such an event has been read, the next ones are compared
 * with it instead: where every byte outside of the word is the same, nothing but the word is new, and neither is their JSON parsed nor
 * their meaning looked for. It holds for the very next event only: another one in between may change what the same bytes mean.
 */

/** Where the word stands in an event that repeats the learned one, and where that ends. */
export interface RepeatedWord {
  start: number;
  end: number;
  /** Bytes of the text that the JSON stands for. */
  textBytes: number;
  /** Where the event ends. */
  eventEnd: number;
}

/** What was learned is compared with no more than so many events that were learned in vain: each of them has its own id, say. */
const patience = 16;
/** A string that means nothing: vendors vary its length, so that pieces do not tell theirs. */
const meaninglessName = Buffer.from('"obfuscation":"');

const LF = 0x0a;
const QUOTE = 0x22;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const SMALL_U = 0x75;

export class TextRepetition {
  /** What stands around the words; empty: nothing is learned. */
  private segments: Buffer[] = [];
  private inVain = 0;
  /** Escaped characters of the last string that was looked through. */
  private escapes = 0;
  /** One for all that are found: it is read before the next is looked for. */
  private readonly found: RepeatedWord = { start: 0, end: 0, textBytes: 0, eventEnd: 0 };

  forget(): void {
    if (this.segments.length > 0) this.segments = [];
  }

  /** `text`: the one thing that the event said. True: what repeats the event is found. */
  learn({ bytes, start, end, data, dataStart }: SseEvent, text: string): boolean {
    if (this.inVain === patience || data === null || dataStart === null || bytes[end - 1] !== LF) return false;
    this.inVain += 1;
    // Strings have one spelling then, so that what is spelled like the text and stands there once is the text.
    if (hasOtherSpellings(data) || !isUtf8(data)) return false;
    const word = Buffer.from(JSON.stringify(text));
    const at = data.indexOf(word);
    if (at < 0 || data.indexOf(word, at + 1) >= 0) return false;
    const wordStart = dataStart + at + 1;
    const wordEnd = wordStart + word.length - 2;
    const cuts = [start, wordStart, wordEnd];
    const name = bytes.indexOf(meaninglessName, wordEnd);
    if (name >= 0 && name < end) {
      const from = name + meaninglessName.length;
      const to = this.endOfWord(bytes, from);
      if (to < 0) return false;
      cuts.push(from, to);
    }
    cuts.push(end);
    this.segments = [];
    for (let index = 0; index < cuts.length; index += 2)
      this.segments.push(Buffer.from(bytes.subarray(cuts[index], cuts[index + 1])));
    return true;
  }

  /** The word of the event at `start`, if it repeats the learned one and says anything. Valid until the next call. */
  find(bytes: Buffer, start: number): RepeatedWord | null {
    const { segments, found } = this;
    let at = start;
    for (let index = 0; index < segments.length; index += 1) {
      if (index > 0) {
        const end = this.endOfWord(bytes, at);
        if (end < 0) return null;
        if (index === 1) {
          if (end === at) return null;
          found.start = at;
          found.end = end;
          found.textBytes = end - at - this.escapes;
        }
        at = end;
      }
      const segment = segments[index] as Buffer;
      if (!standsAt(bytes, at, segment)) return null;
      at += segment.length;
    }
    if (at === start) return null;
    found.eventEnd = at;
    this.inVain = 0;
    return found;
  }

  /**
   * Where the quote stands that ends the string; -1 when it is not there, or when the string is spelled otherwise than the gateway
   * spells strings.
   */
  private endOfWord(bytes: Buffer, from: number): number {
    let isAscii = true;
    this.escapes = 0;
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) return isAscii || isUtf8(bytes.subarray(from, at)) ? at : -1;
      if (byte < 0x20) return -1;
      if (byte >= 0x80) isAscii = false;
      if (byte === BACKSLASH) {
        at += 1;
        if (!shortEscapes.has(bytes[at])) return -1;
        this.escapes += 1;
      }
    }
    return -1;
  }
}

/** `\"`, `\\`, `\b`, `\f`, `\n`, `\r` and `\t`, which `JSON.stringify` writes as well. */
const shortEscapes: ReadonlySet<number | undefined> = new Set(Buffer.from('"\\bfnrt'));

/** Whether characters are escaped that need not be. */
function hasOtherSpellings(data: Buffer): boolean {
  for (let at = data.indexOf(BACKSLASH); at >= 0; at = data.indexOf(BACKSLASH, at + 2)) {
    if (data[at + 1] === SMALL_U || data[at + 1] === SLASH) return true;
  }
  return false;
}
