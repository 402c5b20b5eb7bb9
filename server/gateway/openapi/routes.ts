import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from './document.ts';

/** Page and script are files from here. The page makes styles of its own, and has some pictures and lengths in them. */
const pagePolicy =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'self'; frame-ancestors 'self'; script-src-attr 'none'; style-src 'self' 'unsafe-inline'";

/** `/api/openapi.json` and its bundled reference page at `/api/docs`: no request leaves for another host. */
export function registerOpenApi(app: FastifyInstance, baseUrl: string): void {
  const document = openApiDocument(baseUrl);
  app.get('/api/openapi.json', async (_request, response) =>
    response.header('access-control-allow-origin', '*').send(document),
  );
  void app.register(async (scope) => {
    // The page reads the document from the plugin that would otherwise collect it from route schemas.
    await scope.register(swagger, { mode: 'static', specification: { document: document as never } });
    await scope.register(swaggerUi, {
      routePrefix: '/api/docs',
      // Not the plugin's own: that one turns http: into https:, where nobody listens on a plain address.
      staticCSP: pagePolicy,
      uiConfig: { deepLinking: true, tryItOutEnabled: false },
    });
  });
}
