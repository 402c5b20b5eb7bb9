/** Freeing smaller buffers costs more than it saves. */
const minBytes = 4_096;

/**
 * Frees the memory of bytes at once. Otherwise hundreds of contexts of a megabyte pile up before the garbage collector
 * runs, and each new one is written to memory outside of the processor's cache.
 *
 * Only the owner of the bytes may call it, and only when nothing reads them any more, sockets included: a pending write
 * still reads them. Afterwards their length is 0. Bytes that share their buffer with others are left alone.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= minBytes && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
