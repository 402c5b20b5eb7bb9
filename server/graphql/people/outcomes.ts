import type { AttemptRefusal } from '../../people/outcomes.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { BusyError, ConflictError, InputError, NotAllowedError, TooManyAttemptsError } from '../types/errors.ts';
import { ViewerType } from './people.ts';

/** Turns outcomes of identity mutations into results, errors and cookies. */

interface Done {
  ok: true;
  /** The global id of what was changed. */
  id?: string;
  /** The member that was changed. */
  member?: { accountId: string; userId: string };
}
export const ok: Done = { ok: true };

export const DoneType = builder.objectRef<Done>('Done').implement({
  description: 'It is done.',
  authScopes: { public: true },
  fields: (t) => ({
    ok: t.exposeBoolean('ok', { description: 'Always true.' }),
    id: t.id({
      nullable: true,
      description:
        'Id of the member, invitation, session, passkey or linked account that was changed or removed; null: none of these.',
      resolve: ({ id }) => id ?? null,
    }),
    viewer: t.field({
      type: ViewerType,
      nullable: true,
      description: 'Who asked, to read on in the same operation: person, sessions, accounts. Null without a session.',
      resolve: (_done, _args, { principal }) => (principal.kind === 'nobody' ? null : principal),
    }),
  }),
});

/** Throws the refusal of an attempt as the error of the field's result union. `below`: the argument that carries the input. */
export function throwRefusal(refusal: AttemptRefusal, below: readonly string[] = ['input']): never {
  switch (refusal.kind) {
    case 'bad_input':
      throw new InputError(
        [refusal, ...refusal.others].map(({ field, message }) => ({ path: [...below, field], message })),
      );
    case 'throttled':
      throw new TooManyAttemptsError(refusal.retryAfterS);
    case 'busy':
      throw new BusyError();
  }
}

/** The errors of every mutation that checks a secret. */
export const guarded = [InputError, TooManyAttemptsError, BusyError];

/** Copies the cookies of an outcome into the answer. */
export function finish(context: GraphqlContext, setCookies: readonly string[]): Done {
  context.setCookies.push(...setCookies);
  return ok;
}

/** Throws where the operator has switched passwords off. */
export function requirePasswordSignIn({ domains }: GraphqlContext): void {
  if (!domains.people.passwordSignIn)
    throw new NotAllowedError('Passwords are switched off here: sign in with one of the listed services.');
}

/** The refusal of people without a password who signed in too long ago. */
export function staleSignIn(): ConflictError {
  return new ConflictError('Sign in again, then repeat this within 10 minutes.', 'SIGN_IN_AGAIN');
}

/**
 * Throws where an operator's power would outlive its proof: what a stolen token or session makes must not survive the end of
 * that token or session. `trustedOperator` has seen to the second factor.
 */
export async function requirePresence({ principal, domains }: GraphqlContext): Promise<void> {
  if (principal.kind !== 'user') throw new NotAllowedError('Only a person does this, not an access token.');
  if ((await domains.people.settings.freshSignIn(principal)) !== null) throw staleSignIn();
}

/** The description of an argument that asks for the password. */
export const passwordOrFresh =
  'The password, once more; empty for people who have none: they need a sign-in less than 10 minutes ago.';
