import type { UsdAmount } from './amounts.ts';
import { AbortedError, InvalidAnswerError, SteygError, StreamInterruptedError, streamError } from './errors.ts';
import type { LedgerEntry } from './generated/rest.ts';
import type { Reply } from './internal/http.ts';
import { readEvents } from './internal/sse.ts';

/**
 * A model's answer as it is generated: an async iterable of the protocol's own events, to be iterated once. The
 * request is sent when the stream is made. Leaving the loop early ends the request, and with it the spending.
 *
 * @example
 * ```ts
 * const stream = steyg.messages.stream({
 *   model: 'sim-small',
 *   max_tokens: 64,
 *   messages: [{ role: 'user', content: 'Say hello' }],
 * });
 * for await (const event of stream) {
 *   if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') console.log(event.delta.text);
 * }
 * const { costUsd } = await stream.cost();
 * ```
 */
export interface ModelStream<Event, Final> extends AsyncIterable<Event> {
  /** The whole answer, assembled from the events. Reads the stream unless another consumer does. */
  finalMessage(): Promise<Final>;
  /** All text of the answer. Reads the stream unless another consumer does. */
  finalText(): Promise<string>;
  /** The pieces of text alone, in place of the events. */
  text(): AsyncIterable<string>;
  /** Ends the request: the server stops generating. What was generated is charged. */
  abort(): void;
  /** The HTTP response, as soon as its headers are there. */
  response(): Promise<Response>;
  /** Id of the request, as soon as the headers are there. */
  requestId(): Promise<string | null>;
  /**
   * What the call cost, read from the ledger by its request id. Waits for the stream's end, and for the settlement
   * that follows it.
   */
  cost(): Promise<CallCost>;
}

/**
 * What one call cost.
 *
 * @example
 * ```ts
 * const { costUsd, entry } = await stream.cost();
 * console.log(costUsd, entry.usage.outputTokens, verifyReceipt(entry).matches);
 * ```
 */
export interface CallCost {
  requestId: string;
  /** In USD, exact. */
  costUsd: UsdAmount;
  /** The whole ledger entry: tokens, frozen prices, latency. */
  entry: LedgerEntry;
}

/** @internal What a protocol makes of its events. */
export interface Reader<Event, Final> {
  /** Takes an event in. `event` is what the caller sees of it; `end` is true at the protocol's last one. */
  take(data: string): { event: Event | null; end: boolean; failed?: unknown };
  /** The piece of text that an event carries, or an empty one. */
  textOf(event: Event): string;
  final(): Final;
}

/** @internal */
export interface StreamParts<Event, Raw, Final> {
  connect: (signal: AbortSignal) => Promise<Reply>;
  signal: AbortSignal | undefined;
  reader: Reader<Event, Raw>;
  /** Gives the answer its facts. */
  finish: (final: Raw, reply: Reply) => Final;
  cost: (requestId: string) => Promise<CallCost>;
}

/** How long a server may take to close an answer after its last event, before the connection is given up. */
const closingMs = 1_000;

/** @internal */
export function createStream<Event, Raw, Final>(parts: StreamParts<Event, Raw, Final>): ModelStream<Event, Final> {
  const { reader } = parts;
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (parts.signal?.aborted === true) abort();
  else parts.signal?.addEventListener('abort', abort, { once: true });
  const unfollow = () => parts.signal?.removeEventListener('abort', abort);

  const connected = parts.connect(controller.signal);
  const { promise: ended, resolve, reject } = settling<Final>();
  // A consumer gets the error from the promise; without one it must not be unhandled.
  connected.catch((error: unknown) => {
    unfollow();
    reject(error);
  });

  let taken = false;
  let text = '';

  async function* read(): AsyncGenerator<Event> {
    let over = false;
    let reply: Reply | null = null;
    let closing: ReturnType<typeof setTimeout> | undefined;
    try {
      reply = await connected;
      const { headers } = reply.response;
      for await (const { data } of readEvents(reply.chunks)) {
        // Nothing counts after the last event; but an answer read to its end leaves a connection that can be used again.
        if (over) continue;
        const { event, piece, final, failed } = understand(data, reply);
        text += piece;
        if (final !== null) {
          // Before the last event is yielded: a consumer that leaves the loop at it has the whole answer.
          over = true;
          resolve(parts.finish(final, reply));
        }
        if (event !== null) yield event;
        if (failed !== undefined) throw streamError(failed, headers);
        if (final !== null) closing = setTimeout(abort, closingMs);
      }
      if (!over) throw new StreamInterruptedError('The stream ended before its last event.', reply.requestId);
    } catch (error) {
      if (over) return;
      const reason = explain(error, reply);
      over = true;
      reject(reason);
      throw reason;
    } finally {
      clearTimeout(closing);
      unfollow();
      if (!over) {
        abort();
        reject(new AbortedError('The stream was left before its end.'));
      }
    }
  }

  /** An unknown event is not the program's fault, and its text must not be logged. */
  function understand(data: string, { response, requestId }: Reply) {
    try {
      const { event, end, failed } = reader.take(data);
      const piece = event === null ? '' : reader.textOf(event);
      return { event, piece, failed, final: end ? reader.final() : null };
    } catch {
      const { status } = response;
      throw new InvalidAnswerError('The stream has an event that is none of its protocol.', { status, requestId });
    }
  }

  /** A connection that breaks after it began is a stream cut off, and says which. */
  function explain(error: unknown, reply: Reply | null): unknown {
    if (controller.signal.aborted) return new AbortedError('The stream was ended by the caller.', { cause: error });
    if (reply === null || !(error instanceof SteygError) || error.name !== 'ConnectionError') return error;
    return new StreamInterruptedError(error.message, reply.requestId, { cause: error });
  }

  function iterate(): AsyncGenerator<Event> {
    if (taken) throw new SteygError('A stream can be iterated only once.');
    taken = true;
    return read();
  }

  async function drain(): Promise<Final> {
    if (!taken) {
      const events = iterate();
      // Reading is what fills the answer.
      while ((await events.next()).done !== true);
    }
    return ended;
  }

  return {
    [Symbol.asyncIterator]: iterate,
    finalMessage: drain,
    finalText: async () => {
      await drain();
      return text;
    },
    text: () => ({
      async *[Symbol.asyncIterator]() {
        for await (const event of iterate()) {
          const piece = reader.textOf(event);
          if (piece !== '') yield piece;
        }
      },
    }),
    abort,
    response: async () => (await connected).response,
    requestId: async () => (await connected).requestId,
    async cost() {
      const { requestId } = await connected;
      // A stream that failed or was left has its price too.
      await drain().catch(() => undefined);
      if (requestId === null) throw new SteygError('The answer carries no request id, so its cost cannot be found.');
      return parts.cost(requestId);
    },
  };
}

/** A promise whose rejection may stay unhandled. */
function settling<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
