import type { PoolClient } from 'pg';
import type { Escrows } from '../escrow/escrows.ts';
import { type Additions, additionsOf, type PromisedCharge } from '../escrow/promised-charges.ts';
import { additionStatements, freeOf } from '../escrow/promised-statements.ts';
import type { BillingMetrics } from '../log.ts';
import { decide, type Operation, type Result } from './batch.ts';
import type { KeptConnection } from './connection.ts';
import { classify, Unworkable } from './failure.ts';
import { flight, type Statement } from './flight.ts';
import type { Lease } from './lease.ts';
import { accountsWithEscrows, begin, commit, ping, readFacts } from './statements.ts';
import { writes } from './writes.ts';

/** One batch as a transaction: lock, decide, apply. */
export interface Transactions {
  /** As in `GroupCommitParts`. Without operations, renews the lease if it `renews`, or checks that the database answers. */
  perform(
    connection: KeptConnection,
    operations: readonly Operation[],
    how: { careful: boolean; renews: boolean },
  ): Promise<Result[]>;
  /** The same for settlements: in one round trip if their promises pay for all of them. */
  charge(connection: KeptConnection, settlements: readonly Operation[], careful: boolean): Promise<Result[]>;
  /** Accounts that were written to since the last call. */
  takeTouched(): string[];
  /** Requests that each have a hold. */
  readonly holds: number;
  /** Whether the request has one, as far as this process knows. */
  holdsFor(requestId: string): boolean;
}

export interface TransactionsParts {
  processId: string;
  lease: Lease;
  metrics: BillingMetrics | undefined;
  escrows(): Pick<Escrows, 'prepare' | 'committed' | 'charged'>;
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

  const perform = async (
    connection: KeptConnection,
    asked: readonly Operation[],
    { careful, renews }: { careful: boolean; renews: boolean },
  ): Promise<Result[]> => {
    const client = await connection.open();
    try {
      const renewal = renews ? lease.due() : null;
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
  };

  /** Null: the rows are not as the promises say, and nothing was written. Throws when the database is away. */
  const add = async (
    connection: KeptConnection,
    additions: Additions,
  ): Promise<ReadonlyMap<PromisedCharge, Result> | null> => {
    const client = await connection.open();
    try {
      const statements = [begin(), ...additionStatements(additions), commit()];
      const answers = await flight(client, statements);
      if (answers.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was not committed');
      for (const accountId of additions.accounts) touched.add(accountId);
      const charges = additions.charges.map(({ charge }) => charge);
      escrows().charged(charges);
      metrics?.batch?.(charges.length);
      return settledBy(additions, freeOf(answers.slice(1)));
    } catch (error) {
      await connection.recover(client, error);
      if (classify(error) === 'outage') throw error;
      return null;
    }
  };

  return {
    perform,

    async charge(connection, settlements, careful) {
      const promised = settlements.map((each) => (each.kind === 'settle' ? each.promised : undefined));
      const charges = promised.filter((charge) => charge !== undefined);
      const isCovered = !careful && charges.length > 0 && charges.length === settlements.length;
      const additions = isCovered ? additionsOf(charges) : null;
      const results = additions === null ? null : await add(connection, additions);
      if (results === null) {
        // The lease is left to the other lane: one that waits for an account must not keep its row from the other.
        return perform(connection, settlements, { careful: careful || additions !== null, renews: false });
      }
      return charges.map((charge) => results.get(charge)).filter((result) => result !== undefined);
    },

    takeTouched() {
      const accounts = [...touched];
      touched.clear();
      return accounts;
    },

    get holds() {
      return held.size;
    },

    holdsFor: (requestId) => held.has(requestId),
  };
}

function decideOrRefuse(...[operations, facts]: Parameters<typeof decide>): ReturnType<typeof decide> {
  try {
    return decide(operations, facts);
  } catch (error) {
    throw new Unworkable('an operation makes no sense', { cause: error });
  }
}

/** What each of the charges has come to. */
function settledBy(additions: Additions, free: readonly bigint[]): ReadonlyMap<PromisedCharge, Result> {
  return new Map(
    additions.charges.map(({ charge, account }) => {
      const { charged, grantId } = charge;
      const settled = { cost: charged, charged, freeAfter: free[account] ?? 0n, duplicate: false };
      return [charge, { kind: 'settled', settled, own: [{ grantId, amount: charged }] }];
    }),
  );
}
