/** Which message of a refused form stands at which of its inputs. */

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
