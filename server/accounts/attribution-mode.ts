import type { Pool } from 'pg';
import type { AttributionMode } from '../core/attribution.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { isUuid } from '../shared/uuid.ts';

/**
 * Sets what an account has stored of whom its requests are for. It counts for requests that begin from now on; what is stored
 * already stays as it is.
 */
export function setAttributionMode(
  pool: Pool,
  { accountId, mode, actor }: { accountId: string; mode: AttributionMode; actor: string },
): Promise<{ kind: 'changed' } | { kind: 'unknown_account' }> {
  return repeatedTransaction(pool, async (client) => {
    if (!isUuid(accountId)) return { kind: 'unknown_account' as const };
    const { rows } = await client.query<{ attribution: AttributionMode }>(
      'SELECT attribution FROM account WHERE id = $1 AND erased_at IS NULL FOR NO KEY UPDATE',
      [accountId],
    );
    const [before] = rows;
    if (before === undefined) return { kind: 'unknown_account' as const };
    if (before.attribution !== mode) {
      await client.query('UPDATE account SET attribution = $2 WHERE id = $1', [accountId, mode]);
      await appendAudit(client, {
        actor,
        action: 'account.attribution',
        subject: `account:${accountId}`,
        before: { mode: before.attribution },
        after: { mode },
      });
    }
    return { kind: 'changed' as const };
  });
}
