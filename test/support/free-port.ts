/** Free ports for tests. */

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Above what a machine's own services use, below what systems choose themselves: 32768 on Linux, 49152 elsewhere. */
const [first, behindLast] = [12_000, 32_000];

/**
 * A free port on loopback. The test listens on it later, so it is outside of the range that the system gives to other
 * connections or servers.
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
