import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { describeError, requestLog } from '../../runtime/http.ts';
import { chooseLocale, inChosenTheme, type Locale, pageVary } from '../../shared/page.ts';
import type { PageSeller } from '../../shared/public-page.ts';
import { remembered } from '../../shared/remembered.ts';
import { type DataFlow, dataFlowPage } from './data-flow.ts';
import { docsPage, docsPolicy, missingPage } from './docs-page.ts';
import { type DocumentedError, errorList, errorMarkdown, errorOf, errorsMarkdown } from './errors.ts';
import { createGraphqlReference } from './graphql-reference.ts';
import { llmsFullText, llmsText, type OpenApi } from './llms.ts';

/**
 * `/docs`: where everything is; `/docs/errors` and `/docs/errors/NAME` (a name or code; `.md` for programs); `/docs/graphql` and
 * `/docs/graphql/NAME` (an operation or a type); `/docs/data-flow`; `/docs/schema.graphql`; `/llms.txt` and `/llms-full.txt`. Made of what is built: the
 * OpenAPI document, the schema and the table of refusals. `?lang=en|vi`.
 */

/** What the pages are made of. */
export interface Documentation {
  openApi: object;
  schema: GraphQLSchema;
  /** Of both APIs. */
  errors: readonly DocumentedError[];
}

export interface DocsParts {
  /** The public address, without a trailing slash; read for each page. */
  readonly publicUrl: string;
  /** Called with the first request for a page, and again when the public address has changed. */
  documentation: () => Documentation;
  seller: () => Promise<PageSeller>;
  dataFlow: () => Promise<DataFlow>;
  demonstration?: () => boolean;
}

/** Null: there is no such page. */
type Made = { title: string; body: string } | null;

/** How old what the page of data flow says may be: a reader costs no query each. */
const dataFlowFreshMs = 15_000;

interface Asked {
  Querystring: { lang?: unknown };
  Params: { name: string };
}

export function registerDocs(app: FastifyInstance, parts: DocsParts): void {
  const { seller } = parts;
  let made: { publicUrl: string; docs: ReturnType<typeof makeDocs> } | null = null;
  /** A server that nobody asks for its documentation makes none: the schema alone is ten thousand lines. */
  const docs = () => {
    const { publicUrl } = parts;
    if (made?.publicUrl !== publicUrl) made = { publicUrl, docs: makeDocs(parts.documentation(), publicUrl) };
    return made.docs;
  };

  /** Sends the page that `make` returns; null: there is none. */
  const page = async (
    request: FastifyRequest<Asked>,
    reply: FastifyReply,
    make: (locale: Locale) => Made | Promise<Made>,
  ) => {
    const locale = chooseLocale(request.query.lang, request.headers['accept-language']);
    const content = await make(locale);
    void reply.code(content === null ? 404 : 200).headers({
      'content-security-policy': docsPolicy,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-language': locale,
      vary: pageVary,
      'cache-control': 'public, max-age=60',
    });
    const known = await seller().catch((error: unknown) => {
      requestLog(request).warn(describeError(error), 'the seller could not be read');
      return null;
    });
    const [path = '/docs'] = request.url.split('?');
    const frame = { locale, path, seller: known, demonstration: parts.demonstration?.() ?? false };
    return reply
      .type('text/html; charset=utf-8')
      .send(inChosenTheme(content === null ? missingPage(frame) : docsPage(frame, content), request.headers.cookie));
  };
  const text = (reply: FastifyReply, type: string, content: string) =>
    reply
      .type(`${type}; charset=utf-8`)
      .headers({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' })
      .send(content);

  app.get<Asked>('/docs', (request, reply) => page(request, reply, (locale) => overview(locale, parts.publicUrl)));
  const dataFlow = remembered(parts.dataFlow, { freshMs: dataFlowFreshMs });
  app.get<Asked>('/docs/data-flow', (request, reply) =>
    page(request, reply, async (locale) => dataFlowPage(await dataFlow(), locale)),
  );
  app.get<Asked>('/docs/errors', (request, reply) =>
    page(request, reply, (locale) => errorList(docs().errors, locale)),
  );
  app.get<Asked>('/docs/errors/:name', (request, reply) => {
    const { name } = request.params;
    if (!name.endsWith('.md')) return page(request, reply, (locale) => errorOf(docs().errors, name, locale));
    const known = errorMarkdown(
      docs().errors,
      name.slice(0, -'.md'.length),
      chooseLocale(request.query.lang, undefined),
    );
    return known === null ? reply.callNotFound() : text(reply, 'text/markdown', known);
  });
  app.get<Asked>('/docs/errors.md', (request, reply) =>
    text(reply, 'text/markdown', errorsMarkdown(docs().errors, chooseLocale(request.query.lang, undefined))),
  );
  app.get<Asked>('/docs/graphql', (request, reply) => page(request, reply, docs().reference.overview));
  app.get<Asked>('/docs/graphql/:name', (request, reply) =>
    page(request, reply, (locale) => docs().reference.member(request.params.name, locale)),
  );
  app.get('/docs/schema.graphql', (_request, reply) => text(reply, 'text/plain', docs().sdl));
  app.get('/llms.txt', (_request, reply) => text(reply, 'text/plain', docs().short));
  app.get('/llms-full.txt', (_request, reply) => text(reply, 'text/plain', docs().full));
}

function makeDocs({ openApi, schema, errors }: Documentation, publicUrl: string) {
  const document = openApi as OpenApi;
  return {
    errors,
    reference: createGraphqlReference(schema),
    sdl: `${printSchema(lexicographicSortSchema(schema))}\n`,
    short: llmsText(document, errors, publicUrl),
    full: llmsFullText(document, errors, publicUrl),
  };
}

interface OverviewWords {
  title: string;
  lead: string;
  base: string;
  places: readonly (readonly [path: string, name: string, text: string])[];
  machines: string;
  files: readonly (readonly [path: string, text: string])[];
}

const words: Record<Locale, OverviewWords> = {
  en: {
    title: 'Documentation',
    lead: 'One API key, three wire protocols, every model of the catalog. Point your tool at the base address, or begin with a quick start.',
    base: 'Base address',
    places: [
      ['/guides', 'Quick starts', 'From nothing to a first answer, for each language and tool, with blocks to copy.'],
      ['/api/docs', 'REST reference', 'Messages, chat completions, responses, embeddings, models, usage: every field.'],
      [
        '/docs/graphql',
        'GraphQL reference',
        'Accounts, keys, budget, orders and usage for programs: every operation and type.',
      ],
      ['/docs/errors', 'Errors', 'What each error means and what to do about it.'],
      ['/pricing', 'Models and prices', 'What can be called, and what it costs.'],
      ['/docs/data-flow', 'Data flow', 'Who receives requests, in which country, and what is kept here.'],
    ],
    machines: 'For programs and agents',
    files: [
      ['/llms.txt', 'where everything is, in one page of text'],
      ['/llms-full.txt', 'the whole reference in one file'],
      ['/api/openapi.json', 'OpenAPI 3.1'],
      ['/docs/schema.graphql', 'the GraphQL schema'],
      ['/docs/errors.md', 'all errors in Markdown'],
      ['/sdk.tgz', 'the TypeScript SDK of the running version, as npm installs it'],
      ['/status.json', 'the state of every model'],
    ],
  },
  vi: {
    title: 'Tài liệu',
    lead: 'Một API key, ba giao thức, mọi model trong danh mục. Trỏ công cụ của bạn đến địa chỉ gốc, hoặc làm theo phần bắt đầu nhanh.',
    base: 'Địa chỉ gốc',
    places: [
      [
        '/guides',
        'Bắt đầu nhanh',
        'Từ đầu đến câu trả lời đầu tiên, cho từng ngôn ngữ và công cụ, có sẵn đoạn mã để sao chép.',
      ],
      [
        '/api/docs',
        'Tài liệu REST',
        'Messages, chat completions, responses, embeddings, model, mức sử dụng: mọi trường.',
      ],
      [
        '/docs/graphql',
        'Tài liệu GraphQL',
        'Tài khoản, key, số dư, đơn hàng và mức sử dụng cho chương trình: mọi thao tác và kiểu.',
      ],
      ['/docs/errors', 'Lỗi', 'Mỗi lỗi nghĩa là gì và cách khắc phục.'],
      ['/pricing', 'Model và giá', 'Gọi được những gì, giá bao nhiêu.'],
      ['/docs/data-flow', 'Luồng dữ liệu', 'Ai nhận các yêu cầu, ở nước nào, và dịch vụ lưu những gì.'],
    ],
    machines: 'Cho chương trình và agent',
    files: [
      ['/llms.txt', 'mọi thứ ở đâu, trong một trang văn bản'],
      ['/llms-full.txt', 'toàn bộ tài liệu trong một tệp'],
      ['/api/openapi.json', 'OpenAPI 3.1'],
      ['/docs/schema.graphql', 'schema GraphQL'],
      ['/docs/errors.md', 'mọi lỗi dạng Markdown'],
      ['/sdk.tgz', 'SDK TypeScript của phiên bản đang chạy, cài được bằng npm'],
      ['/status.json', 'trạng thái của mọi model'],
    ],
  },
};

function overview(locale: Locale, publicUrl: string): { title: string; body: string } {
  const w = words[locale];
  const to = (path: string) =>
    /^\/(docs|pricing)/.test(path) && !path.includes('.') ? `${path}?lang=${locale}` : path;
  return {
    title: w.title,
    body: `<h1>${w.title}</h1>
<p class="lead">${w.lead}</p>
<p>${w.base}: <code>${publicUrl}/api/v1</code> · Anthropic: <code>${publicUrl}/api</code></p>
<ul class="places">${w.places.map(([path, name, text]) => `<li><a href="${to(path)}">${name}</a><p>${text}</p></li>`).join('')}</ul>
<h2>${w.machines}</h2>
<ul>${w.files.map(([path, text]) => `<li><a href="${to(path)}"><code>${path}</code></a>: ${text}</li>`).join('')}</ul>`,
  };
}
