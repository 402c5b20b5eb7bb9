import { request } from 'undici';
import { z } from 'zod';
import { bankText, parseVietnamTime } from './bank-message.ts';
import type { TransferSource } from './reconciliation.ts';
import type { IncomingTransfer } from './transfers.ts';

/**
 * SePay's list of transactions (`GET {base}/transactions/list`), for transfers that its webhook lost. It is the first
 * version of that interface on purpose: its ids are those of the webhook, while the second version has others.
 */
export interface SepayListingOptions {
  token: string;
  /** Only movements of this account. */
  accountNumber: string;
  baseUrl: string;
  timeoutMs?: number;
}

const defaultTimeoutMs = 20_000;
/** The provider's page limit. A full page within a window means that the window is too wide. */
const maxTransactions = 5_000;

const decimal = z
  .union([z.string(), z.number()])
  .transform(String)
  // Whole VND, printed with two zeros.
  .pipe(z.string().regex(/^\d{1,15}(\.0+)?$/))
  .transform((value) => BigInt(value.split('.')[0] ?? ''));
const listing = z.object({
  transactions: z
    .array(
      z.object({
        id: z.union([z.string().min(1).max(100), z.number().int().positive()]).transform(String),
        transaction_date: bankText,
        account_number: bankText,
        sub_account: bankText,
        amount_in: decimal,
        amount_out: decimal,
        transaction_content: bankText,
        reference_number: bankText,
        code: bankText,
      }),
    )
    .max(maxTransactions),
});

/** Throws when the list is unavailable or not understood: the caller retries at the next round. */
export function createSepayListing(options: SepayListingOptions): TransferSource {
  const { token, accountNumber, baseUrl, timeoutMs = defaultTimeoutMs } = options;
  return {
    async listSince(since) {
      const query = new URLSearchParams({
        account_number: accountNumber,
        transaction_date_min: vietnamTime(since),
        limit: String(maxTransactions),
      });
      const response = await request(`${baseUrl}/transactions/list?${query.toString()}`, {
        headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (response.statusCode !== 200) {
        await response.body.dump();
        throw new Error(`the provider answered ${response.statusCode}`);
      }
      const { transactions } = listing.parse(await response.body.json());
      return transactions.map((row): IncomingTransfer => {
        const incoming = row.amount_in > 0n || row.amount_out === 0n;
        return {
          provider: 'sepay',
          providerId: row.id,
          bankReference: row.reference_number === '' ? null : row.reference_number,
          direction: incoming ? 'in' : 'out',
          amountVnd: incoming ? row.amount_in : row.amount_out,
          memo: row.transaction_content.includes(row.code)
            ? row.transaction_content
            : `${row.transaction_content} ${row.code}`,
          bookedAt: parseVietnamTime(row.transaction_date) ?? new Date(),
          accountNumbers: [row.account_number, row.sub_account].filter((account) => account !== ''),
        };
      });
    },
  };
}

/** A moment in Vietnam's local time: `2026-11-21 16:05:00`. */
function vietnamTime(moment: Date): string {
  return new Date(moment.getTime() + 7 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
}

const accountList = z.object({
  bankaccounts: z.array(z.object({ account_number: bankText, account_holder_name: bankText, bank_bin: bankText })),
});

/**
 * The accounts that SePay watches for the holder of the token. Throws when the list is unavailable or not understood.
 * https://developer.sepay.vn/en/sepay-api/api-tai-khoan-ngan-hang
 */
export async function listSepayAccounts({
  token,
  baseUrl,
  timeoutMs = defaultTimeoutMs,
}: Omit<SepayListingOptions, 'accountNumber'>): Promise<{ number: string; holder: string; bin: string }[]> {
  const response = await request(`${baseUrl}/bankaccounts/list?limit=100`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.statusCode !== 200) {
    await response.body.dump();
    throw new Error(`the provider answered ${response.statusCode}`);
  }
  return accountList
    .parse(await response.body.json())
    .bankaccounts.map((row) => ({ number: row.account_number, holder: row.account_holder_name, bin: row.bank_bin }));
}
