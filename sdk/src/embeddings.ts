import type { EmbeddingsRequest, EmbeddingsResponse, Estimate } from './generated/rest.ts';
import type { Answer, DataPlaneClient } from './internal/data-plane.ts';
import type { Pending } from './internal/pending.ts';
import type { RequestOptions } from './options.ts';

/**
 * Vectors of texts, by models of kind `embedding`.
 *
 * @example
 * ```ts
 * const { data, steyg: call } = await steyg.embeddings.create({ model: 'text-embedding-3-small', input: ['one', 'two'] });
 * console.log(data.map(({ embedding }) => embedding.length), call.costUsd);
 * ```
 */
export interface Embeddings {
  /**
   * Embeds a text, texts, a list of tokens or several of them. Vectors are numbers unless `encoding_format` is `base64`.
   *
   * @example
   * ```ts
   * const { data } = await steyg.embeddings.create({ model, input: 'Say hello', dimensions: 256 });
   * ```
   */
  create(request: EmbeddingsRequest, options?: RequestOptions): Pending<Answer<EmbeddingsResponse>>;
  /**
   * What the same request would hold and cost now, without sending it. Free; refused where the request would be.
   *
   * @example
   * ```ts
   * const { holdUsd, mostUsd } = await steyg.embeddings.estimate(request);
   * ```
   */
  estimate(request: EmbeddingsRequest, options?: RequestOptions): Pending<Estimate>;
}

/** @internal */
export function createEmbeddings(plane: DataPlaneClient): Embeddings {
  const createReader = (): never => {
    throw new Error('Embeddings are not streamed.');
  };
  const { create } = plane.model<never, EmbeddingsResponse>({ operation: 'createEmbeddings', createReader });
  return {
    create: create as Embeddings['create'],
    estimate: (body, options) => plane.estimate({ operation: 'estimateEmbeddings', body }, options),
  };
}
