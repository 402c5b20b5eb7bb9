import { isUuid } from '../shared/uuid.ts';
import { badInput } from './errors.ts';
import { checkPage, type PageArguments, pageSize } from './pages.ts';

/**
 * A page of a list that is read forward, newest first, by ids that sort by time. One row more than asked for tells
 * whether there is another page.
 */
export async function forwardPage<T extends { id: string }>(
  args: PageArguments,
  load: (page: { limit: number; before?: string }) => Promise<T[]>,
) {
  checkPage(args);
  if (args.last != null || args.before != null)
    throw badInput('last', 'This list is read forward: use first and after.');
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
