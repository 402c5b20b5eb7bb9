import { Buffer } from 'node:buffer';
import type { Edit, Span, StreamError, StreamState } from '../protocol.ts';
import { createOutput, noBytes } from './output.ts';
import { createRepetition } from './repetition.ts';
import { createSseReader, type SseEvent } from './sse.ts';

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
  write: (chunk: Uint8Array) => Uint8Array;
  end: () => Uint8Array;
  /** Ends the relay from our side; returns what must precede the ending so that it is an event of its own. */
  close(state: 'terminated' | 'failed'): string;
  /** In the middle of an event of which a part is out: nothing may be inserted now. */
  inEvent(): boolean;
}

/** Signs of life before the answer has begun are kept up to this size, to go out with its first event. */
const MAX_PRELUDE_BYTES = 65_536;

const LF = 0x0a;
const CR = 0x0d;

export interface EventRelayParts {
  reader: EventReader;
  maxEventBytes: number;
}

export function createEventRelay({ reader, maxEventBytes }: EventRelayParts): EventRelay {
  let prelude: Uint8Array[] = [];
  let preludeBytes = 0;
  const output = createOutput();
  const repetition = createRepetition({ output, count: (bytes) => reader.repeated(bytes) });

  const ended = (): boolean => relay.error !== null || relay.state === 'terminated' || relay.state === 'failed';

  function open(): void {
    if (relay.state !== 'waiting') return;
    relay.state = 'open';
    for (const bytes of prelude) output.add(bytes);
    prelude = [];
  }

  /** Comments and pings: in order once the answer runs, kept back before. */
  function idle(event: SseEvent): void {
    if (relay.state !== 'waiting') return output.range(event.bytes, event.start, event.end);
    const bytes = Buffer.from(event.bytes.subarray(event.start, event.end));
    preludeBytes += bytes.length;
    if (preludeBytes <= MAX_PRELUDE_BYTES) prelude.push(bytes);
  }

  function take(event: SseEvent): void {
    if (ended()) return;
    relay.events += 1;
    const { data } = event;
    if (data === null) return idle(event);
    const verdict = reader.read(Object.assign(event, { data }));
    switch (verdict.kind) {
      case 'idle':
        return idle(event);
      case 'error':
        relay.error = verdict.error;
        if (relay.state === 'waiting') return;
        if (verdict.with === null) output.range(event.bytes, event.start, event.end);
        else output.add(verdict.with);
        relay.state = 'failed';
        return;
      case 'pass':
        open();
        output.range(event.bytes, event.start, event.end);
        break;
      case 'replace':
        open();
        output.add(verdict.with);
        break;
      case 'hide':
        break;
    }
    if (verdict.state !== undefined) {
      relay.state = verdict.state;
      relay.complete = true;
    } else if (verdict.kind !== 'hide') learn(event, verdict);
  }

  function learn({ bytes, start, end, dataStart }: SseEvent, verdict: Extract<Verdict, { words?: Words }>): void {
    const { words } = verdict;
    const edits = verdict.kind === 'pass' ? [] : verdict.edits;
    if (words == null || edits === undefined || dataStart === null || bytes[end - 1] !== LF) return;
    const shift = dataStart - start;
    const within = words.map((word) => ({ start: word.start + 1 + shift, end: word.end - 1 + shift }));
    repetition.learn(bytes.subarray(start, end), within, edits);
  }

  const events = createSseReader({
    maxEventBytes,
    sink: {
      event: take,
      repeated: (bytes, start) => (relay.state === 'open' ? repetition.take(bytes, start) : -1),
      oversized(bytes, start, end) {
        if (ended()) return;
        open();
        reader.unread(end - start);
        output.range(bytes, start, end);
      },
    },
  });

  const relay: { -readonly [K in keyof EventRelay]: EventRelay[K] } = {
    state: 'waiting',
    error: null,
    complete: false,
    events: 0,
    inEvent: () => events.inOversized,
    write(chunk) {
      output.expect(chunk.length);
      events.write(chunk);
      return output.take();
    },
    /**
     * An event that lacks only its empty line is completed. One that breaks off is dropped, as every reader of event
     * streams would: the client learns of the cut from the ending, not from half a JSON text.
     */
    end() {
      const rest = events.end();
      if (rest === null || !isWhole(rest)) return noBytes;
      const { start, end } = rest;
      const missing = missingEnd(rest);
      const bytes = Buffer.concat([rest.bytes.subarray(start, end), Buffer.from(missing)]);
      take({ ...rest, bytes, start: 0, end: bytes.length });
      return output.take();
    },
    close(next) {
      relay.state = next;
      prelude = [];
      output.take();
      return events.inOversized ? '\n\n' : '';
    },
  };
  return relay;
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
