import type { ClientBase, Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { uuidv7 } from '../shared/uuid.ts';

/** What turns vendors' USD into VND and taxes: exchange rates with their sources, and tax rates as the operator sets them. */

export interface ExchangeRate {
  /** `2026-10` or `2026-10-31`. */
  period: string;
  /** Ten-thousandths of a VND for a USD. */
  rate: bigint;
  /** Such as `Vietcombank, selling`. */
  source: string;
  setBy: string;
  createdAt: Date;
}

/** Rates are hundredths of a percent. */
export interface TaxRule {
  /** The first day, such as `2026-10-01`. */
  validFrom: string;
  /** The VAT that the prices of plans include; 0: none. */
  salesVat: number;
  /** VAT and income tax on what vendors abroad bill, which the operator declares for them. */
  foreignVat: number;
  foreignIncome: number;
  /** The vendors' bills are net of these taxes, so that they are the operator's cost. */
  foreignNet: boolean;
  note: string;
  setBy: string;
  createdAt: Date;
}

export const rateUnit = 10_000n;
const periodShape = /^20\d\d-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?$/;

/** A rate such as `26120.5` in ten-thousandths; null: none between 1,000 and 1,000,000 VND with at most four decimals. */
export function parseRate(text: string): bigint | null {
  const [, whole, fraction = ''] = /^(\d{4,7})(?:\.(\d{1,4}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) return null;
  const rate = BigInt(whole) * rateUnit + BigInt(fraction.padEnd(4, '0'));
  return rate >= 1_000n * rateUnit && rate <= 1_000_000n * rateUnit ? rate : null;
}

/** A rate as people write it. */
export function formatRate(rate: bigint): string {
  const fraction = String(rate % rateUnit)
    .padStart(4, '0')
    .replace(/0+$/, '');
  return `${rate / rateUnit}${fraction === '' ? '' : `.${fraction}`}`;
}

export type SetRateOutcome =
  | { kind: 'set'; rate: ExchangeRate }
  | { kind: 'bad_period' }
  | { kind: 'bad_rate' }
  /** The month was closed with a rate, which stands. */
  | { kind: 'month_closed' };

export async function setRate(
  pool: Pool,
  { period, rate, source, actor }: { period: string; rate: string; source: string; actor: string },
): Promise<SetRateOutcome> {
  if (!periodShape.test(period) || Number.isNaN(Date.parse(period))) return { kind: 'bad_period' };
  const parsed = parseRate(rate);
  if (parsed === null || source.trim() === '') return { kind: 'bad_rate' };
  return repeatedTransaction(pool, async (client): Promise<SetRateOutcome> => {
    const { rowCount } = await client.query(
      `SELECT FROM closed_month WHERE month = (substr($1, 1, 7) || '-01')::date AND statement->'vnd' <> 'null'`,
      [period],
    );
    if (rowCount !== 0) return { kind: 'month_closed' };
    const before = (await listRates(client, period.slice(0, 7))).find((each) => each.period === period) ?? null;
    const { rows } = await client.query<ExchangeRate>(
      `INSERT INTO exchange_rate (id, period, rate, source, set_by) VALUES ($1, $2, $3, $4, $5)
       RETURNING period, rate, source, set_by AS "setBy", created_at AS "createdAt"`,
      [uuidv7(), period, parsed, source.trim(), actor],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('a rate was set and gave no row');
    await appendAudit(client, {
      actor,
      action: 'books.rate',
      subject: `rate:${period}`,
      ...(before === null ? {} : { before: { rate: formatRate(before.rate), source: before.source } }),
      after: { rate: formatRate(parsed), source: source.trim() },
    });
    return { kind: 'set', rate: row };
  });
}

/** The rates that count in a month: its own and those of its days. */
export async function listRates(db: Pick<Pool | ClientBase, 'query'>, month: string): Promise<ExchangeRate[]> {
  const { rows } = await db.query<ExchangeRate>(
    `SELECT DISTINCT ON (period) period, rate, source, set_by AS "setBy", created_at AS "createdAt" FROM exchange_rate
     WHERE period LIKE $1 || '%' ORDER BY period, created_at DESC, id DESC`,
    [month],
  );
  return rows;
}

export type SetTaxesOutcome = { kind: 'set'; rule: TaxRule } | { kind: 'bad_day' } | { kind: 'bad_percent' };

const dayShape = /^20\d\d-\d\d-\d\d$/;

export async function setTaxes(
  pool: Pool,
  { actor, ...rule }: Omit<TaxRule, 'setBy' | 'createdAt'> & { actor: string },
): Promise<SetTaxesOutcome> {
  const at = dayShape.test(rule.validFrom) ? new Date(rule.validFrom) : null;
  if (at === null || Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== rule.validFrom)
    return { kind: 'bad_day' };
  for (const percent of [rule.salesVat, rule.foreignVat, rule.foreignIncome])
    if (!Number.isInteger(percent) || percent < 0 || percent > 5_000) return { kind: 'bad_percent' };
  return repeatedTransaction(pool, async (client): Promise<SetTaxesOutcome> => {
    const before = (await listTaxes(client)).find(({ validFrom }) => validFrom <= rule.validFrom) ?? null;
    const { rows } = await client.query<TaxRule>(
      `INSERT INTO tax_rule (id, valid_from, sales_vat, foreign_vat, foreign_income, foreign_net, note, set_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${taxColumns}`,
      [uuidv7(), rule.validFrom, rule.salesVat, rule.foreignVat, rule.foreignIncome, rule.foreignNet, rule.note, actor],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('a tax rule was set and gave no row');
    const told = ({ validFrom, salesVat, foreignVat, foreignIncome, foreignNet, note }: TaxRule) => ({
      validFrom,
      salesVat,
      foreignVat,
      foreignIncome,
      foreignNet,
      note,
    });
    await appendAudit(client, {
      actor,
      action: 'books.taxes',
      subject: 'taxes',
      ...(before === null ? {} : { before: told(before) }),
      after: told(row),
    });
    return { kind: 'set', rule: row };
  });
}

const taxColumns = `to_char(valid_from, 'YYYY-MM-DD') AS "validFrom", sales_vat AS "salesVat", foreign_vat AS "foreignVat",
  foreign_income AS "foreignIncome", foreign_net AS "foreignNet", note, set_by AS "setBy", created_at AS "createdAt"`;

/** The rules that count, the latest day first. */
export async function listTaxes(db: Pick<Pool | ClientBase, 'query'>): Promise<TaxRule[]> {
  const { rows } = await db.query<TaxRule>(
    `SELECT ${taxColumns} FROM (SELECT DISTINCT ON (valid_from) * FROM tax_rule ORDER BY valid_from DESC, created_at DESC, id DESC) AS rule
     ORDER BY rule.valid_from DESC`,
  );
  return rows;
}

/** Half up. */
export const roundDivide = (dividend: bigint, divisor: bigint): bigint => (2n * dividend + divisor) / (2n * divisor);

/** Whole VND of an amount in pico-USD. */
export const wholeVndAt = (picoUsd: bigint, rate: bigint): bigint => roundDivide(picoUsd * rate, 10n ** 12n * rateUnit);

export interface ForeignTaxes {
  vat: bigint;
  income: bigint;
}

/**
 * Whole VND of tax on what vendors abroad billed, by the direct method of Circular 103/2014/TT-BTC (articles 12 and 13). Of a
 * gross bill the VAT is a part, and the income tax a part of what is left of it. Of a net one the income tax is on the bill with
 * that tax, and the VAT on both with the VAT itself.
 * https://jungil.vn/en/cach-tinh-thue-nha-thau-theo-gia-net-va-gross-39.html
 * https://fdiinvietnam.com/how-to-calculate-foreign-contractor-tax-based-on-net-gross-price-example
 */
export function foreignTaxes(
  costVnd: bigint,
  { foreignVat, foreignIncome, foreignNet }: Pick<TaxRule, 'foreignVat' | 'foreignIncome' | 'foreignNet'>,
): ForeignTaxes {
  const [vat, income] = [BigInt(foreignVat), BigInt(foreignIncome)];
  if (!foreignNet) {
    const ofVat = roundDivide(costVnd * vat, 10_000n);
    return { vat: ofVat, income: roundDivide((costVnd - ofVat) * income, 10_000n) };
  }
  const ofIncome = roundDivide(costVnd * income, 10_000n - income);
  return { vat: roundDivide((costVnd + ofIncome) * vat, 10_000n - vat), income: ofIncome };
}

/** A month's vendor cost in VND: days with their own rate at it, each rounded; the others together at the month's. */
export function costInVnd(
  { month, total, byDay }: { month: string; total: bigint; byDay: readonly { day: string; cost: bigint }[] },
  rates: readonly ExchangeRate[],
): { vnd: bigint; missing: string[] } {
  const rateOf = new Map(rates.map(({ period, rate }) => [period, rate]));
  let [vnd, rest] = [0n, total];
  const without: string[] = [];
  for (const { day, cost } of byDay) {
    const own = rateOf.get(day);
    if (own === undefined) without.push(day);
    else {
      vnd += wholeVndAt(cost, own);
      rest -= cost;
    }
  }
  const ofMonth = rateOf.get(month);
  if (rest === 0n) return { vnd, missing: [] };
  if (ofMonth === undefined) return { vnd, missing: without.length === 0 ? [month] : without };
  return { vnd: vnd + (rest < 0n ? -wholeVndAt(-rest, ofMonth) : wholeVndAt(rest, ofMonth)), missing: [] };
}
