import type { PoolClient } from 'pg';
import { decide, type Operation, type Result } from './batch.ts';
import type { KeptConnection } from './connection.ts';
import type { Escrows } from './escrows.ts';
import { Unworkable } from './failure.ts';
import { flight, type Statement } from './flight.ts';
import type { Lease } from './lease.ts';
import type { BillingMetrics } from './log.ts';
import { accountsWithEscrows, begin, commit, ping, readFacts, writes } from './statements.ts';

/** One batch as a transaction: lock, decide, apply. */
export interface Transactions {
  /** As in `GroupCommitParts`. Without operations, renews the lease or checks that the database answers. */
  perform(connection: KeptConnection, operations: readonly Operation[], careful: boolean): Promise<Result[]>;
  /** Accounts that were written to since the last call. */
  takeTouched(): string[];
  /** Requests with a hold of their own. */
  readonly holds: number;
}

export interface TransactionsParts {
  processId: string;
  lease: Lease;
  metrics: BillingMetrics | undefined;
  escrows(): Pick<Escrows, 'prepare' | 'committed'>;
}

export function createTransactions({ processId, lease, metrics, escrows }: TransactionsParts): Transactions {
  const touched = new Set<string>();
  const held = new Set<string>();

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
    const written = await flight(client, [...writes(changes, places, processId), commit()]);
    // PostgreSQL answers COMMIT of a failed transaction with the tag ROLLBACK, without an error.
    if (written.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was not committed');
    for (const { accountId } of changes.grants) touched.add(accountId);
    for (const { settlement } of changes.entries) touched.add(settlement.accountId);
    escrows().committed(operations, results, facts);
    return results;
  };

  /** Counts a committed batch. */
  const count = (operations: readonly Operation[], results: readonly Result[]): void => {
    metrics?.batch?.(operations.length);
    for (const [index, operation] of operations.entries()) {
      if (operation.kind === 'admit') {
        if (results[index]?.kind === 'admitted') held.add(operation.ask.requestId);
      } else if (operation.kind === 'settle') held.delete(operation.settlement.requestId);
      else if (operation.kind === 'release') held.delete(operation.requestId);
    }
  };

  return {
    async perform(connection, asked, careful) {
      const client = await connection.open();
      try {
        const renewal = lease.due();
        const prologue = renewal === null ? [] : [renewal.statement];
        const operations = escrows().prepare(asked);
        if (operations.length === 0) await flight(client, renewal === null ? [ping()] : prologue);
        const results = operations.length === 0 ? [] : await together(client, operations, { prologue, careful });
        if (operations.length > 0) count(operations, results);
        renewal?.confirmed();
        return results;
      } catch (error) {
        await connection.recover(client, error);
        throw error;
      }
    },

    takeTouched() {
      const accounts = [...touched];
      touched.clear();
      return accounts;
    },

    get holds() {
      return held.size;
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
