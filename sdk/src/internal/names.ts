import { ConfigurationError } from '../errors.ts';

/** Names that callers write: a mistyped one would be left out in silence, and do what nobody asked for. */

/** Whether a name is at most two typing mistakes away, of case none; one for short names. */
function isNear(written: string, name: string, mistakes = name.length > 4 ? 2 : 1): boolean {
  if (written === name) return true;
  const [rest, others] = [written.slice(1), name.slice(1)];
  if (written[0]?.toLowerCase() === name[0]?.toLowerCase()) return isNear(rest, others, mistakes);
  return (
    mistakes > 0 &&
    (isNear(rest, others, mistakes - 1) || isNear(rest, name, mistakes - 1) || isNear(written, others, mistakes - 1))
  );
}

/** " Did you mean …?", or nothing. */
export function question(written: string, names: readonly string[]): string {
  const meant = names.find((name) => isNear(written, name, 1)) ?? names.find((name) => isNear(written, name));
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** Throws a `ConfigurationError` for a member that `what` does not have. Members that are undefined are absent. */
export function checkNames(what: string, given: object | undefined, names: readonly string[]): void {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value !== undefined && !names.includes(name)) {
      const known = names.length === 0 ? 'none' : names.join(', ');
      throw new ConfigurationError(`${name} is no ${what}; there are: ${known}.${question(name, names)}`);
    }
  }
}
