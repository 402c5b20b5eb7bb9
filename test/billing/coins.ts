/**
 * A second, naive opinion on the rules of the budget: every grant is a row of coins, every coin has one state. Written
 * from the rules, not from the code; slow, and obvious.
 */
export type Coin = 'free' | 'spent' | 'expired' | { request: string };

export interface Purse {
  id: string;
  ended: boolean;
  coins: Coin[];
}

export function purse(id: string, coins: number): Purse {
  return { id, ended: false, coins: Array.from({ length: coins }, () => 'free' as const) };
}

export function count(purses: readonly Purse[], which: (coin: Coin, purse: Purse) => boolean): number {
  let found = 0;
  for (const each of purses) for (const coin of each.coins) if (which(coin, each)) found += 1;
  return found;
}

export const spendable = (coin: Coin, { ended }: Purse): boolean => coin === 'free' && !ended;
export const isHeld = (coin: Coin): boolean => typeof coin === 'object';
const isHeldBy = (request: string) => (coin: Coin) => typeof coin === 'object' && coin.request === request;

/** Changes up to `most` coins, in the order of consumption, and says how many. */
function change(purses: Purse[], most: number, which: (coin: Coin, purse: Purse) => boolean, to: Coin): number {
  let changed = 0;
  for (const each of purses) {
    each.coins.forEach((coin, index) => {
      if (changed >= most || !which(coin, each)) return;
      each.coins[index] = to;
      changed += 1;
    });
  }
  return changed;
}

/** Reserves, or adds to what is reserved. */
export function hold(purses: Purse[], request: string, wanted: number): number {
  return change(purses, wanted, spendable, { request });
}

export function release(purses: Purse[], request: string): void {
  change(purses, Number.POSITIVE_INFINITY, isHeldBy(request), 'free');
  expire(purses);
}

export function settle(purses: Purse[], request: string, owed: number): number {
  const own = change(purses, owed, isHeldBy(request), 'spent');
  change(purses, Number.POSITIVE_INFINITY, isHeldBy(request), 'free');
  const more = change(purses, owed - own, spendable, 'spent');
  expire(purses);
  return own + more;
}

export function expire(purses: Purse[]): void {
  change(purses, Number.POSITIVE_INFINITY, (coin, { ended }) => coin === 'free' && ended, 'expired');
}
