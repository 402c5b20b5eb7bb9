import { Socket, type SocketConnectOpts } from 'node:net';
import { Client } from 'pg';

/**
 * Addresses of databases. As with libpq, an address may name several hosts, of which the one that takes writes is used:
 * `postgresql://user@one:5432,two:5432/steyg?target_session_attrs=read-write`. `pg` itself knows only one host.
 */

/** What `pg` is given to connect with. */
export interface Connecting {
  connectionString: string;
  /** Present with several hosts: finds, for each connection anew, the one that takes writes. */
  stream?: () => Socket;
}

/** Timeout of the question whether a host takes writes. */
const probeTimeoutMs = 3_000;

const pattern = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/s;

/** The addresses of the single hosts of an address. */
export function hostsOf(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = pattern.exec(url) ?? [];
  return hosts.includes(',') ? hosts.split(',').map((host) => before + host + after) : [url];
}

/** How `pg` connects to an address. */
export function connecting(url: string): Connecting {
  const hosts = hostsOf(url);
  const [first = url] = hosts;
  return hosts.length === 1
    ? { connectionString: url }
    : { connectionString: first, stream: () => new PrimarySocket(hosts) };
}

/** A socket that connects to whichever host takes writes, wherever it is told to connect to. */
class PrimarySocket extends Socket {
  readonly #hosts: readonly string[];

  constructor(hosts: readonly string[]) {
    super();
    this.#hosts = hosts;
  }

  async #connectToPrimary(): Promise<void> {
    try {
      const { host, port } = await findPrimary(this.#hosts);
      if (!this.destroyed) this.connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  override connect(...given: unknown[]): this {
    // The second call is this one's own.
    if (typeof given[0] === 'object') return super.connect(given[0] as SocketConnectOpts);
    void this.#connectToPrimary();
    return this;
  }
}

/** The first host that says that it takes writes. Rejects when none does. */
async function findPrimary(hosts: readonly string[]): Promise<{ host: string; port: number }> {
  try {
    return await Promise.any(hosts.map(probe));
  } catch {
    // A system error's code makes this a database that is away, for whoever asks.
    throw Object.assign(new Error('no host of the database takes writes'), { code: 'ECONNREFUSED' });
  }
}

async function probe(url: string): Promise<{ host: string; port: number }> {
  const client = new Client({
    connectionString: url,
    application_name: 'steyg probe',
    connectionTimeoutMillis: probeTimeoutMs,
    query_timeout: probeTimeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query(
      `SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS closed`,
    );
    if (rows[0]?.closed !== false) throw new Error('it takes no writes');
    return { host: client.host, port: client.port };
  } finally {
    client.end().catch(() => undefined);
  }
}
