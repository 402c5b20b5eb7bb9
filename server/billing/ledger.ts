export { type Outcome } from '../core/outcome.ts';
export { type UsageSource } from '../core/tokens.ts';

import type { Pool, PoolClient } from 'pg';
import type { PicoUsd } from '../core/money.ts';
import { decide, type Operation, type Result } from './batch.ts';
import { classify, Unworkable } from './failure.ts';
import { flight, type Statement } from './flight.ts';
import { Closed, createGroupCommit, Quarantined, unavailable } from './group-commit.ts';
import type { BillingLog, BillingMetrics } from './log.ts';
import type { Spool, SpoolReceipt } from './spool.ts';
import {
  begin,
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

export type { FrozenPrice } from '../core/price.ts';
export type { AdmitAsk, Admitted, Refused, Settled, Settlement } from './types.ts';
export { Closed, Quarantined };

/**
 * The only writer of holds, postings, ledger entries and of what grants and keys have spent. It locks, decides by the
 * pure rules, applies, and commits before it answers: an admission is a promise that the money is there.
 */
export interface Ledger {
  /**
   * Registers this process, and keeps its lease while it runs. Rejects when the database is out of reach; may be called
   * again. Until it has succeeded, nothing is admitted.
   */
  start(): Promise<void>;
  /** Holds budget for a request, or says why not. Answers within about `admissionLimitMs`, whatever the database does. */
  admit(ask: AdmitAsk): Promise<Admitted | Refused>;
  /**
   * Adds to the hold of a running request and resolves to what was really added; 0 when nothing is left. Rejects while the
   * database is out of reach: whether anything is left is not known then.
   */
  extend(ref: RequestRef, morePico: PicoUsd): Promise<PicoUsd>;
  /**
   * Charges a finished request, once, however often it is called. The line is on disk before this returns its promise;
   * the promise resolves when the database has it. It rejects with `Quarantined` when the database can never take it
   * (the line is kept aside for a person), and with `Closed` when the ledger was closed first (the line stays on disk).
   *
   * With `written`, the line is on disk when that is called: at the end of this turn of the event loop, together with the
   * other lines of the turn, which costs a busy process much less. `written` must not throw.
   */
  settle(settlement: Settlement, written?: () => void): Promise<Settled>;
  /** Gives the hold of a request back that was never sent upstream. No ledger entry. */
  release(ref: RequestRef): Promise<void>;
  balance(accountId: string): Promise<Balance>;
  /** False while nothing can be promised: the database or the disk is out of reach, or it has not started. */
  readonly healthy: boolean;
  /** Requests of this process that budget is held for. */
  readonly holds: number;
  /** Commits what waits (up to a few seconds), then gives the lease up. What could not be committed stays on disk. */
  close(): Promise<void>;

  // For the sweep.

  /** Charges what a process that is gone left on disk. */
  replay(settlement: Settlement): Promise<Settled>;
  /** Gives the hold of a process back whose lease has ended, and does nothing otherwise. */
  releaseOrphan(ref: RequestRef): Promise<void>;
  /** Ends what is free of the account's grants that have ended. */
  expire(accountId: string): Promise<void>;
  /** The accounts that were written to since the last call. */
  takeTouched(): string[];
  /** Milliseconds since the last outage, or since the start. */
  readonly calmForMs: number;
}

export interface LedgerParts {
  /** Connections to the primary. One is kept; others are borrowed for moments. Without `pipeline`: a flight is one query to pg. */
  pool: Pool;
  /** A UUID of this run of the process. */
  processId: string;
  spool: Spool;
  /** How long the holds of a process outlive it. */
  holdLeaseMs: number;
  log: BillingLog;
  metrics?: BillingMetrics;
  /** How long an admission may take; a second, unless told otherwise. */
  admissionLimitMs?: number;
  /** How long `close` waits for the database. */
  closeLimitMs?: number;
}

export function createLedger(parts: LedgerParts): Ledger {
  const { pool, processId, spool, holdLeaseMs, log, metrics, admissionLimitMs, closeLimitMs = 5_000 } = parts;
  const connection = keepConnection(pool);
  const touched = new Set<string>();
  const held = new Set<string>();
  let started = false;
  /** Monotonic. */
  let leaseRenewedAt = Number.NEGATIVE_INFINITY;

  /** One batch: lock, decide, apply. The lease rides along, so that a ledger that can write cannot lose it. */
  const perform = async (operations: readonly Operation[]): Promise<Result[]> => {
    const client = await connection.open();
    try {
      const now = performance.now();
      const isLeaseDue = now - leaseRenewedAt >= holdLeaseMs / 4;
      const lease = isLeaseDue ? [renewLease(processId, String(holdLeaseMs))] : [];
      const results = operations.length === 0 ? [] : await together(client, operations, lease);
      count(operations, results);
      // Without operations it is only about the lease, or about whether the database answers.
      if (operations.length === 0) await flight(client, isLeaseDue ? lease : [ping()]);
      if (isLeaseDue) leaseRenewedAt = now;
      return results;
    } catch (error) {
      await connection.recover(client, error);
      throw error;
    }
  };

  /** What metrics tell of a batch that has been committed. */
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
    lease: Statement[],
  ): Promise<Result[]> => {
    const { facts, places } = await readFacts(client, operations, [begin(), ...lease]);
    const { results, changes } = decideOrRefuse(operations, facts);
    const written = await flight(client, [...writes(changes, places, processId), commitBatch()]);
    // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK, and calls that success.
    if (written.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was not committed');
    for (const { accountId } of [...changes.grants, ...changes.entries.map((entry) => entry.settlement)]) {
      touched.add(accountId);
    }
    return results;
  };

  const commit = createGroupCommit({
    perform,
    log,
    ...(admissionLimitMs === undefined ? {} : { longestWaitMs: admissionLimitMs }),
  });

  /** `receipt`: the line of this process's own spool; null for one that another process left behind. */
  const charge = async (settlement: Settlement, receipt: SpoolReceipt | null): Promise<Settled> => {
    try {
      const result = await commit.add({ kind: 'settle', settlement });
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
    // The customer is not charged for what nobody can write down, and the hold must not stay for ever.
    void commit.add({ kind: 'release', ...refOf(settlement), onlyIfOrphaned: false }).catch(() => {});
    // When not even that works, the line stays where it is.
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
      const result = await commit.add({ kind: 'admit', ask });
      return result.kind === 'admitted' || result.kind === 'refused' ? result : unavailable;
    },

    async extend(ref, morePico) {
      const result = await commit.add({ kind: 'extend', ...refOf(ref), morePico });
      return result.kind === 'extended' ? result.addedPico : 0n;
    },

    settle(settlement, written) {
      if (written === undefined) return charge(settlement, spool.append(settlement));
      return new Promise((resolve) => {
        spool.appendSoon(settlement, (receipt) => {
          resolve(charge(settlement, receipt));
          written();
        });
      });
    },

    async release(ref) {
      await commit.add({ kind: 'release', ...refOf(ref), onlyIfOrphaned: false });
    },

    balance: (accountId) => readBalance(pool, accountId),

    get healthy() {
      return isHealthy();
    },

    get holds() {
      return held.size;
    },

    async close() {
      clearInterval(renewal);
      await commit.close(closeLimitMs);
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

/** Keeps one connection of the pool, as long as it works. */
function keepConnection(pool: Pool) {
  let kept: PoolClient | null = null;

  const drop = (client: PoolClient): void => {
    if (kept !== client) return;
    kept = null;
    client.release(true);
  };

  return {
    async open(): Promise<PoolClient> {
      if (kept !== null) return kept;
      const client = await pool.connect();
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
      // What the database did not say itself leaves open what it is doing: nothing can be asked behind that.
      if (classify(error) === 'outage') return drop(client);
      try {
        await client.query('ROLLBACK');
      } catch {
        drop(client);
      }
    },

    close(): void {
      if (kept !== null) drop(kept);
    },
  };
}
