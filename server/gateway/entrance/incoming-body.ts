import type { Readable } from 'node:stream';
import { freeBytes } from '../load/free-bytes.ts';
import type { LoopBudget } from '../load/loop-budget.ts';

/**
 * Reads a request's body while it arrives, within a budget for each turn of the event loop. Each piece is copied and its
 * memory freed at once: pieces that wait for the last one are promoted to the old generation, and every few dozen large
 * bodies would then cost a full garbage collection.
 */
export interface IncomingBody {
  payload: Readable;
  /** Announced length; null for a chunked body. */
  announcedBytes: number | null;
  /** Called for each piece before it is stored; an error ends the reading. */
  takeRoom(bytes: number): Error | null;
  /** The error that ends a body which arrives too slowly. */
  tooSlow(): Error;
  /** Shared by all bodies of this process. */
  budget: LoopBudget;
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
/** Memory is allocated in blocks of at most this size as bytes arrive: an announced length costs at most one. */
const blockBytes = 1_048_576;

/** Rejects with the error of `takeRoom` or `tooSlow`, or with that of the connection (status 400: the client left). */
export function readIncomingBody(incoming: IncomingBody): Promise<Buffer> {
  const { payload, announcedBytes, takeRoom, tooSlow, budget, floor = defaultBodyFloor } = incoming;
  return new Promise((resolve, reject) => {
    /** Blocks that are full, and the one that is being filled. */
    const full: Buffer[] = [];
    let block = Buffer.allocUnsafe(announcedBytes === null ? 0 : Math.min(announcedBytes, blockBytes));
    let used = 0;
    let length = 0;
    let lengthBefore = 0;
    let isOver = false;

    const done = (): void => {
      isOver = true;
      clearInterval(timer);
      payload.off('data', take);
      payload.off('end', end);
      payload.off('error', fail);
    };
    const refuse = (error: Error): void => {
      done();
      budget.freeLater([...full, block]);
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
    const waitForBudget = async (): Promise<void> => {
      payload.pause();
      await budget.next();
      if (!isOver) payload.resume();
    };
    const nextBlock = (): void => {
      if (used > 0) full.push(block);
      const rest =
        announcedBytes === null ? Math.max(firstBytes, length) : Math.max(firstBytes, announcedBytes - length);
      block = Buffer.allocUnsafeSlow(Math.min(rest, blockBytes));
      used = 0;
    };
    const take = (piece: Buffer): void => {
      const refusal = takeRoom(piece.length);
      if (refusal !== null) {
        refuse(refusal);
        return;
      }
      for (let at = 0; at < piece.length; ) {
        if (used === block.length) nextBlock();
        const copied = piece.copy(block, used, at);
        at += copied;
        used += copied;
        length += copied;
      }
      const isWithin = budget.spend(piece.length);
      freeBytes(piece);
      if (!isWithin) void waitForBudget();
    };
    const end = (): void => {
      done();
      if (full.length === 0 && (used === block.length || used < firstBytes)) resolve(block.subarray(0, used));
      else void joined([...full, block], length, budget).then(resolve, reject);
    };

    payload.on('data', take);
    payload.on('end', end);
    payload.on('error', fail);
    payload.resume();
  });
}

/** One buffer of its own size, which can be freed. The blocks are used up. */
async function joined(blocks: readonly Buffer[], length: number, budget: LoopBudget): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const block of blocks) {
    const copied = block.copy(whole, at, 0, length - at);
    at += copied;
    const isWithin = budget.spend(copied);
    budget.freeLater([block]);
    if (!isWithin) await budget.next();
  }
  return whole;
}
