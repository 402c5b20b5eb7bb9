import { z } from 'zod';
import { actorOf, isOperator } from '../../people/principal.ts';
import type { Transfer } from '../../plans/bank/transfer-rows.ts';
import type { MatchOutcome, Transfers } from '../../plans/bank/transfers.ts';
import type { ReviewReason } from '../../plans/payment-decision.ts';
import { checkInput, shownText, shownTextOrNothing } from '../../shared/input.ts';
import { decodeUuid, noSuchId } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { loadActorNames } from '../operator/actors.ts';
import { OperatorType } from '../operator/operator.ts';
import { type ConflictCode, reviewCode } from '../types/conflict-texts.ts';
import { containing, writtenVnd } from '../types/containing.ts';
import { storedEnum, wordValues } from '../types/enums.ts';
import { badInput, ConflictError, InputError, NotFoundError, refuseInput } from '../types/errors.ts';
import { besideCursor, cursorRow, type PageArguments, totalCountText } from '../types/paging.ts';
import { OrderType } from './orders.ts';

/** Bank transfers, for operators. A payer's view of them is part of the order. */

const TransferDirection = storedEnum('TransferDirection', {
  description: 'Which way money went.',
  values: {
    IN: { value: 'in', description: 'To us.' },
    OUT: { value: 'out', description: 'Away from us.' },
  } satisfies Record<string, { value: Transfer['direction']; description: string }>,
});

export const ReviewReasonType = storedEnum('TransferReviewReason', {
  description: 'Why a transfer waits for a person.',
  values: {
    NO_MEMO: { value: 'no_memo', description: 'Its text has no valid memo code.' },
    UNKNOWN_MEMO: { value: 'unknown_memo', description: 'Its memo code is of no order.' },
    SEVERAL_MEMOS: { value: 'several_memos', description: 'It names several orders.' },
    LATE: { value: 'late', description: 'The order had expired when the money was sent.' },
    ORDER_PAID: { value: 'order_paid', description: 'The order was paid already.' },
    ORDER_CANCELLED: { value: 'order_cancelled', description: 'The order had been cancelled.' },
    OUTGOING: { value: 'outgoing', description: 'Money went away from us.' },
    NO_AMOUNT: { value: 'no_amount', description: 'The amount is zero.' },
    OTHER_ACCOUNT: { value: 'other_account', description: 'It went to an account that is not ours.' },
    REPEATED: {
      value: 'repeated',
      description: 'The same movement was reported before under another id, surely or perhaps.',
    },
    SURPLUS: { value: 'surplus', description: 'The order was paid, and more.' },
    SHORT: { value: 'short', description: 'The order expired before it was paid in full.' },
  } satisfies Record<string, { value: ReviewReason; description: string }>,
});

const ReviewType = builder.prismaObject('TransferReview', {
  description: 'Why a transfer waits, or waited, for a person.',
  authScopes: { operator: true },
  fields: (t) => ({
    reason: t.field({
      type: ReviewReasonType,
      nullable: true,
      description: 'Why.',
      select: { reason: true },
      resolve: ({ reason }) => reason as ReviewReason,
    }),
    surplusVnd: t.expose('surplusVnd', {
      type: 'VndAmount',
      nullable: true,
      description: 'How much more than the price arrived.',
    }),
    closedAt: t.expose('closedAt', { type: 'DateTime', nullable: true, description: 'When somebody dealt with it.' }),
    closedBy: t.exposeString('closedBy', { nullable: true, description: 'Who dealt with it.' }),
    note: t.exposeString('note', { nullable: true, description: 'What was done about it.' }),
  }),
});

type TransferSource = 'sepay' | 'casso' | 'payos' | 'operator';

const TransferSourceType = storedEnum('TransferSource', {
  description: 'Who reported a transfer.',
  values: wordValues<TransferSource>({
    sepay: 'SePay.',
    casso: 'Casso.',
    payos: 'payOS.',
    operator: 'An operator, by hand.',
  }),
});

export const TransferType = builder.prismaNode('BankTransfer', {
  id: { field: 'id' },
  description: 'Money that moved at the bank.',
  findUnique: (id, { principal }) => ({ id: isOperator(principal) ? id : noSuchId }),
  authScopes: { operator: true },
  fields: (t) => ({
    source: t.field({
      type: TransferSourceType,
      nullable: true,
      description: 'Who reported it.',
      select: { provider: true },
      resolve: ({ provider }) => provider as TransferSource,
    }),
    providerId: t.exposeString('providerId', { description: 'The provider’s own id.' }),
    bankReference: t.exposeString('bankReference', { nullable: true, description: 'The bank’s reference.' }),
    direction: t.field({
      type: TransferDirection,
      nullable: true,
      description: 'Which way the money went.',
      select: { direction: true },
      resolve: ({ direction }) => direction as Transfer['direction'],
    }),
    amountVnd: t.expose('amountVnd', { type: 'VndAmount', description: 'How much.' }),
    memo: t.exposeString('memo', { description: 'What the payer wrote, as the bank delivered it.' }),
    bookedAt: t.expose('bookedAt', { type: 'DateTime', description: 'When the bank booked it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When we heard of it.' }),
    order: t.field({
      type: OrderType,
      nullable: true,
      description: 'The order that it pays.',
      select: (_args, _context, nested) => ({ match: { select: { order: nested() } } }),
      resolve: ({ match: paid }) => paid?.order ?? null,
    }),
    matchedBy: t.string({
      nullable: true,
      description: '`matcher`, or the operator who matched it.',
      select: { match: { select: { matchedBy: true } } },
      resolve: ({ match: paid }) => paid?.matchedBy ?? null,
    }),
    matchedByName: t.loadable({
      type: 'String',
      nullable: true,
      description: 'The e-mail address of the operator who matched it; null: the matcher, or nobody.',
      load: loadMatchers,
      resolve: ({ id }) => id,
    }),
    review: t.relation('review', {
      type: ReviewType,
      nullable: true,
      description: 'Why it waits for a person, if it does.',
    }),
  }),
});

/** The addresses of those who matched these transfers. */
async function loadMatchers(transferIds: string[], context: GraphqlContext): Promise<(string | null)[]> {
  const matches = await context.prisma.transferMatch.findMany({
    where: { transferId: { in: transferIds } },
    select: { transferId: true, matchedBy: true },
  });
  const names = await loadActorNames(
    matches.map(({ matchedBy }) => matchedBy),
    context,
  );
  const byTransfer = new Map(matches.map(({ transferId }, index) => [transferId, names[index] ?? null]));
  return transferIds.map((id) => byTransfer.get(id) ?? null);
}

/** Rows of these ids, in one query. */
function byIds<Row extends { id: string }>(load: (ids: string[], context: GraphqlContext) => Promise<Row[]>) {
  return async (ids: string[], context: GraphqlContext): Promise<(Row | null)[]> => {
    const rows = new Map((await load(ids, context)).map((row) => [row.id, row]));
    return ids.map((id) => rows.get(id) ?? null);
  };
}

builder.prismaObjectFields(ReviewType, (t) => ({
  order: t.loadable({
    type: OrderType,
    nullable: true,
    description: 'The order that it seems to be about.',
    load: byIds((ids, { prisma }) => prisma.order.findMany({ where: { id: { in: ids } } })),
    resolve: ({ orderId }) => orderId,
  }),
  repeats: t.loadable({
    type: TransferType,
    nullable: true,
    description: 'The transfer that reported the movement first.',
    load: byIds((ids, { prisma }) => prisma.bankTransfer.findMany({ where: { id: { in: ids } } })),
    resolve: ({ repeatsId }) => repeatsId,
  }),
}));

const queueText = 'Only those that wait for a person.';
const queued = { review: { closedAt: null } };

/** Transfers whose text or reference contains a text, or whose amount it is. */
function searched(text: string | null | undefined) {
  const wanted = (text ?? '').trim();
  if (wanted === '') return {};
  const [contains, amount] = [containing(wanted), writtenVnd(wanted)];
  return {
    OR: [{ memo: contains }, { bankReference: contains }, ...(amount === null ? [] : [{ amountVnd: amount }])],
  };
}

const wantedTransfers = (args: { queue?: boolean | null | undefined; search?: string | null | undefined }) => ({
  ...(args.queue === true ? queued : {}),
  ...searched(args.search),
});

builder.objectField(OperatorType, 'bankTransfers', (t) =>
  t.prismaConnection(
    {
      type: TransferType,
      cursor: 'id',
      description: 'Bank transfers, newest first.',
      args: {
        queue: t.arg.boolean({ defaultValue: false, description: queueText }),
        search: t.arg.string({ description: 'Part of the text or of the bank’s reference, or the amount.' }),
      },
      resolve: (query, _operator, args, context) => listTransfers(query, args, context),
    },
    {
      name: 'BankTransferConnection',
      fields: (page) => ({
        totalCount: page.int({
          description: totalCountText,
          resolve: ({ args }, _args, { prisma }) => prisma.bankTransfer.count({ where: wantedTransfers(args) }),
        }),
      }),
    },
    { name: 'BankTransferEdge' },
  ),
);

function listTransfers(
  query: object,
  { queue, search, ...page }: PageArguments & Parameters<typeof wantedTransfers>[0],
  { prisma }: GraphqlContext,
) {
  return prisma.bankTransfer.findMany({
    ...query,
    where: besideCursor(wantedTransfers({ queue, search }), cursorRow(page)),
    orderBy: { id: 'desc' },
  });
}

const refusals: Partial<Record<MatchOutcome['kind'], [sentence: string, code: ConflictCode]>> = {
  already_matched: ['This transfer pays an order already.', 'ALREADY_MATCHED'],
  upgrade_superseded: ['Another upgrade of the same order was made meanwhile.', 'UPGRADE_SUPERSEDED'],
  refunded: ['This transfer goes back to whoever sent it.', 'REFUNDED'],
};

async function match(
  transfers: Transfers,
  input: { transferId: string | null; orderId: string | null; by: string },
): Promise<string> {
  const { transferId, orderId, by } = input;
  if (transferId === null) throw new NotFoundError('transfer');
  if (orderId === null) throw new NotFoundError('order');
  const outcome = await transfers.matchByHand({ transferId, orderId, by });
  if (outcome.kind === 'unknown_transfer') throw new NotFoundError('transfer');
  if (outcome.kind === 'unknown_order') throw new NotFoundError('order');
  if (outcome.kind === 'not_payable')
    throw new ConflictError('This transfer cannot pay this order.', reviewCode(outcome.reason));
  const refused = refusals[outcome.kind];
  if (refused !== undefined) throw new ConflictError(...refused);
  return transferId;
}

builder.mutationField('matchTransfer', (t) =>
  t.prismaField({
    type: TransferType,
    description: 'Lays a transfer beside an order: the order is paid when its transfers reach its price.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError, ConflictError] },
    args: {
      transferId: t.arg.id({ required: true }),
      orderId: t.arg.id({ required: true }),
    },
    resolve: async (query, _root, { transferId, orderId }, { domains, principal, prisma }) => {
      const id = await match(domains.transfers, {
        transferId: decodeUuid('BankTransfer', transferId),
        orderId: decodeUuid('Order', orderId),
        by: actorOf(principal),
      });
      return prisma.bankTransfer.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
);

const CloseTransferReviewInput = builder.inputType('CloseTransferReviewInput', {
  fields: (t) => ({
    transferId: t.id({ required: true, description: 'Which transfer.' }),
    note: t.string({ required: true, description: 'What was done about it.' }),
  }),
});

builder.mutationField('closeTransferReview', (t) =>
  t.prismaField({
    type: TransferType,
    description: 'Takes a transfer out of the queue, with a note on what was done about it.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError, ConflictError] },
    args: {
      input: t.arg({ type: CloseTransferReviewInput, required: true }),
    },
    resolve: async (query, _root, { input: { transferId, note } }, { domains, principal, prisma }) => {
      const problem = checkInput(z.object({ note: shownText(500) }), { note });
      if (problem !== null) throw badInput('input.note', `note ${problem.message}.`);
      const id = decodeUuid('BankTransfer', transferId);
      const closed =
        id !== null && (await domains.transfers.closeReview({ transferId: id, by: actorOf(principal), note }));
      const transfer = id === null ? null : await prisma.bankTransfer.findUnique({ ...query, where: { id } });
      if (transfer === null) throw new NotFoundError('transfer');
      if (!closed) throw new ConflictError('This transfer does not wait for anybody.', 'NOT_IN_QUEUE');
      return transfer;
    },
  }),
);

const RecordTransferInput = builder.inputType('RecordTransferInput', {
  fields: (t) => ({
    bankReference: t.string({ required: true, description: 'The bank’s reference: the same one is recorded once.' }),
    amountVnd: t.field({ type: 'VndAmount', required: true, description: 'How much arrived.' }),
    memo: t.string({ required: true, description: 'What the payer wrote.' }),
    bookedAt: t.field({ type: 'DateTime', required: true, description: 'When the bank booked it.' }),
  }),
});

/** Statements name days, and days begin earlier in other time zones. */
const aheadMs = 86_400_000;

/** What an operator reads off a bank statement. */
const statementShape = z.object({
  bankReference: shownText(100),
  memo: shownTextOrNothing(1_000),
  bookedAt: z
    .date()
    .refine((at) => at.getTime() <= Date.now() + aheadMs, 'must not be in the future: the bank has booked it'),
});

const isSame = (recorded: Transfer, told: Pick<Transfer, 'amountVnd' | 'memo' | 'bookedAt'>): boolean =>
  recorded.amountVnd === told.amountVnd &&
  recorded.memo === told.memo &&
  recorded.bookedAt.getTime() === told.bookedAt.getTime();

builder.mutationField('recordTransfer', (t) =>
  t.prismaField({
    type: TransferType,
    description: 'Records an incoming transfer by hand; it is matched by its memo like any other.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { input: t.arg({ type: RecordTransferInput, required: true }) },
    resolve: async (query, _root, { input }, { domains, principal, prisma }) => {
      const { bankReference, memo, bookedAt } = input;
      const problem = checkInput(statementShape, { bankReference, memo, bookedAt });
      if (problem !== null) return refuseInput(problem);
      const { kind, transferId } = await domains.transfers.receive(
        {
          ...input,
          provider: 'operator',
          providerId: input.bankReference,
          direction: 'in',
          accountNumbers: [],
        },
        { recordedBy: actorOf(principal) },
      );
      const transfer = await domains.transfers.find(transferId);
      if (transfer === null) throw new Error('a transfer that was just recorded is missing');
      // Accepted as recorded, a different amount would pass for money that has arrived.
      if (kind === 'duplicate' && !isSame(transfer, input))
        throw badInput(
          'input.bankReference',
          'A transfer with this bankReference is recorded already, and says something else.',
        );
      return prisma.bankTransfer.findUniqueOrThrow({ ...query, where: { id: transferId } });
    },
  }),
);
