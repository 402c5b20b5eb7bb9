import { GraphQLError } from 'graphql';
import type { SeenKey } from '../../people/members.ts';
import type { ConflictCode } from './conflict-texts.ts';

/**
 * Two kinds of errors. An expected error is a member of a field's result union, made by throwing one of the classes
 * below: each has a `code`, a sentence and the fields that a program needs. An error that a correct client does not
 * cause (not signed in, not allowed, limits of a document) is a top-level error with `extensions.code`.
 */

/** Parent of every expected error; see `error-types.ts` for how each looks in the schema. */
export abstract class ExpectedError extends Error {
  abstract readonly code: string;
}

export interface InputProblem {
  /** The path of the value in the arguments, e.g. `["input", "name"]`. */
  path: string[];
  message: string;
}

/** Something in the arguments is unusable. Nothing was changed. */
export class InputError extends ExpectedError {
  override name = 'InputError';
  readonly code = 'BAD_INPUT';
  readonly problems: InputProblem[];

  constructor(problems: InputProblem[]) {
    super(problems.map((problem) => problem.message).join(' ') || 'The input cannot be used.');
    this.problems = problems;
  }
}

/** One problem with one argument. */
export function badInput(path: string | string[], message: string): InputError {
  return new InputError([{ path: typeof path === 'string' ? path.split('.') : path, message }]);
}

/**
 * Throws a domain's problems with an input: all of them, each under the name of its argument here. `names`: those that
 * differ from the domain's.
 */
export function refuseInput<Field extends string>(
  { problems }: { problems: readonly { field: Field; message: string }[] },
  names: Partial<Record<Field, string>> = {},
  below: readonly string[] = ['input'],
): never {
  throw new InputError(
    problems.map(({ field, message }) => {
      const argument = names[field] ?? field;
      return { path: [...below, argument], message: `${argument} ${message}.` };
    }),
  );
}

/** The object does not exist, or belongs to another account: both answer the same, so that ids cannot be probed. */
export class NotFoundError extends ExpectedError {
  override name = 'NotFoundError';
  readonly code = 'NOT_FOUND';

  constructor(what = 'object') {
    super(`There is no such ${what}.`);
  }
}

/** The principal sees the object but may not do this to it. */
export class NotAllowedError extends ExpectedError {
  override name = 'NotAllowedError';
  readonly code = 'NOT_ALLOWED';

  constructor(message = 'Your role in this account does not allow that.') {
    super(message);
  }
}

/** The object is not in a state in which this can be done. */
export class ConflictError extends ExpectedError {
  override name = 'ConflictError';
  readonly code: string;

  constructor(message: string, code: ConflictCode = 'CONFLICT') {
    super(message);
    this.code = code;
  }
}

/** An idempotency key was repeated with other arguments. */
export function idempotencyConflict(): ConflictError {
  return new ConflictError('This idempotency key was used with other arguments.', 'IDEMPOTENCY_CONFLICT');
}

/** An idempotency key was repeated: its API key was made then, and its secret is not shown again. */
export class KeyCreatedBeforeError extends ExpectedError {
  override name = 'KeyCreatedBeforeError';
  readonly code = 'KEY_CREATED_BEFORE';
  readonly keyId: string;

  constructor(keyId: string) {
    super('This key was made before, and its secret is not shown again: delete it, or rotate it, to get another one.');
    this.keyId = keyId;
  }
}

/** A person cannot be removed before somebody says what becomes of the keys that they have seen. */
export class KeysUndecidedError extends ExpectedError {
  override name = 'KeysUndecidedError';
  readonly code = 'KEYS_UNDECIDED';
  readonly keys: SeenKey[];

  constructor(keys: SeenKey[]) {
    super('Keys would go on working that this person has seen: say whether to keep or to revoke them.');
    this.keys = keys;
  }
}

/** Too many attempts at an action that is throttled against guessing or flooding. */
export class TooManyAttemptsError extends ExpectedError {
  override name = 'TooManyAttemptsError';
  readonly code = 'TOO_MANY_ATTEMPTS';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super(`Too many attempts; try again in ${retryAfterSeconds} s.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * E-mail address and password, a password, or a one-time code did not match. The existence of the address is never
 * revealed; a wrong code is (`INVALID_CODE`), because the password before it was right.
 */
export class InvalidCredentialsError extends ExpectedError {
  override name = 'InvalidCredentialsError';
  readonly code: 'INVALID_CREDENTIALS' | 'INVALID_CODE' | 'INVALID_PASSKEY';

  constructor(
    message = 'The e-mail address or the password is wrong.',
    code: InvalidCredentialsError['code'] = 'INVALID_CREDENTIALS',
  ) {
    super(message);
    this.code = code;
  }
}

/** The answer to a wrong one-time or backup code. */
export function wrongCode(): InvalidCredentialsError {
  return new InvalidCredentialsError(
    'The code is wrong. Codes change every half minute, and each works once.',
    'INVALID_CODE',
  );
}

/** The password was right, but the address has not been confirmed yet. */
export class EmailNotVerifiedError extends ExpectedError {
  override name = 'EmailNotVerifiedError';
  readonly code = 'EMAIL_NOT_VERIFIED';

  constructor() {
    super('Confirm your e-mail address first: open the link in the mail we sent you, or ask for another one.');
  }
}

/** A link or code from a mail that is unknown, used or expired. */
export class InvalidTokenError extends ExpectedError {
  override name = 'InvalidTokenError';
  readonly code = 'INVALID_TOKEN';

  constructor(message = 'This link is not valid any more; ask for a new one.') {
    super(message);
  }
}

/** The queue for this kind of work is full. */
export class BusyError extends ExpectedError {
  override name = 'BusyError';
  readonly code = 'BUSY';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds = 2) {
    super('The server is busy; try again in a moment.');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The gateway would refuse the request that an estimate is asked for. */
export class RequestRefusedError extends ExpectedError {
  override name = 'RequestRefusedError';
  readonly code = 'REQUEST_REFUSED';
  /** The gateway's own code, as the request's answer would have it. */
  readonly reason: string;
  readonly param: string | null;
  readonly status: number;

  constructor({
    reason,
    param,
    status,
    message,
  }: Pick<RequestRefusedError, 'reason' | 'param' | 'status' | 'message'>) {
    super(message);
    this.reason = reason;
    this.param = param;
    this.status = status;
  }
}

export type TransportCode =
  | 'UNAUTHENTICATED'
  | 'ACCOUNT_SUSPENDED'
  | 'FORBIDDEN'
  | 'SECOND_FACTOR_REQUIRED'
  | 'OPERATOR_ROLE'
  | 'BAD_USER_INPUT'
  | 'DOCUMENT_TOO_LARGE'
  | 'PERSISTED_DOCUMENT_NOT_FOUND'
  | 'TOO_MANY_SUBSCRIPTIONS'
  | 'TOO_MANY_REQUESTS'
  | 'VIEW_ONLY'
  | 'OVERLOADED'
  | 'INTERNAL';

/** A top-level error with a code. Its message is written for the client and is not masked. */
export function transportError(
  code: TransportCode,
  message: string,
  facts: Readonly<Record<string, unknown>> = {},
): GraphQLError {
  return new GraphQLError(message, { extensions: { code, ...facts } });
}
