import type { Pool, PoolClient } from 'pg';
import type { PicoUsd } from '../../core/money.ts';
import { type TierRange, tierOf } from '../../core/price.ts';
import type { Escrows } from '../escrow/escrows.ts';
import { holdSize, leastCost } from '../rules/hold-size.ts';
import type { AdmitAsk, Admitted, Refused } from '../types.ts';
import { decide } from './batch.ts';
import { unavailable } from './batch-queues.ts';
import { flight } from './flight.ts';
import { beginReading, commit, readFacts } from './statements.ts';

/** What a request would hold and cost, without holding it: the decision of an admission, with nothing written. */
export interface Estimate {
  kind: 'estimated';
  inputTokens: number;
  /** The amount that an admission would hold at this moment. */
  hold: PicoUsd;
  /** The lowest plausible cost of an answer, and the request's bound, by the prices of this moment. */
  least: PicoUsd;
  most: PicoUsd;
  /** Of the model, in tokens. */
  contextWindow: number;
  /** The tier of a prompt of the estimated length; null: the model has one set of prices. */
  tier: TierRange | null;
  /** The account has only trial budget. */
  trialOnly: boolean;
}

/**
 * The process's escrow would promise the money, or the lane would decide by what is in the database. An admission that the
 * lane refuses as `reserved` may call idle money in and succeed: that is a change, so an estimate is refused.
 */
export function createEstimate({
  pool,
  escrows,
  isHealthy,
}: {
  pool: Pool;
  escrows: Pick<Escrows, 'wouldAdmit'>;
  isHealthy(accountId: string): boolean;
}): (ask: AdmitAsk) => Promise<Estimate | Refused> {
  return async (ask) => {
    if (!isHealthy(ask.accountId)) return unavailable;
    const admission = (await escrows.wouldAdmit(ask)) ?? (await decideOnly(pool, ask));
    return admission.kind === 'refused' ? admission : estimateOf(ask, admission);
  };
}

/** What the lane would decide. */
async function decideOnly(pool: Pool, ask: AdmitAsk): Promise<Admitted | Refused> {
  const client = await pool.connect();
  let failed = true;
  try {
    const admission = await decideReading(client, ask);
    failed = false;
    return admission;
  } finally {
    client.release(failed);
  }
}

async function decideReading(client: PoolClient, ask: AdmitAsk): Promise<Admitted | Refused> {
  const operations = [{ kind: 'admit', ask }] as const;
  const { facts } = await readFacts(client, operations, { prologue: [beginReading()], careful: false, locks: false });
  await flight(client, [commit()]);
  const [result] = decide(operations, facts).results;
  return result?.kind === 'admitted' || result?.kind === 'refused' ? result : unavailable;
}

function estimateOf(ask: AdmitAsk, { amount, price, contextWindow, maxOutputTokens, trialOnly }: Admitted): Estimate {
  const size = holdSize(ask, { contextWindow, maxOutputTokens }, price);
  return {
    kind: 'estimated',
    inputTokens: size.estimatedInputTokens,
    hold: amount,
    least: leastCost(ask, size, price),
    most: size.bound,
    contextWindow,
    tier: tierOf(price, size.estimatedInputTokens),
    trialOnly,
  };
}
