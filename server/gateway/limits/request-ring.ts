/** Requests of one process by second, for limits per minute. */

/** Two seconds more than a minute, as in the database. */
const ringSeconds = 62;

/** Requests of the last minute, one slot a second. */
export interface Ring {
  slots: Uint32Array;
  second: number;
  sum: number;
}

export function emptyRing(): Ring {
  return { slots: new Uint32Array(ringSeconds), second: 0, sum: 0 };
}

/** Clears the slots of past seconds. */
export function turn(ring: Ring, second: number): void {
  for (let passed = Math.max(ring.second + 1, second - ringSeconds + 1); passed <= second; passed += 1) {
    const slot = passed % ringSeconds;
    ring.sum -= ring.slots[slot] ?? 0;
    ring.slots[slot] = 0;
  }
  ring.second = Math.max(ring.second, second);
}

/** Counts requests in the ring's current second. */
export function countRequests(ring: Ring, requests: number): void {
  const slot = ring.second % ringSeconds;
  ring.slots[slot] = (ring.slots[slot] ?? 0) + requests;
  ring.sum += requests;
}

/** Seconds until the oldest counted slot leaves the ring. */
export function secondsUntilRoom({ slots, second }: Ring): number {
  for (let age = ringSeconds - 1; age > 0; age -= 1) {
    if ((slots[(second - age + ringSeconds) % ringSeconds] ?? 0) > 0) return ringSeconds - age;
  }
  return ringSeconds;
}
