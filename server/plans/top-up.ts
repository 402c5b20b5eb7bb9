import type { ClientBase, Pool } from 'pg';
import { repeatedTransaction } from '../database/lane.ts';
import { appendAudit } from '../shared/audit.ts';
import { type InvalidInput, invalidInput } from '../shared/input.ts';
import { findPlan, type Plan } from './plans.ts';

/** Top-ups: free amounts at a plan's price of a USD, and bonuses in steps. */

/** Free amounts, as operators offer them. */
export interface TopUp {
  /** The plan whose price of a USD and validity count. */
  planId: string;
  /** Whole VND. */
  minVnd: bigint;
  maxVnd: bigint;
}

/** Orders from an amount on get a bonus. */
export interface BonusStep {
  /** Whole VND. */
  fromVnd: bigint;
  /** Hundredths of a percent of the budget. */
  basisPoints: number;
}

/** What an order costs and gives. */
export type Terms = Pick<Plan, 'priceVnd' | 'budget' | 'validDays'>;

/** What a buyer named in place of a plan: whole VND, or pico-USD. */
export type FreeAmount = { vnd: bigint } | { usd: bigint };

export const picoPerCent = 10_000_000_000n;
const maxSteps = 10;
const maxVnd = 1_000_000_000_000n;

/** The budget for an amount at a plan's price of a USD, cut to whole cents; valid as long as the plan's. */
export function creditTerms(amountVnd: bigint, plan: Pick<Plan, 'priceVnd' | 'budget' | 'validDays'>): Terms {
  const budget = (amountVnd * plan.budget) / plan.priceVnd;
  return { priceVnd: amountVnd, budget: budget - (budget % picoPerCent), validDays: plan.validDays };
}

/** The terms of a free amount; a price that is no whole VND is rounded up. Null: it is no whole number of cents. */
export function freeTerms(free: FreeAmount, plan: Plan): Terms | null {
  if ('vnd' in free) return creditTerms(free.vnd, plan);
  if (free.usd <= 0n || free.usd % picoPerCent !== 0n) return null;
  const priceVnd = (free.usd * plan.priceVnd + plan.budget - 1n) / plan.budget;
  return { priceVnd, budget: free.usd, validDays: plan.validDays };
}

/** The bonus of an order in pico-USD, cut to whole cents: that of the highest step which its price reaches. */
export function bonusOf({ priceVnd, budget }: Pick<Terms, 'priceVnd' | 'budget'>, steps: readonly BonusStep[]): bigint {
  const reached = steps.filter(({ fromVnd }) => fromVnd <= priceVnd);
  const points = reached.toSorted((a, b) => (a.fromVnd < b.fromVnd ? 1 : -1))[0]?.basisPoints ?? 0;
  const bonus = (budget * BigInt(points)) / 10_000n;
  return bonus - (bonus % picoPerCent);
}

export async function readTopUp(database: Pool | ClientBase): Promise<TopUp | null> {
  const { rows } = await database.query<TopUp>(
    'SELECT plan_id AS "planId", min_vnd AS "minVnd", max_vnd AS "maxVnd" FROM top_up',
  );
  return rows[0] ?? null;
}

/** The lowest first. */
export async function readBonusSteps(database: Pool | ClientBase): Promise<BonusStep[]> {
  const { rows } = await database.query<BonusStep>(
    'SELECT from_vnd AS "fromVnd", basis_points AS "basisPoints" FROM bonus_step ORDER BY from_vnd',
  );
  return rows;
}

export type SaveTopUpOutcome = { kind: 'saved' } | { kind: 'unknown_plan' } | InvalidInput<'minVnd' | 'maxVnd'>;
export type SaveBonusOutcome = { kind: 'saved' } | InvalidInput<'steps'>;

/** `pool` must read BIGINT as `bigint`. */
export function createTopUp({ pool }: { pool: Pool }) {
  return {
    settings: () => readTopUp(pool),
    bonusSteps: () => readBonusSteps(pool),

    /** Offers free amounts, or with null no longer. */
    save({ topUp, actor }: { topUp: TopUp | null; actor: string }): Promise<SaveTopUpOutcome> {
      return repeatedTransaction(pool, async (client): Promise<SaveTopUpOutcome> => {
        if (topUp !== null) {
          if (topUp.minVnd < 1n) return invalidInput('minVnd', 'must be more than zero');
          if (topUp.maxVnd < topUp.minVnd || topUp.maxVnd > maxVnd)
            return invalidInput('maxVnd', `must be from the least amount to ${maxVnd}`);
          const plan = await findPlan(client, topUp.planId);
          if (plan === null) return { kind: 'unknown_plan' };
          // Less would buy no cent.
          if (creditTerms(topUp.minVnd, plan).budget <= 0n) return invalidInput('minVnd', 'must buy at least a cent');
        }
        const before = await readTopUp(client);
        await client.query('DELETE FROM top_up');
        if (topUp !== null)
          await client.query('INSERT INTO top_up (plan_id, min_vnd, max_vnd) VALUES ($1, $2, $3)', [
            topUp.planId,
            topUp.minVnd,
            topUp.maxVnd,
          ]);
        await appendAudit(client, {
          actor,
          action: 'top_up.save',
          subject: 'top_up',
          before: before && { ...before },
          after: topUp && { ...topUp },
        });
        return { kind: 'saved' };
      });
    },

    /** Replaces all steps of bonuses. Orders keep the bonus that they were made with. */
    saveBonus({ steps, actor }: { steps: readonly BonusStep[]; actor: string }): Promise<SaveBonusOutcome> {
      return repeatedTransaction(pool, async (client): Promise<SaveBonusOutcome> => {
        const isRight = ({ fromVnd, basisPoints }: BonusStep): boolean =>
          fromVnd > 0n &&
          fromVnd <= maxVnd &&
          Number.isInteger(basisPoints) &&
          basisPoints > 0 &&
          basisPoints <= 10_000;
        if (steps.length > maxSteps || !steps.every(isRight))
          return invalidInput('steps', `must be at most ${maxSteps}, each from more than 0 VND and of 0.01 to 100 %`);
        if (new Set(steps.map(({ fromVnd }) => fromVnd)).size < steps.length)
          return invalidInput('steps', 'must begin at different amounts');
        const before = await readBonusSteps(client);
        await client.query('DELETE FROM bonus_step');
        await client.query(
          'INSERT INTO bonus_step (from_vnd, basis_points) SELECT * FROM unnest($1::bigint[], $2::int[])',
          [steps.map(({ fromVnd }) => fromVnd), steps.map(({ basisPoints }) => basisPoints)],
        );
        const text = (list: readonly BonusStep[]) =>
          list.map(({ fromVnd, basisPoints }) => `${fromVnd}:${basisPoints}`).join(' ');
        await appendAudit(client, {
          actor,
          action: 'bonus.save',
          subject: 'bonus',
          before: { steps: text(before) },
          after: { steps: text(steps) },
        });
        return { kind: 'saved' };
      });
    },
  };
}

export type TopUps = ReturnType<typeof createTopUp>;
