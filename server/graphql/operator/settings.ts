import { builder } from '../builder.ts';
import { LanguageType } from '../people/enums.ts';
import { DoneType, finish, guarded, passwordOrFresh, staleSignIn, throwRefusal } from '../people/outcomes.ts';
import { me } from '../people/people.ts';
import { ConflictError, InvalidCredentialsError, wrongCode } from '../types/errors.ts';

/** What signed-in people change about themselves: profile, password, address, second factor. */

const UpdateProfileInput = builder.inputType('UpdateProfileInput', {
  fields: (t) => ({
    name: t.string({ description: 'New name; left out: unchanged.' }),
    language: t.field({ type: LanguageType, description: 'Language of mails and pages; left out: unchanged.' }),
  }),
});

builder.mutationField('updateProfile', (t) =>
  t.prismaField({
    type: 'User',
    description: 'Changes name or language of the signed-in person.',
    authScopes: { user: true },
    errors: { types: guarded },
    args: { input: t.arg({ type: UpdateProfileInput, required: true }) },
    resolve: async (query, _root, { input: { name, language } }, context) => {
      const input = { name: name ?? null, locale: language ?? null };
      const outcome = await context.domains.people.settings.updateProfile(me(context), input);
      if (outcome.kind !== 'done') return throwRefusal(outcome);
      return context.prisma.user.findUniqueOrThrow({ ...query, where: { id: me(context).userId } });
    },
  }),
);

const ChangePasswordInput = builder.inputType('ChangePasswordInput', {
  fields: (t) => ({
    currentPassword: t.string({ required: true, description: 'The password until now.' }),
    newPassword: t.string({ required: true, description: 'At least 10 characters, at most 1,024 bytes.' }),
  }),
});

builder.mutationField('changePassword', (t) =>
  t.field({
    type: DoneType,
    description: 'Changes the password. Every other session ends, and this one gets a new id.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError] },
    args: { input: t.arg({ type: ChangePasswordInput, required: true }) },
    resolve: async (_root, { input: args }, context) => {
      const outcome = await context.domains.people.settings.changePassword(me(context), args, context);
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

const ChangeEmailInput = builder.inputType('ChangeEmailInput', {
  fields: (t) => ({
    newEmail: t.string({ required: true, description: 'The new address.' }),
    password: t.string({ required: true, description: 'The password, once more.' }),
  }),
});

builder.mutationField('changeEmail', (t) =>
  t.field({
    type: DoneType,
    description:
      'Begins a change of address: a link goes to the old address, and after that one to the new. Answers the same whether or not the new address is taken.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError] },
    args: { input: t.arg({ type: ChangeEmailInput, required: true }) },
    resolve: async (_root, { input: args }, context) => {
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
    args: {
      password: t.arg.string({ required: true, description: passwordOrFresh }),
    },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.settings.beginSecondFactor(me(context), args, context);
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      if (outcome.kind === 'stale_sign_in') throw staleSignIn();
      if (outcome.kind === 'already_on') {
        throw new ConflictError('One-time codes are on already; switch them off first.', 'ALREADY_ON');
      }
      return outcome.kind === 'secret' ? outcome : throwRefusal(outcome, []);
    },
  }),
);

builder.mutationField('confirmSecondFactor', (t) =>
  t.field({
    type: DoneType,
    description: 'Switches one-time codes on with a first code. Every other session ends.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError] },
    args: {
      code: t.arg.string({ required: true, description: 'A code of the authenticator app.' }),
    },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.settings.confirmSecondFactor(me(context), args, context);
      if (outcome.kind === 'wrong_code') throw wrongCode();
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome, []);
    },
  }),
);

const DisableSecondFactorInput = builder.inputType('DisableSecondFactorInput', {
  fields: (t) => ({
    password: t.string({ required: true, description: passwordOrFresh }),
    code: t.string({ required: true, description: 'A code of the authenticator app, or a backup code.' }),
  }),
});

builder.mutationField('disableSecondFactor', (t) =>
  t.field({
    type: DoneType,
    description: 'Switches one-time codes off.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError, ConflictError] },
    args: {
      input: t.arg({ type: DisableSecondFactorInput, required: true }),
    },
    resolve: async (_root, { input: args }, context) => {
      const outcome = await context.domains.people.settings.disableSecondFactor(me(context), args, context);
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      if (outcome.kind === 'stale_sign_in') throw staleSignIn();
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
    errors: { types: [...guarded, InvalidCredentialsError, ConflictError] },
    args: {
      password: t.arg.string({ required: true, description: passwordOrFresh }),
    },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.settings.renewBackupCodes(me(context), args, context);
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      if (outcome.kind === 'stale_sign_in') throw staleSignIn();
      return outcome.kind === 'codes' ? outcome : throwRefusal(outcome, []);
    },
  }),
);
