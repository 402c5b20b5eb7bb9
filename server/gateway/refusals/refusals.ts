import type { TokensLimited } from '../limits/token-rate.ts';

/**
 * Every refusal of the data plane in one closed table: name, status, code and the sentence that people read. Private
 * detail (of a parser or an upstream) is logged by kind and never part of these sentences.
 *
 * Each protocol renders a refusal in its own envelope (`server/wire`); GraphQL has its own result types.
 */

import type { ModelKind } from '../../core/kind.ts';
import type { LimitOwner } from '../../core/spend-limits.ts';

export interface Refusal {
  name: RefusalName;
  /** Status on the chat-completions and responses protocols. */
  status: number;
  /** Status on the messages protocol, where it differs (529 instead of 503). */
  messagesStatus?: number;
  /** `code` of the error object; null where the protocols use none. */
  code: string | null;
  message: string;
  param?: string | null;
  /** Sends `x-should-retry: false`: a retry cannot succeed. */
  final?: true;
  /** Seconds after which a retry makes sense, however many; `retry-after` is shorter where clients need it to be. */
  retryAfterS?: number;
  /** The limit per minute that was reached, for the vendors' rate-limit headers. Without `of`: of requests, none left. */
  rateLimit?: { of?: 'requests' | 'tokens'; limit: number; left?: number; resetS: number };
  /** The page that says why, and what to do. */
  docUrl?: string;
  /** Further machine-readable members of the error object. */
  extra?: Record<string, unknown>;
}

export type RefusalName =
  | 'invalid_api_key'
  | 'account_suspended'
  | 'invalid_request'
  | 'version_header_missing'
  | 'unsupported_media_type'
  | 'content_encoding'
  | 'request_too_large'
  | 'request_timeout'
  | 'too_many_headers'
  | 'not_found'
  | 'method_not_allowed'
  | 'no_web_socket'
  | 'previous_response_not_found'
  | 'socket_too_old'
  | 'model_not_found'
  | 'model_not_allowed'
  | 'model_of_other_kind'
  | 'prompt_too_long'
  | 'budget_exhausted'
  | 'budget_short'
  | 'budget_reserved'
  | 'budget_held_by_batches'
  | 'key_limit_reached'
  | 'member_limit_reached'
  | 'project_limit_reached'
  | 'account_limit_reached'
  | 'burn_limit'
  | 'too_many_requests'
  | 'answers_unread'
  | 'rate_limited'
  | 'address_not_allowed'
  | 'probes_alone'
  | 'not_supported'
  | 'unavailable'
  | 'overloaded'
  | 'draining'
  | 'internal'
  | 'upstream_unreachable'
  | 'upstream_error'
  | 'upstream_refused'
  | 'content_refused'
  | 'upstream_overloaded'
  | 'upstream_unavailable'
  | 'upstream_timeout'
  | 'upstream_cut'
  | 'upstream_stalled'
  | 'answer_too_large';

/** Public addresses in the sentences. */
export interface Pointers {
  /** The page on which budget is bought. */
  readonly topUpUrl: string;
  /** The status page. */
  readonly statusUrl: string;
  /** Below it each refusal has a page by its name. */
  readonly errorsUrl: string;
}

/** Figures of a budget refusal. Decimal USD strings. */
export interface BudgetFigures {
  balanceUsd: string;
  heldUsd: string;
  requiredUsd?: string;
  /** The most that the request can cost, and why it is so much; null: by its length. */
  mostUsd?: string;
  because?: string | null;
  affordableMaxTokens?: number;
}

/** A spending limit that was reached. Decimal USD strings. */
export interface SpendLimitFigures {
  of: LimitOwner;
  period: 'day' | 'week' | 'month' | 'lifetime' | 'burn';
  limitUsd: string;
  spentUsd: string;
  heldUsd: string;
  leftUsd: string;
  /** RFC 3339; null: not without a change. */
  returnsAt: string | null;
  burnMinutes?: number;
}

/** What batches hold of a budget. */
export interface HeldByBatches {
  /** Decimal USD. */
  heldUsd: string;
  count: number;
  /** As clients know them, the one that holds most first; some of them. */
  names: readonly string[];
  /** RFC 3339: when the first of them must have ended. */
  endAt: string;
  /** Seconds until then, at least 60. */
  untilS: number;
}

const limitSubjects: Readonly<Record<LimitOwner, string>> = {
  key: 'This API key',
  member: 'The member who made this API key',
  project: 'The project of this API key',
  account: 'This account',
};

function sentenceOfLimit({
  of,
  period,
  limitUsd,
  spentUsd,
  leftUsd,
  returnsAt,
  burnMinutes,
}: SpendLimitFigures): string {
  const subject = limitSubjects[of];
  const owner = of === 'key' ? 'its owner' : 'an owner of the account';
  const left = leftUsd === '0' ? '' : ` and this request needs more than the ${leftUsd} USD that are left`;
  const returns = returnsAt === null ? '' : `, or try again after ${returnsAt}`;
  if (period === 'burn') {
    return `${subject} has spent ${spentUsd} USD within ${burnMinutes ?? 0} minutes${left}: its burn limit of ${limitUsd} USD in that time has stopped it. To lift it, ${owner} raises or removes the burn limit in the console${returns}.`;
  }
  const per = period === 'lifetime' ? 'in all' : `per ${period}`;
  return `${subject} has reached its own spending limit (${limitUsd} USD ${per})${left}; ${owner} can raise it in the console${returns}.`;
}

const budgetExtra = (figures: BudgetFigures): Record<string, unknown> => ({
  balance_usd: figures.balanceUsd,
  held_usd: figures.heldUsd,
  ...(figures.requiredUsd === undefined ? {} : { required_usd: figures.requiredUsd }),
  ...(figures.mostUsd === undefined ? {} : { most_usd: figures.mostUsd }),
  ...(figures.affordableMaxTokens === undefined ? {} : { affordable_max_tokens: figures.affordableMaxTokens }),
});

/** What the request can cost at most and why, where something that only the vendor can measure decides it. */
const sentenceOfBound = ({ mostUsd, because }: BudgetFigures): string =>
  mostUsd === undefined || because === undefined || because === null
    ? ''
    : ` It can cost ${mostUsd} USD at most: ${because}.`;

/** Authentication, and what a key may call. */
const keyRefusals = {
  invalidApiKey: (): Refusal => ({
    name: 'invalid_api_key',
    status: 401,
    code: 'invalid_api_key',
    message: 'Invalid API key',
    final: true,
  }),
  accountSuspended: (): Refusal => ({
    name: 'account_suspended',
    status: 403,
    code: 'account_suspended',
    final: true,
    message: 'This account is suspended. Please contact support to have it reviewed.',
  }),
  modelNotFound: (model: string): Refusal => ({
    name: 'model_not_found',
    status: 400,
    code: 'model_not_found',
    param: 'model',
    final: true,
    message: `Requested model ${model} is not available in the service`,
  }),
  modelOfOtherKind: (model: string, kind: ModelKind): Refusal => ({
    name: 'model_of_other_kind',
    status: 400,
    code: 'model_not_supported',
    param: 'model',
    final: true,
    message: {
      embedding: `The model ${model} makes embeddings and does not answer with text; ask for it at /v1/embeddings.`,
      image: `The model ${model} makes images and does not answer with text; ask for it at /v1/images/generations or /v1/images/edits.`,
      text: `The model ${model} answers with text and makes neither embeddings nor images; the list of models says which ones do (kind: embedding, kind: image).`,
    }[kind],
  }),
  addressNotAllowed: (address: string): Refusal => ({
    name: 'address_not_allowed',
    status: 403,
    code: 'address_not_allowed',
    final: true,
    message: `This API key may not be used from the address ${address}. Its owner can change that in the console.`,
  }),
  modelNotAllowed: (model: string): Refusal => ({
    name: 'model_not_allowed',
    status: 403,
    code: 'model_not_allowed',
    param: 'model',
    final: true,
    message: `This API key may not call the model ${model}. Its owner can change that in the console.`,
  }),
  probesAlone: (): Refusal => ({
    name: 'probes_alone',
    status: 403,
    code: 'probes_alone',
    final: true,
    message: 'This API key measures uptime: it takes the probes of this version of the service, and nothing else.',
  }),
  // Agents react to these first words by compacting the conversation.
  promptTooLong: (maxPromptTokens: number, param: string): Refusal => ({
    name: 'prompt_too_long',
    status: 400,
    code: 'context_length_exceeded',
    param,
    final: true,
    message: `prompt is too long: by its bytes it can have more than ${maxPromptTokens} tokens, the longest prompt of this model that has a price here; send less context.`,
  }),
};

/** The request as it was sent: its headers, address and body. */
const shapeRefusals = {
  invalidRequest: (
    message: string,
    param: string | null = null,
    code: string | null = null,
    extra?: Record<string, unknown>,
  ): Refusal => ({
    name: 'invalid_request',
    status: 400,
    code,
    message,
    param,
    ...(extra === undefined ? {} : { extra }),
  }),
  versionHeaderMissing: (): Refusal => ({
    name: 'version_header_missing',
    status: 400,
    code: null,
    param: 'anthropic-version',
    message: 'anthropic-version: header is required',
  }),
  unsupportedMediaType: (): Refusal => ({
    name: 'unsupported_media_type',
    status: 415,
    code: null,
    message: 'Content-Type must be application/json (UTF-8).',
  }),
  contentEncoding: (): Refusal => ({
    name: 'content_encoding',
    status: 415,
    code: null,
    message: 'Content-Encoding is not supported on requests: send the body uncompressed.',
  }),
  requestTooLarge: (limitBytes: number): Refusal => ({
    name: 'request_too_large',
    status: 413,
    code: null,
    message: `The request is larger than ${Math.floor(limitBytes / 1_048_576)} MB.`,
  }),
  requestTimeout: (): Refusal => ({
    name: 'request_timeout',
    status: 408,
    code: null,
    message: 'The request did not arrive in time.',
  }),
  tooManyHeaders: (): Refusal => ({
    name: 'too_many_headers',
    status: 400,
    code: null,
    message: 'The request has too many headers.',
  }),
  notFound: (message = 'There is nothing at this address.'): Refusal => ({
    name: 'not_found',
    status: 404,
    code: null,
    message,
  }),
  notOffered: (): Refusal => ({
    name: 'not_found',
    status: 404,
    code: null,
    final: true,
    message:
      'This service does not offer this call. It has messages, chat completions, responses, embeddings, images, batches and their files, models, usage, key, credits and generation.',
  }),
  methodNotAllowed: (allow: string): Refusal => ({
    name: 'method_not_allowed',
    status: 405,
    code: null,
    message: `This address takes ${allow}.`,
  }),
  noWebSocket: (): Refusal => ({
    name: 'no_web_socket',
    status: 426,
    code: null,
    message: 'This address does not speak WebSocket; send the request over HTTP.',
  }),
  // Clients send the whole conversation again (https://developers.openai.com/api/docs/guides/websocket-mode).
  previousResponseNotFound: (): Refusal => ({
    name: 'previous_response_not_found',
    status: 400,
    code: 'previous_response_not_found',
    param: 'previous_response_id',
    message:
      'Previous response not found: only the latest response of this connection is kept here. Send the earlier items as `input`.',
  }),
  // The words that clients connect again for (openai/codex, `codex-api/src/endpoint/responses_websocket.rs`).
  socketTooOld: (): Refusal => ({
    name: 'socket_too_old',
    status: 400,
    code: 'websocket_connection_limit_reached',
    message:
      'Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.',
  }),
  notSupported: (message: string): Refusal => ({
    name: 'not_supported',
    status: 501,
    code: 'not_supported',
    final: true,
    message,
  }),
};

/** Limits on the requests of a key or an account. */
const limitRefusals = {
  spendLimitReached(figures: SpendLimitFigures): Refusal {
    const name = figures.period === 'burn' ? 'burn_limit' : (`${figures.of}_limit_reached` as const);
    return {
      name,
      status: 402,
      code: name,
      final: true,
      extra: {
        limit_period: figures.period,
        limit_usd: figures.limitUsd,
        spent_usd: figures.spentUsd,
        held_usd: figures.heldUsd,
        left_usd: figures.leftUsd,
        returns_at: figures.returnsAt,
        ...(figures.burnMinutes === undefined ? {} : { window_minutes: figures.burnMinutes }),
      },
      message: sentenceOfLimit(figures),
    };
  },
  tooManyRequests: (what: string): Refusal => ({
    name: 'too_many_requests',
    status: 429,
    code: 'rate_limit_exceeded',
    retryAfterS: 1,
    message: `Too many requests at once for this ${what}; wait for one to end.`,
  }),
  tooManyReports: (): Refusal => ({
    name: 'too_many_requests',
    status: 429,
    code: 'rate_limit_exceeded',
    retryAfterS: 1,
    message: 'Too many reports of usage are being added up at once; wait for one to end.',
  }),
  readsLimited: (of: 'key' | 'account', resetS: number): Refusal => ({
    name: 'rate_limited',
    status: 429,
    code: 'rate_limit_exceeded',
    retryAfterS: resetS,
    message: `This ${of === 'key' ? 'API key' : 'account'} reads usage, keys and models too often; try again in ${resetS} seconds. Model requests are not concerned.`,
  }),
  answersUnread: (): Refusal => ({
    name: 'answers_unread',
    status: 429,
    code: 'answers_unread',
    retryAfterS: 1,
    message:
      'Answers of this account are waiting to be read by its clients; read them to the end or close their connections.',
  }),
  rateLimited: ({ of, limit, resetS }: { of: 'key' | 'account'; limit: number; resetS: number }): Refusal => ({
    name: 'rate_limited',
    status: 429,
    code: 'rate_limit_exceeded',
    retryAfterS: resetS,
    rateLimit: { limit, resetS },
    extra: { limit_of: of, limit_unit: 'requests_per_minute', limit, left: 0 },
    message: `This ${of === 'key' ? 'API key' : 'account'} has reached its limit of ${limit} requests per minute; try again in ${resetS} seconds.`,
  }),
  tokensLimited({ of, limit, wanted, left, resetS }: TokensLimited): Refusal {
    const subject = `This ${of === 'key' ? 'API key' : 'account'}`;
    const need = `this request may use ${wanted}`;
    return {
      name: 'rate_limited',
      status: 429,
      code: 'rate_limit_exceeded',
      extra: { limit_of: of, limit_unit: 'tokens_per_minute', limit, left, wanted },
      // A request that never fits is not worth repeating.
      ...(resetS === null
        ? {
            final: true,
            message: `${subject} may use ${limit} tokens per minute, and ${need} by itself: send less context or a lower limit of the answer.`,
          }
        : {
            retryAfterS: resetS,
            rateLimit: { of: 'tokens', limit, left, resetS },
            message: `${subject} has ${left} of its ${limit} tokens per minute left, and ${need}; try again in ${resetS} seconds.`,
          }),
    };
  },
  tooManyAtOnce: ({ of, limit }: { of: 'key' | 'account'; limit: number }): Refusal => ({
    name: 'too_many_requests',
    status: 429,
    code: 'rate_limit_exceeded',
    retryAfterS: 1,
    extra: { limit_of: of, limit_unit: 'requests_at_once', limit, left: 0 },
    message: `This ${of === 'key' ? 'API key' : 'account'} already runs ${limit} requests, its maximum at once; wait for one to end.`,
  }),
};

/** The prepaid budget. */
const budgetRefusals = (at: Pick<Pointers, 'topUpUrl'>) => ({
  budgetExhausted: (figures: BudgetFigures): Refusal => ({
    name: 'budget_exhausted',
    status: 402,
    code: 'insufficient_quota',
    final: true,
    extra: budgetExtra(figures),
    message: `The prepaid budget is used up or has expired; top up at ${at.topUpUrl} and the same API key works again.`,
  }),
  budgetShort: (figures: BudgetFigures): Refusal => ({
    name: 'budget_short',
    status: 402,
    code: 'insufficient_quota',
    final: true,
    extra: budgetExtra(figures),
    message:
      `The remaining budget of ${figures.balanceUsd} USD does not cover this request, which needs at least ${figures.requiredUsd ?? 'more'} USD; ` +
      `top up at ${at.topUpUrl} or send less context.${sentenceOfBound(figures)}`,
  }),
  budgetReserved: (figures: BudgetFigures): Refusal => ({
    name: 'budget_reserved',
    status: 429,
    code: 'budget_reserved',
    retryAfterS: 1,
    extra: budgetExtra(figures),
    message: `The remaining budget is reserved by requests of this account that are still running (${figures.heldUsd} USD); try again when they end.${sentenceOfBound(figures)}`,
  }),
  // A retry within seconds cannot succeed: a batch may take a day.
  budgetHeldByBatches: (figures: BudgetFigures, held: HeldByBatches): Refusal => ({
    name: 'budget_held_by_batches',
    status: 429,
    code: 'budget_held_by_batches',
    final: true,
    retryAfterS: held.untilS,
    extra: {
      ...budgetExtra(figures),
      held_by_batches_usd: held.heldUsd,
      batches: held.names,
      batches_end_at: held.endAt,
    },
    message:
      `${held.heldUsd} USD of the budget are held by ${held.count === 1 ? `the batch ${held.names[0]}` : `${held.count} batches of this account (${held.names.join(', ')}${held.count > held.names.length ? ', …' : ''})`}, ` +
      `which can run until ${held.endAt}; ${figures.balanceUsd} USD are free, and this request needs at least ${figures.requiredUsd ?? 'more'} USD. ` +
      `Cancel a batch or wait for its end, or top up at ${at.topUpUrl}: the same API key works again then.${sentenceOfBound(figures)}`,
  }),
  budgetUsedUp: (): Refusal => ({
    name: 'budget_exhausted',
    status: 402,
    code: 'insufficient_quota',
    final: true,
    message: `The prepaid budget was used up while the model was still reasoning; top up at ${at.topUpUrl} and the same API key works again.`,
  }),
});

/** The state of this service. */
const serviceRefusals = (seeStatus: () => string) => ({
  unavailable: (): Refusal => ({
    name: 'unavailable',
    status: 503,
    code: 'server_error',
    retryAfterS: 2,
    message: `The service cannot check budgets at the moment, so it takes no requests. ${seeStatus()}`,
  }),
  budgetUnknown: (): Refusal => ({
    name: 'unavailable',
    status: 503,
    code: 'server_error',
    message: `The service cannot check budgets at the moment, so this answer ends here; whether there is more budget is not known. ${seeStatus()}`,
  }),
  overloaded: (): Refusal => ({
    name: 'overloaded',
    status: 503,
    code: 'server_error',
    retryAfterS: 2,
    message: `This server cannot keep up at the moment; try again. ${seeStatus()}`,
  }),
  draining: (): Refusal => ({
    name: 'draining',
    status: 503,
    code: 'server_error',
    retryAfterS: 1,
    message: `This server is restarting; try again. ${seeStatus()}`,
  }),
  internal: (): Refusal => ({
    name: 'internal',
    status: 500,
    code: 'server_error',
    message: `Something went wrong on our side. ${seeStatus()}`,
  }),
});

/** The model's vendor. */
const upstreamRefusals = (seeStatus: () => string) => ({
  upstreamUnreachable: (): Refusal => ({
    name: 'upstream_unreachable',
    status: 502,
    code: 'upstream_error',
    message: `The model's upstream could not be reached. ${seeStatus()}`,
  }),
  upstreamError: (): Refusal => ({
    name: 'upstream_error',
    status: 502,
    code: 'upstream_error',
    message: `The model's upstream failed. ${seeStatus()}`,
  }),
  upstreamRefused: (status: number): Refusal => ({
    name: 'upstream_refused',
    status,
    code: null,
    message: `The model's upstream refused this request and gave no reason that could be read.`,
  }),
  contentRefused: (): Refusal => ({
    name: 'content_refused',
    status: 400,
    code: 'content_policy_violation',
    final: true,
    message: "The moderation of the model's vendor refused the content of this request.",
  }),
  upstreamOverloaded: (retryAfterS?: number): Refusal => ({
    name: 'upstream_overloaded',
    status: 503,
    messagesStatus: 529,
    code: 'upstream_overloaded',
    message: `The model's upstream is overloaded${retryAfterS === undefined ? '' : ` and asks to wait for ${retryAfterS} seconds`}. ${seeStatus()}`,
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  }),
  upstreamUnavailable: (): Refusal => ({
    name: 'upstream_unavailable',
    status: 503,
    code: 'upstream_unavailable',
    retryAfterS: 30,
    message: `The model is not available at the moment. ${seeStatus()}`,
  }),
  upstreamTimeout: (): Refusal => ({
    name: 'upstream_timeout',
    status: 504,
    code: 'upstream_timeout',
    message: `The model's upstream did not answer in time. ${seeStatus()}`,
  }),
  upstreamCut: (): Refusal => ({
    name: 'upstream_cut',
    status: 502,
    code: 'upstream_error',
    message: `The model's upstream ended the answer before it was complete. ${seeStatus()}`,
  }),
  upstreamStalled: (): Refusal => ({
    name: 'upstream_stalled',
    status: 504,
    code: 'upstream_timeout',
    message: `The model's upstream stopped sending in the middle of the answer. ${seeStatus()}`,
  }),
  /** Embeddings, which are charged all the same: sending the request again would be charged again. */
  vectorsTooLarge: (): Refusal => ({
    name: 'answer_too_large',
    status: 502,
    code: 'upstream_error',
    final: true,
    message:
      'The vectors are larger than an answer may be (64 MB). The vendor has computed them, so that their input is charged. Send fewer inputs at once, or ask for `encoding_format: base64`.',
  }),
  /** Charged all the same: sending the request again would be charged again. */
  answerTooLarge: (): Refusal => ({
    name: 'answer_too_large',
    status: 502,
    code: 'upstream_error',
    final: true,
    message:
      'The answer is larger than an unstreamed answer may be. The model has generated it, so that it is charged as far as it arrived. Ask for a stream, for fewer answers at once, or for no log probabilities.',
  }),
});

/** Builds the refusals, once per process. Their sentences read the public addresses at each use: operators change them. */
export function createRefusals(at: Pointers) {
  const seeStatus = () => `See ${at.statusUrl} for the current state of every model.`;
  const makers = {
    ...keyRefusals,
    ...shapeRefusals,
    ...limitRefusals,
    ...budgetRefusals(at),
    ...serviceRefusals(seeStatus),
    ...upstreamRefusals(seeStatus),
  };
  const paged = withPages(makers, at);
  return {
    ...paged,
    /** The status page, for sentences of `wire/`. */
    get statusUrl() {
      return at.statusUrl;
    },
  };
}

/** Each refusal with the address of its page. */
function withPages<Makers extends object>(makers: Makers, at: Pick<Pointers, 'errorsUrl'>): Makers {
  const paged = Object.entries(makers).map(([key, make]: [string, (...figures: unknown[]) => Refusal]) => [
    key,
    (...figures: unknown[]): Refusal => {
      const refusal = make(...figures);
      return { ...refusal, docUrl: `${at.errorsUrl}/${refusal.name}` };
    },
  ]);
  return Object.fromEntries(paged) as Makers;
}

export type Refusals = ReturnType<typeof createRefusals>;
