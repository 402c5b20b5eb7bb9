import type { FrozenPrice, Settlement } from '../billing/ledger.ts';
import type { RouteRecord } from '../catalog/route.ts';
import type { Outcome } from '../core/outcome.ts';
import { entryPrice, tieredCost } from '../core/price.ts';
import { type ReportedUsage, type TokenPools, type UsageSource } from '../core/tokens.ts';
import { estimateInput, usageSoFar } from '../metering/estimate.ts';
import type { RequestFacts } from '../wire/protocol.ts';

/** Metering result of a finished exchange: token pools, their source and the outcome. */
export interface Metered {
  usage: TokenPools;
  usageSource: UsageSource;
  outcome: Outcome;
}

const nothing: TokenPools = { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };

/** A try that delivered nothing costs nothing. */
export function unmetered(outcome: Outcome): Metered {
  return { usage: nothing, usageSource: 'none', outcome };
}

/**
 * Meters a whole answer: its reported usage, with estimates for pools that the vendor left out. Delivered output is
 * never free.
 */
export function meterWhole(
  account: ReportedUsage,
  facts: RequestFacts,
  contextWindow: number,
  outcome: 'completed' | 'client_closed',
): Metered {
  if (account.usage !== null && !account.partial)
    return { usage: account.usage, usageSource: account.clamped ? 'clamped' : 'reported', outcome };
  const { usage, estimated } = usageSoFar(account, facts, contextWindow, 'input');
  return { usage, usageSource: estimated ? 'estimated' : account.clamped ? 'clamped' : 'partial', outcome };
}

/**
 * Meters a stream, however it ended. When the upstream or this server failed before any output, it costs nothing. When
 * it failed later, unreported context counts as cached, its lowest possible cost; when the client left or the budget
 * ran out, it counts as new.
 */
export function meterStream(
  ending: Outcome,
  account: ReportedUsage,
  facts: RequestFacts,
  contextWindow: number,
  /** Hidden reasoning tokens that may be charged without a report. */
  hiddenTokens: number,
): Metered {
  // Also after the client has left: a drained answer is charged by its final report.
  if ((ending === 'completed' || (ending === 'client_closed' && account.usage !== null)) && !account.partial)
    return meterWhole(account, facts, contextWindow, ending);
  const ours =
    ending === 'upstream_error' || ending === 'upstream_cut' || ending === 'timeout' || ending === 'shutdown';
  if (ours && account.outputPieces === 0 && account.outputBytes === 0) return unmetered(ending);
  const { usage, estimated } = usageSoFar(
    account,
    facts,
    contextWindow,
    ours ? 'cache_hit' : 'input',
    ours ? 0 : hiddenTokens,
  );
  return { usage, usageSource: estimated ? 'estimated' : account.clamped ? 'clamped' : 'partial', outcome: ending };
}

/**
 * Meters a request whose client left before any answer: context that was sent upstream is charged as cached, its lowest
 * possible cost.
 */
export function meterLeft(sent: boolean, facts: RequestFacts, contextWindow: number, hiddenTokens: number): Metered {
  if (!sent) return unmetered('client_closed');
  return {
    usage: { ...nothing, cacheHit: estimateInput(facts, contextWindow), output: hiddenTokens },
    usageSource: 'estimated',
    outcome: 'client_closed',
  };
}

export interface SettlementParts {
  accountId: string;
  keyId: string;
  requestId: string;
  model: string;
  route: RouteRecord;
  facts: RequestFacts;
  price: FrozenPrice;
  metered: Metered;
  latencyMs: number;
  timeToFirstByteMs: number | null;
}

export function toSettlement(parts: SettlementParts): Settlement {
  const { route, facts, metered } = parts;
  const { usage } = metered;
  const { costs } = route;
  return {
    accountId: parts.accountId,
    keyId: parts.keyId,
    requestId: parts.requestId,
    model: parts.model,
    upstream: route.upstream.id,
    protocol: facts.protocol,
    stream: facts.stream,
    usage,
    price: entryPrice(parts.price, usage),
    upstreamCost: costs === null ? null : tieredCost(usage, costs),
    latencyMs: Math.round(parts.latencyMs),
    timeToFirstByteMs: parts.timeToFirstByteMs === null ? null : Math.round(parts.timeToFirstByteMs),
    outcome: metered.outcome,
    usageSource: metered.usageSource,
  };
}
