/** The commands for accounts and their grants. */

import { createAccounts } from '../../accounts/accounts.ts';
import { listGrants } from '../../billing/reads/usage.ts';
import { formatUsd } from '../../core/money.ts';
import { commandLine } from '../../shared/audit.ts';
import { accountOf, type Command, CommandError, type Given, invalidField, usd } from './command.ts';

export const accountCommands: readonly Command[] = [
  {
    name: 'account create',
    usage: '--email E [--name N] [--grant-usd X] [--expires-days D]',
    summary: 'open an account; without --grant-usd it starts with the trial',
    async run({ pool }, given) {
      const name = given.text('name');
      const outcome = await createAccounts({ pool }).create({
        email: given.required('email'),
        ...(name === undefined ? {} : { name }),
        grant: firstGrant(given),
        actor: commandLine,
      });
      if (outcome.kind === 'invalid') throw invalidField(outcome);
      const { id, email } = outcome.account;
      if (outcome.kind === 'exists') {
        throw new CommandError('account_exists', `There is an account for ${email} already`, {
          account: { id, email },
        });
      }
      return { json: { account: { id, email } } };
    },
  },
  statusCommand('suspend', 'refuse its requests until it is resumed'),
  statusCommand('resume', 'let a suspended account go on'),
  {
    name: 'grant add',
    usage: '--account E --usd X [--expires ISO] [--reason R]',
    summary: 'give budget',
    async run(surroundings, given) {
      given.required('usd');
      const reason = given.text('reason');
      const ask = { amount: usd(given, 'usd') ?? 0n, expiresAt: given.moment('expires') ?? null };
      const account = await accountOf(surroundings, given);
      const outcome = await createAccounts(surroundings).giveGrant({
        accountId: account.id,
        ...ask,
        ...(reason === undefined ? {} : { reason }),
        actor: commandLine,
      });
      if (outcome.kind === 'invalid') throw invalidField(outcome);
      if (outcome.kind === 'unknown_account') throw new CommandError(outcome.kind, `There is no account ${account.id}`);
      return { json: { grant: { id: outcome.grantId } } };
    },
  },
  {
    name: 'grant list',
    usage: '--account E',
    summary: 'the grants of an account, in the order in which they are used, in USD',
    async run(surroundings, given) {
      const { id: accountId } = await accountOf(surroundings, given);
      const grants = await listGrants(surroundings.pool, accountId);
      return {
        json: {
          grants: grants.map(({ id, kind, amount, free, held, expiresAt, reason }) => ({
            id,
            kind,
            amount: formatUsd(amount),
            free: formatUsd(free),
            held: formatUsd(held),
            expiresAt: expiresAt?.toISOString() ?? null,
            reason,
          })),
        },
      };
    },
  },
  {
    name: 'grant end',
    usage: '--account E --id GRANT --reason R',
    summary: 'take back what is unspent of a grant',
    async run(surroundings, given) {
      const ask = { grantId: given.required('id'), reason: given.required('reason') };
      const account = await accountOf(surroundings, given);
      const outcome = await createAccounts(surroundings).endGrant({
        accountId: account.id,
        ...ask,
        actor: commandLine,
      });
      if (outcome.kind === 'invalid') throw invalidField(outcome);
      if (outcome.kind === 'unknown_grant') {
        throw new CommandError(outcome.kind, `The account has no grant ${ask.grantId}`);
      }
      if (outcome.kind === 'over') throw new CommandError('grant_over', `Nothing is left of the grant ${ask.grantId}`);
      const { free, held } = outcome;
      return { json: { grant: { id: ask.grantId, taken: formatUsd(free), held: formatUsd(held) } } };
    },
  },
];

function firstGrant(given: Given) {
  const days = given.days('expires-days');
  const amount = usd(given, 'grant-usd');
  if (amount === undefined) return { kind: 'trial' as const, ...(days === undefined ? {} : { days }) };
  if (amount === 0n) return { kind: 'none' as const };
  return { kind: 'adjustment' as const, amount, days: days ?? null };
}

function statusCommand(verb: 'suspend' | 'resume', summary: string): Command {
  return {
    name: `account ${verb}`,
    usage: '--account E',
    summary,
    async run(surroundings, given) {
      const { id: accountId } = await accountOf(surroundings, given);
      const outcome = await createAccounts(surroundings)[verb]({ accountId, actor: commandLine });
      if (outcome.kind === 'unknown_account') throw new CommandError(outcome.kind, `There is no account ${accountId}`);
      const { id, email, status } = outcome.account;
      return { json: { account: { id, email, status } } };
    },
  };
}
