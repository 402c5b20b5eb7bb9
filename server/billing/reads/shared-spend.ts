import type { PicoUsd } from '../../core/money.ts';
import type { Queryable } from '../../database/pool.ts';

/** What projects and members have spent: reads for reports. Months are those of the account's time zone. */

/** Amounts in pico-USD. */
export interface ProjectSpend {
  projectId: string;
  limitMonth: PicoUsd | null;
  limitLifetime: PicoUsd | null;
  thisMonth: PicoUsd;
  lifetime: PicoUsd;
  /** By running requests, and in advance. */
  held: PicoUsd;
  /** Keys that are neither deleted nor expired. */
  keys: number;
}

/** A month, as `2026-11`, and what was charged in it. */
export interface MonthSpend {
  month: string;
  charged: PicoUsd;
}

export interface MemberSpend extends Omit<ProjectSpend, 'projectId' | 'limitLifetime'> {
  userId: string;
  /** Null: the person was forgotten. */
  name: string | null;
  /** False: they left, and keys that they made are charged still, or were. */
  isMember: boolean;
  /** Of its keys those that end when the person leaves. */
  personalKeys: number;
  /** Past months with charges and the present one, newest first. */
  months: readonly MonthSpend[];
}

const monthOf = (alias: string): string => `date_trunc('month', now() AT TIME ZONE ${alias}.time_zone)::date`;
const inMonth = (alias: string): string =>
  `CASE WHEN ${alias}.month >= ${monthOf(alias)} THEN ${alias}.month_charged ELSE 0 END`;
const usable = 'k.deleted_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())';

/** Of every project of the accounts. */
export async function readProjectSpend(db: Queryable, projectIds: readonly string[]): Promise<ProjectSpend[]> {
  const { rows } = await db.query({
    name: 'shared_project_spend',
    text: `SELECT p.id, l.limit_month, l.limit_lifetime, ${inMonth('l')} AS this_month, l.charged, l.held,
                  (SELECT count(*)::integer FROM api_key k WHERE k.project_id = p.id AND ${usable}) AS keys
           FROM project p JOIN shared_limit l ON l.account_id = p.account_id AND l.subject_id = p.id
           WHERE p.id = ANY ($1::uuid[])`,
    values: [projectIds],
  });
  return rows.map((row) => ({
    projectId: row.id,
    limitMonth: maybe(row.limit_month),
    limitLifetime: maybe(row.limit_lifetime),
    thisMonth: BigInt(row.this_month),
    lifetime: BigInt(row.charged),
    held: BigInt(row.held),
    keys: row.keys,
  }));
}

/**
 * Months in which projects were charged, by project, newest first, at most so many of each; those without any are missing.
 * What was charged stays with the project.
 */
export async function readProjectMonths(
  db: Queryable,
  { projectIds, months }: { projectIds: readonly string[]; months: number },
): Promise<Map<string, MonthSpend[]>> {
  const { rows } = await db.query({
    name: 'shared_project_months',
    text: `SELECT p.id, to_char(spent.month, 'YYYY-MM') AS month, spent.charged
           FROM project p CROSS JOIN LATERAL (
             SELECT month, charged FROM shared_limit_month WHERE account_id = p.account_id AND subject_id = p.id
             UNION ALL
             SELECT month, month_charged FROM shared_limit
             WHERE account_id = p.account_id AND subject_id = p.id AND month_charged > 0
             ORDER BY month DESC LIMIT $2) AS spent
           WHERE p.id = ANY ($1::uuid[]) ORDER BY spent.month DESC`,
    values: [projectIds, months],
  });
  const byProject = Map.groupBy(rows, ({ id }) => String(id));
  return new Map(
    [...byProject].map(([id, spent]) => [id, spent.map(({ month, charged }) => ({ month, charged: BigInt(charged) }))]),
  );
}

/**
 * What the people of an account have spent through the keys that they made, with those who left; by name. `userId`: only of
 * this one. With the charges of the last `months` months.
 */
export async function readMemberSpend(
  db: Queryable,
  { accountId, userId, months }: { accountId: string; userId: string | null; months: number },
): Promise<MemberSpend[]> {
  const values = [accountId, userId];
  const { rows } = await db.query({
    name: 'shared_member_spend',
    text: `WITH made AS (
             SELECT k.created_by AS user_id, count(*) FILTER (WHERE ${usable})::integer AS keys,
                    count(*) FILTER (WHERE k.personal AND ${usable})::integer AS personal_keys,
                    coalesce(sum(s.charged), 0) AS charged, coalesce(sum(s.held), 0) AS held,
                    coalesce(sum(${inMonth('s')}), 0) AS this_month
             FROM api_key k LEFT JOIN key_spend s ON s.account_id = k.account_id AND s.key_id = k.id
             WHERE k.account_id = $1 AND k.created_by IS NOT NULL GROUP BY k.created_by
           )
           SELECT coalesce(m.user_id, made.user_id) AS user_id, u.name, m.user_id IS NOT NULL AS is_member, l.limit_month,
                  coalesce(made.keys, 0) AS keys, coalesce(made.personal_keys, 0) AS personal_keys,
                  coalesce(made.charged, 0)::text AS charged, coalesce(made.held, 0)::text AS held,
                  coalesce(made.this_month, 0)::text AS this_month
           FROM (SELECT user_id FROM member WHERE account_id = $1) AS m
           FULL JOIN made ON made.user_id = m.user_id
           LEFT JOIN app_user u ON u.id = coalesce(m.user_id, made.user_id)
           LEFT JOIN shared_limit l ON l.account_id = $1 AND l.subject_id = coalesce(m.user_id, made.user_id)
           WHERE $2::uuid IS NULL OR coalesce(m.user_id, made.user_id) = $2
           ORDER BY (m.user_id IS NULL), lower(u.name), 1`,
    values,
  });
  const byMonth = await db.query({
    name: 'shared_member_months',
    text: `SELECT k.created_by AS user_id, to_char(h.hour AT TIME ZONE a.time_zone, 'YYYY-MM') AS month, sum(h.charged)::text AS charged
           FROM account a JOIN usage_hour h ON h.account_id = a.id
             AND h.hour >= (date_trunc('month', now() AT TIME ZONE a.time_zone) - ($3::integer - 1) * interval '1 month') AT TIME ZONE a.time_zone
           JOIN api_key k ON k.id = h.key_id
           WHERE a.id = $1 AND k.created_by IS NOT NULL AND ($2::uuid IS NULL OR k.created_by = $2) AND h.charged > 0
           GROUP BY 1, 2 ORDER BY 2 DESC`,
    values: [...values, months],
  });
  return rows.map((row) => ({
    userId: row.user_id,
    name: row.name,
    isMember: row.is_member,
    limitMonth: maybe(row.limit_month),
    keys: row.keys,
    personalKeys: row.personal_keys,
    thisMonth: BigInt(row.this_month),
    lifetime: BigInt(row.charged),
    held: BigInt(row.held),
    months: byMonth.rows
      .filter((each) => each.user_id === row.user_id)
      .map((each) => ({ month: each.month, charged: BigInt(each.charged) })),
  }));
}

function maybe(amount: string | bigint | null): PicoUsd | null {
  return amount === null ? null : BigInt(amount);
}
