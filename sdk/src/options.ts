/** What the client takes, and what it tells about its work. */

/**
 * Settings of a client.
 *
 * @example
 * ```ts
 * const steyg = new Steyg({ baseUrl: 'https://steyg.example/api', apiKey: process.env.STEYG_API_KEY });
 * ```
 */
export interface SteygOptions {
  /** The service's API root: the address whose path ends in `/api`, without `/v1`. */
  baseUrl: string;
  /** For model calls, models and usage. A browser with a session cookie needs none. */
  apiKey?: string | undefined;
  /** For the control plane (`console` and `graphql`). A browser with a session cookie needs none. */
  accessToken?: string | undefined;
  /** Address of the control plane. Default: `/graphql` beside the API root. */
  graphqlUrl?: string | undefined;
  /**
   * Sends the operations of `console` by name, and their texts only to a service of another version. Pages then load
   * no texts. Default: false.
   */
  persistedDocuments?: boolean | undefined;
  /** In place of the global `fetch`: for proxies, recording, tests. It must not follow redirects that it is told not to. */
  fetch?: Fetch | undefined;
  /**
   * Milliseconds until an answer must have arrived, or a stream begun; for each attempt. `Infinity`: no limit. Default:
   * 600,000.
   */
  timeoutMs?: number | undefined;
  /**
   * Milliseconds of silence in a stream after which it counts as broken. The service sends a sign of life every few
   * seconds, however long a model thinks. Default: 120,000, or `timeoutMs` where that is less.
   */
  idleTimeoutMs?: number | undefined;
  /** Further attempts after a failure that may pass. Default: 2. */
  maxRetries?: number | undefined;
  /** Headers that every request carries besides its own. */
  headers?: Record<string, string> | undefined;
  /**
   * Hears about every request, answer and retry, for logs and metrics. Never told: credentials, headers, bodies and
   * query strings. What it throws is ignored.
   */
  onEvent?: ((event: SteygEvent) => void) | undefined;
}

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * What one call may decide for itself.
 *
 * @example
 * ```ts
 * await steyg.messages.create(request, { timeoutMs: 30_000, maxRetries: 0, signal: controller.signal });
 * ```
 */
export interface RequestOptions {
  /** Ends the call, and a running stream. */
  signal?: AbortSignal | undefined;
  /** In place of the client's. */
  timeoutMs?: number | undefined;
  /** In place of the client's. */
  idleTimeoutMs?: number | undefined;
  /** In place of the client's. */
  maxRetries?: number | undefined;
  /** Further headers, e.g. `anthropic-beta`. */
  headers?: Record<string, string> | undefined;
}

/**
 * What `onEvent` hears. `path` is without its query, `operation` the name of a GraphQL operation.
 *
 * @example
 * ```ts
 * const onEvent = (event: SteygEvent) => {
 *   if (event.type === 'response') console.log(event.path, event.status, event.durationMs, event.requestId);
 * };
 * ```
 */
export type SteygEvent =
  | ({ type: 'request' } & EventFacts)
  | ({ type: 'response'; status: number; requestId: string | null; durationMs: number } & EventFacts)
  | ({ type: 'failure'; error: string; durationMs: number } & EventFacts)
  | ({ type: 'retry'; delayMs: number } & EventFacts);

/** What every event tells. */
export interface EventFacts {
  method: string;
  path: string;
  /** Name of the GraphQL operation, where there is one. */
  operation?: string | undefined;
  /** 0 for the first attempt. */
  attempt: number;
}
