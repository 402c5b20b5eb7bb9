import type { FastifyInstance } from 'fastify';
import { openApiDocument } from './document.ts';
import { referencePages, referencePolicy } from './page.ts';

/** Serves `/api/openapi.json` and the reference below `/api/docs`, which loads nothing from other hosts. */
export function registerOpenApi(app: FastifyInstance, baseUrl: string): void {
  const document = openApiDocument(baseUrl);
  const pages = referencePages(document);
  const text = JSON.stringify(document);
  app.get('/api/openapi.json', async (_request, response) =>
    response
      .type('application/json; charset=utf-8')
      .header('access-control-allow-origin', '*')
      .header('cache-control', 'public, max-age=300')
      .send(text),
  );
  const overview = [...pages.values()][0] ?? '';
  for (const [path, page] of [['/api/docs/', overview], ...pages] as const) {
    app.get(path, async (_request, response) =>
      response
        .type('text/html; charset=utf-8')
        .header('content-security-policy', referencePolicy)
        .header('referrer-policy', 'no-referrer')
        .header('x-content-type-options', 'nosniff')
        // It changes only with a new version of the service.
        .header('cache-control', 'public, max-age=300')
        .send(page),
    );
  }
}
