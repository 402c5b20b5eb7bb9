/** Which message of a refused form stands at which of its inputs. */

import type { Texts } from './language/texts.ts';

/** What the server refuses in one input. */
export interface Problem {
  path: string[];
  message: string;
}

/** The messages at a form's inputs, by their names. */
export type InputProblems<Name extends string = string> = Partial<Record<Name, string>>;

/** The last name of a path; all of it for a member of a list's item, which another input may be named like. */
export function inputName(path: readonly string[]): string {
  const names = path.findLastIndex((part) => !isIndex(part)) + 1;
  const inItem = path.slice(0, names).some(isIndex);
  return inItem ? path.join('.') : (path[names - 1] ?? '');
}

const isIndex = (part: string): boolean => /^\d+$/.test(part);

/**
 * Parts the messages of a refused form (by {@link inputName}) into those at its inputs and the `error` to show above
 * its buttons: null when each message has its input.
 */
export function problemsAt<Name extends string>(
  error: unknown,
  messages: Readonly<Record<string, string>>,
  names: readonly Name[],
): { fields: InputProblems<Name>; rest: unknown } {
  const shown: readonly string[] = names;
  const problems = Object.entries(messages);
  const seen = problems.filter(([name]) => shown.includes(name));
  return {
    fields: Object.fromEntries(seen) as InputProblems<Name>,
    rest: problems.length > 0 && seen.length === problems.length ? null : error,
  };
}

/** The server's messages about single inputs follow few patterns. */
const patterns: readonly (readonly [RegExp, keyof Texts['problems']])[] = [
  [/is not an e-mail address|must be an e-mail address|invalid email address/i, 'email'],
  [/must be a web address/i, 'webAddress'],
  [/is your address already/i, 'sameEmail'],
  [/needs at least (?<n>\d+) characters/i, 'short'],
  [/has more than (?<n>[\d,]+) bytes/i, 'long'],
  [/(?:must have at most |expected string to have <=)(?<n>\d+) characters/i, 'long'],
  [/must not be empty/i, 'empty'],
  [/must not begin or end with a blank/i, 'blank'],
  [/must not contain control characters/i, 'characters'],
  [/must be in the future/i, 'future'],
  [/among those that are guessed first/i, 'usualPassword'],
  [/must be 10 digits/i, 'taxCode'],
  [/check digit that does not fit/i, 'taxCodeDigit'],
];

/** The text that says a message of the server in the reader's language, and what to fill in; `other`: none is known. */
export function meaningOf(message: string): { name: keyof Texts['problems']; parts: Record<string, string> } {
  for (const [pattern, name] of patterns) {
    const match = pattern.exec(message);
    if (match !== null) return { name, parts: match.groups ?? {} };
  }
  return { name: 'other', parts: {} };
}
