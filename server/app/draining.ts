import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Graceful shutdown: running requests finish within a limit, then connections are closed. */

/** Time in which connections may deliver what is already answered. */
const maxLastBytesMs = 1_000;

/** Waits until no request runs, at most for `limitMs`. */
export async function drain(slots: { total(): number }, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  while (slots.total() > 0 && performance.now() < until) await delay(20);
}

/** Lets answers in flight arrive; connections still open after a second are cut. */
export async function closeServer(fastify: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => fastify.server.closeAllConnections(), maxLastBytesMs);
  await fastify.close();
  clearTimeout(cut);
}
