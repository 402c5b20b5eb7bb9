/**
 * Sends the notices of the outbox. A delivery is marked as being sent before its first byte leaves, so that a process
 * that dies leaves at most a message of unknown fate, which is shown as such and never sent a second time.
 */

import { randomUUID } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import type { Log } from '../core/log.ts';
import { repeatedTransaction } from '../database/lane.ts';
import { describeError } from '../runtime/http.ts';
import type { Mail } from '../runtime/mail.ts';
import type { Locale } from '../shared/page.ts';
import { placeOfChannelSecret, unsealSecret } from './channels.ts';
import { deliverDue } from './deliver-due.ts';
import type { SecretSeal } from './endpoints.ts';
import { noticeMail } from './mails.ts';
import {
  type ChannelSecret,
  type MessageOutcome,
  type Messengers,
  tokenExpired,
  type ZaloSecret,
} from './messengers.ts';
import { type NoticeFacts, type NoticeKind, noticeKinds } from './rules.ts';
import { noticeEvents } from './telling.ts';
import { type NoticeText, noticeText, summaryText } from './texts.ts';

export interface OutboxDeps {
  pool: Pool;
  /** Sends now and throws on failure. */
  deliverMail: (mail: Mail) => Promise<void>;
  messengers: Messengers;
  seal: SecretSeal;
  /** The public address, without a trailing slash. */
  /** Read for each notice. */
  readonly publicUrl: string;
  log: Pick<Log, 'warn'>;
}

/** Pauses after the first, second, … refused attempt: most failures end within a minute, the rest within a night. */
const pausesS = [5, 30, 120, 600, 3_600, 21_600];
/** A process that holds a delivery for longer is dead: longer than the timeouts of mails and messengers. */
const leaseS = 120;
/** No channel delays its messages for longer, whatever its answer asks for. */
const maxPauseS = 86_400;
/** Deliveries at a time in one process. Mail servers are slow, and must not delay messages. */
const lanes = { mail: 3, channel: 8 };
const keptDays = 30;
/** Sign-ins go first, but for one draw in `fairEvery`: a flood of them must not hold up what others wait for. */
const fairEvery = 4;

type Lane = keyof typeof lanes;

interface Leased {
  id: string;
  noticeId: string;
  kind: NoticeKind;
  facts: NoticeFacts;
  createdAt: Date;
  attempts: number;
}

interface Recipient {
  /** Null: the address of the account. */
  channelId: string | null;
  userId: string | null;
  accountId: string | null;
  target: string;
}

/** A recipient with the kind of the notice that it is to get. */
interface Due extends Recipient {
  kind: NoticeKind;
}

/** What one message carries: a notice, or all that were held back. */
interface Batch extends Recipient {
  leased: Leased[];
}

export function createOutbox(deps: OutboxDeps) {
  const { pool } = deps;
  const { send, test } = createDispatch(deps);
  const underWay: Record<Lane, number> = { mail: 0, channel: 0 };
  const draws: Record<Lane, number> = { mail: 0, channel: 0 };

  /** The next message of a lane that has room. */
  async function leaseNext(): Promise<(() => Promise<void>) | null> {
    for (const lane of ['mail', 'channel'] as const) {
      if (underWay[lane] >= lanes[lane]) continue;
      underWay[lane] += 1;
      const leave = (): void => void (underWay[lane] -= 1);
      let batch: Batch | null = null;
      try {
        batch = await lease(lane);
      } finally {
        if (batch === null) leave();
      }
      if (batch === null) continue;
      const taken = batch;
      return () =>
        send(taken)
          .then((sent) => record(pool, taken, sent))
          .finally(leave);
    }
    return null;
  }

  /**
   * Deliveries whose process died while sending. Webhooks are sent again: their receivers recognise the id. For all
   * others, one message too few is better than one that comes twice.
   */
  async function settleInterrupted(): Promise<void> {
    await pool.query(
      `UPDATE notice_delivery d SET problem = 'interrupted',
              status = CASE WHEN w.again THEN 'pending' ELSE 'unknown' END,
              next_attempt_at = CASE WHEN w.again THEN now() END
       FROM (SELECT s.id, coalesce(c.kind = 'webhook', false) AS again FROM notice_delivery s
             LEFT JOIN notice_channel c ON c.id = s.channel_id
             WHERE s.status = 'sending' AND s.next_attempt_at <= now() FOR UPDATE OF s SKIP LOCKED) AS w
       WHERE d.id = w.id`,
    );
  }

  /** The next due message; null: none. */
  function lease(lane: Lane): Promise<Batch | null> {
    return repeatedTransaction(pool, async (client) => {
      for (;;) {
        draws[lane] += 1;
        const next = await nextRecipient(client, { lane, signInsFirst: draws[lane] % fairEvery !== 0 });
        if (next === null) return null;
        // One process gathers what is due for a recipient, so that what was held back comes as one message.
        await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.notice-delivery:' || $1, 0))`, [
          `${next.target}:${next.accountId ?? ''}`,
        ]);
        const leased = await takeDue(client, next);
        if (leased.length > 0) return { ...next, leased };
      }
    });
  }

  /** Deletes deliveries after their retention. */
  async function prune(): Promise<void> {
    await pool.query(
      `DELETE FROM notice_delivery WHERE next_attempt_at IS NULL AND created_at < now() - make_interval(days => $1)`,
      [keptDays],
    );
  }

  return {
    async deliverDue(signal?: AbortSignal): Promise<number> {
      await settleInterrupted();
      return deliverDue(leaseNext, signal);
    },
    test,
    prune,
  };
}

/** Makes the message of a batch and sends it. */
function createDispatch(deps: OutboxDeps) {
  const { pool, log } = deps;

  async function send(batch: Batch): Promise<MessageOutcome> {
    return batch.channelId === null ? sendMail(batch) : sendMessage(batch, batch.channelId);
  }

  async function sendMail(batch: Batch): Promise<MessageOutcome> {
    const reader = await readerOf(pool, batch);
    if (reader === null) return { kind: 'refused', problem: 'no_address', broken: false };
    const [first] = batch.leased;
    const { publicUrl } = deps;
    const isBusiness = batch.accountId === null;
    try {
      await deps.deliverMail(
        noticeMail({
          to: reader.email,
          locale: reader.locale,
          text: textOf(batch.leased, reader.locale),
          actUrl:
            isBusiness || !first || !budgetKinds.has(first.kind)
              ? { at: 'account', url: pageOf(publicUrl, first?.kind) }
              : { at: 'budget', url: `${publicUrl}/topup` },
          settingsUrl:
            first?.kind === 'new_sign_in'
              ? `${publicUrl}/security`
              : isBusiness
                ? `${publicUrl}/operator/notices`
                : `${publicUrl}/settings`,
        }),
      );
      return { kind: 'delivered' };
    } catch (error) {
      log.warn(describeError(error), 'a notice could not be mailed');
      // The whole mail was sent, and no answer came.
      const { command, responseCode } = error as { command?: unknown; responseCode?: unknown };
      if (command === 'DATA' && responseCode === undefined) return { kind: 'unknown', problem: 'connection_lost' };
      return { kind: 'later', problem: 'mail_refused', retryAfterS: null };
    }
  }

  async function sendMessage(batch: Batch, channelId: string): Promise<MessageOutcome> {
    const channel = await readChannel(pool, channelId);
    if (channel === null) return { kind: 'refused', problem: 'channel_closed', broken: false };
    const secret = unsealSecret(deps.seal, channelId, channel.sealed);
    if (secret === null) return { kind: 'refused', problem: 'secret_lost', broken: true };
    const [first] = batch.leased;
    const text = textOf(batch.leased, channel.locale);
    const body = JSON.stringify({
      id: first?.noticeId,
      type: first === undefined ? 'notice.test' : noticeEvents[first.kind],
      created_at: first?.createdAt.toISOString(),
      data: first?.facts ?? {},
    });
    return sendThrough(deps, channelId, secret, { id: first?.noticeId ?? '', target: channel.target, text, body });
  }

  /** Sends a test to a channel at once, outside of the outbox. */
  async function test(channelId: string, text: NoticeText): Promise<MessageOutcome> {
    const channel = await readChannel(pool, channelId);
    const secret = channel === null ? null : unsealSecret(deps.seal, channelId, channel.sealed);
    if (channel === null || secret === null) return { kind: 'refused', problem: 'secret_lost', broken: true };
    const body = JSON.stringify({ id: channelId, type: 'notice.test', created_at: new Date().toISOString(), data: {} });
    const sent = await sendThrough(deps, channelId, secret, { id: channelId, target: channel.target, text, body });
    const problem = sent.kind === 'delivered' ? null : sent.problem;
    await pool.query(
      `UPDATE notice_channel SET problem = $2::text, delivered_at = CASE WHEN $2::text IS NULL THEN now() ELSE delivered_at END
       WHERE id = $1`,
      [channelId, problem],
    );
    return sent;
  }

  return { send, test };
}

/** Writes down how an attempt ended. */
async function record(pool: Pool, batch: Batch, sent: MessageOutcome): Promise<void> {
  const ids = batch.leased.map(({ id }) => id);
  const attempts = Math.max(...batch.leased.map((each) => each.attempts));
  const pause = sent.kind === 'later' ? (pausesS[attempts - 1] ?? null) : null;
  const pauseS = sent.kind === 'later' && pause !== null ? pauseOf(sent.retryAfterS ?? pause) : 0;
  const status =
    sent.kind === 'later'
      ? pause === null
        ? 'failed'
        : 'pending'
      : { delivered: 'delivered', refused: 'failed', unknown: 'unknown' }[sent.kind];
  const problem = sent.kind === 'delivered' ? null : sent.problem;
  await repeatedTransaction(pool, async (client) => {
    await client.query(
      `UPDATE notice_delivery SET status = $2, problem = $3,
              delivered_at = CASE WHEN $2 = 'delivered' THEN now() END,
              next_attempt_at = CASE WHEN $2 = 'pending' THEN now() + make_interval(secs => $4) END
       WHERE id = ANY ($1::uuid[]) AND status = 'sending'`,
      [ids, status, problem, pauseS],
    );
    if (batch.channelId === null) return;
    await client.query(
      `UPDATE notice_channel SET problem = $2::text, delivered_at = CASE WHEN $2::text IS NULL THEN now() ELSE delivered_at END
       WHERE id = $1`,
      [batch.channelId, problem],
    );
    // What a channel asks to wait for, all of its messages wait for.
    if (sent.kind === 'later' && sent.retryAfterS !== null)
      await client.query(
        `UPDATE notice_delivery SET next_attempt_at = greatest(next_attempt_at, now() + make_interval(secs => $2))
         WHERE channel_id = $1 AND status = 'pending'`,
        [batch.channelId, pauseS],
      );
  });
}

/** Seconds to wait, within bounds: answers of channels are not trusted to be numbers that a timestamp can hold. */
function pauseOf(askedS: number): number {
  return Number.isNaN(askedS) ? maxPauseS : Math.min(maxPauseS, Math.max(1, askedS));
}

const budgetKinds: ReadonlySet<NoticeKind> = new Set([
  'balance_low',
  'balance_exhausted',
  'grant_expiring',
  'trial_ending',
]);

/** The page that shows what a notice tells of; several kinds in one mail: the list of notices. */
export const noticePages: Record<NoticeKind, string> = {
  balance_low: 'topup',
  balance_exhausted: 'topup',
  grant_expiring: 'topup',
  trial_ending: 'topup',
  recovered: 'activity',
  burn_rate: 'keys',
  key_limit_near: 'keys',
  price_changed: 'models',
  model_incident: 'status',
  new_sign_in: 'security',
  shortfall: 'operator/books',
  upstream_failing: 'operator/upstreams',
  transfer_waiting: 'operator/transfers',
  margin_low: 'operator/books',
  bill_differs: 'operator/bills',
  bill_missing: 'operator/bills',
};

function pageOf(publicUrl: string, kind: NoticeKind | undefined): string {
  return `${publicUrl}/${kind === undefined ? 'notices' : noticePages[kind]}`;
}

function textOf(leased: readonly Leased[], locale: Locale): NoticeText {
  const [first] = leased;
  if (leased.length === 1 && first !== undefined) return noticeText(first.kind, first.facts, locale);
  return summaryText(
    leased.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime()),
    locale,
  );
}

/**
 * A recipient with its most urgent notice. Each kind has the same chance, and within it each account, however much of it
 * is due: neither a flood of one kind nor of one account holds up the others.
 */
async function nextRecipient(
  client: ClientBase,
  { lane, signInsFirst }: { lane: Lane; signInsFirst: boolean },
): Promise<Due | null> {
  const { rows } = await client.query<Due>(
    // At random, so that concurrent senders do not queue for one recipient.
    `SELECT "channelId", "userId", "accountId", target, kind FROM (
       SELECT DISTINCT ON (kind, owner) * FROM (
         SELECT d.channel_id AS "channelId", d.user_id AS "userId", n.account_id AS "accountId", d.target, n.kind,
                d.next_attempt_at, coalesce(n.account_id, d.user_id, c.account_id) AS owner
         FROM notice_delivery d JOIN notice n ON n.id = d.notice_id LEFT JOIN notice_channel c ON c.id = d.channel_id
         WHERE d.status = 'pending' AND d.next_attempt_at <= now() AND (d.channel_id IS NULL) = $1
           AND n.kind = ANY ($2::text[])) AS due
       ORDER BY kind, owner, next_attempt_at) AS head
     ORDER BY (kind = 'new_sign_in') = $3 DESC, md5($4 || kind), random() LIMIT 1`,
    [lane === 'mail', noticeKinds, signInsFirst, randomUUID()],
  );
  return rows[0] ?? null;
}

/** Leases one delivery of the recipient, of the drawn kind if it is still due, or all that were held back. */
async function takeDue(client: ClientBase, { target, accountId, kind }: Due): Promise<Leased[]> {
  const { rows: due } = await client.query<{ id: string; held: boolean }>(
    `SELECT d.id, d.held FROM notice_delivery d JOIN notice n ON n.id = d.notice_id
     WHERE d.target = $1 AND ($1 <> 'mail' OR n.account_id = $2) AND d.status = 'pending' AND d.next_attempt_at <= now()
       AND n.kind = ANY ($3::text[])
     ORDER BY (n.kind = $4) DESC, d.next_attempt_at, d.created_at, d.id FOR UPDATE OF d`,
    [target, accountId, noticeKinds, kind],
  );
  const [first] = due;
  if (first === undefined) return [];
  const ids = first.held ? due.filter(({ held }) => held).map(({ id }) => id) : [first.id];
  const { rows } = await client.query<Leased>(
    `UPDATE notice_delivery d SET status = 'sending', attempts = d.attempts + 1,
            next_attempt_at = now() + make_interval(secs => $2)
     FROM notice n WHERE n.id = d.notice_id AND d.id = ANY ($1::uuid[])
     RETURNING d.id, d.notice_id AS "noticeId", n.kind, n.facts, n.created_at AS "createdAt", d.attempts`,
    [ids, leaseS],
  );
  return rows;
}

async function readerOf(
  pool: Pool,
  { userId, accountId }: Recipient,
): Promise<{ email: string; locale: Locale } | null> {
  const { rows } = await pool.query<{ email: string; locale: string | null }>(
    userId !== null
      ? 'SELECT email, locale FROM app_user WHERE id = $1'
      : `SELECT a.email, (SELECT u.locale FROM member m JOIN app_user u ON u.id = m.user_id
                          WHERE m.account_id = a.id AND m.role = 'owner'
                          ORDER BY u.email = a.email DESC, m.created_at LIMIT 1) AS locale
         FROM account a WHERE a.id = $1`,
    [userId ?? accountId],
  );
  const [row] = rows;
  return row === undefined ? null : { email: row.email, locale: row.locale === 'vi' ? 'vi' : 'en' };
}

interface ChannelRow {
  target: string;
  locale: Locale;
  sealed: Buffer;
}

async function readChannel(pool: Pool, id: string): Promise<ChannelRow | null> {
  const { rows } = await pool.query<ChannelRow>(
    'SELECT target, locale, sealed FROM notice_channel WHERE id = $1 AND enabled AND deleted_at IS NULL',
    [id],
  );
  return rows[0] ?? null;
}

type Sending = Parameters<Messengers['send']>[1];

/** Sends with a token of Zalo that is renewed when it has expired, once. */
async function sendThrough(
  deps: OutboxDeps,
  channelId: string,
  secret: ChannelSecret,
  message: Sending,
): Promise<MessageOutcome> {
  const { messengers } = deps;
  if (secret.kind !== 'zalo') return messengers.send(secret, message);
  const first = secret.accessToken === null ? null : await messengers.send(secret, message);
  if (first !== null && (first.kind !== 'refused' || first.problem !== tokenExpired)) return first;
  const renewed = await renew(deps, channelId, secret).catch((error: unknown) => {
    deps.log.warn(describeError(error), 'a token of Zalo could not be renewed');
    return 'unreached' as const;
  });
  if (renewed === 'unreached') return { kind: 'later', problem: 'no_connection', retryAfterS: null };
  return renewed === null
    ? { kind: 'refused', problem: 'token_refused', broken: true }
    : messengers.send(renewed, message);
}

/**
 * A refresh token works once: one process renews, under the lock of the row, and the others use its result. When the
 * transaction is repeated, the new pair is written again and the spent token is not sent a second time.
 */
function renew(
  { pool, seal, messengers }: OutboxDeps,
  channelId: string,
  tried: ZaloSecret,
): Promise<ZaloSecret | null> {
  let renewed: { spent: string; fresh: ZaloSecret } | undefined;
  return repeatedTransaction(pool, async (client) => {
    const { rows } = await client.query<{ sealed: Buffer }>(
      'SELECT sealed FROM notice_channel WHERE id = $1 AND deleted_at IS NULL FOR UPDATE',
      [channelId],
    );
    const known = rows[0] === undefined ? null : unsealSecret(seal, channelId, rows[0].sealed);
    if (known?.kind !== 'zalo') return null;
    if (known.accessToken !== null && known.accessToken !== tried.accessToken) return known;
    if (renewed?.spent !== known.refreshToken) {
      const fresh = await messengers.renewZalo(known);
      if (fresh === null) return null;
      renewed = { spent: known.refreshToken, fresh };
    }
    const { fresh } = renewed;
    await client.query('UPDATE notice_channel SET sealed = $2 WHERE id = $1', [
      channelId,
      seal.seal(placeOfChannelSecret(channelId), JSON.stringify(fresh)),
    ]);
    return fresh;
  });
}
