/** The addresses that a browser visits to sign in with an account elsewhere. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { People } from '../people/people.ts';
import { providerPath } from '../people/sign-in/providers.ts';

interface ProviderRoute {
  Params: { provider: string };
  Querystring: { next?: unknown };
}

export function registerSignInWith(
  app: FastifyInstance,
  /** Both are read for each visit: they follow the public address. */
  parts: { readonly people: Pick<People, 'startWith' | 'finishWith'>; readonly publicUrl: string },
): void {
  app.get<ProviderRoute>(`${providerPath}/:provider`, async (request, reply) => {
    const next = pageIn(request.query.next);
    const outcome = await parts.people.startWith({ provider: request.params.provider, next }, callerOf(request));
    return answer(reply, outcome, parts.publicUrl);
  });
  app.get<ProviderRoute>(`${providerPath}/callback/:provider`, async (request, reply) => {
    const query = request.url.split('?')[1] ?? '';
    const outcome = await parts.people.finishWith({ provider: request.params.provider, query }, callerOf(request));
    return answer(reply, outcome, parts.publicUrl);
  });
}

type Outcome = Awaited<ReturnType<People['startWith']>>;

function answer(reply: FastifyReply, outcome: Outcome, publicUrl: string): FastifyReply {
  // The address of an answer holds a code that signs in.
  reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  if (outcome.kind !== 'redirect') return reply.redirect(`${publicUrl}/sign-in?error=many`, 302);
  if (outcome.setCookies.length > 0) reply.header('set-cookie', outcome.setCookies);
  return reply.redirect(outcome.location, 302);
}

/** A page of this site, whatever a link contains (open redirect). */
function pageIn(next: unknown): string {
  return typeof next === 'string' && next.length <= 500 && /^\/(?![/\\])[!-~]*$/.test(next) ? next : '/';
}

function callerOf({ ip, headers }: FastifyRequest) {
  return { ip, userAgent: headers['user-agent'] ?? '', cookie: headers.cookie ?? null };
}
