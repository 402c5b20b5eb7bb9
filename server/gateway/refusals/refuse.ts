import type { Protocol } from '../../core/protocol.ts';
import { errorEnvelope, errorEvent } from '../../wire/envelope.ts';
import type { WireError } from '../../wire/protocol.ts';
import type { Client } from '../entrance/client.ts';
import { statusOf } from '../upstream/failure.ts';
import { withNumericCode } from './numeric-codes.ts';
import type { Refusal } from './refusals.ts';

/** Renders and sends refusals in the envelope of the request's protocol. */

export interface Refusable {
  protocol: Protocol;
  requestId: string;
  client: Client;
  numericCodes: boolean;
}

/** A refusal as an error for Fastify's error handling. */
export class RefusalError extends Error {
  override name = 'RefusalError';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.name);
    this.refusal = refusal;
  }
}

export interface RenderedRefusal {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * `openai` gives up at once when it is told to wait for a minute or longer (openai-node, `src/client.ts`, `retryRequest`);
 * one that tries again too early is refused once more, and the body has the whole time.
 */
const maxRetryAfterS = 59;

export function renderRefusal(call: Omit<Refusable, 'client'>, refusal: Refusal): RenderedRefusal {
  const { protocol, requestId, numericCodes } = call;
  const status = statusOf(refusal, protocol);
  const { details, ...more } = refusal.extra ?? {};
  const { retryAfterS, docUrl } = refusal;
  const extra = {
    ...more,
    ...(retryAfterS === undefined ? {} : { retry_after_s: retryAfterS }),
    ...(docUrl === undefined ? {} : { doc_url: docUrl }),
  };
  // The outer members are those of the messages protocol. Other clients ignore them, and some paths are shared by the
  // clients of all protocols.
  const body = JSON.stringify({
    type: 'error',
    ...errorEnvelope(protocol, {
      status,
      message: refusal.message,
      code: refusal.code,
      param: refusal.param ?? null,
      ...(details === undefined ? {} : { details: details as Record<string, unknown> }),
      extra,
    }),
    request_id: requestId,
  });
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(refusal.final === true ? { 'x-should-retry': 'false' } : {}),
      ...(retryAfterS === undefined ? {} : { 'retry-after': String(Math.min(maxRetryAfterS, retryAfterS)) }),
      ...(refusal.rateLimit === undefined ? {} : rateLimitHeaders(protocol, refusal.rateLimit)),
    },
    body: numericCodes ? withNumericCode(status, body) : body,
  };
}

/**
 * The rate-limit headers of the protocol's vendor: platform.claude.com/docs/en/api/rate-limits (a moment in RFC 3339),
 * platform.openai.com/docs/guides/rate-limits (a duration such as `12s`).
 */
function rateLimitHeaders(
  protocol: Protocol,
  { of = 'requests', limit, left = 0, resetS }: NonNullable<Refusal['rateLimit']>,
): Record<string, string> {
  if (protocol === 'messages') {
    return {
      [`anthropic-ratelimit-${of}-limit`]: String(limit),
      [`anthropic-ratelimit-${of}-remaining`]: String(left),
      [`anthropic-ratelimit-${of}-reset`]: new Date(Date.now() + resetS * 1_000).toISOString(),
    };
  }
  return {
    [`x-ratelimit-limit-${of}`]: String(limit),
    [`x-ratelimit-remaining-${of}`]: String(left),
    [`x-ratelimit-reset-${of}`]: `${resetS}s`,
  };
}

/** Answers with a refusal. Nothing may have been sent before. */
export function sendRefusal(call: Refusable, refusal: Refusal): void {
  const { status, headers, body } = renderRefusal(call, refusal);
  call.client.answer(status, headers, body);
}

/** Sends a refusal as a stream's error event, after the status line was sent; the stream ends. */
export function sendInStream(call: Refusable, passthrough: WireError | null, refusal: Refusal): void {
  const status = passthrough?.status ?? statusOf(refusal, call.protocol);
  // Clients act on the vendor's sentence; its envelope is an error body, so only the sentence fits an event.
  const worded = passthrough === null ? null : errorOf(passthrough.body);
  const { message, code } = worded ?? refusal;
  call.client.keepAlive(
    Buffer.from(
      errorEvent(call.protocol, {
        status,
        message,
        code,
        param: passthrough === null ? (refusal.param ?? null) : null,
        requestId: call.requestId,
        inChunk: call.numericCodes,
      }),
    ),
  );
  call.client.end();
}

function errorOf(body: Uint8Array): { message: string; code: string | null } | null {
  try {
    const { error } = JSON.parse(Buffer.from(body).toString('utf8')) as { error?: Record<string, unknown> };
    const [message, code] = [error?.['message'], error?.['code']];
    return typeof message === 'string' ? { message, code: typeof code === 'string' ? code : null } : null;
  } catch {
    return null;
  }
}
