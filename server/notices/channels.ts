/** Channels of notices: conversations of chat programs, of an account or of the business, with their sealed secrets. */

import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import { type AuditAction, type AuditFacts, appendAudit } from '../shared/audit.ts';
import { checkInput, type InvalidInput, shownText } from '../shared/input.ts';
import type { Locale } from '../shared/page.ts';
import { isUuid, uuidv7 } from '../shared/uuid.ts';
import { bareAddress, only, type SecretSeal } from './endpoints.ts';
import { type ChannelKind, type ChannelSecret, channelKinds } from './messengers.ts';
import { accountNotices, businessNotices } from './rules.ts';
import { createWebhookSecret } from './signature.ts';

export interface NoticeChannel {
  id: string;
  /** Null: notices of the business. */
  accountId: string | null;
  kind: ChannelKind;
  name: string;
  target: string;
  locale: Locale;
  /** Empty: all. */
  kinds: string[];
  enabled: boolean;
  problem: string | null;
  deliveredAt: Date | null;
  createdAt: Date;
}

/** What people enter. `secret`: the bot's token, the webhook's address, or Zalo's refresh token. */
export interface ChannelTerms {
  kind: ChannelKind;
  name: string;
  target: string;
  locale: Locale;
  kinds: readonly string[];
  secret: string;
  zaloAppId: string;
  zaloAppSecret: string;
}

export type ChannelProblem = InvalidInput<keyof ChannelTerms>;
export type CreateChannelOutcome =
  /** `signing`: the secret that signs messages of a webhook; shown this once. */
  | { kind: 'created'; channel: NoticeChannel; signing: string | null }
  | { kind: 'too_many_channels'; limit: number }
  | ChannelProblem;
export type ChangeChannelOutcome =
  | { kind: 'changed'; channel: NoticeChannel }
  | { kind: 'unknown_channel' }
  | ChannelProblem;

export interface ChannelDeps {
  pool: Pool;
  seal: SecretSeal;
  /** Null: the server may call the address. */
  checkAddress: (url: string) => string | null;
  /** Tests play Slack and Discord on loopback. */
  allowAnyHost: boolean;
}

const maxChannels = 10;

/** Addresses of incoming webhooks. No other host may be named: it could delay the messages of others by hanging. */
const webhookHosts = {
  slack: { hosts: ['hooks.slack.com', 'hooks.slack-gov.com'], path: '/services/' },
  discord: {
    hosts: ['discord.com', 'discordapp.com', 'ptb.discord.com', 'canary.discord.com'],
    path: '/api/webhooks/',
  },
};

const channelColumns = `id, account_id AS "accountId", kind, name, target, locale, kinds, enabled, problem,
  delivered_at AS "deliveredAt", created_at AS "createdAt"`;

interface Owner {
  /** Null: the business. */
  accountId: string | null;
  actor: string;
}

/** The writers and readers of channels. Every change is audited, without secrets. */
export function createChannels(deps: ChannelDeps) {
  const { pool, seal } = deps;

  function create(input: Owner & ChannelTerms): Promise<CreateChannelOutcome> {
    return repeatedTransaction(pool, async (client): Promise<CreateChannelOutcome> => {
      const { accountId, actor, ...terms } = input;
      const problem = checkInput(shapeOf(terms.kind, accountId, deps), terms);
      if (problem !== null) return problem;
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.notice-channels:' || $1, 0))`, [
        accountId ?? 'business',
      ]);
      if ((await list(accountId, client)).length >= maxChannels)
        return { kind: 'too_many_channels', limit: maxChannels };
      const id = uuidv7();
      const secret = secretOf(terms);
      const { rows } = await client.query<NoticeChannel>(
        `INSERT INTO notice_channel (id, account_id, kind, name, target, locale, kinds, sealed)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${channelColumns}`,
        [
          id,
          accountId,
          terms.kind,
          terms.name,
          terms.kind === 'webhook' ? new URL(terms.secret).host : terms.target,
          terms.locale,
          [...new Set(terms.kinds)],
          seal.seal(placeOfChannelSecret(id), JSON.stringify(secret)),
        ],
      );
      const channel = only(rows);
      await audit(client, actor, 'notice_channel.create', null, channel);
      return { kind: 'created', channel, signing: secret.kind === 'webhook' ? secret.signing : null };
    });
  }

  /** Changes what is given. A new secret replaces the old one and ends a problem. */
  function change(
    input: Owner & { id: string; enabled?: boolean } & Partial<Omit<ChannelTerms, 'kind'>>,
  ): Promise<ChangeChannelOutcome> {
    return repeatedTransaction(pool, async (client): Promise<ChangeChannelOutcome> => {
      const before = await lock(client, input);
      if (before === null) return { kind: 'unknown_channel' };
      const known = unsealSecret(seal, before.id, before.sealed);
      const renewed = input.secret !== undefined;
      const terms: ChannelTerms = {
        kind: before.channel.kind,
        name: input.name ?? before.channel.name,
        target: input.target ?? before.channel.target,
        locale: input.locale ?? before.channel.locale,
        kinds: input.kinds ?? before.channel.kinds,
        secret: input.secret ?? enteredOf(known),
        zaloAppId: input.zaloAppId ?? (known?.kind === 'zalo' ? known.appId : ''),
        zaloAppSecret: input.zaloAppSecret ?? (known?.kind === 'zalo' ? known.appSecret : ''),
      };
      const problem = checkInput(shapeOf(terms.kind, input.accountId, deps), terms);
      if (problem !== null) return problem;
      const secret = renewed || known === null ? secretOf(terms) : known;
      // Programs go on checking with the signing secret that they know.
      if (secret.kind === 'webhook' && known?.kind === 'webhook') secret.signing = known.signing;
      const { rows } = await client.query<NoticeChannel>(
        `UPDATE notice_channel SET name = $2, target = $3, locale = $4, kinds = $5, enabled = $6, sealed = $7,
                problem = CASE WHEN $8 THEN NULL ELSE problem END
         WHERE id = $1 RETURNING ${channelColumns}`,
        [
          before.id,
          terms.name,
          terms.kind === 'webhook' ? new URL(terms.secret).host : terms.target,
          terms.locale,
          [...new Set(terms.kinds)],
          input.enabled ?? before.channel.enabled,
          seal.seal(placeOfChannelSecret(before.id), JSON.stringify(secret)),
          renewed || input.enabled === true,
        ],
      );
      const channel = only(rows);
      await audit(client, input.actor, 'notice_channel.change', before.channel, channel);
      return { kind: 'changed', channel };
    });
  }

  /** Removes a channel with its secret; what was still to be sent there is not. Null: there was none. */
  function remove(input: Owner & { id: string }): Promise<NoticeChannel | null> {
    return repeatedTransaction(pool, async (client) => {
      const before = await lock(client, input);
      if (before === null) return null;
      await client.query(`UPDATE notice_channel SET deleted_at = now(), enabled = false, sealed = '' WHERE id = $1`, [
        before.id,
      ]);
      await client.query(
        `UPDATE notice_delivery SET status = 'failed', next_attempt_at = NULL, problem = 'channel_closed'
         WHERE channel_id = $1 AND status = 'pending'`,
        [before.id],
      );
      await audit(client, input.actor, 'notice_channel.delete', before.channel, null);
      return { ...before.channel, enabled: false };
    });
  }

  /** The channels of an account, or of the business. */
  async function list(accountId: string | null, database: Pool | ClientBase = pool): Promise<NoticeChannel[]> {
    const { rows } = await database.query<NoticeChannel>(
      `SELECT ${channelColumns} FROM notice_channel
       WHERE account_id IS NOT DISTINCT FROM $1 AND deleted_at IS NULL ORDER BY id`,
      [accountId],
    );
    return rows;
  }

  /** A channel of any account or of the business: the caller checks whose it is. */
  async function findAny(id: string): Promise<NoticeChannel | null> {
    if (!isUuid(id)) return null;
    const { rows } = await pool.query<NoticeChannel>(
      `SELECT ${channelColumns} FROM notice_channel WHERE id = $1 AND deleted_at IS NULL`,
      [id],
    );
    return rows[0] ?? null;
  }

  return { create, change, remove, list, findAny };
}

async function lock(
  client: ClientBase,
  { accountId, id }: { accountId: string | null; id: string },
): Promise<{ id: string; channel: NoticeChannel; sealed: Buffer } | null> {
  if (!isUuid(id)) return null;
  const { rows } = await client.query<NoticeChannel & { sealed: Buffer }>(
    `SELECT ${channelColumns}, sealed FROM notice_channel
     WHERE id = $1 AND account_id IS NOT DISTINCT FROM $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
    [id, accountId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { sealed, ...channel } = row;
  return { id, channel, sealed };
}

/** The secret of a channel; null: sealed with an unknown key, or damaged. */
export function unsealSecret(seal: Pick<SecretSeal, 'unseal'>, id: string, sealed: Buffer): ChannelSecret | null {
  const text = seal.unseal(placeOfChannelSecret(id), sealed);
  return text === null ? null : (JSON.parse(text) as ChannelSecret);
}

/** The row of a channel's secret: a sealed text opens nowhere else. */
export function placeOfChannelSecret(id: string) {
  return { table: 'notice_channel', rowId: id, column: 'sealed' };
}

function secretOf(terms: ChannelTerms): ChannelSecret {
  const { kind, secret, zaloAppId: appId, zaloAppSecret: appSecret } = terms;
  switch (kind) {
    case 'telegram':
      return { kind, token: secret };
    case 'slack':
    case 'discord':
      return { kind, url: secret };
    case 'zalo':
      return { kind, appId, appSecret, refreshToken: secret, accessToken: null };
    case 'webhook':
      return { kind, url: secret, signing: createWebhookSecret() };
  }
}

function enteredOf(secret: ChannelSecret | null): string {
  if (secret === null) return '';
  if ('url' in secret) return secret.url;
  return secret.kind === 'telegram' ? secret.token : secret.refreshToken;
}

function shapeOf(
  kind: ChannelKind,
  accountId: string | null,
  deps: Pick<ChannelDeps, 'checkAddress' | 'allowAnyHost'>,
) {
  const kinds: readonly string[] = accountId === null ? businessNotices : accountNotices;
  const mayCall = (url: string): boolean => deps.checkAddress(bareAddress(url)) === null;
  const secrets: Record<ChannelKind, z.ZodType<string>> = {
    // https://core.telegram.org/bots/api#authorizing-your-bot
    telegram: z.string().regex(/^\d{3,20}:[\w-]{30,100}$/, 'must be the token that BotFather gave'),
    slack: z
      .string()
      .refine((url) => mayCall(url) && isWebhookOf('slack', url, deps), 'must be https://hooks.slack.com/services/…'),
    discord: z
      .string()
      .refine((url) => mayCall(url) && isWebhookOf('discord', url, deps), 'must be https://discord.com/api/webhooks/…'),
    zalo: z.string().regex(/^[\w.-]{20,2000}$/, 'must be a refresh token of the Official Account'),
    webhook: z.string().max(2_000).refine(mayCall, 'must be a public https address without user name and password'),
  };
  const targets: Record<ChannelKind, z.ZodType<string>> = {
    telegram: z.string().regex(/^(-?\d{1,20}|@\w{5,64})$/, 'must be the id of a chat or @channel'),
    zalo: z.string().regex(/^\d{5,30}$/, 'must be the id of a user of the Official Account'),
    slack: z.string().max(200),
    discord: z.string().max(200),
    webhook: z.string().max(200),
  };
  const isZalo = kind === 'zalo';
  return z.object({
    // Programs of customers have endpoints of their own, with deliveries that can be looked at and replayed.
    kind: z.enum(accountId === null ? channelKinds : channelKinds.filter((each) => each !== 'webhook')),
    name: shownText(80),
    target: targets[kind],
    locale: z.enum(['en', 'vi']),
    kinds: z.array(z.string().refine((name) => kinds.includes(name), 'must be kinds of notices')).readonly(),
    secret: secrets[kind],
    zaloAppId: isZalo ? z.string().regex(/^\d{5,30}$/, 'must be the id of the application') : z.string(),
    zaloAppSecret: isZalo ? z.string().regex(/^[\w-]{8,200}$/, 'must be the secret of the application') : z.string(),
  });
}

function isWebhookOf(
  kind: 'slack' | 'discord',
  text: string,
  { allowAnyHost }: Pick<ChannelDeps, 'allowAnyHost'>,
): boolean {
  const { hosts, path } = webhookHosts[kind];
  const url = new URL(text);
  return (allowAnyHost || hosts.includes(url.host)) && url.pathname.startsWith(path);
}

function audit(
  client: ClientBase,
  actor: string,
  action: AuditAction,
  before: NoticeChannel | null,
  after: NoticeChannel | null,
): Promise<void> {
  const subject = `notice_channel:${(after ?? before)?.id ?? ''}`;
  return appendAudit(client, { actor, action, subject, before: facts(before), after: facts(after) });
}

function facts(channel: NoticeChannel | null): AuditFacts | null {
  if (channel === null) return null;
  const { accountId, kind, name, target, locale, kinds, enabled } = channel;
  return { accountId, kind, name, target, locale, kinds, enabled };
}
