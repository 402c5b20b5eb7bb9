import { operationQueries } from '../generated/rest-queries.ts';
import { checkNames } from './names.ts';

/**
 * The service's own answers are in snake case on the wire and in camel case here, like those of the control plane. Loaded
 * with the first such call.
 */

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Gives every member of an answer its name in camel case. Answers are the caller's own: they are changed in place. */
export function withCamelNames<T>(answer: T): T {
  if (typeof answer !== 'object' || answer === null) return answer;
  const named = answer as Record<string, unknown>;
  // Each is taken out and put back, so that the members keep their order.
  for (const [name, value] of Object.entries(answer)) {
    withCamelNames(value);
    if (Array.isArray(answer)) continue;
    delete named[name];
    named[camel(name)] = value;
  }
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
