/**
 * Notices: tells accounts, persons and operators of what concerns them, once per occurrence, by mail, over chat programs
 * and as events of webhooks.
 */

import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import type { Log } from '../core/log.ts';
import { isTimeZone } from '../core/price-clock.ts';
import { repeatedTransaction, transaction } from '../database/lane.ts';
import type { Mail } from '../runtime/mail.ts';
import { appendAudit } from '../shared/audit.ts';
import { checkInput, type InvalidInput } from '../shared/input.ts';
import { type CauseDeps, createCauses } from './causes.ts';
import { createChannels } from './channels.ts';
import type { SecretSeal } from './endpoints.ts';
import { createMessengers, type MessageOutcome, type MessengerDeps } from './messengers.ts';
import { createOutbox } from './outbox.ts';
import { defaultTimeZone } from './quiet.ts';
import {
  accountNotices,
  businessNotices,
  type DueNotice,
  dueNotices,
  type EndingGrant,
  identityOf,
  isOver,
  isOvertaken,
  isRunning,
  type NoticeFacts,
  type NoticeKind,
  noticeKinds,
  recoveryOf,
  type UsedLimit,
} from './rules.ts';
import { createTeller, type TellerDeps } from './telling.ts';
import { testText } from './texts.ts';
import { createWatch, type Watch } from './watch.ts';

/** When nothing is sent. Minutes of the day; null: at no time. */
export interface QuietSettings {
  quietFrom: number | null;
  quietTo: number | null;
  timeZone: string;
}

export interface NoticeSettings extends QuietSettings {
  /** Pico-USD: below it the balance is low. Zero: never. */
  lowBalance: bigint;
  mail: boolean;
  /** Pico-USD: spending more within `burnMinutes` makes a notice. Zero: never. */
  burnAmount: bigint;
  burnMinutes: number;
  /** A limit of a key, member, project or the account used to this percentage makes a notice. Zero: never. */
  keyPercent: number;
  /** Kinds that are not wanted. */
  muted: readonly string[];
}

/** Which notices of the business operators get. */
export interface BusinessSettings extends QuietSettings {
  mail: boolean;
  muted: readonly string[];
  /** Pico-USD: a larger shortfall of an hour makes a notice. */
  shortfall: bigint;
  /** A lower margin of 24 hours makes a notice; null: never. */
  marginPercent: number | null;
  /** Percent, 1 to 100: a vendor's bill that differs from the ledger by more makes a notice. */
  billPercent: number;
  /** Days, 1 to 45: a bill that is still missing so long after a day with usage makes a notice. */
  billDays: number;
}

export interface Notice {
  id: string;
  kind: NoticeKind;
  /** What it is about, e.g. a grant's id; or empty. */
  subject: string;
  facts: NoticeFacts;
  createdAt: Date;
  /** Null: the condition still holds. */
  clearedAt: Date | null;
  /** Whether the mail was accepted. */
  mailed: boolean;
}

export interface NoticeDeps extends Pick<TellerDeps, 'recordEvent'>, Pick<CauseDeps, 'formatUsd' | 'upstreamHealth'> {
  /** Must read BIGINT as `bigint` (the types of the money lane). */
  pool: Pool;
  seal: SecretSeal;
  /** Sends now and throws on failure. */
  deliverMail: (mail: Mail) => Promise<void>;
  messengers: MessengerDeps;
  /** Whether Slack and Discord may be anywhere: tests play them. */
  allowAnyHost?: boolean;
  /** The public address, without a trailing slash. */
  readonly publicUrl: string;
  log: Pick<Log, 'warn'>;
  now?: () => Date;
}

const defaultSettings: NoticeSettings = {
  lowBalance: 1_000_000_000_000n,
  mail: true,
  burnAmount: 0n,
  burnMinutes: 60,
  keyPercent: 80,
  muted: [],
  quietFrom: null,
  quietTo: null,
  timeZone: defaultTimeZone,
};

const defaultBusinessSettings: BusinessSettings = {
  mail: true,
  muted: [],
  shortfall: 0n,
  marginPercent: null,
  billPercent: 1,
  billDays: 7,
  quietFrom: null,
  quietTo: null,
  timeZone: defaultTimeZone,
};

/** A grant is about to expire when at most this, and at most a third of its life, is left. */
const soonDays = 3;
/**
 * Keys that were used within this time may have crossed a threshold, of their own limit or of one that they share. Longer
 * than the interval between two runs.
 */
const recently = {
  watched: { since: '15 seconds', open: false },
  /** With the accounts that have an open notice, although nothing of them has changed. */
  all: { since: '20 minutes', open: true },
};
/** The maximum of PostgreSQL's BIGINT. */
const maxBigint = 2n ** 63n - 1n;
const batch = 500;
/** More new notices of an account at a time are sent in one message. */
const maxSingleNotices = 10;
/** Between two tests of a channel. */
const testPauseS = 5;

export type TestOutcome = MessageOutcome | { kind: 'throttled'; retryAfterS: number };

export function createNotices(deps: NoticeDeps) {
  const { pool, seal, log } = deps;
  const { now = () => new Date() } = deps;
  const messengers = createMessengers(deps.messengers);
  const outbox = createOutbox({
    ...deps,
    messengers,
    // Not spread: it may change.
    get publicUrl() {
      return deps.publicUrl;
    },
  });
  let wake = (): void => undefined;
  const teller = createTeller({ recordEvent: deps.recordEvent, now, onDue: () => wake() });
  const causes = createCauses({ ...deps, teller });
  const channels = createChannels({
    pool,
    seal,
    checkAddress: deps.messengers.checkAddress,
    allowAnyHost: deps.allowAnyHost === true,
  });
  const budgets = createBudgetWatch({ ...deps, teller });

  /** Looks for causes that no process has told yet. */
  async function look(): Promise<void> {
    await budgets.check(recently.watched);
    await causes.find();
  }

  const watch: Watch = createWatch({
    pool,
    look,
    lookHere: causes.findFailingUpstreams,
    deliverDue: outbox.deliverDue,
    log,
  });
  wake = watch.wake;

  /** Tries a channel at once. Null: there is none, or it is switched off. */
  async function testChannel(input: { accountId: string | null; id: string }): Promise<TestOutcome | null> {
    const channel = (await channels.list(input.accountId)).find(({ id }) => id === input.id);
    if (channel === undefined || !channel.enabled) return null;
    const { rowCount } = await pool.query(
      `UPDATE notice_channel SET tested_at = now()
       WHERE id = $1 AND coalesce(tested_at < now() - make_interval(secs => $2), true)`,
      [channel.id, testPauseS],
    );
    if (rowCount === 0) return { kind: 'throttled', retryAfterS: testPauseS };
    return outbox.test(channel.id, testText[channel.locale]);
  }

  /** Tells a person that somebody signed in as them from a browser that was not seen before. */
  async function tellSignIn(person: { userId: string; sessionId: string; facts: NoticeFacts }): Promise<void> {
    await transaction(pool, (client) =>
      teller.tellPerson(client, person.userId, { kind: 'new_sign_in', subject: person.sessionId, facts: person.facts }),
    );
  }

  /** Notices that the previous version left to be mailed; it made none of other kinds. */
  async function adoptMails(): Promise<void> {
    await pool.query(
      `WITH due AS (SELECT id FROM notice WHERE mail = 'due' FOR UPDATE SKIP LOCKED),
            taken AS (UPDATE notice SET mail = 'none' WHERE id IN (SELECT id FROM due) RETURNING id)
       INSERT INTO notice_delivery (id, notice_id, target, next_attempt_at)
       SELECT gen_random_uuid(), id, 'mail', now() FROM taken ON CONFLICT DO NOTHING`,
    );
  }

  return {
    ...createNoticeSettings(pool),
    list: (input: { accountId: string; limit: number }) => listNotices(pool, input),
    /** Looks at everything that may have changed lately, and more thoroughly than every few seconds. */
    async check(): Promise<number> {
      const made = await budgets.check(recently.all);
      await causes.find();
      await causes.findFailingUpstreams();
      return made;
    },
    /** Sends what is due; returns how many messages were tried. */
    async deliverDue(signal?: AbortSignal): Promise<number> {
      await adoptMails();
      return outbox.deliverDue(signal);
    },
    channels,
    testChannel,
    tellSignIn,
    tellBills: causes.tellBills,
    async prune(): Promise<void> {
      await outbox.prune();
      await causes.prune();
      await budgets.prune();
    },
    start: watch.start,
    async close(): Promise<void> {
      await watch.close();
      await messengers.close();
    },
  };
}

export type Notices = ReturnType<typeof createNotices>;

/** The notices of an account, newest first. */
async function listNotices(pool: Pool, input: { accountId: string; limit: number }): Promise<Notice[]> {
  const { rows } = await pool.query<Notice>(
    `SELECT id, kind, subject, facts, created_at AS "createdAt", cleared_at AS "clearedAt",
            mail = 'sent' OR EXISTS (SELECT FROM notice_delivery d WHERE d.notice_id = notice.id AND d.target = 'mail'
                                     AND d.status = 'delivered') AS mailed
     FROM notice WHERE account_id = $1 AND kind = ANY ($3::text[]) ORDER BY created_at DESC, id DESC LIMIT $2`,
    [input.accountId, input.limit, noticeKinds],
  );
  return rows;
}

export type SettingsProblem = InvalidInput<keyof NoticeSettings | keyof BusinessSettings>;

/** Which notices accounts and operators want. */
function createNoticeSettings(pool: Pool) {
  async function settings(accountId: string): Promise<NoticeSettings> {
    const { rows } = await pool.query<Omit<NoticeSettings, 'timeZone'> & { timeZone: string | null }>(
      `SELECT low_balance AS "lowBalance", mail, burn_amount AS "burnAmount", burn_minutes AS "burnMinutes",
              key_percent AS "keyPercent", muted, quiet_from AS "quietFrom", quiet_to AS "quietTo",
              time_zone AS "timeZone" FROM notice_settings WHERE account_id = $1`,
      [accountId],
    );
    const { rows: account } = await pool.query<{ timeZone: string }>(
      'SELECT time_zone AS "timeZone" FROM account WHERE id = $1',
      [accountId],
    );
    const timeZone = rows[0]?.timeZone ?? account[0]?.timeZone ?? defaultTimeZone;
    return { ...defaultSettings, ...rows[0], timeZone };
  }

  /** Changes what is given and leaves the rest. */
  async function saveSettings(
    accountId: string,
    wanted: Partial<NoticeSettings>,
  ): Promise<NoticeSettings | SettingsProblem> {
    const next: NoticeSettings = { ...(await settings(accountId)), ...wanted };
    const problem = checkInput(settingsShape, next);
    if (problem !== null) return problem;
    await repeatedTransaction(pool, async (client) => {
      await client.query(
        `INSERT INTO notice_settings (account_id, low_balance, mail, burn_amount, burn_minutes, key_percent, muted,
                                      quiet_from, quiet_to, time_zone)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (account_id) DO UPDATE SET low_balance = excluded.low_balance, mail = excluded.mail,
           burn_amount = excluded.burn_amount, burn_minutes = excluded.burn_minutes, key_percent = excluded.key_percent,
           muted = excluded.muted, quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to,
           time_zone = excluded.time_zone`,
        [
          accountId,
          next.lowBalance,
          next.mail,
          next.burnAmount,
          next.burnMinutes,
          next.keyPercent,
          [...new Set(next.muted)],
          next.quietFrom,
          next.quietTo,
          next.timeZone,
        ],
      );
      // What was spent before is no part of the first rate.
      if (next.burnAmount > 0n) await sampleSpending(client, [accountId], '1 minute');
    });
    return next;
  }

  async function businessSettings(): Promise<BusinessSettings> {
    const { rows } = await pool.query<BusinessSettings>(
      `SELECT mail, muted, shortfall, margin_percent AS "marginPercent",
              bill_percent AS "billPercent", bill_days AS "billDays", quiet_from AS "quietFrom", quiet_to AS "quietTo",
              coalesce(time_zone, $1) AS "timeZone" FROM business_notice_settings`,
      [defaultTimeZone],
    );
    return rows[0] ?? defaultBusinessSettings;
  }

  async function saveBusinessSettings(
    wanted: Partial<BusinessSettings>,
    actor: string,
  ): Promise<BusinessSettings | SettingsProblem> {
    const before = await businessSettings();
    const next: BusinessSettings = { ...before, ...wanted };
    const problem = checkInput(businessShape, next);
    if (problem !== null) return problem;
    await repeatedTransaction(pool, async (client) => {
      await client.query(
        `INSERT INTO business_notice_settings (id, mail, muted, shortfall, margin_percent, quiet_from, quiet_to, time_zone, bill_percent, bill_days)
       VALUES (1, $1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (id) DO UPDATE SET mail = excluded.mail, muted = excluded.muted, shortfall = excluded.shortfall,
         margin_percent = excluded.margin_percent, quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to,
         time_zone = excluded.time_zone, bill_percent = excluded.bill_percent, bill_days = excluded.bill_days`,
        [
          next.mail,
          [...new Set(next.muted)],
          next.shortfall,
          next.marginPercent,
          next.quietFrom,
          next.quietTo,
          next.timeZone,
          next.billPercent,
          next.billDays,
        ],
      );
      await appendAudit(client, {
        actor,
        action: 'notice_settings.change',
        subject: 'business',
        before: { ...before },
        after: { ...next },
      });
    });
    return next;
  }

  return { settings, saveSettings, businessSettings, saveBusinessSettings };
}

const minuteOfDay = z.int().min(0, 'must be a time of day').max(1_439, 'must be a time of day').nullable();
const quietShape = {
  quietFrom: minuteOfDay,
  quietTo: minuteOfDay,
  timeZone: z.string().refine(isTimeZone, 'must be the name of a time zone, e.g. Asia/Ho_Chi_Minh'),
};
const money = z.bigint().min(0n, 'must not be negative').max(maxBigint, 'is too much');
const kindsOf = (known: readonly string[]) =>
  z.array(z.string().refine((kind) => known.includes(kind), 'must be kinds of notices')).readonly();

const settingsShape: z.ZodType<NoticeSettings> = z
  .object({
    ...quietShape,
    lowBalance: money,
    mail: z.boolean(),
    burnAmount: money,
    burnMinutes: z.int().min(1, 'must be from 1 to 1440').max(1_440, 'must be from 1 to 1440'),
    keyPercent: z.int().min(0, 'must be from 0 to 100').max(100, 'must be from 0 to 100'),
    muted: kindsOf(accountNotices),
  })
  .refine(hasBothEnds, { path: ['quietTo'], message: 'must be given together with the beginning' });

const businessShape: z.ZodType<BusinessSettings> = z
  .object({
    ...quietShape,
    mail: z.boolean(),
    muted: kindsOf(businessNotices),
    shortfall: money,
    marginPercent: z.int().min(-100, 'must be from -100 to 100').max(100, 'must be from -100 to 100').nullable(),
    billPercent: z.int().min(1, 'must be from 1 to 100').max(100, 'must be from 1 to 100'),
    billDays: z.int().min(1, 'must be from 1 to 45').max(45, 'must be from 1 to 45'),
  })
  .refine(hasBothEnds, { path: ['quietTo'], message: 'must be given together with the beginning' });

function hasBothEnds({ quietFrom, quietTo }: Pick<QuietSettings, 'quietFrom' | 'quietTo'>): boolean {
  return (quietFrom === null) === (quietTo === null);
}

interface Budget {
  accountId: string;
  left: bigint;
  threshold: bigint;
  ending: EndingGrant[];
  burn: { spent: bigint; amount: bigint; minutes: number } | null;
  limits: UsedLimit[];
  keyPercent: number;
  muted: string[];
  open: { kind: NoticeKind; subject: string }[];
}

/** Notices that follow from the state of a budget and its keys. */
function createBudgetWatch({
  pool,
  teller,
  formatUsd,
}: Pick<NoticeDeps, 'pool' | 'formatUsd'> & Pick<CauseDeps, 'teller'>) {
  /**
   * Checks the accounts whose budget may have changed state within `since`, and with `open` those with an open notice; makes the notices that are due and clears
   * those that are over. Returns how many were made. Each notice is made once, even by concurrent runs: its transaction
   * checks the condition again.
   */
  async function check(which: { since: string; open: boolean }): Promise<number> {
    let made = 0;
    const accounts = await accountsToLookAt(pool, which);
    for (let at = 0; at < accounts.length; at += batch) {
      const some = accounts.slice(at, at + batch);
      await sampleSpending(pool, some, '0 minutes');
      for (const budget of await readBudgets(pool, some)) made += await settle(budget);
    }
    return made;
  }

  /** The notices to make for a budget, and those that are over. */
  function changesOf(budget: Budget): { isNew: DueNotice[]; over: Budget['open'] } {
    const due = dueNotices(budget, formatUsd);
    const known = new Set(budget.open.map(identityOf));
    const still = new Set(due.map(identityOf));
    return {
      isNew: due.filter((notice) => !known.has(identityOf(notice))),
      over: budget.open.filter((open) => !still.has(identityOf(open)) && isOver(open, budget)),
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
      const { rows: ended } = await client.query<{ id: string; kind: NoticeKind }>(
        `UPDATE notice SET cleared_at = now() WHERE account_id = $1 AND cleared_at IS NULL
           AND (kind, subject) IN (SELECT * FROM unnest($2::text[], $3::text[])) RETURNING id, kind`,
        [accountId, over.map(({ kind }) => kind), over.map(({ subject }) => subject)],
      );
      let made = 0;
      const recovery = recoveryOf(ended, budget, formatUsd);
      if (recovery !== null) made += (await teller.tellAccounts(client, [accountId], recovery)).length;
      const together = isNew.length > maxSingleNotices;
      for (const notice of isNew) {
        const silent = isOvertaken(notice, isNew);
        made += (await teller.tellAccounts(client, [accountId], notice, { silent, together })).length;
      }
      return made;
    });
  }

  /** Keeps the samples of a day, and the last one before: what an account had spent when it was last active. */
  async function prune(): Promise<void> {
    await pool.query(
      `DELETE FROM spend_sample s WHERE minute < now() - interval '25 hours' AND EXISTS (
         SELECT FROM spend_sample l WHERE l.account_id = s.account_id AND l.minute > s.minute
         AND l.minute < now() - interval '25 hours')`,
    );
  }

  return { check, prune };
}

/**
 * Accounts that have spent lately, or whose grants begin, come near their end or end about now. With `open` also those
 * with an open notice about a state, or with a grant near its end: they are many, and few of them change.
 */
async function accountsToLookAt(pool: Pool, { since, open }: { since: string; open: boolean }): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM account WHERE kind = 'customer' AND status = 'active' AND id IN (
       SELECT account_id FROM key_spend WHERE last_used_at > now() - $1::interval
       UNION SELECT account_id FROM notice WHERE $3 AND cleared_at IS NULL
             AND kind IN ('balance_low', 'balance_exhausted', 'burn_rate', 'key_limit_near')
       UNION SELECT account_id FROM "grant"
             WHERE created_at > now() - $1::interval OR expires_at BETWEEN now() - $1::interval AND now()
             OR expires_at - least(make_interval(days => $2), (expires_at - created_at) / 3)
                BETWEEN now() - $1::interval AND now()
             OR ($3 AND expires_at BETWEEN now() AND now() + make_interval(days => $2)))`,
    [since, soonDays, open],
  );
  return rows.map(({ id }) => id);
}

/** Writes down what accounts with a burn rate have spent by the end of this minute, or of one before. */
async function sampleSpending(database: Pool | ClientBase, accounts: readonly string[], ago: string): Promise<void> {
  await database.query(
    `INSERT INTO spend_sample (account_id, minute, spent)
     SELECT s.account_id, date_trunc('minute', now() - $2::interval),
            (SELECT least(coalesce(sum(g.spent), 0), $3)::bigint FROM "grant" g WHERE g.account_id = s.account_id)
     FROM notice_settings s WHERE s.burn_amount > 0 AND s.account_id = ANY ($1::uuid[])
     ON CONFLICT (account_id, minute) DO UPDATE SET spent = excluded.spent WHERE spend_sample.spent <> excluded.spent`,
    [accounts, ago, maxBigint],
  );
}

interface BudgetRow extends Omit<Budget, 'ending' | 'burn' | 'limits'> {
  ending: { id: string; kind: string; left: string; expiresAt: string }[];
  burnSpent: bigint;
  burnAmount: bigint;
  burnMinutes: number;
  limits: (Omit<UsedLimit, 'spent' | 'limit'> & { timeZone: string; spent: string; limit: string })[];
  now: Date;
}

/** What limits of a key and of an account are compared with. */
const sums = (of: string): string =>
  ['time_zone', 'charged', 'day', 'day_charged', 'week', 'week_charged', 'month', 'month_charged']
    .map((name) => `${of}.${name}`)
    .join(', ');

async function readBudgets(database: Pool | ClientBase, accounts: readonly string[]): Promise<Budget[]> {
  // Amounts travel as text inside JSON: a JSON number would lose digits.
  const { rows } = await database.query<BudgetRow>(
    `SELECT a.id AS "accountId", least(coalesce(g.left, 0), $4)::bigint AS left, coalesce(g.ending, '[]') AS ending,
            coalesce(s.low_balance, $2)::bigint AS threshold, coalesce(s.key_percent, $5)::int AS "keyPercent",
            coalesce(s.muted, '{}') AS muted, coalesce(s.burn_amount, 0) AS "burnAmount",
            coalesce(s.burn_minutes, 60) AS "burnMinutes", coalesce(b.spent, 0)::bigint AS "burnSpent",
            coalesce(k.limits, '[]') AS limits, now() AS now,
            coalesce((SELECT json_agg(json_build_object('kind', n.kind, 'subject', n.subject)) FROM notice n
                      WHERE n.account_id = a.id AND n.cleared_at IS NULL), '[]') AS open
     FROM account a
     CROSS JOIN LATERAL (
       SELECT count(*) AS grants, sum(spent) AS spent, sum(amount - spent - expired) FILTER (WHERE alive) AS left,
              json_agg(json_build_object('id', id, 'kind', kind, 'left', (amount - spent - expired)::text,
                                         'expiresAt', to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
                FILTER (WHERE alive AND amount > spent + expired
                          AND expires_at - now() < least(make_interval(days => $3), (expires_at - created_at) / 3)) AS ending
       FROM (SELECT *, expires_at IS NULL OR expires_at > now() AS alive FROM "grant" WHERE account_id = a.id) AS known
     ) AS g
     LEFT JOIN notice_settings s ON s.account_id = a.id
     LEFT JOIN LATERAL (
       SELECT greatest(0, least(g.spent, $4) - coalesce(
         (SELECT e.spent FROM spend_sample e WHERE e.account_id = a.id
            AND e.minute <= date_trunc('minute', now() - make_interval(mins => s.burn_minutes)) ORDER BY e.minute DESC LIMIT 1),
         (SELECT e.spent FROM spend_sample e WHERE e.account_id = a.id ORDER BY e.minute LIMIT 1), g.spent)) AS spent
     ) AS b ON s.burn_amount > 0
     LEFT JOIN LATERAL (
       SELECT json_agg(json_build_object('of', u.of, 'id', u.id, 'name', u.name, 'timeZone', u.time_zone, 'period', l.period,
                                         'since', l.since, 'spent', l.spent::text, 'limit', l.limit::text)) AS limits
       FROM (
         SELECT 'key' AS of, y.id, y.name, y.limit_day, y.limit_week, y.limit_month, y.limit_lifetime, ${sums('s')}
         FROM api_key y JOIN key_spend s ON s.account_id = y.account_id AND s.key_id = y.id
         WHERE y.account_id = a.id AND y.deleted_at IS NULL
         UNION ALL
         SELECT 'account', a.id, a.name, s.limit_day, s.limit_week, s.limit_month, s.limit_lifetime, ${sums('s')}
         FROM account_limit s WHERE s.account_id = a.id
         UNION ALL
         SELECT s.kind, s.subject_id, p.name, NULL, NULL, s.limit_month, s.limit_lifetime, s.time_zone, s.charged,
                NULL, NULL, NULL, NULL, s.month, s.month_charged
         FROM shared_limit s LEFT JOIN project p ON p.id = s.subject_id WHERE s.account_id = a.id
       ) AS u
       CROSS JOIN LATERAL (VALUES
         ('day', u.day::text, u.day_charged, u.limit_day),
         ('week', u.week::text, u.week_charged, u.limit_week),
         ('month', u.month::text, u.month_charged, u.limit_month),
         ('lifetime', '', u.charged, u.limit_lifetime)) AS l (period, since, spent, "limit")
       WHERE l.limit IS NOT NULL AND l.spent > 0 AND l.since IS NOT NULL
     ) AS k ON true
     WHERE a.id = ANY ($1::uuid[]) AND g.grants > 0`,
    // The sum of grants can exceed a BIGINT; it is far from low then.
    [accounts, defaultSettings.lowBalance, soonDays, maxBigint, defaultSettings.keyPercent],
  );
  return rows.map(({ ending, limits, burnSpent, burnAmount, burnMinutes, now, ...rest }) => ({
    ...rest,
    ending: ending.map(({ left, expiresAt, ...grant }) => ({
      ...grant,
      left: BigInt(left),
      expiresAt: new Date(expiresAt),
    })),
    burn: burnAmount > 0n ? { spent: burnSpent, amount: burnAmount, minutes: burnMinutes } : null,
    limits: limits
      .filter((used) => isRunning(used, now.getTime(), used.timeZone))
      .map((used) => ({ ...used, spent: BigInt(used.spent), limit: BigInt(used.limit) })),
  }));
}
