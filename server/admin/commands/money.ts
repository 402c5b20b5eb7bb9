/** The commands for money: budget, ledger and invariants. */

import { listArchivedMonths } from '../../billing/archive/archived-months.ts';
import { type LedgerRecord, readBalance, readLedger } from '../../billing/reads/usage.ts';
import { checkInvariants } from '../../billing/upkeep/invariants.ts';
import { formatPrice, formatUsd } from '../../core/money.ts';
import type { UnitPrices } from '../../core/price.ts';
import type { TokenPools } from '../../core/tokens.ts';
import { accountOf, type Command, CommandError } from './command.ts';

const defaultEntries = 50;
const maxEntries = 10_000;

export const moneyCommands: readonly Command[] = [
  {
    name: 'budget show',
    usage: '--account E',
    summary: 'what was granted, charged, held, has expired and is free, in USD',
    async run(surroundings, given) {
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
    async run(surroundings, given) {
      const limit = given.whole('limit', 1, maxEntries) ?? defaultEntries;
      const { id: accountId } = await accountOf(surroundings, given);
      const { items, next } = await readLedger(surroundings.pool, { accountId, limit });
      // Older requests may be in archives: said where the list ends.
      const archived = next === null ? (await listArchivedMonths(surroundings.pool)).map(({ month }) => month) : [];
      return {
        json: { entries: items.map(presentEntry), ...(archived.length === 0 ? {} : { archived }) },
        text: [...items.map(lineOf), ...archived.map((month) => `${month} is in an archive`)].join('\n'),
      };
    },
  },
  {
    name: 'invariants',
    usage: '[--account E] [--since ISO]',
    summary:
      'check the rules of money over all accounts, or one; with --since only what was written since then, beside the sums of before; exit code 1 and the rows if one is broken',
    async run(surroundings, given) {
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
