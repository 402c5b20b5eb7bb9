import { actorOf, isOperator } from '../../people/principal.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { OperatorType } from '../operator/operator.ts';
import { InputError, refuseInput } from '../types/errors.ts';

/** Plans: the prices of budget. */

const picoPerUsd = 1_000_000_000_000n;

export const PlanType = builder.prismaNode('Plan', {
  id: { field: 'id' },
  description: 'Budget in USD that is sold for VND.',
  findUnique: (id, { principal }) => ({ id, ...(isOperator(principal) ? {} : { enabled: true }) }),
  authScopes: { public: true },
  fields: (t) => ({
    planId: t.exposeString('id', { description: 'What the operator calls it, e.g. `starter`.' }),
    name: t.exposeString('name', { description: 'What people read.' }),
    priceVnd: t.expose('priceVnd', { type: 'VndAmount', description: 'What it costs.' }),
    budget: t.expose('budget', { type: 'UsdAmount', description: 'The budget that it buys.' }),
    vndPerUsd: t.field({
      type: 'VndAmount',
      description: 'What one USD of budget costs, rounded up to whole VND.',
      resolve: ({ priceVnd, budget }) => (priceVnd * picoPerUsd + budget - 1n) / budget,
    }),
    validDays: t.exposeInt('validDays', {
      nullable: true,
      description: 'Days until the bought budget expires; null: never.',
    }),
    onSale: t.exposeBoolean('enabled', { description: 'Whether it can be ordered.' }),
  }),
});

/** The plans of these ids, in one query. */
export async function loadPlans(ids: string[], { prisma }: GraphqlContext) {
  const plans = await prisma.plan.findMany({ where: { id: { in: ids } } });
  const byId = new Map(plans.map((plan) => [plan.id, plan]));
  return ids.map((id) => byId.get(id) ?? null);
}

builder.queryField('plans', (t) =>
  t.prismaField({
    type: [PlanType],
    description: 'The plans on sale, the cheapest first.',
    authScopes: { public: true },
    resolve: (query, _root, _args, { prisma }) =>
      prisma.plan.findMany({
        ...query,
        where: { enabled: true },
        orderBy: [{ priceVnd: 'asc' }, { id: 'asc' }],
      }),
  }),
);

builder.objectField(OperatorType, 'plans', (t) =>
  t.prismaField({
    type: [PlanType],
    description: 'All plans, on sale or not, the cheapest first.',
    resolve: (query, _operator, _args, { prisma }) =>
      prisma.plan.findMany({ ...query, orderBy: [{ priceVnd: 'asc' }, { id: 'asc' }] }),
  }),
);

const SavePlanInput = builder.inputType('SavePlanInput', {
  description: 'A plan. Orders that were made before keep their price and budget.',
  fields: (t) => ({
    planId: t.string({
      required: true,
      description: 'Lower-case letters, digits and hyphens; an existing one is changed.',
    }),
    name: t.string({ required: true, description: 'What people read.' }),
    priceVnd: t.field({ type: 'VndAmount', required: true, description: 'What it costs.' }),
    budget: t.field({ type: 'UsdAmount', required: true, description: 'The budget that it buys.' }),
    validDays: t.int({ description: 'Days until the bought budget expires; left out: never.' }),
    onSale: t.boolean({ defaultValue: true, description: 'Whether it can be ordered.' }),
  }),
});

builder.mutationField('savePlan', (t) =>
  t.prismaField({
    type: PlanType,
    description: 'Creates or changes a plan.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { input: t.arg({ type: SavePlanInput, required: true }) },
    resolve: async (query, _root, { input }, { domains, prisma, principal }) => {
      const { planId, name, priceVnd, budget, validDays, onSale } = input;
      const plan = { id: planId, name, priceVnd, budget, validDays: validDays ?? null, enabled: onSale ?? true };
      const outcome = await domains.plans.save({ plan, actor: actorOf(principal) });
      if (outcome.kind === 'invalid') return refuseInput(outcome, { id: 'planId', enabled: 'onSale' });
      return prisma.plan.findUniqueOrThrow({ ...query, where: { id: planId } });
    },
  }),
);
