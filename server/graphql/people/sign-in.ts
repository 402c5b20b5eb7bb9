import { builder } from '../builder.ts';
import {
  BusyError,
  EmailNotVerifiedError,
  InvalidCredentialsError,
  InvalidTokenError,
  NotAllowedError,
  wrongCode,
} from '../types/errors.ts';
import { DoneType, finish, guarded, requirePasswordSignIn, throwRefusal } from './outcomes.ts';

/** Signing in and out, and resetting a forgotten password. */

interface SignedIn {
  secondFactorRequired: boolean;
}

export const SignedInType = builder.objectRef<SignedIn>('SignedIn').implement({
  description: 'The proof was right. The session is in a cookie of this answer.',
  authScopes: { public: true },
  fields: (t) => ({
    secondFactorRequired: t.exposeBoolean('secondFactorRequired', {
      description: 'True: there is no session yet; `signInWithCode` is the next step, in the same browser.',
    }),
  }),
});

const SignInInput = builder.inputType('SignInInput', {
  fields: (t) => ({
    email: t.string({ required: true, description: 'E-mail address.' }),
    password: t.string({ required: true, description: 'Password.' }),
  }),
});

builder.mutationField('signIn', (t) =>
  t.field({
    type: SignedInType,
    description: 'Signs in with e-mail address and password. At most 5 attempts a minute for one address and network.',
    authScopes: { public: true },
    errors: { types: [...guarded, InvalidCredentialsError, EmailNotVerifiedError, NotAllowedError] },
    args: { input: t.arg({ type: SignInInput, required: true }) },
    resolve: async (_root, { input: args }, context) => {
      requirePasswordSignIn(context);
      const outcome = await context.domains.people.signIn(args, context);
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError();
      if (outcome.kind === 'unverified') throw new EmailNotVerifiedError();
      if (outcome.kind !== 'done' && outcome.kind !== 'second_factor') return throwRefusal(outcome);
      finish(context, outcome.setCookies);
      return { secondFactorRequired: outcome.kind === 'second_factor' };
    },
  }),
);

const SignInWithCodeInput = builder.inputType('SignInWithCodeInput', {
  fields: (t) => ({
    code: t.string({ required: true, description: 'The code of the authenticator app, or a backup code.' }),
    backup: t.boolean({ defaultValue: false, description: 'True for a backup code.' }),
  }),
});

builder.mutationField('signInWithCode', (t) =>
  t.field({
    type: SignedInType,
    description: 'The second step of signing in: a one-time code, or one of the backup codes.',
    authScopes: { public: true },
    errors: { types: [...guarded, InvalidCredentialsError, InvalidTokenError] },
    args: { input: t.arg({ type: SignInWithCodeInput, required: true }) },
    resolve: async (_root, { input: { code, backup } }, context) => {
      const outcome = await context.domains.people.signInWithCode({ code, backup: backup === true }, context);
      if (outcome.kind === 'wrong_code') throw wrongCode();
      if (outcome.kind === 'bad_token') throw new InvalidTokenError('Sign in with your password again.');
      if (outcome.kind !== 'done') return throwRefusal(outcome);
      finish(context, outcome.setCookies);
      return { secondFactorRequired: false };
    },
  }),
);

/** Nothing of this can go wrong as expected but that too much goes on at once: the union leaves room for more. */
const endSessionErrors = [BusyError];

builder.mutationFields((t) => ({
  signOut: t.field({
    type: DoneType,
    description: 'Ends the session of this browser. Does nothing when there is none.',
    authScopes: { public: true },
    errors: { types: endSessionErrors },
    resolve: async (_root, _args, context) =>
      finish(context, (await context.domains.people.signOut(context)).setCookies),
  }),
}));

builder.mutationField('requestPasswordReset', (t) =>
  t.field({
    type: DoneType,
    description: 'Sends a link for choosing a new password. Answers the same whether or not the address is known.',
    authScopes: { public: true },
    errors: { types: [...guarded, NotAllowedError] },
    args: {
      email: t.arg.string({ required: true, description: 'E-mail address.' }),
    },
    resolve: async (_root, { email }, context) => {
      requirePasswordSignIn(context);
      const outcome = await context.domains.people.requestPasswordReset({ email }, context);
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome, []);
    },
  }),
);

const ResetPasswordInput = builder.inputType('ResetPasswordInput', {
  fields: (t) => ({
    token: t.string({ required: true, description: 'The `token` of the link.' }),
    newPassword: t.string({ required: true, description: 'At least 10 characters, at most 1,024 bytes.' }),
  }),
});

builder.mutationField('resetPassword', (t) =>
  t.field({
    type: DoneType,
    description:
      'Chooses a new password with the link of a mail. Every session ends, and every passkey and linked account is removed.',
    authScopes: { public: true },
    errors: { types: [...guarded, InvalidTokenError, NotAllowedError] },
    args: { input: t.arg({ type: ResetPasswordInput, required: true }) },
    resolve: async (_root, { input: args }, context) => {
      requirePasswordSignIn(context);
      const outcome = await context.domains.people.resetPassword(args, context);
      if (outcome.kind === 'bad_token') throw new InvalidTokenError();
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

interface Provider {
  id: string;
  name: string;
}

const ProviderType = builder.objectRef<Provider>('SignInProvider').implement({
  description: 'A service with whose account people sign in.',
  authScopes: { public: true },
  fields: (t) => ({
    id: t.exposeString('id', { description: 'Part of the address `/sign-in/with/{id}` that a browser opens.' }),
    name: t.exposeString('name', { description: 'What people call it.' }),
  }),
});

const SignInMethodsType = builder.objectRef<{
  passwords: boolean;
  passkeys: boolean;
  providers: readonly Provider[];
}>('SignInMethods');
SignInMethodsType.implement({
  description: 'How people sign in here.',
  authScopes: { public: true },
  fields: (t) => ({
    passwords: t.exposeBoolean('passwords', { description: 'Whether with an e-mail address and a password.' }),
    passkeys: t.exposeBoolean('passkeys', { description: 'Whether with a passkey.' }),
    providers: t.field({
      type: [ProviderType],
      description: 'With whose accounts.',
      resolve: ({ providers }) => [...providers],
    }),
  }),
});

builder.queryField('signInMethods', (t) =>
  t.field({
    type: SignInMethodsType,
    description: 'How people sign in here.',
    authScopes: { public: true },
    resolve: (_root, _args, { domains: { people } }) => ({
      passwords: people.passwordSignIn,
      passkeys: people.passkeySignIn,
      providers: people.providers,
    }),
  }),
);
