import type { ProjectProblem } from '../../accounts/projects.ts';
import type { SharedLimits } from '../../accounts/shared-limits.ts';
import {
  type MonthSpend,
  type ProjectSpend,
  readProjectMonths,
  readProjectSpend,
} from '../../billing/reads/shared-spend.ts';
import { accountsWith, actorOf, isOperator } from '../../people/principal.ts';
import { accountFor, decodeUuid, requireAbility } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { badInput, ConflictError, InputError, NotAllowedError, NotFoundError, refuseInput } from '../types/errors.ts';
import { AccountType } from './accounts.ts';
import { MonthSpendType } from './spending.ts';

/** Projects: the places of an account's keys. */

const ProjectLimitsType = builder.objectRef<SharedLimits>('ProjectLimits').implement({
  description: 'What the keys of a project may spend together; null: no limit but the budget of the account.',
  authScopes: { public: true },
  fields: (t) => ({
    month: t.expose('month', {
      type: 'UsdAmount',
      nullable: true,
      description: 'In a calendar month, in the time zone of the account.',
    }),
    lifetime: t.expose('lifetime', { type: 'UsdAmount', nullable: true, description: 'In all.' }),
  }),
});

const ProjectSpendType = builder.objectRef<ProjectSpend>('ProjectSpend').implement({
  description: 'What was charged to a project, and its limits. What was charged stays with it when a key leaves.',
  authScopes: { public: true },
  fields: (t) => ({
    limits: t.field({
      type: ProjectLimitsType,
      description: 'What its keys may spend together.',
      resolve: ({ limitMonth, limitLifetime }) => ({ month: limitMonth, lifetime: limitLifetime }),
    }),
    thisMonth: t.expose('thisMonth', { type: 'UsdAmount', description: 'Since the first of the month.' }),
    lifetime: t.expose('lifetime', { type: 'UsdAmount', description: 'In all.' }),
    held: t.expose('held', { type: 'UsdAmount', description: 'Reserved by running requests, and in advance.' }),
    keys: t.exposeInt('keys', { description: 'Keys that lie in it and work.' }),
  }),
});

const defaultMonths = 12;
const maxMonths = 24;
const maxProjects = 200;

export const ProjectType = builder.prismaNode('Project', {
  id: { field: 'id' },
  description: 'A place for keys of an account, with a budget and its own report.',
  findUnique: (id, { principal }) => ({
    id,
    ...(isOperator(principal) ? {} : { accountId: { in: accountsWith(principal, 'read') } }),
  }),
  authScopes: (project) => ({ account: project.accountId }),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What people call it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    archivedAt: t.expose('archivedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it takes no keys any more; null: it does.',
    }),
    spend: t.loadable({
      type: ProjectSpendType,
      description: 'What its keys have spent and may spend.',
      load: (ids: string[], context: GraphqlContext) => loadSpend(ids, context),
      resolve: (project: { id: string }) => project.id,
    }),
    months: t.loadableList({
      type: MonthSpendType,
      description: 'What was charged by month, newest first; months without charges are left out.',
      args: { count: t.arg.int({ defaultValue: 12, description: 'The last so many; 1 to 24.' }) },
      complexity: ({ count }: { count?: number | null | undefined }) => ({
        field: 1,
        multiplier: Math.min(Math.max(count ?? defaultMonths, 1), maxMonths),
      }),
      load: (refs: string[], context: GraphqlContext) => loadMonths(refs, context),
      resolve: ({ id }: { id: string }, { count }: { count?: number | null | undefined }) => {
        const months = count ?? defaultMonths;
        if (months < 1 || months > maxMonths) throw badInput('count', `count is 1 to ${maxMonths}.`);
        return `${id}/${months}`;
      },
    }),
  }),
});

export async function loadProjects(ids: string[], { prisma }: GraphqlContext) {
  const projects = await prisma.project.findMany({ where: { id: { in: ids } } });
  const byId = new Map(projects.map((project) => [project.id, project]));
  return ids.map((id) => byId.get(id) ?? null);
}

async function loadSpend(ids: readonly string[], { db }: GraphqlContext): Promise<(ProjectSpend | Error)[]> {
  const byId = new Map((await readProjectSpend(db, ids)).map((spend) => [spend.projectId, spend]));
  return ids.map((id) => byId.get(id) ?? new Error('a project has no sums'));
}

/** Projects are named `project/count`: one query for all of an operation, with the months of the field that asks for most. */
async function loadMonths(refs: readonly string[], { db }: GraphqlContext): Promise<MonthSpend[][]> {
  const asked = refs.map((ref) => ({ id: ref.split('/')[0] ?? '', count: Number(ref.split('/')[1]) }));
  const projectIds = [...new Set(asked.map(({ id }) => id))];
  const byId = await readProjectMonths(db, { projectIds, months: Math.max(...asked.map(({ count }) => count)) });
  return asked.map(({ id, count }) => (byId.get(id) ?? []).slice(0, count));
}

builder.prismaObjectFields(AccountType, (t) => ({
  projects: t.prismaField({
    type: [ProjectType],
    description: `Projects of the account by name, at most ${maxProjects}; archived ones last.`,
    args: { archived: t.arg.boolean({ defaultValue: false, description: 'Archived projects as well.' }) },
    select: { id: true },
    complexity: { field: 1, multiplier: maxProjects },
    resolve: (query, { id }, { archived }, { prisma }) =>
      prisma.project.findMany({
        ...query,
        where: { accountId: id, ...(archived === true ? {} : { archivedAt: null }) },
        orderBy: [{ archivedAt: { sort: 'asc', nulls: 'first' } }, { name: 'asc' }, { id: 'asc' }],
      }),
  }),
}));

const ProjectLimitsInput = builder.inputType('ProjectLimitsInput', {
  description: 'What the keys of a project may spend together; left out or null: no limit.',
  fields: (t) => ({
    month: t.field({ type: 'UsdAmount', description: 'In a calendar month, in the time zone of the account.' }),
    lifetime: t.field({ type: 'UsdAmount', description: 'In all.' }),
  }),
});

const limitsOf = ({ month, lifetime }: typeof ProjectLimitsInput.$inferInput): SharedLimits => ({
  month: month ?? null,
  lifetime: lifetime ?? null,
});

const CreateProjectInput = builder.inputType('CreateProjectInput', {
  fields: (t) => ({
    accountId: t.id({ description: 'Whose project; left out: your only or oldest account.' }),
    name: t.string({ required: true, description: 'What people call it.' }),
    limits: t.field({ type: ProjectLimitsInput, description: 'What its keys may spend together; left out: no limit.' }),
  }),
});

const UpdateProjectInput = builder.inputType('UpdateProjectInput', {
  description: 'What is to change about a project; what is left out stays.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which project.' }),
    name: t.string({ description: 'What people call it.' }),
    limits: t.field({
      type: ProjectLimitsInput,
      description: 'All limits anew. They count from the very next request on; running requests finish.',
    }),
    archived: t.boolean({ description: 'Whether it is archived: it then takes no keys, and has none.' }),
  }),
});

const writes = [InputError, NotFoundError, NotAllowedError, ConflictError];

function refuse(problem: ProjectProblem): never {
  if (problem.kind === 'name_taken') throw new ConflictError('Another project has this name.', 'PROJECT_NAME_TAKEN');
  return refuseInput(problem);
}

/** The account of a project that the principal sees and may change. */
async function accountOfProject(context: GraphqlContext, projectId: string | null): Promise<string> {
  const project =
    projectId === null
      ? null
      : await context.prisma.project.findFirst({
          where: { id: projectId, accountId: { in: accountsWith(context.principal, 'read') } },
        });
  if (project === null) throw new NotFoundError('project');
  requireAbility(context, project.accountId, 'billing');
  return project.accountId;
}

builder.mutationFields((t) => ({
  createProject: t.prismaField({
    type: ProjectType,
    description: 'Makes a project.',
    authScopes: { billing: true },
    errors: { types: writes },
    args: { input: t.arg({ type: CreateProjectInput, required: true }) },
    resolve: async (query, _root, { input }, context) => {
      const accountId = accountFor(context, input.accountId, 'billing');
      const actor = actorOf(context.principal);
      const { name, limits } = input;
      const outcome = await context.domains.accounts.projects.create({
        accountId,
        name,
        actor,
        ...(limits ? { limits: limitsOf(limits) } : {}),
      });
      if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
      if (outcome.kind === 'too_many')
        throw new ConflictError(`An account has at most ${outcome.limit} projects.`, 'TOO_MANY_PROJECTS');
      if (outcome.kind !== 'created') return refuse(outcome);
      return context.prisma.project.findUniqueOrThrow({ ...query, where: { id: outcome.project.id } });
    },
  }),
  updateProject: t.prismaField({
    type: ProjectType,
    description: 'Renames, limits or archives a project, or takes it into use again.',
    authScopes: { billing: true },
    errors: { types: writes },
    args: { input: t.arg({ type: UpdateProjectInput, required: true }) },
    resolve: async (query, _root, { input }, context) => {
      const id = decodeUuid('Project', input.id);
      const accountId = await accountOfProject(context, id);
      const { name, archived, limits } = input;
      const outcome = await context.domains.accounts.projects.change({
        accountId,
        id: id ?? '',
        actor: actorOf(context.principal),
        ...(typeof name === 'string' ? { name } : {}),
        ...(limits ? { limits: limitsOf(limits) } : {}),
        ...(typeof archived === 'boolean' ? { archived } : {}),
      });
      if (outcome.kind === 'unknown_project') throw new NotFoundError('project');
      if (outcome.kind === 'has_keys')
        throw new ConflictError(`It has ${outcome.keys} keys in use: move or delete them first.`, 'PROJECT_HAS_KEYS');
      if (outcome.kind !== 'changed') return refuse(outcome);
      return context.prisma.project.findUniqueOrThrow({ ...query, where: { id: outcome.project.id } });
    },
  }),
}));
