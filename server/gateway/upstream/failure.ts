import type { UpstreamVerdict } from '../../catalog/upstream-health.ts';
import type { ProfileId } from '../../core/profile.ts';
import type { Protocol } from '../../core/protocol.ts';
import { errorEnvelope } from '../../wire/envelope.ts';
import { saysOverflow } from '../../wire/overflow.ts';
import type { WireError, WireExchange } from '../../wire/protocol.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';
import type { AttemptEnd } from './attempt.ts';
import { type ReportedError, readVendorError, troubleOf, type VendorTrouble } from './vendor-errors.ts';

/**
 * Judges failed tries: the refusal for the customer and the verdict for the router. An upstream's trouble with the
 * operator's key, funds, limits or model names is never shown as the customer's: a 401, 402 or 429 would make people
 * look for their own mistake.
 */
export interface UpstreamFailure {
  /** For the ledger. */
  outcome: 'upstream_error' | 'timeout' | 'shutdown';
  /** Another route of the same model may be tried: nothing was relayed and the request is not at fault. */
  elsewhere: boolean;
  /** Reported to the router. */
  verdict: UpstreamVerdict;
  /** Trouble that the operator has to fix. */
  trouble?: Exclude<VendorTrouble, 'content' | 'request'>;
  /** Seconds the upstream asked to wait, at most 60. */
  retryAfterS?: number;
  /** The upstream's error about the request, passed to the client unchanged. */
  passthrough?: WireError;
  refusal: Refusal;
}

const maxRetryAfterS = 60;
/** Nobody waits for longer than a day. */
const maxToldWaitS = 86_400;

/** Ends of tries that relayed nothing. */
export type FailedEnd = Extract<AttemptEnd, { kind: 'status' | 'error_event' | 'fault' | 'shutdown' }>;

/** Parses seconds or an HTTP date; undefined when it is neither, or in the past. */
function retryAfter(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined || text.trim() === '') return undefined;
  const asked = Number(text);
  const seconds = Number.isNaN(asked) ? (Date.parse(text) - Date.now()) / 1_000 : asked;
  return seconds > 0 ? Math.min(maxToldWaitS, Math.ceil(seconds)) : undefined;
}

/** Statuses that blame the request: every route would answer the same, and clients act on the vendor's wording. */
const requestFaults: ReadonlySet<number> = new Set([400, 413, 422]);

function requestFault(passthrough: WireError, refusals: Refusals): UpstreamFailure {
  return {
    outcome: 'upstream_error',
    elsewhere: false,
    verdict: 'fine',
    passthrough,
    refusal: refusals.upstreamError(),
  };
}

function failed(refusal: Refusal): UpstreamFailure {
  return { outcome: 'upstream_error', elsewhere: true, verdict: 'failed', refusal };
}

function judgeStatus(status: number, retryAfterS: number | undefined, refusals: Refusals): UpstreamFailure {
  switch (status) {
    case 401:
    case 403:
      return judgeTrouble('key', refusals);
    case 402:
      return judgeTrouble('funds', refusals);
    case 429:
      return {
        ...failed(refusals.upstreamOverloaded(retryAfterS)),
        verdict: 'overloaded',
        ...(retryAfterS === undefined ? {} : { retryAfterS: Math.min(maxRetryAfterS, retryAfterS) }),
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

/** A vendor's trouble, whatever its status is. */
function judgeTrouble(trouble: Exclude<VendorTrouble, 'request'>, refusals: Refusals): UpstreamFailure {
  switch (trouble) {
    case 'key':
      return { ...failed(refusals.upstreamError()), verdict: 'unauthorized', trouble };
    case 'funds':
      return { ...failed(refusals.upstreamUnavailable()), verdict: 'unauthorized', trouble };
    case 'model':
      return { ...failed(refusals.upstreamError()), verdict: 'misnamed', trouble };
    case 'content':
      return { outcome: 'upstream_error', elsewhere: false, verdict: 'fine', refusal: refusals.contentRefused() };
  }
}

export interface JudgeContext {
  exchange: WireExchange;
  refusals: Refusals;
  requestId: string;
  /** The name of the model at the upstream. */
  upstreamModel: string;
  /** The upstream's vendor, where it is known. */
  profile: ProfileId | null;
}

interface ErrorAnswer {
  status: number;
  error: ReportedError | null;
  /** The error for the client in the vendor's wording; null when it cannot be parsed. */
  passthrough(): WireError | null;
  retryAfterS: number | undefined;
}

/**
 * Engines say with a 500, or in a stream without any status, that a conversation does not fit
 * (https://github.com/ggml-org/llama.cpp/pull/15780): no other route would take it, and the agent has to compact it.
 */
function isOverflow({ status, error }: ErrorAnswer): boolean {
  return status >= 500 && error !== null && saysOverflow(error.message, error.codes);
}

function judgeAnswer(answer: ErrorAnswer, { refusals, upstreamModel, profile }: JudgeContext): UpstreamFailure {
  const trouble = troubleOf(answer.status, answer.error, upstreamModel, profile);
  if (trouble !== null && trouble !== 'request') return judgeTrouble(trouble, refusals);
  const isRequestFault = trouble === 'request' || requestFaults.has(answer.status) || isOverflow(answer);
  if (!isRequestFault) return judgeStatus(answer.status, answer.retryAfterS, refusals);
  const relayed = answer.passthrough();
  const passthrough = relayed !== null && trouble === 'request' ? { ...relayed, status: 400 } : relayed;
  if (passthrough !== null) return requestFault(passthrough, refusals);
  // An intermediary refused (a proxy's page about a large body, for example): another route may accept the request, and
  // if none does, the client should not repeat it unchanged.
  return {
    outcome: 'upstream_error',
    elsewhere: true,
    verdict: 'fine',
    refusal: refusals.upstreamRefused(answer.status),
  };
}

export function judge(end: FailedEnd, context: JudgeContext): UpstreamFailure {
  const { exchange, refusals, requestId } = context;
  switch (end.kind) {
    case 'status': {
      const { status, body, headers } = end;
      return judgeAnswer(
        {
          status,
          error: readVendorError(body),
          passthrough: () => exchange.error(status, body),
          retryAfterS: retryAfter(headers['retry-after']),
        },
        context,
      );
    }
    case 'error_event': {
      const { status, type, code, message } = end.error;
      const passthrough = (): WireError | null => {
        const body = JSON.stringify(errorEnvelope(exchange.upstream, { status, type, code, message, requestId }));
        return exchange.error(status, Buffer.from(body));
      };
      const codes = code == null ? [type] : [type, code];
      return judgeAnswer({ status, error: { message, codes }, passthrough, retryAfterS: undefined }, context);
    }
    case 'shutdown':
      return { outcome: 'shutdown', elsewhere: false, verdict: 'fine', refusal: refusals.draining() };
    case 'fault':
  }
  if (end.fault === 'headers_timeout' || end.fault === 'idle_timeout') {
    // No further try: the client has already waited the whole timeout, and the first upstream may still be working.
    return { outcome: 'timeout', elsewhere: false, verdict: 'failed', refusal: refusals.upstreamTimeout() };
  }
  if (end.fault === 'connect') return { ...failed(refusals.upstreamUnreachable()), verdict: 'unreachable' };
  // After a 2xx status the vendor may have served the request and charge for it: a second try would be paid twice.
  return { ...failed(refusals.upstreamError()), elsewhere: end.fault === 'dropped' };
}

/** The status that a refusal has in a protocol. */
export function statusOf(refusal: Refusal, protocol: Protocol): number {
  return protocol === 'messages' ? (refusal.messagesStatus ?? refusal.status) : refusal.status;
}
