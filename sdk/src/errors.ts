import type { UsdAmount } from './amounts.ts';

/**
 * What can go wrong, as classes: one per status, so that `instanceof` decides what to do. Every error of this package
 * is a `SteygError`; none carries a credential or the text of a request.
 */

/**
 * Base class of everything this package throws.
 *
 * @example
 * ```ts
 * try {
 *   await steyg.messages.create(request);
 * } catch (error) {
 *   if (error instanceof SteygError) console.error(error.message);
 *   else throw error;
 * }
 * ```
 */
export class SteygError extends Error {
  override name = 'SteygError';
}

/**
 * The client was set up wrongly: a base address that cannot be right, a call whose credential is missing, or an option or
 * argument whose name there is not (the message says which one may have been meant).
 *
 * @example
 * ```ts
 * new Steyg({ baseUrl: 'https://steyg.example/api/v1', apiKey }); // throws: baseUrl ends in /api, without /v1
 * ```
 */
export class ConfigurationError extends SteygError {
  override name = 'ConfigurationError';
}

/**
 * The server could not be reached, or the connection broke. Retried before it is thrown, unless a part of the answer
 * had already arrived.
 *
 * @example
 * ```ts
 * if (error instanceof ConnectionError) showOffline();
 * ```
 */
export class ConnectionError extends SteygError {
  override name = 'ConnectionError';
}

/**
 * Nothing came within `timeoutMs`.
 *
 * @example
 * ```ts
 * await steyg.models.list({ timeoutMs: 2_000 }); // throws ConnectionTimeoutError after 2 s (and the retries)
 * ```
 */
export class ConnectionTimeoutError extends ConnectionError {
  override name = 'ConnectionTimeoutError';
}

/**
 * A stream ended before its protocol's last event. What was generated until then has been charged.
 *
 * @example
 * ```ts
 * if (error instanceof StreamInterruptedError) console.error(`cut: ${error.requestId}`);
 * ```
 */
export class StreamInterruptedError extends ConnectionError {
  override name = 'StreamInterruptedError';
  /** Id of the request, for a look-up in the ledger. */
  readonly requestId: string | null;

  constructor(message: string, requestId: string | null, options?: { cause?: unknown }) {
    super(message, options);
    this.requestId = requestId;
  }
}

/**
 * You ended the call: by your `AbortSignal`, by `stream.abort()`, or by leaving a loop over a stream.
 *
 * @example
 * ```ts
 * const stream = steyg.messages.stream(request);
 * setTimeout(() => stream.abort(), 100);
 * await stream.finalText(); // throws AbortedError
 * ```
 */
export class AbortedError extends SteygError {
  override name = 'AbortedError';
}

/**
 * The server answered with something that is not of this API, e.g. an HTML page of a proxy in between.
 *
 * @example
 * ```ts
 * if (error instanceof InvalidAnswerError) console.error('Is the base address right?', error.status);
 * ```
 */
export class InvalidAnswerError extends SteygError {
  override name = 'InvalidAnswerError';
  readonly status: number;
  readonly requestId: string | null;

  constructor(message: string, facts: { status: number; requestId: string | null }) {
    super(message);
    this.status = facts.status;
    this.requestId = facts.requestId;
  }
}

/** What an answer with an error status said. */
export interface ApiErrorFacts {
  /** HTTP status. */
  status: number;
  /** The answer's headers. */
  headers: Headers;
  /** The parsed body, or its text when it was no JSON. */
  body: unknown;
  /** What was asked. */
  url?: string | undefined;
}

/**
 * The server refused or failed. Subclasses say which status it was.
 *
 * @example
 * ```ts
 * if (error instanceof ApiError) console.error(error.status, error.code, error.requestId, error.message);
 * ```
 */
export class ApiError extends SteygError {
  override name = 'ApiError';
  /** HTTP status; for an error in the middle of a stream the status that stands behind it. */
  readonly status: number;
  /**
   * For programs: the service's code, the same on every protocol, e.g. `model_not_found`; where there is none, the error
   * type in the words of the protocol, e.g. `invalid_request_error`.
   */
  readonly code: string;
  /** Error type in the words of the protocol, e.g. `billing_error`. */
  readonly type: string | null;
  /**
   * The member of the request at fault, where one is: `messages[1].role` in OpenAI's spelling, `messages.1.role` in Anthropic's,
   * whose answers say it at the beginning of the message.
   */
  readonly param: string | null;
  /** Quote it to support; the ledger entry has the same. */
  readonly requestId: string | null;
  /** When another try makes sense, as the server said. */
  readonly retryAfterMs: number | null;
  /** The service's reference of what was asked; null on the control plane and in streams. */
  readonly docs: string | null;
  readonly headers: Headers;
  /** The parsed body, or its text when it was no JSON. */
  readonly body: unknown;

  constructor(facts: ApiErrorFacts) {
    const error = errorObject(facts.body);
    super(text(error['message']) ?? fallbackMessage(facts));
    this.status = facts.status;
    this.type = text(error['type']);
    this.code = text(error['code']) ?? text(codeOf(error)) ?? this.type ?? `http_${facts.status}`;
    this.param = text(error['param'] === undefined && facts.status < 500 ? pathOf(this.message) : error['param']);
    const [root, ...asked] = facts.url?.split('/v1/') ?? [];
    this.docs = asked.length === 0 ? null : `${root}/docs/`;
    this.requestId = requestIdOf(facts.headers) ?? text((facts.body as { request_id?: unknown } | null)?.request_id);
    this.retryAfterMs = retryAfterMs(facts.headers);
    this.headers = facts.headers;
    this.body = facts.body;
  }
}

/** The figures that make a refusal for lack of budget something to act on. */
export interface BudgetFigures {
  /** What is left of the budget, reserved amounts not counted. */
  readonly balanceUsd: UsdAmount | null;
  /** What running requests of this account have reserved. */
  readonly heldUsd: UsdAmount | null;
  /** What this request needs at least. */
  readonly requiredUsd: UsdAmount | null;
  /** What this request can cost at most. Null: it was refused for something else, or the server is older. */
  readonly mostUsd: UsdAmount | null;
  /** The `max_tokens` with which it would have fitted. */
  readonly affordableMaxTokens: number | null;
}

/** The spending limit of a key or an account, when that is what was reached. */
export interface KeyLimitFigures {
  /** `day`, `week`, `month`, `lifetime`, or `burn` for what may be spent within minutes. */
  readonly period: string;
  readonly limitUsd: UsdAmount;
  readonly spentUsd: UsdAmount;
  /** What the limit leaves; running requests hold the rest. Null: the server is older than this client. */
  readonly leftUsd: UsdAmount | null;
  /** When the request fits again if nothing else is spent (RFC 3339); null: not without a change. */
  readonly returnsAt: string | null;
}

/**
 * 400: the request is malformed, names a model that is not in the catalog, or uses what the model does not offer.
 *
 * @example
 * ```ts
 * if (error instanceof BadRequestError && error.code === 'model_not_found') console.error(await steyg.models.list());
 * ```
 */
export class BadRequestError extends ApiError {
  override name = 'BadRequestError';
}

/**
 * 401: the key (or access token) is absent, wrong, expired or deleted.
 *
 * @example
 * ```ts
 * if (error instanceof AuthenticationError) askForKey();
 * ```
 */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError';
}

/**
 * 402: the prepaid budget is used up, or a spending limit of the key, its maker, its project or the account is reached (`code`
 * is `key_limit_reached`, `member_limit_reached`, `project_limit_reached`, `account_limit_reached` or `burn_limit`). After a top-up the same key works again. Never retried.
 *
 * @example
 * ```ts
 * if (error instanceof BudgetError) console.error(`left: ${error.balanceUsd} USD, needed: ${error.requiredUsd} USD`);
 * ```
 */
export class BudgetError extends ApiError implements BudgetFigures {
  override name = 'BudgetError';
  declare readonly balanceUsd: UsdAmount | null;
  declare readonly heldUsd: UsdAmount | null;
  declare readonly requiredUsd: UsdAmount | null;
  declare readonly mostUsd: UsdAmount | null;
  declare readonly affordableMaxTokens: number | null;
  /** Set when a spending limit of the key or the account was reached; `code` says which. */
  readonly keyLimit: KeyLimitFigures | null;

  constructor(facts: ApiErrorFacts) {
    super(facts);
    Object.assign(this, budgetFigures(facts.body));
    this.keyLimit = keyLimit(facts.body);
  }
}

/**
 * 403: the account is suspended, or the key may not call this model.
 *
 * @example
 * ```ts
 * if (error instanceof PermissionError && error.code === 'model_not_allowed') chooseAnotherModel();
 * ```
 */
export class PermissionError extends ApiError {
  override name = 'PermissionError';
}

/**
 * 404: nothing is at this address, or there is no such model or ledger entry.
 *
 * @example
 * ```ts
 * if (error instanceof NotFoundError) return null;
 * ```
 */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/**
 * 408: the request did not arrive in time. Retried before it is thrown.
 *
 * @example
 * ```ts
 * if (error instanceof RequestTimeoutError) console.error('The upload was too slow.');
 * ```
 */
export class RequestTimeoutError extends ApiError {
  override name = 'RequestTimeoutError';
}

/**
 * 409: something else changed at the same moment. Retried before it is thrown.
 *
 * @example
 * ```ts
 * if (error instanceof ConflictError) console.error(error.message);
 * ```
 */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}

/**
 * 413: the request is larger than the server takes.
 *
 * @example
 * ```ts
 * if (error instanceof RequestTooLargeError) console.error('Send fewer or smaller images.');
 * ```
 */
export class RequestTooLargeError extends ApiError {
  override name = 'RequestTooLargeError';
}

/**
 * 415: the body is not uncompressed JSON in UTF-8.
 *
 * @example
 * ```ts
 * if (error instanceof UnsupportedMediaTypeError) console.error(error.message);
 * ```
 */
export class UnsupportedMediaTypeError extends ApiError {
  override name = 'UnsupportedMediaTypeError';
}

/**
 * 422: the vendor understood the request and will not do it.
 *
 * @example
 * ```ts
 * if (error instanceof UnprocessableError) console.error(error.message);
 * ```
 */
export class UnprocessableError extends ApiError {
  override name = 'UnprocessableError';
}

/**
 * 429: too many requests at once, or the rest of the budget is reserved by requests that still run (`code` is
 * `budget_reserved`, and the figures are set). Retried before it is thrown. With the code `budget_held_by_batches` a batch
 * holds the money: its message names it, and no retry is made.
 *
 * @example
 * ```ts
 * if (error instanceof RateLimitError) await delay(error.retryAfterMs ?? 1_000);
 * ```
 */
export class RateLimitError extends ApiError implements BudgetFigures {
  override name = 'RateLimitError';
  declare readonly balanceUsd: UsdAmount | null;
  declare readonly heldUsd: UsdAmount | null;
  declare readonly requiredUsd: UsdAmount | null;
  declare readonly mostUsd: UsdAmount | null;
  declare readonly affordableMaxTokens: number | null;

  constructor(facts: ApiErrorFacts) {
    super(facts);
    Object.assign(this, budgetFigures(facts.body));
  }
}

/**
 * Any 5xx: trouble at the service or at the model's upstream; its message names the status page. Retried before it is
 * thrown.
 *
 * @example
 * ```ts
 * if (error instanceof ServerError) console.error(error.message);
 * ```
 */
export class ServerError extends ApiError {
  override name = 'ServerError';
}

/**
 * 500: a fault of the service.
 *
 * @example
 * ```ts
 * if (error instanceof InternalServerError) console.error(`Please report ${error.requestId}`);
 * ```
 */
export class InternalServerError extends ServerError {
  override name = 'InternalServerError';
}

/**
 * 501: this model or deployment does not offer it.
 *
 * @example
 * ```ts
 * if (error instanceof NotSupportedError) chooseAnotherModel();
 * ```
 */
export class NotSupportedError extends ServerError {
  override name = 'NotSupportedError';
}

/**
 * 502: the model's upstream failed or could not be reached.
 *
 * @example
 * ```ts
 * if (error instanceof UpstreamError) console.error(error.message);
 * ```
 */
export class UpstreamError extends ServerError {
  override name = 'UpstreamError';
}

/**
 * 503: the service or the model is not available at the moment.
 *
 * @example
 * ```ts
 * if (error instanceof UnavailableError) await delay(error.retryAfterMs ?? 30_000);
 * ```
 */
export class UnavailableError extends ServerError {
  override name = 'UnavailableError';
}

/**
 * 504: the model's upstream did not answer in time.
 *
 * @example
 * ```ts
 * if (error instanceof UpstreamTimeoutError) console.error('Ask for less at once, or for a stream.');
 * ```
 */
export class UpstreamTimeoutError extends ServerError {
  override name = 'UpstreamTimeoutError';
}

/**
 * 529: the model's upstream is overloaded.
 *
 * @example
 * ```ts
 * if (error instanceof OverloadedError) await delay(error.retryAfterMs ?? 10_000);
 * ```
 */
export class OverloadedError extends ServerError {
  override name = 'OverloadedError';
}

/**
 * A stream that had begun said that it failed. `status` is the one that stands behind its error type; what was
 * generated until then has been charged, so nothing is retried.
 *
 * @example
 * ```ts
 * if (error instanceof StreamError) console.error(error.code, error.requestId);
 * ```
 */
export class StreamError extends ApiError {
  override name = 'StreamError';
}

const classes: Record<number, new (facts: ApiErrorFacts) => ApiError> = {
  400: BadRequestError,
  401: AuthenticationError,
  402: BudgetError,
  403: PermissionError,
  404: NotFoundError,
  408: RequestTimeoutError,
  409: ConflictError,
  413: RequestTooLargeError,
  415: UnsupportedMediaTypeError,
  422: UnprocessableError,
  429: RateLimitError,
  500: InternalServerError,
  501: NotSupportedError,
  502: UpstreamError,
  503: UnavailableError,
  504: UpstreamTimeoutError,
  529: OverloadedError,
};

/** @internal The error of an answer, in the class of its status. */
export function apiError(facts: ApiErrorFacts): ApiError {
  return new (classes[facts.status] ?? (facts.status >= 500 ? ServerError : ApiError))(facts);
}

const statusOfType: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  insufficient_quota: 402,
  permission_error: 403,
  not_found_error: 404,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

/** @internal The error that an event of a stream reports; the answer's own status was 200. */
export function streamError(body: unknown, headers: Headers): StreamError {
  const error = errorObject(body);
  const status = statusOfType[text(error['type']) ?? ''] ?? statusOfType[text(error['code']) ?? ''] ?? 500;
  return new StreamError({ status, headers, body });
}

/** @internal Both names that answers carry; the protocols' clients read different ones. */
export function requestIdOf(headers: Headers): string | null {
  return headers.get('request-id') ?? headers.get('x-request-id');
}

/** @internal What the server asks to wait: milliseconds, seconds or a date. */
export function retryAfterMs(headers: Headers): number | null {
  const exact = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (!Number.isNaN(exact)) return exact;
  const header = headers.get('retry-after');
  if (header === null) return null;
  const seconds = Number.parseFloat(header);
  const delay = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1_000;
  return Number.isNaN(delay) ? null : delay;
}

type Members = Record<string, unknown>;

/** The error object of any of the envelopes: the protocols' `error`, GraphQL's `errors`, a bare error event. */
function errorObject(body: unknown): Members {
  if (typeof body !== 'object' || body === null) return {};
  const { error, errors } = body as { error?: unknown; errors?: unknown };
  if (typeof error === 'object' && error !== null) return error as Members;
  if (Array.isArray(errors)) {
    const [first] = errors as { message?: unknown; extensions?: { code?: unknown } }[];
    return { message: first?.message, code: first?.extensions?.code };
  }
  return body as Members;
}

/** Sentences of the messages protocol begin with the path of the member that they are about. */
function pathOf(message: string): unknown {
  return /^([a-z][\w.-]*): /.exec(message)?.[1];
}

/** On the messages protocol the vendor's code hides in the details. */
function codeOf(error: Members): unknown {
  return (error['details'] as { error_code?: unknown } | undefined)?.error_code;
}

function fallbackMessage({ status, body }: ApiErrorFacts): string {
  if (status === 404 && typeof body === 'string') {
    return 'The address answered 404 with a page instead of JSON: the base address is the one whose path ends in /api.';
  }
  if (status === 0 || (status >= 300 && status < 400)) {
    return 'The server redirects to another address. Configure that one; the key is never sent on automatically.';
  }
  return `The server answered with status ${status}.`;
}

function budgetFigures(body: unknown): BudgetFigures {
  const error = errorObject(body);
  const tokens = error['affordable_max_tokens'];
  return {
    balanceUsd: text(error['balance_usd']),
    heldUsd: text(error['held_usd']),
    requiredUsd: text(error['required_usd']),
    mostUsd: text(error['most_usd']),
    affordableMaxTokens: typeof tokens === 'number' ? tokens : null,
  };
}

function keyLimit(body: unknown): KeyLimitFigures | null {
  const error = errorObject(body);
  const limitUsd = text(error['limit_usd']);
  if (limitUsd === null) return null;
  return {
    period: text(error['limit_period']) ?? '',
    limitUsd,
    spentUsd: text(error['spent_usd']) ?? '',
    leftUsd: text(error['left_usd']),
    returnsAt: text(error['returns_at']),
  };
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
