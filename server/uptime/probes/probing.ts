import type { Pool } from 'pg';
import { z } from 'zod';
import { cost, type UnitPrices, unitPrices } from '../../core/price.ts';
import { noTokens, type TokenPools } from '../../core/tokens.ts';
import { repeatedTransaction } from '../../database/lane.ts';
import { appendAudit } from '../../shared/audit.ts';
import { checkInput, type InvalidInput, invalidInput } from '../../shared/input.ts';
import { monthlyCost, planPaces } from './pace.ts';
import { probeModes, probeProtocols } from './probe.ts';

/** Pace and budget of probes: the operator's settings, what they cost, and the pace that the budget holds. */

export interface ProbingSettings {
  everyMinutes: number;
  /** Pico-USD a month, at the prices of the catalog. */
  monthlyBudget: bigint;
}

/** What one model asks for; null: as the settings of all say. */
export interface ModelProbingSettings {
  /** Zero: not probed. */
  everyMinutes: number | null;
  monthlyBudget: bigint | null;
}

export interface ModelProbing extends ModelProbingSettings {
  model: string;
  /** As asked for, for this model or for all. */
  askedMinutes: number;
  /** As the budget holds it; zero: not probed. */
  effectiveMinutes: number;
  /** Of one round of the model by one observer, pico-USD at the catalog's prices. */
  roundCost: bigint;
  /** What the upstream charges for it; null: its route has no cost prices. */
  upstreamRoundCost: bigint | null;
  /** 30 days at the pace asked for, by all observers. */
  askedMonthlyCost: bigint;
  /** 30 days at the pace that is kept, by all observers. */
  monthlyCost: bigint;
  upstreamMonthlyCost: bigint | null;
  /** Whether tokens are those of recent probes, or an estimate. */
  isMeasured: boolean;
}

export interface ProbingPlan extends ProbingSettings {
  /** Pico-USD charged since the month began. */
  spentThisMonth: bigint;
  /** Machines that probe: agents that were heard of in the last hour, and the service itself if it does. */
  observers: number;
  /** Whether the service probes its own models (`PROBES`); agents do in any case. */
  serviceProbes: boolean;
  models: ModelProbing[];
}

export type SaveProbingOutcome =
  | { kind: 'saved' }
  | { kind: 'unknown_model' }
  | InvalidInput<'everyMinutes' | 'monthlyBudget'>;

/** Minutes between two rounds, while no operator has said otherwise. */
export const defaultPaceMinutes = 5;
const defaultSettings: ProbingSettings = { everyMinutes: defaultPaceMinutes, monthlyBudget: 20_000_000_000_000n };

/** Of one probe, while no recent ones say: its question and the tokens that it asks for. */
const estimatedTokens: TokenPools = { ...noTokens, input: 24, output: 16 };
const fewestMeasured = 20n;
const probesPerRound = BigInt(probeProtocols.length * probeModes.length);

/**
 * Pico-USD: 10,000 USD, a month of about 600 models at their pace by one observer. More is a typing error, or somebody
 * who wants a key with money on it.
 */
const maxMonthlyBudget = 10_000_000_000_000_000n;
const budget = z.bigint().refine((value) => value >= 0n && value <= maxMonthlyBudget, 'must be from 0 to 10,000 USD');
const pace = (least: number) => z.int().min(least, `must be at least ${least}`).max(1_440, 'must be at most 1440');
const settingsShape = z.object({ everyMinutes: pace(1), monthlyBudget: budget });
const modelShape = z.object({ everyMinutes: pace(0).nullable(), monthlyBudget: budget.nullable() });

export function createProbing({ pool, serviceProbes = true }: { pool: Pool; serviceProbes?: boolean }) {
  async function settings(): Promise<ProbingSettings> {
    const { rows } = await pool.query<ProbingSettings>(
      'SELECT every_minutes AS "everyMinutes", monthly_budget AS "monthlyBudget" FROM probe_settings',
    );
    const [saved] = rows;
    if (saved === undefined) return defaultSettings;
    // Saved when the bound was higher.
    return saved.monthlyBudget > maxMonthlyBudget ? { ...saved, monthlyBudget: maxMonthlyBudget } : saved;
  }

  /** The settings, the pace that the budget holds, and what it costs. */
  async function plan(now: Date = new Date()): Promise<ProbingPlan> {
    const monthStart = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
    const monthEnd = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
    const [set, rows, used, agents] = await Promise.all([
      settings(),
      readModels(pool),
      readUse(pool, { monthStart, now }),
      countAgents(pool),
    ]);
    const observers = Math.max(1, agents + (serviceProbes ? 1 : 0));
    const counted = BigInt(observers);
    const models = rows.map((row) => {
      const use = used.get(row.model);
      const isMeasured = use !== undefined && use.requests >= fewestMeasured;
      const roundOf = (prices: UnitPrices): bigint =>
        isMeasured
          ? (costOfAll(use, prices) * probesPerRound) / use.requests
          : cost(estimatedTokens, prices) * probesPerRound;
      const roundCost = row.price === null ? 0n : roundOf(row.price);
      return {
        ...row,
        isMeasured,
        roundCost,
        upstreamRoundCost: row.costs === null ? null : roundOf(row.costs),
        askedMinutes: row.everyMinutes ?? set.everyMinutes,
        left: row.monthlyBudget === null ? null : row.monthlyBudget - (use?.spent ?? 0n),
      };
    });
    const spentThisMonth = [...used.values()].reduce((sum, { spent }) => sum + spent, 0n);
    const paces = planPaces({
      models: models.map((each) => ({ ...each, roundCost: each.roundCost * counted })),
      left: set.monthlyBudget - spentThisMonth,
      minutesLeft: (monthEnd.getTime() - now.getTime()) / 60_000,
    });
    return {
      ...set,
      spentThisMonth,
      observers,
      serviceProbes,
      models: models.map((each): ModelProbing => {
        const { model, everyMinutes, monthlyBudget, askedMinutes, roundCost, upstreamRoundCost, isMeasured } = each;
        const effectiveMinutes = paces.get(model) ?? askedMinutes;
        const month = (price: bigint, minutes: number) => monthlyCost(price * counted, minutes);
        return {
          model,
          everyMinutes,
          monthlyBudget,
          askedMinutes,
          effectiveMinutes,
          roundCost,
          upstreamRoundCost,
          askedMonthlyCost: month(roundCost, askedMinutes),
          monthlyCost: month(roundCost, effectiveMinutes),
          upstreamMonthlyCost: upstreamRoundCost === null ? null : month(upstreamRoundCost, effectiveMinutes),
          isMeasured,
        };
      }),
    };
  }

  /** Plans, and keeps the paces for whoever shows them. Returns the models that are probed, each with its pace. */
  async function decide(): Promise<{ model: string; minutes: number }[]> {
    const { models } = await plan();
    await pool.query(
      `INSERT INTO model_probing AS m (model, effective_minutes)
       SELECT * FROM unnest($1::text[], $2::int[]) ON CONFLICT (model) DO UPDATE
       SET effective_minutes = excluded.effective_minutes
       WHERE m.effective_minutes IS DISTINCT FROM excluded.effective_minutes`,
      [models.map(({ model }) => model), models.map(({ effectiveMinutes }) => effectiveMinutes)],
    );
    return models
      .filter(({ effectiveMinutes }) => effectiveMinutes > 0)
      .map(({ model, effectiveMinutes }) => ({ model, minutes: effectiveMinutes }));
  }

  /** The models that are due now: the service has not probed them for as long as their pace, whatever agents do. */
  async function due(): Promise<string[]> {
    const paces = await decide();
    const { rows } = await pool.query<{ model: string; minutes: number }>(
      `SELECT model, extract(epoch FROM now() - probed_at)::float8 / 60 AS minutes FROM model_probing
       WHERE probed_at IS NOT NULL`,
    );
    const since = new Map(rows.map(({ model, minutes }) => [model, minutes]));
    return paces
      .filter(({ model, minutes }) => (since.get(model) ?? Number.POSITIVE_INFINITY) >= minutes - earlyMinutes)
      .map(({ model }) => model);
  }

  return { settings, plan, decide, due, ...settingsWriters(pool) };
}

/** Changes of the settings by operators. Every change is audited. */
function settingsWriters(pool: Pool) {
  /** Changes the settings of all models. */
  async function saveSettings(input: ProbingSettings & { actor: string }): Promise<SaveProbingOutcome> {
    const { everyMinutes, monthlyBudget, actor } = input;
    const problem = checkInput<ProbingSettings>(settingsShape, { everyMinutes, monthlyBudget });
    if (problem !== null) return problem;
    return repeatedTransaction(pool, async (client): Promise<SaveProbingOutcome> => {
      await client.query(
        `INSERT INTO probe_settings (id, every_minutes, monthly_budget) VALUES (1, $1, $2)
         ON CONFLICT (id) DO UPDATE SET every_minutes = excluded.every_minutes, monthly_budget = excluded.monthly_budget`,
        [everyMinutes, monthlyBudget],
      );
      const after = { everyMinutes, monthlyBudget };
      await appendAudit(client, { actor, action: 'probing.save', subject: 'probing:all', after });
      return { kind: 'saved' };
    });
  }

  /** Changes what one model asks for. */
  async function saveModel(
    input: ModelProbingSettings & { model: string; actor: string },
  ): Promise<SaveProbingOutcome> {
    const { model, everyMinutes, monthlyBudget, actor } = input;
    const problem = checkInput<ModelProbingSettings>(modelShape, { everyMinutes, monthlyBudget });
    if (problem !== null) return problem;
    if (everyMinutes === null && monthlyBudget === 0n)
      return invalidInput('monthlyBudget', 'must be more than zero; a model that is not to be probed has a pace of 0');
    return repeatedTransaction(pool, async (client): Promise<SaveProbingOutcome> => {
      const { rowCount } = await client.query(
        `INSERT INTO model_probing (model, every_minutes, monthly_budget) SELECT id, $2, $3 FROM model WHERE id = $1
         ON CONFLICT (model) DO UPDATE SET every_minutes = excluded.every_minutes, monthly_budget = excluded.monthly_budget`,
        [model, everyMinutes, monthlyBudget],
      );
      if (rowCount === 0) return { kind: 'unknown_model' };
      const after = { everyMinutes, monthlyBudget };
      await appendAudit(client, { actor, action: 'probing.save', subject: `model:${model}`, after });
      return { kind: 'saved' };
    });
  }

  return { saveSettings, saveModel };
}

export type Probing = ReturnType<typeof createProbing>;

/** The clock of jobs ticks once a minute: a round that is due in half of one is due now. */
const earlyMinutes = 0.5;

interface ModelRow extends ModelProbingSettings {
  model: string;
  price: UnitPrices | null;
  costs: UnitPrices | null;
}

/** Models of images are not probed: each would be paid for as an image. */
async function readModels(pool: Pool): Promise<ModelRow[]> {
  const { rows } = await pool.query(
    `SELECT m.id AS model, s.every_minutes AS "everyMinutes", s.monthly_budget AS "monthlyBudget", p.input,
            p.cache_hit AS "cacheHit", p.cache_write_5m AS "cacheWrite5m", p.cache_write_1h AS "cacheWrite1h", p.output,
            r.cost_input, r.cost_cache_hit, r.cost_cache_write_5m, r.cost_cache_write_1h, r.cost_output
     FROM model m
     LEFT JOIN model_probing s ON s.model = m.id
     LEFT JOIN LATERAL (SELECT * FROM price WHERE model_id = m.id AND valid_from <= now()
                        ORDER BY valid_from DESC, created_at DESC, id DESC LIMIT 1) p ON true
     LEFT JOIN LATERAL (SELECT r.* FROM route r JOIN upstream u ON u.id = r.upstream_id AND u.enabled
                        WHERE r.model_id = m.id AND r.enabled ORDER BY r.priority, r.weight DESC LIMIT 1) r ON true
     WHERE m.enabled AND m.kind <> 'image' ORDER BY m.id`,
  );
  return rows.map(({ model, everyMinutes, monthlyBudget, ...row }) => ({
    model,
    everyMinutes,
    monthlyBudget,
    price: row.input === null ? null : unitPrices(row),
    costs:
      row.cost_input === null || row.cost_output === null
        ? null
        : unitPrices({
            input: row.cost_input,
            cacheHit: row.cost_cache_hit ?? row.cost_input,
            cacheWrite5m: row.cost_cache_write_5m,
            cacheWrite1h: row.cost_cache_write_1h,
            output: row.cost_output,
          }),
  }));
}

/** What probes used, by model. Tokens and requests are those of the last seven days, `spent` that of the month. */
interface Use {
  requests: bigint;
  input: bigint;
  cacheHit: bigint;
  cacheWrite5m: bigint;
  cacheWrite1h: bigint;
  output: bigint;
  spent: bigint;
}

async function readUse(pool: Pool, { monthStart, now }: { monthStart: Date; now: Date }): Promise<Map<string, Use>> {
  const lately = new Date(now.getTime() - 7 * 86_400_000);
  const recent = (column: string) => `coalesce(sum(${column}) FILTER (WHERE hour >= $2), 0)::bigint`;
  const { rows } = await pool.query<Use & { model: string }>(
    `SELECT model, ${recent('requests')} AS requests, ${recent('input')} AS input, ${recent('cache_hit')} AS "cacheHit",
            ${recent('cache_write_5m')} AS "cacheWrite5m", ${recent('cache_write_1h')} AS "cacheWrite1h",
            ${recent('output')} AS output, coalesce(sum(charged) FILTER (WHERE hour >= $1), 0)::bigint AS spent
     FROM usage_hour WHERE account_id IN (SELECT id FROM account WHERE kind = 'probe') AND hour >= least($1, $2::timestamptz)
     GROUP BY model`,
    [monthStart, lately],
  );
  return new Map(rows.map(({ model, ...use }) => [model, use]));
}

function costOfAll(use: Use, prices: UnitPrices): bigint {
  return (
    use.input * prices.input +
    use.cacheHit * prices.cacheHit +
    use.cacheWrite5m * prices.cacheWrite5m +
    use.cacheWrite1h * prices.cacheWrite1h +
    use.output * prices.output
  );
}

async function countAgents(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM probe_agent
     WHERE revoked_at IS NULL AND last_seen_at > now() - interval '1 hour'`,
  );
  return rows[0]?.count ?? 0;
}
