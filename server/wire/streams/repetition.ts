import { Buffer } from 'node:buffer';
import { splice } from '../body.ts';
import { asBuffer, endOfEscape } from '../json.ts';
import type { Edit, Span } from '../protocol.ts';
import type { StreamOutput } from './output.ts';

/**
 * Most events of a stream are one text with another word in it. Once such an event has been read, the next ones are
 * compared with it instead: where every byte outside of the word is the same, they mean the same, and neither is
 * their JSON looked at nor anything made of them. Whatever differs (a finish reason, usage, another index) is read.
 */
export interface Repetition {
  /**
   * `event`: an event that was read, whole. `words`: within which strings (between their quotes) it may differ, in
   * order, and none of them touched by an edit. `edits`: what the client gets instead of some of its bytes.
   */
  learn(event: Uint8Array, words: readonly Span[], edits: readonly Edit[]): void;
  /** Where the event at `start` ends if it repeats the learned one; it was handed to the output and counted. Else -1. */
  take(bytes: Buffer, start: number): number;
}

interface Segment {
  /** What stands before a word, or after the last one. */
  text: Buffer;
  /** What the client gets for it. */
  shown: Buffer;
}

/** Events that are learned in vain (their id changes with each, say) before no more are. */
const patience = 16;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** `count` gets the bytes of the first word of each event. */
export function createRepetition(
  output: Pick<StreamOutput, 'range'>,
  count: { repeated(bytes: number): void },
): Repetition {
  return new LearnedEvent(output, count);
}

const none: readonly Segment[] = [];
/** Where the words of the event at hand start and end, in turn; of no meaning between two calls. */
const found: number[] = [];

class LearnedEvent implements Repetition {
  private readonly output: Pick<StreamOutput, 'range'>;
  private readonly count: { repeated(bytes: number): void };
  private segments: readonly Segment[] = none;
  private edited = false;
  private inVain = 0;

  constructor(output: Pick<StreamOutput, 'range'>, count: { repeated(bytes: number): void }) {
    this.output = output;
    this.count = count;
  }

  learn(event: Uint8Array, words: readonly Span[], edits: readonly Edit[]): void {
    if (this.inVain === patience) return;
    this.inVain += 1;
    this.edited = edits.length > 0;
    const segments: Segment[] = [];
    let from = 0;
    for (const { start, end } of [...words, { start: event.length, end: event.length }]) {
      const within = edits.filter((edit) => edit.start >= from && edit.end <= start);
      const text = Buffer.from(event.subarray(from, start));
      const shifted = within.map((edit) => ({ ...edit, start: edit.start - from, end: edit.end - from }));
      segments.push({ text, shown: asBuffer(splice(text, shifted)) });
      from = end;
    }
    this.segments = segments;
  }

  take(bytes: Buffer, start: number): number {
    const { segments } = this;
    if (segments.length === 0) return -1;
    const end = findWords(segments, bytes, start);
    if (end < 0) return -1;
    const { output } = this;
    this.inVain = 0;
    this.count.repeated((found[3] as number) - (found[2] as number));
    if (!this.edited) output.range(bytes, start, end);
    else {
      for (let index = 0; index < segments.length; index += 1) {
        if (index > 0) output.range(bytes, found[index * 2] as number, found[index * 2 + 1] as number);
        const { shown } = segments[index] as Segment;
        output.range(shown, 0, shown.length);
      }
    }
    return end;
  }
}

/** Where the event at `start` ends if it has these segments; -1: it has not. */
function findWords(segments: readonly Segment[], bytes: Buffer, start: number): number {
  let at = start;
  for (let index = 0; index < segments.length; index += 1) {
    if (index > 0) {
      const end = endOfString(bytes, at);
      if (end < 0) return -1;
      found[index * 2] = at;
      found[index * 2 + 1] = end;
      at = end;
    }
    const { text } = segments[index] as Segment;
    if (!standsAt(bytes, at, text)) return -1;
    at += text.length;
  }
  return at;
}

/** Whether the bytes at `at` are those of `text`. */
export function standsAt(bytes: Buffer, at: number, text: Buffer): boolean {
  if (at + text.length > bytes.length) return false;
  // From behind: what sets two events apart tends to stand at the end.
  for (let index = text.length - 1; index >= 0; index -= 1) {
    if (bytes[at + index] !== text[index]) return false;
  }
  return true;
}

/** Where the quote stands that ends the string; -1 when it is not there, or when something stands there that no string has. */
function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  while (at >= 0 && at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at;
    if (byte < 0x20) return -1;
    at = byte === BACKSLASH ? endOfEscape(bytes, at) : at + 1;
  }
  return -1;
}
