import type { PicoUsd } from '../../core/money.ts';
import type { Outcome } from '../../core/outcome.ts';
import { cost } from '../../core/price.ts';
import { addTokens, noTokens, type TokenPools } from '../../core/tokens.ts';
import type { Settlement } from '../types.ts';

/**
 * Settlements that their promises pay for. The money is in the row of the escrow already, so there is nothing to decide and
 * nothing to read: their rows move by additions, in one round trip. Pure.
 */
export interface PromisedCharge {
  settlement: Settlement;
  escrowId: string;
  /** The grant of the promise. */
  grantId: string;
  /** The cost, charged in full. */
  charged: PicoUsd;
}

/** The charge of a settlement that one part of a promise pays for; null when the lane has to decide. */
export function promisedCharge(settlement: Settlement): PromisedCharge | null {
  const { promise } = settlement;
  const part = promise?.parts[0];
  if (promise === undefined || part === undefined || promise.parts.length > 1) return null;
  const charged = costOrNull(settlement);
  if (charged === null || charged > part.amount) return null;
  return { settlement, escrowId: promise.escrowId, grantId: part.grantId, charged };
}

/** The additions of a batch. */
export interface Additions {
  escrows: readonly EscrowAddition[];
  /** In the order of accounts and ids: all that write to the same rows take their locks in the same order. */
  grants: readonly { accountId: string; grantId: string; charged: PicoUsd }[];
  keys: readonly { accountId: string; keyId: string; charged: PicoUsd }[];
  usage: readonly UsageAddition[];
  /** Accounts in their order, and the charges in the order of their accounts and requests. */
  accounts: readonly string[];
  charges: readonly PlacedCharge[];
}

/** What leaves one escrow. */
export interface EscrowAddition {
  accountId: string;
  keyId: string;
  escrowId: string;
  grantId: string;
  charged: PicoUsd;
}

/** A charge and the indexes of its account and its escrow. */
export interface PlacedCharge {
  charge: PromisedCharge;
  account: number;
  escrow: number;
}

/** The part of this batch in one row of hourly usage. */
export interface UsageAddition extends TokenPools {
  accountId: string;
  keyId: string;
  model: string;
  outcome: Outcome;
  requests: number;
  cost: PicoUsd;
  upstreamCost: PicoUsd;
}

/** The sums of one escrow while a batch is added up. */
interface Sums extends EscrowAddition {
  usage: UsageAddition[];
  charges: PromisedCharge[];
}

/** Adds up a batch. Null: one escrow would be charged in two grants, which the lane does. */
export function additionsOf(charges: readonly PromisedCharge[]): Additions | null {
  const byEscrow = new Map<string, Sums>();
  for (const charge of charges) {
    const { settlement, escrowId, grantId, charged } = charge;
    const sums = byEscrow.get(escrowId) ?? newSums(charge);
    if (sums.grantId !== grantId || sums.accountId !== settlement.accountId || sums.keyId !== settlement.keyId)
      return null;
    byEscrow.set(escrowId, sums);
    sums.charged += charged;
    sums.charges.push(charge);
    addUsage(sums, settlement, charged);
  }
  const all = [...byEscrow.values()].sort(byIds(({ accountId, escrowId }) => accountId + escrowId));
  const accounts = [...new Set(all.map(({ accountId }) => accountId))];
  return {
    escrows: all,
    grants: merged(all, ({ accountId, grantId }) => accountId + grantId),
    keys: merged(all, ({ accountId, keyId }) => accountId + keyId),
    usage: mergedUsage(all),
    accounts,
    charges: placed(all, accounts),
  };
}

function newSums({ settlement: { accountId, keyId }, escrowId, grantId }: PromisedCharge): Sums {
  return { accountId, keyId, escrowId, grantId, charged: 0n, usage: [], charges: [] };
}

function addUsage({ usage }: Sums, settlement: Settlement, charged: PicoUsd): void {
  const { accountId, keyId, model, outcome } = settlement;
  let sum = usage.find((known) => known.model === model && known.outcome === outcome);
  if (sum === undefined) {
    sum = { accountId, keyId, model, outcome, ...nothingUsed };
    usage.push(sum);
  }
  add(sum, { ...settlement.usage, requests: 1, cost: charged, upstreamCost: settlement.upstreamCost ?? 0n });
}

const nothingUsed = { ...noTokens, requests: 0, cost: 0n, upstreamCost: 0n };

function add(sum: UsageAddition, more: Omit<UsageAddition, 'accountId' | 'keyId' | 'model' | 'outcome'>): void {
  sum.requests += more.requests;
  addTokens(sum, more);
  sum.cost += more.cost;
  sum.upstreamCost += more.upstreamCost;
}

/** One addition for each row: several escrows of an account may share a grant or a key. */
function merged(all: readonly Sums[], idOf: (sums: Sums) => string): EscrowAddition[] {
  const rows = new Map<string, EscrowAddition>();
  for (const sums of all) {
    const id = idOf(sums);
    const row = rows.get(id);
    if (row === undefined) rows.set(id, { ...sums });
    else row.charged += sums.charged;
  }
  return inOrder(rows);
}

function mergedUsage(all: readonly Sums[]): UsageAddition[] {
  const rows = new Map<string, UsageAddition>();
  for (const addition of all.flatMap(({ usage }) => usage)) {
    const { accountId, keyId, model, outcome } = addition;
    // Only the model is free text, so it comes last.
    const id = `${accountId}${keyId}${outcome} ${model}`;
    const row = rows.get(id);
    if (row === undefined) rows.set(id, addition);
    else add(row, addition);
  }
  return inOrder(rows);
}

function placed(all: readonly Sums[], accounts: readonly string[]): PlacedCharge[] {
  const indexOf = new Map(accounts.map((id, index) => [id, index]));
  const rows = all.flatMap(({ accountId, charges }, escrow) =>
    charges.map((charge) => ({ charge, account: indexOf.get(accountId) ?? 0, escrow })),
  );
  return rows.sort((a, b) => a.account - b.account || compare(idOf(a), idOf(b)));
}

const idOf = ({ charge }: PlacedCharge): string => charge.settlement.requestId;

function inOrder<Row>(rows: ReadonlyMap<string, Row>): Row[] {
  if (rows.size < 2) return [...rows.values()];
  return [...rows].sort(([a], [b]) => compare(a, b)).map(([, row]) => row);
}

function byIds<Row>(of: (row: Row) => string): (a: Row, b: Row) => number {
  return (a, b) => compare(of(a), of(b));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Null for a line of a spool that is damaged (a pool that is not a whole number), and for an entry with units, runs of other
 * models or a variant of its prices, which the other lane writes.
 */
function costOrNull({ usage, price, units, lines }: Settlement): PicoUsd | null {
  if (units !== undefined || lines !== undefined || price.variant !== undefined) return null;
  try {
    return cost(usage, price);
  } catch {
    return null;
  }
}
