/** What an account should be told, given how its budget stands: pure rules. Amounts are pico-USD. */

export type NoticeKind = 'balance_low' | 'balance_exhausted' | 'grant_expiring' | 'trial_ending';

/** A grant that still has something and ends soon. */
export interface EndingGrant {
  id: string;
  kind: string;
  /** What would be lost. */
  left: bigint;
  expiresAt: Date;
}

export interface BudgetState {
  /** What can still be spent, running requests' share included: a hold is not yet a charge. */
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

/** What a notice says, as it is stored and sent: snake_case, amounts as decimal strings. */
export interface NoticeFacts {
  balance_usd?: string;
  threshold_usd?: string;
  grant_id?: string;
  amount_usd?: string;
  expires_at?: string;
}

/**
 * Everything that is true of a budget now. The caller compares it with what the account was told: what is new is told,
 * what is over is cleared, so that the next time is told again.
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

/** Told as one when both are new: nobody wants two mails for one thing. */
export function isOvertaken(notice: DueNotice, all: readonly DueNotice[]): boolean {
  return notice.kind === 'balance_low' && all.some(({ kind }) => kind === 'balance_exhausted');
}
