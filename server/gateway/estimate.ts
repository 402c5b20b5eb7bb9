import type { Account, RequestFacts } from '../wire/protocol.ts';
import type { Usage } from '../wire/usage.ts';

/**
 * Token counts for answers that do not (fully) say their own: a vendor that reports nothing, a stream that was cut, a
 * client that left. Bytes are counted while they pass; no text is kept for it.
 */

/** A token of English prose or code is about four bytes. */
const bytesPerToken = 4;
/** Bounds for media, whose tokens do not follow from their bytes: a large image, a page of a document. */
const tokensPerImage = 1_600;
const tokensPerDocument = 3_000;
const bytesPerDocumentToken = 20;
const poolLimit = 100_000_000;

/** An upper bound on the tokens of images and documents, for the hold. */
export function mediaTokens(facts: Pick<RequestFacts, 'images' | 'documents' | 'documentBytes'>): number {
  const documents =
    facts.documents === 0
      ? 0
      : Math.max(facts.documents * tokensPerDocument, Math.ceil(facts.documentBytes / bytesPerDocumentToken));
  return facts.images * tokensPerImage + documents;
}

/** What the context of a request probably is in tokens. */
export function estimateInput(facts: RequestFacts, contextWindow: number): number {
  return Math.min(Math.ceil(facts.textBytes / bytesPerToken) + mediaTokens(facts), contextWindow);
}

/** What an answer so far probably is in tokens: by its bytes, and never less than one for each piece. */
export function estimateOutput(account: Account): number {
  return Math.min(poolLimit, Math.max(Math.ceil(account.outputBytes / bytesPerToken), account.outputPieces));
}

/** How to count context that the upstream did not report. */
export type UnreportedInput =
  /** As new context: the customer chose to leave, and leaving must not be cheaper than staying. */
  | 'input'
  /** As cached context, the least it can plausibly have cost. */
  | 'cache_hit';

/** Usage of an answer that ended before its own account of itself: what was reported, and estimates for the rest. */
export function usageSoFar(
  account: Account,
  facts: RequestFacts,
  contextWindow: number,
  unreported: UnreportedInput,
): { usage: Usage; estimated: boolean } {
  // No answer is longer than the window of its model. (What the request asked for is no bound: an upstream may not heed
  // it, and whoever leaves before the account of such an answer would get the rest for nothing.)
  const output = Math.min(estimateOutput(account), contextWindow * facts.answers);
  if (account.usage !== null) {
    return { usage: { ...account.usage, output: Math.max(account.usage.output, output) }, estimated: false };
  }
  const inputTokens = estimateInput(facts, contextWindow);
  return {
    usage: {
      input: unreported === 'input' ? inputTokens : 0,
      cacheHit: unreported === 'cache_hit' ? inputTokens : 0,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      output,
    },
    estimated: true,
  };
}
