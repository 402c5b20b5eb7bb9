import type { AccountLimits } from '../../accounts/account-limits.ts';
import { createAccounts } from '../../accounts/accounts.ts';
import type { Project } from '../../accounts/projects.ts';
import { readProjectSpend } from '../../billing/reads/shared-spend.ts';
import { formatUsd } from '../../core/money.ts';
import { commandLine } from '../../shared/audit.ts';
import { accountOf, type Command, CommandError, type Given, invalidField, type Surroundings, usd } from './command.ts';

/** Limits of accounts, members and projects from the command line: each prints what counts, after it was set. */

const periods = ['day', 'week', 'month', 'lifetime'] as const;
const paces = { rpm: 'requestsPerMinute', tpm: 'tokensPerMinute', concurrent: 'maxConcurrent' } as const;
const maxima = { rpm: 1_000_000, tpm: 2_000_000_000, concurrent: 100_000 } as const;

export const limitCommands: readonly Command[] = [
  {
    name: 'account limits',
    usage:
      '--account E [--limit-day USD] [--limit-week USD] [--limit-month USD] [--limit-lifetime USD] [--rpm N] [--tpm N] [--concurrent N] [--addresses A,B] [--time-zone Z]',
    summary: 'set the limits of an account over all its keys, and where its days begin; "none" takes a limit away',
    async run(surroundings, given) {
      const accounts = createAccounts(surroundings);
      const { id: accountId } = await accountOf(surroundings, given);
      const change = changeOf(given, await accounts.limits(accountId));
      if (Object.keys(change).length > 0) {
        const outcome = await accounts.setLimits({ accountId, actor: commandLine, ...change });
        if (outcome.kind === 'invalid') throw invalidField(outcome);
        if (outcome.kind !== 'changed') throw new CommandError(outcome.kind, `There is no account ${accountId}`);
      }
      const limits = await accounts.limits(accountId);
      if (limits === null) throw new CommandError('unknown_account', `There is no account ${accountId}`);
      return { json: { limits: shown(limits) } };
    },
  },
  {
    name: 'member budget',
    usage: '--account E --email E --month USD|none',
    summary: 'set what the keys that a member made may spend in a month together',
    async run(surroundings, given) {
      const { id: accountId } = await accountOf(surroundings, given);
      const email = given.required('email');
      given.required('month');
      const month = amountOrNone(given, 'month') ?? null;
      const { rows } = await surroundings.pool.query<{ id: string }>(
        'SELECT id FROM app_user WHERE email = lower($1)',
        [email],
      );
      const userId = rows[0]?.id ?? '';
      const outcome = await createAccounts(surroundings).setMemberLimit({
        accountId,
        userId,
        month,
        actor: commandLine,
      });
      if (outcome.kind === 'invalid') throw invalidField(outcome);
      if (outcome.kind !== 'changed') throw new CommandError(outcome.kind, `${email} has no part in this account`);
      return { json: { member: { email, month: month === null ? null : formatUsd(month) } } };
    },
  },
  {
    name: 'project list',
    usage: '--account E [--archived]',
    summary: 'list the projects of an account with their budgets and what they spent',
    async run(surroundings, given) {
      const { id: accountId } = await accountOf(surroundings, given);
      const list = await createAccounts(surroundings).projects.list(accountId, { archived: given.flag('archived') });
      return { json: { projects: await Promise.all(list.map((project) => reported(surroundings, project))) } };
    },
  },
  {
    name: 'project create',
    usage: '--account E --name N [--limit-month USD] [--limit-lifetime USD]',
    summary: 'make a project',
    async run(surroundings, given) {
      const { id: accountId } = await accountOf(surroundings, given);
      const name = given.required('name');
      const outcome = await createAccounts(surroundings).projects.create({
        accountId,
        name,
        limits: {
          month: amountOrNone(given, 'limit-month') ?? null,
          lifetime: amountOrNone(given, 'limit-lifetime') ?? null,
        },
        actor: commandLine,
      });
      if (outcome.kind === 'invalid') throw invalidField(outcome);
      if (outcome.kind !== 'created') throw new CommandError(outcome.kind, `The project ${name} cannot be made`);
      return { json: { project: await reported(surroundings, outcome.project) } };
    },
  },
];

/** Undefined: not given. Null: taken away. */
function amountOrNone(given: Given, name: string): bigint | null | undefined {
  return given.text(name) === 'none' ? null : usd(given, name);
}

function changeOf(given: Given, before: AccountLimits | null): Partial<AccountLimits> {
  const change: Partial<AccountLimits> = {};
  for (const period of periods) {
    const amount = amountOrNone(given, `limit-${period}`);
    if (amount === undefined) continue;
    const none = { day: null, week: null, month: null, lifetime: null };
    change.limits = { ...(change.limits ?? before?.limits ?? none), [period]: amount };
  }
  for (const [name, pace] of Object.entries(paces) as [keyof typeof paces, (typeof paces)[keyof typeof paces]][]) {
    const most = given.text(name) === 'none' ? null : given.whole(name, 1, maxima[name]);
    if (most !== undefined) change[pace] = most;
  }
  const addresses = given.text('addresses') === 'none' ? [] : given.list('addresses');
  const timeZone = given.text('time-zone');
  return {
    ...change,
    ...(addresses === undefined ? {} : { addresses }),
    ...(timeZone === undefined ? {} : { timeZone }),
  };
}

function shown({ limits, ...rest }: AccountLimits) {
  const usdOf = (amount: bigint | null) => (amount === null ? null : formatUsd(amount));
  return {
    day: usdOf(limits.day),
    week: usdOf(limits.week),
    month: usdOf(limits.month),
    lifetime: usdOf(limits.lifetime),
    ...rest,
  };
}

async function reported({ pool }: Surroundings, { id, name, archivedAt }: Project) {
  const [spend] = await readProjectSpend(pool, [id]);
  const usdOf = (amount: bigint | null | undefined) =>
    amount === null || amount === undefined ? null : formatUsd(amount);
  return {
    id,
    name,
    archivedAt,
    limitMonth: usdOf(spend?.limitMonth),
    limitLifetime: usdOf(spend?.limitLifetime),
    thisMonth: usdOf(spend?.thisMonth),
    lifetime: usdOf(spend?.lifetime),
    keys: spend?.keys ?? 0,
  };
}
