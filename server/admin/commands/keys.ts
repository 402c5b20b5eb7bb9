/** The commands for API keys. */

import { createCatalog } from '../../catalog/catalog.ts';
import { formatUsd } from '../../core/money.ts';
import { type ApiKey, createKeys } from '../../keys/keys.ts';
import { commandLine } from '../../shared/audit.ts';
import { accountOf, type Command, CommandError, type Given, invalidField, type Surroundings, usd } from './command.ts';

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    usage:
      '--account E [--name N] [--models a,b] [--expires ISO] [--limit-day USD] [--limit-week USD] [--limit-month USD] [--limit-lifetime USD] [--burn-usd X --burn-minutes Y] [--rpm N] [--tpm N] [--concurrent N] [--addresses CIDR,…]',
    summary: 'make an API key; its secret is shown this once',
    async run(surroundings, given) {
      const account = await accountOf(surroundings, given);
      const name = given.text('name');
      const models = await modelIds(surroundings, given);
      const outcome = await createKeys(surroundings).create({
        accountId: account.id,
        ...(name === undefined ? {} : { name }),
        models,
        limits: {
          day: usd(given, 'limit-day') ?? null,
          week: usd(given, 'limit-week') ?? null,
          month: usd(given, 'limit-month') ?? null,
          lifetime: usd(given, 'limit-lifetime') ?? null,
        },
        burnLimit: burnLimit(given),
        requestsPerMinute: given.whole('rpm', 1, 1_000_000) ?? null,
        tokensPerMinute: given.whole('tpm', 1, 2_000_000_000) ?? null,
        maxConcurrent: given.whole('concurrent', 1, 100_000) ?? null,
        addresses: given.list('addresses') ?? [],
        expiresAt: given.moment('expires') ?? null,
        actor: commandLine,
      });
      if (outcome.kind === 'invalid') throw invalidField(outcome);
      if (outcome.kind === 'too_many_keys') throw tooMany(outcome.limit);
      if (outcome.kind !== 'created') throw new CommandError(outcome.kind, `There is no account ${account.id}`);
      return { json: { key: { id: outcome.key.id, secret: outcome.secret } } };
    },
  },
  {
    name: 'key list',
    usage: '--account E [--deleted]',
    summary: 'list the keys of an account',
    async run(surroundings, given) {
      const { id } = await accountOf(surroundings, given);
      const keys = await createKeys(surroundings).list(id, { deleted: given.flag('deleted') });
      return { json: { keys: keys.map(present) } };
    },
  },
  {
    name: 'key rotate',
    usage: '--id ID [--grace-minutes M]',
    summary: 'replace a key; the old one goes on for the grace period (default 60 minutes)',
    async run(surroundings, given) {
      const graceMs = (given.whole('grace-minutes', 0, 525_600) ?? 60) * 60_000;
      const { accountId, id } = await keyOf(surroundings, given);
      const outcome = await createKeys(surroundings).rotate({ accountId, id, graceMs, actor: commandLine });
      if (outcome.kind === 'too_many_keys') throw tooMany(outcome.limit);
      if (outcome.kind === 'unknown_key') throw unknownKey(id);
      if (outcome.kind === 'key_expired')
        throw new CommandError(outcome.kind, `The time of the key ${id} is over; make a new one`);
      if (outcome.kind === 'replaced_before')
        throw new CommandError(
          outcome.kind,
          `The key ${id} was replaced before; replace its successor, or make a new one`,
        );
      if (outcome.kind !== 'rotated') throw new CommandError(outcome.kind, `The key ${id} cannot be replaced`);
      const { key, secret, replaced } = outcome;
      return { json: { key: { id: key.id, secret }, replaced: { id: replaced.id, expiresAt: replaced.expiresAt } } };
    },
  },
  {
    name: 'key delete',
    usage: '--id ID',
    summary: 'delete a key; running requests finish',
    async run(surroundings, given) {
      const { accountId, id } = await keyOf(surroundings, given);
      const outcome = await createKeys(surroundings).delete({ accountId, id, actor: commandLine });
      if (outcome.kind === 'unknown_key') throw unknownKey(id);
      return { json: { key: { id: outcome.key.id, deletedAt: outcome.key.deletedAt } } };
    },
  },
];

function present({
  id,
  name,
  prefix,
  last4,
  models,
  limits,
  burnLimit,
  requestsPerMinute,
  tokensPerMinute,
  maxConcurrent,
  addresses,
  expiresAt,
  createdAt,
  deletedAt,
}: ApiKey) {
  const amount = (limit: bigint | null) => (limit === null ? null : formatUsd(limit));
  return {
    id,
    name,
    secret: `${prefix}…${last4}`,
    models,
    limits: {
      day: amount(limits.day),
      week: amount(limits.week),
      month: amount(limits.month),
      lifetime: amount(limits.lifetime),
    },
    burnLimit: burnLimit && { amount: amount(burnLimit.amount), minutes: burnLimit.minutes },
    requestsPerMinute,
    tokensPerMinute,
    maxConcurrent,
    addresses,
    expiresAt,
    createdAt,
    deletedAt,
  };
}

/** The burn limit of the options, which come together. */
function burnLimit(given: Given): ApiKey['burnLimit'] {
  const [amount, minutes] = [usd(given, 'burn-usd'), given.whole('burn-minutes', 1, 1_440)];
  if (amount === undefined && minutes === undefined) return null;
  if (amount === undefined || minutes === undefined)
    throw new CommandError('invalid_input', '--burn-usd and --burn-minutes come together');
  return { amount, minutes };
}

/** The key that `--id` names, of any account. */
async function keyOf({ pool }: Surroundings, given: Given): Promise<ApiKey> {
  const id = given.required('id');
  const key = await createKeys({ pool }).find(id);
  if (key === null || key.deletedAt !== null) throw unknownKey(id);
  return key;
}

/** The catalog ids behind `--models`. A misspelt id would make a key that opens nothing. */
async function modelIds({ pool }: Surroundings, given: Given): Promise<string[]> {
  const asked = given.list('models');
  if (asked === undefined) return [];
  // No option means every model; an empty list was meant to be something else.
  if (asked.length === 0) throw new CommandError('invalid_input', '--models must name models, separated by commas');
  const catalog = createCatalog({ pool });
  await catalog.refresh();
  const found: string[] = [];
  for (const name of asked) {
    const model = await catalog.resolve(name);
    if (model === null) throw new CommandError('unknown_model', `There is no model ${name} in the catalog`);
    found.push(model.id);
  }
  return found;
}

function unknownKey(id: string): CommandError {
  return new CommandError('unknown_key', `There is no key ${id}`);
}

function tooMany(limit: number): CommandError {
  return new CommandError('too_many_keys', `The account has ${limit} keys, and that is the most`);
}
