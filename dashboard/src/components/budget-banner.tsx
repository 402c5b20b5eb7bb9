/** The banner of a budget that is low or used up, on every page of its account. */

import { useMemo } from 'react';
import { Link } from 'wouter';
import { useAsk } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { addUsd, parseUsd, planPair, printUsd, vndAt } from '../money.ts';
import { pages } from '../pages.ts';
import { daysAgo } from '../usage.ts';
import { Banner } from './states.tsx';
import { usePlans } from './usd.tsx';

/** Without an alert threshold, a balance is low when the average of so many days … */
const paceDays = 7;
/** … would spend it in so many. */
const lowDays = 3;

export interface BannerState {
  /** True until it is known whether there is a banner, so that none arrives late and moves the page. */
  isLoading: boolean;
  /** Unspent USD, with what running requests reserve: the balance that alerts are about. Null: unknown. */
  left: string | null;
  /** Why it is low; null: it is not. */
  low: { reason: 'alert'; threshold: string } | { reason: 'pace' } | null;
}

/**
 * Whether a budget is low: below the account's alert threshold; where alerts are off (a threshold of zero), less than
 * three days' use at the pace of the last seven.
 */
export function useBudgetState(accountId: string | null): BannerState {
  const when = accountId !== null;
  const key = accountId ?? '';
  const budget = useAsk({
    key: ['budget', key],
    ask: (steyg, signal) => steyg.console.ledger.budget({ accountId }, { signal }),
    every: 30_000,
    when,
  });
  const settings = useAsk({
    key: ['notice-settings', key],
    ask: (steyg, signal) => steyg.console.accounts.noticeSettings({ accountId }, { signal }),
    when,
  });
  const from = useMemo(() => daysAgo(paceDays - 1), []);
  const threshold = settings.data?.lowBalance;
  const usage = useAsk({
    key: ['usage', key, 'pace', from],
    ask: (steyg, signal) => steyg.console.ledger.usage({ accountId, from: from.toISOString() }, { signal }),
    every: 300_000,
    when: when && threshold !== undefined && parseUsd(threshold) === 0n,
  });
  const left = budget.data == null ? null : addUsd([budget.data.free, budget.data.held]);
  const spent = usage.data == null ? '0' : addUsd(usage.data.nodes.map(({ charged }) => charged));
  const low = left === null || threshold === undefined ? null : lowReason(left, threshold, spent);
  const plans = usePlans(low !== null);
  return {
    isLoading: [budget, settings, usage, plans].some(({ isLoading }) => isLoading),
    left,
    low,
  };
}

/** `spent`: USD of the last seven days. A balance of nothing is not low: it is used up. */
function lowReason(left: string, threshold: string, spent: string): BannerState['low'] {
  const balance = parseUsd(left);
  if (balance <= 0n) return null;
  const alert = parseUsd(threshold);
  if (alert > 0n) return balance < alert ? { reason: 'alert', threshold: printUsd(alert) } : null;
  return balance * BigInt(paceDays) < parseUsd(spent) * BigInt(lowDays) ? { reason: 'pace' } : null;
}

/** Left out where the page itself sells budget. */
export function BudgetBanner({ state: { isLoading, left, low }, path }: { state: BannerState; path: string }) {
  const { t } = useLanguage();
  const isOver = left !== null && parseUsd(left) <= 0n;
  if ((!isOver && low === null) || path === pages.topUp || path.startsWith('/orders/')) return null;
  // Whole or not at all: its second sentence would make it higher.
  if (!isOver && isLoading) return null;
  return (
    <Banner
      tone="warn"
      action={
        <Link href={pages.topUp} className="button primary small">
          {t.nav.topUp}
        </Link>
      }
    >
      {isOver || low === null || left === null ? t.overview.exhausted : <LowBalance left={left} low={low} />}
    </Banner>
  );
}

/** What is left in USD and VND, why that is little, and what a plan buys. */
function LowBalance({ left, low }: { left: string; low: NonNullable<BannerState['low']> }) {
  const { t, format } = useLanguage();
  const plan = planPair(usePlans().data ?? [])?.starter;
  const about = plan === undefined ? '' : ` (${fill(t.overview.aboutVnd, { vnd: format.vnd(vndAt(left, plan)) })})`;
  const amount = `${format.usdTile(left)}${about}`;
  return (
    <>
      {low.reason === 'alert'
        ? fill(t.overview.lowByAlert, { amount, threshold: format.usd(low.threshold) })
        : fill(t.overview.lowByPace, { amount, days: String(lowDays), past: String(paceDays) })}
      {plan === undefined
        ? null
        : ` ${fill(t.overview.planBuys, { vnd: format.vnd(plan.priceVnd), budget: format.usd(plan.budget), plan: plan.name })}`}
    </>
  );
}
