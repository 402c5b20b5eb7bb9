import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { databaseSentence } from '../core/database-sentence.ts';
import type { Log } from '../core/log.ts';

/** Shared by the edges: request ids, the HTML page for a forgotten `/v1`, and the log fields of a request. */

/** Accepts a request id in the form that the service prints, and no other. */
export function isRequestId(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(text);
}

/** Both headers on every answer: the clients of the two protocols read different ones. */
export function requestIdHeaders(requestId: string): Record<string, string> {
  return { 'request-id': requestId, 'x-request-id': requestId };
}

/**
 * The page for a client whose base address lacks `/v1`. It is HTML on purpose: tools recognise the mistake by it, and
 * people see it in a browser.
 */
export function missingVersionPage(baseUrl: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>404: nothing at this address</title></head>
<body><h1>404: nothing at this address</h1>
<p>The base address of a chat completions client ends in <code>/v1</code>: <code>${baseUrl}/v1</code>.</p>
<p>The base address of a messages client does not: <code>${baseUrl}</code>.</p></body></html>
`;
}

/**
 * The log fields of a request (its id is on every line already): the route's template, never the address, a header or a
 * body.
 */
export function describeRequest(request: { method: string; routeOptions?: { url?: string | undefined } }) {
  return { method: request.method, route: request.routeOptions?.url ?? 'unknown' };
}

/**
 * The kind of an error alone: messages of parsers, drivers and upstreams can quote people's texts. `said`: the database's own words
 * where they are about its schema or settings.
 */
export function describeError(error: unknown): { kind: string; code?: string; where?: string; said?: string } {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  // Some libraries throw clones that fail `instanceof Error`.
  if (!(error instanceof Error)) return { kind: typeof error, ...(typeof code === 'string' ? { code } : {}) };
  const frame = error.stack?.split('\n').find((line) => line.includes('/server/'));
  const where = frame?.match(/server\/[\w./-]+:\d+/)?.[0];
  const said = databaseSentence(error);
  return {
    kind: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(where === undefined ? {} : { where }),
    ...(said === undefined ? {} : { said }),
  };
}

/** The log of one request: its lines carry the request's id. The framework's own type accepts any field. */
export function requestLog(request: FastifyRequest): Log {
  return request.log.child({ requestId: request.id });
}

/** Whether the body is a form, whose type names its boundary. */
export const isFormContentType = ({ 'content-type': type = '' }: IncomingHttpHeaders): boolean =>
  /^multipart\/form-data *;/i.test(type);

/** Checks the headers that decide how a body is read, before it is read. */
export function isJsonContentType(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type'];
  if (type === undefined) return false;
  const [media = '', ...parameters] = type.toLowerCase().split(';');
  if (media.trim() !== 'application/json' || /[\t\n]/.test(type)) return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.trim().split('=');
    return name !== 'charset' || /^"?utf-?8"?$/.test(value.trim());
  });
}
