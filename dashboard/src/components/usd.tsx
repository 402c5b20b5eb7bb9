import type { CSSProperties } from 'react';
import { useAsk } from '../data.tsx';
import { fill, useLanguage } from '../language/language.tsx';
import { parseUsd, planPair, vndAt } from '../money.ts';

/** A number in one line, which a tile shrinks to its own width by the number of its characters. */
export function Fitted({ text, title }: { text: string; title?: string }) {
  return (
    <span className="usd" title={title} style={{ '--length': text.length } as CSSProperties}>
      {text}
    </span>
  );
}

/** An amount in one line, exact on hover. */
export function Usd({ amount }: { amount: string }) {
  const { format } = useLanguage();
  return <Fitted text={format.usdTile(amount)} title={format.usdExact(amount)} />;
}

/** The plans on sale. `when`: false while nothing needs them. */
export function usePlans(when = true) {
  return useAsk({ key: ['plans'], ask: (steyg, signal) => steyg.console.orders.plans({}, { signal }), when });
}

/** What an amount would cost to buy, at the first plan's price of a USD; nothing without plans. */
export function AboutVnd({ usd }: { usd: string }) {
  const { t, format } = useLanguage();
  const plans = usePlans();
  const pair = planPair(plans.data ?? []);
  if (pair === null || parseUsd(usd) <= 0n) return null;
  return <span className="about-vnd">{fill(t.overview.aboutVnd, { vnd: format.vnd(vndAt(usd, pair.starter)) })}</span>;
}
