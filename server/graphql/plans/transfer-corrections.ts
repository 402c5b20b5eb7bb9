import { actorOf } from '../../people/principal.ts';
import { type Proposal, proposeOrders } from '../../plans/bank/proposals.ts';
import type { CreditOutcome, UndoOutcome } from '../../plans/corrections.ts';
import { decodeId, decodeUuid } from '../access.ts';
import { builder } from '../builder.ts';
import { reviewCode } from '../types/conflict-texts.ts';
import { ConflictError, NotFoundError } from '../types/errors.ts';
import { OrderType } from './orders.ts';
import { TransferType } from './transfers.ts';

/** Transfers that the matcher found no order for: proposals, a match taken back, an account credited. For operators. */

const ProposalReason = builder.enumType('TransferProposalReason', {
  description: 'Why an order is proposed.',
  values: {
    NEAR_MEMO: { value: 'near_memo', description: 'The text of the transfer holds almost its memo code.' },
    SAME_AMOUNT: { value: 'same_amount', description: 'It waits for exactly this amount.' },
  } satisfies Record<string, { value: Proposal['reason'] } & Record<string, unknown>>,
});

const ProposalType = builder.objectRef<Proposal>('TransferProposal').implement({
  description: 'An order that a transfer may pay.',
  authScopes: { operator: true },
  fields: (t) => ({
    order: t.prismaField({
      type: OrderType,
      description: 'The order.',
      resolve: (query, { orderId }, _args, { prisma }) =>
        prisma.order.findUniqueOrThrow({ ...query, where: { id: orderId } }),
    }),
    reason: t.expose('reason', { type: ProposalReason, description: 'Why it is proposed.' }),
    differences: t.exposeInt('differences', {
      description: 'How many characters of the memo code are missing, added or different.',
    }),
  }),
});

builder.prismaObjectFields(TransferType, (t) => ({
  proposals: t.field({
    type: [ProposalType],
    description: 'Orders that it may pay, the most likely first; empty once it pays one.',
    // Looks at thousands of orders: a page of transfers with their proposals is too much.
    complexity: { field: 2_000, multiplier: 5 },
    resolve: async ({ id }, _args, { db, domains }) => {
      const transfer = await domains.transfers.find(id);
      return transfer === null ? [] : proposeOrders(db, transfer);
    },
  }),
}));

function refuseUndo(outcome: Exclude<UndoOutcome, { kind: 'undone' }>): never {
  switch (outcome.kind) {
    case 'unknown_transfer':
      throw new NotFoundError('transfer');
    case 'not_matched':
      throw new ConflictError('This transfer pays no order.', 'NOT_MATCHED');
    case 'matched_by_memo':
      throw new ConflictError('The payer’s memo names this order: it was not matched by a person.', 'MATCHED_BY_MEMO');
    case 'upgraded':
      throw new ConflictError('Another order upgrades this one.', 'ORDER_UPGRADED');
    case 'refunded':
      throw new ConflictError('Some of the money went back already.', 'REFUNDED');
    case 'used':
      throw outcome.spent > 0n
        ? new ConflictError('Something of its budget is spent already.', 'BUDGET_SPENT')
        : new ConflictError('Something of its budget is held at this moment; try again in a minute.', 'BUDGET_HELD');
    default:
      throw new Error(`an undo ended in an unknown way: ${String(outcome satisfies never)}`);
  }
}

function refuseCredit(outcome: Exclude<CreditOutcome, { kind: 'credited' }>): never {
  switch (outcome.kind) {
    case 'unknown_transfer':
      throw new NotFoundError('transfer');
    case 'unknown_account':
      throw new NotFoundError('account');
    case 'unknown_plan':
      throw new NotFoundError('plan');
    case 'already_matched':
      throw new ConflictError('This transfer pays an order already.', 'ALREADY_MATCHED');
    case 'not_payable':
      throw new ConflictError('This transfer cannot pay anything.', reviewCode(outcome.reason));
    case 'refunded':
      throw new ConflictError('This transfer goes back to whoever sent it.', 'REFUNDED');
    case 'too_little':
      throw new ConflictError('At this plan’s price the amount buys less than a cent.', 'TOO_LITTLE');
    default:
      throw new Error(`a credit ended in an unknown way: ${String(outcome satisfies never)}`);
  }
}

builder.mutationFields((t) => ({
  undoTransferMatch: t.prismaField({
    type: TransferType,
    description:
      'Takes back a match that an operator made, while nothing of its budget is spent: the budget ends, the order waits for its money again, the transfer returns to the queue.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError, ConflictError] },
    args: {
      transferId: t.arg.id({ required: true }),
    },
    resolve: async (query, _root, { transferId }, { domains, principal, prisma }) => {
      const id = decodeUuid('BankTransfer', transferId);
      if (id === null) throw new NotFoundError('transfer');
      const outcome = await domains.transfers.undoMatch({ transferId: id, by: actorOf(principal) });
      if (outcome.kind !== 'undone') return refuseUndo(outcome);
      return prisma.bankTransfer.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  creditTransfer: t.prismaField({
    type: TransferType,
    description:
      'Credits an account with a transfer that belongs to no order: a paid order of exactly this amount, at a plan’s price of a USD.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError, ConflictError] },
    args: {
      transferId: t.arg.id({ required: true }),
      accountId: t.arg.id({ required: true }),
      planId: t.arg.string({
        required: true,
        description: 'The plan whose price of a USD counts: its id or `planId`.',
      }),
    },
    resolve: async (query, _root, { transferId, accountId, planId }, { domains, principal, prisma }) => {
      const id = decodeUuid('BankTransfer', transferId);
      const account = decodeUuid('Account', accountId);
      if (id === null) throw new NotFoundError('transfer');
      if (account === null) throw new NotFoundError('account');
      const outcome = await domains.transfers.creditAccount({
        transferId: id,
        accountId: account,
        planId: decodeId('Plan', planId) ?? planId,
        by: actorOf(principal),
      });
      if (outcome.kind !== 'credited') return refuseCredit(outcome);
      return prisma.bankTransfer.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
}));
