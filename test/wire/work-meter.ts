import { type Profiler, Session } from 'node:inspector';

/**
 * Counts the work that a synchronous function makes the code of `server/wire` do, so that no clock has to judge it: how often
 * each of its blocks is run, and over how many elements or characters it has the built-in functions go.
 */
export interface WorkMeter {
  /** The same for the same work, on whatever machine. */
  measure(work: () => void): number;
  close(): void;
}

type Cost = (self: unknown, first: unknown, result: unknown) => number;

/** Elements or characters that a built-in function goes through. Those that take a function are counted by its runs. */
const costs: [Cost, object, string][] = [
  // All of what they are called on.
  [(self) => sizeOf(self), Array.prototype, 'concat fill join reverse shift splice unshift'],
  [
    (self) => sizeOf(self),
    String.prototype,
    'match matchAll normalize replace replaceAll search split toLowerCase trim',
  ],
  // As far as they have to look.
  [
    (self, _first, found) => (found === false || found === -1 ? sizeOf(self) : 1),
    String.prototype,
    'includes indexOf lastIndexOf',
  ],
  [(self, _first, found) => (found === false || found === -1 ? sizeOf(self) : 1), Buffer.prototype, 'includes indexOf'],
  [(self, _first, found) => (found === -1 ? sizeOf(self) : Number(found)), Array.prototype, 'indexOf lastIndexOf'],
  [(self, first) => placeOf(self as unknown[], first), Array.prototype, 'includes'],
  // All of what they are given, or give.
  [(_self, _first, result) => sizeOf(result), Array.prototype, 'flat slice'],
  [(_self, first) => sizeOf(first), Object, 'assign entries fromEntries keys values'],
  [(_self, first, result) => sizeOf(first) + sizeOf(result), JSON, 'parse stringify'],
  [(_self, first) => sizeOf(first), RegExp.prototype, 'exec test'],
  [(_self, first) => sizeOf(first), Buffer, 'byteLength concat from'],
];

export function createWorkMeter(): WorkMeter {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  let walked = 0;
  const restore = patchBuiltins((length) => {
    walked += length;
  });

  /** Runs of blocks since the last time it was asked. */
  function takeRuns(): number {
    let runs = 0;
    session.post('Profiler.takePreciseCoverage', (error, coverage: Profiler.TakePreciseCoverageReturnType) => {
      if (error !== null) throw error;
      for (const { url, functions } of coverage.result) {
        if (!url.includes('/server/wire/')) continue;
        for (const { ranges } of functions) for (const { count } of ranges) runs += count;
      }
    });
    return runs;
  }

  return {
    measure(work) {
      takeRuns();
      walked = 0;
      work();
      const elements = walked;
      return takeRuns() + elements;
    },
    close() {
      restore();
      session.disconnect();
    },
  };
}

type Method = (this: unknown, ...given: unknown[]) => unknown;

function patchBuiltins(count: (length: number) => void): () => void {
  const undo: (() => void)[] = [];
  const patch = (holder: object, name: string | symbol, cost: Cost): void => {
    const descriptor = Object.getOwnPropertyDescriptor(holder, name);
    if (descriptor === undefined) throw new Error(`no ${String(name)} to count`);
    const original = descriptor.value as Method;
    const counted: Method = function (...given) {
      const result = Reflect.apply(original, this, given);
      count(cost(this, given[0], result));
      return result;
    };
    Object.defineProperty(holder, name, { ...descriptor, value: counted });
    undo.push(() => Object.defineProperty(holder, name, descriptor));
  };
  for (const [cost, holder, names] of costs) for (const name of names.split(' ')) patch(holder, name, cost);
  // Also what spreads a list, and what makes a set or a map of it.
  patch(Array.prototype, Symbol.iterator, sizeOf);
  return () => {
    for (const step of undo) step();
  };
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array) return value.length;
  return typeof value === 'object' && value !== null ? Reflect.ownKeys(value).length : 1;
}

/** How far a list is looked through for a value. */
function placeOf(list: readonly unknown[], value: unknown): number {
  for (let at = 0; at < list.length; at += 1) if (list[at] === value) return at;
  return list.length;
}
