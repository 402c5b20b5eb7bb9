/** The commands for money: budget, ledger and invariants. */

import type { LedgerRecord } from '../../billing/usage.ts';
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
    options: { account: 'text' },
    async run(surroundings, given) {
      const { readBalance } = await import('../../billing/usage.ts');
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
      const { readLedger } = await import('../../billing/usage.ts');
      const limit = given.whole('limit', 1, maxEntries) ?? defaultEntries;
      const { id: accountId } = await accountOf(surroundings, given);
      const { items } = await readLedger(surroundings.pool, { accountId, limit });
      return { json: { entries: items.map(presentEntry) }, text: items.map(lineOf).join('\n') };
    },
  },
  {
    name: 'invariants',
    usage: '',
    summary: 'check the rules of money over all accounts; exit code 1 and the rows if one is broken',
    options: {},
    async run({ pool }) {
      const { checkInvariants } = await import('../../billing/invariants.ts');
      const broken = await checkInvariants(pool);
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
