import type { Statement } from './flight.ts';

/** The parts that statements of the ledger are built of. */

/**
 * The moment of a transaction, truncated to the columns' milliseconds everywhere: rounded up, a hold could seem to be
 * placed at the moment its grant ended.
 */
export const moment = `date_trunc('milliseconds', now())`;

/** A statement without its values. */
export const statement =
  (name: string, sql: string) =>
  (...values: string[]): Statement => ({ name: `ledger_${name}`, text: sql, values });

/** A lookup of one row by its key, for each preceding row. See `sessionSettings`. */
export const lookup = (alias: string, columns: string, table: string, key: string): string =>
  `JOIN LATERAL (SELECT ${columns} FROM ${table} WHERE ${key} OFFSET 0) AS ${alias} ON true`;

/** A value of a row, before it becomes text. */
type Value = string | number | bigint | boolean | null;

/** A column of a bulk statement's rows: name, type and value. */
export type BulkColumn<Item> = readonly [name: string, type: string, of: (item: Item) => Value];

/** A statement for any number of rows, with one array per column. */
export function bulk<Item>(name: string, columns: readonly BulkColumn<Item>[], sql: (rows: string) => string) {
  const names = columns.map(([column]) => column).join(', ');
  const arrays = columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ');
  const filled = statement(name, sql(`unnest(${arrays}) AS new (${names})`));
  return (items: readonly Item[]): Statement => filled(...columns.map(([, , of]) => list(items, of)));
}

/**
 * A write that must find every given row. The locks guarantee it; otherwise a division by zero aborts the transaction,
 * and the batch is retried.
 */
export function bulkOfExisting<Item>(
  name: string,
  columns: readonly BulkColumn<Item>[],
  sql: (rows: string) => string,
) {
  const given = `cardinality($1::${columns[0]?.[1]}[])`;
  return bulk(
    name,
    columns,
    (rows) => `WITH done AS (${sql(rows)} RETURNING 1) SELECT 1 / (count(*) = ${given})::integer FROM done`,
  );
}

/** An array as PostgreSQL reads it. Far cheaper than what pg does with arrays, which matters at thousands of rows a second. */
export function list(items: Iterable<string>): string;
export function list<Item>(items: Iterable<Item>, of: (item: Item) => Value): string;
export function list<Item>(items: Iterable<Item>, of: (item: Item) => Value = (item) => item as Value): string {
  let text = '';
  for (const item of items) {
    const value = of(item);
    const element = value === null ? 'NULL' : typeof value === 'string' ? quote(value) : String(value);
    text += text === '' ? element : `,${element}`;
  }
  return `{${text}}`;
}

/** The same for values that need no quotes: ids, numbers, booleans. */
export function plainList<Item>(items: readonly Item[], of: (item: Item) => Value): string {
  let text = '{';
  for (let i = 0; i < items.length; i += 1) {
    const value = of(items[i] as Item);
    text += i === 0 ? (value ?? 'NULL') : `,${value ?? 'NULL'}`;
  }
  return `${text}}`;
}

function quote(text: string): string {
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`;
}
