import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  ChatToolCall,
  Estimate,
} from './generated/rest.ts';
import type { Answer, DataPlaneClient } from './internal/data-plane.ts';
import type { Pending } from './internal/pending.ts';
import { parseEvent } from './internal/sse.ts';
import type { RequestOptions } from './options.ts';
import type { ModelStream, Reader } from './streams.ts';

/** A chat completion as it is generated. */
export type ChatStream = ModelStream<ChatCompletionChunk, Answer<ChatCompletion>>;

/**
 * The chat completions protocol, with its own field names. What this package does not know of is forwarded as it is.
 *
 * @example
 * ```ts
 * const completion = await steyg.chat.completions.create({
 *   model: 'sim-small',
 *   messages: [{ role: 'user', content: 'Say hello' }],
 * });
 * console.log(completion.choices[0]?.message.content, completion.usage, completion.steyg.costUsd);
 * ```
 */
export interface ChatCompletions {
  /**
   * Asks a model and waits for the whole answer; with `stream: true` for the beginning of the stream.
   *
   * @example
   * ```ts
   * const stream = await steyg.chat.completions.create({ ...request, stream: true });
   * for await (const chunk of stream) console.log(chunk.choices[0]?.delta.content);
   * ```
   */
  create(request: ChatCompletionRequest & { stream: true }, options?: RequestOptions): Pending<ChatStream>;
  create(
    request: ChatCompletionRequest & { stream?: false | null | undefined },
    options?: RequestOptions,
  ): Pending<Answer<ChatCompletion>>;
  create(
    request: ChatCompletionRequest,
    options?: RequestOptions,
  ): Pending<Answer<ChatCompletion>> | Pending<ChatStream>;
  /**
   * Asks a model and hands out the answer as it is generated. The last chunk carries the usage, unless
   * `stream_options` says otherwise.
   *
   * @example
   * ```ts
   * const completion = await steyg.chat.completions.stream(request).finalMessage();
   * ```
   */
  stream(request: ChatCompletionRequest, options?: RequestOptions): ChatStream;
  /**
   * What the same request would hold and cost now, without sending it. Free; refused where the request would be.
   *
   * @example
   * ```ts
   * const { holdUsd, mostUsd } = await steyg.chat.completions.estimate(request);
   * ```
   */
  estimate(request: ChatCompletionRequest, options?: RequestOptions): Pending<Estimate>;
}

/** The part of the client for chat completions. */
export interface Chat {
  completions: ChatCompletions;
}

/** @internal */
export function createChat(plane: DataPlaneClient): Chat {
  const { create, stream } = plane.model({ operation: 'createChatCompletion', createReader: createChatReader });
  return {
    completions: {
      create: create as ChatCompletions['create'],
      stream: (request, options) => stream({ stream_options: { include_usage: true }, ...request }, options),
      estimate: (body, options) => plane.estimate({ operation: 'estimateChatCompletion', body }, options),
    },
  };
}

type Choice = ChatCompletionChunk['choices'][number];
type Delta = Choice['delta'];
type Message = ChatCompletion['choices'][number]['message'];

/** What an upstream may leave out, although the protocol has it. */
type Loose = { choices?: Partial<Choice>[] };

const choicesOf = (chunk: Loose) =>
  (chunk.choices ?? []).map((choice) => ({ index: 0, delta: {} as Delta, ...choice }));

/** @internal Puts a completion together from its chunks. */
export function createChatReader(): Reader<ChatCompletionChunk, ChatCompletion> {
  let completion: ChatCompletion | undefined;

  function apply(chunk: ChatCompletionChunk): void {
    const { choices: _choices, usage, object: _object, ...head } = chunk;
    completion ??= { ...head, object: 'chat.completion', choices: [] };
    // Upstreams that report along the way report the sum so far: the last one counts.
    if (usage !== null && usage !== undefined) completion.usage = usage;
    for (const { index, delta, finish_reason } of choicesOf(chunk)) {
      const choice = (completion.choices[index] ??= {
        index,
        message: { role: 'assistant', content: null, refusal: null },
        finish_reason: null,
      });
      if (finish_reason !== null && finish_reason !== undefined) choice.finish_reason = finish_reason;
      applyDelta(choice.message, delta);
    }
  }

  return {
    take(data) {
      if (data === '[DONE]') return { event: null, end: true };
      const chunk = parseEvent(data) as ChatCompletionChunk;
      if (chunk['error'] !== undefined) return { event: null, end: false, failed: chunk };
      apply(chunk);
      return { event: chunk, end: false };
    },
    textOf: (chunk) => choicesOf(chunk).find(({ index }) => index === 0)?.delta.content ?? '',
    final() {
      if (completion === undefined) throw new Error('The stream has no chunk.');
      return completion;
    },
  };
}

function applyDelta(message: Message, delta: Delta): void {
  const texts = message as Record<string, unknown>;
  for (const name of ['content', 'refusal', 'reasoning_content', 'reasoning']) {
    const piece = delta[name];
    if (typeof piece === 'string') texts[name] = ((texts[name] as string | null | undefined) ?? '') + piece;
  }
  for (const { index, id, type, function: called } of delta.tool_calls ?? []) {
    const calls: ChatToolCall[] = (message.tool_calls ??= []);
    // Without an index, an id begins a call, and what has neither goes on with the last one.
    const place = (index as number | undefined) ?? (id === undefined ? Math.max(calls.length - 1, 0) : calls.length);
    const call = (calls[place] ??= { id: '', type: 'function', function: { name: '', arguments: '' } });
    if (id !== undefined) call.id = id;
    if (type !== undefined) call.type = type;
    const target = (call.function ??= { name: '', arguments: '' });
    target.name += called?.name ?? '';
    target.arguments += called?.arguments ?? '';
  }
}
