/** Listens to PostgreSQL's notifications, so that caches are dropped when their rows change. */

import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { connecting } from './address.ts';
import type { DatabaseLog } from './pool.ts';

/** The caches of a process that may become stale. */
export type ChangedPart = 'keys' | 'catalog' | 'settings';

const channel = 'steyg_change';
const changes: readonly ChangedPart[] = ['keys', 'catalog', 'settings'];
const connectTimeoutMs = 5_000;
const retryMsMin = 100;
const retryMsMax = 5_000;

/** Interval of the query that detects a silently dead connection. */
const defaultTimes = { heartbeatMs: 10_000, answerTimeoutMs: 5_000 };

export interface Listening {
  /** Whether changes are received right now. While it is false, caches may be stale. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

/**
 * Calls `onChange` whenever any program changes keys or the catalog in the database (its triggers notify), over one
 * connection that reconnects automatically. After each reconnection everything counts as changed, since notifications may
 * have been missed. Resolves when it listens for the first time; rejects if it cannot. Reads before that may be stale,
 * so `onChange` is called for everything then too.
 *
 * Needs its own session: a pooler in between must not share it by transaction.
 */
export async function listen(options: {
  url: string;
  log: DatabaseLog;
  onChange: (change: ChangedPart) => void;
  times?: typeof defaultTimes;
}): Promise<Listening> {
  const { log, onChange, times = defaultTimes } = options;
  const closing = new AbortController();
  let client: Client | null = null;

  const hear = async (): Promise<Client> => {
    const connection = await connect(options.url);
    connection.on('notification', ({ payload }) => {
      const change = changes.find((name) => name === payload);
      if (change) onChange(change);
    });
    client = connection;
    for (const change of changes) onChange(change);
    return connection;
  };

  const keepHearing = async (first: Client): Promise<void> => {
    for (let connection = first; ; ) {
      await untilSilent(connection, times, closing.signal);
      client = null;
      disconnect(connection);
      if (closing.signal.aborted) return;
      log.warn({}, 'lost the connection that announces changes');
      const next = await retry(hear, closing.signal, log);
      if (next === null) return;
      connection = next;
    }
  };

  const running = keepHearing(await hear());
  return {
    get healthy() {
      return client !== null;
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({
    ...connecting(url),
    application_name: 'steyg listen',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: connectTimeoutMs,
    keepAlive: true,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(`LISTEN ${channel}`);
    return client;
  } catch (error) {
    disconnect(client);
    throw error;
  }
}

/** Resolves when the connection has ended, no longer answers, or is no longer wanted. */
async function untilSilent(client: Client, times: typeof defaultTimes, closing: AbortSignal): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  client.once('end', end);
  client.once('error', end);
  const stop = AbortSignal.any([ended.signal, closing]);
  while (!stop.aborted) {
    await delay(times.heartbeatMs, null, { signal: stop }).catch(() => {});
    if (stop.aborted) return;
    const late = delay(times.answerTimeoutMs, false, { ref: false });
    const answered = await Promise.race([client.query('SELECT 1').then(() => true), late]).catch(() => false);
    if (!answered) return;
  }
}

/**
 * Closes a connection without waiting for the other side, which may not answer. Safe, because the connection only
 * reads.
 */
function disconnect(client: Client): void {
  const { stream } = (client as Client & { connection: { stream: { destroy(): void } } }).connection;
  stream.destroy();
}

async function retry(hear: () => Promise<Client>, closing: AbortSignal, log: DatabaseLog): Promise<Client | null> {
  for (let waitMs = retryMsMin; !closing.aborted; waitMs = Math.min(2 * waitMs, retryMsMax)) {
    // Many processes lose the database at the same moment; jitter spreads their reconnections.
    await delay(waitMs * (0.5 + Math.random()), null, { signal: closing }).catch(() => {});
    if (closing.aborted) return null;
    try {
      const client = await hear();
      log.info({}, 'changes are announced again');
      return client;
    } catch (error) {
      log.warn({ code: (error as { code?: string }).code }, 'changes are not announced yet');
    }
  }
  return null;
}
