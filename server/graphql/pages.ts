import { badInput } from './errors.ts';

/** How lists are cut into pages. */

/** A page never has more elements than this. */
export const largestPage = 100;
/** What a page has when nobody says. */
export const usualPage = 20;

export interface PageArguments {
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
}

/** Checks the four arguments of a list before they reach a query; throws an `InputError` that names the argument. */
export function checkPage(args: PageArguments): void {
  for (const name of ['first', 'last'] as const) {
    const value = args[name];
    if (typeof value !== 'number') continue;
    if (!Number.isInteger(value) || value < 1 || value > largestPage) {
      throw badInput(name, `${name} must be between 1 and ${largestPage}.`);
    }
  }
  if (typeof args.first === 'number' && typeof args.last === 'number') {
    throw badInput('last', 'first and last cannot be used together.');
  }
}

/** How many elements a page may bring, whatever the arguments say. */
export function pageSize(args: PageArguments): number {
  const asked = args.first ?? args.last ?? usualPage;
  return Math.min(Math.max(asked, 1), largestPage);
}
