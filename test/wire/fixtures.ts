import type { Protocol } from '../../server/core/protocol.ts';
import { scanBody } from '../../server/wire/body.ts';
import type { RequestFacts, WireContext, WireExchange, WireRequest, WireStream } from '../../server/wire/protocol.ts';
import { wireFor } from '../../server/wire/wires.ts';
import { FULL_FEATURES } from './features.ts';

/** A context with the catalog's id equal to the upstream's, unless told otherwise. */
export function contextWith(changes: Partial<WireContext> = {}): WireContext {
  return {
    catalogModel: 'big-1',
    upstreamModel: 'big-1',
    maxOutputTokens: 32_000,
    features: { ...FULL_FEATURES, maxTokensField: 'max_completion_tokens', jsonObject: true },
    efforts: [],
    digest: (scope, text) => `${scope}:${text}`,
    createdAt: 1_800_000_000,
    requestId: 'req-of-ours',
    statusUrl: 'https://status.test',
    ...changes,
  };
}

/** A small request, with further members of the body. */
function requestWith(protocol: Protocol, members: Record<string, unknown>): { raw: Buffer; facts: RequestFacts } {
  const base = {
    model: 'big-1',
    ...(protocol === 'responses' ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] }),
    ...(protocol === 'messages' ? { max_tokens: 100 } : {}),
  };
  const raw = Buffer.from(JSON.stringify({ ...base, ...members }));
  const scan = scanBody(raw, protocol);
  if (!scan.ok) throw new Error(scan.problem.message);
  return { raw, facts: scan.facts };
}

/** Facts of a small request, with further members of the body. */
export function factsWith(protocol: Protocol, members: Record<string, unknown> = {}): RequestFacts {
  return requestWith(protocol, members).facts;
}

/** The exchange of a small request, native unless the upstream speaks another protocol, with further members of the body. */
export function exchangeWith(
  protocol: Protocol,
  members: Record<string, unknown> = {},
  context: Partial<WireContext> = {},
  upstream: Protocol = protocol,
): WireExchange {
  const { raw, facts } = requestWith(protocol, members);
  return opened(wireFor(protocol, upstream).request(raw, facts, contextWith(context)));
}

/** The exchange of a request that the route's upstream can take. */
export function opened(request: WireRequest): WireExchange {
  if (!request.ok) throw new Error(request.problem.message);
  return request.exchange;
}

/** Cuts bytes at the given places; a place beyond the end is folded back into it. */
export function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((one, other) => one - other);
  const edges = [0, ...sorted, bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

/** Feeds chunks and the end; gives everything that came out, as text. */
export function relayed(stream: WireStream, chunks: readonly (Uint8Array | string)[]): string {
  const parts = chunks.map((chunk) => Buffer.from(stream.write(Buffer.from(chunk))));
  parts.push(Buffer.from(stream.end()));
  return Buffer.concat(parts).toString('utf8');
}

/** Event-stream text from named events with JSON data, as the messages and responses protocols write them. */
export function namedEvents(...events: Record<string, unknown>[]): string {
  return events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** Event-stream text from JSON chunks, as chat completions write them. */
export function dataEvents(...chunks: (Record<string, unknown> | string)[]): string {
  return chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join('');
}
