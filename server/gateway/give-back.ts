/** Less than this is not worth the call. */
const leastBytes = 4_096;

/**
 * Gives the memory of bytes back at once. Left to the collector, contexts of a megabyte pile up by the hundred before it
 * looks, and each new one is written to memory that the processor has to fetch first.
 *
 * Only for whoever made the bytes, and only when nobody reads them any more: no code, and no write to a socket either,
 * because a write that the system has not taken whole still reads there. Afterwards they are of length 0. Bytes that
 * share their memory with others are left alone.
 */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= leastBytes && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
