import { APIError } from 'better-auth/api';
import type { Pool } from 'pg';
import type { PrismaClient } from '../database/generated/prisma/client.ts';
import type { Mailer } from '../runtime/mail.ts';
import type { Auth } from './auth.ts';
import { type Caller, headersOf } from './caller.ts';
import type { Devices } from './device.ts';
import type { Busy } from './outcomes.ts';
import { type Passwords, PasswordsBusyError } from './passwords.ts';
import type { Throttle } from './throttle.ts';

/** What the parts of the identity domain share. */
export interface IdentityParts {
  prisma: PrismaClient;
  pool: Pool;
  auth: Auth;
  throttle: Throttle;
  passwords: Passwords;
  devices: Devices;
  mailer: Mailer;
  publicUrl: string;
  /** Opens the person's account, and with it the trial, unless they have one. Must be idempotent. */
  openAccount: OpenAccount;
}

export type OpenAccount = (person: {
  userId: string;
  /** Normal form (`address.ts`). */
  email: string;
  name: string;
  /** The network the confirmation came from, for the trial's own limits. */
  network: string;
}) => Promise<void>;

/** An answer of better-auth's server API with the cookies it sets. */
export interface Answered<T> {
  kind: 'answered';
  response: T;
  setCookies: string[];
}

/** better-auth refused; `code` is its name for why. */
export interface RefusedByAuth {
  kind: 'refused';
  code: string;
}

/**
 * Calls better-auth's server API and turns what it throws into an outcome. Only what is neither a refusal nor a full
 * queue goes on as an exception.
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

/** Arguments that every call of the server API shares. */
export function asking(caller: Caller): { headers: Headers; returnHeaders: true } {
  return { headers: headersOf(caller), returnHeaders: true };
}
