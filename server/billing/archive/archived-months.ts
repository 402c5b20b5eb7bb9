import type { Queryable } from '../../database/pool.ts';

/** Months of the ledger that are in an archive: what readers of single requests say instead of "there is nothing". */

export interface ArchivedMonth {
  /** `2026-01`, UTC, by the time requests arrived. */
  month: string;
  /** First moment of the month and of the next one. */
  from: Date;
  to: Date;
  requests: bigint;
  archivedAt: Date;
}

const columns = `to_char(month, 'YYYY-MM') AS month, month::timestamp AT TIME ZONE 'UTC' AS "from",
  (month::timestamp + interval '1 month') AT TIME ZONE 'UTC' AS "to", entries AS requests, archived_at AS "archivedAt"`;

/** The archived months that a range of time touches, oldest first. `to` is excluded. */
export async function listArchivedMonths(
  db: Queryable,
  { from = null, to = null }: { from?: Date | null; to?: Date | null } = {},
): Promise<ArchivedMonth[]> {
  const { rows } = await db.query({
    name: 'archived_months',
    text: `SELECT ${columns} FROM archived_month
           WHERE (month::timestamp + interval '1 month') AT TIME ZONE 'UTC' > coalesce($1::timestamptz, '-infinity')
             AND month::timestamp AT TIME ZONE 'UTC' < coalesce($2::timestamptz, 'infinity') ORDER BY month`,
    values: [from, to],
  });
  return rows.map((row) => ({ ...row, requests: BigInt(row.requests) }));
}

/** The archived month that a request belongs to by its id; null: its month is not archived. */
export async function archivedMonthOf(db: Queryable, requestId: string): Promise<ArchivedMonth | null> {
  const { rows } = await db.query({
    name: 'archived_month_of',
    text: `SELECT ${columns} FROM archived_month WHERE low <= $1::uuid AND high > $1::uuid`,
    values: [requestId],
  });
  return rows[0] === undefined ? null : { ...rows[0], requests: BigInt(rows[0].requests) };
}

/** Thrown by what needs the single requests of a month that is archived: only operators ask for that. */
export class MonthArchived extends Error {
  override name = 'MonthArchived';

  constructor(month: Pick<ArchivedMonth, 'month' | 'archivedAt'>) {
    super(archivedForOperators(month));
  }
}

type Archived = Pick<ArchivedMonth, 'month' | 'archivedAt'>;

const wereArchived = ({ month, archivedAt }: Archived): string =>
  `The requests of ${month} were archived on ${archivedAt.toISOString().slice(0, 10)}`;

/** One sentence for customers and their programs. */
export const archivedSentence = (month: Archived): string =>
  `${wereArchived(month)}: the CSV of the ledger has them where the service reaches the archive; else its operator has it.`;

/** The same for whoever has the archive. */
export const archivedForOperators = (month: Archived): string =>
  `${wereArchived(month)}; \`admin ledger restore\` with the folder of its archive brings them back.`;
