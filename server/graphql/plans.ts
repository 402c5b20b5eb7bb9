import { repeatedTransaction } from '../database/lane.ts';
import { actorOf, isOperator } from '../people/principal.ts';
import { findPlan, listPlans, type Plan, savePlan } from '../plans/plans.ts';
import { builder } from './builder.ts';
import { badInput, InputError } from './errors.ts';

/** Plans: what budget costs. */

const PlanType = builder.objectRef<Plan>('Plan');

const picoPerUsd = 1_000_000_000_000n;

builder.node(PlanType, {
  name: 'Plan',
  description: 'Budget in USD that is sold for VND.',
  id: { resolve: ({ id }) => id },
  loadOne: async (id, { db, principal }) => {
    const plan = await findPlan(db, id);
    return plan !== null && (plan.enabled || isOperator(principal)) ? plan : null;
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'priceVnd' in value && !('memo' in value),
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

builder.queryField('plans', (t) =>
  t.field({
    type: [PlanType],
    description: 'The plans on sale, the cheapest first.',
    authScopes: { public: true },
    args: {
      all: t.arg.boolean({ defaultValue: false, description: 'Those not on sale as well; for operators.' }),
    },
    resolve: (_root, { all }, { db, principal }) => listPlans(db, { all: all === true && isOperator(principal) }),
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

const argumentOf: Partial<Record<keyof Plan, string>> = { id: 'planId', enabled: 'onSale' };

builder.mutationField('savePlan', (t) =>
  t.field({
    type: PlanType,
    description: 'Creates or changes a plan.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { input: t.arg({ type: SavePlanInput, required: true, description: 'The plan.' }) },
    resolve: async (_root, { input }, { db, principal }) => {
      const { planId, name, priceVnd, budget, validDays, onSale } = input;
      const plan = { id: planId, name, priceVnd, budget, validDays: validDays ?? null, enabled: onSale ?? true };
      const outcome = await repeatedTransaction(db, (client) => savePlan(client, { plan, actor: actorOf(principal) }));
      if (outcome.kind !== 'invalid') return outcome.plan;
      const argument = argumentOf[outcome.field] ?? outcome.field;
      throw badInput(['input', argument], `${argument} ${outcome.message}.`);
    },
  }),
);
