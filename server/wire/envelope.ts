import { Buffer } from 'node:buffer';
import type { Protocol } from '../core/protocol.ts';
import { splice } from './body.ts';
import { asBuffer, countValues, type JsonLimits, type JsonNode, leaf, shape, textOf, tryScanJson } from './json.ts';
import { overflowCode, overflowSentence, saysOverflow } from './overflow.ts';
import type { Edit, WireContext, WireError } from './protocol.ts';
import { sseEvent } from './streams/sse.ts';

/**
 * Errors in each protocol's own words: the body of an error answer, the error event of a stream, and what becomes
 * of an error that the upstream worded.
 */

/** One error, before a protocol words it. Absent parts take the protocol's defaults for the status. */
export interface ErrorFacts {
  status: number;
  message: string;
  /** Error type in the protocol's words. */
  type?: string | undefined;
  /** Machine-readable code. Messages has no place of its own for it: it stands beside the vendor's words, if there is one. */
  code?: string | null | undefined;
  /** The field at fault; messages names it in its sentence only. */
  param?: string | null | undefined;
  details?: Record<string, unknown> | undefined;
  /** Further members of the error object, e.g. the amounts of a refusal for lack of budget. */
  extra?: Record<string, unknown> | undefined;
  requestId?: string | undefined;
  /** On chat completions the event is a chunk that ends the answer, with the status as `code`. */
  inChunk?: boolean | undefined;
}

const messagesTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  501: 'not_supported',
  504: 'timeout_error',
  529: 'overloaded_error',
};

interface OpenAiWords {
  type: string;
  code: string | null;
}

const openAiWords: Record<number, OpenAiWords> = {
  400: { type: 'invalid_request_error', code: null },
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  402: { type: 'insufficient_quota', code: 'insufficient_quota' },
  403: { type: 'permission_error', code: null },
  404: { type: 'invalid_request_error', code: null },
  413: { type: 'invalid_request_error', code: 'request_too_large' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
};

/** The error type that a protocol has for a status. */
export function errorType(protocol: Protocol, status: number): string {
  if (protocol === 'messages') return messagesTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return openAiWords[status]?.type ?? (status < 500 ? 'invalid_request_error' : 'server_error');
}

/** The code of a failed response: clients look for that of an overflow (openai/codex, `codex-api/src/sse/responses.rs`). */
export function failedCode(status: number, code: string | null | undefined): string {
  return code === overflowCode ? overflowCode : errorType('responses', status);
}

/** The body of an error answer, ready for `JSON.stringify`. */
export function errorEnvelope(protocol: Protocol, facts: ErrorFacts): Record<string, unknown> {
  const type = facts.type ?? errorType(protocol, facts.status);
  const details = facts.details === undefined ? {} : { details: facts.details };
  if (protocol === 'messages') {
    const code = facts.code == null ? {} : { code: facts.code };
    return {
      type: 'error',
      error: { type, message: facts.message, ...code, ...details, ...facts.extra },
      ...(facts.requestId === undefined ? {} : { request_id: facts.requestId }),
    };
  }
  return {
    error: {
      message: facts.message,
      type,
      param: facts.param ?? null,
      code: facts.code ?? openAiWords[facts.status]?.code ?? null,
      ...details,
      ...facts.extra,
    },
  };
}

/**
 * The error event of a stream. On responses a failed response would need the response itself, which only the stream
 * knows; this is the bare form, for a stream that has not begun.
 */
export function errorEvent(protocol: Protocol, facts: ErrorFacts): string {
  if (protocol === 'messages') return sseEvent('error', JSON.stringify(errorEnvelope(protocol, facts)));
  // The other protocols have no place for it; their clients pass over what they do not know.
  const request = facts.requestId === undefined ? {} : { request_id: facts.requestId };
  if (protocol === 'chat-completions') {
    if (facts.inChunk === true) return sseEvent(null, JSON.stringify({ ...errorChunk(facts), ...request }));
    return sseEvent(null, JSON.stringify({ ...errorEnvelope(protocol, facts), ...request }));
  }
  const event = {
    type: 'error',
    code: facts.code ?? facts.type ?? errorType(protocol, facts.status),
    message: facts.message,
    param: facts.param ?? null,
    sequence_number: 0,
    ...request,
  };
  return sseEvent('error', JSON.stringify(event));
}

/** https://openrouter.ai/docs/api/reference/streaming: an error in mid-stream is a separate chunk. */
function errorChunk({ status, message, requestId = '' }: ErrorFacts): Record<string, unknown> {
  const choice = { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: 'error' };
  const head = { id: `chatcmpl-${requestId}`, object: 'chat.completion.chunk', created: 0, model: '' };
  return { ...head, choices: [choice], error: { code: status, message } };
}

/** The status that stands behind an error type or code of any protocol, as far as one does; 500 otherwise. */
export function statusOfError(type: string | null, code: unknown): number {
  const numeric = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code;
  if (typeof numeric === 'number' && numeric >= 400 && numeric <= 599) return numeric;
  for (const word of [code, type]) {
    const status = typeof word === 'string' ? statusOfWord.get(word) : undefined;
    if (status !== undefined) return status;
  }
  return 500;
}

const statusOfWord = new Map<string, number>([
  ...Object.entries(messagesTypes).map(([status, type]): [string, number] => [type, Number(status)]),
  ['invalid_prompt', 400],
  ['context_length_exceeded', 400],
  ['invalid_api_key', 401],
  ['insufficient_quota', 402],
  ['rate_limit_exceeded', 429],
  ['requests', 429],
  ['tokens', 429],
  ['server_error', 500],
  ['server_is_overloaded', 529],
  ['slow_down', 529],
]);

/**
 * What a customer may read in place of an upstream error about the operator's own account: as it stands it would
 * read as if the customer's key, budget or limit were meant. Null when the error is the customer's to see.
 */
export function disguised(
  protocol: Protocol,
  status: number,
  { requestId, statusUrl }: Pick<WireContext, 'requestId' | 'statusUrl'>,
): ErrorFacts | null {
  if (status === 429) {
    return {
      status: protocol === 'messages' ? 529 : 503,
      message: `The model is overloaded at its vendor; try again shortly. See ${statusUrl} for its state.`,
      code: 'upstream_overloaded',
      requestId,
    };
  }
  if (status === 401 || status === 402 || status === 403 || status === 404) {
    return {
      status: 502,
      message: `The model could not be reached at its vendor; this is not about your key or budget. See ${statusUrl} for its state.`,
      code: 'upstream_error',
      requestId,
    };
  }
  return null;
}

/**
 * The overflow that an error of the protocol's vendor within a stream tells of, in the words that its clients know. Null when it
 * is another error, or says so already.
 */
export function overflowFacts(
  protocol: Protocol,
  { message, type, code }: { message: string; type: string; code?: string | null },
): { status: number; type: string; code: string; message: string } | null {
  if (!saysOverflow(message, [code, type])) return null;
  const said = overflowSentence(protocol, message);
  if (said === message && (protocol === 'messages' || code === overflowCode)) return null;
  return { status: 400, type: errorType(protocol, 400), code: overflowCode, message: said };
}

const errorLimits: JsonLimits = { maxDepth: 64, maxValues: 10_000, refuseDuplicates: false };
/** Bytes of an error that are parsed whatever they hold. */
const smallErrorBytes = 65_536;

/** Whether a vendor's error may be parsed: one of a megabyte may quote a request, but has few values. */
export function isParsableError(body: Uint8Array): boolean {
  return (
    body.length <= smallErrorBytes ||
    (countValues(body, errorLimits) ?? Number.POSITIVE_INFINITY) <= errorLimits.maxValues
  );
}

const errorMembers = {
  error: shape({ message: leaf, code: leaf, type: leaf }),
  message: leaf,
  detail: leaf,
  code: leaf,
  type: leaf,
};
/** One vendor wraps its error in a list (https://github.com/google-gemini/gemini-cli/issues/6678). */
const errorShape = shape(errorMembers, shape(errorMembers));

/**
 * An upstream's 400, 413 or 422 for a client of the same protocol: coding agents recover by matching the vendor's
 * wording, so every byte stays but for identifiers of the operator's account, and for a wording of an overflow that clients
 * of the protocol do not know. Null when it is no JSON error.
 */
export function nativeError(
  protocol: Protocol,
  status: number,
  answer: Uint8Array,
  requestId?: string,
): WireError | null {
  const scanned = tryScanJson(answer, errorShape, errorLimits);
  const root = scanned?.kind === 'array' ? scanned.items[0] : scanned;
  if (root == null || root.members.size === 0) return null;
  const body = asBuffer(answer).subarray(root.start, root.end);
  const overflow = overflowOf(answer, root);
  const worded = overflow === null ? body : wordOverflow(protocol, body, root, overflow);
  const whole = overflow === null && root === scanned ? answer : worded;
  const scrubbed = scrubIdentifiers(asBuffer(whole).toString('utf8'), requestId);
  return {
    status: overflow === null ? status : 400,
    body: Buffer.from(scrubbed),
    contentType: 'application/json',
  };
}

interface Overflow {
  message: string;
  code: string | null;
}

function overflowOf(body: Uint8Array, root: JsonNode): Overflow | null {
  const error = root.members.get('error');
  const at = error?.kind === 'object' ? error : root;
  const read = (name: string): string | null => textOf(body, at.members.get(name));
  const message = read('message') ?? textOf(body, error) ?? textOf(body, root.members.get('detail'));
  const code = read('code');
  return message !== null && saysOverflow(message, [code, read('type')]) ? { message, code } : null;
}

/** Within the vendor's own envelope where it has the protocol's form, so that its other members stay. */
function wordOverflow(protocol: Protocol, body: Buffer, root: JsonNode, { message, code }: Overflow): Uint8Array {
  const said = overflowSentence(protocol, message);
  const isMessages = protocol === 'messages';
  if (said === message && (isMessages || code === overflowCode)) return body;
  const error = root.members.get('error');
  const at = (node: JsonNode, text: string): Edit => ({
    start: node.start - root.start,
    end: node.end - root.start,
    text: JSON.stringify(text),
  });
  const sentence = error?.members.get('message');
  const word = error?.members.get('code');
  if (sentence === undefined || (!isMessages && word === undefined)) {
    return Buffer.from(JSON.stringify(errorEnvelope(protocol, { status: 400, message: said, code: overflowCode })));
  }
  return splice(
    body,
    [at(sentence, said), ...(isMessages || word === undefined ? [] : [at(word, overflowCode)])].sort(
      (one, other) => one.start - other.start,
    ),
  );
}

const identifiers: readonly [RegExp, string][] = [
  // Accounts, projects and keys of the operator, as vendors spell them in sentences.
  [/\b(org|proj|acct|wrkspc)[-_](?:(?=[A-Za-z]*\d)[A-Za-z0-9]{6,}|[A-Za-z0-9]{16,})/g, '$1-redacted'],
  [/\bsk-[A-Za-z0-9_*-]{8,}/g, 'sk-redacted'],
  [
    /\b(organization|workspace|account|project|request)([^"A-Za-z0-9]{1,4}(?:id)?[^"A-Za-z0-9]{0,4})[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi,
    '$1$2redacted',
  ],
];

/** The vendor's own request id, by member name or by form; in the envelope and in sentences alike. */
const vendorRequestId = /("request_id"\s*:\s*)"(?:[^"\\]|\\.)*"|\breq_[A-Za-z0-9]{8,}/g;

/** Replaces identifiers of the operator's account at the vendor; everything else stays as it is, byte for byte. */
export function scrubIdentifiers(text: string, requestId = 'redacted'): string {
  let scrubbed = text.replace(vendorRequestId, (_whole, member: string | undefined) =>
    member === undefined ? requestId : `${member}${JSON.stringify(requestId)}`,
  );
  for (const [pattern, replacement] of identifiers) scrubbed = scrubbed.replace(pattern, replacement);
  return scrubbed;
}
