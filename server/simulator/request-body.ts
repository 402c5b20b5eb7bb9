/** Reads request bodies, up to a limit or an early answer. */

import type { IncomingMessage } from 'node:http';

/** A request body as far as it was received. */
export type ReadBody =
  | { kind: 'complete'; body: Buffer }
  /** The answer is due before the end of the body: it is too large, or the script demands it. */
  | { kind: 'early'; body: Buffer; status: number }
  /** The client disconnected while sending. */
  | { kind: 'left'; body: Buffer };

/** `[[early CODE]]` is looked for in so many first bytes; scanning all of a huge upload would be a waste. */
const EARLY_BYTES = 64 * 1024;
const EARLY = /\[\[early (\d{3})\]\]/;

/** Reads a body up to `maxBytes`; beyond that, or on `[[early CODE]]`, it stops reading and the rest stays in the socket. */
export function readBody({ request, maxBytes }: { request: IncomingMessage; maxBytes: number }): Promise<ReadBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const body = (): Buffer => Buffer.concat(chunks);
    const early = (status: number): void => {
      request.pause();
      request.off('data', take);
      resolve({ kind: 'early', body: body(), status });
    };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      const scanned = bytes < EARLY_BYTES ? EARLY.exec(body().toString('latin1'))?.[1] : undefined;
      bytes += chunk.length;
      if (scanned !== undefined) early(Number(scanned));
      else if (bytes > maxBytes) early(413);
    };
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return early(413);
    request.on('data', take);
    request.on('end', () => resolve({ kind: 'complete', body: body() }));
    // Also emitted after a normal end, when the promise has long been settled.
    request.on('close', () => resolve({ kind: 'left', body: body() }));
  });
}
