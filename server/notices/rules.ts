/** The rules for notices about a budget and its limits. Pure; amounts are pico-USD. */

import { firstDayOf } from '../core/local-time.ts';

/** Notices of accounts. */
export const accountNotices = [
  'balance_low',
  'balance_exhausted',
  'grant_expiring',
  'trial_ending',
  'burn_rate',
  'key_limit_near',
  'price_changed',
  'model_incident',
  'new_sign_in',
  'recovered',
] as const;

/** Notices of the business, for operators. */
export const businessNotices = [
  'shortfall',
  'upstream_failing',
  'transfer_waiting',
  'margin_low',
  'bill_differs',
  'bill_missing',
  'recovered',
] as const;

export type AccountNotice = (typeof accountNotices)[number];
export type BusinessNotice = (typeof businessNotices)[number];
export type NoticeKind = AccountNotice | BusinessNotice;

/** The kinds that this version knows: a newer one that runs beside it may write others, which it leaves alone. */
export const noticeKinds: readonly NoticeKind[] = [...new Set([...accountNotices, ...businessNotices])];

/** A grant that is not empty and ends soon. */
export interface EndingGrant {
  id: string;
  kind: string;
  /** The amount that would be lost. */
  left: bigint;
  expiresAt: Date;
}

/** A spending limit with what was charged in its period. */
export interface UsedLimit {
  of: 'key' | 'member' | 'project' | 'account';
  /** Of the key, the person, the project or the account. */
  id: string;
  /**
   * Null: a member, whom notices know by id alone. A name would stay in messages and webhooks that the erasure of the
   * person, in another account, does not reach.
   */
  name: string | null;
  period: 'day' | 'week' | 'month' | 'lifetime';
  /** The first day of the period in the account's time zone, e.g. `2026-11-22`; empty: since ever. */
  since: string;
  spent: bigint;
  limit: bigint;
}

/**
 * Whether a period that began on the day `since` has not ended. A period may begin after the present day: sums never go
 * back when an account moves to a time zone further west, and limits count them, too.
 */
export function isRunning(
  { period, since }: Pick<UsedLimit, 'period' | 'since'>,
  nowMs: number,
  timeZone: string,
): boolean {
  return period === 'lifetime' || since >= firstDayOf(period, nowMs, timeZone);
}

export interface BudgetState {
  /** The spendable amount, including what running requests hold: a hold is not yet a charge. */
  left: bigint;
  /** Below it the balance is low; zero: never. */
  threshold: bigint;
  ending: readonly EndingGrant[];
  /** Spent within the last `minutes`, and the amount above which a notice is made; null: it is not wanted. */
  burn?: { spent: bigint; amount: bigint; minutes: number } | null;
  /** Those whose period runs. */
  limits?: readonly UsedLimit[];
  /** A limit used to this percentage makes a notice; zero: never. */
  keyPercent?: number;
  /** Kinds that are not wanted. */
  muted?: readonly string[];
}

export interface DueNotice {
  kind: NoticeKind;
  /** A grant's id, the id of what has a limit with a period, or empty. */
  subject: string;
  facts: NoticeFacts;
}

/** The payload of a notice, as it is stored and sent: snake_case, amounts as decimal strings. No content of requests. */
export interface NoticeFacts {
  balance_usd?: string;
  threshold_usd?: string;
  grant_id?: string;
  amount_usd?: string;
  expires_at?: string;
  spent_usd?: string;
  minutes?: string;
  key_id?: string;
  key_name?: string;
  /** Of `key_limit_near`: `key`, `member`, `project` or `account`. */
  limit_of?: string;
  member_id?: string;
  project_id?: string;
  project_name?: string;
  period?: string;
  limit_usd?: string;
  percent?: string;
  model?: string;
  valid_from?: string;
  input_usd?: string;
  input_usd_before?: string;
  output_usd?: string;
  output_usd_before?: string;
  started_at?: string;
  impact?: string;
  device?: string;
  network?: string;
  email?: string;
  hour?: string;
  upstream?: string;
  failures?: string;
  transfer_id?: string;
  amount_vnd?: string;
  minimum?: string;
  reason?: string;
  day?: string;
  days?: string;
  /** Of `recovered`: the kind of the notice that is over. */
  of?: string;
  ended_at?: string;
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
  const { burn } = state;
  if (burn && burn.amount > 0n && burn.spent > burn.amount) {
    const facts = { spent_usd: formatUsd(burn.spent), limit_usd: formatUsd(burn.amount), minutes: `${burn.minutes}` };
    notices.push({ kind: 'burn_rate', subject: '', facts });
  }
  notices.push(...nearLimits(state, formatUsd));
  return notices.filter(({ kind }) => !state.muted?.includes(kind));
}

function nearLimits({ limits = [], keyPercent = 0 }: BudgetState, formatUsd: (amount: bigint) => string): DueNotice[] {
  if (keyPercent <= 0) return [];
  const near = limits.filter(({ spent, limit }) => limit > 0n && spent * 100n >= limit * BigInt(keyPercent));
  return near.map(({ of, id, name, period, since, spent, limit }) => ({
    kind: 'key_limit_near',
    subject: [id, period, since].join(':'),
    facts: {
      limit_of: of,
      ...(of === 'key' ? { key_id: id, key_name: name ?? '' } : {}),
      ...(of === 'member' ? { member_id: id } : {}),
      ...(of === 'project' ? { project_id: id, project_name: name ?? '' } : {}),
      period,
      spent_usd: formatUsd(spent),
      limit_usd: formatUsd(limit),
      percent: `${keyPercent}`,
    },
  }));
}

/**
 * Whether an open notice that is no longer due is over. A burn rate is over at half of its amount, so that one about the amount is
 * not told again and again.
 */
export function isOver(open: { kind: NoticeKind; subject: string }, state: BudgetState): boolean {
  const { burn } = state;
  if (open.kind === 'burn_rate') return !burn || burn.amount === 0n || burn.spent * 2n < burn.amount;
  return open.kind === 'balance_low' || open.kind === 'balance_exhausted' || open.kind === 'key_limit_near';
}

/** The same for notices of one occurrence of an account. */
export function identityOf({ kind, subject }: { kind: NoticeKind; subject: string }): string {
  return `${kind}:${subject}`;
}

/**
 * The message that a balance is back, of the notices that are over: one, also when it was low and used up. Null: none of
 * them was about the balance, or it is no longer wanted to hear of it.
 */
export function recoveryOf(
  over: readonly { id: string; kind: NoticeKind }[],
  state: BudgetState,
  formatUsd: (amount: bigint) => string,
): DueNotice | null {
  const wanted = over.filter(({ kind }) => !state.muted?.includes(kind));
  const exhausted = wanted.find(({ kind }) => kind === 'balance_exhausted' && state.left > 0n);
  const low = wanted.find(
    ({ kind }) => kind === 'balance_low' && state.threshold > 0n && state.left >= state.threshold,
  );
  const ended = exhausted ?? low;
  // As long as it is low, the notice of that is open, and its end makes one, too.
  const isLow = state.left < state.threshold && state.muted?.includes('balance_low') !== true;
  if (ended === undefined || isLow || state.muted?.includes('recovered') === true) return null;
  const facts = { of: ended.kind, balance_usd: formatUsd(state.left) };
  return { kind: 'recovered', subject: ended.id, facts };
}

/** Sent as one message when both are new. */
export function isOvertaken(notice: DueNotice, all: readonly DueNotice[]): boolean {
  return notice.kind === 'balance_low' && all.some(({ kind }) => kind === 'balance_exhausted');
}
