import type { BudgetAnswer } from '@steyg/sdk';
import type { ReactNode } from 'react';
import { useNow } from '../hooks.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { parseUsd } from '../money.ts';
import { Empty } from './states.tsx';

/** The list of the grants that make up a budget. */

export type Grant = NonNullable<BudgetAnswer>['grants'][number];

/** The grants of the budget: each with its rest and its expiry, in the order in which they are spent. */
export function Lots({
  grants,
  actionOf,
}: {
  grants: readonly Grant[];
  /** The actions of a grant, below it. */
  actionOf?: (grant: Grant) => ReactNode;
}) {
  const { t } = useLanguage();
  const open = grants.filter(({ free, held }) => Number(free) > 0 || Number(held) > 0);
  if (open.length === 0) return <Empty title={t.overview.noLots} />;
  return (
    <ul className="lots">
      {open.map((grant) => (
        <Lot key={grant.id} grant={grant} action={actionOf?.(grant)} />
      ))}
    </ul>
  );
}

function Lot({ grant, action }: { grant: Grant; action: ReactNode }) {
  const { t, format } = useLanguage();
  const now = useNow();
  const { kind, amount, free, held, expiresAt, reason } = grant;
  const share = (part: string) => Number((parseUsd(part) * 1_000n) / (parseUsd(amount) || 1n)) / 10;
  return (
    <li>
      <p className="lot-head">
        <strong>{t.grants[kind ?? 'OTHER']}</strong>
        <span>{fill(t.overview.leftOf, { free: format.usdTile(free), amount: format.usd(amount) })}</span>
      </p>
      <div className="meter" aria-hidden="true">
        <span className="free" style={{ width: `${share(free)}%` }} />
        <span className="held" style={{ width: `${share(held)}%` }} />
      </div>
      <p className="hint">
        {expiresAt === null
          ? t.overview.noEnd
          : fill(t.overview.ends, { end: format.dateTime(expiresAt), relative: format.relative(expiresAt, now) })}
        {Number(held) > 0 ? ` · ${fill(t.overview.held, { held: format.usd(held) })}` : ''}
        {reason === null ? '' : ` · ${reason}`}
      </p>
      {action}
    </li>
  );
}
