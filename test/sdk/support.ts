/** Clients and scripted servers for tests of the SDK. */

import { Steyg, type SteygOptions } from '@steyg/sdk';
import type { Customer, TestApp } from '../support/app.ts';

/** A client of a running app, for a customer's key. */
export function clientOf(app: TestApp, customer: Pick<Customer, 'secret'>, options: Partial<SteygOptions> = {}): Steyg {
  return new Steyg({ baseUrl: app.baseUrl, apiKey: customer.secret, ...options });
}

export const baseUrl = 'https://steyg.test/api';

/** A request as a scripted server sees it. */
export interface Seen {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: unknown;
  signal: AbortSignal;
}

type Reply = Response | Error | ((seen: Seen) => Response | Promise<Response>);

/** A client whose server answers as it is told, one reply after the other; the last one again and again. */
export function scripted(
  replies: readonly Reply[],
  options: Partial<SteygOptions> = {},
): { steyg: Steyg; seen: Seen[] } {
  const seen: Seen[] = [];
  const steyg = new Steyg({
    baseUrl,
    apiKey: 'sk-steyg-test',
    fetch: async (url, init) => {
      const request = {
        method: init.method ?? 'GET',
        url,
        headers: init.headers as Record<string, string>,
        body: typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : undefined,
        signal: init.signal as AbortSignal,
      };
      seen.push(request);
      const reply = replies[Math.min(seen.length, replies.length) - 1];
      if (reply instanceof Error) throw reply;
      if (reply === undefined) throw new Error('no reply is scripted');
      if (typeof reply === 'function') return reply(request);
      // A stream is answered with once; anything else as often as it is asked for.
      return reply.headers.get('content-type') === 'text/event-stream' ? reply : reply.clone();
    },
    ...options,
  });
  return { steyg, seen };
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'request-id': 'req-1', ...headers },
  });
}

/** An answer of events, in these pieces; `end: 'error'` breaks the connection after the last one. */
export function events(
  pieces: readonly (string | Uint8Array)[],
  end: 'close' | 'error' = 'close',
  onCancel: () => void = () => undefined,
): Response {
  const encoder = new TextEncoder();
  const queue = pieces.map((piece) => (typeof piece === 'string' ? encoder.encode(piece) : piece));
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = queue.shift();
      if (piece !== undefined) controller.enqueue(piece);
      else if (end === 'close') controller.close();
      else controller.error(new TypeError('terminated'));
    },
    cancel: onCancel,
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'request-id': 'req-1' } });
}

export const ping = { model: 'sim-small', max_tokens: 16, messages: [{ role: 'user' as const, content: 'ping' }] };

/** A request of each protocol that carries this text. */
export const asked = {
  messages: (text: string) => ({ ...ping, max_tokens: 200, messages: [{ role: 'user' as const, content: text }] }),
  chat: (text: string) => ({ model: 'sim-small', messages: [{ role: 'user' as const, content: text }] }),
  responses: (text: string) => ({ model: 'sim-small', input: text }),
};
