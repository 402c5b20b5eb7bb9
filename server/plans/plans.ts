import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { repeatedTransaction } from '../database/lane.ts';
import { type AuditFacts, appendAudit } from '../shared/audit.ts';
import { amount, checkInput, type InvalidInput, maxPico, shownText } from '../shared/input.ts';
import { textProblem } from '../shared/plain-text.ts';

/** Plans: an amount of budget in USD, sold for an amount of VND. */

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

/** VND for a million tokens at a plan's price of a USD, rounded half up: for display only. */
export function vndPerMillion(picoPerToken: bigint, plan: Pick<Plan, 'priceVnd' | 'budget'>): bigint {
  const picoUsd = picoPerToken * 1_000_000n;
  return (picoUsd * plan.priceVnd * 2n + plan.budget) / (plan.budget * 2n);
}

export interface PlanPair {
  starter: Plan | null;
  best: Plan | null;
}

/** The plan called Starter (else the cheapest) and the one with the most USD for a VND, of those on sale. */
export function planPair(plans: readonly Plan[]): PlanPair {
  const starter = plans.find((plan) => plan.id === 'starter') ?? plans.find((plan) => /^starter$/i.test(plan.name));
  const best = plans.reduce<Plan | null>(
    (least, plan) => (least === null || plan.priceVnd * least.budget < least.priceVnd * plan.budget ? plan : least),
    null,
  );
  return { starter: starter ?? plans[0] ?? null, best };
}

export type SavePlanOutcome = { kind: 'created' | 'changed' | 'unchanged'; plan: Plan } | InvalidInput<keyof Plan>;

const columns = `id, name, price_vnd AS "priceVnd", budget, valid_days AS "validDays", enabled`;
const maxPriceVnd = 1_000_000_000_000n;
const maxDays = 36_500;
const daysClause = `must be a whole number of days, at most ${maxDays}`;

const planShape: z.ZodType<Plan> = z.object({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be lower-case letters, digits and hyphens'),
  name: shownText(100),
  priceVnd: amount(maxPriceVnd),
  budget: amount(maxPico),
  validDays: z.int(daysClause).min(1, daysClause).max(maxDays, daysClause).nullable(),
  enabled: z.boolean(),
});

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
  if (textProblem(id, 64) !== null) return null;
  const { rows } = await database.query<Plan>(`SELECT ${columns} FROM plan WHERE id = $1`, [id]);
  return rows[0] ?? null;
}

/**
 * Creates or changes a plan, within the caller's transaction. Orders keep the price and budget they were made with.
 * Plans are never deleted, because orders refer to them: they are taken off sale.
 */
export async function savePlan(
  client: ClientBase,
  { plan, actor }: { plan: Plan; actor: string },
): Promise<SavePlanOutcome> {
  const problem = checkInput(planShape, plan);
  if (problem !== null) return problem;
  // Concurrent changes are serialised, so that the audit log shows what each of them changed.
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('steyg.plan:' || $1, 0))`, [plan.id]);
  const before = await findPlan(client, plan.id);
  if (before !== null && isSame(before, plan)) return { kind: 'unchanged', plan: before };
  await client.query(
    `INSERT INTO plan (id, name, price_vnd, budget, valid_days, enabled) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, price_vnd = excluded.price_vnd, budget = excluded.budget,
                                    valid_days = excluded.valid_days, enabled = excluded.enabled`,
    [plan.id, plan.name, plan.priceVnd, plan.budget, plan.validDays, plan.enabled],
  );
  await appendAudit(client, {
    actor,
    action: before === null ? 'plan.create' : 'plan.change',
    subject: `plan:${plan.id}`,
    before: before === null ? null : facts(before),
    after: facts(plan),
  });
  return { kind: before === null ? 'created' : 'changed', plan };
}

/** Plans for callers without a transaction. */
export function createPlans({ pool }: { pool: Pool }) {
  return {
    /** The cheapest first. Without `all`: those on sale. */
    list: (options: { all?: boolean } = {}) => listPlans(pool, options),
    save: (ask: { plan: Plan; actor: string }) => repeatedTransaction(pool, (client) => savePlan(client, ask)),
  };
}

export type Plans = ReturnType<typeof createPlans>;

function isSame(left: Plan, right: Plan): boolean {
  return (Object.keys(left) as (keyof Plan)[]).every((name) => left[name] === right[name]);
}

function facts({ name, priceVnd, budget, validDays, enabled }: Plan): AuditFacts {
  return { name, priceVnd, budget, validDays, enabled };
}
