import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { describeError, requestLog } from '../../runtime/http.ts';
import { chooseLocale, inChosenTheme, type Locale, pageVary } from '../../shared/page.ts';
import type { PageSeller } from '../../shared/public-page.ts';
import { remembered, renderOnce } from '../../shared/remembered.ts';
import type { StatusReport, Uptime } from '../uptime.ts';
import { atomFeed, rssFeed } from './status-feed.ts';
import { statusJson } from './status-json.ts';
import { statusPage, statusPagePolicy, statusUnavailablePage } from './status-page.ts';

/**
 * The public status: `/status` for people, `/status.json` for programs, `/status/history.atom` and `.rss` for feed readers
 * and chat programs.
 */

export interface StatusDeps {
  uptime: Pick<Uptime, 'report'>;
  /** The address that feeds name, without a slash at its end; read for each answer. */
  readonly publicUrl: string;
  /** For the foot of the page; absent: nobody is named. */
  seller?: () => Promise<PageSeller>;
  /** Whether bank account and plans are made up. */
  demonstration?: boolean;
  /** How long a report is cached: a page that many people open at once must not query the database each time. */
  freshMs?: number;
  clock?: () => number;
}

const defaultFreshMs = 15_000;
/** How long an old report is served while the database is unreachable. It shows its age. */
const tolerableMs = 10 * 60_000;

export function registerStatus(app: FastifyInstance, deps: StatusDeps): void {
  const { uptime, freshMs = defaultFreshMs, clock } = deps;
  const readNow = async (): Promise<StatusNow> => {
    const [report, seller] = await Promise.all([uptime.report(), deps.seller?.().catch(() => null) ?? null]);
    return { ...report, seller };
  };
  const current = remembered(readNow, {
    freshMs,
    tolerableMs,
    ...(clock === undefined ? {} : { clock }),
  });

  const pages = renderOnce((report: StatusNow, locale: Locale) =>
    statusPage(report, { locale, seller: report.seller, demonstration: deps.demonstration ?? false }),
  );

  /** Sends the output of `make` for the report, and 503 while there is none. */
  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    make: (report: StatusNow) => unknown,
    otherwise: unknown = unavailable,
  ) => {
    let report: StatusNow;
    try {
      report = await current();
    } catch (error) {
      requestLog(request).warn(describeError(error), 'the status could not be read');
      return reply.code(503).send(otherwise);
    }
    return cacheable(reply).send(make(report));
  };

  app.get('/status.json', (request, reply) => {
    void reply.header('access-control-allow-origin', '*');
    return answer(request, reply, statusJson);
  });

  for (const [path, type, render] of [
    ['/status/history.atom', 'application/atom+xml', atomFeed],
    ['/status/history.rss', 'application/rss+xml', rssFeed],
  ] as const) {
    app.get<{ Querystring: Asked }>(path, (request, reply) => {
      const locale = localeOf(request, reply);
      void reply.type(`${type}; charset=utf-8`);
      return answer(
        request,
        reply,
        (report) => render({ report, origin: deps.publicUrl, locale }),
        `<?xml version="1.0" encoding="utf-8"?>\n<error>${unavailable.message}</error>\n`,
      );
    });
  }

  app.get<{ Querystring: Asked }>('/status', (request, reply) => {
    const locale = localeOf(request, reply);
    void reply
      .type('text/html; charset=utf-8')
      .header('referrer-policy', 'no-referrer')
      .header('x-content-type-options', 'nosniff')
      .header('content-security-policy', statusPagePolicy);
    const inTheme = (html: string) => inChosenTheme(html, request.headers.cookie);
    return answer(request, reply, (report) => inTheme(pages(report, locale)), inTheme(statusUnavailablePage(locale)));
  });
}

interface StatusNow extends StatusReport {
  /** Null: it could not be read. */
  seller: PageSeller | null;
}

interface Asked {
  lang?: unknown;
}

const unavailable = {
  object: 'status',
  state: 'no_data',
  message: 'The measurements cannot be read at the moment.',
} as const;

/** The reader's language, set in the answer's headers. */
function localeOf(request: FastifyRequest<{ Querystring: Asked }>, reply: FastifyReply): Locale {
  const locale = chooseLocale(request.query.lang, request.headers['accept-language']);
  void reply.header('content-language', locale).header('vary', pageVary);
  return locale;
}

function cacheable(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'public, max-age=30');
}
