/** The commands for redemption codes. */

import type { Pool } from 'pg';
import { formatUsd } from '../../core/money.ts';
import { createCodes } from '../../plans/codes.ts';
import { commandLine } from '../../shared/audit.ts';
import { type Command, CommandError, invalidField, usd } from './command.ts';

const maxCodes = 1_000;
const maxListedBatches = 200;

/** Nobody redeems codes here, so that nothing is throttled. */
function codesOf(pool: Pool) {
  return createCodes({ pool, throttle: { take: async () => null } });
}

export const codeCommands: readonly Command[] = [
  {
    name: 'code create',
    usage: '--name N --count C (--usd X [--days D] | --plan P) [--uses U] [--expires ISO]',
    summary: 'make redemption codes; they are shown once',
    async run({ pool }, given) {
      const outcome = await codesOf(pool).create({
        name: given.required('name'),
        count: given.whole('count', 1, maxCodes) ?? 1,
        uses: given.whole('uses', 1, 1_000_000) ?? 1,
        amount: usd(given, 'usd') ?? null,
        validDays: given.whole('days', 1, 36_500) ?? null,
        planId: given.text('plan') ?? null,
        expiresAt: given.moment('expires') ?? null,
        actor: commandLine,
      });
      if (outcome.kind === 'invalid') throw invalidField(outcome);
      if (outcome.kind === 'unknown_plan')
        throw new CommandError(outcome.kind, `There is no plan ${given.text('plan')}`);
      return { json: { batch: { id: outcome.batch.id }, codes: outcome.codes }, text: outcome.codes.join('\n') };
    },
  },
  {
    name: 'code list',
    usage: '',
    summary: 'batches of redemption codes, the newest first',
    async run({ pool }) {
      const batches = await codesOf(pool).list({
        limit: maxListedBatches,
        after: null,
      });
      return { json: { batches: batches.map((batch) => ({ ...batch, amount: formatUsd(batch.amount) })) } };
    },
  },
  {
    name: 'code revoke',
    usage: '--id ID',
    summary: 'end a batch of redemption codes',
    async run({ pool }, given) {
      const codes = codesOf(pool);
      const batch = await codes.revoke({ batchId: given.required('id'), actor: commandLine });
      if (batch === null) throw new CommandError('unknown_batch', 'There is no open batch with this id');
      return { json: { batch: { id: batch.id, revokedAt: batch.revokedAt } } };
    },
  },
];
