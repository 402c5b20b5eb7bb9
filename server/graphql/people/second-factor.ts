import { builder } from '../builder.ts';
import { ConflictError, InvalidCredentialsError, wrongCode } from '../types/errors.ts';
import { DoneType, finish, guarded, passwordOrFresh, staleSignIn, throwRefusal } from './outcomes.ts';
import { me } from './people.ts';

/** The second factor of signed-in people: one-time codes of an authenticator app, and backup codes. */

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
