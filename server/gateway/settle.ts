import type { FrozenPrice, Settlement } from '../billing/ledger.ts';
import type { RouteRecord } from '../catalog/route.ts';
import type { Attribution } from '../core/attribution.ts';
import type { PicoUsd } from '../core/money.ts';
import type { Outcome } from '../core/outcome.ts';
import {
  entryPrice,
  type TieredPrices,
  tieredCost,
  type UnitCounts,
  type UnitLine,
  unitCost,
  unitLines,
} from '../core/price.ts';
import { pricesAtMoment } from '../core/price-clock.ts';
import { type ReportedUsage, type TokenPools, type UsageSource } from '../core/tokens.ts';
import { estimateInput, type TokenBounds, usageSoFar } from '../metering/estimate.ts';
import type { RequestFacts } from '../wire/protocol.ts';

/** Metering result of a finished exchange: token pools, their source and the outcome. */
export interface Metered {
  usage: TokenPools;
  usageSource: UsageSource;
  outcome: Outcome;
  /** What the vendor charges by the piece; left out: nothing. */
  units?: UnitCounts;
}

function unitsOf({ searches, images, minutes }: ReportedUsage): Pick<Metered, 'units'> {
  const units: UnitCounts = {
    ...(searches === undefined ? {} : { search: searches }),
    ...(images === undefined ? {} : { image: images }),
    ...(minutes === undefined ? {} : { minute: minutes }),
  };
  return Object.keys(units).length === 0 ? {} : { units };
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
    return {
      usage: account.usage,
      usageSource: account.clamped ? 'clamped' : 'reported',
      outcome,
      ...unitsOf(account),
    };
  const { usage, estimated } = usageSoFar(account, facts, contextWindow, 'input');
  const usageSource = estimated ? 'estimated' : account.clamped ? 'clamped' : 'partial';
  return { usage, usageSource, outcome, ...unitsOf(account) };
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
  // A first version of an image is output, and the vendor charges for it.
  const isWithoutOutput = account.outputPieces === 0 && account.outputBytes === 0 && (account.images ?? 0) === 0;
  if (ours && isWithoutOutput) return unmetered(ending);
  const { usage, estimated } = usageSoFar(
    account,
    facts,
    contextWindow,
    ours ? 'cache_hit' : 'input',
    ours ? 0 : hiddenTokens,
  );
  const usageSource = estimated ? 'estimated' : account.clamped ? 'clamped' : 'partial';
  return {
    usage: ours ? withinCap(usage, account, facts) : usage,
    usageSource,
    outcome: ending,
    ...unitsOf(account),
  };
}

/**
 * Output as reported, or as estimated and not above the request's cap: what failed at its upstream may be anything, and
 * bytes that cannot be read count as output.
 */
function withinCap(usage: TokenPools, account: ReportedUsage, { maxTokens, answers }: RequestFacts): TokenPools {
  const cap = maxTokens === null ? Number.POSITIVE_INFINITY : maxTokens * answers;
  return { ...usage, output: Math.max(Math.min(usage.output, cap), account.usage?.output ?? 0) };
}

/**
 * Adds the minute of audio of a request whose usage never came (`isReported`), where minutes have a price: leaving early
 * must not be cheaper than staying. An answer that failed at its upstream or here has none.
 */
export function withBegunMinute(
  metered: Metered,
  isReported: boolean,
  { minutes }: Pick<TokenBounds, 'minutes'>,
  { perUnit = {} }: Pick<FrozenPrice, 'perUnit'>,
): Metered {
  const isSettledByEstimate =
    metered.outcome === 'completed' || metered.outcome === 'client_closed' || metered.outcome === 'budget_stopped';
  if (isReported || !isSettledByEstimate || metered.usageSource === 'none') return metered;
  if (minutes === 0 || perUnit.minute === undefined || metered.units?.minute !== undefined) return metered;
  return { ...metered, units: { ...metered.units, minute: 1 } };
}

/**
 * Meters an embedding whose vectors were too large to be delivered: the vendor made them, and reports its usage only
 * behind them. The input is estimated.
 */
export function meterUnread(facts: RequestFacts, contextWindow: number): Metered {
  return { ...meterLeft(true, facts, contextWindow, 0), outcome: 'upstream_error' };
}

/**
 * Meters an answer that was too large to be delivered, by what could be counted of its part that arrived: the vendor made
 * it, and reports its usage only at its end. Context counts as cached, its lowest possible cost; output ends at the
 * request's cap.
 */
export function meterCut(account: ReportedUsage, facts: RequestFacts, contextWindow: number): Metered {
  const { usage } = usageSoFar(account, facts, contextWindow, 'cache_hit');
  return {
    usage: withinCap(usage, account, facts),
    usageSource: 'estimated',
    outcome: 'upstream_error',
    ...unitsOf(account),
  };
}

/**
 * Meters a request whose client left before any answer: context that was sent upstream is charged as cached, its lowest
 * possible cost; what was to be embedded as new, because vendors have no cache for it.
 */
export function meterLeft(sent: boolean, facts: RequestFacts, contextWindow: number, hiddenTokens: number): Metered {
  if (!sent) return unmetered('client_closed');
  const context = estimateInput(facts, contextWindow);
  return {
    usage: { ...nothing, [facts.inputs === undefined ? 'cacheHit' : 'input']: context, output: hiddenTokens },
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
  /** When the request was admitted, by the database's clock: costs with windows are those of this moment. */
  admittedAtMs: number;
  /** As in `Admitted`. */
  capped: boolean;
  metered: Metered;
  latencyMs: number;
  timeToFirstByteMs: number | null;
  attribution: Attribution | null;
}

export function toSettlement(parts: SettlementParts): Settlement {
  const { route, facts, metered } = parts;
  const { usage } = metered;
  const { costs } = route;
  const units = metered.units === undefined ? [] : unitLines(metered.units, parts.price.perUnit);
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
    ...(units.length === 0 ? {} : { units }),
    upstreamCost: costs === null ? null : upstreamCostOf(usage, units, pricesAtMoment(costs, parts.admittedAtMs)),
    latencyMs: Math.round(parts.latencyMs),
    timeToFirstByteMs: parts.timeToFirstByteMs === null ? null : Math.round(parts.timeToFirstByteMs),
    outcome: metered.outcome,
    usageSource: metered.usageSource,
    ...(parts.capped ? { capped: true } : {}),
    ...(parts.attribution === null ? {} : { attribution: parts.attribution }),
  };
}

/** What the operator pays; null where the route does not say what a unit costs that was used. */
function upstreamCostOf(usage: TokenPools, units: readonly UnitLine[], costs: TieredPrices): PicoUsd | null {
  const { perUnit = {} } = costs;
  if (units.some(({ unit }) => perUnit[unit] === undefined)) return null;
  const lines = units.map((line) => ({ ...line, price: perUnit[line.unit] ?? 0n }));
  return tieredCost(usage, costs) + unitCost(lines);
}
