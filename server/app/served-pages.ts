import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import type { Log } from '../core/log.ts';
import { cookieValue } from '../people/caller.ts';
import { cookieNames } from '../people/sign-in/auth.ts';
import { acceptedEncoding } from '../runtime/compression.ts';
import { describeError } from '../runtime/http.ts';
import type { ServedHtml } from '../runtime/static-files.ts';
import { chooseLocale, escapeText, type Locale, themeOf } from '../shared/page.ts';

/**
 * Public pages with their content, in the visitor's language, before any script: rendered by the dashboard's own
 * components, from the answers that GraphQL gives to visitors. People with a session get the empty page, which becomes
 * theirs.
 */

/** What the build of the dashboard exports for the server (`dashboard/src/served.tsx`). */
interface Renderer {
  addresses: readonly string[];
  renderPage(visit: {
    path: string;
    locale: Locale;
    origin: string;
    sdkPackage: string | null;
    fetch: (url: string, init?: RequestInit) => Promise<Response>;
  }): Promise<{ title: string; description: string; markup: string; known: readonly unknown[] }>;
}

type Encoding = 'br' | 'gzip' | 'none';

interface Rendering {
  /** Monotonic milliseconds. */
  at: number;
  bodies: Record<Encoding, Buffer>;
  style: string;
}

/** An older page is sent once more while the next one is made; the live page asks for what is no longer fresh. */
const freshMs = 10_000;
/** Visitors wait for the next one when the last is older: its prices may have changed. */
const maxAgeMs = 60_000;
/** How long they wait. */
const maxWaitMs = 5_000;
/** While the database is away, a page of this age is better than an empty one. */
const tolerableMs = 10 * 60_000;

export interface ServedPagesParts {
  /** The directory of the dashboard's build. */
  root: string;
  /** Without a trailing slash; read for each visit. */
  readonly publicUrl: string;
  sdkPackage: string | null;
  log: Log;
}

/** Returns what renders public pages from the built page, which the visitor's page is made of. */
export function createServedPages(parts: ServedPagesParts) {
  const { root, sdkPackage, log } = parts;
  return (html: string) => {
    // Loaded at the first visit of a public page, and again after a failure.
    let renderer: Promise<Renderer> | null = null;
    const load = (): Promise<Renderer> => {
      renderer ??= import(pathToFileURL(join(root, '.served/served.mjs')).href) as Promise<Renderer>;
      renderer.catch(() => {
        renderer = null;
      });
      return renderer;
    };
    /** Where this server itself listens, as visitors' connections say. */
    let here = parts.publicUrl;
    const kept = new Map<string, Rendering>();
    const running = new Map<string, Promise<Rendering>>();

    const render = async (path: string, locale: Locale, theme: string, origin: string): Promise<Rendering> => {
      const { renderPage } = await load();
      const at = Date.now();
      // As a visitor without a session asks, without the way over the network and its proxies.
      const page = await renderPage({
        path,
        locale,
        origin,
        sdkPackage,
        fetch: (_url, init) => fetch(new URL('/graphql', here), init),
      });
      const style = await styleOf(html, root);
      const text = filled(html, { ...page, at, locale, theme, style });
      return { at: performance.now(), style, bodies: await compressed(text) };
    };

    /** The newest rendering, which may be on its way; one for all visitors who ask meanwhile. */
    const renew = (name: string, make: () => Promise<Rendering>): Promise<Rendering> => {
      const known = running.get(name);
      if (known !== undefined) return known;
      const rendering = make().finally(() => running.delete(name));
      running.set(name, rendering);
      return rendering.then((made) => {
        kept.set(name, made);
        return made;
      });
    };

    const find = async (path: string, locale: Locale, theme: string): Promise<Rendering | null> => {
      const origin = parts.publicUrl;
      const name = `${path} ${locale} ${theme} ${origin}`;
      const last = kept.get(name);
      const ageMs = last === undefined ? Number.POSITIVE_INFINITY : performance.now() - last.at;
      if (last !== undefined && ageMs < freshMs) return last;
      const next = renew(name, () => render(path, locale, theme, origin)).catch((error: unknown) => {
        log.warn(describeError(error), 'a public page could not be rendered');
        return null;
      });
      if (last !== undefined && ageMs < maxAgeMs) return last;
      return (await soon(next)) ?? (last !== undefined && ageMs < tolerableMs ? last : null);
    };

    return async (request: FastifyRequest): Promise<ServedHtml | null> => {
      const cookie = request.headers.cookie ?? null;
      if (cookieValue(cookie, cookieNames(parts.publicUrl).session) !== null) return null;
      const [path = '/'] = request.url.split('?');
      try {
        here = localAddress(request) ?? here;
        if (!(await load()).addresses.includes(path)) return null;
        const locale = chooseLocale(cookieValue(cookie, 'steyg.language'), request.headers['accept-language']);
        const theme = themeOf(request.headers.cookie) ?? 'system';
        const rendering = await find(path, locale, theme);
        const encoding = acceptedEncoding(request.headers['accept-encoding']);
        return rendering === null
          ? null
          : { body: rendering.bodies[encoding ?? 'none'], encoding, language: locale, style: rendering.style };
      } catch (error) {
        log.warn(describeError(error), 'a public page could not be rendered; it was sent empty');
        return null;
      }
    };
  };
}

function localAddress({ socket: { localAddress: ip, localPort: port } }: FastifyRequest): string | null {
  if (ip === undefined || port === undefined) return null;
  return `http://${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
}

/** The value, or null when it takes too long. */
async function soon<Value>(value: Promise<Value>): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), maxWaitMs);
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}

const styleLink = /<link rel="stylesheet"[^>]* href="([^"]+)">/;

/** The page's style, to be written into it: a visitor's first paint then waits for one answer alone. */
async function styleOf(html: string, root: string): Promise<string> {
  const [, href = ''] = styleLink.exec(html) ?? [];
  return readFile(join(root, href), 'utf8');
}

interface Content {
  title: string;
  description: string;
  markup: string;
  known: readonly unknown[];
  /** When the answers were asked for, in milliseconds since 1970. */
  at: number;
  locale: Locale;
  theme: string;
  style: string;
}

function filled(html: string, { title, description, markup, known, at, locale, theme, style }: Content): string {
  // A `<` in JSON could end the element.
  const data = JSON.stringify({ at, known }).replaceAll('<', '\\u003c');
  const chosen = theme === 'system' ? '' : ` data-theme="${theme}"`;
  return html
    .replace('<html lang="en">', () => `<html lang="${locale}"${chosen}>`)
    .replace(/<title>[^<]*<\/title>/, () => `<title>${escapeText(title)} · Steyg</title>`)
    .replace(/(<meta name="description" content=")[^"]*/, (_all, before: string) => before + escapeText(description))
    .replace(styleLink, () => `<style>${style}</style>`)
    .replace(
      '<div id="root"></div>',
      () =>
        `<div id="served">${markup}</div><div id="root" hidden></div><script type="application/json" id="known">${data}</script>`,
    );
}

/** A page is compressed once, not for each visitor. Nothing secret is in it (BREACH). */
async function compressed(text: string): Promise<Record<Encoding, Buffer>> {
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
    promisify(gzip)(text),
  ]);
  return { br, gzip: zipped, none: Buffer.from(text) };
}
