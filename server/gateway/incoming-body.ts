import type { Readable } from 'node:stream';
import { giveBack } from './give-back.ts';

/**
 * Reads a request's body into one buffer while it comes. Each piece is copied and its memory given back at once: pieces
 * that are kept until the last one has come outlive the collector's cheap rounds, and every few dozen large bodies then
 * cost a full collection of everything that this process knows.
 */
export interface IncomingBody {
  payload: Readable;
  /** Bytes that the request has announced; null when it comes in chunks of unknown number. */
  announcedBytes: number | null;
  /** Called before so many more bytes are kept; an error ends the reading. */
  takeRoom(moreBytes: number): Error | null;
}

/** A body that does not say its length takes its room in steps of this size. */
const stepBytes = 1_048_576;
/** What a body of unknown length begins with. */
const firstBytes = 16_384;

/** Rejects with what `takeRoom` said, or with the error of the connection (status 400: it was the client who left). */
export function readIncomingBody({ payload, announcedBytes, takeRoom }: IncomingBody): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body = Buffer.allocUnsafe(0);
    let length = 0;
    let room = 0;

    const done = (): void => {
      payload.off('data', take);
      payload.off('end', end);
      payload.off('error', fail);
    };
    const fail = (error: Error): void => {
      done();
      reject(Object.assign(error, { statusCode: (error as { statusCode?: number }).statusCode ?? 400 }));
    };
    /** False: there is none. */
    const haveRoom = (bytes: number): boolean => {
      if (bytes <= room) return true;
      const wanted = announcedBytes ?? Math.ceil(bytes / stepBytes) * stepBytes;
      const refusal = takeRoom(wanted - room);
      room = wanted;
      if (refusal === null) return true;
      done();
      reject(refusal);
      return false;
    };
    const take = (piece: Buffer): void => {
      if (!haveRoom(length + piece.length)) return;
      if (length + piece.length > body.length) {
        const larger = Buffer.allocUnsafe(Math.max(firstBytes, body.length * 2, length + piece.length));
        body.copy(larger, 0, 0, length);
        giveBack(body);
        body = larger;
      }
      piece.copy(body, length);
      length += piece.length;
      giveBack(piece);
    };
    const end = (): void => {
      done();
      const whole = length === body.length ? body : fitted(body.subarray(0, length));
      if (whole.buffer !== body.buffer) giveBack(body);
      resolve(whole);
    };

    if (announcedBytes !== null) {
      if (!haveRoom(announcedBytes)) return;
      body = Buffer.allocUnsafe(announcedBytes);
    }
    payload.on('data', take);
    payload.on('end', end);
    payload.on('error', fail);
    payload.resume();
  });
}

/** A body that was read into more room than it needs; a large one in memory of its own size, which can be given back. */
function fitted(body: Buffer): Buffer {
  if (body.length < firstBytes) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
