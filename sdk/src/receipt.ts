import type { UsdAmount } from './amounts.ts';
import type { LedgerEntry } from './generated/rest.ts';
import { formatPico, parseDecimal } from './internal/usd.ts';

/**
 * A charge can be recomputed from its ledger entry alone: five token counts, five frozen prices. Everything is whole
 * pico-USD (1e-12 USD): a price of P USD per 1,000,000 tokens is exactly P x 1e6 pico-USD per token, so nothing is
 * ever rounded.
 */

/** The part of a ledger entry that its cost follows from, in the names of the REST answer. Token counts may be strings. */
export interface Receipt {
  usage: Record<`${Pool}_tokens`, Count>;
  /** USD per 1,000,000 tokens. */
  prices: Record<Pool, UsdAmount>;
  /** What was charged by the piece. */
  units?: readonly { unit: string; count: Count; price_usd: UsdAmount; amount_usd: UsdAmount }[];
  /** The prompt lengths that the prices are for, of a model whose price depends on them. */
  tier?: { above_prompt_tokens: number | null; up_to_prompt_tokens: number | null } | null;
  /** When the request was accepted and the hours that its prices are for, of a model whose price depends on the clock. */
  clock?: { priced_at: string; window: { days: readonly string[]; period: string; time_zone: string } | null } | null;
  cost_usd: UsdAmount;
  charged_usd: UsdAmount;
}

/** The same of the control plane's ledger entries: a line for each kind of token. Older names are taken as well. */
export interface ReceiptWithLines {
  receipt: readonly {
    tokenPool?: string;
    pool?: string;
    tokens: Count;
    pricePerMillion: UsdAmount;
    amount: UsdAmount;
  }[];
  units?: readonly { chargedUnit?: string; unit?: string; count: Count; price: UsdAmount; amount: UsdAmount }[];
  tier?: { abovePromptTokens: number | null; upToPromptTokens: number | null } | null;
  clock?: { pricedAt: string; window: PriceHours | null } | null;
  cost: UsdAmount;
  charged: UsdAmount;
}

/** Hours of the week that have prices of their own. */
interface PriceHours {
  /** Lower case or upper case, `mon` to `sun`. */
  weekdays?: readonly string[];
  /** The same by its older name. */
  days?: readonly string[];
  /** `HH:MM-HH:MM`; hours over midnight belong to the day on which they begin. */
  period: string;
  timeZone: string;
}

type Count = number | string | bigint;

/** The five kinds of tokens that have a price. */
type Pool = 'input' | 'cache_hit' | 'cache_write_5m' | 'cache_write_1h' | 'output';

type CamelName<Name> = Name extends `${infer Word}_${infer Rest}` ? `${Word}${Capitalize<CamelName<Rest>>}` : Name;

/** The same with its names in camel case. */
type Camel<T> = T extends readonly (infer Item)[]
  ? readonly Camel<Item>[]
  : T extends object
    ? { [Name in keyof T as CamelName<Name>]: Camel<T[Name]> }
    : T;

const poolNames = ['input', 'cacheHit', 'cacheWrite5m', 'cacheWrite1h', 'output'] as const;

/** What a recomputation found. */
export interface ReceiptCheck {
  /** True when the cost is what tokens and prices make, at the prices for a prompt of this length, and no more was charged. */
  matches: boolean;
  /** The recomputed cost in USD. */
  costUsd: UsdAmount;
  /** The recomputed cost in whole pico-USD. */
  costPico: bigint;
  /** The entry's own cost in whole pico-USD. */
  statedPico: bigint;
  /** What each kind of token cost, and what was charged by the piece, in whole pico-USD. */
  parts: {
    input: bigint;
    cacheHit: bigint;
    cacheWrite5m: bigint;
    cacheWrite1h: bigint;
    output: bigint;
    units: bigint;
  };
  /** What does not add up, as sentences; empty when all does. */
  problems: string[];
}

/**
 * Recomputes what a request cost, to the last pico-USD, from an entry of either plane, under its names in camel case, in snake case
 * or both; a member whose names disagree is a problem. Throws a `RangeError` on an amount or count that is none.
 *
 * @example
 * ```ts
 * const entry = await steyg.usage.entry(requestId);
 * const { matches, problems } = verifyReceipt(entry);
 * if (!matches) console.error(problems);
 * ```
 */
export function verifyReceipt(entry: Receipt | Camel<Receipt> | ReceiptWithLines | LedgerEntry): ReceiptCheck {
  const problems: string[] = [];
  const {
    usage,
    prices,
    receipt = poolNames.map(
      (pool): ReceiptLine => ({
        pool,
        tokens: usage[`${pool}Tokens`],
        pricePerMillion: prices[pool],
      }),
    ),
    units,
    tier,
    clock,
    cost,
    charged,
  } = byName(entry, problems) as Entry;
  /** Holds a stated amount against the recomputed one. */
  const compare = (name: string, stated: string, pico: bigint): bigint => {
    const statedPico = parseDecimal(stated, 12);
    if (statedPico !== pico) problems.push(`${name} is stated as ${stated} USD and comes to ${formatPico(pico)} USD.`);
    return statedPico;
  };
  const parts = { input: 0n, cacheHit: 0n, cacheWrite5m: 0n, cacheWrite1h: 0n, output: 0n, units: 0n };
  let costPico = 0n;
  let prompt = 0n;
  for (const { pool: older = '', tokenPool: name = older, tokens, pricePerMillion, amount } of receipt) {
    const pool = poolNames.find((each) => each.toLowerCase() === name.replaceAll('_', '').toLowerCase());
    if (pool === undefined) throw new RangeError(`${JSON.stringify(name)} is no kind of token that has a price.`);
    // USD per 1,000,000 tokens in micro-USD are pico-USD per token.
    const pico = count(tokens) * parseDecimal(pricePerMillion, 6);
    if (amount !== undefined) compare(pool, amount, pico);
    parts[pool] += pico;
    costPico += pico;
    if (pool !== 'output') prompt += count(tokens);
  }
  for (const { unit = '', chargedUnit = unit, count: pieces, price, amount } of units ?? []) {
    const pico = count(pieces) * parseDecimal(price, 12);
    compare(chargedUnit.toLowerCase(), amount, pico);
    parts.units += pico;
    costPico += pico;
  }
  const { abovePromptTokens: above, upToPromptTokens: upTo } = tier ?? {};
  const outside =
    above != null && prompt <= above ? `more than ${above}` : upTo != null && prompt > upTo ? `at most ${upTo}` : null;
  if (outside !== null) problems.push(`The prices are for prompts of ${outside} tokens, and this one has ${prompt}.`);
  if (clock?.window && !isWithin(clock.window, clock.pricedAt)) {
    const { period, timeZone } = clock.window;
    problems.push(
      `The prices are for ${daysOf(clock.window).join(', ')} ${period} ${timeZone}, and the request was accepted at ${clock.pricedAt}.`,
    );
  }
  const statedPico = compare('The cost', cost, costPico);
  const costUsd = formatPico(costPico);
  if (parseDecimal(charged, 12) > costPico) problems.push(`${charged} USD were charged for a cost of ${costUsd} USD.`);
  return { matches: problems.length === 0, costUsd, costPico, statedPico, parts, problems };
}

/**
 * Whether a request was accepted within the hours that its prices are for. Which hours there are besides, and on which
 * dates they do not count, is in the price list and not in the entry.
 */
function isWithin(window: PriceHours, at: string): boolean {
  const { period, timeZone } = window;
  if (!/^\d\d:\d\d-\d\d:\d\d$/.test(period)) throw new RangeError(`${JSON.stringify(period)} is no time of the day.`);
  // Times of the day as HH:MM stand in the order of their letters.
  const [from = '', to = ''] = period.split('-');
  const local = (options: Intl.DateTimeFormatOptions) =>
    new Date(at).toLocaleString('en-GB', { timeZone, hourCycle: 'h23', ...options });
  const time = local({ hour: '2-digit', minute: '2-digit' });
  const today = weekdays.indexOf(local({ weekday: 'short' }).toLowerCase());
  const begins = (day: number) => daysOf(window).includes(weekdays[day % 7] ?? '');
  return to > from
    ? begins(today) && time >= from && time < to
    : (begins(today) && time >= from) || (begins(today + 6) && time < to);
}

const daysOf = ({ days = [], weekdays: own = days }: PriceHours): string[] => own.map((day) => day.toLowerCase());

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** A value by its names in camel case without units, at any depth. Readers may take any name, so all have to say the same. */
function byName(value: unknown, problems: string[]): unknown {
  if (typeof value !== 'object' || !value) return value;
  const named: Record<string, unknown> = Array.isArray(value) ? ([] as never) : {};
  for (const [name, member] of Object.entries(value)) {
    const key = name.replace(/_?usd$/i, '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const stated = named[key] === undefined ? member : named[key];
    if (member !== undefined && stated !== member && String(stated) !== String(member))
      problems.push(`${key} is stated as ${String(stated)} and as ${String(member)}.`);
    named[key] = byName(stated, problems);
  }
  return named;
}

/** A line whose amount need not be stated. */
type ReceiptLine = Omit<ReceiptWithLines['receipt'][number], 'amount'> & { amount?: UsdAmount };

/** An entry of either plane: `usage` and `prices` are the data plane's, `receipt` is the control plane's. */
interface Entry extends Pick<Camel<Receipt>, 'usage' | 'prices'>, Omit<ReceiptWithLines, 'receipt'> {
  receipt?: readonly ReceiptLine[];
}

function count(tokens: Count): bigint {
  const isCount = typeof tokens === 'number' ? Number.isSafeInteger(tokens) : typeof tokens !== 'boolean';
  if (!isCount || !/^\d+$/.test(String(tokens))) throw new RangeError(`${String(tokens)} is no count of tokens.`);
  return BigInt(tokens);
}
