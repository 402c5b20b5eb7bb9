import { type GraphQLSchema, isObjectType } from 'graphql';
import { z } from 'zod';
import { isUuid } from '../../shared/uuid.ts';
import { badInput } from './errors.ts';

/** Paging of lists: the arguments, and the two ways to cut a page. */

/** What `totalCount` says, on the pages of lists that are short or have an index. */
export const totalCountText = 'How many elements the whole list has.';

/** Elements of a page at most. */
export const maxPage = 100;
/** Elements of a page by default. */
export const defaultPage = 20;

/** The bounds of `first`; checked for every list before its resolver runs. */
export const pageLength = z
  .int()
  .min(1, `must be between 1 and ${maxPage}`)
  .max(maxPage, `must be between 1 and ${maxPage}`)
  .nullish();

export interface PageArguments {
  first?: number | null | undefined;
  after?: string | null | undefined;
}

/** Takes `last` and `before` from every list: lists are read forward, and the library declares both for each. */
export function readForward(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.args.some(({ name }) => name === 'last'))
        field.args = field.args.filter(({ name }) => name !== 'last' && name !== 'before');
    }
  }
}

/** The maximum size of a page, whatever the arguments are. */
export function pageSize(args: PageArguments): number {
  const asked = args.first ?? defaultPage;
  return Math.min(Math.max(asked, 1), maxPage);
}

/** The length of a list that is no connection; throws an `InputError` when it is out of bounds. */
export function listLength(first: number | null | undefined): number {
  const length = first ?? defaultListLength;
  if (length < 1 || length > maxPage) throw badInput('first', `first must be between 1 and ${maxPage}.`);
  return length;
}

/** Elements of a list that is no connection by default. */
export const defaultListLength = 50;

/**
 * A page of a list that is read forward, newest first, by ids that sort by time. One row more than requested tells
 * whether there is another page.
 */
export async function forwardPage<T extends { id: string }>(
  args: PageArguments,
  load: (page: { limit: number; before?: string }) => Promise<T[]>,
) {
  const size = pageSize(args);
  const before = args.after == null ? null : decodeCursor(args.after);
  const rows = await load({ limit: size + 1, ...(before === null ? {} : { before }) });
  const edges = rows.slice(0, size).map((node) => ({ cursor: encodeCursor(node.id), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: rows.length > size,
      hasPreviousPage: before !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

function encodeCursor(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

function decodeCursor(cursor: string): string {
  const hex = cursor.length > 64 ? '' : Buffer.from(cursor, 'base64url').toString('hex');
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  if (!isUuid(id)) throw badInput('after', 'This is not a cursor of this list.');
  return id;
}

// Prisma finds the row of a cursor regardless of the list's filter, and then skips one row. Where the filter no longer
// matches the cursor's row (it was deleted, say), that would skip another row, so the cursor's row stays in the list.

/** The row that the page begins behind; null without a cursor. Throws an `InputError` for an invalid cursor. */
export function cursorRow(args: PageArguments): string | null {
  const cursor = args.after;
  if (cursor == null) return null;
  const [, id = ''] = /^GPC:S:(.{36})$/.exec(Buffer.from(cursor, 'base64').toString()) ?? [];
  if (!isUuid(id)) throw badInput('after', 'This is not a cursor of this list.');
  return id;
}

/**
 * The list's filter, or the row of the cursor. An empty filter stays alone: as one branch of OR it would match no rows
 * instead of all, and the list would end there.
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
