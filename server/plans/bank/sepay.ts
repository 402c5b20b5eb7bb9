import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isSameSecret } from '../../shared/constant-time.ts';
import { bankText, idMadeOf, jsonOrNull, parseVietnamTime, providerId, signedVnd } from './bank-message.ts';
import { type BankProvider, singleHeader, soundAge } from './bank-provider.ts';
import type { IncomingTransfer } from './transfers.ts';

/**
 * SePay's webhook, with two of its authentication methods. One of them is configured, and the other is then refused: a
 * weaker proof beside a stronger one would decide.
 *
 * - `hmac`: `X-SePay-Signature: sha256=<hex HMAC-SHA256 of "{timestamp}.{raw body}">`, `X-SePay-Timestamp` in seconds.
 * - `apikey`: `Authorization: Apikey <secret>`. It neither covers the body nor ages; for accounts that cannot sign.
 */
export interface SepayOptions {
  /** Undefined or empty: every message is refused. */
  secret: string | undefined;
  scheme?: 'hmac' | 'apikey';
}

export function createSepay({ secret = '', scheme = 'hmac' }: SepayOptions): BankProvider {
  return {
    name: 'sepay',
    accepted: { success: true },
    parse,
    authenticate({ headers, body, now }) {
      if (secret.trim() === '') return 'not_configured';
      if (scheme === 'apikey') {
        const given = singleHeader(headers, 'authorization');
        if (given === null) return 'unsigned';
        return isSameSecret(given, `Apikey ${secret}`) ? 'genuine' : 'forged';
      }
      const timestamp = singleHeader(headers, 'x-sepay-timestamp');
      const signature = singleHeader(headers, 'x-sepay-signature');
      if (timestamp === null || signature === null) return 'unsigned';
      if (!/^\d{1,12}$/.test(timestamp)) return 'forged';
      const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
      if (!isSameSecret(signature, `sha256=${digest}`)) return 'forged';
      return soundAge(new Date(Number(timestamp) * 1000), now) ? 'genuine' : 'stale';
    },
  };
}

const message = z.object({
  id: providerId.nullish(),
  gateway: bankText,
  transactionDate: bankText,
  accountNumber: bankText,
  subAccount: bankText,
  code: bankText,
  content: bankText,
  transferType: z.enum(['in', 'out']),
  transferAmount: signedVnd,
  referenceCode: bankText,
});

function parse(body: Buffer, now: Date): IncomingTransfer[] | null {
  const parsed = message.safeParse(jsonOrNull(body));
  if (!parsed.success) return null;
  const { data } = parsed;
  const movement = {
    bankReference: data.referenceCode === '' ? null : data.referenceCode,
    // A negative amount is money that left, whatever the type says: never a reason to grant.
    direction: data.transferAmount < 0 ? ('out' as const) : data.transferType,
    amountVnd: BigInt(Math.abs(data.transferAmount)),
  };
  // Older accounts send no id.
  const hasId = data.id !== null && data.id !== undefined && data.id !== 0;
  if (!hasId && movement.bankReference === null) return null;
  return [
    {
      ...movement,
      provider: 'sepay',
      providerId: hasId ? String(data.id) : idMadeOf(movement),
      // SePay recognises codes in contents, too; one that it found and our parser did not is kept.
      memo: data.content.includes(data.code) ? data.content : `${data.content} ${data.code}`,
      bookedAt: parseVietnamTime(data.transactionDate) ?? now,
      accountNumbers: [data.accountNumber, data.subAccount].filter((account) => account !== ''),
    },
  ];
}
