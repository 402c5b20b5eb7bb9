/** Exact arithmetic with amounts as the server writes them: decimal strings of USD with at most 12 decimals. */

/** An amount as a whole number of pico-USD (1e-12 USD). Invalid text counts as zero. */
export function parseUsd(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,12}))?$/.exec(text.trim());
  if (match === null) return 0n;
  const pico = BigInt(`${match[2]}${(match[3] ?? '').padEnd(12, '0')}`);
  return match[1] === '-' ? -pico : pico;
}

/** Pico-USD as a decimal string without trailing zeros. */
export function printUsd(pico: bigint): string {
  const sign = pico < 0n ? '-' : '';
  const digits = (pico < 0n ? -pico : pico).toString().padStart(13, '0');
  const fraction = digits.slice(-12).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -12)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The sum of amounts, exact. */
export function addUsd(amounts: Iterable<string>): string {
  let sum = 0n;
  for (const amount of amounts) sum += parseUsd(amount);
  return printUsd(sum);
}

/** True for a valid amount: digits, with a limited number of decimals. */
export function isUsd(text: string, decimals = 12): boolean {
  return new RegExp(`^\\d{1,9}(\\.\\d{1,${decimals}})?$`).test(text.trim());
}

/** Prices in USD per 1,000,000 tokens. */
export interface Prices {
  input: string;
  cacheHit: string;
  output: string;
}

/** The agent step that the service compares prices with: mostly repeated context, some new, a short answer. */
export const agentStep = { cacheHit: 150_000n, input: 30_000n, output: 4_000n } as const;

/** What tokens cost, in pico-USD: tokens x price, nothing is rounded. */
export function costOf(tokens: { cacheHit: bigint; input: bigint; output: bigint }, prices: Prices): bigint {
  const perToken = (price: string) => parseUsd(price) / 1_000_000n;
  return (
    tokens.cacheHit * perToken(prices.cacheHit) +
    tokens.input * perToken(prices.input) +
    tokens.output * perToken(prices.output)
  );
}

/** How many agent steps a budget pays for, rounded down; null when they cost nothing. */
export function stepsFor(budgetUsd: string, prices: Prices): bigint | null {
  const step = costOf(agentStep, prices);
  return step === 0n ? null : parseUsd(budgetUsd) / step;
}

/** The fields of a plan that give the price of a USD. */
export interface PlanPrice {
  planId: string;
  name: string;
  priceVnd: string;
  budget: string;
}

/** An amount of USD in VND at a plan's price of a USD, rounded half up: for display only. */
export function vndAt(usd: string, plan: PlanPrice): string {
  const budget = parseUsd(plan.budget);
  return String((parseUsd(usd) * BigInt(plan.priceVnd) * 2n + budget) / (budget * 2n));
}

/** The Starter plan (or else the cheapest one) and the plan with the lowest price of a USD. */
export function planPair<Plan extends PlanPrice>(plans: readonly Plan[]): { starter: Plan; best: Plan } | null {
  const [first] = plans;
  if (first === undefined) return null;
  const dearer = (a: Plan, b: Plan) =>
    BigInt(a.priceVnd) * parseUsd(b.budget) > BigInt(b.priceVnd) * parseUsd(a.budget);
  return {
    starter:
      plans.find(({ planId }) => planId === 'starter') ?? plans.find(({ name }) => /^starter$/i.test(name)) ?? first,
    best: plans.reduce((best, plan) => (dearer(best, plan) ? plan : best), first),
  };
}

/** What of a cost was not charged; null: all was. */
export function missingUsd({ cost, charged }: { cost: string; charged: string }): string | null {
  const missing = parseUsd(cost) - parseUsd(charged);
  return missing > 0n ? printUsd(missing) : null;
}
