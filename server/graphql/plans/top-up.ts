import { actorOf } from '../../people/principal.ts';
import type { BonusStep, TopUp } from '../../plans/top-up.ts';
import { decodeId } from '../access.ts';
import { builder } from '../builder.ts';
import { badInput, InputError, NotFoundError, refuseInput } from '../types/errors.ts';
import { PlanType } from './plans.ts';

/** Top-ups of a free amount, and the steps of bonuses: what is offered, and how operators change it. */

const TopUpType = builder.objectRef<TopUp>('TopUp').implement({
  description: 'Free amounts that can be bought.',
  authScopes: { public: true },
  fields: (t) => ({
    plan: t.prismaField({
      type: PlanType,
      description: 'The plan whose price of a USD and validity count.',
      resolve: (query, { planId }, _args, { prisma }) =>
        prisma.plan.findUniqueOrThrow({ ...query, where: { id: planId } }),
    }),
    minVnd: t.expose('minVnd', { type: 'VndAmount', description: 'The least amount.' }),
    maxVnd: t.expose('maxVnd', { type: 'VndAmount', description: 'The largest amount.' }),
  }),
});

const BonusStepType = builder.objectRef<BonusStep>('BonusStep').implement({
  description: 'Orders from an amount on get a bonus: budget beside what was bought, as a separate grant.',
  authScopes: { public: true },
  fields: (t) => ({
    fromVnd: t.expose('fromVnd', { type: 'VndAmount', description: 'From which price on.' }),
    basisPoints: t.exposeInt('basisPoints', { description: 'How much of the budget, in hundredths of a percent.' }),
  }),
});

builder.queryFields((t) => ({
  topUp: t.field({
    type: TopUpType,
    nullable: true,
    description: 'The free amounts that can be bought; null: only plans are sold.',
    authScopes: { public: true },
    resolve: (_root, _args, { domains }) => domains.topUp.settings(),
  }),
  bonusSteps: t.field({
    type: [BonusStepType],
    description: 'The steps of bonuses, the lowest first; the highest that an order reaches counts.',
    authScopes: { public: true },
    resolve: (_root, _args, { domains }) => domains.topUp.bonusSteps(),
  }),
}));

const TopUpInput = builder.inputType('TopUpInput', {
  description: 'Free amounts to offer.',
  fields: (t) => ({
    planId: t.string({ required: true, description: 'The plan whose price of a USD and validity count.' }),
    minVnd: t.field({ type: 'VndAmount', required: true, description: 'The least amount.' }),
    maxVnd: t.field({ type: 'VndAmount', required: true, description: 'The largest amount.' }),
  }),
});

const BonusStepInput = builder.inputType('BonusStepInput', {
  description: 'A step of bonuses.',
  fields: (t) => ({
    fromVnd: t.field({ type: 'VndAmount', required: true, description: 'From which price on.' }),
    basisPoints: t.int({ required: true, description: 'How much of the budget, in hundredths of a percent.' }),
  }),
});

const SavedType = builder.objectRef<{ topUp: TopUp | null; bonusSteps: BonusStep[] }>('TopUpSaved').implement({
  description: 'What is offered beside plans now.',
  authScopes: { operator: true },
  fields: (t) => ({
    topUp: t.expose('topUp', { type: TopUpType, nullable: true, description: 'Free amounts; null: none.' }),
    bonusSteps: t.expose('bonusSteps', { type: [BonusStepType], description: 'The steps of bonuses.' }),
  }),
});

builder.mutationFields((t) => ({
  saveTopUp: t.field({
    type: SavedType,
    description: 'Offers free amounts, or none any more.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: { topUp: t.arg({ type: TopUpInput, description: 'Which amounts; null: none. It must be said.' }) },
    resolve: async (_root, { topUp: given }, { domains, principal }) => {
      if (given === undefined) throw badInput(['topUp'], 'say which amounts, or null for none');
      const topUp = given === null ? null : { ...given, planId: decodeId('Plan', given.planId) ?? given.planId };
      const outcome = await domains.topUp.save({ topUp, actor: actorOf(principal) });
      if (outcome.kind === 'unknown_plan') throw new NotFoundError('plan');
      if (outcome.kind === 'invalid') return refuseInput(outcome, {}, ['topUp']);
      return { topUp, bonusSteps: await domains.topUp.bonusSteps() };
    },
  }),
  saveBonusSteps: t.field({
    type: SavedType,
    description: 'Replaces the steps of bonuses. Orders keep the bonus that they were made with.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { steps: t.arg({ type: [BonusStepInput], required: true, description: 'All steps; empty: no bonuses.' }) },
    resolve: async (_root, { steps }, { domains, principal }) => {
      const outcome = await domains.topUp.saveBonus({ steps, actor: actorOf(principal) });
      if (outcome.kind === 'invalid') return refuseInput(outcome, {}, []);
      return { topUp: await domains.topUp.settings(), bonusSteps: await domains.topUp.bonusSteps() };
    },
  }),
}));
