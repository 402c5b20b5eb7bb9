import { Buffer } from 'node:buffer';
import { asBuffer } from '../json.ts';

/** Bytes of a stream on their way out: gathered without a buffer for each piece. */

export const noBytes: Uint8Array = Buffer.alloc(0);
/** Up to so many bytes are copied one by one, which is faster than a call into the runtime. */
const SHORT_BYTES = 48;

/** What goes out of a stream for one piece that came in. */
export interface StreamOutput {
  range(bytes: Buffer, start: number, end: number): void;
  /** What is about to come is made of so many bytes. */
  expect(bytes: number): void;
  add(bytes: Uint8Array): void;
  take(): Uint8Array;
}

/**
 * Gathers what goes out. Neighbouring ranges stay one range, so that an untouched chunk goes out as itself; as soon as
 * something else comes in between, everything is copied behind one another, each byte once.
 */
export function createOutput(): StreamOutput {
  let source: Buffer | null = null;
  let from = 0;
  let to = 0;
  let gathered: Buffer | null = null;
  let length = 0;
  let expected = 0;

  function copy(bytes: Uint8Array, start: number, end: number): void {
    const more = end - start;
    if (gathered === null || length + more > gathered.length) {
      const larger = Buffer.allocUnsafe(Math.max(expected, (length + more) * 2));
      if (gathered !== null) gathered.copy(larger, 0, 0, length);
      gathered = larger;
    }
    if (more <= SHORT_BYTES)
      for (let at = start; at < end; at += 1) gathered[length + at - start] = bytes[at] as number;
    else gathered.set(bytes.subarray(start, end), length);
    length += more;
  }

  function range(bytes: Buffer, start: number, end: number): void {
    if (gathered !== null) return copy(bytes, start, end);
    if (source === null) {
      source = bytes;
      from = start;
      to = end;
    } else if (source === bytes && to === start) to = end;
    else {
      copy(source, from, to);
      source = null;
      copy(bytes, start, end);
    }
  }

  function whole(): Buffer | undefined {
    if (source === null) return undefined;
    return from === 0 && to === source.length ? source : source.subarray(from, to);
  }

  return {
    range,
    expect(bytes: number): void {
      expected = bytes;
    },
    add(bytes: Uint8Array): void {
      range(asBuffer(bytes), 0, bytes.length);
    },
    take(): Uint8Array {
      const all = gathered?.subarray(0, length) ?? whole() ?? noBytes;
      source = null;
      gathered = null;
      length = 0;
      return all;
    },
  };
}
