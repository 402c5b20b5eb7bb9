/** The words of the vendor of chat completions and responses for errors and tiers. */

import type { ParsedObject } from '../json.ts';
import type { VendorError } from '../prompt.ts';
import type { Envelope } from './dialect.ts';

/** The vendor's id for the operator's organisation. */
export const OPENAI_ACCOUNT_ID = 'org-51mu1at0r0acc0unt';

interface Wording {
  type: string;
  code: string | null;
  message: string;
}

const WORDINGS: Record<number, Wording> = {
  400: { type: 'invalid_request_error', code: null, message: "Invalid value for 'messages[0].content'." },
  402: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Insufficient Balance' },
  403: {
    type: 'invalid_request_error',
    code: 'unsupported_country_region_territory',
    message: 'Country, region, or territory not supported',
  },
  405: { type: 'invalid_request_error', code: 'method_not_supported', message: 'Not allowed to use this HTTP method.' },
  409: { type: 'invalid_request_error', code: null, message: 'The request conflicts with the current state.' },
  413: { type: 'invalid_request_error', code: null, message: 'Request too large.' },
  422: { type: 'invalid_request_error', code: null, message: 'Unprocessable request.' },
  500: {
    type: 'server_error',
    code: null,
    message: 'The server had an error while processing your request. Sorry about that!',
  },
  503: {
    type: 'service_unavailable_error',
    code: 'server_is_overloaded',
    message: 'The engine is currently overloaded, please try again later',
  },
};

/** Shows the ends of a credential, as the vendor does when it refuses one. */
function masked(credential: string): string {
  return credential.length < 12 ? '***' : `${credential.slice(0, 7)}***${credential.slice(-4)}`;
}

/** The sentences of the vendor of chat completions and responses, status by status. */
export function openAiWording(status: number, about: { model: string; credential: string }): VendorError {
  const fill = (wording: Wording): VendorError => ({ status, param: null, ...wording });
  if (status === 401) {
    const message = `Incorrect API key provided: ${masked(about.credential)}.`;
    return fill({ type: 'invalid_request_error', code: 'invalid_api_key', message });
  }
  if (status === 404) {
    const message = `The model \`${about.model}\` does not exist or you do not have access to it.`;
    return fill({ type: 'invalid_request_error', code: 'model_not_found', message });
  }
  if (status === 429) {
    const message = `Rate limit reached for ${about.model} in organization ${OPENAI_ACCOUNT_ID} on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 120ms.`;
    return fill({ type: 'requests', code: 'rate_limit_exceeded', message });
  }
  return fill(
    WORDINGS[status] ?? WORDINGS[status >= 500 ? 500 : 400] ?? { type: 'server_error', code: null, message: '' },
  );
}

export function openAiErrorBody(failure: VendorError): unknown {
  const usual = failure.status >= 500 ? 'server_error' : 'invalid_request_error';
  const { message, param, code } = failure;
  return { error: { message, type: failure.type ?? usual, param, code } };
}

export function openAiHeaders(about: { requestId: string; status: number }): [string, string][] {
  const left = about.status === 429 ? '0' : '499';
  return [
    ['x-request-id', about.requestId],
    ['openai-organization', OPENAI_ACCOUNT_ID],
    ['openai-processing-ms', '42'],
    ['openai-version', '2020-10-01'],
    ['x-ratelimit-limit-requests', '500'],
    ['x-ratelimit-remaining-requests', left],
    ['x-ratelimit-reset-requests', '120ms'],
    ['x-ratelimit-limit-tokens', '200000'],
    ['x-ratelimit-remaining-tokens', '199000'],
    ['x-ratelimit-reset-tokens', '6m0s'],
  ];
}

/**
 * The tier that served an answer: `priority` for both of its names.
 * https://developers.openai.com/api/docs/guides/fast-mode
 */
export function shownTier({ body, tier }: Envelope): ParsedObject {
  if (tier === 'none') return {};
  const asked = body['service_tier'];
  const named = asked === 'fast' ? 'priority' : typeof asked === 'string' && asked !== 'auto' ? asked : 'default';
  return { service_tier: tier ?? named };
}
