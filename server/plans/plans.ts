import type { ClientBase, Pool } from 'pg';

/** Plans: how much budget in USD is sold for how many VND. */

export interface Plan {
  id: string;
  name: string;
  /** Whole VND. */
  priceVnd: bigint;
  /** Pico-USD. */
  budget: bigint;
  /** Days until the bought budget expires; null: never. */
  validDays: number | null;
  enabled: boolean;
}

const columns = `id, name, price_vnd AS "priceVnd", budget, valid_days AS "validDays", enabled`;

/** Plans, the cheapest first. Without `all`: those on sale. */
export async function listPlans(database: Pool | ClientBase, options: { all?: boolean } = {}): Promise<Plan[]> {
  const { rows } = await database.query<Plan>(
    `SELECT ${columns} FROM plan WHERE enabled OR $1 ORDER BY price_vnd, id`,
    [options.all === true],
  );
  return rows;
}

/** One plan, on sale or not; null: there is none. */
export async function findPlan(database: Pool | ClientBase, id: string): Promise<Plan | null> {
  const { rows } = await database.query<Plan>(`SELECT ${columns} FROM plan WHERE id = $1`, [id]);
  return rows[0] ?? null;
}

/** Creates or changes a plan. Orders keep the price and the budget they were made with. */
export async function upsertPlan(database: Pool | ClientBase, plan: Plan): Promise<Plan> {
  const { rows } = await database.query<Plan>(
    `INSERT INTO plan (id, name, price_vnd, budget, valid_days, enabled) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, price_vnd = excluded.price_vnd, budget = excluded.budget,
                                    valid_days = excluded.valid_days, enabled = excluded.enabled
     RETURNING ${columns}`,
    [plan.id, plan.name, plan.priceVnd, plan.budget, plan.validDays, plan.enabled],
  );
  const [stored] = rows;
  if (stored === undefined) throw new Error('a plan that was just written is missing');
  return stored;
}
