/** What can become of an attempt at something about a sign-in. Exceptions are left for what nobody expects. */

/** An argument that cannot be used, by its name in the schema. */
export interface BadInput {
  kind: 'bad_input';
  field: string;
  message: string;
  /** What is wrong with others; empty when it is alone. */
  others: readonly { field: string; message: string }[];
}

export interface Throttled {
  kind: 'throttled';
  retryAfterS: number;
}

/** More passwords are being checked than the machine should check at once. */
export interface Busy {
  kind: 'busy';
}

export type Refusal = BadInput | Throttled | Busy;

/** It is done. The cookies belong into the answer. */
export interface Done {
  kind: 'done';
  setCookies: string[];
}

/** Address and password, or the password of somebody who is signed in, did not match; which of them is not said. */
export interface Wrong {
  kind: 'wrong';
}

/** The password was right, and the one-time or backup code is not. */
export interface WrongCode {
  kind: 'wrong_code';
}

/** The link or code of a mail is unknown, used or too old. */
export interface BadToken {
  kind: 'bad_token';
}

export function badInput(field: string, message: string): BadInput {
  return { kind: 'bad_input', field, message, others: [] };
}

/** The problems of several arguments as one outcome; null when each is null. */
export function badInputs(...problems: readonly (BadInput | null)[]): BadInput | null {
  const [first, ...others] = problems.filter((problem) => problem !== null);
  return first === undefined ? null : { ...first, others };
}

export function throttled(retryAfterS: number): Throttled {
  return { kind: 'throttled', retryAfterS };
}

export const done = (setCookies: string[] = []): Done => ({ kind: 'done', setCookies });
