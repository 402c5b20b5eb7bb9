import type { ClientBase } from 'pg';
import type { addGrant } from '../billing/grants.ts';
import { closeShort, insertReview, type LockedOrder } from './bank/transfer-rows.ts';
import { giveOrder } from './gifts.ts';
import { recordOrderMail } from './order-mails.ts';
import { recordInvoice } from './papers/invoices.ts';
import type { PaymentDecision } from './payment-decision.ts';

/** What a decided payment changes: the order's status, its grant, its surplus. */

/** Called inside the transaction that changed an order. */
export interface OrderMoved {
  accountId: string;
  orderId: string;
  status: 'partial' | 'paid';
}

export interface ApplyPaymentDeps {
  /** Makes the grant in the given transaction, once for each source. Billing's, unless a test replaces it. */
  giveGrant?: typeof addGrant;
  /** Called in the same transaction, to publish payments. An error in it rolls the payment back. */
  onOrderMoved?: (client: ClientBase, moved: OrderMoved) => Promise<void>;
  /** The name of the provider that issues e-invoices; null: none are issued. */
  invoiceProvider?: string | null;
}

/** How long a partly paid order waits for the rest. */
const partialGraceDays = 7;

/** Applies a decision to its order: status, grant, surplus. In the transaction of the decision. */
export function createApplyPayment(deps: ApplyPaymentDeps) {
  const { giveGrant, onOrderMoved } = deps;
  return async function apply(
    client: ClientBase,
    step: {
      order: LockedOrder;
      transferId: string;
      decision: Exclude<PaymentDecision, { kind: 'review' }>;
      /** An operator matched the transfer. */
      byHand: boolean;
    },
  ): Promise<void> {
    const { order, transferId, decision, byHand } = step;
    if (byHand) await recordOrderMail(client, { orderId: order.id, kind: 'matched', subjectId: transferId });
    else if (decision.kind === 'paid')
      await recordOrderMail(client, { orderId: order.id, kind: 'paid', subjectId: transferId });
    if (decision.kind === 'partial') {
      await client.query(
        `UPDATE purchase_order SET status = 'partial', expires_at = greatest(expires_at, now() + make_interval(days => $2))
         WHERE id = $1`,
        [order.id, partialGraceDays],
      );
      await closeShort(client, order.id, 'the order waits for the rest again');
    } else {
      await client.query(`UPDATE purchase_order SET status = 'paid', paid_at = now() WHERE id = $1`, [order.id]);
      // An order that is paid again after an undone match keeps the parties of its first payment.
      await client.query(
        `INSERT INTO order_parties (order_id, seller, company)
         SELECT $1, (SELECT jsonb_build_object('name', s.name, 'taxCode', s.tax_code, 'address', s.address) FROM seller s),
                (SELECT jsonb_build_object('name', c.name, 'taxCode', c.tax_code, 'address', c.address)
                 FROM account_company c WHERE c.account_id = $2)
         ON CONFLICT (order_id) DO NOTHING`,
        [order.id, order.accountId],
      );
      await giveOrder(client, { order, ...(giveGrant && { giveGrant }) });
      const { invoiceProvider = null } = deps;
      if (invoiceProvider !== null) await recordInvoice(client, order.id, invoiceProvider);
      await closeShort(client, order.id, 'the order was paid after all');
      if (decision.surplusVnd > 0n)
        await insertReview(client, {
          transferId,
          reason: 'surplus',
          orderId: order.id,
          surplusVnd: decision.surplusVnd,
        });
    }
    await onOrderMoved?.(client, {
      accountId: order.accountId,
      orderId: order.id,
      status: decision.kind,
    });
  };
}

export type ApplyPayment = ReturnType<typeof createApplyPayment>;
