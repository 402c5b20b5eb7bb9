import { z } from 'zod';
import { badInput } from './errors.ts';

/** How lists are cut into pages. */

/** A page never has more elements than this. */
export const largestPage = 100;
/** What a page has when nobody says. */
export const usualPage = 20;

/** What `first` and `last` may be; checked for every list before its resolver runs. */
export const pageLength = z
  .int()
  .min(1, `must be between 1 and ${largestPage}`)
  .max(largestPage, `must be between 1 and ${largestPage}`)
  .nullish();

export interface PageArguments {
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
}

/** Checks how the arguments of a list go together; throws an `InputError` that names the argument. */
export function checkPage(args: PageArguments): void {
  if (typeof args.first === 'number' && typeof args.last === 'number') {
    throw badInput('last', 'first and last cannot be used together.');
  }
}

/** How many elements a page may bring, whatever the arguments say. */
export function pageSize(args: PageArguments): number {
  const asked = args.first ?? args.last ?? usualPage;
  return Math.min(Math.max(asked, 1), largestPage);
}
