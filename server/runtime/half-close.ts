import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request on a connection, and its answer. */
export interface RunningExchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/**
 * When an answer that has not begun is preceded by `100 Continue`, in milliseconds after the client ended its side: the first one
 * makes a client that has left answer with a reset, and a later one fails by it. A client skips what it did not ask for
 * (https://www.rfc-editor.org/rfc/rfc9110.html#section-15.2.1), but Go's takes no more than five of them.
 */
const probesMs = [250, 500, 1_000];

/** What a response emits when its client has ended its side of the connection. */
export const halfClosed = 'halfClosed';

export function isHalfClosed({ socket }: ServerResponse): boolean {
  return socket?.readableEnded === true;
}

/**
 * Answers clients that end their side of the connection after the request, which HTTP allows, and which looks like leaving: only
 * what is written afterwards tells the two apart. Until the answer's head this probes; whoever streams hears of it (`halfClosed`) and
 * writes signs of life.
 */
export function serveHalfClosed(server: Server, exchangeOf: (socket: Socket) => RunningExchange | undefined): void {
  // In Node's HTTP server since its beginning, and in neither its documentation nor its types: without it, the end of the client's side ends ours.
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  server.on('connection', (socket: Socket) => {
    socket.once('end', () => {
      const exchange = exchangeOf(socket);
      if (exchange === undefined || exchange.response.writableEnded) return;
      const { request, response } = exchange;
      response.emit(halfClosed);
      if (request.httpVersion !== '1.1') return;
      const timers = probesMs.map((afterMs) =>
        setTimeout(() => {
          // Another answer may come first on this connection.
          if (response.socket === socket && socket.writable && !response.headersSent) response.writeContinue();
        }, afterMs).unref(),
      );
      response.once('close', () => timers.forEach(clearTimeout));
    });
  });
}
