import type { UpstreamFeatures } from '../core/features.ts';
import type { CacheWrite } from '../core/request.ts';
import {
  type ImageTokens,
  MAX_POOL_TOKENS,
  type ModelRun,
  type ReportedUsage,
  type TokenPools,
  type ToolImageTokens,
} from '../core/tokens.ts';
import type { Generated } from './generated.ts';

/**
 * Every vendor's token counts, as five disjoint pools.
 *
 * What vendors report differs in three ways: whether the prompt count includes the cached part, where the cached
 * part stands, and whether reasoning is part of the output. The readers below know the shapes that were seen; an
 * unknown shape gives no usage at all, so that the caller estimates. No reading ever makes a request free or
 * the customer richer: absurd numbers are clamped and the reading says so.
 */

/** What one usage object says. */
export interface UsageReading {
  usage: TokenPools;
  /** Of `cacheWrite5m`, the tokens whose lifetime the vendor did not tell. */
  unsplitWrites: number;
  /** A number had to be corrected: negative, fractional, textual, absurd, or at odds with the others. */
  clamped: boolean;
  /** The object says nothing about the output yet; what it says about the input stands. */
  outputMissing: boolean;
  /** Searches that the vendor made, as it says; left out: it says of none. */
  searches?: number;
  /** Tokens of images, beside `usage`; left out: it counts none apart. */
  imageTokens?: ImageTokens;
  /** Minutes of audio that the model heard, begun ones whole; left out: it says of none. */
  minutes?: number;
  /** Runs of other models than the one that was asked for, beside `usage`; left out: none. */
  runs?: readonly (ModelRun & Pick<UsageReading, 'unsplitWrites'>)[];
  /** The reading for an upstream that is known to count so; absent where that changes nothing. */
  counting?: (cached: CachedTokens) => UsageReading | null;
}

/** Where cached tokens are counted; null: as the numbers suggest. */
type CachedTokens = UpstreamFeatures['cachedTokens'];

/** A reading by what is known of the upstream's way of counting. */
export function countedAs(reading: UsageReading | null, cached: CachedTokens): UsageReading | null {
  return cached === null ? reading : (reading?.counting?.(cached) ?? reading);
}

/**
 * What a reading comes to for a request whose cache markers asked for that lifetime at most: writes that the vendor did
 * not split count as the longest one asked for, because that is the dearest that the vendor may bill.
 */
export function reportedAs(
  reading: UsageReading | null,
  asked: CacheWrite,
): Pick<ReportedUsage, 'usage' | 'clamped' | 'partial' | 'searches' | 'minutes' | 'runs' | 'imageTokens'> {
  if (reading === null) return { usage: null, clamped: false, partial: false };
  const { clamped, outputMissing, runs } = reading;
  return {
    usage: writtenAs(reading, asked),
    ...(runs === undefined ? {} : { runs: runs.map((run) => ({ model: run.model, usage: writtenAs(run, asked) })) }),
    clamped,
    partial: outputMissing,
    ...(reading.searches === undefined ? {} : { searches: reading.searches }),
    ...(reading.minutes === undefined ? {} : { minutes: reading.minutes }),
    ...(reading.imageTokens === undefined ? {} : { imageTokens: reading.imageTokens }),
  };
}

function writtenAs(
  { usage, unsplitWrites }: Pick<UsageReading, 'usage' | 'unsplitWrites'>,
  asked: CacheWrite,
): TokenPools {
  const long = asked === '1h' ? unsplitWrites : 0;
  return {
    ...usage,
    cacheWrite5m: usage.cacheWrite5m - long,
    cacheWrite1h: Math.min(usage.cacheWrite1h + long, MAX_POOL_TOKENS),
  };
}

/** What an answer says beside its usage: its searches, unless its usage counts more of them, its images, why it ended and what it was served with. */
export function piecesIn(
  reading: UsageReading | null,
  {
    searches = 0,
    images = 0,
    imageForm,
    toolImages,
    finish,
    served,
  }: Pick<Generated, 'searches' | 'images' | 'imageForm' | 'toolImages' | 'finish' | 'served'>,
): Pick<ReportedUsage, 'searches' | 'images' | 'imageForm' | 'toolImages' | 'finish' | 'served'> {
  const most = Math.max(reading?.searches ?? 0, searches);
  return {
    ...(most === 0 ? {} : { searches: most }),
    ...(images === 0 ? {} : { images }),
    ...(imageForm === undefined ? {} : { imageForm }),
    ...(toolImages === undefined ? {} : { toolImages }),
    ...(finish === undefined ? {} : { finish }),
    ...(served === undefined ? {} : { served: { ...served } }),
  };
}

/** Counts of one usage object, before they become pools; null where the object has no such number. */
interface Counts {
  input: number | null;
  cacheHit: number | null;
  /** All writes, or null when only the split is known. */
  cacheWrite: number | null;
  cacheWrite5m: number | null;
  cacheWrite1h: number | null;
  output: number | null;
}

type Members = Record<string, unknown>;

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

/**
 * Reads counts and remembers whether any of them was odd. A class: V8 makes a hidden class for each object literal with an
 * accessor, which only full collections free.
 */
class Counter {
  private isClamped = false;

  /** Whether any count so far had to be corrected. */
  get clamped(): boolean {
    return this.isClamped;
  }

  /** Marks counts that are numbers but contradict each other. */
  flag(): void {
    this.isClamped = true;
  }

  /** A count within bounds; null when there is none. Text that holds a number counts as that number. */
  count(value: unknown): number | null {
    if (value === undefined || value === null) return null;
    const number = typeof value === 'number' ? value : typeof value === 'string' ? readText(value) : Number.NaN;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_POOL_TOKENS) return value;
    this.isClamped = true;
    // What is no number at all is no count; the caller decides what its absence means.
    if (Number.isNaN(number)) return null;
    return Math.min(Math.max(Math.ceil(number), 0), MAX_POOL_TOKENS);
  }

  bound(tokens: number): number {
    if (tokens >= 0 && tokens <= MAX_POOL_TOKENS) return tokens;
    this.isClamped = true;
    return tokens < 0 ? 0 : MAX_POOL_TOKENS;
  }
}

function readText(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

/**
 * Searches that the vendor charges for, where a usage object counts them: Anthropic and OpenRouter
 * (`server_tool_use.web_search_requests`), Perplexity (`num_search_queries`), xAI (`num_sources_used`, and by tool in
 * `server_side_tool_usage_details`). https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool,
 * https://openrouter.ai/docs/features/web-search, https://docs.perplexity.ai, https://docs.x.ai/docs/guides/live-search
 */
function searchesOf(counter: Counter, usage: Members): { searches?: number } {
  const searches = firstCount(
    counter,
    membersOf(usage['server_tool_use'])['web_search_requests'],
    membersOf(usage['server_side_tool_usage_details'])['web_search_calls'],
    usage['num_search_queries'],
    usage['num_sources_used'],
  );
  return searches === null || searches === 0 ? {} : { searches };
}

/**
 * Minutes of audio, which Mistral counts in seconds beside the tokens of a chat (`prompt_audio_seconds`):
 * https://github.com/mistralai/client-python/blob/main/docs/models/usageinfo.md. At OpenAI audio is tokens of the prompt:
 * https://platform.openai.com/docs/api-reference/chat/object (`prompt_tokens_details.audio_tokens`).
 */
function minutesOf(counter: Counter, usage: Members): { minutes?: number } {
  const reported = usage['prompt_audio_seconds'];
  const seconds = typeof reported === 'number' ? counter.count(reported) : null;
  return seconds === null || seconds === 0 ? {} : { minutes: Math.ceil(seconds / 60) };
}

/** The first of several places that holds a count. */
function firstCount(counter: Counter, ...places: unknown[]): number | null {
  for (const place of places) {
    const count = counter.count(place);
    if (count !== null) return count;
  }
  return null;
}

// Messages

/**
 * Reads the usage of a messages answer; `earlier` are the readings of the same stream so far, oldest first.
 *
 * `input_tokens` is what was neither read from nor written to a cache. In a stream the start carries the input and
 * every delta replaces: some vendors know the input only at the end, others leave it out there or set it to zero, so
 * a counter of the input side is replaced by a positive one. A zero replaces only what has visibly moved to another
 * pool of the same delta; otherwise the same tokens would be charged twice.
 */
export function createMessagesUsage() {
  const counts: Counts = emptyCounts();
  let clamped = false;
  let searches = 0;
  /** The output was reported when there was some: a start has a placeholder. */
  let isOutputReported = false;
  /** The last list of runs that names several models; it stands for the whole answer. */
  let listed: ListedRuns | null = null;

  function take(reported: unknown): Counts {
    const counter = new Counter();
    const usage = membersOf(reported);
    const next = messagesCounts(counter, usage);
    merge(counts, next);
    withinTotal(counter, counts, next);
    listed = runsOfModels(counter, usage['iterations']) ?? listed;
    // A counter of the whole answer so far.
    searches = Math.max(searches, searchesOf(counter, usage).searches ?? 0);
    clamped ||= counter.clamped;
    return next;
  }

  return {
    /** Takes the `usage` member of `message_start`. */
    start(reported: unknown): void {
      take(reported);
    },
    /** Takes the `usage` member of `message_delta` or a whole answer. */
    add(reported: unknown): void {
      if (take(reported).output !== null) isOutputReported = true;
    },
    /** The pools so far; null while nothing is known about the input. */
    read(): UsageReading | null {
      const all = listed?.own ?? counts;
      if (isWithoutInput(all)) return null;
      const counter = new Counter();
      // Tokens of a cache without a count of the new context: the request had one, and what it costs is not known.
      if (all.input === null) counter.flag();
      return {
        ...poolsOfCounts(counter, all),
        ...(listed === null || listed.others.length === 0 ? {} : { runs: listed.others }),
        clamped: clamped || counter.clamped,
        outputMissing: !isOutputReported,
        ...(searches === 0 ? {} : { searches }),
      };
    },
  };
}

function isWithoutInput({ input, cacheHit, cacheWrite, cacheWrite5m }: Counts): boolean {
  return input === null && cacheHit === null && cacheWrite === null && cacheWrite5m === null;
}

function poolsOfCounts(counter: Counter, counts: Counts): Pick<UsageReading, 'usage' | 'unsplitWrites'> {
  const { input, cacheHit, output } = counts;
  const { unsplitWrites, ...writes } = splitWrites(counter, counts);
  return { usage: { ...writes, input: input ?? 0, cacheHit: cacheHit ?? 0, output: output ?? 0 }, unsplitWrites };
}

/** Reads the usage of a whole messages answer; null when it says nothing that can be billed. */
export function readMessagesUsage(reported: unknown): UsageReading | null {
  const usage = createMessagesUsage();
  usage.add(reported);
  return usage.read();
}

function emptyCounts(): Counts {
  return { input: null, cacheHit: null, cacheWrite: null, cacheWrite5m: null, cacheWrite1h: null, output: null };
}

function messagesCounts(counter: Counter, usage: Members): Counts {
  const split = membersOf(usage['cache_creation']);
  const counts: Counts = {
    input: counter.count(usage['input_tokens']),
    cacheHit: counter.count(usage['cache_read_input_tokens']),
    cacheWrite: counter.count(usage['cache_creation_input_tokens']),
    cacheWrite5m: counter.count(split['ephemeral_5m_input_tokens']),
    cacheWrite1h: counter.count(split['ephemeral_1h_input_tokens']),
    output: counter.count(usage['output_tokens']),
  };
  addIterations(counter, counts, usage['iterations']);
  return counts;
}

/**
 * An answer that took several runs lists them. The top-level counts leave out what compacting the conversation took, which
 * costs money: https://platform.claude.com/docs/en/build-with-claude/compaction
 */
function addIterations(counter: Counter, counts: Counts, listed: unknown): void {
  if (!Array.isArray(listed)) return;
  const runs = listed.map(membersOf);
  const own = runs.filter(ownOf(runs));
  if (own.length === 0 || runs.some(isFallback)) return;
  const sum = (name: string): number =>
    counter.bound(own.reduce((total, run) => total + (counter.count(run[name]) ?? 0), 0));
  counts.input = sum('input_tokens');
  counts.output = sum('output_tokens');
  // The vendor's documentation excludes only input and output of the top level; the larger of both readings is safe.
  counts.cacheHit = Math.max(counts.cacheHit ?? 0, sum('cache_read_input_tokens'));
  counts.cacheWrite = Math.max(counts.cacheWrite ?? 0, sum('cache_creation_input_tokens'));
}

const isFallback = ({ type }: Members): boolean => type === 'fallback_message';

/** Whether a run is one of the model that was asked for: the first of the kind `message` names it. */
function ownOf(runs: readonly Members[]): (run: Members) => boolean {
  const asked = runs.find(({ type }) => type === 'message')?.['model'] ?? null;
  return ({ type, model }) => (type === 'message' || type === 'compaction') && (model ?? asked) === asked;
}

/** The runs of an answer in which several models took part. */
interface ListedRuns {
  /** All runs of the model that was asked for, which may be none; null: those that the top level counts. */
  own: Counts | null;
  others: NonNullable<UsageReading['runs']>;
}

/**
 * Runs by their models; null where the list names one model. Each run is billed at the price of its model, and with
 * `fallbacks` the top level has the served run alone. A run that was declined before it said anything is not billed.
 * https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool
 */
function runsOfModels(counter: Counter, listed: unknown): ListedRuns | null {
  if (!Array.isArray(listed)) return null;
  const runs = listed.map(membersOf);
  const isOwn = ownOf(runs);
  if (runs.every(isOwn)) return null;
  const isDeclinable = runs.some(isFallback);
  const billed = runs.filter(
    (run) =>
      !isDeclinable ||
      (run['type'] !== 'message' && !isFallback(run)) ||
      (counter.count(run['output_tokens']) ?? 0) > 0,
  );
  const own: Counts = { ...emptyCounts(), input: 0, output: 0 };
  for (const run of billed) if (isOwn(run)) addCounts(counter, own, run);
  const others = billed
    .filter((run) => !isOwn(run))
    .map((run) => {
      const counts = emptyCounts();
      addCounts(counter, counts, run);
      return { model: typeof run['model'] === 'string' ? run['model'] : null, ...poolsOfCounts(counter, counts) };
    });
  return { own: isDeclinable ? own : null, others };
}

function addCounts(counter: Counter, sum: Counts, run: Members): void {
  const split = membersOf(run['cache_creation']);
  const next: Counts = {
    input: counter.count(run['input_tokens']) ?? 0,
    cacheHit: counter.count(run['cache_read_input_tokens']),
    cacheWrite: counter.count(run['cache_creation_input_tokens']),
    cacheWrite5m: counter.count(split['ephemeral_5m_input_tokens']),
    cacheWrite1h: counter.count(split['ephemeral_1h_input_tokens']),
    output: counter.count(run['output_tokens']) ?? 0,
  };
  for (const name of [...inputSide, 'output'] as const) {
    const value = next[name];
    if (value !== null) sum[name] = counter.bound((sum[name] ?? 0) + value);
  }
}

const inputSide = ['input', 'cacheHit', 'cacheWrite', 'cacheWrite5m', 'cacheWrite1h'] as const;

function merge(counts: Counts, next: Counts): void {
  const moved = inputSide.some((name) => (next[name] ?? 0) > (counts[name] ?? 0));
  for (const name of inputSide) {
    const value = next[name];
    if (value === null) continue;
    if (value > 0 || moved || counts[name] === null) counts[name] = value;
  }
  counts.output = next.output ?? counts.output;
}

/**
 * Each token is written for one lifetime: where a report's total is less than what the two come to together, one of them is
 * left from an earlier report or wrong. The lifetime that this report does not name gives way, otherwise the cheaper one.
 */
function withinTotal(counter: Counter, counts: Counts, next: Counts): void {
  const total = next.cacheWrite ?? 0;
  const { cacheWrite5m: fiveMinutes, cacheWrite1h: oneHour } = counts;
  if (fiveMinutes === null || oneHour === null || fiveMinutes > total || oneHour > total) return;
  if (fiveMinutes + oneHour <= total) return;
  counter.flag();
  if (next.cacheWrite1h === null) counts.cacheWrite1h = total - fiveMinutes;
  else counts.cacheWrite5m = total - oneHour;
}

/**
 * The writes by their lifetime. The total and the split may each be missing, and the larger one counts: what only the
 * total has is unsplit, unless the split names the one-hour writes alone.
 */
function splitWrites(
  counter: Counter,
  counts: Counts,
): Pick<TokenPools, 'cacheWrite5m' | 'cacheWrite1h'> & Pick<UsageReading, 'unsplitWrites'> {
  const oneHour = counts.cacheWrite1h ?? 0;
  const fiveMinutes = counts.cacheWrite5m ?? 0;
  const rest = Math.max((counts.cacheWrite ?? 0) - oneHour - fiveMinutes, 0);
  const unsplit = counts.cacheWrite1h === null || counts.cacheWrite5m !== null;
  const cacheWrite5m = counter.bound(fiveMinutes + rest);
  return { cacheWrite5m, cacheWrite1h: oneHour, unsplitWrites: unsplit ? Math.min(rest, cacheWrite5m) : 0 };
}

// Chat completions and responses

/**
 * Reads the usage of a chat completion, in any vendor's dialect; null when it says nothing that can be billed.
 * The prompt count includes what came from the cache and what was written to it.
 */
export function readChatUsage(reported: unknown): UsageReading | null {
  const usage = membersOf(reported);
  if (usage['prompt_tokens'] === undefined && usage['input_tokens'] !== undefined) return readResponsesUsage(usage);
  const counter = new Counter();
  const prompt = membersOf(usage['prompt_tokens_details']);
  const mistral = membersOf(usage['prompt_token_details']);
  const completion = membersOf(usage['completion_tokens_details']);
  return inclusive(counter, {
    prompt: counter.count(usage['prompt_tokens']),
    completion: counter.count(usage['completion_tokens']),
    total: plausibleTotal(counter, usage['total_tokens']),
    reasoning: firstCount(counter, completion['reasoning_tokens'], usage['reasoning_tokens']),
    cacheHit: firstCount(
      counter,
      prompt['cached_tokens'],
      usage['prompt_cache_hit_tokens'],
      usage['cached_tokens'],
      usage['num_cached_tokens'],
      mistral['cached_tokens'],
      usage['cache_read_input_tokens'],
    ),
    cacheWrite: firstCount(
      counter,
      prompt['cache_write_tokens'],
      prompt['cache_creation_input_tokens'],
      prompt['cache_creation_tokens'],
      usage['cache_creation_tokens'],
      usage['cache_creation_input_tokens'],
    ),
    cacheWriteLong: longWrites(counter, prompt),
    pieces: { ...searchesOf(counter, usage), ...minutesOf(counter, usage) },
  });
}

/** Reads the usage of a response (third protocol); null when it says nothing that can be billed. */
export function readResponsesUsage(reported: unknown): UsageReading | null {
  const usage = membersOf(reported);
  const counter = new Counter();
  const input = membersOf(usage['input_tokens_details']);
  const output = membersOf(usage['output_tokens_details']);
  return inclusive(counter, {
    prompt: counter.count(usage['input_tokens']),
    completion: counter.count(usage['output_tokens']),
    total: plausibleTotal(counter, usage['total_tokens']),
    reasoning: counter.count(output['reasoning_tokens']),
    cacheHit: firstCount(counter, input['cached_tokens'], usage['cache_read_input_tokens']),
    cacheWrite: firstCount(counter, input['cache_write_tokens'], usage['cache_creation_input_tokens']),
    cacheWriteLong: longWrites(counter, input),
    pieces: searchesOf(counter, usage),
  });
}

/** The total only ever adds what the parts left out, so that an absurd one must not become absurd output. */
function plausibleTotal(counter: Counter, total: unknown): number | null {
  const own = new Counter();
  const count = own.count(total);
  if (!own.clamped) return count;
  counter.flag();
  return null;
}

/** Writes with the longer life: the vendor's twelve hours share the pool of the other vendor's one hour. */
function longWrites(counter: Counter, details: Members): number | null {
  return counter.count(membersOf(details['cache_write_tokens_details'])['ttl_12h_tokens']);
}

interface InclusiveCounts {
  prompt: number | null;
  completion: number | null;
  total: number | null;
  reasoning: number | null;
  cacheHit: number | null;
  cacheWrite: number | null;
  cacheWriteLong: number | null;
  pieces: { searches?: number; minutes?: number };
}

function inclusive(counter: Counter, counts: InclusiveCounts, cachedTokens: CachedTokens = null): UsageReading | null {
  const wasClamped = counter.clamped;
  const { total, completion } = counts;
  const prompt = counts.prompt ?? (total !== null && completion !== null ? Math.max(total - completion, 0) : null);
  if (prompt === null) return null;
  const cacheHit = counts.cacheHit ?? 0;
  const cacheWrite = counts.cacheWrite ?? 0;
  const cacheWrite1h = Math.min(counts.cacheWriteLong ?? 0, cacheWrite);
  const extra = total === null || completion === null ? 0 : total - prompt - completion;
  const exclusive =
    cachedTokens === null ? isExclusive(prompt, cacheHit, cacheHit + cacheWrite, extra) : cachedTokens === 'beside';
  if (!exclusive && cacheWrite > prompt) counter.flag();
  // A vendor that counts this way says so in its total; without that, more is cached than was sent, which is a mistake.
  const cached = cacheHit + cacheWrite;
  if (cachedTokens !== 'beside' && cacheHit > prompt && extra !== cached && extra !== cached + (counts.reasoning ?? 0))
    counter.flag();
  const input = exclusive ? prompt : Math.max(prompt - cachedPart(prompt, cacheHit, cacheWrite, cachedTokens), 0);
  return {
    unsplitWrites: counts.cacheWriteLong === null ? cacheWrite : 0,
    ...counts.pieces,
    usage: {
      input: counter.bound(input),
      cacheHit,
      cacheWrite5m: cacheWrite - cacheWrite1h,
      cacheWrite1h,
      output: counter.bound(outputOf(counts, prompt, exclusive ? cached : 0)),
    },
    clamped: counter.clamped,
    outputMissing: completion === null && total === null,
    counting: (known) => {
      const again = new Counter();
      if (wasClamped) again.flag();
      return inclusive(again, counts, known);
    },
  };
}

/**
 * Some vendors leave the cached part out of the prompt count (Grok at Azure; xAI's SDK provider reads it so). It shows
 * when more is cached than was sent, or when the total is larger by exactly the cached part.
 */
function isExclusive(prompt: number, hit: number, cached: number, extra: number): boolean {
  return hit > prompt || (cached > 0 && extra === cached);
}

/**
 * How much of the prompt count is cached. Some vendors write what they have just read, and count it in both places
 * (Gemini at OpenRouter: prompt 2168, read 2161, written 2161, billed 7 new, 2161 read and 2161 written): the two parts
 * overlap where they cannot stand side by side in the prompt.
 */
function cachedPart(prompt: number, hit: number, write: number, known: CachedTokens): number {
  // Where it is known to happen, equal counts are the same tokens even if both would fit.
  if (known === 'overlapping' && hit === write) return hit;
  return hit + write > prompt ? Math.max(hit, write) : hit + write;
}

/**
 * Reasoning is part of the completion count, except at vendors where only the total includes it. A total that is
 * larger than its parts is generated tokens without a name.
 */
function outputOf({ completion, total, reasoning }: InclusiveCounts, prompt: number, outside: number): number {
  if (completion === null) return total === null ? 0 : Math.max(total - prompt - outside, 0);
  if (total === null) return completion;
  const extra = total - prompt - completion;
  if (reasoning !== null && reasoning > 0 && extra === reasoning) return completion + reasoning;
  return completion + Math.max(extra - outside, 0);
}

/**
 * Reads the usage of images: tokens of text, and those of images apart. What it counts of the output without saying that it is text is
 * of images (https://github.com/BerriAI/litellm/issues/31142). `sentImages`: the request had pictures, so that an input without
 * details is theirs. Cached tokens without details are those of text first, whose discount is the smaller one.
 */
export function readImageUsage(reported: unknown, sentImages: boolean): UsageReading | null {
  const usage = membersOf(reported);
  const counter = new Counter();
  const input = membersOf(usage['input_tokens_details'] ?? usage['prompt_tokens_details']);
  const output = membersOf(usage['output_tokens_details'] ?? usage['completion_tokens_details']);
  const cachedParts = membersOf(input['cached_tokens_details']);
  const [textIn, imageIn] = [counter.count(input['text_tokens']), counter.count(input['image_tokens'])];
  const said = firstCount(counter, usage['input_tokens'], usage['prompt_tokens']);
  const made = firstCount(counter, usage['output_tokens'], usage['completion_tokens']);
  const isDetailed = textIn !== null || imageIn !== null;
  if (said === null && made === null && !isDetailed) return null;
  const all = Math.max(said ?? 0, (textIn ?? 0) + (imageIn ?? 0));
  const ofImages = imageIn ?? (textIn === null ? (sentImages ? all : 0) : all - textIn);
  const ofText = all - ofImages;
  const cached = Math.min(firstCount(counter, input['cached_tokens'], usage['cached_tokens']) ?? 0, all);
  const cachedText = Math.min(counter.count(cachedParts['text_tokens']) ?? Math.min(cached, ofText), ofText);
  const cachedImages = Math.min(counter.count(cachedParts['image_tokens']) ?? cached - cachedText, ofImages);
  const textOut = Math.min(counter.count(output['text_tokens']) ?? 0, made ?? 0);
  return {
    usage: {
      input: counter.bound(ofText - cachedText),
      cacheHit: cachedText,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      output: textOut,
    },
    imageTokens: {
      input: counter.bound(ofImages - cachedImages),
      cacheHit: cachedImages,
      output: Math.max(made ?? 0, counter.count(output['image_tokens']) ?? 0) - textOut,
    },
    unsplitWrites: 0,
    clamped: counter.clamped,
    outputMissing: made === null,
  };
}

/**
 * What a report counts for images of a tool, apart from the usage of the model that asked for them; null: nothing, or not what was made.
 * Input without details counts as images, which the tool may look at again.
 */
export function readToolImages(reported: unknown): ToolImageTokens | null {
  const reading = readImageUsage(reported, true);
  if (reading === null || reading.outputMissing || reading.imageTokens === undefined) return null;
  const { usage, imageTokens, clamped } = reading;
  return usage.output + imageTokens.output === 0 ? null : { usage, imageTokens, clamped };
}

// Back to each protocol's words

/** The usage object of a messages answer. */
export function toMessagesUsage(usage: TokenPools): Record<string, unknown> {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    cache_read_input_tokens: usage.cacheHit,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite5m,
      ephemeral_1h_input_tokens: usage.cacheWrite1h,
    },
    output_tokens: usage.output,
  };
}

/** The usage object of a chat completion; `reasoning` is how much of the output was reasoning, where that is known. */
export function toChatUsage(usage: TokenPools, reasoning: number | null = null): Record<string, unknown> {
  const prompt = promptTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheHit,
      cache_write_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    },
    ...(reasoning === null ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

/** The usage object of a response (third protocol), whose details are always present. */
export function toResponsesUsage(usage: TokenPools, reasoning: number | null = null): Record<string, unknown> {
  const input = promptTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheHit,
      cache_write_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: input + usage.output,
  };
}

function promptTokens(usage: TokenPools): number {
  return usage.input + usage.cacheHit + usage.cacheWrite5m + usage.cacheWrite1h;
}
