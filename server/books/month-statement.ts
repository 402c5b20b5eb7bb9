import { createHash } from 'node:crypto';
import { formatUsd } from '../core/money.ts';
import { csvLine } from '../shared/csv.ts';
import { type ForeignTaxes } from './rates.ts';
import {
  type AccountTotals,
  type Allowed,
  type BudgetKind,
  budgetKinds,
  type CashMoved,
  cashMovements,
  leftOf,
  type Moved,
  movements,
  type OwedParts,
  owedOf,
  owedParts,
} from './totals.ts';
import { type CostSplit, type CostTotals, type Payer, payers } from './vendor-cost.ts';

/** Every line of a month, as an accountant reads it. Budgets and costs are pico-USD, the rest whole VND. */

/** `opening` + added - used - expired - refunded - undone = `closing`. */
export interface BudgetLine extends Moved {
  opening: bigint;
  closing: bigint;
}

/** `opening` + received - sold + undone + credited - sent = `closing` = the sum of its parts. */
export interface CashLine extends CashMoved, OwedParts {
  opening: bigint;
  closing: bigint;
}

/** What vendors cost, by who paid for the requests. */
export interface VendorCostLine extends Record<Payer, bigint> {
  probe: bigint;
  /** Of months in an archive, and of requests that became known after their month was closed. */
  unsplit: bigint;
  total: bigint;
}

/** The month in VND: null where a day's exchange rate is missing. */
export interface VndLine {
  /** Used and expired budget of purchases, without VAT, less what credit notes took back of it. */
  income: bigint;
  /** What vendors cost. */
  cost: bigint;
  /** The taxes on it; `borne`: they are the operator's cost. */
  tax: ForeignTaxes & { borne: boolean };
  /** income - cost - the taxes that the operator bears. */
  result: bigint;
  /** The rates, such as `2026-10: 26120.5 (Vietcombank, selling; set by user:x)`. */
  rates: string[];
}

export interface MonthStatement {
  /** `2026-10`. */
  month: string;
  timeZone: string;
  budgets: Record<BudgetKind, BudgetLine>;
  /** The bought budget in VND at each purchase's own rate, with VAT and without. */
  boughtVnd: BudgetLine;
  boughtNetVnd: BudgetLine;
  /** Credit notes for budget that was used. */
  allowed: Allowed;
  cash: CashLine;
  vendorCost: VendorCostLine;
  /** The price of what nobody paid for. */
  shortfall: bigint;
  /** Requests whose cost at the vendor is not known, what was charged for them, and what bought budget paid of that. */
  unknown: { requests: bigint; charged: bigint; ofBought: bigint };
  /** Used of bought budget, less what is unknown, less everything that vendors cost. Expired budget is not in it. */
  margin: bigint;
  vnd: VndLine | null;
  /** Days or the month without an exchange rate. */
  missingRates: string[];
}

/** What is summed over everything before a moment, and kept with a close. */
export interface Totals {
  accounts: AccountTotals;
  cost: CostTotals;
}

export interface MonthFacts {
  month: string;
  timeZone: string;
  before: Totals;
  now: Totals;
  split: CostSplit;
  owed: OwedParts;
  vnd: { cost: bigint; tax: ForeignTaxes & { borne: boolean }; rates: string[] } | null;
  missingRates: string[];
}

const line = (before: Moved, now: Moved): BudgetLine => ({
  opening: leftOf(before),
  ...(Object.fromEntries(movements.map((name) => [name, now[name] - before[name]])) as Moved),
  closing: leftOf(now),
});

/** The lines of a month from what was before it and what is at its end. */
export function composeMonth(facts: MonthFacts): MonthStatement {
  const { before, now, split, owed } = facts;
  const [a, b] = [before.accounts, now.accounts];
  const of = (name: keyof CostTotals): bigint => now.cost[name] - before.cost[name];
  const total = of('customer') + of('own') + of('probe');
  const paid = payers.reduce((sum, payer) => sum + split.cost[payer], 0n);
  const budgets = Object.fromEntries(
    budgetKinds.map((kind) => [kind, line(a.budgets[kind], b.budgets[kind])]),
  ) as MonthStatement['budgets'];
  const boughtNetVnd = line(a.netVnd, b.netVnd);
  const allowed = { gross: b.allowed.gross - a.allowed.gross, net: b.allowed.net - a.allowed.net };
  const income = boughtNetVnd.used + boughtNetVnd.expired - allowed.net;
  const { vnd } = facts;
  const borne = vnd === null || !vnd.tax.borne ? 0n : vnd.tax.vat + vnd.tax.income;
  return {
    month: facts.month,
    timeZone: facts.timeZone,
    budgets,
    boughtVnd: line(a.vnd, b.vnd),
    boughtNetVnd,
    allowed,
    cash: {
      opening: owedOf(a.cash),
      ...(Object.fromEntries(cashMovements.map((name) => [name, b.cash[name] - a.cash[name]])) as CashMoved),
      closing: owedOf(b.cash),
      ...owed,
    },
    vendorCost: { ...split.cost, probe: of('probe'), unsplit: total - paid - of('probe'), total },
    shortfall: of('shortfall'),
    unknown: { requests: of('unknownRequests'), charged: of('unknownCharged'), ofBought: split.unknownOfBought },
    margin: budgets.bought.used - split.unknownOfBought - total,
    vnd: vnd === null ? null : { income, ...vnd, result: income - vnd.cost - borne },
    missingRates: facts.missingRates,
  };
}

/** A row that does not add up: what the movements make, and what is found by another way. */
export interface Imbalance {
  row: string;
  computed: string;
  found: string;
}

/** Rows of a month that do not add up. `left`: what is left of each kind by the grants themselves. */
export function findImbalances(
  statement: MonthStatement,
  { now, left }: { now: Totals; left: Record<BudgetKind, bigint> },
): Imbalance[] {
  const rows: [string, bigint, bigint][] = budgetKinds.map((kind) => [
    kind,
    statement.budgets[kind].closing,
    left[kind],
  ]);
  const { cash } = statement;
  rows.push(['cash', cash.closing, owedParts.reduce((sum, name) => sum + cash[name], 0n)]);
  const used = budgetKinds.reduce((sum, kind) => sum + now.accounts.budgets[kind].used, 0n);
  rows.push(['used', used, now.cost.charged]);
  for (const name of ['boughtVnd', 'boughtNetVnd'] as const)
    if (statement[name].closing < 0n) rows.push([name, statement[name].closing, 0n]);
  return rows
    .filter(([, computed, found]) => computed !== found)
    .map(([row, computed, found]) => ({ row, computed: String(computed), found: String(found) }));
}

const textOf = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** As it is stored: the budgets in VND stand beside the others, under one rule of the database. */
export function statementToJson({ boughtVnd, boughtNetVnd, budgets, ...rest }: MonthStatement): string {
  return JSON.stringify({ ...rest, budgets: { ...budgets, boughtVnd, boughtNetVnd } }, textOf);
}

const texts = new Set(['month', 'timeZone', 'rates', 'missingRates', 'borne']);

/** Reads what `statementToJson` wrote. */
export function statementFromJson(stored: unknown): MonthStatement {
  const read = (name: string, value: unknown): unknown => {
    if (value === null || texts.has(name)) return value;
    if (typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, read(key, each)]));
    return BigInt(value as string);
  };
  const { budgets, ...rest } = read('', stored) as MonthStatement & { budgets: Record<string, BudgetLine> };
  const { boughtVnd, boughtNetVnd, ...kinds } = budgets;
  return { ...rest, budgets: kinds, boughtVnd, boughtNetVnd } as MonthStatement;
}

/** One text for equal values, whatever the order of their members. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`)
      .join()}}`;
  return JSON.stringify(value);
}

/** SHA-256 of a closed month: its lines, those of the accounts by their ids, and the digest of the month before. */
export function digestOf(
  statement: unknown,
  accounts: readonly { accountId: string; lines: unknown }[],
  previous: Buffer | null,
): Buffer {
  const sorted = accounts.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
  return createHash('sha256')
    .update(canonical({ statement, accounts: sorted, previous: previous?.toString('hex') ?? null }))
    .digest();
}

/** The lines of a month as a table: group, name, unit, amount. Names are those of the columns for programs. */
export function statementRows(
  statement: MonthStatement,
): { group: string; line: string; unit: 'USD' | 'VND' | 'count'; amount: string }[] {
  const rows: { group: string; line: string; unit: 'USD' | 'VND' | 'count'; amount: string }[] = [];
  const add = (group: string, unit: 'USD' | 'VND' | 'count', lines: object): void => {
    for (const [name, amount] of Object.entries(lines) as [string, bigint][])
      rows.push({ group, line: name, unit, amount: unit === 'USD' ? formatUsd(amount) : String(amount) });
  };
  add('cash', 'VND', statement.cash);
  for (const kind of budgetKinds) add(kind, 'USD', statement.budgets[kind]);
  add('boughtVnd', 'VND', statement.boughtVnd);
  add('boughtNetVnd', 'VND', statement.boughtNetVnd);
  add('allowed', 'VND', statement.allowed);
  add('vendorCost', 'USD', statement.vendorCost);
  add('other', 'USD', {
    shortfall: statement.shortfall,
    unknownCharged: statement.unknown.charged,
    unknownOfBought: statement.unknown.ofBought,
  });
  add('other', 'count', { unknownRequests: statement.unknown.requests });
  add('margin', 'USD', { usedOfBought: statement.budgets.bought.used, margin: statement.margin });
  if (statement.vnd !== null) {
    const { income, cost, tax, result } = statement.vnd;
    add('result', 'VND', { income, cost, foreignVat: tax.vat, foreignIncomeTax: tax.income, result });
  }
  return rows;
}

/** Closed months as CSV: a line for each month, group and line, so that a spreadsheet adds up what it likes. */
export function monthsCsv(months: readonly MonthStatement[]): string {
  const head = csvLine(['month', 'timeZone', 'group', 'line', 'unit', 'amount']);
  return (
    head +
    months
      .flatMap((statement) =>
        statementRows(statement).map(({ group, line: name, unit, amount }) =>
          csvLine([statement.month, statement.timeZone, group, name, unit, { number: amount }]),
        ),
      )
      .join('')
  );
}
