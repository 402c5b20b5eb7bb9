import type { RequestFacts, WireContext } from '../protocol.ts';
import type { Dialogue } from './dialogue.ts';

/** What a request writer works from. */
export interface WriterInput {
  dialogue: Dialogue;
  facts: RequestFacts;
  context: WireContext;
}

/** Longest name of an end user that the vendors take. */
const END_USER_LENGTH = 64;

/**
 * A client's own user under a name that says nothing outside the gateway. Clients put device and session ids there,
 * and at the vendor all customers share one account.
 */
export function endUserName(endUser: string | null, context: WireContext): string | undefined {
  return endUser === null || endUser === '' ? undefined : context.digest('user', endUser).slice(0, END_USER_LENGTH);
}
