import type { PerUnit } from '../core/price.ts';
import { promptBound, type RequestMeasure } from '../core/request.ts';
import { chargedBytesPerToken, MAX_POOL_TOKENS, type ReportedUsage, type TokenPools } from '../core/tokens.ts';

/**
 * Estimates token counts of answers without a complete report: the vendor reports nothing, the stream was cut, or the
 * client left. Bytes are counted while they are relayed; no text is kept.
 */

/** Upper bounds for media, whose tokens do not follow from their bytes: a large image, a page of a document. */
const tokensPerImage = 1_600;
const tokensPerDocument = 3_000;
const bytesPerDocumentToken = 20;

/** An upper bound on the tokens of images and documents, for the hold; and tokens that are counted already. */
export function mediaTokens(
  facts: Pick<RequestMeasure, 'images' | 'documents' | 'documentBytes' | 'countedTokens'>,
): number {
  const documents =
    facts.documents === 0
      ? 0
      : Math.max(facts.documents * tokensPerDocument, Math.ceil(facts.documentBytes / bytesPerDocumentToken));
  return facts.images * tokensPerImage + documents + (facts.countedTokens ?? 0);
}

/** Estimated tokens of a request's context. */
export function estimateInput(facts: RequestMeasure, contextWindow: number): number {
  return Math.min(Math.ceil(facts.textBytes / chargedBytesPerToken) + mediaTokens(facts), contextWindow);
}

/** Estimated tokens of an answer so far: by its bytes, and at least one for each piece. */
export function estimateOutput(account: ReportedUsage): number {
  return Math.min(
    MAX_POOL_TOKENS,
    Math.max(Math.ceil(account.outputBytes / chargedBytesPerToken), account.outputPieces),
  );
}

/** Plausible bounds: maximum tokens of one request's input and output pools, and the maximum of what is counted by the piece. */
export interface TokenBounds {
  input: number;
  output: number;
  searches: number;
  images: number;
  minutes: number;
}

/** One run, a second one that compacts the conversation before it, and windows that the catalog rounds down. */
const windowsOfOneRun = 2;
/** Tools that run at the vendor call the model again with their results, each time with the whole context. */
const windowsWithVendorTools = 16;
/** A run may search several times at once, and xAI counts the sources that a search found instead of searches. */
const maxSearchesAsked = 8 * windowsWithVendorTools;
/** Models that search by themselves: published answers of Perplexity's deep research count more than fifty searches. */
const maxSearchesUnasked = 4 * windowsWithVendorTools;

/**
 * Plausible bounds of one request's usage. Usage above them is not billed, because one wrong report could empty an
 * account; it is counted as an anomaly.
 */
export function tokenBounds(
  facts: { answers: number; gates: readonly { kind: string; name: string }[]; searchesTools: boolean },
  /** Gates that the model's entry opens; other gated members never reach the vendor. */
  allowed: ReadonlySet<string>,
  contextWindow: number,
): TokenBounds {
  // A search among the tools costs nothing itself, and the model runs again with what it found.
  const runsAgain = runsVendorTools(facts, allowed) || facts.searchesTools;
  const windows = runsAgain ? windowsWithVendorTools : windowsOfOneRun;
  const input = Math.min(MAX_POOL_TOKENS, contextWindow * windows);
  return {
    input,
    output: Math.min(MAX_POOL_TOKENS, input * facts.answers),
    searches: asksForSearches(facts, allowed) ? maxSearchesAsked : maxSearchesUnasked,
    images: asksFor(imageGate, facts, allowed) ? maxImages : 0,
    minutes: asksFor(audioGate, facts, allowed) ? maxMinutes : 0,
  };
}

/** A model makes an image and looks at it, as often as it may run. */
const maxImages = windowsWithVendorTools;
/** Three hours of recordings in one request; what the model's context takes is far less. */
const maxMinutes = 180;
const imageGate = /^(?:[\w-]+:)*image_generation$/;
const audioGate = /^input_audio$/;

function asksFor(gate: RegExp, { gates }: Gated, allowed: ReadonlySet<string>): boolean {
  return gates.some(({ kind, name }) => kind === 'price' && allowed.has(name) && gate.test(name));
}

/** The most images and minutes of a request that asks for them, for its hold. */
export function askedPieces(facts: Gated, allowed: ReadonlySet<string>): { madeImages?: number; minutes?: number } {
  return {
    ...(asksFor(imageGate, facts, allowed) ? { madeImages: maxImages } : {}),
    ...(asksFor(audioGate, facts, allowed) ? { minutes: maxMinutes } : {}),
  };
}

/** Whether a request may take images or minutes that have a price. */
export function awaitsPieces(
  { images, minutes }: Pick<TokenBounds, 'images' | 'minutes'>,
  perUnit: PerUnit = {},
): boolean {
  return (images > 0 && perUnit.image !== undefined) || (minutes > 0 && perUnit.minute !== undefined);
}

type Gated = Pick<Parameters<typeof tokenBounds>[0], 'gates'>;

function runsVendorTools({ gates }: Gated, allowed: ReadonlySet<string>): boolean {
  return gates.some(({ kind, name }) => kind === 'price' && allowed.has(name));
}

/** How often the model may read its context for one request, so that admission can reserve the maximum cost. */
export function contextRuns(facts: Gated, allowed: ReadonlySet<string>): number {
  return runsVendorTools(facts, allowed) ? windowsWithVendorTools : 1;
}

/** Gates of searches, under any gateway's prefix (`openrouter:web_search`). One of OpenRouter's plugins is a search. */
const searchGate = /^(?:(?:[\w-]+:)*(?:web_search|x_search)|plugins)$/;

function asksForSearches({ gates }: Gated, allowed: ReadonlySet<string>): boolean {
  return asksFor(searchGate, { gates }, allowed);
}

/**
 * Searches that a request is held for: as many as the vendor may read its context, where the request asks for them, or
 * where the model may search by itself. It may where its entry opens no searches and has a price for them all the same, and
 * at vendors of chat completions (`unasked`), some of whose models search whatever the request says:
 * https://docs.perplexity.ai/docs/sonar/models, https://platform.openai.com/docs/guides/tools-web-search. On the other
 * protocols a search needs its tool. Zero: none can be made.
 */
export function heldSearches(facts: Gated, allowed: ReadonlySet<string>, unasked: boolean): number {
  const isAskable = [...allowed].some((name) => searchGate.test(name));
  return asksForSearches(facts, allowed) || !isAskable || unasked ? windowsWithVendorTools : 0;
}

/** A bound on the prompt's tokens, as the hold was sized by. */
export function promptBoundOf(
  facts: RequestMeasure & Gated,
  allowed: ReadonlySet<string>,
  contextWindow: number,
): number {
  const { textBytes } = facts;
  const size = { textBytes, mediaTokens: mediaTokens(facts), contextRuns: contextRuns(facts, allowed) };
  return promptBound(size, contextWindow);
}

/** Caps what is reported at plausible bounds; returns the same object when all is within them. */
export function withinBounds(account: ReportedUsage, bounds: TokenBounds): ReportedUsage {
  let within = withinTokenBounds(account, bounds);
  for (const name of ['searches', 'images', 'minutes'] as const)
    if ((account[name] ?? 0) > bounds[name]) within = { ...within, [name]: bounds[name], clamped: true };
  return within;
}

function withinTokenBounds(account: ReportedUsage, { input, output }: TokenBounds): ReportedUsage {
  const { usage } = account;
  if (usage === null) return account;
  const bounded: TokenPools = {
    input: Math.min(usage.input, input),
    cacheHit: Math.min(usage.cacheHit, input),
    cacheWrite5m: Math.min(usage.cacheWrite5m, input),
    cacheWrite1h: Math.min(usage.cacheWrite1h, input),
    output: Math.min(usage.output, output),
  };
  const names = Object.keys(bounded) as (keyof TokenPools)[];
  return names.every((name) => bounded[name] === usage[name]) ? account : { ...account, usage: bounded, clamped: true };
}

/** How to count context that the upstream did not report. */
export type UnreportedInput =
  /** As new context: the client disconnected, which must not be cheaper than staying. */
  | 'input'
  /** As cached context, its lowest plausible cost. */
  | 'cache_hit';

/** Usage of an answer that ended before its final report: the reported part, and estimates for the rest. */
export function usageSoFar(
  account: ReportedUsage,
  facts: RequestMeasure,
  contextWindow: number,
  unreported: UnreportedInput,
  /** Hidden reasoning tokens (`reasoning.ts`) that may be charged. */
  hiddenTokens = 0,
): { usage: TokenPools; estimated: boolean } {
  // An answer is at most as long as the model's context window. The request's own cap is no bound: an upstream may
  // ignore it, and the tokens above it would be free for a client that disconnects before the report.
  const shown = Math.min(estimateOutput(account), contextWindow * facts.answers);
  const output = Math.min(shown + hiddenTokens, contextWindow * facts.answers);
  if (account.usage !== null) {
    const usage = { ...account.usage, output: Math.max(account.usage.output, output) };
    return { usage, estimated: output > Math.max(account.usage.output, shown) };
  }
  const inputTokens = estimateInput(facts, contextWindow);
  // Vendors have no cache for what they embed.
  const isNew = unreported === 'input' || facts.inputs !== undefined;
  return {
    usage: {
      input: isNew ? inputTokens : 0,
      cacheHit: isNew ? 0 : inputTokens,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      output,
    },
    estimated: true,
  };
}
