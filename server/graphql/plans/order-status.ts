import type { Order } from '../../plans/order.ts';
import { decodeUuid } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { pause } from '../notices/watching.ts';
import { NotFoundError } from '../types/errors.ts';
import { findOrder, OrderType } from './orders.ts';

/** Orders as they change, as server-sent events. */

/** Polling interval of a watched order. */
const watchIntervalMs = 1_000;

const isOver = ({ status }: Order) => status === 'paid' || status === 'expired' || status === 'cancelled';

/** The order as it is, then after every change, until it is final or the client disconnects. */
async function* watchOrder(context: GraphqlContext, first: Order): AsyncGenerator<Order> {
  let shown = first;
  yield shown;
  while (!isOver(shown) && (await pause(watchIntervalMs, context.signal))) {
    const now = await findOrder(context, first.id);
    if (now === null) return;
    if (now.status === shown.status && now.receivedVnd === shown.receivedVnd) continue;
    shown = now;
    yield shown;
  }
}

builder.subscriptionField('orderStatus', (t) =>
  t.prismaField({
    type: OrderType,
    description: 'An order as it is now, and again at every change, until it is paid, expired or cancelled.',
    authScopes: { reader: true },
    args: { id: t.arg.id({ required: true, description: 'Which order.' }) },
    subscribe: async (_root, { id }, context) => {
      const orderId = decodeUuid('Order', id);
      const order = orderId === null ? null : await findOrder(context, orderId);
      if (order === null) throw new NotFoundError('order');
      return watchOrder(context, order);
    },
    resolve: (query, order, _args, { prisma }) => prisma.order.findUniqueOrThrow({ ...query, where: { id: order.id } }),
  }),
);
