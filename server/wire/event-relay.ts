import { Buffer } from 'node:buffer';
import type { DataEvent } from './native.ts';
import type { StreamError, StreamState } from './protocol.ts';
import { createSseReader, type SseEvent } from './sse.ts';

/**
 * What the native streams of all protocols share: events go out in order and whole, most of them as the very bytes
 * that came in; nothing goes out before the answer has really begun, and nothing after it has ended.
 */

/** The answer has said how it ends, or has ended. */
type EndState = Extract<StreamState, 'finished' | 'terminated'>;

/** What a protocol decides about one event that carries data. */
export type Verdict =
  /** Out it goes, as it came. */
  | { kind: 'pass'; state?: EndState }
  /** Out goes something else in its place. */
  | { kind: 'replace'; with: Uint8Array; state?: EndState }
  /** The client did not ask for it. */
  | { kind: 'hide'; state?: EndState }
  /** A sign of life; no reason to believe that the answer has begun. */
  | { kind: 'idle' }
  /** The upstream's error; goes out as `with`, or as it came when that is null, unless nothing has gone out before. */
  | { kind: 'error'; error: StreamError; with: Uint8Array | null };

export interface Dialect {
  read(event: DataEvent): Verdict;
  /** Bytes of an event that is too big to be read. */
  unread(bytes: number): void;
}

export interface EventRelay {
  readonly state: StreamState;
  readonly error: StreamError | null;
  /** The upstream itself came to an end of its answer, whatever became of the stream afterwards. */
  readonly complete: boolean;
  write: (chunk: Uint8Array) => Uint8Array;
  end: () => Uint8Array;
  /** Ends the relay from our side; returns what must precede the ending so that it is an event of its own. */
  close(state: 'terminated' | 'failed'): string;
  /** In the middle of an event of which a part is out: nothing may be inserted now. */
  readonly inEvent: boolean;
}

/** Signs of life before the answer has begun are kept up to this size, to go out with its first event. */
const MAX_PRELUDE_BYTES = 65_536;

export const noBytes: Uint8Array = Buffer.alloc(0);

export function createEventRelay({ dialect, maxEventBytes }: { dialect: Dialect; maxEventBytes: number }): EventRelay {
  let state: StreamState = 'waiting';
  let error: StreamError | null = null;
  let complete = false;
  let prelude: Uint8Array[] = [];
  let preludeBytes = 0;
  let output = createOutput();

  const ended = (): boolean => error !== null || state === 'terminated' || state === 'failed';

  function open(): void {
    if (state !== 'waiting') return;
    state = 'open';
    for (const bytes of prelude) output.add(bytes);
    prelude = [];
  }

  /** Comments and pings: in order once the answer runs, kept back before. */
  function idle(event: SseEvent): void {
    if (state !== 'waiting') return output.range(event.bytes, event.start, event.end);
    const bytes = Buffer.from(event.bytes.subarray(event.start, event.end));
    preludeBytes += bytes.length;
    if (preludeBytes <= MAX_PRELUDE_BYTES) prelude.push(bytes);
  }

  function take(event: SseEvent): void {
    if (ended()) return;
    const { data } = event;
    if (data === null) return idle(event);
    const verdict = dialect.read(Object.assign(event, { data }));
    switch (verdict.kind) {
      case 'idle':
        return idle(event);
      case 'error':
        error = verdict.error;
        if (state === 'waiting') return;
        if (verdict.with === null) output.range(event.bytes, event.start, event.end);
        else output.add(verdict.with);
        state = 'failed';
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
    if (verdict.state === undefined) return;
    state = verdict.state;
    complete = true;
  }

  const reader = createSseReader({
    maxEventBytes,
    sink: {
      event: take,
      oversized(bytes, start, end) {
        if (ended()) return;
        open();
        dialect.unread(end - start);
        output.range(bytes, start, end);
      },
    },
  });

  return {
    get state() {
      return state;
    },
    get error() {
      return error;
    },
    get complete() {
      return complete;
    },
    get inEvent() {
      return reader.inOversized;
    },
    write(chunk) {
      reader.write(chunk);
      return output.take();
    },
    /**
     * An event that lacks only its empty line is completed. One that breaks off is dropped, as every reader of event
     * streams would: the client learns of the cut from the ending, not from half a JSON text.
     */
    end() {
      const rest = reader.end();
      if (rest === null || !isWhole(rest)) return noBytes;
      const { start, end } = rest;
      const missing = endsLine(rest) ? '\n' : '\n\n';
      const bytes = Buffer.concat([rest.bytes.subarray(start, end), Buffer.from(missing)]);
      take({ ...rest, bytes, start: 0, end: bytes.length });
      return output.take();
    },
    close(next) {
      state = next;
      prelude = [];
      output = createOutput();
      return reader.inOversized ? '\n\n' : '';
    },
  };
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

function endsLine({ bytes, end }: SseEvent): boolean {
  return bytes[end - 1] === 0x0a || bytes[end - 1] === 0x0d;
}

/** Gathers what goes out; neighbouring ranges stay one range, so that an untouched chunk goes out as itself. */
function createOutput() {
  let parts: Uint8Array[] = [];
  let source: Buffer | null = null;
  let from = 0;
  let to = 0;

  function flush(): void {
    if (source === null) return;
    parts.push(from === 0 && to === source.length ? source : source.subarray(from, to));
    source = null;
  }

  return {
    range(bytes: Buffer, start: number, end: number): void {
      if (source === bytes && to === start) {
        to = end;
        return;
      }
      flush();
      source = bytes;
      from = start;
      to = end;
    },
    add(bytes: Uint8Array): void {
      flush();
      parts.push(bytes);
    },
    take(): Uint8Array {
      flush();
      if (parts.length === 0) return noBytes;
      const [only] = parts;
      const all = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
      parts = [];
      return all;
    },
  };
}
