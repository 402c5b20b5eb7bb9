import type { ImageForm } from './image-price.ts';

/** The five token pools of one request. Disjoint; whole numbers from 0 to `MAX_POOL_TOKENS`. */
export interface TokenPools {
  /** New context, neither served from nor written to a cache. */
  input: number;
  cacheHit: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  /** Generated tokens, reasoning included. */
  output: number;
}

/** No answer has more tokens in one pool; the database holds the same bound. */
export const MAX_POOL_TOKENS = 1e8;

/**
 * Bytes of text per token where money is reserved. Prose and code have more bytes per token, so the estimate errs
 * towards more tokens. It is an average and no bound: digits and rare scripts come to a token a byte.
 */
export const heldBytesPerToken = 3;

/** Bytes of text per token where unreported usage is charged: about the average of English prose and code. */
export const chargedBytesPerToken = 4;

export const noTokens: Readonly<TokenPools> = { input: 0, cacheHit: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };

/** Adds the pools of one request to a sum. */
export function addTokens(sum: TokenPools, { input, cacheHit, cacheWrite5m, cacheWrite1h, output }: TokenPools): void {
  sum.input += input;
  sum.cacheHit += cacheHit;
  sum.cacheWrite5m += cacheWrite5m;
  sum.cacheWrite1h += cacheWrite1h;
  sum.output += output;
}

/** How far the pools of a ledger entry can be trusted. */
export type UsageSource =
  /** The upstream's final report. */
  | 'reported'
  /** The upstream's last report before its answer was cut. */
  | 'partial'
  /** Reported, but corrected. */
  | 'clamped'
  /** No usable report: counted by the gateway. It may overcharge, by a bounded amount. */
  | 'estimated'
  /** Nothing was consumed. */
  | 'none';

/** Tokens of images, which vendors count apart from those of text: sent, read from a cache, made. */
export type ImageTokens = Pick<TokenPools, 'input' | 'cacheHit' | 'output'>;

/** What a report counts for images of a tool: tokens of text, and those of images. */
export interface ToolImageTokens {
  usage: TokenPools;
  imageTokens: ImageTokens;
  clamped: boolean;
}

/** What one model did for an answer besides the model that was asked for: a fallback, an advisor. */
export interface ModelRun {
  /** As the upstream reported it; null when it did not. */
  model: string | null;
  usage: TokenPools;
}

/** Usage that an answer reports, and the counts that were made while it was relayed. */
export interface ReportedUsage {
  /** Token pools as reported; null when the answer carries none. */
  usage: TokenPools | null;
  /** The usage had to be corrected (negative, fractional, textual, absurd numbers). */
  clamped: boolean;
  /** The usage was reported before the end of the answer (a stream that was cut). */
  partial: boolean;
  /** Bytes of generated content seen (text, reasoning, tool arguments), for estimates. */
  outputBytes: number;
  /** Pieces of generated content seen: a lower bound on output tokens. */
  outputPieces: number;
  /** Searches that the vendor made for the answer; left out: none. */
  searches?: number;
  /** Images that the vendor made for the answer, beside its tokens; left out: none. */
  images?: number;
  /** What each of those images is, where the answer says it; left out: it does not say. */
  imageForm?: ImageForm;
  /** First versions of images that a stream brought; left out: none. */
  imagePartials?: number;
  /** Tokens of images, beside `usage`; left out: none, or not counted apart. */
  imageTokens?: ImageTokens;
  /** Tokens of the model that made them for a tool, beside all others; left out: it does not say. */
  toolImages?: ToolImageTokens;
  /** Minutes of audio that the model heard, rounded up; left out: none. */
  minutes?: number;
  /** Runs of other models, beside `usage`, in their order; left out: none. */
  runs?: readonly ModelRun[];
  /**
   * The tier, speed and region that it says it was served with, by the member that asks for it; left out: it says nothing, or was
   * asked for none.
   */
  served?: Readonly<Record<string, string>>;
  /** `model` as the upstream reported it; null when it did not. */
  model: string | null;
  /** Why the answer ended, in the upstream's word or that of the translation; left out: it did not say. */
  finish?: string;
}
