import type { Estimate, ImagesEvent, ImagesRequest, ImagesResponse } from './generated/rest.ts';
import type { Answer, DataPlaneClient } from './internal/data-plane.ts';
import type { Pending } from './internal/pending.ts';
import { parseEvent } from './internal/sse.ts';
import type { RequestOptions } from './options.ts';
import type { ModelStream, Reader } from './streams.ts';

/** Images: what is asked for whole, and what is streamed. */

type WholeRequest = Omit<ImagesRequest, 'stream' | 'partial_images'>;
/** A stream is of one image. */
type StreamedRequest = Omit<ImagesRequest, 'stream' | 'n'>;

/** First versions of an image, and the image itself at the end. */
export type ImageStream = ModelStream<ImagesEvent, Answer<ImagesEvent>>;

/**
 * Images, by models of kind `image`.
 *
 * @example
 * ```ts
 * const { data, steyg: call } = await steyg.images.generate({ model: 'gpt-image-2', prompt: 'An owl.', quality: 'low' });
 * console.log(data.length, call.costUsd);
 * ```
 */
export interface Images {
  /**
   * Makes images of a description.
   *
   * @example
   * ```ts
   * const { data } = await steyg.images.generate({ model, prompt: 'An owl.', size: '1024x1024', n: 2 });
   * ```
   */
  generate(request: WholeRequest, options?: RequestOptions): Pending<Answer<ImagesResponse>>;
  /**
   * Changes pictures, which are sent as data URLs.
   *
   * @example
   * ```ts
   * const { data } = await steyg.images.edit({ model, prompt: 'With a hat.', images: [{ image_url: 'data:image/png;base64,…' }] });
   * ```
   */
  edit(request: WholeRequest, options?: RequestOptions): Pending<Answer<ImagesResponse>>;
  /**
   * Makes one image and hands out its first versions.
   *
   * @example
   * ```ts
   * for await (const event of steyg.images.generateStream({ model, prompt: 'An owl.', partial_images: 2 })) console.log(event.type);
   * ```
   */
  generateStream(request: StreamedRequest, options?: RequestOptions): ImageStream;
  /**
   * Changes pictures and hands out the first versions of the image.
   *
   * @example
   * ```ts
   * const { b64_json } = await steyg.images.editStream({ model, prompt, images, partial_images: 1 }).final();
   * ```
   */
  editStream(request: StreamedRequest, options?: RequestOptions): ImageStream;
  /**
   * What a request with these members would hold and cost now, without sending it. Free; refused where the request would be.
   *
   * @example
   * ```ts
   * const { holdUsd, mostUsd } = await steyg.images.estimate(request);
   * ```
   */
  estimate(request: WholeRequest, options?: RequestOptions): Pending<Estimate>;
}

/** @internal */
export function createImages(plane: DataPlaneClient): Images {
  const generating = plane.model({ operation: 'createImages', createReader: createImagesReader });
  const editing = plane.model({ operation: 'editImages', createReader: createImagesReader });
  return {
    generate: generating.create as unknown as Images['generate'],
    edit: editing.create as unknown as Images['edit'],
    generateStream: generating.stream,
    editStream: editing.stream,
    estimate: (body, options) =>
      plane.estimate(
        { operation: (body as ImagesRequest).images === undefined ? 'estimateImages' : 'estimateImageEdits', body },
        options,
      ),
  };
}

/** The image itself is the last event. */
function createImagesReader(): Reader<ImagesEvent, ImagesEvent> {
  let last: ImagesEvent;
  return {
    take(data) {
      const event = parseEvent(data) as ImagesEvent;
      if ('error' in event) return { event: null, end: false, failed: event };
      last = event;
      return { event, end: event.type.endsWith('.completed') };
    },
    textOf: () => '',
    // Asked for at the end alone.
    final: () => last,
  };
}
