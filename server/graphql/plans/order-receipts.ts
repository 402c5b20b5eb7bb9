import type { Transfer } from '../../plans/bank/transfer-rows.ts';
import type { Order } from '../../plans/order.ts';
import { decodeUuid } from '../access.ts';
import { builder } from '../builder.ts';
import { findOrder, OrderPaymentType } from './orders.ts';

/** Receipts of paid orders, as data; `pages/receipts.ts` renders them as pages. */

interface Receipt {
  order: Order;
  account: { name: string; email: string };
  payments: Transfer[];
}

const ReceiptType = builder.objectRef<Receipt>('Receipt').implement({
  description: 'What a receipt of a paid order says.',
  authScopes: (receipt) => ({ account: receipt.order.accountId }),
  fields: (t) => ({
    number: t.string({
      description: 'Number of the receipt: the memo code of the order.',
      resolve: ({ order }) => order.memo,
    }),
    issuedAt: t.field({
      type: 'DateTime',
      description: 'When the order was paid.',
      resolve: ({ order }) => order.paidAt ?? order.createdAt,
    }),
    accountName: t.string({ description: 'Who bought.', resolve: ({ account }) => account.name }),
    accountEmail: t.string({ description: 'Their e-mail address.', resolve: ({ account }) => account.email }),
    planName: t.string({ description: 'What was bought.', resolve: ({ order }) => order.planName }),
    priceVnd: t.field({ type: 'VndAmount', description: 'What it cost.', resolve: ({ order }) => order.priceVnd }),
    budget: t.field({
      type: 'UsdAmount',
      description: 'The budget that it bought.',
      resolve: ({ order }) => order.budget,
    }),
    receivedVnd: t.field({
      type: 'VndAmount',
      description: 'What was paid.',
      resolve: ({ order }) => order.receivedVnd,
    }),
    payments: t.expose('payments', { type: [OrderPaymentType], description: 'The transfers that paid it.' }),
  }),
});

builder.queryField('receipt', (t) =>
  t.field({
    type: ReceiptType,
    nullable: true,
    description: 'The receipt of an order; null while it is not paid, or when there is none that you may see.',
    authScopes: { reader: true },
    args: { orderId: t.arg.id({ required: true, description: 'Which order.' }) },
    resolve: async (_root, { orderId }, context) => {
      const id = decodeUuid('Order', orderId);
      const order = id === null ? null : await findOrder(context, id);
      if (order === null || order.status !== 'paid') return null;
      const [account, payments] = await Promise.all([
        context.prisma.account.findUniqueOrThrow({
          where: { id: order.accountId },
          select: { name: true, email: true },
        }),
        context.domains.transfers.ofOrders([order.id]),
      ]);
      return { order, account, payments: payments.get(order.id) ?? [] };
    },
  }),
);
