import { actorOf } from '../../people/principal.ts';
import type { ProbeAgent } from '../../uptime/agents/agents.ts';
import type { ModelProbing, ProbingPlan } from '../../uptime/probes/probing.ts';
import { decodeUuid, encodeId } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { OperatorType } from '../operator/operator.ts';
import { badInput, InputError, NotFoundError, refuseInput } from '../types/errors.ts';

/** How uptime is measured: pace and budget of probes, and the machines elsewhere that probe. */

const ModelProbingType = builder.objectRef<ModelProbing>('ModelProbing').implement({
  description: 'How often a model is probed, and what it costs.',
  authScopes: { operator: true },
  fields: (t) => ({
    modelId: t.exposeString('model', { description: 'Catalog id.' }),
    everyMinutes: t.exposeInt('everyMinutes', {
      nullable: true,
      description: 'Its own setting, in minutes; 0: not probed; null: as all models.',
    }),
    monthlyBudget: t.expose('monthlyBudget', {
      type: 'UsdAmount',
      nullable: true,
      description: 'Its own budget of a month; null: it has none of its own.',
    }),
    askedMinutes: t.exposeInt('askedMinutes', {
      description: 'The pace that is asked for, in minutes; 0: not probed.',
    }),
    effectiveMinutes: t.exposeInt('effectiveMinutes', {
      description: 'The pace that the budgets hold, in minutes; 0: not probed.',
    }),
    askedMonthlyCost: t.expose('askedMonthlyCost', {
      type: 'UsdAmount',
      description: '30 days at the pace that is asked for, at the model’s prices, by all observers.',
    }),
    monthlyCost: t.expose('monthlyCost', {
      type: 'UsdAmount',
      description: '30 days at the pace that is kept, at the model’s prices, by all observers.',
    }),
    monthlyUpstreamCost: t.expose('upstreamMonthlyCost', {
      type: 'UsdAmount',
      nullable: true,
      description: 'The same at the cost prices of its first route; null: these are not known.',
    }),
    measured: t.exposeBoolean('isMeasured', {
      description: 'Whether the costs come from recent probes; else they are an estimate.',
    }),
  }),
});

const ProbingType = builder.objectRef<ProbingPlan>('Probing').implement({
  description: 'How often models are probed, and what it costs.',
  authScopes: { operator: true },
  fields: (t) => ({
    everyMinutes: t.exposeInt('everyMinutes', {
      description: 'The pace of models without one of their own, in minutes.',
    }),
    monthlyBudget: t.expose('monthlyBudget', { type: 'UsdAmount', description: 'What a month of probes may cost.' }),
    spentThisMonth: t.expose('spentThisMonth', { type: 'UsdAmount', description: 'What this month’s cost so far.' }),
    observers: t.exposeInt('observers', {
      description:
        'Machines that probe: agents that were heard of in the last hour, and the service itself if it does.',
    }),
    serviceProbes: t.exposeBoolean('serviceProbes', {
      description: 'Whether the service probes its own models; false with `PROBES=0`: agents alone measure.',
    }),
    models: t.expose('models', { type: [ModelProbingType], description: 'Each model of the catalog.' }),
  }),
});

const ProbeAgentType = builder.objectRef<ProbeAgent>('ProbeAgent').implement({
  description: 'A machine elsewhere that measures the service and reports what it finds.',
  authScopes: { operator: true },
  fields: (t) => ({
    id: t.id({ description: 'Id of the agent.', resolve: ({ id }) => encodeId('ProbeAgent', id) }),
    name: t.exposeString('name', { description: 'Its name, shown on the status page.' }),
    region: t.exposeString('region', { description: 'Where it stands, shown on the status page.' }),
    last4: t.exposeString('last4', { description: 'How its token ends.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    lastSeenAt: t.expose('lastSeenAt', {
      type: 'DateTime',
      nullable: true,
      description: 'About when it was last heard of.',
    }),
    measuredAt: t.expose('measuredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its last probe on record was sent.',
    }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When its token was revoked.' }),
  }),
});

const CreatedAgentType = builder.objectRef<{ agent: ProbeAgent; token: string }>('CreatedProbeAgent').implement({
  description: 'An agent that was just made.',
  authScopes: { operator: true },
  fields: (t) => ({
    token: t.exposeString('token', {
      description:
        'The token: shown this once. An agent reads it from its environment, as STEYG_AGENT_TOKEN, and from a file.',
    }),
    probeAgent: t.field({ type: ProbeAgentType, description: 'The agent.', resolve: ({ agent }) => agent }),
  }),
});

builder.objectFields(OperatorType, (t) => ({
  probing: t.field({
    type: ProbingType,
    description: 'How often models are probed, and what it costs.',
    resolve: (_operator, _args, { domains }) => domains.probing.plan(),
  }),
  probeAgents: t.field({
    type: [ProbeAgentType],
    description: 'The machines elsewhere that measure the service; those revoked in the last 90 days are among them.',
    resolve: (_operator, _args, { domains }) => domains.probeAgents.list(),
  }),
}));

const CreateAgentInput = builder.inputType('CreateProbeAgentInput', {
  fields: (t) => ({
    name: t.string({ required: true, description: 'Its name, shown on the status page.' }),
    region: t.string({ required: true, description: 'Where it stands, e.g. `Hanoi`; shown on the status page.' }),
  }),
});

const SaveProbingInput = builder.inputType('SaveProbingInput', {
  fields: (t) => ({
    modelId: t.string({ description: 'Catalog id; left out: all models without settings of their own.' }),
    everyMinutes: t.int({
      description: 'Minutes between two rounds, at most 1440. Of a model: 0: it is not probed; null: as all models.',
    }),
    monthlyBudget: t.field({
      type: 'UsdAmount',
      description: 'What a month may cost. Of a model: null: it has no budget of its own.',
    }),
  }),
});

async function saveProbing(
  input: {
    modelId?: string | null | undefined;
    everyMinutes?: number | null | undefined;
    monthlyBudget?: bigint | null | undefined;
  },
  { domains, principal }: GraphqlContext,
): Promise<ProbingPlan> {
  const { modelId = null, everyMinutes = null, monthlyBudget = null } = input;
  const actor = actorOf(principal);
  if (modelId === null && everyMinutes === null) throw badInput(['input', 'everyMinutes'], 'everyMinutes is needed.');
  if (modelId === null && monthlyBudget === null)
    throw badInput(['input', 'monthlyBudget'], 'monthlyBudget is needed.');
  const outcome =
    modelId === null
      ? await domains.probing.saveSettings({
          everyMinutes: everyMinutes ?? 0,
          monthlyBudget: monthlyBudget ?? 0n,
          actor,
        })
      : await domains.probing.saveModel({ model: modelId.slice(0, 256), everyMinutes, monthlyBudget, actor });
  if (outcome.kind === 'unknown_model') throw new NotFoundError('model');
  if (outcome.kind === 'invalid') return refuseInput(outcome);
  // The new paces count, and show, from now on.
  await domains.probing.decide();
  return domains.probing.plan();
}

const RevokeProbeAgentInput = builder.inputType('RevokeProbeAgentInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which agent.' }),
    keepResults: t.boolean({
      description:
        'Keep what it found in the public figures: of an agent that was honest to its end. Left out: it is taken back.',
    }),
  }),
});

builder.mutationFields((t) => ({
  createProbeAgent: t.field({
    type: CreatedAgentType,
    description: 'Lets a machine elsewhere measure the service: makes its token.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError] },
    args: { input: t.arg({ type: CreateAgentInput, required: true }) },
    resolve: async (_root, { input }, { domains, principal }) => {
      const outcome = await domains.probeAgents.create({ name: input.name, region: input.region }, actorOf(principal));
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      return { agent: outcome.agent, token: outcome.secret };
    },
  }),
  revokeProbeAgent: t.field({
    type: ProbeAgentType,
    description:
      'Refuses the token of an agent from now on, and takes back what it found: uptime, since when it is measured and incidents are what they are without it.',
    authScopes: { trustedOperator: true },
    errors: { types: [NotFoundError] },
    args: {
      input: t.arg({ type: RevokeProbeAgentInput, required: true }),
    },
    resolve: async (_root, { input: { id, keepResults } }, { domains, principal }) => {
      const agentId = decodeUuid('ProbeAgent', id);
      const ask = { actor: actorOf(principal), keepResults: keepResults ?? false };
      const revoked = agentId === null ? null : await domains.probeAgents.revoke(agentId, ask);
      if (revoked === null) throw new NotFoundError('agent with a token');
      return revoked;
    },
  }),
  saveProbing: t.field({
    type: ProbingType,
    description: 'Sets pace and budget of probes, of one model or of all.',
    authScopes: { trustedOperator: true },
    errors: { types: [InputError, NotFoundError] },
    args: { input: t.arg({ type: SaveProbingInput, required: true }) },
    resolve: (_root, { input }, context) => saveProbing(input, context),
  }),
}));
