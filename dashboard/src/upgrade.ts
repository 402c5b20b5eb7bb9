import { parseUsd, printUsd } from './money.ts';

/** Plans as upgrades of earlier purchases: only the difference is paid and granted. */

export interface PaidOrder {
  id: string;
  status: string | null;
  planName: string;
  priceVnd: string;
  budget: string;
  upgradedOrder: { id: string } | null;
}

export interface UpgradeOffer {
  orderId: string;
  planName: string;
  /** The missing amount, in VND. */
  priceVnd: string;
  /** The missing budget, in USD. */
  budget: string;
}

/**
 * The price of a plan on top of the newest purchase that it can follow. An upgrade's own price is a difference, so the
 * amount paid so far is the sum along the chain. Null where the plan is not dearer, or there is no purchase.
 */
export function upgradeOffer(
  plan: { priceVnd: string; budget: string },
  orders: readonly PaidOrder[],
): UpgradeOffer | null {
  const byId = new Map(orders.map((order) => [order.id, order]));
  const superseded = new Set(
    orders
      .filter(({ status }) => ['PENDING', 'PARTIAL', 'PAID'].includes(status ?? ''))
      .map(({ upgradedOrder }) => upgradedOrder?.id),
  );
  for (const order of orders) {
    if (order.status !== 'PAID' || superseded.has(order.id)) continue;
    let vnd = 0n;
    let pico = 0n;
    let whole = true;
    for (let each: PaidOrder | undefined = order; each !== undefined; ) {
      vnd += BigInt(each.priceVnd);
      pico += parseUsd(each.budget);
      const before: PaidOrder | undefined = each.upgradedOrder === null ? undefined : byId.get(each.upgradedOrder.id);
      whole = each.upgradedOrder === null || before !== undefined;
      each = before;
    }
    const priceVnd = BigInt(plan.priceVnd) - vnd;
    const budget = parseUsd(plan.budget) - pico;
    // A chain whose beginning is not in the list cannot be summed here.
    if (whole && priceVnd > 0n && budget > 0n) {
      return { orderId: order.id, planName: order.planName, priceVnd: String(priceVnd), budget: printUsd(budget) };
    }
  }
  return null;
}
