import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isSameSecret } from '../../shared/constant-time.ts';
import { bankText, jsonOrNull, parseVietnamTime, providerId, signedVnd } from './bank-message.ts';
import { type BankProvider, singleHeader, soundAge } from './bank-provider.ts';
import type { IncomingTransfer } from './transfers.ts';

/**
 * Casso's webhook, in its two versions. One of the two proofs is configured, and the other is then refused: a weaker
 * proof beside a stronger one would decide.
 *
 * - `hmac` (version 2): `X-Casso-Signature: t=<ms>,v1=<hex HMAC-SHA512 of "{t}." and the body's JSON with sorted
 * keys>`.
 * - `token` (version 1): `secure-token: <secret>`. It neither covers the body nor ages; for webhooks of the old kind.
 *
 * Both bodies are understood with both: `data` is one movement (version 2) or a list of them (version 1).
 */
export interface CassoOptions {
  /** Undefined or empty: every message is refused. */
  secret: string | undefined;
  scheme?: 'hmac' | 'token';
}

export function createCasso({ secret = '', scheme = 'hmac' }: CassoOptions): BankProvider {
  return {
    name: 'casso',
    accepted: { success: true },
    parse,
    authenticate({ headers, body, now }) {
      if (secret.trim() === '') return 'not_configured';
      if (scheme === 'token') {
        const given = singleHeader(headers, 'secure-token');
        return given !== null && isSameSecret(given, secret) ? 'genuine' : 'forged';
      }
      const [, timestamp, signature] = /^t=(\d{1,15}),v1=([0-9a-f]{128})$/.exec(
        singleHeader(headers, 'x-casso-signature') ?? '',
      ) ?? [null, '', ''];
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

const newMovement = z.object({
  id: providerId,
  reference: bankText,
  description: bankText,
  amount: signedVnd,
  transactionDateTime: bankText,
  accountNumber: bankText,
  virtualAccountNumber: bankText,
});
const oldMovement = z.object({
  id: providerId,
  tid: bankText,
  description: bankText,
  amount: signedVnd,
  when: bankText,
  bank_sub_acc_id: bankText,
  subAccId: bankText,
  virtualAccount: bankText,
});
const message = z.object({ error: z.literal(0), data: z.union([newMovement, z.array(oldMovement).max(200)]) });

function parse(body: Buffer, now: Date): IncomingTransfer[] | null {
  const parsed = message.safeParse(jsonOrNull(body));
  if (!parsed.success) return null;
  const { data } = parsed.data;
  const transfers = Array.isArray(data) ? data.map((row) => fromOld(row, now)) : [fromNew(data, now)];
  // The provider's test button sends a fictitious movement with an id that no real one has.
  return transfers.filter((transfer) => transfer.providerId !== '0');
}

function fromNew(row: z.output<typeof newMovement>, now: Date): IncomingTransfer {
  return {
    ...common(row),
    bankReference: row.reference === '' ? null : row.reference,
    bookedAt: parseVietnamTime(row.transactionDateTime) ?? now,
    accountNumbers: [row.accountNumber, row.virtualAccountNumber].filter((account) => account !== ''),
  };
}

function fromOld(row: z.output<typeof oldMovement>, now: Date): IncomingTransfer {
  return {
    ...common(row),
    bankReference: row.tid === '' ? null : row.tid,
    bookedAt: parseVietnamTime(row.when) ?? now,
    accountNumbers: [row.bank_sub_acc_id, row.subAccId, row.virtualAccount].filter((account) => account !== ''),
  };
}

function common(row: { id: string | number; amount: number; description: string }) {
  return {
    provider: 'casso',
    providerId: String(row.id),
    direction: row.amount < 0 ? ('out' as const) : ('in' as const),
    amountVnd: BigInt(Math.abs(row.amount)),
    memo: row.description,
  };
}
