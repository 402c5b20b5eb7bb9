import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import type { Accounts } from '../accounts/accounts.ts';
import type { LinkLimits } from '../graphql/pages/link-limits.ts';
import { createPdfPress } from '../graphql/pages/pdf.ts';
import { createReceiptLinks, registerReceipts } from '../graphql/pages/receipts.ts';
import { createStatementLinks, registerStatements } from '../graphql/pages/statements.ts';
import type { Orders } from '../plans/orders.ts';
import { createParties } from '../plans/parties.ts';
import { createStatements } from '../plans/statements.ts';
import type { Transfers } from '../plans/transfers.ts';
import type { Config } from '../runtime/config.ts';

/** Composes what customers get on paper: receipts and statements, their parties and links. */

export interface PaperDeps {
  pool: Pool;
  secretKey: Buffer;
  publicUrl: string;
  accounts: Accounts;
  orders: Orders;
  transfers: Transfers;
  bank: Config['bank'];
}

export function createPaperParts(deps: PaperDeps) {
  const { pool, secretKey, publicUrl, accounts, orders, transfers, bank } = deps;
  const receiptLinks = createReceiptLinks({ secretKey, publicUrl });
  const statementLinks = createStatementLinks({ secretKey, publicUrl });
  const parties = createParties({ pool });
  const statements = createStatements({ pool });
  const press = createPdfPress();
  return {
    domains: { parties, receiptLinks, statements, statementLinks },
    register(app: FastifyInstance, limits: LinkLimits): void {
      const common = {
        limits,
        press,
        accounts,
        parties,
        payee: bank?.name ?? 'Steyg',
        demonstration: bank?.isDemonstration === true,
      };
      registerReceipts(app, { ...common, links: receiptLinks, orders, transfers });
      registerStatements(app, { ...common, links: statementLinks, statements });
    },
    close: press.close,
  };
}
