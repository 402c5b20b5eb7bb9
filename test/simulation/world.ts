import type * as erasures from '../../server/accounts/erasure.ts';
import type * as archives from '../../server/billing/archive/archive.ts';
import type * as grants from '../../server/billing/grants.ts';
import type * as ledgers from '../../server/billing/lane/ledger.ts';
import type * as spools from '../../server/billing/spool/spool.ts';
import type * as sweeps from '../../server/billing/upkeep/sweep.ts';
import type * as transfersModule from '../../server/plans/bank/transfers.ts';
import type * as codesModule from '../../server/plans/codes.ts';
import type * as erasedModule from '../../server/plans/erased.ts';
import type * as ordersModule from '../../server/plans/orders.ts';
import {
  createSimulatedDatabase,
  type Host,
  type SessionCache,
  type SimulatedDatabase,
  type SimulatedPool,
} from './database.ts';
import { createDisk, type Disk } from './disk.ts';
import { load, surround, uuidOf } from './sandbox.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';

/** The machines, processes and the database of one run. */

export interface World {
  scheduler: Scheduler;
  database: SimulatedDatabase;
  /** Server processes: two on one machine, one on another. */
  processes: readonly SimulatedProcess[];
  /** Operators' own connections, which do not fail. */
  operator: SimulatedPool;
  uuid(): string;
  /** Gives a grant, as the command line and the operator's pages do. */
  addGrant: typeof grants.addGrant;
  /** All that was logged as an error, by its sentence. */
  errors: string[];
  close(): Promise<void>;
}

export interface SimulatedProcess {
  readonly slot: number;
  /** Counts its starts; zero while it does not run. */
  readonly life: number;
  readonly parts: Running | null;
  readonly pool: SimulatedPool | null;
  /** For work of several steps, of which `atStep` knows. */
  readonly workPool: SimulatedPool | null;
  /** Does something at one of the next steps of such work: behind a message, its answer, or a change of the disk. */
  atStep(steps: number, action: () => void | Promise<void>): void;
  readonly disk: Disk;
  /** Told of the next client that has its last bytes, and of nobody after that. */
  answered: (() => void) | null;
  start(): void;
  /** `silently`: nobody tells the database, as with a machine that loses its power. */
  kill(silently?: boolean): void;
  /** Nothing in it runs for so long. */
  pause(ms: number): void;
  /** No packet to or from the database gets through for so long. */
  cut(ms: number): void;
  /** Messages and answers are lost at these odds for so long. */
  disturb(ms: number, rate: number): void;
  /** Its wall clock is set by somebody. */
  setClock(byMs: number): void;
}

/** The server's own parts, as `app.ts` puts them together. */
export interface Running {
  ledger: ledgers.Ledger;
  spool: spools.Spool;
  orders: ReturnType<typeof ordersModule.createOrders>;
  transfers: ReturnType<typeof transfersModule.createTransfers>;
  codes: ReturnType<typeof codesModule.createCodes>;
  erasure: ReturnType<typeof erasures.createErasure>;
  /** Takes all months out that may leave, and puts them back where that is wanted. */
  archive(options: { restores: boolean }): Promise<void>;
}

export const leaseMs = 10_000;
/** Where a machine keeps its archives. */
export const archiveFolder = '/archive';
/** 2031-03-10 05:00 UTC: after every real start of PostgreSQL. */
export const startMs = Date.UTC(2031, 2, 10, 5);
export const bank = { bin: '970436', account: '0011001234567', name: 'STEYG SIMULATION' };
const machines = ['one', 'one', 'two'] as const;

interface Modules {
  createLedger: typeof ledgers.createLedger;
  createSpool: typeof spools.createSpool;
  startSweep: typeof sweeps.startSweep;
  createOrders: typeof ordersModule.createOrders;
  createTransfers: typeof transfersModule.createTransfers;
  createCodes: typeof codesModule.createCodes;
  createErasure: typeof erasures.createErasure;
  lockOrders: typeof erasedModule.lockOrders;
  forgetOrders: typeof erasedModule.forgetOrders;
  listArchivable: typeof archives.listArchivable;
  archiveMonth: typeof archives.archiveMonth;
  restoreMonth: typeof archives.restoreMonth;
}

const modules = new Map<number, Modules>();
/** Where operators' modules run: they are never paused or killed. */
const operatorSlot = machines.length;
let operatorGrants: typeof grants | null = null;

/** Loads the server's modules for a process, once. They need no surroundings until they run. */
export async function loadModules(): Promise<void> {
  operatorGrants = await load<typeof grants>(operatorSlot, 'billing/grants.ts');
  for (const slot of machines.keys()) {
    const [ledger, spool, sweep, orders, transfers, codes, erasure, erased, archive] = await Promise.all([
      load<typeof ledgers>(slot, 'billing/lane/ledger.ts'),
      load<typeof spools>(slot, 'billing/spool/spool.ts'),
      load<typeof sweeps>(slot, 'billing/upkeep/sweep.ts'),
      load<typeof ordersModule>(slot, 'plans/orders.ts'),
      load<typeof transfersModule>(slot, 'plans/bank/transfers.ts'),
      load<typeof codesModule>(slot, 'plans/codes.ts'),
      load<typeof erasures>(slot, 'accounts/erasure.ts'),
      load<typeof erasedModule>(slot, 'plans/erased.ts'),
      load<typeof archives>(slot, 'billing/archive/archive.ts'),
    ]);
    modules.set(slot, {
      ...ledger,
      ...spool,
      ...sweep,
      ...orders,
      ...transfers,
      ...codes,
      ...erasure,
      ...erased,
      ...archive,
    });
  }
}

export async function createWorld(seed: number, url: string, sessions: SessionCache): Promise<World> {
  const scheduler = createScheduler(seed);
  const database = await createSimulatedDatabase(url, scheduler, { startMs, sessions });
  const { random } = scheduler;
  const errors: string[] = [];
  const disks = { one: createDisk(), two: createDisk() };
  const pids = new Map<number, string>();
  let nextPid = 100;

  const uuid = (): string => {
    const bytes = Buffer.alloc(16);
    for (let at = 0; at < 16; at += 1) bytes[at] = random.below(256);
    return uuidOf(bytes);
  };

  const createProcess = (slot: number): SimulatedProcess => {
    const machine = machines[slot] ?? 'one';
    const disk = disks[machine];
    let life = 0;
    let lives = 0;
    let pid = 0;
    let parts: Running | null = null;
    let pool: SimulatedPool | null = null;
    let workPool: SimulatedPool | null = null;
    let next: { steps: number; action: () => void | Promise<void> } | null = null;
    let pausedUntil = 0;
    let cutUntil = 0;
    let disturbed = { until: 0, rate: 0 };
    let clockByMs = 0;

    const hostOf = (own: number): Host => ({
      get alive() {
        return life === own;
      },
      get connected() {
        return scheduler.now >= cutUntil;
      },
      get lossRate() {
        return scheduler.now < disturbed.until ? disturbed.rate : 0;
      },
      deliver: (delayMs, action) => void deliver(own, delayMs, action),
    });

    /** Runs it in this life of the process, and not while it is paused. */
    const deliver = (own: number, delayMs: number, action: () => void): { cancel(): void } => {
      let cancelled = false;
      const run = (): void => {
        if (cancelled || life !== own) return;
        if (scheduler.now < pausedUntil) scheduler.at(pausedUntil - scheduler.now, run);
        else action();
      };
      scheduler.at(delayMs, run);
      return {
        cancel() {
          cancelled = true;
        },
      };
    };

    const step = (): void => {
      if (next === null) return;
      next.steps -= 1;
      if (next.steps > 0) return;
      scheduler.at(0, next.action);
      next = null;
    };

    const self: SimulatedProcess = {
      slot,
      disk,
      answered: null,
      get life() {
        return life;
      },
      get parts() {
        return parts;
      },
      get pool() {
        return pool;
      },
      get workPool() {
        return workPool;
      },
      atStep(steps, action) {
        next = { steps, action };
      },

      start() {
        if (life !== 0) return;
        lives += 1;
        life = lives;
        nextPid += 1;
        pid = nextPid;
        pids.set(pid, machine);
        pausedUntil = 0;
        next = null;
        const own = life;
        const began = scheduler.now - random.between(1_000, 100_000);
        surround(slot, {
          scheduler,
          random,
          disk,
          pid,
          hostname: machine,
          isAlive: (other) => pids.get(other) === machine,
          runs: () => life === own,
          deliver: (delayMs, action) => deliver(own, delayMs, action),
          step,
          monotonicMs: () => scheduler.now - began,
          wallMs: () => startMs + scheduler.now + clockByMs,
        });
        const host = hostOf(own);
        pool = database.pool(host, { max: 6, queryTimeoutMs: 4_000 });
        const control = database.pool(host, { max: 3, queryTimeoutMs: 15_000 });
        workPool = database.pool(host, { max: 3, queryTimeoutMs: 15_000, step });
        parts = startParts(slot, { pool, control, work: workPool }, uuid(), errors);
        const { ledger } = parts;
        const ready = async (): Promise<void> => {
          // As the start of the server does: again until it succeeds.
          for (;;) {
            try {
              await ledger.start();
              return;
            } catch {
              await new Promise<void>((resolve) => void deliver(own, 500, resolve));
            }
          }
        };
        const { startSweep } = modules.get(slot) as Modules;
        const sweeping = async (): Promise<void> => {
          await ready();
          if (life !== own || parts === null || pool === null) return;
          startSweep({
            pool: pool as never,
            ledger,
            spool: parts.spool,
            leaseMs,
            log: logOf(errors),
            // The simulation has a checker of its own.
            invariantsEveryMs: 1e12,
          });
        };
        void sweeping();
      },

      kill(silently = random.chance(0.2)) {
        if (life === 0) return;
        life = 0;
        pids.delete(pid);
        pool?.breakAll(silently);
        workPool?.breakAll(silently);
        parts = null;
        pool = null;
        workPool = null;
      },

      pause(ms) {
        pausedUntil = Math.max(pausedUntil, scheduler.now + ms);
      },
      cut(ms) {
        cutUntil = Math.max(cutUntil, scheduler.now + ms);
        if (random.chance(0.5)) pool?.breakAll(true);
      },
      disturb(ms, rate) {
        disturbed = { until: scheduler.now + ms, rate };
      },
      setClock(byMs) {
        clockByMs += byMs;
      },
    };
    return self;
  };

  surround(operatorSlot, {
    scheduler,
    random,
    disk: createDisk(),
    pid: 1,
    hostname: 'operator',
    isAlive: () => true,
    runs: () => true,
    step: () => undefined,
    deliver: (delayMs, action) => {
      const event = scheduler.at(delayMs, action);
      return {
        cancel() {
          event.action = null;
        },
      };
    },
    monotonicMs: () => scheduler.now,
    wallMs: () => startMs + scheduler.now,
  });
  if (operatorGrants === null) throw new Error('the modules were not loaded');
  const operatorHost: Host = {
    alive: true,
    connected: true,
    lossRate: 0,
    deliver: (delayMs, action) => void scheduler.at(delayMs, action),
  };
  return {
    scheduler,
    database,
    processes: [...machines.keys()].map(createProcess),
    operator: database.pool(operatorHost, { max: 10, queryTimeoutMs: 60_000 }),
    uuid,
    addGrant: operatorGrants.addGrant,
    errors,
    close: () => database.close(),
  };
}

function logOf(errors: string[]) {
  return {
    info: () => undefined,
    warn: () => undefined,
    error: (fields: object, sentence: string) => void errors.push(`${sentence} ${JSON.stringify(fields)}`),
  };
}

function startParts(
  slot: number,
  { pool, control, work }: Record<'pool' | 'control' | 'work', SimulatedPool>,
  processId: string,
  errors: string[],
): Running {
  const own = modules.get(slot);
  if (own === undefined) throw new Error('the modules were not loaded');
  const log = logOf(errors);
  const spool = own.createSpool({ directory: '/spool', processId, log });
  return {
    spool,
    ledger: own.createLedger({ pool: pool as never, processId, spool, holdLeaseMs: leaseMs, log }),
    orders: own.createOrders({ pool: control as never, bank }),
    transfers: own.createTransfers({ pool: control as never, accountNumbers: [bank.account] }),
    codes: own.createCodes({ pool: control as never, throttle: { take: async () => null } }),
    erasure: own.createErasure({
      pool: work as never,
      orders: { lock: own.lockOrders, forget: own.forgetOrders },
      forgetMails: async () => undefined,
      tell: () => undefined,
    }),
    async archive({ restores }) {
      const actor = 'operator';
      for (const month of await own.listArchivable(work as never, '9999-12')) {
        const { folder } = await own.archiveMonth(work as never, {
          month,
          directory: archiveFolder,
          actor,
          unclosed: true,
        });
        if (restores) await own.restoreMonth(work as never, { folder, actor });
      }
    },
  };
}
