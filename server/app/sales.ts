import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import type { Accounts } from '../accounts/accounts.ts';
import { createBooks } from '../books/books.ts';
import type { Log } from '../core/log.ts';
import { formatUsd } from '../core/money.ts';
import type { Webhooks } from '../notices/webhooks.ts';
import { createBooksLinks, registerBooks } from '../pages/books.ts';
import type { LinkLimits } from '../pages/link-limits.ts';
import { createCreditNoteLinks, registerCreditNotes } from '../pages/papers/credit-notes.ts';
import { type ErasureProofParts, registerErasureProofs } from '../pages/papers/erasure-proof.ts';
import { createInvoiceLinks, registerInvoiceDownloads } from '../pages/papers/invoice-downloads.ts';
import { createPdfPress } from '../pages/papers/pdf.ts';
import { createReceiptLinks, registerReceipts } from '../pages/papers/receipts.ts';
import { createStatementLinks, registerStatements } from '../pages/papers/statements.ts';
import { createThrottle } from '../people/sign-in/throttle.ts';
import { createTransfers } from '../plans/bank/transfers.ts';
import { createCodes } from '../plans/codes.ts';
import { createGifts } from '../plans/gifts.ts';
import { createOrderMails } from '../plans/order-mails.ts';
import { createOrders } from '../plans/orders.ts';
import { createInvoices } from '../plans/papers/invoices.ts';
import { createParties } from '../plans/papers/parties.ts';
import { createSepayEinvoice } from '../plans/papers/sepay-einvoice.ts';
import { createStatements } from '../plans/papers/statements.ts';
import { createPlans } from '../plans/plans.ts';
import { createQrPictures } from '../plans/qr/qr-pictures.ts';
import { createRefunds } from '../plans/refunds.ts';
import { createTopUp } from '../plans/top-up.ts';
import type { Config } from '../runtime/config.ts';
import type { Mailer } from '../runtime/mail.ts';
import { latest } from './latest.ts';

/** Composes the sale of budget: orders, transfers, what customers get on paper, and the operator's books. */

export interface SalesDeps {
  pool: Pool;
  /** Asked at each use: operators change it while the service runs. */
  config: () => Pick<Config, 'bank' | 'einvoice' | 'orderLimits'>;
  secretKey: Buffer;
  /** Read at each use, like the settings. */
  readonly publicUrl: string;
  accounts: Accounts;
  webhooks: Pick<Webhooks, 'recordEvent'>;
  mailer: Pick<Mailer, 'deliver'>;
  log: Pick<Log, 'warn'>;
}

export function createSales(deps: SalesDeps) {
  const { pool, accounts, webhooks, mailer, log, config } = deps;
  const einvoices = latest(createSepayEinvoice);
  const orders = createOrders({
    pool,
    get bank() {
      return config().bank;
    },
    get limits() {
      return config().orderLimits;
    },
  });
  const invoices = createInvoices({
    pool,
    get provider() {
      return einvoices(config().einvoice);
    },
    log,
  });
  const transfers = createTransfers({
    pool,
    get accountNumbers() {
      return accountNumbersOf(config().bank);
    },
    get invoiceProvider() {
      return invoices.provider;
    },
    async onOrderMoved(client, { accountId, orderId, status }) {
      await webhooks.recordEvent(client, { accountId, name: `order.${status}`, data: { order_id: orderId, status } });
    },
  });
  const orderMails = createOrderMails({
    pool,
    deliverMail: mailer.deliver,
    formatUsd,
    get bank() {
      return config().bank;
    },
    get publicUrl() {
      return deps.publicUrl;
    },
    log,
  });
  const receiptLinks = createReceiptLinks(deps);
  const statementLinks = createStatementLinks(deps);
  const creditNoteLinks = createCreditNoteLinks(deps);
  const invoiceLinks = createInvoiceLinks(deps);
  const refunds = createRefunds({ pool });
  const books = createBooks({ pool });
  const booksLinks = createBooksLinks(deps);
  const parties = createParties({ pool });
  const statements = createStatements({ pool });
  const qrPictures = createQrPictures();
  const press = createPdfPress();
  const gifts = createGifts({ pool });
  return {
    domains: {
      orders,
      plans: createPlans({ pool }),
      transfers,
      invoices,
      codes: createCodes({ pool, throttle: createThrottle({ pool }) }),
      topUp: createTopUp({ pool }),
      parties,
      qrPictures,
      receiptLinks,
      creditNoteLinks,
      invoiceLinks,
      statements,
      statementLinks,
      books,
      booksLinks,
      refunds,
    },
    /** Run every minute. */
    jobs: {
      async orders() {
        await orders.expire();
        await gifts.deliver();
      },
      orderMails: orderMails.send,
      invoices: async () => (await invoices.issueDue()) + (await invoices.fetchFiles()),
    },
    registerPages(
      app: FastifyInstance,
      limits: LinkLimits,
      proofs: Pick<ErasureProofParts, 'links' | 'erasure'>,
    ): void {
      // Not spread: what the getters say may change.
      const sellerNow = {
        get payee() {
          return config().bank?.name ?? 'Steyg';
        },
        get demonstration() {
          return config().bank?.isDemonstration === true;
        },
      };
      const common = { limits, press, accounts, parties };
      const withSeller = <Parts extends object>(parts: Parts): Parts & typeof sellerNow =>
        Object.create(sellerNow, Object.getOwnPropertyDescriptors(parts)) as Parts & typeof sellerNow;
      registerReceipts(app, withSeller({ ...common, pool, links: receiptLinks, orders, transfers }));
      registerCreditNotes(app, withSeller({ ...common, pool, links: creditNoteLinks, orders, refunds }));
      registerErasureProofs(app, { ...proofs, limits, press, seller: parties.seller });
      registerInvoiceDownloads(app, { pool, links: invoiceLinks, limits, invoices });
      registerStatements(app, withSeller({ ...common, pool, links: statementLinks, statements }));
      registerBooks(app, { pool, books, links: booksLinks, limits });
    },
    async close() {
      await Promise.all([press.close(), qrPictures.close()]);
    },
  };
}

export type Sales = ReturnType<typeof createSales>;

/** The operator's own bank accounts. Null with a made-up account: there is nothing to compare with. */
function accountNumbersOf(bank: Config['bank']): string[] | null {
  if (bank === null) return [];
  return bank.isDemonstration ? null : [bank.account];
}
