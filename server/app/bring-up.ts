import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Ledger } from '../billing/lane/ledger.ts';
import type { Spool } from '../billing/spool/spool.ts';
import { startSweep } from '../billing/upkeep/sweep.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Log } from '../core/log.ts';
import { checkEngine, EngineRefused } from '../database/engine.ts';
import { listen } from '../database/listen.ts';
import { MigrationFailed, MigrationRefused } from '../database/migrate.ts';
import { checkPoolers, PoolerRefused } from '../database/pooler.ts';
import type { Authenticator } from '../gateway/entrance/authenticate.ts';
import type { Keyring } from '../keys/keyring.ts';
import { describeError } from '../runtime/http.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';

/**
 * Prepares the database and starts its users, with retries until it succeeds: a late database must not end the process.
 */
export interface BringUpParts {
  databaseUrl: string;
  databaseDirectUrl: string;
  /** Migrations, first start, catalog file. */
  prepare(): Promise<void>;
  /** Starts scheduled jobs; null: this process has none. */
  startSchedule: (() => Promise<void>) | null;
  catalog: Catalog;
  ledger: Ledger;
  keyring: Keyring;
  authenticator: Authenticator;
  lane: Pool;
  spool: Spool;
  /** Reads the settings that operators stored. */
  loadSettings: () => Promise<void>;
  holdLeaseMs: number;
  metrics: Metrics;
  log: Log;
}

export interface BringUp {
  /** True once requests are taken; false when stopped before. Rejects on a problem that only a person can solve. */
  done: Promise<boolean>;
  /** Resolves to true when the first attempt has failed or takes long, and requests are to be refused with that reason meanwhile. */
  late: Promise<true>;
  /** Stops retrying. */
  abort(): void;
  /** Stops what was started. */
  close(): Promise<void>;
}

/** A start that takes longer is shown to health checks, which would end a process that does not answer. */
const patienceMs = 5_000;

/** `onReady` is called when everything but the schedule has started. */
export function bringUp(parts: BringUpParts, onReady: () => void): BringUp {
  const { log } = parts;
  const closing = new AbortController();
  const started: { close(): Promise<void> }[] = [];
  let scheduling: Promise<void> = Promise.resolve();
  const late = Promise.withResolvers<true>();
  const impatience = setTimeout(() => {
    log.info({}, 'the database is still being prepared: requests are refused meanwhile');
    late.resolve(true);
  }, patienceMs);

  const attempt = async (): Promise<void> => {
    await checkEngine(parts.databaseDirectUrl);
    await checkPoolers({ url: parts.databaseUrl, directUrl: parts.databaseDirectUrl });
    await parts.prepare();
    await parts.loadSettings();
    await parts.catalog.refresh();
    await parts.ledger.start();
    started.push(await listenForChanges(parts));
    const { lane: pool, ledger, spool, holdLeaseMs: leaseMs, metrics } = parts;
    started.push(startSweep({ pool, ledger, spool, leaseMs, log, metrics }));
  };

  const run = async (): Promise<boolean> => {
    for (let waitMs = 100; !closing.signal.aborted; waitMs = Math.min(2_000, waitMs * 2)) {
      try {
        await attempt();
        onReady();
        if (parts.startSchedule !== null) scheduling = schedule(parts.startSchedule, closing.signal, log);
        return true;
      } catch (error) {
        if (needsPerson(error)) throw error;
        if (closing.signal.aborted) break;
        late.resolve(true);
        const failed = error instanceof MigrationFailed ? error.migration : undefined;
        log.warn(
          { ...describeError(error), migrations: failed, waitMs },
          'the database cannot be worked with yet; trying again',
        );
        await delay(waitMs, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
    return false;
  };

  const done = run().finally(() => clearTimeout(impatience));
  // A rejection is for the caller that awaits `done`; without one it must not end the process.
  done.catch(() => undefined);
  return {
    done,
    late: late.promise,
    abort() {
      clearTimeout(impatience);
      closing.abort();
    },
    async close() {
      await done.catch(() => undefined);
      await scheduling;
      await Promise.all(started.map((each) => each.close()));
    },
  };
}

/** A refused migration, a database that promises would break on, a pooler in a mode that does not fit, or a wrong catalog file is not retried: the result would be the same. */
function needsPerson(error: unknown): boolean {
  return (
    error instanceof MigrationRefused ||
    error instanceof EngineRefused ||
    error instanceof PoolerRefused ||
    (error instanceof Error && error.name === 'CatalogFileError')
  );
}

/** Drops what is cached when another process changed it. */
function listenForChanges({ databaseDirectUrl, keyring, authenticator, catalog, loadSettings, log }: BringUpParts) {
  return listen({
    url: databaseDirectUrl,
    log,
    onChange(channel) {
      if (channel === 'keys') {
        keyring.drop();
        authenticator.drop();
        return;
      }
      if (channel === 'settings') {
        loadSettings().catch((error: unknown) =>
          log.warn(describeError(error), 'the settings could not be read again'),
        );
        return;
      }
      catalog
        .refresh()
        .catch((error: unknown) => log.warn(describeError(error), 'the catalog could not be read again'));
    },
  });
}

/** Requests do not wait for the schedule: no scheduled job is urgent. */
async function schedule(start: () => Promise<void>, signal: AbortSignal, log: Log): Promise<void> {
  for (let waitMs = 1_000; !signal.aborted; waitMs = Math.min(60_000, waitMs * 2)) {
    try {
      return await start();
    } catch (error) {
      log.warn({ ...describeError(error), waitMs }, 'the schedule does not run yet; trying again');
      await delay(waitMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }
}
