import { tokensOfPartial } from '../core/made-image-cost.ts';
import { dearer, dearestWithin, promptTokens, type TieredPrices, type UnitPrices } from '../core/price.ts';
import { dearestVariant, variantName, variantOf } from '../core/price-variants.ts';
import type { ProfileId } from '../core/profile.ts';
import type { Protocol } from '../core/protocol.ts';
import {
  type ImageAsk,
  type MediaCount,
  type MediaKind,
  mostInputTokens,
  type PromptSize,
  type RequestMeasure,
  type ToolImageBound,
} from '../core/request.ts';
import { type ImageTokens, MAX_POOL_TOKENS, noTokens, type ReportedUsage, type TokenPools } from '../core/tokens.ts';
import { mediaTokens } from './estimate.ts';

/**
 * The bound of a request: tokens and pieces that no honest vendor's bill for it can exceed, from what one scan of its body
 * found and the catalog entry alone. The estimate, the admission, the brake and the settlement all use this one.
 * `BOUNDS.md` has the reason for each kind of content.
 */
export interface RequestBound {
  /** What it is made of, for people. */
  parts: readonly BoundPart[];
  size: BoundSize;
}

/** Its figures; the model's window and its longest answer are set in where it is used. */
export interface BoundSize extends PromptSize {
  mostTokens: number | null;
  unmeasured: boolean;
  /** The cap on each answer; null: that of the model. */
  maxTokens: number | null;
  answers: number;
  inputs?: number;
  searches: number;
  madeImages: number;
  minutes: number;
  /** It asks for the cache that is kept for an hour; no other request writes it. */
  longWrites: boolean;
  /** How often another model may be asked for advice, which no cap of the request shortens; left out: never. */
  advice?: number;
  /** The dearest prices of other models that may run for it; left out: none may. */
  otherPrices?: UnitPrices;
  /** What it asks for, of a request for images; left out: it is none. */
  imageAsk?: ImageAsk;
  /** Each image of a tool, where the catalog has the model that makes it; left out: an image is at the price of a piece. */
  toolImage?: ToolImageBound;
  /** The variant of the prices that it asks for; left out: none. */
  variant?: string;
}

/** One kind of content. */
export interface BoundPart {
  kind: 'text' | 'template' | 'vendor_tools' | MediaKind;
  /** How many there are; left out: it is not counted. */
  count?: number;
  /** Null: the whole window, because only the vendor can measure it. */
  tokens: number | null;
}

/** What of a catalog entry decides a bound. */
export interface BoundModel {
  /** Gates that the entry opens; other gated members never reach the vendor. */
  allow: ReadonlySet<string>;
  routes: readonly { upstreamModel?: string; upstream: { protocol: Protocol; profile: ProfileId | null } }[];
  /** Its prices, which may have variants. */
  price?: Pick<TieredPrices, 'variants'>;
  /** Other models that may run for the request; left out: none may. */
  others?: readonly { price: TieredPrices }[];
  /** As in `BoundSize`. */
  toolImage?: ToolImageBound | undefined;
}

/** What of a scan decides a bound. */
export type BoundFacts = RequestMeasure & Gated & { searchesTools: boolean; maxSearches?: number };

interface Gated {
  gates: readonly { kind: string; name: string; variant?: string }[];
}

/**
 * The most tokens of one image at a vendor, whatever its size: all of these scale larger ones down. Vendors that are missing
 * publish no such bound, or serve models of others.
 *
 * - Anthropic: a token for 28 x 28 pixels; larger pictures are scaled down to 4,784 (models of the higher resolution, 1,568
 *   the others): https://platform.claude.com/docs/en/build-with-claude/vision
 * - OpenAI: GPT-5.6 keeps the original size and refuses more than 30,000 patches, each 1.2 tokens; GPT-5.5 scales down to
 *   10,000, older models to at most 6,144, with factors up to 2.46 (1.72 at o4-mini). Tiles come to less, except those of
 *   gpt-4o-mini (2,833 and 8 times 5,667), which Azure serves: https://developers.openai.com/api/docs/guides/images-vision
 * - xAI: 256 to 1,792 by their size: https://docs.x.ai/docs/key-information/consumption-and-rate-limits
 */
const pictures = {
  anthropic: 4_784,
  'openai-gpt5': 36_000,
  'openai-o': 10_568,
  azure: 48_169,
};
const imageTokens: Partial<Record<ProfileId, number>> = { ...pictures, xai: 1_792 };
/**
 * The most tokens of the picture of a page, where the vendor reads a PDF as the text and a picture of each of its pages, and
 * nothing else of it. Vendors that are missing search in documents, or say nothing of them.
 *
 * - Anthropic: https://platform.claude.com/docs/en/build-with-claude/pdf-support
 * - OpenAI: https://developers.openai.com/api/docs/guides/pdf-files
 * - Gemini: 258, with Gemini 3 1,120 at the highest setting for PDFs and 2,240 at the highest of all:
 *   https://ai.google.dev/gemini-api/docs/media-resolution
 */
const pageTokens: Partial<Record<ProfileId, number>> = { ...pictures, 'gemini-compatible': 2_240 };
/** Vendors that take nothing but images where a protocol has an image's address. */
const onlyImagesByAddress: ReadonlySet<ProfileId> = new Set(['anthropic', 'openai-gpt5', 'openai-o', 'azure', 'xai']);

/**
 * What templates add to the text. Words around a message have fewer tokens than its JSON has bytes; what comes before the
 * first message is a system prompt of the vendor's own: up to some seven hundred tokens at xAI, a few dozen elsewhere.
 */
const templateTokens = 1_024;
/** The prompt that explains the use of tools: 530 at most, https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview */
const toolsTemplateTokens = 1_024;
/** A tool that the vendor describes itself (`computer`, `bash`, `text_editor`): 735 and a prompt of 499, on the same page. */
const describedToolTokens = 1_280;

/** Tools that run at the vendor call the model again with their results, each time with the whole context. */
const runsWithVendorTools = 16;
/** A run may search several times at once, and xAI counts the sources that a search found instead of searches. */
const maxSearchesAsked = 8 * runsWithVendorTools;
/** Models that search on their own: published answers of Perplexity's deep research count more than fifty searches. */
const maxSearchesUnasked = 4 * runsWithVendorTools;
/** The model and three others after it: https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback */
const maxAttempts = 4;
/** A model makes an image and looks at it, as often as it may run. */
const maxImages = runsWithVendorTools;
/** Three hours of recordings in one request; what the model's context takes is far less. */
const maxMinutes = 180;

/** The bound of a request to a model. */
export function boundOf(facts: BoundFacts, model: BoundModel): RequestBound {
  const embeds = facts.inputs !== undefined;
  const parts: BoundPart[] = [{ kind: 'text', tokens: facts.textBytes + (facts.expandedBytes ?? 0) }];
  if (facts.countedTokens !== undefined && facts.countedTokens > 0)
    parts.push({ kind: 'template', tokens: facts.countedTokens });
  if (!embeds) parts.push({ kind: 'template', tokens: templateOf(facts) });
  const media = facts.media ?? [];
  for (const each of media) parts.push({ kind: each.kind, count: each.count, tokens: tokensOf(each, model) });
  const variant = askedVariant(facts, model);
  const contextRuns = runsOf(facts, model.allow);
  const attempts = asksFor(attemptsGate, facts, model.allow) ? maxAttempts : 1;
  const cap = capOf(facts);
  // The next attempt reads what the one before had written.
  if (attempts > 1) parts.push({ kind: 'text', tokens: cap });
  if (contextRuns > 1) parts.push({ kind: 'vendor_tools', count: contextRuns, tokens: null });
  const isWindow = parts.some(({ tokens }) => tokens === null);
  return {
    parts,
    size: {
      textBytes: facts.textBytes,
      mediaTokens: mediaTokens(facts),
      // A vendor may count the prompt once for each image that it makes.
      mostTokens: isWindow
        ? null
        : parts.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0) * (facts.imageAsk?.count ?? 1),
      unmeasured: media.some(({ kind }) => onlyAtVendor.has(kind)),
      contextRuns,
      ...(attempts === 1 ? {} : { attempts }),
      ...(asksFor(adviceGate, facts, model.allow) ? { advice: toolUsesOf(facts) } : {}),
      ...otherPrices(model, variant),
      ...(variant === null ? {} : { variant }),
      maxTokens: cap,
      answers: facts.answers * (facts.compacts === true ? 2 : 1),
      ...(facts.inputs === undefined ? {} : { inputs: facts.inputs }),
      ...(facts.imageAsk === undefined ? {} : { imageAsk: facts.imageAsk }),
      ...(model.toolImage === undefined ? {} : { toolImage: model.toolImage }),
      searches: facts.imageAsk === undefined ? searchesOf(facts, model) : 0,
      madeImages:
        facts.imageAsk !== undefined
          ? facts.imageAsk.count
          : asksFor(imageGate, facts, model.allow)
            ? toolImagesOf(facts, model)
            : 0,
      minutes: asksFor(audioGate, facts, model.allow) ? maxMinutes : 0,
      longWrites: facts.cacheWrite === '1h',
    },
  };
}

/** A tool makes one image in each use. */
const toolImagesOf = ({ maxToolUses }: BoundFacts, { toolImage }: BoundModel): number =>
  toolImage === undefined ? maxImages : Math.min(maxToolUses ?? maxImages, maxImages);

function otherPrices({ others = [] }: BoundModel, variant: string | null): Pick<BoundSize, 'otherPrices'> {
  const sets = others.map(({ price }) =>
    dearestWithin(variant === null ? price : dearestVariant(price, variant), Number.POSITIVE_INFINITY),
  );
  return sets.length === 0 ? {} : { otherPrices: sets.reduce(dearer) };
}

/** Kinds of which nothing here says how much they are: no credit is given on them. */
const onlyAtVendor: ReadonlySet<MediaKind> = new Set([
  'document_by_address',
  'file_by_id',
  'audio',
  'video',
  'unknown_part',
  'stored_context',
]);

function templateOf({ tools }: BoundFacts): number {
  if (tools === undefined || tools.declared === 0) return templateTokens;
  return templateTokens + toolsTemplateTokens + tools.described * describedToolTokens;
}

/** A bound on the tokens of media; null: only the vendor can measure them. The dearest vendor among the routes counts. */
function tokensOf(media: MediaCount, { routes }: BoundModel): number | null {
  let most = 0;
  for (const { upstream } of routes) {
    const tokens = upstream.profile === null ? null : tokensAt(media, upstream.profile);
    if (tokens === null) return null;
    most = Math.max(most, tokens);
  }
  return routes.length === 0 ? null : most;
}

function tokensAt({ kind, count, textBytes = 0 }: MediaCount, profile: ProfileId): number | null {
  if (kind === 'pdf_pages') {
    const perPage = pageTokens[profile];
    return perPage === undefined ? null : count * perPage + textBytes;
  }
  const perImage = imageTokens[profile];
  if (perImage === undefined) return null;
  const isImage = kind === 'image' || (kind === 'image_by_address' && onlyImagesByAddress.has(profile));
  return isImage ? count * perImage : null;
}

/** The largest cap that an upstream may read, with reasoning that is allowed beside it. */
function capOf({ maxTokens, mostCap, reasoningBudget = 0 }: BoundFacts): number | null {
  if (maxTokens === null) return null;
  return Math.min(Math.max(maxTokens, mostCap ?? 0) + reasoningBudget, Number.MAX_SAFE_INTEGER);
}

/** How often the model may read its context for one request: with each result of a tool that runs at the vendor. */
function runsOf(facts: BoundFacts, allowed: ReadonlySet<string>): number {
  const compaction = facts.compacts === true ? 1 : 0;
  if (!runsVendorTools(facts, allowed)) return 1 + compaction;
  // The model that advises reads the whole context, too.
  const advice = asksFor(adviceGate, facts, allowed) ? toolUsesOf(facts) : 0;
  return (facts.maxToolUses === undefined ? runsWithVendorTools : facts.maxToolUses + 1) + advice + compaction;
}

/** A search among the tools costs nothing itself, and the model runs again with what it found. */
function runsVendorTools({ gates, searchesTools }: BoundFacts, allowed: ReadonlySet<string>): boolean {
  return (
    searchesTools ||
    gates.some(
      ({ kind, name, variant }) =>
        kind === 'price' && allowed.has(name) && !attemptsGate.test(name) && variant === undefined,
    )
  );
}

/**
 * The variant of a model's prices that a request asks for; null: it asks for none that they have. What they do not have is refused,
 * unless the entry's `allow` names its member: that passes at the prices of the others.
 */
export function askedVariant(
  { gates }: Gated,
  { allow, price = {} }: Pick<BoundModel, 'allow' | 'price'>,
): string | null {
  if (gates.length === 0) return null;
  const asked = gates.flatMap(({ name, variant }) => (variant === undefined ? [] : [{ name, variant }]));
  const sets = [asked, asked.filter(({ name }) => !allow.has(name))];
  const names = sets.map((each) => variantName(each.map(({ variant }) => variant)));
  return names.find((name) => variantOf(price, name) !== null) ?? null;
}

const toolUsesOf = ({ maxToolUses }: BoundFacts): number => maxToolUses ?? runsWithVendorTools;

/** `max_tokens` is for the model that asks: https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool */
const adviceGate = /^advisor$/;
/** Other models that are tried when the first one refuses or fails, in the words of two vendors. */
const attemptsGate = /^(?:fallbacks|models)$/;
/** What lets the vendor run other models than the one that is asked for. */
const otherModelsGate = /^(?:fallbacks|models|preset|advisor)$/;

/** Whether other models may run for the request: the prices of those that the vendor has count, too. */
export function mayRunOthers({ gates }: Gated, allowed: ReadonlySet<string>): boolean {
  return gates.some(({ name }) => allowed.has(name) && otherModelsGate.test(name));
}

/** Gates of searches, under any gateway's prefix (`openrouter:web_search`). One of OpenRouter's plugins is a search. */
const searchGate = /^(?:(?:[\w-]+:)*(?:web_search|x_search)|plugins)$/;
const imageGate = /^(?:[\w-]+:)*image_generation$/;
const audioGate = /^input_audio$/;

function asksFor(gate: RegExp, { gates }: Gated, allowed: ReadonlySet<string>): boolean {
  return gates.some(({ kind, name }) => kind === 'price' && allowed.has(name) && gate.test(name));
}

/** Vendors whose models search with a tool of the request alone, but those that are called after it (`gpt-5-search-api`). */
const searchesByTool: ReadonlySet<ProfileId> = new Set(['anthropic', 'openai-gpt5', 'openai-o', 'azure']);

/**
 * Searches where the request asks for them, or where the model may search on its own. It may where its entry opens no searches
 * and has a price for them all the same, and at vendors of chat completions, some of whose models search whatever the
 * request says: https://docs.perplexity.ai/docs/sonar/models, https://platform.openai.com/docs/guides/tools-web-search. On
 * the other protocols a search needs its tool. Zero: none can be made.
 */
function searchesOf(facts: BoundFacts, { allow, routes }: BoundModel): number {
  if (asksFor(searchGate, facts, allow)) return facts.maxSearches ?? facts.maxToolUses ?? maxSearchesAsked;
  const isAskable = [...allow].some((name) => searchGate.test(name));
  const strangers = routes.filter(
    ({ upstreamModel = '', upstream: { profile } }) =>
      profile === null || !searchesByTool.has(profile) || /search/i.test(upstreamModel),
  );
  if (routes.length > 0 && strangers.length === 0) return 0;
  const mayTakeChat = strangers.some(({ upstream }) => upstream.protocol === 'chat-completions');
  // A model with a price for searches may search unasked.
  return !isAskable || mayTakeChat ? maxSearchesUnasked : 1;
}

/** The most tokens of one request's input and output pools, and of what is counted by the piece. */
export interface TokenBounds {
  /** All input pools together. */
  input: number;
  output: number;
  searches: number;
  images: number;
  /** Of one image of a tool; left out: images are pieces. */
  toolImage?: ToolImageBound;
  minutes: number;
  /** Whether the cache that is kept for an hour may be written. */
  longWrites: boolean;
}

const withoutInputs = ({ inputs: _inputs, ...size }: BoundSize): BoundSize => size;

/** A bound at a model, in tokens. `contextWindow`: of all inputs of an embedding together. */
export function tokenBounds(
  whole: BoundSize,
  { contextWindow, maxOutputTokens }: { contextWindow: number; maxOutputTokens: number },
): TokenBounds {
  const size = whole.inputs === undefined ? whole : withoutInputs(whole);
  const cap = Math.min(size.maxTokens ?? maxOutputTokens, maxOutputTokens);
  return {
    input: Math.min(mostInputTokens(size, contextWindow), MAX_POOL_TOKENS),
    output: Math.min(
      cap * size.answers * (size.attempts ?? 1) +
        (size.advice ?? 0) * maxOutputTokens +
        (size.imageAsk?.partials ?? 0) * tokensOfPartial * size.answers,
      MAX_POOL_TOKENS,
    ),
    searches: size.searches,
    images: size.madeImages,
    ...(size.toolImage === undefined ? {} : { toolImage: size.toolImage }),
    minutes: size.minutes,
    longWrites: size.longWrites,
  };
}

/** Caps what is reported at the request's bound; returns the same object when all is within it. */
export function withinBounds(account: ReportedUsage, bounds: TokenBounds): ReportedUsage {
  const usage = account.usage === null ? null : poolsWithin(account.usage, bounds);
  let within = usage === account.usage ? account : { ...account, usage, clamped: true };
  const { imageTokens } = within;
  if (imageTokens !== undefined) {
    const most = imageTokensWithin(imageTokens, usage ?? noTokens, bounds);
    if (most !== imageTokens) within = { ...within, imageTokens: most, clamped: true };
  }
  for (const name of ['searches', 'images', 'minutes'] as const)
    if ((account[name] ?? 0) > bounds[name]) within = { ...within, [name]: bounds[name], clamped: true };
  return within;
}

/** Tokens of images beside those of the text, within the bound of both together; the same object where they are. */
export function imageTokensWithin(tokens: ImageTokens, text: TokenPools, bounds: TokenBounds): ImageTokens {
  const input = Math.max(0, bounds.input - promptTokens(text));
  const output = Math.max(0, bounds.output - text.output);
  if (tokens.input + tokens.cacheHit <= input && tokens.output <= output) return tokens;
  const cacheHit = Math.min(tokens.cacheHit, input);
  return { input: Math.min(tokens.input, input - cacheHit), cacheHit, output: Math.min(tokens.output, output) };
}

/** What is above the bound is left out of the dearest pools first: the vendor said something that cannot be. */
export function poolsWithin(usage: TokenPools, { input, output, longWrites }: TokenBounds): TokenPools {
  const prompt = promptTokens(usage);
  const isLong = usage.cacheWrite1h > 0 && !longWrites;
  if (prompt <= input && usage.output <= output && !isLong) return usage;
  const within = { ...usage, output: Math.min(usage.output, output) };
  if (isLong) {
    within.cacheWrite5m += within.cacheWrite1h;
    within.cacheWrite1h = 0;
  }
  let excess = prompt - input;
  for (const pool of ['cacheWrite1h', 'cacheWrite5m', 'input', 'cacheHit'] as const) {
    if (excess <= 0) break;
    const less = Math.min(within[pool], excess);
    within[pool] -= less;
    excess -= less;
  }
  return within;
}
