import type { RequestMeasure } from '../core/request.ts';
import { chargedBytesPerToken, MAX_POOL_TOKENS, type ReportedUsage, type TokenPools } from '../core/tokens.ts';

/**
 * Estimates token counts of answers without a complete report: the vendor reports nothing, the stream was cut, or the
 * client left. Bytes are counted while they are relayed; no text is kept.
 */

/** Likely tokens of media, which do not follow from their bytes: a large image, a page of a document. */
const tokensPerImage = 1_600;
const tokensPerPage = 3_000;
const bytesPerDocumentToken = 20;

/** Likely tokens of images and documents, on the high side; and tokens that are counted already. */
export function mediaTokens(
  facts: Pick<RequestMeasure, 'images' | 'documents' | 'documentBytes' | 'countedTokens' | 'media'>,
): number {
  const documents = facts.documents === 0 ? 0 : documentTokens(facts);
  return facts.images * tokensPerImage + documents + (facts.countedTokens ?? 0);
}

/** By pages where all are known, else by what their bytes may hold. */
function documentTokens({
  documents,
  documentBytes,
  media,
}: Pick<RequestMeasure, 'documents' | 'documentBytes' | 'media'>) {
  const pages = media?.find(({ kind }) => kind === 'pdf_pages')?.count ?? 0;
  const byPages = Math.max(documents, pages) * tokensPerPage;
  const isKnown = pages > 0 && media?.some(({ kind }) => kind === 'document') !== true;
  return isKnown ? byPages : Math.max(byPages, Math.ceil(documentBytes / bytesPerDocumentToken));
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

/** A bound on the tokens of what was shown of an answer: no text has more of them than bytes. */
export function mostOutput({ outputBytes, outputPieces }: ReportedUsage): number {
  return Math.min(MAX_POOL_TOKENS, Math.max(outputBytes, outputPieces));
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
