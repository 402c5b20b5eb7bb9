import type { LedgerEntry } from './generated/rest.ts';
import { formatPico, parseDecimal } from './internal/usd.ts';

/**
 * A charge can be recomputed from its ledger entry alone: five token counts, five frozen prices. Everything is whole
 * pico-USD (1e-12 USD): a price of P USD per 1,000,000 tokens is exactly P x 1e6 pico-USD per token, so nothing is
 * ever rounded.
 */

/** The part of a ledger entry that its cost follows from. Token counts may be strings. */
export interface Receipt {
  usage: Record<`${Pool}_tokens`, Count>;
  prices: Record<Pool, string>;
  /** What was charged by the piece. */
  units?: readonly { unit: string; count: Count; price_usd: string; amount_usd: string }[];
  /** The prompt lengths that the prices are for, of a model whose price depends on them. */
  tier?: { above_prompt_tokens: number | null; up_to_prompt_tokens: number | null } | null;
  /** When the request was accepted and the hours that its prices are for, of a model whose price depends on the clock. */
  clock?: { priced_at: string; window: { days: readonly string[]; period: string; time_zone: string } | null } | null;
  cost_usd: string;
  charged_usd: string;
}

/** The same of the control plane's ledger entries: a line for each kind of token. */
export interface ReceiptWithLines {
  receipt: readonly { pool: string; tokens: Count; pricePerMillion: string; amount: string }[];
  units?: readonly { unit: string; count: Count; price: string; amount: string }[];
  tier?: { abovePromptTokens: number | null; upToPromptTokens: number | null } | null;
  clock?: { pricedAt: string; window: PriceHours | null } | null;
  cost: string;
  charged: string;
}

/** Hours of the week that have prices of their own. */
interface PriceHours {
  /** Lower case or upper case, `mon` to `sun`. */
  days: readonly string[];
  /** `HH:MM-HH:MM`; hours over midnight belong to the day on which they begin. */
  period: string;
  timeZone: string;
}

type Count = number | string | bigint;

/** The five kinds of tokens that have a price. */
type Pool = (typeof pools)[number];

const pools = ['input', 'cache_hit', 'cache_write_5m', 'cache_write_1h', 'output'] as const;

/** What a recomputation found. */
export interface ReceiptCheck {
  /** True when the cost is what tokens and prices make, at the prices for a prompt of this length, and no more was charged. */
  matches: boolean;
  /** The recomputed cost, USD as a decimal string. */
  costUsd: string;
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
 * Recomputes what a request cost, to the last pico-USD, from an entry of either plane. Throws a `RangeError` on an amount
 * or count that is none.
 *
 * @example
 * ```ts
 * const entry = await steyg.usage.entry(requestId);
 * const { matches, problems } = verifyReceipt(entry);
 * if (!matches) console.error(problems);
 * ```
 */
export function verifyReceipt(entry: Receipt | ReceiptWithLines | LedgerEntry): ReceiptCheck {
  const { lines, units, tier, clock, cost, charged } =
    'receipt' in entry ? fromLines(entry as ReceiptWithLines) : fromPools(entry);
  const problems: string[] = [];
  const sums: Record<Pool, bigint> = { input: 0n, cache_hit: 0n, cache_write_5m: 0n, cache_write_1h: 0n, output: 0n };
  for (const { pool, tokens, price, amount } of lines) {
    const part = count(tokens) * perToken(price);
    if (amount !== null && parseDecimal(amount, 12) !== part) {
      problems.push(`${pool} is stated as ${amount} USD and comes to ${formatPico(part)} USD.`);
    }
    sums[pool] += part;
  }
  problems.push(...tierProblems(lines, tier), ...clockProblems(clock));
  let unitsPico = 0n;
  for (const { unit, count: pieces, price, amount } of units) {
    const part = count(pieces) * parseDecimal(price, 12);
    if (parseDecimal(amount, 12) !== part) {
      problems.push(`${unit} is stated as ${amount} USD and comes to ${formatPico(part)} USD.`);
    }
    unitsPico += part;
  }
  const costPico = Object.values(sums).reduce((sum, part) => sum + part, unitsPico);
  const statedPico = parseDecimal(cost, 12);
  if (costPico !== statedPico) {
    problems.push(`The cost is stated as ${cost} USD and comes to ${formatPico(costPico)} USD.`);
  }
  if (parseDecimal(charged, 12) > costPico) {
    problems.push(`${charged} USD were charged for a cost of ${formatPico(costPico)} USD.`);
  }
  const { input, cache_hit: cacheHit, cache_write_5m: cacheWrite5m, cache_write_1h: cacheWrite1h, output } = sums;
  const parts = { input, cacheHit, cacheWrite5m, cacheWrite1h, output, units: unitsPico };
  return { matches: problems.length === 0, costUsd: formatPico(costPico), costPico, statedPico, parts, problems };
}

/** One kind of token: how many, USD per 1,000,000 of them, and the amount where one is stated. */
interface Line {
  pool: Pool;
  tokens: Count;
  price: string;
  amount: string | null;
}

interface Lines {
  lines: Line[];
  units: UnitLine[];
  tier: Tier | null;
  clock: { at: string; window: PriceHours | null } | null;
  cost: string;
  charged: string;
}

interface UnitLine {
  unit: string;
  count: Count;
  price: string;
  amount: string;
}

/** A range of prompt lengths; null: no bound. */
interface Tier {
  above: number | null;
  upTo: number | null;
}

/** Whether the prompt has the length that the prices are for. */
function tierProblems(lines: readonly Line[], tier: Tier | null): string[] {
  if (tier === null) return [];
  const prompt = lines.reduce((sum, { pool, tokens }) => (pool === 'output' ? sum : sum + count(tokens)), 0n);
  const { above, upTo } = tier;
  if (above !== null && prompt <= BigInt(above))
    return [`The prices are for prompts of more than ${above} tokens, and this one has ${prompt}.`];
  if (upTo !== null && prompt > BigInt(upTo))
    return [`The prices are for prompts of at most ${upTo} tokens, and this one has ${prompt}.`];
  return [];
}

/**
 * Whether the request was accepted within the hours that the prices are for. Which hours there are besides, and on which
 * dates they do not count, is in the price list and not in the entry.
 */
function clockProblems(clock: Lines['clock']): string[] {
  if (clock === null || clock.window === null) return [];
  const { days, period, timeZone } = clock.window;
  const [from, to] = period.split('-').map(minuteOfDay) as [number, number];
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(new Date(clock.at));
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? '';
  const today = weekdays.indexOf(part('weekday').toLowerCase());
  const minute = Number(part('hour')) * 60 + Number(part('minute'));
  const begins = (day: number) => days.some((name) => weekdays.indexOf(name.toLowerCase()) === day);
  const isOvernight = to <= from;
  const isWithin =
    (begins(today) && minute >= from && (isOvernight || minute < to)) ||
    (isOvernight && begins((today + 6) % 7) && minute < to);
  return isWithin
    ? []
    : [`The prices are for ${days.join(', ')} ${period} ${timeZone}, and the request was accepted at ${clock.at}.`];
}

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

function minuteOfDay(text: string): number {
  if (!/^\d\d:\d\d$/.test(text)) throw new RangeError(`${JSON.stringify(text)} is no time of the day.`);
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
}

function fromPools({ usage, prices, units = [], tier, clock, cost_usd: cost, charged_usd: charged }: Receipt): Lines {
  const lines = pools.map((pool) => ({ pool, tokens: usage[`${pool}_tokens`], price: prices[pool], amount: null }));
  const range = tier ? { above: tier.above_prompt_tokens, upTo: tier.up_to_prompt_tokens } : null;
  const pieces = units.map(({ unit, count: n, price_usd: price, amount_usd: amount }) => ({
    unit,
    count: n,
    price,
    amount,
  }));
  return { lines, units: pieces, tier: range, clock: clock ? clockOfPools(clock) : null, cost, charged };
}

function clockOfPools({ priced_at: at, window }: NonNullable<Receipt['clock']>): Lines['clock'] {
  return { at, window: window && { days: window.days, period: window.period, timeZone: window.time_zone } };
}

function fromLines({ receipt, units = [], tier, clock, cost, charged }: ReceiptWithLines): Lines {
  const lines = receipt.map(({ pool: name, tokens, pricePerMillion: price, amount }) => {
    const pool = pools.find((each) => each.replaceAll('_', '') === name.toLowerCase());
    if (pool === undefined) throw new RangeError(`${JSON.stringify(name)} is no kind of token that has a price.`);
    return { pool, tokens, price, amount };
  });
  const range = tier ? { above: tier.abovePromptTokens, upTo: tier.upToPromptTokens } : null;
  const moment = clock ? { at: clock.pricedAt, window: clock.window } : null;
  return { lines, units: [...units], tier: range, clock: moment, cost, charged };
}

/** USD per 1,000,000 tokens as pico-USD per token. */
const perToken = (price: string): bigint => parseDecimal(price, 6);

function count(tokens: Count): bigint {
  const isCount =
    typeof tokens === 'number'
      ? Number.isSafeInteger(tokens) && tokens >= 0
      : typeof tokens === 'bigint'
        ? tokens >= 0n
        : typeof tokens === 'string' && /^\d+$/.test(tokens);
  if (!isCount) throw new RangeError(`${String(tokens)} is no count of tokens.`);
  return BigInt(tokens);
}
