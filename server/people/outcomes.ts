/** The outcomes of attempts at a sign-in. Exceptions are for unexpected errors. */

/** An unusable argument, by its name in the schema. */
export interface BadInput {
  kind: 'bad_input';
  field: string;
  message: string;
  /** The problems of other arguments; empty when it is alone. */
  others: readonly { field: string; message: string }[];
}

export interface Throttled {
  kind: 'throttled';
  retryAfterS: number;
}

/** The queue of password checks is full. */
export interface Busy {
  kind: 'busy';
}

export type AttemptRefusal = BadInput | Throttled | Busy;

/** Success. The cookies belong in the answer. */
export interface Done {
  kind: 'done';
  setCookies: string[];
}

/** Address and password, or the password of a signed-in person, did not match; which of them is not revealed. */
export interface Wrong {
  kind: 'wrong';
}

/** The password was right, and the one-time or backup code is not. */
export interface WrongCode {
  kind: 'wrong_code';
}

/** The link or code of a mail is unknown, used or expired. */
export interface BadToken {
  kind: 'bad_token';
}

export function throttled(retryAfterS: number): Throttled {
  return { kind: 'throttled', retryAfterS };
}

export const done = (setCookies: string[] = []): Done => ({ kind: 'done', setCookies });
