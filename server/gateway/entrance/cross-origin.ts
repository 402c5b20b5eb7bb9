import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isOfDataPlane } from './addresses.ts';

/**
 * Pages of any origin may call the data plane: it has no cookies, and its key is in a header that a page must know
 * (https://fetch.spec.whatwg.org/#http-cors-protocol). The other parts of the service answer no such page.
 */

/**
 * What scripts may read, as `openai`, `@anthropic-ai/sdk` and `@openrouter/sdk` do. By name, because the wildcard does not
 * count where a page sends credentials.
 */
const exposed = [
  'request-id',
  'x-request-id',
  'retry-after',
  'x-should-retry',
  'x-token-count',
  'x-steyg-cost-usd',
  'x-steyg-dropped-tools',
  ...['requests', 'tokens'].flatMap((of) =>
    ['limit', 'remaining', 'reset'].flatMap((what) => [
      `anthropic-ratelimit-${of}-${what}`,
      `x-ratelimit-${what}-${of}`,
    ]),
  ),
].join(', ');

/** Browsers remember a preflight for at most two hours. */
const maxAgeS = 7_200;

/** To be called inside the scope of the data plane, before its other hooks: refusals can be read, too. */
export function allowOtherOrigins(scope: FastifyInstance): void {
  scope.addHook('onRequest', async ({ headers, url }, response) => {
    if (headers.origin === undefined || !isOfDataPlane(pathOf(url))) return;
    // On the raw answer, which model answers are written to.
    response.raw.setHeader('access-control-allow-origin', '*');
    response.raw.setHeader('access-control-expose-headers', exposed);
  });
}

/** A browser's question before a request; it needs no key. */
export function isPreflight({ method, headers, url }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && isOfDataPlane(pathOf(url));
}

/** Allows what is asked: the wildcard would not stand for `authorization`. */
export function answerPreflight({ headers }: FastifyRequest, response: FastifyReply): FastifyReply {
  const asked = headers['access-control-request-headers'];
  return response
    .code(204)
    .headers({
      'access-control-allow-methods': 'GET, POST',
      ...(asked === undefined ? {} : { 'access-control-allow-headers': asked }),
      'access-control-max-age': String(maxAgeS),
      vary: 'access-control-request-headers',
    })
    .send();
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';
