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
  [/must be an account.s id or an e-mail address/i, 'receiver'],
  [/must be the account.s e-mail address/i, 'ownEmail'],
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
  [/would have expired already/i, 'expired'],
  [/must be at least (?<n>[\d,]+)/i, 'atLeast'],
  [/must be at most (?<n>[\d,]+)/i, 'atMost'],
  [/has at most (?<n>[\d,]+) /i, 'tooMany'],
  [/(?:must be from|must be between|is) (?<from>-?[\d,]+) (?:to|and) (?<to>[\d,]+)/i, 'between'],
  [/must be given together with the beginning/i, 'bothTimes'],
  [/must be the id of a chat/i, 'chat'],
  [/must be the id of (?:a user of the Official Account|the application)/i, 'digits'],
  [/must be (?<sample>https:\S+)/i, 'look'],
  [/there is no model /i, 'model'],
  [/must be addresses or networks/i, 'network'],
  [/must be more than zero|must not be negative/i, 'positive'],
  [/must be a public https address/i, 'publicAddress'],
  [/choose at least one scope/i, 'scope'],
  [/must be (?:the token that BotFather gave|a refresh token|the secret of the application)/i, 'secret'],
  [/must be 10 digits/i, 'taxCode'],
  [/must be a telephone number/i, 'telephone'],
  [/must be the name of a time zone/i, 'timeZone'],
  [/is too much/i, 'tooMuch'],
  [/must be a whole number/i, 'whole'],
];

/** The text that says a message of the server in the reader's language, and what to fill in; `other`: none is known. */
export function meaningOf(message: string): { name: keyof Texts['problems']; parts: Record<string, string> } {
  for (const [pattern, name] of patterns) {
    const match = pattern.exec(message);
    if (match !== null) return { name, parts: match.groups ?? {} };
  }
  return { name: 'other', parts: {} };
}
