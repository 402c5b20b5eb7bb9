import type { Estimate, ResponsesEvent, ResponsesRequest, ResponsesResponse } from './generated/rest.ts';
import type { Answer, DataPlaneClient } from './internal/data-plane.ts';
import type { Pending } from './internal/pending.ts';
import { parseEvent } from './internal/sse.ts';
import type { RequestOptions } from './options.ts';
import type { ModelStream, Reader } from './streams.ts';

/** A response as it is generated. */
export type ResponseStream = ModelStream<ResponsesEvent, Answer<ResponsesResponse>>;

/**
 * The responses protocol, with its own field names. The service keeps no state: send the whole conversation each time.
 *
 * @example
 * ```ts
 * const response = await steyg.responses.create({ model: 'sim-small', input: 'Say hello' });
 * console.log(response.output, response.usage, response.steyg.costUsd);
 * ```
 */
export interface Responses {
  /**
   * Asks a model and waits for the whole answer; with `stream: true` for the beginning of the stream.
   *
   * @example
   * ```ts
   * const stream = await steyg.responses.create({ ...request, stream: true });
   * for await (const event of stream) console.log(event.type);
   * ```
   */
  create(request: ResponsesRequest & { stream: true }, options?: RequestOptions): Pending<ResponseStream>;
  create(
    request: ResponsesRequest & { stream?: false | null | undefined },
    options?: RequestOptions,
  ): Pending<Answer<ResponsesResponse>>;
  create(
    request: ResponsesRequest,
    options?: RequestOptions,
  ): Pending<Answer<ResponsesResponse>> | Pending<ResponseStream>;
  /**
   * Asks a model and hands out the answer as it is generated.
   *
   * @example
   * ```ts
   * console.log(await steyg.responses.stream({ model: 'sim-small', input: 'Say hello' }).finalText());
   * ```
   */
  stream(request: ResponsesRequest, options?: RequestOptions): ResponseStream;
  /**
   * What the same request would hold and cost now, without sending it. Free; refused where the request would be.
   *
   * @example
   * ```ts
   * const { holdUsd, mostUsd } = await steyg.responses.estimate(request);
   * ```
   */
  estimate(request: ResponsesRequest, options?: RequestOptions): Pending<Estimate>;
}

/** @internal */
export function createResponses(plane: DataPlaneClient): Responses {
  const { create, stream } = plane.model({ operation: 'createResponse', createReader: createResponsesReader });
  return {
    create: create as Responses['create'],
    stream,
    estimate: (body, options) => plane.estimate({ operation: 'estimateResponse', body }, options),
  };
}

/** @internal The last event carries the whole response. */
export function createResponsesReader(): Reader<ResponsesEvent, ResponsesResponse> {
  let response: ResponsesResponse | undefined;
  return {
    take(data) {
      const event = parseEvent(data) as ResponsesEvent;
      if (event.type === 'error') return { event: null, end: false, failed: event };
      if (event.type === 'response.failed') {
        return { event, end: false, failed: { error: event.response.error ?? {} } };
      }
      if (event.type !== 'response.completed' && event.type !== 'response.incomplete') return { event, end: false };
      response = event.response;
      return { event, end: true };
    },
    textOf: (event) => (event.type === 'response.output_text.delta' ? event.delta : ''),
    final() {
      if (response === undefined) throw new Error('The stream has no response.');
      return response;
    },
  };
}
