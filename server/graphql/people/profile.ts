import { builder } from '../builder.ts';
import { InvalidCredentialsError } from '../types/errors.ts';
import { LanguageType } from './enums.ts';
import { DoneType, finish, guarded, throwRefusal } from './outcomes.ts';
import { me } from './people.ts';

/** What signed-in people change about themselves: name, language, password, e-mail address. */

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
