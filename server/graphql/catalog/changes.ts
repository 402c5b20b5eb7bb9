import type { CatalogOutcome } from '../../catalog/changes.ts';
import { decodeId } from '../access.ts';
import { InputError, NotFoundError } from '../types/errors.ts';

/** Shared by the catalog's mutations: refusals and names in inputs. */

export const changeErrors = [InputError, NotFoundError];

/**
 * Throws the refusal of a change. `below`: the argument that carries the input; `elsewhere`: the paths of members that
 * the arguments place or name differently.
 */
export function throwCatalogRefusal(
  outcome: CatalogOutcome,
  below: string[] = ['input'],
  elsewhere: Record<string, string[]> = {},
): void {
  if (outcome.kind === 'unknown') throw new NotFoundError(outcome.what);
  if (outcome.kind !== 'invalid') return;
  throw new InputError(
    outcome.problems.map(({ path, message }) => {
      const [member = ''] = path;
      const place = path.length === 1 && Object.hasOwn(elsewhere, member) ? elsewhere[member] : undefined;
      if (place === undefined) return { path: [...below, ...path], message };
      return { path: place, message: message.replace(`${member} `, `${place.at(-1)} `) };
    }),
  );
}

/** Operators may name a model or an upstream by its own id or by its global one. */
export const named = (type: string, id: string): string => decodeId(type, id) ?? id;

/** Missing members are left to the domain's defaults. */
export function given(input: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
}
