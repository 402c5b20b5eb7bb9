import type { FastifyInstance } from 'fastify';
import { inChosenTheme } from '../../shared/page.ts';
import { openApiDocument } from './document.ts';
import { referencePages, referencePolicy } from './page.ts';

/** Serves `/api/openapi.json` and the reference below `/api/docs`, which loads nothing from other hosts. */
export function registerOpenApi(app: FastifyInstance, at: { readonly baseUrl: string }): void {
  const make = (baseUrl: string) => {
    const document = openApiDocument(baseUrl);
    return { baseUrl, text: JSON.stringify(document), pages: referencePages(document) };
  };
  let made = make(at.baseUrl);
  /** Made anew when the public address has changed. */
  const now = () => {
    if (made.baseUrl !== at.baseUrl) made = make(at.baseUrl);
    return made;
  };
  app.get('/api/openapi.json', async (_request, response) =>
    response
      .type('application/json; charset=utf-8')
      .header('access-control-allow-origin', '*')
      .header('cache-control', 'public, max-age=300')
      .send(now().text),
  );
  const [overview = ''] = made.pages.keys();
  for (const [path, shown] of [
    ['/api/docs/', overview],
    ...[...made.pages.keys()].map((each) => [each, each]),
  ] as const) {
    app.get(path, async (request, response) =>
      response
        .type('text/html; charset=utf-8')
        .header('content-security-policy', referencePolicy)
        .header('referrer-policy', 'no-referrer')
        .header('x-content-type-options', 'nosniff')
        // It changes with a new version of the service, or another address.
        .header('cache-control', 'public, max-age=300')
        .header('vary', 'Cookie')
        .send(inChosenTheme(now().pages.get(shown) ?? '', request.headers.cookie)),
    );
  }
}
