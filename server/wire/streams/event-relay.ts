import { Buffer } from 'node:buffer';
import type { Edit, Span, StreamError, StreamState } from '../protocol.ts';
import { createOutput, noBytes } from './output.ts';
import { createRepetition, type Repetition } from './repetition.ts';
import { createSseReader, type SseEvent, type SseReader, type SseSink } from './sse.ts';

/**
 * What the native streams of all protocols share: events go out in order and whole, most of them as the very bytes
 * that came in; nothing goes out before the answer has really begun, and nothing after it has ended.
 */

/** The answer has said how it ends, or has ended. */
type EndState = Extract<StreamState, 'finished' | 'terminated'>;

/**
 * Strings of the event's data, quotes included: an event that differs in nothing but these means the same. The first
 * of them is generated content, which `repeated` counts.
 */
export type Words = readonly Span[] | null;

/** An event that carries data. */
export type DataEvent = SseEvent & { data: Buffer };

/** What a protocol decides about one event that carries data. */
export type Verdict =
  /** Out it goes, as it came. */
  | { kind: 'pass'; state?: EndState; words?: Words }
  /** Out goes something else in its place; `edits` make it of the event's bytes, if they do. */
  | { kind: 'replace'; with: Uint8Array; edits?: readonly Edit[]; state?: EndState; words?: Words }
  /** The client did not ask for it. */
  | { kind: 'hide'; state?: EndState }
  /** A sign of life; no reason to believe that the answer has begun. */
  | { kind: 'idle' }
  /** The upstream's error; goes out as `with`, or as it came when that is null, unless nothing has gone out before. */
  | { kind: 'error'; error: StreamError; with: Uint8Array | null };

export interface EventReader {
  read(event: DataEvent): Verdict;
  /** Bytes of content in an event that is as the last one of which `words` were given, but for these. */
  repeated(bytes: number): void;
  /** Bytes of an event that is too big to be read. */
  unread(bytes: number): void;
}

export interface EventRelay {
  readonly state: StreamState;
  readonly error: StreamError | null;
  /** The upstream itself came to an end of its answer, whatever became of the stream afterwards. */
  readonly complete: boolean;
  /** Events so far, less those that repeat the one before with another word. */
  readonly events: number;
  write(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
  /** Ends the relay from our side; returns what must precede the ending so that it is a separate event. */
  close(state: 'terminated' | 'failed'): string;
  /** In the middle of an event of which a part is out: nothing may be inserted now. */
  inEvent(): boolean;
}

/** Signs of life before the answer has begun are kept up to this size, to go out with its first event. */
const MAX_PRELUDE_BYTES = 65_536;

const noPrelude: Uint8Array[] = [];

const LF = 0x0a;
const CR = 0x0d;

export interface EventRelayParts {
  reader: EventReader;
  maxEventBytes: number;
}

export function createEventRelay({ reader, maxEventBytes }: EventRelayParts): EventRelay {
  return new Relay(reader, maxEventBytes);
}

class Relay implements EventRelay, SseSink {
  state: StreamState = 'waiting';
  error: StreamError | null = null;
  complete = false;
  events = 0;
  private readonly reader: EventReader;
  private readonly output = createOutput();
  private readonly repetition: Repetition;
  private readonly source: SseReader;
  private prelude: Uint8Array[] = noPrelude;
  private preludeBytes = 0;

  constructor(reader: EventReader, maxEventBytes: number) {
    this.reader = reader;
    this.repetition = createRepetition(this.output, reader);
    this.source = createSseReader({ sink: this, maxEventBytes });
  }

  write(chunk: Uint8Array): Uint8Array {
    this.output.expect(chunk.length);
    this.source.write(chunk);
    return this.output.take();
  }

  /**
   * An event that lacks only its empty line is completed. One that breaks off is dropped, as every reader of event
   * streams would: the client learns of the cut from the ending, not from half a JSON text.
   */
  end(): Uint8Array {
    const rest = this.source.end();
    if (rest === null || !isWhole(rest)) return noBytes;
    const { start, end } = rest;
    const missing = missingEnd(rest);
    const bytes = Buffer.concat([rest.bytes.subarray(start, end), Buffer.from(missing)]);
    this.event({ ...rest, bytes, start: 0, end: bytes.length });
    return this.output.take();
  }

  close(next: 'terminated' | 'failed'): string {
    this.state = next;
    this.prelude = noPrelude;
    this.output.take();
    return this.source.inOversized ? '\n\n' : '';
  }

  inEvent(): boolean {
    return this.source.inOversized;
  }

  event(event: SseEvent): void {
    if (this.isEnded()) return;
    this.events += 1;
    const { data } = event;
    if (data === null) return this.idle(event);
    const verdict = this.reader.read(Object.assign(event, { data }));
    switch (verdict.kind) {
      case 'idle':
        return this.idle(event);
      case 'error':
        this.error = verdict.error;
        if (this.state === 'waiting') return;
        if (verdict.with === null) this.output.range(event.bytes, event.start, event.end);
        else this.output.add(verdict.with);
        this.state = 'failed';
        return;
      case 'pass':
        this.open();
        this.output.range(event.bytes, event.start, event.end);
        break;
      case 'replace':
        this.open();
        this.output.add(verdict.with);
        break;
      case 'hide':
        break;
    }
    if (verdict.state !== undefined) {
      this.state = verdict.state;
      this.complete = true;
    } else if (verdict.kind !== 'hide') this.learn(event, verdict);
  }

  repeated(bytes: Buffer, start: number): number {
    return this.state === 'open' ? this.repetition.take(bytes, start) : -1;
  }

  oversized(bytes: Buffer, start: number, end: number): void {
    if (this.isEnded()) return;
    this.open();
    this.reader.unread(end - start);
    this.output.range(bytes, start, end);
  }

  private isEnded(): boolean {
    return this.error !== null || this.state === 'terminated' || this.state === 'failed';
  }

  private open(): void {
    if (this.state !== 'waiting') return;
    this.state = 'open';
    for (const bytes of this.prelude) this.output.add(bytes);
    this.prelude = noPrelude;
  }

  /** Comments and pings: in order once the answer runs, kept back before. */
  private idle(event: SseEvent): void {
    if (this.state !== 'waiting') return this.output.range(event.bytes, event.start, event.end);
    const bytes = Buffer.from(event.bytes.subarray(event.start, event.end));
    this.preludeBytes += bytes.length;
    if (this.preludeBytes > MAX_PRELUDE_BYTES) return;
    if (this.prelude === noPrelude) this.prelude = [];
    this.prelude.push(bytes);
  }

  private learn({ bytes, start, end, dataStart }: SseEvent, verdict: Extract<Verdict, { words?: Words }>): void {
    const { words } = verdict;
    const edits = verdict.kind === 'pass' ? [] : verdict.edits;
    if (words == null || edits === undefined || dataStart === null || bytes[end - 1] !== LF) return;
    const shift = dataStart - start;
    const within = words.map((word) => ({ start: word.start + 1 + shift, end: word.end - 1 + shift }));
    this.repetition.learn(bytes.subarray(start, end), within, edits);
  }
}

/** Whether an event that lacks its empty line carries complete data. */
function isWhole(event: SseEvent): boolean {
  if (event.data === null) return false;
  const text = event.data.toString('utf8').trim();
  if (text === '[DONE]') return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What lacks of an event's empty line. A CR at the end of an empty line completes it: no LF has to belong to it. */
function missingEnd({ bytes, start, end }: SseEvent): string {
  const last = bytes[end - 1];
  if (last === LF) return '\n';
  if (last !== CR) return '\n\n';
  const before = end - 2 >= start ? bytes[end - 2] : undefined;
  return before === CR || before === LF ? '' : '\r';
}
