import type { Pool } from 'pg';
import type { PicoUsd } from '../../core/money.ts';
import { type CallIns, createCallIns } from '../escrow/call-ins.ts';
import { createEscrows, type Escrows, tickMs } from '../escrow/escrows.ts';
import { promisedCharge } from '../escrow/promised-charges.ts';
import { createWitness } from '../escrow/witness.ts';
import type { BillingLog, BillingMetrics } from '../log.ts';
import { readBalance } from '../reads/usage.ts';
import type { Spool, SpoolReceipt } from '../spool/spool.ts';
import type {
  AdmitAsk,
  Admitted,
  Balance,
  Refused,
  Repriced,
  RequestRef,
  SetAside,
  SetAsideAsk,
  Settled,
  Settlement,
} from '../types.ts';
import type { Result } from './batch.ts';
import { unavailable } from './batch-queues.ts';
import { keepConnection } from './connection.ts';
import { createEstimate, type Estimate } from './estimates.ts';
import { Closed, describe, Quarantined } from './failure.ts';
import { flight } from './flight.ts';
import { createGroupCommit } from './group-commit.ts';
import { createLease } from './lease.ts';
import { type LanePair, type Lanes, lanesOf, openNodeLanes } from './node-lanes.ts';
import { createPatience, type Patience } from './patience.ts';
import { endLease } from './statements.ts';
import { createStrays } from './strays.ts';
import { createTransactions, type Transactions } from './transactions.ts';

export type { FrozenPrice } from '../../core/price.ts';
export type { AdmitAsk, Admitted, Refused, Settled, Settlement } from '../types.ts';
export { Closed, Quarantined };

/**
 * The only writer of holds, postings, ledger entries and of the figures of grants and keys. It locks, decides by the
 * pure rules, applies, and commits before it answers: an admission guarantees that the money is held.
 */
export interface Ledger {
  /**
   * Registers this process, and keeps its lease while it runs. Rejects when the database is out of reach; may be called
   * again. Until it has succeeded, nothing is admitted.
   */
  start(): Promise<void>;
  /** Holds budget for a request, or refuses it. Answers within about `admissionLimitMs`, whatever the database does. */
  admit(ask: AdmitAsk): Promise<Admitted | Refused>;
  /** What `admit` would hold at this moment, and what the request may cost; or its refusal. Writes and locks nothing. */
  estimate(ask: AdmitAsk): Promise<Estimate | Refused>;
  /**
   * Adds to the hold of a running request; resolves to the amount added, 0 when nothing is left. Rejects while the
   * database is out of reach: whether anything is left is unknown then.
   */
  extend(ref: RequestRef, morePico: PicoUsd): Promise<PicoUsd>;
  /**
   * Frees what the hold of a running request has beyond `keep`, which covers it from now on: the vendor has counted its
   * prompt. What fails is freed with the settlement.
   */
  shrink(ref: RequestRef, keep: PicoUsd): void;
  /**
   * Makes a running stream, whose hold covers it no more, the one of its account that may cost more. Resolves to whether it
   * is. Rejects like `extend`.
   */
  uncover(ref: RequestRef): Promise<boolean>;
  /**
   * Charges a finished request, once, however often it is called. The line is on disk before this returns its promise;
   * the promise resolves when the database has it. It rejects with `Quarantined` when the database can never take it
   * (the line is set aside for an operator), and with `Closed` when the ledger was closed first (the line stays on
   * disk).
   *
   * With `written`, the line is on disk when `written` is called: at the end of this turn of the event loop, together
   * with the other lines of the turn, which is much cheaper for a busy process. `written` must not throw.
   */
  settle(settlement: Settlement, written?: () => void): Promise<Settled>;
  /** Releases the hold of a request that was never sent upstream. No ledger entry. */
  release(ref: RequestRef): Promise<void>;
  /**
   * Holds the bound of a batch, for as long as it takes: no sweep gives it back, and no process has to live for it. Its lines are
   * settled with a promise of it. Idempotent. Waits for a database that is away.
   */
  setAside(ask: SetAsideAsk): Promise<SetAside | Repriced | Refused>;
  /** Gives back what is left of a batch's hold. Idempotent. */
  endBatch(ref: RequestRef): Promise<void>;
  balance(accountId: string): Promise<Balance>;
  /** False while nothing can be admitted for any account: the database or the disk is out of reach, or it has not started. */
  readonly healthy: boolean;
  /** Requests of this process with held budget. */
  readonly holds: number;
  /**
   * Commits the waiting operations (up to a few seconds), then ends the lease. Uncommitted settlements stay on disk.
   */
  close(): Promise<void>;

  // For the sweep.

  /** Charges a settlement that a dead process left on disk. */
  replay(settlement: Settlement): Promise<Settled>;
  /** Releases the hold of a process whose lease has ended; does nothing otherwise. */
  releaseOrphan(ref: RequestRef): Promise<void>;
  /** Expires the free money of the account's ended grants. */
  expire(accountId: string): Promise<void>;
  /** Accounts that were written to since the last call. */
  takeTouched(): string[];
  /** Milliseconds since the last outage, of any node, or since the start. */
  readonly calmForMs: number;
}

export interface LedgerParts {
  /**
   * Connections to the primary. Three are kept; others are borrowed briefly. Where entries are spread over nodes, two more are kept
   * for each, by which its maximum is raised. Without `pipeline`: a flight is one query to pg.
   */
  pool: Pool;
  /** A UUID of this run of the process. */
  processId: string;
  spool: Spool;
  /** Lease of a process: how long its holds outlive it. */
  holdLeaseMs: number;
  log: BillingLog;
  metrics?: BillingMetrics;
  /** Timeout of an admission; default: one second. */
  admissionLimitMs?: number;
  /** How long `close` waits for the database. */
  closeLimitMs?: number;
  /** How long money that is held in advance waits for requests before it is returned; default: two seconds. */
  escrowIdleMs?: number;
}

const defaultAdmissionLimitMs = 1_000;
/** Two lanes and the witness keep one each; balances and call-ins borrow one. */
const minConnections = 4;
/** Distance of the batches of settlements that their promises pay for. */
const settlementsEveryMs = 25;

export function createLedger(parts: LedgerParts): Ledger {
  const { pool, processId, spool, holdLeaseMs, log, metrics, admissionLimitMs = defaultAdmissionLimitMs } = parts;
  const { closeLimitMs = 5_000, escrowIdleMs = 2_000 } = parts;
  if (pool.options.max < minConnections) throw new Error(`the ledger needs ${minConnections} connections`);
  let started = false;
  const lease = createLease(processId, holdLeaseMs, () => escrows.closeAll());
  const transactions = createTransactions({ processId, lease, metrics, escrows: () => escrows });
  const openPair = (renews: boolean): LanePair => openLanes({ pool, transactions, renews, log, admissionLimitMs });
  const home = openPair(true);
  /** Replaced by those of nodes before anything is admitted, where the entries are spread over them. */
  const lanes: Lanes = lanesOf(home);
  let isSpread = false;
  const isHealthy = (accountId?: string): boolean => started && !lanes.isDown(accountId) && spool.writable;
  const witness = createWitness({
    connection: keepConnection(pool),
    processId,
    limitMs: admissionLimitMs,
    onCalled: (accountId) => escrows.callIn(accountId),
  });
  const escrows: Escrows = createEscrows({
    witness,
    lane: lanes,
    isHealthy,
    isRenewed: () => lease.isRenewed,
    onFault: (error) => log.error(describe(error), 'a committed batch does not agree with what is held in advance'),
    idleMs: escrowIdleMs,
  });
  const money: MoneyParts = { lanes, escrows, callIns: createCallIns(pool, processId, escrows), isHealthy };
  const patience = createPatience();
  const chargeParts: ChargeParts = { ...money, patience, spool, metrics };
  const charge = createCharge(chargeParts);
  const ticking = setInterval(() => escrows.tick(), tickMs);
  ticking.unref();
  const renewal = setInterval(() => {
    if (started) home.lane.nudge().catch(() => {});
  }, holdLeaseMs / 4);
  renewal.unref();
  const strays = createStrays({
    pool,
    processId,
    lane: lanes,
    isKnown: (requestId) => transactions.holdsFor(requestId) || escrows.has(requestId),
    log,
  });
  const looking = setInterval(() => {
    // Holds are given back by their lanes, which must be able to.
    if (isHealthy() && lanes.calmForMs() > 0) strays.giveBack().catch(() => {});
  }, holdLeaseMs);
  looking.unref();

  return {
    async start() {
      await home.lane.nudge();
      if (home.connection.isSpread && !isSpread) {
        Object.assign(lanes, await openNodeLanes({ pool, home, openPair: () => openPair(false) }));
        isSpread = true;
      }
      started = true;
    },

    admit: createAdmit(money),
    estimate: createEstimate({ pool, escrows, isHealthy }),
    extend: createExtend(money),

    shrink(ref, keep) {
      if (escrows.shrink(ref, keep)) return;
      lanes.add({ kind: 'shrink', ...refOf(ref), keep }).catch(() => undefined);
    },

    async uncover(ref) {
      const result = await lanes.add({ kind: 'uncover', ...refOf(ref) });
      return result.kind === 'uncovered' && result.isSo;
    },

    settle: createSettle(chargeParts, charge),

    async release(ref) {
      if (escrows.release(ref)) return;
      await lanes.add({ kind: 'release', ...refOf(ref), onlyIfOrphaned: false });
    },

    setAside: createSetAside(money),

    async endBatch({ accountId, requestId: escrowId }) {
      await lanes.add({ kind: 'trim', accountId, escrowId, keep: [] });
    },

    balance: (accountId) => readBalance(pool, accountId),

    get healthy() {
      return isHealthy();
    },

    get holds() {
      return transactions.holds + escrows.promises;
    },

    async close() {
      const wasStarted = started;
      started = false;
      clearInterval(renewal);
      clearInterval(looking);
      clearInterval(ticking);
      escrows.closeAll();
      await patience.end(closeLimitMs);
      await lanes.close(closeLimitMs);
      witness.close();
      if (wasStarted)
        await home.connection
          .open()
          .then((client) => flight(client, [endLease(processId)]))
          .catch(() => {});
      home.connection.close();
      spool.close();
    },

    replay: (settlement) => charge(settlement, null),

    async releaseOrphan(ref) {
      await lanes.add({ kind: 'release', ...refOf(ref), onlyIfOrphaned: true });
    },

    async expire(accountId) {
      await lanes.add({ kind: 'expire', accountId });
    },

    takeTouched: transactions.takeTouched,

    get calmForMs() {
      return lanes.calmForMs();
    },
  };
}

/**
 * Settlements that their promises pay for have their own lane: they free nothing that an admission waits for, and no
 * admission waits for them.
 */
function openLanes({
  pool,
  transactions,
  renews,
  log,
  admissionLimitMs,
}: Pick<LedgerParts, 'pool' | 'log'> & {
  transactions: Transactions;
  renews: boolean;
  admissionLimitMs: number;
}): LanePair {
  const connection = keepConnection(pool);
  const settlementsConnection = keepConnection(pool);
  const lane = createGroupCommit({
    perform: (operations, careful) => transactions.perform(connection, operations, { careful, renews }),
    log,
    maxWaitMs: admissionLimitMs,
  });
  const settlements = createGroupCommit({
    perform: (operations, careful) => transactions.charge(settlementsConnection, operations, careful),
    log,
    settlementsEveryMs,
  });
  return {
    connection,
    lane,
    settlements,
    async close(limitMs) {
      const until = performance.now() + limitMs;
      // Settled promises make their escrows give money back, through the other lane.
      await settlements.close(limitMs);
      await lane.close(Math.max(0, until - performance.now()));
      settlementsConnection.close();
      if (!renews) connection.close();
    },
  };
}

interface MoneyParts {
  lanes: Lanes;
  escrows: Escrows;
  callIns: CallIns;
  isHealthy(accountId: string): boolean;
}

function createAdmit({ lanes, escrows, callIns, isHealthy }: MoneyParts): Ledger['admit'] {
  return async (ask) => {
    if (!isHealthy(ask.accountId)) return unavailable;
    const promised = await escrows.admit(ask);
    if (promised === 'unavailable') return unavailable;
    if (promised !== null) return promised;
    const again = async (): Promise<Admitted | Refused> => {
      const result = await lanes.add({ kind: 'admit', ask });
      return result.kind === 'admitted' || result.kind === 'refused' ? result : unavailable;
    };
    const answer = await again();
    if (answer.kind !== 'refused' || answer.mayReturn !== true) return answer;
    return callIns.after(ask.accountId, again, (later) => later.kind === 'admitted' || later.mayReturn !== true);
  };
}

function createSetAside({ lanes, callIns, isHealthy }: MoneyParts): Ledger['setAside'] {
  return async (ask) => {
    if (!isHealthy(ask.accountId)) return unavailable;
    const again = async (): Promise<SetAside | Repriced | Refused> => {
      const result = await lanes.add({ kind: 'set_aside', ask });
      return result.kind === 'set_aside' || result.kind === 'repriced' || result.kind === 'refused'
        ? result
        : unavailable;
    };
    const answer = await again();
    if (answer.kind !== 'refused' || answer.mayReturn !== true) return answer;
    return callIns.after(ask.accountId, again, (later) => later.kind !== 'refused' || later.mayReturn !== true);
  };
}

function createExtend({ lanes, escrows, callIns }: MoneyParts): Ledger['extend'] {
  return async (ref, morePico) => {
    let added = 0n;
    const again = async (): Promise<boolean> => {
      const promised = await escrows.extend(ref, morePico - added);
      if (promised !== null) {
        added += promised.added;
        return promised.mayReturn;
      }
      const result = await lanes.add({ kind: 'extend', ...refOf(ref), morePico: morePico - added });
      if (result.kind !== 'extended') return false;
      added += result.addedPico;
      return result.mayReturn === true;
    };
    if (await again()) await callIns.after(ref.accountId, again, (mayReturn) => !mayReturn);
    return added;
  };
}

interface ChargeParts extends MoneyParts {
  patience: Patience;
  spool: Spool;
  metrics: BillingMetrics | undefined;
}

/** The line is on disk first, then the settlement is charged. */
function createSettle({ escrows, spool }: ChargeParts, charge: ReturnType<typeof createCharge>): Ledger['settle'] {
  return (asked, written) => {
    const promise = escrows.takePromise(asked);
    const settlement = promise === undefined ? asked : { ...asked, promise };
    if (written === undefined) return charge(settlement, spool.append(settlement));
    return new Promise((resolve) => {
      spool.appendSoon(settlement, (receipt) => {
        resolve(charge(settlement, receipt));
        written();
      });
    });
  };
}

/** Charges a settlement. `receipt`: the line in this process's spool; null for one of another process. */
function createCharge({ lanes, callIns, patience, escrows, spool, metrics }: ChargeParts) {
  const setAside = (settlement: Settlement, receipt: SpoolReceipt | null): void => {
    metrics?.fault('ledger_quarantine');
    escrows.returnPromise(settlement);
    // The customer is not charged for a settlement that cannot be recorded, and the hold must be released.
    void lanes.add({ kind: 'release', ...refOf(settlement), onlyIfOrphaned: false }).catch(() => {});
    // If that fails too, the line stays in the spool.
    if (!spool.quarantine(settlement, 'the database can never take it'))
      throw new Error('a settlement cannot be set aside');
    if (receipt !== null) spool.acknowledge(receipt);
  };

  /** Waits for money that others of the account hold, for as long as that helps; then it is charged what there is. */
  const wait = async (
    { accountId }: Settlement,
    receipt: SpoolReceipt | null,
    add: (final: boolean) => Promise<Result>,
  ): Promise<Result> => {
    let result = await callIns.after(
      accountId,
      () => add(false),
      (answer) => answer.kind !== 'put_off',
    );
    // What a dead process left behind does not wait.
    if (result.kind === 'put_off' && result.othersHold && receipt !== null)
      result = await patience.until(add, (answer) => answer.kind !== 'put_off' || !answer.othersHold);
    return result.kind === 'put_off' ? add(true) : result;
  };

  return async (settlement: Settlement, receipt: SpoolReceipt | null): Promise<Settled> => {
    const add = (final: boolean): Promise<Result> => lanes.add({ kind: 'settle', settlement, final });
    const promised = promisedCharge(settlement);
    try {
      let result = await (promised === null ? add(false) : lanes.charge({ kind: 'settle', settlement, promised }));
      if (result.kind === 'put_off')
        result = await (patience.isOver ? add(true) : patience.keep(wait(settlement, receipt, add)));
      if (result.kind !== 'settled') throw new Error(`a settlement ended as ${result.kind}`);
      if (receipt !== null) spool.acknowledge(receipt);
      return result.settled;
    } catch (error) {
      if (error instanceof Quarantined) setAside(settlement, receipt);
      throw error;
    }
  };
}

function refOf({ accountId, requestId }: RequestRef): RequestRef {
  return { accountId, requestId };
}
