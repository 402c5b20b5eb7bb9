import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isSameSecret } from '../../shared/constant-time.ts';
import { bankText, jsonOrNull, parseVietnamTime, signedVnd } from './bank-message.ts';
import { type BankProvider } from './bank-provider.ts';
import type { IncomingTransfer } from './transfers.ts';

/**
 * payOS' webhook: `{ code, desc, success, data, signature }`, where the signature is the hex HMAC-SHA256 of
 * `key=value&…` over the keys of `data` in order, null as nothing. The secret is the channel's checksum key.
 *
 * Nothing in it says when it was signed, so a message does not age; it is stored once, so a repetition does nothing.
 */
export interface PayosOptions {
  /** Undefined or empty: every message is refused. */
  secret: string | undefined;
}

export function createPayos({ secret = '' }: PayosOptions): BankProvider {
  return {
    name: 'payos',
    accepted: { success: true },
    parse,
    authenticate({ body }) {
      if (secret.trim() === '') return 'not_configured';
      const envelope = signed.safeParse(jsonOrNull(body));
      if (!envelope.success) return 'unsigned';
      const text = signedText(envelope.data.data);
      if (text === null) return 'forged';
      const digest = createHmac('sha256', secret).update(text).digest('hex');
      return isSameSecret(envelope.data.signature, digest) ? 'genuine' : 'forged';
    },
  };
}

const signed = z.object({
  signature: z.string(),
  data: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});

/**
 * The text that is signed. Null where other data would give the same text: it has no escaping, so that `&amount=` in a
 * text would let one signature cover two amounts.
 */
function signedText(data: z.output<typeof signed>['data']): string | null {
  const pairs: string[] = [];
  for (const key of Object.keys(data).sort()) {
    const value = String(data[key] ?? '');
    if (!/^\w+$/.test(key) || /&\w+=/.test(value)) return null;
    pairs.push(`${key}=${value}`);
  }
  return pairs.join('&');
}

const message = z.object({
  code: z.string(),
  success: z.boolean().optional(),
  data: z.object({
    orderCode: z.number().int(),
    amount: signedVnd,
    description: bankText,
    accountNumber: bankText,
    reference: z.string().min(1).max(100),
    transactionDateTime: bankText,
    currency: z.literal('VND'),
    code: z.string(),
    virtualAccountNumber: bankText,
  }),
});

/** The message that payOS sends when an address is registered: a fictitious movement, the same for all merchants. */
const sample = { orderCode: 123, reference: 'TF230204212323' };

function parse(body: Buffer, now: Date): IncomingTransfer[] | null {
  const parsed = message.safeParse(jsonOrNull(body));
  if (!parsed.success) return null;
  const { code, success, data } = parsed.data;
  // Only `data` is signed, so the success of a payment is read from it.
  if (data.code !== '00' || code !== '00' || success === false) return [];
  if (data.orderCode === sample.orderCode && data.reference === sample.reference) return [];
  return [
    {
      provider: 'payos',
      providerId: `${data.reference}:${data.orderCode}`,
      bankReference: data.reference,
      direction: data.amount < 0 ? 'out' : 'in',
      amountVnd: BigInt(Math.abs(data.amount)),
      memo: data.description,
      bookedAt: parseVietnamTime(data.transactionDateTime) ?? now,
      accountNumbers: [data.accountNumber, data.virtualAccountNumber].filter((account) => account !== ''),
    },
  ];
}
