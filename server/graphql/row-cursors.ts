import { isUuid } from '../shared/uuid.ts';
import { badInput } from './errors.ts';
import { checkPage, type PageArguments } from './pages.ts';

/**
 * Pages of rows that Prisma cuts. It finds the row that a cursor names whatever the list's filter says, and then passes
 * over one row: where the filter has dropped the cursor's own row since (it was deleted, say), that would be somebody
 * else's. So the row of the cursor stays in the list that is cut, and is the one that is passed over.
 */

/** The row that the page begins behind, or ends before; null without a cursor. Throws an `InputError` for none of ours. */
export function cursorRow(args: PageArguments): string | null {
  checkPage(args);
  const name = args.before == null ? 'after' : 'before';
  const cursor = args[name];
  if (cursor == null) return null;
  const [, id = ''] = /^GPC:S:(.{36})$/.exec(Buffer.from(cursor, 'base64').toString()) ?? [];
  if (!isUuid(id)) throw badInput(name, 'This is not a cursor of this list.');
  return id;
}

/**
 * The list's filter, and the row of the cursor whether it passes the filter or not. A filter that asks for nothing stays
 * alone: as one of several it would count for none of the rows, not for all of them, and the list would end there.
 */
export function besideCursor<Where extends object>(where: Where, row: string | null) {
  return row === null || Object.values(where).every(asksForNothing) ? where : { OR: [where, { id: row }] };
}

function asksForNothing(condition: unknown): boolean {
  return (
    condition === undefined ||
    (typeof condition === 'object' &&
      condition !== null &&
      Object.getPrototypeOf(condition) === Object.prototype &&
      Object.keys(condition).length === 0)
  );
}
