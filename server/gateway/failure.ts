import type { Protocol } from '../core/protocol.ts';
import { errorEnvelope } from '../wire/envelope.ts';
import type { WireError, WireExchange } from '../wire/protocol.ts';
import type { AttemptEnd } from './attempt.ts';
import type { Refusal, Refusals } from './refusals.ts';

/**
 * What a failed try means to the customer. An upstream's trouble with *our* key, *our* funds or *our* limits is never
 * shown as the customer's own: a 401, 402 or 429 would send people looking for a mistake that is not theirs.
 */
export interface Failure {
  /** For the ledger. */
  outcome: 'upstream_error' | 'timeout' | 'shutdown';
  /** Another route of the same model may be tried: nothing has been relayed and the fault is not in the request. */
  elsewhere: boolean;
  /** What the choice of routes learns from it. */
  verdict: 'failed' | 'overloaded' | 'unauthorized' | 'fine';
  /** Seconds the upstream asked to wait, at most 60. */
  retryAfterS?: number;
  /** The upstream's own words about the request, for the client as they are. */
  passthrough?: WireError;
  refusal: Refusal;
}

const longestWaitS = 60;

/** Failures are ends that relayed nothing; the others are not for this function. */
export type FailedEnd = Extract<AttemptEnd, { kind: 'status' | 'error_event' | 'fault' | 'shutdown' }>;

/** Seconds or a date, as HTTP allows; undefined when it is neither or already over. */
function retryAfter(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined || text.trim() === '') return undefined;
  const asked = Number(text);
  const seconds = Number.isNaN(asked) ? (Date.parse(text) - Date.now()) / 1_000 : asked;
  return seconds > 0 ? Math.min(longestWaitS, Math.ceil(seconds)) : undefined;
}

/** Answers that say the fault is in the request: every route would say the same, and clients act on the vendor's wording. */
const requestFaults: ReadonlySet<number> = new Set([400, 413, 422]);

function requestFault(passthrough: WireError, refusals: Refusals): Failure {
  return {
    outcome: 'upstream_error',
    elsewhere: false,
    verdict: 'fine',
    passthrough,
    refusal: refusals.upstreamError(),
  };
}

function failed(refusal: Refusal): Failure {
  return { outcome: 'upstream_error', elsewhere: true, verdict: 'failed', refusal };
}

function judgeStatus(status: number, retryAfterS: number | undefined, refusals: Refusals): Failure {
  switch (status) {
    case 401:
    case 403:
      return { ...failed(refusals.upstreamError()), verdict: 'unauthorized' };
    case 402:
      return { ...failed(refusals.upstreamUnavailable()), verdict: 'unauthorized' };
    case 429:
      return {
        ...failed(refusals.upstreamOverloaded(retryAfterS)),
        verdict: 'overloaded',
        ...(retryAfterS === undefined ? {} : { retryAfterS }),
      };
    case 503:
    case 529:
      return failed(refusals.upstreamOverloaded(retryAfterS));
    case 504:
      return { ...failed(refusals.upstreamTimeout()), outcome: 'timeout' };
    default:
      return failed(refusals.upstreamError());
  }
}

export function judge(end: FailedEnd, exchange: WireExchange, refusals: Refusals, requestId: string): Failure {
  switch (end.kind) {
    case 'status': {
      if (requestFaults.has(end.status)) {
        const passthrough = exchange.error(end.status, end.body);
        if (passthrough !== null) return requestFault(passthrough, refusals);
        // Something before the vendor refused in words of its own (a proxy's page about a large body, say): another
        // place may take it, and if none does, the client should not send it again unchanged.
        return {
          outcome: 'upstream_error',
          elsewhere: true,
          verdict: 'fine',
          refusal: refusals.upstreamRefused(end.status),
        };
      }
      return judgeStatus(end.status, retryAfter(end.headers['retry-after']), refusals);
    }
    case 'error_event': {
      const { status, type, message } = end.error;
      if (requestFaults.has(status)) {
        const body = JSON.stringify(errorEnvelope(exchange.upstream, { status, type, message, requestId }));
        const passthrough = exchange.error(status, Buffer.from(body));
        if (passthrough !== null) return requestFault(passthrough, refusals);
      }
      return judgeStatus(status, undefined, refusals);
    }
    case 'shutdown':
      return { outcome: 'shutdown', elsewhere: false, verdict: 'fine', refusal: refusals.draining() };
    case 'fault':
  }
  if (end.fault === 'headers_timeout' || end.fault === 'idle_timeout') {
    // Not tried elsewhere: the customer has waited the whole limit already, and the first upstream may still work.
    return { outcome: 'timeout', elsewhere: false, verdict: 'failed', refusal: refusals.upstreamTimeout() };
  }
  if (end.fault === 'connect') return failed(refusals.upstreamUnreachable());
  // Once a 2xx status has come, the vendor may have served the request and will charge for it: a second try would be
  // paid twice.
  return { ...failed(refusals.upstreamError()), elsewhere: end.fault === 'dropped' };
}

/** The status that a refusal has in a protocol. */
export function statusOf(refusal: Refusal, protocol: Protocol): number {
  return protocol === 'messages' ? (refusal.messagesStatus ?? refusal.status) : refusal.status;
}
