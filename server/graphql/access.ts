import { type Ability, abilitiesOn, accountsWith, isSuspended } from '../people/principal.ts';
import { isUuid } from '../shared/uuid.ts';
import type { GraphqlContext } from './context.ts';
import { badInput, NotAllowedError, NotFoundError } from './types/errors.ts';

/**
 * Access checks of objects that arguments name. An object of another account is answered like a missing one, before
 * anything about it is read.
 */

/** Global ids are opaque to clients: the type and the id, in base64. */
export function encodeId(type: string, id: string): string {
  return Buffer.from(`${type}:${id}`).toString('base64');
}

/**
 * The id inside a global id of that type, or null. A bare UUID is accepted as well: the command line and the model
 * endpoints print ids in that form.
 */
export function decodeUuid(type: string, id: string): string | null {
  const inner = decodeId(type, id) ?? id.toLowerCase();
  return isUuid(inner) ? inner : null;
}

/** The same for types whose ids are chosen by operators (models, upstreams, plans). */
export function decodeId(type: string, id: string): string | null {
  if (id.length > 512) return null;
  const text = Buffer.from(id, 'base64').toString('utf8');
  return text.startsWith(`${type}:`) && encodeId(type, text.slice(type.length + 1)) === id
    ? text.slice(type.length + 1)
    : null;
}

/**
 * The account that an argument names, if the principal has the ability. Default: a token's own account, or the person's
 * oldest one. Throws `NotFoundError` for an account that is not theirs, `NotAllowedError` where the role is too low.
 */
export function accountFor(context: GraphqlContext, id: string | null | undefined, ability: Ability): string {
  const visible = accountsWith(context.principal, 'read');
  const accountId = id === null || id === undefined ? visible[0] : decodeUuid('Account', id);
  if (accountId === undefined || accountId === null || !visible.includes(accountId)) throw new NotFoundError('account');
  requireAbility(context, accountId, ability);
  return accountId;
}

/** Throws `NotAllowedError` unless the principal, who sees the account, has the ability. */
export function requireAbility(context: GraphqlContext, accountId: string, ability: Ability): void {
  if (abilitiesOn(context.principal, accountId).has(ability)) return;
  if (isSuspended(context.principal, accountId)) throw new NotAllowedError(suspendedSentence);
  throw new NotAllowedError(
    context.principal.kind === 'token'
      ? `This access token lacks the scope \`${ability}\`.`
      : 'Your role in this account does not allow that.',
  );
}

/** The refusal of changes to a suspended account. */
export const suspendedSentence =
  'This account is suspended: it can be looked at, and nothing else. Please contact support to have it reviewed.';

/** Idempotency keys are chosen by the client; only their size is limited. */
export function checkIdempotencyKey(key: string | null | undefined): string | null {
  if (key === null || key === undefined) return null;
  if (key === '' || key.length > 200)
    throw badInput('input.idempotencyKey', 'An idempotency key has 1 to 200 characters.');
  return key;
}

/** An id without a row: an invisible object is looked up like a missing one. */
export const noSuchId = '00000000-0000-0000-0000-000000000000';
