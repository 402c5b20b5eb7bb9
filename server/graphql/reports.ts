import type { Keyset, KeysetRange } from '../shared/keyset.ts';
import { isUuid } from '../shared/uuid.ts';
import { builder, type ObjectFields } from './builder.ts';
import { badInput } from './types/errors.ts';
import { listLength, type PageArguments } from './types/paging.ts';

/** Pages of reports and of lists that are no table's rows by their ids, as connections that are read forward. */

/** Rows of a report in one answer, at most. */
const maxReportRows = 1_000;

/** A page of a report. */
export interface Report<Row> {
  rows: readonly Row[];
  /** Whether there are rows after these. */
  hasMore: boolean;
  /** Whether the page begins behind a cursor. */
  isLater: boolean;
  /** The cursor after a row of the page. */
  cursorOf: (row: Row, index: number) => string;
}

interface ReportEdge<Row> {
  cursor: string;
  node: Row;
}

function edgesOf<Row>({ rows, cursorOf }: Report<Row>): ReportEdge<Row>[] {
  return rows.map((node, index) => ({ cursor: cursorOf(node, index), node }));
}

/** A type of rows, as Pothos makes it for a shape. */
type RowType<Row> = ReturnType<ReturnType<typeof builder.objectRef<Row>>['implement']>;

/** The type of an edge of a report. */
export function reportEdge<Row extends object>(name: string, type: RowType<Row>) {
  return builder.objectRef<ReportEdge<Row>>(name).implement({
    authScopes: { public: true },
    fields: (t) => ({
      cursor: t.exposeString('cursor'),
      // A generic row is a value like any other: no list, no stream.
      node: t.field({ type, resolve: ({ node }) => node as never }),
    }),
  });
}

/** The fields of a page. */
export function pageFields<Row extends object>(
  t: ObjectFields<Report<Row>>,
  { row, edge }: { row: RowType<Row>; edge: ReturnType<typeof reportEdge<Row>> },
) {
  const complexity = { field: 1, multiplier: 50 };
  return {
    edges: t.field({ type: [edge], complexity, resolve: edgesOf }),
    nodes: t.field({ type: [row], complexity, resolve: ({ rows }) => rows }),
    pageInfo: t.field({
      type: builder.pageInfoRef(),
      resolve: (page) => {
        const edges = edgesOf(page);
        return {
          hasNextPage: page.hasMore,
          hasPreviousPage: page.isLater,
          startCursor: edges[0]?.cursor ?? null,
          endCursor: edges.at(-1)?.cursor ?? null,
        };
      },
    }),
  };
}

/** What `first` of a report says, whose pages are longer than those of lists. */
export const rowsText = `How many rows, at most ${maxReportRows}; left out: so many.`;

/** Elements that can be skipped: `load` reads them all. */
const maxOffset = 100_000;

/** A page of a list that is read from its beginning: `load` reads its first elements. */
export async function pageFromStart<Row>(
  { first, after }: Pick<PageArguments, 'first' | 'after'>,
  load: (limit: number) => Promise<readonly Row[]>,
): Promise<Report<Row>> {
  const [size, offset] = [listLength(first), reportOffset(after)];
  if (offset > maxOffset) throw badInput('after', `This list is read for ${maxOffset} elements at most.`);
  const rows = await load(offset + size + 1);
  return offsetReport(rows.slice(offset, offset + size), offset, rows.length > offset + size);
}

/**
 * A page of a list that is sorted by time and ids. `keyOf`: where a row stands, with as many ids for each. One more row
 * is read, to know whether there are more.
 */
export async function keysetPage<Row>(
  { first, after }: Pick<PageArguments, 'first' | 'after'>,
  { ids, keyOf }: { ids: number; keyOf: (row: Row) => Keyset },
  load: (range: KeysetRange) => Promise<readonly Row[]>,
): Promise<Report<Row>> {
  const size = listLength(first);
  const begin = after == null ? null : decodeKeyset(after, ids);
  const rows = await load({ limit: size + 1, after: begin });
  return {
    rows: rows.slice(0, size),
    hasMore: rows.length > size,
    isLater: begin !== null,
    cursorOf: (row) => encodeKeyset(keyOf(row)),
  };
}

function encodeKeyset({ at, ids }: Keyset): string {
  return Buffer.from([at.getTime(), ...ids].join(' ')).toString('base64url');
}

function decodeKeyset(cursor: string, count: number): Keyset {
  const text = cursor.length > 200 ? '' : Buffer.from(cursor, 'base64url').toString();
  const [time = '', ...ids] = text.split(' ');
  if (!/^[0-9]{1,14}$/.test(time) || ids.length !== count || !ids.every(isUuid))
    throw badInput('after', 'This is not a cursor of this list.');
  return { at: new Date(Number(time)), ids };
}

/** The length of a report's page; throws an `InputError` when it is out of bounds. */
export function reportLength(first: number | null | undefined): number {
  const length = first ?? maxReportRows;
  if (length < 1 || length > maxReportRows) throw badInput('first', `first must be between 1 and ${maxReportRows}.`);
  return length;
}

/** Where a page begins whose cursors are numbers of rows; throws an `InputError` for what is none. */
export function reportOffset(after: string | null | undefined): number {
  if (after == null) return 0;
  if (!/^[0-9]{1,9}$/.test(after)) throw badInput('after', 'This is not a cursor of this list.');
  return Number(after);
}

/** A page whose cursors are numbers of rows. */
export function offsetReport<Row>(rows: readonly Row[], offset: number, hasMore: boolean): Report<Row> {
  return { rows, hasMore, isLater: offset > 0, cursorOf: (_row, index) => String(offset + index + 1) };
}
