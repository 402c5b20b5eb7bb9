import { setTimeout as delay } from 'node:timers/promises';

/**
 * A stream of a few events with a pause before each but the first. It holds nothing; what reads it through a proxy sees
 * whether the proxy passes pieces on or collects them.
 */

export const piecesPath = '/healthz/stream';
export const pieceCount = 4;
/** Milliseconds between two pieces. */
export const pieceEveryMs = 150;

export async function* createPieces(): AsyncGenerator<string> {
  for (let piece = 1; piece <= pieceCount; piece += 1) {
    if (piece > 1) await delay(pieceEveryMs);
    yield `event: piece\ndata: {"piece":${piece},"of":${pieceCount}}\n\n`;
  }
}
