import type { ClientBase, Pool } from 'pg';
import type { Log } from '../core/log.ts';
import { repeatedTransaction, transaction } from '../database/lane.ts';
import { describeError, uuidv7 } from '../runtime/http.ts';
import type { Mail } from '../runtime/mail.ts';
import type { Locale } from '../shared/page.ts';
import { noticeMail } from './mails.ts';
import {
  type DueNotice,
  dueNotices,
  type EndingGrant,
  isOvertaken,
  type NoticeFacts,
  type NoticeKind,
} from './rules.ts';

/**
 * Notices: tells accounts that their budget runs low or out, or that part of it is about to expire, once per
 * occurrence.
 */

export interface NoticeSettings {
  /** Pico-USD: below it the balance is low. Zero: never. */
  lowBalance: bigint;
  mail: boolean;
}

export interface Notice {
  id: string;
  kind: NoticeKind;
  /** A grant's id, or empty. */
  subject: string;
  facts: NoticeFacts;
  mail: 'none' | 'due' | 'sent' | 'failed';
  createdAt: Date;
  /** Null: the condition still holds. */
  clearedAt: Date | null;
}

export interface NoticeDeps {
  /** Must read BIGINT as `bigint` (the types of the money lane). */
  pool: Pool;
  /** Sends now and throws on failure. */
  deliverMail: (mail: Mail) => Promise<void>;
  /** Informs the account's own programs, in the transaction that makes the notice. */
  recordEvent: (client: ClientBase, event: { accountId: string; name: string; data: object }) => Promise<unknown>;
  formatUsd: (amount: bigint) => string;
  topUpUrl: string;
  settingsUrl: string;
  log: Pick<Log, 'warn'>;
}

const defaultSettings: NoticeSettings = { lowBalance: 1_000_000_000_000n, mail: true };

/** Names of events in webhooks. */
const noticeEvents: Record<NoticeKind, string> = {
  balance_low: 'balance.low',
  balance_exhausted: 'balance.exhausted',
  grant_expiring: 'grant.expiring',
  trial_ending: 'trial.ending',
};

/** A grant is about to expire when at most this, and at most a third of its life, is left. */
const soonDays = 3;
/**
 * An account whose keys were used within this time may have crossed a threshold. Longer than the interval between two
 * runs.
 */
const recently = '20 minutes';
const maxMailTries = 6;
/** The maximum of PostgreSQL's BIGINT. */
const maxBigint = 2n ** 63n - 1n;
const batch = 500;

export function createNotices(deps: NoticeDeps) {
  const { pool } = deps;

  async function settings(accountId: string): Promise<NoticeSettings> {
    const { rows } = await pool.query<NoticeSettings>(
      'SELECT low_balance AS "lowBalance", mail FROM notice_settings WHERE account_id = $1',
      [accountId],
    );
    return rows[0] ?? defaultSettings;
  }

  async function saveSettings(accountId: string, wanted: NoticeSettings): Promise<NoticeSettings> {
    await pool.query(
      `INSERT INTO notice_settings (account_id, low_balance, mail) VALUES ($1, $2, $3)
       ON CONFLICT (account_id) DO UPDATE SET low_balance = excluded.low_balance, mail = excluded.mail`,
      [accountId, wanted.lowBalance, wanted.mail],
    );
    return wanted;
  }

  /** The notices of an account, newest first. */
  async function list(input: { accountId: string; limit: number }): Promise<Notice[]> {
    const { rows } = await pool.query<Notice>(
      `SELECT id, kind, subject, facts, mail, created_at AS "createdAt", cleared_at AS "clearedAt" FROM notice
       WHERE account_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2`,
      [input.accountId, input.limit],
    );
    return rows;
  }

  /**
   * Checks the accounts whose budget may have changed state, makes the notices that are due and clears those that are
   * over. Returns how many were made. Each notice is made once, even by concurrent runs: its transaction checks the
   * condition again.
   */
  async function check(): Promise<number> {
    let made = 0;
    const accounts = await accountsToLookAt(pool);
    for (let at = 0; at < accounts.length; at += batch) {
      const budgets = await readBudgets(pool, accounts.slice(at, at + batch));
      for (const budget of budgets) made += await settle(budget);
    }
    return made;
  }

  /** The notices to make for a budget, and those that are over. */
  function changesOf(budget: Budget): { isNew: DueNotice[]; over: Budget['open'] } {
    const due = dueNotices(budget, deps.formatUsd);
    return {
      isNew: due.filter((notice) => !budget.open.some((open) => isSame(open, notice))),
      over: budget.open.filter((open) => isBalance(open.kind) && !due.some((notice) => isSame(open, notice))),
    };
  }

  async function settle(seen: Budget): Promise<number> {
    const { accountId } = seen;
    const first = changesOf(seen);
    if (first.isNew.length === 0 && first.over.length === 0) return 0;
    return repeatedTransaction(pool, async (client) => {
      // One run at a time for each account, on the budget under lock: two runs with different balances would deadlock,
      // or send a notice that is no longer true.
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.notices:' || $1, 0))`, [accountId]);
      const [budget] = await readBudgets(client, [accountId]);
      if (budget === undefined) return 0;
      const { isNew, over } = changesOf(budget);
      for (const { kind } of over)
        await client.query(
          'UPDATE notice SET cleared_at = now() WHERE account_id = $1 AND kind = $2 AND cleared_at IS NULL',
          [budget.accountId, kind],
        );
      let made = 0;
      for (const notice of isNew) {
        const silent = isOvertaken(notice, isNew);
        if (!(await insertNotice(client, budget, notice, budget.mail && !silent))) continue;
        made += 1;
        if (!silent)
          await deps.recordEvent(client, {
            accountId: budget.accountId,
            name: noticeEvents[notice.kind],
            data: notice.facts,
          });
      }
      return made;
    });
  }

  return { settings, saveSettings, list, check, sendMails: createMailSender(deps) };
}

/** Sends notices by mail; deps as of the notices. */
function createMailSender(deps: NoticeDeps): () => Promise<number> {
  const { pool } = deps;

  /**
   * Sends the mails that are due, each under a row lock, so that concurrent runs send it once. A failed mail is retried
   * by the next runs, and given up after some. Returns how many were sent.
   */
  async function sendMails(): Promise<number> {
    let sent = 0;
    const tried: string[] = [];
    for (;;) {
      const one = await transaction(pool, (client) => sendOne(client, tried));
      if (one === null) return sent;
      tried.push(one.id);
      if (one.sent) sent += 1;
    }
  }

  async function sendOne(client: ClientBase, tried: readonly string[]): Promise<{ id: string; sent: boolean } | null> {
    const { rows } = await client.query<MailRow>(
      `SELECT n.id, n.kind, n.facts, n.mail_tries AS "mailTries", a.email,
              (SELECT u.locale FROM member m JOIN app_user u ON u.id = m.user_id
               WHERE m.account_id = a.id AND m.role = 'owner' ORDER BY u.email = a.email DESC, m.created_at LIMIT 1) AS locale
       FROM notice n JOIN account a ON a.id = n.account_id
       WHERE n.mail = 'due' AND n.id <> ALL ($1::uuid[]) ORDER BY n.created_at LIMIT 1 FOR UPDATE OF n SKIP LOCKED`,
      [tried],
    );
    const [row] = rows;
    if (row === undefined) return null;
    const sent = await attempt(row);
    const state = sent ? 'sent' : row.mailTries + 1 < maxMailTries ? 'due' : 'failed';
    await client.query('UPDATE notice SET mail = $2, mail_tries = mail_tries + 1 WHERE id = $1', [row.id, state]);
    return { id: row.id, sent };
  }

  async function attempt({ email, locale, kind, facts }: MailRow): Promise<boolean> {
    const { topUpUrl, settingsUrl } = deps;
    const language: Locale = locale === 'vi' ? 'vi' : 'en';
    try {
      await deps.deliverMail(noticeMail({ to: email, locale: language, kind, facts, topUpUrl, settingsUrl }));
      return true;
    } catch (error) {
      deps.log.warn(describeError(error), 'a notice could not be mailed');
      return false;
    }
  }

  return sendMails;
}

export type Notices = ReturnType<typeof createNotices>;

interface MailRow {
  id: string;
  kind: NoticeKind;
  facts: NoticeFacts;
  mailTries: number;
  email: string;
  locale: string | null;
}

interface Budget {
  accountId: string;
  left: bigint;
  threshold: bigint;
  mail: boolean;
  ending: EndingGrant[];
  open: { kind: NoticeKind; subject: string }[];
}

const isBalance = (kind: NoticeKind) => kind === 'balance_low' || kind === 'balance_exhausted';
const isSame = (left: { kind: NoticeKind; subject: string }, right: DueNotice) =>
  left.kind === right.kind && left.subject === right.subject;

/** Accounts that have spent lately, whose grants begin or end about now, or with an open notice. */
async function accountsToLookAt(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM account WHERE kind = 'customer' AND status = 'active' AND id IN (
       SELECT account_id FROM key_spend WHERE last_used_at > now() - $1::interval
       UNION SELECT account_id FROM notice WHERE cleared_at IS NULL AND kind IN ('balance_low', 'balance_exhausted')
       UNION SELECT account_id FROM "grant"
             WHERE expires_at BETWEEN now() - $1::interval AND now() + make_interval(days => $2))`,
    [recently, soonDays],
  );
  return rows.map(({ id }) => id);
}

async function readBudgets(database: Pool | ClientBase, accounts: readonly string[]): Promise<Budget[]> {
  // Amounts travel as text inside JSON: a JSON number would lose digits.
  const { rows } = await database.query<
    Omit<Budget, 'ending'> & { ending: { id: string; kind: string; left: string; expiresAt: string }[] }
  >(
    `SELECT a.id AS "accountId", least(coalesce(g.left, 0), $5)::bigint AS left, coalesce(g.ending, '[]') AS ending,
            coalesce(s.low_balance, $2)::bigint AS threshold, coalesce(s.mail, $3) AS mail,
            coalesce((SELECT json_agg(json_build_object('kind', n.kind, 'subject', n.subject)) FROM notice n
                      WHERE n.account_id = a.id AND n.cleared_at IS NULL), '[]') AS open
     FROM account a
     CROSS JOIN LATERAL (
       SELECT count(*) AS grants, sum(amount - spent - expired) FILTER (WHERE alive) AS left,
              json_agg(json_build_object('id', id, 'kind', kind, 'left', (amount - spent - expired)::text,
                                         'expiresAt', to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
                FILTER (WHERE alive AND amount > spent + expired
                          AND expires_at - now() < least(make_interval(days => $4), (expires_at - created_at) / 3)) AS ending
       FROM (SELECT *, expires_at IS NULL OR expires_at > now() AS alive FROM "grant" WHERE account_id = a.id) AS known
     ) AS g
     LEFT JOIN notice_settings s ON s.account_id = a.id
     WHERE a.id = ANY ($1::uuid[]) AND g.grants > 0`,
    // The sum of grants can exceed a BIGINT; it is far from low then.
    [accounts, defaultSettings.lowBalance, defaultSettings.mail, soonDays, maxBigint],
  );
  return rows.map(({ ending, ...rest }) => ({
    ...rest,
    ending: ending.map(({ left, expiresAt, ...grant }) => ({
      ...grant,
      left: BigInt(left),
      expiresAt: new Date(expiresAt),
    })),
  }));
}

async function insertNotice(
  client: ClientBase,
  { accountId }: Budget,
  notice: DueNotice,
  mail: boolean,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `INSERT INTO notice (id, account_id, kind, subject, facts, mail) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (account_id, kind, subject) WHERE cleared_at IS NULL DO NOTHING`,
    [uuidv7(), accountId, notice.kind, notice.subject, JSON.stringify(notice.facts), mail ? 'due' : 'none'],
  );
  return rowCount === 1;
}
