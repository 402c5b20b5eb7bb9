/** Accounts elsewhere with which people sign in: linking one to a person who is here, and a person's list of them. */

import type { IdentityView } from '../../people/sign-in/identities.ts';
import { isUuid } from '../../shared/uuid.ts';
import { builder } from '../builder.ts';
import { ConflictError, InvalidCredentialsError, InvalidTokenError, NotFoundError } from '../types/errors.ts';
import { DoneType, finish, guarded, passwordOrFresh, staleSignIn, throwRefusal } from './outcomes.ts';
import { me, ViewerType } from './people.ts';
import { SignedInType } from './sign-in.ts';

const IdentityType = builder.objectRef<IdentityView & { name: string }>('Identity').implement({
  description: 'An account at another service with which a person signs in.',
  authScopes: (identity) => ({ self: identity.userId }),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'For `removeIdentity`.' }),
    name: t.exposeString('name', { description: 'The host of the service, e.g. `accounts.google.com`.' }),
    provider: t.exposeString('provider', {
      description: 'Id of the provider among `signInMethods` when it was linked.',
    }),
    linkedAt: t.expose('linkedAt', { type: 'DateTime', description: 'When it was linked.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it last signed in; null: never.',
    }),
  }),
});

builder.objectField(ViewerType, 'identities', (t) =>
  t.field({
    type: [IdentityType],
    description: 'Accounts elsewhere that sign the person in, oldest first; empty for an access token.',
    resolve: (principal, _args, { domains }) =>
      principal.kind === 'user' ? domains.people.listIdentities(principal) : [],
  }),
);

builder.mutationField('requestIdentityLink', (t) =>
  t.field({
    type: DoneType,
    description:
      'After a sign-in at another service with the address of somebody who is here: mails them a link for `linkIdentity`. Answers the same where nothing waits in this browser.',
    authScopes: { public: true },
    errors: { types: guarded },
    resolve: async (_root, _args, context) => {
      const outcome = await context.domains.people.requestIdentityLink(context);
      return outcome.kind === 'done' ? finish(context, outcome.setCookies) : throwRefusal(outcome);
    },
  }),
);

builder.mutationField('linkIdentity', (t) =>
  t.field({
    type: SignedInType,
    description:
      'Links the account elsewhere that waits in this browser, and signs in with it. A sign-in in the same browser with password or passkey links it, too.',
    authScopes: { public: true },
    errors: { types: [...guarded, InvalidTokenError] },
    args: { token: t.arg.string({ required: true, description: 'The `token` of the mail’s link.' }) },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.linkIdentity(args, context);
      if (outcome.kind === 'bad_token') {
        throw new InvalidTokenError('Open the link in the browser in which you signed in, within half an hour.');
      }
      if (outcome.kind !== 'done' && outcome.kind !== 'second_factor') return throwRefusal(outcome, []);
      finish(context, outcome.setCookies);
      return { secondFactorRequired: outcome.kind === 'second_factor' };
    },
  }),
);

const RemoveIdentityInput = builder.inputType('RemoveIdentityInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'Id of the linked account.' }),
    password: t.string({ required: true, description: passwordOrFresh }),
  }),
});

builder.mutationField('removeIdentity', (t) =>
  t.field({
    type: DoneType,
    description: 'An account elsewhere no longer signs the person in. Their other sessions end.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError, ConflictError, NotFoundError] },
    args: { input: t.arg({ type: RemoveIdentityInput, required: true }) },
    resolve: async (_root, { input: { id, password } }, context) => {
      if (!isUuid(id)) throw new NotFoundError('linked account');
      const outcome = await context.domains.people.removeIdentity(me(context), { id, password }, context);
      if (outcome === null) throw new NotFoundError('linked account');
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      if (outcome.kind === 'stale_sign_in') throw staleSignIn();
      if (outcome.kind === 'last_way') {
        throw new ConflictError('This is your only way to sign in; link another account first.', 'LAST_WAY_IN');
      }
      return outcome.kind === 'done' ? { ...finish(context, outcome.setCookies), id } : throwRefusal(outcome);
    },
  }),
);
