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
  /** Embeddings: how many inputs there are, each of which may fill the model's window. Left out: a conversation. */
  inputs?: number;
  /** Tokens that the body spells out as numbers; left out: none. */
  countedTokens?: number;
  /** Whether the request asks for reasoning, which may be hidden from the stream. */
  reasoning: ReasoningAsk;
}

/** The properties of a request that bound the length of its prompt. */
export interface PromptSize {
  /** Bytes of the text in the request. */
  textBytes: number;
  /** A bound on the tokens of its images and documents. */
  mediaTokens: number;
  /** How often the model may read its context for this request: once, or more if the vendor runs tools. */
  contextRuns: number;
}

/**
 * A bound on the tokens of a request's prompt, all pools and runs together, which decides the price tiers it can reach.
 * By bytes, because dense text has a token a byte. Tools that run at the vendor add what they find, up to the window.
 */
export function promptBound({ textBytes, mediaTokens, contextRuns }: PromptSize, contextWindow: number): number {
  const sent = textBytes + mediaTokens;
  return contextRuns > 1 ? Math.max(sent, contextWindow) * contextRuns : sent;
}
