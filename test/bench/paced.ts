import { connect, type Socket } from 'node:net';
import { requestBytes } from './http-reader.ts';
import type { Load } from './wrk.ts';

/**
 * Holds a number of streams of which each sends a piece every few milliseconds, as models do, and measures how they arrive.
 * Sockets read into one buffer and nothing is parsed: at a few thousand pieces a second a client library would need more of the
 * machine than what is measured.
 */

/** Milliseconds, but for the counts. */
export interface Paced {
  /** Streams that came to their end in the measured time. */
  requests: number;
  /** Pieces of them that arrived, as reads of the socket: one each, unless the gateway was late. */
  pieces: number;
  /** From the request to the first bytes of its answer's body. */
  firstByteP50: number;
  firstByteP99: number;
  /** Between two pieces of a stream. */
  gapP50: number;
  gapP99: number;
  gapMax: number;
  /** Streams that broke, or had another status. */
  errors: number;
}

const bodyEnd = Buffer.from('0\r\n\r\n');
const headEnd = Buffer.from('\r\n\r\n');

export interface PacedLoad extends Omit<Load, 'connections' | 'keys'> {
  streams: number;
  /** The streams begin one after the other within so long; left out: all in one moment. Before that nothing is measured. */
  withinMs?: number;
}

/** Runs `streams` streams at once for so many seconds, each followed by the next on its connection. */
export async function drivePaced(load: PacedLoad): Promise<Paced> {
  const request = requestBytes(load.url, load.path, load.headers, Buffer.from(load.body));
  const { hostname, port } = new URL(load.url);
  const firstBytes: number[] = [];
  const gaps: number[] = [];
  const sockets = new Set<Socket>();
  const tally = { requests: 0, errors: 0 };
  const { withinMs = 0 } = load;
  let on = true;
  let isMeasured = withinMs === 0;

  const open = (): void => {
    let sentAt = 0;
    let lastAt = 0;
    let isHeaded = false;
    const ask = (): void => {
      lastAt = 0;
      isHeaded = false;
      sentAt = performance.now();
      socket.write(request);
    };
    const read = (length: number, buffer: Uint8Array): boolean => {
      const bytes = Buffer.from(buffer.buffer, buffer.byteOffset, length);
      const now = performance.now();
      if (lastAt > 0) {
        if (isMeasured) gaps.push(now - lastAt);
      } else {
        if (!isHeaded && bytes.toString('latin1', 9, 12) !== '200') tally.errors += 1;
        // The head may come by itself.
        const isHead = !isHeaded && bytes.indexOf(headEnd) + headEnd.length === length;
        isHeaded = true;
        if (isHead) return true;
        if (isMeasured) firstBytes.push(now - sentAt);
      }
      lastAt = now;
      if (!bytes.subarray(-bodyEnd.length).equals(bodyEnd)) return true;
      tally.requests += 1;
      if (on) ask();
      return true;
    };
    const socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: { buffer: Buffer.alloc(65_536), callback: read },
    });
    sockets.add(socket);
    socket.on('connect', ask);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      if (on) tally.errors += 1;
    });
  };
  for (let index = 0; index < load.streams; index += 1) {
    open();
    if (withinMs > 0) await new Promise((resolve) => setTimeout(resolve, withinMs / load.streams));
  }
  isMeasured = true;
  await new Promise((resolve) => setTimeout(resolve, load.seconds * 1_000));
  on = false;
  const { requests, errors } = tally;
  for (const socket of sockets) socket.destroy();
  const atShare = shares(firstBytes);
  const gapAt = shares(gaps);
  return {
    requests,
    pieces: firstBytes.length + gaps.length,
    firstByteP50: atShare(0.5),
    firstByteP99: atShare(0.99),
    gapP50: gapAt(0.5),
    gapP99: gapAt(0.99),
    gapMax: gapAt(1),
    errors,
  };
}

function shares(values: number[]): (share: number) => number {
  const sorted = Float64Array.from(values).sort();
  return (share) => sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0;
}
