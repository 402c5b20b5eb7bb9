import type { Estimate, Steyg } from '@steyg/sdk';

/** One exchange with a model, in either protocol, with its traffic. */

export type PlayProtocol = 'messages' | 'chat-completions';

/** The protocols as the control plane names them. */
export const protocolNames = { messages: 'MESSAGES', 'chat-completions': 'CHAT_COMPLETIONS' } as const;

/** A picture that is sent with a question. */
export interface Picture {
  name: string;
  /** e.g. `image/png`. */
  mediaType: string;
  base64: string;
}

export interface Turn {
  role: 'user' | 'assistant';
  text: string;
  pictures?: readonly Picture[];
}

export interface PlayRequest {
  protocol: PlayProtocol;
  model: string;
  system: string;
  maxTokens: number;
  turns: readonly Turn[];
}

/** The request as it is sent. */
export function playBody({ protocol, model, system, maxTokens, turns }: PlayRequest): Record<string, unknown> {
  const messages = turns.map((turn) => ({ role: turn.role, content: contentOf(turn, protocol) }));
  if (protocol === 'messages') {
    return { model, max_tokens: maxTokens, ...(system === '' ? {} : { system }), messages, stream: true };
  }
  return {
    model,
    max_tokens: maxTokens,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    stream: true,
    stream_options: { include_usage: true },
  };
}

function contentOf({ text, pictures = [] }: Turn, protocol: PlayProtocol): unknown {
  if (pictures.length === 0) return text;
  const blocks = pictures.map(({ mediaType, base64 }) =>
    protocol === 'messages'
      ? { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } }
      : { type: 'image_url', image_url: { url: `data:${mediaType};base64,${base64}` } },
  );
  return [...blocks, { type: 'text', text }];
}

/** The body for display: as sent, except that the bytes of pictures are only counted. */
export function readableBody(request: PlayRequest): string {
  const counted = (picture: Picture): Picture => ({ ...picture, base64: `… (${picture.base64.length})` });
  const turns = request.turns.map(({ pictures, ...turn }) =>
    pictures === undefined ? turn : { ...turn, pictures: pictures.map(counted) },
  );
  return JSON.stringify(playBody({ ...request, turns }), null, 2);
}

/** Where the request goes. */
export function pathOf(protocol: PlayProtocol): string {
  return protocol === 'messages' ? '/api/v1/messages' : '/api/v1/chat/completions';
}

export interface Piece {
  event: unknown;
  text: string;
  thinking: string;
}

export interface Play {
  pieces: AsyncIterable<Piece>;
  abort(): void;
  requestId(): Promise<string | null>;
  cost: ReturnType<Steyg['messages']['stream']>['cost'];
}

/** Sends it. The client's own readers parse the stream; only what is shown is picked out here. */
export function play(steyg: Steyg, request: PlayRequest): Play {
  const { stream: _stream, ...body } = playBody(request);
  if (request.protocol === 'messages') {
    const stream = steyg.messages.stream(body as unknown as Parameters<Steyg['messages']['stream']>[0]);
    return {
      pieces: mapPieces(stream, (event) => {
        if (event.type !== 'content_block_delta') return { text: '', thinking: '' };
        const { delta } = event;
        return {
          text: delta.type === 'text_delta' ? delta.text : '',
          thinking: delta.type === 'thinking_delta' ? delta.thinking : '',
        };
      }),
      abort: () => stream.abort(),
      requestId: () => stream.requestId(),
      cost: () => stream.cost(),
    };
  }
  const stream = steyg.chat.completions.stream(
    body as unknown as Parameters<Steyg['chat']['completions']['stream']>[0],
  );
  return {
    pieces: mapPieces(stream, ({ choices }) => {
      const delta = (choices[0]?.delta ?? {}) as Record<string, unknown>;
      const string = (name: string) => (typeof delta[name] === 'string' ? delta[name] : '');
      return { text: string('content'), thinking: string('reasoning_content') };
    }),
    abort: () => stream.abort(),
    requestId: () => stream.requestId(),
    cost: () => stream.cost(),
  };
}

/** What it can cost; nothing is sent to the model. */
export function estimateOf(steyg: Steyg, request: PlayRequest, signal: AbortSignal): Promise<Estimate> {
  const body = playBody(request);
  return request.protocol === 'messages'
    ? steyg.messages.estimate(body as unknown as Parameters<Steyg['messages']['estimate']>[0], { signal })
    : steyg.chat.completions.estimate(body as unknown as Parameters<Steyg['chat']['completions']['estimate']>[0], {
        signal,
      });
}

async function* mapPieces<Event>(
  stream: AsyncIterable<Event>,
  pick: (event: Event) => { text: string; thinking: string },
): AsyncGenerator<Piece> {
  for await (const event of stream) yield { event, ...pick(event) };
}
