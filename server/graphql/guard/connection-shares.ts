import type { Pool } from 'pg';
import { createAccountTurns } from '../../shared/account-turns.ts';
import type { GraphqlContext } from '../context.ts';
import { BusyError } from '../types/errors.ts';

/**
 * Shares of the connections that pages read with. An operation can ask for thirty reports at once, and a principal for
 * twenty operations: at most half of the connections are one principal's, and the queries of each wait in a line of its own.
 */
export interface Shares {
  /** A pool whose queries wait for their turn among those of the principal; everything else is the pool's own. */
  pool(db: Pool, principal: string): Pool;
  history(reader: GraphqlContext['history'], principal: string): GraphqlContext['history'];
}

type Query = (...given: unknown[]) => Promise<unknown>;

/** @param connections - How many there are; one stays free for work that has no turns. */
export function createShares({ connections }: { connections: number }): Shares {
  const perProcess = Math.max(1, connections - 1);
  const turns = createAccountTurns({
    perAccount: Math.max(1, Math.floor(perProcess / 2)),
    perProcess,
    line: { max: maxWaiting, refusal: () => new BusyError() },
  });
  const inTurn =
    (query: Query, principal: string): Query =>
    (...given) =>
      turns(principal, () => query(...given));
  return {
    pool(db, principal) {
      const query = inTurn(db.query.bind(db), principal);
      return new Proxy(db, {
        get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)),
      });
    },
    history: (reader, principal) => ({
      query: inTurn(reader.query.bind(reader), principal) as GraphqlContext['history']['query'],
      get ageMs() {
        return reader.ageMs;
      },
    }),
  };
}

/** Queries of a principal that wait: those of a dozen operations of the largest kind. */
const maxWaiting = 400;
