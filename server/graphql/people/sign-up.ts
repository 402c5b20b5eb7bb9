import { builder } from '../builder.ts';
import { InvalidTokenError, NotAllowedError } from '../types/errors.ts';
import { LanguageType } from './enums.ts';
import { DoneType, finish, guarded, requirePasswordSignIn, throwRefusal } from './outcomes.ts';

/** Signing up: an address is confirmed before the account is opened. */

const SignUpInput = builder.inputType('SignUpInput', {
  fields: (t) => ({
    email: t.string({ required: true, description: 'E-mail address; a link is sent to it.' }),
    password: t.string({ required: true, description: 'At least 10 characters, at most 1,024 bytes.' }),
    name: t.string({ required: true, description: 'What the person is called.' }),
    language: t.field({ type: LanguageType, description: 'Language of mails; left out: `EN`.' }),
  }),
});

builder.mutationField('signUp', (t) =>
  t.field({
    type: DoneType,
    description:
      'Begins a sign-up and sends a link to the address. Answers the same whether or not the address has an account. The account, and with it the trial budget, is opened when the link is used.',
    authScopes: { public: true },
    errors: { types: [...guarded, NotAllowedError] },
    args: { input: t.arg({ type: SignUpInput, required: true }) },
    resolve: async (_root, { input }, context) => {
      requirePasswordSignIn(context);
      const { language: locale, ...person } = input;
      const outcome = await context.domains.people.signUp({ ...person, locale }, context);
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

builder.mutationField('resendVerification', (t) =>
  t.field({
    type: DoneType,
    description: 'Sends the link of a sign-up again. Answers the same whether or not there is one.',
    authScopes: { public: true },
    errors: { types: guarded },
    args: {
      email: t.arg.string({ required: true, description: 'The address of the sign-up.' }),
    },
    resolve: async (_root, { email }, context) => {
      const outcome = await context.domains.people.resendVerification({ email }, context);
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome, []);
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
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome, []);
    },
  }),
);
