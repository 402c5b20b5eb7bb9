import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { PicoUsd } from '../core/money.ts';
import { decide, type Operation, type Result } from './batch.ts';
import { createEscrows, type Escrows, tickMs } from './escrows.ts';
import { classify, describe, Unworkable } from './failure.ts';
import { flight, type Statement } from './flight.ts';
import { Closed, createGroupCommit, Quarantined, unavailable } from './group-commit.ts';
import type { BillingLog, BillingMetrics } from './log.ts';
import type { Spool, SpoolReceipt } from './spool.ts';
import {
  accountsWithEscrows,
  begin,
  callOthers,
  commit as commitBatch,
  endLease,
  ping,
  readFacts,
  renewLease,
  sessionSettings,
  writes,
} from './statements.ts';
import type { AdmitAsk, Admitted, Balance, Refused, RequestRef, Settled, Settlement } from './types.ts';
import { readBalance } from './usage.ts';
import { createWitness, stopwatch } from './witness.ts';

export type { FrozenPrice } from '../core/price.ts';
export type { AdmitAsk, Admitted, Refused, Settled, Settlement } from './types.ts';
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
  /**
   * Adds to the hold of a running request; resolves to the amount added, 0 when nothing is left. Rejects while the
   * database is out of reach: whether anything is left is unknown then.
   */
  extend(ref: RequestRef, morePico: PicoUsd): Promise<PicoUsd>;
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
  balance(accountId: string): Promise<Balance>;
  /** False while nothing can be admitted: the database or the disk is out of reach, or it has not started. */
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
  /** Milliseconds since the last outage, or since the start. */
  readonly calmForMs: number;
}

export interface LedgerParts {
  /**
   * Connections to the primary. One is kept; others are borrowed briefly. Without `pipeline`: a flight is one query to
   * pg.
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
/**
 * Retry delays of a call-in: how long other processes have to return idle money, and how long an account is not called
 * in again after that failed.
 */
const callInWaitsMs = [20, 50, 100, 150];
const callInPauseMs = 1_000;

export function createLedger(parts: LedgerParts): Ledger {
  const { pool, processId, spool, holdLeaseMs, log, metrics, admissionLimitMs } = parts;
  const { closeLimitMs = 5_000, escrowIdleMs = 2_000 } = parts;
  const connection = keepConnection(pool);
  const touched = new Set<string>();
  const held = new Set<string>();
  let started = false;
  /** How long ago the last renewal of the lease whose answer has come began. */
  let leaseAgeMs = (): number => Number.POSITIVE_INFINITY;

  /** One batch: lock, decide, apply. The lease rides along, so that a ledger that can write cannot lose it. */
  const perform = async (asked: readonly Operation[], careful: boolean): Promise<Result[]> => {
    const client = await connection.open();
    try {
      const ageMs = stopwatch();
      const isLeaseDue = leaseAgeMs() >= holdLeaseMs / 4;
      const lease = isLeaseDue ? [renewLease(processId, String(holdLeaseMs))] : [];
      const operations = escrows.prepare(asked);
      const results = operations.length === 0 ? [] : await together(client, operations, { prologue: lease, careful });
      count(operations, results);
      // Without operations the batch renews the lease, or checks that the database answers.
      if (operations.length === 0) await flight(client, isLeaseDue ? lease : [ping()]);
      if (isLeaseDue) {
        // A renewal this late may have followed a sweep, which has released the holds.
        if (leaseAgeMs() >= holdLeaseMs) escrows.closeAll();
        leaseAgeMs = ageMs;
      }
      return results;
    } catch (error) {
      await connection.recover(client, error);
      throw error;
    }
  };

  /** Counts a committed batch in the metrics. */
  const count = (operations: readonly Operation[], results: readonly Result[]): void => {
    if (operations.length === 0) return;
    metrics?.batch?.(operations.length);
    for (const [index, operation] of operations.entries()) {
      if (operation.kind === 'admit') {
        if (results[index]?.kind === 'admitted') held.add(operation.ask.requestId);
      } else if (operation.kind === 'settle') held.delete(operation.settlement.requestId);
      else if (operation.kind === 'release') held.delete(operation.requestId);
    }
  };

  const together = async (
    client: PoolClient,
    operations: readonly Operation[],
    { prologue, careful }: { prologue: readonly Statement[]; careful: boolean },
  ): Promise<Result[]> => {
    const { facts, places } = await readFacts(client, operations, { prologue: [begin(), ...prologue], careful });
    let decided = decideOrRefuse(operations, facts);
    if (decided.unsure.size > 0) {
      const escrowed = await accountsWithEscrows(client, decided.unsure);
      if (escrowed.size > 0) decided = decideOrRefuse(operations, { ...facts, escrowed });
    }
    const { results, changes } = decided;
    const written = await flight(client, [...writes(changes, places, processId), commitBatch()]);
    // PostgreSQL answers COMMIT of a failed transaction with the tag ROLLBACK, without an error.
    if (written.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was not committed');
    for (const { accountId } of [...changes.grants, ...changes.entries.map((entry) => entry.settlement)]) {
      touched.add(accountId);
    }
    escrows.committed(operations, results, facts);
    return results;
  };

  const commit = createGroupCommit({
    perform,
    log,
    ...(admissionLimitMs === undefined ? {} : { maxWaitMs: admissionLimitMs }),
  });

  const witness = createWitness({
    connection: keepConnection(pool),
    processId,
    limitMs: admissionLimitMs ?? defaultAdmissionLimitMs,
    onCalled: (accountId) => escrows.callIn(accountId),
  });
  const escrows: Escrows = createEscrows({
    witness,
    lane: commit,
    isHealthy: () => isHealthy(),
    isRenewed: () => leaseAgeMs() < holdLeaseMs,
    onFault: (error) => log.error(describe(error), 'a committed batch does not agree with what is held in advance'),
    idleMs: escrowIdleMs,
  });
  const ticking = setInterval(() => escrows.tick(), tickMs);
  ticking.unref();

  /** Accounts whose last call-in was in vain, and until when they are not called in again. Monotonic milliseconds. */
  const calledInVain = new Map<string, number>();

  /**
   * Calls in the idle money of an account, from this process and from others, and retries until the answer changes or
   * the delays are over.
   */
  const afterCallIn = async <T>(
    accountId: string,
    again: () => Promise<T>,
    isFinal: (answer: T) => boolean,
  ): Promise<T> => {
    escrows.callIn(accountId);
    const others = (calledInVain.get(accountId) ?? 0) > performance.now() ? 0 : await callOthersOf(accountId);
    let answer = await again();
    for (const waitMs of others === 0 ? [] : callInWaitsMs) {
      if (isFinal(answer)) return answer;
      await delay(waitMs, undefined, { ref: false });
      answer = await again();
    }
    if (others > 0 && !isFinal(answer)) {
      if (calledInVain.size > 1_000) calledInVain.clear();
      calledInVain.set(accountId, performance.now() + callInPauseMs);
    }
    return answer;
  };

  const callOthersOf = async (accountId: string): Promise<number> => {
    try {
      const { text, values } = callOthers(processId, accountId);
      const { rows } = await pool.query<{ count: string | bigint }>(text, [...values]);
      return Number(rows[0]?.count ?? 0);
    } catch {
      return 0;
    }
  };

  /** `receipt`: the line in this process's spool; null for one of another process. */
  const charge = async (settlement: Settlement, receipt: SpoolReceipt | null): Promise<Settled> => {
    const add = (final: boolean): Promise<Result> => commit.add({ kind: 'settle', settlement, final });
    try {
      let result = await add(false);
      if (result.kind === 'put_off') {
        const { accountId } = settlement;
        result = await afterCallIn(
          accountId,
          () => add(false),
          (answer) => answer.kind !== 'put_off',
        );
        if (result.kind === 'put_off') result = await add(true);
      }
      if (result.kind !== 'settled') throw new Error(`a settlement ended as ${result.kind}`);
      if (receipt !== null) spool.acknowledge(receipt);
      return result.settled;
    } catch (error) {
      if (error instanceof Quarantined) setAside(settlement, receipt);
      throw error;
    }
  };

  const setAside = (settlement: Settlement, receipt: SpoolReceipt | null): void => {
    metrics?.fault('ledger_quarantine');
    escrows.returnPromise(settlement);
    // The customer is not charged for a settlement that cannot be recorded, and the hold must be released.
    void commit.add({ kind: 'release', ...refOf(settlement), onlyIfOrphaned: false }).catch(() => {});
    // If that fails too, the line stays in the spool.
    if (!spool.quarantine(settlement, 'the database can never take it'))
      throw new Error('a settlement cannot be set aside');
    if (receipt !== null) spool.acknowledge(receipt);
  };

  const renewal = setInterval(() => {
    if (started) commit.nudge().catch(() => {});
  }, holdLeaseMs / 4);
  renewal.unref();

  const isHealthy = (): boolean => started && !commit.down && spool.writable;

  return {
    async start() {
      await commit.nudge();
      started = true;
    },

    async admit(ask) {
      if (!isHealthy()) return unavailable;
      const promised = await escrows.admit(ask);
      if (promised === 'unavailable') return unavailable;
      if (promised !== null) return promised;
      const again = async (): Promise<Admitted | Refused> => {
        const result = await commit.add({ kind: 'admit', ask });
        return result.kind === 'admitted' || result.kind === 'refused' ? result : unavailable;
      };
      const answer = await again();
      if (answer.kind !== 'refused' || answer.mayReturn !== true) return answer;
      return afterCallIn(ask.accountId, again, (later) => later.kind === 'admitted' || later.mayReturn !== true);
    },

    async extend(ref, morePico) {
      let added = 0n;
      const again = async (): Promise<boolean> => {
        const promised = await escrows.extend(ref, morePico - added);
        if (promised !== null) {
          added += promised.added;
          return promised.mayReturn;
        }
        const result = await commit.add({ kind: 'extend', ...refOf(ref), morePico: morePico - added });
        if (result.kind !== 'extended') return false;
        added += result.addedPico;
        return result.mayReturn === true;
      };
      if (await again()) await afterCallIn(ref.accountId, again, (mayReturn) => !mayReturn);
      return added;
    },

    settle(asked, written) {
      const promise = escrows.takePromise(asked);
      const settlement = promise === undefined ? asked : { ...asked, promise };
      if (written === undefined) return charge(settlement, spool.append(settlement));
      return new Promise((resolve) => {
        spool.appendSoon(settlement, (receipt) => {
          resolve(charge(settlement, receipt));
          written();
        });
      });
    },

    async release(ref) {
      if (escrows.release(ref)) return;
      await commit.add({ kind: 'release', ...refOf(ref), onlyIfOrphaned: false });
    },

    balance: (accountId) => readBalance(pool, accountId),

    get healthy() {
      return isHealthy();
    },

    get holds() {
      return held.size + escrows.promises;
    },

    async close() {
      clearInterval(renewal);
      clearInterval(ticking);
      escrows.closeAll();
      await commit.close(closeLimitMs);
      witness.close();
      if (started)
        await connection
          .open()
          .then((client) => flight(client, [endLease(processId)]))
          .catch(() => {});
      started = false;
      connection.close();
      spool.close();
    },

    replay: (settlement) => charge(settlement, null),

    async releaseOrphan(ref) {
      await commit.add({ kind: 'release', ...refOf(ref), onlyIfOrphaned: true });
    },

    async expire(accountId) {
      await commit.add({ kind: 'expire', accountId });
    },

    takeTouched() {
      const accounts = [...touched];
      touched.clear();
      return accounts;
    },

    get calmForMs() {
      return commit.calmForMs;
    },
  };
}

function decideOrRefuse(...[operations, facts]: Parameters<typeof decide>): ReturnType<typeof decide> {
  try {
    return decide(operations, facts);
  } catch (error) {
    throw new Unworkable('an operation makes no sense', { cause: error });
  }
}

function refOf({ accountId, requestId }: RequestRef): RequestRef {
  return { accountId, requestId };
}

/** Keeps one connection of the pool while it works. */
function keepConnection(pool: Pool) {
  let kept: PoolClient | null = null;
  let closed = false;

  const drop = (client: PoolClient): void => {
    if (kept !== client) return;
    kept = null;
    client.release(true);
  };

  return {
    async open(): Promise<PoolClient> {
      if (kept !== null) return kept;
      const client = await pool.connect();
      if (closed) {
        client.release();
        throw new Closed('the ledger is closed');
      }
      kept = client;
      client.on('error', () => drop(client));
      try {
        await client.query(
          'SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS setting (name, value)',
          [Object.keys(sessionSettings), Object.values(sessionSettings)],
        );
      } catch (error) {
        drop(client);
        throw error;
      }
      return client;
    },

    /** After a failure: ends the transaction, or the connection when even that fails. */
    async recover(client: PoolClient, error: unknown): Promise<void> {
      // Without an answer of the database, the connection's state is unknown: it cannot be reused.
      if (classify(error) === 'outage') return drop(client);
      try {
        await client.query('ROLLBACK');
      } catch {
        drop(client);
      }
    },

    close(): void {
      closed = true;
      if (kept !== null) drop(kept);
    },
  };
}
