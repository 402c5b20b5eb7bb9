import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { createPieces, piecesPath } from '../runtime/pieces.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';
import { giveFigures, printFigures } from '../runtime/telemetry/worker-figures.ts';
import { isSameSecret } from '../shared/constant-time.ts';

/** The endpoints of load balancers, Prometheus and `npm run doctor:server`. */
export interface HealthParts {
  /** Whether this process takes requests. */
  isReady: () => boolean;
  metrics: Metrics;
  /** Null: `/metrics` answers only this machine. */
  metricsToken: string | null;
}

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/** A proxy on this machine forwards requests from other machines. */
function isForwarded(headers: IncomingHttpHeaders): boolean {
  return headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
}

export function registerHealth(app: FastifyInstance, { isReady, metrics, metricsToken }: HealthParts): void {
  metrics.gauge('gateway_ready', '1 while this process takes requests, as /readyz says.', () => Number(isReady()));
  giveFigures(metrics.registry);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, response) =>
    isReady() ? { status: 'ready' } : response.code(503).send({ status: 'not ready' }),
  );
  app.get(piecesPath, async (_request, response) =>
    response
      .type('text/event-stream')
      .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      .send(Readable.from(createPieces())),
  );
  app.get('/metrics', async (request, response) => {
    const isAllowed =
      metricsToken === null
        ? loopback.has(request.socket.remoteAddress ?? '') && !isForwarded(request.headers)
        : isSameSecret(request.headers.authorization ?? '', `Bearer ${metricsToken}`);
    if (!isAllowed) return response.code(401).send({ error: { message: 'A metrics token is required.' } });
    return response.type(metrics.registry.contentType).send(await printFigures(metrics.registry));
  });
}
