import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isSameSecret } from '../../shared/constant-time.ts';
import { bankText, jsonOrNull, parseVietnamTime, providerId, signedVnd } from './bank-message.ts';
import { type BankProvider, singleHeader, soundAge } from './bank-provider.ts';
import type { IncomingTransfer } from './transfers.ts';

/**
 * Casso's webhook (version 2): `X-Casso-Signature: t=<ms>,v1=<hex HMAC-SHA512 of "{t}." and the body's JSON with sorted
 * keys>`. `data` is one movement. Version 1 is not taken: its token neither covers the body nor ages.
 */
export interface CassoOptions {
  /** Undefined or empty: every message is refused. */
  secret: string | undefined;
}

export function createCasso({ secret = '' }: CassoOptions): BankProvider {
  return {
    name: 'casso',
    accepted: { success: true },
    parse,
    authenticate({ headers, body, now }) {
      if (secret.trim() === '') return 'not_configured';
      const header = singleHeader(headers, 'x-casso-signature');
      if (header === null) return 'unsigned';
      const [, timestamp, signature] = /^t=(\d{1,15}),v1=([0-9a-f]{128})$/.exec(header) ?? [null, '', ''];
      const text = sortedJson(jsonOrNull(body));
      if (timestamp === '' || text === null) return 'forged';
      const digest = createHmac('sha512', secret).update(`${timestamp}.${text}`).digest('hex');
      if (!isSameSecret(signature ?? '', digest)) return 'forged';
      return soundAge(new Date(Number(timestamp)), now) ? 'genuine' : 'stale';
    },
  };
}

/** Maximum depth: no message of Casso nests deeper. */
const deepestNesting = 8;

/** The JSON text that is signed: keys of objects sorted, lists unchanged. Null: no object, or too deep. */
function sortedJson(value: unknown): string | null {
  const sort = (part: unknown, depth: number): unknown => {
    if (depth > deepestNesting) throw new RangeError('too deep');
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    const entries = Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1));
    return Object.fromEntries(entries.map(([key, inner]) => [key, sort(inner, depth + 1)]));
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  try {
    return JSON.stringify(sort(value, 0));
  } catch {
    return null;
  }
}

const message = z.object({
  error: z.literal(0),
  data: z.object({
    id: providerId,
    reference: bankText,
    description: bankText,
    amount: signedVnd,
    transactionDateTime: bankText,
    accountNumber: bankText,
    virtualAccountNumber: bankText,
  }),
});

function parse(body: Buffer, now: Date): IncomingTransfer[] | null {
  const parsed = message.safeParse(jsonOrNull(body));
  if (!parsed.success) return null;
  const { data } = parsed.data;
  const transfer: IncomingTransfer = {
    provider: 'casso',
    providerId: String(data.id),
    bankReference: data.reference === '' ? null : data.reference,
    direction: data.amount < 0 ? 'out' : 'in',
    amountVnd: BigInt(Math.abs(data.amount)),
    memo: data.description,
    bookedAt: parseVietnamTime(data.transactionDateTime) ?? now,
    accountNumbers: [data.accountNumber, data.virtualAccountNumber].filter((account) => account !== ''),
  };
  // The provider's test button sends a fictitious movement with an id that no real one has.
  return transfer.providerId === '0' ? [] : [transfer];
}
