import type { Refusal } from '../people/outcomes.ts';
import { accountsWith, type UserPrincipal } from '../people/principal.ts';
import type { SessionView } from '../people/settings.ts';
import { isUuid } from '../shared/uuid.ts';
import { builder } from './builder.ts';
import type { GraphqlContext } from './context.ts';
import {
  BusyError,
  badInput,
  ConflictError,
  EmailNotVerifiedError,
  InputError,
  InvalidCredentialsError,
  InvalidTokenError,
  NotFoundError,
  TooManyAttemptsError,
  transportError,
  wrongCode,
} from './errors.ts';

/** People: signing up and in, what they change about that, and who is asking. */

/** The signed-in person; fields that call this ask for the scope `user` first. */
export function me(context: GraphqlContext): UserPrincipal {
  if (context.principal.kind !== 'user') throw transportError('FORBIDDEN', 'This needs a signed-in person.');
  return context.principal;
}

/** Throws what refused an attempt as the error of the field's result union. `below`: the argument that carries the fields. */
function throwRefusal(refusal: Refusal, below: readonly string[] = []): never {
  switch (refusal.kind) {
    case 'bad_input':
      throw badInput([...below, refusal.field], refusal.message);
    case 'throttled':
      throw new TooManyAttemptsError(refusal.retryAfterS);
    case 'busy':
      throw new BusyError();
  }
}

/** What every mutation that checks a secret can answer besides its result. */
const guarded = [InputError, TooManyAttemptsError, BusyError];

interface Done {
  ok: true;
}
const ok: Done = { ok: true };

export const DoneType = builder.objectRef<Done>('Done').implement({
  description: 'It is done, and there is nothing more to tell.',
  authScopes: { public: true },
  fields: (t) => ({
    ok: t.exposeBoolean('ok', { description: 'Always true.' }),
  }),
});

// ---------------------------------------------------------------------------------------------- who is asking

export const UserType = builder.prismaNode('User', {
  id: { field: 'id' },
  description: 'A person who signs in.',
  // Nobody looks people up by id but themselves and operators; the others are shown as members of an account.
  findUnique: (id, { principal }) =>
    principal.kind === 'user' && (principal.operator || principal.userId === id) ? { id } : { id: noSuchId },
  authScopes: (user) => ({ self: user.id }),
  fields: (t) => ({
    email: t.exposeString('email', { description: 'What the person signs in with.' }),
    name: t.exposeString('name', { description: 'What the person is called.' }),
    locale: t.exposeString('locale', { description: 'Language of mails and pages: `en` or `vi`.' }),
    emailVerified: t.exposeBoolean('emailVerified', { description: 'Whether the address has been confirmed.' }),
    secondFactor: t.exposeBoolean('twoFactorEnabled', {
      description: 'Whether signing in asks for a one-time code as well.',
    }),
    operator: t.exposeBoolean('operator', { description: 'Whether the person operates this service.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the person signed up.' }),
  }),
});

/** An id that no row has: an object that may not be seen is looked up like one that does not exist. */
export const noSuchId = '00000000-0000-0000-0000-000000000000';

export const ViewerType = builder.objectRef<GraphqlContext['principal']>('Viewer').implement({
  description: 'Whoever sent this request, and what they can reach.',
  authScopes: { reader: true },
});

builder.objectFields(ViewerType, (t) => ({
  user: t.prismaField({
    type: 'User',
    nullable: true,
    description: 'The signed-in person; null for an access token.',
    resolve: (query, principal, _args, { prisma }) =>
      principal.kind === 'user' ? prisma.user.findUnique({ ...query, where: { id: principal.userId } }) : null,
  }),
  scopes: t.stringList({
    description: 'Scopes of the access token; empty for a person, whose roles count instead.',
    resolve: (principal) => (principal.kind === 'token' ? [...principal.scopes] : []),
  }),
  accounts: t.prismaField({
    type: ['Account'],
    description: 'Accounts that the viewer belongs to, the oldest membership first.',
    resolve: async (query, principal, _args, { prisma }) => {
      const ids = accountsWith(principal, 'read');
      const accounts = await prisma.account.findMany({ ...query, where: { id: { in: ids } } });
      return accounts.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
    },
  }),
}));

builder.queryField('me', (t) =>
  t.field({
    type: ViewerType,
    nullable: true,
    description: 'Whoever sent this request; null for nobody.',
    authScopes: { public: true },
    resolve: (_root, _args, { principal }) => (principal.kind === 'nobody' ? null : principal),
  }),
);

// ---------------------------------------------------------------------------------------------- signing up

const SignUpInput = builder.inputType('SignUpInput', {
  description: 'What a new person tells.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'E-mail address; a link is sent to it.' }),
    password: t.string({ required: true, description: 'At least 10 characters, at most 1,024 bytes.' }),
    name: t.string({ required: true, description: 'What the person is called.' }),
    locale: t.string({ description: 'Language of mails: `en` (usual) or `vi`.' }),
  }),
});

builder.mutationField('signUp', (t) =>
  t.field({
    type: DoneType,
    description:
      'Begins a sign-up and sends a link to the address. Answers the same whether or not the address has an account. The account, and with it the trial budget, is opened when the link is used.',
    authScopes: { public: true },
    errors: { types: guarded },
    args: { input: t.arg({ type: SignUpInput, required: true, description: 'Who signs up.' }) },
    resolve: async (_root, { input }, context) => {
      const outcome = await context.domains.people.signUp(input, context);
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome, ['input']);
    },
  }),
);

builder.mutationField('resendVerification', (t) =>
  t.field({
    type: DoneType,
    description: 'Sends the link of a sign-up again. Answers the same whether or not there is one.',
    authScopes: { public: true },
    errors: { types: guarded },
    args: { email: t.arg.string({ required: true, description: 'The address of the sign-up.' }) },
    resolve: async (_root, { email }, context) => {
      const outcome = await context.domains.people.resendVerification({ email }, context);
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

builder.mutationField('verifyEmail', (t) =>
  t.field({
    type: DoneType,
    description:
      'Uses the link of a mail: confirms the address of a sign-up (and opens the account with its trial budget), or one step of a change of address.',
    authScopes: { public: true },
    errors: { types: [...guarded, InvalidTokenError] },
    args: { token: t.arg.string({ required: true, description: 'The `token` of the link.' }) },
    resolve: async (_root, { token }, context) => {
      const outcome = await context.domains.people.verifyEmail({ token }, context);
      if (outcome.kind === 'bad_token') throw new InvalidTokenError();
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

/** Cookies of an outcome go into the answer. */
function finish(context: GraphqlContext, setCookies: readonly string[]): Done {
  context.setCookies.push(...setCookies);
  return ok;
}

// ---------------------------------------------------------------------------------------------- signing in

interface SignedIn {
  secondFactorRequired: boolean;
}

const SignedInType = builder.objectRef<SignedIn>('SignedIn').implement({
  description: 'The password was right. The session is in a cookie of this answer.',
  authScopes: { public: true },
  fields: (t) => ({
    secondFactorRequired: t.exposeBoolean('secondFactorRequired', {
      description: 'True: there is no session yet; `signInWithCode` is the next step, in the same browser.',
    }),
  }),
});

builder.mutationField('signIn', (t) =>
  t.field({
    type: SignedInType,
    description: 'Signs in with e-mail address and password. At most 5 attempts a minute for one address and network.',
    authScopes: { public: true },
    errors: { types: [...guarded, InvalidCredentialsError, EmailNotVerifiedError] },
    args: {
      email: t.arg.string({ required: true, description: 'E-mail address.' }),
      password: t.arg.string({ required: true, description: 'Password.' }),
    },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.signIn(args, context);
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError();
      if (outcome.kind === 'unverified') throw new EmailNotVerifiedError();
      if (outcome.kind !== 'done' && outcome.kind !== 'second_factor') return throwRefusal(outcome);
      finish(context, outcome.setCookies);
      return { secondFactorRequired: outcome.kind === 'second_factor' };
    },
  }),
);

builder.mutationField('signInWithCode', (t) =>
  t.field({
    type: SignedInType,
    description: 'The second step of signing in: a one-time code, or one of the backup codes.',
    authScopes: { public: true },
    errors: { types: [...guarded, InvalidCredentialsError, InvalidTokenError] },
    args: {
      code: t.arg.string({ required: true, description: 'The code of the authenticator app, or a backup code.' }),
      backup: t.arg.boolean({ defaultValue: false, description: 'True for a backup code.' }),
    },
    resolve: async (_root, { code, backup }, context) => {
      const outcome = await context.domains.people.signInWithCode({ code, backup: backup === true }, context);
      if (outcome.kind === 'wrong_code') throw wrongCode();
      if (outcome.kind === 'bad_token') throw new InvalidTokenError('Sign in with your password again.');
      if (outcome.kind !== 'done') return throwRefusal(outcome);
      finish(context, outcome.setCookies);
      return { secondFactorRequired: false };
    },
  }),
);

builder.mutationField('signOut', (t) =>
  t.field({
    type: DoneType,
    description: 'Ends the session of this browser. Does nothing when there is none.',
    authScopes: { public: true },
    resolve: async (_root, _args, context) => {
      const outcome = await context.domains.people.signOut(context);
      return finish(context, outcome.setCookies);
    },
  }),
);

builder.mutationField('requestPasswordReset', (t) =>
  t.field({
    type: DoneType,
    description: 'Sends a link for choosing a new password. Answers the same whether or not the address is known.',
    authScopes: { public: true },
    errors: { types: guarded },
    args: { email: t.arg.string({ required: true, description: 'E-mail address.' }) },
    resolve: async (_root, { email }, context) => {
      const outcome = await context.domains.people.requestPasswordReset({ email }, context);
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

builder.mutationField('resetPassword', (t) =>
  t.field({
    type: DoneType,
    description: 'Chooses a new password with the link of a mail. Every session ends.',
    authScopes: { public: true },
    errors: { types: [...guarded, InvalidTokenError] },
    args: {
      token: t.arg.string({ required: true, description: 'The `token` of the link.' }),
      newPassword: t.arg.string({ required: true, description: 'At least 10 characters, at most 1,024 bytes.' }),
    },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.resetPassword(args, context);
      if (outcome.kind === 'bad_token') throw new InvalidTokenError();
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

// ---------------------------------------------------------------------------------------------- one's own settings

builder.mutationField('updateProfile', (t) =>
  t.prismaField({
    type: 'User',
    description: 'Changes name or language of the signed-in person.',
    authScopes: { user: true },
    errors: { types: guarded },
    args: {
      name: t.arg.string({ description: 'New name; left out: unchanged.' }),
      locale: t.arg.string({ description: '`en` or `vi`; left out: unchanged.' }),
    },
    resolve: async (query, _root, { name, locale }, context) => {
      const input = { name: name ?? null, locale: locale ?? null };
      const outcome = await context.domains.people.settings.updateProfile(me(context), input);
      if (outcome.kind !== 'done') return throwRefusal(outcome);
      return context.prisma.user.findUniqueOrThrow({ ...query, where: { id: me(context).userId } });
    },
  }),
);

builder.mutationField('changePassword', (t) =>
  t.field({
    type: DoneType,
    description: 'Changes the password. Every other session ends, and this one gets a new id.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError] },
    args: {
      currentPassword: t.arg.string({ required: true, description: 'The password until now.' }),
      newPassword: t.arg.string({ required: true, description: 'At least 10 characters, at most 1,024 bytes.' }),
    },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.settings.changePassword(me(context), args, context);
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

builder.mutationField('changeEmail', (t) =>
  t.field({
    type: DoneType,
    description:
      'Begins a change of address: a link goes to the old address, and after that one to the new. Answers the same whether or not the new address is taken.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError] },
    args: {
      newEmail: t.arg.string({ required: true, description: 'The new address.' }),
      password: t.arg.string({ required: true, description: 'The password, once more.' }),
    },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.settings.changeEmail(me(context), args, context);
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

interface SecondFactorSetup {
  uri: string;
  backupCodes: string[];
}

const SecondFactorSetupType = builder.objectRef<SecondFactorSetup>('SecondFactorSetup').implement({
  description: 'What an authenticator app needs. Shown this once.',
  authScopes: { user: true },
  fields: (t) => ({
    uri: t.exposeString('uri', { description: 'The `otpauth:` address, for a QR code.' }),
    backupCodes: t.exposeStringList('backupCodes', {
      description: 'Codes that each work once in place of the app.',
    }),
  }),
});

builder.mutationField('beginSecondFactor', (t) =>
  t.field({
    type: SecondFactorSetupType,
    description: 'Begins to set up one-time codes. They are asked for once `confirmSecondFactor` has seen one.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError, ConflictError] },
    args: { password: t.arg.string({ required: true, description: 'The password, once more.' }) },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.settings.beginSecondFactor(me(context), args, context);
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      if (outcome.kind === 'already_on') {
        throw new ConflictError('One-time codes are on already; switch them off first.', 'ALREADY_ON');
      }
      return outcome.kind === 'secret' ? outcome : throwRefusal(outcome);
    },
  }),
);

builder.mutationField('confirmSecondFactor', (t) =>
  t.field({
    type: DoneType,
    description: 'Switches one-time codes on with a first code. Every other session ends.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError] },
    args: { code: t.arg.string({ required: true, description: 'A code of the authenticator app.' }) },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.settings.confirmSecondFactor(me(context), args, context);
      if (outcome.kind === 'wrong_code') throw wrongCode();
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

builder.mutationField('disableSecondFactor', (t) =>
  t.field({
    type: DoneType,
    description: 'Switches one-time codes off.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError] },
    args: {
      password: t.arg.string({ required: true, description: 'The password, once more.' }),
      code: t.arg.string({ required: true, description: 'A code of the authenticator app.' }),
    },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.settings.disableSecondFactor(me(context), args, context);
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      if (outcome.kind === 'wrong_code') throw wrongCode();
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

interface BackupCodes {
  backupCodes: string[];
}

const BackupCodesType = builder.objectRef<BackupCodes>('BackupCodes').implement({
  description: 'New backup codes. The old ones work no longer. Shown this once.',
  authScopes: { user: true },
  fields: (t) => ({
    backupCodes: t.exposeStringList('backupCodes', { description: 'Codes that each work once.' }),
  }),
});

builder.mutationField('renewBackupCodes', (t) =>
  t.field({
    type: BackupCodesType,
    description: 'Makes new backup codes.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError] },
    args: { password: t.arg.string({ required: true, description: 'The password, once more.' }) },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.settings.renewBackupCodes(me(context), args, context);
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      return outcome.kind === 'codes' ? outcome : throwRefusal(outcome);
    },
  }),
);

// ---------------------------------------------------------------------------------------------- sessions

export const SessionType = builder.objectRef<SessionView>('Session').implement({
  description: 'A browser that is signed in.',
  authScopes: (session) => ({ self: session.userId }),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'For `revokeSession`.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the browser signed in.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', description: 'About when it was last used.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends without further use.' }),
    ipAddress: t.exposeString('ipAddress', { nullable: true, description: 'Where it signed in from.' }),
    userAgent: t.exposeString('userAgent', { nullable: true, description: 'What the browser calls itself.' }),
    current: t.exposeBoolean('current', { description: 'Whether it is the one that asks.' }),
  }),
});

builder.objectField(ViewerType, 'sessions', (t) =>
  t.field({
    type: [SessionType],
    description: 'Browsers in which the person is signed in; empty for an access token.',
    resolve: (principal, _args, { domains }) =>
      principal.kind === 'user' ? domains.people.settings.listSessions(principal) : [],
  }),
);

builder.mutationField('revokeSession', (t) =>
  t.field({
    type: DoneType,
    description: 'Ends one session of the signed-in person.',
    authScopes: { user: true },
    errors: { types: [NotFoundError] },
    args: { id: t.arg.id({ required: true, description: 'Id of the session.' }) },
    resolve: async (_root, { id }, context) => {
      const ended = isUuid(id) && (await context.domains.people.settings.revokeSession(me(context), id));
      if (!ended) throw new NotFoundError('session');
      return ok;
    },
  }),
);

builder.mutationField('revokeOtherSessions', (t) =>
  t.field({
    type: 'Int',
    description: 'Ends every session of the signed-in person but this one; returns how many.',
    authScopes: { user: true },
    resolve: (_root, _args, context) => context.domains.people.settings.revokeOtherSessions(me(context)),
  }),
);
