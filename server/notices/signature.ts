import { createHmac, randomBytes } from 'node:crypto';
import { isSameSecret } from '../shared/constant-time.ts';

/**
 * Signatures of webhooks in the form of the Standard Webhooks specification, which existing libraries can check:
 * headers `webhook-id`, `webhook-timestamp` (seconds) and `webhook-signature: v1,<base64>`, an HMAC-SHA256 over
 * `{id}.{timestamp}.{body}` with the bytes behind `whsec_`.
 */

const prefix = 'whsec_';

/** A fresh secret. */
export function createWebhookSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

export interface SignedHeaders extends Record<string, string> {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

export function signWebhook(input: { secret: string; id: string; body: string; now: Date }): SignedHeaders {
  const timestamp = String(Math.floor(input.now.getTime() / 1000));
  return {
    'webhook-id': input.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${digest(input.secret, input.id, timestamp, input.body)}`,
  };
}

/** The receiver's check, as an example and for tests: true when one of the signatures is right and the time is near. */
export function isSignedWebhook(input: {
  secret: string;
  headers: Record<string, string | undefined>;
  body: string;
  now: Date;
  toleranceMs?: number;
}): boolean {
  const { secret, headers, body, now, toleranceMs = 300_000 } = input;
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signatures = '' } = headers;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now.getTime() - Number(timestamp) * 1000) > toleranceMs) return false;
  const expected = Buffer.from(digest(secret, id, timestamp, body));
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''));
    return isSameSecret(given, expected);
  });
}

function digest(secret: string, id: string, timestamp: string, body: string): string {
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
}
