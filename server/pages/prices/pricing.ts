import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from 'pg';
import type { Catalog } from '../../catalog/catalog.ts';
import { listPlans } from '../../plans/plans.ts';
import { describeError, requestLog } from '../../runtime/http.ts';
import { chooseLocale, inChosenTheme, type Locale, pageVary } from '../../shared/page.ts';
import type { PageSeller } from '../../shared/public-page.ts';
import { remembered, renderOnce } from '../../shared/remembered.ts';
import { readLatencies } from '../../uptime/latency.ts';
import type { Uptime } from '../../uptime/uptime.ts';
import type { LinkLimits } from '../link-limits.ts';
import {
  comparisonPage,
  measuredDays,
  modelPage,
  modelPath,
  type PageAddress,
  type PriceList,
  pricingPage,
  pricingPolicy,
  pricingProblemPage,
} from './pricing-page.ts';

/**
 * The public price pages and what leads search engines to them: `/pricing` (`?q=` searches, `?compare=` puts models side
 * by side), `/pricing/MODEL`, `/sitemap.xml` and `/robots.txt`; `?lang=en|vi`.
 */

export interface PricingParts {
  pool: Pool;
  catalog: Pick<Catalog, 'list'>;
  uptime: Pick<Uptime, 'report'>;
  seller: () => Promise<PageSeller>;
  /** The public address, without a trailing slash; read for each page. */
  readonly publicUrl: string;
  /** Limits of searches and comparisons, which are made for each request. */
  limits: LinkLimits;
  /** Whether bank account and plans are made up. */
  demonstration?: boolean;
  /** Milliseconds that a list is shown for: readers must not cost a query each. */
  freshMs?: number;
}

/** What is sold, and by whom. */
interface SoldNow extends PriceList {
  seller: PageSeller;
}

interface Asked {
  lang?: unknown;
  q?: unknown;
  compare?: unknown;
}

const defaultFreshMs = 15_000;
const maxCompared = 6;
const maxSearchLength = 100;

/** Pages of people and addresses of programs, which are no use to a search engine. */
const robots = (publicUrl: string) => `User-agent: *
Disallow: /api/v1/
Disallow: /graphql
Disallow: /downloads/
Disallow: /operator
Disallow: /orders/
Disallow: /activity
Sitemap: ${publicUrl}/sitemap.xml
`;

export function registerPricing(app: FastifyInstance, parts: PricingParts): void {
  const current = remembered(() => readPriceList(parts), { freshMs: parts.freshMs ?? defaultFreshMs });

  const send = async (
    request: FastifyRequest<{ Querystring: Asked }>,
    reply: FastifyReply,
    page: (list: SoldNow, address: PageAddress) => string | null,
    caching = 'public, max-age=30',
  ) => {
    const locale = chooseLocale(request.query.lang, request.headers['accept-language']);
    const inTheme = (html: string) => inChosenTheme(html, request.headers.cookie);
    const demonstration = parts.demonstration ?? false;
    const address: PageAddress = { origin: parts.publicUrl, locale, demonstration, seller: null };
    void reply.type('text/html; charset=utf-8').headers({
      'content-security-policy': pricingPolicy,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-language': locale,
      vary: pageVary,
    });
    let list: SoldNow;
    try {
      list = await current();
    } catch (error) {
      requestLog(request).warn(describeError(error), 'the prices could not be read');
      return reply
        .code(503)
        .header('retry-after', '5')
        .send(inTheme(pricingProblemPage('unavailable', address)));
    }
    const html = page(list, { ...address, seller: list.seller });
    if (html === null) return reply.code(404).send(inTheme(pricingProblemPage('notFound', address)));
    return reply.header('cache-control', caching).send(inTheme(html));
  };

  const whole = renderOnce((list: SoldNow, locale: Locale) =>
    pricingPage(list, {
      origin: parts.publicUrl,
      locale,
      demonstration: parts.demonstration ?? false,
      seller: list.seller,
    }),
  );

  app.get<{ Querystring: Asked }>('/pricing', (request, reply) => {
    const { q, compare } = request.query;
    const search = typeof q === 'string' ? q.slice(0, maxSearchLength).trim() : '';
    const ids = [compare].flat().filter((id) => typeof id === 'string');
    if (search === '' && ids.length === 0) return send(request, reply, (list, { locale }) => whole(list, locale));
    const refused = parts.limits.refuse(request, reply);
    if (refused !== null) return refused;
    const page = (list: PriceList, address: PageAddress) => {
      const compared = list.models.filter(({ model }) => ids.includes(model.id)).slice(0, maxCompared);
      return compared.length > 0 ? comparisonPage(compared, list.plans, address) : pricingPage(list, address, search);
    };
    return send(request, reply, page, 'no-store');
  });

  // Catalog ids may contain slashes.
  app.get<{ Querystring: Asked; Params: { '*': string } }>('/pricing/*', (request, reply) =>
    send(request, reply, ({ models, plans }, address) => {
      const priced = models.find(({ model }) => model.id === request.params['*']);
      return priced === undefined ? null : modelPage(priced, plans, address);
    }),
  );

  app.get('/robots.txt', (_request, reply) => reply.type('text/plain; charset=utf-8').send(robots(parts.publicUrl)));

  app.get('/sitemap.xml', async (request, reply) => {
    void reply.type('application/xml; charset=utf-8');
    try {
      const { models } = await current();
      const paths = [
        '/',
        '/pricing',
        '/guides',
        '/docs',
        '/docs/errors',
        '/docs/graphql',
        ...models.map(({ model }) => modelPath(model.id)),
        '/status',
        '/api/docs',
      ];
      return reply.header('cache-control', 'public, max-age=300').send(sitemap(parts.publicUrl, paths));
    } catch (error) {
      requestLog(request).warn(describeError(error), 'the site map could not be made');
      return reply.code(503).header('retry-after', '5').send(sitemap(parts.publicUrl, []));
    }
  });
}

/** The format of sitemaps.org, version 0.9. Paths are encoded already. */
function sitemap(publicUrl: string, paths: readonly string[]): string {
  const urls = paths.map((path) => `<url><loc>${publicUrl}${path.replaceAll('&', '&amp;')}</loc></url>\n`).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}</urlset>\n`;
}

async function readPriceList({ pool, catalog, uptime, seller }: PricingParts): Promise<SoldNow> {
  const [models, plans, report, latencies, soldBy] = await Promise.all([
    catalog.list(),
    listPlans(pool),
    uptime.report({ days: measuredDays }),
    readLatencies(pool),
    seller(),
  ]);
  const days = new Map(report.models.map(({ id, days }) => [id, days]));
  return {
    plans,
    seller: soldBy,
    models: models.map((model) => ({
      model,
      days: days.get(model.id) ?? [],
      latency: latencies.get(model.id) ?? null,
    })),
  };
}
