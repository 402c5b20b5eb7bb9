/** Proof that a signed-in person is at the browser: password, one-time code, or a sign-in a few minutes ago. */

import { z } from 'zod';
import { type Caller, headersOf } from '../caller.ts';
import { type Answered, ask, asking, type IdentityParts } from '../identity.ts';
import { givenPassword, parseInput } from '../input.ts';
import { type AttemptRefusal, type Busy, type Throttled, throttled, type Wrong, type WrongCode } from '../outcomes.ts';
import type { UserPrincipal } from '../principal.ts';
import { codeGuessing, useCode } from './one-time-codes.ts';

/** The person has no password to be asked for, and signed in too long ago. */
export interface StaleSignIn {
  kind: 'stale_sign_in';
}

/** What a person gives as proof; null: nothing. */
export interface GivenProof {
  password: string | null;
  /** Of the authenticator app, or a backup code. */
  code: string | null;
}

/** A sign-in that is at most this old stands for the password of people who have none. */
const freshS = 600;
const perUser = { attempts: 10, windowS: 300 };

export type Proof = ReturnType<typeof createProof>;

export function createProof({ pool, auth, throttle }: Pick<IdentityParts, 'pool' | 'auth' | 'throttle'>) {
  /** Throttles every prompt for a password or code of a signed-in person. */
  const mayAsk = async (me: UserPrincipal): Promise<Throttled | null> => {
    const wait = await throttle.take(`again:${me.userId}`, perUser);
    return wait === null ? null : throttled(wait);
  };

  const hasPassword = async (me: UserPrincipal): Promise<boolean> => {
    const { rows } = await pool.query(
      'SELECT FROM user_credential WHERE user_id = $1 AND password IS NOT NULL LIMIT 1',
      [me.userId],
    );
    return rows.length > 0;
  };

  /** Null: the session began with a sign-in a few minutes ago. */
  const freshSignIn = async (me: UserPrincipal): Promise<StaleSignIn | null> => {
    const { rows } = await pool.query(
      'SELECT FROM user_session WHERE id = $1 AND user_id = $2 AND created_at > now() - make_interval(secs => $3)',
      [me.sessionId, me.userId, freshS],
    );
    return rows.length > 0 ? null : { kind: 'stale_sign_in' };
  };

  /** Null: the password is right. */
  const verifyPassword = async (
    me: UserPrincipal,
    password: string,
    caller: Caller,
  ): Promise<Wrong | AttemptRefusal | null> => {
    const parsed = parseInput(z.object({ password: givenPassword }), { password });
    const refusal = parsed.kind === 'bad_input' ? parsed : await mayAsk(me);
    if (refusal !== null) return refusal;
    const answer = await ask(async () => ({
      headers: new Headers(),
      response: await auth.api.verifyPassword({ headers: headersOf(caller), body: { password } }),
    }));
    if (answer.kind === 'busy') return answer;
    return answer.kind === 'answered' ? null : { kind: 'wrong' };
  };

  /** A code of the authenticator app; where `backup` is true, one of the backup codes as well. */
  const verifyCode = async (
    me: UserPrincipal,
    text: string,
    caller: Caller,
    { backup }: { backup: boolean },
  ): Promise<Answered<unknown> | WrongCode | Throttled | Busy> => {
    const code = text.replaceAll(/\s/g, '').slice(0, 64);
    const guesser = `code-again:${me.userId}`;
    const wait = await throttle.slow(guesser, codeGuessing);
    if (wait !== null) return throttled(wait);
    // An app's codes are six digits; backup codes are longer, and better-auth uses each of them up.
    const isBackup = backup && !/^\d{6}$/.test(code);
    if (!isBackup && !(await useCode(throttle, me.userId, code))) return { kind: 'wrong_code' };
    const answer = await ask<unknown>(() =>
      isBackup
        ? auth.api.verifyBackupCode({ ...asking(caller), body: { code } })
        : auth.api.verifyTOTP({ ...asking(caller), body: { code } }),
    );
    if (answer.kind === 'refused') return { kind: 'wrong_code' };
    if (answer.kind === 'answered') await throttle.forget(guesser);
    return answer;
  };

  return {
    mayAsk,
    hasPassword,
    freshSignIn,
    verifyPassword,
    verifyCode,

    /** Null: the password is right, or the person has none and signed in a few minutes ago. */
    async passwordOrFreshSignIn(
      me: UserPrincipal,
      password: string,
      caller: Caller,
    ): Promise<Wrong | StaleSignIn | AttemptRefusal | null> {
      return (await hasPassword(me)) ? verifyPassword(me, password, caller) : freshSignIn(me);
    },

    /**
     * Before something that cannot be undone: the password or a one-time code, whichever is given. People who have
     * neither need a sign-in a few minutes ago. Null: proven.
     */
    async prove(
      me: UserPrincipal,
      given: GivenProof,
      caller: Caller,
    ): Promise<Wrong | WrongCode | StaleSignIn | AttemptRefusal | null> {
      const withPassword = await hasPassword(me);
      const { password, code } = given;
      if (withPassword && password !== null) return verifyPassword(me, password, caller);
      if (me.secondFactor && code !== null) {
        const answer = await verifyCode(me, code, caller, { backup: true });
        return answer.kind === 'answered' ? null : answer;
      }
      if (!withPassword && !me.secondFactor) return freshSignIn(me);
      return withPassword
        ? { kind: 'bad_input', field: 'password', message: 'The password must not be empty.', others: [] }
        : { kind: 'bad_input', field: 'code', message: 'The code must not be empty.', others: [] };
    },
  };
}
