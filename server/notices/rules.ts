/** The rules for notices, given the state of a budget. Pure; amounts are pico-USD. */

export type NoticeKind = 'balance_low' | 'balance_exhausted' | 'grant_expiring' | 'trial_ending';

/** A grant that is not empty and ends soon. */
export interface EndingGrant {
  id: string;
  kind: string;
  /** The amount that would be lost. */
  left: bigint;
  expiresAt: Date;
}

export interface BudgetState {
  /** The spendable amount, including what running requests hold: a hold is not yet a charge. */
  left: bigint;
  /** Below it the balance is low; zero: never. */
  threshold: bigint;
  ending: readonly EndingGrant[];
}

export interface DueNotice {
  kind: NoticeKind;
  /** A grant's id, or empty. */
  subject: string;
  facts: NoticeFacts;
}

/** The payload of a notice, as it is stored and sent: snake_case, amounts as decimal strings. */
export interface NoticeFacts {
  balance_usd?: string;
  threshold_usd?: string;
  grant_id?: string;
  amount_usd?: string;
  expires_at?: string;
}

/**
 * Every condition that holds for a budget now. The caller compares them with earlier notices: new ones are sent, those
 * that are over are cleared, so that the next occurrence is sent again.
 */
export function dueNotices(state: BudgetState, formatUsd: (amount: bigint) => string): DueNotice[] {
  const notices: DueNotice[] = [];
  if (state.left <= 0n) notices.push({ kind: 'balance_exhausted', subject: '', facts: { balance_usd: '0' } });
  if (state.left < state.threshold) {
    const facts = { balance_usd: formatUsd(state.left), threshold_usd: formatUsd(state.threshold) };
    notices.push({ kind: 'balance_low', subject: '', facts });
  }
  for (const grant of state.ending) {
    notices.push({
      kind: grant.kind === 'trial' ? 'trial_ending' : 'grant_expiring',
      subject: grant.id,
      facts: { grant_id: grant.id, amount_usd: formatUsd(grant.left), expires_at: grant.expiresAt.toISOString() },
    });
  }
  return notices;
}

/** Sent as one mail when both are new. */
export function isOvertaken(notice: DueNotice, all: readonly DueNotice[]): boolean {
  return notice.kind === 'balance_low' && all.some(({ kind }) => kind === 'balance_exhausted');
}
