/**
 * A small business in plain arithmetic: what its books must say, computed from what happened, without any code of the server.
 * Money is pico-USD and whole VND in `bigint`. Every rule that it follows is one that `server/books/README.md` states.
 */

export const kinds = ['bought', 'trial', 'bonus', 'given', 'own', 'probe'] as const;
export type Kind = (typeof kinds)[number];
export type Party = 'customer' | 'own' | 'probe';
/** Who paid, in the order in which the cost of a request is cut. */
export const payers = ['bought', 'trial', 'bonus', 'given', 'own'] as const;

export const pico = 10n ** 12n;

/** Decimal USD as pico-USD. */
export function picoOf(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.');
  return BigInt(whole) * pico + BigInt(fraction.padEnd(12, '0'));
}

/** Pico-USD as a decimal without zeros at its end. */
export function usdOf(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(13, '0');
  const fraction = digits.slice(-12).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -12)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The nearest whole number, halves up. */
export const rounded = (dividend: bigint, divisor: bigint): bigint => (2n * dividend + divisor) / (2n * divisor);

/** USD for a million tokens as pico-USD for one. */
const perToken = (usd: string): bigint => picoOf(usd) / 1_000_000n;

export interface Tokens {
  input: number;
  cacheHit?: number;
  output: number;
}

export interface Tariff {
  input: string;
  cacheHit: string;
  output: string;
}

const priced = ({ input, cacheHit = 0, output }: Tokens, tariff: Tariff): bigint =>
  BigInt(input) * perToken(tariff.input) +
  BigInt(cacheHit) * perToken(tariff.cacheHit) +
  BigInt(output) * perToken(tariff.output);

type What = 'added' | 'used' | 'expired' | 'refunded' | 'undone';

interface Movement {
  at: number;
  what: What;
  amount: bigint;
}

export interface Budget {
  account: string;
  kind: Kind;
  amount: bigint;
  endsAt: number | null;
  moved: Movement[];
}

export interface Sale {
  buyer: string;
  priceVnd: bigint;
  vatVnd: bigint;
  at: number;
  budget: Budget;
  refunds: { at: number; gross: bigint; net: bigint }[];
}

export interface Call {
  at: number;
  account: string;
  party: Party;
  model: string;
  tokens: Tokens;
  price: bigint;
  /** Null: the vendor's price is not known. */
  cost: bigint | null;
  paid: Map<Kind, bigint>;
  /** What nothing was left for. */
  missing: bigint;
}

interface Cash {
  at: number;
  what: 'received' | 'sold' | 'undone' | 'credited' | 'sent';
  vnd: bigint;
}

const sum = (amounts: Iterable<bigint>): bigint => {
  let total = 0n;
  for (const amount of amounts) total += amount;
  return total;
};

/** A share of whole VND, cut. */
const share = (vnd: bigint, part: bigint, whole: bigint): bigint => (vnd * part) / whole;

export function createShop(tariffs: Record<string, { price: Tariff; cost: Tariff | null }>) {
  const budgets: Budget[] = [];
  const sales: Sale[] = [];
  const calls: Call[] = [];
  const cash: Cash[] = [];
  const allowed: { at: number; gross: bigint; net: bigint }[] = [];
  const parties = new Map<string, Party>();

  const movedBy = (budget: Budget, what: What, before = Number.POSITIVE_INFINITY): bigint =>
    sum(budget.moved.filter((each) => each.what === what && each.at < before).map(({ amount }) => amount));
  const leftOf = (budget: Budget, before?: number): bigint =>
    movedBy(budget, 'added', before) -
    (['used', 'expired', 'refunded', 'undone'] as const).reduce(
      (gone, what) => gone + movedBy(budget, what, before),
      0n,
    );

  return {
    budgets,
    sales,
    calls,
    cash,
    leftOf,
    movedBy,

    join: (account: string, party: Party) => void parties.set(account, party),

    /** Budget that costs nothing, or of a sale. */
    give(input: { at: number; account: string; kind: Kind; usd: string; days?: number | null }): Budget {
      const party = parties.get(input.account) ?? 'customer';
      const kind = party === 'customer' || input.kind === 'bought' ? input.kind : party;
      const amount = picoOf(input.usd);
      const endsAt = input.days == null ? null : input.at + input.days * 86_400_000;
      const budget: Budget = {
        account: input.account,
        kind,
        amount,
        endsAt,
        moved: [{ at: input.at, what: 'added', amount }],
      };
      budgets.push(budget);
      return budget;
    },

    /** An order that was paid. `vat`: percent in its price. */
    sell(input: {
      at: number;
      buyer: string;
      receiver?: string;
      priceVnd: number;
      usd: string;
      days?: number | null;
      vat: number;
    }): Sale {
      const { at, buyer, receiver = buyer, usd, days = null } = input;
      const priceVnd = BigInt(input.priceVnd);
      const budget = this.give({ at, account: receiver, kind: 'bought', usd, days });
      const vatVnd = rounded(priceVnd * BigInt(input.vat), 100n + BigInt(input.vat));
      const sale = { buyer, priceVnd, vatVnd, at, budget, refunds: [] };
      sales.push(sale);
      cash.push({ at, what: 'sold', vnd: priceVnd });
      return sale;
    },

    bank: (at: number, what: 'received' | 'sent', vnd: number) => void cash.push({ at, what, vnd: BigInt(vnd) }),

    /**
     * A request at its tariff; what ends soonest pays first, of equals what was given before what was bought, then what came first. `short`: what is left need not reach.
     */
    call(at: number, account: string, model: string, tokens: Tokens, { short = false } = {}): Call {
      const tariff = tariffs[model];
      if (tariff === undefined) throw new Error(`no tariff of ${model}`);
      const price = priced(tokens, tariff.price);
      const paid = new Map<Kind, bigint>();
      let open = price;
      const usable = budgets
        .filter((budget) => budget.account === account && (budget.endsAt === null || budget.endsAt > at))
        .toSorted(
          (a, b) =>
            (a.endsAt ?? Number.MAX_SAFE_INTEGER) - (b.endsAt ?? Number.MAX_SAFE_INTEGER) ||
            Number(a.kind === 'bought') - Number(b.kind === 'bought'),
        );
      for (const budget of usable) {
        const left = leftOf(budget);
        const amount = left < open ? left : open;
        if (amount === 0n) continue;
        budget.moved.push({ at, what: 'used', amount });
        paid.set(budget.kind, (paid.get(budget.kind) ?? 0n) + amount);
        open -= amount;
      }
      if (open > 0n !== short) throw new Error('a request is covered, or it is short');
      const cost = tariff.cost === null ? null : priced(tokens, tariff.cost);
      const party = parties.get(account) ?? 'customer';
      const call = { at, account, party, model, tokens, price, cost, paid, missing: open };
      calls.push(call);
      return call;
    },

    /** What has ended by now leaves. */
    expire(at: number): void {
      for (const budget of budgets)
        if (budget.endsAt !== null && budget.endsAt <= at && leftOf(budget) > 0n)
          budget.moved.push({ at, what: 'expired', amount: leftOf(budget) });
    },

    /** A payment that was a mistake. Nothing of it was used. */
    undo(sale: Sale, at: number): void {
      sale.budget.moved.push({ at, what: 'undone', amount: sale.budget.amount });
      cash.push({ at, what: 'undone', vnd: sale.priceVnd });
    },

    /** Takes back unused budget of a sale for its VND; the last of it takes what cutting has left. */
    refund(sale: Sale, { at, usd, usedVnd = 0n }: { at: number; usd: string | null; usedVnd?: bigint }): bigint {
      const { budget, priceVnd, vatVnd, refunds } = sale;
      const amount = usd === null ? leftOf(budget) : picoOf(usd);
      const isLast = amount > 0n && amount === leftOf(budget);
      if (amount > 0n) budget.moved.push({ at, what: 'refunded', amount });
      const gone =
        share(priceVnd, movedBy(budget, 'used'), budget.amount) +
        share(priceVnd, movedBy(budget, 'expired'), budget.amount);
      const gross = isLast
        ? priceVnd - gone - sum(refunds.map((each) => each.gross))
        : share(priceVnd, amount, budget.amount);
      // VAT of a part is rounded up.
      const netOf = (vnd: bigint): bigint => vnd - (vnd * vatVnd + priceVnd - 1n) / priceVnd;
      if (amount > 0n) refunds.push({ at, gross, net: netOf(gross) });
      if (usedVnd > 0n) allowed.push({ at, gross: usedVnd, net: netOf(usedVnd) });
      cash.push({ at, what: 'credited', vnd: gross + usedVnd });
      return gross + usedVnd;
    },

    /** A refund that was a mistake: all of it returns, and what the bank sent was no refund. */
    undoRefund(sale: Sale, { at, gross, sent }: { at: number; gross: bigint; sent: bigint }): void {
      const taken = sale.refunds.find((each) => each.gross === gross);
      const movement = sale.budget.moved.findLast(({ what }) => what === 'refunded');
      if (taken === undefined || movement === undefined) throw new Error('nothing of it was refunded');
      sale.budget.moved.push({ at, what: 'refunded', amount: -movement.amount });
      sale.refunds.push({ at, gross: -taken.gross, net: -taken.net });
      cash.push({ at, what: 'credited', vnd: -gross }, { at, what: 'sent', vnd: -sent });
    },

    /** What returned of refunds that were mistakes. */
    returnedTo: (account: string, from: number, to: number): bigint =>
      sum(
        budgets
          .filter((budget) => budget.account === account)
          .flatMap(({ moved }) => moved.filter(({ at, amount }) => amount < 0n && at >= from && at < to))
          .map(({ amount }) => -amount),
      ),

    /** What moved of budgets between two moments, for some of them. */
    roll(of: (budget: Budget) => boolean, from: number, to: number) {
      const chosen = budgets.filter(of);
      const moved = (what: What): bigint =>
        sum(chosen.map((budget) => movedBy(budget, what, to) - movedBy(budget, what, from)));
      const left = (at: number): bigint => sum(chosen.map((budget) => leftOf(budget, at)));
      return {
        opening: left(from),
        added: moved('added'),
        used: moved('used'),
        expired: moved('expired'),
        refunded: moved('refunded'),
        undone: moved('undone'),
        closing: left(to),
      };
    },

    /** The same of what was bought in VND, with VAT or without. */
    rollVnd(withVat: boolean, from: number, to: number) {
      const before = (sale: Sale, at: number) => {
        const { budget, refunds } = sale;
        const price = withVat ? sale.priceVnd : sale.priceVnd - sale.vatVnd;
        const added = sale.at < at ? price : 0n;
        const undone = movedBy(budget, 'undone', at) > 0n ? price : 0n;
        const refunded = sum(refunds.filter((each) => each.at < at).map(({ gross, net }) => (withVat ? gross : net)));
        let used = share(price, movedBy(budget, 'used', at), budget.amount);
        let expired = share(price, movedBy(budget, 'expired', at), budget.amount);
        if (added > 0n && undone === 0n && leftOf(budget, at) === 0n) {
          const cut = price - used - expired - refunded;
          if (expired === 0n) used += cut;
          else expired += cut;
        }
        return { added, used, expired, refunded, undone, left: added - used - expired - refunded - undone };
      };
      const of = (name: keyof ReturnType<typeof before>, at: number): bigint =>
        sum(sales.map((sale) => before(sale, at)[name]));
      const within = (name: What): bigint => of(name, to) - of(name, from);
      return {
        opening: of('left', from),
        added: within('added'),
        used: within('used'),
        expired: within('expired'),
        refunded: within('refunded'),
        undone: within('undone'),
        closing: of('left', to),
      };
    },

    rollCash(from: number, to: number) {
      const of = (what: Cash['what'], at: number): bigint =>
        sum(cash.filter((each) => each.what === what && each.at < at).map(({ vnd }) => vnd));
      const owed = (at: number): bigint =>
        of('received', at) - of('sold', at) + of('undone', at) + of('credited', at) - of('sent', at);
      const within = (what: Cash['what']): bigint => of(what, to) - of(what, from);
      return {
        opening: owed(from),
        received: within('received'),
        sold: within('sold'),
        undone: within('undone'),
        credited: within('credited'),
        sent: within('sent'),
        closing: owed(to),
      };
    },

    allowedIn(from: number, to: number) {
      const chosen = allowed.filter(({ at }) => at >= from && at < to);
      return { gross: sum(chosen.map(({ gross }) => gross)), net: sum(chosen.map(({ net }) => net)) };
    },

    callsIn: (from: number, to: number): Call[] => calls.filter(({ at }) => at >= from && at < to),
  };
}

export const costOf = (calls: readonly Call[]): bigint => sum(calls.map(({ cost }) => cost ?? 0n));
export const missingOf = (calls: readonly Call[]): bigint => sum(calls.map(({ missing }) => missing));
export const priceOf = (calls: readonly Call[]): bigint => sum(calls.map(({ price }) => price));
export const paidOf = (calls: readonly Call[], kind: Kind): bigint =>
  sum(calls.map(({ paid }) => paid.get(kind) ?? 0n));

/** What vendors cost by who paid: each request's cost as its price was divided, cut in the order of `payers`. */
export function costByPayer(
  calls: readonly Call[],
): Record<(typeof payers)[number] | 'shortfall' | 'probe' | 'total', bigint> {
  const split = { bought: 0n, trial: 0n, bonus: 0n, given: 0n, own: 0n, shortfall: 0n, probe: 0n, total: 0n };
  for (const { cost, price, paid, party, missing } of calls) {
    split.total += cost ?? 0n;
    if (party === 'probe') {
      split.probe += cost ?? 0n;
      continue;
    }
    let [running, before] = [0n, 0n];
    for (const payer of payers) {
      running += paid.get(payer) ?? 0n;
      const upTo = ((cost ?? 0n) * running) / price;
      split[payer] += upTo - before;
      before = upTo;
    }
    // Nobody pays the rest.
    if (missing > 0n) split.shortfall += (cost ?? 0n) - before;
  }
  return split;
}
