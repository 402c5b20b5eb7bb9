/** Hashes and checks passwords, a few at a time, and judges the strength of new ones. */

import { hash, verify } from '@node-rs/argon2';
import { isUsualPassword } from './usual-passwords.ts';

// `Algorithm.Argon2id` of the package, a const enum that type stripping cannot import.
const argon2id = 2;

/**
 * Argon2id with the parameters OWASP recommends (19 MiB, 2 passes, 1 lane): about 20 ms of a core each. A handful run
 * at once and a few more wait; the rest are refused, because sign-ins must never starve model traffic.
 */
const parameters = { algorithm: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Longer ones are refused before they are hashed. */
export const maxPasswordBytes = 1_024;
/** NIST SP 800-63B asks for 8; the service holds money. */
export const minPasswordLength = 10;

/** The queue of password checks is full. A retry in a moment helps. */
export class PasswordsBusyError extends Error {
  override name = 'PasswordsBusyError';
}

export interface Passwords {
  hash(password: string): Promise<string>;
  verify(input: { hash: string; password: string }): Promise<boolean>;
}

export function createPasswords(options: { concurrent?: number; waiting?: number } = {}): Passwords {
  const concurrent = options.concurrent ?? 2;
  const maxWaiting = options.waiting ?? 32;
  const waiting: (() => void)[] = [];
  let running = 0;

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= concurrent) {
      if (waiting.length >= maxWaiting) throw new PasswordsBusyError('too many passwords at once');
      // A finished call passes its turn on, so `running` does not change in between.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };

  return {
    hash: (password) => inTurn(() => hash(normal(password), parameters)),
    verify: (input) => inTurn(() => verify(input.hash, normal(input.password)).catch(() => false)),
  };
}

/** The same characters typed on two keyboards may arrive in two encodings. */
function normal(password: string): string {
  return password.normalize('NFKC');
}

/**
 * The problem of a new password, as a sentence; null when there is none. `personal`: texts that must not be the
 * password, such as the person's address.
 */
export function passwordProblem(password: string, personal: readonly string[] = []): string | null {
  if (Array.from(password).length < minPasswordLength) {
    return `The password needs at least ${minPasswordLength} characters.`;
  }
  if (Buffer.byteLength(password) > maxPasswordBytes) {
    return `The password has more than ${maxPasswordBytes} bytes.`;
  }
  return isUsualPassword(password, personal)
    ? 'The password is among those that are guessed first; choose another.'
    : null;
}

/** A person's texts that must not be their password. */
export function personalTexts(person: { email: string; name?: string }): string[] {
  return [person.email, person.email.split('@')[0] ?? '', ...(person.name === undefined ? [] : [person.name])];
}
