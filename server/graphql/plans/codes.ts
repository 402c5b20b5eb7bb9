import { actorOf } from '../../people/principal.ts';
import { networkOf } from '../../people/sign-in/throttle.ts';
import type { CodeBatch, CodeRedemption } from '../../plans/codes.ts';
import { accountFor, decodeId, decodeUuid, encodeId } from '../access.ts';
import { AccountType, loadAccounts } from '../accounts/accounts.ts';
import { builder } from '../builder.ts';
import { OperatorType } from '../operator/operator.ts';
import { keysetPage, pageFields, type Report, reportEdge } from '../reports.ts';
import {
  ConflictError,
  InputError,
  NotAllowedError,
  NotFoundError,
  refuseInput,
  TooManyAttemptsError,
} from '../types/errors.ts';
import { loadPlans, PlanType } from './plans.ts';

/** Redemption codes: redeemed by accounts, made and ended by operators. */

const CodeBatchType = builder.objectRef<CodeBatch>('CodeBatch').implement({
  description: 'Redemption codes that were made together. The codes themselves are shown once, when they are made.',
  authScopes: { operator: true },
  fields: (t) => ({
    id: t.id({ description: 'Id of the batch.', resolve: ({ id }) => encodeId('CodeBatch', id) }),
    name: t.exposeString('name', { description: 'What the operator calls it.' }),
    amount: t.expose('amount', { type: 'UsdAmount', description: 'What each redemption gives.' }),
    validDays: t.exposeInt('validDays', { nullable: true, description: 'Days until that expires; null: never.' }),
    plan: t.loadable({
      type: PlanType,
      nullable: true,
      description: 'The plan whose budget it gives; null: an amount was given.',
      load: loadPlans,
      resolve: ({ planId }) => planId,
    }),
    count: t.exposeInt('count', { description: 'How many codes there are.' }),
    uses: t.exposeInt('uses', { description: 'How many accounts can redeem each of them.' }),
    used: t.exposeInt('used', { description: 'Redemptions so far, of all codes together.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'Until when; null: no end.' }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When it was ended early.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
});

const CodeRedemptionType = builder.objectRef<CodeRedemption>('CodeRedemption').implement({
  description: 'An account that redeemed a code.',
  authScopes: { operator: true },
  fields: (t) => ({
    account: t.loadable({
      type: AccountType,
      nullable: true,
      description: 'The account; null: it was erased.',
      load: loadAccounts,
      resolve: ({ accountId }) => accountId,
    }),
    last4: t.exposeString('last4', { description: 'How the code ends.' }),
    redeemedAt: t.expose('redeemedAt', { type: 'DateTime', description: 'When it redeemed the code.' }),
  }),
});

const CodesCreatedType = builder.objectRef<{ batch: CodeBatch; codes: string[] }>('CodesCreated').implement({
  description: 'New codes. They cannot be shown again.',
  authScopes: { operator: true },
  fields: (t) => ({
    batch: t.expose('batch', { type: CodeBatchType, description: 'The batch.' }),
    codes: t.exposeStringList('codes', { description: 'The codes: keep them, only digests are stored.' }),
  }),
});

const RedeemedType = builder.objectRef<{ grantId: string; amount: bigint; again: boolean }>('CodeRedeemed').implement({
  description: 'A code that was redeemed.',
  authScopes: { public: true },
  fields: (t) => ({
    grantId: t.id({ description: 'The grant.', resolve: ({ grantId }) => encodeId('Grant', grantId) }),
    amount: t.expose('amount', { type: 'UsdAmount', description: 'What it gave.' }),
    again: t.exposeBoolean('again', {
      description: 'True: the account had redeemed it before, and got nothing more now.',
    }),
  }),
});

const CreateCodesInput = builder.inputType('CreateCodesInput', {
  description: 'Redemption codes to make. Either an amount or a plan is given.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What they are for; operators see it.' }),
    count: t.int({ required: true, description: 'How many codes, at most 1000.' }),
    uses: t.int({ defaultValue: 1, description: 'How many accounts can redeem each.' }),
    amount: t.field({ type: 'UsdAmount', description: 'What each redemption gives.' }),
    planId: t.string({ description: 'The plan whose budget and validity each redemption gives.' }),
    validDays: t.int({ description: 'Days until what was given expires; left out: never.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'Until when they can be redeemed; left out: no end.' }),
  }),
});

const batchEdge = reportEdge('CodeBatchEdge', CodeBatchType);
const CodeBatchPageType = builder.objectRef<Report<CodeBatch>>('CodeBatchConnection').implement({
  authScopes: { operator: true },
  fields: (t) => pageFields(t, { row: CodeBatchType, edge: batchEdge }),
});

const redemptionEdge = reportEdge('CodeRedemptionEdge', CodeRedemptionType);
const CodeRedemptionPageType = builder.objectRef<Report<CodeRedemption>>('CodeRedemptionConnection').implement({
  authScopes: { operator: true },
  fields: (t) => pageFields(t, { row: CodeRedemptionType, edge: redemptionEdge }),
});

const pageArguments = builder.args((t) => ({
  first: t.int({ defaultValue: 50 }),
  after: t.string(),
}));

builder.objectFields(OperatorType, (t) => ({
  codeBatches: t.field({
    type: CodeBatchPageType,
    description: 'Batches of redemption codes, newest first.',
    args: pageArguments,
    resolve: (_operator, args, { domains }) =>
      keysetPage(args, { ids: 1, keyOf: ({ createdAt, id }) => ({ at: createdAt, ids: [id] }) }, domains.codes.list),
  }),
  codeRedemptions: t.field({
    type: CodeRedemptionPageType,
    nullable: true,
    description: 'Who redeemed codes of a batch, newest first. Null: there is no such batch.',
    args: { batchId: t.arg.id({ required: true, description: 'Which batch.' }), ...pageArguments },
    resolve: async (_operator, { batchId, ...args }, { domains }) => {
      const id = decodeUuid('CodeBatch', batchId);
      if (id === null || !(await domains.codes.hasBatch(id))) return null;
      return keysetPage(
        args,
        {
          ids: 2,
          keyOf: ({ redeemedAt, codeId, accountId }) => ({ at: redeemedAt, ids: [codeId, accountId] }),
        },
        (range) => domains.codes.redemptions(id, range),
      );
    },
  }),
}));

const RedeemCodeInput = builder.inputType('RedeemCodeInput', {
  fields: (t) => ({
    code: t.string({ required: true, description: 'The code, in any spelling.' }),
    accountId: t.id({ description: 'For which account; left out: your only or oldest one.' }),
  }),
});

builder.mutationFields((t) => ({
  redeemCode: t.field({
    type: RedeemedType,
    description: 'Redeems a code for an account, once. Attempts are limited by person and by network.',
    authScopes: { billing: true },
    errors: { types: [NotFoundError, NotAllowedError, ConflictError, TooManyAttemptsError] },
    args: { input: t.arg({ type: RedeemCodeInput, required: true }) },
    resolve: async (_root, { input: { code, accountId } }, context) => {
      const outcome = await context.domains.codes.redeem({
        code,
        accountId: accountFor(context, accountId, 'billing'),
        actor: actorOf(context.principal),
        network: networkOf(context.ip),
      });
      if (outcome.kind === 'throttled') throw new TooManyAttemptsError(outcome.retryAfterS);
      if (outcome.kind === 'invalid_code')
        throw new ConflictError('This code is unknown, used up or over.', 'INVALID_REDEMPTION_CODE');
      return outcome;
    },
  }),
  createCodes: t.field({
    type: CodesCreatedType,
    description: 'Makes redemption codes. They are shown once.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: { input: t.arg({ type: CreateCodesInput, required: true }) },
    resolve: async (_root, { input }, { domains, principal }) => {
      const outcome = await domains.codes.create({
        name: input.name,
        count: input.count,
        uses: input.uses ?? 1,
        amount: input.amount ?? null,
        planId: input.planId == null ? null : (decodeId('Plan', input.planId) ?? input.planId),
        validDays: input.validDays ?? null,
        expiresAt: input.expiresAt ?? null,
        actor: actorOf(principal),
      });
      if (outcome.kind === 'unknown_plan') throw new NotFoundError('plan');
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      return outcome;
    },
  }),
  revokeCodes: t.field({
    type: CodeBatchType,
    description: 'Ends a batch of redemption codes; what was redeemed stays.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError] },
    args: { batchId: t.arg.id({ required: true }) },
    resolve: async (_root, { batchId }, { domains, principal }) => {
      const id = decodeUuid('CodeBatch', batchId);
      const batch = id === null ? null : await domains.codes.revoke({ batchId: id, actor: actorOf(principal) });
      if (batch === null) throw new NotFoundError('open batch');
      return batch;
    },
  }),
}));
