import type {
  InvitationRecord,
  InvitedRole,
  KeysOfLeaving,
  MemberOutcome,
  MemberRecord,
} from '../../people/members.ts';
import { accountsWith, type Role } from '../../people/principal.ts';
import { isUuid } from '../../shared/uuid.ts';
import { accountFor, decodeId, decodeUuid, encodeId, requireAbility } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { ApiKeyType } from '../keys/keys.ts';
import { DoneType } from '../people/outcomes.ts';
import { me } from '../people/people.ts';
import { storedEnum } from '../types/enums.ts';
import { ErrorInterface } from '../types/error-types.ts';
import {
  badInput,
  ConflictError,
  InputError,
  InvalidTokenError,
  KeysUndecidedError,
  NotAllowedError,
  NotFoundError,
  TooManyAttemptsError,
} from '../types/errors.ts';
import { AccountType } from './accounts.ts';

/** The members of an account. */

const RoleType = storedEnum('Role', {
  description: 'A person’s part in an account.',
  values: {
    OWNER: { value: 'owner', description: 'Everything, owners included.' },
    ADMIN: { value: 'admin', description: 'Everything but what concerns owners.' },
    MEMBER: { value: 'member', description: 'Looks at everything and handles keys.' },
    VIEWER: { value: 'viewer', description: 'Looks at everything.' },
  } satisfies Record<string, { value: Role; description: string }>,
});

const InvitedRoleType = storedEnum('InvitedRole', {
  description: 'A part that one can be invited to.',
  values: {
    ADMIN: { value: 'admin', description: 'Everything but what concerns owners.' },
    MEMBER: { value: 'member', description: 'Looks at everything and handles keys.' },
    VIEWER: { value: 'viewer', description: 'Looks at everything.' },
  } satisfies Record<string, { value: InvitedRole; description: string }>,
});

const memberId = ({ accountId, userId }: { accountId: string; userId: string }): string =>
  encodeId('Member', `${accountId}/${userId}`);

const MemberType = builder.objectRef<MemberRecord>('Member').implement({
  description: 'A person who belongs to an account.',
  authScopes: (member) => ({ account: member.accountId }),
  fields: (t) => ({
    id: t.id({
      description: 'For `setMemberRole` and `removeMember`.',
      resolve: memberId,
    }),
    name: t.exposeString('name', { description: 'What the person is called.' }),
    email: t.exposeString('email', { description: 'What the person signs in with.' }),
    role: t.expose('role', { type: RoleType, nullable: true, description: 'What the person may do.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Since when.' }),
  }),
});

const LeftKeys = builder.enumType('LeftKeys', {
  description: 'What becomes of the keys that somebody has seen who leaves an account.',
  values: {
    KEEP: { value: 'keep', description: 'They go on working; who left may know their secrets.' },
    REVOKE: { value: 'revoke', description: 'They end.' },
  } satisfies Record<string, { value: KeysOfLeaving; description: string }>,
});

/** An error is no list in pages: the newest of them say enough. */
const maxNamedKeys = 100;

builder.objectType(KeysUndecidedError, {
  name: 'KeysUndecidedError',
  authScopes: { user: true },
  description: 'Keys would go on working that the person has seen: say what becomes of them. Nobody was removed.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    keys: t.prismaField({
      type: [ApiKeyType],
      description: 'These keys, the newest first.',
      resolve: (query, { keys }, _args, { prisma }) =>
        prisma.apiKey.findMany({ ...query, where: { id: { in: keys.map(({ id }) => id) } }, orderBy: { id: 'desc' } }),
    }),
  }),
});

const InvitationType = builder.objectRef<InvitationRecord>('Invitation').implement({
  description: 'Somebody who was asked to join an account.',
  authScopes: (invitation) => ({ account: invitation.accountId }),
  fields: (t) => ({
    id: t.id({ description: 'For `revokeInvitation`.', resolve: ({ id }) => encodeId('Invitation', id) }),
    email: t.exposeString('email', { description: 'Who was asked.' }),
    role: t.expose('role', { type: InvitedRoleType, nullable: true, description: 'As what.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when the link works.' }),
  }),
});

builder.prismaObjectFields(AccountType, (t) => ({
  members: t.field({
    type: [MemberType],
    description: 'Who belongs to the account, the longest first.',
    select: { id: true },
    resolve: ({ id }, _args, { domains }) => domains.people.members.list(id),
  }),
  invitations: t.field({
    type: [InvitationType],
    description: 'Open invitations, newest first.',
    select: { id: true },
    resolve: ({ id }, _args, { domains }) => domains.people.members.invitations(id),
  }),
}));

builder.objectField(DoneType, 'member', (t) =>
  t.field({
    type: MemberType,
    nullable: true,
    description: 'The member whose role was changed; null for other mutations.',
    resolve: async ({ member }, _args, { domains }) => {
      if (member === undefined) return null;
      const members = await domains.people.members.list(member.accountId);
      return members.find(({ userId }) => userId === member.userId) ?? null;
    },
  }),
);

const writes = [InputError, NotFoundError, NotAllowedError, ConflictError];

function settle(outcome: MemberOutcome): void {
  if (outcome.kind === 'unknown') throw new NotFoundError('member');
  if (outcome.kind === 'not_allowed') throw new NotAllowedError('Only owners can do that.');
  if (outcome.kind === 'last_owner') throw new ConflictError('An account needs an owner.', 'LAST_OWNER');
}

/** The member that a global id names, in an account that the principal sees. */
function memberFor(context: GraphqlContext, id: string): { accountId: string; userId: string } {
  const [accountId = '', userId = ''] = (decodeId('Member', id) ?? '').split('/');
  if (!isUuid(userId) || !accountsWith(context.principal, 'read').includes(accountId))
    throw new NotFoundError('member');
  return { accountId, userId };
}

const InviteMemberInput = builder.inputType('InviteMemberInput', {
  fields: (t) => ({
    accountId: t.id({ description: 'Which account; left out: your only or oldest one.' }),
    email: t.string({ required: true, description: 'Whom.' }),
    role: t.field({ type: InvitedRoleType, required: true, description: 'As what.' }),
  }),
});

const SetMemberRoleInput = builder.inputType('SetMemberRoleInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which member.' }),
    role: t.field({ type: RoleType, required: true, description: 'What the person is to be.' }),
  }),
});

const RemoveMemberInput = builder.inputType('RemoveMemberInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which member.' }),
    keys: t.field({
      type: LeftKeys,
      description:
        'What becomes of keys that the person made or rotated and that are not their personal ones. Needed where there are any, of who manages members: without it they are named (`KeysUndecidedError`), and nobody is removed.',
    }),
  }),
});

builder.mutationFields((t) => ({
  inviteMember: t.field({
    type: InvitationType,
    description: 'Asks somebody by mail to join an account. Asking again sends a new link.',
    authScopes: { user: true },
    errors: { types: [...writes, TooManyAttemptsError] },
    args: { input: t.arg({ type: InviteMemberInput, required: true }) },
    resolve: async (_root, { input: args }, context) => {
      const accountId = accountFor(context, args.accountId, 'members');
      const { email, role } = args;
      const outcome = await context.domains.people.members.invite(me(context), { accountId, email, role });
      if (outcome.kind === 'invited') return outcome.invitation;
      if (outcome.kind === 'already_member')
        throw new ConflictError('This person belongs to the account.', 'ALREADY_MEMBER');
      if (outcome.kind === 'too_many') throw new ConflictError(`At most ${outcome.limit} people.`, 'TOO_MANY_MEMBERS');
      if (outcome.kind === 'not_allowed') throw new NotAllowedError('Only owners and admins can do that.');
      if (outcome.kind === 'throttled') throw new TooManyAttemptsError(outcome.retryAfterS);
      throw badInput(['input', outcome.field], outcome.message);
    },
  }),
  revokeInvitation: t.field({
    type: DoneType,
    description: 'Takes an invitation back.',
    authScopes: { user: true },
    errors: { types: writes },
    args: {
      id: t.arg.id({ required: true }),
    },
    resolve: async (_root, { id }, context) => {
      const { members } = context.domains.people;
      const invitationId = decodeUuid('Invitation', id);
      const invitation = invitationId === null ? null : await members.findInvitation(invitationId);
      const visible = accountsWith(context.principal, 'read');
      if (invitation === null || !visible.includes(invitation.accountId)) throw new NotFoundError('invitation');
      requireAbility(context, invitation.accountId, 'members');
      if (!(await members.revokeInvitation(me(context), invitation))) throw new NotFoundError('invitation');
      return { ok: true as const, id: encodeId('Invitation', invitation.id) };
    },
  }),
  acceptInvitation: t.prismaField({
    type: AccountType,
    description: 'Joins an account with the link of a mail. Only for the person who signs in with the invited address.',
    authScopes: { user: true },
    errors: { types: [InvalidTokenError] },
    args: {
      token: t.arg.string({ required: true, description: 'The `token` of the link.' }),
    },
    resolve: async (query, _root, { token }, context) => {
      const outcome =
        token.length > 100
          ? ({ kind: 'bad_token' } as const)
          : await context.domains.people.members.accept(me(context), token);
      if (outcome.kind === 'bad_token') {
        throw new InvalidTokenError('This invitation is not valid any more, or is for another address.');
      }
      // The operation's principal was read earlier; later fields must see the new membership.
      context.principal = { ...me(context), memberships: await membershipsOf(context) };
      return context.prisma.account.findUniqueOrThrow({ ...query, where: { id: outcome.accountId } });
    },
  }),
  setMemberRole: t.field({
    type: DoneType,
    description: 'Changes what a person may do in an account.',
    authScopes: { user: true },
    errors: { types: writes },
    args: { input: t.arg({ type: SetMemberRoleInput, required: true }) },
    resolve: async (_root, { input: { id, role } }, context) => {
      const ref = memberFor(context, id);
      requireAbility(context, ref.accountId, 'members');
      settle(await context.domains.people.members.setRole(me(context), { ...ref, role }));
      return { ok: true as const, id: memberId(ref), member: ref };
    },
  }),
  removeMember: t.field({
    type: DoneType,
    description:
      'Removes a person from an account, with their personal keys and the access tokens they made for it; `keys` says what becomes of other keys that they have seen. A mail to the owners names those. Everybody may remove themselves.',
    authScopes: { user: true },
    errors: { types: [...writes, KeysUndecidedError] },
    args: { input: t.arg({ type: RemoveMemberInput, required: true }) },
    resolve: async (_root, { input: { id, keys } }, context) => {
      const ref = memberFor(context, id);
      if (ref.userId !== me(context).userId) requireAbility(context, ref.accountId, 'members');
      const outcome = await context.domains.people.members.remove(me(context), { ...ref, keys: keys ?? null });
      if (outcome.kind === 'keys_undecided') throw new KeysUndecidedError(outcome.keys.slice(0, maxNamedKeys));
      settle(outcome);
      return { ok: true as const, id: memberId(ref) };
    },
  }),
}));

async function membershipsOf(context: GraphqlContext): Promise<Map<string, Role>> {
  const rows = await context.prisma.member.findMany({
    where: { userId: me(context).userId },
    orderBy: [{ createdAt: 'asc' }, { accountId: 'asc' }],
  });
  return new Map(rows.map(({ accountId, role }) => [accountId, role as Role]));
}
