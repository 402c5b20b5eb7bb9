import { randomFillSync } from 'node:crypto';

/** Recognises UUIDs: ids arrive as text, and PostgreSQL fails to compare a UUID with anything else. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

const pool = Buffer.allocUnsafe(8192);
let used = pool.length;

/** How far a clock may be set back without a break in the order; behind a larger step, ids begin anew at the clock's time. */
const maxSetBackMs = 1_000;
/** The 12 bits between the time and the random part count ids of one millisecond (RFC 9562, section 6.2, method 1). */
const counters = 0x1000;
let lastMs = 0;
let counter = 0;

/**
 * A UUIDv7 (RFC 9562): milliseconds first, so that ids sort by time and the ledger can be partitioned by them. Of two
 * ids of this process the later one is the greater one, in one millisecond as well: lists sort by a time in milliseconds
 * and then by id. Ids of two processes within a millisecond have no order. The time part is this machine's clock;
 * nothing that concerns money depends on it.
 *
 * @param at Milliseconds since 1970, for an id of another moment, which has no order among ids of its millisecond.
 */
export function uuidv7(at?: number): string {
  if (used + 10 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const start = used;
  used += 10;
  // Begins in the lower half, so that thousands of ids of a millisecond have room behind the first.
  const first = pool.readUInt16BE(start) & 0x07ff;
  if (at === undefined) count(Date.now(), first);
  const time = (at ?? lastMs).toString(16).padStart(12, '0');
  const a = (0x7000 | (at === undefined ? counter : first)).toString(16);
  const b = (0x8000 | (pool.readUInt16BE(start + 2) & 0x3fff)).toString(16);
  const c = pool.toString('hex', start + 4, start + 10);
  return `${time.slice(0, 8)}-${time.slice(8)}-${a}-${b}-${c}`;
}

/** Moves time and counter to the next id. A millisecond whose counter is used up lends from the next one. */
function count(nowMs: number, first: number): void {
  const setBackMs = lastMs - nowMs;
  if (setBackMs < 0 || setBackMs > maxSetBackMs) lastMs = nowMs;
  else if (counter + 1 < counters) {
    counter += 1;
    return;
  } else lastMs += 1;
  counter = first;
}
