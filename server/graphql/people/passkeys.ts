/** Passkeys: signing in with one, and a person's list of them. */

import type { PasskeyOptions, PasskeyView } from '../../people/sign-in/passkeys.ts';
import { isUuid } from '../../shared/uuid.ts';
import { builder } from '../builder.ts';
import {
  ConflictError,
  InvalidCredentialsError,
  InvalidTokenError,
  NotAllowedError,
  NotFoundError,
  wrongCode,
} from '../types/errors.ts';
import { DoneType, finish, guarded, passwordOrFresh, staleSignIn, throwRefusal } from './outcomes.ts';
import { me, ViewerType } from './people.ts';
import { SignedInType } from './sign-in.ts';

const PasskeyOptionsType = builder.objectRef<PasskeyOptions>('PasskeyOptions').implement({
  description: 'What the browser needs to make or use a passkey. It is good for 5 minutes, in this browser, once.',
  authScopes: { public: true },
  fields: (t) => ({
    json: t.exposeString('json', {
      description:
        'JSON of `PublicKeyCredentialCreationOptions` or `PublicKeyCredentialRequestOptions` (WebAuthn Level 3).',
    }),
  }),
});

const PasskeyType = builder.objectRef<PasskeyView>('Passkey').implement({
  description: 'The public half of a key pair with which a device or password manager signs a person in.',
  authScopes: (passkey) => ({ self: passkey.userId }),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'For `renamePasskey` and `removePasskey`.' }),
    name: t.string({ description: 'What its owner calls it.', resolve: ({ name }) => name ?? 'Passkey' }),
    backedUp: t.exposeBoolean('backedUp', {
      description: 'Whether a password manager keeps copies of it; else it is lost with its device.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it last signed in; null: never.',
    }),
  }),
});

builder.objectField(ViewerType, 'passkeys', (t) =>
  t.field({
    type: [PasskeyType],
    description: 'Passkeys of the person, oldest first; empty for an access token.',
    resolve: (principal, _args, { domains }) =>
      principal.kind === 'user' ? domains.people.listPasskeys(principal) : [],
  }),
);

builder.mutationField('beginPasskeySignIn', (t) =>
  t.field({
    type: PasskeyOptionsType,
    description: 'Begins a sign-in with a passkey; `signInWithPasskey` ends it.',
    authScopes: { public: true },
    errors: { types: [...guarded, NotAllowedError] },
    resolve: async (_root, _args, context) => {
      const outcome = await context.domains.people.beginPasskeySignIn(context);
      if (outcome.kind === 'passkeys_off') throw passkeysOff();
      if (outcome.kind !== 'options') return throwRefusal(outcome);
      finish(context, outcome.setCookies);
      return outcome;
    },
  }),
);

builder.mutationField('signInWithPasskey', (t) =>
  t.field({
    type: SignedInType,
    description:
      'Signs in with a passkey. No one-time code is asked for: the device must have verified its user, by finger, face or PIN.',
    authScopes: { public: true },
    errors: { types: [...guarded, InvalidCredentialsError, NotAllowedError] },
    args: {
      credential: t.arg.string({ required: true, description: 'JSON of the browser’s `PublicKeyCredential`.' }),
    },
    resolve: async (_root, args, context) => {
      const outcome = await context.domains.people.signInWithPasskey(args, context);
      if (outcome.kind === 'passkeys_off') throw passkeysOff();
      if (outcome.kind === 'wrong') {
        throw new InvalidCredentialsError('This passkey does not sign in here.', 'INVALID_PASSKEY');
      }
      if (outcome.kind !== 'done') return throwRefusal(outcome, []);
      finish(context, outcome.setCookies);
      return { secondFactorRequired: false };
    },
  }),
);

const BeginPasskeyInput = builder.inputType('BeginPasskeyInput', {
  fields: (t) => ({
    password: t.string({ required: true, description: passwordOrFresh }),
    code: t.string({
      defaultValue: '',
      description: 'Where one-time codes are on: a code of the authenticator app, or a backup code.',
    }),
  }),
});

builder.mutationField('beginPasskey', (t) =>
  t.field({
    type: PasskeyOptionsType,
    description: 'Begins to add a passkey of the signed-in person; `addPasskey` ends it. At most 20.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError, ConflictError, NotAllowedError] },
    args: { input: t.arg({ type: BeginPasskeyInput, required: true }) },
    resolve: async (_root, { input: { password, code } }, context) => {
      const outcome = await context.domains.people.beginPasskey(me(context), { password, code: code ?? '' }, context);
      if (outcome.kind === 'passkeys_off') throw passkeysOff();
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      if (outcome.kind === 'wrong_code') throw wrongCode();
      if (outcome.kind === 'stale_sign_in') throw staleSignIn();
      if (outcome.kind === 'too_many') {
        throw new ConflictError('You have 20 passkeys already; remove one first.', 'TOO_MANY_PASSKEYS');
      }
      if (outcome.kind !== 'options') return throwRefusal(outcome);
      finish(context, outcome.setCookies);
      return outcome;
    },
  }),
);

const AddPasskeyInput = builder.inputType('AddPasskeyInput', {
  fields: (t) => ({
    name: t.string({ required: true, description: 'What its owner calls it.' }),
    credential: t.string({ required: true, description: 'JSON of the browser’s `PublicKeyCredential`.' }),
  }),
});

builder.mutationField('addPasskey', (t) =>
  t.field({
    type: PasskeyType,
    description: 'Adds the passkey that the browser made for `beginPasskey`.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidTokenError, NotAllowedError] },
    args: { input: t.arg({ type: AddPasskeyInput, required: true }) },
    resolve: async (_root, { input: args }, context) => {
      const outcome = await context.domains.people.addPasskey(me(context), args, context);
      if (outcome.kind === 'passkeys_off') throw passkeysOff();
      if (outcome.kind === 'bad_token') throw new InvalidTokenError('The passkey was not accepted. Try once more.');
      return outcome.kind === 'added' ? outcome.passkey : throwRefusal(outcome);
    },
  }),
);

const RenamePasskeyInput = builder.inputType('RenamePasskeyInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'Id of the passkey.' }),
    name: t.string({ required: true, description: 'The new name.' }),
  }),
});

builder.mutationField('renamePasskey', (t) =>
  t.field({
    type: PasskeyType,
    description: 'Gives a passkey of the signed-in person another name.',
    authScopes: { user: true },
    errors: { types: [...guarded, NotFoundError] },
    args: { input: t.arg({ type: RenamePasskeyInput, required: true }) },
    resolve: async (_root, { input: { id, name } }, context) => {
      const outcome = isUuid(id) ? await context.domains.people.renamePasskey(me(context), { id, name }) : null;
      if (outcome === null) throw new NotFoundError('passkey');
      return 'kind' in outcome ? throwRefusal(outcome) : outcome;
    },
  }),
);

const RemovePasskeyInput = builder.inputType('RemovePasskeyInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'Id of the passkey.' }),
    password: t.string({ required: true, description: passwordOrFresh }),
  }),
});

builder.mutationField('removePasskey', (t) =>
  t.field({
    type: DoneType,
    description: 'Removes a passkey of the signed-in person. The other sessions that it opened end.',
    authScopes: { user: true },
    errors: { types: [...guarded, InvalidCredentialsError, ConflictError, NotFoundError] },
    args: { input: t.arg({ type: RemovePasskeyInput, required: true }) },
    resolve: async (_root, { input: { id, password } }, context) => {
      if (!isUuid(id)) throw new NotFoundError('passkey');
      const outcome = await context.domains.people.removePasskey(me(context), { id, password }, context);
      if (outcome === null) throw new NotFoundError('passkey');
      if (outcome.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      if (outcome.kind === 'stale_sign_in') throw staleSignIn();
      return outcome.kind === 'done' ? { ...finish(context, outcome.setCookies), id } : throwRefusal(outcome);
    },
  }),
);

const passkeysOff = () => new NotAllowedError('Passkeys are switched off here: sign in another way.');
