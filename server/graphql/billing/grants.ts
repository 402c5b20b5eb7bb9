import type { Pool } from 'pg';
import { GrantConflict, type GrantKind } from '../../billing/grants.ts';
import { type GrantRecord, listGrants } from '../../billing/reads/usage.ts';
import { actorOf } from '../../people/principal.ts';
import { checkIdempotencyKey, decodeUuid, encodeId } from '../access.ts';
import { builder, type ObjectFields } from '../builder.ts';
import { storedEnum } from '../types/enums.ts';
import { ConflictError, InputError, idempotencyConflict, NotFoundError, refuseInput } from '../types/errors.ts';

/** Grants: budget of an account, and the operators' changes of it. */

export const GrantKindType = storedEnum('GrantKind', {
  description: 'Where a grant comes from.',
  values: {
    TRIAL: { value: 'trial', description: 'The budget that a new account starts with.' },
    PURCHASE: { value: 'purchase', description: 'Bought with a plan.' },
    ADJUSTMENT: { value: 'adjustment', description: 'Given by an operator.' },
    REFUND: { value: 'refund', description: 'Given back.' },
    BONUS: { value: 'bonus', description: 'Given beside a purchase of a certain amount.' },
    CODE: { value: 'code', description: 'Given for a redemption code.' },
  } satisfies Record<string, { value: GrantKind; description: string }>,
});

export const GrantType = builder.objectRef<GrantRecord>('Grant').implement({
  description: 'Budget that was given. What it has left is amount - spent - held - expired.',
  authScopes: { public: true },
  fields: (t) => ({
    id: t.id({ description: 'Id of the grant.', resolve: ({ id }) => encodeId('Grant', id) }),
    kind: t.expose('kind', { type: GrantKindType, nullable: true, description: 'Where it comes from.' }),
    amount: t.expose('amount', { type: 'UsdAmount', description: 'How much was given.' }),
    spent: t.expose('spent', { type: 'UsdAmount', description: 'Charged for finished requests.' }),
    held: t.expose('held', {
      type: 'UsdAmount',
      description: 'Reserved by running requests, and in advance for busy keys until two seconds after their last one.',
    }),
    expired: t.expose('expired', { type: 'UsdAmount', description: 'Lost because its time was over.' }),
    free: t.expose('free', { type: 'UsdAmount', description: 'What is left.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends; null: never.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was given.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why an operator gave it.' }),
  }),
});

interface OfGrant {
  accountId: string;
  grantId: string;
}

const findGrant = async (db: Pool, { accountId, grantId }: OfGrant) =>
  (await listGrants(db, accountId)).find(({ id }) => id === grantId) ?? null;

const grantOf = <Shape extends OfGrant>(t: ObjectFields<Shape>) =>
  t.field({
    type: GrantType,
    nullable: true,
    description: 'The grant.',
    resolve: (of: Shape, _args, { db }) => findGrant(db, of),
  });

interface GrantGiven extends OfGrant {
  givenBefore: boolean;
}

const GrantGivenType = builder.objectRef<GrantGiven>('GrantGiven').implement({
  description: 'A grant that was given by hand.',
  authScopes: { operator: true },
  fields: (t) => ({
    grant: grantOf(t),
    givenBefore: t.exposeBoolean('givenBefore', {
      description: 'True: the idempotency key was used before, and nothing was given now.',
    }),
  }),
});

interface GrantEnded extends OfGrant {
  taken: bigint;
  held: bigint;
}

const GrantEndedType = builder.objectRef<GrantEnded>('GrantEnded').implement({
  description: 'A grant that was ended before its time.',
  authScopes: { operator: true },
  fields: (t) => ({
    grant: grantOf(t),
    taken: t.expose('taken', { type: 'UsdAmount', description: 'What was free of it, and is lost.' }),
    held: t.expose('held', { type: 'UsdAmount', description: 'What running requests may still be charged from it.' }),
  }),
});

const GiveGrantInput = builder.inputType('GiveGrantInput', {
  fields: (t) => ({
    accountId: t.id({ required: true, description: 'To which account.' }),
    amount: t.field({ type: 'UsdAmount', required: true, description: 'How much.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it ends; left out: never.' }),
    reason: t.string({ required: true, description: 'Why; the account holder sees it.' }),
    idempotencyKey: t.string({ description: 'Asking again with the same key gives nothing more.' }),
  }),
});

builder.mutationField('giveGrant', (t) =>
  t.field({
    type: GrantGivenType,
    description: 'Gives an account budget by hand.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError, ConflictError] },
    args: { input: t.arg({ type: GiveGrantInput, required: true }) },
    resolve: async (_root, { input }, context) => {
      const accountId = decodeUuid('Account', input.accountId);
      if (accountId === null) throw new NotFoundError('account');
      const idempotencyKey = checkIdempotencyKey(input.idempotencyKey);
      const outcome = await giveOnce(() =>
        context.domains.accounts.giveGrant({
          accountId,
          amount: input.amount,
          expiresAt: input.expiresAt ?? null,
          reason: input.reason,
          ...(idempotencyKey === null ? {} : { idempotencyKey }),
          actor: actorOf(context.principal),
        }),
      );
      if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      const given = { accountId, grantId: outcome.grantId };
      const givenBefore = outcome.kind === 'given_before';
      const before = givenBefore ? await findGrant(context.db, given) : null;
      if (before !== null && !isWhatWasGiven(before, input)) throw idempotencyConflict();
      return { ...given, givenBefore };
    },
  }),
);

const EndGrantInput = builder.inputType('EndGrantInput', {
  fields: (t) => ({
    accountId: t.id({ required: true, description: 'Of which account.' }),
    grantId: t.id({ required: true, description: 'Which grant.' }),
    reason: t.string({ required: true, description: 'Why; it is kept in the audit log.' }),
  }),
});

builder.mutationField('endGrant', (t) =>
  t.field({
    type: GrantEndedType,
    description:
      'Takes back what is unspent of a grant: it ends now. Running requests keep what they hold of it, and what they give back is lost too.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError, ConflictError] },
    args: { input: t.arg({ type: EndGrantInput, required: true }) },
    resolve: async (_root, { input }, context) => {
      const accountId = decodeUuid('Account', input.accountId);
      const grantId = decodeUuid('Grant', input.grantId);
      if (accountId === null || grantId === null) throw new NotFoundError('grant');
      const { reason } = input;
      const actor = actorOf(context.principal);
      const outcome = await context.domains.accounts.endGrant({ accountId, grantId, reason, actor });
      if (outcome.kind === 'unknown_grant') throw new NotFoundError('grant');
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      if (outcome.kind === 'over') throw new ConflictError('Nothing is left of this grant.');
      return { accountId, grantId, taken: outcome.free, held: outcome.held };
    },
  }),
);

/** Amounts are compared where the grant is written. A past end says nothing: the grant may have been ended since. */
function isWhatWasGiven(
  given: { reason: string | null; expiresAt: Date | null },
  asked: { reason: string; expiresAt?: Date | null | undefined },
): boolean {
  const over = given.expiresAt !== null && given.expiresAt.getTime() <= Date.now();
  return given.reason === asked.reason && (over || given.expiresAt?.getTime() === asked.expiresAt?.getTime());
}

/** The same idempotency key with another amount is a mistake of the caller. */
async function giveOnce<T>(give: () => Promise<T>): Promise<T> {
  try {
    return await give();
  } catch (error) {
    if (error instanceof GrantConflict) throw idempotencyConflict();
    throw error;
  }
}
