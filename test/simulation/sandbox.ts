import * as crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { Readable, Transform, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Disk } from './disk.ts';
import type { Random, Scheduler } from './scheduler.ts';

/**
 * Where the server's own modules run: each simulated process has a copy of them, in which clocks, timers, random numbers,
 * the disk and the operating system are the simulation's. Nothing in the server knows of it, and nothing there is
 * injected for its sake.
 */

/** What a process finds instead of the machine's. It changes with every start of the process. */
export interface Surroundings {
  scheduler: Scheduler;
  random: Random;
  disk: Disk;
  pid: number;
  hostname: string;
  isAlive(pid: number): boolean;
  /** Whether this process still runs: what it does after its end has no effect. */
  runs(): boolean;
  /** Runs it when the process runs; never once it is dead. */
  deliver(delayMs: number, action: () => void): { cancel(): void };
  /** Told of each step of work that takes several: something may happen between two of them. */
  step(): void;
  /** Milliseconds since the process's machine began. */
  monotonicMs(): number;
  /** What its wall clock shows. */
  wallMs(): number;
}

const slots = new Map<number, Surroundings>();

/** Sets what the modules of a slot find from now on. */
export function surround(slot: number, surroundings: Surroundings): void {
  slots.set(slot, surroundings);
}

/** One change of the server's source, made while it is loaded. */
export interface SourceChange {
  file: string;
  from: string;
  to: string;
}

let change: SourceChange | null = null;
export function changeSource(wanted: SourceChange | null): void {
  change = wanted;
}

const replaced = [
  'node:fs',
  'node:fs/promises',
  'node:zlib',
  'node:timers/promises',
  'node:crypto',
  'node:os',
] as const;
const globals = [
  'performance',
  'Date',
  'Math',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'process',
];
const entrance = Symbol.for('steyg.simulation');

/** Imports a module of the server into a slot. */
export function load<Module>(slot: number, path: string): Promise<Module> {
  return import(`${new URL(`../../server/${path}`, import.meta.url).href}?slot=${slot}`) as Promise<Module>;
}

const slotOf = (url: string | undefined): string | undefined => /[?&]slot=(\d+)/.exec(url ?? '')?.[1];
const bare = (url: string): string => url.replace(/\?.*/, '');

registerHooks({
  resolve(specifier, context, next) {
    const slot = slotOf(specifier) ?? slotOf(context.parentURL);
    if (slot === undefined) return next(specifier, context);
    if ((replaced as readonly string[]).includes(specifier))
      return { url: `simulation:${specifier}?slot=${slot}`, format: 'module', shortCircuit: true };
    if (!specifier.startsWith('.') && !specifier.startsWith('file:')) return next(specifier, context);
    const resolved = next(bare(specifier), context);
    return { ...resolved, url: `${bare(resolved.url)}?slot=${slot}` };
  },

  load(url, context, next) {
    const slot = slotOf(url);
    if (slot === undefined) return next(url, context);
    const own = `globalThis[Symbol.for('steyg.simulation')](${slot})`;
    if (url.startsWith('simulation:')) {
      const name = bare(url.slice('simulation:'.length));
      const names = Object.keys(modulesOf(Number(slot))[name] ?? {}).filter(
        (each) => /^\w+$/.test(each) && each !== 'default',
      );
      const source = `const own = ${own}.modules['${name}']; ${names.map((each) => `export const ${each} = own.${each};`).join(' ')}`;
      return { format: 'module', source, shortCircuit: true };
    }
    const path = fileURLToPath(bare(url));
    // On the first line, so that places in errors stay right.
    const source = `const { ${globals.join(', ')} } = ${own}.globals; ${changed(path, readFileSync(path, 'utf8'))}`;
    return { format: 'module-typescript', source, shortCircuit: true };
  },
});

/** What a module keeps for its next id, random bytes and a counter, would be left from one run to the next. */
const fewerKept: readonly SourceChange[] = [
  {
    file: 'shared/uuid.ts',
    from: 'const pool = Buffer.allocUnsafe(8192)',
    to: 'const pool = Buffer.allocUnsafe(10)',
  },
  { file: 'shared/uuid.ts', from: 'setBackMs < 0 || setBackMs > maxSetBackMs', to: 'setBackMs <= maxSetBackMs' },
];

function changed(path: string, source: string): string {
  return [...fewerKept, change].reduce((text, each) => (each === null ? text : substituted(path, text, each)), source);
}

function substituted(path: string, source: string, change: SourceChange): string {
  if (!path.endsWith(`/server/${change.file}`)) return source;
  if (source.split(change.from).length !== 2) throw new Error(`${change.file} does not have once: ${change.from}`);
  return source.replace(change.from, () => change.to);
}

type Members = Record<string, unknown>;

Object.assign(globalThis, {
  [entrance]: (slot: number) => ({ globals: globalsOf(slot), modules: modulesOf(slot) }),
});

function around(slot: number): Surroundings {
  const surroundings = slots.get(slot);
  if (surroundings === undefined) throw new Error(`slot ${slot} has no surroundings`);
  return surroundings;
}

/** A timer as Node's, of which the code uses little. */
class Timer {
  private event: { cancel(): void };
  private cleared = false;

  constructor(slot: number, action: () => void, ms: number, repeated: boolean) {
    const { deliver } = around(slot);
    const run = (): void => {
      if (this.cleared) return;
      if (repeated) this.event = deliver(Math.max(1, ms), run);
      action();
    };
    this.event = deliver(Math.max(repeated ? 1 : 0, ms), run);
  }

  clear(): void {
    this.cleared = true;
    this.event.cancel();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

function globalsOf(slot: number): Members {
  const now = (): number => Math.floor(around(slot).wallMs());
  class SimulatedDate extends Date {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(now());
      else super(...(given as [number]));
    }
    static override now(): number {
      return now();
    }
  }
  const timer =
    (repeated: boolean) =>
    (action: (...all: unknown[]) => void, ms = 0, ...all: unknown[]) =>
      new Timer(slot, () => action(...all), ms, repeated);
  const clear = (given: Timer | null | undefined): void => given?.clear();
  return {
    performance: { now: () => around(slot).monotonicMs() },
    Date: SimulatedDate,
    Math: Object.create(Math, { random: { value: () => around(slot).random.next() } }),
    setTimeout: timer(false),
    setInterval: timer(true),
    setImmediate: (action: (...all: unknown[]) => void, ...all: unknown[]) =>
      new Timer(slot, () => action(...all), 0, false),
    clearTimeout: clear,
    clearInterval: clear,
    process: {
      get pid() {
        return around(slot).pid;
      },
      kill(pid: number) {
        if (!around(slot).isAlive(pid)) throw Object.assign(new Error('no such process'), { code: 'ESRCH' });
        return true;
      },
      env: {},
      emitWarning: () => undefined,
    },
  };
}

function modulesOf(slot: number): Record<string, Members> {
  const delay = (ms = 0, value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        timer.clear();
        reject(Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' }));
      };
      const timer = new Timer(
        slot,
        () => {
          signal?.removeEventListener('abort', end);
          resolve(value);
        },
        ms,
        false,
      );
      if (signal?.aborted === true) end();
      else signal?.addEventListener('abort', end, { once: true });
    });
  const bytes = (size: number): Buffer => {
    const buffer = Buffer.alloc(size);
    for (let at = 0; at < size; at += 1) buffer[at] = around(slot).random.below(256);
    return buffer;
  };
  const fs = Object.fromEntries(
    diskCalls.map((name) => [
      name,
      (...given: unknown[]) => {
        if (!around(slot).runs()) throw Object.assign(new Error('it was killed'), { code: 'EKILLED' });
        return (around(slot).disk[name] as (...all: unknown[]) => unknown)(...given);
      },
    ]),
  );
  return {
    'node:fs': {
      ...fs,
      createReadStream: (path: string) => readStream(slot, path),
      createWriteStream: (path: string, options: WriteOptions) => writeStream(slot, path, options),
      fdatasync: (fd: number, done: (error: Error | null) => void) => void force(slot, fd, done),
    },
    'node:fs/promises': promisedFs(slot),
    // Node's run on threads of their own, which know another time.
    'node:zlib': {
      createGzip: () => whole((bytes) => gzipSync(bytes, { level: 1 })),
      createGunzip: () => whole(gunzipSync),
    },
    'node:timers/promises': { setTimeout: delay, setImmediate: (value?: unknown) => delay(0, value) },
    'node:os': { hostname: () => around(slot).hostname },
    'node:crypto': {
      ...crypto,
      randomBytes: bytes,
      randomFillSync: (buffer: Buffer) => {
        bytes(buffer.length).copy(buffer);
        return buffer;
      },
      randomInt: (low: number, high?: number) =>
        high === undefined ? around(slot).random.below(low) : low + around(slot).random.below(high - low),
      randomUUID: () => uuidOf(bytes(16)),
    },
  };
}

/** One step of a process on its disk, some time later. */
function onDisk<T>(slot: number, work: (disk: Disk) => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const { deliver, disk, random, step } = around(slot);
    deliver(random.between(0.05, 1), () => {
      try {
        resolve(work(disk));
      } catch (error) {
        reject(error);
      }
      step();
    });
  });
}

async function force(slot: number, fd: number, done: (error: Error | null) => void): Promise<void> {
  const problem = await onDisk(slot, (disk) => disk.fdatasyncSync(fd)).then(
    () => null,
    (error: Error) => error,
  );
  done(problem);
}

const bytesOf = (disk: Disk, path: string): Buffer => {
  const fd = disk.openSync(path, 'r');
  const bytes = Buffer.alloc(disk.fstatSync(fd).size);
  disk.readSync(fd, bytes, 0, bytes.length, 0);
  disk.closeSync(fd);
  return bytes;
};

function promisedFs(slot: number): Members {
  return {
    mkdir: (path: string) => onDisk(slot, (disk) => disk.mkdirSync(path)),
    rename: (from: string, to: string) => onDisk(slot, (disk) => disk.renameSync(from, to)),
    rm: (path: string) => onDisk(slot, (disk) => disk.rmSync(path)),
    readFile: (path: string) => onDisk(slot, (disk) => bytesOf(disk, path)),
    stat: (path: string) => onDisk(slot, (disk) => ({ size: bytesOf(disk, path).length })),
    open: async (path: string, flags: string) => {
      const fd = await onDisk(slot, (disk) => disk.openSync(path, flags));
      return {
        writeFile: (text: string) => onDisk(slot, (disk) => disk.writeSync(fd, text)),
        sync: () => onDisk(slot, (disk) => disk.fsyncSync(fd)),
        datasync: () => onDisk(slot, (disk) => disk.fdatasyncSync(fd)),
        close: () => onDisk(slot, (disk) => disk.closeSync(fd)),
      };
    },
  };
}

function readStream(slot: number, path: string): Readable {
  return new Readable({
    async read() {
      try {
        this.push(await onDisk(slot, (disk) => bytesOf(disk, path)));
        this.push(null);
      } catch (error) {
        this.destroy(error as Error);
      }
    },
  });
}

interface WriteOptions {
  flags: string;
  /** Whether it is forced to disk at its end. */
  flush: boolean;
}

function writeStream(slot: number, path: string, { flags, flush }: WriteOptions): Writable {
  let fd: number | null = null;
  const told = (work: (disk: Disk) => void, done: (error?: Error) => void): void =>
    void (async () => {
      const problem = await onDisk(slot, work).then(
        () => undefined,
        (error: Error) => error,
      );
      done(problem);
    })();
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      told((disk) => {
        fd ??= disk.openSync(path, flags);
        disk.writeSync(fd, chunk);
      }, done);
    },
    final: (done) =>
      told((disk) => {
        if (flush) disk.fsyncSync(fd ?? -1);
        disk.closeSync(fd ?? -1);
      }, done),
  });
}

/** Hands all that was written to it to `work` in the end. */
function whole(work: (bytes: Buffer) => Buffer): Transform {
  const chunks: Buffer[] = [];
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
    flush(done) {
      try {
        done(null, work(Buffer.concat(chunks)));
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

const diskCalls = [
  'closeSync',
  'existsSync',
  'fdatasyncSync',
  'fstatSync',
  'fsyncSync',
  'ftruncateSync',
  'mkdirSync',
  'openSync',
  'readSync',
  'readdirSync',
  'unlinkSync',
  'writeSync',
] as const satisfies readonly (keyof Disk)[];

/** A UUIDv4 of these bytes. */
export function uuidOf(bytes: Buffer): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
