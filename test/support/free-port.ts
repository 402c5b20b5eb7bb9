import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Above what a machine's own services use, below what systems choose themselves: 32768 on Linux, 49152 elsewhere. */
const [first, behindLast] = [12_000, 32_000];

/**
 * A port on loopback that nobody listens on at this moment. Somebody has to listen on it later, so it is none that the
 * system would give to the next connection or server that asks for any.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, behindLast);
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
