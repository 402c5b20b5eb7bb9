import { APIError } from 'better-auth/api';
import type { Pool } from 'pg';
import type { PrismaClient } from '../database/generated/prisma/client.ts';
import type { Mailer } from '../runtime/mail.ts';
import { type Caller, headersOf } from './caller.ts';
import type { Busy } from './outcomes.ts';
import type { Auth } from './sign-in/auth.ts';
import type { Devices } from './sign-in/device.ts';
import { type Passwords, PasswordsBusyError } from './sign-in/passwords.ts';
import type { Throttle } from './sign-in/throttle.ts';

/** The dependencies and calls that the parts of the identity domain share. */
export interface IdentityParts {
  prisma: PrismaClient;
  pool: Pool;
  auth: Auth;
  throttle: Throttle;
  passwords: Passwords;
  devices: Devices;
  mailer: Mailer;
  publicUrl: string;
  /** Opens the person's account with its trial, unless they have one. Must be idempotent. */
  openAccount: OpenAccount;
}

export type OpenAccount = (person: {
  userId: string;
  /** Canonical (`address.ts`). */
  email: string;
  name: string;
  /** The network that the confirmation came from, for the trial's limits. */
  network: string;
}) => Promise<void>;

/** An answer of better-auth's server API with the cookies it sets. */
export interface Answered<T> {
  kind: 'answered';
  response: T;
  setCookies: string[];
}

/** better-auth refused; `code` is its name for the reason. */
export interface RefusedByAuth {
  kind: 'refused';
  code: string;
}

/**
 * Calls better-auth's server API and turns its errors into outcomes. Only errors that are neither a refusal nor a full
 * queue are rethrown.
 */
export async function ask<T>(
  call: () => Promise<{ headers: Headers; response: T }>,
): Promise<Answered<T> | RefusedByAuth | Busy> {
  try {
    const { headers, response } = await call();
    return { kind: 'answered', response, setCookies: headers.getSetCookie() };
  } catch (error) {
    if (error instanceof PasswordsBusyError) return { kind: 'busy' };
    if (error instanceof APIError) {
      const body: unknown = error.body;
      const code =
        typeof body === 'object' && body !== null && 'code' in body ? String(body.code) : String(error.status);
      return { kind: 'refused', code };
    }
    throw error;
  }
}

/** Arguments of every call of the server API. */
export function asking(caller: Caller): { headers: Headers; returnHeaders: true } {
  return { headers: headersOf(caller), returnHeaders: true };
}
