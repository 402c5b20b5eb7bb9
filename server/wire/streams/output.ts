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
  return new Output();
}

/** A class, as all that a waiting stream keeps: a closure for each member takes several times the memory. */
class Output implements StreamOutput {
  private source: Buffer | null = null;
  private from = 0;
  private to = 0;
  private gathered: Buffer | null = null;
  private length = 0;
  private expected = 0;

  private copy(bytes: Uint8Array, start: number, end: number): void {
    const more = end - start;
    const { length } = this;
    let { gathered } = this;
    if (gathered === null || length + more > gathered.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.expected, (length + more) * 2));
      if (gathered !== null) gathered.copy(larger, 0, 0, length);
      gathered = larger;
      this.gathered = larger;
    }
    if (more <= SHORT_BYTES)
      for (let at = start; at < end; at += 1) gathered[length + at - start] = bytes[at] as number;
    else gathered.set(bytes.subarray(start, end), length);
    this.length = length + more;
  }

  range(bytes: Buffer, start: number, end: number): void {
    const { source } = this;
    if (this.gathered !== null) this.copy(bytes, start, end);
    else if (source === null) {
      this.source = bytes;
      this.from = start;
      this.to = end;
    } else if (source === bytes && this.to === start) this.to = end;
    else {
      this.copy(source, this.from, this.to);
      this.source = null;
      this.copy(bytes, start, end);
    }
  }

  expect(bytes: number): void {
    this.expected = bytes;
  }

  add(bytes: Uint8Array): void {
    this.range(asBuffer(bytes), 0, bytes.length);
  }

  take(): Uint8Array {
    const all = this.gathered?.subarray(0, this.length) ?? this.whole() ?? noBytes;
    this.source = null;
    this.gathered = null;
    this.length = 0;
    return all;
  }

  private whole(): Buffer | undefined {
    const { source, from, to } = this;
    if (source === null) return undefined;
    return from === 0 && to === source.length ? source : source.subarray(from, to);
  }
}
