/**
 * Time and order. Everything that happens in a simulated run is an event of this queue: a timer, a message that arrives, an
 * answer, a kill. Between two events nothing runs, so a run is a function of its seed.
 */
export interface Scheduler {
  /** True time: milliseconds since the run began. No process can read it. */
  readonly now: number;
  /** Numbers from the seed. */
  readonly random: Random;
  /** Calls `action` after `delayMs`; of events at one moment, the first that was asked for comes first. */
  at(delayMs: number, action: () => void | Promise<void>): Event;
  sleep(delayMs: number): Promise<void>;
  /** Runs events until there are none before `untilMs`. */
  run(untilMs: number): Promise<void>;
  /** Everything that has a clock finds that this much time has passed. */
  warp(ms: number): void;
  /** Events so far. */
  readonly events: number;
}

export interface Event {
  at: number;
  order: number;
  action: (() => void | Promise<void>) | null;
}

export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from 0 to below `n`. */
  below(n: number): number;
  chance(probability: number): boolean;
  between(low: number, high: number): number;
}

/** Mulberry32: small, fast, and good enough to scatter delays. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    below: (n) => Math.floor(next() * n),
    chance: (probability) => next() < probability,
    between: (low, high) => low + next() * (high - low),
  };
}

/** All promises that can go on have gone on when the machine's own event loop turns. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createScheduler(seed: number): Scheduler {
  const random = createRandom(seed);
  const heap: Event[] = [];
  let now = 0;
  let orders = 0;
  let events = 0;

  const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

  const push = (event: Event): void => {
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Event;
      if (!isBefore(event, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  };

  const pop = (): Event | undefined => {
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child += 1;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[at] = heap[child] as Event;
      at = child;
    }
    heap[at] = last;
    return top;
  };

  const at: Scheduler['at'] = (delayMs, action) => {
    orders += 1;
    const event = { at: now + Math.max(0, delayMs), order: orders, action };
    push(event);
    return event;
  };

  return {
    get now() {
      return now;
    },
    get events() {
      return events;
    },
    random,
    at,
    sleep: (delayMs) => new Promise((resolve) => at(delayMs, resolve)),

    async run(untilMs) {
      await turn();
      while (heap.length > 0 && (heap[0] as Event).at <= untilMs) {
        const event = pop() as Event;
        if (event.action === null) continue;
        now = Math.max(now, event.at);
        events += 1;
        const { action } = event;
        event.action = null;
        await action();
        await turn();
      }
      now = Math.max(now, untilMs);
    },

    warp(ms) {
      now += ms;
    },
  };
}
