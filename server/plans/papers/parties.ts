import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../../database/lane.ts';
import { appendAudit } from '../../shared/audit.ts';
import { checkInput, type InvalidInput, shownText, shownTextOrNothing } from '../../shared/input.ts';
import { taxCodeShape } from './tax-code.ts';

/** The two parties of a sale as papers name them: the seller's details, and the company that an account buys for. */

/** The company of an account. */
export interface Company {
  name: string;
  /** Mã số thuế; empty: none is given. */
  taxCode: string;
  /** Empty: none is given. */
  address: string;
}

/** The seller, and what customers find on every page. Empty: not given. */
export interface Seller {
  name: string;
  taxCode: string;
  address: string;
  supportEmail: string;
  supportPhone: string;
  termsUrl: string;
  privacyUrl: string;
  refundUrl: string;
}

/** Whom a receipt names. */
export interface OrderParties {
  seller: Seller;
  /** Null: a person. */
  company: Company | null;
}

const emptySeller: Seller = {
  name: '',
  taxCode: '',
  address: '',
  supportEmail: '',
  supportPhone: '',
  termsUrl: '',
  privacyUrl: '',
  refundUrl: '',
};

const companyShape: z.ZodType<Company> = z.object({
  name: shownText(200),
  taxCode: taxCodeShape,
  address: shownTextOrNothing(300),
});

const pageAddress = z.union([z.literal(''), z.url({ protocol: /^https?$/, error: 'must be a web address' }).max(500)], {
  error: 'must be a web address',
});

const sellerShape: z.ZodType<Seller> = z.object({
  name: shownTextOrNothing(200),
  taxCode: taxCodeShape,
  address: shownTextOrNothing(300),
  supportEmail: z.union([z.literal(''), z.email()], { error: 'must be an e-mail address' }),
  supportPhone: z.string().regex(/^[0-9+().\s-]{0,30}$/, 'must be a telephone number'),
  termsUrl: pageAddress,
  privacyUrl: pageAddress,
  refundUrl: pageAddress,
});

export type SaveCompanyOutcome = { kind: 'saved'; company: Company | null } | InvalidInput<keyof Company>;
export type SaveSellerOutcome = { kind: 'saved'; seller: Seller } | InvalidInput<keyof Seller>;

/** `pool`: the pool of the control plane. */
export function createParties({ pool }: { pool: Pool }) {
  return {
    /** The seller; every member is empty until an operator gives it. */
    seller: () => readSeller(pool),

    /** Replaces the seller's details. */
    async saveSeller({ seller, actor }: { seller: Seller; actor: string }): Promise<SaveSellerOutcome> {
      const problem = checkInput(sellerShape, seller);
      if (problem !== null) return problem;
      return repeatedTransaction(pool, async (client) => {
        const before = await readSeller(client);
        await client.query(
          `INSERT INTO seller (name, tax_code, address, support_email, support_phone, terms_url, privacy_url, refund_url)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (id) DO UPDATE SET name = excluded.name, tax_code = excluded.tax_code, address = excluded.address,
             support_email = excluded.support_email, support_phone = excluded.support_phone,
             terms_url = excluded.terms_url, privacy_url = excluded.privacy_url, refund_url = excluded.refund_url,
             updated_at = now()`,
          Object.keys(emptySeller).map((field) => seller[field as keyof Seller]),
        );
        await appendAudit(client, {
          actor,
          action: 'seller.save',
          subject: 'seller',
          before: { ...before },
          after: { ...seller },
        });
        return { kind: 'saved', seller };
      });
    },

    /**
     * The parties on an order's receipt: as they were when it was paid. A party that was not given then is taken as it is
     * now, so that a company can be added afterwards, and not exchanged.
     */
    async ofOrder({ id, accountId }: { id: string; accountId: string }): Promise<OrderParties> {
      const { rows } = await pool.query<{ seller: Company | null; company: Company | null }>(
        'SELECT seller, company FROM order_parties WHERE order_id = $1',
        [id],
      );
      const [kept] = rows;
      const [seller, companies] = await Promise.all([readSeller(pool), readCompanies(pool, [accountId])]);
      return {
        seller: { ...seller, ...kept?.seller },
        company: kept?.company ?? companies.get(accountId) ?? null,
      };
    },

    /** The companies of accounts, by account. */
    companies: (accountIds: readonly string[]) => readCompanies(pool, accountIds),

    /** Replaces the company of an account; null removes it. */
    async saveCompany(ask: { accountId: string; company: Company | null; actor: string }): Promise<SaveCompanyOutcome> {
      const { accountId, company, actor } = ask;
      const problem = company === null ? null : checkInput(companyShape, company);
      if (problem !== null) return problem;
      return repeatedTransaction(pool, async (client) => {
        if (company === null) await client.query('DELETE FROM account_company WHERE account_id = $1', [accountId]);
        else
          await client.query(
            `INSERT INTO account_company (account_id, name, tax_code, address) VALUES ($1, $2, $3, $4)
             ON CONFLICT (account_id) DO UPDATE SET name = excluded.name, tax_code = excluded.tax_code,
               address = excluded.address, updated_at = now()`,
            [accountId, company.name, company.taxCode, company.address],
          );
        await appendAudit(client, {
          actor,
          action: 'account.company',
          subject: `account:${accountId}`,
          after: company === null ? null : { ...company },
        });
        return { kind: 'saved', company };
      });
    },
  };
}

async function readCompanies(pool: Pool, accountIds: readonly string[]): Promise<Map<string, Company>> {
  const { rows } = await pool.query<Company & { accountId: string }>(
    `SELECT account_id AS "accountId", name, tax_code AS "taxCode", address FROM account_company
     WHERE account_id = ANY ($1::uuid[])`,
    [accountIds],
  );
  return new Map(rows.map(({ accountId, ...company }) => [accountId, company]));
}

export type Parties = ReturnType<typeof createParties>;

async function readSeller(database: Pool | ClientBase): Promise<Seller> {
  const { rows } = await database.query<Seller>(
    `SELECT name, tax_code AS "taxCode", address, support_email AS "supportEmail", support_phone AS "supportPhone",
            terms_url AS "termsUrl", privacy_url AS "privacyUrl", refund_url AS "refundUrl" FROM seller`,
  );
  return rows[0] ?? emptySeller;
}
