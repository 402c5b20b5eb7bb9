/** The commands for money: budget, ledger and invariants. */

import type { LedgerRecord } from '../../billing/reads/usage.ts';
import { formatPrice, formatUsd } from '../../core/money.ts';
import type { UnitPrices } from '../../core/price.ts';
import type { TokenPools } from '../../core/tokens.ts';
import { commandLine } from '../../shared/audit.ts';
import { accountOf, type Command, CommandError, invalidField, usd } from './command.ts';

const defaultEntries = 50;
const maxEntries = 10_000;
const maxCodes = 1_000;
const maxListedBatches = 200;

export const moneyCommands: readonly Command[] = [
  {
    name: 'budget show',
    usage: '--account E',
    summary: 'what was granted, charged, held, has expired and is free, in USD',
    options: { account: 'text' },
    async run(surroundings, given) {
      const { readBalance } = await import('../../billing/reads/usage.ts');
      const { id } = await accountOf(surroundings, given);
      const { granted, charged, held, expired, free } = await readBalance(surroundings.pool, id);
      return {
        json: {
          granted: formatUsd(granted),
          charged: formatUsd(charged),
          held: formatUsd(held),
          expired: formatUsd(expired),
          free: formatUsd(free),
        },
      };
    },
  },
  {
    name: 'ledger list',
    usage: `--account E [--limit N]`,
    summary: `the finished requests of an account, newest first (default ${defaultEntries})`,
    options: { account: 'text', limit: 'text' },
    async run(surroundings, given) {
      const { readLedger } = await import('../../billing/reads/usage.ts');
      const limit = given.whole('limit', 1, maxEntries) ?? defaultEntries;
      const { id: accountId } = await accountOf(surroundings, given);
      const { items, next } = await readLedger(surroundings.pool, { accountId, limit });
      const { listArchivedMonths } = await import('../../billing/archive/archived-months.ts');
      // Older requests may be in archives: said where the list ends.
      const archived = next === null ? (await listArchivedMonths(surroundings.pool)).map(({ month }) => month) : [];
      return {
        json: { entries: items.map(presentEntry), ...(archived.length === 0 ? {} : { archived }) },
        text: [...items.map(lineOf), ...archived.map((month) => `${month} is in an archive`)].join('\n'),
      };
    },
  },
  {
    name: 'code create',
    usage: '--name N --count C (--usd X [--days D] | --plan P) [--uses U] [--expires ISO]',
    summary: 'make redemption codes; they are shown once',
    options: { name: 'text', count: 'text', usd: 'text', days: 'text', plan: 'text', uses: 'text', expires: 'text' },
    async run({ pool }, given) {
      const { createCodes } = await import('../../plans/codes.ts');
      const outcome = await createCodes({ pool, throttle: { take: async () => null } }).create({
        name: given.required('name'),
        count: given.whole('count', 1, maxCodes) ?? 1,
        uses: given.whole('uses', 1, 1_000_000) ?? 1,
        amount: (await usd(given, 'usd')) ?? null,
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
    options: {},
    async run({ pool }) {
      const { createCodes } = await import('../../plans/codes.ts');
      const batches = await createCodes({ pool, throttle: { take: async () => null } }).list({
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
    options: { id: 'text' },
    async run({ pool }, given) {
      const { createCodes } = await import('../../plans/codes.ts');
      const codes = createCodes({ pool, throttle: { take: async () => null } });
      const batch = await codes.revoke({ batchId: given.required('id'), actor: commandLine });
      if (batch === null) throw new CommandError('unknown_batch', 'There is no open batch with this id');
      return { json: { batch: { id: batch.id, revokedAt: batch.revokedAt } } };
    },
  },
  {
    name: 'invariants',
    usage: '[--account E] [--since ISO]',
    summary:
      'check the rules of money over all accounts, or one; with --since only what was written since then, beside the sums of before; exit code 1 and the rows if one is broken',
    options: { account: 'text', since: 'text' },
    async run(surroundings, given) {
      const { checkInvariants } = await import('../../billing/upkeep/invariants.ts');
      const accounts = given.text('account') === undefined ? null : [(await accountOf(surroundings, given)).id];
      const since = given.moment('since');
      const broken = await checkInvariants(surroundings.pool, { accounts, ...(since === undefined ? {} : { since }) });
      if (broken.length > 0) {
        const names = [...new Set(broken.map(({ invariant }) => invariant))].join(', ');
        throw new CommandError('invariant_broken', `Broken: ${names}`, { broken });
      }
      return { json: { invariants: 'ok' }, text: 'All invariants hold.' };
    },
  },
];

function presentEntry(entry: LedgerRecord) {
  return {
    requestId: entry.requestId,
    createdAt: entry.createdAt,
    keyId: entry.keyId,
    model: entry.model,
    upstream: entry.upstream,
    protocol: entry.protocol,
    usage: presentPools(entry.usage),
    prices: presentPrices(entry.prices),
    ...(entry.tier === null
      ? {}
      : { tier: { abovePromptTokens: entry.tier.above, upToPromptTokens: entry.tier.upTo } }),
    ...(entry.units.length === 0
      ? {}
      : { units: entry.units.map((line) => ({ ...line, price: formatUsd(line.price) })) }),
    ...(entry.lines.length === 0
      ? {}
      : {
          lines: entry.lines.map(({ model, usage, price }) => ({
            model,
            usage: presentPools(usage),
            prices: presentPrices(price),
          })),
        }),
    cost: formatUsd(entry.cost),
    charged: formatUsd(entry.charged),
    latencyMs: entry.latencyMs,
    timeToFirstByteMs: entry.timeToFirstByteMs,
    outcome: entry.outcome,
    usageSource: entry.usageSource,
  };
}

function presentPools({ input, cacheHit, cacheWrite5m, cacheWrite1h, output }: TokenPools) {
  return { input, cacheHit, cacheWrite5m, cacheWrite1h, output };
}

function presentPrices({ input, cacheHit, cacheWrite5m, cacheWrite1h, output }: UnitPrices) {
  return {
    input: formatPrice(input),
    cacheHit: formatPrice(cacheHit),
    cacheWrite5m: formatPrice(cacheWrite5m),
    cacheWrite1h: formatPrice(cacheWrite1h),
    output: formatPrice(output),
  };
}

/** One entry on one line, for people. */
function lineOf({ createdAt, requestId, model, usage, charged, outcome }: LedgerRecord): string {
  const read = usage.input + usage.cacheHit + usage.cacheWrite5m + usage.cacheWrite1h;
  return [
    createdAt.toISOString(),
    requestId,
    model,
    `${read} in`,
    `${usage.output} out`,
    `${formatUsd(charged)} USD`,
    outcome,
  ].join('  ');
}
