import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { WebSocketServer } from 'ws';
import type { Metrics } from '../../runtime/telemetry/metrics.ts';
import { createRoster } from '../../shared/roster.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import { bodyLimitBytes, type Intake, protocolOf, reply } from '../entrance/model-routes.ts';
import type { BodyRoom } from '../load/body-room.ts';
import type { Pulse } from '../load/pulse.ts';
import type { Refusals } from '../refusals/refusals.ts';
import { createVendorSockets } from '../upstream/vendor-socket.ts';
import { closingMs, openSession, type Session, type SocketLimits } from './session.ts';

/**
 * `GET /v1/responses` that asks for a WebSocket: looked at like every request (its key, its address, whether work is taken),
 * and refused in the same words, before anything is made for it.
 */
export interface SocketParts {
  refusals: Refusals;
  bodyRoom: BodyRoom;
  pulse: Pulse;
  metrics: Metrics;
  socketLimits: SocketLimits;
  intake: Intake;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The address is for WebSockets alone. */
    upgrades?: true;
  }
}

/** Time in which a client takes a refusal. */
const refusalMs = 10_000;

/** To be called inside the scope of the data plane before its other hooks; returns what registers the route itself. */
export function acceptUpgrades(scope: FastifyInstance, parts: SocketParts): { register(): void } {
  const { refusals, metrics, pulse, intake } = parts;
  const upgrades = listenForUpgrades(scope);
  const sessions = createRoster<Session>();
  metrics.gauge('gateway_sockets', 'Open WebSockets of clients.', () => sessions.size);
  const upstreams = createVendorSockets();
  metrics.gauge('gateway_vendor_sockets', 'Open WebSockets to vendors.', () => upstreams.open);
  const leavePulse = pulse.join((nowMs) => sessions.visit((session) => session.beat(nowMs, intake.draining)));
  scope.addHook('preClose', async () => {
    leavePulse();
    const until = performance.now() + closingMs;
    while (sessions.size > 0 && performance.now() < until) {
      // One whose turn has just ended says goodbye, too.
      sessions.visit((session) => session.beat(performance.now(), true));
      await delay(10);
    }
    sessions.visit((session) => session.end());
  });

  // Clients that try it elsewhere go on with HTTP at once on a 426, and try a 405 again and again (openai/codex,
  // `codex-rs/core/src/client.rs`). Other values of `Upgrade` are offers that a server may ignore; common HTTP clients send
  // `h2c` with ordinary requests.
  scope.addHook('onRequest', async (request, response) => {
    if (upgrades.has(request.raw)) return;
    const protocol = protocolOf(request.url.split('?', 1)[0] ?? '');
    if (request.headers.upgrade?.toLowerCase() === 'websocket')
      return reply(response, protocol, refusals.noWebSocket());
    if (request.routeOptions.config.upgrades === true)
      return reply(response.header('allow', 'POST'), protocol, refusals.methodNotAllowed('POST'));
  });

  // Compression would cost memory for each connection, and most bytes are short events.
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: bodyLimitBytes,
  });
  return {
    register: () =>
      void scope.get(
        '/v1/responses',
        {
          exposeHeadRoute: false,
          config: { protocol: 'responses', authenticate: 'admission', upgrades: true },
        },
        async ({ raw, id, principal }, response) => {
          const upgrade = upgrades.get(raw);
          if (principal === null || upgrade === undefined) throw new Error('an upgrade was reached without its socket');
          const { socket, head } = upgrade;
          response.hijack();
          response.raw.detachSocket(socket);
          server.once('headers', (headers) => headers.push(`request-id: ${id}`, `x-request-id: ${id}`));
          server.handleUpgrade(raw, socket, head, (webSocket) => {
            socket.setKeepAlive(true, keepAliveMs);
            const leave = sessions.join(
              openSession({
                server: scope.server,
                webSocket,
                upstream: upstreams.create(),
                handshake: { socket, rawHeaders: raw.rawHeaders },
                accountId: principal.accountId,
                room: parts.bodyRoom,
                refusals,
                limits: parts.socketLimits,
                maxBytes: bodyLimitBytes,
                createId: uuidv7,
                onClose: () => leave(),
              }),
            );
          });
          server.removeAllListeners('headers');
          // From here on the connection is idle between its turns.
          response.raw.statusCode = 101;
          response.raw.emit('close');
        },
      ),
  };
}

/** After so long without a sign the system asks whether the client is still there. */
const keepAliveMs = 60_000;

/** Lets upgrades come through the routes, as requests without a body. */
function listenForUpgrades({ server }: FastifyInstance): WeakMap<IncomingMessage, { socket: Socket; head: Buffer }> {
  const upgrades = new WeakMap<IncomingMessage, { socket: Socket; head: Buffer }>();
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const socket = stream as Socket;
    socket.on('error', () => socket.destroy());
    upgrades.set(request, { socket, head });
    request.complete = true;
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      response.detachSocket(socket);
      socket.setTimeout(refusalMs, () => socket.destroy());
      socket.end();
    });
    server.emit('request', request, response);
  });
  return upgrades;
}
