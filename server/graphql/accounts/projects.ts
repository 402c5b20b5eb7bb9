import type { ProjectProblem } from '../../accounts/projects.ts';
import { accountsWith, actorOf, isOperator } from '../../people/principal.ts';
import { accountFor, decodeUuid, requireAbility } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { ConflictError, InputError, NotAllowedError, NotFoundError, refuseInput } from '../errors.ts';
import { AccountType } from './accounts.ts';

/** Projects: the places of an account's keys. */

export const ProjectType = builder.prismaNode('Project', {
  id: { field: 'id' },
  description: 'A place for keys of an account, with a budget and a report of its own.',
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
  }),
});

export async function loadProjects(ids: string[], { prisma }: GraphqlContext) {
  const projects = await prisma.project.findMany({ where: { id: { in: ids } } });
  const byId = new Map(projects.map((project) => [project.id, project]));
  return ids.map((id) => byId.get(id) ?? null);
}

builder.prismaObjectFields(AccountType, (t) => ({
  projects: t.prismaField({
    type: [ProjectType],
    description: 'Projects of the account by name, at most 200; archived ones last.',
    args: { archived: t.arg.boolean({ defaultValue: false, description: 'Archived projects as well.' }) },
    select: { id: true },
    resolve: (query, { id }, { archived }, { prisma }) =>
      prisma.project.findMany({
        ...query,
        where: { accountId: id, ...(archived === true ? {} : { archivedAt: null }) },
        orderBy: [{ archivedAt: { sort: 'asc', nulls: 'first' } }, { name: 'asc' }, { id: 'asc' }],
      }),
  }),
}));

const CreateProjectInput = builder.inputType('CreateProjectInput', {
  description: 'What a new project is to be.',
  fields: (t) => ({
    accountId: t.id({ description: 'Whose project; left out: your only or oldest account.' }),
    name: t.string({ required: true, description: 'What people call it.' }),
  }),
});

const UpdateProjectInput = builder.inputType('UpdateProjectInput', {
  description: 'What is to change about a project; what is left out stays.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which project.' }),
    name: t.string({ description: 'What people call it.' }),
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
    args: { input: t.arg({ type: CreateProjectInput, required: true, description: 'What it is to be.' }) },
    resolve: async (query, _root, { input }, context) => {
      const accountId = accountFor(context, input.accountId, 'billing');
      const actor = actorOf(context.principal);
      const outcome = await context.domains.accounts.projects.create({ accountId, name: input.name, actor });
      if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
      if (outcome.kind === 'too_many')
        throw new ConflictError(`An account has at most ${outcome.limit} projects.`, 'TOO_MANY_PROJECTS');
      if (outcome.kind !== 'created') return refuse(outcome);
      return context.prisma.project.findUniqueOrThrow({ ...query, where: { id: outcome.project.id } });
    },
  }),
  updateProject: t.prismaField({
    type: ProjectType,
    description: 'Renames or archives a project, or takes it into use again.',
    authScopes: { billing: true },
    errors: { types: writes },
    args: { input: t.arg({ type: UpdateProjectInput, required: true, description: 'What is to change.' }) },
    resolve: async (query, _root, { input }, context) => {
      const id = decodeUuid('Project', input.id);
      const accountId = await accountOfProject(context, id);
      const { name, archived } = input;
      const outcome = await context.domains.accounts.projects.change({
        accountId,
        id: id ?? '',
        actor: actorOf(context.principal),
        ...(typeof name === 'string' ? { name } : {}),
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
