/**
 * Sends one message through the interface of a chat program, or to a program of the operator's. Sources, read November
 * 2026:
 *
 * - Telegram: https://core.telegram.org/bots/api#sendmessage (4096 characters; `parameters.retry_after` with 429)
 * - Slack: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks (answers `ok`; `Retry-After` with 429)
 * - Discord: https://docs.discord.com/developers/resources/webhook#execute-webhook (2000 characters; `retry_after` with 429)
 * - Zalo: https://developers.zalo.me/docs/official-account/tin-nhan/tin-tu-van/gui-tin-tu-van-dang-van-ban (2000 characters;
 *   status 200 with `error` other than 0 is a failure), tokens by https://oauth.zaloapp.com/v4/oa/access_token
 */

import { createPoster, type PosterDeps } from './poster.ts';
import { signWebhook } from './signature.ts';
import type { NoticeText } from './texts.ts';

export const channelKinds = ['telegram', 'slack', 'discord', 'zalo', 'webhook'] as const;
export type ChannelKind = (typeof channelKinds)[number];

/** What opens a channel. Sealed at rest; never logged, audited or shown again. */
export type ChannelSecret =
  | { kind: 'telegram'; token: string }
  /** The address of an incoming webhook is itself the secret. */
  | { kind: 'slack' | 'discord'; url: string }
  | { kind: 'zalo'; appId: string; appSecret: string; refreshToken: string; accessToken: string | null }
  | { kind: 'webhook'; url: string; signing: string };

/** How an attempt ended. A message of unknown fate is not sent again: no recipient gets it twice. */
export type MessageOutcome =
  | { kind: 'delivered' }
  /** Refused for now: nothing was delivered. */
  | { kind: 'later'; problem: string; retryAfterS: number | null }
  /** Refused for good; `broken`: so would be every other message. */
  | { kind: 'refused'; problem: string; broken: boolean }
  | { kind: 'unknown'; problem: string };

export interface Message {
  /** The same for every attempt. */
  id: string;
  /** Telegram: the chat; Zalo: the user. */
  target: string;
  text: NoticeText;
  /** Of webhooks: the signed JSON. */
  body: string;
}

export interface MessengerDeps extends PosterDeps {
  /** Addresses of the interfaces that are the same for all; tests play them. */
  telegramUrl?: string;
  zaloUrl?: string;
  zaloTokenUrl?: string;
  now?: () => Date;
}

/** Characters that the interfaces accept. Slack cuts longer texts only at 40,000, but advises 4,000. */
export const maxCharacters: Record<Exclude<ChannelKind, 'webhook'>, number> = {
  telegram: 4_096,
  slack: 4_000,
  discord: 2_000,
  zalo: 2_000,
};

const defaultTimeoutMs = 8_000;

interface HttpAnswer {
  status: number;
  retryAfterS: number | null;
  json: Record<string, unknown>;
}

export interface Messengers {
  send(secret: ChannelSecret, message: Message): Promise<MessageOutcome>;
  /** A new pair of tokens of Zalo: the old refresh token is spent by it. Null: refused. */
  renewZalo(secret: ZaloSecret): Promise<ZaloSecret | null>;
  close(): Promise<void>;
}

export type ZaloSecret = Extract<ChannelSecret, { kind: 'zalo' }>;

export function createMessengers(deps: MessengerDeps): Messengers {
  const { checkAddress, timeoutMs = defaultTimeoutMs, now = () => new Date() } = deps;
  const { telegramUrl = 'https://api.telegram.org', zaloUrl = 'https://openapi.zalo.me' } = deps;
  const { zaloTokenUrl = 'https://oauth.zaloapp.com' } = deps;
  const poster = createPoster({ ...deps, timeoutMs }, 'steyg-notices/1');

  async function post(url: string, body: string, headers: Record<string, string>): Promise<HttpAnswer> {
    const response = await poster.post(url, body, headers);
    const seconds = Number(response.headers['retry-after'] ?? Number.NaN);
    return {
      status: response.statusCode,
      retryAfterS: seconds > 0 ? seconds : null,
      json: objectIn(await response.body.text()),
    };
  }

  async function attempt(secret: ChannelSecret, message: Message): Promise<MessageOutcome> {
    const text = (kind: keyof typeof maxCharacters) => fit(message.text, maxCharacters[kind]);
    switch (secret.kind) {
      case 'telegram': {
        const url = `${telegramUrl}/bot${secret.token}/sendMessage`;
        const sent = { chat_id: message.target, text: text('telegram'), link_preview_options: { is_disabled: true } };
        return telegramOutcome(await post(url, JSON.stringify(sent), {}));
      }
      case 'slack':
        return webhookOutcome(await post(secret.url, JSON.stringify({ text: escapeSlack(text('slack')) }), {}));
      case 'discord': {
        const url = new URL(secret.url);
        // Without it Discord answers before the message is stored, and says nothing of a failure.
        url.searchParams.set('wait', 'true');
        // Names in a notice must call nobody.
        const sent = { content: text('discord'), allowed_mentions: { parse: [] } };
        return webhookOutcome(await post(url.href, JSON.stringify(sent), {}));
      }
      case 'zalo': {
        const sent = { recipient: { user_id: message.target }, message: { text: text('zalo') } };
        const headers = { access_token: secret.accessToken ?? '' };
        return zaloOutcome(await post(`${zaloUrl}/v3.0/oa/message/cs`, JSON.stringify(sent), headers));
      }
      case 'webhook': {
        const headers = signWebhook({ secret: secret.signing, id: message.id, body: message.body, now: now() });
        return webhookOutcome(await post(secret.url, message.body, headers));
      }
    }
  }

  return {
    async send(secret, message) {
      if ('url' in secret && checkAddress(withoutQuery(secret.url)) !== null)
        return { kind: 'refused', problem: 'address_refused', broken: true };
      try {
        return await attempt(secret, message);
      } catch (error) {
        return failureOf(error);
      }
    },

    async renewZalo(secret) {
      const { refreshToken, appId, appSecret } = secret;
      const form = new URLSearchParams({ refresh_token: refreshToken, app_id: appId, grant_type: 'refresh_token' });
      const headers = { 'content-type': 'application/x-www-form-urlencoded', secret_key: appSecret };
      const { json } = await post(`${zaloTokenUrl}/v4/oa/access_token`, form.toString(), headers);
      const { access_token: accessToken, refresh_token: next } = json;
      if (typeof accessToken !== 'string' || typeof next !== 'string') return null;
      return { ...secret, accessToken, refreshToken: next };
    },

    close: poster.close,
  };
}

function telegramOutcome({ status, retryAfterS, json }: HttpAnswer): MessageOutcome {
  if (json['ok'] === true) return { kind: 'delivered' };
  const parameters = json['parameters'];
  const asked = typeof parameters === 'object' && parameters !== null && 'retry_after' in parameters;
  const seconds = asked ? Number(parameters.retry_after) : retryAfterS;
  if (status === 429) return { kind: 'later', problem: 'status_429', retryAfterS: seconds };
  if (status >= 500) return { kind: 'later', problem: `status_${status}`, retryAfterS: null };
  // 400: no such chat; 401 and 404: no such bot; 403: the bot was blocked or removed.
  return { kind: 'refused', problem: `status_${status}`, broken: true };
}

function webhookOutcome({ status, retryAfterS, json }: HttpAnswer): MessageOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const problem = `status_${status}`;
  const asked = typeof json['retry_after'] === 'number' ? json['retry_after'] : retryAfterS;
  if (status === 429) return { kind: 'later', problem, retryAfterS: asked };
  if (status >= 500) return { kind: 'later', problem, retryAfterS: null };
  // The webhook was removed or its address is wrong.
  return { kind: 'refused', problem, broken: [401, 403, 404, 410].includes(status) };
}

/** The access token is no longer valid: it has to be renewed. */
export const tokenExpired = 'token_expired';

function zaloOutcome({ status, retryAfterS, json }: HttpAnswer): MessageOutcome {
  const error = Number(json['error'] ?? Number.NaN);
  if (status === 200 && error === 0) return { kind: 'delivered' };
  if (status === 401 || error === -216) return { kind: 'refused', problem: tokenExpired, broken: true };
  // -32: too many calls of the application or the account.
  if (status === 429 || error === -32) return { kind: 'later', problem: 'status_429', retryAfterS };
  if (status >= 500) return { kind: 'later', problem: `status_${status}`, retryAfterS: null };
  return { kind: 'refused', problem: Number.isNaN(error) ? `status_${status}` : `zalo${error}`, broken: false };
}

/** Failures before the connection stood: nothing was sent. */
const unreached = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function failureOf(error: unknown): MessageOutcome {
  const { name, code: said = '' } = error as { name?: string; code?: unknown };
  // That of a `DOMException` is a number.
  const code = String(said);
  if (code === 'PRIVATE_ADDRESS') return { kind: 'refused', problem: 'address_refused', broken: true };
  const isCertificate = code.startsWith('ERR_TLS') || code.includes('CERT') || code.includes('SIGNED');
  if (unreached.has(code) || isCertificate) return { kind: 'later', problem: 'no_connection', retryAfterS: null };
  return { kind: 'unknown', problem: name === 'TimeoutError' ? 'timeout' : 'connection_lost' };
}

/** A text of at most so many UTF-16 code units, as the interfaces count; no character is cut in half. */
function fit({ subject, body }: NoticeText, max: number): string {
  const whole = `${subject}\n\n${body}`;
  if (whole.length <= max) return whole;
  const cut = whole.slice(0, max - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** Slack reads these three characters as markup. The bound of its length is far from being reached by them. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function withoutQuery(url: string): string {
  return url.replace(/\?[^#]*/, '');
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
