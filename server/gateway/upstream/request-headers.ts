import { credentialHeaders, messagesVersion, type Protocol } from '../../core/protocol.ts';
import { type TraceContext, traceHeaders } from '../../runtime/telemetry/trace-context.ts';

/**
 * Builds the upstream request's headers from an allow-list: a client's headers may name hops, hosts and credentials
 * that must not be forwarded. The few that vendors act upon are forwarded byte for byte.
 */

const forwarded = new Set(['accept', 'user-agent']);
const forwardedNatively: Record<Protocol, (name: string) => boolean> = {
  messages: (name) => name === 'anthropic-version' || name === 'anthropic-beta' || name.startsWith('x-stainless-'),
  'chat-completions': (name) => name === 'openai-beta' || name.startsWith('x-stainless-'),
  responses: (name) => name === 'openai-beta' || name.startsWith('x-stainless-'),
};

export interface UpstreamHeaderParts {
  /** Names and values alternating, as received. */
  rawHeaders: readonly string[];
  client: Protocol;
  upstream: Protocol;
  /** The vendor's key; null for an upstream that takes none. */
  secret: string | null;
  /** Of the body; left out: JSON. */
  contentType?: string | undefined;
  /** Where the request stands in a trace; null: this upstream is not told. */
  trace: TraceContext | null;
}

export function upstreamHeaders({
  rawHeaders,
  client,
  upstream,
  secret,
  contentType = 'application/json',
  trace,
}: UpstreamHeaderParts): Record<string, string> {
  const headers: Record<string, string> = {};
  const native = client === upstream;
  let hopByHop: Set<string> | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === 'connection') {
      hopByHop ??= new Set();
      for (const name of (rawHeaders[i + 1] ?? '').split(',')) hopByHop.add(name.trim().toLowerCase());
    }
  }
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase();
    if (!forwarded.has(name) && !(native && forwardedNatively[client](name))) continue;
    if (hopByHop?.has(name) === true) continue;
    const value = rawHeaders[i + 1] ?? '';
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  headers['content-type'] = contentType;
  headers['accept-encoding'] = 'identity';
  if (upstream === 'messages') headers['anthropic-version'] ??= messagesVersion;
  if (trace !== null) Object.assign(headers, traceHeaders(trace));
  return { ...headers, ...credentialHeaders(upstream, secret) };
}
