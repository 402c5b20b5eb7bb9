import type { Readable } from 'node:stream';
import { freeBytes } from './free-bytes.ts';

/**
 * Reads a request's body into one buffer while it arrives. Each piece is copied and its memory freed at once: pieces
 * that wait for the last one are promoted to the old generation, and every few dozen large bodies would then cost a
 * full garbage collection.
 */
export interface IncomingBody {
  payload: Readable;
  /** Announced length; null for a chunked body. */
  announcedBytes: number | null;
  /** Called for each piece before it is stored; an error ends the reading. */
  takeRoom(bytes: number): Error | null;
  /** The error that ends a body which arrives too slowly. */
  tooSlow(): Error;
  floor?: BodyFloor;
}

/** Minimum rate of a body: `bytes` in each `everyMs`, or its end. */
export interface BodyFloor {
  bytes: number;
  everyMs: number;
}

/** About the speed of a modem; the duration of a whole request is limited by the server. */
export const defaultBodyFloor: BodyFloor = { bytes: 16_384, everyMs: 5_000 };

/** Initial capacity of a body of unknown length. */
const firstBytes = 16_384;
/** Maximum memory that is allocated for an announced body at once; beyond it, buffers grow as bytes arrive. */
const maxFirstBytes = 1_048_576;

/** Rejects with the error of `takeRoom` or `tooSlow`, or with that of the connection (status 400: the client left). */
export function readIncomingBody(incoming: IncomingBody): Promise<Buffer> {
  const { payload, announcedBytes, takeRoom, tooSlow, floor = defaultBodyFloor } = incoming;
  return new Promise((resolve, reject) => {
    let body = Buffer.allocUnsafe(announcedBytes === null ? 0 : Math.min(announcedBytes, maxFirstBytes));
    let length = 0;
    let lengthBefore = 0;

    const done = (): void => {
      clearInterval(timer);
      payload.off('data', take);
      payload.off('end', end);
      payload.off('error', fail);
    };
    const refuse = (error: Error): void => {
      done();
      freeBytes(body);
      reject(error);
    };
    const fail = (error: Error): void => {
      refuse(Object.assign(error, { statusCode: (error as { statusCode?: number }).statusCode ?? 400 }));
    };
    const timer = setInterval(() => {
      if (length - lengthBefore < floor.bytes) refuse(tooSlow());
      lengthBefore = length;
    }, floor.everyMs);
    timer.unref();
    const take = (piece: Buffer): void => {
      const refusal = takeRoom(piece.length);
      if (refusal !== null) {
        refuse(refusal);
        return;
      }
      if (length + piece.length > body.length) {
        const wanted = Math.max(firstBytes, body.length * 2, length + piece.length);
        const larger = Buffer.allocUnsafe(announcedBytes === null ? wanted : Math.min(wanted, announcedBytes));
        body.copy(larger, 0, 0, length);
        freeBytes(body);
        body = larger;
      }
      piece.copy(body, length);
      length += piece.length;
      freeBytes(piece);
    };
    const end = (): void => {
      done();
      const whole = length === body.length ? body : fitted(body.subarray(0, length));
      if (whole.buffer !== body.buffer) freeBytes(body);
      resolve(whole);
    };

    payload.on('data', take);
    payload.on('end', end);
    payload.on('error', fail);
    payload.resume();
  });
}

/** Trims a body's unused capacity; a large body gets a buffer of its own size, which can be freed. */
function fitted(body: Buffer): Buffer {
  if (body.length < firstBytes) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
