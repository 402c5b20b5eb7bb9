import type { ReasoningAsk } from './effort.ts';
import type { ImageForm } from './image-price.ts';

/** The size of a request, which estimates and holds are computed from. */

/** The longest-lived prompt cache that a request asks to be written. */
export type CacheWrite = 'none' | '5m' | '1h';

/** What a request holds beside its text, as `metering/bound.ts` counts it. */
export const mediaKinds = [
  'image',
  'image_by_address',
  /** A document within the body, a PDF for example: its pages may share contents, so its bytes say nothing. */
  'document',
  /** Pages of PDFs within the body whose contents are bounded (`wire/pdf`). */
  'pdf_pages',
  'document_by_address',
  'file_by_id',
  'audio',
  'video',
  'unknown_part',
  /** A top-level member that stands in no table. */
  'unknown_member',
  /** A conversation, a prompt or a container that is kept at the vendor. */
  'stored_context',
] as const;
export type MediaKind = (typeof mediaKinds)[number];

/** So many of one kind. */
export interface MediaCount {
  kind: MediaKind;
  count: number;
  /** Bytes of the text in them, at most; left out: not known, or none. */
  textBytes?: number;
}

/** What a request for images asks for. */
export interface ImageAsk {
  /** How many, at least 1. */
  count: number;
  /** The form of each; null: left to the vendor, or not known. */
  form: ImageForm;
  /** First versions of each that a stream may bring. */
  partials: number;
}

/** What a tool that makes images asks for. */
export interface ToolImageAsk extends Pick<ImageAsk, 'form' | 'partials'> {
  /** The vendor's model that makes them. */
  model: string;
}

/** The most that one image of a tool can come to at the model that makes it. */
export interface ToolImageBound {
  /** Pico-USD for one. */
  price: bigint;
  /** Tokens for one: sent, text and images together, and made. */
  input: number;
  output: number;
}

/** Sizes that one scan of a request's body measures. */
export interface RequestMeasure {
  /** Bytes of text that can become input tokens: the body less inline media. */
  textBytes: number;
  /** Inline or linked images and documents, which cost a bounded number of tokens each. */
  images: number;
  documents: number;
  /** Bytes of inline base64 documents as sent (encoded), for a bound on their pages. */
  documentBytes: number;
  /** How many answers are paid for (`n`, `best_of` and their like), at least 1. */
  answers: number;
  /** The client's cap on output tokens, from the protocol's field; null when absent. */
  maxTokens: number | null;
  /** The largest of all members that may cap the output, where it is above `maxTokens`: the upstream may read that one. */
  mostCap?: number;
  /** Tokens of reasoning that the client allows beside its cap; left out: none. */
  reasoningBudget?: number;
  /** What it holds beside its text; left out: nothing. */
  media?: readonly MediaCount[];
  /** Bytes that normalising its text may add; left out: none. */
  expandedBytes?: number;
  /** How many tools it declares, and how many of them the vendor describes itself; left out: none. */
  tools?: { declared: number; described: number };
  /** The most that tools of the vendor may be used for it; left out: it does not say. */
  maxToolUses?: number;
  /** The vendor may compact the conversation, which is a separate run. */
  compacts?: boolean;
  /** The longest time that a cache marker of the body asks for, which decides the dearest write price. */
  cacheWrite: CacheWrite;
  /** Embeddings: how many inputs there are, each of which may fill the model's window. Left out: a conversation. */
  inputs?: number;
  /** Images that it asks for; left out: it is no request for images. */
  imageAsk?: ImageAsk;
  /** Tokens that the body spells out as numbers; left out: none. */
  countedTokens?: number;
  /** Whether the request asks for reasoning, which may be hidden from the stream. */
  reasoning: ReasoningAsk;
}

/** The properties of a request that bound the length of its prompt. */
export interface PromptSize {
  /** Bytes of the text in the request. */
  textBytes: number;
  /** An estimate of the tokens of its images and documents. */
  mediaTokens: number;
  /**
   * The most tokens that its contents come to when they are read once (`metering/bound.ts`); null: only the vendor can
   * measure them, so they count as the whole window. Left out: a token a byte of text, and the media as estimated.
   */
  mostTokens?: number | null;
  /** How often the model may read its context for this request: once, or more if the vendor runs tools. */
  contextRuns: number;
  /** How many models may try the request, one after the other, each with its own answer; left out: one. */
  attempts?: number;
}

/**
 * A bound on the tokens of a request's prompt, all pools and runs together, which decides the price tiers it can reach.
 * By bytes, because dense text has a token a byte. Tools that run at the vendor add what they find, up to the window.
 */
export function promptBound(size: PromptSize, contextWindow: number): number {
  const { contextRuns } = size;
  const sent = mostTokensOf(size) ?? contextWindow;
  return contextRuns > 1 ? Math.max(sent, contextWindow) * contextRuns : sent;
}

/**
 * The most input tokens that a request can be billed for, all runs together: what it sends, within the window of the model
 * (of each input of an embedding, for each image that is asked for); the whole window for each run of a request whose vendor runs tools, because what they
 * find comes into the context.
 */
export function mostInputTokens(
  size: PromptSize & { inputs?: number; imageAsk?: ImageAsk },
  contextWindow: number,
): number {
  const window = contextWindow * (size.inputs ?? size.imageAsk?.count ?? 1);
  const attempts = size.attempts ?? 1;
  if (size.contextRuns > 1) return window * size.contextRuns * attempts;
  return Math.min(mostTokensOf(size) ?? window, window) * attempts;
}

/** Null: as many as the window has. */
function mostTokensOf({ textBytes, mediaTokens, mostTokens }: PromptSize): number | null {
  return mostTokens === undefined ? textBytes + mediaTokens : mostTokens;
}
