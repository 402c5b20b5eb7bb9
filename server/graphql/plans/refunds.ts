import { actorOf } from '../../people/principal.ts';
import type { Refund, RefundOutcome, RefundQuote } from '../../plans/refunds.ts';
import { decodeUuid } from '../access.ts';
import { AccountType, loadAccounts } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { OperatorType } from '../operator/operator.ts';
import { pageFields, pageFromStart, type Report, reportEdge } from '../reports.ts';
import { storedEnum } from '../types/enums.ts';
import { badInput, ConflictError, InputError, NotFoundError } from '../types/errors.ts';
import { OrderType } from './orders.ts';

/** Money that goes back to customers, with its credit notes. */

const RefundKindType = storedEnum('RefundKind', {
  description: 'What goes back.',
  values: {
    PURCHASE: { value: 'purchase', description: 'Of a purchase.' },
    SURPLUS: { value: 'surplus', description: 'What was paid beyond a price.' },
    PAYMENT: { value: 'payment', description: 'What was paid for no order, or for less than its price.' },
  } as const,
});

const CreditNoteType = builder.objectRef<Refund>('CreditNote').implement({
  description: 'What of an order goes back to the buyer.',
  authScopes: ({ accountId }) => (accountId === null ? { operator: true } : { account: accountId }),
  fields: (t) => ({
    number: t.expose('number', { type: 'BigInt', description: 'Its number, without gaps in the service.' }),
    kind: t.expose('kind', { type: RefundKindType, nullable: true, description: 'What goes back.' }),
    amountVnd: t.expose('amountVnd', { type: 'VndAmount', description: 'How much.' }),
    sentVnd: t.expose('sentVnd', { type: 'VndAmount', description: 'What the bank has sent of it.' }),
    budget: t.expose('budget', { type: 'UsdAmount', description: 'The budget that was taken back.' }),
    bonus: t.expose('bonus', { type: 'UsdAmount', description: 'The bonus that was taken back.' }),
    issuedAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
    undoneAt: t.expose('undoneAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was cancelled because it was a mistake: its budget is the buyer’s again; null: it counts.',
    }),
    url: t.string({
      description:
        'The note as PDF; `&format=csv` makes it CSV, `&lang=en` or `&lang=vi` chooses the language. Works for an hour, without a session.',
      resolve: ({ id }, _args, { domains, principal }) => domains.creditNoteLinks.link(id, actorOf(principal)).url,
    }),
  }),
});

builder.prismaObjectField(OrderType, 'creditNotes', (t) =>
  t.loadableList({
    type: CreditNoteType,
    description: 'What of it went back to the buyer, oldest first.',
    load: async (ids: string[], { domains }: GraphqlContext) => {
      const refunds = await domains.refunds.ofOrders(ids);
      return ids.map((id) => refunds.get(id) ?? []);
    },
    resolve: ({ id }: { id: string }) => id,
  }),
);

const RefundType = builder.objectRef<Refund>('Refund').implement({
  description: 'Money that goes back to a customer.',
  authScopes: { operator: true },
  fields: (t) => ({
    refundId: t.exposeString('id', { description: 'Its id.' }),
    creditNote: t.field({
      type: CreditNoteType,
      description: 'Its credit note: how much goes back, and what of the budget is taken for it.',
      resolve: (refund) => refund,
    }),
    memo: t.exposeString('memo', {
      description: 'What the operator writes into the transfer, so that it is matched automatically.',
    }),
    account: t.loadable({
      type: AccountType,
      nullable: true,
      description: 'The buyer; null: nobody knows whose payment it is.',
      load: loadAccounts,
      resolve: ({ accountId }) => accountId,
    }),
    order: t.prismaField({
      type: OrderType,
      nullable: true,
      description: 'Its order.',
      resolve: (query, { orderId }, _args, { prisma }) =>
        orderId === null ? null : prisma.order.findUnique({ ...query, where: { id: orderId } }),
    }),
    unusedVnd: t.expose('unusedVnd', {
      type: 'VndAmount',
      description: 'Of its amount: for budget that is taken back, at the purchase’s own rate.',
    }),
    usedVnd: t.expose('usedVnd', {
      type: 'VndAmount',
      description: 'Of its amount: for budget that was used or had expired, and stays so.',
    }),
    note: t.exposeString('reason', { description: 'Why.' }),
    createdBy: t.exposeString('createdBy', { description: 'Who booked it, as in the audit log.' }),
    undoneBy: t.exposeString('undoneBy', { nullable: true, description: 'Who undid it, as in the audit log.' }),
    undoneNote: t.exposeString('undoneReason', { nullable: true, description: 'Why it was undone.' }),
  }),
});

const refundEdge = reportEdge('RefundEdge', RefundType);
const RefundPageType = builder.objectRef<Report<Refund>>('RefundConnection').implement({
  authScopes: { operator: true },
  fields: (t) => pageFields(t, { row: RefundType, edge: refundEdge }),
});

builder.objectField(OperatorType, 'refunds', (t) =>
  t.field({
    type: RefundPageType,
    description: 'Refunds, the newest first.',
    args: {
      open: t.arg.boolean({ description: 'Only those that count and that the bank has not sent in full.' }),
      first: t.arg.int({ defaultValue: 50 }),
      after: t.arg.string(),
    },
    resolve: (_operator, { open, ...page }, { domains }) =>
      pageFromStart(page, (limit) => domains.refunds.list({ open: open ?? false, limit })),
  }),
);

const RefundQuoteType = builder.objectRef<RefundQuote>('RefundQuote').implement({
  description: 'What a refund of a purchase would be now.',
  authScopes: { operator: true },
  fields: (t) => ({
    free: t.expose('free', { type: 'UsdAmount', description: 'What is unused of its budget.' }),
    held: t.expose('held', { type: 'UsdAmount', description: 'What running requests hold of it.' }),
    budget: t.expose('budget', { type: 'UsdAmount', description: 'What would be taken back.' }),
    unusedVnd: t.expose('unusedVnd', { type: 'VndAmount', description: 'What would go back for it.' }),
    mostUsedVnd: t.expose('mostUsedVnd', {
      type: 'VndAmount',
      description: 'What can go back at most beside it, for budget that was used or has expired.',
    }),
  }),
});

builder.objectField(OperatorType, 'refundQuote', (t) =>
  t.field({
    type: RefundQuoteType,
    nullable: true,
    description: 'What a refund of a purchase would be now; null: so much cannot go back.',
    args: {
      orderId: t.arg.id({ required: true, description: 'Which order.' }),
      budget: t.arg({ type: 'UsdAmount', description: 'How much of its unused budget; left out: all of it.' }),
    },
    resolve: (_operator, { orderId, budget }, { domains }) => {
      const id = decodeUuid('Order', orderId);
      return id === null ? null : domains.refunds.quote({ orderId: id, budget: budget ?? null });
    },
  }),
);

function refuse(outcome: Exclude<RefundOutcome, { kind: 'refunded' }>): never {
  switch (outcome.kind) {
    case 'unknown_order':
      throw new NotFoundError('order');
    case 'unknown_transfer':
      throw new NotFoundError('transfer');
    case 'not_paid':
      throw new ConflictError('The order is not paid.', 'ORDER_NOT_PAID');
    case 'gift_waits':
      throw new ConflictError('The gift still waits for its receiver.', 'GIFT_WAITS');
    case 'too_much_budget':
      throw outcome.held > 0n
        ? new ConflictError('Something of its budget is held at this moment; try again in a minute.', 'BUDGET_HELD')
        : new ConflictError('So much of its budget is not left.', 'BUDGET_SPENT');
    case 'too_much':
      throw new ConflictError(`At most ${outcome.mostVnd} VND can go back.`, 'REFUND_TOO_MUCH');
    default:
      throw new Error(`a refund ended in an unknown way: ${String(outcome satisfies never)}`);
  }
}

/** A note that people read later. */
function checkNote(note: string): string {
  const text = note.trim();
  if (text === '' || text.length > 300) throw badInput('input.note', 'note is a text of at most 300 characters.');
  return text;
}

const RefundOrderInput = builder.inputType('RefundOrderInput', {
  fields: (t) => ({
    orderId: t.id({ required: true, description: 'Which order.' }),
    budget: t.field({ type: 'UsdAmount', description: 'How much of its unused budget; left out: all of it.' }),
    usedVnd: t.field({ type: 'VndAmount', description: 'For budget that was used; left out: nothing.' }),
    note: t.string({ required: true, description: 'Why, for people who read it later.' }),
  }),
});

const RefundTransferInput = builder.inputType('RefundTransferInput', {
  fields: (t) => ({
    transferId: t.id({ required: true, description: 'Which transfer.' }),
    amountVnd: t.field({ type: 'VndAmount', description: 'How much; left out: everything that bought nothing.' }),
    note: t.string({ required: true, description: 'Why, for people who read it later.' }),
  }),
});

const UndoRefundInput = builder.inputType('UndoRefundInput', {
  fields: (t) => ({
    refundId: t.string({ required: true, description: 'Which refund.' }),
    note: t.string({ required: true, description: 'Why, for people who read it later.' }),
  }),
});

builder.mutationFields((t) => ({
  undoRefund: t.field({
    type: RefundType,
    description:
      'Undoes a refund that was a mistake, from now on: its budget returns to where it was taken, its credit note is cancelled and keeps the number, and transfers that paid it wait to be matched again.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError, ConflictError] },
    args: { input: t.arg({ type: UndoRefundInput, required: true }) },
    resolve: async (_root, { input: { refundId, note } }, { domains, principal }) => {
      const outcome = await domains.refunds.undo({ refundId, reason: checkNote(note), by: actorOf(principal) });
      if (outcome.kind === 'undone') return outcome.refund;
      if (outcome.kind === 'unknown_refund') throw new NotFoundError('refund');
      throw new ConflictError('This refund was undone before.', 'ALREADY_UNDONE');
    },
  }),
  refundOrder: t.field({
    type: RefundType,
    description:
      'Takes unused budget of a purchase back, at its own rate. Used budget stays used; `usedVnd` is paid back for it as well.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError, ConflictError] },
    args: { input: t.arg({ type: RefundOrderInput, required: true }) },
    resolve: async (_root, { input: { orderId, budget, usedVnd, note } }, { domains, principal }) => {
      const id = decodeUuid('Order', orderId);
      if (id === null) throw new NotFoundError('order');
      const outcome = await domains.refunds.refundOrder({
        orderId: id,
        budget: budget ?? null,
        usedVnd: usedVnd ?? 0n,
        reason: checkNote(note),
        by: actorOf(principal),
      });
      return outcome.kind === 'refunded' ? outcome.refund : refuse(outcome);
    },
  }),
  refundTransfer: t.field({
    type: RefundType,
    description: 'Sends back what a transfer brought beyond an order’s price, or for no order. It pays none any more.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError, ConflictError] },
    args: { input: t.arg({ type: RefundTransferInput, required: true }) },
    resolve: async (_root, { input: { transferId, amountVnd, note } }, { domains, principal }) => {
      const id = decodeUuid('BankTransfer', transferId);
      if (id === null) throw new NotFoundError('transfer');
      const outcome = await domains.refunds.refundTransfer({
        transferId: id,
        amountVnd: amountVnd ?? null,
        reason: checkNote(note),
        by: actorOf(principal),
      });
      return outcome.kind === 'refunded' ? outcome.refund : refuse(outcome);
    },
  }),
  payRefund: t.field({
    type: RefundType,
    description: 'Matches an outgoing transfer to a refund, where its text does not name the memo.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError, ConflictError] },
    args: {
      refundId: t.arg.string({ required: true }),
      transferId: t.arg.id({ required: true }),
    },
    resolve: async (_root, { refundId, transferId }, { domains, principal }) => {
      const id = decodeUuid('BankTransfer', transferId);
      if (id === null) throw new NotFoundError('transfer');
      const outcome = await domains.refunds.pay({ refundId, transferId: id, by: actorOf(principal) });
      if (outcome.kind === 'paid') return outcome.refund;
      if (outcome.kind === 'unknown_refund') throw new NotFoundError('refund');
      if (outcome.kind === 'unknown_transfer') throw new NotFoundError('transfer');
      if (outcome.kind === 'too_much')
        throw new ConflictError(`Only ${outcome.mostVnd} VND are left to send.`, 'REFUND_TOO_MUCH');
      throw new ConflictError('This transfer pays no refund: it is incoming, or pays one already.', 'NOT_PAYABLE');
    },
  }),
}));
