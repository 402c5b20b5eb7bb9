/** Giving back less costs more than it saves. */
const minBytes = 4_096;

/**
 * Gives the memory of bytes back at once. Left to the collector, contexts of a megabyte pile up by the hundred before it
 * runs, and each new one is written to memory that is not in the processor's cache.
 *
 * Only the maker of the bytes may call it, and only when nothing reads them any more, sockets included: a write that the
 * system has not taken whole still reads there. Afterwards they are of length 0. Bytes that share their memory with others
 * are left alone.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= minBytes && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
