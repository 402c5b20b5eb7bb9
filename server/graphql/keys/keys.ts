import DataLoader from 'dataloader';
import { type KeySpendRecord, readKeySpend, type SpendRecord } from '../../billing/reads/usage.ts';
import type { BurnLimit, SpendLimits } from '../../core/spend-limits.ts';
import type { CreateKeyOutcome } from '../../keys/keys.ts';
import { abilitiesOn, accountsWith, actorOf, isOperator } from '../../people/principal.ts';
import { accountFor, checkIdempotencyKey, decodeUuid, encodeId, requireAbility } from '../access.ts';
import { AccountType } from '../accounts/accounts.ts';
import { builder, type ObjectFields } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { containing } from '../types/containing.ts';
import { storedEnum } from '../types/enums.ts';
import { ErrorInterface } from '../types/error-types.ts';
import {
  badInput,
  ConflictError,
  InputError,
  idempotencyConflict,
  KeyCreatedBeforeError,
  NotAllowedError,
  NotFoundError,
  refuseInput,
} from '../types/errors.ts';
import { besideCursor, cursorRow, totalCountText } from '../types/paging.ts';
import { paceFields, paceInputs, paceOf } from './pace.ts';

/** API keys: the credentials of the model endpoints. */

const KeyStatus = builder.enumType('KeyStatus', {
  description: 'Whether a key opens anything.',
  values: {
    ACTIVE: { value: 'active', description: 'It does.' },
    EXPIRED: { value: 'expired', description: 'Its time is over.' },
    DELETED: { value: 'deleted', description: 'It was deleted.' },
  } as const,
});

const KeyOwnerType = storedEnum('KeyOwner', {
  description: 'Whom a key belongs to.',
  values: {
    ACCOUNT: { value: 'account', description: 'The account: it goes on when the person who made it leaves.' },
    MEMBER: { value: 'member', description: 'The person who made it: it ends when that person leaves the account.' },
  } as const,
});

interface KeyMaker {
  accountId: string;
  userId: string;
  name: string | null;
  isMember: boolean;
}

export const KeyMakerType = builder.objectRef<KeyMaker>('KeyMaker').implement({
  description: 'The person who made a key, in the browser or by an access token.',
  authScopes: { public: true },
  fields: (t) => ({
    memberId: t.id({
      description: 'As `MemberSpend` has it.',
      resolve: ({ accountId, userId }) => encodeId('Member', `${accountId}/${userId}`),
    }),
    name: t.exposeString('name', { nullable: true, description: 'What they are called; null: they were forgotten.' }),
    isMember: t.exposeBoolean('isMember', { description: 'Whether they belong to the account at this moment.' }),
  }),
});

export const SpendLimitsType = builder.objectRef<SpendLimits>('SpendLimits').implement({
  description:
    'What a key alone, or all keys of an account together, may spend, in the time zone of the account; null: no limit but the budget.',
  authScopes: { public: true },
  fields: (t) => ({
    day: t.expose('day', { type: 'UsdAmount', nullable: true, description: 'In one day.' }),
    week: t.expose('week', { type: 'UsdAmount', nullable: true, description: 'In one week, from Monday.' }),
    month: t.expose('month', { type: 'UsdAmount', nullable: true, description: 'In one calendar month.' }),
    lifetime: t.expose('lifetime', { type: 'UsdAmount', nullable: true, description: 'In all.' }),
  }),
});

const BurnLimitType = builder.objectRef<BurnLimit>('BurnLimit').implement({
  description: 'Stops a runaway program: the most that a key may spend within any so many minutes.',
  authScopes: { public: true },
  fields: (t) => ({
    amount: t.expose('amount', { type: 'UsdAmount', description: 'The most.' }),
    minutes: t.exposeInt('minutes', { description: 'The length of the window.' }),
  }),
});

export const SpendType = builder.objectRef<SpendRecord>('Spend').implement({
  description: 'What a key, or all keys of an account together, have spent.',
  authScopes: { public: true },
  fields: (t) => ({
    today: t.expose('today', { type: 'UsdAmount', description: 'Since midnight in the time zone of the account.' }),
    thisWeek: t.expose('thisWeek', { type: 'UsdAmount', description: 'Since Monday.' }),
    thisMonth: t.expose('thisMonth', { type: 'UsdAmount', description: 'Since the first of the month.' }),
    lifetime: t.expose('lifetime', { type: 'UsdAmount', description: 'In all.' }),
    held: t.expose('held', {
      type: 'UsdAmount',
      description: 'Reserved by running requests, and in advance until two seconds after the last one.',
    }),
  }),
});

const unused: Omit<KeySpendRecord, 'keyId'> = {
  today: 0n,
  thisWeek: 0n,
  thisMonth: 0n,
  lifetime: 0n,
  held: 0n,
  lastUsedAt: null,
};

export const ApiKeyType = builder.prismaNode('ApiKey', {
  id: { field: 'id' },
  description: 'A secret that opens the model endpoints. The secret itself is shown once, when it is made.',
  findUnique: (id, { principal }) => ({
    id,
    ...(isOperator(principal) ? {} : { accountId: { in: accountsWith(principal, 'read') } }),
  }),
  authScopes: (key) => ({ account: key.accountId }),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What people call it.' }),
    prefix: t.exposeString('prefix', { description: 'How the secret begins, to recognise it by.' }),
    last4: t.exposeString('last4', { description: 'How the secret ends.' }),
    models: t.exposeStringList('models', { description: 'Catalog ids that it may call; empty: all.' }),
    limits: t.field({
      type: SpendLimitsType,
      description: 'What it may spend.',
      resolve: ({ limitDay, limitWeek, limitMonth, limitLifetime }) => ({
        day: limitDay,
        week: limitWeek,
        month: limitMonth,
        lifetime: limitLifetime,
      }),
    }),
    burnLimit: t.field({
      type: BurnLimitType,
      nullable: true,
      description: 'What stops it when it spends too fast; null: nothing.',
      resolve: ({ burnLimit, burnMinutes }) =>
        burnLimit === null || burnMinutes === null ? null : { amount: burnLimit, minutes: burnMinutes },
    }),
    ...paceFields(t, 'Requests that it may make in a minute; null: the limit of the service.'),
    status: t.field({
      type: KeyStatus,
      description: 'Whether it opens anything at this moment.',
      resolve: ({ deletedAt, expiresAt }) => {
        if (deletedAt !== null) return 'deleted';
        return expiresAt !== null && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
      },
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends; null: never.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    deletedAt: t.expose('deletedAt', { type: 'DateTime', nullable: true, description: 'When it was deleted.' }),
    replaces: t.exposeString('replaces', {
      nullable: true,
      description: 'Id (without its type) of the key that it was made to replace.',
    }),
    owner: t.field({
      type: KeyOwnerType,
      nullable: true,
      description: 'Whom it belongs to.',
      resolve: ({ personal }) => (personal ? 'member' : 'account'),
    }),
    project: t.relation('project', { nullable: true, description: 'The project that it lies in; null: none.' }),
    maker: t.loadable({
      type: KeyMakerType,
      nullable: true,
      description: 'Who made it; null: the operator of the service, or unknown.',
      load: (refs: string[], context: GraphqlContext) => loadMakers(refs, context),
      resolve: (key: { accountId: string; createdBy: string | null }) =>
        key.createdBy === null ? null : `${key.accountId}/${key.createdBy}`,
    }),
    spend: t.field({
      type: SpendType,
      description: 'What it has spent.',
      resolve: (key, _args, context) => spendOf(context).load(`${key.accountId}/${key.id}`),
    }),
    lastUsedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When its last request was charged; null: never.',
      resolve: async (key, _args, context) => (await spendOf(context).load(`${key.accountId}/${key.id}`)).lastUsedAt,
    }),
  }),
});

/** The keys of these ids, in one query. */
export async function loadKeys(ids: string[], { prisma }: GraphqlContext) {
  const keys = await prisma.apiKey.findMany({ where: { id: { in: ids } } });
  const byId = new Map(keys.map((key) => [key.id, key]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** What keys have spent, in one query an account and an operation, however many are listed. */
const spends = new WeakMap<GraphqlContext, DataLoader<string, Omit<KeySpendRecord, 'keyId'>>>();

function spendOf(context: GraphqlContext): DataLoader<string, Omit<KeySpendRecord, 'keyId'>> {
  let loader = spends.get(context);
  if (loader === undefined) {
    loader = new DataLoader((refs: readonly string[]) => loadSpend(refs, context));
    spends.set(context, loader);
  }
  return loader;
}

async function loadSpend(refs: readonly string[], context: GraphqlContext) {
  const accountIds = [...new Set(refs.map((ref) => ref.split('/')[0] ?? ''))];
  const idsOf = (accountId: string) =>
    refs.filter((ref) => ref.startsWith(`${accountId}/`)).map((ref) => ref.split('/')[1] ?? '');
  const records = await Promise.all(
    accountIds.map((accountId) => readKeySpend(context.db, accountId, idsOf(accountId))),
  );
  const byKey = new Map(records.flat().map((record) => [record.keyId, record]));
  return refs.map((ref) => byKey.get(ref.split('/')[1] ?? '') ?? unused);
}

/** The people of these accounts and users, written `account/user`. */
export async function loadMakers(refs: readonly string[], { prisma }: GraphqlContext): Promise<KeyMaker[]> {
  const ids = [...new Set(refs.map((ref) => ref.split('/')[1] ?? ''))];
  const users = await prisma.user.findMany({
    where: { id: { in: ids } },
    select: { id: true, name: true, memberships: { select: { accountId: true } } },
  });
  const byId = new Map(users.map((user) => [user.id, user]));
  return refs.map((ref) => {
    const [accountId = '', id = ''] = ref.split('/');
    const user = byId.get(id);
    return {
      accountId,
      userId: id,
      name: user?.name ?? null,
      isMember: user?.memberships.some((membership) => membership.accountId === accountId) ?? false,
    };
  });
}

interface KeysArguments {
  deleted?: boolean | null | undefined;
  active?: boolean | null | undefined;
  search?: string | null | undefined;
}

/** Which keys of an account a list has. */
function keysOf({ deleted, active, search }: KeysArguments) {
  const text = search?.trim().slice(0, 100) ?? '';
  const contains = containing(text);
  const conditions = [
    ...(active === true ? [{ OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] }] : []),
    // What people have of a secret is how it ends, often with something before it.
    ...(text === ''
      ? []
      : [{ OR: [{ name: contains }, { last4: { endsWith: text.slice(-4) } }, { project: { name: contains } }] }]),
  ];
  return {
    ...(deleted === true && active !== true ? {} : { deletedAt: null }),
    ...(conditions.length === 0 ? {} : { AND: conditions }),
  };
}

builder.prismaObjectFields(AccountType, (t) => ({
  keys: t.relatedConnection(
    'keys',
    {
      cursor: 'id',
      description: 'Keys of the account, newest first.',
      args: {
        deleted: t.arg.boolean({ defaultValue: false, description: 'Deleted keys as well.' }),
        active: t.arg.boolean({ defaultValue: false, description: 'Only those that open something at this moment.' }),
        search: t.arg.string({
          description: 'Part of the name or of that of the project, or the last characters of the secret.',
        }),
      },
      query: ({ deleted, active, search, ...page }) => {
        const row = cursorRow(page);
        return {
          where: {
            ...besideCursor(keysOf({ deleted, active, search }), row),
            // A key of another account is as invalid a cursor of this list as an unknown one.
            ...(row === null ? {} : { account: { keys: { some: { id: row } } } }),
          },
          orderBy: [{ createdAt: 'desc' as const }, { id: 'desc' as const }],
        };
      },
    },
    {
      name: 'ApiKeyConnection',
      fields: (page) => ({
        totalCount: page.int({
          description: totalCountText,
          resolve: ({ parent, args }, _args, { prisma }) =>
            prisma.apiKey.count({ where: { accountId: parent.id, ...keysOf(args) } }),
        }),
      }),
    },
    { name: 'ApiKeyEdge' },
  ),
}));

// ---------------------------------------------------------------------------------------------- changing keys

export const SpendLimitsInput = builder.inputType('SpendLimitsInput', {
  description:
    'What a key alone, or all keys of an account together, may spend, in the time zone of the account; left out or null: no limit but the budget.',
  fields: (t) => ({
    day: t.field({ type: 'UsdAmount', description: 'In one day.' }),
    week: t.field({ type: 'UsdAmount', description: 'In one week, from Monday. Left out, it stays as it is.' }),
    month: t.field({ type: 'UsdAmount', description: 'In one calendar month.' }),
    lifetime: t.field({ type: 'UsdAmount', description: 'In all.' }),
  }),
});

const BurnLimitInput = builder.inputType('BurnLimitInput', {
  description: 'The most that a key may spend within any so many minutes.',
  fields: (t) => ({
    amount: t.field({ type: 'UsdAmount', required: true, description: 'The most.' }),
    minutes: t.int({ required: true, description: 'The length of the window, 1 to 1440.' }),
  }),
});

const CreateKeyInput = builder.inputType('CreateKeyInput', {
  fields: (t) => ({
    accountId: t.id({ description: 'Whose key; left out: your only or oldest account.' }),
    name: t.string({ description: 'What people call it.' }),
    models: t.stringList({ description: 'Catalog ids that it may call; left out or empty: all.' }),
    limits: t.field({ type: SpendLimitsInput, description: 'What it may spend.' }),
    burnLimit: t.field({ type: BurnLimitInput, description: 'What stops it when it spends too fast.' }),
    ...paceInputs(
      t,
      'Requests that it may make in a minute, 1 to 1000000; left out or null: the limit of the service.',
    ),
    expiresAt: t.field({ type: 'DateTime', description: 'When it ends; left out: never.' }),
    owner: t.field({
      type: KeyOwnerType,
      description:
        'Whom it belongs to; left out: the account. Keys of people with the role `MEMBER` always belong to themselves.',
    }),
    projectId: t.id({ description: 'The project that it lies in; left out: none.' }),
    idempotencyKey: t.string({
      description: 'Asking again with the same key and input makes no second one; the secret is then not shown again.',
    }),
  }),
});

const UpdateKeyInput = builder.inputType('UpdateKeyInput', {
  description: 'What is to change about a key; what is left out stays.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which key.' }),
    name: t.string({ description: 'What people call it.' }),
    models: t.stringList({ description: 'Catalog ids that it may call; empty: all.' }),
    limits: t.field({ type: SpendLimitsInput, description: 'All limits anew, of which the week may be left out.' }),
    burnLimit: t.field({ type: BurnLimitInput, description: 'What stops it when it spends too fast; null: nothing.' }),
    ...paceInputs(t, 'Requests that it may make in a minute, 1 to 1000000; null: the limit of the service.'),
    expiresAt: t.field({ type: 'DateTime', description: 'When it ends; null: never.' }),
    owner: t.field({ type: KeyOwnerType, description: 'Whom it belongs to: the account, or who made it.' }),
    projectId: t.id({ description: 'The project that it lies in; null: none.' }),
  }),
});

interface MadeKey {
  keyId: string;
  secret: string | null;
}

interface NewKey extends MadeKey {
  secret: string;
}

const keyOf = <Shape extends { keyId: string }>(t: ObjectFields<Shape>) =>
  t.prismaField({
    type: ApiKeyType,
    description: 'The key.',
    resolve: (query, { keyId }: Shape, _args, { prisma }) =>
      prisma.apiKey.findUniqueOrThrow({ ...query, where: { id: keyId } }),
  });

const NewKeyType = builder.objectRef<NewKey>('NewApiKey').implement({
  description: 'A key that was just made.',
  authScopes: { keys: true },
  fields: (t) => ({
    secret: t.exposeString('secret', { description: 'The secret: shown this once.' }),
    key: keyOf(t),
  }),
});

builder.objectType(KeyCreatedBeforeError, {
  name: 'KeyCreatedBeforeError',
  description: 'The idempotency key was used before: its key was made then, and the secret is not shown again.',
  authScopes: { keys: true },
  interfaces: [ErrorInterface],
  fields: (t) => ({ key: keyOf(t) }),
});

const writes = [InputError, NotFoundError, NotAllowedError, ConflictError];

function tooMany(limit: number): never {
  throw new ConflictError(`An account has at most ${limit} keys.`, 'TOO_MANY_KEYS');
}

type ApiKeyRow = Pick<typeof ApiKeyType.$inferType, 'accountId' | 'id' | 'models' | 'limitWeek'>;

/** The account of a key that the principal sees and may manage. */
async function accountOfKey(context: GraphqlContext, keyId: string | null): Promise<ApiKeyRow> {
  const key =
    keyId === null
      ? null
      : await context.prisma.apiKey.findFirst({
          where: { id: keyId, accountId: { in: accountsWith(context.principal, 'read') }, deletedAt: null },
        });
  if (key === null) throw new NotFoundError('key');
  requireAbility(context, key.accountId, 'keys');
  return key;
}

/** `week`: what stays when it is left out, as programs do that were written before there was one. */
export const limitsOf = (limits: typeof SpendLimitsInput.$inferInput, week: bigint | null): SpendLimits => ({
  day: limits.day ?? null,
  week: limits.week === undefined ? week : limits.week,
  month: limits.month ?? null,
  lifetime: limits.lifetime ?? null,
});

/** Whom a key belongs to and where it lies, as far as an input says so. */
function placeOf({
  owner,
  projectId,
}: {
  owner?: 'account' | 'member' | null | undefined;
  projectId?: string | null | undefined;
}): { personal?: boolean; projectId?: string | null } {
  return {
    ...(owner ? { personal: owner === 'member' } : {}),
    // An id of something else is as unknown as that of another account's project.
    ...(projectId === undefined ? {} : { projectId: projectId && (decodeUuid('Project', projectId) ?? '') }),
  };
}

function refusePlace({
  kind,
}: {
  kind: 'unknown_project' | 'project_full' | 'project_required' | 'bound_to_project' | 'not_allowed';
}): never {
  if (kind === 'bound_to_project')
    throw new NotAllowedError(
      'The key lies in a project with a limit: owners, admins and tokens with the scopes `KEYS` and `BILLING` take it out.',
    );
  if (kind === 'unknown_project') throw new NotFoundError('project');
  if (kind === 'project_required')
    throw new ConflictError(
      'A project of this account has a limit: name the project of the key (`projectId`), use a token with the scopes `KEYS` and `BILLING`, or have an owner or admin set a monthly budget for you.',
      'PROJECT_REQUIRED',
    );
  if (kind === 'project_full')
    throw new ConflictError(
      'The project’s budget leaves less than the running requests of the key hold.',
      'PROJECT_FULL',
    );
  throw new NotAllowedError(
    'Members make keys of their own, and with a monthly budget handle no others; a key can belong only to a member who made it.',
  );
}

/** A restriction to models that do not exist is a mistake. */
async function checkModels(
  context: GraphqlContext,
  models: readonly string[] | null | undefined,
  /** The key's present models: models that were removed since may stay on its list. */
  had: readonly string[] = [],
): Promise<void> {
  const added = (models ?? []).filter((model) => !had.includes(model));
  if (added.length === 0) return;
  const known = new Set((await context.domains.catalog.list()).map(({ id }) => id));
  const unknown = added.find((model) => !known.has(model));
  if (unknown !== undefined)
    throw badInput(['input', 'models'], `There is no model ${JSON.stringify(unknown.slice(0, 256))} in the catalog.`);
}

/** Makes a key, or finds the one that this idempotency key made before: its secret is null. */
async function makeKey(context: GraphqlContext, input: typeof CreateKeyInput.$inferInput): Promise<MadeKey> {
  const accountId = accountFor(context, input.accountId, 'keys');
  const idempotencyKey = checkIdempotencyKey(input.idempotencyKey);
  const { name, models, limits, burnLimit, requestsPerMinute, expiresAt } = input;
  await checkModels(context, models);
  const terms = {
    ...(typeof name === 'string' ? { name } : {}),
    ...(models ? { models } : {}),
    ...(limits ? { limits: limitsOf(limits, null) } : {}),
    ...(burnLimit ? { burnLimit } : {}),
    ...(typeof requestsPerMinute === 'number' ? { requestsPerMinute } : {}),
    ...paceOf(input),
    ...(expiresAt ? { expiresAt } : {}),
    ...placeOf(input),
  };
  const underLimits = !abilitiesOn(context.principal, accountId).has('billing');
  const ask = { accountId, actor: actorOf(context.principal), underLimits, ...terms };
  const { keys } = context.domains;
  const made =
    idempotencyKey === null
      ? { kind: 'first' as const, value: await keys.create(ask) }
      : await keys.createOnce(ask, idempotencyKey);
  if (made.kind === 'conflict') throw idempotencyConflict();
  if (made.kind === 'again') return { keyId: made.resultId, secret: null };
  const outcome = made.value;
  if (outcome.kind !== 'created') return refuseNewKey(outcome);
  return { keyId: outcome.key.id, secret: outcome.secret };
}

/** Throws why a key is not made. */
export function refuseNewKey(outcome: Exclude<CreateKeyOutcome, { kind: 'created' }>): never {
  if (outcome.kind === 'invalid') return refuseInput(outcome);
  if (outcome.kind === 'too_many_keys') return tooMany(outcome.limit);
  if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
  return refusePlace(outcome);
}

builder.mutationFields((t) => ({
  createKey: t.field({
    type: NewKeyType,
    description: 'Makes a key. It works from the very next request on.',
    authScopes: { keys: true },
    errors: { types: [...writes, KeyCreatedBeforeError] },
    args: { input: t.arg({ type: CreateKeyInput, required: true }) },
    resolve: async (_root, { input }, context): Promise<NewKey> => {
      const { keyId, secret } = await makeKey(context, input);
      if (secret === null) throw new KeyCreatedBeforeError(keyId);
      return { keyId, secret };
    },
  }),
}));

builder.mutationField('updateKey', (t) =>
  t.prismaField({
    type: ApiKeyType,
    description: 'Renames, restricts or limits a key. Counts from the very next request on.',
    authScopes: { keys: true },
    errors: { types: writes },
    args: { input: t.arg({ type: UpdateKeyInput, required: true }) },
    resolve: async (query, _root, { input }, context) => {
      const key = await accountOfKey(context, decodeUuid('ApiKey', input.id));
      const { name, models, limits, burnLimit, requestsPerMinute, expiresAt } = input;
      await checkModels(context, models, key.models);
      const outcome = await context.domains.keys.change({
        accountId: key.accountId,
        id: key.id,
        actor: actorOf(context.principal),
        mayLeaveLimits: abilitiesOn(context.principal, key.accountId).has('billing'),
        ...(typeof name === 'string' ? { name } : {}),
        ...(models ? { models } : {}),
        ...(limits === undefined ? {} : { limits: limitsOf(limits ?? {}, key.limitWeek) }),
        ...(burnLimit === undefined ? {} : { burnLimit }),
        ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
        ...paceOf(input),
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ...placeOf(input),
      });
      if (outcome.kind === 'unknown_key') throw new NotFoundError('key');
      if (outcome.kind === 'invalid') return refuseInput(outcome);
      if (outcome.kind !== 'changed') return refusePlace(outcome);
      return context.prisma.apiKey.findUniqueOrThrow({ ...query, where: { id: outcome.key.id } });
    },
  }),
);

const maxGraceS = 30 * 86_400;

const RotateKeyInput = builder.inputType('RotateKeyInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'The key to replace.' }),
    graceSeconds: t.int({ defaultValue: 86_400, description: 'How long the old key goes on; at most 30 days.' }),
  }),
});

builder.mutationField('rotateKey', (t) =>
  t.field({
    type: NewKeyType,
    description: 'Makes a key of the same name and terms; the old one goes on for a grace period.',
    authScopes: { keys: true },
    errors: { types: writes },
    args: { input: t.arg({ type: RotateKeyInput, required: true }) },
    resolve: async (_root, { input: { id, graceSeconds } }, context): Promise<NewKey> => {
      const ref = await accountOfKey(context, decodeUuid('ApiKey', id));
      const grace = graceSeconds ?? 86_400;
      if (grace < 0 || grace > maxGraceS) throw badInput('input.graceSeconds', `graceSeconds is 0 to ${maxGraceS}.`);
      const actor = actorOf(context.principal);
      const outcome = await context.domains.keys.rotate({ ...ref, actor, graceMs: grace * 1_000 });
      if (outcome.kind === 'unknown_key') throw new NotFoundError('key');
      if (outcome.kind === 'key_expired')
        throw new ConflictError('The time of this key is over; make a new one.', 'KEY_EXPIRED');
      if (outcome.kind === 'replaced_before')
        throw new ConflictError(
          'This key was replaced before; replace its successor, or make a new one.',
          'KEY_REPLACED',
        );
      if (outcome.kind === 'too_many_keys') return tooMany(outcome.limit);
      if (outcome.kind === 'not_allowed') return refusePlace(outcome);
      return { keyId: outcome.key.id, secret: outcome.secret };
    },
  }),
);
builder.mutationField('deleteKey', (t) =>
  t.prismaField({
    type: ApiKeyType,
    description: 'Deletes a key: from the very next request on it opens nothing. Running requests finish.',
    authScopes: { keys: true },
    errors: { types: writes },
    args: { id: t.arg.id({ required: true }) },
    resolve: async (query, _root, { id }, context) => {
      const ref = await accountOfKey(context, decodeUuid('ApiKey', id));
      const outcome = await context.domains.keys.delete({ ...ref, actor: actorOf(context.principal) });
      if (outcome.kind === 'unknown_key') throw new NotFoundError('key');
      return context.prisma.apiKey.findUniqueOrThrow({ ...query, where: { id: outcome.key.id } });
    },
  }),
);
