import type { Protocol } from '../../core/protocol.ts';
import { errorEnvelope, errorType, isParsableError, scrubIdentifiers } from '../envelope.ts';
import { overflowCode, overflowSentence, saysOverflow } from '../overflow.ts';
import type { WireError } from '../protocol.ts';
import { encodeJson, isObject, type Json, stringifyJson, stringMember, tryParseJson } from './json.ts';

/** What a vendor's error body says, whatever its form. */
interface UpstreamError {
  message: string;
  /** Its code and type. */
  codes: readonly (string | null)[];
  /** The field at fault, as the vendor names it: its own member, or the path that begins its sentence. */
  param: string | null;
}

/** Members that mean the same in different protocols. */
const SAME_MEMBERS: readonly (readonly string[])[] = [
  ['messages', 'input'],
  ['max_completion_tokens', 'max_tokens', 'max_output_tokens'],
  ['stop', 'stop_sequences'],
  ['system', 'instructions'],
  ['response_format', 'text', 'output_config', 'output_format'],
];

/**
 * The top-level member of the client's request that the vendor means. Not the path below it: the vendor's counts the messages
 * and blocks of the translated request. Null when the client sent no such member.
 */
function paramOf(named: string | null, sent: ReadonlyMap<string, unknown>): string | null {
  const root = named?.split(/[.[]/, 1)[0] ?? '';
  if (sent.has(root)) return root;
  const same = SAME_MEMBERS.find((names) => names.includes(root));
  return same?.find((name) => sent.has(name)) ?? null;
}

/**
 * An upstream's 400, 413 or 422 in the client's protocol: the vendor's sentence stays, the envelope changes. `sent`: the
 * members of the client's request. Null when the body is no error in any form that is known, such as a proxy's HTML page.
 */
export function translateError(
  client: Protocol,
  status: number,
  body: Uint8Array,
  { requestId, sent }: { requestId?: string; sent: ReadonlyMap<string, unknown> },
): WireError | null {
  const error = isParsableError(body) ? readError(tryParseJson(Buffer.from(body).toString('utf8'))) : null;
  if (error === null) return null;
  const scrubbed = scrubIdentifiers(error.message, requestId);
  const overflow = saysOverflow(scrubbed, error.codes);
  const facts = {
    status: overflow ? 400 : status,
    message: overflow ? overflowSentence(client, scrubbed) : scrubbed,
    type: errorType(client, overflow ? 400 : status),
    code: overflow ? overflowCode : null,
    param: paramOf(overflow ? 'messages' : error.param, sent),
    ...(requestId === undefined ? {} : { requestId }),
  };
  return { status: facts.status, body: encodeJson(errorEnvelope(client, facts)), contentType: 'application/json' };
}

function readError(body: Json | undefined): UpstreamError | null {
  // One vendor wraps its error in a list.
  const root = Array.isArray(body) ? body[0] : body;
  if (!isObject(root)) return null;
  const error = isObject(root.error) ? root.error : root;
  const message =
    stringMember(error, 'message') ??
    stringMember(root, 'error') ??
    stringMember(root, 'message') ??
    readDetail(root.detail);
  if (message === null || message === '') return null;
  return {
    message,
    codes: [stringMember(error, 'code'), stringMember(error, 'type')],
    param: stringMember(error, 'param') ?? pathBefore(message),
  };
}

/** Anthropic begins its sentence with the path; frameworks put `body` before it. */
function pathBefore(message: string): string | null {
  return /^(?:body\.)?([a-z_]{1,64})(?:\.[\w-]{1,64}){0,32}: /.exec(message)?.[1] ?? null;
}

/** Self-hosted servers validate with a framework that lists what is wrong under `detail`. */
function readDetail(detail: Json | undefined): string | null {
  if (typeof detail === 'string') return detail;
  if (!Array.isArray(detail)) return null;
  const found = detail.flatMap((entry) => {
    if (!isObject(entry)) return [];
    const place = Array.isArray(entry.loc)
      ? `${entry.loc.map((step) => (typeof step === 'string' ? step : stringifyJson(step))).join('.')}: `
      : '';
    const message = stringMember(entry, 'msg');
    return message === null ? [] : [place + message];
  });
  return found.length === 0 ? null : found.join('; ');
}
