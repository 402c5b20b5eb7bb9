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
  /** What other models did for the request, at their own prices. */
  lines?: readonly {
    model: string;
    usage: Record<`${Pool}_tokens`, Count>;
    prices: Record<Pool, UsdAmount>;
    amount_usd: UsdAmount;
  }[];
  /** The prompt lengths that the prices are for, of a model whose price depends on them. */
  tier?: { above_prompt_tokens: number | null; up_to_prompt_tokens: number | null } | null;
  /** When the request was accepted and the hours that its prices are for, of a model whose price depends on the clock. */
  clock?: { priced_at: string; window: { days: readonly string[]; period: string; time_zone: string } | null } | null;
  /** The tier, speed or region that was asked for, served and charged, where one was asked for. */
  variant?: { asked: string; served: string | null; counted: string | null } | null;
  cost_usd: UsdAmount;
  charged_usd: UsdAmount;
}

/** The same of the control plane's ledger entries: a line for each kind of token. */
export interface ReceiptWithLines {
  receipt: readonly PoolLine[];
  /** What other models did for the request, at their own prices. */
  lines?: readonly { model: string; receipt: readonly PoolLine[]; amount: UsdAmount }[];
  /** `chargedUnit` is null where the service does not know the word. */
  units?: readonly { chargedUnit: string | null; count: Count; price: UsdAmount; amount: UsdAmount }[];
  tier?: { abovePromptTokens: number | null; upToPromptTokens: number | null } | null;
  clock?: { pricedAt: string; window: PriceHours | null } | null;
  variant?: { asked: string; served: string | null; counted: string | null } | null;
  cost: UsdAmount;
  charged: UsdAmount;
}

/** Tokens of one kind at their price. */
interface PoolLine {
  tokenPool: string;
  tokens: Count;
  pricePerMillion: UsdAmount;
  amount: UsdAmount;
}

/** Hours of the week that have their own prices. */
interface PriceHours {
  /** Lower case or upper case, `mon` to `sun`. */
  weekdays: readonly string[];
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
  /** What each kind of token cost, what was charged by the piece, and what other models cost, in whole pico-USD. */
  parts: {
    input: bigint;
    cacheHit: bigint;
    cacheWrite5m: bigint;
    cacheWrite1h: bigint;
    output: bigint;
    units: bigint;
    lines: bigint;
  };
  /** What does not add up, as sentences; empty when all does. */
  problems: string[];
}

/**
 * Recomputes what a request cost, to the last pico-USD, from an entry of either plane, under its names in camel case, in snake case
 * or both. What another reader could read otherwise is a problem: a member whose names disagree, tokens stated in two places, a
 * kind of token on two lines, a member that no receipt has. Throws a `RangeError` on an amount, count, time or object that is
 * none, `null` included.
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
  const { usage, prices, receipt, units, lines, tier, clock, variant, cost, charged } = read(entry, 'entry', problems);
  /** Holds a stated amount against the recomputed one. */
  const compare = (name: string, stated: unknown, pico: bigint): bigint => {
    const statedPico = amountOf(stated, 12);
    if (statedPico !== pico)
      problems.push(`${name} is stated as ${String(stated)} USD and comes to ${formatPico(pico)} USD.`);
    return statedPico;
  };
  /** Adds up the tokens of one model; `at` says whose they are, in problems. */
  const addUp = (own: { usage?: unknown; prices?: unknown; receipt?: unknown }, at: string) => {
    if (own.receipt !== undefined && own.prices !== undefined)
      problems.push(`The prices${at} are stated in two places, in lines and apart from them.`);
    const pools = { input: 0n, cacheHit: 0n, cacheWrite5m: 0n, cacheWrite1h: 0n, output: 0n };
    const seen = new Set<string>();
    let prompt = 0n;
    let total = 0n;
    const rows =
      own.receipt === undefined ? linesOf(own.usage, own.prices, problems) : readAll(own.receipt, 'line', problems);
    for (const { tokenPool, tokens, pricePerMillion, amount } of rows) {
      const pool = poolOf(tokenPool);
      once(`${pool}${at}`, seen, problems);
      // USD per 1,000,000 tokens in micro-USD are pico-USD per token.
      const pico = count(tokens) * amountOf(pricePerMillion, 6);
      if (own.receipt !== undefined) compare(`${pool}${at}`, amount, pico);
      pools[pool] += pico;
      total += pico;
      if (pool !== 'output') prompt += count(tokens);
    }
    return { rows, pools, prompt, total };
  };
  // The control plane's entries count the tokens beside the lines, too, under the names of the lines.
  const counted = receipt === undefined || usage === undefined ? undefined : read(usage, 'counts', problems);
  const own = addUp({ usage, prices, receipt }, '');
  const parts = { ...own.pools, units: 0n, lines: 0n };
  const seen = new Set<string>();
  let costPico = own.total;
  for (const line of readAll(lines, 'run', problems)) {
    const at = ` of ${textOf(line.model)}`;
    const { total } = addUp(line, at);
    compare(`The line${at}`, line.amount, total);
    parts.lines += total;
    costPico += total;
  }
  for (const { unit: older, chargedUnit = older, count: pieces, price, amount } of readAll(units, 'unit', problems)) {
    const name = chargedUnit === null ? 'other' : textOf(chargedUnit).toLowerCase();
    if (older !== undefined && textOf(older).toLowerCase() !== name) differ('unit', chargedUnit, older, problems);
    once(name, seen, problems);
    const pico = count(pieces) * amountOf(price, 12);
    compare(name, amount, pico);
    parts.units += pico;
    costPico += pico;
  }
  for (const pool of counted === undefined ? [] : poolNames) {
    const inLines = own.rows.find(({ tokenPool }) => poolOf(tokenPool) === pool)?.tokens ?? 0;
    if (count(counted?.[pool]) !== count(inLines)) differ(pool, counted?.[pool], inLines, problems);
  }
  checkTier(tier, own.prompt, problems);
  checkClock(clock, problems);
  checkVariant(variant, problems);
  const statedPico = compare('The cost', cost, costPico);
  const costUsd = formatPico(costPico);
  if (amountOf(charged, 12) > costPico)
    problems.push(`${textOf(charged)} USD were charged for a cost of ${costUsd} USD.`);
  return { matches: problems.length === 0, costUsd, costPico, statedPico, parts, problems };
}

/** The data plane's tokens and prices as lines. */
function linesOf(usage: unknown, prices: unknown, problems: string[]): Members[] {
  const tokens = read(usage, 'usage', problems);
  const priced = read(prices, 'prices', problems);
  return poolNames.map((pool) => ({ tokenPool: pool, tokens: tokens[`${pool}Tokens`], pricePerMillion: priced[pool] }));
}

/** The same figure is stated in two ways. */
function differ(name: string, one: unknown, other: unknown, problems: string[]): void {
  problems.push(`${name} is stated as ${shown(one)} and as ${shown(other)}.`);
}

/** Nothing is charged on two lines: another reader may take either. */
function once(name: string, seen: Set<string>, problems: string[]): void {
  if (seen.has(name)) problems.push(`${name} stands on two lines.`);
  seen.add(name);
}

function poolOf(name: unknown): (typeof poolNames)[number] {
  const plain = typeof name === 'string' ? name.replaceAll('_', '').toLowerCase() : '';
  const pool = poolNames.find((each) => each.toLowerCase() === plain);
  if (pool === undefined) throw new RangeError(`${shown(name)} is no kind of token that has a price.`);
  return pool;
}

/** Whether the prices are for prompts of this length. */
function checkTier(tier: unknown, prompt: bigint, problems: string[]): void {
  if (tier == null) return;
  const { abovePromptTokens: above = null, upToPromptTokens: upTo = null } = read(tier, 'tier', problems);
  const [least, most] = [above, upTo].map((bound) => (bound === null ? null : count(bound)));
  const outside =
    least != null && prompt <= least ? `more than ${least}` : most != null && prompt > most ? `at most ${most}` : null;
  if (outside !== null) problems.push(`The prices are for prompts of ${outside} tokens, and this one has ${prompt}.`);
}

/**
 * Whether the request was accepted within the hours that its prices are for. Which hours there are besides, and on which
 * dates they do not count, is in the price list and not in the entry.
 */
function checkClock(clock: unknown, problems: string[]): void {
  if (clock == null) return;
  const { pricedAt, window } = read(clock, 'clock', problems);
  const at = new Date(textOf(pricedAt));
  if (Number.isNaN(at.getTime())) throw new RangeError(`${shown(pricedAt)} is no moment.`);
  if (window == null) return;
  const { days: older, weekdays: own = older, period, timeZone } = read(window, 'window', problems);
  const days = daysOf(own);
  if (older !== undefined && daysOf(older).join() !== days.join()) differ('days', own, older, problems);
  const hours = { days, period: textOf(period), timeZone: textOf(timeZone) };
  if (!isWithin(hours, at))
    problems.push(
      `The prices are for ${days.join(', ')} ${hours.period} ${hours.timeZone}, and the request was accepted at ${textOf(pricedAt)}.`,
    );
}

/** Nothing is charged that was not asked for. What its vendor says that it served is no figure of ours. */
function checkVariant(variant: unknown, problems: string[]): void {
  if (variant == null) return;
  const { asked, counted } = read(variant, 'variant', problems);
  const words = textOf(asked).split('+');
  if (counted == null) return;
  if (
    !textOf(counted)
      .split('+')
      .every((word) => words.includes(word))
  )
    problems.push(`The prices are for ${textOf(counted)}, and the request asked for ${textOf(asked)}.`);
}

/** Hours over midnight belong to the day on which they begin. */
function isWithin(hours: { days: readonly string[]; period: string; timeZone: string }, at: Date): boolean {
  const { days, period, timeZone } = hours;
  if (!/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)-(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/.test(period))
    throw new RangeError(`${JSON.stringify(period)} is no time of the day.`);
  // Times of the day as HH:MM stand in the order of their letters.
  const [from = '', to = ''] = period.split('-');
  const local = (options: Intl.DateTimeFormatOptions) =>
    at.toLocaleString('en-GB', { timeZone, hourCycle: 'h23', ...options });
  const time = local({ hour: '2-digit', minute: '2-digit' });
  const today = weekdayNames.indexOf(local({ weekday: 'short' }).toLowerCase());
  const begins = (day: number) => days.includes(weekdayNames[day % 7] ?? '');
  return to > from
    ? begins(today) && time >= from && time < to
    : (begins(today) && time >= from) || (begins(today + 6) && time < to);
}

const weekdayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

function daysOf(value: unknown): string[] {
  const days = Array.isArray(value) ? value.map((day) => textOf(day).toLowerCase()) : [];
  if (days.length === 0 || !days.every((day) => weekdayNames.includes(day)))
    throw new RangeError(`${shown(value)} are no days of the week.`);
  return days;
}

type Members = Readonly<Record<string, unknown>>;

const pricedTokens = namesOf('input cache_hit cache_write_5m cache_write_1h output');

/**
 * The members that the parts of a receipt have, in both styles, by the name that is read. Amounts may say their unit. What an
 * entry has besides its figures is known as well, so that whatever else stands in one is seen.
 */
const shapes = {
  entry: namesOf(
    'usage prices receipt lines units tier clock variant object request_id created_at key_id session user tags model upstream ' +
      'protocol latency_ms time_to_first_byte_ms outcome usage_source id key attribution catalog_model operator stream ' +
      'margin upstream_cost upstream_model cost_usd charged_usd free_after_usd',
  ),
  usage: namesOf('input_tokens cache_hit_tokens cache_write_5m_tokens cache_write_1h_tokens output_tokens'),
  counts: pricedTokens,
  prices: pricedTokens,
  line: namesOf('token_pool tokens price_per_million amount_usd'),
  run: namesOf('model usage prices receipt amount_usd'),
  unit: namesOf('unit charged_unit count price_usd amount_usd'),
  tier: namesOf('above_prompt_tokens up_to_prompt_tokens'),
  clock: namesOf('priced_at window'),
  variant: namesOf('asked served counted'),
  window: namesOf('weekdays days period time_zone'),
};

/** `cost_usd` is read as `cost`, from `cost_usd`, `costUsd` and `cost`. */
function namesOf(words: string): ReadonlyMap<string, string> {
  const names = new Map([['__typename', '__typename']]);
  for (const snake of words.split(' ')) {
    const read = camel(snake.replace(/_usd$/, ''));
    for (const name of [snake, camel(snake), read]) names.set(name, read);
  }
  return names;
}

function camel(snake: string): string {
  return snake.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The members of an object by one name each. Each is read once; readers may take any name, so all have to say the same. */
function read(value: unknown, shape: keyof typeof shapes, problems: string[]): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError(`${shown(value)} is no object of a receipt (${shape}).`);
  const found = new Map<string, unknown>();
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    if (member === undefined) continue;
    const own = shapes[shape].get(name);
    if (own === undefined) problems.push(`${name} is no member of a receipt (${shape}).`);
    else if (!found.has(own)) found.set(own, member);
    else if (!isSame(found.get(own), member)) differ(own, found.get(own), member, problems);
  }
  return Object.fromEntries(found);
}

/** A list that a receipt need not have. */
function readAll(value: unknown, shape: keyof typeof shapes, problems: string[]): Members[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new RangeError(`${shown(value)} is no list of a receipt (${shape}).`);
  return value.map((item) => read(item, shape, problems));
}

/** Objects are the same when all their members are; a count may be a number or its digits. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return shown(one) === shown(other);
  if (one === null || other === null || Array.isArray(one) !== Array.isArray(other)) return one === other;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isSame((one as Members)[name], (other as Members)[name]));
}

/** A value in a sentence. */
function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return JSON.stringify(value, (_name, member: unknown) => (typeof member === 'bigint' ? String(member) : member));
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new RangeError(`${shown(value)} is no text of a receipt.`);
  return value;
}

function amountOf(value: unknown, places: number): bigint {
  if (typeof value !== 'string') throw new RangeError(`${shown(value)} is no amount of USD.`);
  return parseDecimal(value, places);
}

function count(tokens: unknown): bigint {
  const isCount =
    typeof tokens === 'number' ? Number.isSafeInteger(tokens) : ['string', 'bigint'].includes(typeof tokens);
  if (!isCount || !/^\d+$/.test(String(tokens))) throw new RangeError(`${shown(tokens)} is no count of tokens.`);
  return BigInt(tokens as Count);
}
