import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A connection to the database that can be cut. */
export interface Cable {
  url: string;
  cut(): void;
  mend(): void;
  remove(): Promise<void>;
}

export async function layCable(url: string): Promise<Cable> {
  const target = new URL(url);
  const directory = target.searchParams.get('host') ?? decodeURIComponent(target.hostname);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server: Server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(`${directory}/.s.PGSQL.5432`);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const through = new URL(`postgresql://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname}`);
  through.username = target.username;
  return {
    url: through.href,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      isCut = false;
    },
    async remove() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
