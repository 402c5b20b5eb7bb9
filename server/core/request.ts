import type { ReasoningAsk } from './effort.ts';

/** The size of a request, which estimates and holds are computed from. */

/** The longest-lived prompt cache that a request asks to be written. */
export type CacheWrite = 'none' | '5m' | '1h';

/** Sizes that one scan of a request's body measures. */
export interface RequestMeasure {
  /** Bytes of text that can become input tokens: the body less inline media. */
  textBytes: number;
  /** Inline or linked images and documents, which cost a bounded number of tokens each. */
  images: number;
  documents: number;
  /** Bytes of inline base64 documents as sent (encoded), for a bound on their pages. */
  documentBytes: number;
  /** How many answers are asked for (`n` on chat completions), at least 1. */
  answers: number;
  /** The client's cap on output tokens, from the protocol's field; null when absent. */
  maxTokens: number | null;
  /** The longest time that a cache marker of the body asks for, which decides the dearest write price. */
  cacheWrite: CacheWrite;
  /** Whether the request asks for reasoning, which may be hidden from the stream. */
  reasoning: ReasoningAsk;
}
