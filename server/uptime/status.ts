import type { FastifyInstance, FastifyReply } from 'fastify';
import { describeError } from '../http.ts';
import { statusJson } from './status-json.ts';
import { statusPage, statusUnavailablePage, styleHash } from './status-page.ts';
import { chooseLocale } from './status-words.ts';
import type { StatusReport, Uptime } from './uptime.ts';

/** The public status: `/status` for people, `/status.json` for programs. */

export interface StatusDeps {
  uptime: Pick<Uptime, 'report'>;
  /** How long a report is given out again: a page that everybody opens at once must not ask the database each time. */
  freshMs?: number;
  clock?: () => number;
}

const defaultFreshMs = 15_000;
/** How long an old report is better than none when the database does not answer. It says how old it is. */
const tolerableMs = 10 * 60_000;

export function registerStatus(app: FastifyInstance, deps: StatusDeps): void {
  const current = remember(deps);

  app.get('/status.json', async (request, reply) => {
    void reply.header('access-control-allow-origin', '*');
    try {
      const report = await current();
      return await cacheable(reply).send(statusJson(report));
    } catch (error) {
      request.log.warn(describeError(error), 'the status could not be read');
      return reply
        .code(503)
        .send({ object: 'status', state: 'no_data', message: 'The measurements cannot be read at the moment.' });
    }
  });

  app.get<{ Querystring: { lang?: unknown } }>('/status', async (request, reply) => {
    const locale = chooseLocale(request.query.lang, request.headers['accept-language']);
    void reply
      .type('text/html; charset=utf-8')
      .header('content-language', locale)
      .header('vary', 'Accept-Language')
      .header('referrer-policy', 'no-referrer')
      .header('x-content-type-options', 'nosniff')
      .header(
        'content-security-policy',
        `default-src 'none'; style-src ${styleHash}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      );
    try {
      const report = await current();
      return await cacheable(reply).send(statusPage(report, locale));
    } catch (error) {
      request.log.warn(describeError(error), 'the status could not be read');
      return reply.code(503).send(statusUnavailablePage(locale));
    }
  });
}

function cacheable(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'public, max-age=30');
}

/** One question to the database at a time, and its answer for everybody who comes within `freshMs`. */
function remember({
  uptime,
  freshMs = defaultFreshMs,
  clock = () => performance.now(),
}: StatusDeps): () => Promise<StatusReport> {
  let last: { report: StatusReport; at: number } | null = null;
  let asking: Promise<StatusReport> | null = null;

  const ask = async (): Promise<StatusReport> => {
    try {
      const report = await uptime.report();
      last = { report, at: clock() };
      return report;
    } catch (error) {
      if (last !== null && clock() - last.at < tolerableMs) return last.report;
      throw error;
    } finally {
      asking = null;
    }
  };
  return async () => {
    if (last !== null && clock() - last.at < freshMs) return last.report;
    asking ??= ask();
    return asking;
  };
}
