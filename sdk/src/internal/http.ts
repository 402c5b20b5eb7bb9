import {
  AbortedError,
  apiError,
  ConfigurationError,
  ConnectionError,
  ConnectionTimeoutError,
  InvalidAnswerError,
  requestIdOf,
  retryAfterMs,
  SteygError,
} from '../errors.ts';
import type { Fetch, RequestOptions, SteygEvent } from '../options.ts';
import { checkNames } from './names.ts';

/**
 * One exchange with the server, with its attempts. Time-outs, retries and the mapping of failures to errors happen
 * here and nowhere else.
 */

/** A client's settings, complete. */
export interface HttpSettings {
  apiKey: string | undefined;
  accessToken: string | undefined;
  fetch: Fetch;
  timeoutMs: number;
  /** Of silence in a stream. */
  idleTimeoutMs: number;
  maxRetries: number;
  headers: Record<string, string>;
  onEvent: ((event: SteygEvent) => void) | undefined;
}

export interface Call {
  method: 'GET' | 'POST';
  url: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Whose credential goes along. */
  credential: 'apiKey' | 'accessToken';
  /** Hand the body over as it comes instead of reading it. */
  stream?: boolean;
  /** Name of a GraphQL operation, for the hook. */
  operation?: string;
  /** False: another attempt could do it twice, so there is none unless the server asks for one. */
  repeatable?: boolean;
}

export interface Reply {
  response: Response;
  requestId: string | null;
  /** The parsed body; null for a stream. */
  json: unknown;
  /** Pieces of the body as they come; none unless it was asked for as a stream. */
  chunks: AsyncIterable<Uint8Array>;
}

export type Send = (call: Call, options?: RequestOptions) => Promise<Reply>;

/** Where an attempt ended that brought no usable answer. */
interface Failure {
  error: SteygError;
  retry: boolean;
  retryAfterMs: number | null;
}

/** As the vendors' SDKs: half a second, doubled each time, at most eight, up to a quarter less by chance. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  return Math.min(500 * 2 ** attempt, 8_000) * (1 - random() * 0.25);
}

/** What the server asks for, if that is reasonable; else the usual back-off. */
export function delayOf(asked: number | null, attempt: number): number {
  return asked !== null && asked >= 0 && asked <= 60_000 ? asked : backoffMs(attempt);
}

/** Which answers are worth another attempt, unless `x-should-retry` decides. */
export function isWorthRetrying(status: number, headers: Headers): boolean {
  const asked = headers.get('x-should-retry');
  if (asked === 'true') return true;
  if (asked === 'false') return false;
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

export const requestOptions: readonly (keyof RequestOptions)[] = [
  'signal',
  'timeoutMs',
  'idleTimeoutMs',
  'maxRetries',
  'headers',
];

export function createSend(settings: HttpSettings): Send {
  checkNumbers(settings);
  return async (call, options = {}) => {
    checkNames('option', options, requestOptions);
    checkNumbers(options);
    const maxRetries = options.maxRetries ?? settings.maxRetries;
    const path = new URL(call.url).pathname;
    for (let attempt = 0; ; attempt++) {
      const tell = (event: Told) =>
        hear(settings.onEvent, { ...event, method: call.method, path, operation: call.operation, attempt });
      const outcome = await attemptOnce({ settings, call, options, tell });
      if (!('error' in outcome)) return outcome;
      if (!outcome.retry || attempt >= maxRetries) throw outcome.error;
      const delayMs = delayOf(outcome.retryAfterMs, attempt);
      tell({ type: 'retry', delayMs });
      await sleep(delayMs, options.signal);
    }
  };
}

/** A number that is none would mean attempts without end, or none at all. */
function checkNumbers({ timeoutMs, idleTimeoutMs, maxRetries }: RequestOptions): void {
  for (const [name, ms] of Object.entries({ timeoutMs, idleTimeoutMs })) {
    if (ms !== undefined && !(ms > 0)) throw new ConfigurationError(`${name} must be more than 0 milliseconds.`);
  }
  if (maxRetries !== undefined && !(Number.isInteger(maxRetries) && maxRetries >= 0)) {
    throw new ConfigurationError('maxRetries must be a whole number, 0 or more.');
  }
}

/** An answer that has been paid for is not lost to an error in the caller's logging. */
function hear(onEvent: HttpSettings['onEvent'], event: SteygEvent): void {
  try {
    onEvent?.(event);
  } catch {
    // The hook itself has failed, so there is no listener left.
  }
}

type Told =
  | { type: 'request' }
  | { type: 'response'; status: number; requestId: string | null; durationMs: number }
  | { type: 'failure'; error: string; durationMs: number }
  | { type: 'retry'; delayMs: number };

interface Attempt {
  settings: HttpSettings;
  call: Call;
  options: RequestOptions;
  tell: (event: Told) => void;
}

async function attemptOnce({ settings, call, options, tell }: Attempt): Promise<Reply | Failure> {
  const headers = headersOf(settings, call, options);
  if (options.signal?.aborted === true) throw endedBySignal();
  const timeoutMs = options.timeoutMs ?? settings.timeoutMs;
  const deadline = createDeadline(timeoutMs, options.signal);
  // Called unbound: a browser's own function refuses to be called as a member of something else.
  const { fetch } = settings;
  const startedAt = Date.now();
  const durationMs = () => Date.now() - startedAt;
  tell({ type: 'request' });
  let response: Response;
  try {
    response = await fetch(call.url, {
      method: call.method,
      headers,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      signal: deadline.signal,
      // A redirect would carry the prompt to an address that was never configured.
      redirect: 'manual',
    });
  } catch (cause) {
    deadline.clear();
    const error = deadline.explain(cause);
    tell({ type: 'failure', error: error.name, durationMs: durationMs() });
    return { error, retry: !(error instanceof AbortedError) && call.repeatable !== false, retryAfterMs: null };
  }
  const requestId = requestIdOf(response.headers);
  tell({ type: 'response', status: response.status, requestId, durationMs: durationMs() });

  if (response.ok && call.stream === true) {
    const type = response.headers.get('content-type');
    if (type !== null && !/^text\/event-stream\b/i.test(type)) {
      deadline.clear();
      void response.body?.cancel().catch(() => undefined);
      const error = foreignAnswer('no event stream', response.status, requestId);
      return { error, retry: false, retryAfterMs: null };
    }
    // Silence is judged by its own limit; a call's own `timeoutMs` may be stricter still.
    deadline.renew(options.idleTimeoutMs ?? Math.min(timeoutMs, settings.idleTimeoutMs));
    return { response, requestId, json: null, chunks: readChunks(response, deadline) };
  }
  if (!response.ok) {
    // The status decides, even when the body breaks off.
    const text = await response.text().catch(() => '');
    deadline.clear();
    const { status, headers: answered } = response;
    const error = apiError({ status, headers: answered, body: parse(text) ?? text, url: call.url });
    const repeatable = call.repeatable !== false || status === 429;
    return { error, retry: repeatable && isWorthRetrying(status, answered), retryAfterMs: retryAfterMs(answered) };
  }
  try {
    const json = parse(await response.text());
    // From here on the work is done and paid for; what is wrong with the answer, another attempt would pay for again.
    if (json === undefined) throw foreignAnswer('not JSON', response.status, requestId);
    return { response, requestId, json, chunks: nothing() };
  } catch (cause) {
    return { error: deadline.explain(cause), retry: false, retryAfterMs: null };
  } finally {
    deadline.clear();
  }
}

function headersOf(settings: HttpSettings, call: Call, options: RequestOptions): Record<string, string> {
  const secret = settings[call.credential];
  if (!secret && call.credential === 'apiKey') {
    throw new ConfigurationError('This call needs an API key: new Steyg({ apiKey }). It is made in the console.');
  }
  return {
    accept: call.stream === true ? 'text/event-stream' : 'application/json',
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...inLowerCase(call.headers),
    ...inLowerCase(settings.headers),
    ...inLowerCase(options.headers),
    ...(secret ? { authorization: `Bearer ${secret}` } : {}),
  };
}

/** One name in two spellings would be sent as one header with both values. */
const inLowerCase = (headers: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

function foreignAnswer(what: string, status: number, requestId: string | null): InvalidAnswerError {
  const message = `The answer is ${what}. Is the base address the one of the service, ending in /api, and nothing in between answers in its place?`;
  return new InvalidAnswerError(message, { status, requestId });
}

/** Undefined for what is no JSON: an HTML page, nothing at all. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

interface Deadline {
  signal: AbortSignal;
  /** Starts the time again, from here on with this limit if one is given. */
  renew(limitMs?: number): void;
  /** Stops the time, not the signal. */
  pause(): void;
  clear(): void;
  /** The error for what an aborted or failed `fetch` threw. */
  explain(cause: unknown): SteygError;
}

/** A timer that is given more than this goes off at once. */
const maxTimerMs = 2 ** 31 - 1;

/** One signal out of two reasons to stop: the time is over, or the caller says so. */
function createDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let limitMs = timeoutMs;
  let expired = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const leave = () => {
    // The answer may not be read at the moment: the timer must not keep the program alive.
    clearTimeout(timer);
    controller.abort();
  };
  const renew = (ms = limitMs) => {
    clearTimeout(timer);
    limitMs = ms;
    if (controller.signal.aborted || limitMs > maxTimerMs) return;
    timer = setTimeout(() => {
      expired = true;
      controller.abort();
    }, limitMs);
  };
  caller?.addEventListener('abort', leave, { once: true });
  renew();
  return {
    signal: controller.signal,
    renew,
    pause: () => clearTimeout(timer),
    clear() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', leave);
    },
    explain(cause) {
      if (cause instanceof SteygError) return cause;
      if (caller?.aborted === true) return endedBySignal(cause);
      if (expired) return new ConnectionTimeoutError(`Nothing arrived within ${limitMs} ms.`, { cause });
      return new ConnectionError(`The connection failed: ${reasonOf(cause)}`, { cause });
    },
  };
}

const endedBySignal = (cause?: unknown) => new AbortedError('The call was ended by its signal.', { cause });

/** `fetch` says only "fetch failed"; what happened is in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || (cause as { code?: string }).code || cause.name : String(cause);
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* readChunks(response: Response, deadline: Deadline): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const { signal } = deadline;
  // Not every implementation of fetch ends a body with its signal; a cancelled reader ends on all of them.
  const leave = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  let finished = false;
  try {
    while (!finished) {
      deadline.renew();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      // However long the caller takes with a piece: only the server's silence counts.
      deadline.pause();
      finished = done;
      if (value !== undefined) yield value;
    }
  } catch (cause) {
    throw deadline.explain(cause);
  } finally {
    signal.removeEventListener('abort', leave);
    deadline.clear();
    // A reader that leaves early tells the server, which stops generating.
    if (!finished) leave();
  }
}

export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(endedBySignal());
    };
    if (signal?.aborted === true) return reject(endedBySignal());
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
