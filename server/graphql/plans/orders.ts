import { normalAddress } from '../../accounts/address.ts';
import { abilitiesOn, accountsWith, actorOf, type ControlPrincipal, isOperator } from '../../people/principal.ts';
import type { Transfer } from '../../plans/bank/transfer-rows.ts';
import { findMemos } from '../../plans/memo.ts';
import type { BankAccount, Order } from '../../plans/order.ts';
import type { CreateOrderOutcome, NewOrder, PaymentInstructions } from '../../plans/orders.ts';
import type { OrderStatus } from '../../plans/payment-decision.ts';
import { bankName } from '../../plans/qr/banks.ts';
import type { QrPicture } from '../../plans/qr/qr-pictures.ts';
import { BusyThreadError } from '../../runtime/thread.ts';
import { isUuid } from '../../shared/uuid.ts';
import { accountFor, checkIdempotencyKey, decodeId, decodeUuid, requireAbility } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { OperatorType } from '../operator/operator.ts';
import { containing, writtenVnd } from '../types/containing.ts';
import { storedEnum } from '../types/enums.ts';
import {
  BusyError,
  badInput,
  ConflictError,
  InputError,
  idempotencyConflict,
  NotAllowedError,
  NotFoundError,
  TooManyAttemptsError,
} from '../types/errors.ts';
import { besideCursor, cursorRow, type PageArguments, totalCountText } from '../types/paging.ts';

/** Orders: buying budget by bank transfer. */

const OrderStatusType = storedEnum('OrderStatus', {
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
    bank: t.string({
      description: 'The bank’s name; its digits where it is not known.',
      resolve: ({ bin }) => bankName(bin),
    }),
    account: t.exposeString('account', { description: 'Account number.' }),
    name: t.exposeString('name', { description: 'Whose account it is.' }),
    demonstration: t.boolean({
      description: 'Made up, for trying the service out: nothing can be paid to it.',
      resolve: ({ isDemonstration }) => isDemonstration === true,
    }),
  }),
});

/**
 * The cost of drawing a picture, in fields; a page of orders with their pictures fits, one with several aliases of them
 * does not.
 */
const pictureCost = 150;

async function drawn({ domains }: GraphqlContext, qrPayload: string): Promise<QrPicture> {
  try {
    return await domains.qrPictures.draw(qrPayload);
  } catch (error) {
    if (error instanceof BusyThreadError) throw new BusyError();
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

const OrderPaymentType = builder.objectRef<Transfer>('OrderPayment').implement({
  description: 'A transfer that pays an order, as its payer sees it.',
  authScopes: { public: true },
  fields: (t) => ({
    amountVnd: t.expose('amountVnd', { type: 'VndAmount', description: 'How much arrived.' }),
    bookedAt: t.expose('bookedAt', { type: 'DateTime', description: 'When the bank booked it.' }),
    bankReference: t.exposeString('bankReference', { nullable: true, description: 'The bank’s reference.' }),
  }),
});

/** The sum of the transfers that pay an order, as far as Prisma has to fetch it. */
const payingTransfers = { matches: { select: { transfer: { select: { amountVnd: true } } } } } as const;

function receivedVnd(order: { matches: readonly { transfer: { amountVnd: bigint } }[] }): bigint {
  return order.matches.reduce((sum, { transfer }) => sum + transfer.amountVnd, 0n);
}

/** Orders that the principal sees; those of other accounts count as missing. */
function visibleTo(principal: ControlPrincipal) {
  return isOperator(principal) ? {} : { accountId: { in: accountsWith(principal, 'read') } };
}

export const OrderType = builder.prismaNode('Order', {
  id: { field: 'id' },
  description: 'A purchase of budget. Price and budget are those of the moment it was made.',
  findUnique: (id, { principal }) => ({ id, ...visibleTo(principal) }),
  authScopes: (order) => ({ account: order.accountId }),
  fields: (t) => ({
    memo: t.exposeString('memo', { description: 'The code that the payer writes into the transfer.' }),
    account: t.relation('account', { description: 'The account that ordered.' }),
    plan: t.relation('plan', { description: 'The plan that was ordered, as it is now.' }),
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
    status: t.field({
      type: OrderStatusType,
      nullable: true,
      description: 'How far it is.',
      select: { status: true },
      resolve: ({ status }) => status as OrderStatus,
    }),
    bonus: t.expose('bonus', {
      type: 'UsdAmount',
      description: 'What it gives beside the budget, as a separate grant.',
    }),
    freeAmount: t.exposeBoolean('freeAmount', { description: 'Whether the buyer named the amount.' }),
    giftTo: t.exposeString('giftTo', {
      nullable: true,
      description: 'For whom it is, by id or e-mail address; null: for the buyer.',
    }),
    receivedVnd: t.field({
      type: 'VndAmount',
      description: 'What has arrived.',
      select: payingTransfers,
      resolve: receivedVnd,
    }),
    upgradedOrder: t.prismaField({
      type: 'Order',
      nullable: true,
      description: 'The order whose plan it upgrades.',
      select: { upgrades: true },
      resolve: (query, { upgrades }, _args, { prisma }) =>
        upgrades === null ? null : prisma.order.findUnique({ ...query, where: { id: upgrades } }),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when the money has to be sent.' }),
    paidAt: t.expose('paidAt', { type: 'DateTime', nullable: true, description: 'When it was paid in full.' }),
    receiptUrl: t.string({
      nullable: true,
      description:
        'A page with its receipt; `&format=pdf` and `&format=csv` make it a file, `&lang=en` or `&lang=vi` chooses the language. Works for an hour, without a session. Null while it is not paid.',
      resolve: ({ id, status }, _args, { domains, principal }) =>
        status === 'paid' ? domains.receiptLinks.link(id, actorOf(principal)).url : null,
    }),
    payment: t.field({
      type: PaymentType,
      nullable: true,
      description: 'How to pay it; null once there is nothing to pay any more.',
      select: { memo: true, priceVnd: true, status: true, ...payingTransfers },
      resolve: (order, _args, { domains }) =>
        domains.orders.instructions({
          memo: order.memo,
          priceVnd: order.priceVnd,
          status: order.status as OrderStatus,
          receivedVnd: receivedVnd(order),
        }),
    }),
    payments: t.loadableList({
      type: OrderPaymentType,
      description: 'The transfers that pay it.',
      load: async (ids: string[], { domains }: GraphqlContext) => {
        const payments = await domains.transfers.ofOrders(ids);
        return ids.map((id) => payments.get(id) ?? []);
      },
      resolve: ({ id }: { id: string }) => id,
    }),
  }),
});

/** An order that the principal sees, or null, also for another account's. */
export async function findOrder({ principal, domains }: GraphqlContext, id: string): Promise<Order | null> {
  const order = await domains.orders.findAny(id);
  if (order === null) return null;
  return isOperator(principal) || abilitiesOn(principal, order.accountId).has('read') ? order : null;
}

/** The rows of a page of orders: of one account, or of all under these filters. */
type OrderRows = { parent: { id: string }; args: object } | { parent: object; args: OrderFilters };

const orderEdge = builder.edgeObject({ type: OrderType, name: 'OrderEdge' });
const orderPage = [
  builder.connectionObject(
    {
      type: OrderType,
      name: 'OrderConnection',
      fields: (page) => ({
        totalCount: page.int({
          description: totalCountText,
          // The plugin of Prisma leaves the parent and the arguments of the list on its page.
          resolve: (rows, _args, { prisma }) => {
            const { parent, args } = rows as unknown as OrderRows;
            return prisma.order.count({ where: 'id' in parent ? { accountId: parent.id } : filtered(args) });
          },
        }),
      }),
    },
    orderEdge,
  ),
  orderEdge,
] as const;

builder.prismaObjectFields(AccountType, (t) => ({
  orders: t.relatedConnection(
    'orders',
    {
      cursor: 'id',
      description: 'Orders of the account, newest first.',
      query: (page) => {
        const row = cursorRow(page);
        return {
          // An order of another account is as invalid a cursor of this list as an unknown one.
          ...(row === null ? {} : { where: { account: { orders: { some: { id: row } } } } }),
          orderBy: { id: 'desc' as const },
        };
      },
    },
    ...orderPage,
  ),
}));

const orderFilters = builder.args((t) => ({
  status: t.field({ type: OrderStatusType, description: 'Only orders that are so far.' }),
  memo: t.string({ description: 'Only the order of this memo code, in whatever text it stands.' }),
  search: t.string({
    description:
      'Only orders with this in their memo code, or in the name or e-mail of their account, or of this price.',
  }),
}));

const ShopType = builder.objectRef<{ bank: BankAccount | null }>('Shop').implement({
  description: 'Whether budget can be bought.',
  authScopes: { public: true },
  fields: (t) => ({
    open: t.boolean({
      description: 'Whether orders are taken: there is an account to pay to.',
      resolve: ({ bank }) => bank !== null,
    }),
    demonstration: t.boolean({
      description: 'Whether account and plans are made up, for trying the service out.',
      resolve: ({ bank }) => bank?.isDemonstration === true,
    }),
  }),
});

builder.queryFields((t) => ({
  shop: t.field({
    type: ShopType,
    description: 'Whether budget can be bought here, and whether that is a demonstration.',
    authScopes: { public: true },
    resolve: (_root, _args, { domains }) => ({ bank: domains.orders.bank }),
  }),
  order: t.prismaField({
    type: OrderType,
    nullable: true,
    description: 'One order; null when there is none that you may see.',
    authScopes: { reader: true },
    args: { id: t.arg.id({ required: true, description: 'Which order.' }) },
    resolve: (query, _root, args, { prisma, principal }) => {
      const id = decodeUuid('Order', args.id);
      return id === null ? null : prisma.order.findUnique({ ...query, where: { id, ...visibleTo(principal) } });
    },
  }),
}));

builder.objectField(OperatorType, 'orders', (t) =>
  t.prismaConnection(
    {
      type: OrderType,
      cursor: 'id',
      description: 'Orders of all accounts, newest first.',
      args: orderFilters,
      resolve: (query, _operator, args, context) => listOrders(query, args, context),
    },
    ...orderPage,
  ),
);

type OrderFilters = PageArguments & {
  status?: OrderStatus | null | undefined;
  memo?: string | null | undefined;
  search?: string | null | undefined;
};

function filtered({ status, memo, search }: OrderFilters) {
  return {
    ...(status ? { status } : {}),
    ...(memo == null ? {} : { memo: { in: findMemos(memo.slice(0, 4_000)) } }),
    ...(search == null || search.trim() === '' ? {} : { OR: searched(search.trim().slice(0, 200)) }),
  };
}

function listOrders(query: object, args: OrderFilters, { prisma }: GraphqlContext) {
  return prisma.order.findMany({
    ...query,
    where: besideCursor(filtered(args), cursorRow(args)),
    orderBy: { id: 'desc' },
  });
}

/** What a person remembers of an order. */
function searched(text: string) {
  const contains = containing(text);
  const amount = writtenVnd(text);
  return [
    { memo: contains },
    { account: { name: contains } },
    { account: { email: contains } },
    ...(amount === null ? [] : [{ priceVnd: amount }]),
  ];
}

const CreateOrderInput = builder.inputType('CreateOrderInput', {
  fields: (t) => ({
    accountId: t.id({ description: 'For which account; left out: your only or oldest one.' }),
    planId: t.string({ description: 'Which plan: its id or `planId`. Left out: a free amount.' }),
    amountVnd: t.field({ type: 'VndAmount', description: 'A free amount, as its price; within `topUp`.' }),
    amountUsd: t.field({
      type: 'UsdAmount',
      description: 'A free amount, as its budget in whole cents; within `topUp`.',
    }),
    giftTo: t.string({
      description:
        'The account that gets the budget, by id or e-mail address; left out: the buyer’s. Whether there is such an account is not told: the gift waits 30 days for it, and then goes to the buyer.',
    }),
    upgrades: t.id({
      description: 'A paid order whose plan is to be upgraded: only the difference is paid and given.',
    }),
    idempotencyKey: t.string({ description: 'Asking again with the same key and input gives the same order.' }),
  }),
});

const notUpgradable = {
  not_paid: ['Only a paid order can be upgraded.', 'NOT_PAID'],
  already_upgraded: ['This order has been upgraded already.', 'ALREADY_UPGRADED'],
  refunded: ['Some of what was paid for it went back.', 'REFUNDED'],
  not_dearer: ['The plan must cost more and give more than what was paid for so far.', 'NOT_DEARER'],
} as const;

/** A plan, or an amount that the buyer names: exactly one of them. */
function choiceOf(input: {
  planId?: string | null | undefined;
  amountVnd?: bigint | null | undefined;
  amountUsd?: bigint | null | undefined;
}): Pick<NewOrder, 'planId' | 'amount'> {
  const { planId, amountVnd, amountUsd } = input;
  if ([planId, amountVnd, amountUsd].filter((one) => one != null).length !== 1)
    throw badInput(['input', 'planId'], 'give a plan, an amount in VND, or an amount in USD');
  if (amountVnd != null) return { amount: { vnd: amountVnd } };
  if (amountUsd != null) return { amount: { usd: amountUsd } };
  return { planId: decodeId('Plan', planId ?? '') ?? planId ?? '' };
}

/** The id or address of a gift's receiver, of any account or of none. */
function receiverOf(text: string): string {
  const wanted = text.trim();
  const receiver = decodeUuid('Account', wanted) ?? (isUuid(wanted) ? wanted.toLowerCase() : normalAddress(wanted));
  if (receiver === null) throw badInput(['input', 'giftTo'], 'must be an account’s id or an e-mail address');
  return receiver;
}

function refuse(outcome: Exclude<CreateOrderOutcome, { order: Order }>): never {
  switch (outcome.kind) {
    case 'unknown_plan':
      throw new NotFoundError('plan');
    case 'unknown_order':
      throw new NotFoundError('order');
    case 'gift_of_upgrade':
      throw badInput(['input', 'giftTo'], 'cannot be given with an upgrade');
    case 'not_offered':
      throw new ConflictError(
        outcome.topUp === null
          ? 'Free amounts are not offered.'
          : `The amount must be from ${outcome.topUp.minVnd} to ${outcome.topUp.maxVnd} VND, and whole cents of USD.`,
        'AMOUNT_NOT_OFFERED',
      );
    case 'not_on_sale':
      throw new ConflictError('Nothing can be bought at the moment: no bank account is set up.', 'NOT_ON_SALE');
    case 'idempotency_conflict':
      throw idempotencyConflict();
    case 'too_many_open_orders':
      throw new ConflictError(
        `There are ${outcome.limit} unpaid orders already; pay or cancel one first.`,
        'TOO_MANY_OPEN_ORDERS',
      );
    case 'throttled':
      throw new TooManyAttemptsError(outcome.retryAfterS);
    case 'not_upgradable': {
      const [sentence, code] = notUpgradable[outcome.reason];
      throw new ConflictError(sentence, code);
    }
    default:
      throw new Error(`an order ended in an unknown way: ${String(outcome satisfies never)}`);
  }
}

builder.mutationFields((t) => ({
  createOrder: t.prismaField({
    type: OrderType,
    description: 'Orders a plan, or the upgrade of one. The budget is there once the money is.',
    authScopes: { billing: true },
    errors: { types: [InputError, NotFoundError, NotAllowedError, ConflictError, TooManyAttemptsError] },
    args: { input: t.arg({ type: CreateOrderInput, required: true }) },
    resolve: async (query, _root, { input }, context) => {
      const accountId = accountFor(context, input.accountId, 'billing');
      const idempotencyKey = checkIdempotencyKey(input.idempotencyKey);
      const upgrades = input.upgrades == null ? null : decodeUuid('Order', input.upgrades);
      if (input.upgrades != null && upgrades === null) throw new NotFoundError('order');
      const outcome = await context.domains.orders.create({
        accountId,
        ...choiceOf(input),
        ...(input.giftTo == null ? {} : { giftTo: receiverOf(input.giftTo) }),
        ...(upgrades === null ? {} : { upgrades }),
        ...(idempotencyKey === null ? {} : { idempotencyKey }),
      });
      if (!('order' in outcome)) return refuse(outcome);
      return context.prisma.order.findUniqueOrThrow({ ...query, where: { id: outcome.order.id } });
    },
  }),
  cancelOrder: t.prismaField({
    type: OrderType,
    description: 'Cancels an order that no money has reached.',
    authScopes: { billing: true },
    errors: { types: [NotFoundError, NotAllowedError, ConflictError] },
    args: { id: t.arg.id({ required: true }) },
    resolve: async (query, _root, { id }, context) => {
      const orderId = decodeUuid('Order', id);
      const order = orderId === null ? null : await context.domains.orders.findAny(orderId);
      if (order === null || !abilitiesOn(context.principal, order.accountId).has('read'))
        throw new NotFoundError('order');
      requireAbility(context, order.accountId, 'billing');
      const outcome = await context.domains.orders.cancel({ accountId: order.accountId, orderId: order.id });
      if (outcome.kind === 'cancelled')
        return context.prisma.order.findUniqueOrThrow({ ...query, where: { id: order.id } });
      if (outcome.kind === 'unknown_order') throw new NotFoundError('order');
      throw new ConflictError('Money has arrived for this order, or it is over.', 'NOT_CANCELLABLE');
    },
  }),
}));
