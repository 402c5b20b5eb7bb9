import { asBuffer } from '../json.ts';
import type { Span } from '../protocol.ts';

/**
 * Finds the requests of a batch in a body of the messages protocol: `{"requests": [ … ]}` and nothing beside it. Each is found by its
 * brackets alone, one at a time, so that a large body takes no long turn of the event loop; whether it is JSON is for its reader.
 */

/** Why a body holds no batch. The message never quotes it. */
export class BatchFault extends Error {
  override name = 'BatchFault';
}

const quote = 0x22;
const backslash = 0x5c;

export function* batchRequests(raw: Uint8Array): Generator<Span> {
  const bytes = asBuffer(raw);
  let at = 0;

  const blank = (): number => {
    for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[at])
      at += 1;
    return bytes[at] ?? -1;
  };
  const take = (char: string): void => {
    if (blank() !== char.charCodeAt(0))
      throw new BatchFault('The request body must be {"requests": [ … ]} and nothing else.');
    at += 1;
  };
  const string = (): void => {
    for (at += 1; ; ) {
      const end = bytes.indexOf(quote, at);
      if (end === -1) throw new BatchFault('The request body cannot be read: a text does not end.');
      let slashes = 0;
      while (bytes[end - 1 - slashes] === backslash) slashes += 1;
      at = end + 1;
      if (slashes % 2 === 0) return;
    }
  };

  take('{');
  blank();
  if (bytes.subarray(at, at + 10).toString('latin1') !== '"requests"') take('"requests"');
  at += 10;
  take(':');
  take('[');
  if (blank() === 0x5d) throw new BatchFault('requests: must have at least one request');
  for (;;) {
    if (blank() !== 0x7b) throw new BatchFault('requests: each must be an object');
    const start = at;
    let depth = 0;
    do {
      const byte = bytes[at];
      if (byte === undefined) throw new BatchFault('The request body cannot be read: it ends too early.');
      if (byte === quote) {
        string();
        continue;
      }
      if (byte === 0x7b || byte === 0x5b) depth += 1;
      else if (byte === 0x7d || byte === 0x5d) depth -= 1;
      at += 1;
    } while (depth > 0);
    yield { start, end: at };
    if (blank() === 0x5d) break;
    take(',');
  }
  take(']');
  take('}');
  if (blank() !== -1) take('');
}
