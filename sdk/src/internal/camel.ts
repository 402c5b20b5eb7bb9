import { operationQueries } from '../generated/rest-queries.ts';
import { checkNames } from './names.ts';

/**
 * The service's own answers are in snake case and the SDK in camel case: members stand under both names until the next major
 * version. Loaded with the first such call.
 */

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What consoles of Node, Deno and Bun ask an object for: https://nodejs.org/api/util.html#utilinspectcustom. */
const inspected = Symbol.for('nodejs.util.inspect.custom');

/** What a console shows of an answer: each member once, by its name in camel case. */
function shown(this: object): object {
  return Object.fromEntries(Object.entries(this).filter(([name]) => name === camel(name)));
}

/**
 * Gives every member of an answer its name in camel case too. Answers are the caller's own: they are changed in place. Both names are
 * enumerable, so that copies and stored JSON go on having the names that earlier versions gave them.
 */
export function withCamelNames<T>(answer: T): T {
  if (typeof answer !== 'object' || answer === null) return answer;
  for (const [name, value] of Object.entries(answer)) {
    withCamelNames(value);
    const named = answer as Record<string, unknown>;
    named[camel(name)] = value;
  }
  // Not enumerable: copies have their plain members only.
  if (!Array.isArray(answer)) Object.defineProperty(answer, inspected, { value: shown });
  return answer;
}

/** A query in the service's names. Throws a `ConfigurationError` for a parameter that the operation does not have. */
export function queryOf(operation: string, query: object): Record<string, unknown> {
  const known = (operationQueries as Record<string, readonly string[]>)[operation] ?? [];
  const given = Object.entries(query).map(
    ([name, value]) => [known.includes(name) ? camel(name) : name, value] as const,
  );
  checkNames('parameter', Object.fromEntries(given), known.map(camel));
  return Object.fromEntries(given.map(([name, value]) => [snake(name), value]));
}
