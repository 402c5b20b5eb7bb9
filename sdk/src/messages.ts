import type {
  ContentBlock,
  CountTokensRequest,
  CountTokensResponse,
  Estimate,
  MessagesEvent,
  MessagesRequest,
  MessagesResponse,
} from './generated/rest.ts';
import type { Answer, DataPlaneClient } from './internal/data-plane.ts';
import type { Pending } from './internal/pending.ts';
import { parseEvent } from './internal/sse.ts';
import type { RequestOptions } from './options.ts';
import type { ModelStream, Reader } from './streams.ts';

/** A message as it is generated. */
export type MessageStream = ModelStream<MessagesEvent, Answer<MessagesResponse>>;

/**
 * The messages protocol, with its own field names. What this package does not know of is forwarded as it is.
 *
 * @example
 * ```ts
 * const message = await steyg.messages.create({
 *   model: 'sim-small',
 *   max_tokens: 64,
 *   messages: [{ role: 'user', content: 'Say hello' }],
 * });
 * console.log(message.content, message.usage, message.steyg.costUsd);
 * ```
 */
export interface Messages {
  /**
   * Asks a model and waits for the whole answer; with `stream: true` for the beginning of the stream.
   *
   * @example
   * ```ts
   * const stream = await steyg.messages.create({ ...request, stream: true });
   * for await (const event of stream) console.log(event.type);
   * ```
   */
  create(request: MessagesRequest & { stream: true }, options?: RequestOptions): Pending<MessageStream>;
  create(
    request: MessagesRequest & { stream?: false | undefined },
    options?: RequestOptions,
  ): Pending<Answer<MessagesResponse>>;
  create(
    request: MessagesRequest,
    options?: RequestOptions,
  ): Pending<Answer<MessagesResponse>> | Pending<MessageStream>;
  /**
   * Asks a model and hands out the answer as it is generated.
   *
   * @example
   * ```ts
   * for await (const piece of steyg.messages.stream(request).text()) process.stdout.write(piece);
   * ```
   */
  stream(request: MessagesRequest, options?: RequestOptions): MessageStream;
  /**
   * Counts the tokens of a request. Free, also with an exhausted budget.
   *
   * @example
   * ```ts
   * const { input_tokens } = await steyg.messages.countTokens({ model: 'sim-small', messages });
   * ```
   */
  countTokens(request: CountTokensRequest, options?: RequestOptions): Pending<CountTokensResponse>;
  /**
   * What the same request would hold and cost now, without sending it. Free; refused where the request would be.
   *
   * @example
   * ```ts
   * const { holdUsd, mostUsd } = await steyg.messages.estimate(request);
   * ```
   */
  estimate(request: MessagesRequest, options?: RequestOptions): Pending<Estimate>;
}

/** The version of the protocol that this package speaks. */
const version = { 'anthropic-version': '2023-06-01' };

/** @internal */
export function createMessages(plane: DataPlaneClient): Messages {
  const { create, stream } = plane.model({
    operation: 'createMessage',
    headers: version,
    createReader: createMessagesReader,
  });
  return {
    create: create as Messages['create'],
    stream,
    countTokens: (body, options) => plane.post({ operation: 'countTokens', body, headers: version }, options),
    estimate: (body, options) => plane.estimate({ operation: 'estimateMessage', body, headers: version }, options),
  };
}

/** @internal Puts a message together from its events. */
export function createMessagesReader(): Reader<MessagesEvent, MessagesResponse> {
  let message: MessagesResponse | undefined;
  const inputs = new Map<number, string>();

  const block = (index: number): ContentBlock | undefined => message?.content[index];

  function apply(event: MessagesEvent): void {
    switch (event.type) {
      case 'message_start':
        message = { ...event.message, content: [...event.message.content], usage: { ...event.message.usage } };
        break;
      case 'content_block_start':
        if (message !== undefined) message.content[event.index] = { ...event.content_block };
        break;
      case 'content_block_delta':
        applyDelta(event.index, event.delta);
        break;
      case 'content_block_stop':
        closeInput(event.index);
        break;
      case 'message_delta':
        if (message === undefined) break;
        Object.assign(message, event.delta);
        // Cumulative; counters that an upstream leaves out or empties keep what the start said.
        for (const [name, value] of Object.entries(event.usage ?? {})) {
          if (value !== null && value !== undefined) message.usage[name] = value;
        }
        break;
      case 'message_stop':
      case 'ping':
      case 'error':
        break;
      default:
      // A type that came after this package.
    }
  }

  function applyDelta(index: number, delta: (MessagesEvent & { type: 'content_block_delta' })['delta']): void {
    const target = block(index);
    if (target === undefined) return;
    if (delta.type === 'text_delta' && target.type === 'text') target.text += delta.text;
    else if (delta.type === 'thinking_delta' && target.type === 'thinking') target.thinking += delta.thinking;
    else if (delta.type === 'signature_delta' && target.type === 'thinking') target.signature = delta.signature;
    else if (delta.type === 'input_json_delta') inputs.set(index, (inputs.get(index) ?? '') + delta.partial_json);
    else if (delta.type === 'citations_delta') {
      target['citations'] = [...((target['citations'] as unknown[] | undefined) ?? []), delta.citation];
    }
  }

  /** Input that was cut off in mid-JSON, by the token limit, stays the text it is. */
  function closeInput(index: number): void {
    const target = block(index);
    const json = inputs.get(index);
    if (target === undefined || json === undefined || json === '') return;
    try {
      target['input'] = JSON.parse(json) as unknown;
    } catch {
      target['input'] = json;
    }
  }

  return {
    take(data) {
      const event = parseEvent(data) as MessagesEvent;
      if (event.type === 'error') return { event: null, end: false, failed: event };
      apply(event);
      return { event, end: event.type === 'message_stop' };
    },
    textOf: (event) =>
      event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : '',
    final() {
      if (message === undefined) throw new Error('The stream has no message_start.');
      return message;
    },
  };
}
