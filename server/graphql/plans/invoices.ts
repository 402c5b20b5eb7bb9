import { actorOf, isOperator } from '../../people/principal.ts';
import type { InvoiceState, OrderInvoice } from '../../plans/papers/invoices.ts';
import { decodeUuid } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { OperatorType } from '../operator/operator.ts';
import { keysetPage, pageFields, type Report, reportEdge } from '../reports.ts';
import { storedEnum } from '../types/enums.ts';
import { ConflictError, NotFoundError } from '../types/errors.ts';
import { OrderType } from './orders.ts';

/** E-invoices of paid orders: how far they are, for the payer, and which of them need a person, for operators. */

const InvoiceStateType = storedEnum('InvoiceState', {
  description: 'How far an e-invoice is.',
  values: {
    DUE: { value: 'due', description: 'It is being issued.' },
    ISSUED: { value: 'issued', description: 'It was issued.' },
    FAILED: { value: 'failed', description: 'It could not be issued: the operator looks at it.' },
    WITHDRAWN: { value: 'withdrawn', description: 'The payment was undone before it was requested.' },
    TO_CANCEL: { value: 'to_cancel', description: 'The payment was undone afterwards: the operator cancels it.' },
  } satisfies Record<string, { value: InvoiceState; description: string }>,
});

const InvoiceType = builder.objectRef<OrderInvoice>('OrderInvoice').implement({
  description: 'The e-invoice of a paid order.',
  // Reached through orders that were authorised, and by operators.
  authScopes: { public: true },
  fields: (t) => ({
    state: t.field({
      type: InvoiceStateType,
      nullable: true,
      description: 'How far it is.',
      resolve: ({ state }) => state,
    }),
    number: t.exposeString('number', { nullable: true, description: 'Its number at the provider.' }),
    url: t.exposeString('url', { nullable: true, description: 'Where it can be read.' }),
    fileUrl: t.string({
      nullable: true,
      description:
        'Its XML, the form in which it counts, as its provider returned it. Works for an hour, without a session. Null: it is not here yet, or not issued.',
      resolve: ({ orderId, state, hasFile }, _args, { domains, principal }) =>
        state === 'issued' && hasFile ? domains.invoiceLinks.link(orderId, actorOf(principal)).url : null,
    }),
    issuedAt: t.expose('issuedAt', { type: 'DateTime', nullable: true, description: 'When it was issued.' }),
    problem: t.string({
      nullable: true,
      description: 'Why the last try failed, or its XML (`file_…`): a code; for operators.',
      resolve: ({ problem, fileProblem }, _args, { principal }) =>
        isOperator(principal) ? (problem ?? fileProblem) : null,
    }),
    nextAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is tried next; null: it is not.',
      resolve: ({ state, nextAt }) => (state === 'due' ? nextAt : null),
    }),
    order: t.prismaField({
      type: OrderType,
      description: 'The order that it is of.',
      resolve: (query, { orderId }, _args, { prisma }) =>
        prisma.order.findUniqueOrThrow({ ...query, where: { id: orderId } }),
    }),
  }),
});

builder.prismaObjectFields(OrderType, (t) => ({
  invoice: t.loadable({
    type: InvoiceType,
    nullable: true,
    description: 'Its e-invoice; null: it is not paid, or e-invoices are not issued.',
    load: async (ids: string[], { domains }: GraphqlContext) => {
      const invoices = await domains.invoices.ofOrders(ids);
      return ids.map((id) => invoices.get(id) ?? null);
    },
    resolve: ({ id }: { id: string }) => id,
  }),
}));

const problemEdge = reportEdge<OrderInvoice>('OrderInvoiceEdge', InvoiceType);
const InvoiceProblemPageType = builder.objectRef<Report<OrderInvoice>>('OrderInvoiceConnection').implement({
  authScopes: { operator: true },
  fields: (t) => pageFields(t, { row: InvoiceType, edge: problemEdge }),
});

builder.objectFields(OperatorType, (t) => ({
  invoiceProblems: t.field({
    type: InvoiceProblemPageType,
    description: 'E-invoices that fail or have to be cancelled, the oldest first.',
    args: {
      first: t.arg.int({ defaultValue: 50 }),
      after: t.arg.string(),
    },
    resolve: (_operator, args, { domains }) =>
      keysetPage(
        args,
        { ids: 1, keyOf: ({ createdAt, orderId }) => ({ at: createdAt, ids: [orderId] }) },
        domains.invoices.troubled,
      ),
  }),
}));

builder.mutationField('retryInvoice', (t) =>
  t.field({
    type: InvoiceType,
    description:
      'Tries an e-invoice again that could not be issued, or its XML. It is looked up first: there is never a second one.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError, ConflictError] },
    args: { orderId: t.arg.id({ required: true }) },
    resolve: async (_root, { orderId }, { domains, principal }) => {
      const id = decodeUuid('Order', orderId);
      const invoice = id === null ? undefined : (await domains.invoices.ofOrders([id])).get(id);
      if (id === null || invoice === undefined) throw new NotFoundError('invoice');
      if (!(await domains.invoices.retry({ orderId: id, by: actorOf(principal) })))
        throw new ConflictError('This invoice has not failed.', 'NOT_FAILED');
      const [changed = invoice] = (await domains.invoices.ofOrders([id])).values();
      return changed;
    },
  }),
);
