import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';

/**
 * The one way out to addresses that customers and operators chose: JSON by POST, bounded in time and size, to exactly the
 * address that was resolved. Redirects are not followed, because the new address was never checked.
 */
export interface PosterDeps {
  /** Checked at every message: the rules may be stricter than when the address was stored. */
  checkAddress: (url: string) => string | null;
  /** Resolves names to public addresses only; the connection goes to exactly the returned address. */
  lookup?: LookupFunction;
  timeoutMs?: number;
}

export interface Poster {
  /** Fails where the connection or the time ends. */
  post(url: string, body: string, headers: Record<string, string>): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

/** The most of an answer that is read. */
export const maxAnswerBytes = 65_536;
const defaultTimeoutMs = 10_000;

/** `program`: how it calls itself. */
export function createPoster({ lookup, timeoutMs = defaultTimeoutMs }: PosterDeps, program: string): Poster {
  const agent = new Agent({
    connect: { timeout: timeoutMs / 2, ...(lookup === undefined ? {} : { lookup }) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxAnswerBytes,
    pipelining: 0,
  });
  return {
    post: (url, body, headers) =>
      request(url, {
        method: 'POST',
        dispatcher: agent,
        headers: {
          'content-type': 'application/json',
          'user-agent': program,
          'accept-encoding': 'identity',
          ...headers,
        },
        body,
        signal: AbortSignal.timeout(timeoutMs),
      }),
    close: () => agent.close(),
  };
}
