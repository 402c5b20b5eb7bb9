import { abilitiesOn, isOperator } from '../people/principal.ts';
import type { BankAccount, CreateOrderOutcome, Order, PaymentInstructions } from '../plans/orders.ts';
import type { OrderStatus } from '../plans/payment.ts';
import { QrBusyError, type QrPicture } from '../plans/qr-pictures.ts';
import type { Transfer } from '../plans/transfers.ts';
import { accountFor, checkIdempotencyKey, decodeId, decodeUuid, encodeId, requireAbility } from './access.ts';
import { AccountType } from './accounts.ts';
import { builder } from './builder.ts';
import type { GraphqlContext } from './context.ts';
import { BusyError, ConflictError, InputError, idempotencyConflict, NotAllowedError, NotFoundError } from './errors.ts';
import { forwardPage } from './forward.ts';

/** Orders: buying budget by bank transfer. */

const OrderStatusType = builder.enumType('OrderStatus', {
  description: 'How far an order is.',
  values: {
    PENDING: { value: 'pending', description: 'No money has arrived.' },
    PARTIAL: { value: 'partial', description: 'Some money has arrived; the rest is missing.' },
    PAID: { value: 'paid', description: 'Paid: its budget can be used.' },
    EXPIRED: { value: 'expired', description: 'The money did not arrive in time.' },
    CANCELLED: { value: 'cancelled', description: 'It was cancelled.' },
  } satisfies Record<string, { value: OrderStatus; description: string }>,
});

const BankAccountType = builder.objectRef<BankAccount>('BankAccount').implement({
  description: 'The bank account to pay to.',
  authScopes: { public: true },
  fields: (t) => ({
    bin: t.exposeString('bin', { description: 'The bank’s six digits at NAPAS.' }),
    account: t.exposeString('account', { description: 'Account number.' }),
    name: t.exposeString('name', { description: 'Whose account it is.' }),
  }),
});

/** What drawing a picture takes in fields; a page of orders with their pictures fits, one with copies of them does not. */
const pictureCost = 150;

async function drawn({ domains }: GraphqlContext, qrPayload: string): Promise<QrPicture> {
  try {
    return await domains.qrPictures.draw(qrPayload);
  } catch (error) {
    if (error instanceof QrBusyError) throw new BusyError();
    throw error;
  }
}

const PaymentType = builder.objectRef<PaymentInstructions>('PaymentInstructions').implement({
  description: 'How to pay what is missing.',
  authScopes: { public: true },
  fields: (t) => ({
    bank: t.expose('bank', { type: BankAccountType, description: 'Where to.' }),
    amountVnd: t.expose('amountVnd', { type: 'VndAmount', description: 'How much: what is still missing.' }),
    memo: t.exposeString('memo', { description: 'What to write into the transfer, as it is.' }),
    qrPayload: t.exposeString('qrPayload', { description: 'The text of the VietQR code (EMVCo, NAPAS).' }),
    qrSvg: t.string({
      description: 'The VietQR code as an SVG document.',
      complexity: pictureCost,
      resolve: async ({ qrPayload }, _args, context) => (await drawn(context, qrPayload)).svg,
    }),
    qrPng: t.string({
      description: 'The VietQR code as a PNG picture in a `data:` address.',
      complexity: pictureCost,
      resolve: async ({ qrPayload }, _args, context) =>
        `data:image/png;base64,${(await drawn(context, qrPayload)).png}`,
    }),
  }),
});

export const OrderPaymentType = builder.objectRef<Transfer>('OrderPayment').implement({
  description: 'A transfer that pays an order, as its payer sees it.',
  authScopes: { public: true },
  fields: (t) => ({
    amountVnd: t.expose('amountVnd', { type: 'VndAmount', description: 'How much arrived.' }),
    bookedAt: t.expose('bookedAt', { type: 'DateTime', description: 'When the bank booked it.' }),
    bankReference: t.exposeString('bankReference', { nullable: true, description: 'The bank’s reference.' }),
  }),
});

export const OrderType = builder.objectRef<Order>('Order');

builder.node(OrderType, {
  name: 'Order',
  description: 'A purchase of budget. Price and budget are those of the moment it was made.',
  id: { resolve: ({ id }) => id },
  loadOne: (id, context) => findOrder(context, id),
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'receivedVnd' in value,
  authScopes: (order) => ({ account: order.accountId }),
  fields: (t) => ({
    memo: t.exposeString('memo', { description: 'The code that the payer writes into the transfer.' }),
    planId: t.exposeString('planId', { description: 'The plan that was ordered.' }),
    planName: t.exposeString('planName', { description: 'What that plan was called when it was ordered.' }),
    priceVnd: t.expose('priceVnd', {
      type: 'VndAmount',
      description: 'What it costs; with an upgrade, the difference.',
    }),
    budget: t.expose('budget', {
      type: 'UsdAmount',
      description: 'The budget that it buys; with an upgrade, the difference.',
    }),
    validDays: t.exposeInt('validDays', {
      nullable: true,
      description: 'Days from the payment until that budget expires; null: never.',
    }),
    status: t.expose('status', { type: OrderStatusType, description: 'How far it is.' }),
    receivedVnd: t.expose('receivedVnd', { type: 'VndAmount', description: 'What has arrived.' }),
    upgrades: t.id({
      nullable: true,
      description: 'The order whose plan it upgrades.',
      resolve: ({ upgrades }) => (upgrades === null ? null : encodeId('Order', upgrades)),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when the money has to be sent.' }),
    paidAt: t.expose('paidAt', { type: 'DateTime', nullable: true, description: 'When it was paid in full.' }),
    receiptUrl: t.string({
      nullable: true,
      description:
        'A page with its receipt, to print or to save as PDF; `&lang=en` or `&lang=vi` chooses the language. Works for an hour, without a session. Null while it is not paid.',
      resolve: ({ id, status }, _args, { domains }) => (status === 'paid' ? domains.receiptLinks.link(id).url : null),
    }),
    payment: t.field({
      type: PaymentType,
      nullable: true,
      description: 'How to pay it; null once there is nothing to pay any more.',
      resolve: (order, _args, { domains }) => domains.orders.instructions(order),
    }),
    payments: t.loadableList({
      type: OrderPaymentType,
      description: 'The transfers that pay it.',
      load: async (ids: string[], { domains }: GraphqlContext) => {
        const payments = await domains.transfers.ofOrders(ids);
        return ids.map((id) => payments.get(id) ?? []);
      },
      resolve: ({ id }) => id,
    }),
  }),
});

/** An order that the principal sees, or null: for another account's as for none. */
export async function findOrder({ principal, domains }: GraphqlContext, id: string): Promise<Order | null> {
  const order = await domains.orders.findAny(id);
  if (order === null) return null;
  return isOperator(principal) || abilitiesOn(principal, order.accountId).has('read') ? order : null;
}

builder.prismaObjectFields(AccountType, (t) => ({
  orders: t.connection({
    type: OrderType,
    description: 'Orders of the account, newest first. Forward only.',
    select: { id: true },
    resolve: ({ id: accountId }, args, { domains }) =>
      forwardPage(args, (page) => domains.orders.list({ accountId, ...page })),
  }),
}));

builder.queryFields((t) => ({
  order: t.field({
    type: OrderType,
    nullable: true,
    description: 'One order; null when there is none that you may see.',
    authScopes: { reader: true },
    args: { id: t.arg.id({ required: true, description: 'Which order.' }) },
    resolve: (_root, { id }, context) => {
      const orderId = decodeUuid('Order', id);
      return orderId === null ? null : findOrder(context, orderId);
    },
  }),
  orders: t.connection({
    type: OrderType,
    description: 'Orders of all accounts, newest first. Forward only; for operators.',
    authScopes: { operator: true },
    args: {
      status: t.arg({ type: OrderStatusType, description: 'Only orders that are so far.' }),
      memo: t.arg.string({ description: 'Only the order of this memo code, in whatever text it stands.' }),
    },
    resolve: (_root, args, { domains }) =>
      forwardPage(args, (page) =>
        domains.orders.search({
          ...page,
          ...(args.status == null ? {} : { status: args.status }),
          ...(args.memo == null ? {} : { memo: args.memo.slice(0, 4_000) }),
        }),
      ),
  }),
}));

const CreateOrderInput = builder.inputType('CreateOrderInput', {
  description: 'What to buy.',
  fields: (t) => ({
    accountId: t.id({ description: 'For which account; left out: your only or oldest one.' }),
    planId: t.string({ required: true, description: 'Which plan: its id or `planId`.' }),
    upgrades: t.id({
      description: 'A paid order whose plan is to be upgraded: only the difference is paid and given.',
    }),
    idempotencyKey: t.string({ description: 'Asking again with the same key and input gives the same order.' }),
  }),
});

const notUpgradable = {
  not_paid: 'Only a paid order can be upgraded.',
  already_upgraded: 'This order has been upgraded already.',
  not_dearer: 'The plan must cost more and give more than what was paid for so far.',
} as const;

function refuse(outcome: Exclude<CreateOrderOutcome, { order: Order }>): never {
  switch (outcome.kind) {
    case 'unknown_plan':
      throw new NotFoundError('plan');
    case 'unknown_order':
      throw new NotFoundError('order');
    case 'idempotency_conflict':
      throw idempotencyConflict();
    case 'too_many_open_orders':
      throw new ConflictError(
        `There are ${outcome.limit} unpaid orders already; pay or cancel one first.`,
        'TOO_MANY_OPEN_ORDERS',
      );
    case 'not_upgradable':
      throw new ConflictError(notUpgradable[outcome.reason], outcome.reason.toUpperCase());
    default:
      throw new Error(`an order ended in an unknown way: ${String(outcome satisfies never)}`);
  }
}

builder.mutationFields((t) => ({
  createOrder: t.field({
    type: OrderType,
    description: 'Orders a plan, or the upgrade of one. The budget is there once the money is.',
    authScopes: { billing: true },
    errors: { types: [InputError, NotFoundError, NotAllowedError, ConflictError] },
    args: { input: t.arg({ type: CreateOrderInput, required: true, description: 'What to buy.' }) },
    resolve: async (_root, { input }, context) => {
      const accountId = accountFor(context, input.accountId, 'billing');
      const idempotencyKey = checkIdempotencyKey(input.idempotencyKey);
      const upgrades = input.upgrades == null ? null : decodeUuid('Order', input.upgrades);
      if (input.upgrades != null && upgrades === null) throw new NotFoundError('order');
      const outcome = await context.domains.orders.create({
        accountId,
        planId: decodeId('Plan', input.planId) ?? input.planId,
        ...(upgrades === null ? {} : { upgrades }),
        ...(idempotencyKey === null ? {} : { idempotencyKey }),
      });
      return 'order' in outcome ? outcome.order : refuse(outcome);
    },
  }),
  cancelOrder: t.field({
    type: OrderType,
    description: 'Cancels an order that no money has reached.',
    authScopes: { billing: true },
    errors: { types: [NotFoundError, NotAllowedError, ConflictError] },
    args: { id: t.arg.id({ required: true, description: 'Which order.' }) },
    resolve: async (_root, { id }, context) => {
      const orderId = decodeUuid('Order', id);
      const order = orderId === null ? null : await context.domains.orders.findAny(orderId);
      if (order === null || !abilitiesOn(context.principal, order.accountId).has('read'))
        throw new NotFoundError('order');
      requireAbility(context, order.accountId, 'billing');
      const outcome = await context.domains.orders.cancel({ accountId: order.accountId, orderId: order.id });
      if (outcome.kind === 'cancelled') return outcome.order;
      if (outcome.kind === 'unknown_order') throw new NotFoundError('order');
      throw new ConflictError('Money has arrived for this order, or it is over.', 'NOT_CANCELLABLE');
    },
  }),
}));
