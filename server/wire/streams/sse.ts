import { Buffer } from 'node:buffer';
import { asBuffer } from '../json.ts';

/**
 * An incremental reader of event streams that works on bytes and keeps every event's own bytes.
 *
 * A native relay hands events out as they came, so the reader's product is a range of bytes; field names and data
 * are looked at beside it. Chunks may be split anywhere: inside a character, a line or a line ending. Lines end
 * with LF, CRLF or CR, and an event with an empty line.
 */

/** One event, or a run of comment lines that ends with an empty line. */
export interface SseEvent {
  /** What `start` and `end` point into; never written to again, so that ranges of it may be handed out. */
  bytes: Buffer;
  /** The whole event, its empty line included. */
  start: number;
  end: number;
  /** The `event` field, or null. */
  type: string | null;
  /** The `data` lines joined with LF; null when the event has none (comments, a lone `retry`). */
  data: Buffer | null;
  /** Where `data` starts in `bytes`; null when it is absent or was joined from several lines. */
  dataStart: number | null;
}

export interface SseSink {
  event(event: SseEvent): void;
  /**
   * Asked where an event begins: a sink that knows it by its bytes takes it at once and says where it ends (behind the
   * LF of its empty line). -1: it does not, and gets it as any other.
   */
  repeated?(bytes: Buffer, start: number): number;
  /**
   * A piece of an event that is larger than the limit, or has more lines than any: its bytes pass in order and unread.
   * `last` marks the piece that ends it.
   */
  oversized(bytes: Buffer, start: number, end: number, last: boolean): void;
}

export interface SseReader {
  write(chunk: Uint8Array): void;
  /** What is left of an event that never got its empty line; null when nothing is. Ends the reader. */
  end(): SseEvent | null;
  /** In the middle of an event of which a part has been handed out. */
  readonly inOversized: boolean;
}

const LF = 0x0a;
const CR = 0x0d;

/** Lines of one event that are read. JSON that is broken into lines has some hundred. */
const maxLines = 4_096;

/** Events larger than `maxEventBytes` are not read, which bounds memory and time per stream. */
export function createSseReader({ sink, maxEventBytes }: { sink: SseSink; maxEventBytes: number }): SseReader {
  return new Reader(sink, maxEventBytes);
}

class Reader implements SseReader {
  inOversized = false;
  private readonly sink: SseSink;
  private readonly maxEventBytes: number;
  /** The unfinished event's earlier bytes; a buffer of our own that is grown by doubling and given away when read. */
  private held: Buffer | null = null;
  private heldBytes = 0;
  private atStart = true;
  // Where the line machine stands. A CR ends a line, but whether an LF belongs to it shows only with the next byte.
  private lineIsEmpty = true;
  private afterCr = false;

  constructor(sink: SseSink, maxEventBytes: number) {
    this.sink = sink;
    this.maxEventBytes = maxEventBytes;
  }

  write(bytes: Uint8Array): void {
    const chunk = asBuffer(bytes);
    const { length } = chunk;
    let { lineIsEmpty, afterCr } = this;
    let start = afterCr || !lineIsEmpty ? 0 : this.skipRepeated(chunk, 0);
    for (let at = start; at < length; at += 1) {
      if (!afterCr) {
        // Most bytes are neither. A loop of its own: it writes nothing, and takes a third of the time.
        const within = at;
        while (at < length && (chunk[at] as number) > CR) at += 1;
        if (at > within) lineIsEmpty = false;
        if (at === length) break;
      }
      const byte = chunk[at] as number;
      if (byte === LF) {
        afterCr = false;
        if (lineIsEmpty) {
          this.finish(chunk, start, at + 1);
          start = this.skipRepeated(chunk, at + 1);
          at = start - 1;
        }
        lineIsEmpty = true;
        continue;
      }
      if (afterCr) {
        // The CR before stood alone; it ended its line, and the event if that line was empty.
        afterCr = false;
        if (lineIsEmpty) {
          this.finish(chunk, start, at);
          start = at;
        }
        lineIsEmpty = true;
      }
      if (byte === CR) afterCr = true;
      else lineIsEmpty = false;
    }
    this.lineIsEmpty = lineIsEmpty;
    this.afterCr = afterCr;
    this.keep(chunk, start);
  }

  end(): SseEvent | null {
    const { held, heldBytes } = this;
    if (held === null || heldBytes === 0) return null;
    const rest = parse(held, 0, heldBytes, this.takeStart());
    this.held = null;
    this.heldBytes = 0;
    return rest;
  }

  /** Holds the beginning of an event, or lets it pass when it is larger than any that is read. */
  private keep(chunk: Buffer, start: number): void {
    const { sink, held } = this;
    if (this.inOversized) {
      if (start < chunk.length) sink.oversized(chunk, start, chunk.length, false);
      return;
    }
    if (this.heldBytes + chunk.length - start <= this.maxEventBytes) {
      this.hold(chunk, start);
      return;
    }
    this.inOversized = true;
    this.atStart = false;
    if (held !== null) sink.oversized(held, 0, this.heldBytes, false);
    sink.oversized(chunk, start, chunk.length, false);
    this.held = null;
    this.heldBytes = 0;
  }

  private hold(chunk: Buffer, from: number): void {
    const more = chunk.length - from;
    if (more === 0) return;
    const { heldBytes } = this;
    let { held } = this;
    if (held === null || heldBytes + more > held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(512, (heldBytes + more) * 2));
      if (held !== null) held.copy(grown, 0, 0, heldBytes);
      held = grown;
      this.held = grown;
    }
    chunk.copy(held, heldBytes, from);
    this.heldBytes += more;
  }

  /** Ends the event that started at `start` (or in what is held) right before `end`. */
  private finish(chunk: Buffer, start: number, end: number): void {
    const { sink, heldBytes } = this;
    if (this.inOversized || heldBytes + end - start > this.maxEventBytes) {
      this.atStart = false;
      if (heldBytes > 0 && this.held !== null) sink.oversized(this.held, 0, heldBytes, false);
      sink.oversized(chunk, start, end, true);
      this.inOversized = false;
    } else if (heldBytes > 0) {
      this.hold(chunk.subarray(0, end), start);
      if (this.held !== null) handOver(sink, this.held, 0, this.heldBytes, this.takeStart());
    } else {
      handOver(sink, chunk, start, end, this.takeStart());
    }
    this.held = null;
    this.heldBytes = 0;
  }

  private takeStart(): boolean {
    const first = this.atStart;
    this.atStart = false;
    return first;
  }

  /** Hands over the events from `start` on that the sink knows; returns where they end. An event begins at `start`. */
  private skipRepeated(chunk: Buffer, start: number): number {
    const { sink } = this;
    if (sink.repeated === undefined || this.heldBytes > 0 || this.inOversized) return start;
    let end = start;
    for (;;) {
      const next = sink.repeated(chunk, end);
      if (next < 0) return end;
      end = next;
    }
  }
}

function handOver(sink: SseSink, bytes: Buffer, start: number, end: number, first: boolean): void {
  const event = parse(bytes, start, end, first);
  if (event === null) sink.oversized(bytes, start, end, true);
  else sink.event(event);
}

/**
 * Reads the fields of one event; null when it has too many lines. `first`: the stream's very first bytes, where a byte order
 * mark may stand.
 */
function parse(bytes: Buffer, start: number, end: number, first: boolean): SseEvent | null {
  let at = start;
  if (first && bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf) at += 3;
  let type: string | null = null;
  const lines: Buffer[] = [];
  let dataStart: number | null = null;
  for (let count = 0; at < end; count += 1) {
    if (count > maxLines) return null;
    const lineEnd = endOfLine(bytes, at, end);
    if (startsField(bytes, at, lineEnd, 'data')) {
      const from = valueStart(bytes, at + 4, lineEnd);
      dataStart = lines.length === 0 ? from : null;
      lines.push(bytes.subarray(from, lineEnd));
    } else if (startsField(bytes, at, lineEnd, 'event')) {
      type = bytes.toString('utf8', valueStart(bytes, at + 5, lineEnd), lineEnd);
    }
    at = lineEnd + (bytes[lineEnd] === CR && bytes[lineEnd + 1] === LF && lineEnd + 1 < end ? 2 : 1);
  }
  return { bytes, start, end, type, data: joinLines(lines), dataStart };
}

function joinLines(lines: readonly Buffer[]): Buffer | null {
  const [only] = lines;
  if (only === undefined || lines.length === 1) return only ?? null;
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [lineFeed, line])));
}

const lineFeed = Buffer.from('\n');

function endOfLine(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== LF && bytes[at] !== CR) at += 1;
  return at;
}

/** A field is its name, alone or before a colon. */
function startsField(bytes: Buffer, at: number, lineEnd: number, name: string): boolean {
  const after = at + name.length;
  if (after > lineEnd || (after < lineEnd && bytes[after] !== 0x3a)) return false;
  for (let index = 0; index < name.length; index += 1) {
    if (bytes[at + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}

/** One space after the colon is not part of the value. */
function valueStart(bytes: Buffer, afterName: number, lineEnd: number): number {
  if (afterName >= lineEnd) return lineEnd;
  return afterName + (bytes[afterName + 1] === 0x20 && afterName + 1 < lineEnd ? 2 : 1);
}

/** An event in the protocol's bytes. `data` must hold no line break, as JSON does not. */
export function sseEvent(type: string | null, data: string): string {
  return type === null ? `data: ${data}\n\n` : `event: ${type}\ndata: ${data}\n\n`;
}

/** The data with which chat completions end. Vendors of other protocols send it too, where it means nothing. */
export function isDone(data: Buffer): boolean {
  return data.length < 16 && data.toString('latin1').trim() === '[DONE]';
}
