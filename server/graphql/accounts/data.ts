import { abilitiesOn, actorOf, isTrustedOperator } from '../../people/principal.ts';
import { accountFor, decodeUuid, suspendedSentence } from '../access.ts';
import { DownloadType } from '../billing/ledger.ts';
import { builder } from '../builder.ts';
import { mayOperate } from '../guard/operator-roles.ts';
import { guarded, staleSignIn, throwRefusal } from '../people/outcomes.ts';
import { me } from '../people/people.ts';
import {
  badInput,
  ConflictError,
  InvalidCredentialsError,
  NotAllowedError,
  NotFoundError,
  TooManyAttemptsError,
  wrongCode,
} from '../types/errors.ts';

/** A person's own data: the export of an account, and its erasure. */

const ErasedType = builder.objectRef<{ people: number; accountId: string }>('AccountErased').implement({
  description: 'An account that was erased.',
  authScopes: { public: true },
  fields: (t) => ({
    people: t.exposeInt('people', {
      description: 'How many persons belonged to no other account and were forgotten with it.',
    }),
    proofUrl: t.string({
      description:
        'A PDF that says what was erased and when, by ids; `&lang=en` or `&lang=vi` chooses the language. Works for 90 days, without a session.',
      resolve: ({ accountId }, _args, { domains, principal }) =>
        domains.erasureLinks.link(accountId, actorOf(principal)).url,
    }),
  }),
});

const exportsADay = { attempts: 10, windowS: 86_400 };
const erasures = { attempts: 5, windowS: 3_600 };

const EraseAccountInput = builder.inputType('EraseAccountInput', {
  fields: (t) => ({
    accountId: t.id({ required: true, description: 'Which account.' }),
    email: t.string({ required: true, description: 'The account’s e-mail address, typed as a confirmation.' }),
    password: t.string({ description: 'Your password, once more.' }),
    code: t.string({ description: 'Instead of it: a code of the authenticator app, or a backup code.' }),
  }),
});

builder.mutationFields((t) => ({
  createAccountExport: t.field({
    type: DownloadType,
    description:
      'Makes a link to an export of an account as lines of JSON: its members, keys, settings, orders, grants and ledger. For persons who manage its members; at most 10 a day.',
    authScopes: { user: true },
    errors: { types: [NotFoundError, NotAllowedError, TooManyAttemptsError] },
    args: {
      accountId: t.arg.id({ description: 'Which account; left out: your only or oldest one.' }),
    },
    resolve: async (_root, args, context) => {
      const accountId = accountFor(context, args.accountId, 'members');
      const wait = await context.domains.throttle.take(`export:${accountId}`, exportsADay);
      if (wait !== null) throw new TooManyAttemptsError(wait);
      return context.domains.exportLinks.link(accountId, actorOf(context.principal));
    },
  }),
  eraseAccount: t.field({
    type: ErasedType,
    description:
      'Forgets an account and its people for good; only an owner may, and an operator who is one of the service. Keys stop working, what is left of the budget is lost. The books stay without names, as law requires. Its owners get a mail. Asks for the password or a one-time code; of people who have neither, for a sign-in less than 10 minutes ago.',
    authScopes: { user: true },
    errors: { types: [...guarded, NotFoundError, NotAllowedError, InvalidCredentialsError, ConflictError] },
    args: { input: t.arg({ type: EraseAccountInput, required: true }) },
    resolve: async (_root, { input: { accountId, email, password, code } }, context) => {
      const id = decodeUuid('Account', accountId);
      const person = me(context);
      const { userId } = person;
      const isOperator = isTrustedOperator(person) && mayOperate(person, 'eraseAccount');
      if (id === null || !(isOperator || abilitiesOn(person, id).has('read'))) throw new NotFoundError('account');
      const wait = await context.domains.throttle.take(`erase:${userId}`, erasures);
      if (wait !== null) throw new TooManyAttemptsError(wait);
      const given = { password: password ?? null, code: code ?? null };
      const refusal = await context.domains.people.settings.prove(person, given, context);
      if (refusal?.kind === 'wrong') throw new InvalidCredentialsError('The password is wrong.');
      if (refusal?.kind === 'wrong_code') throw wrongCode();
      if (refusal?.kind === 'stale_sign_in') throw staleSignIn();
      if (refusal !== null) return throwRefusal(refusal);
      const by = isOperator
        ? { kind: 'operator' as const, actor: actorOf(person) }
        : { kind: 'member' as const, userId };
      const outcome = await context.domains.erasure.erase({ accountId: id, by, confirmation: email });
      if (outcome.kind === 'unknown_account') throw new NotFoundError('account');
      if (outcome.kind === 'not_owner') throw new NotAllowedError('Only an owner can erase an account.');
      if (outcome.kind === 'suspended') throw new NotAllowedError(suspendedSentence);
      if (outcome.kind === 'not_confirmed') throw badInput('input.email', 'must be the account’s e-mail address');
      return outcome;
    },
  }),
}));
