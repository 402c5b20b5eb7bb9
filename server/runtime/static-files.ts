import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';

/**
 * Serves the dashboard: one page for all addresses of people, and assets whose names are hashes of their content. It is
 * built before the start.
 */
export interface DashboardOptions {
  /** The directory of the built files. */
  root: string;
}

/** Nothing from other origins, nothing inline; QR codes of the server come as `data:` addresses. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // The page names the assets of one build: a cached copy would ask for deleted files.
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** Addresses of programs: a mistyped one gets a program's answer, also in a browser. */
const programs = /^\/(api|graphql|webhooks|status|healthz|readyz|metrics|downloads|assets|pricing)(?:$|[/.?])/;

const pageList = z.array(z.string().startsWith('/'));

/**
 * Registers the pages that the build lists, its assets, and a 404 page. Without a build the root answers 503 to people
 * and says how to make one; everything else works.
 */
export async function registerDashboard(app: FastifyInstance, { root }: DashboardOptions): Promise<void> {
  const html = await readFile(join(root, 'index.html')).catch(() => null);
  if (html === null) {
    // Coding agents and monitors check by HEAD whether the server is up.
    app.head('/', (_request, reply) => reply.code(200).type('text/plain; charset=utf-8').send());
    app.get('/', { exposeHeadRoute: false }, (_request, reply) =>
      reply
        .code(503)
        .type('text/plain; charset=utf-8')
        .send('The dashboard has not been built: `npm start` builds it.\n'),
    );
    return;
  }
  const send = (reply: FastifyReply, status = 200) => reply.code(status).headers(pageHeaders).send(html);
  const pages = pageList.parse(JSON.parse(await readFile(join(root, 'pages.json'), 'utf8')));
  for (const page of pages) app.get(page, (_request, reply) => send(reply));

  await app.register(fastifyStatic, {
    root,
    // One route for each existing file: no address is ever turned into a path.
    wildcard: false,
    index: false,
    globIgnore: ['**/*.{br,gz,json,html}', 'digest', '.vite/**'],
    decorateReply: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      const isHashed = path.includes('/assets/');
      reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'public, max-age=3600');
    },
  });

  app.setNotFoundHandler((request, reply) => {
    const isPage =
      (request.method === 'GET' || request.method === 'HEAD') &&
      !programs.test(request.url) &&
      request.headers.accept?.includes('text/html') === true;
    if (isPage) return send(reply, 404);
    return reply.code(404).send({
      error: { message: 'There is nothing at this address.', type: 'invalid_request_error' },
      request_id: request.id,
    });
  });
}
