import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { inChosenTheme } from '../shared/page.ts';

/**
 * Serves the dashboard: one page for all addresses of people, and assets whose names are hashes of their content. It is
 * built before the start.
 */
export interface DashboardOptions {
  /** The directory of the built files. */
  root: string;
  /** The published package of the SDK; null: pages name `/sdk.tgz`, which the build has packed. */
  sdkPackage?: string | null;
  /** Renders public pages with their content; absent: every page begins empty. */
  serve?: (html: string) => ServePage;
}

/** The page with its content, or null where it has none of its own, or not now. */
type ServePage = (request: FastifyRequest) => Promise<ServedHtml | null>;

export interface ServedHtml {
  /** Compressed in the encoding below. */
  body: Buffer;
  encoding: 'br' | 'gzip' | null;
  language: string;
  /** The inline style of the page, for the security policy. */
  style: string;
}

/** Nothing from other origins; QR codes of the server come as `data:` addresses. Nothing inline but exactly this style. */
function contentSecurityPolicy(style: string | null): string {
  const digest = style === null ? null : createHash('sha256').update(style).digest('base64');
  return [
    "default-src 'self'",
    ...(digest === null ? [] : [`style-src 'self' 'sha256-${digest}'`]),
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // The page names the assets of one build: a cached copy would ask for deleted files.
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy(null),
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
export async function registerDashboard(
  app: FastifyInstance,
  { root, sdkPackage, serve }: DashboardOptions,
): Promise<void> {
  const built = await readFile(join(root, 'index.html'), 'utf8').catch(() => null);
  if (built === null) {
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
  // A name of npm has no character that an attribute would need escaped.
  const named = sdkPackage == null ? '' : `<meta name="sdk-package" content="${sdkPackage}">`;
  const html = built.replace('</title>', () => `</title>${named}`);
  const send = ({ headers }: FastifyRequest, reply: FastifyReply, status = 200) =>
    reply.code(status).headers(pageHeaders).send(inChosenTheme(html, headers.cookie));
  const pages = pageList.parse(JSON.parse(await readFile(join(root, 'pages.json'), 'utf8')));
  const servePage = serve?.(html);
  for (const page of pages) {
    app.get(page, async (request, reply) => {
      const served = (await servePage?.(request)) ?? null;
      return served === null ? send(request, reply) : sendServed(reply, served);
    });
  }

  await app.register(fastifyStatic, {
    root,
    // One route for each existing file: no address is ever turned into a path.
    wildcard: false,
    index: false,
    globIgnore: ['**/*.{br,gz,json,html}', 'digest', '.vite/**', '.served/**'],
    decorateReply: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      reply.header('cache-control', cachingOf(path));
    },
  });

  app.setNotFoundHandler((request, reply) => {
    const isPage =
      (request.method === 'GET' || request.method === 'HEAD') &&
      !programs.test(request.url) &&
      request.headers.accept?.includes('text/html') === true;
    if (isPage) return send(request, reply, 404);
    return reply.code(404).send({
      error: { message: 'There is nothing at this address.', type: 'invalid_request_error' },
      request_id: request.id,
    });
  });
}

/** Names that hold a hash or a version stand for the same bytes for ever; the present SDK is another one after an update. */
function cachingOf(path: string): string {
  if (/\/assets\/|\/sdk-[^/]+\.tgz$/.test(path)) return 'public, max-age=31536000, immutable';
  return path.endsWith('/sdk.tgz') ? 'no-cache' : 'public, max-age=3600';
}

/** Policies by style: a build has one. */
const policies = new Map<string, string>();

function sendServed(reply: FastifyReply, { body, encoding, language, style }: ServedHtml): FastifyReply {
  const policy = policies.get(style) ?? contentSecurityPolicy(style);
  policies.set(style, policy);
  return reply
    .headers({
      ...pageHeaders,
      'content-security-policy': policy,
      'content-language': language,
      vary: 'accept-language, accept-encoding, cookie',
      ...(encoding === null ? {} : { 'content-encoding': encoding }),
    })
    .send(body);
}
