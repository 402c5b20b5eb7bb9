/** Writes notices with their deliveries into the outbox: once for each cause and recipient, in the caller's transaction. */

import type { ClientBase } from 'pg';
import { uuidv7 } from '../shared/uuid.ts';
import { defaultTimeZone, quietUntil } from './quiet.ts';
import type { DueNotice, NoticeKind } from './rules.ts';

/** Names of events in webhooks. */
export const noticeEvents: Record<NoticeKind, string> = {
  balance_low: 'balance.low',
  balance_exhausted: 'balance.exhausted',
  grant_expiring: 'grant.expiring',
  trial_ending: 'trial.ending',
  burn_rate: 'spend.burn_rate',
  key_limit_near: 'key.limit_near',
  price_changed: 'price.changed',
  model_incident: 'model.incident',
  new_sign_in: 'sign_in.new',
  shortfall: 'business.shortfall',
  upstream_failing: 'upstream.failing',
  transfer_waiting: 'transfer.waiting',
  margin_low: 'business.margin_low',
  recovered: 'state.recovered',
  bill_differs: 'bill.differs',
  bill_missing: 'bill.missing',
};

export interface TellerDeps {
  /** Informs an account's own programs, in the same transaction. */
  recordEvent: (client: ClientBase, event: { accountId: string; name: string; data: object }) => Promise<unknown>;
  /** Triggers the sender, once the transaction has committed. */
  onDue?: () => void;
  now?: () => Date;
}

/** A recipient of one notice; `target` is unique for the notice. */
interface Recipient {
  noticeId: string;
  target: string;
  channelId: string | null;
  userId: string | null;
  quietFrom: number | null;
  quietTo: number | null;
  timeZone: string | null;
}

/** Makes notices. An open notice of the same kind and subject is never made twice, even by concurrent transactions. */
export function createTeller(deps: TellerDeps) {
  const { recordEvent } = deps;
  const enqueue = createQueue(deps);

  /**
   * Sends it to accounts that want it, and returns which got it now. `silent`: it is written down and sent nowhere.
   * `together`: it is sent in one message with the others of this transaction.
   */
  async function tellAccounts(
    client: ClientBase,
    accountIds: readonly string[],
    notice: DueNotice,
    { silent = false, together = false }: { silent?: boolean; together?: boolean } = {},
  ): Promise<string[]> {
    const { rows: told } = await client.query<{ id: string; accountId: string }>(
      `INSERT INTO notice (id, account_id, kind, subject, facts, mail)
       SELECT t.id, t.account_id, $3, $4, $5, 'none' FROM unnest($1::uuid[], $2::uuid[]) AS t (id, account_id)
       LEFT JOIN notice_settings s ON s.account_id = t.account_id
       WHERE s.muted IS NULL OR NOT $3 = ANY (s.muted)
       ORDER BY t.account_id ON CONFLICT DO NOTHING RETURNING id, account_id AS "accountId"`,
      [accountIds.map(() => uuidv7()), accountIds, notice.kind, notice.subject, JSON.stringify(notice.facts)],
    );
    if (told.length === 0 || silent) return told.map(({ accountId }) => accountId);
    const { rows: recipients } = await client.query<Recipient>(
      `SELECT n.id AS "noticeId", r.target, r.channel_id AS "channelId", NULL AS "userId",
              s.quiet_from AS "quietFrom", s.quiet_to AS "quietTo", coalesce(s.time_zone, a.time_zone) AS "timeZone"
       FROM notice n JOIN account a ON a.id = n.account_id LEFT JOIN notice_settings s ON s.account_id = n.account_id
       CROSS JOIN LATERAL (
         SELECT 'mail' AS target, NULL::uuid AS channel_id WHERE coalesce(s.mail, true)
         UNION ALL SELECT 'channel:' || c.id, c.id FROM notice_channel c
         WHERE c.account_id = n.account_id AND c.enabled AND c.deleted_at IS NULL AND (c.kinds = '{}' OR n.kind = ANY (c.kinds))
       ) AS r WHERE n.id = ANY ($1::uuid[])`,
      [told.map(({ id }) => id)],
    );
    await enqueue(client, notice.kind, recipients, together);
    const informed = told.length === 1 ? told.map(({ accountId }) => accountId) : await withEndpoints(client, told);
    for (const accountId of informed)
      await recordEvent(client, { accountId, name: noticeEvents[notice.kind], data: notice.facts });
    return told.map(({ accountId }) => accountId);
  }

  /** Tells a person by mail, and over the channels and endpoints of the accounts that they own. */
  async function tellPerson(client: ClientBase, userId: string, notice: DueNotice): Promise<boolean> {
    const noticeId = uuidv7();
    // Of two that are sent at once, the second sees the message of the first.
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.notices:' || $1, 0))`, [userId]);
    const { rowCount } = await client.query(
      `INSERT INTO notice (id, user_id, kind, subject, facts, mail) VALUES ($1, $2, $3, $4, $5, 'none')
       ON CONFLICT DO NOTHING`,
      [noticeId, userId, notice.kind, notice.subject, JSON.stringify(notice.facts)],
    );
    if (rowCount !== 1) return false;
    const { rows: accounts } = await client.query<{ accountId: string; channels: string[] }>(
      `SELECT m.account_id AS "accountId",
              array(SELECT c.id::text FROM notice_channel c WHERE c.account_id = m.account_id AND c.enabled
                    AND c.deleted_at IS NULL AND (c.kinds = '{}' OR $2 = ANY (c.kinds))) AS channels
       FROM member m LEFT JOIN notice_settings s ON s.account_id = m.account_id
       WHERE m.user_id = $1 AND m.role = 'owner' AND (s.muted IS NULL OR NOT $2 = ANY (s.muted)) ORDER BY 1`,
      [userId, notice.kind],
    );
    const recipient = { noticeId, userId: null, quietFrom: null, quietTo: null, timeZone: null };
    const channels = accounts.flatMap(({ channels: ids }) => ids);
    await enqueue(client, notice.kind, [
      { ...recipient, target: `user:${userId}`, channelId: null, userId },
      ...channels.map((channelId) => ({ ...recipient, target: `channel:${channelId}`, channelId })),
    ]);
    await holdRepeated(client, { userId, noticeId });
    for (const { accountId } of accounts)
      await recordEvent(client, { accountId, name: noticeEvents[notice.kind], data: notice.facts });
    return true;
  }

  /** Tells the operators, by mail and over the channels of the business. */
  async function tellOperators(client: ClientBase, notice: DueNotice): Promise<boolean> {
    const noticeId = uuidv7();
    const { rowCount } = await client.query(
      `INSERT INTO notice (id, kind, subject, facts, mail, last_seen_at) SELECT $1, $2, $3, $4, 'none', now()
       WHERE NOT EXISTS (SELECT FROM business_notice_settings WHERE $2 = ANY (muted)) ON CONFLICT DO NOTHING`,
      [noticeId, notice.kind, notice.subject, JSON.stringify(notice.facts)],
    );
    if (rowCount !== 1) return false;
    const { rows: recipients } = await client.query<Recipient>(
      `SELECT $1 AS "noticeId", r.target, r.channel_id AS "channelId", r.user_id AS "userId",
              s.quiet_from AS "quietFrom", s.quiet_to AS "quietTo", s.time_zone AS "timeZone"
       FROM (SELECT 'user:' || u.id AS target, NULL::uuid AS channel_id, u.id AS user_id FROM app_user u
             WHERE (u.operator OR u.operator_role = 'finance') AND u.email_verified AND coalesce((SELECT mail FROM business_notice_settings), true)
             UNION ALL SELECT 'channel:' || c.id, c.id, NULL FROM notice_channel c
             WHERE c.account_id IS NULL AND c.enabled AND c.deleted_at IS NULL AND (c.kinds = '{}' OR $2 = ANY (c.kinds))) AS r
       LEFT JOIN business_notice_settings s ON true`,
      [noticeId, notice.kind],
    );
    await enqueue(client, notice.kind, recipients);
    return true;
  }

  return { tellAccounts, tellPerson, tellOperators };
}

/**
 * A person's first notice of an hour is sent at once; the others wait until the hour is over, and come as one message.
 * They join those that wait already.
 */
async function holdRepeated(
  client: ClientBase,
  { userId, noticeId }: { userId: string; noticeId: string },
): Promise<void> {
  await client.query(
    `WITH earlier AS (
       SELECT d.target, max(CASE WHEN d.held AND d.status = 'pending' THEN greatest(d.next_attempt_at, now())
                                 ELSE coalesce(d.delivered_at, d.created_at) + interval '1 hour' END) AS due
       FROM notice n JOIN notice o ON o.user_id = n.user_id AND o.kind = n.kind AND o.id <> n.id AND o.cleared_at IS NULL
       JOIN notice_delivery d ON d.notice_id = o.id
       WHERE n.id = $2 AND o.user_id = $1 AND d.status <> 'failed'
         AND (d.status = 'pending' OR coalesce(d.delivered_at, d.created_at) > now() - interval '1 hour')
       GROUP BY d.target)
     UPDATE notice_delivery d SET held = true, next_attempt_at = earlier.due FROM earlier
     WHERE d.notice_id = $2 AND d.target = earlier.target`,
    [userId, noticeId],
  );
}

/** Writes the deliveries of notices. `together`: they come as one message with the others of the transaction. */
function createQueue({ onDue = () => undefined, now = () => new Date() }: Pick<TellerDeps, 'onDue' | 'now'>) {
  return async function enqueue(
    client: ClientBase,
    kind: NoticeKind,
    recipients: readonly Recipient[],
    together = false,
  ): Promise<void> {
    if (recipients.length === 0) return;
    const moment = now();
    // What was held back comes as one message.
    const unheld = together ? moment.toISOString() : null;
    const heldUntil = recipients.map((recipient) => heldBack(kind, recipient, moment)?.toISOString() ?? unheld);
    await client.query(
      `INSERT INTO notice_delivery (id, notice_id, target, channel_id, user_id, held, next_attempt_at)
       SELECT t.id, t.notice_id, t.target, t.channel_id, t.user_id, t.until IS NOT NULL, coalesce(t.until, now())
       FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::timestamptz[])
         AS t (id, notice_id, target, channel_id, user_id, until)
       ON CONFLICT (notice_id, target) DO NOTHING`,
      [
        recipients.map(() => uuidv7()),
        recipients.map(({ noticeId }) => noticeId),
        recipients.map(({ target }) => target),
        recipients.map(({ channelId }) => channelId),
        recipients.map(({ userId }) => userId),
        heldUntil,
      ],
    );
    onDue();
  };
}

export type Teller = ReturnType<typeof createTeller>;

/** Until when quiet hours hold a message back; null: it may be sent. A sign-in by a thief must not wait until morning. */
function heldBack(kind: NoticeKind, { quietFrom, quietTo, timeZone }: Recipient, moment: Date): Date | null {
  if (kind === 'new_sign_in' || quietFrom === null || quietTo === null) return null;
  return quietUntil(moment, { from: quietFrom, to: quietTo, timeZone: timeZone ?? defaultTimeZone });
}

/** Most accounts have no endpoints: one query finds those that have. */
async function withEndpoints(client: ClientBase, told: readonly { accountId: string }[]): Promise<string[]> {
  const { rows } = await client.query<{ accountId: string }>(
    `SELECT DISTINCT account_id AS "accountId" FROM webhook_endpoint
     WHERE account_id = ANY ($1::uuid[]) AND enabled AND deleted_at IS NULL ORDER BY 1`,
    [told.map(({ accountId }) => accountId)],
  );
  return rows.map(({ accountId }) => accountId);
}
