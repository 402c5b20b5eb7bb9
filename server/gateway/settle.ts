import type { FrozenPrice, Settlement } from '../billing/lane/ledger.ts';
import type { PricedModel } from '../catalog/catalog.ts';
import { otherNames, storableName } from '../catalog/model-mismatches.ts';
import { saysWhatItServes } from '../catalog/profiles/profiles.ts';
import type { RouteRecord } from '../catalog/route.ts';
import type { Attribution } from '../core/attribution.ts';
import type { ImageForm } from '../core/image-price.ts';
import { priceOfMade, pricesForImages, tokensOfPartial, unitLinesOfImages } from '../core/made-image-cost.ts';
import type { PicoUsd } from '../core/money.ts';
import type { Outcome } from '../core/outcome.ts';
import {
  type ClockedPrices,
  chargedUnits,
  cost,
  dearestWithin,
  entryPrice,
  MAX_RUN_LINES,
  MAX_UNIT_PRICE,
  pricesAt,
  promptTokens,
  type RunLine,
  type TieredPrices,
  tieredCost,
  type UnitCounts,
  type UnitLine,
  unitCost,
  unitLines,
} from '../core/price.ts';
import { pricesAtMoment } from '../core/price-clock.ts';
import { chosenVariant, dearestVariant, variantOf, withVariant } from '../core/price-variants.ts';
import type { Protocol } from '../core/protocol.ts';
import type { RequestMeasure } from '../core/request.ts';
import {
  addTokens,
  chargedBytesPerToken,
  type ImageTokens,
  type ModelRun,
  type ReportedUsage,
  type TokenPools,
  type ToolImageTokens,
  type UsageSource,
} from '../core/tokens.ts';
import { imageTokensWithin, poolsWithin, type TokenBounds, withinBounds } from '../metering/bound.ts';
import { estimateInput, usageSoFar } from '../metering/estimate.ts';
import type { RequestFacts } from '../wire/protocol.ts';
import { servedWords } from '../wire/served.ts';
import { isSameModel } from './upstream/reported-model.ts';

/** Metering result of a finished exchange: token pools, their source and the outcome. */
export interface Metered {
  usage: TokenPools;
  usageSource: UsageSource;
  outcome: Outcome;
  /** What the vendor charges by the piece; left out: nothing. */
  units?: UnitCounts;
  /** As in `ReportedUsage`. */
  imageForm?: ImageForm;
  imageTokens?: ImageTokens;
  toolImages?: ToolImageTokens;
  /** Runs of other models; left out: none. */
  runs?: readonly ModelRun[];
  /** As in `ReportedUsage`. */
  served?: ReportedUsage['served'];
}

/** What is charged beside the tokens of the model that was asked for, and what it was served with. */
function besidesOf({
  searches,
  images,
  imageForm,
  imageTokens,
  toolImages,
  minutes,
  runs,
  served,
}: ReportedUsage): Pick<Metered, 'units' | 'imageForm' | 'imageTokens' | 'toolImages' | 'runs' | 'served'> {
  const units: UnitCounts = {
    ...(searches === undefined ? {} : { search: searches }),
    ...(images === undefined ? {} : { image: images }),
    ...(minutes === undefined ? {} : { minute: minutes }),
  };
  return {
    ...(Object.keys(units).length === 0 ? {} : { units }),
    ...(imageForm === undefined ? {} : { imageForm }),
    ...(imageTokens === undefined ? {} : { imageTokens }),
    ...(toolImages === undefined ? {} : { toolImages }),
    ...(runs === undefined ? {} : { runs }),
    ...(served === undefined ? {} : { served }),
  };
}

const nothing: TokenPools = { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };

/** A try that delivered nothing costs nothing. */
export function unmetered(outcome: Outcome): Metered {
  return { usage: nothing, usageSource: 'none', outcome };
}

/** Meters a request that its vendor refused, by what the refusal bills. */
export function meterRefused(account: ReportedUsage, outcome: Outcome, bounds: TokenBounds): Metered {
  const { usage, clamped, ...others } = withinBounds(account, bounds);
  const pools = usage ?? nothing;
  return {
    usage: pools,
    usageSource: clamped ? 'clamped' : 'reported',
    outcome,
    ...besidesOf({ usage, clamped, ...others }),
  };
}

/**
 * Meters a whole answer: its reported usage, with estimates for pools that the vendor left out. Delivered output is
 * never free.
 */
export function meterWhole(
  account: ReportedUsage,
  facts: RequestMeasure,
  contextWindow: number,
  outcome: 'completed' | 'client_closed',
): Metered {
  if (account.usage !== null && !account.partial)
    return {
      usage: account.usage,
      usageSource: account.clamped ? 'clamped' : 'reported',
      outcome,
      ...besidesOf(account),
    };
  const { usage, estimated } = usageSoFar(account, facts, contextWindow, 'input');
  const usageSource = estimated ? 'estimated' : account.clamped ? 'clamped' : 'partial';
  return { usage, usageSource, outcome, ...besidesOf(account) };
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
    ...besidesOf(account),
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
 * Counts the context that only the vendor can measure as the whole window where its client left and its usage never came, after a
 * wait for it.
 */
export function withUnmeasured(
  metered: Metered,
  isReported: boolean,
  { unmeasured }: { unmeasured: boolean },
  contextWindow: number,
): Metered {
  const { usage, outcome, usageSource } = metered;
  // As cached: it failed at its upstream or here.
  if (isReported || !unmeasured || outcome !== 'client_closed' || usageSource === 'none' || usage.cacheHit > 0)
    return metered;
  return { ...metered, usage: { ...nothing, input: contextWindow, output: usage.output } };
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

/** What of a request for images and its admission decides what is charged without a report. */
export interface ImageTerms {
  facts: Pick<RequestFacts, 'imageAsk' | 'images' | 'textBytes'>;
  price: Pick<FrozenPrice, 'images' | 'perUnit'>;
  maxOutputTokens: number;
}

/** An estimate of the tokens of a picture that is sent: those of a square of 1,024 pixels at a vendor that scales nothing down. */
const tokensPerPicture = 1_600;

/**
 * Meters images whose usage never came. Where each has a price, what was made is counted and nothing is estimated. Else an image that
 * the client got or that was drained counts as the dearest that the model makes, and a first version of one that failed at its
 * upstream or here as the tokens of that version.
 */
export function withUnreportedImages(
  metered: Metered,
  account: Pick<ReportedUsage, 'usage' | 'images' | 'imagePartials'> | null,
  { facts, price, maxOutputTokens }: ImageTerms,
): Metered {
  const { imageAsk, images, textBytes } = facts;
  if (imageAsk === undefined || account?.usage != null || metered.usageSource === 'none') return metered;
  const made = account?.images ?? 0;
  const isByPiece = price.images?.each !== undefined || price.perUnit?.image !== undefined;
  if (isByPiece && made > 0 && price.images?.tokens === undefined)
    return { ...metered, usage: nothing, usageSource: metered.outcome === 'completed' ? 'reported' : 'partial' };
  const isOurs = metered.outcome !== 'completed' && metered.outcome !== 'client_closed';
  const output = isOurs ? (account?.imagePartials ?? 0) * tokensOfPartial : made * maxOutputTokens;
  return {
    ...metered,
    usage: { ...nothing, input: Math.ceil(textBytes / chargedBytesPerToken) },
    imageTokens: { input: images * tokensPerPicture, cacheHit: 0, output },
    usageSource: 'estimated',
  };
}

/**
 * Meters an embedding whose vectors were too large to be delivered: the vendor made them, and reports its usage only
 * behind them. The input is estimated.
 */
export function meterUnread(facts: RequestFacts, contextWindow: number): Metered {
  const left = { sent: true, account: null, failed: false, by: facts.protocol };
  return { ...meterLeft(left, facts, contextWindow, 0), outcome: 'upstream_error' };
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
    ...besidesOf(account),
  };
}

/** What is known of a request whose client left before any answer. */
export interface LeftFacts {
  /** The upstream had the whole request. */
  sent: boolean;
  /** What a stream had reported. */
  account: ReportedUsage | null;
  /** The upstream or this process failed before its answer came. */
  failed: boolean;
  /** The upstream's protocol: that of messages alone has the request's cache markers. */
  by: Protocol;
}

/**
 * Meters a request whose client left before any answer, after a wait for its usage where that was worth while. Without a report
 * the context counts as new, or as written where the request asks for that; as cached, its lowest possible cost, when the
 * answer failed at its upstream or here.
 */
export function meterLeft(left: LeftFacts, facts: RequestFacts, contextWindow: number, hiddenTokens: number): Metered {
  const { sent, account, failed } = left;
  if (!sent) return unmetered('client_closed');
  if (account !== null && account.usage !== null)
    return meterStream('client_closed', account, facts, contextWindow, hiddenTokens);
  const pool = facts.inputs !== undefined ? 'input' : failed ? 'cacheHit' : poolOf(facts, left.by);
  return {
    usage: { ...nothing, [pool]: estimateInput(facts, contextWindow), output: hiddenTokens },
    usageSource: 'estimated',
    outcome: 'client_closed',
    ...(account === null ? {} : besidesOf(account)),
  };
}

function poolOf({ cacheWrite }: RequestFacts, by: Protocol): keyof TokenPools {
  if (by !== 'messages' || cacheWrite === 'none') return 'input';
  return cacheWrite === '1h' ? 'cacheWrite1h' : 'cacheWrite5m';
}

/**
 * Meters an answer that another model gave, where the request let the vendor choose: its tokens are a run of that model.
 * An answer that lists its runs says so itself.
 */
export function withServing(
  metered: Metered,
  reported: string | null,
  asked: string,
  others: readonly PricedModel[],
): Metered {
  if (others.length === 0 || metered.runs !== undefined || reported === null || isSameModel(asked, reported))
    return metered;
  return { ...metered, usage: nothing, runs: [{ model: reported, usage: metered.usage }] };
}

export interface SettlementParts {
  accountId: string;
  keyId: string;
  requestId: string;
  model: string;
  route: Pick<RouteRecord, 'upstreamModel' | 'costs'> & { upstream: Pick<RouteRecord['upstream'], 'id'> };
  facts: Pick<RequestFacts, 'protocol' | 'stream' | 'imageAsk'> & Partial<Pick<RequestFacts, 'hostedTools'>>;
  price: FrozenPrice;
  /** When the request was admitted, by the database's clock: costs with windows are those of this moment. */
  admittedAtMs: number;
  metered: Metered;
  /** The request's bound: nothing above it is charged. */
  bounds: TokenBounds;
  latencyMs: number;
  timeToFirstByteMs: number | null;
  attribution: Attribution | null;
  /** Other models that may have run for it. */
  others: readonly PricedModel[];
  /** Models that may have made images for its tool; left out: none is known. */
  makers?: readonly PricedModel[];
  /** The variant of the prices that it asked for, with what `servedBy` says; left out: none. */
  variant?: { asked: string; served: string[] | null };
}

/** What was reported above the bound cannot be, and what was estimated above it is a poor estimate. */
function withinBound(metered: Metered, bounds: TokenBounds): Metered {
  const { usageSource, units } = metered;
  const usage = poolsWithin(metered.usage, bounds);
  const imageTokens =
    metered.imageTokens === undefined ? undefined : imageTokensWithin(metered.imageTokens, usage, bounds);
  const most: UnitCounts = { search: bounds.searches, image: bounds.images, minute: bounds.minutes };
  const isOver = chargedUnits.some((unit) => (units?.[unit] ?? 0) > (most[unit] ?? 0));
  if (usage === metered.usage && imageTokens === metered.imageTokens && !isOver) return metered;
  const isReported = usageSource === 'reported' || usageSource === 'partial';
  return {
    ...metered,
    usage,
    ...(imageTokens === undefined ? {} : { imageTokens }),
    usageSource: isReported ? 'clamped' : usageSource,
    ...(units === undefined ? {} : { units: leastUnits(units, most) }),
  };
}

function leastUnits(units: UnitCounts, most: UnitCounts): UnitCounts {
  const least: UnitCounts = {};
  for (const unit of chargedUnits) {
    const count = units[unit];
    if (count !== undefined) least[unit] = Math.min(count, most[unit] ?? 0);
  }
  return least;
}

/** Tokens of images where they have no price apart are tokens like all others. */
function withMergedImages(metered: Metered, { images }: Pick<FrozenPrice, 'images'>): Metered {
  const { imageTokens, usage } = metered;
  if (imageTokens === undefined || images?.tokens !== undefined) return metered;
  const { imageTokens: _merged, ...others } = metered;
  const all = { ...usage };
  addTokens(all, { ...nothing, ...imageTokens });
  return { ...others, usage: all };
}

/** The line of the tokens of images, which stand beside those of the model's text; null: none. */
function imageLine(model: string, { imageTokens }: Metered, { images }: Pick<FrozenPrice, 'images'>): RunLine | null {
  const tokens = images?.tokens;
  if (tokens === undefined || imageTokens === undefined) return null;
  if (imageTokens.input + imageTokens.cacheHit + imageTokens.output === 0) return null;
  return {
    model: `${model} (images)`,
    usage: { ...nothing, ...imageTokens },
    price: { ...tokens, cacheWrite5m: tokens.input, cacheWrite1h: tokens.input },
  };
}

/** What the operator pays for the tokens of images. */
function imageCostOf({ imageTokens }: Metered, costs: TieredPrices): PicoUsd {
  if (imageTokens === undefined) return 0n;
  const { input, cacheHit, output } = costs.images?.tokens ?? costs;
  return (
    BigInt(imageTokens.input) * input + BigInt(imageTokens.cacheHit) * cacheHit + BigInt(imageTokens.output) * output
  );
}

export function toSettlement(given: SettlementParts): Settlement {
  const metered = withMergedImages(withinBound(given.metered, given.bounds), given.price);
  const parts = given.variant === undefined ? given : withChosen(given, given.variant, metered.usage);
  const { route, facts } = parts;
  const { usage } = metered;
  const { costs } = route;
  const { image: _image, ...pieces } = metered.units ?? {};
  const ofTool = toolImagesOf(metered, parts);
  const ownUnits = unitsOf(metered, (ofTool === null ? metered.units : pieces) ?? {}, parts.price, facts);
  const paid = costs === null ? null : ownCostOf(metered, ownUnits, pricesAtMoment(costs, parts.admittedAtMs), facts);
  const own = ofTool === null ? paid : sumOf(paid, ofTool.upstreamCost);
  const units = [...ownUnits, ...(ofTool?.units ?? [])];
  const ofImages = imageLine(parts.model, metered, parts.price);
  const runs = metered.runs === undefined ? null : runLines(metered.runs, usage, parts);
  const lines = [...(ofImages === null ? [] : [ofImages]), ...(ofTool?.lines ?? []), ...(runs?.lines ?? [])];
  const isCorrected = runs?.clamped === true || ofTool?.clamped === true;
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
    ...(lines.length === 0 ? {} : { lines }),
    upstreamCost: runs === null ? own : sumOf(own, runs.upstreamCost),
    latencyMs: Math.round(parts.latencyMs),
    timeToFirstByteMs: parts.timeToFirstByteMs === null ? null : Math.round(parts.timeToFirstByteMs),
    outcome: metered.outcome,
    usageSource: isCorrected && metered.usageSource === 'reported' ? 'clamped' : metered.usageSource,
    ...(parts.attribution === null ? {} : { attribution: parts.attribution }),
  };
}

const sumOf = (a: PicoUsd | null, b: PicoUsd | null): PicoUsd | null => (a === null || b === null ? null : a + b);

/** What images of a tool come to. */
interface ToolImages {
  lines: RunLine[];
  units: UnitLine[];
  /** Null: not known. */
  upstreamCost: PicoUsd | null;
  clamped: boolean;
}

/**
 * Images of a tool at the prices of the model that makes them: as the vendor counts its tokens, or, where an image was made and it counts
 * none, the most that one can come to. The report does not name the model: of several that the request names the dearest counts. Null: the
 * catalog does not have the model, or nothing was made.
 */
function toolImagesOf(metered: Metered, parts: SettlementParts): ToolImages | null {
  const { bounds, makers = [], route, facts } = parts;
  const { toolImage: one, images: most } = bounds;
  const count = Math.min(Math.max(metered.units?.image ?? 0, metered.toolImages === undefined ? 0 : 1), most);
  const here = makers.filter(({ upstream }) => upstream === route.upstream.id);
  if (one === undefined || here.length === 0 || count === 0) return null;
  if (metered.toolImages === undefined) {
    const price = one.price < MAX_UNIT_PRICE ? one.price : MAX_UNIT_PRICE;
    return { lines: [], units: [{ unit: 'image', count, price }], upstreamCost: null, clamped: true };
  }
  const { toolImages } = metered;
  const within = { ...bounds, longWrites: false, input: one.input * most, output: one.output * most };
  const usage = poolsWithin(toolImages.usage, within);
  const imageTokens = imageTokensWithin(toolImages.imageTokens, usage, within);
  const clamped = toolImages.clamped || usage !== toolImages.usage || imageTokens !== toolImages.imageTokens;
  const forms = (facts.hostedTools ?? []).flatMap(({ image }) => (image === undefined ? [] : [image.form]));
  const counted = here.map((maker) => madeBy(maker, { ...metered, usage, imageTokens }, { count, forms }));
  const dearest = counted.reduce((a, b) => (chargeOf(b) > chargeOf(a) ? b : a));
  return { ...dearest, clamped };
}

/** Tokens and pieces of images at the prices of one model that makes them. */
function madeBy(
  { model, price, costs }: PricedModel,
  all: Metered & { imageTokens: ImageTokens },
  { count, forms }: { count: number; forms: readonly ImageForm[] },
): Omit<ToolImages, 'clamped'> {
  const merged = withMergedImages(all, price);
  const prompt = promptTokens(all.usage) + all.imageTokens.input + all.imageTokens.cacheHit;
  const { input, cacheHit, cacheWrite5m, cacheWrite1h, output } = pricesAt(price, prompt);
  const text = { model, usage: merged.usage, price: { input, cacheHit, cacheWrite5m, cacheWrite1h, output } };
  const ofImages = imageLine(model, merged, price);
  const pieceOf = (form: ImageForm): PicoUsd => pricesForImages(price, { form }).perUnit?.image ?? 0n;
  const piece = forms.map(pieceOf).reduce((a, b) => (b > a ? b : a), 0n);
  return {
    lines: [
      ...(promptTokens(text.usage) + text.usage.output === 0 ? [] : [text]),
      ...(ofImages === null ? [] : [ofImages]),
    ],
    units: piece === 0n ? [] : [{ unit: 'image', count, price: piece }],
    upstreamCost: costs === null || piece > 0n ? null : tieredCost(all.usage, costs) + imageCostOf(all, costs),
  };
}

const chargeOf = ({ lines, units }: Pick<ToolImages, 'lines' | 'units'>): PicoUsd =>
  unitCost(units) + lines.reduce((sum, { usage, price }) => sum + cost(usage, price), 0n);

/** What a route's vendor says of what it served; null: it says nothing, or its word is not relied on. */
export function servedBy(
  { upstream }: RouteRecord,
  facts: Pick<RequestFacts, 'gates'>,
  served: ReportedUsage['served'],
): string[] | null {
  return saysWhatItServes(upstream.profile, upstream.protocol) ? servedWords(facts, served) : null;
}

/** The price and the route's costs of the variant that was served. */
function withChosen(
  parts: SettlementParts,
  { asked, served }: NonNullable<SettlementParts['variant']>,
  usage: TokenPools,
): SettlementParts {
  const { route } = parts;
  const { price, choice } = chosenVariant(parts.price, asked, served, usage);
  return {
    ...parts,
    price: { ...price, variant: choice },
    route: { ...route, costs: costsOf(route.costs, choice.charged) },
    others: parts.others.map((other) => ({
      ...other,
      price: dearestVariant(other.price, asked),
      costs: costsOf(other.costs, choice.charged),
    })),
  };
}

/** Null where the route does not say what a variant costs that was served. */
function costsOf<Costs extends ClockedPrices>(costs: Costs | null, charged: string | null): Costs | null {
  if (costs === null || charged === null) return costs;
  const variant = variantOf(costs, charged);
  return variant === null ? null : withVariant(costs, variant);
}

/** The price of another model's run. */
interface RunPrice {
  /** As in `RunLine`. */
  model: string;
  price: TieredPrices;
  /** What the operator pays; null: not known. */
  costs: TieredPrices | null;
}

/** Whether the catalog prices a model under the name that its vendor reports; null: it does not. */
export function pricedRun(
  { model }: Pick<ModelRun, 'model'>,
  {
    model: own,
    route,
    price,
    admittedAtMs,
    others,
  }: Pick<SettlementParts, 'model' | 'route' | 'price' | 'admittedAtMs' | 'others'>,
): RunPrice | null {
  if (model === null) return null;
  const { upstream, upstreamModel, costs } = route;
  if (isSameModel(upstreamModel, model))
    return { model: own, price, costs: costs === null ? null : pricesAtMoment(costs, admittedAtMs) };
  return others.find((other) => other.upstream === upstream.id && isSameModel(other.upstreamModel, model)) ?? null;
}

/**
 * Runs of other models as lines, each run at the prices for its own prompt; runs of one model at the same prices are one line.
 * A model that the catalog does not price is charged at the dearest price of the model that was asked for. Nothing is charged
 * above the request's bound, which is for all runs together.
 */
function runLines(
  runs: readonly ModelRun[],
  own: TokenPools,
  parts: SettlementParts,
): { lines: RunLine[]; upstreamCost: PicoUsd | null; clamped: boolean } {
  const left = {
    ...parts.bounds,
    input: parts.bounds.input - promptTokens(own),
    output: parts.bounds.output - own.output,
  };
  const lines = new Map<string, RunLine>();
  let upstreamCost: PicoUsd | null = 0n;
  let clamped = false;
  for (const run of runs) {
    const usage = poolsWithin(run.usage, left);
    clamped ||= usage !== run.usage;
    left.input -= promptTokens(usage);
    left.output -= usage.output;
    const found = lines.size < MAX_RUN_LINES - 1 ? pricedRun(run, parts) : null;
    const name = found?.model ?? (lines.size < MAX_RUN_LINES - 1 ? storableName(run.model ?? '') : otherNames);
    const { input, cacheHit, cacheWrite5m, cacheWrite1h, output } =
      found === null
        ? dearestWithin(parts.price, Number.POSITIVE_INFINITY)
        : pricesAt(found.price, promptTokens(usage));
    const price = { input, cacheHit, cacheWrite5m, cacheWrite1h, output };
    const paid: PicoUsd | null = found?.costs == null ? null : tieredCost(usage, found.costs);
    upstreamCost = upstreamCost === null || paid === null ? null : upstreamCost + paid;
    if (promptTokens(usage) + usage.output === 0) continue;
    const key = [name, ...Object.values(price)].join(' ');
    const line = lines.get(key);
    if (line === undefined) lines.set(key, { model: name, usage: { ...usage }, price });
    else addTokens(line.usage, usage);
  }
  return { lines: [...lines.values()], upstreamCost, clamped };
}

/** What is used by the piece, at its price. */
function unitsOf(
  { imageForm = noForm }: Metered,
  counts: UnitCounts,
  price: Pick<TieredPrices, 'images' | 'perUnit'>,
  { imageAsk }: Pick<RequestFacts, 'imageAsk'>,
): UnitLine[] {
  return imageAsk === undefined
    ? unitLines(counts, price.perUnit)
    : unitLinesOfImages(counts, price, imageAsk.form, imageForm);
}

const noForm: ImageForm = { quality: null, size: null };

/** What the operator pays; null where the route does not say what a unit costs that was used. */
function ownCostOf(
  metered: Metered,
  units: readonly UnitLine[],
  costs: TieredPrices,
  { imageAsk }: Pick<RequestFacts, 'imageAsk'>,
): PicoUsd | null {
  const { perUnit = {} } = costs;
  const { imageForm = noForm, imageTokens } = metered;
  const image = imageAsk === undefined ? perUnit.image : priceOfMade(costs, imageAsk.form, imageForm);
  // An image whose tokens are counted may cost the vendor's tokens alone.
  const paid = { ...perUnit, image: image ?? (imageAsk !== undefined && imageTokens !== undefined ? 0n : undefined) };
  if (units.some(({ unit }) => paid[unit] === undefined)) return null;
  const lines = units.map((line) => ({ ...line, price: paid[line.unit] ?? 0n }));
  return tieredCost(metered.usage, costs) + unitCost(lines) + imageCostOf(metered, costs);
}
