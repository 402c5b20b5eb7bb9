import type { Pool } from 'pg';
import type { BillingLog } from '../log.ts';
import type { GroupCommit } from './group-commit.ts';

/**
 * Gives back what the database has held for this process and the process knows nothing of: a standby that was promoted without the
 * last commits has holds again whose requests were settled, and no lease ends that would free them.
 */
export interface Strays {
  /** To be called once in a lease: what was unknown at the last call, too, is given back. */
  giveBack(): Promise<void>;
}

export interface StraysParts {
  pool: Pick<Pool, 'query'>;
  processId: string;
  lane: Pick<GroupCommit, 'add'>;
  /** A commit whose answer is under way is not known yet: hence the second look. */
  isKnown(requestId: string): boolean;
  log: Pick<BillingLog, 'warn'>;
}

interface HoldRow {
  account_id: string;
  request_id: string;
  escrow: boolean;
}

export function createStrays({ pool, processId, lane, isKnown, log }: StraysParts): Strays {
  let before = new Set<string>();

  return {
    async giveBack() {
      const { rows } = await pool.query<HoldRow>(
        'SELECT account_id, request_id, escrow FROM hold WHERE process_id = $1::uuid',
        [processId],
      );
      const unknown = rows.filter(({ request_id }) => !isKnown(request_id));
      const strays = unknown.filter(({ request_id }) => before.has(request_id));
      before = new Set(unknown.map(({ request_id }) => request_id));
      if (strays.length === 0) return;
      await Promise.all(
        strays.map(({ account_id: accountId, request_id: requestId, escrow }) =>
          lane.add(
            escrow
              ? { kind: 'trim', accountId, escrowId: requestId, keep: [] }
              : { kind: 'release', accountId, requestId, onlyIfOrphaned: false },
          ),
        ),
      );
      log.warn({ holds: strays.length }, 'gave back what was held for requests that are over');
    },
  };
}
